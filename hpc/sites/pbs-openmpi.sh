# A PBS cluster with Open MPI. To make it yours: cp pbs-openmpi.sh MYSITE.sh, change it, export SHARDLINE_SITE=MYSITE.
#
#   qsub -l select=2:ncpus=32:mpiprocs=1 -l walltime=1:00:00 -k oed -- "$PWD/hpc/measure"
#
# The number of ranks on a node is mpiprocs. With qsub -v SHARDLINE_SITE=MYSITE the job knows its site.
# Tried with the variables of PBS alone, not on a PBS.
# shellcheck shell=bash

# module purge
# module load gcc openmpi openblas hdf5

export SHARDLINE_LAUNCHER=mpirun
# An Open MPI that was built for PBS (tm) finds the nodes by itself; the file serves any other.
if [ -n "${PBS_NODEFILE-}" ]; then export OMPI_MCA_orte_default_hostfile=$PBS_NODEFILE; fi

# export OMPI_MCA_pml=ucx
# export SHARDLINE_RESULTS=/scratch/$USER/shardline
