# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the page share: a browser that shows it, and what is to be seen there."""
import base64
import json
import os
import sys

import lib
from lib import until

sys.path.insert(0, lib.ROOT)
from lab import browser  # noqa: E402

PICTURE = """
(() => {
  const from = document.querySelector("#picture").lastChild, to = document.createElement("canvas");
  to.width = from.videoWidth ?? from.width;
  to.height = from.videoHeight ?? from.height;
  to.getContext("2d").drawImage(from, 0, 0);
  return to.toDataURL("image/png").split(",")[1];
})()
"""
SEEK = """(s => { s.value = %g; s.dispatchEvent(new Event("input")); s.dispatchEvent(new Event("change")); })(document.getElementById("seek"))"""


class Web(lib.Case):
    def setUp(self):
        lib.need("chromium")
        super().setUp()

    def browse(self, *flags):
        b = browser.Browser(self.path("browser"), 60 * lib.PATIENCE, *flags)
        self.addCleanup(b.close)
        b.look(1280, 800, False)
        return b

    def watch(self, sender, path="/live", *flags):
        b = self.browse(*flags)
        b.open(f"http://127.0.0.1:{sender.port}{path}")
        return b

    def figures(self, b):
        return json.loads(b.value("JSON.stringify(globalThis.weir && weir.stats)") or "null")

    def shown(self, b):
        figures = self.figures(b)
        return figures["counts"]["shown"] if figures else 0

    def problem(self, b):
        until(lambda: b.value("!!(globalThis.weir && weir.problem) && !document.getElementById('problem').hidden"), "a problem", 20)
        return b.value("document.getElementById('problem').innerText")

    def number(self, b):
        """Returns the number in the test picture on the canvas, -1 if it is not one."""
        path = self.path("picture.png")
        with open(path, "wb") as f:
            f.write(base64.b64decode(b.value(PICTURE)))
        return lib.frame_number(*lib.grey_picture(path))

    def click(self, b, name):
        b.value(f"document.getElementById('{name}').click()")

    def picture_of(self, b, name):
        """Saves a screenshot if a folder for them was named."""
        folder = os.environ.get("WEIR_SCREENSHOTS")
        b.screenshot(os.path.join(folder, f"web-{name}.png") if folder else self.path(f"{name}.png"))

    def said_nothing(self, b):
        wrong = [s for s in b.said if s.get("entry", {}).get("level") == "error" or "exceptionDetails" in s]
        self.assertEqual(wrong, [])
