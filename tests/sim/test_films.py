#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A film under the policy `auto` over each transport: after a dip, and after a slow start, the level climbs in seconds."""
import csv
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))

from lab.simulate import simulate  # noqa: E402

BUILD = os.environ.get("WEIR_BUILD", os.path.join(HERE, "..", "..", "build"))
LINK = "queue=droptail:100KB,delay=25ms"
BACK = "delay=25ms"
TOP = 6


class Film:
    """The events of one viewing."""

    def __init__(self, link, stream, seconds, back=BACK):
        with tempfile.TemporaryDirectory() as folder:
            prefix = os.path.join(folder, "film")
            simulate(BUILD, 1, seconds, "--link", link, "--back", back, "--streams", prefix, f"stream:length=600s,{stream}")
            with open(prefix + ".csv", encoding="ascii", newline="") as f:
                self.rows = [r for r in csv.DictReader(f) if r["flow"] == "0"]

    def times(self, event):
        return [float(r["time"]) for r in self.rows if r["event"] == event]

    def level_at(self, time):
        return [int(r["value"]) for r in self.rows if r["event"] == "level" and float(r["time"]) <= time][-1]

    def climbs(self, level, since):
        """Returns the seconds until a level as high is requested for good, or at least 10 s."""
        low = [since] if self.level_at(since) < level else []
        for row in self.rows:
            time = float(row["time"])
            if row["event"] != "level" or time < since:
                continue
            if low and time - low[-1] > 10 and self.level_at(time - 1e-3) >= level:
                break
            if int(row["value"]) < level:
                low.append(time)
        after = [float(r["time"]) for r in self.rows
                 if r["event"] == "level" and int(r["value"]) >= level and low and float(r["time"]) > low[-1]]
        return 0 if not low else after[0] - since if after else float("inf")


class Films(unittest.TestCase):
    def climbs(self, via, link, buffer, since, within):
        with self.subTest(via=via, link=link, buffer=buffer):
            film = Film(f"{link},{LINK}", f"via={via},film={buffer},repair=auto", since + 60)
            self.assertLess(film.level_at(since), 4)
            self.assertLess(film.climbs(4, since), within)
            stalls = [t for t in film.times("stall") if t > since + within]
            self.assertEqual(stalls, [])

    def test_after_a_dip(self):
        for via in ("minbuf:1/3", "mtp", "scream"):
            for buffer in ("12s", "30s"):
                self.climbs(via, "rate=4mbit:150kbit@4s:4mbit@24s", buffer, 24, 5)

    def test_a_slow_path_becomes_fast(self):
        for via in ("minbuf:1/3", "mtp", "scream"):
            self.climbs(via, "rate=250kbit:4mbit@90s", "30s", 90, 10)

    def test_tfrc(self):
        """Its round-trip time is a slow mean (RFC 5348, 4.3), so after a queue of seconds it is slow for ten more."""
        self.climbs("tfrc", "rate=4mbit:150kbit@4s:4mbit@24s", "30s", 24, 25)
        self.climbs("tfrc", "rate=250kbit:4mbit@90s", "30s", 90, 25)

    def test_below_the_lowest_level(self):
        """Stalls take what the path lacks, and are few."""
        for via in ("minbuf:1/3", "mtp", "scream", "tfrc"):
            with self.subTest(via=via):
                film = Film("rate=60kbit,queue=droptail:20KB,delay=25ms", f"via={via},film=30s,repair=auto", 300)
                self.assertEqual(max(int(r["value"]) for r in film.rows if r["event"] == "level"), 0)
                self.assertGreater(len(film.times("stall")), 2)
                self.assertLess(len(film.times("stall")), 12)

    def test_loss_at_a_long_round_trip(self):
        """SCReAM does not take random loss for congestion: the film stays at the top, without a stall."""
        film = Film("rate=4mbit,queue=droptail:200KB,delay=150ms,loss=2%", "via=scream,film=30s,repair=auto", 120, "delay=150ms")
        self.assertEqual(film.times("stall"), [])
        self.assertEqual(film.level_at(110), TOP)


if __name__ == "__main__":
    unittest.main()
