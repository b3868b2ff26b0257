#!/usr/bin/env bash
# A rank that comes late to the start. Where the ranks start at an agreed moment its repetitions are flagged and not used; a
# barrier makes all wait for it, and none is late.
. "$(dirname "$0")/checks.sh"
need_h5py
experiment window 'sync = "window"' '[inject]' 'what = "late_rank"' 'rank = 1' 'amount = 20'
experiment barrier '[inject]' 'what = "late_rank"' 'rank = 1' 'amount = 20'

ends_with 0 "$launch" 2 "$run" window.toml -o window.h5
[ "$(examine late window.h5)" -gt 0 ] || die "no repetition is flagged late"
[ "$(examine late_skew window.h5)" -gt 10000000 ] || die "a rank 20 ms late shows a skew of $(examine late_skew window.h5) ns"
ends_with 3 "$shardline" report window.h5 --json report.json
examine usable window.h5 >usable
"$python" - <<'END' || die "the report uses repetitions that are late"
import json, sys
used = {point["D"]: point["t_comp"]["n"] if "t_comp" in point else point["n"] for point in json.load(open("report.json"))["points"]}
usable = {int(D): int(n) for D, n in map(str.split, open("usable"))}
if any(used[D] > n for D, n in usable.items() if D in used):
    sys.exit(f"used {used}, usable {usable}")
END

ends_with 0 "$launch" 2 "$run" barrier.toml -o barrier.h5
[ "$(examine late barrier.h5)" -eq 0 ] || die "late at a barrier"
[ "$(examine median_skew barrier.h5)" -lt 20000000 ] || die "the barrier does not wait: the median skew is $(examine median_skew barrier.h5) ns"
