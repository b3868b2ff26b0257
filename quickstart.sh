#!/usr/bin/env bash
# From a fresh checkout to a measured crossover of this machine; --help says what happens.
set -euo pipefail

usage() {
  cat <<'EOF'
usage: quickstart.sh

Installs what is missing (Debian, Ubuntu; elsewhere it says what to load),
builds shardline into build/release, runs experiments/crossover.toml on two
ranks of this machine and prints the report. The build takes about five
minutes on two cores, the run one at most. The measurements go to a new file
in results/; its name is printed.

Exit codes: 0 measured and reported, whatever the finding;
anything else: a step failed.
EOF
}

case ${1-} in
  '') ;;
  -h | --help) usage; exit 0 ;;
  *) printf "quickstart.sh: no option '%s' (it takes none): see quickstart.sh --help\n" "$1" >&2; exit 2 ;;
esac

step() { printf '\n== %s\n' "$*"; }

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"

step "Packages"
scripts/install-packages.sh

step "Build (build/release)"
# The tests need more than a user has; whoever has built them keeps them.
tests=()
[ -e build/release/CMakeCache.txt ] || tests=(-D SHARDLINE_TESTS=OFF)
mkdir -p build
cmake --preset release ${tests[@]+"${tests[@]}"} >build/configure.log 2>&1 || {
  cat build/configure.log >&2
  printf 'quickstart.sh: configuring failed: see above; scripts/install-packages.sh --check tells what is missing\n' >&2
  exit 1
}
cmake --build build/release --parallel "$(nproc)" --target shardline-run shardline

step "Measure: matmul against allreduce, two ranks of this machine"
mkdir -p results
stamp=$(date -u +%Y%m%dT%H%M%SZ)
file=results/quickstart-$stamp.h5
for ((i = 2; ; i++)); do   # two quickstarts may start in one second
  [ -e "$file" ] || break
  file=results/quickstart-$stamp-$i.h5
done
scripts/launch.sh 2 build/release/bin/shardline-run experiments/crossover.toml -o "$file" </dev/null >/dev/null   # the report says the same

step "Report: shardline report $file"
rc=0
build/release/bin/shardline report "$file" || rc=$?
echo
case $rc in
  0) echo "== This machine agrees with the law, or its measured efficiencies account"
     echo "   for the difference." ;;
  1) echo "== This machine does not follow the law; the report above says where. That is"
     echo "   a finding, not a failure." ;;
  3) echo "== No verdict from this run; the report above says what to change. That is a"
     echo "   finding, not a failure." ;;
  *) printf 'quickstart.sh: the report failed (exit code %s): see above; the measurements are in %s\n' "$rc" "$file" >&2; exit "$rc" ;;
esac
echo "   Next: on a cluster, the same with mpirun or srun (README.md); on links of a"
echo "   chosen speed on this machine, hpc/virtual-cluster/README.md"
