#!/usr/bin/env bash
# The node of rank 0 goes down in the middle of a run: Slurm puts the job back, and it goes on where others can read its file.
. "$(dirname "$0")/common.sh"
need_slurm
experiment e "$(slow 100)"
start_slurm 3
plan visits 2 e

job=$(submit "$(script crossover)" e.toml)
runs "$job"
lost=$(fact "$job" BatchHost)
vc off "$lost"
put_back() { [ "$(fact "$job" Restarts)" = 1 ]; }
wait_for 120 put_back || die "the job was not put back: $(login scontrol show job "$job")"
# What it has to measure yet need not take as long.
ends 150 COMPLETED "$job"
expect_whole "$file" 2 visits
expect_same_report "$file"
[ "$(fact "$job" BatchHost)" != "$lost" ] || die "the job ran on a node that is off"

vc on "$lost"
returned() { [ "$(login sinfo --noheader --nodes="$lost" --format=%t)" = idle ]; }
wait_for 60 returned || die "the node does not come back: $(login sinfo -N)"
