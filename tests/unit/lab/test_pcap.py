# SPDX-License-Identifier: GPL-2.0-or-later
import os
import struct
import tempfile
import unittest

from lab import pcap

SERVER, CLIENT, PORT = b"\x0a\1\0\1", b"\x0a\2\0\1", 8554


def rtp(sequence, size=20, channel=0):
    return struct.pack("!BBH", 0x24, channel, size) + struct.pack("!BBH", 0x80, 96, sequence) + bytes(size - 4)


def ip(seq, payload, flags=0x10, sport=PORT):
    tcp = struct.pack("!HHIIBBHHH", sport, 40000, seq & 0xffffffff, 0, 0x50, flags, 1000, 0, 0)
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40 + len(payload), 0, 0, 64, 6, 0, SERVER, CLIENT) + tcp + payload


class Captures(unittest.TestCase):
    def capture(self, packets, cut=0):
        """A file with [(seconds, IP packet)]; the last CUT bytes are missing."""
        data = struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 101)
        for time, packet in packets:
            data += struct.pack("<IIII", int(time), round(time % 1 * 1e9), len(packet), len(packet)) + packet
        handle, path = tempfile.mkstemp()
        self.addCleanup(os.unlink, path)
        with os.fdopen(handle, "wb") as f:
            f.write(data[:len(data) - cut])
        return path

    def times(self, packets, isn=999):
        """{sequence: time} of the flow, after a SYN with sequence number ISN."""
        path = self.capture([(0.5, ip(isn, b"", pcap.SYN)), *packets])
        return [(p.sequence, round(p.time, 6)) for p in pcap.flow_packets(path, PORT)]

    def test_a_packet_a_segment(self):
        self.assertEqual(self.times([(1, ip(1000, rtp(7))), (2, ip(1024, rtp(8)))]), [(7, 1), (8, 2)])

    def test_across_segments(self):
        # Three packets of 24 bytes in segments of 30, 30 and 12: each is whole with the segment of its last byte.
        data = rtp(1) + rtp(2) + rtp(3)
        self.assertEqual(self.times([(1, ip(1000, data[:30])), (2, ip(1030, data[30:60])), (3, ip(1060, data[60:]))]),
                         [(1, 1), (2, 2), (3, 3)])

    def test_retransmission_keeps_the_first_time(self):
        self.assertEqual(self.times([(1, ip(1000, rtp(1))), (2, ip(1024, rtp(2))), (9, ip(1000, rtp(1)))]),
                         [(1, 1), (2, 2)])

    def test_hole_filled_late(self):
        self.assertEqual(self.times([(2, ip(1024, rtp(2))), (5, ip(1000, rtp(1)))]), [(1, 5), (2, 2)])

    def test_longer_retransmission(self):
        # A retransmission of packet 1 brings packet 2 along for the first time.
        self.assertEqual(self.times([(1, ip(1000, rtp(1))), (4, ip(1000, rtp(1) + rtp(2)))]), [(1, 1), (2, 4)])

    def test_hole_never_filled_ends_the_list(self):
        self.assertEqual(self.times([(1, ip(1000, rtp(1))), (2, ip(1048, rtp(3)))]), [(1, 1)])

    def test_sequence_numbers_wrap(self):
        self.assertEqual(self.times([(1, ip(0xfffffff0, rtp(65535))), (2, ip(0xfffffff0 + 24, rtp(0)))], 0xffffffef),
                         [(65535, 1), (0, 2)])

    def test_segments_that_begin_with_a_packet(self):
        # Three packets of 24 bytes in segments of 24, 30 and 18; the second is sent again.
        data = rtp(1) + rtp(2) + rtp(3)
        path = self.capture([(0.5, ip(999, b"", pcap.SYN)), (1, ip(1000, data[:24])), (2, ip(1024, data[24:54])),
                             (3, ip(1054, data[54:])), (4, ip(1024, data[24:54]))])
        self.assertEqual(pcap.segments(path, PORT), [(24, True), (30, True), (18, False)])
        self.assertEqual(pcap.transmissions(path, PORT), [(1, 0, False), (2, 24, False), (3, 54, False), (4, 24, True)])
        self.assertEqual(pcap.segments(path, 9), [])

    def test_rtsp_and_rtcp_between(self):
        answer = b"RTSP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n$abcd"
        data = answer + rtp(1) + rtp(0, channel=1) + b"RTSP/1.0 200 OK\r\n\r\n" + rtp(2)
        self.assertEqual(self.times([(1, ip(1000, data))]), [(1, 1), (2, 1)])

    def test_other_flows_and_cut_files(self):
        packets = [(0, ip(999, b"", pcap.SYN)), (1, ip(1000, rtp(1))), (1, ip(5, b"x" * 99, sport=9000)),
                   (2, ip(1024, rtp(2)))]
        self.assertEqual([p.sequence for p in pcap.flow_packets(self.capture(packets, cut=3), PORT)], [1])
        self.assertEqual(pcap.flow_packets(self.capture([]), PORT), [])

    def test_not_a_capture(self):
        path = self.capture([])
        for data in (b"", b"\0" * 24):
            with open(path, "wb") as f:
                f.write(data)
            with self.assertRaises(pcap.BadCapture):
                list(pcap.read(path))

    def test_not_tcp(self):
        for packet in (b"", b"\x45" * 10, b"\x45" + bytes(8) + b"\x11" + bytes(30), bytes(60)):
            self.assertIsNone(pcap.tcp(0, packet))


class Join(unittest.TestCase):
    def test_by_order_with_numbers_as_check(self):
        adus = [(65535, 1.0, 1.3), (65536, 2.0, 2.3), (65537, 3.0, 3.3)]
        sent = [pcap.Packet(0, s, t) for s, t in ((9, 1.1), (10, 2.1), (11, 3.1))]
        arrived = [pcap.Packet(0, s, t) for s, t in ((9, 1.2), (10, 2.2), (12, 3.2))]
        self.assertEqual(pcap.join(adus, sent, arrived), [(65535, 1.0, 1.1, 1.2, 1.3), (65536, 2.0, 2.1, 2.2, 2.3)])
        self.assertEqual(pcap.join([], sent, arrived), [])
        self.assertEqual(pcap.join(adus, [], []), [])


if __name__ == "__main__":
    unittest.main()
