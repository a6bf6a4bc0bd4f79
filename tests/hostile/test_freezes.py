# SPDX-License-Identifier: GPL-2.0-or-later
"""Every freeze is reported, whatever its cause: the report's freezes are the gaps between the shown pictures."""
import re
import signal
import struct
import time

import lib
import rtsp

FPS = 30
LEAST = 0.15  # seconds, and no less than three frames of the level
HOLE = (2.0, 2.2)  # seconds of the media
SECONDS = 6


class Freezes(lib.Case):
    def without_a_piece(self):
        """A server that is not weir-send: after a loss it sends no key frame, and each frame depends on the one before."""
        sender = self.sender("--level", "320x180@30:300", "--sound", "none", source="test:320x180@30")
        recording = rtsp.Recording(sender.port, SECONDS + 2)
        sdp = "\r\n".join(l for l in recording.sdp.split("\r\n")
                          if not any(own in l for own in ("x-weir", "extmap", "rtcp-fb")))

        def media(server):
            began, base = time.monotonic(), struct.unpack("!I", recording.packets[0][4:8])[0]
            for packet in recording.packets:
                at = ((struct.unpack("!I", packet[4:8])[0] - base) & 0xffffffff) / 90000
                while time.monotonic() - began < at:
                    if not server.pause(0.003):
                        return
                if not HOLE[0] < at < HOLE[1]:
                    server.packet(packet)
            while server.pause(0.5):
                pass

        server = rtsp.FakeServer(sdp, media)
        self.addCleanup(server.stop)
        return server

    def check(self, p, limit):
        """Compares the report with the events `frame`. Returns the report's freezes."""
        report = p.report()
        freezes = report["freezes"]
        shown = sorted(e["shown"] for e in p.shown())
        end = report["session"]["duration"]
        gaps = [(a, b - a) for a, b in zip(shown, [*shown[1:], max(end, shown[-1])]) if b - a > limit]
        told = [(e["at"], e["duration"]) for e in freezes["events"]]
        # A gap within a millisecond of the limit may be either.
        edge = [g for g in gaps if g[1] < limit + 0.001]
        self.assertLessEqual(len(gaps) - len(edge), len(told), (gaps, told))
        for at, duration in told:
            near = min(abs(at - a) + abs(duration - d) for a, d in gaps)
            self.assertLess(near, 0.003, f"{at} {duration}: {gaps}")
        self.assertEqual(freezes["count"], len(told))
        self.assertAlmostEqual(freezes["total"], sum(d for _, d in told), delta=0.002 * len(told) + 0.002)
        self.assertAlmostEqual(freezes["longest"], max((d for _, d in told), default=0), delta=0.002)
        self.assertAlmostEqual(freezes["ratio"], freezes["total"] / report["playback"]["wall"], delta=0.001)
        sums = freezes["by_cause"].values()
        self.assertEqual(sum(s["count"] for s in sums), freezes["count"])
        self.assertAlmostEqual(sum(s["total"] for s in sums), freezes["total"], delta=0.01)
        events = p.events("freeze")
        self.assertEqual([e["cause"] for e in events], [e["cause"] for e in freezes["events"]])
        told = re.search(r"freezes +(\d+), together ([\d.]+) s", p.stdout)
        self.assertEqual(int(told.group(1)), freezes["count"])
        self.assertAlmostEqual(float(told.group(2)), freezes["total"], delta=0.011)  # rounded
        causes = report["causes"]
        self.assertEqual(sum(causes["by_cause"].values()), causes["expected"] - causes["shown"])
        return freezes

    def test_a_hole_after_which_nothing_can_be_decoded(self):
        server = self.without_a_piece()
        p = self.player(server.url)
        lib.until(lambda: p.events() and p.events()[-1]["t"] > SECONDS or not p.running(), "the hole and what follows", 30)
        self.interrupt(p)
        freezes = self.check(p, LEAST)
        self.assertGreater(freezes["by_cause"]["network"]["total"], 1, freezes)
        # It is no stall; a busy machine may have some.
        self.assertLess(p.report()["rebuffering"]["by_cause"]["network"]["total"], freezes["by_cause"]["network"]["total"])

    def test_a_level_of_few_frames(self):
        """At 7.5 frames/s a picture is shown for 133 ms, and a gap of 400 ms is not a freeze."""
        sender = self.sender("--sound", "none", source="test:320x180@15")
        p = self.see(sender.url, "--level", "0", "--adapt", "none", frames=25)
        self.check(p, 3 / 7.5)

    def test_a_server_that_stands_still(self):
        """Its frame numbers continue without a gap: the frames that the level has by its clock count as missed."""
        sender = self.sender("--sound", "none", source="test:320x180@15")
        p = self.player(sender.url, "--level", "3", "--adapt", "none")
        p.wait_shown(20)
        sender.signal(signal.SIGSTOP)
        self.stall_lasts(p, 3)
        sender.signal(signal.SIGCONT)
        p.wait_shown(len(p.shown()) + 40)
        p.signal(signal.SIGINT)
        self.assertEqual(p.wait(), 130, str(p))
        freezes = self.check(p, 3 / 15)
        self.assertGreater(freezes["longest"], 2.5)
        causes = p.report()["causes"]
        missed = sum(e["frames"] for e in p.events("missed"))
        self.assertEqual(missed, causes["by_cause"]["outage"])
        self.assertGreater(missed, 2 * 15)
        # By the sender's clock, as many as are not shown at most, and those of the longest gap at least. A busy machine makes
        # others, too short to be missed.
        captured = [e["captured"] for e in p.shown()]
        gaps = [(b - a) * 15 - 1 for a, b in zip(captured, captured[1:])]
        self.between(0.9 * max(gaps), missed, sum(gaps) + 1)
        self.assertEqual(causes["expected"], missed + len(p.events("frame")))


if __name__ == "__main__":
    lib.main()
