# Sourced by the tests of this folder, beside what runs are tested with.
# shellcheck shell=bash disable=SC2034
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../run/checks.sh"

# The ground is the test's: no launcher, batch system or number of threads of those who run it.
for variable in $(compgen -e | grep -E '^(OMPI_COMM_WORLD|PMI|PMIX|MV2|JSM|SLURM|PBS|LSB)_|_NUM_THREADS$' || true); do unset "$variable"; done

# CPUs this test may use, one a line; of each core the first.
cpus() {
    local part cpu siblings seen=' '
    for part in $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr , ' '); do
        for cpu in $(seq "${part%-*}" "${part#*-}"); do
            siblings=$(cat "/sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list" 2>/dev/null || echo "$cpu")
            case $seen in *" $siblings "*) continue ;; esac
            seen="$seen$siblings "
            echo "$cpu"
        done
    done
}

# need_cores N: skips the test on a machine with fewer; else a CPU of each of the first N, for taskset, in the variable list
need_cores() {
    command -v taskset >/dev/null || skip "needs taskset"
    [ "$(cpus | wc -l)" -ge "$1" ] || skip "needs $1 cores"
    list=$(cpus | sed -n "1,$1p" | paste -sd,) # head would end the pipe early, and with it the test
}

# reports FILE TEXT: the text stands in the file's report, whatever its verdict and wherever its lines are broken.
reports() {
    local code=0
    "$shardline" report "$1" >out 2>err || code=$?
    [ "$code" -ne 2 ] || die "shardline report $1 ends with 2"
    tr -s ' \n' ' ' <out >joined
    grep -qF -- "$2" joined || die "the report of $1 lacks '$2': $(cat out)"
}

lacks() {
    "$shardline" report "$1" >out 2>err || true
    ! grep -qF -- "$2" out || die "the report of $1 has '$2': $(cat out)"
}

# Runs of which only the ground is looked at.
experiment e 'D = [64, 128]' 'passes = 1' 'max_passes = 1' 'blas_threads = 0'
