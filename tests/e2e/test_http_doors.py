# SPDX-License-Identifier: GPL-2.0-or-later
"""Every HTTP port of the programs: what is a request there and what is refused, where it ends, and which pages may ask."""
import http.client
import os
import re
import socket

import lib
from lib import until

NONE = "/.weir/none"  # a path that no port has
NEXT = b"GET /.weir/smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
EVIL = "https://evil.example"


def request(first=f"GET {NONE} HTTP/1.1", *headers, host="Host: 127.0.0.1"):
    return "\r\n".join(filter(None, (first, host, *headers))).encode() + b"\r\n\r\n"


def length(n):
    return f"Content-Length: {n}"


POST = f"POST {NONE} HTTP/1.1"
N = len(NEXT)
# (section of the RFC, request, the statuses of the responses to it and to NEXT behind it). 404 twice: two requests; one
# status: the connection ends after it. {...}: one of them, as the ports differ.
FRAMING = (
    ("9112 9.3.2: pipelined", request(), (404, 404)),
    ("9112 2.2: an empty line before", b"\r\n" + request(), (404, 404)),
    ("9112 6.3: two lengths", request(POST, length(0), length(N)), (400,)),
    ("9112 6.3: two lengths", request(POST, length(N), length(0)), (400,)),
    ("9112 6.3: two lengths, equal", request(POST, length(N), length(N)), (400,)),
    ("9112 6.3: a list of lengths", request(POST, length(f"{N}, {N}")), (400,)),
    ("9112 6.1: length and coding", request(POST, length(N), "Transfer-Encoding: chunked"), (400,)),
    ("9112 6.1: coding and length", request(POST, "Transfer-Encoding: chunked", length(5)) + b"0\r\n\r\n", (400,)),
    ("9112 6.1: unknown coding", request(POST, "Transfer-Encoding: xchunked"), (501,)),
    ("9112 6.1: unknown coding", request(POST, "Transfer-Encoding: gzip, chunked"), (501,)),
    ("9112 6.1: coding in HTTP/1.0", request(f"POST {NONE} HTTP/1.0", "Transfer-Encoding: chunked"), (400,)),
    ("9112 7.1: chunked", request(POST, "Transfer-Encoding: chunked") + b"0\r\n\r\n", (405,)),
    ("9112 5.1: blank before the colon", request(POST, f"Content-Length : {N}"), (400,)),
    ("9112 5.2: folded", request(f"GET {NONE} HTTP/1.1", "X: a", " " + length(N)), (400,)),
    ("9112 2.2: bare LF", request().replace(b"\r\n", b"\n"), (400,)),
    ("9112 2.2: bare LF in a header", request(f"GET {NONE} HTTP/1.1", f"X: a\n{length(N)}"), (400,)),
    ("9112 2.2: bare CR", request(f"GET {NONE} HTTP/1.1", f"X: a\r{length(N)}"), (400,)),
    ("9110 5.5: NUL", request(f"GET {NONE} HTTP/1.1", "X: a\0b"), (400,)),
    ("9110 5.5: a control", request(f"GET {NONE} HTTP/1.1", "X: a\x01b"), (400,)),
    ("9110 8.6: a sign", request(POST, length(f"+{N}")), (400,)),
    ("9110 8.6: hexadecimal", request(POST, length("0x5")), (400,)),
    ("9110 8.6: nothing", request(POST, length("")), (400,)),
    ("9110 9.3.1: GET with a body", request(f"GET {NONE} HTTP/1.1", length(N)), ({404, 413},)),
    ("9110 9.3.1: GET with an empty body", request(f"GET {NONE} HTTP/1.1", length(0)), (404, 404)),
    ("9110 9.3.3: POST with a body", request(POST, length(N)), (405,)),
    ("9110 8.6: a length beyond all", request(POST, length("9" * 40)), (405,)),
    ("9112 3.2: no Host", request(host=None), (400,)),
    ("9112 3.2: two Hosts", request(f"GET {NONE} HTTP/1.1", "Host: 127.0.0.1"), (400,)),
    ("9112 3.2: a bad Host", request(host="Host: 127.0.0.1/x"), (400,)),
    ("9112 3.2.2: absolute", request(f"GET http://127.0.0.1{NONE} HTTP/1.1"), (404, 404)),
    ("9112 3.2.2: absolute, of another host", request(f"GET http://evil.example{NONE} HTTP/1.1"), (403,)),
    ("9112 3.2.2: absolute counts", request(f"GET http://127.0.0.1{NONE} HTTP/1.1", host="Host: evil.example"), (404, 404)),
    ("9112 3.2.4: asterisk", request("OPTIONS * HTTP/1.1"), ({204, 405}, 404)),
    ("9112 3.2.4: asterisk of GET", request("GET * HTTP/1.1"), (400,)),
    ("9112 3.2.1: a fragment", request(f"GET {NONE}#x HTTP/1.1"), (400,)),
    ("9112 3: two blanks", request(f"GET  {NONE} HTTP/1.1"), (400,)),
    ("9112 3: a long line", request(f"GET /{'a' * 9000} HTTP/1.1"), (414,)),
    ("6585 5: a large header", request(f"GET {NONE} HTTP/1.1", f"X: {'a' * 17000}"), (431,)),
    ("6585 5: many headers", request(f"GET {NONE} HTTP/1.1", *["X: a"] * 70), (431,)),
    ("9112 9.3: close", request(f"GET {NONE} HTTP/1.1", "Connection: close"), (404,)),
    ("9112 9.3: HTTP/1.0", request(f"GET {NONE} HTTP/1.0", host=None), (404,)),
    ("9110 15.6.6: HTTP/2.0", request(f"GET {NONE} HTTP/2.0"), (505,)),
    ("9110 9.1: a method not allowed", request(f"PATCH {NONE} HTTP/1.1"), (405,)),
    ("9110 9.1: a method that is none", request(f"BREW {NONE} HTTP/1.1"), (501,)),
    ("9110 10.1.1: another expectation", request(f"GET {NONE} HTTP/1.1", "Expect: x"), (417,)),
    ("9110 10.1.1: no body is wanted", request(POST, length(5), "Expect: 100-continue"), (405,)),
)
# A response to OPTIONS, 405 or 501 without a body ends the connection at some ports and not at others: both are right.
MAY_GO_ON = {405, 501, 403}


class Doors(lib.Case):
    def serve(self, *args, **options):
        server = self.sender("--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0", *args, **options)
        self.ports = {"rtsp": server.port}
        for name, said in ("http", r"HLS at http://[^/]*:(\d+)/"), ("metrics", r"metrics at http://[^/]*:(\d+)/"):
            self.ports[name] = int(until(lambda: re.search(said, server.stderr), name)[1])
        return server

    def answers(self, port, data):
        """(the statuses of the responses, whether the server closed the connection, all that came). After them one more request
        is sent, to see the end."""
        with socket.create_connection(("127.0.0.1", port), timeout=20 * lib.PATIENCE) as s:
            got = b""
            try:
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
                while more := s.recv(65536):
                    got += more
            except ConnectionResetError:
                pass
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", got)], got

    def test_framing(self):
        self.serve()
        for name, port in self.ports.items():
            for section, data, expected in FRAMING:
                with self.subTest(port=name, section=section, request=data[:60]):
                    seen, got = self.answers(port, data + NEXT)
                    first = seen[0] if seen else None
                    allowed = expected[0] if isinstance(expected[0], set) else {expected[0]}
                    self.assertIn(first, allowed, got)
                    ends = b"\r\nConnection: close\r\n" in got.split(b"\r\n\r\n")[0] + b"\r\n"
                    has_body = b"Content-Length: 0" not in data and re.search(rb"Content-Length|Transfer-Encoding", data)
                    if len(expected) == 1 and (has_body or first not in MAY_GO_ON):
                        self.assertTrue(ends, got)
                    self.assertEqual(seen[1:], [] if ends else [404], got)
                    self.assertEqual(got.count(b"\r\nCross-Origin-Resource-Policy: same-origin\r\n"), len(seen), got)

    def ask(self, name, path, method="GET", **headers):
        c = http.client.HTTPConnection("127.0.0.1", self.ports[name], timeout=20 * lib.PATIENCE)
        try:
            c.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            answer = c.getresponse()
            answer.read()
            return answer
        finally:
            c.close()

    def test_hosts(self):
        """A name that was mapped to this machine is refused at each port."""
        self.serve()
        for name, path in ("rtsp", "/live"), ("http", "/live/index.m3u8"), ("metrics", "/metrics"):
            for host, good in (("127.0.0.1:1", True), ("localhost", True), ("[::1]:80", True), ("rebound.evil.example", False),
                               ("127.0.0.1.evil.example", False)):
                with self.subTest(port=name, host=host):
                    self.assertEqual(self.ask(name, path, Host=host).status, 200 if good else 403)

    def test_other_spellings(self):
        """A file and a picture have one path each."""
        self.serve()
        for name, good in ("http", "/live/index.m3u8"), ("rtsp", "/live.jpg"), ("metrics", "/metrics"):
            self.assertEqual(self.ask(name, good).status, 200)
        for name, path in (("http", "/live/index.m3u8/"), ("http", "/live/index.m3u8/trackID=0"), ("rtsp", "/live/.jpg"),
                           ("rtsp", "/live/trackID=1.jpg"), ("metrics", "/metrics/"), ("metrics", "/metrics/trackID=0")):
            with self.subTest(port=name, path=path):
                self.assertEqual(self.ask(name, path).status, 404)

    def test_pages_of_others(self):
        """They learn nothing: what there is and what there is not get the same response, without a header that lets them read
        it. No encoder and no camera starts."""
        server = self.serve()
        foreign = ({"Origin": EVIL}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
                   {"Origin": f"http://127.0.0.1:{server.port + 1}", "Sec_Fetch_Site": "same-site"})
        for headers in foreign:
            for name, paths in ("rtsp", ("/live.jpg", "/nosuch.jpg")), ("http", ("/live/index.m3u8", "/live/nosuch.m3u8", "/x")), \
                    ("metrics", ("/metrics", "/films.json", "/nosuch")):
                for path in paths:
                    with self.subTest(port=name, path=path, headers=headers):
                        answer = self.ask(name, path, **headers)
                        self.assertEqual(answer.status, 403)
                        self.assertEqual(answer.headers["Cross-Origin-Resource-Policy"], "same-origin")
                        self.assertFalse([h for h in answer.headers if h.startswith("Access-Control")])
        self.assertNotIn("encoders run", server.stderr)
        self.assertEqual(self.ask("metrics", "/", Sec_Fetch_Site="cross-site").status, 200)  # a link to it
        self.assertEqual(self.ask("rtsp", "/live", Sec_Fetch_Site="cross-site").status, 200)
        own = self.ask("rtsp", "/live.jpg", Sec_Fetch_Site="same-origin")
        self.assertEqual((own.status, own.headers["Content-Type"]), (200, "image/jpeg"))

    def test_allowed_pages(self):
        page = "https://example.org"
        self.serve("--allow-origin", page)
        for name, path in ("http", "/live/index.m3u8"), ("rtsp", "/live.jpg"):
            with self.subTest(port=name):
                answer = self.ask(name, path, Origin=page, Sec_Fetch_Site="cross-site")
                self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (200, page))
                self.assertEqual((answer.headers["Vary"], answer.headers["Cross-Origin-Resource-Policy"]),
                                 ("Origin", "cross-origin"))
                answer = self.ask(name, path, Sec_Fetch_Site="cross-site", Referer=page + "/")  # an <img> of it
                self.assertEqual((answer.status, answer.headers["Cross-Origin-Resource-Policy"]), (200, "cross-origin"))
                self.assertEqual(self.ask(name, path, Origin=EVIL).status, 403)
                answer = self.ask(name, path, "OPTIONS", Origin=page, Access_Control_Request_Method="GET")
                self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (204, page))
                self.assertIn("GET", answer.headers["Access-Control-Allow-Methods"])
        self.assertEqual(self.ask("metrics", "/metrics", Origin=page).status, 403)

    def test_all_pages(self):
        self.serve("--allow-origin", "*")
        answer = self.ask("http", "/live/index.m3u8", Origin=EVIL, Sec_Fetch_Site="cross-site", Host="any.example")
        self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (200, "*"))
        self.assertIsNone(answer.headers["Vary"])
        self.assertEqual(self.ask("metrics", "/metrics", Origin=EVIL).status, 403)

    def test_http_asks_for_no_key(self):
        """So it does not start beside users and keys."""
        with open(self.path("users"), "w") as f:
            f.write("allow = * /nothing watch\n")
        os.chmod(self.path("users"), 0o600)
        p = self.start([lib.SEND, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--access", self.path("users")])
        self.assertEqual(p.wait(), 2)
        self.assertIn("--http conflicts with --access", p.stderr)

    def test_wrong_keys_at_the_metrics(self):
        """After 20 of a minute an address gets 429, for a key as for a password; the right one is served all the same."""
        with open(self.path("users"), "w") as f:
            f.write("allow = * /nothing watch\n")
        os.chmod(self.path("users"), 0o600)
        server = self.sender("--metrics", "127.0.0.1:0", "--access", self.path("users"), "--state-dir", self.path("state"))
        self.ports = {"metrics": int(re.search(r"metrics at http://[^/]*:(\d+)/", server.stderr)[1])}
        seen = [self.ask("metrics", f"/metrics?key={'A' * 28}").status for _ in range(25)]
        self.assertEqual(seen, [401] * 20 + [429] * 5)
        invite = self.start([lib.SEND, "--metrics", f"127.0.0.1:{self.ports['metrics']}", "--state-dir", self.path("state"),
                             "--invite", "metrics"])
        self.assertEqual(invite.wait(), 0, str(invite))
        key = re.search(r"key=([\w-]+)", invite.stdout)[1]
        self.assertEqual(self.ask("metrics", f"/metrics?key={key}").status, 200)

    def test_a_key_that_is_there_twice(self):
        """Nothing is guessed: that counts as no failure."""
        with open(self.path("users"), "w") as f:
            f.write("allow = * /nothing watch\n")
        os.chmod(self.path("users"), 0o600)
        server = self.sender("--metrics", "127.0.0.1:0", "--access", self.path("users"), "--state-dir", self.path("state"))
        self.ports = {"metrics": int(re.search(r"metrics at http://[^/]*:(\d+)/", server.stderr)[1])}
        for query in "key=a&key=a", "key=%zz", "key=" + "A" * 600:
            self.assertEqual([self.ask("metrics", f"/metrics?{query}").status for _ in range(25)], [400] * 25)
        self.assertEqual(self.ask("metrics", "/metrics?key=a").status, 401)


class Proxy(Doors):
    """The ports of weir-proxy."""

    def serve(self, *args, **options):
        origin = self.sender()
        proxy = self.proxy("--origin", origin.url.rpartition("/")[0], "--metrics", "127.0.0.1:0", *args)
        self.ports = {"rtsp": proxy.port,
                      "metrics": int(until(lambda: re.search(r"metrics at http://[^/]*:(\d+)/", proxy.stderr), "metrics")[1])}
        return proxy

    test_pages_of_others = test_allowed_pages = test_all_pages = test_http_asks_for_no_key = None
    test_wrong_keys_at_the_metrics = test_hosts = test_other_spellings = test_a_key_that_is_there_twice = None


if __name__ == "__main__":
    lib.main()
