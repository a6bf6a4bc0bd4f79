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
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", f"color={colour}:s={size}:d=2", "-c:v",
                        "libx264", "-pix_fmt", "yuv420p", self.path(name)], check=True, timeout=60 * lib.PATIENCE)
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


if __name__ == "__main__":
    lib.main()
