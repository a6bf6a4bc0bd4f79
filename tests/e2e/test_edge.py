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
import time

import lib
import varnish
from lib import until

sys.path.insert(0, os.path.join(lib.ROOT, "tests", "bench"))
import edge  # noqa: E402


class Edge(lib.Case):
    def setUp(self):
        super().setUp()
        lib.need("varnishd")

    def origin(self, *args):
        return varnish.origin_of(self.sender("--http", "127.0.0.1:0", "--level", edge.LEVEL, *args))

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

    def media_playlist(self, at):
        """Returns (path, text) of the first rendition's playlist, once it has two segments."""
        master = self.get(at, "/live/index.m3u8")[2].decode()
        path = "/live/" + next(line for line in master.splitlines() if line and line[0] != "#")

        def complete():
            text = self.get(at, path)[2].decode()
            return text.count("#EXTINF") >= 2 and text
        return path, until(complete, "two segments", 20)

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
                for name in "Content-Type", "Cache-Control", "Access-Control-Allow-Origin":
                    self.assertEqual(others[name], headers[name], (path, name))
            part = self.get(outer.at, path, headers={"Range": "bytes=4-7"})
            self.assertEqual((part[0], part[2]), (206, body[4:8]), path)
            self.assertEqual(self.get(outer.at, path, "HEAD")[1]["Content-Length"], str(len(body)))
        self.assertLessEqual(inner.counters()["VBE.boot.origin.req"] - before, len(paths))

    def test_many_wait_for_one_fetch(self):
        """40 viewers wait for the next part; the origin gets one request, and all get the same playlist."""
        cache = self.cache(self.origin())
        path, text = self.media_playlist(cache.at)
        number = int(re.search(r"MEDIA-SEQUENCE:(\d+)", text)[1]) + text.count("#EXTINF")
        queries = [f"_HLS_msn={number + 1}&_HLS_part=0", f"_HLS_part=0&_HLS_msn={number + 1}",
                   f"viewer=%d&_HLS_msn={number + 1}&_HLS_part=0&x"]
        before = cache.counters()["VBE.boot.origin.req"]
        with concurrent.futures.ThreadPoolExecutor(40) as pool:
            got = list(pool.map(lambda i: self.get(cache.at, f"{path}?{queries[i % 3].replace('%d', str(i))}", headers={
                "Cookie": f"viewer={i}", "Host": f"host{i % 2}"}), range(40)))
        self.assertEqual({status for status, _, _ in got}, {200})
        self.assertEqual(len({body for _, _, body in got}), 1)
        self.assertIn(f"-{number + 1}.0.m4s", got[0][2].decode())
        self.assertEqual(cache.counters()["VBE.boot.origin.req"] - before, 1)

    def test_errors_are_not_kept(self):
        cache = self.cache(self.origin())
        path, text = self.media_playlist(cache.at)
        for wrong, status in ("/live/nothing.m3u8", 404), ("/etc/passwd", 404), ("/live/../../x", 404), (f"{path}?_HLS_msn=x", 400):
            before = cache.counters()["VBE.boot.origin.req"]
            for _ in range(2):
                self.assertEqual(self.get(cache.at, wrong)[0], status)
            self.assertEqual(cache.counters()["VBE.boot.origin.req"] - before, 2, wrong)
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

    def test_ffmpeg_plays(self):
        lib.need("ffprobe", "ffmpeg")
        url = self.cache(self.origin()).base + "/live/index.m3u8"
        found = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "json", url],
                               stdout=subprocess.PIPE, check=True, timeout=60 * lib.PATIENCE)
        video = [s for s in json.loads(found.stdout)["streams"] if "width" in s]
        self.assertEqual({(s["codec_name"], s["width"], s["height"]) for s in video}, {("h264", 426, 240)})
        picture = self.path("picture.png")
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", url, "-frames:v", "60", "-update", "1", picture], check=True,
                       timeout=60 * lib.PATIENCE)
        self.assertGreaterEqual(lib.frame_number(*lib.grey_picture(picture)), 59)

    def test_gstreamer_plays(self):
        lib.need("gst-launch-1.0")
        url = self.cache(self.origin()).base + "/live/index.m3u8"
        done = subprocess.run(["gst-launch-1.0", "-q", "souphttpsrc", f"location={url}", "!", "hlsdemux", "!", "decodebin", "!",
                               "videoconvert", "!", "video/x-raw,format=GRAY8", "!", "identity", "eos-after=60", "!", "filesink",
                               f"location={self.path('luma')}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60 * lib.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout)
        with open(self.path("luma"), "rb") as f:
            luma = f.read()
        stride = 428  # GStreamer's lines are whole words
        frames = [luma[at:at + stride * 240] for at in range(0, len(luma) - stride * 240 + 1, stride * 240)]
        numbers = [lib.frame_number(stride, 240, frame) for frame in frames]
        self.assertGreater(len(numbers), 50)
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))

    def audience(self, mode, **options):
        options = edge.options_of(["--viewers", "30", "--seconds", "4", "--level", "426x240@30:300",
                                   *(f"--{name}" for name in options)])
        run = edge.Run(lib, varnish, self.folder, 30, mode, options)
        row = run.measure()
        self.processes += run.started
        self.assertEqual((row["viewers"], row["corrupt"]), (30, 0), row)
        self.assertGreater(row["items"], 30, row)
        return row

    def test_an_audience_of_segments(self):
        row = self.audience("segments")
        self.assertEqual(row["refused"], 0, row)

    def test_an_audience_of_parts_behind_two_caches(self):
        row = self.audience("parts", chain=True)
        self.assertEqual(row["refused"], 0, row)

    def test_a_cache_is_lost(self):
        """Its viewers turn to the other one."""
        row = self.audience("segments", kill=True)
        self.assertGreaterEqual(row["reconnects"], 15, row)


if __name__ == "__main__":
    lib.main()
