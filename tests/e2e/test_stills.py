# SPDX-License-Identifier: GPL-2.0-or-later
"""Still pictures over HTTP: GET /NAME.jpg."""
import base64
import http.client
import os
import subprocess
import time

import lib
import test_access
from lib import until


class Stills(test_access.Access):
    def get(self, server, path, method="GET", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30 * lib.PATIENCE)
        try:
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def picture(self, server, path, headers=None):
        """Returns the JPEG file at a path."""
        answer, data = self.get(server, path, headers=headers)
        self.assertEqual(answer.status, 200, data)
        self.assertEqual(answer.getheader("Content-Type"), "image/jpeg")
        self.assertEqual(answer.getheader("Cache-Control"), "no-store")
        return data

    def decoded(self, jpeg):
        """Returns width, height and the RGB bytes of a JPEG file."""
        lib.need("ffmpeg", "ffprobe")
        size = subprocess.run(["ffprobe", "-v", "error", "-f", "mjpeg", "-show_entries", "stream=width,height", "-of", "csv=p=0",
                               "-"], input=jpeg, capture_output=True, check=True, timeout=60 * lib.PATIENCE).stdout
        width, height = map(int, size.split(b",")[:2])
        rgb = subprocess.run(["ffmpeg", "-v", "error", "-f", "mjpeg", "-i", "-", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"],
                             input=jpeg, capture_output=True, check=True, timeout=60 * lib.PATIENCE).stdout
        self.assertEqual(len(rgb), 3 * width * height)
        return width, height, rgb

    def film(self, name, colour, size="1600x900"):
        lib.need("ffmpeg")
        lib.film_of(self.path(name), "-f", "lavfi", "-i", f"color={colour}:s={size}:d=2", "-c:v", "libx264", "-preset",
                    "veryfast", "-pix_fmt", "yuv420p")
        return self.path(name)

    def test_pictures_of_several_sources(self):
        red = self.film("red.mkv", "red")
        server = lib.Sender(self.folder, "front=test:320x180@30", "film=" + red, "gone=" + self.path("none"),
                            "fill=synthetic:goddard")
        self.processes.append(server)
        until(lambda: server.stderr.count(" is open: ") + server.stderr.count(" is not available: ") == 4, "the sources")
        width, height, rgb = self.decoded(self.picture(server, "/front.jpg"))
        self.assertEqual((width, height), (320, 180))
        self.assertGreater(len(set(rgb)), 50, "the test picture has many colours")
        width, height, rgb = self.decoded(self.picture(server, "/film.jpg"))
        self.assertEqual((width, height), (1280, 720))  # reduced
        red, green, blue = rgb[3 * (360 * 1280 + 640):][:3]
        self.assertTrue(red > 230 and green < 25 and blue < 25, (red, green, blue))
        for path, status, text in (("/gone.jpg", 503, b"/gone is not available"), ("/fill.jpg", 404, b"no still pictures"),
                                   ("/none.jpg", 404, b"no such stream")):
            answer, data = self.get(server, path)
            self.assertEqual((answer.status, text in data), (status, True), data)
        answer, data = self.get(server, "/front.jpg", "HEAD")
        self.assertEqual((answer.status, data, answer.getheader("Content-Type")), (200, b"", "image/jpeg"))

    def test_at_most_one_a_second(self):
        """Requests of one second share a picture, viewers see nothing of them, and without viewers time stands still."""
        server = self.sender(source="test:320x180@30")
        until(lambda: self.picture(server, "/live.jpg") == self.picture(server, "/live.jpg"), "two requests in one second")
        player = self.player(server.url, "--no-picture")
        player.wait_shown(5)
        begun, seen, count = time.monotonic(), set(), 0
        while len(seen) < 3:
            seen.add(self.picture(server, "/live.jpg"))
            count += 1
        self.assertLessEqual(len(seen), time.monotonic() - begun + 2, f"of {count} requests")
        self.assertTrue(player.running())
        shown = len(player.shown())
        player.wait_shown(shown + 20)
        self.assertEqual([e for e in player.events("frame") if e.get("outcome") == "undecodable"], [])

    def test_access(self):
        server = self.serve(source="test:320x180@30")
        key, other = self.invite("/live"), self.invite("/other")
        basic = {"Authorization": "Basic " + base64.b64encode(f"anna:{test_access.PASSWORD}".encode()).decode()}
        for path, headers, status in (("/live.jpg", {}, 401), (f"/live.jpg?key={other}", {}, 401), ("/live.jpg?key=x", {}, 401),
                                      (f"/live.jpg?x=1&key={key}", {}, 200), ("/live.jpg", basic, 200),
                                      ("/other.jpg", basic, 403), (f"/other.jpg?key={other}", {}, 404)):
            answer, data = self.get(server, path, headers=headers)
            self.assertEqual(answer.status, status, (path, data[:200]))
            if status == 401:
                self.assertIn("Basic", answer.getheader("WWW-Authenticate"))
        answer, data = self.get(server, "/live.jpg", headers={"Host": "evil.example"})
        self.assertEqual(answer.status, 403, data)

    def test_a_folder(self):
        os.mkdir(self.path("films"))
        self.film("films/a film.mkv", "blue", "320x180")
        server = self.sender(source=self.path("films"))
        width, height, rgb = self.decoded(self.picture(server, "/a%20film.mkv.jpg"))
        self.assertEqual((width, height), (320, 180))
        self.assertTrue(rgb[2] > 230 and rgb[0] < 25, tuple(rgb[:3]))
        until(lambda: "a film.mkv is closed" in server.stderr, "the file to be closed")


class Films(Stills):
    """Small pictures of films, for lists and position bars: no stream is opened, no session begins."""

    def two(self, name):
        """Returns a film of 20 s: red, then from 10 s on blue, with a key frame each second."""
        lib.need("ffmpeg")
        lib.film_of(self.path(name), "-f", "lavfi", "-i", "color=red:s=640x360:d=10", "-f", "lavfi", "-i",
                    "color=blue:s=640x360:d=10", "-filter_complex", "[0][1]concat", "-c:v", "libx264", "-preset", "veryfast",
                    "-g", "25", "-pix_fmt", "yuv420p")
        return self.path(name)

    def sound(self, name):
        lib.film_of(self.path(name), "-f", "lavfi", "-i", "sine=d=2")
        return self.path(name)

    def colour(self, server, path, query=""):
        """Returns "red", "blue", or the status."""
        answer, data = self.get(server, f"{path}.jpg?small{query}")
        if answer.status != 200:
            return answer.status
        self.assertEqual(answer.getheader("Content-Type"), "image/jpeg")
        self.assertLessEqual(len(data), 20000)
        age = answer.getheader("Cache-Control")
        self.assertTrue(age.startswith("private, max-age=") and int(age.split("=")[1]) > 0, age)
        width, height, rgb = self.decoded(data)
        self.assertEqual((width, height), (320, 180))
        return {(True, False): "red", (False, True): "blue"}[rgb[0] > 230, rgb[2] > 230]

    def see(self, server, paths, none):
        for path in paths:
            for query, colour in (("", "red"), ("&t=3", "red"), ("&t=15", "blue"), ("&t=99999", "blue"), ("&t=x", "red")):
                self.assertEqual(self.colour(server, path, query), colour, path + query)
        for path in none:
            self.assertEqual(self.colour(server, path), 404, path)
        answer, data = self.get(server, paths[0] + ".jpg?small", "HEAD")
        self.assertEqual((answer.status, data), (200, b""))

    def quiet(self, server):
        self.assertNotIn(" viewer ", server.stderr)

    def folder_of_films(self):
        os.mkdir(self.path("films"))
        path = self.two("films/a film.mkv")
        os.mkdir(self.path("films/prepared"))
        subprocess.run([lib.SEND, "--prepare", "--level", "640x360@25:200", path], check=True, timeout=300 * lib.PATIENCE,
                       capture_output=True)
        os.rename(path + ".weir.mkv", self.path("films/prepared/a film.mkv.weir.mkv"))  # without its original
        self.sound("films/sound.mka")
        return self.path("films"), ["/a%20film.mkv", "/prepared/a%20film.mkv.weir.mkv"], ["/sound.mka", "/none.mkv", "/prepared", "/../x"]

    def test_a_folder(self):
        folder, paths, none = self.folder_of_films()
        server = self.sender(source=folder)
        self.see(server, paths, none)
        self.quiet(server)

    def test_sources_and_one_file(self):
        film, sound = self.two("film.mkv"), self.sound("sound.mka")
        subprocess.run([lib.SEND, "--prepare", "--level", "640x360@25:200", film], check=True, timeout=300 * lib.PATIENCE,
                       capture_output=True)
        os.rename(film, self.path("original.mkv"))
        prepared = film + ".weir.mkv"
        server = lib.Sender(self.folder, "plain=" + self.path("original.mkv"), "prepared=" + prepared, "sound=" + sound)
        self.processes.append(server)
        self.see(server, ["/plain", "/prepared"], ["/sound", "/none"])
        self.quiet(server)
        for source in prepared, self.path("original.mkv"):
            server = self.sender(source=source)
            self.see(server, ["/live"], ["/none"])
            self.quiet(server)

    @lib.long
    def test_through_proxies(self):
        """A proxy passes its origin's pictures on, and keeps them; what the origin refuses is refused."""
        folder, paths, none = self.folder_of_films()
        origin = self.sender(source=folder)
        parent = self.proxy("--origin", f"rtsp://127.0.0.1:{origin.port}")
        leaf = self.proxy("--parent", f"rtsp://127.0.0.1:{parent.port}")
        self.see(leaf, paths, none)
        self.see(parent, paths, none)
        self.stop_cleanly(origin)
        for server in leaf, parent:
            self.assertEqual(self.colour(server, paths[0]), "red")  # it is kept
            self.assertEqual(self.colour(server, paths[0], "&t=7"), 503)  # may come later

    def test_through_a_proxy_of_a_server_with_users(self):
        """The proxy has a key of the origin; its viewers are judged by its own rules."""
        origin = self.serve(source=self.two("film.mkv"))
        at = f"rtsp://127.0.0.1:{origin.port}/"
        self.assertEqual(self.colour(origin, "/live"), 401)
        self.assertEqual(self.colour(self.proxy("--origin", at), "/live"), 503)
        key, other = self.invite("/live"), self.invite("/other")
        self.assertEqual(self.colour(self.proxy("--origin", f"{at}?key={other}"), "/live"), 503)
        friend = self.proxy("--origin", f"{at}?key={key}")
        self.assertEqual(self.colour(friend, "/live"), "red")
        self.assertNotIn(key, friend.stderr)


if __name__ == "__main__":
    lib.main()
