#!/usr/bin/env bash
# hpc/measure without Slurm: on a workstation and in what looks like a job of PBS or LSF; a signal stops it in order; what is missing is named.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../system/run/checks.sh"
need_h5py
need_open_mpi
for variable in $(compgen -e | grep -E '^(SLURM|PBS|LSB|SHARDLINE_(SITE|RANKS|NODES|LAUNCHER|BIND|RESULTS))' || true); do unset "$variable"; done
measure=$SHARDLINE_SOURCE/hpc/measure
report=$SHARDLINE_SOURCE/hpc/report
export SHARDLINE_BIN SHARDLINE_RESULTS=$scratch/results
experiment e
ends_with 0 "$launch" 2 "$run" e.toml -o plan.h5
examine kept plan.h5 >plan

export SHARDLINE_SITE=workstation
ends_with 0 "$measure" e.toml
file=$(echo results/crossover-*.h5)
examine kept "$file" | cmp - plan || die "$file holds other visits than the plan"
ends_with 0 "$measure" --print e.toml -o x.h5
says "scripts/launch.sh 2 $run e.toml -o x.h5"
SHARDLINE_RANKS=3 ends_with 0 "$measure" --print --resume "$file"
says "scripts/launch.sh 3 $run --resume $file"

# A job of PBS: two tasks on this machine, started by mpirun with PBS's list of nodes.
export SHARDLINE_SITE=pbs-openmpi PBS_JOBID=77.server PBS_JOBNAME=law PBS_NODEFILE=$scratch/nodes
printf '%s\n' "$(hostname)" "$(hostname)" >nodes
SHARDLINE_BIND=none ends_with 0 "$measure" e.toml
complains "mpirun -n 2 --map-by ppr:2:node --bind-to none"
examine kept results/law-77.h5 | cmp - plan || die "the job of PBS holds other visits than the plan"
ends_with 3 "$report" 77
says "Verdict: "
ends_with 2 "$report" 78
complains "job 78 left neither file nor output"
printf '%s\n' a a b b >nodes
ends_with 0 "$measure" --print e.toml
says "mpirun -n 4 --map-by ppr:2:node"
PBS_JOBID='77[3].server' ends_with 0 "$measure" --print e.toml
says "/law-77_3.h5 e.toml"
unset PBS_JOBID PBS_JOBNAME PBS_NODEFILE

# A job of LSF, two slots on this machine. Of an array every element has the same number, and a job without a name that of its command.
export SHARDLINE_SITE=lsf-openmpi LSB_JOBID=88 LSB_JOBINDEX=0 LSB_JOBNAME=law LSB_DJOB_HOSTFILE=$scratch/nodes
printf '%s\n' "$(hostname)" "$(hostname)" >nodes
mkdir lsf
printf '%s\n' '#!/bin/sh' 'shift; exec sh -c "$*"' >lsf/blaunch
chmod +x lsf/blaunch
PATH=$scratch/lsf:$PATH
SHARDLINE_BIND=none ends_with 0 "$measure" e.toml
complains "mpirun -n 2 --map-by ppr:2:node --bind-to none"
examine kept results/law-88.h5 | cmp - plan || die "the job of LSF holds other visits than the plan"
ends_with 3 "$report" 88
says "Verdict: "
LSB_JOBINDEX=3 LSB_JOBNAME='law[3]' ends_with 0 "$measure" --print e.toml
says "/law-88_3.h5 e.toml"
LSB_JOBNAME="$measure e.toml" ends_with 0 "$measure" --print e.toml
says "/measure-88.h5 e.toml"

# USR1, as bsub -wa sends it to all processes of the job: the run ends with the exit code that bsub -Q knows, and the job's next life goes on.
experiment slow '[inject]' 'what = "late_rank"' 'rank = 1' 'amount = 20'
export LSB_JOBID=89
SHARDLINE_BIND=none "$measure" slow.toml >out 2>err </dev/null &
started+=($!)
wait_for 60 test -e results/law-89.h5 || die "the run does not begin"
kill -s USR1 $! "$(pgrep -P $! mpirun)"
end_of $!
[ "$code" -eq 4 ] || die "exit $code instead of 4 after USR1"
complains "bsub -Q 4"
[ "$(examine status results/law-89.h5)" = stopped ] || die "the file is left as $(examine status results/law-89.h5)"
SHARDLINE_BIND=none ends_with 0 "$measure" slow.toml
examine resumed results/law-89.h5 || die "the job's next life did not complete the run"
unset LSB_JOBID LSB_JOBINDEX LSB_JOBNAME LSB_DJOB_HOSTFILE

# TERM, as batch systems send it, ends the run in order.
export SHARDLINE_SITE=workstation
experiment slow '[inject]' 'what = "late_rank"' 'rank = 1' 'amount = 100'
"$measure" slow.toml -o stopped.h5 >out 2>err </dev/null &
started+=($!)
wait_for 60 test -e stopped.h5 || die "the run does not begin"
kill -s TERM $!
end_of $!
[ "$code" -eq 4 ] || die "exit $code instead of 4 after TERM"
[ "$(examine status stopped.h5)" = stopped ] || die "the file is left as $(examine status stopped.h5)"

# The scripts of the other measures, from another folder, with their experiments or another.
for name in links allreduce ranks; do
  SHARDLINE_ROOT=$SHARDLINE_SOURCE ends_with 0 bash "$SHARDLINE_SOURCE/hpc/slurm/$name.sbatch" --print --dry-run --set passes=2
  says "$run $SHARDLINE_SOURCE/experiments/$name.toml --dry-run --set passes=2"
  SHARDLINE_ROOT=$SHARDLINE_SOURCE ends_with 0 bash "$SHARDLINE_SOURCE/hpc/slurm/$name.sbatch" --print e.toml --dry-run
  says "$run e.toml --dry-run"
done

SHARDLINE_SITE=nowhere ends_with 2 "$measure" e.toml
complains "cannot read the site file"
SHARDLINE_RANKS=many ends_with 2 "$measure" e.toml
complains "SHARDLINE_RANKS=many is not understood"
SHARDLINE_NODES=2 ends_with 2 "$measure" e.toml
complains "cannot use 2 nodes (the job has 1)"
SHARDLINE_SITE=slurm-openmpi SHARDLINE_LAUNCHER=srun PATH=$PATH:/nowhere ends_with 2 "$measure" e.toml
grep -qE 'srun needs a job of Slurm|cannot find srun' err || die "srun without a job: no word"
PATH=/usr/bin:/bin SHARDLINE_BIN=/nowhere ends_with 2 "$measure" e.toml
complains "cannot find shardline-run"
