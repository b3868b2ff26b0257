#!/usr/bin/env bash
# Four ranks on two cores work from the project's own script, and the file says what that does to the numbers.
. "$(dirname "$0")/checks.sh"
need_cores 2
ends_with 0 taskset -c "$list" "$launch" 4 "$run" e.toml -o four.h5
complains "4 BLAS threads of 4 ranks share"
reports four.h5 "warning (oversubscribed): 4 BLAS threads of 4 ranks share"
lacks four.h5 ranks_share_core
