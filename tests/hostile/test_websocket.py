# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP and WebSockets that are wrong, slow or endless: others still watch, and the server ends cleanly."""
import os
import random
import socket
import struct

import lib
from lib import until

UPGRADE = (b"GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
           b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: rtsp.onvif.org\r\n\r\n")


def frame(opcode, payload, fin=True):
    key = os.urandom(4)
    n = len(payload)
    size = bytes([0x80 | n]) if n < 126 else b"\xfe" + struct.pack(">H", n) if n < 65536 else b"\xff" + struct.pack(">Q", n)
    return bytes([fin << 7 | opcode]) + size + key + bytes(c ^ key[i % 4] for i, c in enumerate(payload))


class WebSockets(lib.Case):
    def setUp(self):
        super().setUp()
        self.weir = self.sender()

    def connect(self, upgrade=True):
        s = socket.create_connection(("127.0.0.1", self.weir.port), timeout=15 * lib.PATIENCE)
        self.addCleanup(s.close)
        if upgrade:
            s.sendall(UPGRADE)
            head = b""
            while b"\r\n\r\n" not in head:
                head += s.recv(1)
            self.assertTrue(head.startswith(b"HTTP/1.1 101 "), head)
        return s

    def ends(self, s, data):
        """Sends it; the server closes the connection. Returns what it answered."""
        got = b""
        try:
            s.sendall(data)
            while piece := s.recv(65536):
                got += piece
        except OSError as error:
            self.assertNotIsInstance(error, TimeoutError)
        return got

    def serves(self):
        s = self.connect()
        s.sendall(frame(2, b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n"))
        self.assertIn(b"RTSP/1.0 200", s.recv(4096))

    def test_frames(self):
        for wrong in (b"\x82\x01a", b"\xc2\x81\0\0\0\0a", frame(0, b"a"), frame(3, b"a"), frame(9, b"a", False), frame(9, b"a" * 126),
                      b"\x82\xff" + b"\xff" * 12, b"\x82\xff\0\0\0\1\0\0\0\0" + b"1234x", frame(2, b"a", False) + frame(2, b"b"),
                      frame(8, b"\x03\xe8"), frame(2, b"no RTSP at all\r\n\r\n"), frame(1, b"\xff" * 9000)):
            with self.subTest(wrong[:12]):
                self.ends(self.connect(), wrong)
        self.serves()
        self.stop_cleanly(self.weir)

    def test_garbage(self):
        rng = random.Random(21)
        for _ in range(60):
            self.ends(self.connect(), rng.randbytes(rng.randrange(1, 3000)) + b"\x83\x80\0\0\0\0")
        for _ in range(20):
            self.ends(self.connect(False), b"GET /" + rng.randbytes(rng.randrange(1, 3000)) + b"\r\n\r\n" + b"x" * 9000)
        self.serves()
        self.stop_cleanly(self.weir)

    def test_floods(self):
        """Pings and requests whose answers nobody reads."""
        for data in frame(9, b"p" * 100) * 20000, frame(2, b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n") * 20000:
            s = self.connect()
            s.settimeout(1)
            try:
                s.sendall(data)
            except OSError:
                pass  # it is dropped, or nothing more is read
        s = self.connect(False)
        s.settimeout(1)
        try:
            s.sendall(b"GET /.weir/page.js HTTP/1.1\r\n\r\n" * 20000)
        except OSError:
            pass
        self.serves()
        self.assertLess(self.weir.status_kb("VmRSS"), 400000)
        self.stop_cleanly(self.weir)

    def test_slow(self):
        """Half a request, and a connection after its answer, are closed."""
        half, idle = self.connect(False), self.connect(False)
        half.sendall(b"GET /live HTTP/1.1\r\nHost: a")
        idle.sendall(b"GET /.weir/text.js HTTP/1.1\r\n\r\n")
        for s in idle, half:
            until(lambda s=s: not s.recv(65536), "the end", 20)
        self.stop_cleanly(self.weir)


if __name__ == "__main__":
    lib.main()
