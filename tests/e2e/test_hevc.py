# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-send --prepare --codec hevc: a stored ladder in HEVC, to weir-play and to other players."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import lib

LEVELS = ["--level", "192x108@15:60", "--level", "320x180@15:150", "--level", "320x180@30:220"]


class Hevc(lib.Case):
    @classmethod
    def setUpClass(cls):
        """Prepares a film of 6 s."""
        lib.need("ffmpeg")
        encoders = subprocess.run(["ffmpeg", "-v", "error", "-encoders"], capture_output=True, text=True).stdout
        if "libx265" not in encoders:
            raise unittest.SkipTest("this libavcodec was built without libx265")
        super().setUpClass()
        made = tempfile.mkdtemp(prefix="weir-e2e-")
        cls.addClassCleanup(shutil.rmtree, made, ignore_errors=True)
        cls.film = os.path.join(made, "film.mkv")
        lib.film_of(cls.film, "-f", "lavfi", "-i", "testsrc2=s=320x180:r=30:d=6", "-c:v", "libx264", "-preset", "ultrafast",
                    "-crf", "16")
        subprocess.run([lib.SEND, "--prepare", "--codec", "hevc", *LEVELS, cls.film], check=True, capture_output=True,
                       timeout=120 * lib.PATIENCE)

    def check_whole(self, p):
        self.assertEqual([e for e in p.events("frame") if e.get("dropped") == "undecodable"], [])
        self.all_came(p.report())

    def watched(self, url, *args):
        """Plays until 40 pictures were shown; returns the player."""
        p = self.player(url, *args)
        p.wait_shown(40, 30)
        p.signal(signal.SIGINT)
        self.assertEqual(p.wait(), 130, str(p))
        return p

    def test_each_transport_and_level(self):
        server = self.sender("--loop", source=self.film)
        self.assertIn("using its prepared file", server.stderr)
        for transport, level in ("tcp", 0), ("minbuf", 1), ("udp", 2), ("mtp", 2):
            with self.subTest(f"{level} over {transport}"):
                self.check_whole(self.watched(server.url, "--transport", transport, "--level", str(level), "--adapt", "none"))
        self.stop_cleanly(server)

    def test_switch_and_seek(self):
        server = self.sender(source=self.film)
        p = self.play(server.url, "--level", "0", "--adapt", "none", "--at", "1:level=2", "--at", "2:seek=4", seconds=40)
        self.assertEqual(p.report()["ended"], "end-of-media", str(p))
        self.check_whole(p)
        self.assertEqual([s["to"] for s in p.report()["levels"]["switches"]], [2])

    def test_description_and_another_player(self):
        server = self.sender("--insecure", source=self.film)
        shown = subprocess.run(["ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-show_entries",
                                "stream=codec_name,profile,width,height", "-of", "csv=p=0", server.url], capture_output=True,
                               text=True, timeout=60 * lib.PATIENCE)
        self.assertIn("hevc,Main,320,180", shown.stdout, shown.stderr)
        p = self.start(["ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", "tcp", "-i", server.url, "-map", "0:v",
                        "-frames:v", "30", "-f", "null", "-"])
        self.assertEqual(p.wait(60), 0, str(p))
        self.assertEqual(p.stderr, "")

    def test_through_a_proxy(self):
        server = self.sender("--loop", source=self.film)
        proxy = self.proxy("--origin", f"rtsp://{server.url.split('/')[2]}")
        self.check_whole(self.watched(proxy.base + "/live"))

    def refused(self, *args, code=1):
        p = self.start([lib.SEND, *lib.listening("127.0.0.1:0"), *args])
        self.assertEqual(p.wait(30), code, str(p))
        return p.stderr

    def test_what_it_is_not_for(self):
        self.assertIn("too slow for live pictures", self.refused("--codec", "hevc", "test:320x180@30"))
        ladder = self.film + ".weir.mkv"
        self.assertIn("conflicts with this prepared file, which is HEVC", self.refused("--codec", "h264", ladder))
        self.assertIn("it serves H.264", self.refused("--codec", "hevc", "--http", "127.0.0.1:0", self.film, code=2))
        p = self.start([lib.PLAY, "--headless", "--record", self.path("r.mkv"), "--duration", "2",
                        self.sender(source=self.film).url])
        p.wait(30)
        self.assertRegex(p.stderr, "--record records H.264")

    def test_an_interrupted_run_of_another_codec_is_not_continued(self):
        """The parts of a run belong to its plan, which has the codec."""
        film = self.path("film.mkv")
        shutil.copy(self.film, film)
        subprocess.run([lib.SEND, "--prepare", *LEVELS, film], check=True, capture_output=True, timeout=60 * lib.PATIENCE)
        done = subprocess.run([lib.SEND, "--prepare", "--codec", "hevc", *LEVELS, film], check=True, capture_output=True,
                              text=True, timeout=120 * lib.PATIENCE)
        self.assertNotRegex(done.stderr, r"continuing")
        found = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0",
                                film + ".weir.mkv"], capture_output=True, text=True, timeout=60 * lib.PATIENCE).stdout
        self.assertEqual(set(re.findall(r"h264|hevc", found)), {"hevc"})


if __name__ == "__main__":
    lib.main()
