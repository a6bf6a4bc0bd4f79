# SPDX-License-Identifier: GPL-2.0-or-later
import unittest

import numpy as np

from lab import experiment
from lab.crossings import STEP_S
from lab.experiments import live, live_report

GOOD = {"gaps": 0, "p50_ms": 60, "p95_ms": 100, "p99_ms": 200, "half_rate": 0.99, "ssim": 0.99, "use_low": 0.9,
        "use_high": 0.85, "shown": 0.998, "of_level": 1.0, "overhead": 0.02, "share": 1.0, "frozen": 0.0,
        "av_offset_ms": 20, "underruns": 0}


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
        self.assertEqual([name for name, c in by.items() if c.sound], ["calm"])


class Goals(unittest.TestCase):
    def test_every_run_counts(self):
        ((caption, headers, lines),) = live_report.goals_of(rows(("step", "mtp", {}), ("step", "mtp", {"gaps": 1, "ssim": 0.98})))
        self.assertEqual(caption, "step, the default latency")
        self.assertEqual(headers[:4], ["contender", "runs", "gaps <= 0", "50 %, ms <= 70"])
        self.assertEqual(lines, [["mtp", 2, "missed: 1.0", "met: 60", "met: 100", "met: 200", "met: 99.0", "missed: 0.9800", "met: 0.90",
                                  "met: 0.85"]])

    def test_table(self):
        """The bounds that a run misses, with the figure."""
        for cell, contender, changes, expected in (
                ("step", "mtp latency=300", {"p95_ms": 305, "p50_ms": 300}, []),
                ("step", "mtp latency=300", {"p95_ms": 311}, ["95 % <= 310: 311"]),
                ("step", "udp", {}, None), ("step", "mtp low-latency", {}, None),
                ("loss-1%", "udp", {"overhead": 0.023}, []),
                ("loss-1%", "udp", {"overhead": None}, ["repair, % <= 2.3: not measured"]),
                ("loss-5%", "scream", {"gaps": 2, "overhead": 0.12, "shown": 0.99}, []),
                ("loss-5%", "scream", {"gaps": 3}, ["gaps <= 2: 3.0"]),
                ("loss-5%", "tfrc", {"shown": 0.4}, []),
                ("loss-5%", "tfrc", {"of_level": 0.99}, ["of its level, % >= 99.95: 99.0"]),
                ("loss-1%", "minbuf:1,3", {"shown": 0.96}, ["shown, % >= 97: 96.0"]),
                ("loss-5%", "minbuf:1,3", {}, None),
                ("calm", "arc", {"p95_ms": 70}, []), ("calm", "psp", {"p50_ms": 61, "p95_ms": 70}, ["50 %, ms <= 60: 61"]),
                ("calm", "mtp-raw", {"p95_ms": 70, "av_offset_ms": 41}, ["audio offset, ms <= 40: 41"]),
                ("reno", "scream", {"share": 1.6}, ["media / TCP <= 1.5: 1.60"]),
                ("cubic", "scream", {"share": 0.5, "frozen": 0.01}, ["media / TCP >= 0.6: 0.50", "frozen, % <= 0.5: 1.00"])):
            tables = live_report.goals_of(rows((cell, contender, changes)))
            missed = [f"{head}: {text.removeprefix('missed: ')}" for _, heads, lines in tables for line in lines
                      for head, text in zip(heads[2:], line[2:]) if not text.startswith("met: ")]
            self.assertEqual(missed if tables else None, expected, (cell, contender, changes))

    def test_every_goal_has_its_runs(self):
        jobs = {(j.cell.name, j.contender) for j in experiment.plan(live.experiment(False, {}), 1)}
        for cells, transports, latency, bounds in live_report.GOALS:
            for cell in cells:
                for transport in transports:
                    self.assertIn((cell, f"{transport} {latency}".strip()), jobs)
            for key, _, _ in bounds:
                self.assertIn(key, live_report.LABELS)


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
