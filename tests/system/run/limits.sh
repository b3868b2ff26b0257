#!/usr/bin/env bash
# Limits on a process: of memory, said with need and have before anything is allocated; of file sizes, an error of writing and no
# sudden end.
. "$(dirname "$0")/checks.sh"
[ "${SHARDLINE_TIME_FACTOR:-1}" -eq 1 ] || skip "sanitizers reserve more address space than any limit here"
experiment e
# ${limited[@]} LETTER KIB COMMAND...
limited=(sh -c 'ulimit "-$0" "$1" || exit 77; shift; exec "$@"')
available_kB=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
[ "$available_kB" -gt 5000000 ] || skip "needs more memory than the limit that is tried"
refuses "its limits leave it" "${limited[@]}" v 4000000 "$run" e.toml -o out.h5 --set B=32768 --set F=32768
complains "ulimit -v"
[ ! -e out.h5 ] || die "a file of a run that cannot be"
# A BLAS that cannot have its own buffer would never return.
stuck=124
for limit_kB in 300000 350000 400000 500000 700000; do
    code=0
    timeout -k 5 "$(seconds 60)" "${limited[@]}" v "$limit_kB" "$run" e.toml -o "$limit_kB.h5" >out 2>err </dev/null || code=$?
    [ "$code" -ne "$stuck" ] || die "stuck within $limit_kB kB of address space"
done

export TMPDIR=$scratch
experiment long 'repetitions = 200000'
refuses "ulimit -f" "${limited[@]}" f 40000 "$run" long.toml -o long.h5   # blocks of 512 bytes; MPI itself needs some MB
code=0
"$shardline" report long.h5 >report || code=$?
case $code in 0 | 1 | 3) ;; *) die "no report of what was recorded before the limit" ;; esac
