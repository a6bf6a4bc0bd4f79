# SPDX-License-Identifier: GPL-2.0-or-later
"""An origin with faults for weir-proxy: an RTSP server of any number of connections, which answers correctly but where a
test replaces an answer."""
import re
import socket
import struct
import threading
import time

from lib import PATIENCE


class Connection:
    """One connection of the proxy. `number` counts from 1, `methods` are its requests' in order."""

    def __init__(self, origin, sock, number):
        self.origin, self.socket, self.number = origin, sock, number
        self.methods = []
        self.heads = []
        self.buffer = b""
        self.rtcp = []
        self.over = threading.Event()

    def send(self, data):
        self.socket.sendall(data)

    def packet(self, data, channel=0):
        self.send(b"$" + bytes([channel]) + struct.pack("!H", len(data)) + data)

    def pause(self, seconds):
        """Returns False when the test or the connection has ended."""
        return not self.over.wait(seconds) and not self.origin.over.is_set()

    def close(self):
        self.over.set()
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def serve(self):
        try:
            while data := self.socket.recv(65536):
                self.buffer += data
                while self._take():
                    pass
        except OSError:
            pass
        self.close()
        self.socket.close()

    def _take(self):
        if self.buffer[:1] == b"$":
            end = 4 + int.from_bytes(self.buffer[2:4], "big")
            if len(self.buffer) < max(end, 4):
                return False
            self.rtcp.append(self.buffer[4:end])
            self.buffer = self.buffer[end:]
            return True
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        length = re.search(rb"(?im)^content-length: *(\d+)", head)
        length = int(length.group(1)) if length else 0
        if not found or len(rest) < length:
            return False
        self.buffer = rest[length:]
        self._answer(head.decode("latin-1"), rest[:length].decode("latin-1"))
        return True

    def _answer(self, head, body):
        method = head.split(" ", 1)[0]
        self.methods.append(method)
        self.heads.append(head)
        cseq = re.search(r"(?im)^cseq: *(\d+)", head).group(1)
        other = self.origin.answers.get(method)
        other = other(self) if callable(other) else other
        if other is None:
            other = self.origin.answer(self, method, head, body)
        self.send(other.replace(b"@CSEQ@", cseq.encode()))
        if method == "PLAY" and self.methods.count("PLAY") == 1:
            threading.Thread(target=self._play, daemon=True).start()

    def _play(self):
        try:
            self.origin.media(self)
        except OSError:
            pass  # the proxy has left


class Origin(threading.Thread):
    """`media(connection)` sends the media after the first PLAY of a connection. `answers` replaces the answers to a method by
    bytes, or by a function of the connection that returns bytes, or None for the usual answer."""

    def __init__(self, sdp, media=lambda c: None, answers=None, host="127.0.0.1"):
        super().__init__(daemon=True)
        self.sdp, self.media, self.answers = sdp, media, answers or {}
        self.listener = socket.create_server((host, 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.url = f"rtsp://{host}:{self.port}"
        self.connections = []
        self.over = threading.Event()
        self.start()

    def run(self):
        try:
            while True:
                s, _ = self.listener.accept()
                s.settimeout(60 * PATIENCE)
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                c = Connection(self, s, len(self.connections) + 1)
                self.connections.append(c)
                threading.Thread(target=c.serve, daemon=True).start()
        except OSError:
            pass

    def stop(self):
        self.over.set()
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        for c in self.connections:
            c.close()

    def methods(self):
        return [m for c in self.connections for m in c.methods]

    def answer(self, connection, method, head, body):
        headers, out = "Session: 12345678\r\n", ""
        if method == "DESCRIBE":
            headers, out = f"Content-Type: application/sdp\r\nContent-Base: {self.url}/live/\r\n", self.sdp
        elif method == "SETUP":
            # The first transport of the list that is interleaved, of those that the proxy offers.
            asked = re.search(r"(?im)^transport: *(\S+)", head).group(1).split(",")
            headers += f"Transport: {next((t for t in asked if 'TCP' in t), asked[0])}\r\n"
        elif method == "GET_PARAMETER" and "clock" in body:
            out = f"clock: {int(time.time() * 1e6)}\r\n"
        length = f"Content-Length: {len(out)}\r\n" if out else ""
        return f"RTSP/1.0 200 OK\r\nCSeq: @CSEQ@\r\n{headers}{length}\r\n{out}".encode()
