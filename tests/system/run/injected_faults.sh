#!/usr/bin/env bash
# Every fault that [inject] makes is seen, is laid at the door of the rank that made it, and never comes to a verdict that looks real.
. "$(dirname "$0")/checks.sh"
need_h5py
host=$(hostname)

# with_fault NAME LINE...: experiment NAME with such lines in its [inject]
with_fault() {
    experiment "$1" '[inject]' "what = \"$1\"" 'rank = 1' "${@:2}"
}

# no_verdict FILE: the report finds the run inconclusive or worse, and says that the fault was made on purpose
no_verdict() {
    local code=0
    "$shardline" report "$1" >report || code=$?
    case $code in 1 | 3) ;; *) die "a report of an injected fault ended with $code: $(cat report)" ;; esac
    grep -qF "made on purpose" report || die "the report does not say that the fault was made on purpose: $(cat report)"
    if grep -qE "Verdict: (holds|explained)" report; then die "a verdict from an injected fault: $(cat report)"; fi
    examine findings "$1" | grep '^injected invalid ' >/dev/null || die "the file does not say what was injected"
}

# finds FILE CODE RANK: the report's findings name that rank, or -1 for none
finds() {
    "$shardline" report "$1" --json report.json >/dev/null || true
    "$python" - "$2" "$3" <<'END' || die "$1: $(examine findings "$1")"
import json, sys
findings = json.load(open("report.json"))["findings"]
if not any(its["code"] == sys.argv[1] and its.get("rank", -1) in (None, int(sys.argv[2])) for its in findings):
    sys.exit(f"no finding {sys.argv[1]} of rank {sys.argv[2]}: {findings}")
END
}

# A rank that throws, or hangs: the job ends long before the test's own limit, and says which rank, on which host.
with_fault throw 'visit = 4'
code=0
timeout -k 5 "$(seconds 60)" "$launch" 3 "$run" throw.toml -o throw.h5 >out 2>err </dev/null || code=$?
[ "$code" -eq 1 ] || die "a run whose rank throws ended with $code"
complains "rank 1 on $host: thrown on purpose"
[ "$(messages | grep -c 'thrown on purpose')" -eq 1 ] || die "more than one message"
silent_on_stdout
no_verdict throw.h5

with_fault hang 'visit = 4'
sed -i '1i watchdog_s = 2' hang.toml
code=0
timeout -k 5 "$(seconds 60)" "$launch" 3 "$run" hang.toml -o hang.h5 >out 2>err </dev/null || code=$?
[ "$code" -eq 1 ] || die "a run whose rank hangs ended with $code"
complains "rank 1 on $host hangs in the phase \"preparation of a visit\""
silent_on_stdout
no_verdict hang.h5

# Wrong results
for what in wrong_value nan; do
    with_fault "$what"
    ends_with 0 "$launch" 2 "$run" "$what.toml" -o "$what.h5"
    complains "made on purpose"
    says "Verdict: inconclusive"
    no_verdict "$what.h5"
    finds "$what.h5" wrong_result 1
done

# Wrong times
with_fault slow_rank 'amount = 50'
ends_with 0 "$launch" 3 "$run" slow_rank.toml -o slow_rank.h5
no_verdict slow_rank.h5
finds slow_rank.h5 slow_rank 1

with_fault drift 'amount = 50'
ends_with 0 "$launch" 2 "$run" drift.toml -o drift.h5 --set passes=4 --set max_passes=4
no_verdict drift.h5
finds drift.h5 trend -1

with_fault clock_step 'amount = -100000'
ends_with 2 "$launch" 2 "$run" clock_step.toml -o clock_step.h5
[ "$(messages | grep -c 'ends before it begins')" -eq 1 ] || die "the run itself does not refuse its times"
cp err err-of-the-run
ends_with 2 "$shardline" report clock_step.h5
[ "$(wc -l <err)" -eq 1 ] || die "more than one line"
for file in err err-of-the-run; do
    for what in "rank 1" " bytes" "pass " "repetition " "ends before it begins"; do
        grep -qF "$what" $file || die "$file does not say '$what'"
    done
done
silent_on_stdout
