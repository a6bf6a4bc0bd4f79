# SPDX-License-Identifier: GPL-2.0-or-later
"""--access-http: a service of this machine decides who is let in, at every door of the server; without its answer none is."""
import base64
import http.client
import json
import re
import socket
import subprocess
import threading

import lib
from rtsp import Client

SDP = "\r\n".join(["v=0", "o=- 0 0 IN IP4 127.0.0.1", "s=x", "t=0 0", "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=control:streamid=0", ""])
ANNA = "Basic " + base64.b64encode(b"anna:se\"c\\ret").decode()


def received(connection):
    if not (data := connection.recv(65536)):
        raise OSError("the server does not wait for the answer")
    return data


class Service:
    """Answers each question with what `answer` returns: bytes, or a function of the connection."""

    def __init__(self, answer):
        self.answer, self.questions, self.open, self.most = answer, [], 0, 0
        self.lock = threading.Lock()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with self.lock:
            self.open += 1
            self.most = max(self.most, self.open)
        with connection:
            try:
                got = b""
                while b"\r\n\r\n" not in got:
                    got += received(connection)
                head, _, body = got.partition(b"\r\n\r\n")
                while len(body) < int(re.search(rb"(?i)content-length: (\d+)", head)[1]):
                    body += received(connection)
                question = json.loads(body)
                self.questions.append((head.decode(), question))
                answer = self.answer(question)
                if callable(answer):
                    answer(connection)
                else:
                    connection.sendall(answer)
            except OSError:
                pass
        with self.lock:
            self.open -= 1

    def close(self):
        self.socket.close()


def status(code):
    return f"HTTP/1.1 {code} X\r\nContent-Length: 0\r\n\r\n".encode()


def allow(question):
    """anna may watch and publish, the key "token" everything."""
    if question["key"] == "token":
        return status(204)
    if question["user"] == "anna" and question["password"] == 'se"c\\ret':
        return status(200 if question["right"] in ("watch", "publish") else 403)
    return status(401)


class AccessService(lib.Case):
    def serve(self, answer=allow, *args, source="test:160x90@15"):
        self.service = Service(answer)
        self.addCleanup(self.service.close)
        server = self.sender("--state-dir", self.path("state"), "--access-http", f"http://127.0.0.1:{self.service.port}/ask?x=1",
                             "--metrics", "127.0.0.1:0", "--control", *args, source=source)
        self.metrics = int(re.search(r"metrics at http://127.0.0.1:(\d+)/", server.stderr)[1])
        return server

    def describe(self, server, path="/live", method="DESCRIBE", body="", **headers):
        with Client(server.port) as c:
            if body:
                headers["Content-Type"] = "application/sdp"
            return c.request(method, f"rtsp://127.0.0.1:{server.port}{path}", headers, body)

    def settled(self, ask):
        """Returns an answer's status. The service of a busy machine may answer too late: 503; then once more."""
        return lib.until(lambda: (got := ask()) != 503 and got, "the service's answer", 60)

    def described(self, *args, **headers):
        return self.settled(lambda: self.describe(*args, **headers).status)

    def get(self, port, path, **headers):
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=20 * lib.PATIENCE)
        try:
            c.request("GET", path, headers=headers)
            answer = c.getresponse()
            return answer.status, answer.read()
        finally:
            c.close()

    def test_every_door(self):
        server = self.serve(allow, "--publish", "/in", "live=test:160x90@15", source="two=test:160x90@15")
        anna = {"Authorization": ANNA}
        for path, method, body, headers, expected in (
                ("/live", "DESCRIBE", "", {}, 401), ("/live", "DESCRIBE", "", anna, 200), ("/live?key=token", "DESCRIBE", "", {}, 200),
                ("/live?key=wrong", "DESCRIBE", "", {}, 401), ("/in", "ANNOUNCE", SDP, {}, 401), ("/in", "ANNOUNCE", SDP, anna, 200)):
            with self.subTest(path=path, method=method, headers=headers):
                self.assertEqual(self.described(server, path, method, body, **headers), expected)
        for port, path, headers, expected in (
                (server.port, "/live/index.m3u8", {}, 401), (server.port, "/live/index.m3u8?key=token", {}, 200),
                (server.port, "/live.jpg?key=token", {}, 200), (server.port, "/live.jpg", {}, 401), (server.port, "/live.jpg", anna, 200),
                (self.metrics, "/metrics", {}, 401), (self.metrics, "/metrics", anna, 403), (self.metrics, "/metrics?key=token", {}, 200),
                (self.metrics, "/control/sessions", {}, 401), (self.metrics, "/control/sessions", anna, 403),
                (self.metrics, "/control/sessions?key=token", {}, 200)):
            with self.subTest(path=path, headers=headers):
                self.assertEqual(self.settled(lambda: self.get(port, path, **headers)[0]), expected)
        rights = {(q["path"], q["right"]) for _, q in self.service.questions}
        self.assertLessEqual({("/live", "watch"), ("/in", "publish"), ("/", "metrics"), ("/", "control")}, rights)
        for head, q in self.service.questions:
            self.assertTrue(head.startswith("POST /ask?x=1 HTTP/1.1\r\n"), head)
            self.assertEqual(set(q), {"user", "password", "key", "address", "path", "right"})
            self.assertEqual(q["address"], "127.0.0.1")
        self.stop_cleanly(server)
        for secret in "token", "c\\ret", ANNA[6:]:
            self.assertNotIn(secret, server.stderr)

    def test_own_keys_and_memory(self):
        """A key of --invite needs no question; the same request asks once."""
        server = self.serve()
        made = subprocess.run([lib.SEND, "--state-dir", self.path("state"), "--invite", "/live"], capture_output=True, text=True, check=True,
                              timeout=20 * lib.PATIENCE).stdout.strip()
        key = re.search(r"key=([\w-]+)", made)[1]
        self.assertEqual(self.describe(server, f"/live?key={key}").status, 200)
        self.assertEqual(self.service.questions, [])
        self.assertEqual(self.described(server, Authorization=ANNA), 200)
        self.service.questions.clear()
        for _ in range(5):
            self.assertEqual(self.describe(server, Authorization=ANNA).status, 200)
        self.assertEqual(self.service.questions, [])
        self.stop_cleanly(server)

    def test_a_yes_is_for_one_path(self):
        """What the service lets in opens nothing below that path, and no control without a key or a user."""
        server = self.serve(lambda q: status(200 if q["path"] in ("/", "/live") else 401))
        for first, then in ("/", "/live/x"), ("/live", "/live/x"):
            def ask():
                with Client(server.port) as c:
                    c.request("DESCRIBE", f"rtsp://127.0.0.1:{server.port}{first}", {}, "")
                    return c.request("DESCRIBE", f"rtsp://127.0.0.1:{server.port}{then}", {}, "").status
            self.assertEqual(self.settled(ask), 401)
        for path, expected in ("/control/sessions", 401), ("/control/sessions?key=any", 200):
            self.assertEqual(self.settled(lambda path=path: self.get(self.metrics, path)[0]), expected)
        viewer = self.player(server.url, "--no-picture")
        viewer.wait_shown(5)
        self.stop_cleanly(server)

    def test_nothing_is_put_in(self):
        """What a peer sends ends no line and no text of the question."""
        server = self.serve()
        for user, password, path in (('a"b', 'c\\"d', "/live"), ("x", '","right":"control', "/live%22,%22key%22:%22token"), ("\u00e9", "\u4e2d", "/l%C3%A9")):
            header = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
            self.assertEqual(self.described(server, path, Authorization=header), 401)
            _, question = self.service.questions[-1]
            self.assertEqual((question["user"], question["password"]), (user, password))
        count = len(self.service.questions)
        for raw in b"a:b\r\nX: y", b"a:\xff", b"a:\0", b"a", b":x", b"a:" + b"x" * 600:
            header = "Basic " + base64.b64encode(raw).decode()
            self.assertIn(self.describe(server, Authorization=header).status, (401, 503), raw)
        self.assertEqual(len(self.service.questions), count)
        self.stop_cleanly(server)

    def test_no_answer(self):
        """Who does not answer in time lets none in, whatever comes instead; meanwhile others are served."""
        ended = threading.Event()
        self.addCleanup(ended.set)

        def slow(connection):
            for byte in b"HTTP/1.1 200 OK\r\n" * 4:
                connection.sendall(bytes([byte]))
                if ended.wait(0.5):
                    return

        def huge(connection):
            while not ended.is_set():
                connection.sendall(b"x" * 65536)

        def silent(connection):
            connection.recv(1)  # until the server closes it

        for name, answer in ("slow", slow), ("huge", huge), ("silent", silent), ("closed", b""), ("500", status(500)), ("302", status(302)), \
                ("100", status(100)), ("noise", b"\0" * 100), ("half", b"HTTP/1.1 20"), ("other", b"SSH-2.0-x\r\n"), ("bare", b"HTTP/1.1 2000\r\n"):
            with self.subTest(answer=name):
                server = self.serve(lambda _, answer=answer: answer)
                self.assertEqual(self.describe(server, "/live?key=token").status, 503)
                self.assertEqual(self.get(server.port, "/live.jpg?key=token")[0], 503)
                self.assertEqual(self.get(self.metrics, "/metrics?key=token")[0], 503)
                self.stop_cleanly(server)
                self.assertIn("the access service does not answer", server.stderr)

    def test_a_large_answer(self):
        """What comes after the status is not read."""
        def large(connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            for _ in range(1000):
                connection.sendall(b"x" * 1000000)

        server = self.serve(lambda _: large)
        self.assertEqual(self.described(server, "/live?key=token"), 200)
        self.stop_cleanly(server)

    def test_at_once(self):
        """Few questions at a time, however many ask; a viewer that is let in goes on while the service hangs."""
        hangs = threading.Event()

        def answer(question):
            if hangs.is_set():
                return lambda connection: connection.recv(1)  # until the server closes it
            return allow(question)

        server = self.serve(answer)
        viewer = self.player(server.url + "?key=token", "--no-picture", "--no-reconnect")
        viewer.wait_shown(5)
        hangs.set()
        clients = [Client(server.port) for _ in range(40)]
        for i, c in enumerate(clients):
            c.socket.sendall(f"DESCRIBE rtsp://127.0.0.1/live?key=k{i} RTSP/1.0\r\nCSeq: 1\r\n\r\n".encode())
        viewer.wait_shown(len(viewer.shown()) + 30)
        self.assertEqual(self.describe(server, method="OPTIONS").status, 200)  # the loop is free
        for c in clients:
            self.assertRegex(c.socket.recv(100), rb"RTSP/1.0 (503|401) ")
            c.close()
        self.assertLessEqual(self.service.most, 4)
        self.assertTrue(viewer.running())
        hangs.clear()
        lib.until(lambda: self.describe(server, "/live?key=token2").status == 401, "the service's return")
        self.stop_cleanly(server)

    def test_options(self):
        for url in "https://127.0.0.1/", "http://example.org/", "http://127.0.0.1.example.org/", "http://127.0.0.1@evil/", "http://127.0.0.1:0/", \
                "http://127.0.0.1:99999/", "http://127.0.0.1/a b", "http://127.0.0.1/a\r\nX: y", "file:///etc/passwd", "":
            with self.subTest(url=url):
                p = self.start([lib.SEND, "--access-http", url])
                self.assertEqual(p.wait(), 2)
        for args in ("--access", "x"), ("--http", "127.0.0.1:0"):
            p = self.start([lib.SEND, "--access-http", "http://127.0.0.1:1/", *args])
            self.assertEqual(p.wait(), 2)
            self.assertIn("conflicts with", p.stderr)


if __name__ == "__main__":
    lib.main()
