# SPDX-License-Identifier: GPL-2.0-or-later
import json
import os
import tempfile
import unittest

from lab.experiment import Context
from lab.experiments import arc_real, papers_real, psp_real
from lab.report import Report
from lab.rows import Rows


class Plan(unittest.TestCase):
    def test_rtts(self):
        """The paper's range in five middles; few flows have their own."""
        self.assertEqual(papers_real.rtts_of(1, 250), {250: 1})
        self.assertEqual(papers_real.rtts_of(2, 250), {125: 1, 250: 1})
        self.assertEqual(papers_real.rtts_of(10, 250), {47.5: 2, 92.5: 2, 137.5: 2, 182.5: 2, 227.5: 2})
        self.assertEqual(sum(papers_real.rtts_of(37, 250).values()), 37)

    def test_cbr(self):
        """Silent, on, silent, on, silent, as in the paper."""
        self.assertEqual(papers_real.cbr_periods(40, 40, 200), [(40, 80), (120, 160)])
        rates = {t: 0.3 if 40 < t <= 80 or 120 < t <= 160 else 1.0 for t in range(1, 200)}
        found = papers_real.phases(rates, {"cbr": 0.7, "period": 40}, 200)
        self.assertAlmostEqual(found["on_mbps"], 0.3)
        self.assertAlmostEqual(found["off_mbps"], 1.0)
        self.assertEqual(papers_real.phases(rates, {"cbr": 0}, 200), {})

    def test_plan(self):
        p = {"m": 1, "n": 1, "rtt": 250, "reverse": True}
        self.assertEqual(papers_real.dumbbell_plan(p, "arc"), ({250: 1}, {250: 1}, papers_real.rtts_of(10, 250)))
        self.assertEqual(papers_real.dumbbell_plan({**p, "reverse": False}, "reno"), ({}, {250: 2}, {}))

    def test_words(self):
        self.assertEqual(papers_real.words_of("datagram:cc=arc", {250: 1}, "start=5s"),
                         ["datagram:cc=arc,n=1,rtt=250ms,spread=0.1s,start=5s"])
        self.assertEqual(papers_real.words_of("reno:", {20: 2}, spread=2.5), ["reno:n=2,rtt=20ms,spread=2.5s"])
        self.assertEqual(papers_real.kind_of("tfrc:selfclock,damp"), "datagram:cc=tfrc:selfclock/damp")

    def test_wire(self):
        report = {"network": {"bytes_received": 1472 * 100, "packets_received": 100}, "session": {"duration": 2.0}}
        self.assertAlmostEqual(papers_real.wire_mbps(report), 1500 * 100 * 8e-6 / 2)

    def test_spread(self):
        """From the first flow's SETUP to the last one's."""
        def report(at, connect):
            return {"session": {"started_at": at}, "startup": {"connect": connect}}
        reports = [report("2026-11-24T14:28:02.500Z", 0.25), report("2026-11-24T14:28:03.000Z", 1.5), report("2026-11-24T14:28:02.250Z", 1)]
        self.assertAlmostEqual(papers_real.spread_of(reports), 1.75)
        self.assertEqual(papers_real.spread_of(reports[:1]), 0)

    def test_twin(self):
        """Five seeds of a run; a figure that a seed lacks counts in none."""
        context = Context(None, None, "arc", 0, 7, "", "", "", "")
        found = papers_real.with_twin(context, {"mbps": 1.0}, lambda c: {"mbps": c.seed / 1000, "loss": None})
        self.assertEqual(found, {"mbps": 1.0, "sim_mbps": 2.007, "sim_mbps_min": 0.007, "sim_mbps_max": 4.007})

    def test_downloads(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "t.jsonl")
            with open(path, "w", encoding="ascii") as f:
                for line in ({"t": 1.0, "specs": [{"bytes": 1448 * 50}]}, {"t": 2.0, "specs": [{"bytes": 1448 * 50}]},
                             {"t": 3.0, "specs": [{"bytes": 1448 * 50}]}, {"event": "end", "specs": []}):
                    f.write(json.dumps(line) + "\n")
            d = papers_real.Downloads(None, 0, 2.0, 1)
            d.clients["reno"] = [(None, path)]
            self.assertAlmostEqual(d.mbps("reno")[0], 1500 * 100 * 8e-6 / 2)
            self.assertEqual(d.mbps("cbr"), [])

    def test_spacing(self):
        """Figure 8's formula at a tenth of its rates: 16 agents fill the link at 11.2 ms."""
        self.assertAlmostEqual(psp_real.wire_bps(11200), 12000 / 0.0124)
        self.assertEqual(psp_real.formula(11200), 0)
        self.assertAlmostEqual(psp_real.formula(5000), 1 - 15.5 * 6200 / 16 / 12000)


class Page(unittest.TestCase):
    def rows(self):
        arc = {"mbps": 0.9, "utilisation": 0.9, "sim_mbps": 0.95, "sim_utilisation": 0.95, "waited": 0.01}
        reno = {"mbps": 0.6, "utilisation": 0.6, "sim_mbps": 0.97, "sim_utilisation": 0.97, "waited": 0.01}
        return [{"cell": "5.1.1-reverse", "contender": c, "run": r, "figures": f}
                for r in (0, 1) for c, f in (("arc:report=packet", arc), ("reno", reno))]

    def test_claims(self):
        found = {row[0]: row[3:] for row in arc_real.claims_of(Rows(self.rows()))}
        self.assertEqual(found, {"and less than Reno": ["met: 1.50 [1.50, 1.50]", "missed: 0.98 [0.98, 0.98]"]})

    def test_pages(self):
        psp = {"received_mbps": 0.9, "loss": 0.1, "jain": 1.0, "link_mbps": 15.0}
        psp = {**psp, **{f"sim_{k}": v for k, v in psp.items()}}
        with tempfile.TemporaryDirectory() as directory:
            page = Report(directory, "t", "t")
            arc_real.write(self.rows(), page)
            psp_real.write([{"cell": "16", "contender": "5000us", "run": 0, "figures": psp}], page)
            self.assertLessEqual({"claims.csv", "twins.csv", "formula.csv"}, set(os.listdir(directory)))

    def test_quick(self):
        good = [{"cell": "5.1.1-reverse", "contender": c, "run": 0, "figures": {"mbps": m}} for c, m in (("arc", 0.9), ("reno", 0.6))]
        self.assertEqual(arc_real.check_quick(good), [])
        bad = [{"cell": "5.1.1-reverse", "contender": c, "run": 0, "figures": {"mbps": m}} for c, m in (("arc", 0.0), ("reno", 0.6))]
        self.assertEqual(len(arc_real.check_quick(bad)), 1)
        for figures, failed in (((1.0, 0.0), 0), ((0.0, 0.0), 1), ((1.0, 1.0), 1)):
            row = {"cell": "16", "contender": "5000us", "run": 0, "figures": dict(zip(("received_mbps", "loss"), figures))}
            self.assertEqual(len(psp_real.check_quick([row])), failed)

    def test_experiments(self):
        for module, at_least in ((arc_real, 20), (psp_real, 4)):
            e = module.experiment(False, {})
            self.assertGreaterEqual(len(e.cells), at_least)
            self.assertEqual(len({c.name for c in e.cells}), len(e.cells))
            self.assertTrue(module.experiment(True, {}).cells)


if __name__ == "__main__":
    unittest.main()
