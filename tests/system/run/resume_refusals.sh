#!/usr/bin/env bash
# A run is resumed as what it was, or not at all: other ranks, keys or values are refused, each by name, and the file stays as it is.
. "$(dirname "$0")/checks.sh"
experiment e
experiment other 'B = 64' 'repetitions = 3'
ends_with 0 "$launch" 2 "$run" e.toml -o run.h5
cp run.h5 before.h5

refuses "the number of ranks was 2, is 3" "$launch" 3 "$run" --resume run.h5
refuses "the number of ranks was 2, is 1" "$run" --resume run.h5
refuses "B = 32, is B = 64" "$launch" 2 "$run" other.toml --resume run.h5
complains "repetitions = 2, is repetitions = 3"
refuses "F = 48, is F = 24" "$launch" 2 "$run" --resume run.h5 --set F=24
refuses "'nonsense'" "$launch" 2 "$run" --resume run.h5 --set nonsense=1
refuses "seed = 1, is seed = 2" "$launch" 2 "$run" --resume run.h5 e.toml --set seed=2
cmp run.h5 before.h5 || die "a refusal changed the file"

# The same by another way, and more time, are no differences.
ends_with 0 "$launch" 2 "$run" --resume run.h5 --set F=48 --time-budget 2h
