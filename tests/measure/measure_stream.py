# SPDX-License-Identifier: GPL-2.0-or-later
"""Live media over each transport on the loopback: frames, latency, pictures, throughput."""
import lib
from figures import Measurement

NAMES = ["tcp", "tcp:notsent=16384", "minbuf", "minbuf:1,0", "minbuf:auto,20", "udp"]


class Stream(Measurement):
    def watch(self, server, names, *args):
        players = [self.player(server.url, "--transport", name, *args) for name in names]
        for p in players:
            self.assertEqual(p.wait(), 0, str(p))
        return [p.report() for p in players]

    def measure_all_transports_at_once(self):
        """Runs for 4 s; returns the worst of all viewers for each figure."""
        reports = self.watch(self.sender(), NAMES, "--duration", "4")
        playback = [r["playback"] for r in reports]
        latency = [r["latency"] for r in reports]
        what = f"{len(NAMES)} viewers: "
        self.figure(what + "frames played in 4 s", min(p["frames_played"] for p in playback), low=3.4 * lib.FPS * 0.8)
        self.figure(what + "frames lost", max(p["frames_lost"] for p in playback), high=0)
        self.figure(what + "frames late", max(p["frames_late"] for p in playback), high=0.05 * 4 * lib.FPS + 2)
        self.figure(what + "session of 4 s", max(r["session"]["duration"] for r in reports), 4, 8, "s")
        self.figure(what + "start to first picture", max(r["startup"]["time_to_first_frame"] for r in reports), high=3, unit="s")
        self.figure(what + "packets within 500 ms", min(l["protocol"]["d500"] for l in latency), low=0.9)
        self.figure(what + "protocol latency p50", max(l["protocol"]["p50"] for l in latency), 0, 100, "ms")
        self.figure(what + "display latency p50", max(l["display"]["p50"] for l in latency), 30, 1000, "ms")
        self.figure(what + "PSNR", min(r["picture"]["psnr_y"] for r in reports), low=28, unit="dB")
        self.figure(what + "SSIM", min(r["picture"]["ssim"] for r in reports), low=0.8)
        self.figure(what + "switches of level", max(len(r["levels"]["switches"]) for r in reports), high=0)

    def measure_undisturbed(self):
        r, = self.watch(self.sender(), ["minbuf"], "--buffer", "0.5", "--duration", "3")
        self.figure("buffer of 0.5 s: stalls", r["rebuffering"]["count"], high=0)
        roots = r["causes"]["by_root"]
        self.figure("buffer of 0.5 s: frames lost by network or sender", roots["network"] + roots["sender"], high=0)

    def measure_filler(self):
        names = ["tcp", "tcp:notsent=16384", "minbuf", "udp"]
        *streams, udp = self.watch(self.sender(source="synthetic:greedy:4000"), names, "--duration", "2.5")
        self.figure("filler of 4 Mbit/s: udp", udp["network"]["throughput"] / 1e6, 4 * 0.8, 4 * 1.2, "Mbit/s")
        self.figure("filler: slowest over TCP", min(r["network"]["throughput"] for r in streams) / 1e6, low=8, unit="Mbit/s")
        self.figure("filler: udp, write to read, p50", udp["latency"]["protocol"]["p50"], 0, 100, "ms")

    def measure_low_latency(self):
        server = self.sender()
        players = [self.player(server.url, *args, "--duration", "3") for args in ([], ["--low-latency"])]
        usual, low = [p.wait() or p.report()["latency"]["display"]["p50"] for p in players]
        self.figure("low latency: below the usual by", usual - low, low=0, unit="ms")

    def measure_levels(self):
        """Returns the rate of a level as a fraction of its bitrate; the first second includes the key frame."""
        server = self.sender()
        players = [self.player(server.url, "--level", str(i), "--adapt", "none", "--duration", "3")
                   for i in range(len(server.levels()))]
        shares = []
        for (_, _, _, kbps), p in zip(server.levels(), players):
            self.assertEqual(p.wait(), 0, str(p))
            shares.append(p.report()["network"]["throughput"] / 1e3 / kbps)
        self.figure("levels: throughput over the bitrate, highest", max(shares), 0, 3)

    def measure_file(self):
        p = self.play(self.sender(source=self.clip(seconds=3)).url)
        r = p.report()
        self.figure("file of 75 frames: received", r["playback"]["frames_received"], 75, 75)
        self.figure("file of 75 frames: shown", len(p.shown()), low=66)
