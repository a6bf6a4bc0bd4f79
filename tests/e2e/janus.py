# SPDX-License-Identifier: GPL-2.0-or-later
"""Janus, a WebRTC server, with the configuration and the page of packaging/janus, which docs/many-viewers.md shows; and a
browser that plays the page. Two hosts, because neither Janus nor a browser uses the loopback for WebRTC:

    host: weir-send, Janus, the page - weir-link - home: the browser
"""
import itertools
import os
import sys
import unittest

import lib
from lib import until

sys.path.insert(0, lib.ROOT)
from lab import browser, isolate  # noqa: E402
from lab import janus as bridge  # noqa: E402

GIVEN = bridge.GIVEN
NUMBERS = itertools.count(1)  # for namespaces: those of a test go away at its end only
# What the browser counts of the received video: RTCInboundRtpStreamStats.
STATS = """
(async () => {
  const all = [...(await pc.getStats()).values()];
  return all.find(s => s.type === "inbound-rtp" && s.kind === "video");
})()
"""
# Runs before the page's own script; `first` resolves to when the first picture is shown, in ms since the page was opened.
FIRST = """
addEventListener("DOMContentLoaded", () =>
  window.first = new Promise(done => document.getElementById("video").requestVideoFrameCallback(done)));
"""


def set_up():
    """For setUpModule: skips the module if a program is missing, or the network cannot be created."""
    lib.need("janus", "chromium", "ffmpeg", "unshare", "nsenter")
    if not os.path.exists("/dev/net/tun"):
        raise unittest.SkipTest("there is no /dev/net/tun")
    if not isolate.isolated():
        raise unittest.SkipTest("namespaces are not allowed here")


class JanusCase(lib.Case):
    def setUp(self):
        super().setUp()
        from lab.net import World  # needs a module that not every machine has
        self.world = World(self.folder, lib.BUILD, f"j{next(NUMBERS)}")
        self.addCleanup(self.world.__exit__, None, None, None)
        self.host, self.home = self.world.add("host"), self.world.add("home")

    def link(self, down="delay=5ms"):
        """Joins the hosts; DOWN: the link's direction to the browser, as weir-link names it."""
        self.address, _ = self.world.link("link", "host", "home", down, "delay=5ms")
        self.world.route("home", "default", self.address)

    def inside(self, namespace):
        return ["nsenter", f"--net=/run/netns/{namespace}"]

    def at_host(self, *args, **options):
        """Starts a sender there."""
        return self.server(*args, listen="127.0.0.1:8554", prefix=self.inside(self.host), **options)

    def janus(self, change=lambda text: text):
        """Starts Janus, with the given configuration as `change` changes it; returns when it receives the stream."""
        self.bridge = self.start([*self.inside(self.host), *bridge.command(self.path("janus"), change)])
        until(lambda: "New video stream" in self.bridge.stdout or not self.bridge.running(), "the stream at Janus")
        self.assertTrue(self.bridge.running(), self.bridge.stdout)

    def watch(self, stream=1):
        """Opens the page in a browser."""
        page = self.start([*self.inside(self.host), sys.executable, "-m", "http.server", "-b", self.address, "-d", GIVEN, "8080"],
                          {"PYTHONUNBUFFERED": "1"})
        until(lambda: "Serving HTTP" in page.stdout, "the page's server")
        b = browser.Browser(self.path("profile"), 20 * lib.PATIENCE, "--autoplay-policy=no-user-gesture-required",
                            prefix=self.inside(self.home))
        self.addCleanup(b.close)
        b.look(1280, 720, dark=True)
        b.call("Page.addScriptToEvaluateOnNewDocument", source=FIRST)
        b.open(f"http://{self.address}:8080/watch.html?id={stream}")
        until(lambda: b.value("'first' in window"), "the page")
        return b
