#!/usr/bin/env bash
# The folder of the results is removed while the run goes: exit 2 with one message, and all samples in a copy that goes on.
. "$(dirname "$0")/checks.sh"
need_h5py
# A rank that comes late makes each repetition last a while, whatever the machine: there is time to remove it.
experiment e '[inject]' 'what = "late_rank"' 'rank = 1' 'amount = 10'
export TMPDIR=$scratch
mkdir folder
begin 2 e.toml -o folder/run.h5
wait_for 60 test -e folder/run.h5 || die "the run does not begin"
rm -r folder
end_of "$launcher"
[ "$code" -eq 2 ] || die "exit $code instead of 2"
complains "folder/run.h5 (it or its folder was removed while the run wrote it)"
complains "$scratch/run.h5.rescued-1.h5"
[ "$(complaints)" -eq 1 ] || die "$(complaints) messages instead of one"
ends_with 0 "$launch" 2 "$run" --resume run.h5.rescued-1.h5
examine resumed run.h5.rescued-1.h5
