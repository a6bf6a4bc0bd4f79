# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-play watches a server that is not weir-send: GStreamer's (gst_server.py)."""
import os
import re
import subprocess
import unittest

import lib

FPS = 25
SECONDS = 1.5
B_FRAMES = "bframes=2 b-adapt=false rc-lookahead=5 sync-lookahead=0"


def have_server():
    probe = "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import Gst, GstRtspServer; " \
            "Gst.init(None); assert Gst.ElementFactory.find('x264enc')"
    return subprocess.run(["/usr/bin/python3", "-c", probe], stderr=subprocess.DEVNULL, timeout=60).returncode == 0


@unittest.skipUnless(have_server(), "GStreamer's RTSP server for Python, or its x264enc, is not installed")
class ForeignServer(lib.Case):
    def serve(self, *args):
        here = os.path.dirname(os.path.abspath(__file__))
        self.foreign = self.start(["/usr/bin/python3", os.path.join(here, "gst_server.py"), *args])
        found = lib.until(lambda: re.search(r"port (\d+)", self.foreign.stdout) or not self.foreign.running(), "the server")
        self.assertNotEqual(found, True, str(self.foreign))
        self.port = int(found.group(1))
        return f"rtsp://127.0.0.1:{self.port}/live"

    def asked(self, what):
        return self.foreign.stdout.count(f"asked {what}")

    def watch(self, url, *args, seconds=SECONDS):
        p = self.play(url, "--duration", str(seconds), "--verbose", *args)
        r = p.report()
        frames = r["playback"]["frames_played"]
        self.between(seconds * FPS * (0.6 if lib.SLOW <= 1 else 0.2), frames, seconds * FPS + 3, str(p))
        self.assertEqual(r["playback"]["frames_undecodable"], 0, str(p))
        return p, r

    def test_tcp_and_udp(self):
        url = self.serve("--audio")  # a second medium: it is left alone
        for transport in "tcp", "udp":
            with self.subTest(transport):
                p, r = self.watch(url, "--transport", transport)
                self.assertEqual(r["session"]["transport"], transport)
                self.assertEqual(r["network"]["packets_lost"], 0)
                self.assertIsNone(r["latency"]["display"]["p50"])  # nobody tells when it was captured
                self.assertIsNone(r["latency"]["protocol"]["p50"])
        self.assertEqual(self.asked("set-parameter"), 0)
        self.assertEqual(self.asked("teardown"), 2)

    def test_b_frames(self):
        url = self.serve("--encoder", B_FRAMES)
        for args in (), ("--low-latency",):
            with self.subTest(args):
                p, r = self.watch(url, *args)
                shown = [e["shown"] for e in p.shown()]
                self.assertEqual(len(set(shown)), len(shown))

    def test_parameter_sets_of_the_description_alone(self):
        """rtph264pay leaves them out of the stream when it aggregates nothing and is given AVC."""
        url = self.serve("--pay", "config-interval=0 aggregate-mode=none", "--encoder",
                         "tune=zerolatency byte-stream=false ! video/x-h264,stream-format=avc")
        self.watch(url)

    def test_aggregated_packets(self):
        url = self.serve("--pay", "aggregate-mode=max-stap mtu=600")  # STAP-A and FU-A
        self.watch(url, "--transport", "udp")

    def test_digest(self):
        url = self.serve("--user", "joe:pa@ss").replace("//", "//joe:pa%40ss@")
        p, r = self.watch(url)
        self.assertNotIn("pa%40ss", str(r))
        self.assertNotIn("pa@ss", p.stderr + str(r))
        for user in "", "joe:wrong@":
            bad = self.play(f"rtsp://{user}127.0.0.1:{self.port}/live", "--duration", "2", code=3)
            self.assertRegex(bad.stderr, "the server refuses DESCRIBE: 401")

    def test_a_session_that_times_out_soon(self):
        """What weir-play asks to keep a session comes three times in the time that the server gives it."""
        url = self.serve("--timeout", "3")
        self.watch(url, "--transport", "udp", seconds=5)
        self.assertGreaterEqual(self.asked("get-parameter"), 4)

    def test_levels_are_not_to_be_had(self):
        url = self.serve()
        p = self.play(url, "--level", "2", "--duration", "2", code=3)
        self.assertRegex(p.stderr, "not weir-send: there are no levels")


if __name__ == "__main__":
    lib.main()
