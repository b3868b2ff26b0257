#!/usr/bin/env bash
# Two runs that want the same file: the second is refused, with --force and --resume too, and the first is not harmed.
. "$(dirname "$0")/checks.sh"
need_h5py
need_open_mpi
experiment e '[inject]' 'what = "late_rank"' 'rank = 1' 'amount = 10'
"$launch" 2 "$run" e.toml -o run.h5 >first.out 2>first.err </dev/null &
first=$!
started+=("$first")
wait_for 60 test -e run.h5 || die "the first run does not begin"
# It stands still until the others were refused, however long the machine takes for that.
launcher=$first
mapfile -t ranks < <(process_of 0; process_of 1)
[ ${#ranks[@]} -eq 2 ] || die "the first run ended before the others began"
kill -STOP "${ranks[@]}"
refuses "it exists" "$launch" 2 "$run" e.toml -o run.h5
refuses "another program has it open" "$launch" 2 "$run" e.toml -o run.h5 --force
# Before the number of ranks could be refused, the file has to be read, and that is no harm.
refuses "run.h5" "$launch" 2 "$run" --resume run.h5
code=0
"$shardline" report run.h5 >out 2>err || code=$?
[ "$code" -eq 3 ] || die "the report of a run that goes on ended with $code"
tr -s ' \n' ' ' <out | grep -F "run.h5 is not complete: the run still goes on" >/dev/null || die "the report does not say that the run goes on: $(cat out)"
kill -CONT "${ranks[@]}"
end_of "$first"
[ "$code" -eq 0 ] || die "the first run ended with $code: $(cat first.err)"
[ "$(examine status run.h5)" = complete ] || die "the first run's file is not complete"
examine resumed run.h5
