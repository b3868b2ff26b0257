#!/usr/bin/env bash
# A run longer than its job's time limit is stopped before it, put back, and ends complete.
. "$(dirname "$0")/common.sh"
need_slurm
experiment e "$(slow 200)"   # a minute or so, twice what passes before the signal
start_slurm 2
plan visits 2 e

# Slurm's limits are whole minutes, and it looks every 30 s.
job=$(submit --time=1 --signal=B:USR1@60 "$(script crossover)" e.toml)
ends 270 COMPLETED "$job"
[ "$(fact "$job" Restarts)" -ge 1 ] || die "the run was never stopped; it takes no time here"
grep -q 'stopped as asked' "results/crossover-$job.out" || die "the run did not end in order: $(output "$job")"
! grep -q 'DUE TO TIME LIMIT' "results/crossover-$job.out" || die "the time limit ended the run: $(output "$job")"
expect_whole "results/crossover-$job.h5" 2 visits
expect_same_report "results/crossover-$job.h5"
