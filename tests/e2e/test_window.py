# SPDX-License-Identifier: GPL-2.0-or-later
"""The window, on a virtual X display: it shows the moving picture and obeys keys."""
import itertools
import os
import signal

import lib
from lib import until
from screen import Screen


class Window(Screen):
    def setUp(self):
        super().setUp()
        self.server = self.sender()

    def open(self, *args):
        return self.open_url(self.server.url, *args)

    def screenshot(self):
        """Returns (width, height, luma) of the picture on the screen, without the bars next to it."""
        _, _, width, height = self.geometry()
        shape = self.server.levels()[-1][0] / self.server.levels()[-1][1]
        bars = max(0, width - round(height * shape)), max(0, height - round(width / shape))
        x, y, width, height = bars[0] // 2, bars[1] // 2, width - bars[0], height - bars[1]
        raw = self.grab((x, y, width, height))
        self.assertEqual(len(raw), width * height)
        return width, height, raw

    def number(self, dim=False):
        """Returns the frame number on the screen; a grab may contain a partly drawn picture. `dim`: behind an overlay message."""
        light = bytes(min(255, v * 255 // 105) for v in range(256)) if dim else bytes(range(256))

        def read():
            width, height, luma = self.screenshot()
            return max(0, lib.frame_number(width, height, luma.translate(light)) + 1)
        return until(read, "a readable picture", 10) - 1

    def test_shows_the_moving_picture(self):
        p = self.open()
        width, height = self.server.levels()[-1][:2]
        self.assertAlmostEqual(self.geometry()[2] / self.geometry()[3], width / height, delta=0.02)
        first = self.number()
        second = until(lambda: max(self.number() - first, 0), "another picture") + first
        until(lambda: {first, second} <= {e["number"] for e in p.shown()}, "the trace to tell the same")
        until(lambda: self.title().endswith(" - weir-play"), "the title to name the stream")
        r = self.quits(p)
        self.assertEqual((r["ended"], r["error"]), ("quit", None))
        self.assertGreater(r["playback"]["frames_played"], 10)
        self.assertIsNotNone(r["picture"])

    def test_keys(self):
        p = self.open("--adapt", "none", "--snapshot", self.path("last.png"))
        top = len(self.server.levels()) - 1
        self.key("minus")
        until(lambda: any(e["level"] == top - 1 for e in p.shown()), "a picture of the lower level")
        self.key("minus")
        until(lambda: any(e["level"] == max(top - 2, 0) for e in p.shown()), "a picture of a still lower level")
        self.key("plus")
        until(lambda: p.shown()[-1]["level"] == top - 1, "the level above")
        changes = [(e["from"], e["to"], e["why"]) for e in p.events("level")]
        self.assertEqual(changes, [(top, top - 1, "user"), (top - 1, top - 2, "user"), (top - 2, top - 1, "user")])

        self.key("space")
        until(lambda: "paused" in self.title(), "the pause")
        self.steady()
        stalls = len(p.events("rebuffer-start"))
        held = self.number()
        lib.never(lambda: self.number() != held, "another picture", 0.7)
        self.assertEqual(len(p.events("rebuffer-start")), stalls, "a pause is no stall")
        self.key("space")
        until(lambda: "paused" not in self.title(), "the end of the pause")
        until(lambda: self.number() > held, "moving pictures")

        # Full screen is the window manager's to give, and there is none here: it must go on, no more can be said.
        self.key("f")
        count = len(p.shown())
        until(lambda: len(p.shown()) > count + 10, "pictures after the key for full screen")
        self.key("q")
        self.assertEqual(p.wait(5), 0, str(p))
        r = p.report()
        self.assertEqual(r["ended"], "quit")
        self.assertEqual([(s["from"], s["to"], s["why"]) for s in r["levels"]["switches"]], changes)
        [skipped] = p.events("skipped")
        causes = r["causes"]
        caught_up = [e for e in p.events("frame") if e.get("dropped") == "skipped"]
        self.assertEqual(causes["by_cause"]["skipped"], skipped["frames"] + len(caught_up))
        # The source pauses with its only viewer, so the player leaves out only what it held when the pause began.
        self.between(0, skipped["frames"], skipped["to"] - skipped["from"])
        self.assertEqual(sum(causes["by_cause"].values()), causes["expected"] - causes["shown"])
        self.assertEqual(lib.png_size(self.path("last.png")), self.server.levels()[top - 1][:2])

    def test_reacts_while_the_network_stands_still(self):
        p = self.open()
        self.server.signal(signal.SIGSTOP)
        until(lambda: "stalled" in self.title(), "the title to tell of the stall")
        self.assertGreaterEqual(self.number(dim=True), 0)  # the last picture is still there
        self.xdotool("windowsize", self.window, "400", "300")
        until(lambda: self.geometry()[2:] == (400, 300), "another size")
        self.assertGreaterEqual(self.number(dim=True), 0)  # drawn anew
        r = self.quits(p)
        self.assertGreaterEqual(r["rebuffering"]["count"], 1)
        self.server.signal(signal.SIGCONT)

    def test_audio_drivers_end_well_and_say_nothing_of_their_own(self):
        for driver in "dummy", "alsa":
            self.env["SDL_AUDIODRIVER"] = driver
            p = self.open()
            self.quits(p)
            self.assertTrue(all(line.startswith("weir-play: ") for line in p.stderr.splitlines()), p.stderr)

    def test_the_end_of_the_server(self):
        p = self.open("--no-reconnect")
        self.stop_cleanly(self.server)
        self.assertEqual(p.wait(10), 0, str(p))


class Opening(Screen):
    """A link that fails is told in the window, and can be tried again there."""

    def fails(self):
        self.listen = f"{lib.own_address()}:8554"
        p = self.player(f"rtsp://{self.listen}/live", window=True, env=self.env)
        self.await_window("^weir-play: cannot open", 10)
        x, y, width, height = self.geometry()
        self.middle = (0, height // 2 - 60, width, 120)
        until(lambda: sum(v > 150 for v in self.grab(self.middle)) > 300, "the message")
        self.assertTrue(p.running())
        return p

    def test_a_key_tries_again(self):
        p = self.fails()
        server = self.sender(listen=self.listen)
        self.key("a")
        until(lambda: len(p.shown()) > 10, "pictures", 20)
        self.stop_cleanly(server)
        until(lambda: p.events("reconnect"), "the loss")
        r = self.quits(p)
        self.assertEqual((r["ended"], r["error"]), ("quit", None))

    def test_the_button_tries_again(self):
        p = self.fails()
        self.sender(listen=self.listen)
        x, y, width, height = self.geometry()
        # The button stands below the reason, in the middle.
        below = itertools.cycle(range(0, 90, 8))
        until(lambda: p.shown() or self.click(width // 2, height // 2 + next(below)), "a picture", 20)
        until(lambda: len(p.shown()) > 10, "pictures", 20)
        self.quits(p)

    def test_to_quit_is_to_fail(self):
        p = self.fails()
        self.key("q")
        self.assertEqual(p.wait(5), 3, str(p))
        self.assertEqual(p.report()["ended"], "error")

    def test_without_reconnecting_it_ends_at_once(self):
        p = self.player(f"rtsp://{lib.own_address()}:8554/live", "--no-reconnect", window=True, env=self.env)
        self.assertEqual(p.wait(10), 3, str(p))


class Folder(Screen):
    """The URL of a folder: its films are a list in the window; a single one plays."""

    def serve(self, *names):
        os.mkdir(self.path("films"))
        for name in names:
            self.clip(f"films/{name}", seconds=20)
        return self.sender(source=self.path("films"))

    def test_one_film_plays(self):
        server = self.serve("a b.mkv")
        p = self.open_url(f"rtsp://127.0.0.1:{server.port}/")
        self.assertEqual([e["url"] for e in p.events("channel")], [f"rtsp://127.0.0.1:{server.port}/a%20b.mkv"])
        self.quits(p)

    @lib.long
    def test_several_are_chosen_from(self):
        server = self.serve("a.mkv", "b.mkv", "c.mkv")
        self.xdotool("mousemove", "1", "1")  # the pointer would select what is below it
        p = self.player(f"rtsp://127.0.0.1:{server.port}/", window=True, env=self.env)
        self.await_window("^weir-play: choose a film of 127.0.0.1", 20)
        x, y, width, height = self.geometry()
        until(lambda: sum(v > 150 for v in self.grab((0, 0, width, height))) > 100, "the list")
        self.assertEqual(p.shown(), [])
        if "WEIR_SCREENSHOT" in os.environ:
            self.grab_into(["-y", os.environ["WEIR_SCREENSHOT"]])
        # PageDown moves in the list, and Space does not choose.
        self.key("Next", "space", "Prior", "Down", "Return")
        until(lambda: len(p.shown()) > 10, "pictures", 20)
        self.key("c", "Next", "Return")
        until(lambda: len(p.events("channel")) == 2, "another film")
        shown = len(p.shown())
        until(lambda: len(p.shown()) > shown + 10, "its pictures", 20)
        self.assertEqual([e["url"].rpartition("/")[2] for e in p.events("channel")], ["b.mkv", "c.mkv"])
        r = self.quits(p)
        self.assertEqual((r["ended"], r["error"]), ("quit", None))

    def test_to_quit_without_a_choice_is_no_failure(self):
        server = self.serve("a.mkv", "b.mkv")
        p = self.player(f"rtsp://127.0.0.1:{server.port}/", window=True, env=self.env)
        self.await_window("^weir-play: choose a film of", 20)
        self.key("q")
        self.assertEqual(p.wait(5), 0, str(p))


class Home(Screen):
    """What who watches a film at home expects: the mouse, and a film that goes on where it was left."""

    def watch(self, url, *args):
        p = self.open_url(url, *args)
        self.resize(640, 360)
        return p

    def test_the_mouse(self):
        server = self.sender(source=self.clip("film.mkv", 60, "320x180"))
        p = self.watch(server.url)
        self.assertEqual(self.title(), "film.mkv - weir-play")
        # The bar: 27 pixels of buttons below 22 of the track, with the text's height of 11.
        self.key_until(lambda: self.click(300, 100), lambda: "paused" in self.title(), "the pause after a click")
        self.key_until(lambda: self.click(20, 360 - 14), lambda: "paused" not in self.title(), "the button that plays")
        self.click(320, 360 - 39)
        seek = until(lambda: p.events("seek"), "the seek to the middle")[0]
        self.between(25, seek["to"], 35)
        controls = len(p.events("control"))
        self.xdotool("mousemove", "--window", self.window, "300", "100", "click", "--repeat", "2", "--delay", "30", "1")
        count = len(p.shown())
        until(lambda: len(p.shown()) > count + 10, "pictures after a double click")
        self.assertEqual(len(p.events("control")), controls, "it pauses nothing")
        # The menu of all actions: its last line quits.
        self.xdotool("mousemove", "--window", self.window, "300", "100", "click", "3")
        self.key("End", "Return")
        self.assertEqual(p.wait(5), 0, str(p))
        self.assertEqual(p.report()["ended"], "quit")

    def test_a_film_goes_on_where_it_was_left(self):
        """Of 130 s: the first 15 s are the beginning, and the last 30 s the credits."""
        os.mkdir(self.path("films"))
        self.clip("films/film.mkv", 130, "320x180")
        server = self.sender(source=self.path("films"))
        url = f"rtsp://127.0.0.1:{server.port}/film.mkv"
        self.env["XDG_STATE_HOME"] = self.path("state")
        left = 0, 0  # somewhere between these seconds
        for args, begins, leaves in ((("--start", "60"), (60, 60), 70), ((), "left", 120), ((), (0, 0), 70),
                                     (("--no-resume",), (0, 0), 20), ((), "left", 8), ((), (0, 0), 8)):
            low, high = left if begins == "left" else begins
            p = self.watch(url, *args)
            until(lambda: len(p.shown()) > 10, "pictures")
            self.key("Left")  # tells where the film is: 10 s further
            seek = until(lambda: p.events("seek"), "the step back")[0]
            asked = seek["t"] - seek["first_frame_ms"] / 1e3
            played = ([e["number"] for e in p.shown() if e["shown"] < asked][-1] - p.shown()[0]["number"]) / 25
            self.between(max(0, low + played - 13), seek["to"], max(0, high + played - 10) + 3)
            self.click(48 + 544 * leaves // 130, 360 - 39)
            seek = until(lambda: p.events("seek")[1:], "the seek")[0]
            self.between(leaves - 3, seek["to"], leaves + 3)
            count = len(p.shown())
            until(lambda: len(p.shown()) > count + 30, "a second of the film there")
            self.quits(p)
            if "--no-resume" not in args:
                left = leaves - 3, leaves + 3 + p.shown()[-1]["shown"] - seek["t"]


class NoDisplay(lib.Case):
    def test_no_display(self):
        server = self.sender()
        nothing = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "SDL_VIDEODRIVER": "", "XDG_RUNTIME_DIR": ""}
        for env, told in (({"SDL_VIDEODRIVER": "x11", "DISPLAY": ":987654"}, "cannot open a display"),
                          ({"DISPLAY": ":987654"}, "DISPLAY is :987654 and cannot be opened"),
                          ({}, "set DISPLAY")):
            p = self.player(server.url, window=True, env={**nothing, **env})
            self.assertEqual(p.wait(), 1, str(p))
            self.assertIn(told, p.stderr)
            self.assertIn("--headless", p.stderr)
            self.assertEqual(p.stderr.count("\n"), 1, p.stderr)


if __name__ == "__main__":
    lib.main()
