# SPDX-License-Identifier: GPL-2.0-or-later
"""The speed of a film on the page, and the pictures over its position bar."""
import os
import subprocess

import lib
from lib import until
from test_web_tracks import HEARD, LISTEN, MENU, NOTICE
from tones import film
from web_case import Web

PREVIEW = """(() => {
  const box = document.getElementById("preview"), image = box.querySelector("img"), to = document.createElement("canvas");
  if (box.hidden || !image || !image.naturalWidth || image.parentElement.hidden) return null;
  to.width = to.height = 1;
  to.getContext("2d").drawImage(image, 0, 0, 1, 1);
  const r = box.getBoundingClientRect();
  return { text: box.querySelector("span").textContent, colour: [...to.getContext("2d").getImageData(0, 0, 1, 1).data].slice(0, 3),
    inside: r.left >= 0 && r.right <= innerWidth && r.top >= 0, second: Number(/t=(\\d+)/.exec(image.src)[1]) };
})()"""
RATE = "({ position: weir.stats.position, at: performance.now() })"


class Films(Web):
    def colours(self, name="colours.mkv"):
        """Returns a film of 20 s: red, then from 10 s on blue, with a key frame each second, and a tone."""
        path = self.path(name)
        lib.film_of(path, "-f", "lavfi", "-i", "color=red:s=320x180:d=10:r=25", "-f", "lavfi", "-i",
                    "color=blue:s=320x180:d=10:r=25", "-f", "lavfi", "-i", "sine=440:d=20", "-filter_complex",
                    "[0][1]concat", "-c:v", "libx264", "-g", "25", "-pix_fmt", "yuv420p", "-c:a", "libopus")
        return path

    def point(self, b, part):
        """Moves the mouse to this part of the position bar."""
        x, y = b.value(f"(r => [r.left + r.width * {part}, r.top + r.height / 2])(document.getElementById('seek').getBoundingClientRect())")
        b.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="none")

    def plays_at(self, b, pace):
        """Waits until a few seconds of the film take 1 / pace as long; on a busy machine others may not."""
        def close():
            before = b.value(RATE)
            until(lambda: b.value(RATE)["at"] > before["at"] + 2000 or b.value("weir.state.ended"), "two seconds", 20)
            after = b.value(RATE)
            return abs((after["position"] - before["position"]) * 1000 / (after["at"] - before["at"]) / pace - 1) < 0.2
        until(close, f"speed {pace}", 60)


class Speed(Films):
    def listen(self, path):
        b = self.watch(self.sender(source=path), "/live", "--autoplay-policy=no-user-gesture-required")
        until(lambda: self.shown(b) > 10, "pictures", 30)
        self.press(b, "m")
        until(lambda: self.figures(b)["speaker"], "audio that plays", 20)
        b.value(LISTEN)
        for pace, keys in (0.5, "<<"), (2, ">>>>>>>"):
            for key in keys:
                self.press(b, key)
            self.assertEqual((b.value("weir.pace"), b.value("document.getElementById('pace').textContent")), (pace, f"{pace}×"))
            self.assertEqual(b.value(NOTICE), f"Speed {pace}×")
            self.plays_at(b, pace)
            until(lambda: abs(b.value(HEARD) - 440) < 12, f"the tone in its pitch at {pace}", 30)
        self.said_nothing(b)
        return b

    def test_keys_and_menu(self):
        """A film that is encoded for the viewer."""
        b = self.listen(film(self.path("film.mkv")))
        for width in 1280, 390:
            b.look(width, 800, True)
            b.value("document.getElementById('pace').click()")
            self.assertEqual([n for n, chosen in b.value(MENU) if chosen], ["2×"])
            self.assertLessEqual(b.value("document.documentElement.scrollWidth"), width)
            self.picture_of(b, f"speed-{width}")
            self.press(b, "Escape")
        b.value("document.getElementById('pace').click()")
        b.value("document.querySelectorAll('#menu button')[2].click()")
        self.assertEqual(b.value("weir.pace"), 1)
        self.plays_at(b, 1)

    @lib.long
    def test_prepared(self):
        """A film whose level the page chooses."""
        path = film(self.path("film.mkv"))
        subprocess.run([lib.SEND, "--prepare", path], check=True, timeout=300 * lib.PATIENCE, capture_output=True)
        self.listen(path)

    def test_live(self):
        b = self.watch(self.sender())
        until(lambda: self.shown(b) > 5, "pictures", 30)
        self.assertTrue(b.value("document.getElementById('pace').hidden"))
        self.press(b, ">")
        self.assertEqual(b.value(NOTICE), "Live media plays at its own speed")
        self.assertEqual(b.value("weir.pace ?? 1"), 1)


class Preview(Films):
    def look(self, b):
        until(lambda: self.shown(b) > 10, "pictures", 30)
        for width in 1280, 390:
            b.look(width, 800, True)
            for part, colour, text in (0.2, "red", "0:04"), (0.8, "blue", "0:16"), (0.01, "red", "0:00"), (0.99, "blue", "0:19"):
                self.point(b, part)

                def right():
                    seen = b.value(PREVIEW)
                    return seen and seen["text"] == text and (seen["colour"][0] > 200) == (colour == "red") and seen["inside"]
                until(right, f"{colour} at {part} of {width}", 30)
            self.point(b, 0.7)
            until(lambda: (b.value(PREVIEW) or {}).get("text") == "0:14", "the time")
            self.picture_of(b, f"preview-{width}")
        b.call("Input.dispatchMouseEvent", type="mouseMoved", x=100, y=100, button="none")
        until(lambda: b.value("document.getElementById('preview').hidden"), "no picture away from the bar")
        self.said_nothing(b)

    def test_film(self):
        self.look(self.watch(self.sender(source=self.colours())))

    @lib.long
    def test_prepared_film_of_a_folder_through_a_proxy(self):
        os.mkdir(self.path("films"))
        path = self.colours("films/film.mkv")
        subprocess.run([lib.SEND, "--prepare", path], check=True, timeout=300 * lib.PATIENCE, capture_output=True)
        sender = self.sender(source=self.path("films"))
        proxy = self.proxy("--origin", f"rtsp://127.0.0.1:{sender.port}")
        self.look(self.watch(proxy, "/film.mkv"))

    def test_no_picture(self):
        """Of live media there is none."""
        b = self.watch(self.sender())
        until(lambda: self.shown(b) > 5, "pictures", 30)
        b.value("document.getElementById('seek').dispatchEvent(new PointerEvent('pointermove', { clientX: 200 }))")
        self.assertTrue(b.value("document.getElementById('preview').hidden"))


if __name__ == "__main__":
    lib.main()
