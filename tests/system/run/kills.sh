#!/usr/bin/env bash
# Killed again and again, at random moments, one rank or all of them: what was committed before stays, and in the end the run has
# measured the same as one that was left alone.
. "$(dirname "$0")/checks.sh"
need_h5py
need_open_mpi
command -v h5clear >/dev/null || skip "needs h5clear"
# Killed ranks leave their shared memory behind; here it goes with the test.
export OMPI_MCA_btl_vader_backing_directory=$scratch OMPI_MCA_orte_tmpdir_base=$scratch
# A rank that comes late makes each repetition last a while, whatever the machine: there is time to kill it.
experiment e 'passes = 3' 'max_passes = 3' '[inject]' 'what = "late_rank"' 'rank = 1' 'amount = 6'
ends_with 0 "$launch" 2 "$run" e.toml -o whole.h5

# As stock tools want it: without the mark of a writer that has gone.
readable_copy() { cp run.h5 "$1" && h5clear -s "$1"; }
has_begun() { [ -e run.h5 ] && [ -n "$(process_of 0)" ] && [ -n "$(process_of 1)" ]; }
no_rank_left() {
    local pid
    for pid in "${ranks[@]}"; do if kill -0 "$pid" 2>/dev/null; then return 1; fi; done
}

begin 2 e.toml -o run.h5
kills=0
for victim in 0 1 all 0 1 all; do
    wait_for 60 has_begun || die "the run does not begin"
    sleep "0.$((RANDOM % 10))"
    mapfile -t ranks < <(process_of 0; process_of 1)
    [ ${#ranks[@]} -eq 2 ] || break   # it was done before
    case $victim in
    all) kill -KILL "$launcher" "${ranks[@]}" 2>/dev/null || true ;;
    *) kill -KILL "${ranks[$victim]}" 2>/dev/null || true ;;
    esac
    end_of "$launcher"
    [ "$code" -ne 0 ] || break
    kills=$((kills + 1))
    wait_for 20 no_rank_left || die "a rank outlives its job"

    code=0
    "$shardline" report run.h5 >out 2>err || code=$?
    [ "$code" -eq 3 ] || die "the report of a killed run ended with $code"
    readable_copy now.h5
    if [ -e earlier.h5 ]; then examine prefix earlier.h5 now.h5 || die "kill $kills lost what was committed"; fi
    mv now.h5 earlier.h5
    before=$(changed_at run.h5)
    begin 2 --resume run.h5
    wait_for 60 differs_from "$before" changed_at run.h5 || true
done
end_of "$launcher"
[ "$code" -eq 0 ] || die "the last resume ended with $code"
[ "$kills" -ge 4 ] || die "the run was too short: killed $kills times"
examine prefix earlier.h5 run.h5
examine resumed run.h5
[ "$(examine kept run.h5)" = "$(examine kept whole.h5)" ] || die "the killed run holds other visits than one left alone"
