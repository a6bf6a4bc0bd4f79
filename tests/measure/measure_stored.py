# SPDX-License-Identifier: GPL-2.0-or-later
"""Stored ladders: the duration of a seek, and the cost of viewers."""
import time

import test_stored
from figures import Measurement


class Stored(Measurement, test_stored.Stored):
    def measure_places(self):
        server = self.sender(source=self.prepared())
        began, cpu = time.monotonic(), server.cpu_seconds()
        places = [(5.1, 3), (1.7, 2), (6.6, 0)]
        players = [self.at(server.url, *place) for place in places]
        steady = self.player(server.url, "--at", "1:seek=3", "--at", "1.7:pause", "--at", "2.2:go-on", "--duration", "3.5")
        waits = []
        for p in players:
            self.assertEqual(p.wait(), 0, str(p))
            waits.append(p.events("seek")[0]["first_frame_ms"])
        self.assertEqual(steady.wait(), 0, str(steady))
        report = steady.report()
        self.figure("stored ladder: a seek's first frame, the soonest of three", min(waits), 0, 100, "ms")
        self.figure("stored ladder: stalls of who seeks and pauses", report["rebuffering"]["total"], 0, 0.5, "s")
        self.figure("stored ladder: frames lost", report["playback"]["frames_lost"], high=0)
        share = (server.cpu_seconds() - cpu) / (time.monotonic() - began)
        self.figure("stored ladder: processor for four viewers", 100 * share, high=10, unit="% of a core")

    def measure_seeks_without_a_stored_ladder(self):
        p = self.play(self.sender(source=self.numbered()).url, "--at", "0.8:seek=4", "--at", "1.6:pause", "--at", "2:go-on",
                      "--at", "2.6:seek=2", "--at", "3.4:seek=5.5", "--duration", "4.2")
        waits = [seek["first_frame_ms"] for seek in p.events("seek")]
        self.figure("film encoded as it is watched: a seek's first frame, the soonest of three", min(waits), 0, 180, "ms")

    def measure_loop(self):
        film = self.numbered(seconds=3)
        self.prepare(film)
        p = self.play(self.sender("--loop", source=film).url, "--duration", "4")
        fps = test_stored.FPS
        self.figure("stored ladder: frames received in 4 s", p.report()["playback"]["frames_received"], 4 * fps - 12, 9 * fps)

    def measure_order(self):
        p = self.play(self.sender(source=self.prepared()).url, "--level", "3")
        self.figure("stored ladder: frames shown of 240", len(p.shown()), low=240)
