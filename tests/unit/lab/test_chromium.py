# SPDX-License-Identifier: GPL-2.0-or-later
import unittest

from lab import chromium, viewing
from lab.experiments import rmcat
from lab.run import Failed

FPS = 30


def camera(first=0, count=300, at=100.0, fps=FPS, without=()):
    """What the sender's page saw: frame 0 was taken at AT."""
    return [(-1 if n in without else n, at + n / fps) for n in range(first, first + count)]


class Numbered(unittest.TestCase):
    def test_like_weir_watch(self):
        """The table of tests/unit/lab/watch: ms, the number read, the frame that this is (None: no new one)."""
        rows = [(0, -1, None), (100, 7, 7), (150, 8, 8), (151, 8, None), (152, 5, None), (200, 9, 9), (249, -1, 10),
                (301, -1, 11), (302, -1, 12), (499, -1, 14), (600, -1, 17), (601, 17, None), (900, -1, 22), (1000, 40, 40)]
        found = list(chromium.numbered([(number, ms / 1e3) for ms, number, _ in rows], 20))
        self.assertEqual(found, [(frame, ms / 1e3, number >= 0) for ms, number, frame in rows if frame is not None])


class Lines(unittest.TestCase):
    def test_latency(self):
        """Frame 0 is the first one after the epoch; what the sender's page could not read lies between its neighbours."""
        seen = camera(without=(35, 36))
        shown = [(n, at + 0.2) for n, at in camera(20, 280) if n != 40]
        frames, pictures = viewing.of_weir(chromium.lines_of(seen, shown, 101.0, FPS))
        self.assertEqual([f.number for f in frames], [n for n in range(270) if n != 10])
        self.assertTrue(all(abs(f.shown - f.captured - 0.2) < 1e-6 and f.read for f in frames))
        self.assertEqual(pictures, {})
        figures = viewing.figures(frames, pictures, viewing.Window(0, 260, FPS))
        self.assertAlmostEqual(figures["p95_ms"], 200)
        self.assertEqual(figures["freezes"], 0)

    def test_broken(self):
        frames, _ = viewing.of_weir(chromium.lines_of(camera(), [(60, 102.2), (-1, 102.24), (62, 102.27)], 101.0, FPS))
        self.assertEqual([(f.number, f.read) for f in frames], [(30, True), (31, False), (32, True)])

    def test_not_the_clip(self):
        for seen, why in ((camera(count=5), "showed 5 pictures"), (camera() + camera(at=110.0), "began again"),
                          (camera(fps=25), "25.0 pictures/s"), (camera(at=0.0), "no picture in the run")):
            with self.subTest(why=why), self.assertRaisesRegex(Failed, why):
                chromium.lines_of(seen, [], 101.0, FPS)


class Cases(unittest.TestCase):
    def test_one_flow(self):
        self.assertEqual(rmcat.NAMED["chromium"], ["5.1", "5.6", "6.2", "5.1 jitter", "5.6 1000ms", "5.6 cubic", "6.2 codel"])
        self.assertNotIn("chromium", rmcat.CONTENDERS)


if __name__ == "__main__":
    unittest.main()
