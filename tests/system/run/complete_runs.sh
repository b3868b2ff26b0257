#!/usr/bin/env bash
# Runs on 1 to 4 ranks whose shards are uneven and, for D < P, empty, in the element types and wire types: exit 0, the table on
# standard output, and a file that holds all that was planned, in order, with results that passed their checks.
. "$(dirname "$0")/checks.sh"
need_h5py
experiment e

# complete RANKS COMPUTE_TYPE WIRE_TYPE SEED
complete() {
    local file=$1-$2-$3.h5
    ends_with 0 "$launch" "$1" "$run" e.toml -o "$file" --set "compute_type=$2" --set "wire_type=$3" --set "seed=$4"
    examine complete "$file" || die "$file is not as it must be"
    says "shardline report"
    if grep -q 'visits, \|calibrating' out; then die "progress on standard output"; fi
}

complete 2 f32 f32 1
[ "$(examine swept 2-f32-f32.h5)" = "$(printf '%s 12\n' 1 2 3 100 101)" ] || die "other rows: $(examine swept 2-f32-f32.h5)"
says "Verdict: "
complete 2 f32 bf16 2
complete 3 f64 bf16 3
complete 3 f32 f64 4
complete 4 f64 f64 5
complete 4 f64 f32 6

# The smallest result there is, with more ranks than columns.
ends_with 0 "$launch" 3 "$run" e.toml -o one-by-one.h5 --set B=1 --set F=1
examine resumed one-by-one.h5   # one element leaves no sizes around it to calibrate
[ "$(examine swept one-by-one.h5)" = "$(printf '%s 12\n' 1 2 3 100 101)" ] || die "other rows: $(examine swept one-by-one.h5)"

# The order depends on the seed.
[ "$(examine order 2-f32-f32.h5)" != "$(examine order 2-f32-bf16.h5)" ] || die "seeds 1 and 2 give the same order"

# What the run printed is what the report prints.
ends_with 0 "$launch" 2 "$run" e.toml -o again.h5
mv out of-the-run
code=0
"$shardline" report again.h5 >of-the-report || code=$?
[ "$code" -eq 3 ] || die "a report of too few samples ended with $code"
cmp of-the-run of-the-report || die "the run's table and the report's differ"
