#!/usr/bin/env bash
# Time and memory of `shardline report` on a file of ten million samples (a sample: a repetition on one rank).
#
#   tests/benchmark/large_report.sh BIN [PASSES]
#
# BIN is the folder of the built programs. The file is that of a synthetic machine and takes about 60 bytes a sample.
set -euo pipefail
bin=$1
passes=${2-21500} # of 39 visits with 6 repetitions on 2 ranks
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$bin/make_synthetic_file" "$folder/large.h5" "passes=$passes" D=1600,2400,3200,4800,5600,6400,9600,12800,19200
python=/usr/bin/python3
"$python" - "$folder/large.h5" <<'END'
import h5py, os, sys
with h5py.File(sys.argv[1]) as f:
    print(f["progress/repetitions"][0], "repetitions of", len(f["ranks/host"]), "ranks,", os.path.getsize(sys.argv[1]) // 10**6, "MB")
END
for i in 1 2 3; do
    "$python" -c '
import resource, subprocess, sys, time
begin = time.monotonic()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
children = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"exit {code}, {time.monotonic() - begin:.2f} s, {children.ru_utime + children.ru_stime:.2f} s of CPU, largest process {children.ru_maxrss / 1024:.0f} MiB")' \
        "$bin/shardline" report "$folder/large.h5"
done
