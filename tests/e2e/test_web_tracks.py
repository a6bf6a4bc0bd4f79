# SPDX-License-Identifier: GPL-2.0-or-later
"""Subtitles and audio tracks of a film on the page."""
import subprocess

import lib
from lib import until
from tones import film
from web_case import SEEK, Web

SHOWN = "[...document.querySelectorAll('#cues p')].map(p => p.innerText)"
LINES = """(() => {
  const picture = document.getElementById("picture").getBoundingClientRect();
  return [...document.querySelectorAll("#cues p")].map(p => {
    const r = p.getBoundingClientRect(), s = p.querySelector("span");
    return { left: r.left, right: r.right, bottom: r.bottom, height: r.height, inside: r.left >= picture.left && r.right <= picture.right
      && r.bottom <= picture.bottom && r.top >= picture.top, direction: p.matches(":dir(rtl)") ? "rtl" : "ltr",
      italic: getComputedStyle(s).fontStyle, size: parseFloat(getComputedStyle(s).fontSize) };
  });
})()"""
NOTICE = "(n => n.hidden ? '' : n.textContent)(document.getElementById('notice'))"
MENU = "[...document.querySelectorAll('#menu:not([hidden]) button')].map(b => [b.textContent, b.getAttribute('aria-checked') === 'true'])"
ARABIC = "مرحبا بكم في (المدينة).\nهذا هو السطر الثاني!"
CHINESE = "欢迎来到这座城市。\n这是第二行！"


def srt(*cues):
    def at(s):
        return f"00:00:{int(s):02},{round(s % 1 * 1000):03}"
    return "".join(f"{i}\n{at(begin)} --> {at(end)}\n{text}\n\n" for i, (begin, end, text) in enumerate(cues, 1))


class Subtitles(Web):
    def film(self):
        """Returns a film with four tracks: one inside, in two colours, that is shown by itself, and three files next to it."""
        clip, film, inside = self.clip("bare.mkv", 29, "640x360"), self.path("film.mkv"), self.path("inside.srt")
        with open(inside, "w", encoding="utf-8") as f:
            f.write(srt((0.5, 10, "<i>Voilà,</i> <font color=\"#ff0000\">rouge</font>"), (12, 28, "later"), (13, 28, "{\\an8}above")))
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", clip, "-i", inside, "-map", "0", "-map", "1", "-c:v", "copy", "-c:a", "copy",
                        "-c:s", "ass", "-metadata:s:s:0", "language=fra", "-disposition:s:0", "default", film], check=True,
                       timeout=60 * lib.PATIENCE)
        for name, text in ("ar", ARABIC), ("zh", CHINESE):
            with open(self.path(f"film.{name}.srt"), "w", encoding="utf-8") as f:
                f.write(srt((0.5, 28, text)))
        return film

    def see(self, b, what, texts):
        until(lambda: b.value(SHOWN) == texts, what, 20)

    def test_tracks(self):
        """The track that the film marks is shown at once; a key goes on to the next ones, and a menu has them all."""
        film = self.film()
        sender = self.sender(source=film)
        b = self.watch(sender)
        self.see(b, "the film's own track", ["Voilà, rouge"])
        self.assertEqual(b.value("[...document.querySelectorAll('#cues span')].map(s => getComputedStyle(s).color).slice(-1)"), ["rgb(255, 0, 0)"])
        self.assertEqual(b.value(LINES)[0]["italic"], "italic")
        self.press(b, "c")
        self.see(b, "the next track", [ARABIC])
        until(lambda: "film.ar.srt" in b.value(NOTICE), "its name")
        for width, height in (1280, 800), (390, 800):
            b.look(width, height, True)
            line = b.value(LINES)[0]
            self.assertEqual((line["direction"], line["inside"]), ("rtl", True), line)
            self.assertGreater(line["height"], 2 * line["size"])  # two lines
            self.assertAlmostEqual((line["left"] + line["right"]) / 2, width / 2, delta=4)
            self.picture_of(b, f"subtitles-arabic-{width}")
        self.press(b, "c")
        self.see(b, "the next track", [CHINESE])
        self.assertEqual(b.value(LINES)[0]["direction"], "ltr")
        self.picture_of(b, "subtitles-chinese-390")
        b.look(1280, 800, True)
        self.picture_of(b, "subtitles-chinese-1280")
        self.press(b, "c")
        self.see(b, "no subtitles", [])
        until(lambda: b.value(NOTICE) == "Subtitles off", "a message")
        self.click(b, "subtitles")
        items = b.value(MENU)
        self.assertEqual([text for text, _ in items], ["off", "fra", "ar, film.ar.srt", "zh, film.zh.srt"])
        self.assertEqual([text for text, chosen in items if chosen], ["off"])
        for width in 1280, 390:
            b.look(width, 800, True)
            self.picture_of(b, f"subtitles-menu-{width}")
        self.press(b, "ArrowDown")
        self.assertEqual(b.value("document.activeElement.textContent"), "fra")
        b.value("document.activeElement.click()")
        self.assertEqual(b.value(MENU), [])
        b.value(SEEK % 15)
        self.see(b, "two cues at a later place", ["later", "above"])
        self.press(b, "k")
        until(lambda: b.value("weir.state.paused"), "a pause")
        b.look(1280, 800, True)
        low, high = b.value(LINES)
        self.assertLess(high["bottom"], low["bottom"] - 200)
        b.value(SEEK % 5)
        self.see(b, "the cue of another place", ["Voilà, rouge"])
        self.said_nothing(b)
        self.stop_cleanly(sender)

    @lib.long
    def test_prepared(self):
        """A prepared film has them, too, also those of what is buffered; and one without any has no button."""
        film = self.film()
        subprocess.run([lib.SEND, "--prepare", film], check=True, timeout=120 * lib.PATIENCE, capture_output=True)
        b = self.watch(self.sender(source=film))
        self.see(b, "the film's own track", ["Voilà, rouge"])
        until(lambda: self.figures(b)["buffered"] > 8, "a film ahead of time")
        self.press(b, "c")
        self.see(b, "the next track", [ARABIC])
        self.said_nothing(b)

    def test_none(self):
        b = self.watch(self.server(source="test:320x180@30"))
        until(lambda: self.shown(b) > 5, "pictures", 30)
        self.assertEqual(b.value("document.getElementById('subtitles').hidden"), True)
        self.press(b, "c")
        until(lambda: "no text subtitles" in b.value(NOTICE), "a message")
        self.press(b, "a")
        until(lambda: "one audio track" in b.value(NOTICE), "a message")


# Between the page's speaker and what is heard: the frequency that is loudest.
LISTEN = """(() => {
  const { context, node } = globalThis.weir_sound();
  const analyser = globalThis.ears = context.createAnalyser();
  analyser.fftSize = 8192;
  node.connect(analyser);
})()"""
HEARD = """(() => {
  const bins = new Float32Array(ears.frequencyBinCount);
  ears.getFloatFrequencyData(bins);
  const at = bins.reduce((best, v, i) => v > bins[best] ? i : best, 0);
  return bins[at] < -60 ? 0 : at * 48000 / ears.fftSize;
})()"""


class Tracks(Web):
    def hears(self, b, hz):
        until(lambda: abs(b.value(HEARD) - hz) < 12, f"a tone of {hz} Hz", 30)

    def test_choose(self):
        """By menu and by key."""
        self.listen(film(self.path("film.mkv")), False)

    @lib.long
    def test_choose_of_a_prepared_film(self):
        """What is buffered already has the other track, too."""
        path = film(self.path("film.mkv"))
        subprocess.run([lib.SEND, "--prepare", path], check=True, timeout=300 * lib.PATIENCE, capture_output=True)
        self.listen(path, True)

    def listen(self, path, prepared):
        sender = self.sender(source=path)
        b = self.watch(sender, "/live", "--autoplay-policy=no-user-gesture-required")
        until(lambda: self.shown(b) > 10, "pictures", 30)
        if prepared:
            until(lambda: self.figures(b)["buffered"] > 20, "a film ahead of time", 30)
        self.press(b, "m")
        until(lambda: self.figures(b)["speaker"], "audio that plays", 20)
        b.value(LISTEN)
        self.hears(b, 440)
        self.press(b, "a")
        self.assertEqual(b.value(MENU), [["eng", True], ["deu, Kommentar", False], ["track 3", False]])
        self.picture_of(b, "tracks-menu")
        b.value("document.querySelectorAll('#menu button')[1].click()")
        self.hears(b, 880)
        self.press(b, "#")
        self.hears(b, 1320)
        self.press(b, "#")
        self.hears(b, 440)
        self.said_nothing(b)
        self.stop_cleanly(sender)


if __name__ == "__main__":
    lib.main()
