# SPDX-License-Identifier: GPL-2.0-or-later
"""The test cases of RFC 8867 for congestion control of live media, as data: experiment rmcat runs them with programs, and
tests/sim/test_rmcat.py in simulation. Two links of RFC 8869's kind, Wi-Fi and LTE, are traces of lab/traces/generate.py.

What differs from the RFC: no audio; the variation of delay (4.2: at most 30 ms) only in case "5.1 jitter"; the queue of
300 ms has as many bytes as pass in 300 ms at the reference capacity; 5.7's files are about 40 KB and its pauses Pareto.
"""
from dataclasses import dataclass, replace

TOP_KBPS = 1500  # RFC 8867, 4.3: media of 150 kbit/s to 1.5 Mbit/s
OVERHEAD = 1.04  # of the headers of IP, UDP and RTP: what media of the top rate needs on a link
ONE_WAY_MS = 50  # one-way propagation, unless a case says otherwise


@dataclass(frozen=True)
class Media:
    """A media flow; seconds."""
    start: float
    end: float
    pause: tuple = (0, 0)  # begin and end
    access_ms: float = 0  # one-way propagation in addition to that of the hops
    first: int = 0  # hops that it crosses: first .. last - 1
    last: int = 1
    back: bool = False  # its media crosses the hops in the opposite direction


@dataclass(frozen=True)
class Hop:
    """A link. Rates: ((second, Mbit/s), ...), or the kind of a trace with its mean."""
    forward: tuple
    backward: tuple = ()  # empty: no bottleneck
    delay_ms: float = ONE_WAY_MS
    trace: str = ""

    def mbit(self, second, back=False):
        """Returns the capacity at a time; infinite without a bottleneck."""
        rates = self.backward if back else self.forward
        return next((rate for start, rate in reversed(rates) if second >= start), float("inf"))

    def changes(self, back=False):
        return [start for start, _ in (self.backward if back else self.forward)[1:]]


@dataclass(frozen=True)
class Tcp:
    """TCP flows from the first router to the last one."""
    kind: str  # "long" or "short": files of 40 KB with pauses of 10 s on average
    count: int = 1
    cc: str = "reno"


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    duration: float
    hops: tuple
    media: tuple
    queue: str  # as in a link's text
    tcp: Tcp = None
    jitter_ms: float = 0
    default: bool = True

    def faster(self, speed):
        """Returns the case with all times of its course, but no delay, divided by SPEED."""
        if speed == 1:
            return self

        def rates(every):
            return tuple((start / speed, rate) for start, rate in every)
        hops = tuple(replace(h, forward=rates(h.forward), backward=rates(h.backward)) for h in self.hops)
        media = tuple(replace(m, start=m.start / speed, end=m.end / speed, pause=tuple(t / speed for t in m.pause))
                      for m in self.media)
        return replace(self, duration=self.duration / speed, hops=hops, media=media)

    def hops_ms(self, flow):
        """Returns the one-way propagation of the hops that a flow crosses; its access link's is not in it."""
        return sum(h.delay_ms for h in self.hops[flow.first:flow.last])

    def mean_kbps(self, flow):
        """Returns the rate that a flow has on average if all share equally what is available on its narrowest hop."""
        def share(hop, second):
            flows = sum(self.active(m, second) for m in self.media if m.back == flow.back and m.first <= hop < m.last)
            return self.available(second, hop, flow.back, TOP_KBPS * 1e-3) / flows
        seconds = [k / 2 for k in range(round(self.duration * 2)) if self.active(flow, k / 2)]
        return sum(min(share(h, t) for h in range(flow.first, flow.last)) for t in seconds) / len(seconds) * 1e3

    def active(self, flow, second):
        return flow.start <= second < flow.end and not flow.pause[0] <= second < flow.pause[1]

    def available(self, second, hop=0, back=False, top=TOP_KBPS * 1e-3 * OVERHEAD):
        """Returns the Mbit/s that the media on a hop may use: its capacity, or less if all flows at their top need less."""
        flows = sum(self.active(m, second) for m in self.media if m.back == back and m.first <= hop < m.last)
        return min(self.hops[hop].mbit(second, back), flows * top)

    def steady(self):
        """Returns (begin, end): the second half of the time in which all flows are active and the capacity is constant;
        the longest such time."""
        ends = min(m.end for m in self.media)
        times = sorted({m.start for m in self.media} | {t for m in self.media for t in m.pause if t} | {ends} |
                       {t for h in self.hops for back in (False, True) for t in h.changes(back)})
        spans = [(a, b) for a, b in zip(times, times[1:]) if b <= ends and all(self.active(m, a) for m in self.media)]
        begin, end = max(spans, key=lambda s: s[1] - s[0])
        return (begin + end) / 2, end

    def events(self, back=False):
        """Returns [(second, Mbit/s that the media of a direction may use from then on)], of the first hop, where it changes."""
        times = sorted({0.0} | {m.start for m in self.media if m.back == back} | set(self.hops[0].changes(back)) |
                       {t for m in self.media if m.back == back for t in m.pause if t})
        found = []
        for t in times:
            now = self.available(t, back=back)
            if now > 0 and (not found or now != found[-1][1]):
                found.append((t, now))
        return found


def _bytes(ms, mbit):
    return f"droptail:{round(ms * mbit * 1e3 / 8)}B"


def _steps(reference, *ratios):
    return tuple((float(start), reference * ratio) for start, ratio in ratios)


ONE = _steps(1, (0, 1), (40, 2.5), (60, 0.6), (80, 1))
TWO = _steps(2, (0, 2), (25, 1), (50, 1.75), (75, 0.5), (100, 1))
FORTH = _steps(1, (0, 2), (20, 1), (40, 0.5), (60, 2))
BACK = _steps(1, (0, 2), (35, 0.8), (70, 2))


def _constant(mbit):
    return ((0.0, mbit),)


def _added(count, every, end):
    return tuple(Media(every * i, end) for i in range(count))


CASES = [
    Case("5.1", "capacity changes, one flow", 100, (Hop(ONE),), (Media(0, 99),), _bytes(300, 1)),
    Case("5.2", "capacity changes, two flows", 125, (Hop(TWO),), (Media(0, 124),) * 2, _bytes(300, 2)),
    Case("5.3", "media both ways, both change", 100, (Hop(FORTH, BACK),), (Media(0, 99), Media(0, 99, back=True)),
         _bytes(300, 1)),
    Case("5.4", "three flows, one after another", 120, (Hop(_constant(3.5)),), _added(3, 20, 119), _bytes(300, 3.5)),
    Case("5.5", "five round-trip times", 300, (Hop(_constant(4), delay_ms=10),),
         tuple(Media(10 * i, 299, access_ms=ms - 10) for i, ms in enumerate((10, 25, 50, 100, 150))), _bytes(300, 4)),
    Case("5.6", "next to a long TCP", 120, (Hop(_constant(2)),), (Media(5, 119),), _bytes(300, 2), Tcp("long")),
    Case("5.7", "next to short TCPs", 300, (Hop(_constant(2)),), (Media(5, 299),) * 2, _bytes(300, 2), Tcp("short", 10)),
    Case("5.8", "one of three pauses", 120, (Hop(_constant(3.5)),), (Media(0, 119), Media(0, 119, (40, 60)), Media(0, 119)),
         _bytes(300, 3.5)),
    # No contender gives its flows priorities: this shows what happens without.
    Case("6.1", "priorities", 120, (Hop(_constant(3.5)),), (Media(0, 119),) * 3, _bytes(300, 3.5)),
    Case("6.2", "5.1 with ECN, DualPI2", 100, (Hop(ONE),), (Media(0, 99),), "dualpi2"),
    Case("6.3", "two bottlenecks", 300, (Hop(_constant(2), delay_ms=40), Hop(_constant(8), delay_ms=20), Hop(_constant(1.5), delay_ms=40)),
         (Media(0, 299, last=3), Media(0, 299), Media(0, 299, first=2, last=3)), _bytes(300, 2)),
    Case("wifi", "RFC 8869's kind: Wi-Fi", 60, (Hop(_constant(3), delay_ms=25, trace="wifi"),), (Media(0, 59),), _bytes(300, 3)),
    Case("lte", "RFC 8869's kind: LTE", 60, (Hop(_constant(2.5), delay_ms=25, trace="lte"),), (Media(0, 59),), _bytes(300, 2.5)),
    # Variants that the RFC encourages.
    Case("5.1 jitter", "5.1 with jitter of 30 ms", 100, (Hop(ONE),), (Media(0, 99),), _bytes(300, 1), jitter_ms=15, default=False),
    Case("5.6 1000ms", "5.6 with a queue of 1 s", 120, (Hop(_constant(2)),), (Media(5, 119),), _bytes(1000, 2), Tcp("long"),
         default=False),
    Case("5.6 cubic", "5.6 with cubic", 120, (Hop(_constant(2)),), (Media(5, 119),), _bytes(300, 2), Tcp("long", cc="cubic"),
         default=False),
    Case("6.2 codel", "5.1 with ECN, CoDel", 100, (Hop(ONE),), (Media(0, 99),), "codel:300p:ecn", default=False),
]


def case(name):
    return next(c for c in CASES if c.name == name)
