# SPDX-License-Identifier: GPL-2.0-or-later
import struct
import unittest

from lab import capture_line
from lab.experiments import page
from lab.rows import Rows
from lab.run import Failed
from lab.viewing import Shown


def frames(latency=0.05, seconds=20, drift=0.0, without=()):
    """Frames with a latency in seconds, which grows by DRIFT until the end; WITHOUT: numbers that were not shown."""
    count = seconds * page.FPS
    return [Shown(n, n / page.FPS, n / page.FPS + latency + drift * n / count) for n in range(count) if n not in without]


class Figures(unittest.TestCase):
    def test_calm(self):
        f = page.figures_of(frames(), 300, {10: 0.5, 200: 0.99, 300: 0.97})
        self.assertEqual((f["first_ms"], f["freezes"]), (300, 0))
        for key in "p50_ms", "p95_ms", "p99_ms":
            self.assertAlmostEqual(f[key], 50)
        self.assertAlmostEqual(f["frame_rate"], 30)
        self.assertAlmostEqual(f["longest_ms"], 1000 / 30)
        self.assertAlmostEqual(f["drift_ms"], 0)
        self.assertAlmostEqual(f["ssim"], 0.98)  # frame 10 is of the first 3 s, which do not count

    def test_gap(self):
        f = page.figures_of(frames(without=range(300, 310)), 300, {})
        self.assertEqual(f["freezes"], 1)
        self.assertAlmostEqual(f["longest_ms"], 11e3 / 30)
        self.assertIsNone(f["ssim"])

    def test_drift(self):
        """From the middle of the first tenth to that of the last one: nine tenths of what counts, 17 of 20 s."""
        self.assertAlmostEqual(page.figures_of(frames(drift=0.02), 300, {})["drift_ms"], 20 * 17 / 20 * 0.9, delta=0.1)

    def test_too_few(self):
        with self.assertRaises(Failed):
            page.figures_of(frames(seconds=3), 300, {})

    def test_goals(self):
        rows = Rows([{"cell": "step", "contender": "page", "run": 0, "figures": {"p95_ms": 260, "longest_ms": 150, "ssim": 0.985}}])
        self.assertEqual([(key, kept) for key, *_, kept in page.goals(rows, "step")],
                         [("p95_ms", False), ("longest_ms", True), ("ssim", True)])
        self.assertEqual([page.goal_line(goal) for goal in page.goals(rows, "step")[:2]],
                         [["p95_ms", "at most 250", "missed: 260"], ["longest_ms", "at most 200", "met: 150"]])


class CaptureLine(unittest.TestCase):
    def packet(self, *elements):
        data = b"".join(bytes([number << 4 | len(value) - 1]) + value for number, value in elements)
        data += b"\0" * (-len(data) % 4)
        return struct.pack("!BBHII", 0x90, 96, 1, 2, 3) + struct.pack("!HH", 0xBEDE, len(data) // 4) + data + b"payload"

    def test_frame(self):
        capture = struct.pack("!Q", (capture_line.NTP_UNIX_S + 1700000000) << 32 | 1 << 31)
        adu = struct.pack("!I", 42) + b"\0" * 8
        self.assertEqual(capture_line.frame_of(self.packet((2, adu), (1, capture))), (42, 1700000000.5))
        self.assertIsNone(capture_line.frame_of(self.packet((2, adu))))  # not the first packet of a frame

    def test_other_bytes(self):
        packet = self.packet((2, b"\0" * 12), (1, b"\0" * 8))
        for end in range(len(packet)):
            capture_line.frame_of(packet[:end])
        self.assertIsNone(capture_line.frame_of(b"\x80" * 40))


if __name__ == "__main__":
    unittest.main()
