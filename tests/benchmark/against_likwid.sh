#!/usr/bin/env bash
# M of a roofline beside the triad of likwid-bench (package likwid), which is written in assembler and counts as STREAM does.
# Alternates the two: against_likwid.sh BIN RANKS MB_OF_EACH_ARRAY ROUNDS. Prints the rate of one rank in each round, and the medians.
set -euo pipefail
bin=$1 ranks=$2 megabytes=$3 rounds=$4
launch=$(dirname "$(readlink -f "$0")")/../../scripts/launch.sh
# stream: scalar stores of 8 bytes, as a compiler makes them for any processor without hints to bypass the caches
likwid() {
  likwid-bench -t stream -W "S0:$((3 * megabytes * ranks))MB:$ranks" -i 10 | awk -v ranks="$ranks" '/^MByte\/s/ { print $2 / ranks / 1000 }'
}
ours() { "$launch" "$ranks" "$bin/machine_rates" "$megabytes" 10 triad | awk '/^M / { print $3 }'; }
for ((i = 0; i < rounds; i++)); do echo "$(ours) $(likwid)"; done | tee /dev/stderr | python3 -c '
import statistics, sys
ours, theirs = zip(*[map(float, line.split()) for line in sys.stdin])
print(f"median: ours {statistics.median(ours):.2f} GB/s, likwid-bench {statistics.median(theirs):.2f} GB/s, ratio {statistics.median(ours) / statistics.median(theirs):.3f}")'
