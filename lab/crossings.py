# SPDX-License-Identifier: GPL-2.0-or-later
"""When each packet entered an emulated link and when it left it, from the link's captures, and series of both.

A packet may cross the link more than once with the same bytes: a retransmission may repeat the header too. So an identity
has a list of times, not one time.
"""
import bisect
import math
from collections import namedtuple

import numpy as np

from lab import pcap

STEP_S = 0.1  # interval of the series
SNAP = 80  # bytes of a packet that identify it, for the link's --snap

Crossing = namedtuple("Crossing", "entered left size port")  # seconds (left: None if dropped), bytes, the sender's port


def packets(path):
    """Returns {identity of an IP packet: ([seconds, ...], bytes)}; our packets are never fragmented."""
    out = {}
    for time, ip in pcap.read(path):
        out.setdefault(ip[:SNAP], ([], int.from_bytes(ip[2:4], "big")))[0].append(time)
    return out


def port_of(ip):
    """Returns the source port of a TCP or UDP packet over IPv4."""
    at = (ip[0] & 15) * 4
    return int.from_bytes(ip[at:at + 2], "big")


def pair(entered, left):
    """Pairs the times of one identity, both ascending. If all copies left, in order; otherwise each departure belongs to
    the latest entry before it that is still free."""
    if len(entered) == len(left):
        return list(zip(entered, left))
    free, of = list(entered), {}
    for time in left:
        at = bisect.bisect_right(free, time) - 1
        if at >= 0:
            of[free.pop(at)] = time
    return [(time, of.get(time)) for time in entered]


def read(entered_path, left_path):
    """Returns every packet that entered the link, in no order."""
    left = packets(left_path)
    return [Crossing(begin, end, size, port_of(key)) for key, (times, size) in packets(entered_path).items()
            for begin, end in pair(times, left.get(key, ((), 0))[0])]


def series_of(crossings, begin, seconds):
    """Returns (Mbit/s into the link, Mbit/s out of it, max delay in ms of the packets that entered; none: NaN) every
    STEP_S from BEGIN."""
    count = round(seconds / STEP_S)
    bits_in, bits_out, late = np.zeros(count), np.zeros(count), np.full(count, np.nan)

    def add(series, time, size):
        k = math.floor((time - begin) / STEP_S)
        if not 0 <= k < count:
            return None
        series[k] += size * 8
        return k

    for entered, left, size, _ in crossings:
        k = add(bits_in, entered, size)
        if left is not None:
            add(bits_out, left, size)
            if k is not None:
                late[k] = np.fmax(late[k], (left - entered) * 1e3)
    return bits_in / STEP_S / 1e6, bits_out / STEP_S / 1e6, late


def mbps_by(crossings, port, begin, end):
    """Returns the Mbit/s that left the link between two times: (from PORT, of all others)."""
    inside = [c for c in crossings if c.left is not None and begin <= c.left < end]
    own = sum(c.size for c in inside if c.port == port)
    return own * 8e-6 / (end - begin), (sum(c.size for c in inside) - own) * 8e-6 / (end - begin)


def smooth(values, width):
    """Returns the moving mean of the last WIDTH values."""
    sums = np.cumsum(np.concatenate([np.zeros(width), values]))
    return (sums[width:] - sums[:-width]) / width


def mean_between(series, begin, end):
    """Returns the mean of a series from BEGIN to END, seconds."""
    return float(np.mean(series[round(begin / STEP_S):round(end / STEP_S)]))
