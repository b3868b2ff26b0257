# Sourced by the tests of this folder: start runs, compare how they ended and what they said, wait, signal ranks.
# SHARDLINE_BIN holds the built programs, SHARDLINE_SOURCE the sources.
# shellcheck shell=bash disable=SC2034
set -euo pipefail

launch=$SHARDLINE_SOURCE/scripts/launch.sh
run=$SHARDLINE_BIN/shardline-run
shardline=$SHARDLINE_BIN/shardline
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
. "$here/../../waiting.sh"
scratch=$(mktemp -d)
cd "$scratch"

# Ranks that wait give their core away, so that tests side by side do not starve each other.
export OMPI_MCA_mpi_yield_when_idle=1

skip() { echo "SKIPPED: $*"; exit 77; }
die() {
    echo "FAILED: $*" >&2
    if [ -e err ]; then sed 's/^/  stderr: /' err >&2; fi
    exit 1
}

started=()   # processes in the background, each ended by its id should the test end before it
clean_up() {
    [ "$BASHPID" = $$ ] || return 0   # subshells run this trap too
    local pid
    for pid in ${started[@]+"${started[@]}"}; do put_an_end_to "$pid"; done
    rm -rf "$scratch"
}
trap clean_up EXIT

python=/usr/bin/python3
need_h5py() { "$python" -c 'import h5py' 2>/dev/null || skip "needs h5py for $python"; }
examine() { timeout -k 5 "$(seconds 100)" "$python" "$here/examine.py" "$@"; }

# experiment NAME [LINE]...: writes NAME.toml: a run that is over soon. Later lines stand for earlier ones of the same key.
experiment() {
    local file=$1.toml
    shift
    printf '%s\n' 'title = "test"' 'B = 32' 'F = 48' 'D = [1, 2, 3, 100, 101]' 'passes = 2' 'max_passes = 2' \
        'repetitions = 2' 'warmups = 1' 'blas_threads = 1' >"$file"
    local line
    for line in "$@"; do
        case $line in
        '['*) ;;
        *) sed -i "/^${line%% *} =/d" "$file" ;;
        esac
        printf '%s\n' "$line" >>"$file"
    done
}

# ends_with CODE COMMAND...: leaves standard output in the file out, standard error in err.
ends_with() {
    local expected=$1 code=0
    shift
    timeout -k 5 "$(seconds 100)" "$@" >out 2>err </dev/null || code=$?
    [ "$code" -eq "$expected" ] || die "exit $code instead of $expected: $*"
}

says() { grep -qF -- "$1" out || die "standard output lacks '$1': $(cat out)"; }
complains() { grep -qF -- "$1" err || die "standard error lacks '$1'"; }
# Messages of the ranks: without the launcher's own about how they ended, without progress, and without what this machine gives
# rise to.
messages() { grep '^shardline-run: ' err | grep -vE '^shardline-run: (calibrating|sweeping|warning|note|invalid): ' || true; }
complaints() { messages | wc -l; }
silent_on_stdout() { [ ! -s out ] || die "standard output is not empty: $(cat out)"; }

# refuses MESSAGE COMMAND...: exit 2, one message on standard error that holds MESSAGE, nothing on standard output.
refuses() {
    local message=$1
    shift
    ends_with 2 "$@"
    complains "$message"
    [ "$(complaints)" -eq 1 ] || die "$(complaints) messages instead of one: $*"
    silent_on_stdout
}

# begin RANKS ARGUMENT...: shardline-run in the background, standard output and error in out and err; sets launcher to
# its launcher's process.
begin() {
    "$launch" "$1" "$run" "${@:2}" >out 2>err </dev/null &
    launcher=$!
    started+=("$launcher")
}

# Signals to ranks need their processes, which Open MPI's launcher makes known.
need_open_mpi() { mpirun --version 2>/dev/null </dev/null | grep 'Open MPI' >/dev/null || skip "needs Open MPI's mpirun"; }

# process_of RANK: of the run begun last; nothing where it has gone
process_of() {
    local pid
    for pid in $(pgrep -P "$launcher"); do
        if tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -x "OMPI_COMM_WORLD_RANK=$1" >/dev/null; then echo "$pid"; fi
    done
}

# changed_at FILE: when it was changed last. Where a run is to go on this tells that it does, and does not touch the file, which a
# reader would lock for a moment.
changed_at() { stat -c %y "$1"; }
differs_from() { [ "$("${@:2}")" != "$1" ]; }
