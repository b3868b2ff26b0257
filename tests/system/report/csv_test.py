"""shardline report --csv against --json: the same numbers, every digit; texts stay texts."""

import csv
import json
import os
import re
import subprocess
import tempfile
import unittest

SHARDLINE = os.path.join(os.environ["SHARDLINE_BIN"], "shardline")
MAKE_FILE = os.path.join(os.environ["SHARDLINE_BIN"], "make_synthetic_file")
D = "D=1600,2400,3200,4800,6400,9600,12800"
PLACE = {"B_elements": "B", "F_elements": "F", "D_elements": "D", "P_ranks": "P", "compute_type": "compute", "wire_type": "wire"}


def table(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


UNIT = r"(?:_s|_elements|_bytes_per_s|_flop_per_s)?$"
KEYS = {"n_repetitions": "n", "from_rank": "from", "to_rank": "to", **PLACE}


def key_of(heading):
    """A heading's key in the JSON, and which end of the interval it is (None: the value)."""
    end = re.search(r"_(low|high)(?=" + UNIT + ")", heading)
    if end:
        return re.sub(UNIT, "", heading.replace(end.group(0), "")) + "_ci", ["low", "high"].index(end.group(1))
    return re.sub(r"^(D_law|D_model|D_obs|B_law|B_obs)_elements$", r"\1", KEYS.get(heading, heading)), None


def cell_of(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return value


class Csv(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.tables = os.path.join(self.folder, "tables")

    def make(self, name, *knobs):
        path = os.path.join(self.folder, name)
        subprocess.run([MAKE_FILE, path, *knobs], check=True)
        return path

    def report(self, *arguments):
        return subprocess.run([SHARDLINE, "report", *arguments], capture_output=True, text=True)

    def tables_and_json(self, *files):
        report = self.report(*files, "--csv", self.tables, "--json", "-")
        self.assertIn(report.returncode, (0, 1, 3), report.stderr)
        return json.loads(report.stdout)

    def assert_same(self, rows, items):
        self.assertEqual(len(rows), len(items))
        for row, item in zip(rows, items):
            for heading, cell in row.items():
                key, end = key_of(heading)
                value = item[key]
                if end is not None:
                    value = value[end] if value is not None else None
                value = cell_of(value)
                if isinstance(value, (int, float)):
                    self.assertEqual(float(cell), value, heading)  # every digit
                else:
                    self.assertEqual(cell, value, heading)

    def test_holds_the_numbers_of_the_json(self):
        for name, *knobs in (("two.h5", D, "strategies=mpi_allreduce:0,pipelined_thread:0.9"), ("outside.h5", "D=2,4,8"), ("single.h5", "P=1")):
            self.tables = os.path.join(self.folder, name + ".tables")
            report = self.tables_and_json(self.make(name, *knobs))
            for kind in ("points", "crossovers", "overlap", "advice"):
                self.assert_same(table(self.tables, kind + ".csv"), report[kind])
            factors = [{**{key: c[key] for key in PLACE.values() if key != "D"}, "strategy": c["strategy"], "factor": f, "value": c["factors"][f],
                        "meaning": c["factor_meanings"][f]} for c in report["crossovers"] for f in c["factors"]]
            self.assert_same(table(self.tables, "factors.csv"), factors)
            C, W, alpha, segment = table(self.tables, "calibration.csv")
            calibration = report["calibration"]
            for row, value, interval in ((C, "C_flop_per_s", "C_ci"), (W, "W_bytes_per_s", "W_ci"), (alpha, "alpha_s", "alpha_ci")):
                for cell, number in zip((row["value"], row["low"], row["high"]), (calibration[value], *(calibration[interval] or (None, None)))):
                    self.assertEqual(float(cell) if cell else None, number)
            self.assertEqual(segment["value"], str(calibration["W_segment_bytes"] or ""))

    def test_holds_the_numbers_of_other_measures(self):
        def report_of(measure, *knobs):
            self.tables = os.path.join(self.folder, measure + ".tables")
            return self.tables_and_json(self.make(measure + ".h5", f"measure={measure}", *knobs))

        def without(rows, *headings):
            return [{heading: cell for heading, cell in row.items() if heading not in headings} for row in rows]

        report = report_of("roofline")
        self.assert_same(table(self.tables, "claims.csv"), report["claims"])
        self.assert_same(table(self.tables, "roofline_points.csv"), report["roofline"]["points"])
        self.assert_same(table(self.tables, "roofline_batches.csv"), report["roofline"]["batches"])
        machine = {(row["quantity"], row["type"]): row for row in table(self.tables, "machine.csv")}
        self.assertEqual(float(machine["M", ""]["value"]), report["roofline"]["M_bytes_per_s"])
        self.assertEqual([float(machine["C", "f32"][end]) for end in ("low", "high")], report["roofline"]["compute"][0]["C_ci"])
        self.assertEqual(table(self.tables, "links.csv"), [])

        report = report_of("links", "P=6", "ranks_on_host=2", "slow_rank=2")
        links = table(self.tables, "links.csv")
        self.assert_same(without(links, "from_host", "to_host"), report["links"]["links"])
        self.assertEqual([(l["from_host"], l["to_host"]) for l in links],
                         [tuple(report["links"]["hosts"][l[end]] for end in ("from", "to")) for l in report["links"]["links"]])
        self.assert_same(table(self.tables, "slow_links.csv"), report["links"]["slow"])
        self.assert_same(table(self.tables, "cores.csv"), report["links"]["cores"])
        self.assert_same(table(self.tables, "link_pieces.csv"),
                         [{"from": l["from"], "to": l["to"], **piece} for l in report["links"]["links"] for piece in l["pieces"]])

        report = report_of("allreduce", "P=4")
        times = [{**time, "P": size["P"], "message_bytes": size["bytes"], "bound_s": size["bound_s"], "best": time["algorithm"] == size["best"]}
                 for size in report["allreduce"]["sizes"] for time in size["algorithms"]]
        self.assertTrue(times)
        self.assert_same(table(self.tables, "allreduce.csv"), times)
        self.assert_same(table(self.tables, "allreduce_ranges.csv"), report["allreduce"]["ranges"])

        self.tables = os.path.join(self.folder, "sweep.tables")
        report = self.tables_and_json(self.make("sweep.h5", D))
        self.assertTrue(report["allreduce_rates"])
        self.assert_same(table(self.tables, "allreduce_rates.csv"), [{**rate, "message_bytes": rate["V_bytes"]} for rate in report["allreduce_rates"]])

    def test_holds_findings_and_provenance(self):
        report = self.tables_and_json(self.make("a.h5", D, "finding=plain words"), self.make("b.h5", D, "seed=2", "finding=plain words"))
        findings = [{key: cell_of(value) for key, value in f.items()} for f in report["findings"]]
        self.assertEqual(table(self.tables, "findings.csv"), findings)
        self.assertEqual(table(self.tables, "provenance.csv"),
                         [{"file": f["path"], "name": n, "value": v} for f in report["files"] for n, v in f["provenance"].items()])
        launches = table(self.tables, "launches.csv")
        self.assertEqual([(l["file"], l["status"], int(l["ranks"])) for l in launches], [(f["path"], f["status"], f["ranks"]) for f in report["files"]])
        self.assertEqual([l["experiment"].replace("\\n", "\n") for l in launches], [f["experiment"] for f in report["files"]])
        self.assertEqual([r["host"] for r in table(self.tables, "ranks.csv")], ["node0", "node1"] * 2)

    def test_texts_stay_texts(self):
        """No formula for a spreadsheet, no escape for a terminal, one row a line, and what has to be quoted is."""
        for number, text in enumerate(("=1+2", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1")):
            self.tables_and_json(self.make(f"{number}.h5", D, f"host={text}", f"finding={text}"))
            self.assertTrue(table(self.tables, "ranks.csv")[0]["host"].lstrip(" ")[0] in "'\\", text)
            self.assertTrue(table(self.tables, "findings.csv")[0]["text"].lstrip(" ")[0] in "'\\", text)
            self.tables += "x"
        self.tables_and_json(self.make("hostile.h5", D, 'host=a,"b"', "finding=\x1b[2J\n\"quoted\", ,\udcff\u202e"))
        self.assertEqual(table(self.tables, "ranks.csv")[0]["host"], 'a,"b"')
        self.assertEqual(table(self.tables, "findings.csv")[0]["text"], '\\x1b[2J\\n"quoted", ,\\xff\\u{202e}')
        for name in os.listdir(self.tables):
            with open(os.path.join(self.tables, name), "rb") as file:
                data = file.read()
            self.assertIsNone(re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", data), name)
            self.assertEqual(data.count(b"\n"), 1 + len(table(self.tables, name)), name)

    def test_keeps_what_is_there(self):
        run = self.make("run.h5", D)
        os.mkdir(self.tables)
        kept = os.path.join(self.tables, "crossovers.csv")
        with open(kept, "w") as file:
            file.write("mine\n")
        refused = self.report(run, "--csv", self.tables)
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("--force", refused.stderr)
        self.assertEqual(os.listdir(self.tables), ["crossovers.csv"])
        with open(kept) as file:
            self.assertEqual(file.read(), "mine\n")
        self.assertEqual(self.report(run, "--csv", self.tables, "--force").returncode, 0)
        self.assertEqual(len(table(self.tables, "crossovers.csv")), 1)
        self.assertFalse([name for name in os.listdir(self.tables) if not name.endswith(".csv")])

    def test_refuses_what_is_no_folder(self):
        run = self.make("run.h5", D)
        for path in (run, os.path.join(self.folder, "no", "where"), ""):
            refused = self.report(run, "--csv", path)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), path)
            self.assertEqual(refused.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
