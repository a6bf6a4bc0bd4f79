# SPDX-License-Identifier: GPL-2.0-or-later
"""rtsps:// on the RTSP port: Weir's and other players, the pin, known hosts, and a man in the middle."""
import os
import re
import socket
import ssl
import threading

import lib
import players
from lib import until


class Tls(players.Players):
    def setUp(self):
        super().setUp()
        self.env = {"XDG_STATE_HOME": self.path("home")}

    def server(self, state="state", *args, **options):
        """A sender with TLS; `secure` is the URL with the pin that it prints."""
        s = self.sender("--state-dir", self.path(state), *args, **options)
        s.secure = re.search(r"encrypted: (rtsps://\S+)", s.stderr).group(1)
        return s

    def viewer(self, url, *args, code=0):
        return self.play(url, *args, code=code, env=self.env) if code else self.see(url, *args, env=self.env)

    def test_weir_play_with_the_printed_url(self):
        server = self.server()
        p = self.viewer(server.secure)
        self.assertTrue(p.shown())
        self.assertFalse(os.path.exists(self.path("home/weir/known_hosts")))
        self.assertNotIn("pin=", str(p.report()))
        for name in ("tls-key.pem", "tls-cert.pem"):
            self.assertEqual(os.stat(self.path("state/" + name)).st_mode & 0o777, 0o600)

    def test_the_same_port_serves_both(self):
        server = self.server()
        self.assertTrue(self.viewer(server.url).shown())
        self.assertTrue(self.viewer(server.secure).shown())

    def test_who_comes_when_it_is_full_is_told(self):
        """In the language that it speaks: RTSP or HTTP, encrypted or not."""
        server = self.server("state", "--max-viewers", "1")
        held = socket.create_connection(("127.0.0.1", server.port))
        self.addCleanup(held.close)
        held.sendall(b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n")
        self.assertIn(b"200 OK", held.recv(1000))
        for url in server.secure, server.url:
            p = self.viewer(url, code=3)
            self.assertRegex(p.stderr, r"the server refuses \w+: 503 Service Unavailable: the server is full")
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        for wrap in context.wrap_socket, lambda s: s:
            with wrap(socket.create_connection(("127.0.0.1", server.port), timeout=20 * lib.PATIENCE)) as s:
                s.sendall(b"GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                got = b"".join(iter(lambda: s.recv(1000), b""))
                self.assertTrue(got.startswith(b"HTTP/1.1 503 ") and got.endswith(b"the server is full\n"), got)
        # Only a few may take their time; the others get a plain answer at once, and the few end, too.
        slow = [socket.create_connection(("127.0.0.1", server.port), timeout=20 * lib.PATIENCE) for _ in range(6)]
        answers = []
        for s in slow:
            self.addCleanup(s.close)
        for s in reversed(slow):
            answers.append(s.recv(1000))
        # At least two: one of those before may still have its place.
        plain = [a[:13] for a in answers if a]
        self.assertGreaterEqual(len(plain), 2)
        self.assertEqual(set(plain), {b"RTSP/1.0 503 "})
        self.stop_cleanly(server)

    def test_media_beside_tls_is_srtp(self):
        server = self.server()
        for transport in "udp", "mtp":
            p = self.viewer(server.secure, "--transport", transport)
            self.assertEqual(p.report()["session"]["transport"], transport)
            self.assertTrue(p.shown())
            self.assertIn(f": {transport}, SRTP", server.stderr)

    def test_wrong_pin(self):
        server = self.server()
        pin = server.secure[-64:]
        other = ("0" if pin[0] != "0" else "1") + pin[1:]
        p = self.viewer(server.secure.replace(pin, other), code=3)
        self.assertIn(f"its key is sha256:{pin}, the URL's pin is sha256:{other}", p.stderr)
        self.assertNotIn("plays level", server.stderr)

    def test_a_changed_key_is_refused(self):
        address = lib.own_address()  # where no other process takes the port meanwhile
        first = self.server("first", "--path", "/live", listen=f"{address}:0")
        plain = first.secure.split("?")[0]
        self.assertIn("is trusted from now on", self.viewer(plain).stderr)
        self.assertNotIn("from now on", self.viewer(plain).stderr)
        first.stop()
        second = lib.Sender(self.folder, "--state-dir", self.path("second"), listen=f"{address}:{first.port}")
        self.processes.append(second)
        p = self.viewer(plain, code=3)
        pins = [re.search(r"pin=(sha256:\w+)", s.stderr).group(1) for s in (first, second)]
        self.assertIn(f"its key has changed: it was {pins[0]}, it is {pins[1]}", p.stderr)
        self.assertNotIn("plays level", second.stderr)

    def test_a_restart_keeps_the_key(self):
        first = self.server()
        pin = first.secure.split("?")[1]
        first.stop()
        self.assertEqual(self.server().secure.split("?")[1], pin)

    def test_man_in_the_middle(self):
        """It ends TLS with a key of its own, and would see everything: no request reaches it."""
        server, stranger = self.server(), self.server("stranger")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path("stranger/tls-cert.pem"), self.path("stranger/tls-key.pem"))
        seen = []
        with socket.create_server(("127.0.0.1", 0)) as listener:
            def attack():
                victim, _ = listener.accept()
                try:
                    with context.wrap_socket(victim, server_side=True) as inside:
                        seen.append(inside.recv(1000))
                except OSError as e:
                    seen.append(e)
            thread = threading.Thread(target=attack)
            thread.start()
            port = listener.getsockname()[1]
            p = self.viewer(server.secure.replace(f":{server.port}/", f":{port}/"), code=3)
            thread.join(20 * lib.PATIENCE)
        self.assertIn("Another machine may answer in its place", p.stderr)
        self.assertFalse(any(isinstance(s, bytes) and s for s in seen), seen)
        self.assertTrue(seen)
        self.assertTrue(stranger.running())

    def test_an_overheard_session_id(self):
        """Another connection cannot control the session, with TLS or without."""
        server = self.server()
        with self.inside(server.port) as mine, self.inside(server.port) as other:
            answer = self.ask(mine, server, "SETUP", "/trackID=0", "Transport: RTP/AVP/TCP;interleaved=0-1\r\n")
            session = re.search(r"Session: (\w+)", answer).group(1)
            for method in ("PLAY", "PAUSE", "TEARDOWN", "SET_PARAMETER"):
                answer = self.ask(other, server, method, "", f"Session: {session}\r\n")
                self.assertRegex(answer, r"^RTSP/1.0 4\d\d ", f"{method}: {answer}")
            self.assertRegex(self.ask(mine, server, "PLAY", "", f"Session: {session}\r\n"), r"^RTSP/1.0 200 ")

    def inside(self, port):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        s = socket.create_connection(("127.0.0.1", port))
        s.settimeout(20 * lib.PATIENCE)
        self.addCleanup(s.close)
        return context.wrap_socket(s)

    def ask(self, s, server, method, track="", headers=""):
        url = server.secure.split("?")[0]
        s.sendall(f"{method} {url}{track} RTSP/1.0\r\nCSeq: 7\r\n{headers}\r\n".encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            more = s.recv(1000)
            self.assertTrue(more, answer)
            answer += more
        return answer.decode(errors="replace")

    def test_tls_1_2_and_garbage_are_refused(self):
        server = self.server()
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.settimeout(20 * lib.PATIENCE)
            with self.assertRaises(ssl.SSLError):
                context.wrap_socket(s)
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.settimeout(20 * lib.PATIENCE)
            s.sendall(b"\x16" + b"\xa5" * 500)
            self.assertNotIn(b"RTSP", self.rest(s))
        self.assertTrue(self.viewer(server.secure).shown())

    @staticmethod
    def rest(s):
        all_bytes = b""
        try:
            while more := s.recv(1000):
                all_bytes += more
        except ConnectionResetError:
            pass
        return all_bytes

    def test_files_of_the_user(self):
        self.server().stop()
        server = self.sender("--tls-cert", self.path("state/tls-cert.pem"), "--tls-key", self.path("state/tls-key.pem"))
        url = re.search(r"encrypted: (rtsps://\S+)", server.stderr).group(1)
        self.assertTrue(self.viewer(url).shown())

    def test_a_proxy_with_an_encrypted_origin(self):
        server = self.server()
        origin = server.secure.replace("/live", "")
        proxy = lib.Proxy(self.folder, "--origin", origin, "--backbone", "minbuf", env=self.env)
        self.processes.append(proxy)
        self.assertTrue(self.viewer(proxy.base + "/live").shown())

    def test_a_proxy_that_serves_tls(self):
        """Encrypted on both sides; the viewer's pin is the proxy's."""
        server = self.server()
        proxy = lib.Proxy(self.folder, "--origin", server.secure.replace("/live", ""), "--backbone", "udp", "--state-dir",
                          self.path("proxy"), env=self.env)
        self.processes.append(proxy)
        url = until(lambda: re.search(r"encrypted: (rtsps://\S+)", proxy.stderr), "the URL").group(1)
        self.assertNotEqual(url.partition("pin=")[2], server.secure.partition("pin=")[2])
        for transport in "minbuf", "udp":
            p = self.viewer(url.replace("/PATH?", "/live?"), "--transport", transport)
            self.assertTrue(p.shown())
        self.assertIn(": udp, SRTP", proxy.stderr)
        self.assertIn(": udp, SRTP", server.stderr)

    def test_a_proxy_loads_the_cas_before_it_serves(self):
        """Without a pin it needs them, and loading them would hold its viewers up."""
        server = self.server()
        origin = server.secure.split("?")[0].replace("/live", "")
        proxy = lib.Proxy(self.folder, "--origin", origin, "--log", "debug", env=self.env)
        self.processes.append(proxy)
        self.assertRegex(proxy.stderr, r"(?s)CAs of the system are trusted.* at rtsp://")
        self.assertTrue(self.viewer(proxy.base + "/live").shown())
        self.assertEqual(proxy.stderr.count("CAs of the system"), 1)

    # ---- Third parties

    def test_ffmpeg(self):
        self.play_by_ffmpeg(self.server("state", *players.LEVEL).secure)

    def test_ffplay(self):
        self.play_by_ffplay(self.server("state", *players.LEVEL).secure)

    def test_gstreamer(self):
        self.play_by_gstreamer(self.server("state", *players.LEVEL).secure, "tls-validation-flags=0")

    def test_mpv(self):
        self.play_by_mpv(self.server("state", *players.LEVEL).secure)


if __name__ == "__main__":
    lib.main()
