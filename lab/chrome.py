# SPDX-License-Identifier: GPL-2.0-or-later
"""Chrome's WebRTC engine, if the Python package `wrtc` is installed: two processes, a connection, VP8, weir-watch.

`pip install --no-deps --target DIR wrtc typing_extensions`, and PYTHONPATH=DIR for the lab. It is not part of Weir.
"""
import importlib.util
import os
import sys

from lab.live import json_lines

# The field trials of the engine that select its congestion control; names as in libwebrtc's own tests.
KINDS = {"googcc": "", "screamv2": "WebRTC-RFC8888CongestionControlFeedback/Enabled,offer:true/WebRTC-Bwe-ScreamV2/mode:always/"}
PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chrome_peer.py")


def missing():
    """Returns what this machine lacks, or None."""
    return None if importlib.util.find_spec("wrtc") else "the Python package wrtc is not installed"


class Pair:
    """A sending and a receiving engine; the same methods as others.Pair."""

    def __init__(self, world, sender, receiver, clip, kind, kbps):
        self.world, self.sender, self.clip, self.kbps = world, sender, clip, kbps
        self.trials = "WRTC_FIELD_TRIALS=" + KINDS[kind]
        lines = os.open(self.lines_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        shown, pictures = os.pipe()
        try:
            self.watch = world.start(receiver, ["weir-watch", clip.path], "watch", stdin=shown, stdout=lines)
            self.receiver = world.start(receiver, self.command("receive"), "receive", stdout=pictures)
        finally:
            for fd in shown, pictures, lines:
                os.close(fd)

    def command(self, what, *more):
        return ["/usr/bin/env", self.trials, sys.executable, PEER, what, self.world.path("signal"), str(self.clip.width),
                str(self.clip.height), *more]

    @property
    def lines_path(self):
        return self.world.path("watch.jsonl")

    def send(self, epoch):
        clip = self.clip
        self.publisher = self.world.start(
            self.sender, self.command("send", clip.path, str(clip.header), str(clip.frame), str(clip.fps), f"{epoch:.6f}",
                                      str(self.kbps * 1000)), "publish")

    def finish(self):
        """Ends all; returns weir-watch's lines."""
        self.receiver.stop()
        self.publisher.stop()
        if self.watch.wait(20) != 0:
            raise self.watch.failed(f"ended with {self.watch.code}")
        return json_lines(self.lines_path)
