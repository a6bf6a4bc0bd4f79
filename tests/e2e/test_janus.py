# SPDX-License-Identifier: GPL-2.0-or-later
"""Browsers watch through Janus."""
import base64
import math
import os
import re
import sys

import janus
import lib
from lib import until

PICTURE = """
(() => {
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  canvas.getContext("2d").drawImage(video, 0, 0);
  return canvas.toDataURL("image/png").split(",")[1];
})()
"""


def setUpModule():
    janus.set_up()


class Janus(janus.JanusCase):
    def picture(self, b):
        """Returns the number in the test picture that is shown, -1 if it is not one."""
        path = self.path("picture.png")
        with open(path, "wb") as f:
            f.write(base64.b64decode(b.value(PICTURE)))
        return lib.frame_number(*lib.grey_picture(path))

    def advances(self, b):
        """Waits until frames are decoded, and are pictures of a test picture that moves on."""
        begun = b.resolved(janus.STATS)
        before = until(lambda: self.picture(b) + 1, "a number in the picture") - 1
        until(lambda: b.resolved(janus.STATS)["framesDecoded"] >= begun["framesDecoded"] + 60, "decoded frames")
        until(lambda: self.picture(b) > before, "a later picture")
        self.assertEqual(b.value("said.textContent"), "")

    def test_plays(self):
        self.link()
        self.at_host()
        self.janus()
        b = self.watch()
        b.resolved("first")
        self.advances(b)
        b.screenshot(os.environ.get("WEIR_SCREENSHOT", self.path("janus.png")))

    @lib.long
    def test_goes_on_with_another_sender(self):
        self.link()
        sender = self.at_host()
        self.janus()
        b = self.watch()
        b.resolved("first")
        sender.stop()
        self.at_host()
        begun = b.resolved(janus.STATS)["framesDecoded"]
        until(lambda: b.resolved(janus.STATS)["framesDecoded"] > begun + 30, "frames of the next sender", 20)
        self.advances(b)

    def test_the_baseline_profile_needs_no_other_name(self):
        """Without videofmtp, Janus announces to the browser what weir-send announces."""
        self.link()
        self.at_host("--profile", "baseline")
        self.janus(lambda text: re.sub(r"(?m)^\tvideofmtp.*$", "", text))
        self.assertRegex(self.bridge.stdout, "profile-level-id=42e0")
        b = self.watch()
        b.resolved("first")
        self.advances(b)

    @lib.long
    def test_follows_the_browser(self):
        """Over a narrow path, the browser's estimate limits the encoder, and its requests bring key frames."""
        self.link("rate=600kbit,queue=droptail:200ms,delay=5ms")
        sender = self.at_host(source="test:640x360@30")
        self.assertGreater(sender.levels()[-1][3], 900)
        self.start([*self.inside(self.host), sys.executable, os.path.join(janus.GIVEN, "feed.py")])
        self.janus(lambda text: text[text.index("weir-follows:"):])  # with both, the encoder has two viewers
        b = self.watch(2)
        b.resolved("first")

        def sends():
            """Returns the rate of the video in the last 3 s that were reported; infinity before there are as many."""
            lines = [line for line in self.stats() if line.get("playing")][-4:]
            if len(lines) < 4:
                return math.inf
            return 8 * (lines[-1]["octets"] - lines[0]["octets"]) / (lines[-1]["t"] - lines[0]["t"])
        until(lambda: sends() < 700000, "a slower encoder", 20)
        self.advances(b)


if __name__ == "__main__":
    lib.main_isolated(janus.isolate)
