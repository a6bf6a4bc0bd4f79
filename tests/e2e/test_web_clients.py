# SPDX-License-Identifier: GPL-2.0-or-later
"""RTSP in a WebSocket with a client of a third party: npm's media-stream-library, which Axis made for its cameras."""
import functools
import os
import shutil
import subprocess

import lib
from lib import until
from web_case import Web

LIBRARY = "media-stream-library@13.1.1"  # the last one
SCRIPT = "node_modules/media-stream-library/dist/media-stream-library.min.js"
PAGE = """
<!DOCTYPE html><meta charset="utf-8"><div id="picture"><video muted></video></div>
<script src="%s"></script>
<script>
const { components, pipelines } = mediaStreamLibrary;
const counts = globalThis.counts = { rtp: 0, rtcp: 0, sdp: 0, h264: 0, closed: false, error: null };
const count = { [components.MessageType.RTP]: "rtp", [components.MessageType.RTCP]: "rtcp", [components.MessageType.SDP]: "sdp" };
const pipeline = new pipelines.Html5VideoPipeline({ mediaElement: document.querySelector("video"),
  ws: { uri: "ws://127.0.0.1:%d/live", protocol: "rtsp.onvif.org" }, rtsp: { uri: "rtsp://127.0.0.1:%d/live" } });
pipeline.insertAfter(pipeline.rtsp, components.Tube.fromHandlers(m => { if (count[m.type]) counts[count[m.type]]++; }));
pipeline.rtsp.onError = e => { counts.error = String(e); };
pipeline.onServerClose = () => { counts.closed = true; };
pipeline.ready.then(() => { pipeline.rtsp.play(); pipeline.play(); }, e => { counts.error = "no WebSocket"; });
</script>
"""


@functools.cache
def install(folder):
    """Installs the library into the folder. Returns None, or why that is not possible."""
    if not shutil.which("npm"):
        return "npm is not installed"
    try:
        done = subprocess.run(["npm", "install", "--prefix", folder, "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund",
                               "--no-save", "--fetch-retries=1", "--fetch-timeout=20000", LIBRARY], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120 * lib.PATIENCE)
    except subprocess.TimeoutExpired:
        return f"npm did not install {LIBRARY} in time"
    if done.returncode == 0:
        return None
    codes = [line.split()[-1] for line in done.stderr.splitlines() if " code " in line]
    return f"npm cannot install {LIBRARY}: {' '.join(codes) or done.stderr.strip()[-200:]}"


@lib.long
class Clients(Web):
    def test_media_stream_library(self):
        """It describes, sets up and plays over the WebSocket, and shows the pictures in a <video>."""
        folder = self.path("npm")
        os.mkdir(folder)
        why = install(folder)
        if why:
            self.skipTest(why)
        port = self.serve(folder)
        sender = self.server("--allow-origin", f"http://127.0.0.1:{port}", source="test:640x360@30")
        with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as f:
            f.write(PAGE % (SCRIPT, sender.port, sender.port))
        b = self.browse("--autoplay-policy=no-user-gesture-required")
        b.open(f"http://127.0.0.1:{port}/index.html")
        until(lambda: b.value("globalThis.counts && (counts.rtp > 100 || counts.error)"), "RTP packets", 30)
        self.assertIsNone(b.value("counts.error"))
        until(lambda: b.value("counts.rtcp"), "a sender report", 20)
        self.assertEqual(b.value("counts.sdp"), 1)
        before = until(lambda: self.number(b) + 1, "a number in the picture", 20) - 1
        until(lambda: self.number(b) > before, "a later picture")
        self.assertEqual(b.value("counts.closed"), False)
        b.value("pipeline.rtsp.pause()")
        until(lambda: not self.stats()[-1].get("playing", True), "a sender that pauses")
        self.stop_cleanly(sender)


if __name__ == "__main__":
    lib.main()
