# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad clients of weir-send's HLS, at --http and at the RTSP port: others are served, memory and connections stay bounded."""
import os
import re
import resource
import socket

import lib
from lib import until

LEVELS = ("--level", "426x240@30:320")


class Http(lib.Case):
    def serve(self, *args):
        server = self.sender("--http", "127.0.0.1:0", *LEVELS, *args)
        found = until(lambda: re.search(r"HLS at http://127.0.0.1:(\d+)/", server.stderr), "the HTTP server")
        self.http_port = int(found.group(1))
        return server

    def connect(self, source="127.0.0.1"):
        s = socket.socket()
        self.addCleanup(s.close)
        s.bind((source, 0))
        s.settimeout(30 * lib.PATIENCE)
        s.connect(("127.0.0.1", self.http_port))
        return s

    def ask(self, data, source="127.0.0.1"):
        """Returns all that comes, until the server closes the connection."""
        s = self.connect(source)
        s.sendall(data)
        all = b""
        try:
            while piece := s.recv(65536):
                all += piece
        except ConnectionResetError:
            pass
        s.close()
        return all

    def get(self, path, source="127.0.0.1"):
        return self.ask(b"GET " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", source)

    def is_served(self, source="127.0.0.9"):
        self.assertIn(b" 200 OK", self.get(b"/live/v0.m3u8", source)[:20])

    def test_odd_requests(self):
        self.serve()
        self.is_served()
        head = b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        for request in (b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"GET /live/v0.m3u8 HTTP/9.9\r\n\r\n", b"GET  " + head + b"\r\n",
                        b"GET /%00%ff%2e%2e/%" + head + b"\r\n", b"GET /../../../../etc/passwd" + head + b"\r\n",
                        b"GET /live/%2e%2e/%2e%2e/v0.m3u8" + head + b"\r\n", b"GET //live//v0.m3u8" + head + b"\r\n",
                        b"GET /live/v0.m3u8?" + b"_HLS_msn=1&" * 500 + head + b"\r\n",
                        b"GET /live/v0.m3u8?_HLS_msn=99999999999999999999" + head + b"\r\n",
                        b"GET /" + b"a" * 60000 + head + b"\r\n", b"GET /" + head + b"X: " + b"a" * 60000 + b"\r\n\r\n",
                        b"GET /" + head + b"X: a\r\n" * 20000 + b"\r\n", b"POST /live/v0.m3u8" + head + b"Content-Length: 9\r\n\r\nabc",
                        b"GET /live/v0.m3u8" + head + b"Content-Length: 5\r\n\r\nabcde",
                        b"PUT /live/v0.m3u8" + head + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"):
            s = self.connect()
            try:
                s.sendall(request)
                s.shutdown(socket.SHUT_WR)
                answer = s.recv(100)
            except OSError:  # the server has closed the connection
                answer = b""
            self.assertNotIn(b" 200 ", answer[:14], request[:60])
            s.close()
        for header in (b"Range: bytes=5-1", b"Range: bytes=" + b"0-1," * 1000, b"Range: bytes=99999999999999999999999-"):
            self.assertNotIn(b" 500 ", self.ask(b"GET /live/v0.m3u8" + head + header + b"\r\n\r\n")[:14])
        self.is_served()

    def test_crowd_of_slow_readers(self):
        """10,000 connections of one address, which send half a request, or read nothing of the response."""
        server = self.serve()
        self.is_served()
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        count = min(10000, hard - 512)
        resource.setrlimit(resource.RLIMIT_NOFILE, (count + 512, hard))
        names = re.findall(rb"\n(\w+/v0-\d+\.m4s)", self.get(b"/live/v0.m3u8"))
        before = server.status_kb("VmRSS")
        requests = [b"GET /live/v0", b"GET /live/" + names[0] + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                    b"GET /live/v0.m3u8?_HLS_msn=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20]
        crowd = []
        for i in range(count):
            s = socket.socket()
            self.addCleanup(s.close)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
            s.settimeout(30 * lib.PATIENCE)
            s.connect(("127.0.0.1", self.http_port))
            try:
                s.sendall(requests[i % 3])
            except (ConnectionResetError, BrokenPipeError):
                pass
            crowd.append(s)
            if i % 1000 == 999:
                self.is_served()  # another address
        self.assertLess(len(os.listdir(f"/proc/{server.pid}/fd")), 600)
        self.assertLess(server.status_kb("VmRSS") - before, 150 * 1024)
        self.is_served()
        for s in crowd:
            s.close()
        until(lambda: len(os.listdir(f"/proc/{server.pid}/fd")) < 200, "the connections to end", 20)
        self.is_served("127.0.0.1")

    def test_many_that_wait(self):
        """Requests for media that does not come end with 503 at their deadline, or at once if too many wait."""
        server = self.serve()
        self.is_served()
        number = int(re.search(rb"MEDIA-SEQUENCE:(\d+)", self.get(b"/live/v0.m3u8")).group(1))
        request = b"GET /live/v0.m3u8?_HLS_msn=%d HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        waiting = []
        for i in range(700):
            s = self.connect(f"127.0.0.{20 + i % 4}")
            s.sendall(request % (number + 2))
            waiting.append(s)
        self.is_served()
        first = [s.recv(12)[9:12] for s in waiting]
        self.assertLessEqual(set(first), {b"200", b"400", b"503"})
        self.is_served()
        self.assertTrue(server.running())


class RtspPort(Http):
    """The same files at the RTSP port, whose places are those of viewers."""
    test_odd_requests = None  # there is a page at each path

    def serve(self, *args):
        server = self.sender(*LEVELS, *args)
        self.http_port = server.port
        return server


if __name__ == "__main__":
    lib.main()
