#!/usr/bin/env bash
# A cluster comes up, ranks run on its hosts, each on a core of its own as long as there are enough, and `down` leaves nothing.
. "$(dirname "$0")/common.sh"
need_hosts
need_mpirun

vc up 3 unlimited >"$scratch/up"
[ "$(wc -l <"$scratch/up")" -eq 3 ] || die "up does not print a line a host: $(cat "$scratch/up")"
if vc up 3 unlimited 2>"$scratch/err"; then die "a second up of the same name went through"; fi
grep -q 'is up already' "$scratch/err" || die "a second up does not say why it fails: $(cat "$scratch/err")"
vc status >/dev/null || die "status says that the cluster is not up"

for launch in 1 2; do   # the second finds what the first may have left
  vc run -- hostname </dev/null >"$scratch/names"
  [ "$(sort "$scratch/names" | paste -sd' ')" = 'n0 n1 n2' ] || die "launch $launch ran on: $(cat "$scratch/names")"
done
[ "$(vc run -n 2 -- hostname | sort | paste -sd' ')" = 'n0 n1' ] || die "-n 2 does not take the first two hosts"
[ "$(vc exec n2 hostname)" = n2 ] || die "exec is not on the host asked for"
[ -z "$(vc exec n1 ip route show default)" ] || die "a host has a way out of the cluster"

vc run -- sh -c 'grep ^Cpus_allowed_list /proc/self/status' >"$scratch/cores"
online=$(getconf _NPROCESSORS_ONLN)
distinct=$(sort -u "$scratch/cores" | wc -l)
[ "$distinct" -eq "$((online < 3 ? online : 3))" ] || die "3 hosts on $online cores use $distinct: $(cat "$scratch/cores")"
# A caller that is pinned to one core must not drag all hosts there.
vc down
first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
taskset -c "$first" "$vcluster" --name "$name" up 3 unlimited | grep -o 'core [0-9]*' | sort -u >"$scratch/pinned"
[ "$(wc -l <"$scratch/pinned")" -eq "$distinct" ] || die "up from a pinned shell puts the hosts on: $(cat "$scratch/pinned")"

vc down
expect_nothing_left "after down"
vc down 2>/dev/null || die "a second down is an error"
if vc status 2>/dev/null; then die "status says that a cluster taken down is up"; fi
if vc run -- true 2>"$scratch/err"; then die "run without a cluster went through"; fi
grep -q 'is not up' "$scratch/err" || die "run without a cluster does not say why it fails: $(cat "$scratch/err")"
