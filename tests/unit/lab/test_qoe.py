# SPDX-License-Identifier: GPL-2.0-or-later
import os
import tempfile
import unittest

from lab import others, viewing
from lab.experiments import qoe, qoe_report
from lab.run import Failed
from lab.viewing import Shown, Window

WINDOW = Window(0, 30, 10)  # 3 s


def seen(numbers, late=0.05):
    """Frames of 10 a second from 100 s on, each shown LATE after it was captured."""
    return [Shown(n, 100 + n / 10, 100 + n / 10 + late) for n in numbers]


def without(first, last):
    return [n for n in range(30) if not first <= n <= last]


class Freezes(unittest.TestCase):
    def check(self, frames, expected):
        inside = sorted(frames, key=lambda f: f.shown)
        got = viewing.freezes_of(inside, WINDOW)
        self.assertEqual([round(g, 3) for g in got], expected)

    def test_table(self):
        self.check(seen(range(30)), [])
        self.check(seen(range(30), 1.5), [])  # late is not still
        self.check(seen(range(0, 30, 3)), [])  # three frames are not more than three frames
        self.check(seen(range(0, 30, 4)), [0.4] * 7)  # the last until 103.0 s
        self.check(seen(without(10, 14)), [0.6])
        self.check(seen(without(0, 4)), [0.5])  # the first came with frame 5
        self.check(seen(without(25, 29)), [0.55])  # frame 24 stood from 102.45 s on
        self.check(seen(without(10, 14)) + seen([10, 11, 12, 13, 14], 0.6), [0.6])  # all at once, after the gap
        self.check([], [3.0])

    def test_limit(self):
        """150 ms where frames are nearer together than 50 ms."""
        for fps, skipped, expected in ((30, 3, []), (30, 4, [5 / 30]), (60, 8, []), (60, 9, [10 / 60]), (7.5, 2, []), (7.5, 3, [4 / 7.5])):
            numbers = [n for n in range(90) if not 50 <= n < 50 + skipped]
            frames = [Shown(n, n / fps, n / fps) for n in numbers]
            got = viewing.freezes_of(frames, Window(0, 90, fps))
            self.assertEqual([round(g, 3) for g in got], [round(g, 3) for g in expected], (fps, skipped))

    def test_one_late_frame(self):
        # Frame 10 comes at 101.5 s, and 11 .. 14 with it, which are late as well: still from 100.95 s to 101.5 s.
        frames = seen(without(10, 14)) + [Shown(n, 100 + n / 10, 101.5) for n in range(10, 15)]
        self.check(frames, [0.55])


class Gaps(unittest.TestCase):
    """A gap is more than 100 ms without a new picture; 30 frames a second, a window of one second."""

    def check(self, shown, expected, latency=0.05):
        window = Window(0, 30, 30)
        frames = [Shown(n, n / 30, n / 30 + latency) if late is None else Shown(n, n / 30, late)
                  for n, late in shown.items()]
        got = viewing.figures(frames, {}, window)
        self.assertEqual((got["gaps"], round(got["gap_s"], 3)), expected)

    def test_table(self):
        every = dict.fromkeys(range(30))
        without = lambda *gone: {n: None for n in every if n not in gone}
        self.check(every, (0, 0))
        self.check(without(10), (0, 0))  # 67 ms
        self.check(without(10, 11), (0, 0))  # 100 ms are not more than 100 ms
        self.check(without(10, 11, 12), (1, 0.133))  # all of it counts
        self.check(without(10, 11, 12, 20, 21, 22, 23), (2, 0.3))
        self.check({n: None for n in range(0, 30, 2)}, (0, 0))  # half the rate
        self.check({n: None for n in range(0, 30, 4)}, (7, round(7 * 4 / 30, 3)))  # a quarter of it: 133 ms each
        self.check({**every, 10: 10 / 30 + 0.05 + 0.066}, (0, 0))  # one late frame: 99 ms after the one before it
        # Frame 10 waited 200 ms and the next five came with it: from frame 9 at 350 ms to 583 ms.
        self.check({**every, **{n: 10 / 30 + 0.25 for n in range(10, 16)}}, (1, 0.233))
        self.check(every, (0, 0), latency=0.5)  # a constant latency is none
        self.check(without(0, 1, 2), (0, 0))  # until the first frame: 100 ms
        self.check(without(0, 1, 2, 3), (1, 0.133))
        self.check({}, (1, 1.0))

    def test_long_freezes(self):
        window = Window(0, 30, 30)
        for gone, expected in ((5, 0), (6, 1)):  # 200 ms, and 233 ms
            frames = [Shown(n, n / 30, n / 30) for n in range(30) if not 10 <= n < 10 + gone]
            self.assertEqual(viewing.figures(frames, {}, window)["long_freezes"], expected)


class ShownShare(unittest.TestCase):
    def test_table(self):
        window = Window(10, 20, 30)
        for numbers, expected in (
                (range(30), (1, 1)),
                (range(10, 20), (1, 1)),
                (range(0, 30, 2), (0.5, 1)),  # half the frame rate
                (range(0, 30, 4), (0.2, 0.2)),  # a quarter of it
                (set(range(30)) - {12}, (0.9, 1)),
                (set(range(30)) - {12, 13}, (0.8, 0.8)),
                (set(range(30)) - {12, 14}, (0.8, 1)),
                ((), (0, 0))):
            self.assertEqual(viewing.shown_of(set(numbers), window), expected, numbers)


class Ssim(unittest.TestCase):
    def test_table(self):
        full = dict.fromkeys(range(30), 0.9)
        for pictures, mean, held in (
                (full, 0.9, 0),
                ({}, 0, 1),
                ({0: 0.6}, 0.6, 29 / 30),
                ({n: 0.9 for n in range(15)} | {15: 0.3}, (15 * 0.9 + 15 * 0.3) / 30, 14 / 30),
                ({n: 0.9 for n in range(15, 30)}, 0.45, 0.5),  # before the first there was nothing
                (full | {40: 0.1}, 0.9, 0)):
            got = viewing.ssim_of(pictures, WINDOW)
            self.assertAlmostEqual(got[0], mean)
            self.assertAlmostEqual(got[1], held)


class Figures(unittest.TestCase):
    def test_all(self):
        frames = seen(range(0, 20)) + seen(range(20, 30), 0.35) + seen(range(30, 60), 9)
        got = viewing.figures(frames, dict.fromkeys(range(30), 0.5), WINDOW)
        # 2.35 s after 1.95 s: one gap of 400 ms.
        self.assertEqual(got["freezes"], 1)
        self.assertAlmostEqual(got["frozen"], 0.4 / 3)
        self.assertAlmostEqual(got["longest_freeze"], 0.4)
        self.assertAlmostEqual(got["frame_rate"], 10)
        self.assertAlmostEqual(got["p50_ms"], 50)
        self.assertAlmostEqual(got["p95_ms"], 350)
        self.assertAlmostEqual(got["ssim"], 0.5)
        self.assertEqual((got["broken"], got["ssim_unknown"]), (0, 0))

    def test_what_is_broken_is_shown_but_has_no_latency(self):
        frames = seen(range(15)) + [Shown(n, 100 + n / 10, 100 + n / 10 + 0.5, False) for n in range(15, 30)]
        got = viewing.figures(frames, {}, WINDOW)
        self.assertAlmostEqual(got["p99_ms"], 50)
        self.assertAlmostEqual(got["broken"], 0.5)
        self.assertEqual(got["frame_rate"], 10)

    def test_nothing_shown(self):
        got = viewing.figures([], {}, WINDOW)
        self.assertEqual((got["freezes"], got["frozen"], got["p95_ms"], got["ssim"]), (1, 1.0, None, 0))


class Lines(unittest.TestCase):
    def test_weir_play(self):
        lines = [{"t": 1, "event": "mode", "mode": "streaming"},
                 {"t": 2, "event": "frame", "number": 3, "captured": 1.5, "shown": 1.75},
                 {"t": 2, "event": "frame", "number": 4, "dropped": "late"},
                 {"t": 2, "event": "frame", "number": 5, "captured": None, "shown": 1.8},
                 {"t": 2, "event": "picture", "number": 3, "shown": 3, "ssim": 0.9},
                 {"t": 2, "event": "picture", "number": 4, "shown": 3, "ssim": None}]
        self.assertEqual(viewing.of_weir(lines), ([Shown(3, 1.5, 1.75)], {3: 0.9}))

    def test_weir_watch(self):
        lines = [{"event": "frame", "number": 30, "shown": 51.2, "read": True},
                 {"event": "frame", "number": 31, "shown": 51.3, "read": False},
                 {"event": "picture", "number": 31, "shown": 30, "ssim": 0.7},
                 {"event": "end", "pictures": 2}]
        frames, pictures = viewing.of_watch(lines, 50, 30)
        self.assertEqual(frames, [Shown(30, 51, 51.2), Shown(31, 50 + 31 / 30, 51.3, False)])
        self.assertEqual(pictures, {31: 0.7})


class Clips(unittest.TestCase):
    HEADER = b"YUV4MPEG2 W4 H2 F30000:1001 Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED\n"

    def write(self, directory, data):
        path = os.path.join(directory, "c.y4m")
        with open(path, "wb") as f:
            f.write(data)
        return path

    def test_header(self):
        with tempfile.TemporaryDirectory() as directory:
            clip = others.read_clip(self.write(directory, self.HEADER))
            self.assertEqual((clip.header, clip.frame), (len(self.HEADER), 6 + 12))
            self.assertAlmostEqual(clip.fps, 29.97, 2)
            for bad in (b"", b"RIFF", self.HEADER[:-1], self.HEADER.replace(b"W4", b"W-4")):
                with self.assertRaises(Failed):
                    others.read_clip(self.write(directory, bad))

    def test_feeder_copies_whole_frames(self):
        with tempfile.TemporaryDirectory() as directory:
            data = self.HEADER + 3 * (b"FRAME\n" + bytes(range(12)))
            clip = others.read_clip(self.write(directory, data + b"FRA"))
            out, fd = os.pipe()
            others.Feeder(clip, fd, 0).join(10)
            with open(out, "rb") as f:
                self.assertEqual(f.read(), data)

    def test_feeder_ends_with_its_reader(self):
        with tempfile.TemporaryDirectory() as directory:
            clip = others.read_clip(self.write(directory, self.HEADER + b"FRAME\n" + bytes(12)))
            out, fd = os.pipe()
            os.close(out)
            feeder = others.Feeder(clip, fd, 0)
            feeder.join(10)
            self.assertFalse(feeder.is_alive())
            with self.assertRaises(OSError):
                os.fstat(fd)


class Links(unittest.TestCase):
    def test_stairs(self):
        # Five parts of 6 s, after 2.5 s of the first rate.
        self.assertEqual(qoe.stairs_text(30), "rate=4mbit:2mbit@8500ms:4mbit@14500ms:1.5mbit@20500ms:4mbit@26500ms")

    def test_ends(self):
        receiver, sender = others.ends("srt-120", "10.0.0.2")
        self.assertEqual(receiver, ["-i", "srt://10.0.0.2:8600?latency=120000&mode=listener"])
        self.assertEqual(sender[-1], "srt://10.0.0.2:8600?latency=120000&mode=caller&pkt_size=1316")
        receiver, sender = others.ends("rtsp-udp", "10.0.0.2")
        self.assertEqual(receiver, ["-rtsp_flags", "listen", "-i", "rtsp://10.0.0.2:8600/live"])
        self.assertIn("udp", sender)


def rows(figures):
    return qoe_report.Rows([{"cell": cell, "contender": contender, "run": 0, "figures":
                             {"frozen": frozen, "p95_ms": p95, "ssim": ssim}}
                            for cell, contender, frozen, p95, ssim in figures])


class Goals(unittest.TestCase):
    TODAY = ("stairs-1bdp", "srt-120 1920k", 0.1, 300, 0.90)

    def results(self, *figures):
        return [g[2] for g in qoe_report.goals_of(rows([*figures, self.TODAY]), "stairs-1bdp")]

    def test_table(self):
        fast, good = ("stairs-1bdp", "arc", 0.02, 80, 0.85), ("stairs-1bdp", "mtp", 0, 150, 0.90)
        self.assertEqual(self.results(fast, good), [
            "met: mtp stood still 0.0 % of the time",
            "met: mtp 150 ms, SSIM 0.9000; srt-120 1920k 300 ms, 0.9000"])
        self.assertEqual(self.results(fast), [
            "missed: arc stood still 2.0 % of the time",
            "missed: arc 80 ms, SSIM 0.8500; srt-120 1920k 300 ms, 0.9000"])
        self.assertEqual(self.results(("stairs-1bdp", "tcp", 0, 151, 0.95))[1],
                         "missed: tcp 151 ms, SSIM 0.9500; srt-120 1920k 300 ms, 0.9000")
        self.assertEqual(self.results(("stairs-1bdp", "arc", 1, None, 0)),
                         ["missed: arc stood still 100.0 % of the time"])
        self.assertEqual(self.results(("stairs-1bdp", "udp", 0, 40, 0.99)), [])
        self.assertEqual(self.results(), [])

    def test_where_a_freeze_may_be_the_links(self):
        self.assertEqual(qoe_report.goals_of(rows([("trace-lte-1bdp", "mtp", 0.1, 80, 0.9)]), "trace-lte-1bdp"), [])

    def test_experiment(self):
        e = qoe.experiment(False, {"clip": "/x.mp4"})
        self.assertEqual(e.options["source"], "/x.mp4")
        self.assertEqual(len({c.name for c in e.cells}), 9)
        self.assertTrue({c.rpartition(" ")[0] or c for c in e.contenders} >= set(others.KINDS))


if __name__ == "__main__":
    unittest.main()
