# A cluster with LSF and Open MPI. To make it yours: cp lsf-openmpi.sh MYSITE.sh, change it, export SHARDLINE_SITE=MYSITE.
#
#   bsub -J crossover -n 2 -R 'span[ptile=1]' -x -W 60 -wa USR1 -wt 2 -Q 4 -r -o results/crossover-%J.out "$PWD/hpc/measure"
#
# -n counts all ranks, ptile those of a node; -x asks for whole nodes. Two minutes before the limit (-W) the run is stopped in order
# (-wa, -wt), and its exit code 4 puts the job back (-Q); so does a lost node (-r). Stop it yourself: bkill -s USR1 JOBID.
# Written by LSF's manual and tried with its variables alone, not on an LSF. Not for jsrun.
# shellcheck shell=bash

# module purge
# module load gcc openmpi openblas hdf5

export SHARDLINE_LAUNCHER=mpirun
# An Open MPI that was built for LSF finds the nodes, and how to start something there, by itself; this serves any other.
if [ -n "${LSB_DJOB_HOSTFILE-}" ]; then
  export OMPI_MCA_orte_default_hostfile=$LSB_DJOB_HOSTFILE OMPI_MCA_plm_rsh_agent=blaunch
fi

# export OMPI_MCA_pml=ucx
# export SHARDLINE_RESULTS=/scratch/$USER/shardline
