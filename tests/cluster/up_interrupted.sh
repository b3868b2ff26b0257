#!/usr/bin/env bash
# An `up` that is interrupted removes what it has made so far; one that is killed leaves that to `down`.
. "$(dirname "$0")/common.sh"
need_hosts

for delay in 0.03 0.07 0.12 0.2; do
  for signal in TERM HUP KILL; do
    "$vcluster" --name "$name" up 6 unlimited >/dev/null 2>&1 &
    up=$!
    sleep $delay
    kill -s $signal "$up" 2>/dev/null || true   # may have come to its end by then
    end_of "$up"
    if [ "$code" -eq 0 ] || [ $signal = KILL ]; then vc down 2>/dev/null; fi
    expect_nothing_left "up ended by $signal after $delay s (exit code $code)"
  done
done
