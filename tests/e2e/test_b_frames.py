# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures that are decoded in an order other than that of display: of an IP camera that sends B frames, whose time stamps alone
tell when they are shown, and of a film in a loop. Each picture is of one grey, which tells which one it is."""
import os
import re
import subprocess
import unittest

import lib
from rtsp import Recording
from test_camera import Reordered, access_units
from test_foreign_server import FPS, have_server
from test_library import Probe

COUNT = 50  # pictures that differ, in two groups
WIDTH, HEIGHT = 160, 120
IN_A_ROW = 15  # a busy machine loses some


def which(luma):
    """The picture of this mean brightness."""
    return round((luma - 20) / 4) % COUNT


class BFrames(lib.Case):
    def setUp(self):
        super().setUp()
        for tool in "ffmpeg", "ffprobe":
            lib.need(tool)
        self.film = self.path("greys.mp4")
        made = subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"nullsrc=s={WIDTH}x{HEIGHT}:r={FPS}:d={COUNT / FPS}",
                               "-vf", "geq=lum='20+4*N':cb=128:cr=128", "-pix_fmt", "yuv420p", "-color_range", "tv", "-c:v",
                               "libx264", "-preset", "veryfast", "-qp", "8", "-bf", "3", "-g", "25", "-x264-params",
                               "b-adapt=0:b-pyramid=normal:scenecut=0:open-gop=0:weightp=0:threads=1", self.film],
                              timeout=60 * lib.PATIENCE)
        if made.returncode:
            self.skipTest("this ffmpeg has no libx264")

    def camera(self):
        recording = Recording(self.sender("--sound", "none", source=f"test:{WIDTH}x{HEIGHT}@{FPS}").port, 0.2)
        sdp = "".join(line for line in recording.sdp.splitlines(True)
                      if not re.match("a=(extmap|x-weir|rtcp-fb|range)", line))
        sdp = re.sub(r";sprop-parameter-sets=[^;\r]+", "", sdp)
        data = subprocess.run(["ffmpeg", "-v", "error", "-i", self.film, "-c", "copy", "-bsf:v", "h264_mp4toannexb", "-f", "h264",
                               "-"], stdout=subprocess.PIPE, check=True, timeout=60 * lib.PATIENCE).stdout
        times = subprocess.run(["ffprobe", "-v", "fatal", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of",
                                "csv=p=0", self.film], stdout=subprocess.PIPE, check=True, timeout=60 * lib.PATIENCE, text=True)
        shown = [float(line.rstrip(",")) for line in times.stdout.split()]
        shown = [round(FPS * (t - min(shown))) for t in shown]
        self.assertNotEqual(shown, sorted(shown), "B frames")
        server = Reordered(sdp, access_units(data), shown)
        self.addCleanup(server.stop)
        return server

    def check_order(self, pictures, text=""):
        """The pictures ascend, in the turns of the loop: a lost one is a gap, one out of order makes a turn of its own."""
        steps = [(b - a) % COUNT for a, b in zip(pictures, pictures[1:])]
        self.assertLess(max(steps), COUNT // 2, f"{text} {pictures}")
        run = longest = 0
        for step in steps:
            run = run + 1 if step == 1 else 0
            longest = max(longest, run)
        self.assertGreaterEqual(longest, IN_A_ROW, f"{text} {pictures}")

    def check_shown(self, url, *options, seconds=5):
        probe = Probe(self, env={**os.environ, "TMPDIR": self.folder})
        probe.say("open", url, "--no-audio", *options)
        self.assertEqual(probe.expect("(opened|error) .*").group(), "opened 0")
        pattern = r"picture 0 \d+ (\d+) (\d+) \d+ (\d+)"
        probe.expect(pattern, seconds * FPS, 30)
        found = [tuple(map(int, m.groups())) for m in probe.found(pattern)]
        report = probe.close(0)
        self.check_order([which((total - w * h // 2 * 128) / (w * h)) for w, h, total in found], f"{report}")
        probe.finish()
        return report

    def recorded(self, path):
        data = subprocess.run(["ffmpeg", "-v", "fatal", "-i", path, "-vf", "scale=1:1:flags=area,format=gray", "-f", "rawvideo",
                               "-fps_mode", "passthrough", "-"], stdout=subprocess.PIPE, check=True,
                              timeout=60 * lib.PATIENCE).stdout
        return [which(16 + value * 219 / 255) for value in data]  # grey has the full range

    def test_a_third_party(self):
        for options in ("--buffer", "1"), ("--low-latency",):
            with self.subTest(options):
                self.check_shown(self.camera().url, *options)

    def test_a_camera_that_is_passed_on(self):
        sender = self.sender(source=self.camera().url)
        self.assertIn("sends B frames", sender.stderr)
        proxy = self.proxy("--origin", f"rtsp://127.0.0.1:{sender.port}")
        for url in sender.url, f"{proxy.base}/live":
            for options in (), ("--latency", "600"), ("--low-latency",):
                with self.subTest((url, options)):
                    self.check_shown(url, *options)

    @unittest.skipUnless(have_server(), "GStreamer's RTSP server for Python, or its x264enc, is not installed")
    def test_a_third_party_behind_a_proxy(self):
        """Its frames are numbered as they come; their time stamps pass through the proxy to the viewer."""
        film = self.path("greys.mkv")
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-stream_loop", "14", "-i", self.film, "-f", "lavfi", "-i",
                        "anullsrc=r=48000:cl=stereo", "-shortest", "-c:v", "copy", "-c:a", "libopus", film], check=True,
                       timeout=60 * lib.PATIENCE)
        here = os.path.dirname(os.path.abspath(__file__))
        server = self.start(["/usr/bin/python3", os.path.join(here, "gst_server.py"), "--file", film])
        found = lib.until(lambda: re.search(r"port (\d+)", server.stdout) or not server.running(), "the server")
        self.assertNotEqual(found, True, str(server))
        proxy = self.proxy("--origin", f"rtsp://127.0.0.1:{found.group(1)}")
        self.check_shown(f"{proxy.base}/live", seconds=4)

    def test_a_camera_that_is_decoded(self):
        self.check_shown(self.sender("--transcode", "--record", self.path("never.mkv"), source=self.camera().url).url)

    def test_recordings(self):
        sender = self.sender("--record", self.path("sender.mkv"), source=self.camera().url)
        for url, name in (self.camera().url, "third.mkv"), (sender.url, "passed.mkv"):
            self.see(url, "--record", self.path(name), frames=4 * FPS)
        self.stop_cleanly(sender)
        for name in "sender.mkv", "third.mkv", "passed.mkv":
            with self.subTest(name):
                self.check_order(self.recorded(self.path(name)), name)

    def test_a_film_in_a_loop(self):
        sender = self.sender("--loop", "--sound", "none", source=self.film)
        self.check_shown(sender.url)


if __name__ == "__main__":
    lib.main()
