# SPDX-License-Identifier: GPL-2.0-or-later
import os
import tempfile
import unittest

import numpy as np

from lab.experiments import abr, abr_report
from lab.report import Report
from lab.traces import paths


def trace(qoe=1.0, stalled=0.0, first=0.2, **more):
    return {"trace": "1.txt", "complete": True, "seconds": 600.0, "first_picture_s": first, "stalled_s": stalled, "stalls": 0,
            "kbps": 1000.0, "changes": 5, "qoe": qoe, "ssim_db": None, "qoe_ssim": None, "bytes": 1000, "wasted": 10, **more}


def row(contender, *traces, cell="puffer goddard"):
    return {"cell": cell, "contender": contender, "figures": {"traces": list(traces), "scaled": False}}


class Traces(unittest.TestCase):
    def test_seed(self):
        for family in paths.FAMILIES:
            self.assertEqual(paths.rates(family, 3), paths.rates(family, 3))
            self.assertNotEqual(paths.rates(family, 3), paths.rates(family, 4))

    def test_moments(self):
        """The generated traces have the moments that the family states."""
        for name, f in paths.FAMILIES.items():
            with self.subTest(family=name):
                means, kept = [], []
                for seed in range(200):
                    x = np.array(paths.rates(name, seed))
                    carried = np.log(x[x > paths.MIN_MBIT])
                    means.append(np.log(np.exp(carried).mean()))
                    off = carried - carried.mean()
                    kept.append((off[1:] * off[:-1]).mean() / (off ** 2).mean())
                self.assertAlmostEqual(np.median(means), np.log(f.median_mbit), delta=0.15)
                self.assertAlmostEqual(np.std(means), f.mean_spread, delta=0.15)
                self.assertAlmostEqual(np.median(kept), f.kept, delta=0.1)

    def test_means_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text, mbit in (("a.txt", "0 1\n1 3\n3 9\n", 7 / 3), ("b.down", "0\n500\n1000\n", 0.036)):
                path = os.path.join(folder, name)
                with open(path, "w", encoding="ascii") as f:
                    f.write(text)
                self.assertAlmostEqual(abr.mean_mbit(path), mbit)

    def test_families(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "bus"))
            for name in ("README.md", "bus/1.txt", "bus/README.md"):
                with open(os.path.join(folder, name), "w", encoding="ascii") as f:
                    f.write("0 1\n")
            self.assertEqual(abr.families_of(folder), {"bus": [os.path.join(folder, "bus", "1.txt")]})
            bus = os.path.join(folder, "bus")
            self.assertEqual(abr.families_of(bus), {"bus": [os.path.join(bus, "1.txt")]})


class Goals(unittest.TestCase):
    def test_verdicts(self):
        by = {"auto": [trace(1.06, 1)], "bola-e": [trace(0.9, 1)], "dynamic": [trace(0.8)], "robust-mpc": [trace(1.0, 9)],
              "throughput": [trace(2.0)], "optimum": [{"qoe": 1.17}]}
        self.assertEqual([g[-1] for g in abr_report.goals("puffer goddard", by)], ["met"] * 4)
        by["auto"] = [trace(1.04, 1.1, first=1.2)]
        self.assertEqual([g[-1] for g in abr_report.goals("puffer goddard", by)], ["missed"] * 4)
        self.assertEqual(abr_report.goals("puffer vbr", by), [])

    def test_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Report(folder, "t", "c")
            abr_report.write([row("auto", trace(), trace(1.2)), row("bola-e", trace(0.8), trace(0.9)),
                              row("optimum", {"trace": "1.txt", "qoe": 1.2}, {"trace": "2.txt", "qoe": 1.3})], page)
            with open(page.write(), encoding="utf-8") as f:
                text = f.read()
            self.assertIn("0.88", text)  # of the optimum
            self.assertIn("missed", text)

    def test_check(self):
        good = [row("auto", trace(1.0)), row("optimum", {"trace": "1.txt", "qoe": 1.1})]
        self.assertEqual(abr.check(good), [])
        self.assertEqual(len(abr.check([row("auto", trace(1.2)), good[1]])), 1)
        self.assertEqual(len(abr.check([row("auto", trace(complete=False))])), 1)


if __name__ == "__main__":
    unittest.main()
