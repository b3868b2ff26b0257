#!/usr/bin/env bash
# A run is resumed as what it was, or not at all: other ranks, keys or values are refused, each by name, and the file stays as it is.
. "$(dirname "$0")/checks.sh"
need_h5py
experiment e
experiment other 'B = 64' 'repetitions = 3'
ends_with 0 "$launch" 2 "$run" e.toml -o run.h5
cp run.h5 before.h5

refuses "it was measured on 2 ranks, this run has 3): start 2" "$launch" 3 "$run" --resume run.h5
refuses "it was measured on 2 ranks, this run has 1): start 2" "$run" --resume run.h5
refuses "B = 32, is B = 64" "$launch" 2 "$run" other.toml --resume run.h5
complains "repetitions = 2, is repetitions = 3"
refuses "F = 48, is F = 24" "$launch" 2 "$run" --resume run.h5 --set F=24
refuses "'nonsense'" "$launch" 2 "$run" --resume run.h5 --set nonsense=1
refuses "seed = 1, is seed = 2" "$launch" 2 "$run" --resume run.h5 e.toml --set seed=2
cmp run.h5 before.h5 || die "a refusal changed the file"

# rank_was FIELD RANK VALUE: as if the run of elsewhere.h5 had begun on other ground
rank_was() {
    "$python" - "$@" <<'END'
import h5py, sys
field, rank, value = sys.argv[1:]
with h5py.File("elsewhere.h5", "r+") as file:
    column = file["ranks/" + field]
    column[int(rank)] = value.encode()[: column.dtype.itemsize]
END
}
host=$(hostname)
cp run.h5 elsewhere.h5
rank_was machine 1 another
refuses "the first rank on the machine of rank 1 was 1, is 0" "$launch" 2 "$run" --resume elsewhere.h5
refuses "was 1, is 0" "$launch" 2 "$run" --resume elsewhere.h5 --allow other_hosts
rank_was machine 0 another   # the two on one again
ends_with 0 "$launch" 2 "$run" --resume elsewhere.h5
rank_was host 0 x
examine findings elsewhere.h5 >before
refuses "the host of rank 0 was x, is $host" "$launch" 2 "$run" --resume elsewhere.h5
complains "--allow other_hosts"
examine findings elsewhere.h5 | cmp - before || die "a refusal left a finding"
ends_with 0 "$launch" 2 "$run" --resume elsewhere.h5 --allow other_hosts
"$shardline" report elsewhere.h5 >out || true
says "warning (other_hosts): resumed on other hosts"

# The ground is looked at again: what is new about it gets into the file, and into the verdict.
if command -v taskset >/dev/null && [ "$(nproc)" -ge 2 ]; then
    core=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
    cp run.h5 shared.h5
    refuses "--allow ranks_share_core" taskset -c "$core" "$launch" 2 "$run" --resume shared.h5
    ends_with 0 taskset -c "$core" "$launch" 2 "$run" --resume shared.h5 --allow ranks_share_core
    says "Verdict: inconclusive"
    "$shardline" report shared.h5 >out || true
    says "invalid (ranks_share_core)"
fi

# The same by another way, and more time, are no differences.
ends_with 0 "$launch" 2 "$run" --resume run.h5 --set F=48 --time-budget 2h
