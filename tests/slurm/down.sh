#!/usr/bin/env bash
# `down` in the middle of a job leaves nothing, neither processes nor namespaces; a second cluster of the same name starts afresh.
. "$(dirname "$0")/common.sh"
need_slurm
experiment e "$(slow 1000)"
start_slurm 2
for launcher in mpirun srun; do
  job=$(SHARDLINE_LAUNCHER=$launcher submit "$(script crossover)" e.toml)
  runs "$job"
  [ -n "$(ranks_on n0)" ] || die "no rank on n0"
  vc down
  expect_nothing_left "after down during a run by $launcher"
  rm -rf "$scratch/results"
  if [ $launcher = mpirun ]; then start_slurm 2; fi
done

if vc exec login true 2>"$scratch/err"; then die "exec without a cluster went through"; fi
vc up 2 unlimited >/dev/null 2>&1
if vc exec login true 2>"$scratch/err"; then die "a cluster without Slurm has a login"; fi
grep -q "no host 'login'" "$scratch/err" || die "no word about the host that is not there: $(cat "$scratch/err")"
