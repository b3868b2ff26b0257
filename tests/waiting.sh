# Sourced by the shell tests, which define die: waits that end. A test that hangs says where, instead of running out of time.
# shellcheck shell=bash disable=SC2034

# Programs with sanitizers take several times as long.
seconds() { echo $(($1 * ${SHARDLINE_TIME_FACTOR:-1})); }

# wait_for SECONDS COMMAND...: until COMMAND succeeds, by the clock, as COMMAND may take its time
wait_for() {
    local end=$((SECONDS + $(seconds "$1")))
    until "${@:2}"; do
        [ "$SECONDS" -le "$end" ] || return 1
        sleep 0.05
    done
}

has_ended() { ! kill -0 "$1" 2>/dev/null; }

# end_of PROCESS: of a child that is to end by itself; sets code to its exit code
end_of() {
    wait_for 100 has_ended "$1" || die "process $1 has not ended after $(seconds 100) s: $(ps -o pid=,stat=,wchan:20=,args= -p "$1" --ppid "$1")"
    code=0
    wait "$1" 2>/dev/null || code=$?
}

# put_an_end_to PROCESS: by SIGTERM, which launchers pass on; where that does not do, by SIGKILL to it and its children
put_an_end_to() {
    local children
    kill -TERM "$1" 2>/dev/null || return 0
    if ! wait_for 20 has_ended "$1"; then
        mapfile -t children < <(pgrep -P "$1" || true)
        kill -KILL "$1" ${children[@]+"${children[@]}"} 2>/dev/null || true
    fi
    wait "$1" 2>/dev/null || true
}
