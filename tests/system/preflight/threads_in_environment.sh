#!/usr/bin/env bash
# OPENBLAS_NUM_THREADS counts where the experiment leaves the threads open, and is told to be ignored where not.
. "$(dirname "$0")/checks.sh"
need_cores 2
export OPENBLAS_NUM_THREADS=8
ends_with 0 taskset -c "$list" "$launch" 2 "$run" e.toml -o threads.h5
complains "16 BLAS threads of 2 ranks share"
reports threads.h5 "warning (oversubscribed): 16 BLAS threads of 2 ranks share"
reports threads.h5 "8 threads a rank"

ends_with 0 taskset -c "$list" "$launch" 2 "$run" e.toml -o one.h5 --set blas_threads=1
complains "OPENBLAS_NUM_THREADS=8 is not obeyed"
reports one.h5 "1 thread a rank"
lacks one.h5 oversubscribed
