# SPDX-License-Identifier: GPL-2.0-or-later
"""The page that weir-send shows in a browser: RTSP in a WebSocket, WebCodecs."""
import http.client
import json
import os
import re

import jitter
import lib
from lib import until
from web_case import SEEK, Web

LEVELS = ["--level", "160x90@25:80", "--level", "320x180@25:300"]


class Live(Web):
    def test_plays(self):
        """The canvas shows the test picture's frames, and moves on; a level, a pause and the report work."""
        sender = self.server(source="test:640x360@30")
        b = self.watch(sender)
        until(lambda: self.shown(b) > 20, "pictures", 30)
        before = until(lambda: self.number(b) + 1, "a number in the picture") - 1
        until(lambda: self.number(b) > before, "a later picture")
        figures = self.figures(b)
        self.assertEqual((figures["width"], figures["height"], figures["counts"]["undecodable"]), (640, 360, 0))
        self.assertIsNotNone(figures["p50"])  # the clocks are compared
        self.assertGreater(figures["p50"], 0)
        self.assertEqual(self.last_transport()["name"], "minbuf:auto,20")
        self.assertEqual(b.value("document.getElementById('badge').hidden"), False)

        b.value("(l => { l.value = 0; l.dispatchEvent(new Event('change')); })(document.getElementById('level'))")
        until(lambda: self.figures(b)["level"] == 0 and self.figures(b)["width"] < 640, "level 0")
        until(lambda: self.number(b) > before, "a picture of level 0")

        self.click(b, "play")
        until(lambda: b.value("weir.state.paused"), "a pause")
        until(lambda: not self.stats()[-1].get("playing", True), "a sender that pauses")
        paused = self.shown(b)
        self.click(b, "play")
        until(lambda: self.shown(b) > paused + 10, "pictures after the pause")

        self.click(b, "save")
        until(lambda: b.value("!!weir.report"), "the report")
        report = json.loads(b.value("JSON.stringify(weir.report)"))
        self.assertEqual((report["schema"], report["error"]), ("weir.qoe/1", None))
        self.assertGreater(report["playback"]["frames_played"], 30)
        self.assertEqual(report["latency"]["clock"], "estimated")
        self.said_nothing(b)
        self.stop_cleanly(sender)

    def test_jitter(self):
        """After arrivals that jittered by most of a second the page still waits that long for a while. Pictures that wait must
        do so before the decoder: of decoded ones it keeps only 16."""
        sender = self.sender(source="test:320x180@30")
        path = jitter.Jitter(sender.port)
        self.addCleanup(path.stop)
        b = self.browse()
        b.open(f"http://127.0.0.1:{path.port}/live")
        until(lambda: (self.figures(b) or {}).get("wait", 0) > 650, "a wait of more than 16 pictures", 40)
        path.jitters = False
        before = self.shown(b)
        until(lambda: self.shown(b) > before + 45, "pictures")
        self.assertGreater(self.figures(b)["wait"], 540)
        self.said_nothing(b)

    def test_looks(self):
        """The page fits wide and narrow windows, dark and light, with statistics by a key."""
        sender = self.sender(source="test:640x360@30")
        b = self.watch(sender)
        until(lambda: self.shown(b) > 5, "pictures", 30)
        for width, height in (1280, 800), (390, 800):
            for dark in False, True:
                b.look(width, height, dark)
                self.assertLessEqual(b.value("document.documentElement.scrollWidth"), width)
                self.picture_of(b, f"{width}-{'dark' if dark else 'light'}")
        b.call("Input.dispatchKeyEvent", type="keyDown", key="i", text="i")
        b.call("Input.dispatchKeyEvent", type="keyUp", key="i")
        until(lambda: "Capture to screen" in b.value("document.getElementById('panel').innerText"), "the statistics")
        self.assertLessEqual(b.value("document.documentElement.scrollWidth"), 390)
        self.picture_of(b, "statistics-390")
        self.said_nothing(b)

    def test_sound(self):
        """Off at first; a click turns it on, at the time of the pictures."""
        sender = self.sender()
        b = self.watch(sender, "/live", "--autoplay-policy=no-user-gesture-required")
        until(lambda: self.shown(b) > 10, "pictures", 30)
        self.assertIsNone(self.figures(b)["speaker"])
        self.click(b, "mute")
        until(lambda: self.figures(b)["speaker"], "audio that plays", 20)
        self.said_nothing(b)

    def test_comes_back(self):
        """Without the server the page says so, and plays again when the server is back."""
        address = lib.own_address()
        sender = self.sender(listen=f"{address}:8554")
        b = self.browse()
        b.open(f"http://{address}:8554/live")
        until(lambda: self.shown(b) > 5, "pictures", 30)
        sender.stop()
        self.assertIn("Trying again", self.problem(b))
        self.sender(listen=f"{address}:8554")
        until(lambda: b.value("!weir.problem && weir.state.playing"), "pictures of the next server", 30)

    def test_problems(self):
        """Each has a plain sentence."""
        sender = self.sender()
        b = self.watch(sender, "/nothing")
        self.assertIn("There is no stream at /nothing.", self.problem(b))
        self.assertIn("Watch /live", self.problem(b))
        self.picture_of(b, "problem")
        b.open(f"http://127.0.0.1:{sender.port}/")
        until(lambda: b.value("globalThis.weir && weir.list && weir.list.length") == 1, "the list of one stream")
        self.assertEqual(b.value("document.querySelector('.card').pathname"), "/live")

    def insecure(self, source, *args):
        """Returns a sender and a browser for which http://weir.test:8554, its address, is no secure context."""
        address = lib.own_address()
        sender = self.server("--allow-origin", "http://weir.test:8554", *args, source=source, listen=f"{address}:8554")
        return sender, self.browse(f"--host-resolver-rules=MAP *.test {address}")

    def test_not_a_secure_context(self):
        """Where the browser has no WebCodecs, a <video> plays, near the live edge, and says what sound needs."""
        sender, b = self.insecure("test:640x360@30")
        b.open("http://weir.test:8554/live")
        until(lambda: self.shown(b) > 20, "pictures", 30)
        self.assertEqual(b.value("isSecureContext || 'VideoDecoder' in globalThis"), False)
        before = until(lambda: self.number(b) + 1, "a number in the picture") - 1
        until(lambda: self.number(b) > before, "a later picture")
        figures = self.figures(b)
        self.assertEqual((figures["width"], figures["height"], figures["counts"]["undecodable"]), (640, 360, 0))
        self.assertGreater(figures["p50"], 0)
        self.assertIn("Sound needs https", b.value("document.getElementById('bar').innerText"))
        self.picture_of(b, "mse")

        b.value("(l => { l.value = 0; l.dispatchEvent(new Event('change')); })(document.getElementById('level'))")
        until(lambda: self.figures(b)["level"] == 0 and self.figures(b)["width"] < 640, "level 0")
        until(lambda: self.number(b) > before, "a picture of level 0")

        self.click(b, "play")
        until(lambda: b.value("document.querySelector('#picture video').paused"), "a pause")
        paused = self.shown(b)
        self.click(b, "play")
        until(lambda: self.shown(b) > paused + 10, "pictures after the pause")
        until(lambda: abs(b.value("weir.behind")) < 0.5, "the live edge")
        self.said_nothing(b)
        b.open("http://other.test:8554/live")
        until(lambda: "is not a name of this server" in (b.value("document.body.innerText") or ""), "a refusal")
        self.stop_cleanly(sender)

    @lib.long
    def test_film_in_a_context_that_is_not_secure(self):
        """It is shown to its end, with a seek; B frames are in order."""
        clip = self.clip(seconds=40, size="320x180")  # what is done at 15 s may take a busy machine seconds
        p = self.start([lib.SEND, "--prepare", *LEVELS, clip])
        self.assertEqual(p.wait(120), 0, str(p))
        _, b = self.insecure(clip)
        b.open("http://weir.test:8554/live")
        until(lambda: self.shown(b) > 10, "pictures", 30)
        b.value(SEEK % 15)
        until(lambda: 15 <= self.figures(b)["position"], "the place that was sought")
        self.click(b, "play")
        until(lambda: b.value("weir.state.paused"), "a pause")
        at = self.figures(b)["position"]
        self.click(b, "play")
        until(lambda: self.figures(b)["position"] > at, "pictures after the pause")
        b.value(SEEK % 37)
        until(lambda: b.value("weir.state.ended"), "the end", 40)
        self.assertEqual(self.figures(b)["counts"]["undecodable"], 0)
        self.said_nothing(b)

    def test_thumbnails_in_a_context_that_is_not_secure(self):
        """The list has them there, too: the server makes them."""
        clip = self.clip("a film.mp4", seconds=20, size="320x180")
        os.mkdir(self.path("films"))
        os.rename(clip, self.path("films/a film.mp4"))
        _, b = self.insecure(self.path("films"))
        b.open("http://weir.test:8554/")
        until(lambda: b.value("(i => !!i && i.naturalWidth)(document.querySelector('.thumb img'))") == 320, "a thumbnail", 20)
        self.said_nothing(b)

    def test_vp9(self):
        sender = self.sender("--codec", "vp9")
        self.assertIn("VP9", self.problem(self.watch(sender)))

    def test_embedded(self):
        """<weir-video> makes a frame with the player; without its controls, too."""
        sender = self.sender()
        page = self.path("page.html")
        with open(page, "w", encoding="utf-8") as f:
            f.write(f"<script src='http://127.0.0.1:{sender.port}/.weir/weir.js'></script><weir-video src='/live'></weir-video>")
        b = self.browse()
        b.open(f"file://{page}")
        until(lambda: b.value("!!document.querySelector('weir-video iframe')"), "a frame")
        self.assertEqual(b.value("document.querySelector('weir-video iframe').src"), f"http://127.0.0.1:{sender.port}/live?embed=")
        b.open(f"http://127.0.0.1:{sender.port}/live?embed=&controls=no")
        until(lambda: self.shown(b) > 5, "pictures", 30)
        self.assertEqual(b.value("getComputedStyle(document.querySelector('header')).display"), "none")
        self.assertEqual(b.value("getComputedStyle(document.getElementById('bar')).display"), "none")


class Films(Web):
    def films(self):
        clip = self.clip("a film.mp4", seconds=40, size="320x180")
        os.mkdir(self.path("films"))
        os.rename(clip, self.path("films/a film.mp4"))
        os.mkdir(self.path("films/sub"))
        os.symlink("../a film.mp4", self.path("films/sub/b.mp4"))
        return self.sender(source=self.path("films"))

    @lib.long
    def test_list_and_film(self):
        sender = self.films()
        b = self.watch(sender, "/")
        until(lambda: b.value("globalThis.weir && weir.list && weir.list.length") == 2, "the list", 20)
        until(lambda: b.value("document.querySelectorAll('.thumb img').length") == 1, "a thumbnail", 20)
        self.picture_of(b, "list")
        names = "[...document.querySelectorAll('.card b')].map(e => e.textContent)"
        self.assertEqual(b.value(names), ["sub", "a film.mp4"])
        b.value("document.querySelector('.card').click()")
        until(lambda: b.value(names) == ["b.mp4"], "the folder's films")
        until(lambda: b.value("document.querySelectorAll('.thumb img').length") == 1, "its thumbnail", 20)
        self.assertEqual(b.value("[...document.querySelectorAll('.tools nav a')].map(e => e.textContent)"), ["All videos", "sub"])
        b.value("document.querySelector('.tools nav a').click()")
        until(lambda: b.value(names) == ["sub", "a film.mp4"], "the top folder")
        search = "(i => { i.value = %s; i.dispatchEvent(new Event('input')); })(document.querySelector('.tools input'))"
        b.value(search % "'B.MP'")
        self.assertEqual(b.value(names), ["b.mp4"])
        b.value(search % "''")
        self.assertNotIn(" is open", sender.stderr)  # pictures open no film for viewers
        self.assertNotIn("viewer", sender.stderr)
        self.assertEqual(b.value("document.querySelectorAll('.card')[1].pathname"), "/a%20film.mp4")
        b.value("document.querySelectorAll('.card')[1].click()")
        until(lambda: self.shown(b) > 10, "pictures", 30)
        self.assertEqual(b.value("document.getElementById('title').textContent"), "a film.mp4")
        b.value(SEEK % 15)
        until(lambda: 15 <= self.figures(b)["position"], "the place that was sought")
        self.picture_of(b, "film")
        self.click(b, "play")
        until(lambda: b.value("weir.state.paused"), "a pause")
        at = self.figures(b)["position"]
        self.click(b, "play")
        until(lambda: self.figures(b)["position"] > at, "pictures after the pause")
        b.value(SEEK % 37)
        until(lambda: b.value("weir.state.ended"), "the end", 40)
        self.click(b, "play")
        until(lambda: b.value("weir.state.playing") and self.figures(b)["position"] < 10, "the beginning")
        b.open(f"http://127.0.0.1:{sender.port}/none.mp4")
        self.assertIn("There is no video at /none.mp4.", self.problem(b))
        self.said_nothing(b)

    def test_prepared_film(self):
        """B frames, levels, and frames ahead of time; the page chooses the level by the film's table."""
        clip = self.clip(seconds=20, size="320x180")
        p = self.start([lib.SEND, "--prepare", *LEVELS, clip])
        self.assertEqual(p.wait(120), 0, str(p))
        found = re.search(r"(\S+\.weir\S*|\S+\.mkv)\b", p.stderr)
        sender = self.sender(source=clip)
        b = self.watch(sender)
        until(lambda: self.shown(b) > 30, f"pictures of {found and found.group()}", 30)
        until(lambda: self.figures(b)["choice"]["table"], "the film's table")
        until(lambda: self.figures(b)["choice"]["estimate"] > 0, "what the path carries")
        top = b.value("document.getElementById('level').options.length") - 2  # one is "auto"
        self.assertGreater(top, 0)
        b.value(SEEK % 5)
        until(lambda: self.figures(b)["level"] == top, "the highest level", 20)
        until(lambda: self.figures(b)["buffered"] > 8, "a film ahead of time")
        b.value(SEEK % 17)
        until(lambda: b.value("weir.state.ended"), "the end", 30)
        self.assertEqual(self.figures(b)["counts"]["undecodable"], 0)


class Attacks(Web):
    def test_pages_of_others(self):
        """A WebSocket that a page of another server opens is refused."""
        sender = self.sender()
        b = self.browse()
        opened = b.resolved(f"new Promise(done => {{ const s = new WebSocket('ws://127.0.0.1:{sender.port}/live', 'rtsp.onvif.org');"
                            "s.onopen = () => done('open'); s.onerror = () => done('refused'); })")
        self.assertEqual(opened, "refused")
        c = http.client.HTTPConnection("127.0.0.1", sender.port, timeout=20 * lib.PATIENCE)
        self.addCleanup(c.close)
        c.request("GET", "/live", headers={"Origin": "http://evil.example", "Upgrade": "websocket", "Connection": "Upgrade",
                                           "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
                                           "Sec-WebSocket-Protocol": "rtsp.onvif.org"})
        answer = c.getresponse()
        self.assertEqual(answer.status, 403)
        self.assertIn("--allow-origin", answer.read().decode())


if __name__ == "__main__":
    lib.main()
