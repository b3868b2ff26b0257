#!/usr/bin/env bash
# A disk that is full at the start, or becomes full while the run goes: exit 2 with one message; what was recorded is kept.
. "$(dirname "$0")/checks.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to mount a small disk"
export TMPDIR=$scratch   # for the samples that the disk refuses
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0   # LeakSanitizer itself crashes in a rank without a launcher that leaves after HDF5 has failed
experiment e 'passes = 200' 'max_passes = 200'
mkdir disk kept
# ${small[@]} BYTES COMMAND...: with a disk of that size, which nobody else sees; what is on it afterwards is copied to kept
small=(unshare --mount sh -c 'mount -t tmpfs -o size=$0 none disk && { "$@"; code=$?; cp -r disk/. kept; exit $code; }')
"${small[@]}" 1M true 2>/dev/null || skip "cannot mount"

refuses "space" "${small[@]}" 16k "$run" e.toml -o disk/out.h5
[ ! -e kept/out.h5 ] || die "a file that was never begun is there"

refuses "space" "${small[@]}" 400k "$launch" 2 "$run" e.toml -o disk/out.h5
# The samples of the visit that did not fit are in the file that the message names.
side_file=$(sed -n 's/.*the samples of the last visit are in //p' err)
[ -s "$side_file" ] || die "no side file"
head -n 1 "$side_file" | grep '^point,B,D,F,.*comm_end_ns,main_cpu_ns,comm_cpu_ns,peer$' >/dev/null || die "the side file is not a table"
[ "$(wc -l <"$side_file")" -gt 4 ] || die "the side file holds no samples"
code=0
"$shardline" report kept/out.h5 >report || code=$?
case $code in 0 | 1 | 3) ;; *) die "no report of what was recorded before the disk was full" ;; esac
