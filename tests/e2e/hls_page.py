# SPDX-License-Identifier: GPL-2.0-or-later
"""hls.js, a player of another project, in chromium."""
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import unittest

import lib
from lib import until

sys.path[:0] = [lib.ROOT]
from lab import browser  # noqa: E402

# Its version, and what its file must be.
HLS_JS, HLS_JS_SHA256 = "hls.js@1.6.15", "413a83e2bb0c77ed0bf0be105d539d17ef45dfd984a0b13ecd3b14a901383938"

PAGE = """<!doctype html><title>weir</title><body style="margin: 0; background: #222; color: #eee; font: 14px sans-serif">
<video id="video" muted playsinline width="640" height="360"></video><div id="text"></div>
<script src="hls.js"></script><script>
const errors = [];
const hls = new Hls({lowLatencyMode: true});
hls.on(Hls.Events.ERROR, (event, data) => { if (data.fatal) errors.push(data.details); });
hls.loadSource("URL");
hls.attachMedia(video);
hls.on(Hls.Events.MANIFEST_PARSED, () => video.play());
function seen() {
    text.textContent = `hls.js ${Hls.version}: ${video.getVideoPlaybackQuality().totalVideoFrames} pictures, ` +
        `${(hls.latency || 0).toFixed(2)} s behind`;
    return video.currentTime > 0 ? video.getVideoPlaybackQuality().totalVideoFrames : 0;
}
function luma() {
    const canvas = document.createElement("canvas");
    canvas.width = video.videoWidth; canvas.height = video.videoHeight;
    const context = canvas.getContext("2d");
    context.drawImage(video, 0, 0);
    return [...context.getImageData(0, 0, canvas.width, canvas.height).data].filter((v, i) => i % 4 === 1);
}
</script>"""


def hls_js(folder):
    """Returns the path of hls.js: WEIR_HLS_JS, else what npm gives. Skips the test if it is not to be had."""
    path = os.environ.get("WEIR_HLS_JS")
    if not path:
        lib.need("npm")
        try:
            done = subprocess.run(["npm", "pack", "--silent", HLS_JS], cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, timeout=60 * lib.PATIENCE)
        except subprocess.TimeoutExpired:
            raise unittest.SkipTest(f"npm does not answer about {HLS_JS}") from None
        if done.returncode != 0:
            raise unittest.SkipTest(f"npm cannot get {HLS_JS}")
        with tarfile.open(os.path.join(folder, done.stdout.split()[-1])) as tar:
            data = tar.extractfile("package/dist/hls.min.js").read()
        path = os.path.join(folder, "hls.min.js")
        with open(path, "wb") as f:
            f.write(data)
    with open(path, "rb") as f:
        if hashlib.sha256(f.read()).hexdigest() != HLS_JS_SHA256:
            raise AssertionError(f"{path} is not {HLS_JS}")
    return path


class HlsPage(lib.Case):
    def play_by_hls_js(self, url):
        """Opens a page of another origin, which plays the URL, and returns it after some pictures."""
        lib.need("chromium")
        script = hls_js(self.folder)
        os.mkdir(self.path("page"))
        with open(script, "rb") as f, open(self.path("page/hls.js"), "wb") as copy:
            copy.write(f.read())
        with open(self.path("page/index.html"), "w") as f:
            f.write(PAGE.replace("URL", url))
        server = self.start([sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory",
                             self.path("page")])
        port = until(lambda: re.search(r"port (\d+)", server.stdout), "the page's server").group(1)
        page = browser.Browser(self.path("chromium"), 60 * lib.PATIENCE)
        self.addCleanup(page.close)
        page.look(640, 400, False)
        page.open(f"http://127.0.0.1:{port}/")
        shown = until(lambda: page.value("seen()"), "a picture", 40)
        until(lambda: page.value("seen()") > shown + 60, "60 pictures more", 40)
        page.screenshot(os.environ.get("WEIR_SCREENSHOT", self.path("page.png")))
        self.assertEqual(page.value("errors.join()"), "")
        return page
