#!/usr/bin/env bash
# What a run costs as ranks are added: memory and CPU time of rank 0, bytes of the file, control messages. docs/scaling.md has the results.
#
#   tests/benchmark/scaling.sh BIN [RANKS]...
#   tests/benchmark/scaling.sh --report BIN [RANKS]...
#
# The second makes files of a synthetic machine, of any number of ranks, and takes time and memory of `shardline report` (16 256 4096).
# BIN is the folder of the built programs; RANKS default to 2 4 8 16 32, more than there are cores: what is counted does not depend on
# how long a rank waits for its core. Each number of ranks runs twice, with few and with many passes: the difference is what visits cost, the
# rest is what a run costs once.
set -euo pipefail
report=
if [ "$1" = --report ]; then report=yes; shift; fi
bin=$(readlink -f "$1")
shift
launch=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../scripts/launch.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

if [ -n "$report" ]; then
    [ $# -gt 0 ] || set -- 16 256 4096
    echo "ranks  repetitions  file MB  report s  CPU s  largest process MB (of which: B a reading)"
    for ranks; do
        # P is in D*, so that D follows it; a file has 39 visits of 6 repetitions a pass.
        d=$((1600 * (ranks - 1)))
        "$bin/make_synthetic_file" "$ranks.h5" "P=$ranks" "passes=${PASSES-6}" "D=$d,$((2 * d)),$((3 * d)),$((4 * d)),$((6 * d)),$((8 * d))" >/dev/null
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
    'blas_threads = 1' 'message_bytes = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]' >e.toml

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
                         message_bytes=message_bytes, cpu=float(counts[5]), memory=int(counts[6]) * 1024))
    few, many = runs
    d = {key: many[key] - few[key] for key in few}
    def once(key): return few[key] - d[key] / d["rows"] * few["rows"]
    print(f"{P:5} {many['rows']:5} {many['visits']:7} {many['wall']:7.1f} | {once('memory') / 2**20:8.1f} {d['memory'] / d['rows']:9.0f} |"
          f" {1e3 * once('cpu'):8.0f} {1e6 * d['cpu'] / d['rows']:9.1f} | {once('size') / 1e3:8.1f} {d['size'] / d['rows']:9.0f} |"
          f" {d['collectives'] / d['visits']:6.1f} {d['collective_bytes'] / d['collectives']:6.1f} | {d['gathered'] / d['rows']:8.0f} |"
          f" {d['messages'] / d['passes']:6.1f}")
END
