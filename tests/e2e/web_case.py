# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the page share: a browser that shows it, and what is to be seen there."""
import base64
import functools
import http.server
import json
import os
import sys
import threading

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


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


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

    def serve(self, folder):
        """Serves the folder at another origin; returns its port."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_address[1]

    def press(self, b, key):
        """Presses a key, as a person does."""
        text = {"text": key} if len(key) == 1 else {}
        b.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        b.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def click(self, b, name):
        b.value(f"document.getElementById('{name}').click()")

    def picture_of(self, b, name):
        """Saves a screenshot if a folder for them was named."""
        folder = os.environ.get("WEIR_SCREENSHOTS")
        b.screenshot(os.path.join(folder, f"web-{name}.png") if folder else self.path(f"{name}.png"))

    def said_nothing(self, b):
        wrong = [s for s in b.said if s.get("entry", {}).get("level") == "error" or "exceptionDetails" in s]
        self.assertEqual(wrong, [])
