# SPDX-License-Identifier: GPL-2.0-or-later
"""What was recorded, over HTTP and in the page: lists, gaps, pieces as MP4."""
import datetime
import http.client
import json
import os
import socket
import subprocess
import time

import lib
import recordings
import test_access
from lib import until
from web_case import Web

HOUR = 3600


def utc(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Recorded(test_access.Access):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("recordings"))
        self.pattern = os.path.join(self.path("recordings"), recordings.PATTERN)

    def files(self):
        return sorted(os.path.join(self.path("recordings"), name) for name in os.listdir(self.path("recordings")))

    def record(self, seconds):
        """Records the test picture. Returns the sender, which goes on."""
        server = self.sender("--record", self.pattern, "--record-segment", "3s", source="test:320x180@25")
        until(lambda: self.spans(server) and self.spans(server)[-1][1] - self.spans(server)[0][0] > seconds, "recordings", 60)
        return server

    def get(self, server, target, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60 * lib.PATIENCE)
        try:
            connection.request(method, target, headers=headers)
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def spans(self, server, times="all"):
        answer, body = self.get(server, f"/live.mp4?recordings={times}")
        self.assertEqual((answer.status, answer.getheader("Content-Type")), (200, "application/json"), body)
        return json.loads(body)["spans"]

    def recorded(self, begin, end):
        """Returns how many pictures the recordings have of this time. A busy machine leaves out some."""
        count = 0
        for path in self.files():
            said = json.loads(subprocess.run(
                ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time:format_tags=creation_time", "-of", "json",
                 path], capture_output=True, check=True, timeout=60 * lib.PATIENCE).stdout)
            created = datetime.datetime.fromisoformat(said["format"]["tags"]["creation_time"].replace("Z", "+00:00")).timestamp()
            count += sum(begin - .01 <= created + float(p["pts_time"]) < end - .01 for p in said["packets"])
        return count

    def clip(self, server, begin, end):
        """Returns what ffprobe and ffmpeg say of a piece: number of pictures, seconds, the codecs."""
        lib.need("ffmpeg", "ffprobe")
        answer, body = self.get(server, f"/live.mp4?clip={begin},{end}")
        self.assertEqual((answer.status, answer.getheader("Content-Type")), (200, "video/mp4"), body[:200])
        with open(self.path("clip.mp4"), "wb") as f:
            f.write(body)
        said = json.loads(subprocess.run(
            ["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=codec_name,nb_read_frames:format=duration", "-of", "json",
             self.path("clip.mp4")], capture_output=True, check=True, timeout=60 * lib.PATIENCE).stdout)
        wrong = subprocess.run(["ffmpeg", "-v", "warning", "-i", self.path("clip.mp4"), "-f", "null", "-"], capture_output=True, text=True,
                               check=True, timeout=60 * lib.PATIENCE).stderr
        self.assertEqual(wrong, "")
        streams = {s["codec_name"]: int(s["nb_read_frames"]) for s in said["streams"]}
        return streams, float(said["format"]["duration"])


class Clips(Recorded):
    def test_lists_and_pieces(self):
        """A list has the gaps; a piece has all pictures of several files, of earlier runs and of the present one."""
        server = self.record(10)
        begin, end = self.spans(server)[0][0], self.spans(server)[-1][1]
        self.assertEqual(len(self.spans(server)), 1)
        self.assertEqual(self.spans(server, f"{begin + 2},{end - 2}"), [[round(begin + 2, 3), round(end - 2, 3)]])
        streams, seconds = self.clip(server, begin, begin + 9)
        self.assertEqual(set(streams), {"h264", "opus"})
        self.assertGreater(seconds, 8)
        self.assertAlmostEqual(streams["h264"], self.recorded(begin, begin + seconds), delta=2)  # the sound ends elsewhere
        streams, seconds = self.clip(server, utc(begin + 4), utc(begin + 6))  # from key frame to key frame
        self.assertLess(seconds, 2 + 2 * 5.2)
        self.stop_cleanly(server)

        older = recordings.copy_older(self.files()[0], HOUR)
        server = self.record(0)
        spans = self.spans(server, f"{older - 10},{older + 2 * HOUR}")
        self.assertIn(len(spans), (2, 3), "an hour's gap, and that of the restart, if it took 2 s")
        self.assertAlmostEqual(spans[0][0], older, delta=0.01)
        _, seconds = self.clip(server, older, older + 10)
        self.assertAlmostEqual(seconds, spans[0][1] - older, delta=0.5)
        streams, seconds = self.clip(server, older, begin + 4)  # over the gap, which is cut out
        self.assertLess(seconds, 20)
        self.assertGreater(streams["h264"], self.recorded(older, begin + 4) - 3)

    def test_bad_requests(self):
        server = self.record(3)
        now = time.time()
        for target, status, words in (
                ("/live.mp4?clip=5,2", 400, "expected clip=FROM,TO"), ("/live.mp4?clip=x", 400, "expected"),
                ("/live.mp4?recordings=1", 400, "expected"), ("/live.mp4?clip=0,999999", 400, "at most 4 hours"),
                ("/live.mp4?clip=5,7", 404, "nothing was recorded"), (f"/live.mp4?clip={now + 900},{now + 910}", 404, "nothing"),
                ("/other.mp4?recordings=all", 404, "no such stream"), ("/live.mp4.mp4?clip=1,2", 404, "no such stream")):
            answer, body = self.get(server, target)
            self.assertEqual(answer.status, status, target)
            self.assertIn(words, body.decode(), target)
            self.assertEqual(answer.getheader("Cache-Control"), "no-store")
        answer, body = self.get(server, "/live.mp4?clip=1,2", Origin="https://example.org")
        self.assertEqual(answer.status, 403)
        self.assertEqual(self.get(server, "/live.mp4?recordings=all", "HEAD")[0].status, 200)
        self.assertEqual(self.get(server, "/live.mp4?recordings=all", "POST")[0].status, 405)
        answer, body = self.get(server, "/live.mp4")  # the page
        self.assertIn("text/html", answer.getheader("Content-Type"))
        plain = self.sender(source="test:320x180@25")
        self.assertEqual(self.get(plain, "/live.mp4?recordings=all")[0].status, 404)

    def test_access(self):
        """Who may not watch gets no recordings."""
        server = self.serve("--record", self.pattern, source="test:320x180@25")
        until(self.files, "a recording")
        key = self.invite("/live")
        for target in ("/live.mp4?recordings=all", "/live.mp4?clip=1,2"):
            self.assertEqual(self.get(server, target)[0].status, 401)
            self.assertEqual(self.get(server, f"{target}&key={key[:-1]}")[0].status, 401)
        self.assertEqual(self.get(server, f"/live.mp4?recordings=all&key={key}")[0].status, 200)
        self.assertEqual(self.get(server, f"/live.mp4?clip=1,2&key={key}")[0].status, 404)

    def test_clients_that_do_not_read(self):
        """They take a bounded number of places, hold up no viewer, and are dropped."""
        server = self.record(4)
        begin = self.spans(server)[0][0]
        while len(self.files()) < 200:  # more than the kernel takes
            recordings.copy_older(self.files()[-2], HOUR + 3.2 * len(self.files()))
        target = f"/live.mp4?clip={begin - 2 * HOUR},{begin}"
        held = []
        self.addCleanup(lambda: [s.close() for s in held])

        def hold():
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.connect(("127.0.0.1", server.port))
            s.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
            held.append(s)
            return s.recv(100)

        for _ in range(4):
            self.assertIn(b"200 OK", hold())
        answer, body = self.get(server, target)
        self.assertEqual((answer.status, answer.getheader("Retry-After")), (503, "1"))
        self.assertIn(b"4 recordings are being read", body)
        self.see(server.url, frames=26)
        until(lambda: self.get(server, f"/live.mp4?clip={begin},{begin + 2}")[0].status == 200, "a place, as those are dropped", 60)


class Page(Recorded, Web):
    def row(self, b, n, what):
        b.value(f"document.querySelectorAll('#recordings li:not(.gap) {what}')[{n}].click()")

    def test_recordings(self):
        """The panel lists a day with its gaps; a piece is played in the page, and another one saved."""
        server = self.record(5)
        self.stop_cleanly(server)
        recordings.copy_older(self.files()[0], 60)
        server = self.record(0)
        b = self.watch(server)
        until(lambda: self.shown(b) > 10, "pictures", 30)
        self.press(b, "r")
        until(lambda: b.value("document.querySelectorAll('#recordings li.gap').length") >= 1, "a gap")
        self.assertIn("nothing recorded for", b.value("document.querySelector('#recordings li.gap').innerText"))
        tags = b.value("[...document.querySelectorAll('#recordings time')].map(t => t.dateTime).join(' ')").split()
        self.assertEqual(tags, sorted(tags))
        self.assertTrue(all(t.endswith("Z") for t in tags), tags)
        self.picture_of(b, "recordings")
        self.row(b, 0, "button")
        until(lambda: self.figures(b)["behind"] > 50, "the piece of a minute ago", 30)
        shown = self.shown(b)
        until(lambda: self.shown(b) > shown + 10, "pictures of it", 30)
        link = b.value("document.querySelector('#recordings li:not(.gap) a').getAttribute('href')")
        answer, body = self.get(server, link)
        self.assertEqual((answer.status, body[4:8]), (200, b"ftyp"))
        self.assertRegex(answer.getheader("Content-Disposition"), r'filename="live_\d{8}T\d{6}Z.mp4"')
        b.look(390, 800, True)
        self.picture_of(b, "recordings-phone")
        self.press(b, "Escape")
        until(lambda: b.value("document.getElementById('recordings').hidden"), "the panel closed")
        self.said_nothing(b)

    def test_no_recordings(self):
        b = self.watch(self.sender("--rewind", "60s", source="test:320x180@25"))
        until(lambda: self.shown(b) > 3, "pictures", 30)
        self.press(b, "r")
        self.assertTrue(b.value("document.getElementById('records').hidden && document.getElementById('recordings').hidden"))


if __name__ == "__main__":
    lib.main()
