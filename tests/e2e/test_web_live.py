# SPDX-License-Identifier: GPL-2.0-or-later
"""The page in live media: LIVE is what it says, a step back into the past, and a source that sends nothing."""
import signal

import lib
import test_proxy
from lib import until
from web_case import Web

BADGE = "(b => b.hidden ? '' : b.textContent)(document.getElementById('badge'))"
NOTICE = "(n => n.hidden ? '' : n.textContent)(document.getElementById('notice'))"
GREY = "getComputedStyle(document.getElementById('picture')).filter.includes('grayscale')"
SPINS = "getComputedStyle(document.getElementById('spinner')).visibility === 'visible'"


class Live(Web):
    def badge(self, b):
        return b.value(BADGE)

    def test_past(self):
        """Steps back add up, a pause in the past goes on where it was, and a click on the badge leads to the present."""
        sender = self.server("--rewind", "60s", source="test:640x360@30")
        b = self.watch(sender)
        until(lambda: self.shown(b) > 8 * 30, "8 s of the stream", 60)
        self.assertEqual(self.badge(b), "live")
        self.picture_of(b, "live")
        self.press(b, "ArrowLeft")
        until(lambda: self.badge(b).startswith("−"), "a picture of the past")
        until(lambda: self.figures(b)["behind"] >= 4.5, "5 s or more")
        shown = self.shown(b)
        until(lambda: self.shown(b) > shown + 30, "pictures of the past")
        self.assertEqual(self.figures(b)["counts"]["undecodable"], 0)
        self.assertEqual(b.value("document.getElementById('latency').textContent"), "")
        self.picture_of(b, "behind")
        self.press(b, "k")
        until(lambda: b.value("weir.state.paused"), "a pause")
        behind = self.figures(b)["behind"]
        until(lambda: self.figures(b)["behind"] > behind + 1, "a pause that makes it later")
        self.press(b, "k")
        until(lambda: b.value("weir.state.playing"), "pictures after the pause")
        until(lambda: self.figures(b)["behind"] > behind, "the same place")
        self.click(b, "badge")
        until(lambda: self.badge(b) == "live" and self.figures(b)["behind"] == 0, "the present")
        shown = self.shown(b)
        until(lambda: self.shown(b) > shown + 10, "pictures of the present")
        self.said_nothing(b)
        self.stop_cleanly(sender)

    def test_no_past(self):
        """Without a past a key says so; after a pause, in which the badge counts, the present follows."""
        b = self.watch(self.server(source="test:640x360@30"))
        until(lambda: self.badge(b) == "live", "live media", 30)
        self.press(b, "j")
        until(lambda: "keeps no past" in b.value(NOTICE), "a message")
        self.press(b, "k")
        until(lambda: self.badge(b).startswith("−"), "a picture that is not the present one")
        self.click(b, "badge")
        until(lambda: self.badge(b) == "live" and b.value("weir.state.playing"), "the present")
        self.said_nothing(b)

    def test_silent_server(self):
        """A sentence instead of LIVE and a spinner, and the last picture in grey; it goes by itself."""
        sender = self.server(source="test:640x360@30")
        b = self.watch(sender)
        until(lambda: self.badge(b) == "live", "live media", 30)
        sender.signal(signal.SIGSTOP)
        try:
            until(lambda: "Nothing arrives from 127.0.0.1" in b.value(NOTICE), "a sentence")
            self.assertEqual((self.badge(b), b.value(GREY), b.value(SPINS)), ("", True, False))
            self.picture_of(b, "away")
        finally:
            sender.signal(signal.SIGCONT)
        until(lambda: self.badge(b) == "live" and not b.value(GREY), "the next pictures", 30)
        self.assertEqual(b.value(NOTICE), "")


class Behind(test_proxy.ProxyCase, Web):
    def test_origin_is_away(self):
        """Of a proxy whose origin is gone the page says that, and plays on when it is back."""
        origin = self.origin()
        b = self.watch(self.behind(origin))
        until(lambda: b.value(BADGE) == "live", "live media", 30)
        origin.signal(signal.SIGSTOP)
        try:
            until(lambda: "The proxy has lost its origin" in b.value(NOTICE), "a sentence", 40)
            self.assertEqual((b.value(BADGE), b.value(GREY)), ("", True))
        finally:
            origin.signal(signal.SIGCONT)
        until(lambda: b.value(BADGE) == "live" and not b.value(GREY), "the next pictures", 40)


if __name__ == "__main__":
    lib.main()
