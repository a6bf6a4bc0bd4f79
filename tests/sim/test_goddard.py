#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole sessions in weir-sim: the same words give the same bytes; and what section IV of Chung, Claypool and
Kinicki 2005 prints, as far as a seed can show it (`lab goddard` has all)."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))

from lab.experiment import Context, seed_of  # noqa: E402
from lab.experiments import goddard  # noqa: E402

BUILD = os.environ.get("WEIR_BUILD", os.path.join(HERE, "..", "..", "build"))
VIAS = ["udp", "tcp", "tcp:sndbuf=64KB", "minbuf:1/3", "mtp", "mtp:paper/queue=65536,astcp=1", "tfrc", "arc", "psp"]


def stream(directory, name, via, seed=1):
    """All that a run writes, as bytes, and its report: 300 s of media over a line of 750 kbit/s."""
    prefix = os.path.join(directory, name)
    argv = [os.path.join(BUILD, "weir-sim"), "--seed", str(seed), "--seconds", "900", "--till-ended", "--streams", prefix, "--series",
            prefix + "-series.csv", "--link", "rate=10mbit,queue=droptail:500p", f"stream:via={via},rtt=140ms,local=750kbit"]
    out = subprocess.run(argv, check=True, capture_output=True, timeout=300).stdout
    files = []
    for path in (prefix + "-0.json", prefix + ".csv", prefix + "-series.csv"):
        with open(path, "rb") as f:
            files.append(f.read())
    return out + b"".join(files), json.loads(files[0])


class Sessions(unittest.TestCase):
    def test_same_bytes(self):
        with tempfile.TemporaryDirectory() as directory:
            for via in VIAS:
                with self.subTest(via=via):
                    first, report = stream(directory, "a", via)
                    self.assertEqual(first, stream(directory, "b", via)[0])
                    self.assertEqual(report["schema"], "weir.qoe/1")
                    self.assertEqual(report["ended"], "end-of-media")
                    played = report["playback"]
                    causes = report["causes"]
                    self.assertEqual(causes["expected"] - causes["shown"], sum(causes["by_cause"].values()))
                    self.assertAlmostEqual(played["wall"], 300, delta=5)


class Step(unittest.TestCase):
    """Media over a line of 750 kbit/s that carries 300 from 30 to 90 s, over TCPs whose send buffer has an end."""

    def run_one(self, via):
        with tempfile.TemporaryDirectory() as directory:
            prefix = os.path.join(directory, "step")
            subprocess.run([os.path.join(BUILD, "weir-sim"), "--seed", "1", "--seconds", "900", "--till-ended", "--streams", prefix,
                            "--link", "rate=750kbit:300kbit@30s:750kbit@90s,queue=droptail:40p",
                            f"stream:via={via},rtt=140ms,tcp=reno,pair=0"], check=True, capture_output=True, timeout=300)
            with open(prefix + ".csv", encoding="ascii", newline="") as f:
                levels = [(float(e["time"]), int(float(e["value"])), e["text"]) for e in csv.DictReader(f) if e["event"] == "level"]
            with open(prefix + "-0.json", encoding="utf-8") as f:
                return levels, json.load(f)

    def test_down_and_up_again(self):
        """The policy hears of the frames that the sender dropped: it goes down before playing stops, and up again."""
        for via in "tcp:sndbuf=64KB", "tcp:sndbuf=200KB", "minbuf:1/3":
            with self.subTest(via=via):
                levels, report = self.run_one(via)
                self.assertEqual(report["ended"], "end-of-media")
                self.assertEqual(report["rebuffering"]["count"], 0)
                lowest = min(level for at, level, _ in levels if at < 90)
                self.assertLessEqual(lowest, 2)  # 240 kbit/s
                self.assertTrue(all(why == "loss" for at, _, why in levels if 2 < at < 40), levels)
                self.assertGreaterEqual(max(level for at, level, why in levels if at > 90 and why == "upscale"), 3)
                self.assertLess(report["playback"]["frames_lost"], 200)


class Paper(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.experiment = goddard.experiment(True, {})

    def run_one(self, name, contender, run=0):
        cell = next(c for c in self.experiment.cells if c.name == name)
        with tempfile.TemporaryDirectory() as directory:
            os.mkdir(os.path.join(directory, "series"))
            return goddard.one(Context(self.experiment, cell, contender, run, seed_of(name, run), BUILD,
                                       os.path.join(directory, "log"), directory, "w"))

    def test_limited_local_bandwidth(self):
        udp = self.run_one("A-in-part", "udp")
        self.assertGreater(udp["level_shares"][4], 0.99)  # Figure 11
        self.assertAlmostEqual(udp["jitter_mean"], 50, delta=2)
        self.assertEqual(udp["rebufferings"], 0)
        tcp = self.run_one("A", "tcp")
        self.assertGreater(tcp["rebufferings"], 0)  # Figure 14
        self.assertEqual(tcp["level_end"], 3)
        mtp = self.run_one("A-in-part", goddard.PAPER_MTP)
        self.assertEqual(mtp["rebufferings"], 0)
        self.assertAlmostEqual(mtp["duration"], 300, delta=5)

    def test_congested_backbone(self):
        udp = self.run_one("B-in-part", "udp")
        self.assertGreater(udp["ratio"], 4)  # Figure 21
        self.assertGreater(udp["level_shares"][6], 0.99)
        mtp = self.run_one("B", goddard.PAPER_MTP)
        self.assertLess(mtp["ratio"], 1.5)
        self.assertLess(mtp["friendly_after"], 60)
        tcp = self.run_one("B", "tcp")
        self.assertGreater(tcp["jitter_sd"], 2 * mtp["jitter_sd"])  # Figure 16
        self.assertGreater(tcp["duration"], 310)


if __name__ == "__main__":
    unittest.main(verbosity=2)
