# SPDX-License-Identifier: GPL-2.0-or-later
"""The latency of live media: its distance from the target, and the time to reach the target again after a stall."""
import time

import lib
import relay
from figures import Measurement

STALL, BACK, NEAR = 2.0, 45, 0.1  # seconds


class Latency(Measurement, relay.Relayed):
    def measure_target(self):
        server = self.server()
        targets = [150, 400, 1500]
        players = [self.player(server.url, "--no-picture", "--latency", str(t), "--duration", "8") for t in targets]
        for target, p in zip(targets, players):
            self.assertEqual(p.wait(), 0, str(p))
            self.figure(f"latency of {target} ms asked for: p50", p.report()["latency"]["display"]["p50"], target - 80,
                        target + 80, "ms")

    @staticmethod
    def lags(p):
        """Returns the time from each frame's media time to its showing; the zero is arbitrary."""
        return [e["shown"] - e["number"] / lib.FPS for e in p.shown()]

    def measure_after_a_stall(self):
        server = self.sender()
        players = []
        for target in "500", "1500", None:
            middle = self.relay(server.port)
            p = self.player(middle.url, "--no-picture", *(["--latency", target] if target else []))
            p.middle, p.target = middle, target or "usual"
            players.append(p)
        for p in players:
            p.wait_shown(5 * lib.FPS, 20)
            p.before = self.lags(p)[-1]
        for p in players:
            p.middle.stand_still(STALL)
        begun = time.monotonic()
        for p in players:
            lib.until(lambda p=p: max(self.lags(p)) > p.before + STALL / 4, f"the stall of {p}", 10)
        for p in players:
            lib.until(lambda p=p: max(self.lags(p)[-lib.FPS:]) < p.before + NEAR, f"the latency to be back: {p}", BACK)
            self.figure(f"stall of 2 s, latency {p.target}: back after", time.monotonic() - begun, high=BACK, unit="s")
            p.signal(lib.signal.SIGTERM)
            self.assertEqual(p.wait(), 130, str(p))
            budget = p.report()["latency"]["budget"]
            if p.target != "usual":
                for share in "sender_share", "buffer_share":
                    self.figure(f"stall of 2 s, latency {p.target}: {share.replace('_', ' ')}", budget[share], 20,
                                int(p.target) + 1000, "ms")
            if p.target == "1500":
                self.figure("stall of 2 s, latency 1500: skips", p.report()["playback"]["skips"], high=0)
