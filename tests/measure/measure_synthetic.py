# SPDX-License-Identifier: GPL-2.0-or-later
"""Media of frames without pictures: pace, jitter, throughput."""
import time

import rtsp
from figures import Measurement
from test_synthetic import GODDARD, media


class Synthetic(Measurement):
    def whole(self, what, report, fps, kbps):
        playback = report["playback"]
        self.figure(what + ": frames lost or late", playback["frames_lost"] + playback["frames_late"], high=0)
        self.figure(what + ": stalls", report["rebuffering"]["count"], high=0)
        self.figure(what + ": frames a second", playback["frame_rate"], 0.95 * fps, 1.05 * fps)
        self.figure(what + ": mean interval", report["jitter"]["mean"], 950 / fps, 1050 / fps, "ms")
        self.figure(what + ": throughput", report["network"]["throughput"] / 1e3, 0.9 * kbps, 1.1 * kbps, "kbit/s")

    def measure_goddard(self):
        server = self.sender(source="synthetic:goddard")
        asked = [(0, "udp"), (3, "tcp"), (6, "mtp"), (6, "udp")]
        players = [self.player(server.url, "--level", str(level), "--transport", name, "--buffer", "2", "--duration", "10")
                   for level, name in asked]
        for (level, name), p in zip(asked, players):
            self.assertEqual(p.wait(), 0, str(p))
            self.whole(f"synthetic, level {level}, {name}", p.report(), *GODDARD[level])

    def measure_layers(self):
        server = self.sender(source="synthetic:layers:8,1024")
        p = self.play(server.url, "--transport", "udp", "--buffer", "1", "--duration", "4")
        self.whole("synthetic, 8 layers", p.report(), 25, 8 * 1024 * 8 * 25 / 1000)

    def measure_speed(self):
        """A speed applies only to the viewer that requested it."""
        server = self.sender(source="synthetic:layers:8,1024")
        with rtsp.Client(server.port) as viewer, rtsp.Client(server.port) as other:
            viewer.watch(level=7)
            other.watch(level=0)
            began = time.monotonic()
            self.assertEqual(viewer.request("PLAY", headers={"Speed": "2"}).headers["speed"], "2.000")
            viewer.collect(0.2)
            asked = time.monotonic()
            fast = {timestamp for timestamp, _ in media(viewer.collect(2))}
            self.figure("speed of 2: frames a second", len(fast) / (time.monotonic() - asked), 45, 55)
            other.collect(0.2)
            stamps = {timestamp for timestamp, _ in media(other.frames)}
            self.figure("speed of 1 beside it: frames a second", len(stamps) / (time.monotonic() - began), 22.5, 27.5)
