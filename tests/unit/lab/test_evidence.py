# SPDX-License-Identifier: GPL-2.0-or-later
import json
import os
import re
import tempfile
import unittest

from lab import evidence, experiment
from lab.evidence import Item, Lines, State
from lab.experiment import Cell, Job

A, B = Cell("a", {}), Cell("b", {})
LONG, SHORT = Item("p", "x", "long", first="^b"), Item("p", "y", "short")
SECONDS = {"long": 80, "short": 1}


def line(cell="a", contender="c", run=0, code="new", **figures):
    return {"cell": cell, "contender": contender, "run": run, "seed": 1, "code": code, "figures": json.dumps(figures)}


class Missing(unittest.TestCase):
    def order(self, *states):
        return [(item.experiment, job.cell.name, job.run) for item, job in evidence.missing(states, SECONDS)]

    @staticmethod
    def state(item, cells, runs=2, present=(), earlier=()):
        jobs = tuple(Job(cell, "c", run) for run in range(runs) for cell in cells)
        return State(item, jobs, frozenset((c, "c", r) for c, r in present), frozenset((c, "c", r) for c, r in earlier))

    def test_the_fewest_runs_first_then_claims_then_the_shortest(self):
        self.assertEqual(self.order(self.state(LONG, (A, B)), self.state(SHORT, (A,))),
                         [("long", "b", 0), ("short", "a", 0), ("long", "a", 0), ("long", "b", 1), ("short", "a", 1), ("long", "a", 1)])

    def test_none_before_those_of_an_earlier_code(self):
        self.assertEqual(self.order(self.state(SHORT, (A, B), earlier=(("a", 0),))),
                         [("short", "b", 0), ("short", "a", 0), ("short", "a", 1), ("short", "b", 1)])

    def test_what_is_there_is_not_made_again(self):
        """A seed that is missing between others is one of as many as are there."""
        self.assertEqual(self.order(self.state(SHORT, (A, B), 3, present=(("a", 0), ("a", 2), ("b", 1)))),
                         [("short", "b", 0), ("short", "a", 1), ("short", "b", 2)])


class Files(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = directory.name

    def test_lines_are_kept(self):
        lines = Lines("x", self.root)
        lines.append(line(rate=1))
        lines.append(line(run=1, code="old", text='a,"b"'))
        again = Lines("x", self.root)
        self.assertEqual(json.loads(again.all[1]["figures"]), {"text": 'a,"b"'})
        self.assertEqual(again.newest("new"), lines.newest("new"))

    def test_a_line_of_todays_code_counts_before_a_newer_one_of_another(self):
        for codes, chosen in ((("new", "old"), 0), (("old", "new"), 1), (("new", "new"), 1), (("old", "older"), 1)):
            with self.subTest(codes):
                lines = Lines("none", self.root)
                lines.all = [{**line(code=code), "at": i} for i, code in enumerate(codes)]
                self.assertEqual(lines.newest("new")["a", "c", 0]["at"], chosen)

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def code(self, *rooms):
        evidence.code_of.cache_clear()
        return evidence.code_of(rooms, self.root)

    def test_words_change_no_code(self):
        self.write("r/a.c", 'int a; // one\nconst char *u = "rtsp://h"; /* two\n three */\n')
        self.write("r/a.py", "# one\nx = 1\n\n")
        before = self.code("r")
        self.write("r/a.c", '// other\nint a;\n\n    const char *u = "rtsp://h";\n')
        self.write("r/a.py", "x = 1  \n# more\n")
        self.assertEqual(self.code("r"), before)
        self.write("r/a.c", 'int a;\nconst char *u = "rtsp://other";\n')
        self.assertNotEqual(self.code("r"), before)

    def test_rooms(self):
        for name in "r/a.c", "r/a.h", "r/in/b.c", "r/notes.txt", "s/c.c", "s/c.h", "s/d.c":
            self.write(name, "")
        self.assertEqual([os.path.relpath(p, self.root) for p in evidence.files(("r", "s/c.c"), self.root)],
                         ["r/a.c", "r/a.h", "r/in/b.c", "s/c.c", "s/c.h"])


class Items(unittest.TestCase):
    def test_each_has_runs_and_rooms(self):
        for item in evidence.ITEMS:
            with self.subTest(item.what):
                jobs = experiment.plan(item.load(), item.runs, item.only)
                self.assertGreater(len(jobs), 0)
                if item.first:
                    self.assertTrue(any(re.search(item.first, job.cell.name) for job in jobs))
                self.assertIn(item.page, evidence.PAPERS)
                for room in (*item.rooms, f"lab/experiments/{item.experiment}.py"):
                    self.assertTrue(os.path.exists(os.path.join(evidence.ROOT, room)), room)

    def test_commands(self):
        said = {item.experiment: item.command for item in evidence.ITEMS}
        for name, command in (("arc", "./run lab arc"), ("arc_real", "./run lab arc --real"), ("real", "./run lab mtp-tcp --real"),
                              ("minbuf", './run lab minbuf --only "-reno(2002)? (tcp|minbuf:1,0|minbuf:1,3)"')):
            self.assertEqual(said[name], command)


class Pages(unittest.TestCase):
    def test_tables(self):
        self.assertEqual(evidence.markdown_table(("a", "b"), [(1, None), ("x|y", 2.5)]),
                         "| a | b |\n|---|---|\n| 1 |  |\n| x\\|y | 2.5 |")

    def test_counts(self):
        jobs = tuple(Job(A, "c", run) for run in range(5))
        for present, earlier, text in ((2, 0, "2 of 5 runs"), (2, 3, "2 of 5 runs, and 3 of earlier code")):
            keys = [job.key for job in jobs]
            s = State(SHORT, jobs, frozenset(keys[:present]), frozenset(keys[present:present + earlier]))
            self.assertEqual(evidence.counts(s), text)


if __name__ == "__main__":
    unittest.main()
