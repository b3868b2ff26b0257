#!/bin/bash
# A printed median that differs from what the file gives is the worst a benchmark can do: other code checks it.
# Runs under the first Python that has h5py (a distribution's package belongs to the distribution's Python).
. "$(dirname "$0")/checks.sh"
for python in python3 /usr/bin/python3; do
    "$python" -c "import h5py, numpy" 2>/dev/null || continue
    "$python" "$(dirname "$0")/recompute_medians.py" "$shardline" "$make_file"
    exit
done
echo "skipped: no Python with h5py (Debian: python3-h5py)"
exit 77
