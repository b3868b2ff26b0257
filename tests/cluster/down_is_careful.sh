#!/usr/bin/env bash
# `down` touches nothing that `up` did not make: other namespaces and clusters, what runs there, and a namespace that somebody
# else has since made under one of the cluster's names.
. "$(dirname "$0")/common.sh"
need_hosts

neighbour=$name-other       # begins like ours on purpose
second=${name}b
spared=
at_end() {
  local ns
  [ -z "$spared" ] || kill "$spared" 2>/dev/null || true
  "$vcluster" --name "$second" down 2>/dev/null || true
  for ns in "$neighbour" "$name-n1" "${name}c-n1"; do ip netns del "$ns" 2>/dev/null || true; done
}

ip netns add "$neighbour"
ip netns exec "$neighbour" sleep 300 &
spared=$!
vc up 2 unlimited >"$scratch/up"
"$vcluster" --name "$second" up 2 unlimited >"$scratch/up2"
subnets=$(grep -ho '10\.77\.[0-9]*' "$scratch/up" "$scratch/up2" | sort -u | wc -l)
[ "$subnets" -eq 2 ] || die "two clusters share addresses: $(cat "$scratch/up" "$scratch/up2")"
mine=$(cat "/run/shardline-vcluster/$name/subnet")
if "$vcluster" --name "${name}c" up 1 unlimited --subnet "$mine" 2>"$scratch/err"; then die "subnet $mine was given out twice"; fi
grep -q 'in use' "$scratch/err" || die "a subnet in use is refused without saying why: $(cat "$scratch/err")"

# A namespace in the way: refused, and what had been made by then is removed again; the other stays.
ip netns add "${name}c-n1"
if "$vcluster" --name "${name}c" up 2 unlimited 2>"$scratch/err"; then
  "$vcluster" --name "${name}c" down
  die "up went over a namespace that exists"
fi
[ -e "/run/netns/${name}c-n1" ] || die "up removed a namespace that it had not made"
ip netns del "${name}c-n1"
if ip netns list | grep "^${name}c-"; then die "an up that failed half way leaves namespaces"; fi
[ ! -e "/run/shardline-vcluster/${name}c" ] || die "an up that failed half way leaves its state"

# Somebody removes one of ours and makes another by that name.
ip netns del "$name-n1"
ip netns add "$name-n1"

sleep 300 &
outside=$!
"$vcluster" --name "$name" exec n0 sleep 300 &
inside=$!
wait_for 5 grep -qs sleep "/proc/$inside/comm" || die "exec did not start"
vc down 2>"$scratch/err"
kill -0 "$outside" 2>/dev/null || die "down ended a process outside of the cluster"
kill "$outside"
end_of "$inside"
[ "$code" -ne 0 ] || die "down did not end a process on a host"
kill -0 "$spared" 2>/dev/null || die "down ended a process in a neighbouring namespace"
ip netns exec "$neighbour" true || die "down removed a neighbouring namespace"
[ -e "/run/netns/$name-n1" ] || die "down removed a namespace that is not the one it made"
"$vcluster" --name "$second" status >/dev/null || die "down hurt another cluster"
[ "$("$vcluster" --name "$second" exec n1 hostname)" = n1 ] || die "down hurt another cluster's host"
ip netns del "$name-n1"
expect_nothing_left "after down"
