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
    """Writes a clip's frames into a pipe, frame n not before EPOCH + n / fps. Owns the descriptor. PAUSE: (begin, end) in
    seconds of media; the frames between are left out."""

    def __init__(self, clip, fd, epoch, pause=(0, 0)):
        super().__init__(daemon=True)
        self.clip, self.fd, self.epoch, self.pause = clip, fd, epoch, pause
        self.start()

    def run(self):
        try:
            with open(self.clip.path, "rb") as f:
                end = os.fstat(f.fileno()).st_size
                self._copy(f.fileno(), 0, self.clip.header)
                for n in range((end - self.clip.header) // self.clip.frame):
                    if self.pause[0] <= n / self.clip.fps < self.pause[1]:
                        continue
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


def start_watch(world, receiver, source, lines_path, name, watched):
    """Returns (weir-watch, or None without WATCHED; the descriptor that takes the raw pictures, which the caller closes)."""
    if not watched:
        return None, os.open(os.devnull, os.O_WRONLY)
    lines = os.open(lines_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    pictures, shown = os.pipe()
    try:
        return world.start(receiver, ["weir-watch", source], "watch" + name, stdin=pictures, stdout=lines), shown
    finally:
        os.close(pictures)
        os.close(lines)


def finish_watch(watch, lines_path):
    """Waits for weir-watch, whose input has ended; returns its lines."""
    if not watch:
        return []
    if watch.wait(20) != 0:
        raise watch.failed(f"ended with {watch.code}")
    return json_lines(lines_path)


class Pair:
    """ffmpeg in namespace SENDER streams CLIP to ffmpeg and weir-watch in RECEIVER, which has ADDRESS. NAME distinguishes the
    files of several pairs. Without WATCHED, the pictures are decoded and not compared."""

    def __init__(self, world, sender, receiver, address, clip, kind, kbps, name="", watched=True, pause=(0, 0)):
        self.world, self.sender, self.clip, self.name, self.pause = world, sender, clip, name, pause
        source, self.output = ends(kind, address)
        self.rate = ["-b:v", f"{kbps}k", "-maxrate", f"{kbps}k", "-bufsize", f"{kbps * BUFFER_S:g}k"]
        self.watch, shown = start_watch(world, receiver, clip.path, self.lines_path, name, watched)
        try:
            self.receiver = world.start(receiver, [*ffmpeg(), *RECEIVER, *source, "-an", "-vsync", "passthrough", "-f",
                                                   "rawvideo", "-pix_fmt", "yuv420p", "-"], "receive" + name, stdout=shown)
        finally:
            os.close(shown)

    @property
    def lines_path(self):
        return self.world.path(f"watch{self.name}.jsonl")

    def send(self, epoch):
        pictures, feed = os.pipe()
        try:
            self.publisher = self.world.start(
                self.sender, [*ffmpeg(), "-f", "yuv4mpegpipe", "-i", "pipe:0", *ENCODER, *self.rate, *self.output],
                "publish" + self.name, stdin=pictures)
        finally:
            os.close(pictures)
        self.feeder = Feeder(self.clip, feed, epoch, self.pause)

    def finish(self):
        """Ends all; returns weir-watch's lines."""
        self.receiver.stop()
        self.publisher.stop()
        lines = finish_watch(self.watch, self.lines_path)
        self.feeder.join(5)
        return lines

    def cpu(self):
        """Returns the CPU seconds of both ends, without weir-watch, once they have ended."""
        return self.receiver.cpu + self.publisher.cpu
