# SPDX-License-Identifier: GPL-2.0-or-later
import os
import tempfile
import unittest

from lab import stats
from lab.experiment import Cell
from lab.experiments import goddard, goddard_report
from lab.report import Report


def figures(**changes):
    return {"ended": True, "initial_buffering": 5.0, "duration": 300.0, "rebufferings": 1.0, "rebuffered": 2.0, "frame_rate": 19.0,
            "frames_lost": 0.01, "jitter_mean": 50.0, "jitter_sd": 6.0, "jitter_134": 0.95, "jitter_zero": 0.0,
            "jitter_counts": stats.LogHistogram.counts([50] * 100), "loss": 0.005, "levels": [[0.3, 4], [40, 3]],
            "level_shares": [0, 0, 0, 0.85, 0.15, 0, 0], "level_mean": 3.15, "level_end": 3, "capacity_mbps": 0.75, "kbps": 400.0,
            "ftp_kbps": 500.0, "ratio": 0.8, "friendly_after": None, "web_mbps": 2.5, "fair_kbps": 270.0, **changes}


def row(cell="A", contender="tcp", run=0, **changes):
    return {"cell": cell, "contender": contender, "run": run, "figures": figures(**changes)}


class Words(unittest.TestCase):
    def test_parts(self):
        a = goddard.words_of(Cell("A", {"part": "A", "in_part": 0}), "minbuf:1,3")
        self.assertIn("stream:via=minbuf:1/3", a[-1])
        self.assertIn("pair=0", a[-1])
        self.assertEqual(sum("local=750kbit,localq=20p" in w for w in a), 2)  # the stream's and the six transfers'
        self.assertIn("reno:n=6", a[-2])
        b = goddard.words_of(Cell("B", {"part": "B", "in_part": 1}), "udp")
        self.assertFalse(any("local=" in w for w in b))
        self.assertTrue(any(w.startswith("reno:n=24") for w in b))
        self.assertIn("parts=1", b[-1])
        self.assertNotIn("pair=", b[-1])
        # Groups by their places among the words that name one.
        groups = [w for w in b if ":" in w and not w.startswith("rate=")]
        self.assertTrue(groups[goddard.WEBS].startswith("web:"))
        self.assertTrue(groups[goddard.FTPS].startswith("reno:n=1,"))

    def test_window(self):
        cell = next(c for c in goddard.experiment(False, {}).cells if c.name == "B-window-20")
        self.assertEqual(sum("window=20p" in w for w in goddard.words_of(cell, "tcp")), 5)
        self.assertFalse(any("window" in w for w in goddard.words_of(Cell("B", {"part": "B", "in_part": 0}), "tcp")))


class Figures(unittest.TestCase):
    def test_levels(self):
        events = [{"time": "100.5", "event": "level", "value": "6"}, {"time": "101", "event": "frame", "value": "33"},
                  {"time": "142", "event": "level", "value": "2"}]
        levels = goddard.asked_levels(events)
        self.assertEqual(levels, [(0.5, 6), (42.0, 2)])
        shares = goddard.shares_of(levels)
        self.assertAlmostEqual(shares[6], 41.5 / 299.5)
        self.assertAlmostEqual(shares[2], 258 / 299.5)
        self.assertEqual(goddard.shares_of([(0, 1), (400, 2)]), [0, 1, 0, 0, 0, 0, 0])  # what is asked for later does not count
        self.assertEqual(goddard.friendly_after(levels, 240), 42.0)
        self.assertIsNone(goddard.friendly_after(levels, 239))

    def test_first_stall(self):
        events = [{"time": "109", "event": "second", "number": "1000000"}, {"time": "110", "event": "second", "number": "2000000"},
                  {"time": "110.5", "event": "stall", "number": "0"}, {"time": "111", "event": "second", "number": "9000000"}]
        at, backlog = goddard.first_stall(events, 4, 5)  # 640 kbit/s: 5 s at 1.5 times that, 5.5 s at once
        self.assertEqual(at, 10.5)
        self.assertAlmostEqual(backlog, 0.08 * (7.5 + 5.5) - 2)
        self.assertEqual(goddard.first_stall(events[:2], 4, 5), (None, None))

    def test_arrived(self):
        rows = [{"time": str(t), "flow": "3", "arrived_bytes": str(1000 * t)} for t in range(0, 500, 5)]
        self.assertAlmostEqual(goddard.arrived(rows, 3), 8)
        self.assertAlmostEqual(goddard.arrived([r for r in rows if float(r["time"]) <= 380], 3), 8)  # it ended earlier


class Check(unittest.TestCase):
    def test_check(self):
        self.assertEqual(goddard.check([row(), row("B", "mtp"), row("A-in-part", "udp", level_shares=[0, 0, 0, 0, 1, 0, 0])]), [])
        wrong = goddard.check([row(ended=False), row("B", "mtp", ratio=2.5),
                               row("A-in-part", "udp", level_shares=[0, 0, 0, 0.1, 0.9, 0, 0])])
        self.assertEqual(len(wrong), 3)


class Page(unittest.TestCase):
    def test_verdict(self):
        e = stats.mean([6.5, 7.5])
        self.assertTrue(goddard_report.verdict(e, 6, 9, 1).startswith("met: 7.0"))
        self.assertIn("by +2.0", goddard_report.verdict(e, 3, 5, 1))
        self.assertIn("by -1.0", goddard_report.verdict(e, 8, 9, 1))
        self.assertEqual(goddard_report.verdict(None, 6, 9, 1), "missed: never")

    def test_published(self):
        rows = goddard_report.Rows([{**r, "figures": goddard_report.derived(r["figures"])} for r in (row(), row("A-in-part"))])
        table = {(r[0], r[1], r[2]): r[-3:] for r in goddard_report.published(rows)}
        self.assertEqual(table["A", "TCP", "share of the time at level 3"], ["met: 0.85", "met: 0.85", "not run"])
        self.assertEqual(table["A", "UDP", "share of the time at level 4"], ["not run"] * 3)

    def test_write(self):
        with tempfile.TemporaryDirectory() as directory:
            page = Report(directory, "t", "c")
            goddard_report.write([row(c, k) for c in ("A", "B-window-64") for k in ("tcp", "udp")], page)
            with open(page.write(), encoding="utf-8") as f:
                text = f.read()
            self.assertIn("Published and ours", text)
            self.assertTrue(os.path.exists(os.path.join(directory, "published.csv")))
            goddard_report.write([], page)


if __name__ == "__main__":
    unittest.main()
