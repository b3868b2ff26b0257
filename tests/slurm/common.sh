# Sourced by the tests of the batch scripts: a virtual cluster with Slurm, jobs on it, how they ended.
# shellcheck shell=bash disable=SC2034
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../cluster/common.sh"

python=/usr/bin/python3
examine() { "$python" "$SHARDLINE_SOURCE/tests/system/run/examine.py" "$@"; }

# Skips where there can be no Slurm.
need_slurm() {
  local program
  need_hosts
  need_mpirun
  for program in slurmctld slurmd sbatch srun scontrol munged nsenter; do
    command -v "$program" >/dev/null || skip "needs $program (scripts/install-packages.sh --with-tests)"
  done
  "$python" -c 'import h5py' 2>/dev/null || skip "needs h5py for $python"
}

# start_slurm HOSTS: and a folder to submit from, as a user would from a checkout.
start_slurm() {
  vc up --slurm "$1" unlimited >/dev/null 2>"$scratch/err" || die "no Slurm: $(cat "$scratch/err")"
  mkdir "$scratch/results"
  cd "$scratch"
  export SHARDLINE_ROOT=$SHARDLINE_SOURCE SHARDLINE_RESULTS=$scratch/results SHARDLINE_BIN
  unset SHARDLINE_SITE SHARDLINE_RANKS SHARDLINE_NODES SHARDLINE_LAUNCHER SHARDLINE_BIND
}

login() { vc exec login "$@"; }

# experiment NAME [LINE]...: writes NAME.toml: a run that is over soon
experiment() {
  printf '%s\n' 'title = "test"' 'B = 32' 'F = 48' 'D = [64, 128]' 'passes = 2' 'max_passes = 2' 'repetitions = 1' 'warmups = 1' \
    'blas_threads = 1' "${@:2}" >"$scratch/$1.toml"
}

# A rank that comes late makes each repetition last a while, whatever the machine: there is time to disturb the run.
slow() { printf '%s\n' '[inject]' 'what = "late_rank"' 'rank = 1' "amount = $1"; }

submit() { login sbatch --parsable "$@" </dev/null; }   # prints the job's number
script() { printf '%s' "$SHARDLINE_SOURCE/hpc/slurm/$1.sbatch"; }

fact() { login scontrol --oneliner show job "$1" 2>/dev/null | grep -o "$2=[^ ]*" | head -n 1 | cut -d= -f2; }   # fact JOB NAME

is_over() {
  state=$(fact "$1" JobState)
  case $state in COMPLETED | FAILED | CANCELLED | TIMEOUT | OUT_OF_MEMORY | DEADLINE | BOOT_FAIL) ;; *) return 1 ;; esac
}
output() { cat "$scratch/results/"*"-$1.out" 2>/dev/null || true; }
# ends SECONDS STATE JOB
ends() {
  wait_for "$1" is_over "$3" || die "job $3 is still $state after $1 s: $(login scontrol show job "$3"; output "$3")"
  [ "$state" = "$2" ] || die "job $3 ended as $state instead of $2: $(output "$3")"
}

begun() { [ -e "$scratch/results/$1.h5" ]; }
# runs JOB [NAME]: its file is there, in the variable file
runs() {
  file=$scratch/results/${2:-crossover}-$1.h5
  wait_for 120 begun "${2:-crossover}-$1" || die "job $1 does not begin: $(login scontrol show job "$1"; output "$1")"
}

# ranks_on HOST: their processes
ranks_on() {
  local pid
  for pid in $(ip netns pids "$name-$1"); do
    if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = shardline-run ]; then echo "$pid"; fi
  done
}

# expect_whole FILE RANKS PLAN: complete, on so many hosts, and with the visits that PLAN lists
expect_whole() {
  examine resumed "$1" || die "$1 is not as it must be"
  examine kept "$1" | cmp - "$3" || die "$1 holds other visits than the plan"
  [ "$(examine rank_hosts "$1" | sort -u | wc -l)" -eq "$2" ] || die "$1 was not measured on $2 hosts: $(examine rank_hosts "$1")"
}

# plan FILE RANKS EXPERIMENT: the visits of a run that nobody disturbed, on this machine without Slurm; and the run itself, plan.h5
plan() {
  local undisturbed=()
  if grep -q '^\[inject\]' "$scratch/$3.toml"; then undisturbed=(--set inject.amount=0); fi
  OMPI_MCA_mpi_yield_when_idle=1 "$SHARDLINE_SOURCE/scripts/launch.sh" "$2" "$SHARDLINE_BIN/shardline-run" "$scratch/$3.toml" \
    ${undisturbed[@]+"${undisturbed[@]}"} -o "$scratch/plan.h5" --force >/dev/null 2>"$scratch/err" </dev/null ||
    die "no plan: $(cat "$scratch/err")"
  examine kept "$scratch/plan.h5" >"$1"
  [ -s "$1" ] || die "the plan is empty"
}

# outline FILE: of its report all that does not depend on the measured times
outline() {
  { "$SHARDLINE_BIN/shardline" report "$1" --json - || true; } | "$python" -c '
import json, sys
report = json.load(sys.stdin)
print(report["status"], report["verdict"], *(file["status"] for file in report["files"]))
for part in ("crossovers", "points", "allreduce_rates"):
    for row in report[part]:
        print(part, *(f"{key}={row[key]}" for key in ("B", "F", "D", "P", "compute", "wire", "strategy", "V_bytes", "n", "verdict") if key in row))
for part in ("overlap", "advice", "claims", "scalings", "roofline", "links", "allreduce"):
    print(part, "is there" if report[part] else "is not")'
}
# expect_same_report FILE: the same as of the run that nobody disturbed
expect_same_report() {
  outline "$scratch/plan.h5" >"$scratch/outline"
  grep -q '^points .*n=' "$scratch/outline" || die "no outline: $(cat "$scratch/outline")"
  outline "$1" | diff "$scratch/outline" - || die "the report of $1 differs from that of an undisturbed run"
}
