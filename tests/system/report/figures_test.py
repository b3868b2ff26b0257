"""shardline report --html, --figures and --plot: the page holds the numbers of --json and needs nothing else, the scripts draw the
figures again, and text of a file stays text."""

import html.parser
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml

SHARDLINE = os.path.join(os.environ["SHARDLINE_BIN"], "shardline")
MAKE_FILE = os.path.join(os.environ["SHARDLINE_BIN"], "make_synthetic_file")
HOSTILE = "<script>alert(1)</script> \" ' `touch pwned` $(touch pwned)\n!touch pwned\n@a ^b_c {/Bold d} \\ &amp; http://x/ \x1b[31m"
STRATEGY = "<b>a'b`touch pwned`@a ^b_c {/Bold d}"  # a file keeps 64 bytes of it
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(html.parser.HTMLParser):
    """Tags that close in order, every id, and what is loaded from elsewhere."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.ids, self.links, self.tags, self.words = [], [], [], [], [], []
        self.feed(text)
        self.close()
        if self.open:
            self.faults.append(f"left open: {self.open}")

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.ids += [value for name, value in attributes if name == "id"]
        self.links += [value for name, value in attributes if name.split(":")[-1] in ("href", "src", "data", "action")]
        self.faults += [f"{name} of {tag}" for name, value in attributes if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, text):
        self.words.append(text)


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.temporary = os.path.join(self.folder, "tmp")
        os.mkdir(self.temporary)
        self.environment = {**os.environ, "TMPDIR": self.temporary}

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name, mode="r"):
        with open(self.path(name), mode, **({} if "b" in mode else {"encoding": "utf-8"})) as file:
            return file.read()

    def make(self, name, *knobs):
        subprocess.run([MAKE_FILE, self.path(name), *knobs], check=True)

    def report(self, *arguments, **changes):
        return subprocess.run([SHARDLINE, "report", *arguments], cwd=self.folder, capture_output=True, text=True,
                              env={**self.environment, **changes})

    def check_page(self, name):
        text = self.read(name)
        page = Page(text)
        self.assertEqual(page.faults, [])
        self.assertEqual(len(page.ids), len(set(page.ids)), "an id stands for one element")
        self.assertNotIn("script", page.tags)
        for link in page.links:
            self.assertTrue(link.startswith("#"), f"{link} lies outside the page")
            self.assertIn(link[1:], page.ids)
        self.assertNotRegex(text, r"@import|url\((?!#)")
        for svg in re.findall(r"<svg.*?</svg>", text, re.S):
            xml.fromstring(svg)
        return page

    def need_gnuplot(self):
        if not shutil.which("gnuplot"):
            self.skipTest("gnuplot is not installed")

    def test_the_page_holds_the_numbers_of_the_json(self):
        self.need_gnuplot()
        self.make("a.h5", "D=1600,2400,3200,4800,6400,9600,12800", "strategies=mpi_allreduce:0,pipelined_thread:0.9", "alpha=1e-5")
        result = self.report("a.h5", "--html", "page.html", "--json", "-")
        plain = self.report("a.h5")
        self.assertEqual(result.returncode, plain.returncode, result.stderr)
        self.assertEqual(result.stderr, "")
        page = self.check_page("page.html")
        self.assertEqual(page.tags.count("figure"), 8, "crossover and repetitions of both strategies, roofline, overlap, regimes, allreduce")
        numbers = {float(word) for word in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?", " ".join(page.words))}
        shown = lambda value, per_unit: float(f"{value * per_unit:.4g}") in numbers or round(value) in numbers

        def check(thing, keys, *per_unit):
            for key in keys:
                for value in [thing[key + per_unit[1]], *thing[key + "_ci"]]:
                    self.assertTrue(shown(value, per_unit[0]), f"{key} = {value}")

        report = json.loads(result.stdout)
        for point in report["points"]:
            check(point, ["t_comp", "t_comm", "t_step"], 1e3, "_s")
        check(report["calibration"], ["C"], 1e-9, "_flop_per_s")
        check(report["calibration"], ["W"], 1e-6, "_bytes_per_s")
        check(report["calibration"], ["alpha"], 1e6, "_s")
        for crossover in report["crossovers"]:
            check(crossover, ["D_law", "D_model", "D_obs"], 1, "")
        for text in [*(crossover["reason"] for crossover in report["crossovers"]), *(finding["text"] for finding in report["findings"]), *report["files"][0]["hosts"]]:
            self.assertIn(text, " ".join(page.words))

    def test_figures_come_in_three_formats_and_their_scripts_draw_them_again(self):
        self.need_gnuplot()
        self.make("a.h5", "P=3", "slow_rank=1")
        self.make("b.h5", "P=3", "slow_rank=1", "seed=2")
        result = self.report("a.h5", "b.h5", "--figures", "figures", "--html", "page.html")
        self.assertIn(result.returncode, (0, 1, 3), result.stderr)
        self.check_page("page.html")
        names = {name.split(".")[0] for name in os.listdir(self.path("figures"))}
        self.assertEqual(names, {"crossover", "roofline", "regimes", "allreduce", "law", "ranks", "repetitions"})
        shutil.copytree(self.path("figures"), self.path("again"))
        for name in names:
            drawn = {ending: self.read(f"figures/{name}.{ending}", "rb") for ending in ("svg", "pdf", "png")}
            xml.fromstring(drawn["svg"])
            self.assertTrue(drawn["pdf"].startswith(b"%PDF"))
            self.assertTrue(drawn["png"].startswith(b"\x89PNG"))
            for ending in drawn:
                os.remove(self.path(f"again/{name}.{ending}"))
            said = subprocess.run(["gnuplot", f"{name}.gp"], cwd=self.path("again"), capture_output=True, text=True, check=True)
            self.assertEqual(said.stderr, "", f"{name}: without warnings")
            for ending in ("svg", "png"):  # a PDF holds the time
                self.assertEqual(self.read(f"again/{name}.{ending}", "rb"), drawn[ending], name)
            self.assertGreater(len(self.read(f"again/{name}.pdf", "rb")), 1000)

    def test_runs_of_other_measures_have_the_figures_of_theirs(self):
        self.need_gnuplot()
        for measure, knobs, names in (("links", ["P=8", "ranks_on_host=2", "slow_rank=2"], {"links"}), ("allreduce", ["P=4", "alpha=1e-5"], {"allreduce-algorithms"}),
                                      ("roofline", [], {"memory-roofline"})):
            self.make(f"{measure}.h5", f"measure={measure}", *knobs)
            result = self.report(f"{measure}.h5", "--figures", measure, "--html", f"{measure}.html")
            self.assertLessEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertNotIn("not drawn", result.stderr)
            self.check_page(f"{measure}.html")
            self.assertEqual({name.split(".")[0] for name in os.listdir(self.path(measure))}, names)
            for name in names:
                said = subprocess.run(["gnuplot", f"{name}.gp"], cwd=self.path(measure), capture_output=True, text=True, check=True)
                self.assertEqual(said.stderr, "", f"{name}: without warnings")

    def test_what_exists_is_kept_unless_forced(self):
        self.need_gnuplot()
        self.make("a.h5")
        self.assertEqual(self.report("a.h5", "--html", "page.html", "--figures", "figures").returncode, 0)
        with open(self.path("page.html"), "w") as file:
            file.write("mine")
        refused = self.report("a.h5", "--html", "page.html")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertEqual(refused.stderr, "shardline: cannot write page.html (it exists): choose another name, or replace it with --force\n")
        self.assertEqual(self.read("page.html"), "mine")
        refused = self.report("a.h5", "--figures", "figures")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertEqual(refused.stderr.count("\n"), 1)
        self.assertEqual(self.report("a.h5", "--html", "page.html", "--figures", "figures", "--force").returncode, 0)
        self.check_page("page.html")
        run = self.read("a.h5", "rb")
        refused = self.report("a.h5", "--html", "a.h5", "--force")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("HDF5", refused.stderr)
        self.assertEqual(self.read("a.h5", "rb"), run)
        self.assertEqual(self.report("a.h5", "--html", "nowhere/page.html").returncode, 2)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.h5", "figures", "page.html", "tmp"], "nothing half-written is left")
        self.assertEqual(os.listdir(self.temporary), [])

    def test_force_leaves_no_figure_of_an_earlier_report(self):
        self.need_gnuplot()
        self.make("two.h5", "strategies=mpi_allreduce:0,pipelined_thread:0.9")
        self.make("one.h5", "seed=2")
        self.assertEqual(self.report("two.h5", "--figures", "figures").returncode, 0)
        self.assertIn("crossover-2.svg", os.listdir(self.path("figures")))
        mine = {"mine.svg": "mine", "crossover-3.svg": "mine", "mine.gp": "plot x", "notes.txt": "mine", "law.gp": "# mine\n"}
        for name, text in mine.items():
            with open(self.path(f"figures/{name}"), "w") as file:
                file.write(text)
        self.assertEqual(self.report("one.h5", "--figures", "figures", "--force").returncode, 0)
        self.assertEqual(self.report("one.h5", "--figures", "fresh").returncode, 0)
        self.assertEqual(set(os.listdir(self.path("figures"))), set(os.listdir(self.path("fresh"))) | set(mine))
        for name, text in mine.items():
            self.assertEqual(self.read(f"figures/{name}"), text)
        self.assertEqual(self.report("one.h5", "--figures", "figures", "--force", PATH=self.path("gone")).returncode, 0)
        left = set(os.listdir(self.path("figures"))) - set(mine)
        self.assertEqual({os.path.splitext(name)[1] for name in left}, {".gp", ".dat"}, "a picture that is not drawn again is not that of this report")

    def test_without_gnuplot_the_page_comes_without_figures(self):
        self.make("a.h5", "comm_factor_in_sweep=2")
        result = self.report("a.h5", "--html", "page.html", "--figures", "figures", PATH=self.path("gone"))
        plain = self.report("a.h5")
        self.assertEqual((result.returncode, result.stdout), (plain.returncode, plain.stdout))
        self.assertEqual(plain.returncode, 1)
        self.assertEqual(result.stderr, "shardline: no figures are drawn (gnuplot is not on PATH): install gnuplot-nox, or load its module\n")
        page = self.check_page("page.html")
        self.assertNotIn("figure", page.tags)
        self.assertEqual({os.path.splitext(name)[1] for name in os.listdir(self.path("figures"))}, {".gp", ".dat"})

    def test_a_gnuplot_that_fails_costs_its_figures(self):
        self.make("a.h5")
        os.mkdir(self.path("bin"))
        with open(self.path("bin/gnuplot"), "w") as file:
            file.write("#!/bin/sh\ncase $2 in roofline.gp) echo 'out of \033[31mink' >&2; exit 1;; esac\n"
                       "printf '<svg></svg>' >${2%.gp}.svg\n")
        os.chmod(self.path("bin/gnuplot"), 0o755)
        result = self.report("a.h5", "--html", "page.html", PATH=self.path("bin"))
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, "shardline: the figure roofline is not drawn (gnuplot: out of \\x1b[31mink): its numbers are roofline.dat of --figures\n")
        page = self.check_page("page.html")
        self.assertIn("figure-crossover", page.ids)
        self.assertNotIn("figure-roofline", page.ids)
        nowhere = self.report("a.h5", "--html", "other.html", TMPDIR=self.path("gone"), PATH=self.path("bin"))
        self.assertEqual((nowhere.returncode, nowhere.stderr.count("\n")), (0, 1), nowhere.stderr)
        self.assertIn("set TMPDIR", nowhere.stderr)
        self.check_page("other.html")

    def test_text_of_a_file_stays_text(self):
        self.need_gnuplot()
        self.make("a.h5", f"host={HOSTILE}", f"title={HOSTILE}", f"finding={HOSTILE}", f"strategies={STRATEGY}:0,mpi_allreduce:0.5")
        result = self.report("a.h5", "--html", "page.html", "--figures", "figures")
        self.assertIn(result.returncode, (0, 1, 3), result.stderr)
        self.assertNotIn("not drawn", result.stderr)
        page = self.check_page("page.html")
        self.assertNotIn("\x1b", self.read("page.html"))
        self.assertIn("<script>alert(1)</script>", " ".join(page.words))
        for name in os.listdir(self.path("figures")):
            if name.endswith(".svg"):
                xml.fromstring(self.read(f"figures/{name}", "rb"))
        svg = xml.fromstring(self.read("figures/allreduce.svg", "rb"))
        words = "".join(svg.itertext())
        self.assertIn(STRATEGY, words, "as it is, without enhanced text")
        self.assertEqual([place for place in (self.folder, self.path("figures"), os.getcwd()) if os.path.exists(os.path.join(place, "pwned"))], [])

    def test_the_plot_is_text_of_the_terminals_width(self):
        self.make("a.h5")
        plain, plotted = self.report("a.h5"), self.report("a.h5", "--plot")
        self.assertEqual(plotted.returncode, 0)
        self.assertTrue(plotted.stdout.startswith(plain.stdout))
        plot = plotted.stdout[len(plain.stdout):]
        self.assertIn("^obs", plot)
        self.assertNotIn("\x1b", plot)
        self.assertLessEqual(max(map(len, plot.splitlines())), 80)
        both = self.report("a.h5", "--plot", "--json", "-")
        self.assertEqual((both.returncode, both.stdout), (2, ""))

    def test_a_run_with_little_in_it(self):
        self.need_gnuplot()
        for name, knobs in {"one_rank": ["P=1"], "outside": ["D=2,4,8"], "few": ["passes=1", "repetitions=2"], "one_point": ["D=4096"],
                            "uncalibrated": ["calibrated=0"], "killed": ["status=running"], "wrong": ["wrong_point=3"]}.items():
            self.make(f"{name}.h5", *knobs)
            result = self.report(f"{name}.h5", "--html", f"{name}.html", "--plot")
            self.assertIn(result.returncode, (0, 3), name)
            self.assertNotIn("not drawn", result.stderr, name)
            self.check_page(f"{name}.html")


if __name__ == "__main__":
    unittest.main()
