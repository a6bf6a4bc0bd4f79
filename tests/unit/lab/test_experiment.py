# SPDX-License-Identifier: GPL-2.0-or-later
import io
import os
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout

from lab import experiment, report
from lab.experiment import Cell, Experiment, Results
from lab.experiments import minbuf, minbuf_report


def make(cells, contenders):
    return Experiment("x", "X", cells, contenders, None, None)


class Plan(unittest.TestCase):
    def test_rounds_of_all_cells_with_contenders_in_turn(self):
        jobs = experiment.plan(make([Cell("a", {}), Cell("b", {})], ["p", "q"]), 2)
        self.assertEqual([j.key for j in jobs], [("a", "p", 0), ("a", "q", 0), ("b", "p", 0), ("b", "q", 0),
                                                 ("a", "q", 1), ("a", "p", 1), ("b", "q", 1), ("b", "p", 1)])

    def test_contenders_share_seeds(self):
        jobs = {j.key: j.seed for j in experiment.plan(make([Cell("a", {}), Cell("b", {})], ["p", "q"]), 2)}
        self.assertEqual(jobs["a", "p", 0], jobs["a", "q", 0])
        self.assertEqual(len({jobs["a", "p", 0], jobs["a", "p", 1], jobs["b", "p", 0], jobs["b", "p", 1]}), 4)

    def test_only(self):
        e = make([Cell("a-1", {}), Cell("a-2", {}, default=False)], ["p", "q"])
        for only, expected in (((), ["a-1 p", "a-1 q"]), (("a",), ["a-1 p", "a-1 q", "a-2 p", "a-2 q"]),
                               (("2", "q"), ["a-2 q"]), (("3",), []), (("1 p$|2 q$",), ["a-1 p", "a-2 q"])):
            with self.subTest(only=only):
                self.assertEqual([f"{j.cell.name} {j.contender}" for j in experiment.plan(e, 1, only)], expected)

    def test_named(self):
        """A contender that must be named runs only then, and only in its cells."""
        e = make([Cell("a", {}), Cell("b", {}, contenders=("p",))], ["p", "q"])
        e.named = {"rare": ["b"]}
        for only, expected in (((), ["a p", "a q", "b p"]), (("b",), ["b p"]), (("rare",), ["b rare"]),
                               (("(q|rare)$",), ["a q", "b rare"]), (("a rare",), [])):
            with self.subTest(only=only):
                self.assertEqual([f"{j.cell.name} {j.contender}" for j in experiment.plan(e, 1, only)], expected)


class Possible(unittest.TestCase):
    def test_what_the_machine_lacks(self):
        e = make([Cell("a", {})], ["p", "q"])
        jobs = experiment.plan(e, 1)
        self.assertEqual(experiment.possible(e, jobs, "b"), (jobs, {}))
        e.missing = lambda contender, build: f"no q in {build}" if contender == "q" else None
        left, lacks = experiment.possible(e, jobs, "b")
        self.assertEqual(([j.contender for j in left], lacks), (["p"], {"q": "no q in b"}))


class Files(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def test_results_survive_a_torn_line(self):
        results = Results(self.directory.name)
        row = {"cell": "a", "contender": "p", "run": 0, "error": "x"}
        results.append(row)
        with open(results.path, "ab") as f:
            f.write(b'{"cell": "a", "conten')
        again = {"cell": "a", "contender": "p", "run": 0, "figures": {}}
        results.append(again)
        self.assertEqual(results.read(), [again])
        results.set_aside()
        self.assertEqual(results.read(), [])
        self.assertEqual(sum(f.startswith("runs-") for f in os.listdir(self.directory.name)), 1)

    GOALS = [["a", "D500", ">= 1", "missed: 0.5"], ["a", "loss", "< 1", "met: 0.2"], ["b", "loss", "< 1", "missed: 2"], ["b", "D200", "-", "met"]]

    def goals_page(self, judged):
        page = report.Report(self.directory.name, "T", "c", None, judged)
        page.goals("Goals", ["cell", "what", "goal", "result"], self.GOALS, "goals")
        page.table("A table", ["cell", "result"], [["c", "missed: loss"]], "t")
        with open(page.write(), encoding="utf-8") as f:
            return page, f.read()

    def test_a_full_run_judges_all_goals(self):
        page, text = self.goals_page(None)
        self.assertEqual([page.count(v) for v in ("met", "missed", "open")], [2, 3, 0])
        self.assertEqual(page.summary(), "Goals: 2 of 5 met.")
        self.assertIn("<p>2 of 4 met.</p>", text)
        self.assertNotIn("not judged", text)

    def test_a_quick_run_judges_what_it_can(self):
        for judged, counts, summary, count, missed in (
                ((), [0, 0, 5], "A quick run: it judges none of the 5 goals, which require the runs of the full version.",
                 "<p>4 not judged by a quick run.</p>", []),
                (("a loss",), [1, 0, 4], "A quick run: it judges 1 of 5 goals, of which 1 is met; the others require the runs of the "
                 "full version.", "<p>1 of 1 met, 3 not judged by a quick run.</p>", []),
                (("loss <",), [1, 1, 3], "A quick run: it judges 2 of 5 goals, of which 1 is met; the others require the runs of the "
                 "full version.", "<p>1 of 2 met, 2 not judged by a quick run.</p>", ["Goals b loss < 1 result: missed: 2"]),
                ((".",), [2, 3, 0], "A quick run: it judges 5 of 5 goals, of which 2 are met.", "<p>2 of 4 met.</p>", 3)):
            with self.subTest(judged):
                page, text = self.goals_page(judged)
                self.assertEqual([page.count(v) for v in ("met", "missed", "open")], counts)
                self.assertEqual(page.summary(), summary)
                self.assertIn(count, text)
                self.assertIn(f'<p class="note">{summary}</p>', text)
                self.assertEqual(page.missed() if isinstance(missed, list) else len(page.missed()), missed)
                self.assertEqual(text.count('<td class="missed">'), counts[1])  # no verdict of another table either
                self.assertEqual(text.count('<td class="open">not judged by a quick run'), counts[2])
        with open(os.path.join(self.directory.name, "goals.csv"), encoding="utf-8") as f:
            self.assertEqual(f.read().splitlines()[1], "a,D500,>= 1,missed: 0.5")
        self.goals_page(())
        with open(os.path.join(self.directory.name, "goals.csv"), encoding="utf-8") as f:
            self.assertEqual(f.read().splitlines()[1:5:3], ["a,D500,>= 1,not judged by a quick run: 0.5", "b,D200,-,not judged by a quick run"])

    def test_exit_code(self):
        """What was judged and missed counts, of a quick run only; what is not plausible always."""
        from lab import lab
        def write(rows, page):
            page.goals("Goals", ["cell", "what", "goal", "result"], self.GOALS)
        for quick, judged, check, expected in ((False, (), None, 0), (True, (), None, 0), (True, ("b loss",), None, 1), (True, ("a loss",), None, 0),
                                               (True, (".",), None, 2), (False, (), ["x"], 1), (True, ("b loss",), ["x"], 2)):
            with self.subTest(quick=quick, judged=judged, check=check), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                e = Experiment("x", "X", [], [], None, write, check=check and (lambda rows, check=check: list(check)), quick=quick, judged=judged)
                page = report.Report(self.directory.name, "T", "c", None, judged if quick else None)
                self.assertEqual(len(lab.show(e, [], page)), expected)

    def test_every_quick_version_names_the_goals_of_its_simulation_only(self):
        """What a busy machine changes is not judged: of the quick versions with programs, no goal is."""
        for name in experiment.names():
            e = experiment.load(name, quick=True)
            self.assertTrue(e.quick)
            self.assertEqual(bool(e.judged), name in ("arc", "goddard", "mtp_tcp", "psp", "tfrc"), name)

    def test_what_was_missed_in_a_smoke_test_is_not_alarming(self):
        for smoke in (None, "One run, 2 cores, machine busy 63 %: a smoke test."):
            with self.subTest(smoke=smoke), open(report.Report(self.directory.name, "T", "c", smoke).write(),
                                                 encoding="utf-8") as f:
                page = f.read()
                self.assertEqual('<body class="smoke">' in page, smoke is not None)
                self.assertEqual("a smoke test" in page, smoke is not None)
                self.assertIn(".smoke td.missed { color: #666", page)

    def test_report_is_one_page(self):
        page = report.Report(self.directory.name, "A & B", "lab.py x")
        page.table("T <1>", ["what", "result"], [["x", "met: 1"], [None, "missed: 2"], ["metal", "&"]], "t")
        figure, axes = report.canvas()
        axes[0][0].plot([1, 2])
        page.figure("F", figure)
        with open(page.write(), encoding="utf-8") as f:
            text = f.read()
        for part in ("<title>A &amp; B</title>", "T &lt;1&gt;", '<td class="met">met: 1</td>', "<td>metal</td>",
                     '<td class="missed">missed: 2</td>', "<td>&amp;</td>", "data:image/png;base64,", "<td></td>"):
            self.assertIn(part, text)
        self.assertNotRegex(text, r'(src|href)="(?!data:)')
        with open(os.path.join(self.directory.name, "t.csv"), encoding="utf-8") as f:
            self.assertEqual(f.read().splitlines(), ["what,result", "x,met: 1", ",missed: 2", "metal,&"])


class Smoke(unittest.TestCase):
    """What a page says of runs that carry no verdict."""

    def rows(self, runs, **figures):
        return [{"cell": "a", "contender": c, "run": k, "cores": 2, "busy": 0.25 + k / 10, "figures": figures}
                for c, count in runs.items() for k in range(count)]

    def test_notes(self):
        for rows, note in (([], None),
                           (self.rows({"p": 1, "q": 1}), "One run, 2 cores, machine busy 25 %: a smoke test."),
                           (self.rows({"p": 3, "q": 1}), "1 to 3 runs, 2 cores, machine busy 45 %: a smoke test."),
                           (self.rows({"p": 3, "q": 3}, waited=0.01), None),
                           (self.rows({"p": 2, "q": 2}, waited=0.3), "2 runs, 2 cores, machine busy 35 %, a thread waited "
                            "for a core 30 % of the time: a smoke test."),
                           (self.rows({"p": 2}, waited=None), None)):
            with self.subTest(note=note):
                self.assertEqual(report.smoke_note(rows), note)

    def test_simulated_runs_do_not_depend_on_the_machine(self):
        self.assertIsNone(report.smoke_note([{"cell": "a", "contender": "p", "run": 0, "figures": {}}]))


class Minbuf(unittest.TestCase):
    def test_queues(self):
        # 30 Mbit/s x 100 ms = 375000 bytes.
        for kind, expected in (("0.25bdp", "droptail:93750B"), ("1bdp", "droptail:375000B"),
                               ("5bdp", "droptail:1875000B"),
                               ("dred", "dred:750000B:min=375000B:max=750000B:ecn")):
            self.assertEqual(minbuf.queue_text(kind, 375000), expected)

    def test_cells_and_published_values(self):
        e = experiment.load("minbuf")
        self.assertEqual((len(e.cells), sum(c.default for c in e.cells)), (80, 32))
        self.assertEqual(minbuf_report.parse(e.cells[0].name), (30, 100, "0.25bdp", "reno"))
        self.assertEqual(minbuf_report.published("12mbit-25ms-0.25bdp-reno", "minbuf:1,3")[2], 39.08)
        for cell in ("12mbit-25ms-1bdp-reno", "12mbit-25ms-0.25bdp-cubic"):
            self.assertIsNone(minbuf_report.published(cell, "tcp"))
        self.assertIsNone(minbuf_report.published(e.cells[0].name, "minbuf:auto,20"))

    def test_goals(self):
        cell = "30mbit-100ms-0.25bdp-reno"
        base = {"d500": 1.0, "d200": 0.98, "queue_delay_ms": 10.0}
        rows = [{"cell": cell, "contender": c, "run": 0, "figures": {**base, "mean_ms": m, "throughput_bps": t}}
                for c, m, t in (("tcp", 900, 4e6), ("minbuf:1,0", 63, 3.9e6), ("minbuf:1,3", 90, 3.6e6),
                                ("minbuf:auto,20", 70, 3.6e6))]
        got = {(goal, c): (round(number, 3), met) for goal, c, _, number, met
               in minbuf_report.goals_of(minbuf_report.Rows(rows), cell)}
        ratio = "mean latency over one-way delay + queue delay"
        self.assertEqual(got[ratio, "minbuf:1,0"], (1.05, True))  # 63 / (50 + 10)
        self.assertEqual(got[ratio, "minbuf:1,3"], (1.5, False))
        self.assertEqual(got["throughput over tcp's", "minbuf:1,0"], (0.975, True))
        self.assertEqual(got["throughput over tcp's", "minbuf:1,3"], (0.9, False))
        self.assertEqual(got["D200", "minbuf:1,0"], (0.98, True))
        self.assertEqual(got["D200 x throughput over the best hand-set one's", "minbuf:auto,20"], (0.923, True))

    def test_quick_check(self):
        """What holds on the busiest machine: packets arrived, none before the link allows; the link carried no more than it can."""
        figures = {"utilisation": 0.9, "samples": 1000, "throughput_bps": 1e6, "p50_ms": 60}
        rows = [{"cell": "30mbit-100ms-0.25bdp-reno", "contender": c, "figures": dict(figures)}
                for c in ("tcp", "minbuf:1,0", "minbuf:1,3")]
        self.assertEqual(minbuf.check_quick(rows), [])
        rows[1]["figures"].update(p50_ms=2000, utilisation=0.05)  # waited for a core all the time
        self.assertEqual(minbuf.check_quick(rows), [])
        for change in ({"p50_ms": 49}, {"samples": 0, "p50_ms": None}, {"throughput_bps": None}, {"utilisation": 0},
                       {"utilisation": 1.5}, {"utilisation": None}):
            with self.subTest(change):
                rows[1]["figures"] = figures | change
                self.assertEqual(len(minbuf.check_quick(rows)), 1)
        rows[1]["figures"] = figures
        self.assertEqual(len(minbuf.check_quick(rows[1:])), 1)  # no run of tcp


if __name__ == "__main__":
    unittest.main()
