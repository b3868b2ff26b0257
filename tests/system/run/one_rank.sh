#!/usr/bin/env bash
# One rank has nothing to sum: calibration only, said in words, and no error.
. "$(dirname "$0")/checks.sh"
need_h5py
experiment e
for start in "$launch 1 $run" "$run"; do
    # shellcheck disable=SC2086
    ends_with 0 $start e.toml -o one.h5 --force
    says "one rank has nothing to sum"
    examine complete one.h5
    [ -z "$(examine swept one.h5)" ] || die "one rank swept over D"
    ends_with 3 "$shardline" report one.h5
    # shellcheck disable=SC2086
    ends_with 0 $start e.toml --dry-run
    says "one rank has nothing to sum"
done
