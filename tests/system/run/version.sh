#!/usr/bin/env bash
# --version names the HDF5 of the headers and of the library, in both programs; under mpirun once.
. "$(dirname "$0")/checks.sh"
for program in "$run" "$shardline"; do
    ends_with 0 "$program" --version
    grep -qE 'HDF5 headers [0-9]+\.[0-9]+\.[0-9]+, library [0-9]+\.[0-9]+\.[0-9]+' out || die "$program --version says: $(cat out)"
done
ends_with 0 "$launch" 2 "$run" --version
[ "$(grep -c 'HDF5 headers' out)" -eq 1 ] || die "not said once: $(cat out)"
