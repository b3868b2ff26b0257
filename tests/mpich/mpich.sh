#!/usr/bin/env bash
# mpich.sh FOLDER CMAKE [OPTION]...: configures and builds shardline-run (only_ranks) against MPICH in FOLDER, and measures a crossover on two and on
# three ranks; the report of this build reads the files. What only Open MPI has is refused or left out, with a word.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../system/run/checks.sh"
only_ranks=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/only_ranks
folder=$1
shift
need_h5py

# Debian calls them so; elsewhere a module makes MPICH the MPI of the build, and all the other tests are of it.
for program in mpicc.mpich mpiexec.mpich; do
  command -v "$program" >/dev/null || skip "needs Debian's MPICH beside the MPI of this build ($program; scripts/install-packages.sh --with-tests)"
done
# -O0: nothing is measured that anyone will use.
"$@" -S "$only_ranks" -B "$folder" -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS_DEBUG=-O0 -D CMAKE_UNITY_BUILD=ON \
  -D MPI_C_COMPILER=mpicc.mpich -D MPIEXEC_EXECUTABLE="$(command -v mpiexec.mpich)" >configured 2>&1 || die "not configured: $(cat configured)"
grep -q 'MPI  *MPICH' configured || die "the summary does not name MPICH: $(cat configured)"
"$1" --build "$folder" --parallel 2 --target shardline-run >built 2>&1 || die "not built: $(tail -n 50 built)"
run=$folder/bin/shardline-run
export MPIRUN=mpiexec.mpich

experiment e
for ranks in 2 3; do
  ends_with 0 "$launch" "$ranks" "$run" e.toml -o "$ranks.h5"
  mv out of-the-run
  examine complete "$ranks.h5" || die "$ranks.h5 is not as it must be"
  ends_with 3 "$shardline" report "$ranks.h5"   # too few samples for a verdict
  cmp of-the-run out || die "the run's table and the report's differ"
  says "$ranks ranks on 1 host"
done
ends_with 0 "$launch" 2 "$run" e.toml --doctor
says "MPI         MPICH Version: "
says "started by  mpirun of MPICH"

# Algorithms by name are Open MPI's.
refuses "it lets none be chosen" "$launch" 2 "$run" "$SHARDLINE_SOURCE/experiments/allreduce.toml" -o r.h5 --set algorithms=ring
experiment a 'measure = "allreduce"' 'algorithms = "all"' 'message_bytes = [1024, 4096]'
sed -i -E '/^(B|F|D) =/d' a.toml
ends_with 0 "$launch" 2 "$run" a.toml -o a.h5
says "inconclusive: one algorithm was measured alone"
# Ranks started by another MPI's launcher do not find each other.
MPIRUN=mpirun.openmpi
if command -v $MPIRUN >/dev/null; then
  export MPIRUN
  ends_with 2 "$launch" 2 "$run" e.toml -o lonely.h5
  complains "launched as 2 tasks, MPI sees 1"
fi
