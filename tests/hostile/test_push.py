# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile servers against weir-send --push: they close at each step, never answer, answer endlessly, lie about the
transport, take nothing, or try to get the password. Viewers are served all the while."""
import re
import socket
import struct
import threading
import time

import lib

OK = b"RTSP/1.0 200 OK\r\nCSeq: @CSEQ@\r\n"
SESSION = b"Session: 42;timeout=60\r\n"
METHODS = "OPTIONS", "ANNOUNCE", "SETUP", "RECORD"


class Recorder(threading.Thread):
    """A server that records, on successive connections. `answers` replaces the response to a method by bytes, b"" (none),
    None (close), or by what a function of (server, connection, request) returns."""

    def __init__(self, answers=None, reads=True):
        super().__init__(daemon=True)
        self.answers, self.reads = answers or {}, reads
        self.heads, self.methods, self.bodies, self.connections, self.packets = [], [], [], 0, 0
        self.over = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        if not reads:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        self.url = f"rtsp://127.0.0.1:{self.listener.getsockname()[1]}/live"
        self.start()

    def run(self):
        try:
            while True:
                c, _ = self.listener.accept()
                self.connections += 1
                try:
                    self.serve(c)
                except OSError:
                    pass
                c.close()
        except OSError:
            pass

    def serve(self, c):
        c.settimeout(60 * lib.PATIENCE)
        buffer = b""
        while data := c.recv(65536):
            buffer += data
            while True:
                if buffer[:1] == b"$" and len(buffer) >= 4:
                    end = 4 + int.from_bytes(buffer[2:4], "big")
                    if len(buffer) < end:
                        break
                    buffer = buffer[end:]
                    self.packets += 1
                    continue
                head, found, rest = buffer.partition(b"\r\n\r\n")
                length = re.search(rb"(?im)^content-length: *(\d+)", head)
                length = int(length.group(1)) if length else 0
                if not found or len(rest) < length:
                    break
                buffer = rest[length:]
                if head.startswith(b"ANNOUNCE"):
                    self.bodies.append(rest[:length].decode())
                if not self.answer(c, head):
                    return

    def answer(self, c, head):
        if head.startswith(b"RTSP/"):
            return True  # a response
        method = head.split(b" ", 1)[0].decode()
        self.heads.append(head)
        self.methods.append(method)
        cseq = re.search(rb"CSeq: (\d+)", head).group(1)
        out = self.agreed(head)
        if method in self.answers:
            out = self.answers[method]
            out = out(self, c, head) if callable(out) else out
        if out is None:
            return False
        c.sendall(out.replace(b"@CSEQ@", cseq))
        if method == "RECORD" and not self.reads:
            self.over.wait(60 * lib.PATIENCE)
            return False
        return True

    @staticmethod
    def agreed(head):
        out = OK + SESSION
        if head.startswith(b"SETUP"):
            out += b"Transport: " + re.search(rb"(?im)^transport: *(\S+)", head).group(1) + b"\r\n"
        return out + b"\r\n"

    def stop(self):
        self.over.set()
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()


class Push(lib.Case):
    def recorder(self, answers=None, **options):
        server = Recorder(answers, **options)
        self.addCleanup(server.stop)
        return server

    def push(self, server, *args, **options):
        return self.sender("--push", server.url, "--verbose", *args, **options)

    def says(self, p, pattern, seconds=20):
        lib.until(lambda: re.search(pattern, p.stderr) or not p.running(), f"'{pattern}' of {p}", seconds)
        self.assertRegex(p.stderr, pattern)
        self.assertTrue(p.running(), str(p))

    def test_an_honest_one(self):
        server = self.recorder()
        p = self.push(server)
        lib.until(lambda: server.packets > 50, "packets", 20)
        self.assertEqual(server.methods[:5], ["OPTIONS", "ANNOUNCE", "SETUP", "SETUP", "RECORD"])
        self.stop_cleanly(p)
        lib.until(lambda: "TEARDOWN" in server.methods, "TEARDOWN")

    def test_it_closes_at_each_step(self):
        for method in METHODS:
            with self.subTest(method):
                p = self.push(self.recorder({method: None}))
                self.says(p, "push: the connection to the server ended: .*next attempt in 2 s")
                self.see(p.url)
                self.stop_cleanly(p)

    def test_it_refuses_the_audio(self):
        """In ANNOUNCE the next codec follows at once, in SETUP on a new connection, and video only comes last."""
        for method, refused, text, connections in (
                ("ANNOUNCE", ("opus",), "audio in AAC", 1), ("ANNOUNCE", ("opus", "mpeg4-generic"), "video only", 1),
                ("SETUP", ("opus",), "audio in AAC", 2), ("SETUP", ("opus", "mpeg4-generic"), "video only", 2)):
            with self.subTest(method + " " + text):
                def refuse(server, c, head, method=method, refused=refused):
                    audio = method == "ANNOUNCE" or b"trackID=1" in head
                    if audio and any(codec in server.bodies[-1] for codec in refused):
                        return b"RTSP/1.0 415 Unsupported Media Type\r\nCSeq: @CSEQ@\r\n\r\n"
                    return server.agreed(head)
                server = self.recorder({method: refuse})
                p = self.push(server)
                self.says(p, f"push: .* records over .*{text}")
                self.assertEqual(server.connections, connections, str(p))
                lib.until(lambda: server.packets > 50, f"packets of {p}", 20)
                self.assertIn("audio in Opus (415)", p.stderr)
                self.stop_cleanly(p)

    def test_it_closes_while_it_records(self):
        def later(server, c, head):
            threading.Timer(0.3, lambda: c.shutdown(socket.SHUT_RDWR)).start()
            return OK + SESSION + b"\r\n"
        server = self.recorder({"RECORD": later})
        p = self.push(server)
        lib.until(lambda: server.connections >= 3 and server.packets, f"three connections of {p}, and packets", 60)
        self.stop_cleanly(p)

    def test_it_never_answers(self):
        """Each response has 8 s."""
        p = self.push(self.recorder({"ANNOUNCE": b""}))
        self.says(p, "push: the server does not answer ANNOUNCE within 8 s; next attempt in 1 s", 20)
        self.stop_cleanly(p)

    def test_it_answers_for_ever(self):
        """100 Continue, responses to nothing, stale nonces and frames: none of them counts as an answer."""
        def endless(server, c, head):
            junk = (b"RTSP/1.0 100 Continue\r\nCSeq: @CSEQ@\r\n\r\n" b"RTSP/1.0 200 OK\r\nCSeq: 999\r\n\r\n"
                    b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n" b"$\x01\x00\x04abcd")
            def go():
                try:
                    while not server.over.wait(0.001):
                        c.sendall(junk.replace(b"@CSEQ@", b"1"))
                except OSError:
                    pass
            threading.Thread(target=go, daemon=True).start()
            return b""
        p = self.push(self.recorder({"OPTIONS": endless}))
        self.says(p, "push: the server does not answer OPTIONS within 8 s; next attempt", 20)
        self.stop_cleanly(p)

        stale = b'RTSP/1.0 401 U\r\nCSeq: @CSEQ@\r\nWWW-Authenticate: Digest realm="r", nonce="n", stale=true\r\n\r\n'
        server = self.recorder({"ANNOUNCE": stale})
        server.url = server.url.replace("//", "//joe:sekret@")
        p = self.push(server)
        self.says(p, "push: the server refuses ANNOUNCE: 401 .*not tried again")
        self.assertLess(server.methods.count("ANNOUNCE"), 15)
        self.assertNotIn("sekret", p.stderr)

    def test_it_lies_about_the_transport(self):
        for answer in (b"RTP/AVP;unicast;client_port=1-2;server_port=5-6", b"RTP/AVP/TCP;multicast;interleaved=0-1",
                       b"RTP/AVP/TCP;interleaved=7-7", b"RTP/AVP/TCP;interleaved=999-1000", b"", b"x" * 4000):
            with self.subTest(answer[:40]):
                p = self.push(self.recorder({"SETUP": OK + SESSION + b"Transport: " + answer + b"\r\n\r\n"}),
                              "--push-transport", "minbuf")
                self.says(p, "push: the server answers SETUP with a transport that was not offered; next attempt")
                p.stop()
        for answer in b"server_port=0-1", b"server_port=65535", b"":
            with self.subTest(answer):
                p = self.push(self.recorder({"SETUP": OK + SESSION + b"Transport: RTP/AVP;unicast;" + answer + b"\r\n\r\n"}),
                              "--push-transport", "udp")
                self.says(p, "push: the server answers SETUP with a transport that was not offered; next attempt")
                p.stop()

    def test_another_host_gets_no_media(self):
        """Over UDP media goes to the host of the connection: a server cannot make the sender flood another one."""
        victim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(victim.close)
        victim.bind(("127.0.0.2", 0))
        own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(own.close)
        port = victim.getsockname()[1]
        own.bind(("127.0.0.1", port))
        victim.settimeout(0.5)
        own.settimeout(20 * lib.PATIENCE)
        there = f"RTP/AVP;unicast;source=127.0.0.2;destination=127.0.0.2;server_port={port}-{port}".encode()
        p = self.push(self.recorder({"SETUP": OK + SESSION + b"Transport: " + there + b"\r\n\r\n"}), "--push-transport",
                      "udp", "--sound", "none")
        self.says(p, "records over udp")
        self.assertGreater(len(own.recv(65536)), 12)
        self.assertRaises(socket.timeout, victim.recv, 65536)

    def test_a_redirect_is_refused(self):
        thief = self.recorder()
        moved = b"RTSP/1.0 302 Moved\r\nCSeq: @CSEQ@\r\nLocation: " + thief.url.encode() + b"\r\n\r\n"
        honest = self.recorder({"ANNOUNCE": moved})
        honest.url = honest.url.replace("//", "//joe:sekret@")
        p = self.push(honest)
        self.says(p, "push: the server refuses ANNOUNCE: 302 .*not followed.*not tried again")
        self.assertEqual(thief.connections, 0)
        self.assertNotIn("sekret", p.stderr)

    def test_what_it_says_is_printable(self):
        for reason, text in (b"No", "refuses ANNOUNCE: 403 No"), (b"\x1b[2Jno\x07", "data that is not RTSP"):
            with self.subTest(reason):
                evil = b"RTSP/1.0 403 " + reason + b"\r\nCSeq: @CSEQ@\r\nContent-Length: 8\r\n\r\n\x1b]0;a\x07\n\x9b"
                p = self.push(self.recorder({"ANNOUNCE": evil}))
                self.says(p, text)
                self.assertNotRegex(p.stderr, "[\x00-\x08\x0b-\x1f\x7f\x9b]")
                p.stop()

    def test_it_takes_nothing(self):
        """A server that stops reading is left; what waits for it is bounded."""
        server = self.recorder(reads=False)
        p = self.push(server, "--timeout", "2", source="test:640x360@30")
        self.says(p, "push: the server is left: it has not taken a byte for 2 s; next attempt in", 60)
        self.assertLess(p.status_kb("VmRSS"), 300000)

    def test_floods_of_reports(self):
        """RTCP of all kinds, as fast as the connection takes it, and frames on other channels."""
        def flood(server, c, head):
            rr = struct.pack("!BBHIIIIIII", 0x81, 201, 7, 1, 2, 0xFF000001, 9, 0xFFFFFFFF, 1, 1)
            nack = struct.pack("!BBHIIHH", 0x81, 205, 3, 1, 2, 7, 0xFFFF)
            pli = struct.pack("!BBHII", 0x81, 206, 2, 1, 2)
            data = b"".join(b"$" + bytes([channel]) + struct.pack("!H", len(x)) + x
                            for x in (rr, nack, pli, rr + pli, b"junk", b"") for channel in (0, 1, 3, 255)) * 50
            def go():
                try:
                    end = time.monotonic() + 3
                    while time.monotonic() < end and not server.over.is_set():
                        c.sendall(data)
                except OSError:
                    pass
            threading.Thread(target=go, daemon=True).start()
            return OK + SESSION + b"\r\n"
        server = self.recorder({"RECORD": flood})
        p = self.push(server)
        self.says(p, "records over")
        self.see(p.url)
        lib.until(lambda: server.packets > 100, "packets", 20)
        self.stop_cleanly(p)


if __name__ == "__main__":
    lib.main()
