# SPDX-License-Identifier: GPL-2.0-or-later
"""What weir-send tells machines while it streams: metrics, status, and the page that shows them."""
import http.client
import itertools
import json
import math
import os
import re
import socket
import sys
import time

import lib
from lib import until

sys.path.insert(0, lib.ROOT)
from lab import browser  # noqa: E402

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
# What promtool's linter has against a name: units that are no base units, types, what other types end in.
UNITS = "bits|milliseconds|ms|microseconds|us|kilobytes|kb|megabytes|percent|minutes|hours"
BAD_NAME = re.compile(rf"(^|_)({UNITS}|counter|gauge)(_|$)|(_count|_sum|_bucket|_info_total)$|[A-Z]|__")


def parse(text):
    """{family: (type, {frozenset of labels: value})} of the text format 0.0.4, or AssertionError at what is against it."""
    assert text.endswith("\n"), "the last line does not end"
    families, family = {}, None
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            _, _, family, help = line.split(" ", 3)
            assert family not in families, f"{family} stands twice"
            assert help and not BAD_NAME.search(family), line
            families[family] = [None, {}]
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == family and families[name] == [None, {}], line
            assert kind in ("counter", "gauge") and name.endswith("_total") == (kind == "counter"), line
            families[name][0] = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match and match.group(1) == family and families[family][0], line
            labels = LABEL.findall(match.group(2) or "")
            assert "".join(f'{k}="{v}",' for k, v in labels).rstrip(",") == (match.group(2) or ""), line
            assert len(dict(labels)) == len(labels), line
            value = float(match.group(3))
            assert math.isfinite(value) and not (families[family][0] == "counter" and value < 0), line
            key = frozenset(labels)
            assert key not in families[family][1], line
            families[family][1][key] = value
    return families


class Metrics(lib.Case):
    def serve(self, *args, **options):
        sender = self.sender("--metrics", "127.0.0.1:0", *args, **options)
        self.port = int(re.search(r"metrics at http://127.0.0.1:(\d+)/", sender.stderr).group(1))
        return sender

    def ask(self, path, method="GET", body=None, **headers):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10 * lib.PATIENCE)
        try:
            c.request(method, path, body, headers)
            answer = c.getresponse()
            return answer, answer.read().decode()
        finally:
            c.close()

    def scrape(self):
        answer, text = self.ask("/metrics")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        return parse(text)

    def value(self, name, **labels):
        return self.scrape()[name][1].get(frozenset(labels.items()))

    def test_while_two_watch(self):
        sender = self.serve()
        idle = self.scrape()
        self.assertEqual(sum(idle["weir_sessions"][1].values()), 0)
        self.assertEqual(idle["weir_session_level"][1], {})
        for transport, sound in ("tfrc", []), ("minbuf", ["--no-audio"]):
            self.player(sender.url, "--transport", transport, "--no-picture", *sound).wait_shown(10)
        until(lambda: len(self.scrape()["weir_session_rtt_seconds"][1]) == 2, "two round-trip times")
        first = self.scrape()
        until(lambda: self.more_was_sent(first, self.scrape()), "more media and sound")
        second = self.scrape()
        for name, (kind, samples) in first.items():
            for labels, value in samples.items() if kind == "counter" else ():
                self.assertGreaterEqual(second[name][1][labels], value, name)
        for transport in "tfrc", "minbuf":
            key = frozenset({("transport", transport)})
            self.assertEqual(second["weir_sessions"][1][key], 1)
            self.assertGreater(second["weir_packets_total"][1][key], first["weir_packets_total"][1][key])
        for number in "1", "2":
            key = frozenset({("session", number)})
            self.assertEqual(second["weir_session_playing"][1][key], 1)
            self.assertGreater(second["weir_session_rate_bytes_per_second"][1][key], 0)
            self.assertGreater(second["weir_session_rtt_seconds"][1][key], 0)
        self.assertGreater(sum(second["weir_encoder_busy_seconds_total"][1].values()), 0)
        self.sound_of_the_first(first, second)
        self.between(1e6, second["process_resident_memory_bytes"][1][frozenset()], 4e9)
        self.between(time.time() - 86400, second["process_start_time_seconds"][1][frozenset()], time.time())
        reports = {dict(k)["session"] for k in second["weir_session_reports_total"][1]}
        self.assertEqual(len(reports), 1, "tfrc alone has reports")
        self.status_tells_the_same(second)
        # Who is gone has no series any more, but counts.
        for p in self.processes[1:]:
            p.stop()
        until(lambda: self.scrape()["weir_session_level"][1] == {}, "the sessions to go")
        self.assertGreater(self.value("weir_packets_total", transport="tfrc"),
                           second["weir_packets_total"][1][frozenset({("transport", "tfrc")})] - 1)
        self.assertEqual(self.value("weir_sessions_total", transport="minbuf"), 1)
        self.stop_cleanly(sender)

    def more_was_sent(self, before, after):
        """A busy machine may send nothing for some seconds."""
        return all(after[name][1].get(key, 0) > before[name][1].get(key, 0) + 5 for name, key in (
            ("weir_packets_total", frozenset({("transport", "tfrc")})),
            ("weir_packets_total", frozenset({("transport", "minbuf")})),
            ("weir_session_sound_packets_total", frozenset({("session", "1")})),
            ("weir_sound_packets_total", frozenset({("transport", "tfrc")})),
            ("weir_sound_encoder_packets_total", frozenset({("path", "/live")}))))

    def sound_of_the_first(self, before, after):
        live, one, tfrc = frozenset({("path", "/live")}), frozenset({("session", "1")}), frozenset({("transport", "tfrc")})
        self.assertEqual(after["weir_source_sessions"][1], {live: 2})
        for name, key in ("weir_session_sound_packets_total", one), ("weir_sound_packets_total", tfrc), \
                ("weir_sound_encoder_packets_total", live):
            more = after[name][1][key] - before[name][1][key]
            self.assertGreater(more, 5, name)
        self.assertEqual(set(after["weir_session_sound_payload_bytes_total"][1]), {one}, "the other does not hear it")
        self.between(1e-6, after["weir_sound_encoder_busy_seconds_total"][1][live], 60 * lib.PATIENCE)

    def status_tells_the_same(self, metrics):
        answer, text = self.ask("/status.json")
        self.assertEqual(answer.headers["Content-Type"], "application/json")
        status = json.loads(text)
        names = {frozenset({("session", str(s["number"])), ("path", s["path"]), ("transport", s["transport"]["name"])})
                 for s in status["sessions"]}
        self.assertEqual(names, set(metrics["weir_session_info"][1]))
        self.assertEqual([s["path"] for s in status["streams"]], ["/live"])
        self.assertEqual([f"{e['width']}x{e['height']}@{e['frame_rate']:.4g}" for e in status["streams"][0]["encoders"]],
                         [dict(k)["size"] for k in metrics["weir_encoder_frames_total"][1]])

    def test_the_page(self):
        """A browser runs it: the policy lets its script through, and it draws the sessions without an error."""
        lib.need("chromium")
        sender = self.serve()
        for transport in "udp", "minbuf":
            self.player(sender.url, "--transport", transport, "--no-picture").wait_shown(5)
        until(lambda: self.value("weir_session_rtt_seconds", session="2"), "figures of both")
        page = browser.Browser(self.path("chromium"), 60 * lib.PATIENCE)
        self.addCleanup(page.close)
        until(lambda: len(json.loads(self.ask("/status.json?history=1")[1])["history"]) > 4, "moments", 30)
        page.open(f"http://127.0.0.1:{self.port}/")
        until(lambda: page.value("document.getElementById('viewers').textContent") == "2", "the page", 20)
        rows = page.value("[...document.querySelectorAll('#sessions tr')].map(e => e.cells[1].innerText)")
        self.assertRegex(rows[0], r"^127\.0\.0\.1:\d+\nudp, \d+ (s|min)$")
        self.assertRegex(rows[1], r"^127\.0\.0\.1:\d+\nminbuf, \d+ (s|min)$")
        self.assertGreater(page.value("trail.length"), 3, "what was before the page was opened")
        until(lambda: page.value("[...document.querySelectorAll('#films a')].map(a => a.href)") ==
              [f"http://127.0.0.1:{sender.port}/live"], "the link to the stream", 20)
        self.assertIn("audio", page.value("[...document.querySelectorAll('#encoders tr')].map(e => e.cells[0].textContent)"))
        for width, dark in itertools.product((360, 400, 600, 800, 1600), (False, True)):
            page.look(width, 900, dark)
            self.assertLessEqual(page.value("document.documentElement.scrollWidth"), page.value("innerWidth"), width)
            self.assertEqual(page.value("[...document.querySelectorAll('.card')].filter(e => e.scrollWidth > e.clientWidth).length"),
                             0, f"wider than its card, at {width} px")
            self.assertEqual(page.value("getComputedStyle(document.body).backgroundColor"),
                             "rgb(20, 23, 27)" if dark else "rgb(244, 245, 247)")
        self.assertEqual(page.said, [])

    def test_the_past(self):
        """The last two minutes are there for a page that is opened later; each moment stands once."""
        sender = self.serve()
        self.player(sender.url, "--transport", "tfrc", "--no-picture").wait_shown(5)
        until(lambda: len(json.loads(self.ask("/status.json?history=1")[1])["history"]) > 4, "moments", 30)
        self.assertNotIn("history", json.loads(self.ask("/status.json")[1]))
        status = json.loads(self.ask("/status.json?history=1")[1])
        moments = status["history"]
        times = [m["t"] for m in moments]
        self.assertEqual(times, sorted(set(times)))
        self.assertEqual(times[-1], status["t"])
        octets = [m["octets"] for m in moments]
        self.assertEqual(octets, sorted(octets))
        self.assertGreater(octets[-1], octets[0])
        self.assertEqual(moments[0]["sessions"], [], "nobody watched yet")
        last, now = moments[-1]["sessions"][0], status["sessions"][0]
        self.assertEqual((last["session"], last["rate"], last["packets"]),
                         (now["session"], now["transport"]["rate"], now["transport"]["feedback"]["packets"]))
        self.assertRegex(now["address"], r"^127\.0\.0\.1:\d+$")
        self.between(0, now["age"], status["t"])

    def test_the_films(self):
        """The list is made when a page asks for it, and says where the films are."""
        lib.need("ffmpeg")
        os.mkdir(self.path("films"))
        self.clip("films/b c.mkv", seconds=1)
        sender = self.serve(source=self.path("films"))
        self.assertIsNone(json.loads(self.ask("/films.json")[1])["films"], "nobody asked before")

        def listed():
            answer = json.loads(self.ask("/films.json")[1])
            if answer["films"] and not answer["films"][0]["sizes"]:
                os.utime(self.path("films/b c.mkv"))  # a busy machine gave up: a file that has changed is opened again
                return None
            return answer["films"] and answer
        answer = until(listed, "the list")
        self.assertEqual([f["path"] for f in answer["films"]], ["/b%20c.mkv"])
        self.assertEqual(answer["films"][0]["sizes"], "640x360")
        self.between(0.9, answer["films"][0]["seconds"], 1.1)
        self.assertEqual(answer["at"], {"host": "127.0.0.1", "port": sender.port, "encrypted": False, "keys": False})
        self.clip("films/a.mkv", seconds=1)
        until(lambda: len(json.loads(self.ask("/films.json")[1])["films"]) == 2, "the new film")
        self.stop_cleanly(sender)

    def test_headers(self):
        self.serve()
        nonces = set()
        for path in "/", "/metrics", "/status.json", "/status.json?history=1", "/films.json", "/nothing":
            answer, text = self.ask(path)
            self.assertEqual(answer.status, 404 if path == "/nothing" else 200)
            self.assertEqual(answer.headers["Cache-Control"], "no-store")
            self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
            policy = answer.headers["Content-Security-Policy"]
            self.assertTrue(policy.startswith("default-src 'none'; ") and "frame-ancestors 'none'" in policy, policy)
            self.assertNotIn("unsafe", policy)
        for _ in range(2):
            answer, text = self.ask("/")
            nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", answer.headers["Content-Security-Policy"]).group(1)
            self.assertEqual(text.count(f'nonce="{nonce}"'), 2)
            self.assertNotRegex(text, r"https?://|src=")
            nonces.add(nonce)
        self.assertEqual(len(nonces), 2)

    def test_bad_requests(self):
        """None of them ends the server or keeps others from it."""
        sender = self.serve()
        for method, body in ("POST", "a=b"), ("DELETE", None), ("PUT", "x" * 100000):
            try:
                answer, _ = self.ask("/metrics", method, body)
            except (ConnectionError, http.client.HTTPException):
                continue  # it does not read a body
            self.assertEqual((answer.status, answer.headers["Allow"]), (405, "GET, HEAD"))
        self.assertEqual(self.ask("/metrics", "HEAD")[1], "")
        self.assertEqual(self.ask("/../../etc/passwd")[0].status, 404)
        for bytes_ in b"\0" * 64, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 40000, \
                b"GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n":
            with socket.create_connection(("127.0.0.1", self.port), timeout=15 * lib.PATIENCE) as s:
                try:
                    s.sendall(bytes_ + b"\r\n\r\n")
                    s.shutdown(socket.SHUT_WR)
                    while s.recv(65536):
                        pass
                except OSError as error:
                    self.assertNotIsInstance(error, TimeoutError)
        self.stop_cleanly(sender)

    def hold(self, address, count):
        for _ in range(count):
            s = socket.create_connection(("127.0.0.1", self.port), timeout=15 * lib.PATIENCE, source_address=(address, 0))
            self.addCleanup(s.close)

    def answered(self):
        try:
            return self.ask("/metrics")[0].status == 200
        except (OSError, http.client.HTTPException):
            return False

    def test_who_only_holds_connections(self):
        """Gets few of them, and those not for long: who comes from elsewhere does not wait, from there not long."""
        sender = self.serve()
        for i in range(2, 6):
            self.hold(f"127.0.0.{i}", 50)
        self.assertTrue(self.answered())
        self.hold("127.0.0.1", 50)
        until(self.answered, "an answer beside idle ones of the same address")
        # Who has asked may ask again a while later, but not after 5 s: a pause of the machine may be longer.
        until(self.asks_twice, "two answers on one connection")
        self.stop_cleanly(sender)

    def asks_twice(self):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10 * lib.PATIENCE)
        try:
            for pause in 2, 0:
                c.request("GET", "/metrics")
                c.getresponse().read()
                time.sleep(pause)  # the server's limits for idle connections are of the clock
            return True
        except (OSError, http.client.HTTPException):
            return False
        finally:
            c.close()

    def test_other_peoples_names(self):
        """What is for this machine alone is not given to a page whose name was turned to this machine's address."""
        self.serve()
        for host, status in {"localhost": 200, "LOCALHOST:9464": 200, "127.0.0.1": 200, "[::1]:9464": 200,
                             "weir.example": 403, "127.0.0.1.weir.example:9464": 403, "localhost.example": 403}.items():
            with self.subTest(host):
                self.assertEqual(self.ask("/metrics", Host=host)[0].status, status)

    def test_the_address_is_taken(self):
        self.serve()
        p = self.start([lib.SEND, "--listen", "127.0.0.1:0", "--metrics", f"127.0.0.1:{self.port}"])
        self.assertEqual(p.wait(), 1)
        self.assertIn(f"cannot listen on 127.0.0.1:{self.port}: Address already in use; choose another port with --metrics", p.stderr)


if __name__ == "__main__":
    lib.main()
