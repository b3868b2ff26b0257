#!/bin/bash
# What has changed between two runs, and what bounds one.
. "$(dirname "$0")/checks.sh"
cd "$scratch" || exit 1
D=D=1600,2400,3200,4800,6400,9600,12800
"$make_file" monday.h5 seed=1 $D && "$make_file" tuesday.h5 seed=2 $D && "$make_file" slower.h5 seed=3 $D comm_factor_in_sweep=1.3 ||
    fail "make_synthetic_file"

# --- compare ----------------------------------------------------------------------------------------
ends_with 0 "$shardline" compare monday.h5 tuesday.h5
says "No change"
ends_with 1 "$shardline" compare monday.h5 slower.h5
says "Changed"
says "t_comm"
echo "$out" | grep -q "t_comp" && fail "the matmul has not changed"
[ "$(awk 'length > 80' "$scratch/out" | wc -l)" -eq 0 ] || fail "wider than 80 columns"
ends_with 0 "$shardline" compare monday.h5 slower.h5 --threshold 60
ends_with 1 "$shardline" compare monday.h5 tuesday.h5 --against slower.h5
says "Changed"

refuses "same launch" "$shardline" compare monday.h5 monday.h5
refuses "BASE.h5 NEW.h5" "$shardline" compare monday.h5
refuses "--threshold is 'x'" "$shardline" compare monday.h5 tuesday.h5 --threshold x
"$make_file" larger.h5 seed=4 P=3 D=1602,2400,3201
refuses "ranks: 2 / 3" "$shardline" compare monday.h5 larger.h5
ends_with 3 "$shardline" compare monday.h5 larger.h5 --different
says "Nothing could be compared"
refuses "cannot read" "$shardline" compare monday.h5 missing.h5

# The threshold is 3 % unless another is given: a change of 2.5 % that all repetitions agree on is none, one of 4 % is one
"$make_file" quiet.h5 seed=5 noise=0.001 $D && "$make_file" a_little.h5 seed=6 noise=0.001 $D comm_factor_in_sweep=1.025 &&
    "$make_file" more.h5 seed=7 noise=0.001 $D comm_factor_in_sweep=1.04 || fail "make_synthetic_file"
ends_with 0 "$shardline" compare quiet.h5 a_little.h5
says "differs by more than 3 %"
ends_with 1 "$shardline" compare quiet.h5 a_little.h5 --threshold 2
ends_with 1 "$shardline" compare quiet.h5 more.h5
[ "$(printf '%s\n' "$out" | grep -c '^Changed: ')" -eq 1 ] || fail "not one line that sums up"

# What else differs is named, and compared all the same only where that is asked for
for difference in "cpu=other CPU:CPU models: synthetic CPU / other CPU" "mpi=MPI 9:MPI: synthetic MPI 1.0 / MPI 9" \
    "blas=BLAS 9:BLAS: synthetic BLAS 1.0 / BLAS 9" "kernel=Zen:BLAS kernels: synthetic kernel / Zen" "threads=7:BLAS threads: 1 / 7" \
    "ranks_on_host=2:ranks on each host: 1, 1 / 2"; do
    "$make_file" other.h5 seed=8 $D "${difference%%:*}" || fail "make_synthetic_file"
    refuses "${difference#*:}" "$shardline" compare monday.h5 other.h5
    complains "--different"
    ends_with 0 "$shardline" compare monday.h5 other.h5 --different
done
"$make_file" other.h5 seed=8 $D cpu=A mpi=B
refuses "CPU models: synthetic CPU / A; MPI: synthetic MPI 1.0 / B" "$shardline" compare monday.h5 other.h5

# Groups of launches: with three on either side a launch counts as one, however many visits it has
for i in 1 2 3; do
    "$make_file" base$i.h5 seed=1$i $D && "$make_file" new$i.h5 seed=2$i $D comp_exponent=1 C=1.7e11 || fail "make_synthetic_file"
done
ends_with 1 "$shardline" compare base1.h5 base2.h5 base3.h5 --against new1.h5 new2.h5 new3.h5
says "t_comp"
ends_with 0 "$shardline" compare base1.h5 base2.h5 --against base3.h5
refuses "the same launch" "$shardline" compare base1.h5 base2.h5 --against base2.h5 base3.h5

# --- JUnit ------------------------------------------------------------------------------------------
junit() { # junit EXPRESSION: of the cases of junit.xml by name
    python3 - "$1" <<'END' || fail "JUnit: not $1: $(head -c 2000 junit.xml)"
import sys, xml.etree.ElementTree as ET
suites = ET.parse("junit.xml").getroot()
suite, = suites
cases = {case.get("name"): case for case in suite}
count = lambda kind: sum(case.find(kind) is not None for case in suite)
for element in (suites, suite):
    assert [int(element.get(n)) for n in ("tests", "failures", "errors", "skipped")] == [len(suite), count("failure"), 0, count("skipped")]
assert len({(case.get("classname"), case.get("name")) for case in suite}) == len(suite)
points = [name for name in cases if name.startswith("B = ")]
failed = [name for name in cases if cases[name].find("failure") is not None]
assert eval(sys.argv[1]), (points, failed)
END
}
ends_with 0 "$shardline" compare monday.h5 tuesday.h5 --junit junit.xml
says "No change"
junit 'not failed and len(points) == 7 and "D_obs at B = 1024, F = 1024, mpi_allreduce" in cases'
ends_with 1 "$shardline" compare monday.h5 slower.h5 --junit junit.xml # what compare wrote is written again
junit 'set(points) <= set(failed) and "D_obs at B = 1024, F = 1024, mpi_allreduce" in failed'
junit '"t_comm" in cases[points[0]].find("failure").get("message") and "t_comp" not in cases[points[0]].find("failure").get("message")'
junit '"t_comp" in cases[points[0]].find("system-out").text'
"$make_file" few3.h5 seed=3 $D passes=1 repetitions=2 && "$make_file" few4.h5 seed=4 $D passes=1 repetitions=2
ends_with 3 "$shardline" compare few3.h5 few4.h5 --junit junit.xml
junit 'count("skipped") == len(suite) > 0'
hostile='strategies=<a>&"b"'$'\e]0;\a\xff\xef\xbf\xbf]]>'"':0"
"$make_file" hostile1.h5 seed=1 $D "$hostile" && "$make_file" hostile2.h5 seed=2 $D "$hostile" comm_factor_in_sweep=1.3
ends_with 1 "$shardline" compare hostile1.h5 hostile2.h5 --junit junit.xml
junit 'all("<a>&\"b\"\\x1b]0;\\x07\\xff\ufffd]]>\x27" in name for name in points)'
echo "<mine/>" >mine.xml
refuses "no JUnit XML of shardline's" "$shardline" compare monday.h5 tuesday.h5 --junit mine.xml
[ "$(cat mine.xml)" = "<mine/>" ] || fail "mine.xml was overwritten"
refuses "cannot be written" "$shardline" compare monday.h5 tuesday.h5 --junit nowhere/junit.xml

# --- explain ----------------------------------------------------------------------------------------
ends_with 0 "$shardline" explain monday.h5
says "waits for the network, above it for its own arithmetic"
says "One strategy was measured"
refuses "missing.h5" "$shardline" explain missing.h5
refuses "--at is '0' (the least is 1): give an integer from 1 to" "$shardline" explain monday.h5 --at 0

finish
