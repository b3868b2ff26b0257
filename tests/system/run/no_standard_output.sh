#!/usr/bin/env bash
# Standard output that is closed, full, or read by nobody: exit 2 and a message, and the file is complete all the same.
. "$(dirname "$0")/checks.sh"
need_h5py
experiment e

# lost NAME ARGUMENT...: how such a program ended
lost() {
    [ "$code" -eq 2 ] || die "exit $code instead of 2, standard output $1: ${*:2}"
    complains "standard output"
    [ "$(complaints)" -eq 1 ] || die "$(complaints) messages instead of one, standard output $1: ${*:2}"
}

# Without a launcher, which would stand between a rank and standard output.
for arguments in "e.toml -o out.h5 --force" "e.toml --dry-run"; do
    code=0
    # shellcheck disable=SC2086
    "$run" $arguments >&- 2>err || code=$?
    lost closed "$arguments"
    code=0
    # shellcheck disable=SC2086
    "$run" $arguments >/dev/full 2>err || code=$?
    lost full "$arguments"
    mkfifo gone
    sh -c 'exec <gone' &   # opens for reading and leaves
    {
        wait $!
        code=0
        # shellcheck disable=SC2086
        "$run" $arguments 2>err || code=$?
        echo "$code" >code
    } >gone
    rm gone
    code=$(cat code)
    lost "without a reader" "$arguments"
    case $arguments in *-o*) examine complete out.h5 ;; esac
done
for arguments in --help --version; do
    code=0
    "$run" "$arguments" >/dev/full 2>err || code=$?
    [ "$code" -eq 2 ] || die "exit $code for $arguments on a full disk"
done

# Without any of the three, the table must not end up in a file that took the number of standard output.
code=0
"$run" e.toml -o out.h5 --force <&- >&- 2>&- || code=$?
[ "$code" -eq 2 ] || die "exit $code instead of 2 with all streams closed"
examine complete out.h5
