# SPDX-License-Identifier: GPL-2.0-or-later
"""Media of frames without pictures: what a player makes of it, and what a viewer gets who asks for levels and speeds."""
import collections
import time

import lib
import rtsp

# Figure 6 of the Goddard paper: frames a second and kbit/s of levels 0 to 6.
GODDARD = [(10, 80), (15, 120), (15, 240), (20, 320), (20, 640), (30, 960), (30, 1920)]


def media(frames):
    """(RTP timestamp, bytes of payload) of the media among interleaved frames."""
    out = []
    for channel, packet in frames:
        if channel == 0:
            extension = 4 + 4 * int.from_bytes(packet[14:16], "big") if packet[0] & 0x10 else 0
            out.append((int.from_bytes(packet[4:8], "big"), len(packet) - 12 - extension))
    return out


class Synthetic(lib.Case):
    def check_whole(self, report, fps, kbps):
        playback = report["playback"]
        self.assertEqual(playback["frames_lost"] + playback["frames_late"], 0, playback)
        self.assertEqual(report["network"]["packets_lost"], 0)
        self.assertEqual(report["rebuffering"]["count"], 0)
        self.assertEqual(playback["encoded_frame_rate"], fps)
        self.assertAlmostEqual(playback["frame_rate"], fps, delta=0.05 * fps)
        self.assertAlmostEqual(report["jitter"]["mean"], 1e3 / fps, delta=50 / fps)
        # Packets have 40 to 60 bytes of header: at most 6 % of a frame of 1000 bytes. The session's first moment has none.
        self.assertTrue(0.9e3 * kbps < report["network"]["throughput"] < 1.1e3 * kbps, report["network"])

    def test_goddard(self):
        """Ten seconds without loss, at the lowest, a middle and the highest level."""
        server = self.sender(source="synthetic:goddard")
        asked = [(0, "udp"), (3, "tcp"), (6, "mtp"), (6, "udp")]
        players = [self.player(server.url, "--level", str(level), "--transport", name, "--buffer", "2",
                               "--duration", "10")
                   for level, name in asked]
        for (level, name), p in zip(asked, players):
            with self.subTest(level=level, transport=name):
                self.assertEqual(p.wait(), 0, str(p))
                r = p.report()
                self.check_whole(r, *GODDARD[level])
                self.assertEqual(r["session"]["source"], "synthetic:goddard 16x16@60")
                self.assertEqual(r["levels"]["bitrates"], [1000 * kbps for _, kbps in GODDARD])
                self.assertEqual(len(p.shown()), r["playback"]["frames_played"])
        self.stop_cleanly(server)

    def test_layers(self):
        server = self.sender(source="synthetic:layers:8,1024")
        p = self.play(server.url, "--transport", "udp", "--buffer", "1", "--duration", "4")
        self.check_whole(p.report(), 25, 8 * 1024 * 8 * 25 / 1000)
        self.stop_cleanly(server)

    def test_levels_and_speed(self):
        """A level asked for is there with the next frame; a speed holds for who asked for it alone."""
        server = self.sender(source="synthetic:layers:8,1024")
        with rtsp.Client(server.port) as viewer, rtsp.Client(server.port) as other:
            viewer.watch(level=7)
            other.watch(level=0)
            began = time.monotonic()
            viewer.collect(0.5)
            viewer.request("SET_PARAMETER", body="level: 2\r\n")
            viewer.collect(0.5)
            counts = collections.Counter()
            for timestamp, size in media(viewer.frames):
                self.assertEqual(size, 1024)
                counts[timestamp] += 1
            layers = list(counts.values())[:-1]  # the last may be on its way
            self.assertEqual(sorted(layers, reverse=True), layers)
            self.assertEqual(set(layers), {8, 3})
            answer = viewer.request("PLAY", headers={"Speed": "2"})
            self.assertEqual(answer.headers["speed"], "2.000")
            viewer.collect(0.2 * lib.SLOW)
            asked = time.monotonic()
            fast = {timestamp for timestamp, _ in media(viewer.collect(2))}
            self.assertAlmostEqual(len(fast) / (time.monotonic() - asked), 50, delta=5)
            other.collect(0.2 * lib.SLOW)  # what came while the first was read is there as well
            stamps = sorted({timestamp for timestamp, _ in media(other.frames)})
            self.assertEqual({b - a for a, b in zip(stamps, stamps[1:])}, {90000 // 25})
            self.assertAlmostEqual(len(stamps) / (time.monotonic() - began), 25, delta=2.5)
        self.stop_cleanly(server)


if __name__ == "__main__":
    lib.main()
