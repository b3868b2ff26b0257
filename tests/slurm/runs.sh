#!/usr/bin/env bash
# Jobs by mpirun and by srun, on two and on three nodes, and an array over numbers of nodes: complete files named by job, and their report.
. "$(dirname "$0")/common.sh"
need_slurm
start_slurm 3
experiment e
plan visits 2 e

SHARDLINE_LAUNCHER=mpirun
export SHARDLINE_LAUNCHER
first=$(submit "$(script crossover)" e.toml)
export SHARDLINE_LAUNCHER=srun
second=$(submit --nodes=3 "$(script crossover)" e.toml)
unset SHARDLINE_LAUNCHER
array=$(submit --array=2,3 --nodes=3 "$(script sweep)" e.toml)
report=$(submit --dependency=afterany:"$array" "$(script report)" "$array")

ends 150 COMPLETED "$first"
expect_whole "results/crossover-$first.h5" 2 visits
grep -q 'Verdict: ' "results/crossover-$first.out" || die "no report: $(output "$first")"
ends 100 COMPLETED "$second"
expect_whole "results/crossover-$second.h5" 3 visits
grep -q '^measure: srun --mpi=pmix --kill-on-bad-exit=1 .*--cpus-per-task=8 ' "results/crossover-$second.out" ||
  die "not started by srun as it should be: $(output "$second")"

wait_for 150 is_over "$report" || die "the report does not come: $(login squeue)"
for nodes in 2 3; do expect_whole "results/sweep-${array}_$nodes.h5" "$nodes" visits; done
[ "$(grep -c '^shardline report' "results/report-$report.out")" -eq 2 ] || die "not a report for each of the array: $(output "$report")"
# Two points of a test say nothing about the law, so the job ends with what `shardline report` says about that.
[ "$(fact "$report" ExitCode)" = 3:0 ] || die "the job of the report ends with $(fact "$report" ExitCode)"
