#!/usr/bin/env bash
# Installs the system packages that shardline is built with; --help says how. It asks dpkg first, so that a second run installs
# nothing and needs no network.
set -euo pipefail

# What the build and the programs need. gnuplot is started by `shardline`, for figures.
readonly build_packages=(
  build-essential cmake ninja-build pkg-config
  libopenmpi-dev openmpi-bin libopenblas-dev libhdf5-dev
  libtomlplusplus-dev libcli11-dev libfmt-dev nlohmann-json3-dev libhwloc-dev
  gnuplot-nox
)
# What only the tests need: GoogleTest, readers of HDF5 and of JSON Schemas other than our own, the tools of the virtual cluster and of its Slurm (srun's
# PMIx plugin opens libpmix by the name that only libpmix-dev has), a second MPI (beside which mpicc and mpirun stay Open MPI's), and Clang for the fuzz targets (its runtime is a package of its
# own except in Ubuntu 22.04).
test_packages=(
  libgtest-dev libgmock-dev hdf5-tools python3-h5py python3-jsonschema
  iproute2 util-linux procps
  slurmctld slurmd slurm-client munge slurm-wlm-basic-plugins libpmix-dev
  mpich libmpich-dev
  clang
)
grep -qs '^VERSION_CODENAME=jammy' /etc/os-release || test_packages+=(libclang-rt-dev)
readonly test_packages

usage() {
  cat <<'EOF'
usage: install-packages.sh [--with-tests] [--check]

Installs what shardline needs and this Debian or Ubuntu does not have yet, as
root or through sudo. Where packages cannot be installed (another system, no
root), it looks for compilers, programs and headers instead, and says what is
missing and what to load or install.

  --with-tests  also what only the tests need
  --check       install nothing, say what is missing

Exit codes: 0 everything is there, 1 (--check) something is missing, 2 it is
missing and could not be installed.
EOF
}

say() { printf '%s\n' "$*"; }
fail() { printf 'install-packages.sh: %s\n' "$1" >&2; exit 2; }

with_tests=
check_only=
for argument in "$@"; do
  case $argument in
    --with-tests) with_tests=yes ;;
    --check) check_only=yes ;;
    -h | --help) usage; exit 0 ;;
    *) fail "no option '$argument': see install-packages.sh --help" ;;
  esac
done

# ---------------------------------------------------------------------------------------- with a package manager

missing_packages() {
  local wanted=("${build_packages[@]}") installed package
  [ -z "$with_tests" ] || wanted+=("${test_packages[@]}")
  # dpkg-query fails when it knows nothing of one of them, and lists the others all the same.
  installed=$(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/^.i  *//p' || true)
  for package in "${wanted[@]}"; do
    grep -qxF "$package" <<<"$installed" || say "$package"
  done
}

become_root=()
can_install() {
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || return 1
  [ "$(id -u)" -ne 0 ] || return 0
  command -v sudo >/dev/null && sudo -n true 2>/dev/null || return 1
  become_root=(sudo -n)
}

# Its own words go to stderr, as this script's stdout says what was done.
apt_get() {
  ${become_root[@]+"${become_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" </dev/null >&2
}

twice() {
  "$@" && return
  say "trying again in 5 s" >&2
  sleep 5
  "$@"
}

install() {
  say "installing: $*"
  # A mirror may fail for a moment, and the list of packages may have become outdated in between.
  twice apt_get update && twice apt_get install --no-install-recommends "$@"
}

# ------------------------------------------------------------------------------------- without: look for the things

compiler=${CXX:-c++}
search_path=()   # where environment modules and Spack say that things are
collect_search_path() {
  local prefix variable
  local IFS=':;'
  for prefix in ${CMAKE_PREFIX_PATH-}; do search_path+=("-I$prefix/include"); done
  for variable in HDF5 OPENBLAS OpenBLAS HWLOC hwloc FMT fmt tomlplusplus CLI11 nlohmann_json GTest GTEST; do
    for prefix in "${variable}_ROOT" "${variable}_DIR" "EBROOT${variable^^}"; do
      [ -z "${!prefix-}" ] || search_path+=("-I${!prefix}/include")
    done
  done
}

# have_header HEADER PKG-CONFIG-NAME...: does the compiler find it, by itself or where modules and pkg-config point?
have_header() {
  local header=$1 flags=() name
  shift
  for name in "$@"; do
    read -r -a flags < <(pkg-config --cflags "$name" 2>/dev/null) || true
    if printf '#include <%s>\n' "$header" |
      "$compiler" -std=c++20 -E -x c++ ${search_path[@]+"${search_path[@]}"} ${flags[@]+"${flags[@]}"} - >/dev/null 2>&1; then
      return 0
    fi
  done
  return 1
}

have_program() { command -v "$1" >/dev/null; }

have_cmake() {   # 3.22 or later
  local version
  version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
  [ -n "$version" ] && printf '3.22\n%s\n' "$version" | sort -V -C
}

have_mpi() { have_program mpicc && have_program mpirun; }

have_cxx20() { printf '#include <span>\n#include <concepts>\n' | "$compiler" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; }

have_slurm() { have_program slurmctld && have_program slurmd && have_program srun && have_program munged; }

have_python_module() { python3 -c "import $1" 2>/dev/null; }

# want WHAT MODULE SPACK-PACKAGE COMMAND...: notes what COMMAND does not find
missing=()
want() {
  local what=$1 module=$2 spack=$3
  shift 3
  "$@" || missing+=("$(printf '  %-36s %-24s %s' "$what" "$module" "$spack")")
}

# Sets `missing` (the build cannot do without) and `wanted` (only something is then not available).
wanted=()
look_for_things() {
  collect_search_path
  missing=()
  want "C++20 compiler ($compiler)" gcc gcc have_cxx20
  want 'cmake (3.22 or later)' cmake cmake have_cmake
  want ninja ninja ninja have_program ninja
  want pkg-config pkgconf pkgconf have_program pkg-config
  want 'mpicc, mpirun' openmpi openmpi have_mpi
  want 'cblas.h' openblas openblas have_header cblas.h openblas blas-openblas cblas
  want 'hdf5.h (C library)' hdf5 'hdf5 ~mpi' have_header hdf5.h hdf5 hdf5-serial
  want 'toml++/toml.h' tomlplusplus tomlplusplus have_header toml++/toml.h tomlplusplus
  want 'CLI/CLI.hpp' cli11 cli11 have_header CLI/CLI.hpp CLI11
  want 'fmt/format.h' fmt fmt have_header fmt/format.h fmt
  want 'nlohmann/json.hpp' nlohmann-json nlohmann-json have_header nlohmann/json.hpp nlohmann_json
  want 'hwloc.h' hwloc hwloc have_header hwloc.h hwloc
  if [ -n "$with_tests" ]; then
    want 'gtest/gtest.h' googletest googletest have_header gtest/gtest.h gtest
    want 'gmock/gmock.h' googletest googletest have_header gmock/gmock.h gmock
  fi
  local needed=(${missing[@]+"${missing[@]}"})
  missing=()
  want 'gnuplot: figures of the report' gnuplot gnuplot have_program gnuplot
  if [ -n "$with_tests" ]; then
    want 'h5clear: some tests' hdf5 'hdf5 +tools' have_program h5clear
    want 'python3 with h5py: some tests' h5py py-h5py have_python_module h5py
    want 'python3 with jsonschema: a test' - py-jsonschema have_python_module jsonschema
    want 'clang++: fuzz targets, some tests' llvm llvm have_program clang++
    want 'mpicc.mpich: a test of MPICH' - - have_program mpicc.mpich
    want 'ip, tc: tests of the virtual cluster' - iproute2 have_program ip
    want 'slurmctld, munged: tests of batch jobs' - slurm have_slurm
  fi
  wanted=(${missing[@]+"${missing[@]}"})
  missing=(${needed[@]+"${needed[@]}"})
}

table() { printf '  %-36s %-24s %s\n' '' 'module (often named)' 'Spack'; printf '%s\n' "$@"; }

report_things() {   # report_things WHY
  look_for_things
  if [ ${#wanted[@]} -gt 0 ]; then
    { say "not found, and only these need it:"; table "${wanted[@]}"; } >&2
  fi
  if [ ${#missing[@]} -eq 0 ]; then
    say "everything needed is there"
    return 0
  fi
  { say "install-packages.sh: some of what shardline needs is missing ($1): load modules or install with Spack, then try again"
    table "${missing[@]}"
    say "names differ between sites: module spider NAME; without modules: spack install NAME && spack load NAME"; } >&2
  return 1
}

# ---------------------------------------------------------------------------------------------------------- main

if can_install; then
  mapfile -t packages < <(missing_packages)
  if [ ${#packages[@]} -eq 0 ]; then
    say "everything needed is installed"
  elif [ -n "$check_only" ]; then
    say "missing packages: ${packages[*]}"
    exit 1
  elif ! install "${packages[@]}"; then
    report_things "apt-get could not install ${packages[*]}" || exit 2
  fi
else
  if command -v apt-get >/dev/null; then
    why="packages cannot be installed without root or a sudo that asks for no password"
  else
    why="there is no apt-get here"
  fi
  report_things "$why" || { [ -n "$check_only" ] && exit 1 || exit 2; }
fi
