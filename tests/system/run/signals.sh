#!/usr/bin/env bash
# A signal to any rank, or to the launcher, stops a run in order: exit 4, a file that any HDF5 tool opens, a line that says how to
# go on; and resumed, the run has measured the same as one that nobody stopped.
. "$(dirname "$0")/checks.sh"
need_h5py
need_open_mpi
command -v h5dump >/dev/null || skip "needs h5dump"
# A rank that comes late makes each repetition last a while, whatever the machine: there is time to stop it.
experiment e 'passes = 3' 'max_passes = 3' '[inject]' 'what = "late_rank"' 'rank = 1' 'amount = 4'

ends_with 0 "$launch" 2 "$run" e.toml -o whole.h5
examine kept whole.h5 >whole

# stops SIGNAL SECONDS PROCESS: of the run that goes on since so many seconds
stops() {
    sleep "$2"
    kill -s "$1" "$3"
    end_of "$launcher"
    [ "$code" -eq 4 ] || die "exit $code instead of 4 after $1"
    [ ! -s out ] || die "a table of a run that was stopped: $(cat out)"
    [ "$(messages | grep -c 'stopped as asked')" -eq 1 ] || die "not one message that the run was stopped"
    complains "mpirun -n 2 shardline-run --resume"
    h5dump -d /progress/repetitions "$file" >/dev/null || die "h5dump cannot open the file"
    [ "$(examine status "$file")" = stopped ] || die "the status is $(examine status "$file")"
}

number=0
for signal in USR1:0 TERM:1 INT:1 USR1:launcher; do
    number=$((number + 1))
    file=stopped$number.h5
    begin 2 e.toml -o $file
    wait_for 60 test -e $file || die "the run does not begin"
    case $signal in
    *:launcher) stops "${signal%:*}" 0.$number "$launcher" ;;
    *) stops "${signal%:*}" 0.$number "$(process_of "${signal#*:}")" ;;
    esac
done

# Stopped again while it is resumed, later.
file=stopped1.h5
before=$(changed_at $file)
begin 2 --resume $file
wait_for 60 differs_from "$before" changed_at $file || die "the run does not go on"
stops TERM 0.6 "$(process_of 0)"

for file in stopped?.h5; do
    before=$(examine rows "$file")
    cp "$file" before.h5
    ends_with 0 "$launch" 2 "$run" --resume "$file"
    says "Verdict: "
    [ "$(examine rows "$file")" -gt "$before" ] || die "nothing was left to measure"
    examine prefix before.h5 "$file"
    examine resumed "$file"
    examine kept "$file" | cmp - whole || die "$file holds other visits than a run that was not stopped"
done

# Nothing is left to do: the table, and no more measurements.
cp stopped2.h5 before.h5
ends_with 0 "$launch" 2 "$run" --resume stopped2.h5 e.toml
says "Verdict: "
[ "$(examine rows stopped2.h5)" -eq "$(examine rows before.h5)" ] || die "a complete run was measured on"
