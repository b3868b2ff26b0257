#!/usr/bin/env bash
# No direction of a link is faster than its rate, whichever end of the link has to enforce it. An upper bound only: how fast a
# busy machine is at least, a test must not say.
. "$(dirname "$0")/common.sh"
need_hosts
need_mpirun
[ "$have_tbf" = yes ] || skip "the kernel has no tbf"
command -v mpicc >/dev/null || skip "needs mpicc"

bytes=4000000
mpicc -O1 -o "$scratch/exchange" "$here/exchange.c"

# Payload is at most the rate, plus what the buckets of the two ends let pass at once after a pause.
check() {   # check MBIT WHAT
  vc run -- "$scratch/exchange" $bytes </dev/null >"$scratch/times"
  [ "$(wc -l <"$scratch/times")" -eq 3 ] || die "$2: no times: $(cat "$scratch/times")"
  awk -v bytes=$bytes -v mbit="$1" -v what="$2" '
    { bound = (bytes - 2 * 110000) * 8 / (mbit * 1e6)
      printf "%s, %s: %.1f Mbit/s of payload, at most %s\n", what, $1, bytes * 8e-6 / $2, mbit
      if ($2 < bound) { printf "took %.4f s, less than the %.4f s the rate allows\n", $2, bound; bad = 1 } }
    END { exit bad }' "$scratch/times" || die "$2 does not hold its link rate"
}

vc up 2 100mbit >/dev/null
check 100 "both hosts at 100 Mbit/s"
vc down 2>/dev/null
# n0 itself is not limited: what it sends must be held back at the switch's end of n1's link.
vc up 2 unlimited --rate-of n1=200mbit >/dev/null
check 200 "only n1 at 200 Mbit/s"
vc down 2>/dev/null

for wrong in 1mbps fast 0gbit 1.5gbit ''; do
  if vc up 2 "$wrong" 2>"$scratch/err"; then die "rate '$wrong' was taken"; fi
  [ "$(wc -l <"$scratch/err")" -eq 1 ] || die "rate '$wrong' is refused in other than one line: $(cat "$scratch/err")"
done
