# Sourced by the tests of this folder: run a command, compare how it ended and what it said.
# SHARDLINE_BIN holds the built programs. A test ends with `finish`.

set -u
shardline=$SHARDLINE_BIN/shardline
make_file=$SHARDLINE_BIN/make_synthetic_file
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# ends_with CODE COMMAND...: leaves standard output in $out, standard error in $err.
ends_with() {
    local expected=$1 code=0
    shift
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
    out=$(tr -d '\0' <"$scratch/out")
    err=$(tr -d '\0' <"$scratch/err")
    [ "$code" -eq "$expected" ] || fail "exit $code instead of $expected: $* ($err)"
}

says() { case $out in *"$1"*) ;; *) fail "standard output lacks '$1': $out" ;; esac }
complains() { case $err in *"$1"*) ;; *) fail "standard error lacks '$1': $err" ;; esac }

# refuses MESSAGE COMMAND...: exit 2, nothing on standard output, one line on standard error that holds MESSAGE.
refuses() {
    local message=$1
    shift
    ends_with 2 "$@"
    complains "$message"
    [ -z "$out" ] || fail "printed results all the same: $* ($out)"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "more than one line for '$*': $err"
}

finish() {
    [ "$failures" -eq 0 ] || echo "$failures failed" >&2
    exit "$((failures > 0))"
}
