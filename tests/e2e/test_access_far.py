# SPDX-License-Identifier: GPL-2.0-or-later
"""Off the loopback a viewer needs the URL that the server printed. In a namespace, whose loopback device gets such an
address."""
import base64
import http.client
import re
import socket
import ssl
import subprocess
import sys
import unittest

import lib
import players
import rtsp
import web_case
from lib import until

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402

FAR = "10.77.0.1"
NEEDED = "a key is required"


def setUpModule():
    lib.need("unshare", "ip")
    if not isolate.isolated():
        raise unittest.SkipTest("namespaces are not allowed here")
    subprocess.run(["ip", "address", "add", f"{FAR}/32", "dev", "lo"], check=True)


class Far(lib.Case):
    def serve(self, *args, listen=f"{FAR}:0", argv=(lib.SEND,)):
        p = self.start([*argv, "--listen", listen, *args, lib.SOURCE])
        found = lib.until(lambda: re.search(r" at rtsps?://\S+:(\d+)/live", p.stderr) or not p.running(), "the sender", 20)
        self.assertIsNot(found, True, str(p))
        p.port = int(found.group(1))
        return p

    def describe(self, server, uri="/live", host=FAR):
        with rtsp.Client(server.port, host) as client:
            return client.request("DESCRIBE", f"rtsp://{host}:{server.port}{uri}")

    def test_printed_url(self):
        for listen in f"{FAR}:0", "0.0.0.0:0":
            server = self.serve(listen=listen)
            url, command, browser = server.stdout.splitlines()
            self.assertEqual(command, f"weir-play '{url}'")
            self.assertEqual(browser, f"in a browser: https{url[len('rtsps'):]}")
            self.assertTrue(url.startswith(f"rtsps://{FAR}:{server.port}/live?key="), url)
            key = re.search(r"\?key=([\w-]{28})", url).group(1)
            self.assertNotIn(key, server.stderr)
            p = self.see(url.replace("0.0.0.0", FAR))
            self.assertGreater(p.report()["playback"]["frames_played"], 0)
            for address in (re.sub(r"key=[^&]*&?", "", url), url.replace(key, "A" * 28)):
                p = self.play(address.replace("0.0.0.0", FAR), code=3)
                self.assertIn("401", p.stderr)
            self.stop_cleanly(server)

    def test_qr_code(self):
        """Of the URL for a browser, below which it stands as text. A code's rows are as wide as its lines are many."""
        for more in (), ("--insecure",):
            server = self.serve("--qr", *more)
            code = [line for line in server.stdout.splitlines() if "\u2588" in line]
            self.assertEqual({len(line) for line in code}, {2 * len(code) - 1}, server.stdout)
            url = server.stdout.splitlines()[-1]
            self.assertTrue(url.startswith(f"http{'' if more else 's'}://{FAR}:{server.port}/live"), url)
            self.assertEqual("?key=" in url, not more)
            self.stop_cleanly(server)
        server = self.sender("--qr")
        self.assertIn("--qr: there is no URL that a phone can open", server.stderr)

    def test_without_encryption(self):
        """Neither a key nor --access opens plain RTSP; the refusal says what does."""
        server = self.serve()
        key = re.search(r"\?key=([\w-]{28})", server.stdout).group(1)
        for uri in "/live", f"/live?key={key}":
            answer = self.describe(server, uri)
            self.assertEqual(answer.status, 403)
            self.assertIn("rtsps://", str(answer))
            self.assertIn("--insecure", str(answer))
        p = self.play(f"rtsp://{FAR}:{server.port}/live?key={key}", code=3)
        self.assertIn("rtsps://", p.stderr)

    def test_in_a_service(self):
        """The URL is kept from the journal; a terminal whose session inherited the variable gets it."""
        journal = "exec 3>&1; JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/3) exec "
        for given, prints in ("JOURNAL_STREAM=9:1 exec ", True), (journal, False):
            server = self.serve(argv=["sh", "-c", given + '"$0" "$@"', lib.SEND])
            if prints:
                lib.until(lambda s=server: "?key=" in s.stdout, "the URL")
            else:
                lib.until(lambda s=server: "--invite PATH prints a URL" in s.stderr, "the hint")
            self.stop_cleanly(server)
            self.assertEqual("key=" in server.stdout, prints)
            self.assertNotIn("key=", server.stderr)

    def test_plain_http(self):
        """It leads to https, and no page or WebSocket is served in which a key could be overheard or stolen."""
        server = self.serve(listen="0.0.0.0:0")
        upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "rtsp.onvif.org"}
        for path, headers, status in (("/live?key=K", {}, 308), ("/.weir/page.js", {}, 308), ("/live", upgrade, 403)):
            answer = self.get(FAR, server.port, path, headers)
            self.assertEqual(answer.status, status)
            self.assertEqual(answer.headers["Location"],
                             f"https://{FAR}:{server.port}{path}" if status == 308 else None)
            self.assertIn("https://", answer.read().decode())
        self.assertEqual(self.get("127.0.0.1", server.port, "/live").status, 200)
        insecure = self.serve("--insecure")
        self.assertEqual(self.get(FAR, insecure.port, "/live").status, 200)

    def test_websocket_over_tls(self):
        """The key of another path plays nothing, whatever path the WebSocket itself was opened with."""
        server = self.serve()
        key = re.search(r"\?key=([\w-]{28})", lib.until(lambda: server.stdout.strip(), "the URL")).group(1)
        out = subprocess.run([lib.SEND, "--invite", "/live/guest"], env=server.env, stdout=subprocess.PIPE, text=True,
                             check=True, timeout=20 * lib.PATIENCE).stdout
        other = re.search(r"\?key=([\w-]{28})", out).group(1)
        for uri, status in (("/live", 401), (f"/live?key={other}", 401), (f"/live/guest?key={other}", 404),
                            (f"/live?key={key}", 200)):
            for path in f"/live?key={key}", "/live/guest":
                self.assertEqual(self.describe_inside(server.port, path, f"rtsp://{FAR}:{server.port}{uri}"), status, uri)

    def describe_inside(self, port, path, uri):
        """Returns the status of a DESCRIBE inside a WebSocket inside TLS."""
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        request = f"DESCRIBE {uri} RTSP/1.0\r\nCSeq: 1\r\n\r\n".encode()
        with socket.create_connection((FAR, port), 20 * lib.PATIENCE) as s, context.wrap_socket(s) as inside:
            inside.sendall((f"GET {path} HTTP/1.1\r\nHost: {FAR}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                            "Sec-WebSocket-Protocol: rtsp.onvif.org\r\n\r\n").encode())
            # One binary message, masked by zeros, with the shortest form of its length (RFC 6455, 5.2)
            n = len(request)
            length = bytes([0x80 | n]) if n < 126 else b"\xfe" + n.to_bytes(2, "big")
            inside.sendall(b"\x82" + length + bytes(4) + request)
            got = b""
            while not (found := re.search(rb"RTSP/1\.0 (\d+) ", got)):
                more = inside.recv(65536)
                self.assertTrue(more, got)
                got += more
        self.assertTrue(got.startswith(b"HTTP/1.1 101 "), got)
        return int(found.group(1))

    def get(self, host, port, path, headers=None):
        connection = http.client.HTTPConnection(host, port, timeout=10 * lib.PATIENCE)
        self.addCleanup(connection.close)
        connection.request("GET", path, headers=headers or {})
        return connection.getresponse()

    def test_metrics_on_all_addresses(self):
        """To this machine's programs the page is open, but not to a page of others in its browser, which mapped its own
        name to 127.0.0.1 ("DNS rebinding")."""
        server = self.serve("--metrics", "0.0.0.0:0")
        port = int(re.search(r"metrics at http://0.0.0.0:(\d+)/", server.stderr).group(1))
        for host, status in (("evil.example", 403), (f"evil.example:{port}", 403), ("localhost", 200), ("127.0.0.1", 200)):
            self.assertEqual(self.get("127.0.0.1", port, "/status.json", {"Host": host}).status, status, host)
        self.assertEqual(self.get(FAR, port, "/status.json", {"Host": "weir.example"}).status, 401)

    def test_last_line(self):
        """Its URL is one that is not refused where it is used; each of the machine's addresses is named."""
        server = self.serve()
        self.assertIn(f" at rtsps://{FAR}:{server.port}/live?pin=sha256:", server.stderr.splitlines()[-1])
        self.assertNotIn("rtsp://", server.stderr)
        server = self.serve(listen="0.0.0.0:0")
        self.assertIn(f" at rtsps://{FAR}:{server.port}/live?pin=sha256:", server.stderr.splitlines()[-1])
        self.assertIn(f"also: rtsp://127.0.0.1:{server.port}/live\n", server.stderr)
        self.assertEqual(self.describe(server, host="127.0.0.1").status, 200)
        server = self.serve("--insecure", listen="0.0.0.0:0")
        self.assertRegex(server.stderr, rf" at rtsp://{FAR}:{server.port}/live\n$")
        self.assertIn(f"to watch: weir-play 'rtsp://{FAR}:{server.port}/live'\n", server.stderr)
        self.assertIn(f"also: rtsp://127.0.0.1:{server.port}/live\n", server.stderr)

    def test_from_the_loopback(self):
        """A viewer on this machine needs no key, although the server listens on all addresses."""
        server = self.serve(listen="0.0.0.0:0")
        self.assertEqual(self.describe(server, host="127.0.0.1").status, 200)

    def test_insecure(self):
        server = self.serve("--insecure")
        self.assertEqual(self.describe(server).status, 200)
        self.assertEqual(server.stdout, "")

    def test_no_place_for_the_key(self):
        with open(self.path("file"), "w"):
            pass
        p = self.start([lib.SEND, "--listen", f"{FAR}:0", "--state-dir", self.path("file"), lib.SOURCE])
        self.assertEqual(p.wait(), 1, str(p))
        self.assertIn(f"cannot read the state directory {self.path('file')}", p.stderr)

    def test_metrics(self):
        server = self.serve("--metrics", f"{FAR}:0", listen="127.0.0.1:0")
        port = int(re.search(rf"metrics at http://{FAR}:(\d+)/", server.stderr).group(1))
        out = subprocess.run([lib.SEND, "--metrics", f"{FAR}:{port}", "--invite", "metrics"], env=server.env,
                             stdout=subprocess.PIPE, text=True, check=True, timeout=20 * lib.PATIENCE).stdout
        for query, status in (("", 401), (out.strip().partition("?")[2], 200)):
            answer = self.get(FAR, port, f"/metrics?{query}")
            self.assertEqual(answer.status, status)
            if status == 401:
                self.assertIn(NEEDED, answer.read().decode())


class Printed(players.Players):
    """The URL exactly as it is printed, with key and pin, in players of others. weir-play: Far.test_printed_url; chromium:
    Browser.test_page_over_tls."""

    def setUp(self):
        super().setUp()
        self.weir = self.start([lib.SEND, "--listen", f"{FAR}:0", *players.LEVEL, lib.SOURCE])
        self.url = lib.until(lambda: self.weir.stdout.splitlines(), "the URL", 20)[0]
        self.assertRegex(self.url, rf"^rtsps://{FAR}:\d+/live\?key=[\w-]{{28}}&pin=sha256:[0-9a-f]{{64}}$")

    def tearDown(self):
        self.assertNotIn(self.url.partition("key=")[2].partition("&")[0], self.weir.stderr)
        super().tearDown()

    def test_ffmpeg(self):
        self.play_by_ffmpeg(self.url)

    def test_ffplay(self):
        self.play_by_ffplay(self.url)

    def test_mpv(self):
        self.play_by_mpv(self.url)

    def test_gstreamer(self):
        self.play_by_gstreamer(self.url, "tls-validation-flags=0")


class Browser(web_case.Web):
    """The printed URL with https in place of rtsps, in a browser that knows the pin."""

    def test_page_over_tls(self):
        server = self.start([lib.SEND, "--listen", f"{FAR}:0", "test:640x360@30"])
        url = until(lambda: server.stdout.splitlines(), "the URL", 20)[0]
        pin = base64.b64encode(bytes.fromhex(re.search(r"pin=sha256:(\w+)", url).group(1))).decode()
        b = self.browse(f"--ignore-certificate-errors-spki-list={pin}")
        page = re.sub("^rtsps:", "https:", url)
        b.open(page)
        until(lambda: self.shown(b) > 20, "pictures", 30)
        before = until(lambda: self.number(b) + 1, "a number in the picture") - 1
        until(lambda: self.number(b) > before, "a later picture")
        self.assertTrue(b.value("isSecureContext"))
        self.said_nothing(b)
        b.open(re.sub("^rtsps:", "http:", url))  # leads to https
        until(lambda: self.shown(b) > 20, "pictures", 30)
        self.assertTrue(b.value("location.href").startswith("https://"))
        key = re.search(r"key=([\w-]{28})", url).group(1)
        b.open(page.replace(key, "A" * 28))
        self.assertIn("The key of this page's URL is not accepted.", self.problem(b))
        self.assertNotIn(key, server.stderr)


if __name__ == "__main__":
    lib.main_isolated(isolate)
