# SPDX-License-Identifier: GPL-2.0-or-later
"""The H.264 of a file that passes as the top level: the NAL units that arrive are the file's."""
import hashlib
import os
import re
import signal
import subprocess
import unittest

import lib
from lib import until
from test_control import ControlCase

PASSES = "its own video passes as it is, as the top level: "
ENCODED = "its video is encoded again: "
SLICES = (1, 5)
FEWEST = 10  # pictures in a row: a busy machine loses some


def slices(path, track=0):
    """Returns hashes of the slices in a video track of a file, in decoding order."""
    data = subprocess.run(["ffmpeg", "-v", "fatal", "-nostdin", "-i", path, "-map", f"0:v:{track}", "-c", "copy", "-bsf:v",
                           "h264_mp4toannexb", "-f", "data", "-"], check=True, capture_output=True,
                          timeout=60 * lib.PATIENCE).stdout
    units = [unit.rstrip(b"\0") for unit in data.split(b"\0\0\1")]
    return [hashlib.sha256(unit).hexdigest() for unit in units if unit and unit[0] & 31 in SLICES]


class Films(lib.Case):
    def setUp(self):
        super().setUp()
        lib.need("ffmpeg")

    def film(self, name, *coding, seconds=6, source="testsrc2=s=320x180:r=25,noise=alls=6:allf=t", sound=False):
        path = self.path(name)
        audio = ["-f", "lavfi", "-i", "sine", "-c:a", "aac", "-shortest"] if sound else []
        lib.film_of(path, "-f", "lavfi", "-i", source, *audio, "-t", str(seconds), "-pix_fmt", "yuv420p", "-c:v", "libx264",
                    "-preset", "veryfast", "-crf", "20", *coding)
        return path

    def check_units(self, film, recording):
        """Checks that what was recorded at the top level are the film's own slices, in their order. A machine that is too
        busy may have lost some: then pictures of another level come until the next IDR."""
        own, came = slices(film), slices(recording)
        places = [own.index(unit) for unit in came if unit in set(own)]
        self.assertEqual(places, sorted(set(places)), "each unit once, and in order")
        runs = [1]
        for a, b in zip(places, places[1:]):
            runs.append(runs[-1] + 1 if b == a + 1 else 1)
        self.assertGreaterEqual(max(runs), FEWEST, f"{len(own)} units, {len(came)} came, {len(places)} of them the film's")
        return len(places), len(came)


class Passes(Films):
    def check_film(self, film, *args):
        server = self.sender(*args, source=film)
        self.assertIn(PASSES + "320x180, ", server.stderr)
        self.assertEqual(server.levels()[-1][:3], (320, 180, 25))
        self.assertGreater(len(server.levels()), 1, "levels below are encoded")
        player = self.play(server.url, "--no-picture", "--record", self.path("came.mkv"), seconds=60)
        report = player.report()
        passed, came = self.check_units(film, self.path("came.mkv"))
        top = sum(e["level"] == len(server.levels()) - 1 for e in player.shown())
        self.assertGreaterEqual(top, FEWEST, str(player))
        self.assertGreaterEqual(passed, top, "each picture of the top level is the film's own")
        if not report["levels"]["switches"]:
            self.assertEqual(passed, came, "nothing but the film's units")
        return server

    def test_mp4_without_b_frames(self):
        server = self.check_film(self.film("a.mp4", "-bf", "0", "-g", "50", sound=True))
        self.stop_cleanly(server)

    def test_matroska_with_b_frames(self):
        self.check_film(self.film("b.mkv", "-bf", "3", "-b_strategy", "0", "-x264-params", "b-pyramid=normal", "-g", "50"))

    def test_transport_stream(self):
        """Start codes instead of lengths, and delimiters."""
        self.check_film(self.film("c.ts", "-bf", "2", "-g", "25"))

    def test_several_slices_and_sets_in_the_stream(self):
        self.check_film(self.film("d.mkv", "-bf", "0", "-g", "25", "-x264-params", "slices=4:repeat-headers=1"))

    def test_it_passes_again_in_each_turn_of_a_loop(self):
        film = self.film("e.mp4", "-bf", "2", "-g", "25", seconds=2)
        server = self.sender("--loop", source=film)
        self.see(server.url, "--no-picture", "--record", self.path("came.mkv"), frames=150)
        own = slices(film)
        turns = [unit for unit in slices(self.path("came.mkv")) if unit == own[0]]
        self.assertGreaterEqual(len(turns), 2)

    def test_ffmpeg_receives_the_same_units(self):
        for name, coding in (("f.mp4", ("-bf", "0", "-g", "25")), ("g.mp4", ("-bf", "2", "-g", "25"))):
            with self.subTest(name):
                film = self.film(name, *coding, seconds=8)
                server = self.sender(source=film)
                copy = self.path("copy-" + name + ".h264")
                p = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", "tcp", "-i", server.url, "-t", "4",
                                    "-map", "0:v", "-c", "copy", copy], capture_output=True, text=True,
                                   timeout=60 * lib.PATIENCE)
                self.assertEqual(p.returncode, 0, p.stderr)
                passed, came = self.check_units(film, copy)
                self.assertEqual(passed, came)
                p = subprocess.run(["ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-show_entries", "stream=width,height",
                                    "-select_streams", "v", "-of", "csv=p=0", server.url], capture_output=True, text=True,
                                   timeout=60 * lib.PATIENCE)
                self.assertEqual(p.stdout.strip(), "320,180", p.stderr)

    def test_a_seek(self):
        """Pictures of another level come at once, and the film's own ones from its next IDR on."""
        film = self.film("h.mkv", "-bf", "2", "-g", "75", seconds=20)
        server = self.sender(source=film)
        player = self.play(server.url, "--no-picture", "--start", "4", "--record", self.path("came.mkv"), seconds=60)
        self.assertGreater(len(player.shown()), FEWEST, str(player))
        self.check_units(film, self.path("came.mkv"))
        levels = [e["level"] for e in player.shown()]
        self.assertLess(levels[0], len(server.levels()) - 1, "4 s is not the time of an IDR")
        self.assertEqual(max(levels), len(server.levels()) - 1)


class Prepared(Films):
    """A prepared file has the film's own slices as its top level, where its IDR pictures begin the groups."""
    EVEN = ("-bf", "0", "-sc_threshold", "0")

    def prepare(self, film, *args):
        p = subprocess.run([lib.SEND, "--prepare", *args, film], capture_output=True, text=True, timeout=200 * lib.PATIENCE)
        self.assertEqual(p.returncode, 0, p.stderr)
        return p.stderr

    def check_stored(self, film, period):
        """Compares the last track with the film, of which the end of a period may be left out."""
        stored = film + ".weir.mkv"
        tracks = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=index", "-of",
                                 "csv=p=0", stored], capture_output=True, text=True, check=True).stdout.split()
        own, kept = slices(film), slices(stored, len(tracks) - 1)
        self.assertGreater(len(kept), len(own) - period)
        self.assertEqual(kept, own[:len(kept)])
        for track in range(len(tracks)):
            p = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-xerror", "-i", stored, "-map", f"0:v:{track}", "-f", "null",
                                "-"], capture_output=True, text=True, timeout=60 * lib.PATIENCE)
            self.assertEqual((p.returncode, p.stderr), (0, ""))

    @lib.long
    def test_films_that_fit(self):
        for name, rate, coding, period in (("a.mp4", "25", ("-g", "50"), 2), ("b.mkv", "30", ("-g", "30"), 4),
                                           ("c.ts", "25", ("-g", "25"), 2), ("d.mp4", "30000/1001", ("-g", "15"), 4)):
            with self.subTest(name):
                film = self.film(name, *self.EVEN, *coding, seconds=7,
                                 source=f"testsrc2=s=320x180:r={rate},noise=alls=6:allf=t", sound=True)
                self.assertIn(PASSES + "320x180, ", self.prepare(film))
                self.check_stored(film, period)

    @lib.long
    def test_a_viewer(self):
        film = self.film("a.mkv", *self.EVEN, "-g", "50", "-x264-params", "slices=3", seconds=20)
        self.assertIn(PASSES, self.prepare(film))
        server = self.sender(source=film)
        self.assertIn("using its prepared file", server.stderr)
        player = self.see(server.url, "--no-picture", "--start", "5", "--record", self.path("came.mkv"), frames=100)
        passed, came = self.check_units(film, self.path("came.mkv"))
        report = player.report()
        self.assertEqual(report["playback"]["frames_undecodable"], 0)
        if not report["levels"]["switches"]:
            self.assertEqual(passed, came, "nothing but the film's units, from the first picture on")
        self.see(server.url, "--no-picture", "--level", "0", frames=6)
        self.stop_cleanly(server)

    @lib.long
    def test_taken_up_again(self):
        film = self.film("a.mkv", *self.EVEN, "-g", "50", seconds=40)
        p = self.start([lib.SEND, "--prepare", film])
        parts = [f"{film}.weir.part/00000{i}" for i in range(3)]  # each thread makes the next one
        until(lambda: all(map(os.path.exists, parts)) or not p.running(), "three groups", 60)
        p.signal(signal.SIGKILL)
        p.wait()
        if os.path.exists(film + ".weir.mkv"):
            self.skipTest("this machine was done before")
        said = self.prepare(film)
        self.assertIn("continuing at ", said)
        self.assertIn(PASSES, said)
        self.check_stored(film, 2)

    @lib.long
    def test_encoded_again_on_request(self):
        film = self.film("a.mkv", *self.EVEN, "-g", "50", seconds=3)
        self.assertIn(PASSES, self.prepare(film))
        self.assertIn("is up to date", self.prepare(film))
        self.assertIn(ENCODED + "--no-passthrough requests that", self.prepare(film, "--no-passthrough"))
        self.assertIn("is up to date", self.prepare(film, "--no-passthrough"))

    @lib.long
    def test_a_picture_that_does_not_decode(self):
        film = self.film("a.mp4", *self.EVEN, "-g", "50", "-coder", "0")
        packets = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=size,pos", "-of",
                                  "csv=p=0", film], capture_output=True, text=True, check=True).stdout.split()
        size, place = map(int, packets[130].split(",")[:2])
        with open(film, "r+b") as f:
            f.seek(place + 40)
            f.write(b"\xaa\x55\x3c" * ((size - 60) // 3))
        said = self.prepare(film)
        self.assertRegex(said, PASSES + "[^$]*its own video cannot be passed on as it is: a picture of it does not decode")
        self.assertIn("using its prepared file", self.sender(source=film).stderr)

    @lib.long
    def test_films_that_do_not_fit(self):
        for name, coding, args, reason in (
                ("a.mkv", ("-bf", "2", "-g", "50"), (), "it has B frames"),
                ("b.mkv", (*self.EVEN, "-g", "60"), (), "its IDR pictures do not begin the groups of a stored ladder"),
                ("c.mkv", (*self.EVEN, "-g", "50"), ("--temporal-layers", "3"), "its IDR pictures do not begin the groups"),
                ("d.mkv", (*self.EVEN, "-g", "50"), ("--no-passthrough",), "--no-passthrough requests that"),
                ("f.mkv", (*self.EVEN, "-g", "50"), ("--passthrough-rate", "100"), "its bitrate is above"),
                ("e.mkv", (*self.EVEN, "-g", "50"), ("--level", "320x180@25:400"), "--level requests levels of its own")):
            with self.subTest(name):
                film = self.film(name, *coding, seconds=3)
                said = self.prepare(film, *args)
                self.assertIn(f"{name}: {ENCODED}{reason}" if reason.startswith("i") else ENCODED + reason, said)
                self.assertNotIn(PASSES, said)
                self.assertTrue(os.path.exists(film + ".weir.mkv"))


class Switching(Films, ControlCase):
    @lib.long
    def test_levels(self):
        """A viewer that comes late, or goes down and up again, sees pictures of both levels."""
        film = self.film("a.mkv", "-bf", "2", "-g", "50", seconds=60)
        server = self.serve("--control", "--loop", source=film)
        top = len(server.levels()) - 1
        first = self.player(server.url, "--no-picture")
        first.wait_shown(40)
        known = {s["session"] for s in self.sessions()}
        second = self.player(server.url, "--no-picture")
        until(lambda: sum(e["level"] == top for e in second.shown()) > 10, "the top level at the second viewer", 30)
        session, = {s["session"] for s in self.sessions()} - known

        def shows(level, since):
            return [e for e in second.shown() if e["level"] == level and e["t"] > since]

        for level in 1, top:
            now = second.events()[-1]["t"]
            self.assertEqual(self.set_level(session, level)[0], 204)
            until(lambda: len(shows(level, now)) > 10, f"pictures of level {level}", 30)
        self.assertTrue(first.running(), str(first))
        self.stop_cleanly(server)


class Refused(Films):
    def said(self, film, *args):
        server = self.sender(*args, source=film)
        line, = re.findall(r"(?:passes as it is|is encoded again)[^\n]*", server.stderr)
        return line, server

    def test_one_line_says_why_not(self):
        tall = "testsrc2=s=320x180:r=25"
        rows = (("open.mkv", ("-g", "50", "-bf", "2", "-x264-params", "open-gop=1"), {"seconds": 16}, "groups of pictures are open"),
                ("long.mkv", ("-g", "400", "-x264-params", "scenecut=0"), {"seconds": 16}, "longer than 12 s"),
                ("ten.mkv", ("-pix_fmt", "yuv420p10le"), {}, "not of 8 bits and 4:2:0"),
                ("wide.mkv", ("-aspect", "4:1"), {}, "not square"),
                ("varies.mkv", ("-vf", "select='lt(n,20)+not(mod(n,3))'", "-fps_mode", "vfr"), {}, "frame rate varies"),
                ("slow.mkv", ("-crf", "51"), {"source": "color=s=320x180:r=25"}, "bitrate is below"))
        for name, coding, more, why in rows:
            with self.subTest(name):
                line, server = self.said(self.film(name, *coding, **{"source": tall, **more}))
                self.assertIn("is encoded again: ", line)
                self.assertIn(why, line)
                self.assertGreater(len(server.levels()), 1)

    def test_options(self):
        film = self.film("a.mkv", "-g", "50")
        for option, why in ((["--no-passthrough"], "--no-passthrough requests that"),
                            (["--passthrough-rate", "100"], "its bitrate is above that of --passthrough-rate ("),
                            (["--level", "320x180@25:300"], "--level requests"), (["--profile", "baseline"], "--profile requests"),
                            (["--codec", "vp9", "--level", "320x180@25:300"], "--level requests"),
                            (["--http", "127.0.0.1:0"], "--http requests"), (["--record", self.path("r.mkv")], "--record requests")):
            with self.subTest(option):
                self.assertIn(why, self.said(film, *option)[0])
        self.play(self.said(film, "--no-passthrough")[1].url, "--no-picture", "--duration", "1")


if __name__ == "__main__":
    lib.main()
