# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-send --codec vp9: one encode of three sizes by three temporal layers, to viewers of any level."""
import json
import re
import signal
import urllib.request

import lib

SOURCE = "test:640x360@30"


class Vp9(lib.Case):
    def serve(self, *args):
        return self.sender("--codec", "vp9", *args, source=SOURCE)

    def encoders(self, server):
        """Returns the stats of the encoder, of each size."""
        base = re.search(r"metrics at (http://\S+/)", server.stderr).group(1)
        with urllib.request.urlopen(base + "status.json", timeout=10 * lib.PATIENCE) as answer:
            return json.load(answer)["streams"][0]["encoders"]

    def check_whole(self, p):
        self.all_came(p.report())
        self.assertEqual([e for e in p.events("frame") if e.get("dropped") == "undecodable"], [])

    def test_each_level_over_each_transport(self):
        """All levels at once come from one encode."""
        server = self.serve()
        levels = server.levels()
        self.assertEqual([level[:3] for level in levels],
                         [(640 // d, 360 // d, rate) for d in (4, 2, 1) for rate in (7.5, 15, 30)])
        transports = ["tcp", "minbuf", "udp"]
        players = {(transport, level): self.player(server.url, "--transport", transport, "--level", str(level), "--adapt", "none")
                   for transport, level in zip(transports, (2, 5, 8))}
        for (transport, level), p in players.items():
            with self.subTest(f"{level} over {transport}"):
                self.check_whole(self.end_after(p, 20))
                r = p.report()
                self.assertGreater(r["levels"]["time_at"][level], 0)
                self.assertEqual(sum(time > 0 for time in r["levels"]["time_at"]), 1)
                self.assertGreater(r["picture"]["compared"], 3)
                self.assertGreater(r["picture"]["ssim"], 0.6, "another picture scores 0.5")
        self.stop_cleanly(server)

    def test_switching_needs_no_key_frame(self):
        server = self.serve("--metrics", "127.0.0.1:0")
        p = self.player(server.url, "--level", "2", "--adapt", "none", "--at", "2:level=8", "--at", "4:level=2", "--at",
                        "6:level=5", "--at", "8:level=8")
        p.wait_shown()
        last = p.events("connected")[0]["t"] + 9
        lib.until(lambda: any(e["level"] == 8 and e["shown"] > last for e in p.shown()) or not p.running(), "level 8 again", 20)
        p.signal(signal.SIGTERM)
        self.assertEqual(p.wait(), 130, str(p))
        self.check_whole(p)
        switches = p.report()["levels"]["switches"]
        # A busy machine may skip a level that was wanted for two seconds only.
        levels = [2, *(s["to"] for s in switches)]
        self.assertEqual([s["from"] for s in switches], levels[:-1])
        self.assertEqual(levels[-1], 8, str(switches))
        self.assertLessEqual(set(levels), {2, 5, 8})
        encoders = self.encoders(server)
        # One is the viewer's first frame. Where a busy machine leaves frames out, the viewer asks for others.
        keys = [e["key_frames"] for e in encoders]
        self.assertEqual(keys[1:], [0, 0])
        self.assertGreater(keys[0], 0)
        if not p.report()["playback"]["frames_lost"]:
            self.assertEqual(keys[0], 1)
        self.assertEqual([e["width"] for e in encoders], [160, 320, 640])
        self.stop_cleanly(server)

    def test_other_players_get_the_smallest_size(self):
        lib.need("ffprobe", "ffmpeg")
        server = self.serve()
        for transport in "tcp", "udp":
            with self.subTest(transport):
                p = self.start(["ffprobe", "-v", "error", "-rtsp_transport", transport, "-show_streams", "-of", "json",
                                server.url])
                self.assertEqual(p.wait(40), 0, str(p))
                video = json.loads(p.stdout)["streams"][0]
                self.assertEqual((video["codec_name"], video["width"], video["height"]), ("vp9", 160, 90))
                p = self.start(["ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", transport, "-i", server.url,
                                "-frames:v", "20", "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-"])
                self.assertEqual(p.wait(40), 0, str(p))
                frames = [line.split(",") for line in p.stdout.splitlines() if not line.startswith("#")]
                self.assertEqual(len(frames), 20)
                self.assertEqual(len({f[-1] for f in frames}), len(frames), "the test picture always moves")
                if transport == "tcp" or lib.datagrams_dropped() == self.dropped_before:
                    self.assertNotRegex(p.stderr, r"(?i)error|invalid|missed")

    def test_what_it_cannot_encode(self):
        for args, reason in (([self.path("film.weir.mkv")], "prepared file"), (["test:128x72@30"], "128x72"),
                             (["synthetic:goddard"], "conflicts with a synthetic source")):
            with self.subTest(args[0]):
                open(self.path("film.weir.mkv"), "w").close()
                p = self.start([lib.SEND, "--listen", "127.0.0.1:0", "--codec", "vp9", *args])
                self.assertIn(p.wait(), (1, 2))
                self.assertIn(reason, p.stderr)


if __name__ == "__main__":
    lib.main()
