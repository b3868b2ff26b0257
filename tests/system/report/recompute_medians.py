#!/usr/bin/env python3
"""The numbers that `shardline report` prints, recomputed from the file by other code.

recompute_medians.py SHARDLINE MAKE_SYNTHETIC_FILE; exit 77 where h5py is not installed.
"""
import json
import re
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy
except ImportError:
    sys.exit(77)

PHASES, STEP = 0, 1


def times_of(file, point, mode, begin, end):
    """Seconds of the slowest rank in every repetition that counts."""
    rows = file["repetitions"]
    used = ((rows["point"][:] == point) & (rows["mode"][:] == mode) & (rows["warmup"][:] == 0)
            & (rows["late"][:] == 0))
    ranks = file["points/P"][point]
    lasted = rows[end][:][used, :ranks] - rows[begin][:][used, :ranks]
    return lasted.max(axis=1) * 1e-9


def medians_of(paths):
    """{D: (t_comp, t_comm, t_step, n)} of the sweep, launches pooled."""
    samples = {}
    for path in paths:
        with h5py.File(path, "r") as file:
            for point, kind in enumerate(file["points/kind"].asstr()[:]):
                if kind != "crossover":
                    continue
                parts = samples.setdefault(int(file["points/D"][point]), ([], [], []))
                parts[0].extend(times_of(file, point, PHASES, "comp_begin_ns", "comp_end_ns"))
                parts[1].extend(times_of(file, point, PHASES, "comm_begin_ns", "comm_end_ns"))
                parts[2].extend(times_of(file, point, STEP, "comp_begin_ns", "comm_end_ns"))
    return {D: tuple(float(numpy.median(part)) for part in parts) + (min(map(len, parts)),)
            for D, parts in samples.items()}


def compare(expected, point):
    for value, key in zip(expected, ("t_comp_s", "t_comm_s", "t_step_s")):
        assert abs(point[key] / value - 1) < 1e-12, (point["D"], key, point[key], value)
        low, high = point[key.removesuffix("_s") + "_ci"]
        assert low <= value <= high, (point["D"], key, low, value, high)
    assert point["n"] == expected[3], (point["D"], point["n"], expected[3])


UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}
HEADING = re.compile(r"^ +D +t_comp \((\S+)\) +t_comm \((\S+)\) +t_step \((\S+)\)")
ROW = re.compile(r"^ +(\d+) +([\d.]+) ± [\d.]+ +([\d.]+) ± [\d.]+ +([\d.]+) ± [\d.]+ +\S+ +\S+ +(\d+)$")


def compare_text(expected, text):
    """The printed times, to the digits printed."""
    units, found = None, 0
    for line in text.splitlines():
        if heading := HEADING.match(line):
            units = [UNITS[unit] for unit in heading.groups()]
        elif units and (row := ROW.match(line)):
            found += 1
            values = expected[int(row[1])]
            for printed, unit, value in zip(row.groups()[1:4], units, values):
                half_digit = 0.5 * 10 ** -len(printed.partition(".")[2])
                assert abs(float(printed) - value / unit) <= half_digit * (1 + 1e-9), (row[1], printed, value)
            assert int(row[5]) == values[3]
    assert found == len(expected), (found, len(expected))


def check(shardline, paths):
    expected = medians_of(paths)
    assert expected
    as_json = subprocess.run([shardline, "report", *paths, "--json", "-"], stdout=subprocess.PIPE)
    points = json.loads(as_json.stdout)["points"]
    assert sorted(point["D"] for point in points) == sorted(expected)
    for point in points:
        compare(expected[point["D"]], point)
    text = subprocess.run([shardline, "report", *paths], stdout=subprocess.PIPE, encoding="utf-8").stdout
    compare_text(expected, text)


def main(shardline, make_file):
    with tempfile.TemporaryDirectory() as folder:
        def file(name, *knobs):
            path = f"{folder}/{name}.h5"
            subprocess.run([make_file, path, *knobs], check=True)
            return path

        check(shardline, [file("plain")])
        check(shardline, [file("even", "repetitions=4", "passes=5", "noise=0.3")])
        check(shardline, [file("four", "P=4", "slow_rank=2", "warmups=3", "late_share=0.2")])
        check(shardline, [file("memory", "W=5e9", "C=5e10", "alpha=1e-6", "wire=bf16")])
        check(shardline, [file("first"), file("second", "seed=2"), file("third", "seed=3")])


if __name__ == "__main__":
    main(*sys.argv[1:])
