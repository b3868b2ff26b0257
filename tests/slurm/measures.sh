#!/usr/bin/env bash
# The scripts of the other measures in jobs of three nodes: links, the allreduce's algorithms, and D* over ranks on sub-communicators.
# The ordinary experiments, made smaller, find their way into files named by job, and into reports of their kind.
. "$(dirname "$0")/common.sh"
need_slurm
start_slurm 3

small=(--set passes=1 --set max_passes=1 --set repetitions=1)
sizes=(--set 'message_bytes=[64,65536]')
links=$(submit --nodes=3 "$(script links)" "${small[@]}" "${sizes[@]}")
allreduce=$(submit --nodes=3 "$(script allreduce)" "${small[@]}" "${sizes[@]}")
ranks=$(submit --nodes=3 "$(script ranks)" "${small[@]}" --set B=32 --set F=48 --set 'D=[64,128]' --set blas_threads=1)

# expect NAME JOB TEXT...: the job's file is complete, of ranks on three hosts, and each text is a line's beginning of its report
expect() {
  local file=results/$1-$2.h5 text
  ends 100 COMPLETED "$2"
  [ "$(examine status "$file")" = complete ] || die "$file is $(examine status "$file")"
  [ "$(examine rank_hosts "$file" | paste -sd' ')" = 'n0 n1 n2' ] || die "$file is of ranks on $(examine rank_hosts "$file")"
  for text in "${@:3}"; do
    grep -q "^ *$text" "results/$1-$2.out" || die "no '$text' in the report: $(output "$2")"
  done
}

expect links "$links" 'Links'
expect allreduce "$allreduce" 'Allreduce'
# Two of the three ranks work while the third sleeps, then all: each number has its calibration.
expect ranks "$ranks" 'B = 32, F = 48, P = 2' 'B = 32, F = 48, P = 3'
