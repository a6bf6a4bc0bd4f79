# SPDX-License-Identifier: GPL-2.0-or-later
"""A pushed stream over a link that falls from 4 to 1 Mbit/s and rises again: how late its frames are at the server, next to
ffmpeg's own push of a picture of the same size, rate and number of frames.

The server is an RTSP server that records (record_server.py), in a namespace of its own. A frame has arrived with its last
packet (the marker), if none before it is missing. Over UDP the server reports each second, and requests nothing again. It was captured when its RTP time says so, by the sender's last RTCP sender report before it.
ffmpeg's reports count from the moment at which its muxer began, which is after its first frame was encoded: its frames seem
some ms less late than they are. Both ends read one clock."""
import struct
import time

import lib
import link_case
from figures import Measurement
from link_case import A, B, LinkCase
from record_server import NTP_1970, RecordServer
from rtsp import Rtp

SECONDS = 10, 12, 10  # at 4, 1 and 4 Mbit/s
LINK = f"rate=4mbit:1mbit@{SECONDS[0]}s:4mbit@{sum(SECONDS[:2])}s,queue=droptail:50000B,delay=20ms"


def setUpModule():
    link_case.set_up()


class Server:
    """Records one stream. `frames`: [(wall time of the last packet, seconds since the capture)] of those that arrived whole;
    `broken`: the times of the others."""

    def __init__(self, namespace):
        self.frames, self.broken, self.bytes, self.sent = [], [], 0, None
        self.next, self.is_whole = None, True
        self.server = RecordServer(B, self.packet, namespace)

    def packet(self, _, is_rtcp, data, now):
        if is_rtcp:
            if data[1] == 200:
                seconds, fraction, stamp = struct.unpack_from("!III", data, 8)
                self.sent = seconds - NTP_1970 + fraction / 2**32, stamp
            return
        p = Rtp(data)
        self.bytes += len(data)
        gap = 0 if self.next is None else (p.seq - self.next + 2**15) % 2**16 - 2**15
        if gap < 0:
            return  # late, or a copy
        self.next = (p.seq + 1) % 2**16
        self.is_whole &= gap == 0
        if p.marker and self.sent:
            ticks = (p.timestamp - self.sent[1] + 2**31) % 2**32 - 2**31
            if self.is_whole:
                self.frames.append((now, now - (self.sent[0] + ticks / 90000)))
            else:
                self.broken.append(now)
        if p.marker:
            self.is_whole = True


class Push(Measurement, LinkCase):
    def figures_of(self, command):
        """Returns (delays of the frames from the first step on, in ms, sorted; frames in each part; share of the frames that
        were broken; kbit/s of the whole)."""
        server = Server(self.ends[1].path)
        self.addCleanup(server.server.stop)
        server.server.ready.wait(10)
        self.link(LINK, "delay=20ms")
        p = self.start(self.ends[0].inside(*command(server.server.url)))
        lib.until(lambda: server.frames or not p.running(), f"frames of {p}", 20)
        self.assertTrue(p.running(), str(p))
        begun = server.frames[0][0]
        time.sleep(max(0, begun + sum(SECONDS) - time.time()))
        frames, broken = list(server.frames), len(server.broken)
        p.stop()
        steps = [begun, begun + SECONDS[0], begun + sum(SECONDS[:2]), begun + sum(SECONDS)]
        counts = [sum(low <= at < high for at, _ in frames) for low, high in zip(steps, steps[1:])]
        return (sorted(1000 * late for _, late in frames), counts, broken / (broken + len(frames)),
                server.bytes * 8e-3 / sum(SECONDS))

    def report(self, who, command, high=None):
        delays, counts, broken, kbps = self.figures_of(command)
        for name, share in ("p50", 0.5), ("p95", 0.95), ("max", 1):
            self.figure(f"{who}, 4-1-4 Mbit/s: latency at the server, {name}",
                        delays[min(len(delays) - 1, int(share * len(delays)))], high=high if name == "p95" else None, unit="ms")
        for mbit, count, seconds in zip((4, 1, 4), counts, SECONDS):
            self.figure(f"{who}, at {mbit} Mbit/s: frames a second", count / seconds)
        self.figure(f"{who}: frames that lack a packet", 100 * broken, unit="%")
        self.figure(f"{who}: rate", kbps, unit="kbit/s")

    def weir(self, transport):
        return lambda url: [lib.SEND, "--insecure", "--listen", f"{A}:0", "--sound", "none", "--push", url,
                            "--push-transport", transport, "test:1280x720@30"]

    def ffmpeg(self, transport):
        lib.need("ffmpeg")
        return lambda url: [
            "ffmpeg", "-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30", "-c:v", "libx264",
            "-preset", "superfast", "-tune", "zerolatency", "-g", "60", "-pix_fmt", "yuv420p", "-b:v", "1920k", "-maxrate",
            "1920k", "-bufsize", "480k", "-f", "rtsp", "-rtsp_transport", transport, url]

    def measure_minbuf(self):
        self.report("weir-send --push, minbuf", self.weir("minbuf"), 450)

    def measure_tcp(self):
        self.report("weir-send --push, tcp", self.weir("tcp"))

    def measure_udp(self):
        self.report("weir-send --push, udp", self.weir("udp"), 450)

    def measure_ffmpeg(self):
        self.report("ffmpeg, tcp", self.ffmpeg("tcp"))

    def measure_ffmpeg_udp(self):
        self.report("ffmpeg, udp", self.ffmpeg("udp"))
