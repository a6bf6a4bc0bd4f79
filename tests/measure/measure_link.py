# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-link: the lateness of packets, the accuracy of its rate at a receiver, its CPU time."""
import link_case
from figures import Measurement
from link_case import A, B, B6, LinkCase, TwoLinks


def setUpModule():
    link_case.set_up()


class Lateness(LinkCase, Measurement):
    def measure_round_trip_time(self):
        for ms in 10, 50, 100:
            link = self.link(f"delay={ms / 2}ms", f"delay={ms / 2}ms")
            for family, addr in ("IPv4", B), ("IPv6", B6):
                echo = self.serve(1, "echo", addr)
                r = self.result(self.probe(0, "ping", addr, echo.port, 300, 5000))
                echo.stop()
                self.assertEqual(r["received"], 300)
                for name in "min", "p50", "max":
                    self.figure(f"link: RTT above {ms} ms, {family}, {name}", r[name] / 1000 - ms, unit="ms")
                self.figure(f"link: RTT above {ms} ms, {family}, p99", r["p99"] / 1000 - ms, high=0.3, unit="ms")
            self.stop_cleanly(link)


class Rate(LinkCase, Measurement):
    def measure_goodput(self):
        for mbit in 1, 12, 30, 100:
            link = self.link(f"rate={mbit}mbit,queue=droptail:30p", "")
            sink = self.serve(1, "count", B, 0.5, 2.5)
            self.result(self.probe(0, "blast", B, sink.port, 1.1e6 * mbit, 1500, 2.6, 0))
            off = 100 * (self.result(sink)["bps"] / (1e6 * mbit) - 1)
            self.stop_cleanly(link)
            self.figure(f"link: goodput off {mbit} Mbit/s", off, -0.5, 0.5, unit="%")

    def measure_trace(self):
        with open(self.path("trace"), "w") as f:
            f.write("2\n2\n6\n")
        self.link(f"trace={self.path('trace')},queue=droptail:30p", "")
        sink = self.serve(1, "count", B, 0.3, 1.5)
        self.result(self.probe(0, "blast", B, sink.port, 9e6, 1500, 1.7, 0))
        self.figure("link: goodput off a trace of 6 Mbit/s", 100 * (self.result(sink)["bps"] / 6e6 - 1), -2, 2, unit="%")

    def measure_a_change_that_halves_the_rate(self):
        with open(self.path("changes"), "w") as f:
            f.write("2 a-to-b rate=5mbit\n")
        link = self.link("rate=10mbit,queue=droptail:30p", "", "--changes", self.path("changes"))
        sink = self.serve(1, "count", B, 0, 9)
        self.result(self.probe(0, "blast", B, sink.port, 12e6, 1500, 4.3, 0))
        self.result(sink)
        seconds, end = self.stats(link)
        for second, mbit in (1, 10), (3, 5):
            self.figure(f"link: goodput of {mbit} Mbit/s, second {second}", seconds[second]["a_to_b"]["bytes_out"] * 8 / 1e6,
                        mbit - 0.1, mbit + 0.1, unit="Mbit/s")
        delay = end["a_to_b"]["queue_delay_ms"]
        self.figure("link: queue of 30 packets, p95", delay["p95"], low=30, unit="ms")
        self.figure("link: queue of 30 packets, max", delay["max"], high=75, unit="ms")


class Cost(LinkCase, Measurement):
    def measure_cpu(self):
        text = "rate=30mbit,delay=20ms,queue=droptail:100p"
        link = self.link(text, text)
        sinks = [self.serve(1, "count", B, 0.5, 2.5), self.serve(0, "count", A, 0.5, 2.5)]
        before = link.cpu_seconds()
        for p in [self.probe(0, "blast", B, sinks[0].port, 30e6, 1500, 3, 0),
                  self.probe(1, "blast", A, sinks[1].port, 30e6, 1500, 3, 0)]:
            self.result(p)
        used = (link.cpu_seconds() - before) / 3
        for way, p in zip(("a to b", "b to a"), sinks):
            self.figure(f"link: 30 Mbit/s both ways, {way}", self.result(p)["bps"] / 1e6, unit="Mbit/s")
        self.figure("link: 30 Mbit/s both ways, CPU", 100 * used, high=25, unit="% of a core")


class Path(TwoLinks, Measurement):
    def measure_a_flow_over_two_links(self):
        r = self.both_parts()
        for host, ms, least in zip(("server", "proxy", "the proxy's other side"), (30, 10, 10), r["pings"]):
            self.figure(f"links: RTT to {host}", least / 1000, high=ms + 15, unit="ms")
        payload = r["client"][-2]["specs"][0]["bytes"] * 8 / 1e6
        self.figure("links: a TCP over 4 Mbit/s, last second", payload, 3, 4 * 1448 / 1500 * 1.05, unit="Mbit/s")
        backbone, access = (r["links"][name][-1]["flows"]["7000"]["a_to_b"]["queue_delay_ms"]
                            for name in ("backbone", "access"))
        self.figure("links: p95 of the access link's queue", access["p95"], low=20, unit="ms")
        self.figure("links: mean of the backbone's queue", backbone["mean"], high=20, unit="ms")
