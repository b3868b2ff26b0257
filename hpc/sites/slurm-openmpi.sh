# A Slurm cluster with Open MPI. To make it yours: cp slurm-openmpi.sh MYSITE.sh, change it, export SHARDLINE_SITE=MYSITE.
# Sourced by hpc/measure and hpc/report on the nodes of a job. ${NAME:=VALUE} leaves what you exported yourself.
# shellcheck shell=bash

# Modules: the ones shardline was built with.
# module purge
# module load gcc openmpi openblas hdf5

# Launcher: mpirun, or srun where the site wants it and its Slurm has PMIx (srun --mpi=list).
# export SHARDLINE_LAUNCHER=srun

# Ranks: one a node measures the network between nodes; a rank computes with all cores of its node.
: "${SHARDLINE_RANKS:=}"   # node, socket, core or a number; empty: what sbatch was asked for

# Network: Open MPI chooses the fastest it knows. To choose for it:
# export OMPI_MCA_pml=ucx UCX_NET_DEVICES=mlx5_0:1
# export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=10.0.0.0/16   # TCP of one network

# Folder of results: one that all nodes see, as a requeued job may start on others.
# export SHARDLINE_RESULTS=/scratch/$USER/shardline
