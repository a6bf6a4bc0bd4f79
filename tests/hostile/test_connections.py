# SPDX-License-Identifier: GPL-2.0-or-later
"""One host opens idle connections, or sends many requests: other viewers still watch, and the log stays short."""
import os
import re
import resource
import socket
import ssl
import time

import lib
from lib import until
from rtsp import Client, Viewer

HALF = b"OPTIONS rtsp://127.0.0.1/live RTSP/1.0\r\nCSe"
LINES = 32  # of one place of the code in a second, before a summary
HANDSHAKES = int(10000 / lib.SLOW)
FFDHE8192 = 0x0104  # RFC 7919, 2


def hello(group, share):
    """Returns the first record of TLS 1.3 (RFC 8446, 4.1.2) with this key share."""
    def vector(size, data):
        return len(data).to_bytes(size, "big") + data

    def extension(number, data):
        return number.to_bytes(2, "big") + vector(2, data)

    named = group.to_bytes(2, "big")
    extensions = (extension(43, vector(1, b"\3\4")) + extension(10, vector(2, named)) + extension(13, vector(2, b"\4\3")) +
                  extension(51, vector(2, named + vector(2, share))))
    body = b"\3\3" + os.urandom(32) + vector(1, b"") + vector(2, b"\x13\1") + vector(1, b"\0") + vector(2, extensions)
    return b"\x16\3\1" + vector(2, b"\1" + vector(3, body))


class Connections(lib.Case):
    def setUp(self):
        super().setUp()
        self.begin = time.monotonic()

    def flood(self, port, count, data=HALF, source="127.0.0.1"):
        """Opens this many connections from one address and keeps them open; the server closes refused ones."""
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 512), hard))
        crowd = []
        for _ in range(count):
            s = socket.socket()
            s.bind((source, 0))
            s.settimeout(10 * lib.PATIENCE)
            s.connect(("127.0.0.1", port))
            s.sendall(data)
            self.addCleanup(s.close)
            crowd.append(s)
        return crowd

    def descriptors(self, server):
        return len(os.listdir(f"/proc/{server.pid}/fd"))

    def told(self, server, line):
        """Returns how often the log has the message, including the counts of summaries. Checks that the lines are bounded."""
        more = [int(n) for n in re.findall(rf"(\d+) more like this: {line}", server.stderr)]
        lines = len(re.findall(line, server.stderr)) - len(more)
        seconds = time.monotonic() - self.begin
        self.assertLessEqual(lines, LINES * (seconds + 1), f"{line}: {lines} lines in {seconds:.1f} s")
        self.assertLessEqual(len(more), seconds + 2)
        return lines + sum(more)

    def is_refused(self, s):
        """Returns True if the response was 503, False if the connection was closed without a response."""
        s.settimeout(30 * lib.PATIENCE)
        try:
            return s.recv(1000).startswith(b"RTSP/1.0 503 ")
        except ConnectionResetError:
            return True

    def test_half_requests_of_one_address(self):
        server = self.sender()
        quiet = Viewer(server.port)
        before = self.descriptors(server)
        begin = time.monotonic()
        crowd = self.flood(server.port, 2000)
        until(lambda: "a viewer was refused" in server.stderr, "the refusals")
        self.assertLessEqual(self.descriptors(server) - before, 256)
        with Client(server.port, source="127.0.0.2") as other:  # another address is served meanwhile
            self.assertEqual(other.watch().status, 200)
        refused = sum(self.is_refused(s) for s in crowd)  # the others after 10 s, and a second to see it
        self.assertGreaterEqual(time.monotonic() - begin, 9)
        self.between(1, refused, 2000 - 255)  # the quiet one has a place, too
        with Client(server.port) as same:
            self.assertEqual(same.request("OPTIONS").status, 200)
        quiet.check()
        self.stop_cleanly(server)
        self.assertEqual(self.told(server, "a viewer was refused"), refused)

    @lib.long
    def test_handshakes_that_never_end(self):
        """Halves of TLS's first message: each has 10 s and a place of its address; a viewer loses no frame."""
        server = self.sender("--state-dir", self.path("state"))
        quiet = Viewer(server.port)
        begin = time.monotonic()
        hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"  # of 512 bytes
        crowd = self.flood(server.port, 600, hello)
        until(lambda: "a viewer was refused" in server.stderr, "the refusals")
        with Client(server.port, source="127.0.0.2") as other:
            self.assertEqual(other.watch().status, 200)
        for s in crowd:
            self.is_refused(s)
        self.assertGreaterEqual(time.monotonic() - begin, 9)
        with Client(server.port) as same:
            self.assertEqual(same.request("OPTIONS").status, 200)
        quiet.check()
        self.stop_cleanly(server)

    def test_handshakes_of_garbage(self):
        server = self.sender("--state-dir", self.path("state"))
        quiet = Viewer(server.port)
        for i in range(200):
            with socket.create_connection(("127.0.0.1", server.port)) as s:
                s.sendall(b"\x16\x03\x01" + bytes((i + k * k) % 256 for k in range(50 + 7 * i)))
        with Client(server.port) as same:
            self.assertEqual(same.request("OPTIONS").status, 200)
        quiet.check()
        self.stop_cleanly(server)

    def test_costly_handshakes(self):
        """A share of FFDHE8192 costs its sender nothing, and would cost the server 0.3 s: it is refused at once."""
        server = self.sender("--state-dir", self.path("state"))
        quiet = Viewer(server.port)
        for i in range(50):
            with socket.create_connection(("127.0.0.1", server.port)) as s:
                s.settimeout(20 * lib.PATIENCE)
                s.sendall(hello(FFDHE8192, bytes(1023) + b"\4"))
                self.assertEqual(s.recv(1000)[:1], b"\x15", "no alert")
        quiet.check()
        self.stop_cleanly(server)

    @lib.long
    def test_ten_thousand_slow_handshakes(self):
        """Each makes the server sign, in pieces beside 99 others of 50 addresses, and stops before its end."""
        server = self.sender("--state-dir", self.path("state"))
        quiet = Viewer(server.port)
        x25519 = hello(29, bytes(range(1, 33)))
        for _ in range(HANDSHAKES // 100):
            crowd = []
            for number in range(100):
                s = socket.create_connection(("127.0.0.1", server.port), 20 * lib.PATIENCE, (f"127.8.0.{number % 50 + 1}", 0))
                self.addCleanup(s.close)
                crowd.append(s)
            for piece in x25519[:7], x25519[7:60], x25519[60:]:
                for s in crowd:
                    s.sendall(piece)
            for s in crowd:
                self.assertEqual(s.recv(1000)[:1], b"\x16", "the server did not answer")
                s.close()
        with Client(server.port) as same:
            self.assertEqual(same.request("OPTIONS").status, 200)
        quiet.check()
        self.stop_cleanly(server)

    @lib.long
    def test_whole_handshakes(self):
        """They leave no place behind, and no descriptor."""
        server = self.sender("--state-dir", self.path("state"))
        quiet = Viewer(server.port)
        before = self.descriptors(server)
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        for number in range(HANDSHAKES // 10):
            with socket.create_connection(("127.0.0.1", server.port), source_address=(f"127.8.1.{number % 50 + 1}", 0)) as s:
                s.settimeout(20 * lib.PATIENCE)
                with context.wrap_socket(s) as inside:
                    self.assertEqual(inside.version(), "TLSv1.3")
        until(lambda: self.descriptors(server) <= before, "the end of all connections")
        quiet.check()
        self.stop_cleanly(server)

    def test_bytes_one_by_one_do_not_extend_the_first_request(self):
        server = self.sender()
        begin = time.monotonic()
        with Client(server.port) as c:
            request = c.format("OPTIONS")
            try:
                for byte in request:
                    c.send(bytes([byte]))
                    time.sleep(0.5)  # the attack is the trickle
                self.fail(f"the whole request was taken after {time.monotonic() - begin:.0f} s")
            except (BrokenPipeError, ConnectionResetError):
                pass
            self.assertGreater(time.monotonic() - begin, 9)
        until(lambda: "is dropped: no accepted request for 10 s" in server.stderr, "the log's line")

    @lib.long
    def test_who_asked_once_has_the_usual_time(self):
        server = self.sender()
        with Client(server.port) as c:
            self.assertEqual(c.request("OPTIONS").status, 200)
            self.assertFalse(c.closed(14 / lib.PATIENCE))

    def test_the_answer_says_why(self):
        server = self.sender("--max-viewers", "16")
        first = [Client(server.port) for _ in range(4)]
        for c in first:
            self.addCleanup(c.close)
            self.assertEqual(c.request("OPTIONS").status, 200)
        p = self.play(server.url, code=3)
        self.assertIn("too many connections from your address: 4 of 16 are allowed", p.stderr)
        with Client(server.port, source="127.0.0.3") as other:
            self.assertEqual(other.request("OPTIONS").status, 200)
        first[0].close()
        again = until(lambda: self.served(server.port), "the place that was given back")
        again.close()

    def test_a_trusted_proxy_has_three_quarters(self):
        """Others of its network do not, and find the rest free."""
        server = self.sender("--max-viewers", "16", "--trust-proxy", "127.0.0.9")
        for _ in range(12):
            c = Client(server.port, source="127.0.0.9")
            self.addCleanup(c.close)
            self.assertEqual(c.request("OPTIONS").status, 200)
        with Client(server.port, source="127.0.0.9") as c:
            self.assertEqual(c.request("OPTIONS").status, 503)
        for _ in range(4):
            c = Client(server.port, source="127.0.0.8")
            self.addCleanup(c.close)
            self.assertEqual(c.request("OPTIONS").status, 200)

    def test_a_household_has_four_places(self):
        """With few viewers, a quarter of 4 would refuse a viewer that reconnects while its old connection is still open."""
        server = self.sender("--max-viewers", "4")
        for _ in range(3):
            c = Client(server.port)
            self.addCleanup(c.close)
            self.assertEqual(c.request("OPTIONS").status, 200)
        self.see(server.url)

    def served(self, port):
        c = Client(port)
        try:
            if c.request("OPTIONS").status == 200:
                return c
        except Exception:  # refused: 503 and closed
            pass
        c.close()
        return None

    def test_lines_that_requests_cause_are_bounded(self):
        """Sessions that are opened and ended quickly, and bytes that are not a request."""
        server = self.sender()
        with Client(server.port) as c:
            for _ in range(300):
                setup = c.request("SETUP", f"{c.url}/trackID=0", {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"})
                self.assertEqual(setup.status, 200)
                self.assertEqual(c.request("PLAY").status, 200)
                self.assertEqual(c.request("TEARDOWN").status, 200)
                c.session = None
        for _ in range(300):
            with Client(server.port) as c:
                c.send(b"\x00\r\n\r\n")
                c.closed()
        self.stop_cleanly(server)
        self.assertEqual(self.told(server, r"viewer 127.0.0.1:\d+ plays"), 300)
        self.assertEqual(self.told(server, r"viewer 127.0.0.1:\d+: minbuf"), 300)
        self.assertEqual(self.told(server, r"viewer 127.0.0.1:\d+ is dropped: bad request"), 300)

    def test_the_files_that_it_promises_are_enough(self):
        """The number of viewers of the warning fits, each with two pairs of UDP ports."""
        lib.need("prlimit")
        server = self.sender("--max-viewers", "400", prefix=("prlimit", "--nofile=400:400"))
        found = until(lambda: re.search(r"(?:only|enough for) (\d+)", server.stderr), "the warning")
        for i in range(int(found.group(1))):
            c = Client(server.port)
            self.addCleanup(c.close)
            for track, port in (0, 40000), (1, 40002):
                transport = f"RTP/AVP;unicast;client_port={port}-{port + 1}"
                answer = c.request("SETUP", f"{c.url}/trackID={track}", {"Transport": transport})
                self.assertEqual(answer.status, 200, f"viewer {i}: {answer}")


if __name__ == "__main__":
    lib.main()
