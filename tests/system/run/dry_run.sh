#!/usr/bin/env bash
# --dry-run prints the plan and writes nothing; what is too large is refused with need and have before anything is allocated.
. "$(dirname "$0")/checks.sh"
experiment e
before=$(ls)
ends_with 0 "$launch" 2 "$run" e.toml --dry-run
says "D = 1, 2, 3, 100, 101"
says "1 warm-up in"
says "in 1 MPI call"
says "MB on each rank"
says "about "
[ "$(complaints)" -eq 0 ] || die "messages of a dry run"
ends_with 0 "$launch" 2 "$run" e.toml --dry-run -o out.h5 --set D=auto
says "around the D* of that probe"
grep -Eq '^a first probe: C about [0-9.]+ [kMGT]?FLOP/s, W about [0-9.]+ [kMGT]?B/s$' out || die "the plan does not say what it is made of"
[ "$(ls)" = "$(printf '%s\n' "$before" err out | sort -u)" ] || die "a dry run wrote files: $(ls)"

# Fewer elements than MPI counts in one call, more bytes than 31 bits hold.
code=0
"$launch" 2 "$run" e.toml --dry-run --set B=32768 --set F=32768 >out 2>err || code=$?
says "V = 4294.97 MB"
says "in 1 MPI call"
says "  129"   # two matrices of results and half as much for calibration: 12.9 GB and the inputs, in MB
case $code in
0) ;;
2) complains "not enough memory" ;;
*) die "exit $code of a dry run" ;;
esac

# 65 536 x 65 536 f32: 4.3e9 elements, 17 GB, above what one call of MPI counts.
code=0
"$launch" 2 "$run" e.toml --dry-run --set B=65536 --set F=65536 >out 2>err || code=$?
says "V = 17179.9 MB"
says "in 3 MPI calls"
says "MB on each rank"
needed_kB=$((2 * 3 * 17179869184 / 2 * 2 / 1024))   # two ranks with half as large a calibration besides
available_kB=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
if [ "$available_kB" -gt "$needed_kB" ]; then
    [ "$code" -eq 0 ] || die "exit $code although there is memory"
    exit 0
fi
[ "$code" -eq 2 ] || die "exit $code instead of 2 where memory is too small"
complains "needs 5"
complains "not enough memory"
[ "$(complaints)" -eq 1 ] || die "$(complaints) messages instead of one"
for D in auto 4; do
    refuses "not enough memory" "$launch" 2 "$run" e.toml -o out.h5 --set B=65536 --set F=65536 --set "D=$D"
    [ ! -e out.h5 ] || die "a file of a run that cannot be"
done
