# SPDX-License-Identifier: GPL-2.0-or-later
"""HLS and DASH of media that is passed on as it came: published streams, cameras, pipes. Pictures are told apart by their
numbers."""
import re
import subprocess

import lib
import numbered
from lib import until
from test_http_port import Port
from test_publish import Publish

B_FRAMES = (*numbered.X264[:-1], "2")
FAR = ("-g", "125", "-keyint_min", "125", "-sc_threshold", "0")


class Passed(Publish, Port):
    def offer(self, *paths, **options):
        self.server = super().offer(*paths, **options)
        return self.server

    def publish(self, film, *audio, path="/cam"):
        publisher = self.ffmpeg(film, f"rtsp://127.0.0.1:{self.server.port}{path}", "tcp", *audio)
        self.becomes(self.server, path, "live")
        return publisher

    def text(self, path="/cam/v0.m3u8"):
        return self.good(self.server, path)[1].decode()

    def target(self, text):
        return int(re.search(r"#EXT-X-TARGETDURATION:(\d+)", text).group(1))

    def lengths(self, text):
        return [float(d) for d in re.findall(r"#EXTINF:([\d.]+)", text)]

    def copy(self, name, *args, seconds=6):
        path = self.path(re.sub(r"\W", "-", name) + ".mkv")
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", f"http://127.0.0.1:{self.server.port}/cam/{name}",
                        *args, "-t", str(seconds), "-c", "copy", path], check=True, timeout=120 * lib.PATIENCE)
        return path

    def check_pictures(self, path, fewest=75):
        """They follow each other by number, and by time."""
        shown = numbered.numbers(path)
        self.assertGreaterEqual(len(shown), fewest)
        self.assertNotIn(-1, [n for _, n in shown])
        for (t1, n1), (t2, n2) in zip(shown, shown[1:]):
            self.assertGreater(n2, n1)
            self.assertAlmostEqual(t2 - t1, (n2 - n1) / numbered.FPS, delta=0.03)
        return shown

    def check_sound(self, path, shown):
        """Each beep names a second, and comes with that second's picture."""
        beeps = numbered.beeps(path)[1:]  # a copy may begin within one
        self.assertGreater(len(beeps), 1)
        for at, second in beeps:
            number = numbered.number_at(shown, at)
            self.assertAlmostEqual((number / numbered.FPS - second + 15) % 30 - 15, 0, delta=0.2, msg=(at, second, number))


class Content(Passed):
    def check(self, film, *audio, tracks=(0, 1)):
        self.offer("/cam")
        self.publish(film, *audio)
        for name, track in [("index.m3u8", t) for t in tracks] + [("index.mpd", tracks[-1])]:
            with self.subTest(name, track=track):
                path = self.copy(name, "-map", "0:v:0", "-map", f"0:a:{track}")
                self.check_sound(path, self.check_pictures(path))
        self.assertNotIn("encoders", self.server.stderr)
        self.stop_cleanly(self.server)

    def test_aac(self):
        self.check(self.film(), "-c:a", "copy")

    def test_opus_and_b_frames(self):
        film = numbered.film(self.path("b.mkv"), 1000, 40, video=B_FRAMES)
        self.check(film, "-c:a", "libopus", tracks=(1,))

    def test_low_latency(self):
        """Parts, and a reload that waits for one."""
        self.offer("/cam")
        self.publish(self.film())
        text = self.text()
        number, part = re.search(r"#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\w+/v0-(\d+)\.(\d+)\.m4s\"", text).groups()
        later = self.text(f"/cam/v0.m3u8?_HLS_msn={number}&_HLS_part={part}")
        hinted = re.search(rf'#EXT-X-PART:DURATION=([\d.]+),URI="(\w+/v0-{number}\.{part}\.m4s)"', later)
        self.assertTrue(hinted, later)
        self.assertLessEqual(float(hinted.group(1)), float(re.search(r"PART-TARGET=([\d.]+)", later).group(1)) + 1e-4)
        self.good(self.server, "/cam/" + hinted.group(2))
        for length in self.lengths(later):
            self.assertLessEqual(round(length), self.target(later))

    def test_far_key_frames(self):
        """Segments are as long as the source's groups, and the playlist says so."""
        film = numbered.film(self.path("far.mkv"), 1000, 0, *FAR)
        self.offer("/cam")
        self.publish(film)
        self.assertEqual(self.target(self.text()), 5)
        path = self.copy("index.m3u8", "-map", "0:v:0", seconds=8)
        self.check_pictures(path, 150)
        self.assertEqual(self.target(self.text()), 5)
        self.assertTrue(all(abs(length - 5) < 0.1 for length in self.lengths(self.text())), self.text())


class Changes(Passed):
    def test_another_publisher(self):
        """Its parameter sets are others: the playlist has a discontinuity, and an init segment for each."""
        large = self.path("large.mkv")
        numbered.run("ffmpeg", "-v", "error", "-nostdin", "-i", self.film("small.mkv", 250), "-vf", "scale=384:192:flags=neighbor",
                     *numbered.X264, large)
        self.server = self.sender("--state-dir", self.state, "--take-over", "--publish", source="/cam")
        self.publish(self.film())
        self.text()
        self.publish(large)
        text = until(lambda: (lambda t: t if "#EXT-X-DISCONTINUITY\n" in t else None)(self.text()), "the discontinuity", 30)
        maps = re.findall(r'#EXT-X-MAP:URI="([^"]+)"', text)
        self.assertEqual(len(set(maps)), 2, text)
        inits = [self.good(self.server, "/cam/" + m)[1] for m in maps]
        self.assertNotEqual(*inits)
        self.assertIn("RESOLUTION=384x192", self.text("/cam/index.m3u8"))
        until(lambda: len(re.findall("<Period ", self.text("/cam/index.mpd"))) == 2, "the second period", 30)


class Rights(Passed):
    def test_a_key(self):
        """A key opens all files of its path, and none of another one."""
        self.server = self.serve("--publish", source="/cam", lines=("allow = anna /cam publish",))
        film = self.film()
        self.ffmpeg(film, f"rtsp://anna:see%20no%20evil@127.0.0.1:{self.server.port}/cam")
        key, other = self.invite("/cam"), self.invite("/other")
        until(lambda: self.request(self.server, f"/cam/index.m3u8?key={key}")[0] == 200, "the stream", 60)
        for name, (headers, body) in self.walk(self.server, f"/cam/index.m3u8?key={key}").items():
            self.assertTrue(headers["Cache-Control"].startswith("private, "), name)
            if name.endswith(".m3u8"):
                self.assertTrue(all(uri.endswith("?key=" + key) for uri in self.uris(body.decode())), body)
        for query in "", "?key=" + other:
            self.assertEqual(self.request(self.server, "/cam/v0.m3u8" + query)[0], 401)


class Others(Passed):
    def test_a_pipe_at_http(self):
        """At --http too, which has no other source."""
        film = self.path("pipe.ts")
        numbered.run("ffmpeg", "-v", "error", "-nostdin", "-i", self.film(count=750), "-c", "copy", "-bsf:v", "h264_mp4toannexb", film)
        fifo = self.path("fifo")
        subprocess.run(["mkfifo", fifo], check=True)
        writer = self.start(["ffmpeg", "-v", "error", "-nostdin", "-y", "-re", "-i", film, "-c", "copy", "-f", "mpegts", fifo])
        self.server = self.sender("--http", "127.0.0.1:0", source=fifo)
        port = until(lambda: re.search(r"HLS at http://127.0.0.1:(\d+)/", self.server.stderr), "the HTTP server").group(1)
        path = self.path("copy.mkv")
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", f"http://127.0.0.1:{port}/live/index.m3u8", "-map", "0:v:0", "-t",
                        "4", "-c", "copy", path], check=True, timeout=120 * lib.PATIENCE)
        self.check_pictures(path, 50)
        writer.stop()


if __name__ == "__main__":
    lib.main()
