# SPDX-License-Identifier: GPL-2.0-or-later
import math
import tempfile
import unittest

import numpy as np

from lab import experiment, report
from lab.experiments import arc, arc_figures, arc_report


def rows_of(rates, step=1):
    """What weir-sim writes for flows with these rates (lists over time, bit/s); all is sent and arrives."""
    out, total = [], [0] * len(rates)
    for i, now in enumerate(zip(*rates)):
        for flow, rate in enumerate(now):
            out.append({"time": f"{i * step}", "flow": str(flow), "sent_bytes": str(total[flow]),
                        "good_bytes": str(total[flow]), "rate_bps": str(rate)})
            total[flow] += round(rate * step / 8)
    return out


class Figures(unittest.TestCase):
    def test_jain(self):
        for values, expected in (([1, 1, 1, 1], 1), ([1, 0, 0, 0], 1 / 4), ([1, 3], 16 / 20), ([2, 2, 0], 2 / 3)):
            with self.subTest(values=values):
                self.assertAlmostEqual(float(arc_figures.jain(values)), expected)
        self.assertTrue(math.isnan(arc_figures.jain([0, 0])))
        np.testing.assert_allclose(arc_figures.jain([[1, 1], [1, 3]]), [1, 0.8])

    def test_burstiness(self):
        """2, 4, 6: mean 4, standard deviation 2. Constant: 0."""
        np.testing.assert_allclose(arc_figures.variation([[2, 5], [4, 5], [6, 5]]), [0.5, 0])
        series = arc_figures.Series(rows_of([[80, 16, 32, 48]]), 1)
        figures = arc_figures.burstiness(series, 1)
        self.assertAlmostEqual(figures["burst_rate"], 0.5)
        self.assertAlmostEqual(figures["burst_tx1s"], math.sqrt(2) / 3)  # 2 and 4 bytes: mean 3, deviation sqrt(2)

    def test_series_takes_the_first_flows(self):
        series = arc_figures.Series(rows_of([[8, 16], [24, 32], [800, 800]]), 2)
        np.testing.assert_array_equal(series.rate, [[8, 24], [16, 32]])
        np.testing.assert_array_equal(series.good, [[0, 0], [1, 3]])
        self.assertEqual([series.at(0), series.at(0.5), series.at(1), series.at(9)], [0, 1, 1, 1])

    def test_reaches(self):
        time = np.arange(6.0)
        rising, falling = np.array([1, 1, 2, 5, 9, 9.0]), np.array([9, 9, 6, 3, 2, 2.0])
        for rate, until, level, expected in ((rising, 5, 9, 3), (rising, 5, 5, 2), (rising, 3, 9, None),
                                             (falling, 5, 3, 2), (falling, 5, 1, None), (rising, 5, 1, 0)):
            with self.subTest(rate=rate, until=until, level=level):
                self.assertEqual(arc_figures.reaches(time, rate, 1, until, level), expected)

    def test_rise_and_fall(self):
        """1000 bit/s, of which a CBR source takes 700 in [10, 20) and [30, 40). Down in 2 s and 4 s, up in 6 s; 0.5 s
        an RTT."""
        self.assertEqual(arc_figures.changes(10, 10, 40), ([10, 30], [20]))
        rate = [1000] * 12 + [330] * 8 + [300] * 6 + [950] * 8 + [320] * 6
        cbr = {"start": 10, "period": 10, "rate": 700}
        figures = arc_figures.transients(arc_figures.Series(rows_of([rate]), 1), cbr, 1000, 0.5, 40)
        self.assertEqual(figures, {"rise_rtts": 12, "fall_rtts": 6})
        never = arc_figures.transients(arc_figures.Series(rows_of([[1000] * 40]), 1), cbr, 1000, 0.5, 40)
        self.assertIsNone(never["fall_rtts"])

    def test_fairness(self):
        """Two flows from 10 s on: one has 8 bit/s for 100 s and then both, the other 24."""
        rates = [[0] * 10 + [8] * 191, [0] * 10 + [24] * 100 + [8] * 91]
        figures = arc_figures.fairness(arc_figures.Series(rows_of(rates), 2), 10)
        self.assertAlmostEqual(figures["J10"], 0.8)
        self.assertAlmostEqual(figures["J100"], 0.8)
        self.assertAlmostEqual(figures["Jend"], (190 + 390) ** 2 / (2 * (190 ** 2 + 390 ** 2)))
        self.assertEqual((figures["IJmean"], figures["IJmin"]), (1, 1))


class Scenarios(unittest.TestCase):
    def test_words(self):
        self.assertEqual(arc.crowd("reno", 20), "reno:n=20,rtt=12.5ms..250ms,spread=100ms")
        self.assertEqual(arc.crowd("tfrc:selfclock,damp", 1),
                         "datagram:cc=tfrc:selfclock/damp,n=1,rtt=250ms,start=10s,spread=100ms")

    def test_queues_are_the_papers(self):
        """20 and 208 packets; forty flows from a tenth of that to one and a half."""
        queues = {c.name: c.params.get("queue") for c in arc.cells()}
        self.assertEqual([queues[name] for name in ("5.1.1", "5.1.3", "5.1.4-buffer10", "5.1.4-buffer150")],
                         [20, 208, 20, 312])

    def test_cells_are_for_their_contenders(self):
        e = arc.experiment(False, {})
        jobs = experiment.plan(e, 1)
        self.assertEqual(len(jobs), sum(len(c.contenders) for c in e.cells))
        self.assertEqual({j.contender for j in jobs if j.cell.name == "5.1.4-m70"}, set(arc.MAIN))


class Report(unittest.TestCase):
    def rows(self, figures):
        return [{"cell": cell, "contender": who, "run": 0, "figures": f} for (cell, who), f in figures.items()]

    def test_reference(self):
        for cell, who, key, expected in (("5.1.1-reverse", "reno", "utilisation", "0.5817"),
                                         ("5.1.4-m70", "tfrc:selfclock,damp", "mbps", "9.872"),
                                         ("5.1.6-m30", "tfrc:selfclock,damp", "reno_mbps", "2.885"),
                                         ("5.2.3-n5", "tfrc:selfclock,damp", "c1_mbps", "0.00078"),
                                         ("5.2.2-n5", "reno", "c1_mbps", "0.06055"),
                                         ("5.1.4-m70", "arc", "mbps", None), ("5.1.4-buffer10", "reno", "mbps", None)):
            with self.subTest(cell=cell, who=who):
                self.assertEqual(arc_report.ns2(cell, who, key), expected)

    def test_goals(self):
        rows = arc_report.Rows(self.rows({
            ("5.1.1", "arc"): {"utilisation": 0.999, "burst_rate": 0.2},
            ("5.1.1-reverse", "arc"): {"utilisation": 0.9},
            ("5.1.1", "arc:report=packet"): {"utilisation": 0.992, "burst_rate": 0.1},
            ("5.1.1-reverse", "arc:report=packet"): {"utilisation": 0.98},
            ("5.1.1", "tfrc"): {"burst_rate": 0.16}, ("5.1.1", "reno"): {"burst_rate": 0.4},
            ("5.2.4-loss1", "arc"): {"c1_mbps": 0.06}, ("5.2.4-loss1", "reno"): {"c1_mbps": 0.012},
            ("5.2.4-loss1", "tfrc"): {"c1_mbps": 0.05}}))
        self.assertEqual(
            [[row[0], row[1], row[2], row[4]] for row in arc_report.goals_of(rows)],
            [["utilisation", "5.1.1", "arc:report=packet", "met: 0.992"],
             ["utilisation", "5.1.1-reverse", "arc:report=packet", "met: 0.98"],
             ["burstiness over Reno's", "5.1.1", "arc", "met: 0.5 (reno)"],
             ["burstiness over the smoothest TFRC's", "5.1.1", "arc", "missed: 1.25 (tfrc)"],
             ["burstiness over Reno's", "5.1.1", "arc:report=packet", "met: 0.25 (reno)"],
             ["burstiness over the smoothest TFRC's", "5.1.1", "arc:report=packet", "met: 0.625 (tfrc)"],
             ["goodput on the lossy last hop over Reno's", "5.2.4-loss1", "arc", "met: 5 (reno)"],
             ["goodput on the lossy last hop over the best TFRC's", "5.2.4-loss1", "arc", "missed: 1.2 (tfrc)"]])

    def test_a_report_of_little_is_a_report(self):
        with tempfile.TemporaryDirectory() as where:
            page = report.Report(where, "A", "lab.py arc")
            arc_report.write([], page)
            arc_report.write(self.rows({("5.1.1", "reno"): {"utilisation": 0.98, "mbps": 0.98, "loss": 0.001}}), page)
            with open(page.write(), encoding="utf-8") as f:
                self.assertIn("0.980", f.read())

    def test_quick_bounds(self):
        good = {"utilisation": 0.99, "J10": 0.9, "Jend": 0.99, "reno_mbps": 3, "c1_mbps": 0.06}
        at = {(cell, c): dict(good) for cell in arc.QUICK_CELLS for c in arc.MAIN}
        at["5.1.1-reverse", "reno"]["utilisation"] = 0.6
        at["5.2.4-loss1", "reno"]["c1_mbps"] = 0.01
        self.assertEqual(arc.check_quick(self.rows(at)), [])
        at["5.2.4-loss1", "arc"]["c1_mbps"] = 0.011
        self.assertEqual(len(arc.check_quick(self.rows(at))), 1)
        self.assertEqual(len(arc.check_quick([])), len(arc.QUICK_CELLS) * len(arc.MAIN))


if __name__ == "__main__":
    unittest.main()
