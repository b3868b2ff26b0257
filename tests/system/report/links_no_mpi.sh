#!/bin/bash
# `shardline` works on a login node without MPI: neither it nor what it needs names an MPI library.
. "$(dirname "$0")/checks.sh"

ends_with 0 ldd "$shardline"
says libhdf5
case $out in *[Mm][Pp][Ii]* | *"not found"*) fail "needs MPI, or something that is missing: $out" ;; esac
if command -v readelf >/dev/null; then
    ends_with 0 readelf -d "$shardline"
    needed=$(printf '%s\n' "$out" | grep NEEDED)
    case $needed in *[Mm][Pp][Ii]* | *[Bb][Ll][Aa][Ss]*) fail "needs $needed" ;; esac
fi
ends_with 0 env -i "$shardline" --version
finish
