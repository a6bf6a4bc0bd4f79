# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the pictures of the window and of the pages that the manual shows, in docs/images; in a directory that is given, those
of all states and sizes."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import lib
from lib import until
from relay import Relayed
from screen import Screen
from web_case import Web

OUT = os.path.join(lib.ROOT, "docs", "images")
SHOWN = {"panel", "panel-640x360", "line", "cannot-open", "transports", "server-lost", "paused", "step", "films"}
# An indexed PNG has a quarter of the bytes.
INDEXED = "split[a][b];[a]palettegen=max_colors=192:stats_mode=full[p];[b][p]paletteuse=dither=none"


class Screenshots(Screen, Relayed):
    SIZE = "3840x2160"
    SOURCE = "test:640x360@15"

    def shoot(self, name, width=1280, height=720):
        if name not in SHOWN:
            return
        self.resize(width, height)
        time.sleep(1.2)
        self.grab_into(["-vf", "trim=end_frame=1," + INDEXED, "-y", os.path.join(OUT, name + ".png")])

    def test_live(self):
        server = self.sender(source=self.SOURCE)
        p = self.open_url(server.url, "--transport", "minbuf", "--latency", "500")
        time.sleep(12)
        self.shoot("playing")
        self.key("i")
        self.shoot("line", 640, 360)
        self.key("i")
        self.shoot("panel")
        self.shoot("panel-640x360", 640, 360)
        self.shoot("panel-3840x2160", 3840, 2160)
        self.resize(1280, 720)
        self.key("i", "question")
        self.shoot("keys")
        self.key("l")
        self.shoot("levels")
        self.key("Escape", "t")
        self.shoot("transports")
        self.key("Escape")
        server.signal(signal.SIGSTOP)
        until(lambda: "stalled" in self.title(), "the stall")
        time.sleep(2)
        self.shoot("stall")
        server.signal(signal.SIGCONT)
        time.sleep(2)
        server.signal(signal.SIGKILL)
        until(lambda: len(p.events("reconnect")) > 2, "the third try")
        self.shoot("server-lost")

    def test_rate_controller(self):
        server = self.sender(source=self.SOURCE)
        relay = self.relay(server.port)
        self.open_url(relay.url, "--transport", "tfrc")
        self.key("i", "i")
        time.sleep(12)
        self.shoot("panel-tfrc")

    def test_file(self):
        server = self.sender(source=self.clip("film.mkv", 30, fps=15))
        self.open_url(server.url, "--start", "14")
        self.key("space")
        self.shoot("paused")

    def test_films(self):
        clip = self.clip("film.mkv", 30)
        for name in "Harbour in the morning", "Series/Episode 1", "Series/Episode 2", "Trees":
            os.makedirs(os.path.dirname(self.path(f"films/{name}")), exist_ok=True)
            shutil.copy(clip, self.path(f"films/{name}.mkv"))
        server = self.sender(source=self.path("films"))
        self.xdotool("mousemove", "1", "1")
        self.player(f"rtsp://127.0.0.1:{server.port}/", window=True, env=self.env)
        self.window = until(lambda: self.xdotool("search", "--name", "^weir-play: choose a film"), "the window", 20)
        self.shoot("films", 640, 360)

    def test_cannot_open(self):
        self.player("rtsp://127.0.0.1:1/live", window=True, env=self.env)
        self.window = until(lambda: self.xdotool("search", "--name", "^weir-play: cannot open"), "the window", 10)
        self.shoot("cannot-open", 640, 360)

    def test_step(self):
        """Shows a link that becomes slow and fast again in the graphs of the panel."""
        server = self.sender(source=self.SOURCE)
        relay = self.relay(server.port)
        self.open_url(relay.url, "--transport", "minbuf", "--latency", "1000")
        self.key("i", "i")
        time.sleep(10)
        relay.tcp_rate = 400e3
        time.sleep(9)
        relay.tcp_rate = 0.0
        time.sleep(9)
        self.shoot("step")


class Pages(Web):
    """Of weir-send: the page that plays, and the page of the metrics."""

    def shoot(self, b, name):
        raw = self.path("raw.png")
        b.screenshot(raw)
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", raw, "-vf", INDEXED, "-y", os.path.join(OUT, name + ".png")],
                       check=True, timeout=60)

    def test_statistics(self):
        b = self.browse()
        b.look(960, 600, True)
        b.open(f"http://127.0.0.1:{self.sender(source='test:426x240@15').port}/live")
        until(lambda: self.shown(b) > 150, "pictures", 30)
        b.call("Input.dispatchKeyEvent", type="keyDown", key="i", text="i")
        time.sleep(20)
        self.shoot(b, "page-statistics")

    def test_dashboard(self):
        clip = self.clip("film.mkv", 40, size="320x180", fps=15)
        paths = ["Harbour in the morning", "Series/Episode 1", "Trees"]
        for path in paths:
            os.makedirs(os.path.dirname(self.path(f"films/{path}")), exist_ok=True)
            shutil.copy(clip, self.path(f"films/{path}.mkv"))
        server = self.sender("--metrics", "127.0.0.1:0", "--loop", source=self.path("films"))
        base = f"rtsp://127.0.0.1:{server.port}/"
        for path, transport in (paths[0], "tfrc"), (paths[1], "minbuf:auto,50"), (paths[1], "mtp"):
            self.player(base + path.replace(" ", "%20") + ".mkv", "--transport", transport)
        time.sleep(125)
        b = self.browse()
        b.look(1120, 1326, False)  # no scroll bar
        b.open(re.search(r"metrics at (http://\S+/)", server.stderr).group(1))
        time.sleep(8)
        self.shoot(b, "dashboard")


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.sep in sys.argv[1]:
        OUT = sys.argv.pop(1)
        SHOWN |= {"playing", "panel-3840x2160", "panel-tfrc", "keys", "levels", "stall"}
    os.makedirs(OUT, exist_ok=True)
    lib.main()
