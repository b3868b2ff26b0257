#!/bin/bash
# Where results go: complete on standard output or exit 2; messages on standard error; colour on a terminal only.
. "$(dirname "$0")/checks.sh"
cd "$scratch" || exit 1
"$make_file" run.h5 || fail "make_synthetic_file"

commands=("report run.h5" "explain run.h5" "report run.h5 --json -" "predict --hardware tpu-v5e" "predict --hardware tpu-v5e --json" "--help"
    "--version" "report --help" "predict --list-hardware" "watch run.h5")

# A disk that is full, a reader that has gone, no standard output at all
for arguments in "${commands[@]}"; do
    "$shardline" $arguments >/dev/full 2>err
    [ $? -eq 2 ] || fail "success on a full disk: $arguments"
    grep -q "standard output cannot be written" err || fail "no message on a full disk: $arguments"
    "$shardline" $arguments >&- 2>err
    [ $? -eq 2 ] || fail "success without standard output: $arguments"
    mkfifo gone
    sh -c 'exec <gone' & # opens for reading and leaves
    { wait $!; "$shardline" $arguments 2>err; echo $? >code; } >gone
    rm gone
    [ "$(cat code)" -eq 2 ] || fail "success without a reader: $arguments"
    grep -q "standard output cannot be written" err || fail "no message without a reader: $arguments"
done
"$shardline" report run.h5 --json /dev/full >out 2>err
[ $? -eq 2 ] || fail "success with JSON lost"
[ ! -s out ] || fail "text printed although the JSON was lost"

# A JSON that cannot be written leaves the one that was there
ends_with 0 "$shardline" report run.h5 --json kept.json
cp kept.json before.json
ends_with 2 sh -c 'ulimit -f 1; exec "$0" report run.h5 --json kept.json' "$shardline"
complains "kept.json: cannot be written"
cmp -s kept.json before.json || fail "the JSON of before is lost"
[ "$(ls kept.json*)" = kept.json ] || fail "left behind: $(ls kept.json*)"
ln -s kept.json link.json
ends_with 0 "$shardline" report run.h5 --json link.json
[ -L link.json ] || fail "the link to the JSON is gone"

# --version and --help
ends_with 0 "$shardline" --version
says "shardline "
says "HDF5 headers"
for subcommand in "" report explain compare across watch predict; do
    ends_with 0 "$shardline" $subcommand --help
    says "Example"
    [ -z "$err" ] || fail "help on standard error"
    [ "$(awk 'length > 80' "$scratch/out" | wc -l)" -eq 0 ] || fail "help of '$subcommand' is wider than 80 columns"
done
refuses "no subcommand" "$shardline"
refuses "no subcommand 'reprot': did you mean 'report'?" "$shardline" reprot run.h5 --strict
refuses "no subcommand 'elucidate': give report or explain or compare or across or watch or predict" "$shardline" elucidate

# Colour
escape=$(printf '\033')
on_terminal() { script -qec "$1" /dev/null </dev/null; }
if command -v script >/dev/null; then
    export TERM=xterm
    case $(on_terminal "$shardline report run.h5") in *"$escape["*) ;; *) fail "no colour on a terminal" ;; esac
    case $(NO_COLOR=1 on_terminal "$shardline report run.h5") in *"$escape["*) fail "colour in spite of NO_COLOR" ;; esac
    case $(TERM=dumb on_terminal "$shardline report run.h5") in *"$escape["*) fail "colour on a dumb terminal" ;; esac
fi
ends_with 0 "$shardline" report run.h5
case $out in *"$escape["*) fail "colour in a file" ;; esac
[ "$(printf '%s\n' "$out" | python3 -c 'import sys; print(max(len(l.rstrip("\n")) for l in sys.stdin))')" -le 80 ] ||
    fail "the report is wider than 80 columns"

finish
