#!/usr/bin/env bash
# Several numbers of ranks and several types in one run: each crossover has its points, ranks that do not share a point have no
# readings there, and the report sets the crossovers against each other.
. "$(dirname "$0")/checks.sh"
need_h5py
experiment e 'D = [8, 64]' 'ranks = [4, 2, 3, 9]' 'placement = "spread"' 'passes = 1' 'max_passes = 1' 'repetitions = 1' 'warmups = 0'

ends_with 0 "$launch" 4 "$run" e.toml -o ranks.h5
says "D* over ranks, B = 32, F = 48"
says "Not powers of two:"
says "ranks = 9 are left out"
"$python" - <<'END'
import h5py, numpy as np
with h5py.File("ranks.h5", "r", libver="latest", swmr=True) as file:
    of_row = file["points/P"][:][file["repetitions/point"][:]]
    comp, comm = file["repetitions/comp_end_ns"][:], file["repetitions/comm_end_ns"][:]
    measured = (comp >= 0) | (comm >= 0)
    expected = np.arange(4)[None, :] < of_row[:, None]
    assert (measured == expected).all(), "other ranks than the first P have readings"
    assert set(of_row) == {2, 3, 4}, of_row
    effective = file["experiment/effective"][()].decode()
    assert 'placement = "spread"' in effective and "ranks = [4, 2, 3, 9]" in effective, effective
END

# One sample of each is too few for a verdict, and the numbers are there all the same.
ends_with 3 "$shardline" report ranks.h5 --json -
"$python" - <<'END'
import json
report = json.load(open("out"))
assert [c["P"] for c in report["crossovers"]] == [2, 3, 4], report["crossovers"]
[scaling] = report["scalings"]
assert scaling["over"] == "ranks" and [row["P"] for row in scaling["rows"]] == [2, 3, 4], scaling
for row in scaling["rows"]:
    assert row["C_flop_per_s"] > 0 and row["W_bytes_per_s"] > 0, row
assert {claim["verdict"] for claim in scaling["claims"]} == {"inconclusive"}, scaling
END

ends_with 0 "$launch" 2 "$run" e.toml -o types.h5 --set ranks=all --set 'wire_type=["f32", "bf16"]' --set 'compute_type=["f32", "f64"]'
says "D* over types, B = 32, F = 48, P = 2"
ends_with 3 "$shardline" report types.h5 --json -
"$python" - <<'END'
import json
report = json.load(open("out"))
pairs = {(c["compute"], c["wire"]) for c in report["crossovers"]}
assert pairs == {(c, w) for c in ("f32", "f64") for w in ("f32", "bf16")}, pairs
assert [scaling["over"] for scaling in report["scalings"]] == ["types"], report["scalings"]
END

# The plan counts every crossover.
ends_with 0 "$launch" 2 "$run" e.toml --dry-run --set ranks=sweep --set 'wire_type=["f32", "f64"]'
says "P = 2: V = 0.006144 MB of f32"
says "P = 2: V = 0.012288 MB of f64"

refuses "ranks = 9 are more than this run has (2)" "$launch" 2 "$run" e.toml -o no.h5 --set ranks=9
refuses "key 'ranks' is 1 (the least is 2)" "$launch" 2 "$run" e.toml -o no.h5 --set 'ranks=[1, 2]'
refuses "key 'placement' is the string 'odd'" "$launch" 2 "$run" e.toml -o no.h5 --set placement=odd
[ ! -e no.h5 ] || die "a file of a run that was refused"
