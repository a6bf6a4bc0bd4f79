# SPDX-License-Identifier: GPL-2.0-or-later
"""The offset between audio and video on each transport, through loss, stalls and changes of speed."""
import os
import statistics

import test_foreign_server
import test_sound
from figures import Measurement

NEAR = 40  # ms
LONG = int(os.environ.get("WEIR_MEASURE_SECONDS", "30"))  # of the long viewing
TRANSPORTS = "minbuf", "udp", "tfrc", "mtp", "arc", "psp", "scream"


class Sound(Measurement, test_sound.Sound):
    def offset(self, what, audio, near=NEAR, worst=NEAR):
        offset = audio["av_offset"]
        self.figure(what + ": samples of sound against picture", offset["samples"], low=2)
        self.figure(what + ": sound against picture, p50", offset["p50"], -near, near, "ms")
        for q in "p5", "p95":
            self.figure(f"{what}: sound against picture, {q}", offset[q], -worst, worst, "ms")

    def undisturbed(self, what, report, seconds, worst=NEAR):
        audio = report["audio"]
        disturbed = audio["lost"] + audio["underruns"] + audio["concealed_ms"]
        self.figure(what + ": lost, underruns, ms concealed", disturbed, high=0)
        self.figure(what + ": packets of sound", audio["packets"], 50 * seconds * 0.8, 50 * (seconds + 3))
        self.offset(what, audio, worst=worst)

    def measure_transports(self):
        server = self.server()
        common = "--level", "1", "--no-picture", "-d", "5"
        players = {t: self.player(server.url, "--transport", t, *common) for t in TRANSPORTS}
        low = self.player(server.url, "--low-latency", *common)
        for transport, p in players.items():
            self.assertEqual(p.wait(30), 0, str(p))
            self.undisturbed(transport, p.report(), 4, 3 * NEAR)  # of some, on one machine
        self.assertEqual(low.wait(30), 0, str(low))
        self.offset("low latency", low.report()["audio"], NEAR, 3 * NEAR)
        dropped = [line["sound"]["dropped"] for line in self.stats() if line.get("sound")]
        self.figure("sound dropped by the sender", max(dropped), high=0)

    def measure_long(self):
        """A loss of 1 % and a round trip of 100 ms: neither latency nor offset grows. WEIR_MEASURE_SECONDS=1800 makes it
        half an hour."""
        players = {}
        for transport in "udp", "scream":
            r = self.relay(self.sender().port, loss_down=0.01, delay=0.05)
            players[transport] = self.player(r.url, "--transport", transport, "--no-picture", "-d", str(LONG))
        for transport, p in players.items():
            what = f"{LONG} s, loss of 1 %, {transport}"
            self.assertEqual(p.wait(LONG + 30), 0, str(p))
            audio = p.report()["audio"]
            lags = [1e3 * (e["shown"] - e["captured"]) for e in p.shown()]
            part = len(lags) // 3
            self.figure(what + ": lost sound that was sent again", audio["repaired"] / max(1, audio["lost"]), 0.8, 1)
            self.figure(what + ": concealed, of a minute", audio["concealed_ms"] * 60 / LONG, high=200, unit="ms")
            self.figure(what + ": underruns", audio["underruns"], high=LONG // 60)
            self.figure(what + ": latency, last third less the second", statistics.median(lags[-part:]) -
                        statistics.median(lags[part:2 * part]), -20, 20, "ms")
            self.offset(what, audio)

    def measure_loss(self):
        r = self.relay(self.sender().port, loss_down=0.05)
        p = self.play(r.url, "--transport", "udp", "--repair", "off", "--level", "1", "--no-picture", "-d", "5", seconds=40)
        audio = p.report()["audio"]
        self.figure("loss of 5 %: concealed, over 20 ms a packet", audio["concealed_ms"] - 20 * audio["lost"],
                    -0.5 * 20 * audio["lost"], 60, "ms")
        self.offset("loss of 5 %", audio)

    def measure_stall(self):
        r = self.relay(self.sender().port)
        p = self.player(r.url, "--transport", "minbuf", "--level", "1", "--no-picture", "--latency", "400", "-d", "9")
        p.wait_shown(20)
        r.stand_still(1.0)
        self.assertEqual(p.wait(40), 0, str(p))
        audio = p.report()["audio"]
        self.figure("stall of 1 s: periods left out", audio["spliced"], low=11)
        self.offset("stall of 1 s", audio)

    def measure_file(self):
        server = self.sender(source=self.file())
        self.undisturbed("file", self.play(server.url, "--no-picture", seconds=40).report(), 4)
        p = self.play(server.url, "--no-picture", "--at", "0.8:pause", "--at", "1.2:go-on", "--at", "1.8:seek=2.5", seconds=40)
        audio = p.report()["audio"]
        self.figure("pause and seek: underruns", audio["underruns"], high=0)
        self.offset("pause and seek", audio)


class Foreign(Measurement, test_foreign_server.ForeignServer):
    def measure_gstreamer(self):
        url = self.serve("--audio", "opus", "--audio-type", "96")
        for transport in "tcp", "udp":
            p = self.play(url, "--transport", transport, "--duration", "2.5")
            audio = p.report()["audio"]
            what = f"GStreamer's server, {transport}: "
            self.figure(what + "frames played in 2.5 s", p.report()["playback"]["frames_played"], 2.5 * 25 * 0.6, 2.5 * 25 + 3)
            self.figure(what + "packets of sound", audio["packets"], 60, 140)
            self.figure(what + "jumps", audio["jumps"], high=0)
            self.figure(what + "heard", audio["heard"], 1.2, 2.6, "s")
            self.figure(what + "sound against picture, p50", audio["av_offset"]["p50"], -15, 15, "ms")
