"""docs/file-format.md, and the program in README, against the files themselves: the programs run, and its tables say what is there."""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy as np
except ImportError:
    print("skipped: h5py is missing (Debian: python3-h5py)")
    sys.exit(77)

DOCUMENT = os.path.join(os.environ["SHARDLINE_SOURCE"], "docs", "file-format.md")
README = os.path.join(os.environ["SHARDLINE_SOURCE"], "README.md")
RECORD_TOOL = os.path.join(os.environ["SHARDLINE_BIN"], "record_tool")


def document():
    with open(DOCUMENT, encoding="utf-8") as file:
        return file.read()


def readme():
    with open(README, encoding="utf-8") as file:
        return file.read()


def snippet(name):
    """The program that follows the comment of that name, in either."""
    return re.search(rf"<!-- snippet: {name} -->\n```python\n(.*?)```", document() + readme(), re.DOTALL).group(1)


def run_snippet(name, change=lambda text: text):
    """Runs a program of the document as it stands; what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(change(snippet(name)), DOCUMENT, "exec"), {"__name__": "snippet"})
    return printed.getvalue()


def record_tool(*arguments):
    return subprocess.run([RECORD_TOOL, *arguments], check=True, capture_output=True, text=True).stdout


def medians(text):
    """(B, D, F, median) of each line."""
    return [tuple(float(word) for word in line.split()) for line in text.splitlines()]


def medians_of_reader(path):
    return medians("\n".join(line.split(" ", 1)[1] for line in record_tool("summary", path).splitlines() if line.startswith("point ")))


def documented_datasets():
    """Path: (type, shape, unit), from the tables of the document."""
    row = re.compile(r"^\| `(/\w+/\w+)` \| ([^|]+?) \| ([^|]+?) \| ?([^|]*?) ?\| [^|]+ \|$", re.MULTILINE)
    return {path: (kind, shape, unit) for path, kind, shape, unit in row.findall(document())}


def datasets_of(file):
    found = {}
    file.visititems(lambda name, item: found.update({"/" + name: item}) if isinstance(item, h5py.Dataset) else None)
    return found


def type_of(dataset):
    """The type in the document's words. Text columns of tables that grow say their length."""
    kind = dataset.dtype
    if kind == np.dtype(bool):
        return "bool"
    if h5py.check_enum_dtype(kind):
        return "enum"
    if kind.kind == "S":
        return f"text {kind.itemsize}" if dataset.maxshape == (None,) else "text"
    return str(kind)


class FileFormat(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        before = os.getcwd()
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, before)

    def test_reading_as_documented_gives_what_the_reader_gives(self):
        record_tool("write", "run.h5")
        self.assertLessEqual(len([line for line in snippet("read").splitlines() if line.strip()]), 10)
        printed = medians(run_snippet("read"))
        self.assertEqual(len(set(printed)), 2)
        self.assertEqual(printed, medians_of_reader("run.h5"))

    def test_reading_a_thinned_file_as_documented_gives_the_same(self):
        record_tool("write", "run.h5")
        whole = run_snippet("read")
        record_tool("write", "run.h5", "thinned")
        self.assertEqual(run_snippet("read"), whole)
        self.assertEqual(medians(whole), medians_of_reader("run.h5"))

    def test_a_killed_file_is_read_as_documented(self):
        with self.assertRaises(subprocess.CalledProcessError):
            record_tool("write", "run.h5", "killed")
        with self.assertRaises(OSError):
            run_snippet("read")
        as_swmr = lambda text: text.replace('"run.h5", "r"', '"run.h5", "r", swmr=True')
        self.assertEqual(medians(run_snippet("read", as_swmr)), medians_of_reader("run.h5"))
        subprocess.run(re.search(r"^    (h5clear .*)$", document(), re.MULTILINE).group(1).split(), check=True)
        self.assertEqual(medians(run_snippet("read")), medians_of_reader("run.h5"))

    def test_a_file_written_as_documented_is_read(self):
        run_snippet("write")
        summary = record_tool("summary", "written.h5").splitlines()
        self.assertEqual(
            summary,
            ["ranks 2", "points 1", "repetitions 10", "checks 1", "findings 0", "clocks 1", "status 1", "point 64 100 64 5000"])

    def test_a_compressed_file_is_read(self):
        record_tool("write", "run.h5")
        subprocess.run(["h5repack", "-f", "GZIP=6", "run.h5", "packed.h5"], check=True)
        self.assertEqual(record_tool("summary", "packed.h5"), record_tool("summary", "run.h5"))
        with h5py.File("packed.h5", "r") as file:
            self.assertEqual(file["repetitions/comm_end_ns"].compression, "gzip")

    def test_every_dataset_has_unit_and_description(self):
        record_tool("write", "run.h5")
        with h5py.File("run.h5", "r") as file:
            for path, dataset in datasets_of(file).items():
                self.assertIn("unit", dataset.attrs, path)
                self.assertGreater(len(dataset.attrs["description"]), 3, path)

    def test_the_document_lists_the_datasets_there_are(self):
        record_tool("write", "run.h5")
        record_tool("write", "thinned.h5", "thinned")
        documented = documented_datasets()
        of_thinned_files = set(re.findall(r"/\w+/\w+", document().split("### Thinned")[1].split("###")[0])) | {"/progress/rank_summaries"}
        self.assert_documented({path: entry for path, entry in documented.items() if path not in of_thinned_files}, "run.h5", width=2)
        self.assert_documented(documented, "thinned.h5", width=4)

    def assert_documented(self, documented, name, width):
        with h5py.File(name, "r") as file:
            ranks = len(file["ranks/host"])
            found = datasets_of(file)
            self.assertEqual(sorted(documented), sorted(found))
            for path, dataset in found.items():
                kind, shape, unit = documented[path]
                self.assertEqual(kind.split(" ")[0] if "enum" in kind else kind, type_of(dataset), path)
                self.assertEqual(unit, dataset.attrs["unit"].decode(), path)
                expected = {"scalar": (), "[1]": (1,), "[P]": (ranks,), "[rows]": (None,), "[rows, P]": (None, width),
                            "[rows, K]": (None, width), "[any]": dataset.shape[:1]}[shape]
                self.assertEqual(expected, dataset.maxshape, path)

    def test_the_document_names_the_values_of_every_enumeration(self):
        record_tool("write", "run.h5")
        lines = {match.group(1): match.group(0) for match in re.finditer(r"^\| `(/\w+/\w+)` .*$", document(), re.MULTILINE)}
        with h5py.File("run.h5", "r") as file:
            for path, dataset in datasets_of(file).items():
                if type_of(dataset) != "enum":
                    continue
                for name, number in h5py.check_enum_dtype(dataset.dtype).items():
                    self.assertIn(f"{number} `{name}`", lines[path])

    def test_the_document_lists_the_attributes_of_the_root(self):
        record_tool("write", "run.h5")
        section = document().split("### Attributes of `/`")[1].split("###")[0]
        with h5py.File("run.h5", "r") as file:
            self.assertEqual(sorted(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)), sorted(file.attrs))


if __name__ == "__main__":
    unittest.main(verbosity=2)
