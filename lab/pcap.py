# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the link's packet captures of one TCP flow that carries RTP interleaved in RTSP (RFC 2326 section 10.12):
when each RTP packet was first sent, and when it first arrived, in any segments."""
import struct
from collections import namedtuple

MAGIC_NANOSECONDS = 0xa1b23c4d
LINKTYPE_RAW = 101

Segment = namedtuple("Segment", "time src dst sport dport seq flags payload wire_length")
Packet = namedtuple("Packet", "channel sequence time")  # time: when its last byte was first seen

SYN, FIN, RST = 0x02, 0x01, 0x04


class BadCapture(Exception):
    """Not a capture of weir-link."""


def read(path):
    """Yields (seconds, IP packet) of a nanosecond pcap file, without a packet truncated at the end of the file."""
    with open(path, "rb") as f:
        header = f.read(24)
        if len(header) < 24:
            raise BadCapture(f"{path}: too short")
        order = "<" if struct.unpack("<I", header[:4])[0] == MAGIC_NANOSECONDS else ">"
        magic, _, _, _, _, _, kind = struct.unpack(order + "IHHiIII", header)
        if magic != MAGIC_NANOSECONDS or kind != LINKTYPE_RAW:
            raise BadCapture(f"{path}: not a raw-IP capture with nanoseconds")
        record = struct.Struct(order + "IIII")
        while len(head := f.read(16)) == 16:
            seconds, nanoseconds, length, _ = record.unpack(head)
            data = f.read(length)
            if len(data) < length:
                return
            yield seconds + nanoseconds * 1e-9, data


def tcp(time, ip):
    """Returns the TCP segment in an IP packet, or None."""
    if len(ip) >= 20 and ip[0] >> 4 == 4:
        header, total, protocol = (ip[0] & 15) * 4, int.from_bytes(ip[2:4], "big"), ip[9]
        src, dst = ip[12:16], ip[16:20]
    elif len(ip) >= 40 and ip[0] >> 4 == 6:
        header, total, protocol = 40, 40 + int.from_bytes(ip[4:6], "big"), ip[6]
        src, dst = ip[8:24], ip[24:40]
    else:
        return None
    if protocol != 6 or len(ip) < header + 20:
        return None
    sport, dport, seq = struct.unpack_from("!HHI", ip, header)
    start = header + (ip[header + 12] >> 4) * 4
    return Segment(time, src, dst, sport, dport, seq, ip[header + 13], ip[start:total], total - start)


class Stream:
    """One direction of a TCP connection, assembled from its segments in order of their capture."""

    def __init__(self):
        self.base = None  # sequence number of the first byte
        self.data = {}  # offset -> (payload, time), first copies that end later than all before them or fill holes
        self.highest = 0
        self.sent = []  # (time, offset, True if the segment was seen before) of each segment with data

    def add(self, segment):
        if segment.flags & SYN:
            self.base = (segment.seq + 1) & 0xffffffff
            return
        if self.base is None or not segment.payload:
            return
        # Extends 32-bit sequence numbers to 64-bit offsets: the value nearest to the highest byte so far.
        delta = (segment.seq - self.base - self.highest) & 0xffffffff
        offset = self.highest + (delta - (1 << 32) if delta >= 1 << 31 else delta)
        if offset < 0:
            return
        self.sent.append((segment.time, offset, offset < self.highest))
        held = self.data.get(offset)
        if held is None or len(held[0]) < len(segment.payload):
            # A longer copy of known bytes adds only the new bytes; the known ones keep their time.
            if held is not None:
                self.data[offset + len(held[0])] = (segment.payload[len(held[0]):], segment.time)
            else:
                self.data[offset] = (segment.payload, segment.time)
        self.highest = max(self.highest, offset + len(segment.payload))

    def contiguous(self):
        """Returns the bytes from the start to the first hole, and their list of (end offset, time first seen)."""
        out, ends = bytearray(), []
        for offset in sorted(self.data):
            payload, time = self.data[offset]
            if offset > len(out):
                break
            new = payload[len(out) - offset:]
            if new:
                out += new
                ends.append((len(out), time))
        return bytes(out), ends


def messages(data):
    """Yields (start, end) of the whole messages in a server's half of an RTSP connection: interleaved packets, responses."""
    at = 0
    while at < len(data):
        if data[at] == 0x24:  # '$', channel, 16-bit length
            if at + 4 > len(data):
                break
            end = at + 4 + int.from_bytes(data[at + 2:at + 4], "big")
            if end > len(data):
                break
            yield at, end
            at = end
        else:  # an RTSP message
            stop = data.find(b"\r\n\r\n", at)
            if stop < 0:
                break
            length = 0
            for line in data[at:stop].split(b"\r\n"):
                name, _, value = line.partition(b":")
                if name.strip().lower() == b"content-length" and value.strip().isdigit():
                    length = int(value)
            yield at, stop + 4 + length
            at = stop + 4 + length


def rtp_packets(data, ends):
    """Returns the RTP packets in a server's half of an RTSP connection, each with the time its last byte was first seen."""
    packets, k = [], 0
    for at, end in messages(data):
        if data[at] != 0x24:
            continue
        while ends[k][0] < end:
            k += 1
        if data[at + 1] % 2 == 0 and end - at >= 16:  # even channels are RTP, odd ones RTCP
            packets.append(Packet(data[at + 1], int.from_bytes(data[at + 6:at + 8], "big"), ends[k][1]))
    return packets


def longest_stream(path, port):
    """Returns the Stream of the longest TCP connection from a server at PORT, from a capture; None: there is none."""
    streams = {}
    for time, ip in read(path):
        segment = tcp(time, ip)
        if segment and segment.sport == port:
            streams.setdefault((segment.src, segment.dst, segment.dport), Stream()).add(segment)
    return max(streams.values(), key=lambda s: s.highest) if streams else None


def flow_packets(path, port):
    """Returns the RTP packets that a server at PORT sent over its longest TCP connection, from a capture."""
    stream = longest_stream(path, port)
    return rtp_packets(*stream.contiguous()) if stream else []


def segments(path, port):
    """Returns [(length, True if its first byte is a message's)] of the new segments of that connection, in order."""
    stream = longest_stream(path, port)
    if not stream:
        return []
    data, ends = stream.contiguous()
    starts = {start for start, _ in messages(data)}
    bounds = [0, *(end for end, _ in ends)]
    return [(high - low, low in starts) for low, high in zip(bounds, bounds[1:])]


def transmissions(path, port):
    """Returns [(seconds, offset of the first byte, True if it was captured before)] of that connection's segments."""
    stream = longest_stream(path, port)
    return stream.sent if stream else []


def join(adus, sent, arrived):
    """Joins the times of each ADU.

    adus: [(number, written, read)] as the player reports them, in order; sent, arrived: Packets of the two captures.
    TCP keeps the order, so the k-th packet carries the k-th ADU. As a check, numbers and RTP sequence numbers must
    advance equally. Returns [(number, written, first sent, first arrived, read)]."""
    rows = []
    for (number, written, read_at), first, last in zip(adus, sent, arrived):
        apart = (number - adus[0][0]) & 0xffff
        if (first.sequence - sent[0].sequence) & 0xffff != apart or last.sequence != first.sequence:
            break
        rows.append((number, written, first.time, last.time, read_at))
    return rows
