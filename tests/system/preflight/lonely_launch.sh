#!/usr/bin/env bash
# Processes of one launch that MPI does not bring together: one message for all, no file.
. "$(dirname "$0")/checks.sh"
PMI_SIZE=2 PMI_RANK=0 refuses "launched as 2 tasks, MPI sees 1" "$run" e.toml -o lonely.h5
PMI_SIZE=2 PMI_RANK=1 ends_with 2 "$run" e.toml -o lonely.h5
[ ! -s err ] || die "the second process speaks too"
SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 refuses "launched as 2 tasks, MPI sees 1" "$run" e.toml -o lonely.h5
SLURM_NTASKS=2 SLURM_PROCID=0 refuses "started without a launcher in a batch job" "$run" e.toml -o lonely.h5
PBS_ENVIRONMENT=PBS_BATCH PBS_NP=2 refuses "launched as 2 tasks, MPI sees 1" "$run" e.toml -o lonely.h5
[ ! -e lonely.h5 ] || die "a file was written"

# One rank on purpose inside a larger job, and a shell of salloc.
SLURM_NTASKS=2 SLURM_PROCID=0 ends_with 0 "$launch" 1 "$run" e.toml -o one.h5
SLURM_NTASKS=2 ends_with 0 "$run" e.toml -o shell.h5
