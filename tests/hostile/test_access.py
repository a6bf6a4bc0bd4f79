# SPDX-License-Identifier: GPL-2.0-or-later
"""Guessed keys and passwords: many, long, malformed, at once. A viewer misses nothing, a valid key is served, and memory
stays bounded."""
import base64
import os
import subprocess
import time
import unittest

import lib
import rtsp

ADDRESSES = 540
EACH = 19  # below the number from which on answers are delayed
MEMORY_KB = 16 << 10


class Access(lib.Case):
    def setUp(self):
        super().setUp()
        path = self.path("access")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
            f.write("user = anna:$y$j75$abcdefghijklmnop$TZl1CrTN8GLrlgbnI64zBu4u1VjECCj161mNTdL9Yy.\nallow = anna / watch\n")
        state = self.path("state")
        self.server = self.sender("--state-dir", state, "--access", path, "--max-viewers", "1024")
        out = subprocess.run([lib.SEND, "--state-dir", state, "--invite", "/live"], stdout=subprocess.PIPE, text=True,
                             check=True, timeout=20 * lib.PATIENCE).stdout
        self.key = out.partition("?key=")[2].split("&")[0].strip()
        self.viewer = rtsp.Client(self.server.port)
        self.assertEqual(self.viewer.request("DESCRIBE", f"{self.viewer.url}?key={self.key}").status, 200)
        self.viewer.watch(level=0)

    def check(self):
        self.assertTrue(self.server.running(), str(self.server))
        self.assertTrue(self.viewer.collect_least(3))
        with rtsp.Client(self.server.port) as client:
            self.assertEqual(client.request("DESCRIBE", f"{client.url}?key={self.key}").status, 200)
        self.viewer.close()
        self.stop_cleanly(self.server)

    def test_ten_thousand_wrong_keys(self):
        before = self.server.status_kb("VmRSS")
        for number in range(ADDRESSES):
            with rtsp.Client(self.server.port, source=f"127.9.{number // 250}.{number % 250 + 1}") as client:
                keys = [base64.urlsafe_b64encode(os.urandom(21)).decode() for _ in range(EACH)]
                client.send(b"".join(client.format("DESCRIBE", f"{client.url}?key={key}") for key in keys))
                self.assertEqual({client.response().status for _ in keys}, {401})
        if lib.SLOW == 1:  # a sanitizer keeps what was freed
            self.assertLess(self.server.status_kb("VmRSS") - before, MEMORY_KB)
        self.check()

    def test_odd_ones(self):
        with rtsp.Client(self.server.port, source="127.9.9.9") as client:
            for key in "A" * 900, "A" * 300, "%00" * 9, "&key=" * 50, "=", self.key[:-1], self.key + "=", self.key.lower():
                self.assertEqual(client.request("DESCRIBE", f"{client.url}?key={key}").status, 401, key)
            self.assertIn(client.request("DESCRIBE", f"{client.url}?key={'A' * 5000}").status, (401, 404))
        with rtsp.Client(self.server.port, source="127.9.9.10") as client:
            for text in "Basic", "Basic ", "Basic ====", "Basic " + "QQ" * 2000, "Digest " + "x" * 2000, "Basic Og==", ":", \
                    "Basic " + base64.b64encode(b"anna:\0x").decode():
                self.assertEqual(client.request("DESCRIBE", headers={"Authorization": text}).status, 401, text)
        self.check()

    def test_refused_requests_keep_no_place(self):
        """Whoever is not let in has the 10 s of a first request, however often it asks; with a key it stays."""
        begin = time.monotonic()
        with rtsp.Client(self.server.port, source="127.9.9.11") as known:
            self.assertEqual(known.request("DESCRIBE", f"{known.url}?key={self.key}").status, 200)
            with rtsp.Client(self.server.port, source="127.9.9.11") as stranger:
                try:
                    deadline = lib.Deadline(10)
                    while not deadline.over():
                        for method, status in ("OPTIONS", 200), ("DESCRIBE", 401), ("NONSENSE", 501), ("PLAY", 455):
                            self.assertEqual(stranger.request(method).status, status)
                        time.sleep(0.5)  # twice a second until it is out: not a flood, which has other limits
                    self.fail("still there")
                except (rtsp.Closed, BrokenPipeError, ConnectionResetError):
                    pass
            self.assertGreater(time.monotonic() - begin, 9)
            self.assertEqual(known.request("OPTIONS").status, 200)
            self.assertFalse(known.closed(4 / lib.PATIENCE))
        self.check()

    def test_many_passwords_at_once(self):
        """Each takes the server's thread some time: others are served meanwhile, and those who leave are forgotten."""
        clients = []
        for number in range(60):
            client = rtsp.Client(self.server.port, source=f"127.9.8.{number + 1}")
            client.send(client.format("DESCRIBE", headers={"Authorization": "Basic " + base64.b64encode(
                b"anna:%d" % number).decode()}))
            clients.append(client)
        for client in clients[::2]:
            client.close()
        self.assertTrue(self.viewer.collect_least(3))
        for client in clients[1::2]:
            self.assertIn(client.response().status, (401, 503))
            client.close()
        self.check()


if __name__ == "__main__":
    lib.main()
