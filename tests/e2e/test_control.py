# SPDX-License-Identifier: GPL-2.0-or-later
"""The control interface of weir-send: sessions are listed, ended and set to a level, by the bearers of its key alone."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
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
        self.assertEqual(self.ask("POST", "sources/one")[0], 405)
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
                ("PUT", f"sessions/{session}", '{"level": 0}'), ("GET", "nothing", None), ("GET", "openapi.json", None), \
                ("PUT", "sources/live", '{"source": "test:"}'), ("DELETE", "sources/live", None), \
                ("POST", "invites", '{"path": "/"}'):
            with self.subTest(method=method, path=path):
                few = path not in ("sources", "nothing") and "session" not in path  # after 20 wrong ones the answer is 429
                for key in ("",) if few else ("", "wrong", self.invite("metrics"), self.invite("/")):
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


class Sources(ControlCase):
    """Sources with names are added, changed and removed; recordings start and stop."""

    def put(self, path, **body):
        return self.ask("PUT", f"sources/{path}", json.dumps(body), **JSON)

    def paths(self):
        return sorted(f["path"] for f in json.loads(self.ask("GET", "sources")[1])["films"])

    def watch(self, path, *args):
        p = self.player(self.server_.url.rstrip("/") + path, "--no-picture", "--no-reconnect", *args)
        p.wait_shown(5)
        return p

    def test_add_change_remove(self):
        server = self.serve("--control", source="one=test:320x180@30")
        stays = self.watch("/one")
        self.assertEqual(self.put("two", source="test:160x90@15")[0], 201)
        self.assertEqual(self.put("two", source="test:160x90@15")[0], 204)  # the same
        self.assertEqual(self.paths(), ["/one", "/two"])
        two = self.watch("/two")
        self.assertEqual(self.put("two", source="test:320x180@15")[0], 204)
        until(lambda: self.sizes("/two") == "320x180,256x144", "the other size")
        later = self.watch("/two")
        self.assertTrue(two.running())  # it goes on with what it watches
        waiting = self.sessions()
        self.assertEqual(len(waiting), 3, waiting)
        self.assertEqual(self.ask("DELETE", "sources/two")[0], 204)
        for p in two, later:
            self.assertNotEqual(p.wait(), 0, str(p))
            self.assertIn("the operator has removed the source", p.stderr)
        self.assertEqual(self.paths(), ["/one"])
        self.assertEqual(self.ask("DELETE", "sources/two")[0], 404)
        with Client(server.port) as c:
            self.assertEqual(c.request("DESCRIBE", f"rtsp://127.0.0.1:{server.port}/two").status, 404)
        self.assertTrue(stays.running())
        self.assertEqual(self.ask("DELETE", "sources/one")[0], 204)  # the last one
        self.assertNotEqual(stays.wait(), 0)
        self.assertEqual(self.paths(), [])
        self.assertEqual(self.put("one", source="test:320x180@30")[0], 201)
        self.watch("/one")
        self.stop_cleanly(server)

    def sizes(self, path):
        return {f["path"]: f["sizes"] for f in json.loads(self.ask("GET", "sources")[1])["films"]}.get(path)

    def test_reload(self):
        """What was changed outlives a SIGHUP that reads other sources."""
        with open(self.path("weir.conf"), "w") as f:
            f.write("[source kept]\nsource = test:160x90@15\n[source gone]\nsource = test:160x90@15\n")
        server = self.serve("--control", "--config", source=self.path("weir.conf"))
        self.assertEqual(self.put("new", source="test:160x90@15")[0], 201)
        self.assertEqual(self.ask("DELETE", "sources/gone")[0], 204)
        with open(self.path("weir.conf"), "a") as f:
            f.write("[source other]\nsource = test:160x90@15\n")
        server.signal(signal.SIGHUP)
        until(lambda: self.paths() == ["/kept", "/new", "/other"], "the other sources")
        self.assertEqual(self.ask("DELETE", "sources/other")[0], 204)
        self.assertEqual(self.ask("DELETE", "sources/new")[0], 204)
        self.assertEqual(self.put("gone", source="test:160x90@15")[0], 201)
        self.assertEqual(self.paths(), ["/gone", "/kept"])
        self.stop_cleanly(server)

    def test_recording(self):
        lib.need("ffprobe")
        server = self.serve("--control", "--record", self.path("%N.mkv"), source="one=test:160x90@15")
        self.assertEqual(self.put("two", source="test:160x90@15")[0], 201)
        for name in "one", "two":
            until(lambda: os.path.exists(self.path(f"{name}.mkv")), "the recording")
            self.assertEqual(self.put(name, record=False)[0], 204)
            self.assertEqual(self.put(name, record=False)[0], 204)
            self.assertFalse(os.path.exists(self.path(f"{name}+2.mkv")))
            self.assertEqual(self.put(name, record=True)[0], 204)
            until(lambda: os.path.exists(self.path(f"{name}+2.mkv")), "the second recording")
        self.assertEqual(self.put("none", record=True)[0], 404)
        self.stop_cleanly(server)

    def test_what_may_be_a_source(self):
        """Nothing of this machine: a key of the interface opens no file, pipe or device. No answer and no log has a password."""
        server = self.serve("--control", source="one=test:160x90@15")
        secret = self.path("secret.mkv")
        with open(secret, "w"):
            pass
        for source in secret, f"file:{secret}", f"file://{secret}", "-", "../x.mkv", "camera:", "screen:", "camera:/dev/video0", "http://127.0.0.1/", \
                "/etc/passwd", "concat:x", "rtsp://", "rtsp://host:99999999/x", "rtsp:///x", "Rtsp://a:hush@h ost/", "test:1x1", "synthetic:greedy", \
                "", "rtsp://h/\r\nSETUP", "rtsp://h/\0", "x" * 480:
            with self.subTest(source=source):
                status, text, _ = self.put("two", source=source)
                self.assertEqual((status, "hush" in text), (400, False), text)
        for name in "a%2fb", "a/b", "a.b", "..", "%2e%2e", "a%20b", "x" * 33, "a%0a", "%C3%A9", "*":
            with self.subTest(name=name):
                self.assertIn(self.put(name, source="test:160x90@15")[0], (400, 404))
        for body in '{"source": 1}', '{"source": "test:", "level": 1}', '{"source": "test:", "source": "test:"}', "{}", "[]", "null", \
                '{"record": 1}', '{"source": "test:\\u0000"}', '{"source": "' + "x" * 600 + '"}':
            with self.subTest(body=body[:30]):
                self.assertIn(self.ask("PUT", "sources/two", body, **JSON)[0], (400, 413))
        self.assertEqual(self.put("cam", source="rtsp://anna:hush@127.0.0.1:9/x")[0], 201)
        until(lambda: "/cam is not available" in server.stderr, "the refusal")
        self.assertEqual(self.put("one", record=True)[0], 409)
        self.assertEqual(self.paths(), ["/cam", "/one"])
        self.stop_cleanly(server)
        self.assertNotIn("hush", server.stderr)

    def test_too_many(self):
        server = self.serve("--control", source="one=test:160x90@15")
        viewer = self.watch("/one", "--report", self.path("report.json"))
        # 503: the loop of a busy machine had no time, and nothing was done.
        statuses = [lib.until(lambda: (got := self.put(f"n{i}", source="test:160x90@15")[0]) != 503 and got, "a free loop", 60)
                    for i in range(300)]
        self.assertEqual((statuses[:15], set(statuses[15:])), ([201] * 15, {507}))
        for _ in range(100):  # until they are all open, a few may have to wait
            statuses = {self.put("n0", source=f"test:{160 + 2 * _}x90@15")[0], self.ask("DELETE", "sources/n0")[0],
                        self.put("n0", source="test:160x90@15")[0]}
            self.assertLessEqual(statuses, {201, 204, 404, 503, 507})
        self.assertEqual(len(self.paths()), 16)
        self.assertTrue(viewer.running())
        self.stop_cleanly(server)

    def test_without_names(self):
        server = self.serve("--control")
        for answer in self.put("two", source="test:"), self.put("live", record=True), self.ask("DELETE", "sources/live"):
            self.assertEqual((answer[0], "NAME=SOURCE" in answer[1]), (409, True), answer)
        self.stop_cleanly(server)


class Invites(ControlCase):
    def make(self, **body):
        status, text, _ = self.ask("POST", "invites", json.dumps(body), **JSON)
        return status, json.loads(text) if status == 201 else text

    def test_a_key(self):
        """It lets in where a key is required, and for what it is made alone."""
        with open(self.path("users"), "w"):
            pass
        os.chmod(self.path("users"), 0o600)
        server = self.serve("--control", "--access", self.path("users"), "--publish", "/in", source="one=test:160x90@15")
        status, made = self.make(path="/one")
        self.assertEqual((status, made["path"], made["right"]), (201, "/one", "watch"))
        self.assertAlmostEqual(made["expires"] - time.time(), 7 * 86400, delta=600)
        self.assertEqual(self.make(path="/in", right="publish", **{"for": "2h"})[1]["right"], "publish")
        for path, status in ("/one", 401), (f"/one?key={made['key']}", 200), (f"/in?key={made['key']}", 401):
            with self.subTest(path=path), Client(server.port) as c:
                self.assertEqual(c.request("DESCRIBE", f"rtsp://127.0.0.1:{server.port}{path}").status, status)
        self.assertEqual(self.ask("GET", "sessions", key=made["key"])[0], 401)  # it is no key of the interface
        self.stop_cleanly(server)
        self.assertNotIn(made["key"], server.stderr)

    def test_bad(self):
        self.serve("--control")
        for body in {}, {"path": "one"}, {"path": ""}, {"path": "/a/../b"}, {"path": "/a?x"}, {"path": "/a b"}, {"path": 1}, \
                {"path": "/one", "right": "control"}, {"path": "/one", "right": "metrics"}, {"path": "/one", "right": 9}, \
                {"path": "/one", "for": "ever"}, {"path": "/one", "for": "32d"}, {"path": "/one", "for": 7}, {"path": "/one", "for": "-1d"}, \
                {"path": "/one", "x": 1}:
            with self.subTest(body=body):
                self.assertEqual(self.make(**body)[0], 400)
        self.assertEqual(self.ask("POST", "invites", '{"path": "/one"}')[0], 415)
        self.assertEqual(self.ask("GET", "invites")[0], 405)


class Description(ControlCase):
    """openapi.json against the program: each route of it, each answer and each member is as it says."""

    def resolve(self, schema):
        while "$ref" in schema:
            of = self.doc
            for part in schema["$ref"].split("/")[1:]:
                of = of[part]
            schema = of
        return schema

    def check(self, value, schema, at="$"):
        schema = self.resolve(schema)
        if value is None:
            self.assertTrue(schema.get("nullable"), at)
            return
        kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "number": (int, float)}
        self.assertIsInstance(value, kinds[schema["type"]], at)
        if "enum" in schema:
            self.assertIn(value, schema["enum"], at)
        if schema["type"] == "array":
            for i, item in enumerate(value):
                self.check(item, schema["items"], f"{at}[{i}]")
        if "properties" in schema:
            self.assertLessEqual(set(schema["required"]), set(value), at)
            self.assertLessEqual(set(value), set(schema["properties"]), at)
            for name, item in value.items():
                self.check(item, schema["properties"][name], f"{at}.{name}")

    def call(self, method, route, expected, path=None, body=None, **headers):
        """Asks, and finds the answer in the description."""
        operation = self.doc["paths"][route][method.lower()]
        status, text, got = self.ask(method, (path or route).removeprefix("/control/"), body if body is None else json.dumps(body),
                                     **(JSON if body is not None and not headers else headers))
        self.assertEqual(status, expected, (method, route, text))
        answer = self.resolve(operation["responses"][str(status)])
        self.seen.add((method, route, status))
        if "content" in answer:
            kind, content = next(iter(answer["content"].items()))
            self.assertEqual(got["Content-Type"], kind)
            if kind == "application/json":
                self.check(json.loads(text), content["schema"])
        else:
            self.assertEqual(text, "")

    def test_it_is_true(self):
        server = self.serve("--control", "--record", self.path("%N.mkv"), source="one=test:160x90@15")
        self.doc = json.loads(self.ask("GET", "openapi.json")[1])
        self.seen = set()
        player = self.player(server.url.rstrip("/") + "/one", "--no-picture", "--no-reconnect")
        player.wait_shown(5)
        session = f"/control/sessions/{self.sessions()[0]['session']}"
        S, ID, O, P, I = "/control/sessions", "/control/sessions/{session}", "/control/sources", "/control/sources/{path}", "/control/invites"
        one, new = "/control/sources/one", "/control/sources/new"
        self.call("GET", "/control/openapi.json", 200)
        self.call("GET", S, 200)
        self.call("GET", O, 200)
        self.call("PUT", ID, 204, session, {"level": 0})
        self.call("PUT", ID, 400, session, {"level": 29})
        self.call("PUT", ID, 404, "/control/sessions/none", {"level": 0})
        self.call("PUT", ID, 415, session, {"level": 0}, Content_Type="text/plain")
        self.call("DELETE", ID, 404, "/control/sessions/none")
        self.call("DELETE", ID, 204, session)
        for body in {"level": 0}, {"level": None}, {"record": False}, {"record": True}, {"source": "test:160x90@15"}:
            self.call("PUT", P, 204, one, body)
        self.call("PUT", P, 201, new, {"source": "publish:"})
        self.call("GET", O, 200)
        self.call("PUT", P, 400, new, {"source": "/etc/passwd"})
        self.call("PUT", P, 404, "/control/sources/none", {"level": 0})
        self.call("PUT", P, 415, new, {"level": 0}, Content_Type="text/plain")
        for i in range(14):
            self.call("PUT", P, 201, f"/control/sources/n{i}", {"source": "publish:"})
        self.call("PUT", P, 507, "/control/sources/n14", {"source": "publish:"})
        self.call("DELETE", P, 204, new)
        self.call("DELETE", P, 404, new)
        self.call("POST", I, 201, None, {"path": "/one"})
        self.call("POST", I, 400, None, {"path": "one"})
        self.call("POST", I, 415, None, {"path": "/one"}, Content_Type="text/plain")
        key, self.key = self.key, "wrong"
        for route, operations in self.doc["paths"].items():
            for method in operations:
                path = route.replace("{session}", "none").replace("{path}", "none")
                self.call(method.upper(), route, 401, path)
                self.call(method.upper(), route, 403, path, Origin="http://evil.example")
        self.key = key
        # What is left: a busy loop cannot be made here; 409 is test_without_names.
        described = {(m.upper(), route, int(status)) for route, of in self.doc["paths"].items() for m, o in of.items() for status in o["responses"]}
        self.assertEqual({d for d in described - self.seen if d[2] not in (503, 409)}, set())
        self.stop_cleanly(server)


if __name__ == "__main__":
    lib.main()
