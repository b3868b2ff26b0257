#!/usr/bin/env bash
# Starts ranks on this machine with whatever switches it needs; --help says which. For a cluster use its own launcher.
set -euo pipefail

usage() {
  cat <<'EOF'
usage: launch.sh [--dry-run] RANKS COMMAND...

Runs COMMAND under mpirun on RANKS ranks of this machine. Open MPI gets, only
where needed:
  as root                     leave to run (OMPI_ALLOW_RUN_AS_ROOT,
                              OMPI_ALLOW_RUN_AS_ROOT_CONFIRM)
  a core for every rank       --bind-to core
  more ranks than cores       --oversubscribe --bind-to none, and ranks that
                              wait give their core away
  allowed on some cores only  --bind-to none, as Open MPI would bind to the
                              others too
  memory of other processes   copies within the machine go through shared
  may not be read (some       memory (OMPI_MCA_btl_vader_...)
  containers)
Other MPIs are started with -n RANKS alone.

  --dry-run   print the command instead of running it
  $MPIRUN     the mpirun to use (default: mpirun)

example:
  launch.sh 4 build/release/bin/shardline-run experiments/crossover.toml \
      -o results/four-ranks.h5
EOF
}

fail() { printf 'launch.sh: %s\n' "$1" >&2; exit 2; }

dry_run=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --dry-run) dry_run=yes; shift ;;
    -*) fail "no option $1 (options of mpirun are chosen here): see launch.sh --help" ;;
    *) break ;;
  esac
done
[ $# -ge 2 ] || fail "RANKS or COMMAND is missing: see launch.sh --help"
ranks=$1
shift
[[ $ranks =~ ^[1-9][0-9]{0,4}$ ]] || fail "cannot start '$ranks' ranks (a whole number from 1 is needed): for example launch.sh 2 hostname"
mpirun=${MPIRUN:-mpirun}
command -v "$mpirun" >/dev/null || fail "cannot find $mpirun: install Open MPI (scripts/install-packages.sh), or load its module"

# Lists like 0-3,8 to one number a line.
expand() {
  local range
  for range in ${1//,/ }; do seq "${range%-*}" "${range#*-}"; done
}

allowed_cpus() { sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status; }

# Cores, not hardware threads, that this process may use: so Open MPI counts, and so it makes sense for BLAS. Without the
# topology: nproc, which honours the mask too, but also takes OMP_NUM_THREADS for a number of cores.
cores() {
  local cpu topology=/sys/devices/system/cpu
  if [ -r "$topology/cpu0/topology/thread_siblings_list" ] && [ -n "$(allowed_cpus)" ]; then
    for cpu in $(expand "$(allowed_cpus)"); do cat "$topology/cpu$cpu/topology/thread_siblings_list"; done | sort -u | wc -l
  else
    env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc
  fi
}

# Is every core of the machine ours? taskset (or a test runner) may have left us a part, which Open MPI's binding does not see.
all_cores_allowed() {
  local online=/sys/devices/system/cpu/online
  [ ! -r $online ] || [ "$(expand "$(cat $online)")" = "$(expand "$(allowed_cpus)")" ]
}

# May one process read another's memory? Open MPI believes so, and where a container's system call filter forbids it, ranks print
# "Read -1, expected ..., errno = 1" for every message, or crash. So do what it will do: read something of a child.
# perl is in every Debian; without it (or on a processor not named here) Open MPI is left to believe what it likes.
may_read_memory_of_others() {
  local number
  case $(uname -m) in
    x86_64) number=310 ;;
    aarch64 | riscv64 | loongarch64) number=270 ;;
    ppc64le | ppc64) number=351 ;;
    *) return 0 ;;
  esac
  command -v perl >/dev/null || return 0
  perl -e '
    my $theirs = "a page of another process"; my $size = length $theirs; my $ours = "\0" x $size;
    pipe(my $wait, my $go) or exit 0;
    defined(my $child = fork) or exit 0;
    if (!$child) { close $go; sysread($wait, my $nothing, 1); exit 0 }
    my $got = syscall(shift, $child, pack("PJ", $ours, $size), 1, pack("PJ", $theirs, $size), 1, 0);
    close $go; waitpid($child, 0);
    exit($got == $size && $ours eq $theirs ? 0 : 1)' "$number"
}

environment=()
options=(-n "$ranks")
# By another name than mpirun it gives its runtime's name.
if [[ $("$mpirun" --version 2>/dev/null </dev/null) =~ Open\ MPI|OpenRTE ]]; then
  if [ "$(id -u)" -eq 0 ]; then environment+=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1); fi
  if [ "$ranks" -gt "$(cores)" ]; then
    options+=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
  elif all_cores_allowed; then
    options+=(--bind-to core)
  else
    options+=(--bind-to none)
  fi
  if [ -z "${OMPI_MCA_btl_vader_single_copy_mechanism-}" ] && ! may_read_memory_of_others; then
    environment+=(OMPI_MCA_btl_vader_single_copy_mechanism=none)
  fi
fi

if [ -n "$dry_run" ]; then
  printf '%q ' ${environment[@]+"${environment[@]}"} "$mpirun" "${options[@]}" | cat
  printf '%q ' "$@" | sed 's/ $/\n/'
  exit 0
fi
[ ${#environment[@]} -eq 0 ] || export "${environment[@]}"
# mpirun started without any stdin hangs.
[ -e /proc/$$/fd/0 ] || exec </dev/null
exec "$mpirun" "${options[@]}" "$@"
