# Sourced by the tests of the virtual cluster. Each test makes a cluster of its own name, so that they may run side by side, and
# looks only for things of that name: other namespaces and processes of the machine are not its business.
# shellcheck shell=bash disable=SC2034
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
. "$here/../waiting.sh"
vcluster=$here/../../hpc/virtual-cluster/vcluster
name=t$$
scratch=$(mktemp -d)
chmod 755 "$scratch"   # ranks and other users read programs here

skip() { echo "SKIPPED: $*"; exit 77; }
die() { echo "FAILED: $*" >&2; exit 1; }

vc() {
  local rc=0
  timeout --foreground -k 10 "$(seconds 100)" "$vcluster" --name "$name" "$@" || rc=$?
  [ "$rc" -ne 124 ] || die "vcluster $* has not ended after $(seconds 100) s"
  return "$rc"
}

at_end() { :; }   # for a test to redefine: removes what it has made besides the cluster

clean_up() {
  [ "$BASHPID" = $$ ] || return 0   # subshells run this trap too
  at_end
  if [ "$(id -u)" -eq 0 ]; then (vc down) 2>/dev/null || true; fi
  rm -rf "$scratch"
}
trap clean_up EXIT

# Skips unless hosts can be made here: root, the programs, and the kernel's consent.
need_hosts() {
  local program
  [ "$(id -u)" -eq 0 ] || skip "needs root"
  for program in ip tc taskset unshare flock; do
    command -v "$program" >/dev/null || skip "needs $program"
  done
  ip netns add "$name-probe" 2>/dev/null || skip "network namespaces cannot be made here"
  if ! ip -n "$name-probe" link add p0 type veth peer name p1 2>/dev/null ||
    ! ip -n "$name-probe" link add br0 type bridge 2>/dev/null; then
    ip netns del "$name-probe"
    skip "the kernel has no veth or no bridge"
  fi
  have_tbf=yes
  tc -n "$name-probe" qdisc add dev p0 root tbf rate 1mbit burst 10kb latency 1ms 2>/dev/null ||
    have_tbf=no
  ip netns del "$name-probe"
}

need_mpirun() {
  [[ $(mpirun --version 2>/dev/null) == *'Open MPI'* ]] || skip "needs Open MPI's mpirun"
}

# Processes of the cluster carry its name in their environment.
processes() {
  local environ pid
  for environ in /proc/[0-9]*/environ; do
    if grep -qzsx "SHARDLINE_VCLUSTER_NAME=$name" "$environ"; then
      pid=${environ#/proc/}
      echo "${pid%/environ}"
    fi
  done
}

expect_nothing_left() {
  local left
  left=$(ip netns list | cut -d' ' -f1 | grep -E "^$name-(sw|n[0-9]+)\$" || true)
  [ -z "$left" ] || die "$1: namespaces left: $left"
  [ ! -e "/run/shardline-vcluster/$name" ] || die "$1: the state directory is left"
  left=$(processes)
  [ -z "$left" ] || die "$1: processes left: $(ps -o pid=,args= -p "$(tr '\n' ' ' <<<"$left")")"
}
