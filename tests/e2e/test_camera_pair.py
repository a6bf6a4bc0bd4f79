# SPDX-License-Identifier: GPL-2.0-or-later
"""Main and sub stream of one IP camera as two levels of one source, passed on. Each stream is a fake camera of which each packet
is known."""
import os
import re
import struct
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import lib
import test_camera
from rtsp import FakeServer, Recording, Rtp
from test_camera import slices, units
from test_control import ControlCase
from test_foreign_server import have_server

MAIN, SUB = (320, 240, 25), (160, 120, 15)  # width, height, pictures a second


class Stream(FakeServer):
    """Sends `packets` again and again, numbered on, as fast as their time stamps say. With a `lag`, in seconds, it sends each
    so late, and sender reports tell when it was captured, by a clock that is `ahead`."""

    def __init__(self, sdp, packets, rate, lag=0, ahead=0, **options):
        self.packets, self.rate, self.lag, self.ahead, self.sent = packets, rate, lag, ahead, 0
        super().__init__(sdp, Stream.play, **options)

    def play(self):
        begun, seq = time.monotonic() + self.lag, 0
        wall = time.time() + 2208988800 + self.ahead
        while not self.over.is_set():
            p = Rtp(self.packets[seq % len(self.packets)])
            stamp = 90000 * self.sent // self.rate
            if self.lag and self.sent % self.rate == 0 and p.payload[0] & 31 == 7:
                ntp = int((wall + self.sent / self.rate) * 2 ** 32)
                self.packet(struct.pack("!BBHIQIII", 0x80, 200, 6, 7, ntp, stamp, seq, 0), 1)
            self.packet(struct.pack("!BBHII", 0x80, p.marker << 7 | 96, seq & 0xFFFF, stamp & 0xFFFFFFFF, 7) + p.payload)
            seq += 1
            self.sent += p.marker
            if p.marker:
                self.pause(max(0, begun + self.sent / self.rate - time.monotonic()))


class Case(ControlCase):
    @classmethod
    def setUpClass(cls):
        case = lib.Case()
        case.setUp()
        try:
            cls.main, cls.sub = (cls.recorded(case, *shape) for shape in (MAIN, SUB))
        finally:
            case.doCleanups()

    @staticmethod
    def recorded(case, width, height, rate):
        recording = Recording(case.sender("--sound", "none", source=f"test:{width}x{height}@{rate}").port, 1.0)
        sdp = "".join(line for line in recording.sdp.splitlines(True)
                      if not re.match("a=(extmap|x-weir|rtcp-fb|range)", line))
        kinds = [Rtp(data).payload[0] & 31 for data in recording.packets]
        return sdp, recording.packets[kinds.index(7):], rate  # from the first parameter sets

    def stream(self, of, **options):
        server = Stream(*of, **options)
        self.addCleanup(server.stop)
        return server

    def pair(self, lag=0):
        """Returns the source, the one of two that has a name; the other one has none. The sub stream comes later, by the lag."""
        self.main_, self.sub_ = self.stream(self.main, lag=lag and 0.05), self.stream(self.sub, lag=lag)
        return f"front={self.main_.url}|{self.sub_.url}"

    def watch(self, *args):
        p = self.player(self.server_.url.rstrip("/") + "/front", "--no-picture", *args)
        p.wait_shown(10)
        return p

    def shows(self, p, level, count=12):
        """Waits until so many further pictures of the level were shown, one after the other."""
        before = len(p.shown())
        lib.until(lambda: [e["level"] for e in p.shown()[before:]][-count:] == [level] * count, f"level {level}", 40)

    def go_to(self, p, level):
        session, = self.sessions()
        self.assertEqual(self.set_level(session["session"], level)[0], 204)
        self.shows(p, level)

    def end(self, p):
        """Ends the player: each picture was shown once, in the order of capture. Of a camera that is back, the first ones may have
        come at the same time, which is all that is known of their capture. Pictures of one instant have about the same number: at
        a change of the level they may differ by an interval of the sub stream, which has MAIN's and SUB's common rate, 75."""
        self.interrupt(p)
        shown = p.shown()
        times = [e["captured"] for e in shown]
        back = [(a, b) for a, b in zip(shown, shown[1:]) if a["number"] != shown[0]["number"] and
                (b["captured"] < a["captured"] or b["number"] <= a["number"] - (75 // SUB[2] if a["level"] != b["level"] else 0))]
        self.assertEqual(back, [], f"{len(times)} pictures\n{p}")
        self.assertEqual(p.report()["playback"]["frames_undecodable"], 0, str(p))

    def still(self):
        """Returns the size of the small picture; None: there is none now."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.server_.port}/front.jpg", timeout=20 * lib.PATIENCE) as answer:
                data = answer.read()
        except urllib.error.HTTPError:
            return None
        at = data.index(b"\xff\xc0") + 5
        return struct.unpack("!HH", data[at:at + 4])[::-1]


class Levels(Case):
    def test_a_viewer_goes_down_and_up(self):
        """Two sizes and rates on one time line, with each one's own units. Small pictures are the sub stream's."""
        self.serve("--control", source=self.pair())
        p = self.watch()
        for level in 1, 0, 1:
            self.go_to(p, level)
        self.end(p)
        self.assertEqual(self.still(), SUB[:2])
        self.assertIn("2 levels, up to 320x240", self.server_.stderr)
        low = self.watch("--level", "0")
        self.shows(low, 0)
        self.end(low)
        self.assertEqual(low.report()["session"]["source"], "relayed 320x240@25")
        self.stop_cleanly(self.server_)

    def test_what_a_viewer_gets_is_the_cameras(self):
        lib.need("ffmpeg")
        server = self.serve("--control", source=self.pair())
        for level, (_, packets, _) in enumerate((self.sub, self.main)):
            with self.subTest(level=level):
                path = self.path(f"{level}.mkv")
                p = self.watch("--level", str(level), "--record", path, "--transport", "minbuf", "--latency", "3000")
                self.shows(p, level, 25)
                self.interrupt(p)
                sent = [u.rstrip(b"\0") for u in slices(units(packets))]
                got = test_camera.Case.recorded_slices(self, path)
                self.assertGreater(len(got), 10, str(p))
                self.assertEqual([u for u in got if u not in sent], [])
        self.stop_cleanly(server)

    def test_streams_that_come_late(self):
        """Sender reports say when each was captured: a stream that comes 0.3 s later than the other one repeats no picture, and
        is that much older when it comes."""
        for ahead in 0, 3600:
            with self.subTest(ahead=ahead):
                main, sub = self.stream(self.main, lag=0.05, ahead=ahead), self.stream(self.sub, lag=0.35, ahead=ahead)
                server = self.serve("--control", source=f"front={main.url}|{sub.url}")
                p = self.watch()
                for level in 1, 0, 1, 0:
                    self.go_to(p, level)
                self.end(p)
                main_ago, sub_ago = (min(e["arrived"] - e["captured"] for e in p.shown() if e["level"] == level) for level in (1, 0))
                self.assertGreater(sub_ago, main_ago + 0.2)
                self.stop_cleanly(server)

    def test_hls_has_main(self):
        lib.need("ffprobe")
        server = self.serve(source=self.pair())
        url = f"http://127.0.0.1:{server.port}/front/"
        out = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=width,height", "-of",
                              "csv=p=0", url + "index.m3u8"], capture_output=True, check=True, timeout=60 * lib.PATIENCE, text=True)
        self.assertEqual({line for line in out.stdout.split() if line}, {"320,240"})

        def playlist():
            with urllib.request.urlopen(url + "v0.m3u8", timeout=20 * lib.PATIENCE) as answer:
                return answer.read().decode()
        lib.until(lambda: playlist().count("#EXTINF") > 2, "three segments", 60)
        self.assertNotIn("#EXT-X-DISCONTINUITY\n", playlist())
        self.stop_cleanly(server)

    def test_recordings_have_main(self):
        """And so has the past, in which a viewer of each level goes on."""
        lib.need("ffprobe")
        path = self.path("recorded.mkv")
        server = self.serve("--rewind", "60s", "--control", "--record", path, source=self.pair().partition("=")[2])
        for level in "0", "1":
            p = self.player(server.url, "--no-picture", "--level", level)
            p.wait_shown(30)
            self.interrupt(p)
            late = self.see(server.url, "--no-picture", "--level", level, "--start", "-2", frames=40)
            self.assertEqual(late.report()["playback"]["frames_undecodable"], 0, str(late))
        self.stop_cleanly(server)
        self.assertEqual(self.shape(path), MAIN[:2])
        self.assertGreater(len(test_camera.Passed.probe(path)), 50)

    @staticmethod
    def shape(path):
        out = subprocess.run(["ffprobe", "-v", "fatal", "-show_entries", "stream=width,height", "-select_streams", "v", "-of",
                              "csv=p=0", path], capture_output=True, check=True, timeout=60 * lib.PATIENCE, text=True).stdout
        return tuple(map(int, out.strip().split(",")))


class Away(Case):
    def goes_and_comes(self, name, level, lag=0):
        server = self.serve("--control", source=self.pair(lag))
        p = self.watch("--level", str(level))
        self.shows(p, level)
        gone, of = {"sub": (self.sub_, self.sub), "main": (self.main_, self.main)}[name]
        port = int(re.search(r":(\d+)/", gone.url).group(1))
        gone.stop()
        lib.until(lambda: f"front (camera at 127.0.0.1), {name} stream is lost" in server.stderr, "the loss", 20)
        self.shows(p, level, 30)
        lib.until(lambda: self.still() == (MAIN if name == "sub" else SUB)[:2], "the other stream as the small picture", 20)
        self.assertNotIn("source is away", p.stderr)
        self.stream(of, port=port, lag=lag)
        lib.until(lambda: f"{name} stream is back after" in server.stderr, "the return", 40)
        lib.until(lambda: self.still() == SUB[:2], "the sub stream as the small picture", 20)
        self.shows(p, level, 40)
        self.assertEqual(len(p.events("connected")), 1, str(p))
        self.end(p)

    def test_sub(self):
        self.goes_and_comes("sub", 0)

    def test_sub_that_comes_late(self):
        """Its pictures are always older than main's, which were sent in their place."""
        self.goes_and_comes("sub", 0, 0.35)

    def test_main(self):
        self.goes_and_comes("main", 1)

    def test_one_that_is_not_there(self):
        main, sub = self.stream(self.main), self.stream(self.sub)
        sub.stop()
        server = self.serve(source=f"front={main.url}|{sub.url}")
        p = self.watch()
        self.shows(p, 0)
        self.interrupt(p)
        self.assertIn("main stream is sent alone, as the only level", server.stderr)


class Sound(Case):
    @unittest.skipUnless(have_server(), "GStreamer's RTSP server for Python, or its x264enc, is not installed")
    def test_of_the_sub_stream(self):
        """Main has none."""
        here = os.path.dirname(os.path.abspath(__file__))
        sub = self.start(["/usr/bin/python3", os.path.join(here, "gst_server.py"), "--audio", "opus"])
        found = lib.until(lambda: re.search(r"port (\d+)", sub.stdout), "the server")
        self.serve(source=f"front={self.stream(self.main).url}|rtsp://127.0.0.1:{found[1]}/live")
        for level in 0, 1:
            p = self.watch("--level", str(level))
            self.shows(p, level, 30)
            self.interrupt(p)
            self.assertGreater(p.report()["audio"]["packets"], 5, str(p))
            self.assertGreater(p.report()["audio"]["heard"], 0.1, str(p))


class Codecs(Case):
    AUD, fragments = test_camera.Odd.AUD, staticmethod(test_camera.Odd.fragments)
    pictures, camera_of, camera = test_camera.Odd.pictures, test_camera.Odd.camera_of, test_camera.Case.camera

    def test_two_codecs(self):
        """Neither stream is dropped silently: the message names both codecs, and ends weir-send."""
        other = self.pictures("H265")
        for turn in 0, 1:
            with self.subTest(turn=turn):
                urls = [self.stream(self.main).url, self.camera_of("H265", other, "right").url]
                p = self.start([lib.SEND, "--listen", "127.0.0.1:0", "|".join(urls[::-1] if turn else urls)])
                self.assertEqual(p.wait(60), 1, str(p))
                self.assertIn(f"main sends {('H.264', 'H.265')[turn]}, and sub {('H.265', 'H.264')[turn]}", p.stderr)


class Bad(Case):
    def test_sources(self):
        a, b = "rtsp://u:secret@127.0.0.1:9/a", "rtsp://u:secret@127.0.0.1:9/b"
        for source, text in ((f"{a}|{a}", "main and sub are the same URL"), (f"{a}|{b}|{a}", "two streams at most"),
                             (f"{a}|film.mkv", "expects rtsp://"), (f"{a}|", "expects rtsp://"),
                             (f"{a}|rtsp://:0", "sub stream is malformed")):
            with self.subTest(source):
                p = self.start([lib.SEND, "--listen", "127.0.0.1:0", source])
                self.assertEqual(p.wait(60), 1, str(p))
                self.assertIn(text, p.stderr)
                self.assertNotIn("secret", p.stderr)

    def test_the_other_way_round(self):
        main, sub = self.stream(self.main), self.stream(self.sub)
        p = self.start([lib.SEND, "--listen", "127.0.0.1:0", f"{sub.url}|{main.url}"])
        self.assertEqual(p.wait(60), 1, str(p))
        self.assertIn("its sub stream, 320x240, is larger than its main stream, 160x120", p.stderr)

    def test_encoded(self):
        """Levels that are encoded are made of main."""
        main = self.stream(self.main)
        server = self.sender("--transcode", "--level", "160x120@25:200", source=f"{main.url}|rtsp://127.0.0.1:9/none")
        self.assertIn("its sub stream is not used: weir-send encodes", server.stderr)
        self.assertEqual([(w, h) for w, h, _, _ in server.levels()], [(160, 120)])


if __name__ == "__main__":
    lib.main()
