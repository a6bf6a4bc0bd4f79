# SPDX-License-Identifier: GPL-2.0-or-later
"""RTSP for tests: a client that sends exactly the requests of a test, a viewer that checks for gaps, and a server with
faults."""
import fcntl
import re
import select
import socket
import struct
import termios
import threading
import time

from lib import PATIENCE, stands, until


class Response:
    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.version, status, _, self.reason = re.match(r"(\S+) (\d+)( (.*))?$", lines[0]).groups()
        self.status = int(status)
        self.headers = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            self.headers[name.strip().lower()] = value.strip()
        self.body = body.decode("utf-8", "replace")

    def __str__(self):
        return f"{self.status} {self.reason} {self.headers}\n{self.body}"


class Closed(Exception):
    pass


def send_token(s, token, port):
    """Sends the token that validates the media's address; returns the datagram."""
    packet = struct.pack("!BBHI4sQ", 0x80, 204, 4, 1, b"WEIR", token)
    s.sendto(packet, ("127.0.0.1", port))
    return packet


def prove(s, token, port):
    """Sends the token and receives its echo."""
    packet = send_token(s, token, port)
    s.settimeout(5 * PATIENCE)
    while s.recv(65536) != packet:
        pass


class Client:
    """A connection that sends requests, or any bytes. `frames` collects the interleaved frames that arrive between
    responses, as (channel, bytes)."""

    def __init__(self, port, host="127.0.0.1", receive_buffer=None, source=None, segment=None):
        self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if source:
            self.socket.bind((source, 0))
        if segment:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
        self.socket.settimeout(10 * PATIENCE)
        self.socket.connect((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        netloc = f"[{host}]" if ":" in host else host
        self.url = f"rtsp://{netloc}:{port}/live"
        self.buffer = b""
        self.cseq = 0
        self.session = None
        self.frames = []

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.socket.sendall(data)

    def format(self, method, uri=None, headers=None, body=""):
        """Returns a request as bytes, without headers of value None; adds the session if there is one."""
        self.cseq += 1
        fields = {"CSeq": self.cseq}
        if self.session:
            fields["Session"] = self.session
        if body:
            fields["Content-Length"] = len(body)
        fields.update(headers or {})
        lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
        return "\r\n".join([f"{method} {uri or self.url} RTSP/1.0", *lines, "", body]).encode()

    def request(self, method, uri=None, headers=None, body=""):
        self.send(self.format(method, uri, headers, body))
        answer = self.response()
        if method == "SETUP" and answer.status == 200:
            self.session = answer.headers["session"].split(";")[0]
        return answer

    def _more(self):
        try:
            data = self.socket.recv(65536)
        except TimeoutError:
            raise AssertionError("the server said nothing in time") from None
        except ConnectionResetError:
            data = b""
        if not data:
            raise Closed()
        self.buffer += data

    def _take(self):
        """Returns the next interleaved frame as a pair, or a Response; None: it has not arrived yet."""
        b = self.buffer
        if b[:1] == b"$":
            if len(b) >= 4 and len(b) >= 4 + int.from_bytes(b[2:4], "big"):
                end = 4 + int.from_bytes(b[2:4], "big")
                self.buffer = b[end:]
                return b[1], b[4:end]
        elif b"\r\n\r\n" in b:
            head, rest = b.split(b"\r\n\r\n", 1)
            length = re.search(rb"(?im)^content-length: *(\d+)", head)
            length = int(length.group(1)) if length else 0
            if len(rest) >= length:
                self.buffer = rest[length:]
                return Response(head, rest[:length])
        return None

    def item(self):
        """Waits for the next frame or response, and returns it."""
        while not (item := self._take()):
            self._more()
        return item

    def response(self):
        while True:
            item = self.item()
            if isinstance(item, Response):
                return item
            self.frames.append(item)

    def collect(self, seconds):
        """Reads interleaved frames for this time, and returns them."""
        deadline = time.monotonic() + seconds
        first = len(self.frames)
        while (left := deadline - time.monotonic()) > 0:
            item = self._take()
            if item and not isinstance(item, Response):
                self.frames.append(item)
            elif not item:
                if not select.select([self.socket], [], [], left)[0]:
                    break
                self._more()
        return self.frames[first:]

    def collect_least(self, least, seconds=0.0):
        """Reads interleaved frames until this many have arrived, and returns them."""
        first = len(self.frames)
        self.collect(seconds)
        until(lambda: self.collect(0.1) is None or len(self.frames) - first >= least, f"{least} frames", 20)
        return self.frames[first:]

    def queued(self):
        """Returns the bytes that have arrived and are not read."""
        return struct.unpack("i", fcntl.ioctl(self.socket, termios.FIONREAD, bytes(4)))[0]

    def fills(self):
        """Waits, without reading, until no more bytes arrive: the connection is full."""
        until(self.queued, "bytes")
        stands(self.queued, "the connection")

    def closed(self, seconds=5):
        """Returns True if the server closes or resets the connection within the time."""
        self.socket.settimeout(seconds * PATIENCE)
        try:
            while self.socket.recv(65536):
                pass
        except TimeoutError:
            return False
        except ConnectionResetError:
            pass
        return True

    def watch(self, transport="RTP/AVP/TCP;unicast;interleaved=0-1", level=None):
        """Sends SETUP and PLAY. Returns the response to PLAY."""
        answer = self.request("SETUP", f"{self.url}/trackID=0", {"Transport": transport})
        assert answer.status == 200, str(answer)
        if level is not None:
            answer = self.request("SET_PARAMETER", body=f"level: {level}\r\n")
            assert answer.status == 200, str(answer)
        answer = self.request("PLAY", headers={"Range": "npt=now-"})
        assert answer.status == 200, str(answer)
        return answer


class Rtp:
    """The fields of an RTP packet that the tests check."""

    def __init__(self, data):
        first, second, self.seq, self.timestamp, self.ssrc = struct.unpack("!BBHII", data[:12])
        self.version, self.marker, self.type = first >> 6, second >> 7, second & 0x7F
        at = 12 + 4 * (first & 15)
        if first & 0x10:
            at += 4 + 4 * int.from_bytes(data[at + 2:at + 4], "big")
        self.header, self.payload = data[:at], data[at:]


def rtcp_types(data):
    """Returns the packets of a compound packet (RFC 3550, 6.1)."""
    types = []
    while len(data) >= 4:
        types.append(data[1])
        data = data[4 * (int.from_bytes(data[2:4], "big") + 1):]
    return types


class Viewer(threading.Thread):
    """A viewer over TCP, next to clients with faults. `check` fails if any packet was missing. However long a test takes on
    a busy machine: a viewer that says nothing for 60 s is dropped."""

    KEEP_ALIVE = 10  # seconds

    def __init__(self, port, url=None):
        super().__init__(daemon=True)
        self.client = Client(port)
        self.client.url = url or self.client.url
        self.client.watch()
        self.packets = self.frames = self.gaps = 0
        self.last_seq = None
        self.last_at = time.monotonic()
        self.longest_silence = 0
        self.said_goodbye = False
        self.over = False
        self.error = None
        self.start()

    def run(self):
        heard = time.monotonic()
        try:
            while not self.over:
                item = self.client.item()
                if time.monotonic() - heard > self.KEEP_ALIVE:
                    heard = time.monotonic()
                    self.client.send(self.client.format("OPTIONS"))
                if isinstance(item, Response):
                    continue
                if item[0] == 0:
                    self._packet(Rtp(item[1]))
                else:
                    self.said_goodbye = rtcp_types(item[1])[-1:] == [203]
        except Exception as e:  # looked at by check()
            self.error = self.error or e

    def _packet(self, p):
        now = time.monotonic()
        self.longest_silence = max(self.longest_silence, now - self.last_at)
        self.last_at = now
        if self.last_seq is not None and p.seq != (self.last_seq + 1) & 0xFFFF:
            self.gaps += 1
        self.last_seq = p.seq
        self.packets += 1
        self.frames += p.marker

    def wait_frames(self, count):
        target = self.frames + count
        until(lambda: self.frames >= target or self.error, f"{count} more frames for the quiet viewer", 10 + count / 30)
        assert not self.error, f"the quiet viewer was cut off: {self.error!r}"

    def check(self):
        """Ends the session, and checks that frames arrived until now, in order and without a gap."""
        self.wait_frames(5)
        self.over = True
        self.join(5 * PATIENCE)
        self.client.close()
        assert not self.error, f"the quiet viewer was cut off: {self.error!r}"
        assert self.gaps == 0, f"{self.gaps} holes in the quiet viewer's stream"


class Recording:
    """A recording of a real sender: its description, and the packets of a few seconds."""

    def __init__(self, port, seconds=2.0, level=None, frames=0):
        """`frames`: at least so many, however long it takes, as a busy machine sends them late."""
        with Client(port) as c:
            answer = c.request("DESCRIBE", headers={"Accept": "application/sdp"})
            assert answer.status == 200, str(answer)
            self.sdp = answer.body
            c.watch(level=level)
            c.collect(seconds)
            until(lambda: c.collect(0.1) is None or sum(Rtp(d).marker for i, d in c.frames if i == 0) > frames + 2,
                  f"{frames} frames", 20)
            self.packets = [data for channel, data in c.frames if channel == 0]
        assert self.packets, "nothing was recorded"


class FakeServer(threading.Thread):
    """An RTSP server for one viewer, which answers correctly and then sends the media of `media(server)`. `answers` can
    replace the response to a method by bytes, or by a function of (server, request) that returns them."""

    def __init__(self, sdp, media, answers=None, port=0, host="127.0.0.1"):
        super().__init__(daemon=True)
        self.sdp, self.media, self.answers = sdp, media, answers or {}
        self.listener = socket.create_server((host, port))
        self.listener.settimeout(20 * PATIENCE)
        self.url = f"rtsp://{host}:{self.listener.getsockname()[1]}/live"
        self.connection = None
        self.methods = []
        self.requests = []
        self.at_once = 1  # the most requests that were there together
        self.base = self.url + "/"  # None: not told
        self.session = "12345678"
        self.transport = "RTP/AVP/TCP;unicast;interleaved=0-1"  # of the first medium
        self.buffer = b""
        self.playing = threading.Event()
        self.over = threading.Event()
        self.start()

    def stop(self):
        self.over.set()
        for s in (self.connection, self.listener):
            if s:
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                s.close()
        self.join(5 * PATIENCE)

    def run(self):
        try:
            self.connection, _ = self.listener.accept()
            self.connection.settimeout(20 * PATIENCE)
            threading.Thread(target=self._play, daemon=True).start()
            while not self.over.is_set():
                data = self.connection.recv(65536)
                if not data:
                    return
                self.buffer += data
                self._serve()
        except OSError:
            pass

    def _play(self):
        try:
            if self.playing.wait(20 * PATIENCE):
                self.media(self)
        except OSError:
            pass  # the viewer has left

    def _serve(self):
        while self.buffer:
            if self.buffer[:1] == b"$":
                end = 4 + int.from_bytes(self.buffer[2:4], "big")
                if len(self.buffer) < max(end, 4):
                    return
                self.buffer = self.buffer[end:]
                continue
            head, found, rest = self.buffer.partition(b"\r\n\r\n")
            length = re.search(rb"(?im)^content-length: *(\d+)", head)
            length = int(length.group(1)) if length else 0
            if not found or len(rest) < length:
                return
            self.buffer = rest[length:]
            self.at_once = max(self.at_once, 1 + self.buffer.count(b" RTSP/1.0\r\n"))
            self._answer(head.decode("latin-1"), rest[:length].decode("latin-1"))

    def _answer(self, head, body):
        method = head.split(" ", 1)[0]
        self.methods.append(method)
        self.requests.append(head)
        cseq = re.search(r"(?im)^cseq: *(\d+)", head).group(1)
        other = self.answers.get(method)
        other = other(self, head) if callable(other) else other
        if other is not None:
            self.connection.sendall(other.replace(b"@CSEQ@", cseq.encode()))
            return
        headers, out = f"Session: {self.session}\r\n", ""
        if method == "DESCRIBE":
            base = f"Content-Base: {self.base}\r\n" if self.base else ""
            headers, out = f"Content-Type: application/sdp\r\n{base}", self.sdp
        elif method == "SETUP":
            weir = re.search(r"x-weir=[^;,\s]+", head)
            name = f";{weir.group()}" if weir else ""
            asked = re.search(r"(?im)^transport: *(\S+)", head).group(1)
            first = self.methods.count("SETUP") == 1
            headers += f"Transport: {self.transport + name if first or name else asked}\r\n"
        elif method == "GET_PARAMETER" and "clock" in body:
            out = f"clock: {int(time.time() * 1e6)}\r\n"
        length = f"Content-Length: {len(out)}\r\n" if out else ""
        self.connection.sendall(f"RTSP/1.0 200 OK\r\nCSeq: {cseq}\r\n{headers}{length}\r\n{out}".encode())
        if method == "PLAY":
            self.playing.set()

    def send(self, data):
        self.connection.sendall(data)

    def packet(self, data, channel=0):
        self.send(b"$" + bytes([channel]) + struct.pack("!H", len(data)) + data)

    def pause(self, seconds):
        """Returns False when the test has ended."""
        return not self.over.wait(seconds)
