#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""SCReAMv2 (common/congestion/scream.h) in the scenarios of scream/*.sim; means over seeds."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))

from lab.simulate import simulate  # noqa: E402

BUILD = os.environ.get("WEIR_BUILD", os.path.join(HERE, "..", "..", "build"))
SEEDS = range(1, 7)


def runs(name):
    path = os.path.join(HERE, "scream", f"{name}.sim")
    with open(path, encoding="ascii") as f:
        words = f.read()
    seconds = words.split("--seconds")[1].split()[0]
    return [simulate(BUILD, seed, seconds, "--scenario", path) for seed in SEEDS]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def rightward(run):
    return next(hop for hop in run.all("link") if hop["to"] == "right")


class Scream(unittest.TestCase):
    def test_next_to_reno(self):
        done = runs("next-to-reno")
        ours, theirs = (mean(r.all("flow")[i]["goodput_bps"] for r in done) for i in (0, 1))
        self.assertGreater(ours / theirs, 0.6)
        self.assertLess(ours / theirs, 1.5)
        self.assertGreater(ours + theirs, 9.5e6)

    def test_flows_of_its_own(self):
        done = runs("own")
        self.assertGreater(mean(r.all("group")[0]["jain"] for r in done), 0.9)
        self.assertGreater(mean(r.all("group")[0]["goodput_bps"] for r in done), 9.3e6)
        self.assertLess(mean(rightward(r)["queue_delay_p50_ms"] for r in done), 45)

    def test_random_loss(self):
        done = runs("loss")
        self.assertGreater(mean(r.all("flow")[0]["goodput_bps"] for r in done), 0.9 * 0.95 * 4e6)
        self.assertLess(max(rightward(r)["queue_delay_p99_ms"] for r in done), 60)

    def test_l4s(self):
        done = runs("l4s")
        self.assertGreater(mean(r.all("flow")[0]["goodput_bps"] for r in done), 0.85 * 10e6)
        self.assertLess(max(rightward(r)["queue_delay_p99_ms"] for r in done), 5)
        self.assertEqual(sum(r.all("flow")[0]["dropped"] for r in done), 0)
        self.assertGreater(min(rightward(r)["marked"] for r in done), 0)


if __name__ == "__main__":
    unittest.main()
