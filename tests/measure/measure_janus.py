# SPDX-License-Identifier: GPL-2.0-or-later
"""Browsers behind Janus, over a link with a round trip of 10 ms: time to the first picture, what is shown, and what a
viewer costs Janus."""
import time

import janus
from figures import Measurement
from lib import until


def setUpModule():
    janus.set_up()


SOURCE = "test:1280x720@30"
SECONDS = 9
# Viewers that receive and decrypt, and decode nothing. `received`: the frames of each.
VIEWERS = """
const received = [];
for (let i = 0; i < COUNT; i++) {
  received.push(0);
  const peer = new RTCPeerConnection({encodedInsertableStreams: true});
  const server = janus(() => {});
  peer.onicecandidate = ({candidate}) => server.post("trickle", {candidate: candidate || {completed: true}});
  peer.ontrack = ({receiver, track}) => receiver.createEncodedStreams().readable.pipeTo(
    new WritableStream({write: () => { received[i] += track.kind === "video"; }}));
  server.opened.then(async () => {
    await peer.setRemoteDescription((await server.message({request: "watch", id})).jsep);
    await peer.setLocalDescription();
    await server.message({request: "start"}, peer.localDescription);
  });
}
"""


class Janus(janus.JanusCase, Measurement):
    def measure_picture(self):
        self.link()
        self.at_host(source=SOURCE)
        self.janus()
        b = self.watch()
        first = b.resolved("first")
        self.figure("page opened to first picture", first, unit="ms")
        time.sleep(SECONDS)
        s = b.resolved(janus.STATS)
        self.figure("frames received", s["framesReceived"])
        self.figure("of them decoded", s["framesDecoded"])
        self.figure("of them key frames", s["keyFramesDecoded"])
        self.figure("freezes", s["freezeCount"])
        self.figure("in the jitter buffer, mean", 1e3 * s["jitterBufferDelay"] / s["jitterBufferEmittedCount"], unit="ms")
        self.figure("arrived to decoded, mean", 1e3 * s["totalProcessingDelay"] / s["framesDecoded"], unit="ms")

    def measure_viewers(self):
        self.link()
        server = self.at_host(source=SOURCE)
        self.janus()
        b = self.watch()
        for count, more in (1, 1), (10, 9), (30, 20):
            b.value(f"(() => {{ {VIEWERS.replace('COUNT', str(more))} (window.all ||= []).push(received); pc.close(); }})()")
            until(lambda: b.value("all.flat().every(n => n > 0)"), "each viewer's first frame")
            before = b.value("all.flat()")
            begun, sender, bridge = time.monotonic(), server.cpu_seconds(), self.bridge.cpu_seconds()
            time.sleep(SECONDS)
            took = time.monotonic() - begun
            frames = [after - n for after, n in zip(b.value("all.flat()"), before)]
            self.figure(f"{count} viewers: Janus, of a processor", 100 * (self.bridge.cpu_seconds() - bridge) / took, unit="%")
            self.figure(f"{count} viewers: weir-send, of a processor", 100 * (server.cpu_seconds() - sender) / took, unit="%")
            self.figure(f"{count} viewers: frames a second, fewest", min(frames) / took)
            self.figure(f"{count} viewers: memory of Janus", self.bridge.status_kb("VmRSS") / 1024, unit="MiB")
