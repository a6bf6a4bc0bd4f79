# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-send --encoder: which encoders are usable, and what viewers get from one without layers."""
import os
import re
import signal
import subprocess
import unittest

import lib
import link_case

ENCODER = "lavc-x264"  # libavcodec's libx264: hardware encoders are its other names
NAMES = ["x264", "vaapi", "nvenc", "qsv", "v4l2m2m", ENCODER]


def listed():
    """Returns {name: usable}, and the text."""
    done = subprocess.run([lib.SEND, "--encoder", "list"], capture_output=True, text=True, timeout=60 * lib.PATIENCE)
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^(\S+) +(usable|not usable) ", done.stdout, re.M)
    return {name: state == "usable" for name, state in rows}, done.stdout


def need_encoder():
    if not listed()[0][ENCODER]:
        raise unittest.SkipTest("this libavcodec was built without libx264")


class Encoder(lib.Case):
    def test_list(self):
        usable, text = listed()
        self.assertEqual(list(usable), NAMES)
        self.assertTrue(usable["x264"])
        for name in (name for name in NAMES if not usable[name]):
            self.assertRegex(text, rf"(?m)^{name} .*\n .*: it needs ", "what is missing, and what to install")

    def test_one_that_is_not_usable(self):
        missing = [name for name, usable in listed()[0].items() if not usable]
        if not missing:
            self.skipTest("each encoder is usable here")
        p = self.start([lib.SEND, "--encoder", missing[0], *lib.listening("127.0.0.1:0"), "test:320x180@30"])
        self.assertEqual(p.wait(30), 1, str(p))
        self.assertRegex(p.stderr, rf"encoder {missing[0]}: .*it needs .*--encoder x264 always is")

    def test_conflicts(self):
        for args, text in ((["--codec", "vp9"], "it chooses the encoder of H.264"),
                           (["--prepare"], "encodes with x264"),
                           (["--profile", "baseline"], "requires --encoder x264 or auto"),
                           (["--temporal-layers", "2"], "the others have no layers")):
            p = self.start([lib.SEND, "--encoder", ENCODER, *args, "test:"])
            self.assertEqual(p.wait(), 2, str(p))
            self.assertIn(text, p.stderr)

    def test_levels_without_layers(self):
        """One level a size; two requests of one size are two encoders."""
        need_encoder()
        server = self.sender("--encoder", ENCODER, source="test:640x360@30")
        self.assertEqual([level[2:] for level in server.levels()], [(15, 120), (30, 320), (30, 960)])
        self.stop_cleanly(server)
        server = self.sender("--encoder", ENCODER, "--level", "320x180@30:400", "--level", "320x180@15:200",
                             source="test:640x360@30")
        self.assertEqual(server.levels(), [(320, 180, 15, 200), (320, 180, 30, 400)])
        p = self.player(server.url, "--level", "0", "--adapt", "none", "--at", "2:level=1")
        lib.until(lambda: p.events("level") or not p.running(), "the other level", 30)
        p.signal(signal.SIGINT)
        self.assertEqual(p.wait(), 130, str(p))
        self.assertEqual([s["to"] for s in p.report()["levels"]["switches"]], [1])
        self.stop_cleanly(server)

    def test_viewers_over_each_transport(self):
        need_encoder()
        server = self.sender("--encoder", ENCODER, source="test:320x180@30")
        for transport in ("tcp", "minbuf", "udp", "tfrc", "mtp"):
            with self.subTest(transport):
                p = self.see(server.url, "--transport", transport, frames=20)
                r = p.report()
                self.all_came(r)
                self.assertEqual([e for e in p.events("frame") if e.get("dropped") == "undecodable"], [])
                self.assertGreater(r["picture"]["compared"], 3)
                self.assertGreater(r["picture"]["ssim"], 0.6, "another picture scores 0.5")
        self.stop_cleanly(server)

    def test_third_party(self):
        need_encoder()
        lib.need("ffmpeg")
        server = self.sender("--encoder", ENCODER, "--insecure", source="test:320x180@30")
        p = self.start(["ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", "tcp", "-i", server.url, "-map", "0:v",
                        "-frames:v", "20", "-f", "null", "-"])
        self.assertEqual(p.wait(60), 0, str(p))
        self.assertEqual(p.stderr, "")

    def test_a_prepared_file_is_used(self):
        """--encoder is of live pictures: a stored ladder is none of its business."""
        need_encoder()
        clip = self.clip(seconds=2, size="320x180")
        subprocess.run([lib.SEND, "--prepare", "--level", "320x180@25:300", clip], check=True, timeout=60 * lib.PATIENCE,
                       capture_output=True)
        server = self.sender("--encoder", ENCODER, source=clip)
        self.assertIn("using its prepared file", server.stderr)
        self.assertTrue(os.path.exists(clip + ".weir.mkv"))


class Narrow(link_case.LinkCase):
    @classmethod
    def setUpClass(cls):
        link_case.set_up()
        need_encoder()
        super().setUpClass()

    @lib.long
    def test_the_rate_follows_a_link_that_becomes_narrow(self):
        """The encoder of the size becomes slower, or the smaller size takes its place; pictures go on."""
        for transport in ("tfrc", "minbuf"):
            with self.subTest(transport):
                self.link("rate=4mbit:500kbit@12s,queue=droptail:200ms,delay=20ms", "delay=20ms")
                server = self.server("--encoder", ENCODER, "--level", "320x180@30:1500", "--level", "160x90@30:150",
                                     "--sound", "none", source="test:320x180@30", listen=f"{link_case.A}:8554",
                                     prefix=self.ends[0].inside())
                self.follow(self.player(server.url, "--transport", transport, prefix=self.ends[1].inside()))

    def follow(self, p):
        def encoders():
            return [line["encoder"] for line in lib.Case.stats(self) if line.get("encoder")]

        lib.until(lambda: not p.running() or any(e["rate"] < 500000 for e in encoders()[-3:]), "a rate below the link's", 90)
        self.assertTrue(p.running(), str(p))
        # Bytes follow, too: of 5 s that the stats count, fewer than the link carries.
        count = len(encoders())
        lib.until(lambda: not p.running() or any(
            a["size"] == b["size"] and 0 < 8 * (b["bytes"] - a["bytes"]) < 5 * 550000
            for a, b in zip(encoders()[count:], encoders()[count + 5:])), "bytes below the link's rate", 90)
        self.assertTrue(p.running(), str(p))
        shown = len(p.shown())
        p.wait_shown(shown + 30, 60)


if __name__ == "__main__":
    lib.main()
