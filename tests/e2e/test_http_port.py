# SPDX-License-Identifier: GPL-2.0-or-later
"""HLS and DASH at the RTSP port: with TLS, keys, users and several sources, and the same files as at --http."""
import base64
import http.client
import os
import re
import shutil
import ssl
import subprocess
import urllib.parse

import lib
import test_access
from lib import until

LEVELS = "--level", "160x90@15:100", "--level", "320x180@15:300"
TEST = "test:320x180@15"


class Port(test_access.Access):
    def request(self, server, path, method="GET", secure=False, body=None, **headers):
        """Returns status, headers and bytes. Of the arguments' names, _ is -."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        limit = 40 * lib.PATIENCE
        c = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=limit, context=context) if secure \
            else http.client.HTTPConnection("127.0.0.1", server.port, timeout=limit)
        try:
            c.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = c.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            c.close()

    def good(self, server, path, **options):
        status, headers, body = self.request(server, path, **options)
        self.assertEqual(status, 200, (path, body[:200]))
        return headers, body

    def uris(self, text):
        """All URIs of a playlist or an MPD, except those of segments with $Number$."""
        if text.startswith("#EXTM3U"):
            return re.findall(r'URI="([^"]+)"', text) + [line for line in text.split("\n") if line and line[0] != "#"]
        return re.findall(r'initialization="([^"]+)"', text)

    def walk(self, server, first, **options):
        """Gets the playlist, and all that it leads to. Returns {path without query: (headers, bytes)}."""
        got, left = {}, [first]
        while left:
            path = left.pop()
            if path.split("?")[0] in got:
                continue
            headers, body = self.good(server, path, **options)
            got[path.split("?")[0]] = headers, body
            if path.split("?")[0].endswith((".m3u8", ".mpd")):
                left += [urllib.parse.urljoin(path, uri) for uri in self.uris(body.decode())
                         if not re.search(r"\.\d+\.m4s", uri)]  # parts expire, and the hinted one blocks
        return got

    def decodes(self, url, *options, frames=20):
        """FFmpeg plays the URL."""
        lib.need("ffmpeg")
        out = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", *options, "-i", url, "-map", "0:v:0", "-frames:v", str(frames), "-f",
                              "framemd5", "-"], stdout=subprocess.PIPE, text=True, check=True, timeout=120 * lib.PATIENCE).stdout
        self.assertEqual(len([line for line in out.split("\n") if line and line[0] != "#"]), frames)


class Keys(Port):
    def test_the_key_is_in_every_uri(self):
        server = self.serve(*LEVELS, source=TEST)
        key, other = self.invite("/live"), self.invite("/other")
        for path in "/live/index.m3u8", "/live/index.mpd":
            got = self.walk(server, f"{path}?key={key}", secure=True)
            kinds = {os.path.splitext(name)[1] for name in got}
            self.assertLessEqual({".mp4"} | ({".m3u8", ".m4s"} if "m3u8" in path else {".mpd"}), kinds)
            for name, (headers, body) in got.items():
                self.assertTrue(headers["Cache-Control"].startswith("private, "), (name, str(headers)))
                if name.endswith((".m3u8", ".mpd")):
                    for uri in self.uris(body.decode()):
                        self.assertTrue(uri.endswith("?key=" + key), uri)
        files = [name for name in got if name.endswith(".mp4")]
        for name in ["/live/index.m3u8", "/live/index.mpd", "/live/v0.m3u8", *files]:
            for query, status in (("", 401), ("?key=" + other, 401), ("?key=", 401), (f"?key={key}&key={key}", 401)):
                self.assertEqual(self.request(server, name + query)[0], status, name + query)
        self.assertEqual(self.request(server, f"/other/index.m3u8?key={other}")[0], 404)
        self.assertEqual(self.request(server, f"/other/index.m3u8?key={key}")[0], 401)
        self.stop_cleanly(server)
        self.assertNotIn(key, server.stderr)

    def test_ffmpeg_plays_over_tls(self):
        server = self.serve(*LEVELS, source=TEST)
        key = self.invite("/live")
        for name in "index.m3u8", "index.mpd":
            self.decodes(f"https://127.0.0.1:{server.port}/live/{name}?key={key}", "-tls_verify", "0")

    def test_users(self):
        """A password, and the cookie of a login, open the files too; each path has its own rights."""
        server = self.serve(*LEVELS, source=TEST)
        basic = "Basic " + base64.b64encode(f"anna:{test_access.PASSWORD}".encode()).decode()
        form = urllib.parse.urlencode({"user": "anna", "password": test_access.PASSWORD})
        status, headers, _ = self.request(server, "/.weir/login", "POST", True, form, Content_Type="application/x-www-form-urlencoded")
        self.assertEqual(status, 204)
        cookie = headers["Set-Cookie"].split(";")[0]
        for rights in {"Authorization": basic}, {"Cookie": cookie}:
            headers, body = self.good(server, "/live/index.m3u8", secure=True, **rights)
            self.assertNotIn(b"key=", body)
            self.assertIn("private", headers["Cache-Control"])
            self.good(server, "/live/v0.m3u8", secure=True, **rights)
            self.assertEqual(self.request(server, "/other/index.m3u8", secure=True, **rights)[0], 403)
        status, headers, _ = self.request(server, "/live/index.m3u8")
        self.assertIn("Basic", headers["WWW-Authenticate"])


class Sources(Port):
    def test_named_sources(self):
        """A live source, a prepared film and one that has no such files."""
        film = lib.prepared_film(self.folder, 6, "320x180", LEVELS)
        server = lib.Sender(self.folder, *LEVELS, "live=" + TEST, "film=" + film, "fill=synthetic:goddard")
        self.processes.append(server)
        until(lambda: server.stderr.count(" is open: ") == 3, "the sources")
        for name in "live", "film":
            got = self.walk(server, f"/{name}/index.m3u8")
            self.assertIn(f"/{name}/v1.m3u8", got)
            self.assertTrue(all(headers["Cache-Control"].startswith("public, ") for headers, _ in got.values()))
            self.decodes(f"http://127.0.0.1:{server.port}/{name}/index.m3u8")
            self.decodes(f"http://127.0.0.1:{server.port}/{name}/index.mpd")
        for path in "/fill/index.m3u8", "/none/index.m3u8", "/live/none.m3u8", "/live/0/v0.mp4":
            status, headers, body = self.request(server, path)
            self.assertEqual((status, headers["Cache-Control"]), (404, "no-store"), path)
            self.assertIn(b"no such file", body)

    def test_a_folder(self):
        """Its prepared films have files; the page of a film is no init segment."""
        folder = self.path("films")
        os.makedirs(folder + "/sub")
        film = lib.prepared_film(self.folder, 4, "320x180", LEVELS)
        for name in os.listdir(self.folder):
            if name.startswith(os.path.basename(film)):
                shutil.move(self.path(name), f"{folder}/sub/{name}")
        server = self.sender(source=folder)
        path = "/sub/" + os.path.basename(film)
        self.decodes(f"http://127.0.0.1:{server.port}{path}/index.m3u8")
        self.assertIn(b"<!DOCTYPE html>", self.good(server, path)[1])
        self.assertEqual(self.request(server, "/sub/none.mkv/index.m3u8")[0], 404)

    def test_other_codecs_have_none(self):
        server = self.sender("--codec", "vp9", source=TEST)
        self.assertEqual(self.request(server, "/live/index.m3u8")[0], 404)

    def test_own_video_of_a_film(self):
        """The size that is not encoded is left out: its key frames are where the film has them."""
        lib.need("ffmpeg")
        film = self.path("own.mp4")
        lib.film_of(film, "-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=20", "-c:v", "libx264", "-preset", "veryfast",
                    "-g", "25", "-bf", "0", "-pix_fmt", "yuv420p")
        server = self.sender("--loop", source=film)
        until(lambda: "its own video passes" in server.stderr, "the film")
        body = self.good(server, "/live/index.m3u8")[1].decode()
        self.assertIn("RESOLUTION=", body)
        self.assertNotIn("RESOLUTION=640x360", body)
        self.decodes(f"http://127.0.0.1:{server.port}/live/index.m3u8")


class BothPorts(Port):
    def test_the_same_bytes(self):
        """--http and the RTSP port serve one packager's files, and wait for the same parts."""
        server = self.sender("--http", "127.0.0.1:0", *LEVELS, source=TEST)
        port = int(until(lambda: re.search(r"HLS at http://127.0.0.1:(\d+)/", server.stderr), "the HTTP server").group(1))

        def both(path):
            self.good(server, path)
            c = http.client.HTTPConnection("127.0.0.1", port, timeout=40 * lib.PATIENCE)
            c.request("GET", path)
            return c.getresponse().read(), self.good(server, path)[1]

        playlist = both("/live/v0.m3u8")[0].decode()
        segment = [line for line in playlist.split("\n") if line.endswith(".m4s")][-1]
        a, b = both("/live/" + segment)
        self.assertEqual(a, b)
        number = int(re.search(r"-(\d+)\.m4s", segment).group(1))
        waited = self.good(server, f"/live/v0.m3u8?_HLS_msn={number + 2}")[1].decode()
        self.assertIn(f"-{number + 2}.m4s", waited)
        status, headers, _ = self.request(server, "/live/" + segment, Range="bytes=0-9")
        self.assertEqual((status, headers["Content-Range"]), (206, f"bytes 0-9/{len(a)}"))

    def test_pages_of_others(self):
        """They neither read the files nor start the encoders."""
        server = self.sender("--allow-origin", "https://good.example", *LEVELS, source=TEST)
        for headers in {"Origin": "https://evil.example"}, {"Sec_Fetch_Site": "cross-site"}, {"Host": "evil.example"}:
            self.assertEqual(self.request(server, "/live/index.m3u8", **headers)[0], 403, headers)
        self.assertNotIn("the encoders run", server.stderr)
        headers, _ = self.good(server, "/live/index.m3u8", Origin="https://good.example")
        self.assertEqual(headers["Access-Control-Allow-Origin"], "https://good.example")
        status, headers, _ = self.request(server, "/live/index.m3u8", "OPTIONS", Origin="https://good.example",
                                          Access_Control_Request_Method="GET", Access_Control_Request_Headers="range")
        self.assertEqual(status, 204)
        self.assertIn("Range", headers["Access-Control-Allow-Headers"])


if __name__ == "__main__":
    lib.main()
