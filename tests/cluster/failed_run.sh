#!/usr/bin/env bash
# Runs that fail, are interrupted or killed: the right exit code, and nothing is left on the hosts or after `down`.
. "$(dirname "$0")/common.sh"
need_hosts
need_mpirun

quiet() { [ -z "$(processes)" ]; }
called() {   # processes of the cluster by this name
  local pid
  for pid in $(processes); do
    if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ]; then echo "$pid"; fi
  done
}
ranks_run() { [ "$(called sleep | wc -l)" -eq 2 ]; }
start_ranks() {   # sets run_pid
  "$vcluster" --name "$name" run -- sleep 300 </dev/null >"$scratch/out" 2>&1 &
  run_pid=$!
  wait_for 20 ranks_run || die "the ranks did not start: $(cat "$scratch/out")"
}

vc up 2 unlimited >/dev/null

rc=0
vc run -- sh -c 'exit 3' >/dev/null 2>&1 || rc=$?
[ "$rc" -eq 3 ] || die "a run whose ranks end with 3 ended with $rc"
quiet || die "a failed run leaves processes: $(processes)"

start_ranks
kill -s TERM "$run_pid"
end_of "$run_pid"
[ "$code" -eq 143 ] || die "a run ended by TERM ended with $code"
quiet || die "a run ended by TERM leaves processes: $(processes)"

start_ranks
if vc run -- true 2>"$scratch/err"; then die "two runs at once went through"; fi
grep -q 'another run is on' "$scratch/err" || die "the second run does not say why it fails: $(cat "$scratch/err")"
kill -s KILL "$(called mpirun)"
end_of "$run_pid"
[ "$code" -ne 0 ] || die "a run whose mpirun was killed says that all is well"
quiet || die "a run whose mpirun was killed leaves processes: $(processes)"

# Killed itself, `run` cannot clean up: the next run does.
start_ranks
kill -s KILL "$run_pid"
end_of "$run_pid"
[ "$(vc run -- hostname 2>/dev/null | sort | paste -sd' ')" = 'n0 n1' ] || die "no run after one that was killed"
quiet || die "processes of a killed run outlive the next: $(processes)"

# `down` in the middle of a run, and of one whose `run` and mpirun are both dead.
start_ranks
vc down
end_of "$run_pid"
[ "$code" -ne 0 ] || die "a run that lost its cluster says that all is well"
expect_nothing_left "down during a run"
vc up 2 unlimited >/dev/null
start_ranks
kill -s KILL "$run_pid" "$(called mpirun)"
end_of "$run_pid"
vc down
expect_nothing_left "down after everything was killed"
