# SPDX-License-Identifier: GPL-2.0-or-later
"""Browsers watch through Janus, a WebRTC server: with the configuration and the page of packaging/janus, which
docs/many-viewers.md shows."""
import base64
import functools
import http.server
import os
import socket
import sys
import threading

import browser
import lib
from lib import until

GIVEN = os.path.join(lib.ROOT, "packaging", "janus")
GENERAL = """
general: {{
    plugins_folder = "{lib}/plugins"
    transports_folder = "{lib}/transports"
}}
nat: {{
    ice_enforce_list = "127.0.0.1"
}}
plugins: {{
    disable = "{plugins}"
}}
transports: {{
    disable = "{transports}"
}}
"""
WEBSOCKETS = """
general: {{
    ws = true
    ws_port = {port}
    ws_ip = "127.0.0.1"
}}
"""
# Figures of the browser's receiver.
STATS = """
(async () => {
  const all = [...(await pc.getStats()).values()];
  const {framesReceived, framesDecoded, framesDropped, keyFramesDecoded, freezeCount, jitterBufferDelay,
         jitterBufferEmittedCount} = all.find(s => s.type === "inbound-rtp" && s.kind === "video") || {};
  return {framesReceived, framesDecoded, framesDropped, keyFramesDecoded, freezeCount,
          buffer: 1000 * jitterBufferDelay / jitterBufferEmittedCount};
})()
"""
PICTURE = """
(() => {
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  canvas.getContext("2d").drawImage(video, 0, 0);
  return canvas.toDataURL("image/png").split(",")[1];
})()
"""
# Runs before the page's own script; `first` resolves to when the first picture is shown, in ms since the page was opened.
FIRST = """
addEventListener("DOMContentLoaded", () =>
  window.first = new Promise(done => document.getElementById("video").requestVideoFrameCallback(done)));
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Janus(lib.Case):
    def setUp(self):
        lib.need("janus", "chromium", "ffmpeg")
        super().setUp()

    def page(self):
        """Serves the page; returns its address."""
        handler = functools.partial(Quiet, directory=GIVEN)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}/watch.html"

    def janus(self, url, change=lambda text: text):
        """Starts Janus with the given configuration, whose URL is replaced; returns the address of its WebSockets."""
        folder = self.path("janus")
        os.mkdir(folder)
        with open(os.path.join(GIVEN, "janus.plugin.streaming.jcfg")) as f:
            given = f.read()
        self.assertIn("rtsp://127.0.0.1:8554/live", given)
        port = free_port()
        library = next(d for d, _, files in os.walk("/usr/lib") if d.endswith("/janus/plugins") and files)[:-len("/plugins")]
        others = {kind: ",".join(sorted(n for n in os.listdir(os.path.join(library, kind)) if n.endswith(".so") and only not in n))
                  for kind, only in (("plugins", "streaming"), ("transports", "websockets"))}
        for name, text in (("janus.jcfg", GENERAL.format(lib=library, **others)),
                           ("janus.transport.websockets.jcfg", WEBSOCKETS.format(port=port)),
                           ("janus.plugin.streaming.jcfg", change(given.replace("rtsp://127.0.0.1:8554/live", url)))):
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        self.bridge = self.start(["janus", "-F", folder, "-C", os.path.join(folder, "janus.jcfg"), "-o", "-d", "5"])

        def serves():
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", port)) == 0
        until(lambda: serves() or not self.bridge.running(), "Janus")
        self.assertTrue(self.bridge.running(), self.bridge.stdout)
        until(lambda: "New video stream" in self.bridge.stdout, "the stream at Janus")
        return f"ws://127.0.0.1:{port}"

    def watch(self, address):
        b = browser.Browser(self.path("profile"), 20 * lib.PATIENCE, "--allow-loopback-in-peer-connection",
                            "--autoplay-policy=no-user-gesture-required")
        self.addCleanup(b.close)
        b.look(1280, 720, dark=True)
        b.call("Page.addScriptToEvaluateOnNewDocument", source=FIRST)
        b.open(f"{self.page()}?janus={address}")
        until(lambda: b.value("'first' in window"), "the page")
        return b

    def picture(self, b):
        """Returns the number in the test picture that is shown, -1 if it is not one."""
        path = self.path("picture.png")
        with open(path, "wb") as f:
            f.write(base64.b64decode(b.value(PICTURE)))
        return lib.frame_number(*lib.grey_picture(path))

    def advances(self, b):
        """Checks that frames are decoded, and that they are pictures of a test picture that moves on."""
        begun = b.resolved(STATS)
        before = self.picture(b)
        self.assertGreaterEqual(before, 0, "the picture has no number")
        until(lambda: b.resolved(STATS)["framesDecoded"] >= begun["framesDecoded"] + 60, "decoded frames")
        self.assertGreater(self.picture(b), before)
        self.assertEqual(b.value("said.textContent"), "")

    def test_plays(self):
        sender = self.server()
        b = self.watch(self.janus(sender.url))
        first = b.resolved("first")
        self.advances(b)
        b.screenshot(os.environ.get("WEIR_SCREENSHOT", self.path("janus.png")))
        stats = b.resolved(STATS)
        print(f"first picture after {first:.0f} ms; {stats['framesDecoded']} of {stats['framesReceived']} frames decoded, "
              f"{stats['keyFramesDecoded']} of them key frames; {stats['freezeCount']} freezes; "
              f"jitter buffer {stats['buffer']:.0f} ms", file=sys.stderr)

    def test_goes_on_with_another_sender(self):
        sender = self.sender(listen=f"{lib.own_address()}:8554")
        b = self.watch(self.janus(sender.url))
        b.resolved("first")
        sender.stop()
        self.sender(listen=f"{lib.own_address()}:8554")
        begun = b.resolved(STATS)["framesDecoded"]
        until(lambda: b.resolved(STATS)["framesDecoded"] > begun + 30, "frames of the next sender", 20)
        self.advances(b)


if __name__ == "__main__":
    lib.main()
