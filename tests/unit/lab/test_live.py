# SPDX-License-Identifier: GPL-2.0-or-later
import unittest

import numpy as np

from lab import experiment
from lab.crossings import STEP_S
from lab.experiments import live, live_report

GOOD = {"gaps": 0, "p50_ms": 60, "p95_ms": 100, "p99_ms": 200, "half_rate": 0.99, "ssim": 0.99, "use_low": 0.9,
        "use_high": 0.85, "shown": 0.998, "of_level": 1.0, "overhead": 0.02, "share": 1.0, "frozen": 0.0}


def rows(*runs):
    """RUNS: (cell, contender, changes to GOOD)."""
    return live_report.Rows([{"cell": cell, "contender": contender, "run": run, "figures": GOOD | changes}
                             for run, (cell, contender, changes) in enumerate(runs)])


class Step(unittest.TestCase):
    def test_link(self):
        self.assertEqual(live.step_text(), "rate=4mbit:1mbit@14500ms:4mbit@26500ms")

    def test_use(self):
        """The link starts 2.5 s before the media; 5 to 7 s after a step count."""
        rate = np.zeros(round(40 / STEP_S))
        rate[195:215] = 0.9  # 19.5 to 21.5 s
        rate[315:335] = 1.92
        self.assertAlmostEqual(live.use_after(rate, 12, 1), 0.9)
        self.assertAlmostEqual(live.use_after(rate, 24, 4), 1)  # of the ladder's top, as the link has more

    def test_conditions(self):
        by = {c.name: live.conditions_of(c, "test:1280x720@30") for c in live.cells()}
        self.assertEqual(by["loss-5%"].forward, "rate=4mbit,queue=droptail:50000B,loss=5%,delay=50ms")
        self.assertEqual(by["cubic"].forward, "rate=10mbit,queue=droptail:62500B,delay=25ms")
        self.assertEqual(by["cubic"].traffic, ("elephants:n=1,cc=cubic",))
        self.assertTrue(by["step"].capture and by["reno"].capture)
        self.assertFalse(by["calm"].traffic or by["calm"].capture)


class Goals(unittest.TestCase):
    def test_every_run_counts(self):
        self.assertEqual(live_report.goals_of(rows(("step", "mtp", {}))), [["step", "mtp", "met"]])
        self.assertEqual(live_report.goals_of(rows(("step", "mtp", {}), ("step", "mtp", {"gaps": 1, "ssim": 0.98}))),
                         [["step", "mtp", "missed: gaps 1 (<= 0), SSIM 0.98 (>= 0.985)"]])

    def test_table(self):
        for cell, contender, changes, expected in (
                ("step", "mtp latency=300", {"p95_ms": 305, "p50_ms": 300}, ["met"]),
                ("step", "mtp latency=300", {"p95_ms": 311}, ["missed: 95 % 311 (<= 310)"]),
                ("step", "udp", {}, []), ("step", "mtp low-latency", {}, []),
                ("loss-1%", "udp", {"overhead": 0.023}, ["met"]),
                ("loss-1%", "udp", {"overhead": None}, ["missed: repair not measured (<= 0.023)"]),
                ("loss-5%", "scream", {"gaps": 2, "overhead": 0.12, "shown": 0.99}, ["met"]),
                ("loss-5%", "scream", {"gaps": 3}, ["missed: gaps 3 (<= 2)"]),
                ("loss-5%", "tfrc", {"shown": 0.4}, ["met"]),
                ("loss-5%", "tfrc", {"of_level": 0.99}, ["missed: of its level 0.99 (>= 0.9995)"]),
                ("loss-1%", "minbuf:1,3", {"shown": 0.96}, ["missed: shown 0.96 (>= 0.97)"]),
                ("loss-5%", "minbuf:1,3", {}, []),
                ("calm", "arc", {"p95_ms": 70}, ["met"]), ("calm", "arc", {"p50_ms": 61, "p95_ms": 70}, ["missed: 50 % 61 (<= 60)"]),
                ("reno", "scream", {"share": 1.6}, ["missed: media / TCP 1.6 (<= 1.5)"]),
                ("cubic", "scream", {"share": 0.5, "frozen": 0.01}, ["missed: media / TCP 0.5 (>= 0.6), frozen 0.01 (<= 0.005)"])):
            got = [line[2] for line in live_report.goals_of(rows((cell, contender, changes)))]
            self.assertEqual(got, expected, (cell, contender, changes))

    def test_every_goal_has_its_runs(self):
        jobs = {(j.cell.name, j.contender) for j in experiment.plan(live.experiment(False, {}), 1)}
        for cells, transports, latency, bounds in live_report.GOALS:
            for cell in cells:
                for transport in transports:
                    self.assertIn((cell, f"{transport} {latency}".strip()), jobs)
            for key, _, _ in bounds:
                self.assertIn(key, live_report.NAMES)


class Check(unittest.TestCase):
    def test_impossible_figures_are_named(self):
        for cell, change, count in (
                ("step", {}, 0), ("step", {"use_low": 1.2}, 1), ("step", {"p50_ms": 20}, 1), ("step", {"shown": 1.1}, 1),
                ("reno", {"tcp_mbps": 5, "media_mbps": 4.9}, 0), ("reno", {"tcp_mbps": 8, "media_mbps": 4}, 1),
                ("cubic", {"tcp_mbps": 0, "media_mbps": 4}, 1)):
            got = live.check_quick([{"cell": cell, "contender": "mtp", "figures": GOOD | {"half_rate": 1} | change}])
            self.assertEqual(len(got), count, (cell, change))


if __name__ == "__main__":
    unittest.main()
