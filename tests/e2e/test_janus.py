# SPDX-License-Identifier: GPL-2.0-or-later
"""Browsers watch through Janus."""
import base64
import os

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


if __name__ == "__main__":
    lib.main_isolated(janus.isolate)
