"""What a results file holds, for the shell tests of this folder.

examine.py CHECK FILE...: prints what is asked for, or ends with a message and 1 where the file is not as it must be.
Reads with h5py alone, so that a mistake shared by our writer and reader shows.
"""

import sys
from collections import Counter, defaultdict

import h5py
import numpy as np

PHASES, STEP = 0, 1


def refuse(message):
    sys.exit(f"examine.py: {message}")


def require(condition, message):
    if not condition:
        refuse(message)


class Run:
    def __init__(self, path):
        self.path = path
        # As a reader beside a writer, which the file of a killed run seems to have still.
        with h5py.File(path, "r", libver="latest", swmr=True) as file:
            self.status = h5py.check_enum_dtype(file["progress/status"].dtype)
            self.status = {number: name for name, number in self.status.items()}[file["progress/status"][0]]
            for table in ("points", "repetitions", "checks", "findings", "clocks"):
                rows = int(file[f"progress/{table}"][0])
                setattr(self, table, {name: column[:rows] for name, column in file[table].items()})
            self.ranks = len(file["ranks/host"])
            self.hosts = texts(file["ranks/host"][:])
            self.effective = dict(
                line.split(" = ", 1) for line in texts([file["experiment/effective"][()]])[0].splitlines()
            )

    def setting(self, key):
        return int(self.effective[key])

    def __len__(self):
        return len(self.repetitions["point"])

    def kinds(self):
        return texts(self.points["kind"])

    def points_of(self, kind):
        return [index for index, its in enumerate(self.kinds()) if its == kind]

    def identity(self, index):
        """What a point is, whatever its row."""
        names = ("B", "D", "F", "P", "message_bytes", "segment_bytes")
        return (self.kinds()[index], *(int(self.points[name][index]) for name in names))

    def visits(self):
        """(pass, point) in order of execution."""
        order = []
        for visit in zip(self.repetitions["pass"].tolist(), self.repetitions["point"].tolist()):
            if not order or order[-1] != visit:
                order.append(visit)
        return order


def texts(values):
    return [value.decode().rstrip("\0") if isinstance(value, bytes) else str(value).rstrip("\0") for value in values]


def repetitions_of(run, index):
    kind, *_, message_bytes, _ = run.identity(index)
    return run.setting("repetitions") * (10 if kind == "exchange" and message_bytes <= 8 else 1)


def passes_of(run, kind):
    """Calibration has a pass of its own, number 0, before the sweep's."""
    first = 1 if kind == "crossover" else 0
    last = run.setting("passes") if run.ranks > 1 else 0
    return range(first, last + 1)


def check_plan(run):
    """Every point has every visit, with all its repetitions in each of its modes, numbered once."""
    seen = Counter()
    kept = Counter()
    rows = run.repetitions
    for point, pass_, mode, repetition, warmup in zip(
        rows["point"], rows["pass"], rows["mode"], rows["repetition"], rows["warmup"]
    ):
        seen[point, pass_, mode, repetition] += 1
        kept[point, pass_, mode, bool(warmup)] += 1
    twice = [key for key, times in seen.items() if times > 1]
    require(not twice, f"(point, pass, mode, repetition) recorded twice: {twice[:5]}")

    expected = {}
    for index, kind in enumerate(run.kinds()):
        for pass_ in passes_of(run, kind):
            for mode in (PHASES, STEP) if kind == "crossover" else (PHASES,):
                expected[index, pass_, mode] = repetitions_of(run, index)
    found = {key[:3]: times for key, times in kept.items() if not key[3]}
    require(found == expected, f"visits differ from the plan: {sorted(found.items() ^ expected.items())[:6]}")
    return kept


def check_readings(run):
    rows = run.repetitions
    kinds = np.array(run.kinds())[rows["point"]]
    part = {name: rows[f"{name}_ns"] for name in ("comp_begin", "comp_end", "comm_begin", "comm_end")}
    for name, column in part.items():
        require(column.shape == (len(run), run.ranks), f"{name}_ns has shape {column.shape}")
    both = kinds == "crossover"
    computes = both | (kinds == "matmul")
    communicates = kinds != "matmul"
    require((part["comp_begin"][computes] > 0).all(), "a matmul without a reading")
    require((part["comp_begin"][computes] <= part["comp_end"][computes]).all(), "a matmul ends before it begins")
    require((part["comp_end"][both] <= part["comm_begin"][both]).all(), "communication begins before the matmul ends")
    require((part["comm_begin"][communicates] <= part["comm_end"][communicates]).all(), "communication ends before it begins")
    step = rows["mode"] == STEP
    require((part["comp_end"][step] == part["comm_begin"][step]).all(), "something lies between the parts of a step")
    require((part["comp_begin"][~computes] == -1).all() and (part["comm_begin"][~communicates] == -1).all(),
            "a reading of a part that was not run")
    # Rank by rank, one repetition begins when the one before has ended.
    begin = np.where(computes[:, None], part["comp_begin"], part["comm_begin"])
    end = np.where(communicates[:, None], part["comm_end"], part["comp_end"])
    require((begin[1:] >= end[:-1]).all(), "repetitions overlap on a rank")


def check_results(run):
    checked = defaultdict(int)
    checks = run.checks
    for point, error, bound, agree in zip(checks["point"], checks["max_error"], checks["bound"], checks["ranks_agree"]):
        require(error <= bound and bool(agree), f"the check of {run.identity(point)} failed: error {error}, bound {bound}")
        checked[point] += 1
    wanted = 2 if run.setting("passes") > 1 else 1
    for index in run.points_of("crossover"):
        require(checked[index] == wanted, f"{run.identity(index)} has {checked[index]} checks instead of {wanted}")


KINDS = ("crossover", "matmul", "exchange", "allreduce")


def visiting_order(run, seed, pass_):
    """visiting_order of src/experiment/plan.hpp, written a second time: by a SplitMix64 hash of seed, pass and point."""
    mask = (1 << 64) - 1

    def mixed(z):
        z = (z + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def key(index):
        kind, B, D, F, _, message_bytes, segment_bytes = run.identity(index)
        value = mixed(seed)
        for number in (pass_, KINDS.index(kind), B, D, F, message_bytes, segment_bytes if kind == "exchange" else 0):
            value = mixed(value ^ number)
        for letter in texts(run.points["strategy"][index : index + 1])[0].encode():
            value = mixed(value ^ letter)
        return value

    return sorted(range(len(run.kinds())), key=key)


def check_order(run):
    """Each pass of the sweep visits all points in the order that the stored seed gives, another in each pass."""
    passes = defaultdict(list)
    for pass_, point in run.visits():
        passes[pass_].append(int(point))
    for pass_, order in passes.items():
        if pass_ > 0:
            require(order == visiting_order(run, run.setting("seed"), pass_), f"pass {pass_} is not in the seed's order")
    sweeps = [order for pass_, order in sorted(passes.items()) if pass_ > 0]
    require(all(a != b for a, b in zip(sweeps, sweeps[1:])), "two passes in the same order")


def complete(path):
    """A file that is complete and sound in all that a run must record."""
    run = Run(path)
    require(run.status == "complete", f"the status is {run.status}")
    kept = check_plan(run)
    for index, kind in enumerate(run.kinds()):
        for pass_ in passes_of(run, kind):
            require(kept[index, pass_, PHASES, True] == run.setting("warmups"), f"{run.identity(index)} lacks its warm-ups")
    first = run.repetitions["repetition"] < run.setting("warmups")
    require((run.repetitions["warmup"].astype(bool) == first).all(), "the warm-ups are not the first of their visits")
    require((run.repetitions["late"] == 0).all(), "a barrier lets no rank come late")
    check_readings(run)
    check_results(run)
    check_order(run)
    require({"exchange", "matmul", "allreduce"} <= set(run.kinds()) or run.ranks == 1, "calibration is missing")


def swept(path):
    """D of the sweep's points, and how many repetitions the file holds of each."""
    run = Run(path)
    count = Counter(run.repetitions["point"].tolist())
    for index in run.points_of("crossover"):
        print(run.identity(index)[2], count[index])


def resumed(path):
    """A file that is complete and sound though its run was broken off."""
    run = Run(path)
    require(run.status == "complete", f"the status is {run.status}")
    check_plan(run)
    check_results(run)
    check_order(run)


def kept(path):
    """The sweep's visits in order: D, pass, mode, kept repetitions. Refuses a repetition number that occurs twice."""
    run = Run(path)
    check_plan(run)
    rows = run.repetitions
    sweep = set(run.points_of("crossover"))
    count = Counter()
    for point, pass_, mode, warmup in zip(rows["point"], rows["pass"], rows["mode"], rows["warmup"]):
        if point in sweep and not warmup:
            count[int(run.points["D"][point]), int(pass_), int(mode)] += 1
    for key in sorted(count):
        print(*key, count[key])


def order(path):
    """The sweep's visits in order of execution."""
    run = Run(path)
    sweep = set(run.points_of("crossover"))
    for pass_, point in run.visits():
        if point in sweep:
            print(pass_, int(run.points["D"][point]))


def prefix(earlier_path, later_path):
    """All that the earlier file holds is in the later one, in the same rows."""
    earlier, later = Run(earlier_path), Run(later_path)
    for table in ("points", "repetitions", "checks", "findings", "clocks"):
        for name, column in getattr(earlier, table).items():
            same = getattr(later, table)[name][: len(column)]
            require(len(same) == len(column) and np.array_equal(same, column), f"{table}/{name} lost or changed rows")


def rows(path):
    print(len(Run(path)))


def status(path):
    print(Run(path).status)


def rank_hosts(path):
    """The host of each rank, one a line."""
    print(*Run(path).hosts, sep="\n")


def findings(path):
    its = Run(path).findings
    for code, severity, rank, text in zip(texts(its["code"]), its["severity"], its["rank"], texts(its["text"])):
        print(code, ("note", "warning", "invalid")[severity], int(rank), text)


def late(path):
    """Number of repetitions flagged late."""
    print(int(np.count_nonzero(Run(path).repetitions["late"])))


def median_skew(path):
    """Median of the start skew in ns over the repetitions that count; refuses a skew that is not known."""
    its = Run(path).repetitions
    require((its["start_skew_ns"] >= 0).all(), "a start skew is not known")
    print(int(np.median(its["start_skew_ns"][~its["late"].astype(bool)])))


def late_skew(path):
    """Median of the start skew in ns over the first late repetitions that begin at the agreed start: the wait for it grows later."""
    run = Run(path)
    its = run.repetitions
    kinds = np.array(run.kinds())[its["point"]]
    agreed = (kinds != "crossover") | (its["mode"] == STEP)
    print(int(np.median(its["start_skew_ns"][its["late"].astype(bool) & agreed][:5])))


def usable(path):
    """D and number of repetitions that are neither warm-up nor late, phases mode."""
    run = Run(path)
    its = run.repetitions
    good = (its["warmup"] == 0) & (its["late"] == 0) & (its["mode"] == PHASES)
    for index in run.points_of("crossover"):
        print(run.identity(index)[2], int(np.count_nonzero(good & (its["point"] == index))))


CHECKS = {check.__name__: check
          for check in (complete, resumed, swept, kept, order, prefix, rows, status, findings, rank_hosts, late, median_skew,
                        late_skew, usable)}

if __name__ == "__main__":
    CHECKS[sys.argv[1]](*sys.argv[2:])
