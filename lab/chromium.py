# SPDX-License-Identifier: GPL-2.0-or-later
"""Chromium itself: two browsers without windows, a page in each, WebRTC between them, VP8. It shows whether the figures of
the engine's Python package (lab/chrome.py) are the browser's.

The camera is a file, the lab's clip, which begins when the page asks for the camera. Both pages read the number of each
picture that they show, the sender's with the time at which the camera gave it. The lab carries offer and answer.
"""
import contextlib
import json
import os
import shutil
import tempfile
import time

import numpy as np

from lab import run, screen
from lab.browser import Browser
from lab.run import Failed

KIND = "chromium"
LEAD = 15  # seconds from the first link's start to the first frame: a browser starts slowly
AHEAD = 13  # seconds before the first frame in which the browsers start
PATIENCE = 20  # seconds, for each call of a browser
LOOKS = 10  # at a page's clock; the quickest one counts
STEADY = 0.05  # the camera's rate may differ by this share from the clip's
FLAGS = ("--autoplay-policy=no-user-gesture-required", "--disable-features=WebRtcHideLocalIpsWithMdns",
         "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
PAGE = """<!doctype html>
<video id="video" muted playsinline width="640"></video>
<script>
const WIDTH = 640;
%s
const video = document.getElementById("video"), pc = new RTCPeerConnection(), seen = [];
let track, sender;

// timeOf(what requestVideoFrameCallback told): ms of performance.now()
function show(stream, timeOf) {
  const look = (_, told) => {
    video.requestVideoFrameCallback(look);
    const at = timeOf(told);
    seen.push([number(video, video.videoWidth, video.videoHeight), at]);
  };
  video.requestVideoFrameCallback(look);
  video.srcObject = stream;
  return video.play();
}

function reached(target, event, done) {
  return new Promise(resolve => {
    const check = () => done() && resolve();
    target.addEventListener(event, check);
    check();
  });
}

async function gathered() {
  await reached(pc, "icegatheringstatechange", () => pc.iceGatheringState === "complete");
  return pc.localDescription.sdp;
}

async function offer(width, height, fps, bps) {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { width, height, frameRate: fps } });
  track = stream.getVideoTracks()[0];
  track.contentHint = "motion";
  await show(stream, told => told.captureTime);
  const transceiver = pc.addTransceiver("video", { direction: "sendonly", sendEncodings: [{ maxBitrate: bps }] });
  const { codecs } = RTCRtpReceiver.getCapabilities("video"), isVp8 = codec => codec.mimeType === "video/VP8";
  transceiver.setCodecPreferences([...codecs.filter(isVp8), ...codecs.filter(codec => !isVp8(codec))]);
  ({ sender } = transceiver);
  await pc.setLocalDescription();
  return gathered();
}

async function answer(sdp) {
  pc.ontrack = event => show(new MediaStream([event.track]), () => performance.now());
  await pc.setRemoteDescription({ type: "offer", sdp });
  await pc.setLocalDescription();
  return gathered();
}

async function accept(sdp) {
  await pc.setRemoteDescription({ type: "answer", sdp });
  const parameters = sender.getParameters();
  parameters.degradationPreference = "maintain-resolution";
  await sender.setParameters(parameters);
  await reached(pc, "connectionstatechange", () => pc.connectionState === "connected");
}

// Sends pictures from then on, in ms of performance.now().
function start(at) {
  setTimeout(() => sender.replaceTrack(track), at - performance.now());
}

async function sent() {
  const stats = await sender.getStats(), { codecId, frameWidth, frameHeight } = [...stats.values()].find(s => s.type === "outbound-rtp");
  return [stats.get(codecId)?.mimeType, frameWidth, frameHeight];
}
</script>
"""


def missing():
    """Returns what this machine lacks, or None."""
    return None if shutil.which("chromium") else "chromium is not installed"


@contextlib.contextmanager
def answering():
    """Within the block, a browser that ends, does not answer or reports an error fails the run."""
    try:
        yield
    except (EOFError, OSError, RuntimeError) as e:
        raise Failed(f"chromium: {e}") from e


def cpu_of(pids):
    """Returns the CPU seconds of running processes so far."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                total += sum(map(int, f.read().rpartition(")")[2].split()[11:13]))
        except OSError:
            continue  # it has ended
    return total / os.sysconf("SC_CLK_TCK")


class End:
    """A browser in namespace AT that shows the page TEXT, whose script declares start(); a run ends it like a lab.run.Process."""

    def __init__(self, world, at, name, *flags, text=PAGE % screen.READER):
        self.browser, page = None, world.path(name + ".html")
        with open(page, "w", encoding="utf-8") as f:
            f.write(text)
        self.profile = tempfile.mkdtemp(prefix="weir-")  # a short path, as it has sockets in it
        try:
            self.browser = Browser(self.profile, PATIENCE, *FLAGS, *flags, prefix=[
                "ip", "netns", "exec", world.names[at], "env", "TMPDIR=" + self.profile])
            self.popen, self.pid = self.browser.popen, self.browser.popen.pid
            world.processes.adopt(self)
            self.browser.open("file://" + page)
            self.wait("document.readyState === 'complete' && typeof start === 'function'")
            self.later = self.clock()
        except BaseException:  # Ctrl-C, too
            self.stop()
            raise

    def wait(self, expression):
        """Waits until EXPRESSION is true in the page."""
        deadline = time.monotonic() + PATIENCE
        while not self.browser.value(expression):
            if time.monotonic() > deadline:
                raise Failed(f"chromium: not within {PATIENCE} s: {expression}")
            time.sleep(0.02)

    def clock(self):
        """Returns the seconds from the page's clock to the monotonic one."""
        found = []
        for _ in range(LOOKS):
            before = time.monotonic()
            there = self.browser.value("performance.now()") / 1e3
            after = time.monotonic()
            found.append((after - before, (before + after) / 2 - there))
        return min(found)[1]

    def ask(self, function, *given):
        """Returns what a function of the page resolves to."""
        return self.browser.resolved(f"{function}({', '.join(map(json.dumps, given))})")

    def seen(self):
        """Returns [(number, or -1, seconds of the monotonic clock)] of the pictures that the page showed."""
        return [(number, ms / 1e3 + self.later) for number, ms in json.loads(self.browser.value("JSON.stringify(seen)"))]

    def cpu(self):
        return cpu_of(run.family(self.pid))

    def poll(self):
        return self.popen.poll()

    def stop(self):
        """Ends the browser and removes its profile."""
        if self.browser:
            self.browser.close()
            self.browser = None
        deadline = time.monotonic() + PATIENCE
        while os.path.exists(self.profile) and time.monotonic() < deadline:  # its last processes end, and still write
            shutil.rmtree(self.profile, ignore_errors=True)
            time.sleep(0.02)


def numbered(seen, fps):
    """Yields (number, seconds, read) of the pictures that are newer than those before them. A broken one counts as the frame
    that is due then (lab/watch/numbering.h). SEEN: of End.seen()."""
    latest = read = -1
    read_at = 0.0
    for number, at in seen:
        if number < 0 and read < 0:
            continue
        if number < 0:
            latest = max(read + int((at - read_at) * fps + 1e-6), latest + 1)
            yield latest, at, False
            continue
        read, read_at = number, at
        if number > latest:
            latest = number
            yield number, at, True


def captured_of(camera, fps):
    """Returns (numbers, seconds) of the camera's pictures that the sender's page could read. Raises if the clip began again,
    or if its rate was not FPS."""
    known = [(number, at) for number, at in camera if number >= 0]
    if len(known) < fps:
        raise Failed(f"chromium: the sender's page showed {len(known)} pictures")
    numbers, times = (np.array(values) for values in zip(*known))
    if np.any(np.diff(numbers) < 0):
        raise Failed("chromium: the camera's clip began again")
    rate = (numbers[-1] - numbers[0]) / (times[-1] - times[0])
    if abs(rate / fps - 1) > STEADY:
        raise Failed(f"chromium: the camera gave {rate:.1f} pictures/s, {fps:g} expected (is the machine busy?)")
    return numbers, times


def lines_of(camera, shown, epoch, fps):
    """Returns lines like those of weir-play's events; frame 0 is the camera's first one after EPOCH. CAMERA, SHOWN: of the
    sender's and of the receiver's page, as of End.seen()."""
    numbers, times = captured_of(camera, fps)
    if times[-1] < epoch:
        raise Failed("chromium: the camera gave no picture in the run")
    first = int(numbers[np.argmax(times >= epoch)])
    return [{"event": "frame", "number": number - first, "captured": float(np.interp(number, numbers, times)), "shown": at,
             "read": read} for number, at, read in numbered(shown, fps) if first <= number <= numbers[-1]]


class Pair:
    """A sending and a receiving browser; the same methods as others.Pair."""

    def __init__(self, world, sender, receiver, clip, kbps):
        self.clip = clip
        with answering():
            self.receiver = End(world, receiver, "receive")
            self.sender = End(world, sender, "send", f"--use-file-for-fake-video-capture={clip.path}")
            offer = self.sender.ask("offer", clip.width, clip.height, clip.fps, kbps * 1000)
            self.sender.ask("accept", self.receiver.ask("answer", offer))

    def send(self, epoch):
        self.epoch = epoch
        if time.monotonic() > epoch:
            raise Failed("chromium: the browsers started too slowly")
        with answering():
            self.sender.ask("start", (epoch - self.sender.later) * 1e3)
        self.before = self.sender.cpu() + self.receiver.cpu()

    def finish(self):
        """Ends both; returns lines of the pictures shown."""
        self.used = self.sender.cpu() + self.receiver.cpu() - self.before
        with answering():
            camera, shown, sent = self.sender.seen(), self.receiver.seen(), self.sender.ask("sent")
        self.receiver.stop()
        self.sender.stop()
        if sent != ["video/VP8", self.clip.width, self.clip.height]:
            raise Failed(f"chromium: it sent {sent}")
        return lines_of(camera, shown, self.epoch, self.clip.fps)

    def cpu(self):
        """Returns the CPU seconds of both ends while they sent."""
        return self.used
