#!/usr/bin/env bash
# signal.sh mpirun|srun: `scancel -s USR1 -b` stops a run in order, the job is put back, and measures and reports in the end what it would
# have. With srun it is an element of an array.
. "$(dirname "$0")/common.sh"
need_slurm
launcher=$1
experiment e "$(slow 20)"
start_slurm 2
plan visits 2 e
export SHARDLINE_LAUNCHER=$launcher

if [ "$launcher" = mpirun ]; then
  script=crossover job=$(submit "$(script crossover)" "$scratch/e.toml")
else
  script=sweep job=$(submit --array=2 --nodes=2 "$(script sweep)" "$scratch/e.toml")_2
fi
runs "$job" $script
login scancel -s USR1 -b "$job"
put_back() { [ "$(fact "$job" Restarts)" = 1 ]; }
wait_for 60 put_back || die "the job was not put back: $(output "$job")"
grep -q 'stopped as asked' "results/$script-$job.out" || die "the run did not end in order: $(output "$job")"
before=$(examine rows "$file")
[ "$(examine status "$file")" = stopped ] || [ "$(fact "$job" JobState)" != PENDING ] || die "the file is left as $(examine status "$file")"
ends 150 COMPLETED "$job"
expect_whole "$file" 2 visits
expect_same_report "$file"
[ "$(examine rows "$file")" -gt "$before" ] || die "nothing was left to measure"
[ "$(grep -c 'Verdict: ' "results/$script-$job.out")" -eq 1 ] || die "not one report at the end: $(output "$job")"

# Where jobs are not to be put back, the run is stopped all the same, and its file goes on in another job.
job=$(submit --no-requeue "$(script crossover)" "$scratch/e.toml")
runs "$job"
login scancel -s USR1 -b "$job"
ends 60 FAILED "$job"
[ "$(examine status "$file")" = stopped ] || die "the file is left as $(examine status "$file")"
grep -q 'submit again with --resume' "results/crossover-$job.out" || die "no word how to go on: $(output "$job")"
next=$(submit "$(script crossover)" --resume "$file")
ends 150 COMPLETED "$next"
expect_whole "$file" 2 visits
expect_same_report "$file"
