# SPDX-License-Identifier: GPL-2.0-or-later
"""HLS and DASH of media that is passed on as it came: published streams, cameras, pipes. Pictures are told apart by their
numbers."""
import os
import re
import subprocess

import hls_page
import lib
import numbered
import test_camera
from lib import until
from test_http_port import Port
from test_publish import Publish

B_FRAMES = (*numbered.X264[:-1], "2")
FAR = ("-g", "125", "-keyint_min", "125", "-sc_threshold", "0")


class Follower:
    """A player that reloads a playlist by blocking requests. Checks what must stay from one to the next (RFC 8216, 6.2.1 and
    4.4.3): the target duration, and each segment's URI and number of discontinuities before it, also of the one that is
    announced (hls.js requires that); and what must not go back."""

    def __init__(self, case, path):
        self.case, self.path, self.seen, self.hints, self.text = case, path, {}, {}, case.text(path)
        self.target, self.first, self.breaks = case.target(self.text), 0, 0
        self.check()

    def number(self, tag, text=None):
        found = re.search(rf"#EXT-X-{tag}:(\d+)", text or self.text)
        return int(found.group(1)) if found else 0

    def segments(self):
        number, breaks, found = self.number("MEDIA-SEQUENCE"), self.number("DISCONTINUITY-SEQUENCE"), {}
        for line in self.text.splitlines():
            breaks += line == "#EXT-X-DISCONTINUITY"
            if line and line[0] != "#":
                found[number] = breaks, line
                number += 1
        return found

    def check(self):
        case, text = self.case, self.text
        case.assertEqual(case.target(text), self.target, text)
        case.assertGreaterEqual(self.number("MEDIA-SEQUENCE"), self.first, text)
        case.assertGreaterEqual(self.number("DISCONTINUITY-SEQUENCE"), self.breaks, text)
        self.first, self.breaks = self.number("MEDIA-SEQUENCE"), self.number("DISCONTINUITY-SEQUENCE")
        hint = re.search(r"#EXT-X-PRELOAD-HINT:.*-(\d+)\.\d+\.m4s", text)
        if hint:
            self.hints.setdefault(int(hint.group(1)), self.breaks + text.count("#EXT-X-DISCONTINUITY\n"))
        for number, breaks in self.hints.items():
            case.assertEqual(self.segments().get(number, (breaks,))[0], breaks, text)
        for number, segment in self.segments().items():
            case.assertEqual(self.seen.setdefault(number, segment), segment, text)
        for length in case.lengths(text):
            case.assertLessEqual(round(length), self.target, text)

    def reload(self):
        """Returns the next playlist, or the same one if nothing comes in time."""
        hint = re.search(r"#EXT-X-PRELOAD-HINT:.*-(\d+)\.(\d+)\.m4s", self.text)
        query = "?_HLS_msn={}&_HLS_part={}".format(*hint.groups()) if hint else ""
        status, _, body = self.case.request(self.case.server, self.path + query)
        if status == 200:
            self.text = body.decode()
            self.check()
        else:
            self.case.assertEqual(status, 503, body)
        return self.text

    def until(self, what, count=1):
        until(lambda: len(re.findall(what, self.reload())) >= count, what, 90)
        return self.text


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

    def copy(self, *names, seconds=6, path="/cam"):
        """Returns copies of the first video and what each (name, audio track or None) says, made at once."""
        made = []
        for name, track in names:
            to = self.path(re.sub(r"\W", "-", f"{name}-{track}") + ".mkv")
            sound = [] if track is None else ["-map", f"0:a:{track}"]
            made.append((to, self.start(["ffmpeg", "-v", "error", "-nostdin", "-i", f"http://127.0.0.1:{self.server.port}{path}/{name}",
                                         "-map", "0:v:0", *sound, "-t", str(seconds), "-c", "copy", to])))
        for _, p in made:
            self.assertEqual(p.wait(120), 0, str(p))
        return [to for to, _ in made]

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

    def large(self, count=1000):
        """Makes a film whose pictures have another size."""
        path = self.path("large.mkv")
        numbered.run("ffmpeg", "-v", "error", "-nostdin", "-i", self.film("small.mkv", count), "-vf", "scale=384:192:flags=neighbor",
                     *numbered.X264, "-c:a", "copy", path)
        return path


class Content(Passed):
    def check(self, film, *audio, tracks=(0, 1)):
        self.offer("/cam")
        self.publish(film, *audio)
        copies = self.copy(*(("index.m3u8", t) for t in tracks))
        copies += self.copy(("index.mpd", tracks[-1]))  # ffmpeg reads one of few segments twice
        for path in copies:
            with self.subTest(os.path.basename(path)):
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
        path, = self.copy(("index.m3u8", None), seconds=8)
        self.check_pictures(path, 150)
        self.assertEqual(self.target(self.text()), 5)
        self.assertTrue(all(abs(length - 5) < 0.1 for length in self.lengths(self.text())), self.text())


class Silent(Passed):
    def test_audio_that_comes_late(self):
        """It is announced and does not come: players get the video. Those that begin when it has come get it, too."""
        late = self.path("late.mkv")
        numbered.run("ffmpeg", "-v", "error", "-nostdin", "-i", self.film(count=1750), "-c:v", "copy", "-af", "atrim=20", "-c:a", "aac",
                     late)
        self.offer("/cam")
        self.publish(late, "-c:a", "copy", "-max_interleave_delta", "1000")
        self.assertNotIn("AUDIO", self.text("/cam/index.m3u8"))
        self.assertNotIn('contentType="audio"', self.text("/cam/index.mpd"))
        self.assertEqual(self.request(self.server, "/cam/aac.m3u8")[0], 404)
        path, = self.copy(("index.m3u8", None), seconds=4)
        self.check_pictures(path, 50)
        for name in "index.m3u8", "index.mpd":
            until(lambda: "aac" in self.text("/cam/" + name), f"audio in {name}", 90)
        until(lambda: self.text("/cam/aac.m3u8").count("#EXTINF") > 4, "as much audio as players begin with", 90)
        for path in self.copy(("index.m3u8", 0), ("index.mpd", 0)):
            with self.subTest(os.path.basename(path)):
                self.check_sound(path, self.check_pictures(path))


class Changes(Passed):
    def test_another_publisher(self):
        """Its parameter sets are others: the playlist has a discontinuity, and an init segment for each."""
        large = self.large()
        self.server = self.sender("--state-dir", self.state, "--take-over", "--publish", source="/cam")
        self.publish(self.film())
        player = Follower(self, "/cam/v0.m3u8")
        first = player.breaks
        self.publish(large)
        player.until("#EXT-X-DISCONTINUITY\n")
        text = player.until("#EXT-X-MAP", 2)
        maps = re.findall(r'#EXT-X-MAP:URI="([^"]+)"', text)
        self.assertEqual(len(set(maps)), 2, text)
        inits = [self.good(self.server, "/cam/" + m)[1] for m in maps]
        self.assertNotEqual(*inits)
        self.assertIn("RESOLUTION=384x192", self.text("/cam/index.m3u8"))
        until(lambda: len(re.findall("<Period ", self.text("/cam/index.mpd"))) == 2, "the second period", 30)
        text = player.until(f"#EXT-X-DISCONTINUITY-SEQUENCE:{first + 1}\n")  # the first one's segments have left
        self.assertNotIn("#EXT-X-DISCONTINUITY\n", text)
        self.assertEqual({breaks for breaks, _ in player.seen.values()}, {first, first + 1})

    def test_the_end(self):
        """Players see that it was the last picture, and then there is no stream until the next."""
        self.offer("/cam")
        publisher = self.publish(self.film("short.mkv", 500))
        player = Follower(self, "/cam/v0.m3u8")
        files = [self.good(self.server, "/cam/" + re.search(r'#EXT-X-MAP:URI="([^"]+)"', player.text).group(1))[1]]
        player.until("#EXT-X-ENDLIST")
        files += [self.good(self.server, "/cam/" + uri)[1] for _, (_, uri) in sorted(player.seen.items())]
        with open(self.path("all.mp4"), "wb") as f:
            f.write(b"".join(files))
        shown = [n for _, n in numbered.numbers(self.path("all.mp4"))]
        self.assertEqual(shown, list(range(shown[0], shown[-1] + 1)))
        self.assertGreater(shown[-1], 475)
        self.assertEqual(publisher.wait(60), 0, str(publisher))
        for name in "v0.m3u8", "index.m3u8", "index.mpd":
            until(lambda: self.request(self.server, "/cam/" + name)[0] == 404, "no " + name, 60)
        self.publish(numbered.film(self.path("far.mkv"), 1000, 0, *FAR))
        after = Follower(self, "/cam/v0.m3u8")
        self.assertNotIn("#EXT-X-ENDLIST", after.text)
        self.assertNotEqual(after.target, player.target)
        self.assertGreater(after.first, max(player.seen))
        self.assertGreater(after.breaks, player.breaks)


class HlsJs(Passed, hls_page.HlsPage):
    @lib.long
    def test_low_latency(self):
        self.server = self.sender("--state-dir", self.state, "--allow-origin", "*", "--publish", source="/cam")
        self.publish(self.film(count=5000), "-c:a", "copy")  # longer than npm and chromium take to start
        page = self.play_by_hls_js(f"http://127.0.0.1:{self.server.port}/cam/index.m3u8")
        self.assertEqual(page.value("[video.videoWidth, video.videoHeight].join()"), "192,96")


    @lib.long
    def test_another_size(self):
        """A publisher whose pictures have another size takes the path over: the player goes on with them."""
        large = self.large(5000)
        self.server = self.sender("--state-dir", self.state, "--allow-origin", "*", "--take-over", "--publish", source="/cam")
        self.publish(self.film(count=5000), "-c:a", "copy")
        page = self.play_by_hls_js(f"http://127.0.0.1:{self.server.port}/cam/index.m3u8")
        self.publish(large, "-c:a", "copy")
        until(lambda: page.value("[video.videoWidth, video.videoHeight].join()") == "384,192", "the other size", 60)
        shown = page.value("seen()")
        until(lambda: page.value("seen()") > shown + 60, "60 pictures more", 40)
        self.assertEqual(page.value("errors.join()"), "")


class Away(test_camera.Case, Passed):
    def test_goes_away_and_comes_back(self):
        """A player waits while the camera is away, and goes on with its other pictures behind one discontinuity."""
        camera = self.camera()
        port = int(re.search(r":(\d+)/", camera.url).group(1))
        self.server = self.sender(source=camera.url)
        player = Follower(self, "/live/v0.m3u8")
        player.until("#EXTINF", 2)
        camera.stop()
        until(lambda: player.reload() and "is lost" in self.server.stderr, "the loss", 60)
        self.camera(self.large, port=port)
        until(lambda: player.reload() and "is back after" in self.server.stderr, "the return", 90)
        player.until("#EXT-X-DISCONTINUITY\n")
        text = player.until("#EXT-X-MAP", 2)
        self.assertEqual(text.count("#EXT-X-DISCONTINUITY\n"), 1, text)
        self.assertNotIn("#EXT-X-ENDLIST", text)
        self.assertIn("RESOLUTION=320x240", self.text("/live/index.m3u8"))


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
    def test_a_pipe(self):
        film = self.path("pipe.ts")
        numbered.run("ffmpeg", "-v", "error", "-nostdin", "-i", self.film(count=750), "-c", "copy", "-bsf:v", "h264_mp4toannexb", film)
        fifo = self.path("fifo")
        subprocess.run(["mkfifo", fifo], check=True)
        writer = self.start(["ffmpeg", "-v", "error", "-nostdin", "-y", "-re", "-i", film, "-c", "copy", "-f", "mpegts", fifo])
        self.server = self.sender(source=fifo)
        path, = self.copy(("index.m3u8", None), seconds=4, path="/live")
        self.check_pictures(path, 50)
        self.assertNotIn("encodes its pictures", self.server.stderr)
        writer.stop()


if __name__ == "__main__":
    lib.main()
