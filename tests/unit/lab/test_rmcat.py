# SPDX-License-Identifier: GPL-2.0-or-later
import os
import struct
import tempfile
import unittest
from unittest import mock

import numpy as np

from lab import peers, rmcat, rmcat_metrics
from lab.experiments import rmcat as experiment
from lab.experiments import rmcat_report
from lab.rmcat_metrics import Packet, Series
from lab.rows import Rows


class Cases(unittest.TestCase):
    def test_names(self):
        names = [c.name for c in rmcat.CASES if c.default]
        self.assertEqual(names, ["5.1", "5.2", "5.3", "5.4", "5.5", "5.6", "5.7", "5.8", "6.1", "6.2", "6.3", "wifi", "lte"])

    def test_capacity(self):
        """RFC 8867, tables 1 to 4."""
        one, three = rmcat.case("5.1"), rmcat.case("5.3")
        self.assertEqual([one.hops[0].mbit(t) for t in (0, 39, 40, 60, 80, 99)], [1, 1, 2.5, 0.6, 1, 1])
        self.assertEqual([rmcat.case("5.2").hops[0].mbit(t) for t in (0, 25, 50, 75, 100)], [4, 2, 3.5, 1, 2])
        self.assertEqual([three.hops[0].mbit(t) for t in (0, 20, 40, 60)], [2, 1, 0.5, 2])
        self.assertEqual([three.hops[0].mbit(t, True) for t in (0, 35, 70)], [2, 0.8, 2])
        self.assertEqual(one.hops[0].mbit(0, True), float("inf"))
        self.assertEqual(one.queue, "droptail:37500B")

    def test_propagation(self):
        five, multiple = rmcat.case("5.5"), rmcat.case("6.3")
        self.assertEqual([five.hops_ms(m) + m.access_ms for m in five.media], [10, 25, 50, 100, 150])
        self.assertEqual([multiple.hops_ms(m) for m in multiple.media], [100, 40, 40])

    def test_faster(self):
        eight = rmcat.case("5.8").faster(4)
        self.assertEqual((eight.duration, eight.media[1].pause, eight.media[0].end), (30, (10, 15), 29.75))
        self.assertEqual(eight.hops[0].delay_ms, 50)
        self.assertEqual(rmcat.case("5.1").faster(4).hops[0].changes(), [10, 15, 20])

    def test_available(self):
        top = rmcat.TOP_KBPS * 1e-3 * rmcat.OVERHEAD
        self.assertEqual([rmcat.case("5.1").available(t) for t in (0, 50, 70)], [1, top, 0.6])
        four = rmcat.case("5.4")
        self.assertEqual([four.available(t) for t in (0, 20, 40)], [top, 2 * top, 3.5])
        self.assertEqual(rmcat.case("5.8").available(50), 2 * top)
        self.assertEqual(rmcat.case("6.3").available(0, 2), 1.5)

    def test_mean(self):
        one = rmcat.case("5.1")
        self.assertAlmostEqual(one.mean_kbps(one.media[0]), (40 * 1000 + 20 * 1500 + 20 * 600 + 19 * 1000) / 99, delta=5)
        three = rmcat.case("6.3")
        self.assertEqual([round(three.mean_kbps(m)) for m in three.media], [750, 1000, 750])

    def test_steady(self):
        self.assertEqual(rmcat.case("5.4").steady(), ((40 + 119) / 2, 119))
        self.assertEqual(rmcat.case("5.8").steady(), ((60 + 119) / 2, 119))
        self.assertEqual(rmcat.case("5.2").steady()[1] - rmcat.case("5.2").steady()[0], 12.5)

    def test_events(self):
        top = rmcat.TOP_KBPS * 1e-3 * rmcat.OVERHEAD
        self.assertEqual(rmcat.case("5.1").events(), [(0, 1), (40, top), (60, 0.6), (80, 1)])
        self.assertEqual(rmcat.case("5.8").events(), [(0, 3.5), (40, 2 * top), (60, 3.5)])


def steady(mbit, begin, end, wait_ms=0.0, propagation_ms=50, size=1250):
    """Packets at a constant rate."""
    step = size * 8 / (mbit * 1e6)
    return [Packet(t, t + (propagation_ms + wait_ms) / 1e3, size) for t in np.arange(begin, end, step)]


class Metrics(unittest.TestCase):
    def test_series(self):
        s = Series(steady(1, 0, 10, 20), 0, 10, 50)
        self.assertEqual(len(s.mbit), 50)
        self.assertAlmostEqual(s.mean(1, 9), 1, delta=0.02)
        self.assertAlmostEqual(float(np.nanmax(s.wait)), 20, delta=0.01)

    def test_back_after(self):
        mbit = np.concatenate([np.full(25, 0.5), np.full(25, 1.0)])
        self.assertAlmostEqual(rmcat_metrics.back_after(mbit, 2, 1, 10), 3.6)  # 0.6 s into the second from 4.6 to 5.6
        self.assertAlmostEqual(rmcat_metrics.back_after(mbit, 5, 1, 10), 1)
        self.assertEqual(rmcat_metrics.back_after(mbit, 2, 2, 10), 8)

    def test_drained_after(self):
        wait = np.array([10, 200, 150, np.nan, 120, 20, 20, 20])
        self.assertAlmostEqual(rmcat_metrics.drained_after(wait, 0.2, 1.6), 0.8)
        self.assertEqual(rmcat_metrics.drained_after(wait, 1, 1.6), 0)

    def test_one_flow(self):
        case = rmcat.case("5.1").faster(5)
        rates = ((0, 8, 1, 10), (8, 12, 0.78, 0), (12, 16, 0.6, 150), (16, 19.8, 0.5, 0))
        packets = [p for begin, end, mbit, wait in rates for p in steady(mbit, begin, end, wait)]
        lost = [Packet(18 + k / 100, None, 1250) for k in range(10)]
        found, _ = rmcat_metrics.figures(case, [sorted(packets + lost, key=lambda p: p.entered)], [], 0, 2)
        self.assertAlmostEqual(found["start_s"], 1, delta=0.21)
        self.assertAlmostEqual(found["back_s"], 4, delta=0.21)  # never back
        self.assertAlmostEqual(found["drain_s"], 4, delta=0.21)
        self.assertAlmostEqual(found["queue_p95_ms"], 150, delta=0.1)
        self.assertAlmostEqual(found["one_way_p50_ms"], 60, delta=10.1)
        self.assertAlmostEqual(found["loss"], 10 / found["packets"])
        used = (6 * 1 + 4 * 0.78 + 4 * 0.6 + 4 * 0.5) / (6 * 1 + 4 * 1.56 + 4 * 0.6 + 4 * 1)
        self.assertAlmostEqual(found["use"], used, delta=0.02)
        self.assertIsNone(found["jain"])

    def test_fairness(self):
        case = rmcat.case("5.4").faster(4)
        flows = [steady(mbit, m.start, m.end) for mbit, m in zip((2, 1, 0.5), case.media)]
        found, _ = rmcat_metrics.figures(case, flows, [], 0, 1)
        self.assertAlmostEqual(found["jain"], 3.5 ** 2 / 3 / (4 + 1 + 0.25), delta=0.01)

    def test_next_to_tcp(self):
        case = rmcat.case("5.6").faster(4)
        found, _ = rmcat_metrics.figures(case, [steady(0.8, 1.25, 29.7)], steady(1.2, 0, 29.7), 0, 1)
        self.assertAlmostEqual(found["share"], 2 / 3, delta=0.01)
        self.assertAlmostEqual(found["use"], 1, delta=0.02)
        self.assertNotIn("back_s", found)

    def test_resume(self):
        case = rmcat.case("5.8").faster(4)
        late = steady(1.1, 0, 10) + steady(0.3, 15, 18) + steady(1.1, 18, 29.7)
        found, _ = rmcat_metrics.figures(case, [steady(1.1, 0, 29.7), late, steady(1.1, 0, 29.7)], [], 0, 1)
        self.assertAlmostEqual(found["resume_s"], 3.8, delta=0.25)

    def test_capture(self):
        """A packet is the same one behind a router and a queue that marked it."""
        def ip(ttl, ecn, number):
            return bytes([0x45, ecn, 0, 100, 0, number, 0, 0, ttl, 17, ttl, ecn, 10, 1, 0, 1, 10, 2, 0, 2]) + bytes(80)

        def write(path, packets):
            with open(path, "wb") as f:
                f.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 96, 101))
                for time, data in packets:
                    f.write(struct.pack("<IIII", int(time), round(time % 1 * 1e9), len(data), len(data)) + data)
        with tempfile.TemporaryDirectory() as folder:
            a, b = os.path.join(folder, "a"), os.path.join(folder, "b")
            write(a, [(1, ip(64, 1, 1)), (1.5, ip(64, 1, 2)), (2, ip(64, 1, 3))])
            write(b, [(1.25, ip(63, 1, 1)), (2.25, ip(63, 3, 3))])
            found = rmcat_metrics.packets_of(rmcat_metrics.read(a), rmcat_metrics.read(b), (bytes([10, 1, 0, 1]), bytes([10, 2, 0, 2])))
        self.assertEqual(found, [Packet(1, 1.25, 100), Packet(1.5, None, 100), Packet(2, 2.25, 100)])


class Links(unittest.TestCase):
    def test_texts(self):
        three = rmcat.case("5.3").faster(5)
        forward, backward = experiment.link_texts(three, three.hops[0], 4.5, None)
        self.assertEqual(forward, "rate=2mbit:1mbit@8500ms:0.5mbit@12500ms:2mbit@16500ms,queue=droptail:37500B,delay=50ms")
        self.assertEqual(backward, "rate=2mbit:0.8mbit@11500ms:2mbit@18500ms,queue=droptail:37500B,delay=50ms")
        jitter = rmcat.case("5.1 jitter")
        self.assertTrue(experiment.link_texts(jitter, jitter.hops[0], 5, None)[1].endswith("delay=50ms,jitter=15ms"))


def row(cell, contender, **figures):
    known = {"use": 0.9, "queue_p95_ms": 20, "p95_ms": 100, "frozen": 0.0, "waited": 0.05}
    return {"cell": cell, "contender": contender, "run": 0, "started_at": "2026-11-24T12:00:00", "figures": known | figures}


class Table(unittest.TestCase):
    ROWS = [row("5.1", "scream", p95_ms=110), row("5.1", "googcc", p95_ms=200), row("5.1", "tfrc", use=0.5, p95_ms=90),
            row("5.1", "udp", p95_ms=80), row("5.6", "tfrc", share=0.8, p95_ms=300), row("5.6", "scream", share=0.1, p95_ms=100)]

    def test_order(self):
        rows = Rows(self.ROWS)
        self.assertEqual(rmcat_report.order(rows, "5.1"), ["scream", "googcc", "tfrc"])
        self.assertEqual(rmcat_report.order(rows, "5.6"), ["tfrc", "scream"])
        self.assertEqual(rmcat_report.places(rows), [("scream", [1, 2]), ("googcc", [2]), ("tfrc", [3, 1])])

    def test_lines(self):
        lines = rmcat_report.comparison(Rows(self.ROWS))
        self.assertEqual(lines[0], "| case | `scream` | `tfrc` | `udp` | `googcc` |")
        self.assertIn("**90 % · 20 · 110 · 0.0 %**", lines[2])
        self.assertIn("**0.80× · 20 · 300 · 0.0 %**", lines[3])
        self.assertIn("`googcc` | 90 % · 20 · 200 · 0.0 %", rmcat_report.short(Rows(self.ROWS))[2])

    def test_busy(self):
        """A machine that did other work is said in the field, above the table, and the README has no figures of it."""
        busy = [row("5.1", c, waited=0.3) for c in ("scream", "googcc")]
        rows = Rows(busy)
        self.assertTrue(rmcat_report.cell_text(rows, "5.1", "scream").endswith(" †"))
        self.assertFalse(rmcat_report.quiet(rows))
        self.assertEqual(rmcat_report.state_of(busy)[0], rmcat_report.SMOKE)
        self.assertTrue(rmcat_report.quiet(Rows(self.ROWS)))
        self.assertIn("† in 0 of 6 fields", rmcat_report.state_of(self.ROWS)[-1])

    def test_speeds(self):
        for speeds, text in (({"5.1": 1, "5.6": 1}, ""), ({"5.1": 3, "5.6": 3}, "all times divided by 3"),
                             ({"5.1": 1, "5.2": 3, "5.5": 3}, "times divided: 5.2, 5.5 by 3")):
            rows = Rows([row(cell, "scream", speed=speed) for cell, speed in speeds.items()])
            self.assertEqual(rmcat_report.speeds_text(rows), text)

    def test_replace(self):
        mark = rmcat_report.MARK.format(name="cases")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.md")
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"before\n{mark}\nold\n{mark}\nafter\n")
            rmcat_report.replace_between(path, "cases", ["new"])
            with open(path, encoding="utf-8") as f:
                self.assertEqual(f.read(), f"before\n{mark}\nnew\n{mark}\nafter\n")
            with self.assertRaises(SystemExit):
                rmcat_report.replace_between(path, "other", ["new"])


class Peers(unittest.TestCase):
    def test_install_fails(self):
        """A failed installation is reported by the last line of pip's or venv's messages."""
        class Done:
            def __init__(self, code, stderr=""):
                self.returncode, self.stdout, self.stderr = code, "", stderr
        with mock.patch.object(peers, "_run", lambda argv: Done(1, "a\nno venv")):
            self.assertIn("no venv", peers.install_wrtc())
        with mock.patch.object(peers, "_run", lambda argv: Done(1, "no network") if "install" in argv else Done(0)):
            self.assertEqual(peers.install_wrtc(), "no network")


if __name__ == "__main__":
    unittest.main()
