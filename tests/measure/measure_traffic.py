# SPDX-License-Identifier: GPL-2.0-or-later
"""The throughput and punctuality of weir-traffic on the loopback."""
import time

from figures import Measurement
from test_traffic import Traffic


class Kinds(Traffic, Measurement):
    def measure_each_kind(self):
        self.serve()
        seconds, end = self.run_traffic(
            "--duration", "3", "elephants:n=2,cc=reno,start=0.5,stop=1.5", "mice:n=4,bytes=20000,start=1.5,stop=2.5",
            "cbr:rate=3mbit,size=1000", "web:n=10,mean=20000,shape=1.5,off=0.1")
        elephants, mice, cbr, web = end["specs"]
        self.figure("traffic: the slower of 2 elephants, in 1 s", min(elephants["flows"]) / 1e6, low=1, unit="MB")
        self.figure("traffic: mice of 20 kB completed, in 1 s", mice["completed"], low=4)
        self.figure("traffic: web objects completed, in 3 s", web["completed"], low=30)
        self.figure("traffic: CBR of 3 Mbit/s, off", 100 * (cbr["bytes"] / (3 * 375e3) - 1), -2, 2, unit="%")
        self.figure("traffic: lines of the seconds, the latest late by", 1000 * max(s["t"] % 1 for s in seconds), high=500,
                    unit="ms")

    def measure_epoch(self):
        self.serve()
        p = self.begin("--epoch", f"{time.monotonic() + 1:.6f}", "--duration", "2.5", "cbr:rate=800kbit,start=0.2")
        self.assertEqual(p.wait(), 0, str(p))
        first = self.lines()[0]
        self.figure("traffic: first second after the epoch, at", first["t"], 1, 1.3, unit="s")
        self.figure("traffic: CBR of 100 kB/s, 0.2 to 1 s", first["specs"][0]["bytes"] / 1e3, 79, 90, unit="kB")

    def measure_tries_without_a_server(self):
        self.serve()
        self.stop_cleanly(self.processes[-1])
        _, end = self.run_traffic("--duration", "1", "mice:n=2,bytes=100")
        self.figure("traffic: tries of 2 mice without a server, in 1 s", end["specs"][0]["failed"], 6, 22)
