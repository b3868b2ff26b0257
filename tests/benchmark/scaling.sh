#!/usr/bin/env bash
# What a run costs as ranks are added: memory and CPU time of rank 0, bytes of the file, control messages, wall time. docs/scaling.md has the
# results.
#
#   tests/benchmark/scaling.sh BIN [RANKS]...
#   tests/benchmark/scaling.sh --report BIN [RANKS]...
#   tests/benchmark/scaling.sh --traffic BIN [HOSTS]...
#
# The second makes files of a synthetic machine, of any number of ranks, and takes time and memory of `shardline report` (16 256 4096).
# The third runs on virtual clusters of one rank a host (2 4 8; needs root) and reads what their links carried.
# BIN is the folder of the built programs; RANKS default to 2 4 8 16 32, more than there are cores: what is counted does not depend on
# how long a rank waits for its core. Each number of ranks runs twice, with few and with many passes: the difference is what visits cost, the
# rest is what a run costs once. With THINNED=1 in the environment files and runs are thinned, as above thin_above_ranks.
set -euo pipefail
report= traffic=
case $1 in
    --report) report=yes; shift ;;
    --traffic) traffic=yes; shift ;;
esac
bin=$(readlink -f "$1")
shift
root=$(readlink -f "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..")
launch=$root/scripts/launch.sh
vcluster() { "$root/hpc/virtual-cluster/vcluster" --name scaling "$@"; }
folder=$(mktemp -d)
trap '[ -z "$traffic" ] || vcluster down 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"

if [ -n "$report" ]; then
    [ $# -gt 0 ] || set -- 16 256 4096
    echo "ranks  repetitions  file MB  report s  CPU s  largest process MB (of which: B a reading)"
    for ranks; do
        # P is in D*, so that D follows it; a file has 39 visits of 6 repetitions a pass.
        d=$((1600 * (ranks - 1)))
        "$bin/make_synthetic_file" "$ranks.h5" "P=$ranks" "passes=${PASSES-6}" "thinned=${THINNED-0}" "D=$d,$((2 * d)),$((3 * d)),$((4 * d)),$((6 * d)),$((8 * d))" >/dev/null
        /usr/bin/python3 - "$ranks" "$bin/shardline" <<'END'
import h5py, os, resource, subprocess, sys, time
ranks, program = sys.argv[1:]
name = f"{ranks}.h5"
with h5py.File(name, "r") as f:
    rows = int(f["progress/repetitions"][0])
begin = time.monotonic()
code = subprocess.run([program, "report", name], stdout=subprocess.DEVNULL).returncode
if code not in (0, 1, 3):
    sys.exit(f"shardline report ends with {code}")
of = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{ranks:>5} {rows:12} {os.path.getsize(name) / 1e6:8.1f} {time.monotonic() - begin:9.2f} {of.ru_utime + of.ru_stime:6.2f}"
      f" {of.ru_maxrss * 1024 / 1e6:9.1f} ({of.ru_maxrss * 1024 / rows / int(ranks):.0f})")
END
    done
    exit
fi

# Nothing is multiplied, so that CPU time outside MPI is bookkeeping.
printf '%s\n' 'title = "scaling"' 'measure = "allreduce"' 'algorithms = "default"' 'repetitions = 5' 'warmups = 1' 'sync = "barrier"' \
    'blas_threads = 1' 'message_bytes = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]' "thin_above_ranks = ${THINNED-0}" >e.toml

if [ -n "$traffic" ]; then
    # Nothing that is timed uses the network here, so that the links carry control traffic and barriers alone.
    printf '%s\n' 'title = "traffic"' 'measure = "roofline"' 'repetitions = 5' 'warmups = 1' 'sync = "barrier"' 'blas_threads = 1' \
        'vector_bytes = 65536' 'B = [1, 2]' 'D = 64' 'F = 64' >e.toml
    # Bytes that a host's link sent and received, with all headers.
    carried() { vcluster exec "$1" awk '!/lo:/ && sub(/.*:/, "") { print $9, $1 }' /proc/net/dev; }
    [ $# -gt 0 ] || set -- 2 4 8
    for hosts; do
        vcluster up "$hosts" 1gbit >/dev/null 2>&1
        for passes in 2 12; do
            for side in before after; do
                [ $side = before ] || vcluster run -- env LD_PRELOAD="$bin/count_messages.so" COUNT_MESSAGES_TO="$folder/counts-$hosts-$passes" \
                    "$bin/shardline-run" e.toml -o "$hosts-$passes.h5" --set "passes=$passes" --set "max_passes=$passes" \
                    --allow ranks_share_core </dev/null >out 2>err || { cat err >&2; exit 1; }
                for host in $(seq 0 $((hosts - 1))); do carried "n$host"; done >"$side-$hosts-$passes"
            done
        done
        vcluster down >/dev/null 2>&1
    done
    /usr/bin/python3 - <<'END'
import glob, h5py
print("hosts | a visit and its share of a pass: rows, collectives | bytes on all links | rank 0's: sent, received | of these payload: gathered, clocks")
for P in sorted({int(name.split("-")[1]) for name in glob.glob("counts-*")}):
    runs = []
    for passes in (2, 12):
        with h5py.File(f"{P}-{passes}.h5", "r", libver="latest", swmr=True) as f:
            n = int(f["progress/repetitions"][0])
            its = f["repetitions"]
            visits = len(set(zip(its["point"][:n], its["pass"][:n])))
        rows = [[list(map(int, line.split())) for line in open(f"{side}-{P}-{passes}")] for side in ("before", "after")]
        sent_received = [[b - a for a, b in zip(*host)] for host in zip(*rows)]
        counts = list(map(int, open(f"counts-{P}-{passes}").read().split()[:5]))
        runs.append([n, visits, sum(h[0] for h in sent_received), *sent_received[0], *counts])
    n, visits, sent, sent_0, received_0, collectives, _, gathered, _, clocks = [b - a for a, b in zip(*runs)]
    print(f"{P:5} | {n / visits:5.1f} {collectives / visits:6.1f} | {sent / visits:8.0f} | {sent_0 / visits:8.0f} {received_0 / visits:8.0f}"
          f" | {gathered / visits:6.0f} {clocks / visits:6.0f}")
END
    exit
fi

[ $# -gt 0 ] || set -- 2 4 8 16 32
for ranks; do
    for passes in 2 12; do
        begin=$(date +%s.%N)
        LD_PRELOAD="$bin/count_messages.so" COUNT_MESSAGES_TO=$folder/counts-$ranks-$passes \
            "$launch" "$ranks" "$bin/shardline-run" e.toml -o "$ranks-$passes.h5" --set "passes=$passes" --set "max_passes=$passes" \
            --allow ranks_share_core </dev/null >out 2>err || { cat err >&2; exit 1; }
        echo "$(date +%s.%N) - $begin" | bc >"wall-$ranks-$passes"
    done
done

/usr/bin/python3 - <<'END'
import glob, os, h5py

def wall_times(P, runs):
    """Where the wall time of the long run goes, by rank 0's readings: mean ms."""
    with h5py.File(f"{P}-12.h5", "r", libver="latest", swmr=True) as f:
        n = int(f["progress/repetitions"][0])
        its = f["repetitions"]
        point, pass_, begin, end = (its[name][:n] for name in ("point", "pass", "comm_begin_ns", "comm_end_ns"))
    apart = begin[1:, 0] - end[:-1, 0]
    other_pass = pass_[1:] != pass_[:-1]
    other_visit = (point[1:] != point[:-1]) & ~other_pass
    ms = lambda ns: 1e-6 * ns.mean()
    inside = 1e-9 * (end[-1, 0] - begin[0, 0])
    many = runs[-1]
    return (f"{P:5} | {ms((end - begin).max(axis=1)):8.3f} {ms(apart[~other_visit & ~other_pass]):8.3f} {ms(apart[other_visit]):9.2f}"
            f" {ms(apart[other_pass]):9.2f} | {inside:7.2f} {many['wall'] - inside:9.2f} | {100 * many['waited'] / (many['ran'] + many['waited']):5.0f} %")

walls = []
numbers = sorted({int(name.split("-")[1]) for name in glob.glob("counts-*")})
print("A: once, B: for each repetition (a row of the file) unless another unit is given; MB = 10^6 bytes")
print("ranks  rows  visits  wall s | rank 0: MiB once, B/row | CPU ms once, us/row | file: kB once, B/row"
      " | collectives/visit, bytes each | gathered B/row | messages/pass")
for P in numbers:
    runs = []
    for passes in (2, 12):
        with h5py.File(f"{P}-{passes}.h5", "r", libver="latest", swmr=True) as f:
            rows = int(f["progress/repetitions"][0])
            its = f["repetitions"]
            visits = len(set(zip(its["point"][:rows], its["pass"][:rows])))
        counts = open(f"counts-{P}-{passes}").read().split()
        collectives, collective_bytes, gathered, messages, message_bytes = map(int, counts[:5])
        runs.append(dict(passes=passes, rows=rows, visits=visits, wall=float(open(f"wall-{P}-{passes}").read()), size=os.path.getsize(f"{P}-{passes}.h5"),
                         collectives=collectives, collective_bytes=collective_bytes, gathered=gathered, messages=messages,
                         message_bytes=message_bytes, cpu=float(counts[5]), memory=int(counts[6]) * 1024, ran=float(counts[7]), waited=float(counts[8])))
    few, many = runs
    walls.append(wall_times(P, runs))
    d = {key: many[key] - few[key] for key in few}
    def once(key): return few[key] - d[key] / d["rows"] * few["rows"]
    print(f"{P:5} {many['rows']:5} {many['visits']:7} {many['wall']:7.1f} | {once('memory') / 2**20:8.1f} {d['memory'] / d['rows']:9.0f} |"
          f" {1e3 * once('cpu'):8.0f} {1e6 * d['cpu'] / d['rows']:9.1f} | {once('size') / 1e3:8.1f} {d['size'] / d['rows']:9.0f} |"
          f" {d['collectives'] / d['visits']:6.1f} {d['collective_bytes'] / d['collectives']:6.1f} | {d['gathered'] / d['rows']:8.0f} |"
          f" {d['messages'] / d['passes']:6.1f}")
print("wall time | ms: a repetition, between two, between visits, between passes | s: first to last repetition, the rest"
      " | rank 0 waits for a core")
print(*walls, sep="\n")
END
