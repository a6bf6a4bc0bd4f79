# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-send --http behind Varnish, with the configuration of packaging/varnish: what players and an audience get."""
import concurrent.futures
import hashlib
import http.client
import json
import os
import re
import subprocess
import sys
import unittest

import hls_page
import lib
import varnish
from lib import until

sys.path[:0] = [lib.ROOT, os.path.join(lib.ROOT, "tests", "bench")]
import edge  # noqa: E402


LEVEL = "426x240@30:300"


class Edge(hls_page.HlsPage):
    def setUp(self):
        super().setUp()
        lib.need("varnishd")

    def origin(self, *args):
        return varnish.origin_of(self.sender("--http", "127.0.0.1:0", "--level", LEVEL, *args))

    def cache(self, origin, **options):
        cache = varnish.Varnish(self.folder, origin, **options)
        self.processes.append(cache)
        return cache

    def get(self, at, path, method="GET", headers=None):
        """Returns (status, headers, body)."""
        connection = http.client.HTTPConnection(at, timeout=30 * lib.PATIENCE)
        try:
            connection.request(method, path, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def media_playlist(self, at, segments=2):
        """Returns (path, text) of the first rendition's playlist, once it has so many segments."""
        master = self.get(at, "/live/index.m3u8")[2].decode()
        path = "/live/" + next(line for line in master.splitlines() if line and line[0] != "#")

        def complete():
            text = self.get(at, path)[2].decode()
            return text.count("#EXTINF") >= segments and text
        return path, until(complete, f"{segments} segments", 20)

    def media(self, text):
        """Returns the paths of the initialisation segment, the complete segments and their parts."""
        complete = text[:text.rindex("#EXTINF")]
        return ["/live/" + name for name in [re.search(r'EXT-X-MAP:URI="([^"]+)"', text)[1]] +
                re.findall(r'EXT-X-PART:[^\n]*URI="([^"]+)"', complete) + re.findall(r"^\w\S+\.m4s$", text, re.M)]

    def test_bytes_are_the_origins(self):
        """Through one cache and through two in a row, and each object is fetched once."""
        origin = self.origin()
        inner = self.cache(origin)
        outer = self.cache(inner.at)
        paths = self.media(self.media_playlist(outer.at)[1])
        self.assertGreater(len(paths), 6)
        before = inner.counters()["VBE.boot.origin.req"]
        for path in paths:
            status, headers, body = self.get(origin, path)
            self.assertEqual(status, 200, path)
            for at in outer.at, inner.at, outer.at:
                seen, others, copy = self.get(at, path)
                self.assertEqual((seen, hashlib.sha256(copy).digest()), (200, hashlib.sha256(body).digest()), path)
                for name in "Content-Type", "Cache-Control":
                    self.assertEqual(others[name], headers[name], (path, name))
                self.assertEqual(others["Access-Control-Allow-Origin"], "*", path)
            part = self.get(outer.at, path, headers={"Range": "bytes=4-7"})
            self.assertEqual((part[0], part[2]), (206, body[4:8]), path)
            self.assertEqual(self.get(outer.at, path + "?_HLS_msn=7&x=1")[2], body, path)
            self.assertEqual(self.get(outer.at, path, "HEAD")[1]["Content-Length"], str(len(body)))
        self.assertLessEqual(inner.counters()["VBE.boot.origin.req"] - before, len(paths))

    def test_many_wait_for_one_fetch(self):
        """40 viewers wait for the next part; the origin gets one request, and all get the same playlist."""
        cache = self.cache(self.origin())
        path, text = self.media_playlist(cache.at)
        number = int(re.search(r"MEDIA-SEQUENCE:(\d+)", text)[1]) + text.count("#EXTINF")
        queries = [f"_HLS_msn={number + 1}&_HLS_part=0", f"_HLS_part=0&_HLS_msn={number + 1}",
                   f"viewer=%d&_HLS_msn={number + 1}&_HLS_part=0&x", f"_HLS_msn={number + 1}&_HLS_part=0&_HLS_skip=YES"]
        before = cache.counters()["VBE.boot.origin.req"]
        with concurrent.futures.ThreadPoolExecutor(40) as pool:
            got = list(pool.map(lambda i: self.get(cache.at, f"{path}?{queries[i % 4].replace('%d', str(i))}", headers={
                "Cookie": f"viewer={i}", "Host": f"host{i % 2}"}), range(40)))
        self.assertEqual({status for status, _, _ in got}, {200})
        self.assertEqual(len({body for _, _, body in got}), 1)
        parts = [int(n) for n in re.findall(r"-(\d+)\.0\.m4s", got[0][2].decode())]
        self.assertGreaterEqual(max(parts), number + 1)
        self.assertEqual(cache.counters()["VBE.boot.origin.req"] - before, 1)

    def test_all_pages_may_play_from_a_cache(self):
        """Whatever its name is, and though the origin lets in none: the cache does not tell it who asks."""
        cache = self.cache(self.origin())
        path, text = self.media_playlist(cache.at)
        for at in path, self.media(text)[0], "/live/nothing.m3u8":
            got = self.get(cache.at, at, headers={"Host": "tv.example", "Origin": "https://a.example", "Sec-Fetch-Site": "cross-site",
                                                  "Referer": "https://a.example/"})
            self.assertEqual(got[0], 404 if "nothing" in at else 200, at)
            for name, value in ("Access-Control-Allow-Origin", "*"), ("Cross-Origin-Resource-Policy", "cross-origin"):
                self.assertEqual(got[1].get_all(name), [value], at)

    def test_errors_are_not_kept(self):
        cache = self.cache(self.origin())
        path, text = self.media_playlist(cache.at)
        for wrong, status in ("/live/nothing.m3u8", 404), ("/etc/passwd", 404), ("/live/../../x", 404), \
                (f"{path}?_HLS_msn=x", 400):
            before = cache.counters()["VBE.boot.origin.req"]
            for _ in range(2):
                self.assertEqual(self.get(cache.at, wrong)[0], status)
            self.assertEqual(cache.counters()["VBE.boot.origin.req"] - before, 2, wrong)
        before = cache.counters()["VBE.boot.origin.req"]
        for escaped in path.replace("live", "l%69ve"), "/live/%2e%2e/x":
            self.assertEqual(self.get(cache.at, escaped)[0], 404)
        self.assertEqual(cache.counters()["VBE.boot.origin.req"], before)
        for method in "POST", "DELETE", "PURGE":
            self.assertEqual(self.get(cache.at, path, method)[0], 405)

    def test_an_origin_that_ends(self):
        """The cache says so, with the header that lets a page's script read it; what it has stays until its time."""
        sender = self.sender("--http", "127.0.0.1:0")
        cache = self.cache(varnish.origin_of(sender))
        kept = self.media(self.media_playlist(cache.at)[1])[-1]
        self.assertEqual(self.get(cache.at, kept)[0], 200)
        sender.stop()
        until(lambda: self.get(cache.at, "/live/index.m3u8")[0] == 503, "the cache's error")
        self.assertEqual(self.get(cache.at, "/live/index.m3u8")[1]["Access-Control-Allow-Origin"], "*")
        self.assertEqual(self.get(cache.at, kept)[0], 200)

    @lib.long
    def test_ffmpeg_plays(self):
        """HLS and DASH."""
        lib.need("ffprobe", "ffmpeg")
        base = self.cache(self.origin()).base
        self.media_playlist(base.partition("//")[2])
        for url in base + "/live/index.m3u8", base + "/live/index.mpd":
            found = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "json",
                                    url], stdout=subprocess.PIPE, check=True, timeout=60 * lib.PATIENCE)
            streams = json.loads(found.stdout)["streams"]
            self.assertEqual({(s["codec_name"], s["width"], s["height"]) for s in streams if "width" in s},
                             {("h264", 426, 240)})
            self.assertIn("aac", {s["codec_name"] for s in streams})
            picture = self.path("picture.png")
            subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", url, "-map", "0:v:0", "-frames:v", "60", "-update", "1",
                            "-y", picture], check=True, timeout=60 * lib.PATIENCE)
            self.assertGreaterEqual(lib.frame_number(*lib.grey_picture(picture)), 59)

    def gstreamer(self, *argv):
        """A pipeline that writes the luma to a file: 60 pictures are the sender's, in order."""
        stride = 428  # GStreamer's lines are whole words
        size = lambda: os.path.exists(self.path("luma")) and os.path.getsize(self.path("luma"))  # noqa: E731
        player = self.start(argv)
        until(lambda: size() >= 70 * stride * 240 or not player.running(), f"70 pictures of {player}", 60)
        player.stop()
        with open(self.path("luma"), "rb") as f:
            pictures = [f.read(stride * 240) for _ in range(60)]
        numbers = [lib.frame_number(stride, 240, luma) for luma in pictures]
        self.assertGreaterEqual(numbers[0], 0, numbers)
        self.assertEqual(numbers, sorted(set(numbers)), str(player))  # a busy sender leaves pictures out
        return player

    def test_gstreamer_plays(self):
        lib.need("gst-launch-1.0")
        url = self.cache(self.origin()).base + "/live/index.m3u8"
        self.gstreamer("gst-launch-1.0", "-q", "souphttpsrc", f"location={url}", "!", "hlsdemux", "!", "decodebin", "!",
                       "videoconvert", "!", "video/x-raw,format=GRAY8", "!", "filesink", f"location={self.path('luma')}")

    def playbin3(self, demuxer, manifest):
        probe = "import gi; gi.require_version('Gst', '1.0'); from gi.repository import Gst; Gst.init(None); " \
                f"assert all(map(Gst.ElementFactory.find, ('playbin3', '{demuxer}')))"
        if subprocess.run(["/usr/bin/python3", "-c", probe], stderr=subprocess.DEVNULL, timeout=60).returncode != 0:
            self.skipTest(f"GStreamer's playbin3 (gstreamer1.0-plugins-base), its {demuxer} (gstreamer1.0-plugins-good 1.22) "
                          "or Python's gi (python3-gi) is not installed")
        cache = self.cache(self.origin())
        # hlsdemux2 of GStreamer 1.22 stops for good, without an error, if a playlist had one segment when it began: it
        # does not find that segment in the next playlist. RFC 8216, 6.3.3: a client begins three target durations back.
        self.media_playlist(cache.at, segments=3)
        player = self.gstreamer("/usr/bin/python3", os.path.join(os.path.dirname(os.path.abspath(__file__)), "gst_player.py"),
                                f"{cache.base}/live/{manifest}", self.path("luma"))
        self.assertIn(f"uses {demuxer}", player.stdout)

    @lib.long
    def test_playbin3_plays_hls(self):
        self.playbin3("hlsdemux2", "index.m3u8")

    def test_playbin3_plays_dash(self):
        self.playbin3("dashdemux2", "index.mpd")

    @lib.long
    def test_hls_js_plays(self):
        """In chromium, from another origin than the page's: the picture is the sender's, and it advances."""
        page = self.play_by_hls_js(f"{self.cache(self.origin()).base}/live/index.m3u8")
        self.assertEqual(page.value("[video.videoWidth, video.videoHeight].join()"), "426,240")
        luma = bytes(page.value("luma()"))
        self.assertGreater(lib.frame_number(426, 240, luma), 60)

    def audience(self, mode, **options):
        options = edge.options_of(["--viewers", "30", "--seconds", "4", "--level", LEVEL,
                                   *(f"--{name}" for name in options)])
        run = edge.Run(lib, varnish, self.folder, 30, mode, options)
        row = run.measure()
        self.processes += run.started
        self.assertEqual((row["viewers"], row["corrupt"]), (30, 0), row)
        self.assertGreater(row["items"], 0, row)
        return row

    @lib.long
    def test_an_audience_of_segments(self):
        row = self.audience("segments")
        self.assertEqual(row["refused"], 0, row)

    @lib.long
    def test_an_audience_of_parts_behind_two_caches(self):
        row = self.audience("parts", chain=True)
        self.assertEqual(row["refused"], 0, row)

    @lib.long
    def test_a_cache_is_lost(self):
        """Its viewers turn to the other one."""
        row = self.audience("segments", kill=True)
        self.assertGreaterEqual(row["reconnects"], 15, row)


class Goals(unittest.TestCase):
    """What ./run bench edge says of its rows."""

    def row(self, viewers, mode="segments", **changed):
        return {"mode": mode, "viewers": viewers, "seconds": 180, "stalls": 0, "corrupt": 0, "origin_requests_a_second": 1,
                "origin_bytes_a_second": 20000, "behind_ms": {"p95": 2000}, "most_lost_ms": 0, "longest_stall_ms": 0,
                "reconnects": 0, **changed}

    def verdicts(self, *rows, kill=False):
        return [met for _, _, met in edge.goals(rows, kill)]

    def test_of_an_audience(self):
        few = self.row(10)
        for changed, expected in ({}, [True, True]), ({"stalls": 1}, [False, True]), ({"corrupt": 1}, [False, True]), (
                {"seconds": 60}, [None, True]), ({"seconds": 60, "stalls": 1}, [False, True]), (
                {"viewers": 9999}, [None, True]), ({"origin_requests_a_second": 1.06}, [True, False]), (
                {"origin_bytes_a_second": 18900}, [True, False]):
            self.assertEqual(self.verdicts(self.row(**{"viewers": 10000, **changed}), few), expected, changed)
        self.assertEqual(self.verdicts(few), [None])

    def test_of_parts(self):
        few, slow = self.row(10, "parts"), {"p95": 2001}
        self.assertEqual(self.verdicts(few, self.row(2500, "parts")), [True, True, True])
        self.assertEqual(self.verdicts(few, self.row(2500, "parts", behind_ms=slow)), [True, True, False])
        self.assertEqual(self.verdicts(self.row(10, "parts", behind_ms={})), [True, False])

    def test_of_a_lost_cache(self):
        for changed, expected in ({"reconnects": 50}, True), ({}, None), ({"reconnects": 50, "most_lost_ms": 1500,
                                                                             "longest_stall_ms": 501}, False):
            self.assertEqual(self.verdicts(self.row(100, **changed), kill=True), [expected])


if __name__ == "__main__":
    lib.main()
