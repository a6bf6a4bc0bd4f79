# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames without pictures: the player's report, and the effect of requested levels and speeds."""
import collections

import lib
import rtsp
from lib import until

# Figure 6 of the Goddard paper: frames a second and kbit/s of levels 0 to 6.
GODDARD = [(10, 80), (15, 120), (15, 240), (20, 320), (20, 640), (30, 960), (30, 1920)]


def media(frames):
    """Returns (RTP timestamp, bytes of payload) of the media among interleaved frames."""
    out = []
    for channel, packet in frames:
        if channel == 0:
            extension = 4 + 4 * int.from_bytes(packet[14:16], "big") if packet[0] & 0x10 else 0
            out.append((int.from_bytes(packet[4:8], "big"), len(packet) - 12 - extension))
    return out


def size_of(viewer):
    """Returns the packets of each frame, by timestamp."""
    return collections.Counter(timestamp for timestamp, _ in media(viewer.frames))


class Synthetic(lib.Case):
    def check_whole(self, report, fps, kbps):
        self.all_came(report)
        self.few_lost(report)
        self.assertEqual(report["playback"]["encoded_frame_rate"], fps)
        # Packets have 40 to 60 bytes of header: at most 6 % of a frame of 1000 bytes.
        frame = 1e3 * kbps / 8 / fps
        network, repair = report["network"], report["repair"] or {"resent": 0, "duplicated": 0}
        once = 1 - (repair["resent"] + repair["duplicated"]) / network["packets_received"]  # what a busy machine held up came twice
        received = once * network["bytes_received"] / report["playback"]["frames_received"]
        self.assertGreater(received, 0.9 * frame, report["network"])
        if not self.kernel_dropped(report):  # else packets of frames that are not complete count
            self.assertLess(received, 1.2 * frame, report["network"])

    def test_goddard(self):
        """Without loss, at the lowest, a middle and the highest level."""
        server = self.sender(source="synthetic:goddard")
        asked = [(0, "udp"), (3, "tcp"), (6, "mtp"), (6, "udp")]
        players = [self.player(server.url, "--level", str(level), "--transport", name, "--buffer", "2")
                   for level, name in asked]
        for (level, name), p in zip(asked, players):
            with self.subTest(level=level, transport=name):
                r = self.end_after(p, 30).report()
                self.check_whole(r, *GODDARD[level])
                self.assertEqual(r["session"]["source"], "synthetic:goddard 16x16@60")
                self.assertEqual(r["levels"]["bitrates"], [1000 * kbps for _, kbps in GODDARD])
                self.assertEqual(len(p.shown()), r["playback"]["frames_played"])
        self.stop_cleanly(server)

    def test_layers(self):
        server = self.sender(source="synthetic:layers:8,1024")
        report = self.see(server.url, "--transport", "udp", "--buffer", "1", frames=75).report()
        self.check_whole(report, 25, 8 * 1024 * 8 * 25 / 1000)
        if not self.kernel_dropped(report):
            self.assertEqual((report["layers"]["mean"], report["layers"]["changes"]), (8, 0))
        self.assertAlmostEqual(report["layers"]["goodput_bps"], report["network"]["goodput"], delta=1)
        self.assertGreaterEqual(report["layers"]["throughput_bps"], report["layers"]["goodput_bps"])
        self.stop_cleanly(server)

    def test_levels_and_speed(self):
        """A requested level begins with the next frame; a speed applies only to the viewer that requested it."""
        server = self.sender(source="synthetic:layers:8,1024")
        with rtsp.Client(server.port) as viewer, rtsp.Client(server.port) as other:
            viewer.watch(level=7)
            other.watch(level=0)
            viewer.collect_least(30)
            viewer.request("SET_PARAMETER", body="level: 2\r\n")
            until(lambda: viewer.collect(0.1) is None or sum(size_of(viewer)[t] == 3 for t in size_of(viewer)) > 2, "level 2")
            counts = collections.Counter()
            for timestamp, size in media(viewer.frames):
                self.assertEqual(size, 1024)
                counts[timestamp] += 1
            layers = list(counts.values())[:-1]  # the last may be on its way
            self.assertEqual(sorted(layers, reverse=True), layers)
            self.assertEqual(set(layers), {8, 3})
            answer = viewer.request("PLAY", headers={"Speed": "2"})
            self.assertEqual(answer.headers["speed"], "2.000")
            other.collect_least(20)
            stamps = sorted({timestamp for timestamp, _ in media(other.frames)})
            self.assertAlmostEqual(min(b - a for a, b in zip(stamps, stamps[1:])), 3600, delta=15)
        self.stop_cleanly(server)


if __name__ == "__main__":
    lib.main()
