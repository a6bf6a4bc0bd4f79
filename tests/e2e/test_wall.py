# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of several live streams: moving tiles, those out of view paused, a camera that is away."""
import signal

import lib
from lib import until
from web_case import Web

TILE = "document.querySelectorAll('.wall .card')[%d]"


class Wall(Web):
    def film(self, name, *options, seconds=30):
        lib.need("ffmpeg")
        lib.film_of(self.path(name), "-f", "lavfi", "-i", f"testsrc2=s=640x360:r=25:d={seconds}", "-c:v", "libx264",
                    "-preset", "veryfast", "-bf", "0", "-g", "25", "-sc_threshold", "0", "-pix_fmt", "yuv420p", *options)
        return self.path(name)

    def camera(self):
        """Another weir-send, whose looped film passes as it is, is a camera."""
        return self.sender("--loop", source=self.film("camera.mp4"))

    def sources(self, *args):
        server = lib.Sender(self.folder, *args)
        self.processes.append(server)
        return server

    def counts(self, b):
        return b.value("Object.values((globalThis.weir && weir.wall && weir.wall.shown) || {})")

    def fact(self, b, n):
        return b.value(TILE % n + ".querySelector('small').textContent")

    def test_tiles_and_films(self):
        """Live streams move, muted, whether they are encoded or passed on; a film is a card below; a click opens one."""
        camera = self.camera()
        server = self.sources("yard=test:320x180@25", f"front=rtsp://127.0.0.1:{camera.port}/live", "film=" + self.film("film.mp4", seconds=4))
        until(lambda: server.stderr.count(" is open: ") == 3, "the sources", 30)
        b = self.watch(server, "/")
        until(lambda: len(self.counts(b)) == 2, "two tiles", 30)
        before = self.counts(b)
        until(lambda: all(n > m + 2 for n, m in zip(self.counts(b), before)), "pictures that move", 30)
        self.assertEqual([self.fact(b, n) for n in range(2)], ["live", "live"])
        self.assertEqual(b.value("document.querySelectorAll('.cards:not(.wall) .card').length"), 1)
        self.picture_of(b, "wall")
        b.look(390, 800, True)
        self.picture_of(b, "wall-phone")
        b.value(TILE % 0 + ".click()")
        until(lambda: self.shown(b) > 3, "the stream's page", 30)
        self.said_nothing(b)

    def test_tiles_out_of_view(self):
        """They have no session; one that comes into view plays."""
        server = self.sources(*[f"cam{i:02d}=test:320x180@10" for i in range(16)])
        b = self.browse()
        b.look(390, 300, False)
        b.open(f"http://127.0.0.1:{server.port}/")
        until(lambda: len(self.counts(b)) >= 2, "tiles in view", 30)
        playing = "[...weir.wall.tiles.values()].filter(t => t.playing).length"
        self.assertLess(b.value(playing), 12)
        b.value("document.querySelectorAll('.wall .card')[15].scrollIntoView()")
        until(lambda: b.value("(weir.wall.shown[15] ?? 0) > 2 && ![...weir.wall.tiles.values()][0].playing"), "the last tile alone", 30)
        until(lambda: server.stderr.count("is gone") >= 2, "the end of the sessions of the first ones", 30)
        self.said_nothing(b)

    def test_camera_is_away(self):
        """The wall, the list, the page, the log and weir-play name it, and say since when and why; then it is back."""
        camera = self.camera()
        server = self.sources(f"front=rtsp://127.0.0.1:{camera.port}/live", "yard=test:320x180@10")
        until(lambda: server.stderr.count(" is open: ") == 2, "the sources", 30)
        b = self.watch(server, "/")
        until(lambda: len(self.counts(b)) == 2, "two tiles", 30)
        player = self.player(f"rtsp://127.0.0.1:{server.port}/front", "--headless")
        until(lambda: server.stderr.count(" plays level 0") == 3, "the player", 30)
        camera.signal(signal.SIGSTOP)
        try:
            until(lambda: "front (camera at 127.0.0.1) is lost: " in server.stderr, "a line of the log", 60)
            until(lambda: self.fact(b, 0).startswith("away since "), "a word of the wall", 40)
            self.assertTrue(b.value(f"{TILE % 0}.classList.contains('silent')"))
            self.assertEqual(self.fact(b, 1), "live")
            self.picture_of(b, "wall-away")
            until(lambda: "the server's source is away: " in player.stderr, "a message of the player", 40)
            b.open(f"http://127.0.0.1:{server.port}/front")
            until(lambda: "The source is away since " in (b.value("document.getElementById('notice').textContent") or ""), "a sentence", 40)
            self.picture_of(b, "camera-away")
            b.open(f"http://127.0.0.1:{server.port}/")
            until(lambda: b.value("document.querySelectorAll('.wall .card').length") == 2, "the list")
            self.assertRegex(self.fact(b, 0), r"^away since \d\d:\d\d$")
        finally:
            camera.signal(signal.SIGCONT)
        until(lambda: self.fact(b, 0) == "live", "the camera", 60)
        self.assertTrue(player.running(), "it has waited for the source")
        self.said_nothing(b)


if __name__ == "__main__":
    lib.main()
