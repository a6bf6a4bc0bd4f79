# SPDX-License-Identifier: GPL-2.0-or-later
import os
import struct
import tempfile
import unittest

import numpy as np

from lab import crossings
from lab.crossings import Crossing


def write_capture(path, packets):
    """PACKETS: (seconds, IP packet)."""
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 101))
        for seconds, ip in packets:
            whole = int(seconds)
            f.write(struct.pack("<IIII", whole, round((seconds - whole) * 1e9), len(ip), len(ip)) + ip)


def packet(number, size):
    """The first bytes of an IP packet of SIZE bytes."""
    return b"\x45\0" + struct.pack("!H", size) + bytes(16) + struct.pack("!HH", 9000 + number, 5000)


class Pairs(unittest.TestCase):
    def test_table(self):
        for entered, left, expected in (
                ([1], [2], [(1, 2)]),
                ([1], [], [(1, None)]),
                # Both copies waited in the queue: the first that entered left first.
                ([1, 2], [5, 6], [(1, 5), (2, 6)]),
                # The first was lost, its retransmission was not.
                ([1, 2], [3], [(1, None), (2, 3)]),
                ([1, 4], [3], [(1, 3), (4, None)]),
                ([1, 4, 8], [3, 9], [(1, 3), (4, None), (8, 9)]),
                # Entered before the capture began.
                ([5, 6], [2], [(5, None), (6, None)])):
            with self.subTest(entered=entered, left=left):
                self.assertEqual(crossings.pair(entered, left), expected)


class Series(unittest.TestCase):
    def test_table(self):
        crossed = [Crossing(10.01, 10.031, 1250, 7), Crossing(10.05, None, 1250, 7), Crossing(10.06, 10.07, 1250, 7),
                   Crossing(10.25, 10.35, 625, 7), Crossing(9.9, 10.01, 1000, 7), Crossing(11, 11.1, 1000, 7)]
        into, out, late = crossings.series_of(crossed, 10, 0.5)
        np.testing.assert_allclose(into, [0.3, 0, 0.05, 0, 0])
        np.testing.assert_allclose(out, [0.28, 0, 0, 0.05, 0])  # with the packet that entered before
        np.testing.assert_allclose(late, [21, np.nan, 100, np.nan, np.nan])

    def test_mbps_by(self):
        crossed = [Crossing(0, 1, 1000, 7), Crossing(0, 2, 500, 8), Crossing(1, None, 500, 7), Crossing(2, 3, 250, 7)]
        np.testing.assert_allclose(crossings.mbps_by(crossed, 7, 0, 3), [8e-3 / 3, 4e-3 / 3])

    def test_smooth_ends_at_each_value(self):
        np.testing.assert_allclose(crossings.smooth(np.array([3.0, 0, 3, 6]), 3), [1, 1, 2, 3])

    def test_mean_between(self):
        self.assertAlmostEqual(crossings.mean_between(np.arange(20.0), 0.5, 1.0), 7)

    def test_captures(self):
        with tempfile.TemporaryDirectory() as directory:
            paths = [os.path.join(directory, name) for name in ("in", "out")]
            # Packet 1 is lost once and sent again with the same bytes, 2 passes, 3 is lost.
            write_capture(paths[0], [(1.0, packet(1, 100)), (1.1, packet(2, 200)), (1.2, packet(1, 100)),
                                     (1.3, packet(3, 300))])
            write_capture(paths[1], [(1.125, packet(2, 200)), (1.25, packet(1, 100))])
            got = sorted(crossings.read(*paths))
            self.assertEqual([(round(c.entered, 6), c.left and round(c.left, 6), c.size, c.port) for c in got],
                             [(1.0, None, 100, 9001), (1.1, 1.125, 200, 9002), (1.2, 1.25, 100, 9001),
                              (1.3, None, 300, 9003)])


if __name__ == "__main__":
    unittest.main()
