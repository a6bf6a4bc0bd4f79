# SPDX-License-Identifier: GPL-2.0-or-later
"""The control interface of weir-send: sessions are listed, ended and set to a level, by the bearers of its key alone."""
import http.client
import json
import re
import socket
import subprocess
from urllib.parse import urlsplit

import lib
from lib import until
from rtsp import Client

JSON = {"Content-Type": "application/json"}


class ControlCase(lib.Case):
    def serve(self, *args, metrics="127.0.0.1:0", **options):
        state = self.path("state")
        self.server_ = self.sender("--metrics", metrics, "--state-dir", state, *args, **options)
        self.port = int(re.search(r"metrics at http://127.0.0.1:(\d+)/", self.server_.stderr).group(1))
        self.key = self.invite("control")
        return self.server_

    def invite(self, what):
        p = subprocess.run([lib.SEND, "--metrics", f"127.0.0.1:{self.port}", "--state-dir", self.path("state"), "--invite", what],
                           capture_output=True, text=True, check=True, timeout=20 * lib.PATIENCE)
        url = urlsplit(p.stdout.strip())
        if what == "control":
            self.assertEqual((url.port, url.path), (self.port, "/control/sessions"))
        return url.query.partition("=")[2]

    def ask(self, method, path, body=None, key=None, **headers):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10 * lib.PATIENCE)
        try:
            c.request(method, f"/control/{path}" + (f"?key={key or self.key}" if key != "" else ""), body,
                      {name.replace("_", "-"): value for name, value in headers.items()})
            answer = c.getresponse()
            return answer.status, answer.read().decode(), answer.headers
        finally:
            c.close()

    def sessions(self):
        status, text, _ = self.ask("GET", "sessions")
        self.assertEqual(status, 200)
        return json.loads(text)["sessions"]

    def set_level(self, session, level):
        return self.ask("PUT", f"sessions/{session}", json.dumps({"level": level}), **JSON)


class Control(ControlCase):
    def test_sessions(self):
        server = self.serve("--control")
        self.assertEqual(self.sessions(), [])
        first = self.player(server.url, "--no-picture", "--transport", "minbuf", "--report", self.path("first.json"))
        first.wait_shown(10)
        second = self.player(server.url, "--no-picture", "--transport", "udp", "--no-reconnect")
        second.wait_shown(10)
        one, two = sorted(self.sessions(), key=lambda s: s["transport"])
        self.assertEqual((one["path"], one["transport"], one["playing"]), ("/live", "minbuf", True))
        self.assertEqual(two["transport"], "udp")
        self.assertRegex(one["address"], r"^127\.0\.0\.1:\d+$")
        self.assertNotEqual(one["session"], two["session"])
        self.assertEqual(self.set_level(one["session"], 1)[0], 204)
        until(lambda: {s["session"]: s["level"] for s in self.sessions()}[one["session"]] == 1, "level 1")
        until(lambda: any(e["to"] == 1 for e in first.events("level")), "level 1 at the viewer")
        status, text, _ = self.set_level(one["session"], 99)
        self.assertEqual((status, text), (400, "the stream has no such level\n"))
        self.assertEqual(self.ask("DELETE", f"sessions/{two['session']}")[0], 204)
        self.assertNotEqual(second.wait(), 0, str(second))
        self.assertIn("ended by the operator", second.stderr + server.stderr)
        until(lambda: [s["session"] for s in self.sessions()] == [one["session"]], "the other's end")
        for status, _, _ in self.ask("DELETE", f"sessions/{two['session']}"), self.set_level(two["session"], 1):
            self.assertEqual(status, 404)
        self.assertTrue(first.running())
        self.stop_cleanly(server)

    def test_the_reason_of_the_end(self):
        """A player that knows no TEARDOWN of servers finds it in the BYE (RFC 3550, 6.6)."""
        server = self.serve("--control")
        with Client(server.port) as c:
            c.watch()
            c.collect_least(5)
            self.assertEqual(self.ask("DELETE", f"sessions/{self.sessions()[0]['session']}")[0], 204)
            got = b"".join(iter(lambda: c.socket.recv(65536), b""))
        said = b"the session was ended by the operator of the server"
        self.assertRegex(got, rb"(?s)\x81\xcb\0\x0e...." + bytes([len(said)]) + said)

    def test_sources(self):
        self.serve("--control")
        status, text, _ = self.ask("GET", "sources")
        self.assertEqual(status, 200)
        self.assertEqual([f["path"] for f in json.loads(text)["films"]], ["/live"])
        self.assertEqual(json.loads(text)["at"]["port"], self.server_.port)

    def limit(self, source, level):
        return self.ask("PUT", f"sources/{source}", json.dumps({"level": level}), **JSON)[0]

    def levels_of(self):
        return {s["path"]: s["level"] for s in self.sessions()}

    def test_level_of_a_source(self):
        """The limit of one source applies to its viewers, present and later, and to no other's; none is disconnected."""
        server = self.serve("--control", "two=test:", source="one=test:")
        base = server.url.rstrip("/")
        players = {path: self.player(base + path, "--no-picture", "--no-reconnect") for path in ("/one", "/two")}
        for p in players.values():
            p.wait_shown(10)
        until(lambda: all(f["levels"] == 7 and f["level"] is None for f in self.films()), "the levels of both")
        self.assertEqual(self.limit("one", 1), 204)
        until(lambda: [e["to"] for e in players["/one"].events("level")][-1:] in ([0], [1]), "level 1 at the viewer")
        until(lambda: self.levels_of()["/one"] <= 1, "level 1")
        self.assertEqual({f["path"]: f["level"] for f in self.films()}, {"/one": 1, "/two": None})
        until(lambda: self.levels_of()["/two"] > 1, "a higher level of the other source")  # the network may lower it, too
        later = self.player(base + "/one", "--no-picture", "--no-reconnect")
        later.wait_shown(10)
        one = [s for s in self.sessions() if s["path"] == "/one"]
        self.assertEqual(len(one), 2)
        self.assertTrue(all(s["level"] <= 1 for s in one), one)
        self.assertEqual(self.set_level(one[0]["session"], 3)[0], 204)
        self.assertTrue(all(s["level"] <= 1 for s in self.sessions() if s["path"] == "/one"))
        self.assertEqual(self.limit("one", None), 204)
        until(lambda: any(s["level"] > 1 for s in self.sessions() if s["path"] == "/one"), "a higher level again")
        self.assertTrue(all(p.running() for p in [*players.values(), later]))
        for source, level, status in ("one", 7, 400), ("one", 31, 400), ("one", -1, 400), ("one", "1", 400), ("three", 1, 404), ("", 1, 404):
            with self.subTest(source=source, level=level):
                self.assertEqual(self.limit(source, level), status)
        self.assertEqual(self.ask("PUT", "sources/one", '{"level": 1}', "", **JSON)[0], 401)
        self.assertEqual(self.ask("PUT", "sources/one", '{"level": 1}')[0], 415)
        self.assertEqual(self.ask("DELETE", "sources/one")[0], 405)
        self.stop_cleanly(server)

    def films(self):
        return json.loads(self.ask("GET", "sources")[1])["films"]

    def test_sources_of_a_folder(self):
        lib.need("ffmpeg")
        self.clip("a b.mkv", seconds=1)
        self.serve("--control", source=self.folder)
        until(lambda: self.ask("GET", "sources")[0] == 200, "the list")
        self.assertEqual([f["path"] for f in json.loads(self.ask("GET", "sources")[1])["films"]], ["/a%20b.mkv"])
        self.assertEqual(self.limit("a%20b.mkv", 1), 404)

    def test_who_may(self):
        """Nobody without its key, on the loopback either; no page of another origin even with it."""
        server = self.serve("--control")
        self.player(server.url, "--no-picture").wait_shown(5)
        session = self.sessions()[0]["session"]
        for method, path, body in ("GET", "sessions", None), ("GET", "sources", None), ("DELETE", f"sessions/{session}", None), \
                ("PUT", f"sessions/{session}", '{"level": 0}'), ("GET", "nothing", None):
            with self.subTest(method=method, path=path):
                for key in "", "wrong", self.invite("metrics"), self.invite("/"):
                    self.assertEqual(self.ask(method, path, body, key, **JSON)[0], 401)
                for origin in "http://evil.example", "null", f"http://127.0.0.1:{self.port + 1}", f"https://127.0.0.1:{self.port}":
                    self.assertEqual(self.ask(method, path, body, Origin=origin, **JSON)[0], 403)
                self.assertEqual(self.ask(method, path, body, Host="evil.example", **JSON)[0], 403)
        self.assertEqual([s["session"] for s in self.sessions()], [session])
        own = f"http://127.0.0.1:{self.port}"
        self.assertEqual(self.ask("DELETE", f"sessions/{session}", Origin=own)[0], 204)
        self.assertEqual(self.ask("OPTIONS", "sessions", Origin="http://evil.example")[0], 403)

    def test_users(self):
        """A user needs the right; that to watch everything is another one."""
        with open(self.path("users"), "w") as f:
            for name, rights in ("anna", "control"), ("bob", "watch,metrics"):
                hashed = subprocess.run(["openssl", "passwd", "-6", "-salt", "saltsalt", "secret"], capture_output=True, text=True,
                                        check=True, timeout=20 * lib.PATIENCE).stdout.strip()
                f.write(f"user = {name}:{hashed}\nallow = {name} / {rights}\n")
        self.serve("--control", "--access", self.path("users"))
        for who, status in ("YW5uYTpzZWNyZXQ=", 200), ("Ym9iOnNlY3JldA==", 403), ("YW5uYTp3cm9uZw==", 401):
            self.assertEqual(self.ask("GET", "sessions", key="", Authorization=f"Basic {who}")[0], status)

    def test_bad_requests(self):
        self.serve("--control")
        for method, path, body, headers, status in (
                ("GET", "", None, {}, 404), ("GET", "sessions/", None, {}, 404), ("POST", "sessions", None, {}, 405),
                ("DELETE", "sources", None, {}, 405), ("GET", "sessions/abc", None, {}, 405),
                ("DELETE", "sessions/" + "a" * 100, None, {}, 404), ("DELETE", "sessions/%00", None, {}, 404),
                ("PUT", "sessions/abc", '{"level": 1}', {}, 415), ("PUT", "sessions/abc", '{"level": 1}', JSON, 404),
                ("PUT", "sessions/abc", None, JSON, 400), ("PUT", "sessions/abc", '{"level": "1"}', JSON, 400),
                ("PUT", "sessions/abc", '{"level": -1}', JSON, 400), ("PUT", "sessions/abc", '{"level": 1, "x": 2}', JSON, 400),
                ("PUT", "sessions/abc", '{"level": 1', JSON, 400), ("PUT", "sessions/abc", '{"level": 99999999999}', JSON, 400),
                ("PUT", "sessions/abc", '{"level": 1}' + " " * 100000, JSON, 400), ("PUT", "sessions/abc", "[" * 500, JSON, 400)):
            with self.subTest(method=method, path=path, body=str(body)[:30]):
                self.assertEqual(self.ask(method, path, body, **headers)[0], status)
        with socket.create_connection(("127.0.0.1", self.port), timeout=15 * lib.PATIENCE) as s:
            s.sendall(b"POST /control/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nabcde")
            try:
                while s.recv(65536):
                    pass
            except OSError:
                pass
        self.assertEqual(self.sessions(), [])

    def test_only_where_it_is_started(self):
        self.serve()
        self.assertEqual(self.ask("GET", "sessions")[0], 404)
        p = self.start([lib.SEND, "--control"])
        self.assertEqual(p.wait(), 2)
        self.assertIn("--control requires --metrics ADDR:PORT", p.stderr)


if __name__ == "__main__":
    lib.main()
