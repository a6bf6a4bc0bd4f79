# SPDX-License-Identifier: GPL-2.0-or-later
"""The metrics of RFC 8868 from captures of the packets that enter and leave emulated links; the same for all contenders.

Rates are those of IP packets, with all headers, retransmissions and parity. A packet's delay is from its entry into the first
link of its path to its exit from the last one; what is above the propagation is its wait in queues.
"""
import bisect
import math
from collections import namedtuple

import numpy as np

from lab import crossings, pcap, stats
from lab.rmcat import OVERHEAD, TOP_KBPS

STEP_S = 0.2  # RFC 8868, section 3: rates at intervals of 200 ms
BACK_AT = 0.8  # back: at this share of what is available
STANDING_MS = 100  # a queue above this has not gone
SECOND = round(1 / STEP_S)

Packet = namedtuple("Packet", "entered left size")  # seconds; left: None if it was dropped


def identity(ip):
    """Returns what of an IPv4 packet is the same on every link: not its TTL, ECN bits and checksum."""
    return bytes([ip[0], ip[1] & 0xfc]) + ip[2:8] + ip[9:10] + ip[12:crossings.SNAP]


def read(path):
    """Returns {(source, destination): {identity: ([seconds, ...], bytes)}} of a capture; addresses as bytes."""
    found = {}
    for time, ip in pcap.read(path):
        flow = found.setdefault((bytes(ip[12:16]), bytes(ip[16:20])), {})
        flow.setdefault(identity(ip), ([], int.from_bytes(ip[2:4], "big")))[0].append(time)
    return found


def packets_of(entered, left, ends):
    """Returns the packets between two hosts, by entry. ENTERED, LEFT: of read(); ENDS: the addresses as bytes."""
    there = left.get(ends, {})
    found = [Packet(begin, end, size) for key, (times, size) in entered.get(ends, {}).items()
             for begin, end in crossings.pair(times, there.get(key, ((), 0))[0])]
    return sorted(found, key=lambda p: p.entered)


class Series:
    """One flow every STEP_S since the start of the case: Mbit/s out of the link, and the longest wait in queues in ms of the
    packets that entered (none: NaN)."""

    def __init__(self, packets, epoch, seconds, propagation_ms):
        count = math.ceil(seconds / STEP_S)
        bits, self.wait = np.zeros(count), np.full(count, np.nan)
        for p in packets:
            if p.left is None:
                continue
            k = math.floor((p.left - epoch) / STEP_S)
            if 0 <= k < count:
                bits[k] += p.size * 8
            k = math.floor((p.entered - epoch) / STEP_S)
            if 0 <= k < count:
                self.wait[k] = np.fmax(self.wait[k], (p.left - p.entered) * 1e3 - propagation_ms)
        self.mbit = bits / STEP_S / 1e6

    def mean(self, begin, end):
        return float(np.mean(self.mbit[round(begin / STEP_S):max(round(begin / STEP_S) + 1, round(end / STEP_S))]))


def rolling(values):
    """Returns the mean of each second that begins at a step; shorter by a second."""
    return np.convolve(values, np.ones(SECOND) / SECOND, "valid")


def percentiles(values, name):
    some = np.percentile(values, (50, 95, 99)) if len(values) else (None,) * 3
    return {f"{name}_{p}_ms": None if v is None else float(v) for p, v in zip(("p50", "p95", "p99"), some)}


def back_after(mbit, event, wanted, until):
    """Returns the seconds from EVENT to the first second of at least BACK_AT of WANTED Mbit/s, that second included; UNTIL -
    EVENT if there is none."""
    for k, rate in enumerate(rolling(mbit)):
        begin = k * STEP_S
        if event - 1e-9 <= begin and begin + 1 <= until + 1e-9 and rate >= BACK_AT * wanted:
            return begin + 1 - event
    return until - event


def drained_after(wait, event, until):
    """Returns the seconds from EVENT to the end of the last wait of more than STANDING_MS before UNTIL."""
    last = [k for k in range(round(event / STEP_S), min(len(wait), round(until / STEP_S))) if wait[k] > STANDING_MS]
    return (last[-1] + 1) * STEP_S - event if last else 0.0


def convergence(case, total, wait):
    """Returns the longest times, in s, that the media needed after changes of what it may use: to be back at most of it after a
    rise (the start included), and to end the queue after a fall; None without such a change."""
    events = case.events()
    times = [t for t, _ in events[1:]] + [min(m.end for m in case.media if not m.back)]
    rises, falls, last = [], [], 0.0
    for (at, mbit), until in zip(events, times):
        if mbit > last:
            rises.append(back_after(total, at, mbit, until))
        else:
            falls.append(drained_after(wait, at, until))
        last = mbit
    return {"start_s": rises[0] if rises else None, "back_s": max(rises[1:], default=None),
            "drain_s": max(falls, default=None)}


def resumed_after(case, series):
    """Returns the longest time, in s, from the end of a pause to 80 % of an equal share; None without a pause."""
    found = []
    for flow, one in zip(case.media, series):
        if flow.pause[1]:
            share = case.hops[flow.first].mbit(flow.pause[1]) / sum(case.active(m, flow.pause[1]) for m in case.media)
            found.append(back_after(one.mbit, flow.pause[1], min(share, TOP_KBPS * 1e-3), flow.end))
    return max(found, default=None)


def utilisation(case, series, warm):
    """Returns the share of what the media could have used that it used: the mean over the hops that are bottlenecks."""
    shares = []
    for number, hop in enumerate(case.hops):
        for back in (False, True):
            flows = [s for m, s in zip(case.media, series) if m.back == back and m.first <= number < m.last]
            steps = np.arange(round(warm / STEP_S), min((len(s.mbit) for s in flows), default=0))
            could = sum(case.available(k * STEP_S, number, back) for k in steps)
            if could and not math.isinf(hop.mbit(0, back)) and len(flows) * TOP_KBPS * 1e-3 * OVERHEAD >= \
                    min(rate for _, rate in (hop.backward if back else hop.forward)):
                shares.append(sum(float(s.mbit[k]) for s in flows for k in steps) / could)
    return float(np.mean(shares)) if shares else None


def figures(case, packets, tcp, epoch, warm, of_trace=None):
    """Returns (figures, series of each flow). PACKETS: a list for each media flow; TCP: those of all TCP flows. The first
    WARM seconds of each flow do not count, but for convergence. OF_TRACE: the Mbit/s that a trace lets the media use."""
    series = [Series(p, epoch, case.duration, case.hops_ms(m)) for p, m in zip(packets, case.media)]
    waits, delays, lost, sent, rates = [], [], 0, 0, []
    for flow, some, one in zip(case.media, packets, series):
        begin, end = epoch + flow.start + warm, epoch + flow.end
        inside = [p for p in some if begin <= p.entered < end]
        between = case.hops_ms(flow)
        sent += len(inside)
        lost += sum(p.left is None for p in inside)
        waits += [max(0.0, (p.left - p.entered) * 1e3 - between) for p in inside if p.left is not None]
        delays += [(p.left - p.entered) * 1e3 + flow.access_ms for p in inside if p.left is not None]
        rates.append(one.mean(flow.start + warm, flow.end))
    begin, end = case.steady()
    forward = [s for m, s in zip(case.media, series) if not m.back]
    total = np.sum([s.mbit for s in forward], axis=0)
    worst = np.fmax.reduce([s.wait for s in forward])
    found = {"media_mbps": sum(rates), **percentiles(waits, "queue"), **percentiles(delays, "one_way"),
             "loss": lost / sent if sent else None, "packets": sent,
             "jain": stats.jain([s.mean(begin, end) for s in forward]) if len(forward) > 1 else None,
             "resume_s": resumed_after(case, series)}
    if of_trace:
        found["use"] = sum(rates) / of_trace
    elif not case.tcp:
        found |= {"use": utilisation(case, series, warm), **convergence(case, total, worst)}
    if case.tcp:
        start, until = max(m.start for m in case.media) + warm, min(m.end for m in case.media)
        there = Series(tcp, epoch, case.duration, 0).mean(start, until)
        media = sum(s.mean(start, until) for s in series)
        found |= {"tcp_mbps": there, "share": media / there if there else None,
                  "use": (media + there) / case.hops[0].mbit(start)}
    if case.name.startswith("6.1"):
        found["priority"] = series[0].mean(begin, end) * 2 / max(1e-9, sum(s.mean(begin, end) for s in series[1:]))
    return found, series
