#!/usr/bin/env bash
# hpc/measure without Slurm: on a workstation and in what looks like a job of PBS; a signal stops it in order; what is missing is named.
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
complains "job 78 left no file"
printf '%s\n' a a b b >nodes
ends_with 0 "$measure" --print e.toml
says "mpirun -n 4 --map-by ppr:2:node"
unset PBS_JOBID PBS_JOBNAME PBS_NODEFILE

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
