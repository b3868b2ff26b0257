#!/usr/bin/env bash
# Two ranks that may only run on one core of several: refused before anything is written, unless allowed by name.
. "$(dirname "$0")/checks.sh"
need_cores 2
core=${list%%,*}
refuses "--allow ranks_share_core" taskset -c "$core" "$launch" 2 "$run" e.toml -o shared.h5
complains "ranks 0-1 may run on core"
[ ! -e shared.h5 ] || die "a file was written"

# A dry run tells what the run would be refused for.
ends_with 2 taskset -c "$core" "$launch" 2 "$run" e.toml --dry-run
says "D = 64, 128"
complains "--allow ranks_share_core"
ends_with 0 taskset -c "$core" "$launch" 2 "$run" e.toml --dry-run --allow ranks_share_core
complains "invalid: ranks 0-1"

ends_with 0 taskset -c "$core" "$launch" 2 "$run" e.toml -o shared.h5 --allow ranks_share_core
complains "invalid: ranks 0-1"
reports shared.h5 "invalid (ranks_share_core): ranks 0-1"
reports shared.h5 "Verdict: inconclusive"

ends_with 0 "$launch" 2 "$run" e.toml -o apart.h5
lacks apart.h5 ranks_share_core

refuses "ranks_share_core" "$run" e.toml -o unknown.h5 --allow ranks_share_cores
