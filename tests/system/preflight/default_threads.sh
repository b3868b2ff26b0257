#!/usr/bin/env bash
# Left open, the threads are the cores a rank may use, or its part of those that all ranks may use.
. "$(dirname "$0")/checks.sh"
need_cores 2
ends_with 0 taskset -c "${list%%,*}" "$run" e.toml -o bound.h5
reports bound.h5 "1 thread a rank"
# Without the binding of launch.sh, which would leave one core to each.
mpirun=${MPIRUN:-mpirun}
"$mpirun" --version 2>/dev/null </dev/null | grep -q 'Open MPI' || skip "knows Open MPI's options only"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ends_with 0 taskset -c "$list" "$mpirun" --oversubscribe --bind-to none -n 2 "$run" e.toml -o shared.h5
reports shared.h5 "1 thread a rank"
lacks shared.h5 oversubscribed
