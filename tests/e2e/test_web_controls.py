# SPDX-License-Identifier: GPL-2.0-or-later
"""What a viewer presses on the page: keys, volume, full screen; and the player in the page of another server."""
import json
import os

import lib
from lib import until
from web_case import Web

EMBEDDING = """
<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,"><style>html, body { margin: 0; height: 100%% }</style>
<script src="http://127.0.0.1:%d/.weir/weir.js"></script>
<weir-video src="/live" controls="no" style="height: 100%%"></weir-video>
"""
CLICK = """(r => [r.x + r.width / 2, r.y + r.height / 2])(document.getElementById("%s").getBoundingClientRect())"""


class Keyboard(Web):
    def level(self, b):
        return int(b.value("document.getElementById('level').value"))

    def test_live(self):
        """Play, level and statistics by keys; a key with Ctrl is the browser's."""
        sender = self.server(source="test:640x360@30")
        b = self.watch(sender)
        until(lambda: self.shown(b) > 10, "pictures", 30)
        for key in " ", "k":
            self.press(b, key)
            until(lambda: b.value("weir.state.paused"), f"a pause by {key!r}")
            self.assertEqual(b.value("document.getElementById('play').getAttribute('aria-label')"), "Play")
            self.press(b, key)
            until(lambda: b.value("weir.state.playing"), f"playing by {key!r}")
        top = b.value("document.getElementById('level').options.length") - 2  # without "Auto"
        self.assertEqual(self.level(b), -1)
        self.press(b, "-")
        self.assertEqual(self.level(b), top - 1)
        until(lambda: self.figures(b)["level"] == top - 1, "the level below the highest")
        self.press(b, "+")
        self.assertEqual(self.level(b), top)
        self.press(b, "+")
        self.assertEqual(self.level(b), -1)
        self.press(b, "i")
        until(lambda: "Capture to screen" in b.value("document.getElementById('panel').innerText"), "the statistics")
        self.press(b, "Escape")
        self.assertTrue(b.value("document.getElementById('panel').hidden"))
        self.press(b, "?")
        keys = b.value("[...document.querySelectorAll('#help:not([hidden]) dt')].map(e => e.textContent)")
        self.assertIn("j, l", keys)
        for width in 1280, 390:
            b.look(width, 800, True)
            self.assertLessEqual(b.value("document.documentElement.scrollWidth"), width)
            self.picture_of(b, f"keys-{width}")
        self.press(b, "Escape")
        self.assertTrue(b.value("document.getElementById('help').hidden"))
        b.call("Input.dispatchKeyEvent", type="keyDown", key="i", modifiers=2)
        self.assertTrue(b.value("document.getElementById('panel').hidden"))
        self.said_nothing(b)

    def test_film(self):
        """Left and right seek, and j and l, twice as far; steps add up."""
        clip = self.clip(seconds=30, size="320x180")
        b = self.watch(self.sender(source=clip))
        until(lambda: self.shown(b) > 10, "pictures", 30)
        self.press(b, "k")
        until(lambda: b.value("weir.state.paused"), "a pause")
        at = self.figures(b)["position"]
        self.press(b, "ArrowRight")
        until(lambda: self.figures(b)["position"] >= at + 4.5, "5 s later")
        self.press(b, "k")
        until(lambda: b.value("weir.state.paused"), "a pause")
        at = self.figures(b)["position"]
        self.press(b, "ArrowLeft")
        until(lambda: self.figures(b)["position"] < at, "an earlier place")
        at = self.figures(b)["position"]
        self.press(b, "l")
        self.press(b, "l")
        self.press(b, "j")
        self.press(b, "l")
        until(lambda: self.figures(b)["position"] >= at + 19, "20 s later")
        self.said_nothing(b)

    def test_volume(self):
        """A key turns audio on, as browsers require; up and down change its volume, `m` and 0 mute it."""
        b = self.watch(self.sender())
        until(lambda: self.shown(b) > 10, "pictures", 30)
        self.assertEqual(b.value("weir.gain"), 0)

        def label():
            return b.value("document.getElementById('mute').getAttribute('aria-label')")
        self.assertEqual(label(), "Unmute")
        self.press(b, "m")
        until(lambda: self.figures(b)["speaker"], "audio that plays", 20)
        self.assertEqual((b.value("weir.gain"), label()), (1, "Mute"))
        self.press(b, "ArrowDown")
        self.assertAlmostEqual(b.value("weir.gain"), 0.81)
        self.press(b, "ArrowUp")
        self.press(b, "ArrowUp")  # stays at the most
        self.assertEqual(b.value("weir.gain"), 1)
        self.press(b, "m")
        self.assertEqual((b.value("weir.gain"), label()), (0, "Unmute"))
        self.press(b, "ArrowDown")  # who changes the volume wants to hear
        self.assertAlmostEqual(b.value("weir.gain"), 0.81)
        b.value("(v => { v.value = 0; v.dispatchEvent(new Event('input')); })(document.getElementById('volume'))")
        self.assertEqual((b.value("weir.gain"), label()), (0, "Unmute"))
        self.press(b, "m")  # from 0, "on" must be heard
        self.assertGreater(b.value("weir.gain"), 0)
        self.said_nothing(b)

    def test_full_screen(self):
        """By key and by button; the picture then fills the window."""
        b = self.watch(self.sender())
        until(lambda: self.shown(b) > 5, "pictures", 30)
        self.press(b, "f")
        until(lambda: b.value("document.fullscreenElement?.id") == "stage", "full screen")
        self.assertEqual(b.value("document.getElementById('stage').getBoundingClientRect().height === innerHeight"), True)
        self.press(b, "f")
        until(lambda: b.value("!document.fullscreenElement"), "the window")
        x, y = b.value(CLICK % "full")
        for kind in "mouseMoved", "mousePressed", "mouseReleased":
            b.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if kind != "mouseMoved" else "none", clickCount=1)
        until(lambda: b.value("document.fullscreenElement?.id") == "stage", "full screen")
        self.said_nothing(b)


class Embedded(Web):
    def embed(self, *args):
        """Returns a browser with a page of another origin that embeds the player, and that origin."""
        folder = self.path("pages")
        os.mkdir(folder)
        port = self.serve(folder)
        origin = f"http://127.0.0.1:{port}"
        sender = self.server(*[origin if a == "ORIGIN" else a for a in args], source="test:640x360@30")
        with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as f:
            f.write(EMBEDDING % sender.port)
        b = self.browse()
        b.look(640, 360, False)
        b.open(origin + "/index.html")
        until(lambda: b.value("document.readyState === 'complete' && !!document.querySelector('weir-video iframe')"), "the page")
        return b

    def seen(self, b):
        """Returns the frame's number in what the window shows, -1 if it is not one."""
        path = self.path("window.png")
        b.screenshot(path)
        return lib.frame_number(*lib.grey_picture(path))

    def test_allowed(self):
        """With --allow-origin the page of another server plays; both the frame and the script are let in."""
        b = self.embed("--allow-origin", "ORIGIN")
        before = until(lambda: self.seen(b) + 1, "a picture in the frame", 30) - 1
        until(lambda: self.seen(b) > before, "a later picture", 20)
        self.said_nothing(b)

    def test_refused(self):
        """Without, the browser refuses the frame, and no viewer comes."""
        b = self.embed("--allow-origin", "https://example.org")
        until(lambda: b.value("1") and "frame-ancestors" in json.dumps(b.said), "a refusal", 20)
        self.assertEqual(self.seen(b), -1)
        self.assertFalse([line for line in self.stats() if line.get("playing")])


if __name__ == "__main__":
    lib.main()
