# SPDX-License-Identifier: GPL-2.0-or-later
"""RTSP in a WebSocket, as a program that is no browser speaks it."""
import os
import re
import socket
import struct

import lib


class Socket:
    def __init__(self, port, path, headers):
        self.uri = f"rtsp://127.0.0.1:{port}{path}"
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20 * lib.PATIENCE)
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: rtsp.onvif.org",
                 *(f"{name}: {value}" for name, value in headers.items() if value)]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.socket.recv(1)
            if not piece:
                raise EOFError(head)
            head += piece
        self.status = int(head.split()[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def describe(self):
        """Returns the status of a DESCRIBE."""
        text = f"DESCRIBE {self.uri} RTSP/1.0\r\nCSeq: 1\r\n\r\n".encode()
        key = os.urandom(4)
        size = bytes([0x80 | len(text)]) if len(text) < 126 else b"\xfe" + struct.pack(">H", len(text))
        self.socket.sendall(b"\x82" + size + key + bytes(c ^ key[i % 4] for i, c in enumerate(text)))
        got = b""
        while not (found := re.search(rb"RTSP/1.0 (\d{3}) ", got)):
            piece = self.socket.recv(4096)
            if not piece:
                raise EOFError(got)
            got += piece
        return int(found.group(1))
