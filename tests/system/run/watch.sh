#!/bin/bash
# `shardline watch` on a run that goes on: what it says while the run writes, when it is done, killed, and of files of all kinds.
. "$(dirname "$(readlink -f "$0")")/checks.sh"
watch=("$shardline" watch)
make_file=$SHARDLINE_BIN/make_synthetic_file

says() { tr '\n' ' ' <out | grep -F -- "$1" >/dev/null || die "standard output lacks '$1': $(cat out)"; } # lines are wrapped
lacks() { if grep -qF -- "$1" out; then die "standard output has '$1': $(cat out)"; fi; }

# --- A real run -------------------------------------------------------------------------------------
# long enough to be looked at many times; it is stopped when all was seen
experiment long 'passes = 100000' 'max_passes = 100000' 'time_budget_s = 3600'
need_open_mpi
begin 2 long.toml -o run.h5
wait_for 60 test -e run.h5 || die "no file"
sweep_has_begun() { "${watch[@]}" run.h5 >out 2>err && grep -q "left" out; }
wait_for 90 sweep_has_begun || die "the sweep is not seen: $(cat out err)"
says "run.h5: running: "
says "visits, about"
says "D_law"
lacks "$(printf '\033')"
lacks "killed"
visits() { sed -n 's/.*running: \([0-9]*\) of .*/\1/p' out; }
before=$(visits)
for i in $(seq 20); do # safe while the run writes
    ends_with 0 "${watch[@]}" --once run.h5
done
[ "$(visits)" -gt "$before" ] || die "no progress after $before visits: $(cat out)"
[ "$(awk 'length > 80' out | wc -l)" -eq 0 ] || die "wider than 80 columns"

# On a terminal it goes on until the run ends
if command -v script >/dev/null; then
    TERM=xterm script -qfc "'$shardline' watch --interval 0.3 run.h5; echo code \$? >code" screen </dev/null >/dev/null 2>&1 &
    watching=$!
    started+=("$watching")
    looked_twice() { [ -e screen ] && [ "$(grep -c 'run.h5: running' screen)" -ge 3 ]; }
    wait_for 30 looked_twice || die "the screen is not refreshed"
    grep -qF "$(printf '\033[H\033[J')" screen || die "a terminal is not cleared"
    [ ! -e code ] || die "the watch has ended before the run"
fi
kill -TERM "$(process_of 0)"
end_of "$launcher"
if command -v script >/dev/null; then
    end_of "$watching"
    grep -qx "code 1" code || die "watching a run that is stopped ends in $(cat code)"
    grep -q "run.h5: stopped" screen || die "the end of the run is not told"
fi
ends_with 1 "${watch[@]}" run.h5
says "run.h5: stopped"

# --- A run that is complete, one that was killed, others ---------------------------------------------
experiment short
ends_with 0 "$launch" 2 "$run" short.toml -o short.h5
ends_with 0 "${watch[@]}" short.h5
says "short.h5: complete"

"$make_file" killed.h5 status=running D=1600,2400,3200,4800,6400,9600
ends_with 0 "${watch[@]}" killed.h5 # just now, perhaps by a run on another node
says "no program of this machine holds the file"
touch -d '3 hours ago' killed.h5
ends_with 1 "${watch[@]}" killed.h5
says "gone: no news for 3 h"
says "--resume"
if command -v flock >/dev/null; then # what a run that is held up looks like
    exec 9<killed.h5
    flock -s 9
    ends_with 0 "${watch[@]}" killed.h5
    says "running: "
    says "no news for 3 h"
    exec 9<&-
fi

"$make_file" hostile.h5 status=running title=$'\e[2J' host=$'\e]0;x\a'
ends_with 0 "${watch[@]}" hostile.h5
lacks "$(printf '\033')"
cp killed.h5 $'\e[31m.h5'
ends_with 0 "${watch[@]}" $'\e[31m.h5'
lacks "$(printf '\033')"
"$make_file" one.h5 P=1 status=running
ends_with 0 "${watch[@]}" one.h5
says "calibrating"
"$make_file" many.h5 status=running strategies=mpi_allreduce:0,a:0.1,b:0.2,c:0.3
ends_with 0 "${watch[@]}" many.h5

ends_with 2 "${watch[@]}" missing.h5
grep -q "missing.h5" err || die "no word of missing.h5"
ends_with 2 "${watch[@]}" --interval 0 short.h5
grep -q -- "--interval" err || die "no word of --interval"
ends_with 2 "${watch[@]}"
