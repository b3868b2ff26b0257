#!/usr/bin/env bash
# Two BLAS threads in a rank that is bound to one core: said with mask and threads, stored.
. "$(dirname "$0")/checks.sh"
need_cores 2
mpirun=${MPIRUN:-mpirun}
"$mpirun" --version 2>/dev/null </dev/null | grep -q 'Open MPI' || skip "knows Open MPI's options only"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ends_with 0 taskset -c "$list" "$mpirun" --oversubscribe --bind-to core -n 2 "$run" e.toml -o bound.h5 --set blas_threads=2
complains "2 BLAS threads may use only 1 core (CPUs ${list%%,*})"
reports bound.h5 "2 threads a rank"
reports bound.h5 "warning (threads_share_core, rank 0): 2 BLAS threads may use only 1 core"
reports bound.h5 "(likewise rank 1)"
