# SPDX-License-Identifier: GPL-2.0-or-later
"""Datagram transports: round trips, reports, and the effect of a lost packet on later packets."""
import subprocess
import time

import lib
import test_datagram
import test_mtp_raw
from figures import Measurement
from relay import Relayed


class Datagram(Measurement, Relayed):
    def measure_each(self):
        for name in [*test_datagram.VARIABLES, "mtp", "mtp:fill,2,0", "mtp:resend"]:
            server = self.server()
            p = self.play(server.url, "--transport", name, "--duration", "4")
            t = self.last_transport()
            least = 4 * lib.FPS * (0.2 if name == "arc" else 0.5)  # arc climbs from a packet a round trip
            self.figure(f"{name}: frames shown in 4 s", len(p.shown()), low=least)
            self.figure(f"{name}: round trip", t["rtt"], 0, 200, "ms")
            if "feedback" in t and t["feedback"]:
                f = t["feedback"]
                self.figure(f"{name}: packets reported as arrived", f["arrived"] / max(f["packets"], 1), low=0.8)
            self.stop_cleanly(server)

    def measure_dead_paths(self):
        """The path is interrupted for 9 s: timeouts after 1, 3, 5, 7, 9 s."""
        for name in "udp", "tfrc":
            server = self.server()
            relay = self.relay(server.port)
            p = self.player(relay.url, "--transport", name)
            p.wait_shown(20)
            relay.away = True
            time.sleep(9)
            count, begun, relay.away = len(p.shown()), time.monotonic(), False
            lib.until(lambda: len(p.shown()) > count + 10 or not p.running(), "pictures after the gap", 5)
            self.figure(f"{name}, nothing for 9 s: pictures after", time.monotonic() - begun, high=5, unit="s")
            f = self.last_transport()["feedback"]
            self.figure(f"{name}, nothing for 9 s: time-outs", f["timeouts"], 4, 7)
            self.figure(f"{name}, nothing for 9 s: probes", f["probes"], 4, 7)
            server.stop()

    def measure_no_packet_waits_for_another_ones_loss(self):
        """The 99.9th percentile of the protocol's latency is within one round trip (40 ms) of the median."""
        for name in "mtp", "mtp:fill":
            for loss in 0.01, 0.02:
                server = self.server(source="synthetic:greedy")
                relay = self.relay(server.port, loss_down=loss, loss_up=loss, delay=0.02)
                p = self.play(relay.url, "--transport", name, "--adu-events", "--duration", "8")
                ms = sorted((e["read"] - e["written"]) * 1e3 for e in p.events("adu"))
                t = self.last_transport()
                what = f"{name}, loss of {loss:.0%}: "
                self.figure(what + "packets in 8 s", len(ms), low=501)
                self.figure(what + "packets replaced", t["controller"]["replaced"], low=4)
                self.figure(what + "round trip of 40 ms", t["rtt"], 40, 80, "ms")
                self.figure(what + "p99.9 - p50, over the round trip", (ms[int(len(ms) * 0.999)] - ms[len(ms) // 2]) / t["rtt"],
                            high=1)
                server.stop()


class Raw(Measurement, test_mtp_raw.Raw):
    def setUp(self):
        super().setUp()
        try:
            test_mtp_raw.setUpModule()
        except subprocess.CalledProcessError as error:
            self.skipTest(str(error))

    def measure_strict(self):
        """Through the firewall at 4 Mbit/s, 0.5 % lost on each of two links, each way."""
        net = test_mtp_raw.Network(self, "0.5%")
        server = self.serve(net, "strict", 4e6, 20)
        client = self.fetch(net)
        c, s = self.result(client, 40), self.result(server, 20)
        self.figure("mtp-raw, loss of 1 %: delivered", c["delivered"] / s["pushed"], 0.97, 0.999)
        self.figure("mtp-raw, loss of 1 %: p99 - p50", (c["p99"] - c["p50"]) / 1e3, high=15, unit="ms")
