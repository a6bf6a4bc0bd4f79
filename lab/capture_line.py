# SPDX-License-Identifier: GPL-2.0-or-later
"""When weir-send captured each frame of a live source, from its own time stamps and not from the viewer that is measured.

Frame n of a source with a constant frame rate was captured at LINE + n / fps. A short RTSP session on the sender's host
reads numbers and capture times from the RTP header extensions (docs/protocol.md).
"""
import socket
import ssl
import statistics
import struct

from lab import net
from lab.run import Failed

CAPTURE_ID, ADU_ID = 1, 2
NTP_UNIX_S = 2208988800  # from 1900 to 1970
PATIENCE = 10  # seconds


def frame_of(packet):
    """Returns (number, capture time in seconds since 1970) of an RTP packet, None if it does not begin a frame."""
    if len(packet) < 16 or not packet[0] & 0x10:
        return None
    at = 12 + 4 * (packet[0] & 15)
    if len(packet) < at + 4:
        return None
    profile, words = struct.unpack_from("!HH", packet, at)
    elements, end = {}, min(len(packet), at + 4 + 4 * words)
    at += 4
    while profile == 0xBEDE and at < end:
        head = packet[at]
        size = (head & 15) + 1 if head else 0
        elements[head >> 4] = packet[at + 1:at + 1 + size]
        at += 1 + size
    if len(elements.get(CAPTURE_ID, b"")) < 8 or len(elements.get(ADU_ID, b"")) < 4:
        return None
    ntp = struct.unpack("!Q", elements[CAPTURE_ID][:8])[0]
    return struct.unpack("!I", elements[ADU_ID][:4])[0], ntp / 2**32 - NTP_UNIX_S


class Session:
    """An RTSP connection over TCP, or TLS, from a network namespace."""

    def __init__(self, namespace, host, port, tls):
        with net.inside(namespace):
            s = socket.create_connection((host, port), PATIENCE)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE  # the measured sender's own certificate, on this machine
            s = context.wrap_socket(s)
        self.socket, self.unread, self.number = s, b"", 0
        self.uri = f"rtsp://{host}:{port}/live"

    def close(self):
        self.socket.close()

    def take(self, count):
        while len(self.unread) < count:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise Failed("the sender closed the session that reads its capture times")
            self.unread += piece
        taken, self.unread = self.unread[:count], self.unread[count:]
        return taken

    def packet(self):
        """Returns the next packet of channel 0, or None after something else."""
        head = self.take(1)
        if head != b"$":
            while not head.endswith(b"\r\n\r\n"):
                head += self.take(1)
            return None
        channel, size = struct.unpack("!BH", self.take(3))
        data = self.take(size)
        return None if channel else data

    def request(self, method, uri, *headers):
        """Sends a request, and returns its response, which must be 200 and has no body."""
        self.number += 1
        self.socket.sendall("\r\n".join([f"{method} {uri} RTSP/1.0", f"CSeq: {self.number}", *headers, "", ""]).encode())
        while self.take(1) == b"$":
            self.take(struct.unpack("!BH", self.take(3))[1])
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.take(1)
        if b" 200 " not in head.splitlines()[0]:
            raise Failed(f"{method}: {head.splitlines()[0].decode(errors='replace')}")
        return head.decode(errors="replace")


def read(namespace, host, port, fps, tls=False, frames=30):
    """Returns LINE, in seconds since 1970."""
    session = Session(namespace, host, port, tls)
    try:
        answer = session.request("SETUP", session.uri + "/trackID=0",
                                 "Transport: RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf:1,3")
        name = next(h.split(":", 1)[1].strip().split(";")[0] for h in answer.splitlines() if h.lower().startswith("session:"))
        session.request("PLAY", session.uri, f"Session: {name}")
        found = []
        while len(found) < frames:
            packet = session.packet()
            frame = frame_of(packet) if packet else None
            if frame:
                found.append(frame[1] - frame[0] / fps)
        return statistics.median(found)
    finally:
        session.close()
