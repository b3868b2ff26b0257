#!/usr/bin/env bash
# Doctor, run and report by dependency, as an ordinary user, by mpirun and a run by srun; a doctor that finds the run meaningless
# stops the chain; and a file that another job of the same number has left is not gone on with.
. "$(dirname "$0")/common.sh"
need_slurm
id nobody >/dev/null 2>&1 || skip "needs a user nobody"
command -v runuser >/dev/null || skip "needs runuser"
start_slurm 2
# What a user of the cluster can read: the checkout that is tested may be root's alone.
mkdir -p home/build/release/bin home/results
cp -r "$SHARDLINE_SOURCE/hpc" "$SHARDLINE_SOURCE/experiments" "$SHARDLINE_SOURCE/scripts" home/
cp "$SHARDLINE_BIN/shardline-run" "$SHARDLINE_BIN/shardline" home/build/release/bin/
experiment e
plan visits 2 e
cp e.toml home/
chown -R nobody home
cd home
unset SHARDLINE_ROOT SHARDLINE_RESULTS SHARDLINE_BIN OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
scratch_results=$scratch/home/results
output() { cat "$scratch_results/"*"-$1.out" 2>/dev/null || true; }

# chain ARGUMENT...: the jobs in doctor, crossover, report
chain() {
  login runuser -u nobody -- hpc/slurm/chain "$@" >"$scratch/chain" </dev/null || die "chain fails: $(cat "$scratch/chain")"
  doctor=$(sed -n 's/^doctor *//p' "$scratch/chain")
  crossover=$(sed -n 's/^crossover *//p' "$scratch/chain")
  report=$(sed -n 's/^report *//p' "$scratch/chain")
}

chain --time=10 -- e.toml
ends 120 COMPLETED "$doctor"
# Without a word about the launcher it is mpirun.
output "$doctor" | paste -sd' ' | tr -s ' ' | grep "started by mpirun of Open MPI .* in job $doctor of Slurm" >/dev/null ||
  die "the doctor does not know how it was started: $(output "$doctor")"
output "$doctor" | grep 'a first probe: C about .*, W about ' >/dev/null || die "nothing was probed: $(output "$doctor")"
output "$doctor" | grep '2 points: D = 64, 128' >/dev/null || die "no plan: $(output "$doctor")"
ends 120 COMPLETED "$crossover"
expect_whole "results/crossover-$crossover.h5" 2 "$scratch/visits"
[ "$(stat -c %U "results/crossover-$crossover.h5")" = nobody ] || die "the file is not the user's"
wait_for 60 is_over "$report" || die "the report does not come: $(login squeue)"
output "$report" | grep 'Verdict: ' >/dev/null || die "no report: $(output "$report")"
{ build/release/bin/shardline report "$scratch_results/crossover-$crossover.h5" || true; echo; } | cmp - "results/report-$report.out" ||
  die "the job's report differs from that of shardline report"

by_srun=$(SHARDLINE_LAUNCHER=srun login runuser -u nobody -- sbatch --parsable hpc/slurm/crossover.sbatch e.toml </dev/null)
ends 120 COMPLETED "$by_srun"
output "$by_srun" | grep '^measure: srun ' >/dev/null || die "not started by srun: $(output "$by_srun")"
expect_whole "results/crossover-$by_srun.h5" 2 "$scratch/visits"

cp "results/crossover-$by_srun.h5" "results/crossover-$((by_srun + 1)).h5"
another=$(login runuser -u nobody -- sbatch --parsable hpc/slurm/crossover.sbatch e.toml </dev/null)
[ "$another" -eq $((by_srun + 1)) ] || die "job $another does not follow $by_srun"
ends 60 FAILED "$another"
output "$another" | grep "crossover-$another.h5 is there already" >/dev/null || die "no word about the other's file: $(output "$another")"

# Two ranks on the only core that the first node has.
chain -- e.toml --set blas_threads=0
login scancel "$doctor" "$crossover" "$report"
export SHARDLINE_RANKS=2 SHARDLINE_NODES=1
chain -- e.toml
ends 120 FAILED "$doctor"
output "$doctor" | grep 'no run (ranks_share_core)' >/dev/null || die "the doctor finds nothing: $(output "$doctor")"
ends 60 CANCELLED "$crossover"
[ ! -e "results/crossover-$crossover.h5" ] || die "measured all the same"
