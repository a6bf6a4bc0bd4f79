# SPDX-License-Identifier: GPL-2.0-or-later
"""A pushed stream over a link that falls from 4 to 1 Mbit/s and rises again: how late its frames are at the server, next to
ffmpeg's own push of a picture of the same size, rate and number of frames.

The server is an RTSP server that records (rtsp.py's parser of packets), in a namespace of its own. A frame has arrived with
its last packet (the marker). It was captured when its RTP time says so, by the sender's last RTCP sender report before it.
ffmpeg's reports count from the moment at which its muxer began, which is after its first frame was encoded: its frames seem
some ms less late than they are. Both ends read one clock."""
import ctypes
import re
import socket
import struct
import threading
import time

import lib
import link_case
from figures import Measurement
from link_case import A, B, LinkCase
from rtsp import Rtp

SECONDS = 10, 12, 10  # at 4, 1 and 4 Mbit/s
LINK = f"rate=4mbit:1mbit@{SECONDS[0]}s:4mbit@{sum(SECONDS[:2])}s,queue=droptail:50000B,delay=20ms"
CLONE_NEWNET = 0x40000000
NTP_1970 = 2208988800


def setUpModule():
    link_case.set_up()


class Server(threading.Thread):
    """Records one stream. `frames`: [(wall time of the last packet, seconds since the capture)]."""

    def __init__(self, namespace):
        super().__init__(daemon=True)
        self.namespace = namespace
        self.frames, self.bytes, self.report = [], 0, None
        self.ready = threading.Event()
        self.start()

    def run(self):
        with open(self.namespace) as f:  # of this thread alone
            if ctypes.CDLL(None, use_errno=True).setns(f.fileno(), CLONE_NEWNET) != 0:
                raise OSError("cannot enter the namespace")
        self.listener = socket.create_server((B, 8554))
        self.ready.set()
        try:
            c, _ = self.listener.accept()
            self.serve(c)
        except OSError:
            pass

    def serve(self, c):
        buffer = bytearray()
        while data := c.recv(65536):
            now = time.time()
            buffer += data
            while True:
                if buffer[:1] == b"$":
                    end = 4 + int.from_bytes(buffer[2:4], "big") if len(buffer) >= 4 else 1 << 30
                    if len(buffer) < end:
                        break
                    self.packet(buffer[1], bytes(buffer[4:end]), now)
                    del buffer[:end]
                    continue
                at = buffer.find(b"\r\n\r\n")
                if at < 0:
                    break
                head = bytes(buffer[:at])
                length = re.search(rb"(?im)^content-length: *(\d+)", head)
                end = at + 4 + (int(length.group(1)) if length else 0)
                if len(buffer) < end:
                    break
                del buffer[:end]
                out = b"RTSP/1.0 200 OK\r\nSession: 42\r\n" + re.search(rb"(?im)^cseq: *\d+", head).group() + b"\r\n"
                transport = re.search(rb"(?im)^transport: *[^\r]+", head)
                c.sendall(out + (transport.group() + b"\r\n" if transport else b"") + b"\r\n")

    def packet(self, channel, data, now):
        if channel == 1 and data[1] == 200:
            seconds, fraction, stamp = struct.unpack_from("!III", data, 8)
            self.report = seconds - NTP_1970 + fraction / 2**32, stamp
        if channel != 0:
            return
        p = Rtp(data)
        self.bytes += len(data)
        if p.marker and self.report:
            ticks = (p.timestamp - self.report[1] + 2**31) % 2**32 - 2**31
            self.frames.append((now, now - (self.report[0] + ticks / 90000)))


class Push(Measurement, LinkCase):
    def measured(self, argv):
        """Returns (delays of the frames from the first step on, in ms, sorted; frames in each part; kbit/s of the whole)."""
        server = Server(self.ends[1].path)
        server.ready.wait(10)
        self.link(LINK, "delay=20ms")
        p = self.start(self.ends[0].inside(*argv))
        lib.until(lambda: server.frames or not p.running(), f"frames of {p}", 20)
        self.assertTrue(p.running(), str(p))
        begun = server.frames[0][0]
        time.sleep(max(0, begun + sum(SECONDS) - time.time()))
        frames = list(server.frames)
        p.stop()
        steps = [begun, begun + SECONDS[0], begun + sum(SECONDS[:2]), begun + sum(SECONDS)]
        counts = [sum(low <= at < high for at, _ in frames) for low, high in zip(steps, steps[1:])]
        return sorted(1000 * late for _, late in frames), counts, server.bytes * 8e-3 / sum(SECONDS)

    def report(self, who, argv, high=None):
        delays, counts, kbps = self.measured(argv)
        for name, share in ("p50", 0.5), ("p95", 0.95), ("max", 1):
            self.figure(f"{who}, 4-1-4 Mbit/s: latency at the server, {name}",
                        delays[min(len(delays) - 1, int(share * len(delays)))], high=high if name == "p95" else None, unit="ms")
        for mbit, count, seconds in zip((4, 1, 4), counts, SECONDS):
            self.figure(f"{who}, at {mbit} Mbit/s: frames a second", count / seconds)
        self.figure(f"{who}: rate", kbps, unit="kbit/s")

    def weir(self, transport):
        return [lib.SEND, "--insecure", "--listen", f"{A}:0", "--sound", "none", "--push", f"rtsp://{B}:8554/live",
                "--push-transport", transport, "test:1280x720@30"]

    def measure_minbuf(self):
        self.report("weir-send --push, minbuf", self.weir("minbuf"), 450)

    def measure_tcp(self):
        self.report("weir-send --push, tcp", self.weir("tcp"))

    def measure_ffmpeg(self):
        lib.need("ffmpeg")
        self.report("ffmpeg, tcp", [
            "ffmpeg", "-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30", "-c:v", "libx264",
            "-preset", "superfast", "-tune", "zerolatency", "-g", "60", "-pix_fmt", "yuv420p", "-b:v", "1920k", "-maxrate",
            "1920k", "-bufsize", "480k", "-f", "rtsp", "-rtsp_transport", "tcp", f"rtsp://{B}:8554/live"])
