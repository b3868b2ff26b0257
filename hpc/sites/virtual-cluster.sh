# The virtual Slurm cluster (hpc/virtual-cluster). Its network is chosen where an administrator would do so, in Open MPI's own file.
# shellcheck shell=bash

# Each host is pinned to a core of this machine, while every host sees all of them: Open MPI would bind their ranks to the same.
: "${SHARDLINE_BIND:=none}"
