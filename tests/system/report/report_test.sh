#!/bin/bash
# `shardline report` on runs of machines that are known exactly: verdicts in the exit code, what the text and
# the JSON hold, pooling, and everything that is no run.
. "$(dirname "$0")/checks.sh"
cd "$scratch" || exit 1

# --- Verdicts ---------------------------------------------------------------------------------------
"$make_file" holds.h5 title="two nodes" || fail "make_synthetic_file"
ends_with 0 "$shardline" report holds.h5
for words in "two nodes" "holds.h5" "2 ranks on 2 hosts" GFLOP/s MB/s "t_step lies within" D_law D_model D_obs \
    "Verdict: holds"; do says "$words"; done
[ -z "$err" ] || fail "messages without a reason: $err"
ends_with 0 "$shardline" report --strict holds.h5

"$make_file" explained.h5 allreduce_efficiency=0.69
ends_with 0 "$shardline" report explained.h5
says "mpi_allreduce reaches 69 % of the link"
ends_with 1 "$shardline" report explained.h5 --strict
says "Verdict: explained"
ends_with 0 "$shardline" report explained.h5 --strict --tolerance 2
says "Verdict: holds"

"$make_file" refuted.h5 comm_factor_in_sweep=2
ends_with 1 "$shardline" report refuted.h5
says "Verdict: refuted"
"$make_file" order.h5 comp_exponent=-1
ends_with 1 "$shardline" report order.h5

"$make_file" outside.h5 D=2,4,8
ends_with 3 "$shardline" report outside.h5
says "add D above 8"
"$make_file" few.h5 passes=1 repetitions=2
ends_with 3 "$shardline" report few.h5
says "Fewer than 6 repetitions"
"$make_file" single.h5 P=1
ends_with 3 "$shardline" report single.h5
says "one rank has nothing to sum"

"$make_file" wrong.h5 wrong_point=3
ends_with 3 "$shardline" report wrong.h5
says "invalid (wrong_result"

# --- JSON -------------------------------------------------------------------------------------------
ends_with 0 "$shardline" report explained.h5 --json -
echo "$out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["schema"] == "shardline-report" and r["schema_version"] == 1
assert r["verdict"] == "explained" and r["reason"] and r["status"] == "complete"
c, = r["crossovers"]
for key in "B F P compute wire strategy D_law D_model D_obs D_obs_ci ratio factors verdict".split(): assert key in c, key
assert c["D_obs_ci"][0] <= c["D_obs"] <= c["D_obs_ci"][1] and abs(c["ratio"] - c["D_obs"] / c["D_law"]) < 1e-9
product = 1
for value in c["factors"].values(): product *= value
assert abs(product / c["ratio"] - 1) < 1e-6, product
assert len(r["points"]) == 9
for key in "B F D P t_comp_s t_comp_ci t_comm_s t_comm_ci t_step_s t_step_ci n".split(): assert key in r["points"][0], key
for key in "C_flop_per_s W_bytes_per_s alpha_s".split(): assert key in r["calibration"], key
assert r["files"][0]["path"] == "explained.h5"' || fail "JSON of report"
ends_with 0 "$shardline" report explained.h5 --json report.json
says "Verdict"
python3 -c 'import json; assert json.load(open("report.json"))["verdict"] == "explained"' || fail "JSON file of report"
ends_with 3 "$shardline" report outside.h5 --json -
echo "$out" | python3 -c '
import json, sys
c, = json.load(sys.stdin)["crossovers"]
assert c["D_obs"] is None and c["D_obs_ci"] is None and c["ratio"] is None' || fail "null where there is nothing"

cp holds.h5 other.h5
echo "B = 1" >experiment.toml
echo '{"mine": 1}' >mine.json
for file in other.h5 experiment.toml mine.json; do
    cp $file before
    refuses "no JSON of shardline's" "$shardline" report holds.h5 --json $file
    cmp -s $file before || fail "$file was overwritten"
done
: >empty.json
for file in report.json empty.json; do # what shardline wrote may be written again
    ends_with 0 "$shardline" report holds.h5 --json $file
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["verdict"] == "holds"' $file || fail "$file was not written again"
done
refuses "cannot be written" "$shardline" report holds.h5 --json nowhere/report.json
refuses "cannot be written" "$shardline" report holds.h5 --json ''

# --- Launches ---------------------------------------------------------------------------------------
"$make_file" second.h5 seed=2
ends_with 0 "$shardline" report holds.h5 second.h5
says "2 launches pooled: holds.h5, second.h5"
refuses "the same launch" "$shardline" report holds.h5 holds.h5
refuses "the same launch" "$shardline" report holds.h5 ./holds.h5
refuses "the same launch" "$shardline" report holds.h5 other.h5
"$make_file" part.h5 status=running passes=4 # what a copy made during the run would hold
"$make_file" whole.h5 passes=6
refuses "the same launch" "$shardline" report part.h5 whole.h5
# Two copies of one file, each with what was measured after the run was resumed: alike in the beginning only.
if python3 -c 'import h5py' 2>/dev/null; then python=python3; else python=/usr/bin/python3; fi
if "$python" -c 'import h5py' 2>/dev/null; then
    cp holds.h5 resumed.h5
    "$python" - <<'END' || fail "cannot change resumed.h5"
import h5py
with h5py.File("resumed.h5", "r+") as file:
    for name in ("comp_end_ns", "comm_end_ns"):
        column = file["repetitions"][name]
        column[len(column) // 2:] += 1000
END
    refuses "copies that each went on" "$shardline" report holds.h5 resumed.h5
fi
"$make_file" three.h5 P=3
refuses "cannot be pooled" "$shardline" report holds.h5 three.h5
complains "ranks: 2 / 3"

# --- Runs that are not complete ---------------------------------------------------------------------
for status in running stopped failed; do
    "$make_file" $status.h5 status=$status
    ends_with 0 "$shardline" report $status.h5
    says "status: $status.h5 is not complete"
    ends_with 0 "$shardline" report $status.h5 --json -
    says "\"status\": \"$status\""
done

# --- Text from a file is data -----------------------------------------------------------------------
"$make_file" hostile.h5 host=$'n0\e]0;owned\a\xff' title=$'\e[2J' finding=$'\e[31m\u202e' P=2
ends_with 0 "$shardline" report hostile.h5
if printf '%s' "$out" | LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]'; then fail "control characters in the report"; fi
says '\x1b]0;owned\x07\xff'
ends_with 0 "$shardline" report hostile.h5 --json -
echo "$out" | python3 -c 'import json, sys; json.load(sys.stdin)' || fail "JSON with bytes that are not UTF-8"

# --- No run -----------------------------------------------------------------------------------------
: >empty.h5
echo "B = 1" >text.h5
head -c 3000 holds.h5 >cut.h5
mkdir folder.h5
for file in missing.h5 empty.h5 text.h5 cut.h5 folder.h5 /dev/null; do
    refuses "$file" "$shardline" report "$file"
done
refuses "missing.h5" "$shardline" report holds.h5 missing.h5
for nonsense in 1 0.5 -2 nan inf x ''; do
    refuses "--tolerance is '$nonsense'" "$shardline" report holds.h5 --tolerance "$nonsense"
done
refuses "--help" "$shardline" report
refuses "--help" "$shardline" report --tolerence 2 holds.h5
refuses "--help" "$shardline" report holds.h5 --json

finish
