# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests of one viewer of a live stream do not harm other viewers of the same size."""
import time

import flooder
import lib
from rtsp import Client, Viewer

ARGS = ("--level", "320x180@30:300")
SOURCE = "test:320x180@30"
SECONDS = 7


class Neighbours(lib.Case):
    def share(self):
        """Starts a sender, and a viewer without losses."""
        self.begun = time.monotonic()
        sender = self.server(*ARGS, source=SOURCE)
        viewer = Viewer(sender.port)
        viewer.wait_frames(10)
        return sender, viewer

    def encoder(self):
        return [line["encoder"] for line in self.stats() if line.get("encoder")][-1]

    def flood(self, packet, lower):
        sender, viewer = self.share()
        flood = flooder.Flooder(sender.port, packet)
        until = time.monotonic() + SECONDS
        lib.until(lambda: time.monotonic() > until and flood.sent >= 500, "the flood", 6 * SECONDS)
        viewer.wait_frames(60)  # and a line of the statistics
        flood.stop()
        viewer.check()
        lines, elapsed = self.stats(), time.monotonic() - self.begun
        encoder = [line["encoder"] for line in lines if line.get("encoder")][-1]
        # Beyond those of two viewers that begin, and one every 10 s.
        self.assertLessEqual(encoder["key_frames"], 2 + elapsed / 10 + 1 + elapsed / 2)
        repairs = encoder["repairs"]
        # The encoder is asked for what packets that are sent again cannot repair.
        asked = [line["repair"] for line in lines[-4:] if line.get("repair")]
        packets = sum(r["requested"] + r["not_resent"]["under_way"] for r in asked)
        self.assertGreater(repairs["requests"] + packets, lower)
        self.assertLessEqual(repairs["key_frames"], 1 + elapsed / 2, repairs)
        self.assertLessEqual(repairs["repaired"], 3 + 1.5 * elapsed, repairs)
        return max(line["transport"]["feedback_dropped"] for line in lines if "transport" in line)

    def test_pli(self):
        self.assertGreater(self.flood(flooder.pli, 20), 0)

    @lib.long
    def test_nack_of_the_newest_packet(self):
        self.flood(flooder.nack_newest, 20)

    def test_nack_of_all_packets(self):
        self.assertGreater(self.flood(flooder.nack_all, 5), 0)

    @lib.long
    def test_pli_of_a_viewer_that_does_not_play(self):
        sender, viewer = self.share()
        flood = flooder.Flooder(sender.port, flooder.pli, plays=False)
        lib.until(lambda: flood.sent >= 500, "the flood", 60)
        viewer.wait_frames(60)
        flood.stop()
        viewer.check()
        encoder, elapsed = self.encoder(), time.monotonic() - self.begun
        self.assertLessEqual(encoder["key_frames"], 1 + elapsed / 10 + 1)
        self.assertEqual(encoder["repairs"]["requests"], 0)

    @lib.long
    def test_viewers_that_come_and_go(self):
        sender, viewer = self.share()
        times = 0
        until = time.monotonic() + SECONDS
        while time.monotonic() < until or times < 30:
            with Client(sender.port) as c:
                c.watch()
            times += 1
        viewer.wait_frames(60)
        viewer.check()
        encoder, elapsed = self.encoder(), time.monotonic() - self.begun
        self.assertLessEqual(encoder["key_frames"], 1 + 4 + elapsed + elapsed / 10 + 1, f"{times} viewers")

    def test_a_viewer_that_pauses_and_plays(self):
        sender, viewer = self.share()
        with Client(sender.port) as c:
            c.watch()
            until = time.monotonic() + SECONDS
            times = 0
            while time.monotonic() < until or times < 30:
                self.assertEqual(c.request("PAUSE").status, 200)
                self.assertEqual(c.request("PLAY").status, 200)
                times += 1
            viewer.wait_frames(60)
        viewer.check()
        encoder, elapsed = self.encoder(), time.monotonic() - self.begun
        self.assertLessEqual(encoder["key_frames"], 1 + 4 + elapsed + elapsed / 10 + 1, f"{times} times")


if __name__ == "__main__":
    lib.main()
