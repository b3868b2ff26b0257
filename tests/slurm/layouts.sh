#!/usr/bin/env bash
# A rank a node, a socket or a core, with hardware threads, and on a part of a node: the CPUs that each is given, and what the run says.
# The nodes claim two sockets of two cores with two hardware threads each.
. "$(dirname "$0")/common.sh"
need_slurm
start_slurm 2
experiment e

print='#!/bin/bash
for launcher in srun mpirun; do SHARDLINE_LAUNCHER=$launcher "$SHARDLINE_ROOT/hpc/measure" --print "$@"; done'
printf '%s\n' "$print" >print.sbatch
# options OPTION-OF-SBATCH... : what the launchers would be told in such a job
options() {
  local job
  job=$(submit --output=print-%j.out "$@" print.sbatch e.toml)
  ends 60 COMPLETED "$job"
  printed=print-$job.out
}
prints() { grep -qF -- "$1" "$printed" || die "not '$1' but: $(cat "$printed")"; }

export SHARDLINE_BIND=cores
options --nodes=2 --ntasks-per-node=1 --exclusive
prints 'srun --mpi=pmix --kill-on-bad-exit=1 --nodes=2 --ntasks=2 --ntasks-per-node=1 --cpus-per-task=8 --cpu-bind=cores '
prints 'mpirun -n 2 --map-by ppr:1:node:PE=4 --bind-to core '
SHARDLINE_RANKS=socket options --nodes=2 --ntasks-per-node=1 --exclusive
prints '--ntasks=4 --ntasks-per-node=2 --cpus-per-task=4 '
prints 'mpirun -n 4 --map-by ppr:2:node:PE=2 '
SHARDLINE_RANKS=core options --nodes=2 --ntasks-per-node=1 --exclusive
prints '--ntasks=8 --ntasks-per-node=4 --cpus-per-task=2 '
prints 'mpirun -n 8 --map-by ppr:4:node:PE=1 '
options --nodes=2 --ntasks-per-node=2 --cpus-per-task=3 --exclusive
prints '--ntasks=4 --ntasks-per-node=2 --cpus-per-task=3 '

# On a part of a node nothing is bound, and a rank a socket is refused.
unset SHARDLINE_BIND
export SHARDLINE_SITE=slurm-openmpi
options --nodes=2 --ntasks-per-node=1 --cpus-per-task=4
prints '--cpus-per-task=4 --cpu-bind=none '
prints '--map-by ppr:1:node --bind-to none '
SHARDLINE_RANKS=socket; export SHARDLINE_RANKS
job=$(submit --output=print-%j.out --nodes=1 --ntasks-per-node=1 print.sbatch e.toml)
ends 60 FAILED "$job"
grep -q 'submit with --exclusive' "print-$job.out" || die "no word about the sockets: $(cat "print-$job.out")"
unset SHARDLINE_RANKS SHARDLINE_SITE

# Ranks really start so, and the report says whom they share the nodes with.
export SHARDLINE_RANKS=2
for SHARDLINE_LAUNCHER in srun mpirun; do
  export SHARDLINE_LAUNCHER
  whole=$(submit "$(script crossover)" e.toml --allow ranks_share_core)
  ends 120 COMPLETED "$whole"
  [ "$(examine rank_hosts "results/crossover-$whole.h5" | paste -sd' ')" = 'n0 n0 n1 n1' ] ||
    die "$SHARDLINE_LAUNCHER put ranks on $(examine rank_hosts "results/crossover-$whole.h5")"
  ! examine findings "results/crossover-$whole.h5" | grep '^shared_node' >/dev/null || die "whole nodes are said to be shared"
done
unset SHARDLINE_RANKS
# The script asks for whole nodes; a site may not give them.
sed 's/ --exclusive//' "$(script crossover)" >shared.sbatch
shared=$(submit shared.sbatch e.toml)
ends 120 COMPLETED "$shared"
examine findings "results/crossover-$shared.h5" | grep '^shared_node warning .*2 of 8 CPUs of n0' >/dev/null ||
  die "no word about the shared node: $(examine findings "results/crossover-$shared.h5")"
grep -q 'warning (shared_node' "results/crossover-$shared.out" || die "the report does not say that nodes are shared: $(output "$shared")"
