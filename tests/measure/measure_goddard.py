# SPDX-License-Identifier: GPL-2.0-or-later
"""Goddard's client on paths of a constant rate: its estimates, and the levels that it requests."""
import time

import lib
import test_goddard
from figures import SOURCE, Measurement
from test_synthetic import GODDARD

BITRATES = [1000 * kbps for _, kbps in GODDARD]


class Goddard(Measurement, test_goddard.Goddard):
    def measure_capacity_then_loss(self):
        """A path of 800 kbit/s, without loss, with loss, then without."""
        server = self.sender(source="synthetic:goddard")
        relay = self.relay(server.port, rate_down=800e3, queue_down=60000)
        p = self.goddard(relay.url, "udp", play_buf_thresh=1, loss_monitor_interval=2, upscale_interval=2,
                         upscale_limit_time_factor=1)
        p.wait_shown(20)
        (capacity,) = p.events("capacity")
        self.figure("path of 800 kbit/s: capacity estimated", (capacity["capacity"] or 0) / 1e3, 645, 955, "kbit/s")
        self.figure("path of 800 kbit/s: first level", self.levels(p)[0][1], 4, 4)
        time.sleep(2)  # streaming, and neither loss nor a stall
        self.figure("path of 800 kbit/s: switches in 2 s", len(self.levels(p)) - 1, high=0)
        self.figure("path of 800 kbit/s: packets lost", relay.lost, high=0)
        begun, relay.loss_down = time.monotonic(), 0.1
        lib.until(lambda: self.levels(p)[-1][1] <= 2, "two levels less", 20)
        self.figure("loss of 10 %: two levels less after", time.monotonic() - begun, high=20, unit="s")
        begun, relay.loss_down, down = time.monotonic(), 0.0, len(self.levels(p))
        lib.until(lambda: len(self.levels(p)) >= down + 2 and self.levels(p)[-1][2] == "upscale", "a level more", 20)
        self.figure("no loss any more: a level more after", time.monotonic() - begun, high=20, unit="s")
        p.signal(lib.signal.SIGINT)
        p.wait()
        wrong = [s for s in self.levels(p)[1:] if s[1] - s[0] != {"loss": -1, "upscale": 1}.get(s[2]) or s == (4, 5, "upscale")]
        self.figure("path of 800 kbit/s: switches of another kind", len(wrong), high=0)
        self.figure("path of 800 kbit/s: stalls", p.report()["rebuffering"]["count"], high=0)

    def measure_first_level(self):
        """It requests the highest level below the capacity, whatever the datagrams contain."""
        server = self.sender(source="synthetic:goddard")
        for transport, rate in ("udp", 400e3), ("mtp", 1400e3), ("tfrc", 200e3):
            relay = self.relay(server.port, rate_down=rate)
            p = self.goddard(relay.url, transport, "--duration", "1", buf_factor=1, play_buf_thresh=0.5)
            self.assertEqual(p.wait(), 0, str(p))
            below = max(k for k, r in enumerate(BITRATES) if r < rate)
            self.figure(f"{transport}, path of {rate / 1e3:g} kbit/s: first level", self.levels(p)[0][1], below, below)

    def measure_tcp_that_becomes_slow(self):
        server = self.sender(source="synthetic:goddard")
        relay = self.relay(server.port, tcp_rate=2.8e6)
        p = self.goddard(relay.url, "tcp", play_buf_thresh=1, loss_monitor_interval=2)
        p.wait_shown(10)
        self.figure("tcp, path of 2.8 Mbit/s: first level", self.levels(p)[0][1], 6, 6)
        begun, relay.tcp_rate = time.monotonic(), 500e3
        lib.until(lambda: "rebuffer" in [why for _, _, why in self.levels(p)], "a level less by a stall", 25)
        self.figure("tcp, then 500 kbit/s: a level less after", time.monotonic() - begun, high=25, unit="s")
        lib.until(lambda: self.modes(p)[-1] == "streaming" and len(self.modes(p)) >= 4, "playing again", 25)
        self.figure("tcp, then 500 kbit/s: playing again after", time.monotonic() - begun, high=50, unit="s")

    def measure_minbuf_that_becomes_slow(self):
        """The sender drops frames without room before the buffer runs empty, and they count as lost."""
        server = self.sender(source="synthetic:goddard")
        relay = self.relay(server.port, tcp_rate=3e6)
        p = self.goddard(relay.url, "minbuf:1,3", play_buf_thresh=3, loss_monitor_interval=2)
        lib.until(lambda: self.modes(p)[-1:] == ["streaming"], "playing", 20)
        begun, relay.tcp_rate = time.monotonic(), 700e3
        lib.until(lambda: "loss" in [why for _, _, why in self.levels(p)], "a level less by loss", 20)
        self.figure("minbuf, 3 Mbit/s, then 700 kbit/s: a level less after", time.monotonic() - begun, high=20, unit="s")
        p.signal(lib.signal.SIGINT)
        p.wait()
        self.figure("minbuf, then 700 kbit/s: frames left out", p.report()["playback"]["frames_skipped_by_sender"], low=1)

    def measure_speed(self):
        """The first 2 s are sent at twice the pace; a live source has one pace."""
        for source, fastest, slowest in ("synthetic:goddard", 0.9, 1.6), (SOURCE, 1.8, 3.0):
            server = self.sender(source=source)
            p = self.play(server.url, "--adapt", "goddard", "--goddard", "play_buf_thresh=2,buf_factor=2", "--transport",
                          "udp", "--duration", "4")
            self.figure(f"{source}: 2 s buffered after", p.report()["startup"]["initial_buffering"], fastest, slowest, "s")
            self.figure(f"{source}: switches of level", len(self.levels(p)) - 1, high=0)
            self.figure(f"{source}: stalls", p.report()["rebuffering"]["count"], high=0)
