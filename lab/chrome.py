# SPDX-License-Identifier: GPL-2.0-or-later
"""Chrome's WebRTC engine, by the Python package `wrtc`: two processes, a connection, VP8, weir-watch.

`./run lab peers` installs it into a folder of its own (lab/peers.py). It is not part of Weir.
"""
import os

from lab import others, peers

# The field trials of the engine that select its congestion control; names as in libwebrtc's own tests.
KINDS = {"googcc": "", "screamv2": "WebRTC-RFC8888CongestionControlFeedback/Enabled,offer:true/WebRTC-Bwe-ScreamV2/mode:always/"}
PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chrome_peer.py")


def missing():
    """Returns what this machine lacks, or None."""
    return None if peers.wrtc_python() else "the Python package wrtc is not installed (./run lab peers)"


class Pair:
    """A sending and a receiving engine; the same methods as others.Pair. PAUSE: (begin, end) in seconds of media, when the
    sender's encoding is inactive."""

    def __init__(self, world, sender, receiver, clip, kind, kbps, name="", watched=True, pause=(0, 0)):
        self.world, self.sender, self.clip, self.kbps, self.name, self.pause = world, sender, clip, kbps, name, pause
        self.trials = "WRTC_FIELD_TRIALS=" + KINDS[kind]
        self.watch, shown = others.start_watch(world, receiver, clip.path, self.lines_path, name, watched)
        try:
            self.receiver = world.start(receiver, self.command("receive"), "receive" + name, stdout=shown)
        finally:
            os.close(shown)

    def command(self, what, *more):
        return ["/usr/bin/env", self.trials, peers.wrtc_python(), PEER, what, self.world.path("signal" + self.name),
                str(self.clip.width), str(self.clip.height), *more]

    @property
    def lines_path(self):
        return self.world.path(f"watch{self.name}.jsonl")

    def send(self, epoch):
        clip = self.clip
        self.publisher = self.world.start(
            self.sender, self.command("send", clip.path, str(clip.header), str(clip.frame), str(clip.fps), f"{epoch:.6f}",
                                      str(self.kbps * 1000), *(f"{t:g}" for t in self.pause)), "publish" + self.name)

    def finish(self):
        """Ends all; returns weir-watch's lines."""
        self.receiver.stop()
        self.publisher.stop()
        return others.finish_watch(self.watch, self.lines_path)

    def cpu(self):
        """Returns the CPU seconds of both ends, without weir-watch, once they have ended."""
        return self.receiver.cpu + self.publisher.cpu
