#!/usr/bin/env bash
# shardline across: files of different links side by side, its figures and its exit codes.
. "$(dirname "$0")/checks.sh"
cd "$scratch"

"$make_file" slow.h5 W=6e7
"$make_file" fast.h5 W=2.4e8 P=4
"$make_file" bad.h5 seed=3 comm_factor_in_sweep=2
"$make_file" roofline.h5 measure=roofline

refuses "or side by side with 'shardline across'" "$shardline" report slow.h5 fast.h5

ends_with 0 "$shardline" across slow.h5 fast.h5
says "slow.h5  1024  1024  2"
says "The law spans D = "
[ -z "$(awk 'length > 100' "$scratch/out")" ] || fail "a line is too long"
ends_with 1 "$shardline" across slow.h5 fast.h5 bad.h5
says "Verdict: refuted: bad.h5, B = 1024"
ends_with 3 "$shardline" across roofline.h5
says "roofline.h5 holds no crossover"
ends_with 0 "$shardline" across slow.h5 --json -
says '"schema": "shardline-across"'
refuses "same launch" "$shardline" across slow.h5 slow.h5
refuses "missing.h5" "$shardline" across slow.h5 missing.h5

if command -v gnuplot >/dev/null; then
    ends_with 0 "$shardline" across slow.h5 fast.h5 --figures figures
    complains "No roofline of memory and link together"
    for suffix in gp dat svg pdf png; do [ -s figures/across.$suffix ] || fail "no figures/across.$suffix"; done
    [ -z "$(cd figures && gnuplot across.gp 2>&1)" ] || fail "across.gp warns"
    refuses "--force" "$shardline" across slow.h5 fast.h5 --figures figures
    ends_with 0 "$shardline" across slow.h5 --figures figures --force
fi

finish
