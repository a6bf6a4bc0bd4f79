# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands over the picture: it comes and goes with its keys, chooses levels and transports, and tells why the
picture stands still. A paused picture is the same in every grab, so all that differs is what was drawn over it."""
import signal
import subprocess

import lib
import test_foreign_server
from lib import until
from screen import Screen

WIDTH, HEIGHT = 640, 360


class Osd(Screen):
    def begin(self, *args, **env):
        self.server = self.sender(listen=f"{lib.own_address()}:0")
        self.env.update(env)
        p = self.open_url(self.server.url, *args)
        self.resize(WIDTH, HEIGHT)
        return p

    def pause(self):
        self.key("space")
        until(lambda: "paused" in self.title(), "the pause")
        return self.steady()

    def changed(self, before, area=(0, 0, WIDTH, HEIGHT)):
        """Returns the fraction of the pixels of an area that changed."""
        x, y, w, h = area
        now = self.grab()
        rows = [slice((y + i) * WIDTH + x, (y + i) * WIDTH + x + w) for i in range(h)]
        return sum(a != b for r in rows for a, b in zip(before[r], now[r])) / (w * h)

    def bright(self, area):
        """Returns the fraction of white pixels: text."""
        luma = self.grab(area)
        return sum(v > 150 for v in luma) / len(luma)

    def test_panel_and_keys_come_and_go(self):
        p = self.begin()
        still = self.pause()
        left, right = (8, 8, 300, 150), (400, 8, 230, 150)
        self.key("i")
        line, below = (8, 6, 300, 14), (8, 40, 300, 150)
        until(lambda: self.changed(still, line) > 0.5, "one line")
        self.assertLess(self.changed(still, below), 0.01)
        self.key("i")
        until(lambda: self.changed(still, left) > 0.5, "the panel")
        self.assertLess(self.changed(still, right), 0.01)
        until(lambda: self.bright(left) > 0.004, "its text")
        self.key("i")
        until(lambda: self.changed(still) < 0.01, "the picture without it")
        for opens, closes in ("question", "question"), ("F1", "Escape"), ("h", "h"):
            self.key(opens)
            until(lambda: self.changed(still) > 0.3, "the keys over the picture")
            self.key(closes)
            until(lambda: self.changed(still) < 0.01, "the picture without them")
        self.assertTrue(p.running(), "Escape closes what is open, and no more")
        self.key("space")
        until(lambda: "paused" not in self.title(), "the end of the pause")
        self.quits(p)

    def test_a_level_of_the_menu(self):
        p = self.begin()
        top = len(self.server.levels()) - 1
        self.key("l", "Down", "Down", "Down", "Return")  # from automatic
        until(lambda: p.shown()[-1]["level"] == top - 2, "a picture of the level two below")
        self.key("l", "Up", "Escape")
        # The third line from the top, by mouse: the list stands in the middle, a line is 18 pixels.
        self.key("l")
        lines = len(self.server.levels())
        height = 2 * 11 + 17 * (lines + 2)
        self.key_until(lambda: self.click(WIDTH // 2, (HEIGHT - height) // 2 + 11 + 17 + 2 * 17 + 8),
                       lambda: p.shown()[-1]["level"] == top - 1, "a picture of the level that was clicked")
        self.key("l", *["Up"] * 3, "Return")
        until(lambda: p.shown()[-1]["level"] == top, "the highest level: automatic")
        self.quits(p)
        # On a busy machine the network may have a say, too, while the level is automatic.
        self.assertEqual([e["to"] for e in p.events("level") if e["why"] == "user"], [top - 2, top - 1, top])

    @lib.long
    def test_each_key_has_its_message(self):
        p = self.begin()
        self.pause()
        place = (WIDTH // 2 - 90, HEIGHT - 92, 180, 30)
        quiet = self.grab(place)
        for key in "m", "9", "Up", "Left", "plus", "period", "v", "numbersign", "s":
            # A busy machine may look only when the message has gone again.
            self.key_until(lambda: self.key(key), lambda: self.grab(place) != quiet and self.bright(place) > 0.01,
                           f"a message for the key {key}")
        until(lambda: self.grab(place) == quiet, "the picture without a message")
        self.quits(p)

    @lib.long
    def test_subtitles(self):
        """A track of the film, prepared or not, and of a SubRip file next to it."""
        text = self.path("text.srt")
        with open(text, "w", encoding="utf-8") as f:
            f.write("1\n00:00:00,500 --> 00:00:28,500\n<i>Voilà, çà et là:</i>\nthe second line\n\n")
        film, bare = self.path("film.mkv"), self.clip("bare.mkv", 29, "320x180")
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", bare, "-i", text, "-map", "0", "-map", "1", "-c:v", "copy",
                        "-c:s", "ass", "-metadata:s:s:0", "language=fra", film], check=True, timeout=60 * lib.PATIENCE)
        with open(self.path("film.srt"), "w") as f:
            f.write("1\n00:00:00,500 --> 00:00:28,500\nshort\n\n")
        for prepared in False, True:
            if prepared:
                subprocess.run([lib.SEND, "--prepare", "--level", "320x180@25:200", film], check=True, timeout=120 * lib.PATIENCE,
                               capture_output=True)
            server = self.sender(source=film)
            self.assertIn("subtitles for weir-play: fra; film.srt\n", server.stderr)
            p = self.open_url(server.url)
            self.resize(WIDTH, HEIGHT)
            until(lambda: p.shown()[-1]["number"] > 30, "a second of the film")
            if prepared:  # what is buffered has its subtitles, too
                until(lambda: p.events("transport")[-1]["rate"] == 0, "the film to be there as a whole")
            still = self.pause()
            place, short = (WIDTH // 2 - 60, 245, 120, 55), (WIDTH // 2 - 15, 270, 30, 30)  # above the bar
            beside = (WIDTH // 2 - 75, 245, 30, 55)
            self.assertLess(self.changed(still, place), 0.01)
            self.key("v")
            until(lambda: self.changed(still, place) > 0.1, "two lines in the picture")
            until(lambda: self.bright(place) > 0.02, "their text")
            self.key("v")
            until(lambda: self.changed(still, short) > 0.1 and self.changed(still, beside) < 0.01,
                  "the short line of the other track")
            self.key("v")
            until(lambda: self.changed(still) < 0.01, "the picture without them")
            if prepared:
                self.key("shift+v")
                until(lambda: self.changed(still) > 0.05, "the menu of tracks")
                self.key("Down")
                self.key("Return")
                until(lambda: self.changed(still, place) > 0.1 and self.bright(place) > 0.02, "the first track again")
                self.key("v")
                self.key("v")
                until(lambda: self.changed(still) < 0.01, "the picture without them")
            self.quits(p)
            p = self.open_url(server.url, "--subtitles", "1")
            self.resize(WIDTH, HEIGHT)
            until(lambda: p.shown()[-1]["number"] > 30, "a second of the film")
            self.pause()
            until(lambda: self.bright(place) > 0.02, "the text of --subtitles")
            self.quits(p)
            self.stop_cleanly(server)

    def test_one_picture_at_a_time(self):
        server = self.sender(source=self.clip("film.mkv", 20, "320x180"))
        p = self.open_url(server.url)
        self.key("period")
        until(lambda: "paused" in self.title(), "the pause")
        self.steady()
        for _ in range(5):
            before = lib.stands(lambda: len(p.shown()), "what was shown")  # a busy machine tells of it late
            self.key("period")
            until(lambda: len(p.shown()) > before, "the next picture")
            lib.never(lambda: len(p.shown()) > before + 1, "a second picture")
            self.assertIn("paused", self.title())
        self.key("space")
        count = len(p.shown())
        until(lambda: len(p.shown()) > count + 10, "pictures that move")
        self.quits(p)

    def test_a_transport_of_the_menu(self):
        p = self.begin()
        self.key("t", "Down", "Down", "Return")  # auto, minbuf, tcp
        until(lambda: len(p.events("connected")) == 2, "the connection by another transport")
        count = len(p.shown())
        until(lambda: len(p.shown()) > count + 20, "pictures by it")
        r = self.quits(p)
        self.assertEqual([e["transport"] for e in p.events("connected")], ["minbuf", "tcp"])
        self.assertEqual((r["session"]["transport"], r["session"]["reconnects"]), ("tcp", 1))
        self.assertEqual(p.events("reconnect"), [])
        self.assertEqual(r["rebuffering"]["by_cause"]["server-lost"]["count"], 0)
        causes = r["causes"]
        self.assertEqual(sum(causes["by_cause"].values()), causes["expected"] - causes["shown"])

    def test_a_lost_server_is_told(self):
        p = self.begin()
        self.server.signal(signal.SIGKILL)
        until(lambda: len(p.events("reconnect")) > 1, "tries")
        band = (0, HEIGHT // 2 - 30, WIDTH, 50)
        until(lambda: self.bright(band) > 0.005 and self.bright((0, 0, WIDTH, 60)) < 0.001, "text over a dim picture")
        self.again = self.sender(listen=f"{lib.own_address()}:{self.server.port}")
        count = len(p.shown())
        until(lambda: len(p.shown()) > count + 20, "pictures again", 20)
        r = self.quits(p)
        self.assertEqual((r["ended"], r["session"]["reconnects"]), ("quit", 1))

    def test_the_bar_of_a_file(self):
        film = self.clip("film.mkv", 20, "320x180")
        server = self.sender(source=film)
        p = self.open_url(server.url)
        self.resize(WIDTH, HEIGHT)
        self.key("space")
        until(lambda: "paused" in self.title(), "the pause")
        before = self.steady()
        self.click(WIDTH * 3 // 4, HEIGHT - 39)
        seek = until(lambda: p.events("seek"), "the seek")[0]
        self.between(14, seek["to"], 16.5)
        self.key("Left")
        seek = until(lambda: p.events("seek")[1:], "the step back")[0]
        self.between(4, seek["to"], 8)
        self.assertGreater(self.changed(before), 0.05)
        self.quits(p)

    def test_steps_in_a_file_whose_place_is_not_told(self):
        """With a server that is not weir-send, the position is unknown, so a step of 10 s has no target."""
        foreign = test_foreign_server.Cameras
        foreign.setUpClass()
        server = test_foreign_server.Camera(foreign.sdp.replace("t=0 0", "t=0 0\r\na=range:npt=0-60"), foreign.packets)
        self.addCleanup(server.stop)
        p = self.open_url(server.url)
        self.resize(WIDTH, HEIGHT)
        self.key("Right")
        count = len(p.shown())
        until(lambda: len(p.shown()) > count + 10, "pictures behind the key")
        self.assertEqual(len(server.asked("PLAY")), 1, server.requests)
        self.quits(p)

    def test_without_a_font(self):
        p = self.begin(WEIR_FONT="/nowhere.ttf")
        still = self.pause()
        self.key("i", "question", "l", "q")
        self.assertEqual(p.wait(5), 0, str(p))
        self.assertEqual(p.stderr.count("fonts-dejavu-core"), 1, p.stderr)
        self.assertEqual(len(still), WIDTH * HEIGHT)

    def test_a_click_without_a_font(self):
        """Without text there is no position bar to click on."""
        self.env.update(WEIR_FONT="/nowhere.ttf")
        server = self.sender(source=self.clip("film.mkv", 60, "320x180"))
        p = self.open_url(server.url)
        self.resize(WIDTH, HEIGHT)
        self.key("space")
        until(lambda: "paused" in self.title(), "the pause")
        self.steady()
        self.click(WIDTH // 2, HEIGHT - 39)
        lib.never(lambda: p.events("seek"), "a seek")
        self.quits(p)


class FineDisplay(Osd):
    DPI = 192

    def test_text_follows_the_scale(self):
        p = self.begin()
        self.pause()
        self.key("i")
        # The ground of the line below its text, at twice the size.
        until(lambda: max(self.grab((20, 44, 100, 3))) < 60, "one line, twice as high")
        self.quits(p)


for name in [n for n in dir(Osd) if n.startswith("test_")]:
    setattr(FineDisplay, name, None)


if __name__ == "__main__":
    lib.main()
