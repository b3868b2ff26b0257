#!/usr/bin/env bash
# A rank that dies takes the job with it at once, by either launcher; the job is not put back, and its file is sound.
. "$(dirname "$0")/common.sh"
need_slurm
experiment e "$(slow 1000)"   # undisturbed it would take minutes
start_slurm 2

for SHARDLINE_LAUNCHER in mpirun srun; do
  export SHARDLINE_LAUNCHER
  job=$(submit "$(script crossover)" e.toml)
  runs "$job"
  rank=$(ranks_on n1)
  [ "$(wc -w <<<"$rank")" -eq 1 ] || die "not one rank on n1 but: $rank"
  kill -s KILL "$rank"
  ends 40 FAILED "$job"
  [ "$(fact "$job" Restarts)" = 0 ] || die "the job was put back"
  [ -z "$(ranks_on n0)" ] || die "the other rank lives on"
  examine rows "$file" >/dev/null || die "the file cannot be read"
done

# A rank that gives up by itself does the same.
experiment throws '[inject]' 'what = "throw"' 'rank = 1'
for SHARDLINE_LAUNCHER in mpirun srun; do
  export SHARDLINE_LAUNCHER
  job=$(submit "$(script crossover)" throws.toml)
  ends 60 FAILED "$job"
  grep -q 'shardline-run: rank 1 on n1: ' "results/crossover-$job.out" || die "the rank does not say why: $(output "$job")"
done
