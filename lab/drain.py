# SPDX-License-Identifier: GPL-2.0-or-later
"""A viewer that costs next to nothing: requests a stream over RTSP's own connection and discards what comes, in the
kernel, so that the sender's core is the first to be full. Prints what came, as JSON.

    python3 -m lab.drain rtsp://10.1.0.1:8554/live minbuf:1,3 5
"""
import json
import re
import socket
import sys
import time
import urllib.parse

WARM_UP = 1  # seconds
PATIENCE = 10


class Refused(Exception):
    """The server answered with an error."""


def request(s, number, verb, url, *headers):
    """Sends a request and returns head and body of the response. Only before PLAY: no media comes between."""
    s.sendall("\r\n".join([f"{verb} {url} RTSP/1.0", f"CSeq: {number}", *headers, "", ""]).encode())
    data = b""
    while b"\r\n\r\n" not in data:
        data += s.recv(65536) or b"\r\n\r\n"
    head, _, body = data.partition(b"\r\n\r\n")
    found = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    while found and len(body) < int(found[1]):
        body += s.recv(65536)
    if not re.match(rb"RTSP/1.0 200 ", head):
        raise Refused(f"{verb}: {head[:80]!r}")
    return head.decode(), body.decode()


def track_of(url, sdp):
    """Returns the URL of the first medium."""
    control = re.search(r"(?m)^m=video.*(?:\r?\n(?!m=).*)*?\r?\na=control:(\S+)", sdp)
    if not control:
        raise Refused("no video in the SDP")
    return control[1] if "://" in control[1] else f"{url}/{control[1]}"


def drain(url, transport, seconds):
    """Returns the bytes a second that came after the warm-up."""
    at = urllib.parse.urlparse(url)
    with socket.create_connection((at.hostname, at.port), PATIENCE) as s:
        _, sdp = request(s, 1, "DESCRIBE", url, "Accept: application/sdp")
        head, _ = request(s, 2, "SETUP", track_of(url, sdp),
                          f"Transport: RTP/AVP/TCP;unicast;interleaved=0-1;x-weir={transport}")
        session = re.search(r"(?im)^session: *([^;\s]+)", head)[1]
        s.sendall(f"PLAY {url} RTSP/1.0\r\nCSeq: 3\r\nSession: {session}\r\n\r\n".encode())
        buffer = bytearray(1 << 20)
        begin, total, begun = time.monotonic() + WARM_UP, 0, False
        while (now := time.monotonic()) < begin + seconds:
            got = s.recv_into(buffer, len(buffer), socket.MSG_TRUNC)  # TCP discards the bytes (tcp(7))
            if not got:
                raise Refused("the server closed the connection")
            if now < begin:
                continue
            if not begun:
                print("begun", flush=True)
                begun = True
            total += got
    return total / seconds


if __name__ == "__main__":
    print(json.dumps({"bytes_ps": drain(sys.argv[1], sys.argv[2], float(sys.argv[3]))}))
