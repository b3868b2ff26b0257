#!/usr/bin/env bash
# Above thin_above_ranks a file keeps a few ranks' readings of each repetition and a summary of each rank, the report says so and
# takes its numbers from them, and a run that was stopped goes on.
. "$(dirname "$0")/checks.sh"
need_h5py
need_open_mpi
experiment e 'thin_above_ranks = 2' 'D = [8, 64]'

ends_with 0 "$launch" 2 "$run" e.toml -o all.h5
ends_with 0 "$launch" 3 "$run" e.toml -o thin.h5
complains "note: of each repetition 4 readings are kept, rank 0"
check_file() {
    "$python" - "$1" <<'END'
import h5py, sys
with h5py.File("all.h5", "r") as file:
    assert "rank" not in file["repetitions"] and "rank_summaries" not in file, "thinned on 2 ranks"
with h5py.File(sys.argv[1], "r") as file:
    rows = file["progress/repetitions"][0]
    r = {name: column[:rows] for name, column in file["repetitions"].items()}
    assert r["comp_end_ns"].shape == r["rank"].shape == (rows, 4), r["rank"].shape
    assert (r["rank"][:, 0] == 0).all() and set(r["rank"].flat) == {0, 1, 2}, set(r["rank"].flat)
    took = r["comp_end_ns"] - r["comp_begin_ns"]
    assert (took.max(axis=1) == took[:, 1]).all(), "the second reading is not that of the longest matmul"
    computes = r["comp_begin_ns"][:, 0] >= 0
    assert (took.max(axis=1) >= r["comp_mean_ns"])[computes].all() and (r["comp_mean_ns"][~computes] == -1).all()
    assert (r["comp_mean_ns"][computes] > 0).all()
    summaries = file["rank_summaries"]
    n = file["progress/rank_summaries"][0]
    passes = sorted(zip(summaries["pass"][:n], summaries["rank"][:n]))
    assert set(passes) == {(p, rank) for p in range(3) for rank in range(3)}, passes
    assert (summaries["relative_comp"][:n] > 0).all() and (summaries["matmuls"][:n] > 0).all()
END
}
check_file thin.h5

ends_with 3 "$shardline" report thin.h5 --json -
"$python" - <<'END'
import json
report = json.load(open("out"))
assert "thinned" in {finding["code"] for finding in report["findings"]}, report["findings"]
END

# A run that was stopped goes on in the same way.
experiment slow 'thin_above_ranks = 2' 'D = [8, 64]' '[inject]' 'what = "late_rank"' 'rank = 1' 'amount = 4'
begin 3 slow.toml -o part.h5
wait_for 60 test -e part.h5 || die "the run does not begin"
sleep 0.3
kill -s USR1 "$launcher"
end_of "$launcher"
[ "$code" -eq 4 ] || die "exit $code instead of 4"
ends_with 0 "$launch" 3 "$run" --resume part.h5
check_file part.h5

# A file that is older than the key holds every rank, and goes on so, whatever a new run would do.
"$python" - <<'END'
import h5py
with h5py.File("all.h5", "r+") as file:
    text = file["experiment/text"]
    text[()] = text[()].replace(b"thin_above_ranks = 2", b"thin_above_ranks = 1")
END
ends_with 0 "$launch" 2 "$run" --resume all.h5
"$python" - <<'END'
import h5py
with h5py.File("all.h5", "r") as file:
    assert b"thin_above_ranks = 1" in file["experiment/text"][()]
    assert b"thinned" not in file["findings/code"][: file["progress/findings"][0]], "the note of a thinned run in a file that is none"
END

refuses "key 'thin_above_ranks' is -1" "$launch" 1 "$run" e.toml -o refused.h5 --set thin_above_ranks=-1
