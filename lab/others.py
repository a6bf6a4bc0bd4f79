# SPDX-License-Identifier: GPL-2.0-or-later
"""Today's usual programs: ffmpeg to ffmpeg, over SRT, RIST or RTSP, in namespaces of a World.

Frames go into the sender's ffmpeg through a pipe, each at its time, EPOCH + n / fps on the monotonic clock, like those of
a camera. `-re` does the same, but from an unknown start. Latencies are measured from these times. The receiver's ffmpeg
writes the decoded pictures into a pipe; weir-watch reads it, takes the time of each picture and compares it.
"""
import functools
import os
import re
import shutil
import subprocess
import threading
import time
from dataclasses import dataclass

from lab.live import json_lines
from lab.run import Failed

PORT = 8600
KINDS = ("srt-120", "srt-500", "rtsp-tcp", "rtsp-udp")  # of experiment qoe; srt-MS and rist-MS take any latency
# x264 as in Weir's encoder, without delay; a key frame every 2 s, as no receiver requests one after a loss.
BUFFER_S = 0.25  # of the rate, for a key frame: the common choice of one second overruns a queue of 50 ms
ENCODER = ["-c:v", "libx264", "-preset", "superfast", "-tune", "zerolatency", "-g", "60", "-pix_fmt", "yuv420p"]
RECEIVER = ["-fflags", "nobuffer", "-flags", "low_delay", "-probesize", "500000", "-analyzeduration", "500000"]


@dataclass(frozen=True)
class Clip:
    """A file of raw pictures (YUV4MPEG2), written by weir-watch --clip."""
    path: str
    header: int  # bytes
    frame: int  # bytes, with its header
    fps: float
    width: int
    height: int


def read_clip(path):
    with open(path, "rb") as f:
        line = f.readline(200)
    found = re.fullmatch(rb"YUV4MPEG2 W(\d+) H(\d+) F(\d+):(\d+) .*\n", line)
    if not found:
        raise Failed(f"{path} is not a YUV4MPEG2 file")
    width, height, num, den = map(int, found.groups())
    return Clip(path, len(line), len(b"FRAME\n") + width * height * 3 // 2, num / den, width, height)


class Feeder(threading.Thread):
    """Writes a clip's frames into a pipe, frame n not before EPOCH + n / fps. Owns the descriptor."""

    def __init__(self, clip, fd, epoch):
        super().__init__(daemon=True)
        self.clip, self.fd, self.epoch = clip, fd, epoch
        self.start()

    def run(self):
        try:
            with open(self.clip.path, "rb") as f:
                end = os.fstat(f.fileno()).st_size
                self._copy(f.fileno(), 0, self.clip.header)
                for n in range((end - self.clip.header) // self.clip.frame):
                    time.sleep(max(0.0, self.epoch + n / self.clip.fps - time.monotonic()))
                    self._copy(f.fileno(), self.clip.header + n * self.clip.frame, self.clip.frame)
        except BrokenPipeError:
            pass  # the program has ended
        finally:
            os.close(self.fd)

    def _copy(self, source, at, count):
        while count:
            done = os.sendfile(self.fd, source, at, count)
            at, count = at + done, count - done


def ffmpeg():
    path = shutil.which("ffmpeg")
    if not path:
        raise Failed("ffmpeg is not installed")
    return [path, "-nostdin", "-hide_banner", "-v", "warning"]


def is_other(kind):
    """Returns true for the kinds of this file: srt-MS, rist-MS, rtsp-tcp, rtsp-udp."""
    return re.fullmatch(r"(srt|rist)-\d+|rtsp-(tcp|udp)", kind) is not None


@functools.lru_cache
def missing(kind):
    """Returns what this machine lacks for a kind, or None."""
    if not shutil.which("ffmpeg"):
        return "ffmpeg is not installed"
    protocol = kind.partition("-")[0]
    known = subprocess.run(["ffmpeg", "-hide_banner", "-protocols"], capture_output=True, text=True, timeout=20, check=False).stdout
    return None if protocol == "rtsp" or protocol in known.split() else f"ffmpeg has no protocol {protocol}"


def ends(kind, address):
    """Returns (the receiver's input, the sender's output): the receiver listens, and the sender publishes."""
    if kind.startswith("srt-"):
        url = f"srt://{address}:{PORT}?latency={int(kind[4:]) * 1000}&mode="
        return ["-i", url + "listener"], ["-f", "mpegts", url + "caller&pkt_size=1316"]
    if kind.startswith("rist-"):
        buffer = ["-buffer_size", kind[5:]]
        return ([*buffer, "-i", f"rist://@{address}:{PORT}"],
                ["-f", "mpegts", *buffer, "-pkt_size", "1316", f"rist://{address}:{PORT}"])
    url = f"rtsp://{address}:{PORT}/live"
    return (["-rtsp_flags", "listen", "-i", url],
            ["-f", "rtsp", "-rtsp_transport", kind.removeprefix("rtsp-"), url])


class Pair:
    """ffmpeg in namespace SENDER streams CLIP to ffmpeg and weir-watch in RECEIVER, which has ADDRESS."""

    def __init__(self, world, sender, receiver, address, clip, kind, kbps):
        self.world, self.sender, self.clip = world, sender, clip
        source, self.output = ends(kind, address)
        self.rate = ["-b:v", f"{kbps}k", "-maxrate", f"{kbps}k", "-bufsize", f"{kbps * BUFFER_S:g}k"]
        shown, pictures = os.pipe()
        lines = os.open(self.lines_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            self.watch = world.start(receiver, ["weir-watch", clip.path], "watch", stdin=shown, stdout=lines)
            self.receiver = world.start(receiver, [*ffmpeg(), *RECEIVER, *source, "-an", "-vsync", "passthrough", "-f",
                                                   "rawvideo", "-pix_fmt", "yuv420p", "-"], "receive", stdout=pictures)
        finally:
            for fd in shown, pictures, lines:
                os.close(fd)

    @property
    def lines_path(self):
        return self.world.path("watch.jsonl")

    def send(self, epoch):
        pictures, feed = os.pipe()
        try:
            self.publisher = self.world.start(
                self.sender, [*ffmpeg(), "-f", "yuv4mpegpipe", "-i", "pipe:0", *ENCODER, *self.rate, *self.output],
                "publish", stdin=pictures)
        finally:
            os.close(pictures)
        self.feeder = Feeder(self.clip, feed, epoch)

    def finish(self):
        """Ends all; returns weir-watch's lines."""
        self.receiver.stop()
        self.publisher.stop()
        if self.watch.wait(20) != 0:
            raise self.watch.failed(f"ended with {self.watch.code}")
        self.feeder.join(5)
        return json_lines(self.lines_path)
