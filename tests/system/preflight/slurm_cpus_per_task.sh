#!/usr/bin/env bash
# Slurm gave the job four CPUs for a task, the task has fewer.
. "$(dirname "$0")/checks.sh"
need_cores 1
SLURM_CPUS_PER_TASK=4 ends_with 0 taskset -c "$list" "$run" e.toml -o slurm.h5
complains "SLURM_CPUS_PER_TASK=4, but the rank may use 1 CPU ($list)"
reports slurm.h5 "srun --cpus-per-task=4"
SLURM_CPUS_PER_TASK=1 ends_with 0 taskset -c "$list" "$run" e.toml -o agrees.h5
lacks agrees.h5 slurm_cpus_per_task
