#!/usr/bin/env bash
# A rank a node, a socket or a core, with hardware threads, and on a part of a node: the CPUs that each is given, and what the run says.
# The nodes claim two sockets of two cores with two hardware threads each.
. "$(dirname "$0")/common.sh"
need_slurm
start_slurm 2
experiment e

# What a rank is given, told by what stands where shardline-run would.
mkdir fake
printf '%s\n' '#!/bin/sh' 'echo "rank on $(hostname) with $SLURM_CPUS_PER_TASK CPUs"' >fake/shardline-run
chmod +x fake/shardline-run
printf '%s\n' '#!/bin/bash' 'measure=$SHARDLINE_ROOT/hpc/measure' \
  'for launcher in srun mpirun; do SHARDLINE_LAUNCHER=$launcher "$measure" --print "$@"; done' \
  'SHARDLINE_LAUNCHER=srun SHARDLINE_BIN=$PWD/fake "$measure" "$@"' >print.sbatch
# options OPTION-OF-SBATCH... : what the launchers would be told in such a job, and how its ranks start by srun
options() {
  local job
  job=$(submit --output=print-%j.out "$@" print.sbatch e.toml)
  ends 60 COMPLETED "$job"
  printed=print-$job.out
}
prints() { grep -qF -- "$1" "$printed" || die "not '$1' but: $(cat "$printed")"; }
# starts RANKS-ON-EACH CPUS-OF-EACH
starts() {
  local host
  for host in n0 n1; do
    [ "$(grep -c "^rank on $host with $2 CPUs" "$printed")" -eq "$1" ] || die "not $1 ranks on $host with $2 CPUs each: $(cat "$printed")"
  done
}

export SHARDLINE_BIND=cores
options --nodes=2 --ntasks-per-node=1 --exclusive
prints 'srun --mpi=pmix --kill-on-bad-exit=1 --nodes=2 --ntasks=2 --ntasks-per-node=1 --cpus-per-task=8 --cpu-bind=cores '
prints 'mpirun -n 2 --map-by ppr:1:node:PE=4 --bind-to core '
starts 1 8
SHARDLINE_RANKS=socket options --nodes=2 --ntasks-per-node=1 --exclusive
prints '--ntasks=4 --ntasks-per-node=2 --cpus-per-task=4 '
prints 'mpirun -n 4 --map-by ppr:2:node:PE=2 '
starts 2 4
SHARDLINE_RANKS=core options --nodes=2 --ntasks-per-node=1 --exclusive
prints '--ntasks=8 --ntasks-per-node=4 --cpus-per-task=2 '
prints 'mpirun -n 8 --map-by ppr:4:node:PE=1 '
starts 4 2
options --nodes=2 --ntasks-per-node=2 --cpus-per-task=3 --exclusive
prints '--ntasks=4 --ntasks-per-node=2 --cpus-per-task=3 '
starts 2 3

# On a part of a node nothing is bound, and a rank a socket is refused.
unset SHARDLINE_BIND
export SHARDLINE_SITE=slurm-openmpi
options --nodes=2 --ntasks-per-node=1 --cpus-per-task=4
prints '--cpus-per-task=4 --cpu-bind=none '
prints '--map-by ppr:1:node --bind-to none '
starts 1 4
SHARDLINE_RANKS=socket; export SHARDLINE_RANKS
job=$(submit --output=print-%j.out --nodes=1 --ntasks-per-node=1 print.sbatch e.toml)
ends 60 FAILED "$job"
grep -q 'ask for whole nodes (sbatch --exclusive)' "print-$job.out" || die "no word about the sockets: $(cat "print-$job.out")"
unset SHARDLINE_RANKS SHARDLINE_SITE

# runs_on HOSTS JOB: a complete run by ranks on these hosts, of which none is said to be shared with others
runs_on() {
  ends 120 COMPLETED "$2"
  [ "$(examine rank_hosts "results/crossover-$2.h5" | paste -sd' ')" = "$1" ] ||
    die "ranks on $(examine rank_hosts "results/crossover-$2.h5") instead of $1"
  ! examine findings "results/crossover-$2.h5" | grep '^shared_node' >/dev/null || die "whole nodes are said to be shared"
}
# Measured, too: a rank a socket of two nodes, a rank a core of one.
sockets=$(SHARDLINE_RANKS=socket SHARDLINE_LAUNCHER=srun submit "$(script crossover)" e.toml --allow ranks_share_core)
cores=$(SHARDLINE_RANKS=core SHARDLINE_LAUNCHER=mpirun submit --nodes=1 "$(script crossover)" e.toml --allow ranks_share_core)
# The script asks for whole nodes; a site may not give them.
sed 's/ --exclusive//' "$(script crossover)" >shared.sbatch
shared=$(submit shared.sbatch e.toml)
runs_on "n0 n0 n1 n1" "$sockets"
runs_on "n0 n0 n0 n0" "$cores"
ends 120 COMPLETED "$shared"
examine findings "results/crossover-$shared.h5" | grep '^shared_node warning .*2 of 8 CPUs of n0' >/dev/null ||
  die "no word about the shared node: $(examine findings "results/crossover-$shared.h5")"
grep -q 'warning (shared_node' "results/crossover-$shared.out" || die "the report does not say that nodes are shared: $(output "$shared")"
