# SPDX-License-Identifier: GPL-2.0-or-later
import os
import struct
import tempfile
import unittest

import numpy as np

from lab import layer_times
from lab.layer_times import Layer
from tests.unit.lab.test_crossings import write_capture

CAPTURE, FEEDBACK = bytes([1 << 4 | 7]) + bytes(8), bytes([3 << 4 | 2]) + bytes(3)


def adu(number, layer):
    data = struct.pack("!IBBhI", number, (128 if layer else 0) | layer << 4, 0, 0, 0) + b"\0"  # depends on the lower layer
    return bytes([2 << 4 | len(data) - 1]) + data


def rtp(extension, kind=96, sources=0):
    extension += bytes(-len(extension) % 4)
    return (struct.pack("!BBHII", 0x90 | sources, kind, 1, 0, 7) + bytes(4 * sources) +
            struct.pack("!HH", 0xbede, len(extension) // 4) + extension)


def udp(payload, source=b"\x0a\1\0\1"):
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0, source, b"\x0a\2\0\1") + bytes(8) + payload


class Packets(unittest.TestCase):
    def test_table(self):
        plain = bytearray(rtp(adu(5, 3)))
        plain[0] &= ~0x10
        tcp = bytearray(udp(rtp(adu(5, 3))))
        tcp[9] = 6
        for packet, expected in (
                (udp(rtp(CAPTURE + adu(70000, 3) + FEEDBACK)), (70000, 3)),
                (udp(rtp(adu(5, 7), 97)), (5, 7)),
                (udp(rtp(b"\0" + adu(5, 7), sources=2)), (5, 7)),  # after padding, with contributing sources
                (udp(rtp(CAPTURE)), None),
                (udp(rtp(b"\xf0" + adu(5, 7))), None),  # id 15 ends the extensions
                (udp(rtp(adu(5, 3), 99)), None),  # parity
                (udp(rtp(adu(5, 3), 72)), None),  # RTCP
                (udp(bytes(plain)), None), (bytes(tcp), None), (udp(b"short"), None),
                (udp(rtp(adu(5, 3)))[:50], None)):  # cut within the extension
            with self.subTest(packet=packet):
                self.assertEqual(layer_times.media_packet(packet), expected)

    def test_captures(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "c.pcap")
            write_capture(path, [(1.5, udp(rtp(adu(5, 0)))), (2, udp(rtp(adu(5, 1)))), (3, udp(rtp(adu(5, 0)))),
                                 (4, udp(b"x" * 20, b"\x0a\1\0\2"))])
            self.assertEqual(layer_times.first_times(path), {(5, 0): 1.5, (5, 1): 2})
            times, sizes = layer_times.packets_and_bytes(path, "10.1.0.2")
            self.assertEqual((times.tolist(), sizes.tolist()), ([4], [48]))
            self.assertEqual(layer_times.packets_and_bytes(path)[0].size, 4)
            left = os.path.join(directory, "left.pcap")
            write_capture(left, [(2, udp(rtp(adu(5, 0)))), (4, udp(b"x" * 20))])
            self.assertAlmostEqual(layer_times.packets_lost(path, left), 2 / 3)  # media alone


def layers(*rows):
    """ROWS: (number, layer, pushed, proxied, read); None: never."""
    time = lambda at: float("nan") if at is None else at  # noqa: E731
    return {(number, layer): Layer(time(pushed), time(pushed), time(proxied), time(proxied), time(read))
            for number, layer, pushed, proxied, read in rows}


class Times(unittest.TestCase):
    def test_viewer_and_backbone(self):
        lines = [{"event": "adu", "number": 5, "size": 0, "captured": 1.0, "written": 1.5, "read": 2.0},
                 {"event": "adu", "number": 5, "size": 1, "captured": None, "written": None, "read": 2.1},
                 {"event": "adu", "number": 6, "size": 0, "captured": None, "written": None, "read": None},
                 {"event": "frame", "number": 6}]
        found = layer_times.of_viewer(lines)
        self.assertEqual(sorted(found), [(5, 0), (5, 1)])
        self.assertEqual((found[5, 0].captured, found[5, 0].pushed, found[5, 0].read), (1.0, 1.5, 2.0))
        self.assertTrue(np.isnan(found[5, 1].pushed))
        both = layer_times.with_backbone(found, {(5, 0): 1.1, (6, 0): 1.2}, {(5, 0): 1.4})
        self.assertEqual((both[5, 0].pushed, both[5, 0].proxied, both[5, 0].written), (1.1, 1.4, 1.5))
        self.assertTrue(np.isnan(both[6, 0].proxied) and np.isnan(both[6, 0].read))

    def test_five_numbers(self):
        found = layer_times.five(np.arange(101) / 1e3)
        self.assertEqual([round(found[k], 6) for k in ("mean", "p5", "p95", "max")], [50, 5, 95, 100])
        self.assertAlmostEqual(found["sd"], np.sqrt((101 ** 2 - 1) / 12))
        self.assertEqual(layer_times.five([])["p95"], None)

    def test_delays(self):
        some = layers((1, 0, 1, 1.1, 1.3), (1, 1, 1, 1.1, 1.5), (2, 0, 2, None, None))
        self.assertEqual([round(d, 6) for d in layer_times.delays_of(some)], [0.3, 0.5])
        self.assertEqual([round(d, 6) for d in layer_times.delays_of(some, "proxied", 0)], [0.2])

    def test_valid_layers(self):
        some = layers((3, 0, 1, 1, 2), (3, 1, 1, 1, 2), (3, 3, 1, 1, 2),  # layer 2 is missing: 3 is badput
                      (4, 0, 1, 1, None), (4, 1, 1, 1, 2),  # no base
                      (6, 0, 1, 1, 2))
        self.assertEqual(layer_times.per_frame(some).tolist(), [[3, 2], [1, 0], [0, 0], [1, 1]])
        self.assertEqual(layer_times.per_frame({}).shape, (0, 2))

    def test_losses(self):
        some = layers(*((n, 0, n, n + 0.1 if n % 4 else None, n + 0.2 if n % 4 > 1 else None) for n in range(13)))
        self.assertAlmostEqual(layer_times.lost_between(some, "pushed", "proxied"), 3 / 11)  # of 0 .. 10
        self.assertAlmostEqual(layer_times.lost_between(some, "proxied", "read"), 3 / 7)  # 1, 5, 9 of 1 .. 9 but 4 and 8
        self.assertIsNone(layer_times.lost_between(layers((1, 0, 1, None, None)), "proxied", "read"))

    def test_waits(self):
        some = layers((1, 0, 0, 1.02, 1.13), (1, 1, 0, 1.08, 1.28), (2, 0, 0, 1.31, 1.32), (3, 0, 0, 1.4, None))
        at, wait = layer_times.waits(some, "proxied", "read", 0.05)
        self.assertEqual([round(t, 6) for t in at], [1.0, 1.3])
        self.assertEqual([round(w, 6) for w in wait], [0.15, 0])
        self.assertEqual(layer_times.waits({}, "proxied", "written")[0].size, 0)

    def test_rates(self):
        self.assertEqual(layer_times.rates([9.9, 10, 10.9, 12, 13], [5, 1, 2, 4, 8], 10, 3).tolist(), [3, 0, 4])
        self.assertEqual(layer_times.variation([2, 2]), 0)
        self.assertAlmostEqual(layer_times.variation([1, 3]), 0.5)
        self.assertIsNone(layer_times.variation([]))
        self.assertEqual(layer_times.swings([80, 30, 50, 81, 50, 29, 30]), 2)
        self.assertEqual(layer_times.swings([50, 51, 49]), 0)
        self.assertEqual(layer_times.swings([]), 0)


if __name__ == "__main__":
    unittest.main()
