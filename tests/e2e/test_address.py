#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The viewer's address changes while live media comes in datagrams: its machine gets another one, or a NAT another port for
it. The session goes on. The viewer is in a network namespace of its own."""
import re
import struct
import subprocess
import sys
import unittest

import lib

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402
from relay import Relayed  # noqa: E402
from rtsp import Client, prove, send_token  # noqa: E402

HOST, VIEWERS = "10.99.0.1", ["10.99.0.2", "10.99.0.3"]
CHANGED = r"its address of datagrams has changed to (\S+),"
AGAIN = "the server has validated this viewer's address again"


def setUpModule():
    lib.need("unshare", "nsenter", "nft", "ip")
    if not isolate.isolated():
        raise unittest.SkipTest("namespaces are not allowed here")


def ip(*words, viewer=True):
    subprocess.run(["ip", *(["-n", "viewer"] if viewer else []), *words], check=True)


class Address(Relayed):
    def setUp(self):
        super().setUp()
        ip("netns", "add", "viewer", viewer=False)
        self.addCleanup(ip, "netns", "del", "viewer", viewer=False)
        ip("link", "add", "near", "type", "veth", "peer", "name", "far", "netns", "viewer", viewer=False)
        ip("addr", "add", f"{HOST}/24", "dev", "near", viewer=False)
        ip("link", "set", "near", "up", viewer=False)
        ip("link", "set", "lo", "up")
        ip("link", "set", "far", "up")
        ip("addr", "add", f"{VIEWERS[0]}/24", "dev", "far")
        self.address = 0

    def change_address(self):
        ip("addr", "del", f"{VIEWERS[self.address]}/24", "dev", "far")
        self.address = 1 - self.address
        ip("addr", "add", f"{VIEWERS[self.address]}/24", "dev", "far")
        return VIEWERS[self.address]

    def open(self, *args, player=(), moves=True):
        """Starts a server and a viewer that receives datagrams. Returns both."""
        server = self.server("--log", "info,viewer=debug", *args, listen=f"{HOST}:0")
        p = self.player(server.url, "--log", "info", *player, prefix=["nsenter", "--net=/run/netns/viewer"])
        if moves:
            lib.until(lambda: [e["transport"] for e in p.events("moved")][-1:] == ["scream"], "media over scream", 120)
        self.wait_more(p)
        return server, p

    def wait_more(self, p, count=60):
        p.wait_shown(len(p.shown()) + count, 60)

    def changes(self, server):
        return re.findall(CHANGED, server.stderr)

    def follow(self, server, p, host):
        """Waits until the media has followed to the host, and pictures have come from there."""
        lib.until(lambda: any(a.startswith(host + ":") for a in self.changes(server)), f"media to {host}", 120)
        self.wait_more(p)

    def check(self, server, p):
        """One session, in which no picture was shown twice or before an earlier one."""
        self.interrupt(p)
        self.assertEqual(p.report()["session"]["reconnects"], 0)
        self.assertEqual(len({line["id"] for line in self.stats() if "transport" in line}), 1)
        numbers = [e["number"] for e in p.shown()]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertNotIn("impossible feedback", server.stderr)
        self.stop_cleanly(server)

    def test_another_address(self):
        """The connection is silently dead from then on. Twice: the second time it cannot help either."""
        server, p = self.open()
        for _ in range(2):
            self.follow(server, p, self.change_address())
        self.check(server, p)
        carried = p.report()["session"]["transports"]
        self.assertIn(AGAIN, " ".join(str(t["why"]) for t in carried))
        self.assertIn(AGAIN, p.stderr)

    def test_another_address_beside_an_encrypted_connection(self):
        server = self.server("--state-dir", self.path("state"), "--log", "info,viewer=debug", listen=f"{HOST}:0")
        url = re.search(r"encrypted: (rtsps://\S+)", server.stderr).group(1)
        p = self.player(url, "--log", "info", prefix=["nsenter", "--net=/run/netns/viewer"])
        lib.until(lambda: p.events("moved"), "media over scream", 120)
        self.wait_more(p)
        self.follow(server, p, self.change_address())
        self.assertTrue(self.last_transport("scream")["srtp"])
        self.check(server, p)

    def test_transports_that_are_named(self):
        for transport in "scream", "tfrc", "mtp":
            with self.subTest(transport):
                server, p = self.open(player=("--transport", transport), moves=False)
                self.follow(server, p, self.change_address())
                self.check(server, p)


if __name__ == "__main__":
    lib.main_isolated(isolate)
