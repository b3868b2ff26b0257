#!/usr/bin/env bash
# When its time is over a run starts no further visit: it ends in order with what it has, and goes on when it is given more time.
. "$(dirname "$0")/checks.sh"
need_h5py
# A rank that comes late makes each repetition last a while, whatever the machine: one second is too little.
experiment e 'passes = 3' 'max_passes = 3' '[inject]' 'what = "late_rank"' 'rank = 1' 'amount = 10'
ends_with 0 "$launch" 2 "$run" e.toml -o run.h5 --time-budget 1s
says "Verdict: inconclusive"
[ "$(examine status run.h5)" = complete ] || die "the status is $(examine status run.h5)"
cp run.h5 before.h5
ends_with 0 "$launch" 2 "$run" --resume run.h5 --time-budget 1h
[ "$(examine rows run.h5)" -gt "$(examine rows before.h5)" ] || die "nothing more was measured"
examine prefix before.h5 run.h5
examine resumed run.h5
