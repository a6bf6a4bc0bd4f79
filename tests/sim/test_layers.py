#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers of pictures in whole sessions of weir-sim: Fiksdal 2003, section 5.1 (figures 18 to 21), as far as a seed can show
it (`lab tfrc` has all), and what the scheduler's modes do with layers that wait."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))

from lab.experiments import tfrc  # noqa: E402

BUILD = os.environ.get("WEIR_BUILD", os.path.join(HERE, "..", "..", "build"))
SECONDS = 30


class Thesis(unittest.TestCase):
    """10 Renos and a stream of 8 layers of 1024 bytes on 30 Mbit/s, 60 ms, DRD of 5 to 25 packets."""

    def run_one(self, media, via):
        with tempfile.TemporaryDirectory() as directory:
            cell = {"mbit": 30, "media": media, "queue": "drd", "tcp": "reno"}
            return tfrc.session(directory, BUILD, 1, cell, via, SECONDS)

    def test_goodput(self):
        """TFRC's goodput is nearly its throughput. About half of what UDP brings is useless where it does not fit, and it
        takes from the TCPs what TFRC leaves them."""
        own, udp = self.run_one(36, "tfrc"), self.run_one(36, "udp")
        print(f"36 of 30 Mbit/s: tfrc {own}\n                 udp  {udp}")
        self.assertGreaterEqual(own["useful"], 0.95)
        self.assertLessEqual(udp["useful"], 0.6)
        self.assertGreaterEqual(udp["throughput_mbps"], 4 * own["throughput_mbps"])
        self.assertGreaterEqual(own["tcp_mbps"], 2 * udp["tcp_mbps"])

    def test_share(self):
        """Figure 21: the TCPs get 0.77 beside UDP of what they get beside TFRC."""
        own, udp = self.run_one(8, "tfrc"), self.run_one(8, "udp")
        print(f"8 of 30 Mbit/s: tfrc {own}\n                udp  {udp}")
        self.assertGreaterEqual(own["useful"], 0.95)
        self.assertGreaterEqual(udp["goodput_mbps"], own["goodput_mbps"])
        self.assertAlmostEqual(udp["tcp_mbps"] / own["tcp_mbps"], 19755064 / 25492792, delta=0.12)


class Scheduler(unittest.TestCase):
    """8 layers, 1.64 Mbit/s in all, over a TCP with 1 Mbit/s."""

    def run_one(self, queue, more=""):
        with tempfile.TemporaryDirectory() as directory:
            prefix = os.path.join(directory, "s")
            subprocess.run([os.path.join(BUILD, "weir-sim"), "--seed", "1", "--seconds", "60", "--till-ended", "--streams", prefix,
                            "--link", "rate=1mbit,queue=droptail:100ms,delay=10ms",
                            "stream:via=minbuf:1/3,media=layers:8/1024,level=7,fragment=1200B,latency=600ms,"
                            f"length=30s,queue={queue}{more}"],
                           check=True, capture_output=True, timeout=120)
            with open(prefix + "-0.json", encoding="utf-8") as f:
                return json.load(f)

    def test_priority(self):
        r = self.run_one("priority")
        print("priority:", r["layers"], r["causes"])
        self.assertEqual(r["causes"]["shown"], r["causes"]["expected"])
        self.assertGreaterEqual(r["causes"]["shown"], 745)  # of 750
        self.assertGreaterEqual(r["layers"]["goodput_bps"], 0.99 * r["layers"]["throughput_bps"])
        self.assertGreaterEqual(r["layers"]["goodput_bps"], 850e3)
        self.assertGreaterEqual(r["layers"]["mean"], 4.2)

    def test_deadline(self):
        """It drops what is late, base layers too: fewer pictures are shown, and their layers change more often."""
        r, best = self.run_one("deadline"), self.run_one("priority")
        print("deadline:", r["layers"], r["causes"])
        self.assertLess(r["causes"]["shown"], 0.97 * best["causes"]["shown"])
        self.assertGreaterEqual(r["layers"]["changes"], 2 * best["layers"]["changes"])
        self.assertGreaterEqual(r["layers"]["goodput_bps"], 0.99 * r["layers"]["throughput_bps"])

    def test_fifo(self):
        """Nothing is dropped, so all of it comes, later and later."""
        r = self.run_one("fifo")
        print("fifo:", r["layers"], r["causes"], r["rebuffering"]["total"])
        self.assertEqual(r["playback"]["frames_received"], 750)
        self.assertEqual(r["playback"]["frames_skipped_by_sender"] or 0, 0)
        self.assertGreaterEqual(r["playback"]["wall"], 40)

    def test_limit(self):
        """A full queue keeps the base layers."""
        r = self.run_one("priority", ",limit=20KB")
        print("limit:", r["layers"], r["causes"])
        self.assertGreaterEqual(r["causes"]["shown"], 745)
        self.assertGreaterEqual(r["layers"]["goodput_bps"], 0.99 * r["layers"]["throughput_bps"])


if __name__ == "__main__":
    unittest.main()
