# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may watch: keys in URLs, users of a file, on the viewers' side of weir-send and weir-proxy, and at the metrics."""
import http.client
import os
import re
import subprocess
import time
import unittest

import lib
import rtsp

PASSWORD = "see no evil"
HASHED = "$y$j75$abcdefghijklmnop$9mn88KvOLcKLmqtUioimdnMFRITpzA/22CVb1Ua0gh8"  # of PASSWORD, cheap


class Access(lib.Case):
    def setUp(self):
        super().setUp()
        self.state = self.path("state")

    def file(self, *lines):
        """Writes a file of --access with the user anna."""
        path = self.path("access")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as f:
            f.write("\n".join([f"user = anna:{HASHED}", *lines, ""]))
        return path

    def serve(self, *args, lines=("allow = anna /live watch",), **options):
        return self.sender("--state-dir", self.state, "--access", self.file(*lines), *args, **options)

    def invite(self, path, *args, program=None):
        """Returns the key of an invitation."""
        out = subprocess.run([program or lib.SEND, "--state-dir", self.state, "--invite", path, *args],
                             stdout=subprocess.PIPE, text=True, check=True, timeout=20 * lib.PATIENCE).stdout
        return re.search(r"\?key=([\w-]{28})(?![\w-])", out).group(1)

    def describe(self, server, uri, user=None):
        headers = {}
        if user:
            import base64
            headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
        with rtsp.Client(server.port) as client:
            return client.request("DESCRIBE", f"rtsp://127.0.0.1:{server.port}{uri}", headers)


class Keys(Access):
    def test_answers(self):
        server = self.serve()
        key, other, root, below = (self.invite(path) for path in ("/live", "/other", "/", "/live/guest"))
        swapped = key[:-1] + ("A" if key[-1] != "A" else "B")
        for uri, status in ((f"/live?key={key}", 200), (f"/live?level=1&key={key}", 200), (f"/live?key={root}", 200),
                            ("/live", 401), (f"/live?key={other}", 401), (f"/live?key={swapped}", 401),
                            (f"/live?key={key}x", 401), ("/live?key=", 401), (f"/other?key={key}", 401),
                            (f"/live/../live?key={key}", 401), (f"/other?key={root}", 404), (f"/live?key={below}", 401),
                            (f"/live/guest?key={below}", 404), (f"/live/guest?key={key}", 404)):
            answer = self.describe(server, uri)
            self.assertEqual(answer.status, status, f"{uri}: {answer}")
            if status == 401:
                self.assertIn("www-authenticate", answer.headers)
                self.assertIn("--invite PATH", answer.body)
            self.assertNotIn(key, str(answer))
        self.stop_cleanly(server)
        for secret in key, other, root, below:
            self.assertNotIn(secret, server.stderr)

    def test_setup_needs_it_too(self):
        """No request but OPTIONS is served on a connection that was not let in."""
        server = self.serve()
        with rtsp.Client(server.port) as client:
            self.assertEqual(client.request("OPTIONS").status, 200)
            setup = {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"}
            for method, uri, headers in (("SETUP", f"{client.url}/trackID=0", setup), ("GET_PARAMETER", None, {})):
                self.assertEqual(client.request(method, uri, headers).status, 401, method)
            key = self.invite("/live")
            self.assertEqual(client.request("SETUP", f"{client.url}/trackID=0?key={key}", setup).status, 200)
            self.assertEqual(client.request("PLAY").status, 200)
            self.assertTrue(client.collect_least(5))
            self.assertEqual(client.request("TEARDOWN").status, 200)

    def test_weir_play(self):
        server = self.serve("--stats", self.path("stats.jsonl"), "--log", "debug")
        key = self.invite("/live")
        with open(self.path("url"), "w") as f:
            f.write(f"{server.url}?key={key}\n")
        for transport in "minbuf", "tfrc":
            p = self.see("@" + self.path("url"), "--transport", transport, "--log", "debug", frames=lib.FPS)
            for text in p.stderr, p.stdout, str(p.events()), str(p.report()):
                self.assertNotIn(key, text)
        p = self.play(server.url, "--duration", "1", code=3)
        self.assertIn("a key is required", p.stderr)
        self.stop_cleanly(server)
        self.assertNotIn(key, server.stderr)
        self.assertNotIn(key, str(self.stats()))

    def test_ffmpeg(self):
        lib.need("ffmpeg")
        server = self.serve()
        key = self.invite("/live")
        for url, code in ((f"{server.url}?key={key}", 0), (server.url, 1),
                          (server.url.replace("//", "//anna:" + PASSWORD.replace(" ", "%20") + "@"), 0)):
            for transport in "tcp", "udp":
                p = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", transport, "-i", url, "-frames:v",
                                    "10", "-f", "null", "-"], stderr=subprocess.PIPE, text=True, timeout=60 * lib.PATIENCE)
                self.assertEqual(p.returncode, code, f"{transport} {url} {p.stderr}")

    def test_gstreamer(self):
        server = self.serve()
        key = self.invite("/live")
        for transport in "tcp", "udp":
            self.rtspsrc(f"{server.url}?key={key}", transport, "!", "identity", "eos-after=30", "!", "fakesink")

    def test_mpv(self):
        lib.need("mpv")
        server = self.serve()
        p = self.start(["mpv", "--no-config", "--vo=null", "--ao=null", "--frames=10", f"{server.url}?key={self.invite('/live')}"])
        self.assertEqual(p.wait(60), 0, str(p))

    def test_a_new_secret_ends_all_keys(self):
        key = self.invite("/live")
        os.remove(os.path.join(self.state, "secret"))
        server = self.serve()
        self.assertEqual(self.describe(server, f"/live?key={key}").status, 401)
        self.assertEqual(os.stat(os.path.join(self.state, "secret")).st_mode & 0o777, 0o600)

    def test_on_the_loopback_nothing_is_asked(self):
        server = self.sender("--state-dir", self.state)
        self.assertEqual(self.describe(server, "/live").status, 200)
        self.assertEqual(self.describe(server, "/live?key=whatever").status, 200)
        self.assertFalse(os.path.exists(os.path.join(self.state, "secret")))


class Users(Access):
    def test_answers(self):
        server = self.serve(lines=("allow = anna /live watch",))
        for user, status in (("anna:" + PASSWORD, 200), ("anna:no", 401), ("bob:" + PASSWORD, 401), ("anna", 401),
                             (None, 401)):
            answer = self.describe(server, "/live", user)
            self.assertEqual(answer.status, status, f"{user}: {answer}")
            if status == 401:
                self.assertEqual(answer.headers["www-authenticate"], 'Basic realm="weir"')
        self.assertEqual(self.describe(server, "/other", "anna:" + PASSWORD).status, 403)
        self.see(server.url.replace("//", f"//anna:{PASSWORD.replace(' ', '%20')}@"))

    def test_everybody(self):
        server = self.serve(lines=("allow = * /live watch",))
        self.assertEqual(self.describe(server, "/live").status, 200)

    def test_a_path_below_the_stream_is_another_one(self):
        server = self.serve(lines=("allow = * /live/public watch", "allow = anna /live/private watch"))
        for uri, user, status in (("/live", None, 401), ("/live", "anna:" + PASSWORD, 403), ("/live/public", None, 404),
                                  ("/live/public/trackID=0", None, 404), ("/live/private", "anna:" + PASSWORD, 404)):
            self.assertEqual(self.describe(server, uri, user).status, status, uri)

    def test_failures_do_not_stop_others(self):
        """From the twentieth failure on answers are delayed; a key is served all the same, and a viewer sees nothing."""
        server = self.serve()
        viewer = rtsp.Client(server.port)
        key = self.invite("/live")
        viewer.url += f"?key={key}"
        self.assertEqual(viewer.request("DESCRIBE").status, 200)
        viewer.url = viewer.url.split("?")[0]
        viewer.watch(level=0)
        begin = time.monotonic()
        for _ in range(22):
            before = time.monotonic()
            self.assertEqual(self.describe(server, "/live", "anna:no").status, 401)
        if time.monotonic() - begin < 50:  # within the minute that counts
            self.assertGreaterEqual(time.monotonic() - before, 1.9)
        self.assertEqual(self.describe(server, f"/live?key={key}").status, 200)
        self.assertEqual(self.describe(server, "/live", "anna:" + PASSWORD).status, 200)
        self.assertTrue(viewer.collect_least(3))
        viewer.close()
        self.stop_cleanly(server)

    def test_faults_of_the_file(self):
        for line, fault in (("allow = eve / watch", "line 2: there is no such user"), ("watch", "line 2: expects a line")):
            p = self.start([lib.SEND, "--listen", "127.0.0.1:0", "--state-dir", self.state, "--access", self.file(line),
                            "synthetic:greedy"])
            self.assertEqual(p.wait(), 1, str(p))
            self.assertIn(fault, p.stderr)


class Metrics(Access):
    def get(self, port, path, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10 * lib.PATIENCE)
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def test_key(self):
        server = self.serve("--metrics", "127.0.0.1:0")
        port = int(re.search(r"metrics at http://127.0.0.1:(\d+)/", server.stderr).group(1))
        key, watch = self.invite("metrics", "--metrics", "127.0.0.1:1"), self.invite("/")
        for path in "/", "/metrics", "/status.json":
            self.assertEqual(self.get(port, path)[0], 401)
            self.assertEqual(self.get(port, f"{path}?key={watch}")[0], 401)
            self.assertEqual(self.get(port, f"{path}?key={key}")[0], 200)
        self.assertIn("--invite", self.get(port, "/")[1])
        self.assertEqual(self.describe(server, f"/live?key={key}").status, 401)
        self.assertNotIn(key, self.get(port, f"/status.json?key={key}")[1] + server.stderr)


class Proxies(Access):
    def test_options_without_a_key_ask_no_origin(self):
        origin = self.sender("--log", "debug")
        proxy = self.proxy("--origin", f"rtsp://127.0.0.1:{origin.port}", "--state-dir", self.state, "--users", self.file(),
                           "--log", "debug")
        with rtsp.Client(proxy.port) as client:
            for path in "/live", "/a1", "/a2", "/live/trackID=0", "/":
                answer = client.request("OPTIONS", f"{proxy.base}{path}")
                self.assertEqual((answer.status, answer.body), (200, ""), path)
        own = self.invite("/live", program=lib.PROXY)
        self.assertNotIn(" connected", origin.stderr)
        self.assertEqual(self.describe(proxy, f"/live?key={own}").status, 200)
        lib.until(lambda: " connected" in origin.stderr, "the request for the origin")

    def test_both_sides(self):
        """The origin's key is the proxy's secret; viewers of the proxy need one of their own."""
        origin = self.serve()
        key = self.invite("/live")
        with open(self.path("origin"), "w") as f:
            f.write(f"rtsp://127.0.0.1:{origin.port}/?key={key}\n")
        proxy = self.proxy("--origin", "@" + self.path("origin"), "--state-dir", self.path("proxy"), "--users", self.file(),
                           "--log", "debug", "--stats", self.path("proxy.jsonl"))
        self.state = self.path("proxy")
        own = self.invite("/live", program=lib.PROXY)
        for uri, status in (("/live", 401), (f"/live?key={key}", 401), (f"/live?key={own}", 200)):
            answer = self.describe(proxy, uri)
            self.assertEqual(answer.status, status, f"{uri}: {answer}")
            self.assertNotIn(key, str(answer))
        p = self.see(f"{proxy.base}/live?key={own}", frames=lib.FPS)
        self.stop_cleanly(proxy)
        with open(self.path("proxy.jsonl")) as f:
            shown = proxy.stderr + f.read()
        for secret in key, own:
            self.assertNotIn(secret, shown + origin.stderr + str(p.events()))


if __name__ == "__main__":
    lib.main()
