# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-send's HTTP server: what players and caches get of live media."""
import email.utils
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

import lib
from lib import until

LEVELS = ("--level", "426x240@15:240", "--level", "426x240@30:320", "--level", "256x144@15:100")


class Reply:
    def __init__(self, answer):
        self.status = answer.status
        self.headers = answer.headers
        self.body = answer.read()
        self.text = self.body.decode(errors="replace")


def attributes(line):
    """{name: value} of a playlist's line."""
    return {k: v.strip('"') for k, v in re.findall(r'([A-Z0-9-]+)=("[^"]*"|[^,]*)', line.partition(":")[2])}


class HttpCase(lib.Case):
    def serve(self, *args, source=lib.SOURCE, path="/live"):
        sender = self.sender("--http", "127.0.0.1:0", *args, source=source)
        found = until(lambda: re.search(r"HLS at http://127.0.0.1:(\d+)/", sender.stderr), "the HTTP server")
        self.http_port = int(found.group(1))
        self.base = path
        return sender

    def get(self, name, method="GET", **headers):
        c = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=20 * lib.PATIENCE)
        try:
            c.request(method, name if name.startswith("/") else f"{self.base}/{name}", None,
                      {k.replace("_", "-"): v for k, v in headers.items()})
            return Reply(c.getresponse())
        finally:
            c.close()

    def good(self, name, **headers):
        reply = self.get(name, **headers)
        self.assertEqual(reply.status, 200, name)
        return reply

    def url(self, name):
        return f"http://127.0.0.1:{self.http_port}{self.base}/{name}"

    def playlist(self, name):
        """(its lines, {tag: attributes of its last line}, [segments], [parts])."""
        lines = self.good(name).text.split("\n")
        tags = {line.partition(":")[0]: attributes(line) for line in lines if line.startswith("#EXT")}
        segments = [line for line in lines if line and not line.startswith("#")]
        parts = [attributes(line)["URI"] for line in lines if line.startswith("#EXT-X-PART:")]
        return lines, tags, segments, parts

    def probe(self, url, *args):
        out = subprocess.run(["ffprobe", "-v", "error", "-of", "json", *args, url], check=True, stdout=subprocess.PIPE,
                             timeout=60 * lib.PATIENCE).stdout
        return json.loads(out)


class Live(HttpCase):
    def test_playlists_and_files(self):
        self.serve("--allow-origin", "https://example.org", *LEVELS)
        master = self.good("index.m3u8")
        self.assertEqual(master.headers["Content-Type"], "application/vnd.apple.mpegurl")
        variants = [attributes(line) for line in master.text.split("\n") if line.startswith("#EXT-X-STREAM-INF")]
        self.assertEqual(len(variants), 6)  # three levels, with AAC and with Opus
        self.assertEqual({(v["RESOLUTION"], v["FRAME-RATE"]) for v in variants},
                         {("426x240", "15.000"), ("426x240", "30.000"), ("256x144", "15.000")})
        for v in variants:
            self.assertRegex(v["CODECS"], r"^avc1\.[0-9a-f]{6},(Opus|mp4a\.40\.2)$")
            self.assertLess(int(v["AVERAGE-BANDWIDTH"]), int(v["BANDWIDTH"]))

        lines, tags, segments, parts = self.playlist("v1.m3u8")
        self.assertEqual(tags["#EXT-X-SERVER-CONTROL"]["CAN-BLOCK-RELOAD"], "YES")
        target = float(tags["#EXT-X-PART-INF"]["PART-TARGET"])
        for line in lines:
            if line.startswith("#EXT-X-PART:"):
                self.assertLessEqual(float(attributes(line)["DURATION"]), target)
        self.assertTrue(segments and len(parts) >= 4)
        date = next(line for line in lines if line.startswith("#EXT-X-PROGRAM-DATE-TIME:")).partition(":")[2]
        self.assertLess(abs(time.time() - time.mktime(time.strptime(date[:19], "%Y-%m-%dT%H:%M:%S")) + time.timezone),
                        60 * lib.PATIENCE)

        # A segment is the concatenation of its parts, the same bytes for everybody, for long.
        newest = segments[-1]
        number = re.search(r"-(\d+)\.m4s", newest).group(1)
        whole = self.good(newest)
        own = [p for p in parts if f"-{number}." in p]
        self.assertEqual(b"".join(self.good(p).body for p in own), whole.body)
        self.assertEqual(self.good(newest).body, whole.body)
        self.assertEqual(whole.headers["Content-Type"], "video/mp4")
        self.assertIn("immutable", whole.headers["Cache-Control"])
        self.assertIsNone(whole.headers["Access-Control-Allow-Origin"])
        page = self.good(newest, Origin="https://example.org")
        self.assertEqual(page.headers["Access-Control-Allow-Origin"], "https://example.org")
        self.assertIn("Date", page.headers["Access-Control-Expose-Headers"])
        self.assertLess(abs(time.time() - email.utils.parsedate_to_datetime(page.headers["Date"]).timestamp()), 60 * lib.PATIENCE)
        init = self.good(tags["#EXT-X-MAP"]["URI"])
        self.assertEqual(init.body[4:8], b"ftyp")

        part = self.get(newest, Range="bytes=8-15")
        self.assertEqual((part.status, part.body), (206, whole.body[8:16]))
        self.assertEqual(part.headers["Content-Range"], f"bytes 8-15/{len(whole.body)}")
        self.assertEqual(self.get(newest, Range=f"bytes={len(whole.body)}-").status, 416)
        head = self.get(newest, method="HEAD")
        self.assertEqual((head.status, head.body, head.headers["Content-Length"]), (200, b"", str(len(whole.body))))
        options = self.get(newest, method="OPTIONS", Origin="https://example.org")
        self.assertEqual((options.status, options.headers["Access-Control-Allow-Headers"]), (204, "Range"))

        for name in ("v9.m3u8", "x/v1.mp4", "..", "../etc/passwd", "v1-1.m4s", "/", "/live", "/other/index.m3u8",
                     newest.replace(number, str(int(number) + 50)), newest.replace("v1-", "v1x-")):
            reply = self.get(name)
            self.assertEqual((reply.status, reply.headers["Cache-Control"]), (404, "no-store"), name)
        self.assertEqual(self.get("v1.m3u8", method="POST").status, 405)
        for query in ("_HLS_part=1", "_HLS_msn=x", "_HLS_msn=-1", f"_HLS_msn={int(number) + 500}"):
            self.assertEqual(self.get(f"v1.m3u8?{query}").status, 400, query)

    def test_blocking_reload(self):
        self.serve(*LEVELS)
        _, tags, _, _ = self.playlist("v0.m3u8")
        hint = tags["#EXT-X-PRELOAD-HINT"]["URI"]
        number, part = map(int, re.search(r"-(\d+)\.(\d+)\.m4s", hint).groups())
        replies = {}

        def ask(name):
            replies[name] = self.get(name)

        names = (f"v0.m3u8?_HLS_msn={number}&_HLS_part={part}", f"v0.m3u8?_HLS_msn={number + 1}", hint)
        threads = [threading.Thread(target=ask, args=(name,)) for name in names]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual([replies[name].status for name in names], [200, 200, 200])
        self.assertIn(hint + '"', replies[names[0]].text)  # no longer as a hint only
        self.assertIn("#EXT-X-PART:DURATION", replies[names[0]].text)
        self.assertIn(f"-{number + 1}.m4s", replies[names[1]].text)
        self.assertGreater(int(replies[names[0]].headers["Cache-Control"].rpartition("=")[2]), 5)
        self.assertEqual(replies[hint].body[4:8], b"prft")

    def test_players_read_all_renditions(self):
        lib.need("ffprobe")
        self.serve(*LEVELS)
        for manifest in ("index.m3u8", "index.mpd"):
            streams = self.probe(self.url(manifest), "-show_streams")["streams"]
            kinds = {(s["codec_name"], s.get("width")) for s in streams}
            self.assertEqual(kinds, {("h264", 426), ("h264", 256), ("aac", None), ("opus", None)}, manifest)

    def test_frames_are_whole(self):
        lib.need("ffprobe")
        self.serve(*LEVELS)
        for name, rate in (("v1", 30), ("v0", 15)):
            packets = self.probe(self.url(name + ".m3u8"), "-read_intervals", "%+5", "-show_entries",
                                 "packet=pts_time,duration_time,flags")["packets"]
            times = [float(p["pts_time"]) for p in packets]
            self.assertGreater(len(times), rate)
            keys = [t for t, p in zip(times, packets) if "K" in p["flags"]]
            for a, b in zip(keys[1:], keys[2:]):
                self.assertLess(b - a, 4.5)
            # A frame that a busy machine did not encode leaves a gap, so times are multiples of the frame's.
            for a, b in zip(times, times[1:]):
                self.assertAlmostEqual((b - a) * rate, round((b - a) * rate), delta=0.02)
        decoded = subprocess.run(["ffmpeg", "-v", "error", "-xerror", "-i", self.url("v0.m3u8"), "-t", "3", "-f", "null", "-"],
                                 stderr=subprocess.PIPE, timeout=60 * lib.PATIENCE)
        self.assertEqual(decoded.returncode, 0, decoded.stderr)

    def test_encodes_only_while_requested(self):
        sender = self.serve(*LEVELS)
        self.assertNotIn("encoders run", sender.stderr)
        self.assertTrue(self.playlist("v2.m3u8")[2])
        self.assertIn("encoders run", sender.stderr)
        until(lambda: "the encoders rest" in sender.stderr, "the encoders to rest", 20)
        old = self.playlist("v2.m3u8")  # a new run
        self.assertEqual(sender.stderr.count("encoders run"), 2)
        self.assertIn("#EXT-X-DISCONTINUITY-SEQUENCE", old[1])

    def test_numbers_ascend_through_restarts(self):
        def first(lines):
            return int(next(line for line in lines if "MEDIA-SEQUENCE:" in line).rpartition(":")[2])

        sender = self.serve(*LEVELS)
        before = self.playlist("v2.m3u8")
        sender.stop()
        self.serve(*LEVELS)
        after = self.playlist("v2.m3u8")
        self.assertGreaterEqual(first(after[0]), first(before[0]))
        self.assertNotEqual(before[1]["#EXT-X-MAP"], after[1]["#EXT-X-MAP"])

    def test_shares_encoders_with_rtsp(self):
        sender = self.serve(*LEVELS)
        player = self.player(sender.url)
        player.wait_shown(10)
        self.assertTrue(self.playlist("v1.m3u8")[2])
        player.wait_shown(60, 30)
        self.assertTrue(self.good("v1.m3u8").text)
        player.signal(signal.SIGINT)
        self.assertEqual(player.wait(), 130, str(player))
        self.assertTrue(self.good("v1.m3u8").text)

    def test_file_ends(self):
        lib.need("ffmpeg")
        lib.film_of(self.path("clip.mkv"), "-f", "lavfi", "-i", "testsrc=size=256x144:rate=15:duration=5")
        self.serve("--level", "256x144@15:100", source=self.path("clip.mkv"))
        self.playlist("v0.m3u8")
        lines = until(lambda: (l := self.playlist("v0.m3u8")[0]) and "#EXT-X-ENDLIST" in l and l, "the end of the file", 20)
        total = sum(float(line[8:-1]) for line in lines if line.startswith("#EXTINF:"))
        self.assertAlmostEqual(total, 5, delta=0.5)

    def test_prepared_film(self):
        lib.need("ffmpeg", "ffprobe")
        lib.film_of(self.path("clip.mkv"), "-f", "lavfi", "-i", "testsrc=size=256x144:rate=15:duration=7", "-f", "lavfi",
                    "-i", "sine=frequency=440:duration=7")
        levels = ("--level", "256x144@15:100", "--level", "256x144@7.5:60")
        prepare = self.start([lib.SEND, "--prepare", *levels, self.path("clip.mkv")])
        self.assertEqual(prepare.wait(60), 0, prepare.stderr)
        self.serve("--path", "/film", source=self.path("clip.mkv.weir.mkv"), path="/film")
        lines, _, segments, parts = self.playlist("v1.m3u8")
        self.assertIn("#EXT-X-PLAYLIST-TYPE:VOD", lines)
        self.assertIn("#EXT-X-ENDLIST", lines)
        self.assertEqual((len(segments), len(parts)), (4, 0))
        self.assertEqual(self.good(segments[3]).body, self.good(segments[3]).body)
        self.assertEqual(self.get(segments[3].replace("-3", "-4")).status, 404)
        self.assertEqual(self.get(segments[3].replace("-3", "-3.0")).status, 404)
        self.assert_rates_of_segments(("v0", "v1"), ("aac", "opus"))
        for name, count in (("v0", 53), ("v1", 105)):
            packets = self.probe(self.url(name + ".m3u8"), "-show_entries", "packet=pts_time,dts_time")["packets"]
            self.assertAlmostEqual(len(packets), count, delta=3)  # the end is padded
            shown = sorted(float(p["pts_time"]) for p in packets)
            for a, b in zip(shown, shown[1:]):
                self.assertAlmostEqual(b - a, 7 / count, delta=0.01)
            self.assertTrue(all(float(p["dts_time"]) <= float(p["pts_time"]) + 0.001 for p in packets))
        for manifest in ("index.m3u8", "index.mpd"):
            found = {s["codec_name"] for s in self.probe(self.url(manifest), "-show_streams")["streams"]}
            self.assertEqual(found, {"h264", "aac", "opus"}, manifest)
        for name, step in (("aac", 1024), ("opus", 960)):
            times = [int(p["pts"]) for p in self.probe(self.url(name + ".m3u8"), "-show_entries", "packet=pts")["packets"]]
            self.assertEqual({b - a for a, b in zip(times, times[1:])}, {step}, name)
            self.assertAlmostEqual(len(times) * step / 48000, 7, delta=0.3)
        decoded = subprocess.run(["ffmpeg", "-v", "error", "-xerror", "-i", self.url("index.m3u8"), "-map", "0:v:0", "-map", "0:a",
                                  "-f", "null", "-"], stderr=subprocess.PIPE, timeout=60 * lib.PATIENCE)
        self.assertEqual(decoded.returncode, 0, decoded.stderr)

    def assert_rates_of_segments(self, videos, audios):
        """Playlist and MPD state the rates of the video segments, and bounds of those with audio (RFC 8216, 4.1)."""
        measured = {}
        for name in (*videos, *audios):
            lines, _, segments, _ = self.playlist(name + ".m3u8")
            seconds = [float(line[8:].rstrip(",")) for line in lines if line.startswith("#EXTINF:")]
            bits = [8 * len(self.good(s).body) for s in segments]
            # The last segment may be too short to count alone.
            sets = [(b, s) for b, s in zip(bits, seconds) if s >= seconds[0] / 2] + [(sum(bits[-2:]), sum(seconds[-2:]))]
            measured[name] = (max(b / s for b, s in sets), sum(bits) / sum(seconds))
        lines = self.playlist("index.m3u8")[0]
        order = [line[:-5] for line in lines if line.endswith(".m3u8")]
        self.assertEqual(order, [videos[-1], *videos[:-1]] * len(audios))  # players start with the best below 500 kbit/s
        stated = {}
        for i, line in enumerate(lines):
            if line.startswith("#EXT-X-STREAM-INF"):
                v = attributes(line)
                stated[lines[i + 1][:-5], v["AUDIO"]] = (int(v["BANDWIDTH"]), int(v["AVERAGE-BANDWIDTH"]))
        mpd = self.good("index.mpd").text
        for video in videos:
            peak, average = measured[video]
            bandwidth = int(re.search(rf'id="{video}"[^>]* bandwidth="(\d+)"', mpd).group(1))
            self.assertGreaterEqual(bandwidth, peak, video)
            self.assertLess(bandwidth, 1.06 * peak, video)
            for audio in audios:
                self.assertGreaterEqual(stated[video, audio][0], peak + measured[audio][0], (video, audio))
                self.assertGreater(stated[video, audio][1], 0.95 * average + measured[audio][1], (video, audio))

    def test_folder(self):
        """Each prepared film of a folder has its files below its path, and nothing else has any."""
        lib.need("ffmpeg", "ffprobe")
        os.makedirs(self.path("films/sub/.hidden"))
        for name, seconds in ("one.mkv", 3), ("sub/my film.mkv", 5), ("sub/.hidden/x.mkv", 3), ("bare.mkv", 3):
            lib.film_of(self.path("films/" + name), "-f", "lavfi", "-i", f"testsrc=size=256x144:rate=15:duration={seconds}",
                        "-f", "lavfi", "-i", f"sine=frequency=440:duration={seconds}")
            if name != "bare.mkv":
                made = self.start([lib.SEND, "--prepare", "--level", "256x144@15:100", self.path("films/" + name)])
                self.assertEqual(made.wait(60), 0, made.stderr)
        shutil.copy(self.path("films/one.mkv.weir.mkv"), self.path("films/stale.mkv.weir.mkv"))
        shutil.copy(self.path("films/bare.mkv"), self.path("films/stale.mkv"))
        os.symlink("../outside.mkv", self.path("films/out.mkv"))
        shutil.copy(self.path("films/one.mkv.weir.mkv"), self.path("outside.mkv"))
        server = self.serve("--metrics", "127.0.0.1:0", source=self.path("films"))
        for film, count in ("/one.mkv", 2), ("/sub/my%20film.mkv", 3), ("/one.mkv.weir.mkv", 2):
            with self.subTest(film):
                self.base = film
                lines, _, segments, _ = self.playlist("v0.m3u8")
                self.assertIn("#EXT-X-ENDLIST", lines)
                self.assertEqual(len(segments), count)
                for manifest in "index.m3u8", "index.mpd":
                    found = {s["codec_name"] for s in self.probe(self.url(manifest), "-show_streams")["streams"]}
                    self.assertEqual(found, {"h264", "aac", "opus"}, manifest)
        for film in ("/two.mkv", "/bare.mkv", "/stale.mkv", "/out.mkv", "/sub", "/sub/.hidden/x.mkv", "/sub/../one.mkv",
                     "/sub/%2e%2e/one.mkv", "/outside.mkv", "//one.mkv", "/one.mkv/one.mkv"):
            self.assertEqual(self.get(film + "/index.m3u8").status, 404, film)
        self.assertEqual(self.get("/index.m3u8").status, 404)
        self.assertIn("stale.mkv.weir.mkv is not used: the file has changed since (run --prepare again)", server.stderr)
        shown = self.play(f"rtsp://127.0.0.1:{server.port}/one.mkv").report()
        self.assertGreater(shown["playback"]["frames_played"], 0)
        self.stop_cleanly(server)

    def test_more_films_than_are_open(self):
        lib.need("ffmpeg")
        lib.film_of(self.path("clip.mkv"), "-f", "lavfi", "-i", "testsrc=size=256x144:rate=15:duration=3")
        made = self.start([lib.SEND, "--prepare", "--level", "256x144@15:100", self.path("clip.mkv")])
        self.assertEqual(made.wait(60), 0, made.stderr)
        os.mkdir(self.path("films"))
        for i in range(12):
            os.link(self.path("clip.mkv.weir.mkv"), self.path(f"films/{i}.mkv.weir.mkv"))
        self.serve(source=self.path("films"))
        bodies = {self.good(f"/{i}.mkv.weir.mkv/v0.m3u8").body for i in [*range(12), 0]}
        self.assertEqual(len(bodies), 1)

    def test_options_that_conflict(self):
        for args, word in ((("--codec", "vp9"), "--codec vp9"), (("synthetic:goddard",), "synthetic")):
            p = self.start([lib.SEND, "--http", "127.0.0.1:0", *args])
            self.assertEqual(p.wait(), 2)
            self.assertIn(word, p.stderr)
        p = self.start([lib.SEND, "--http", "nonsense"])
        self.assertEqual(p.wait(), 2)


if __name__ == "__main__":
    lib.main()
