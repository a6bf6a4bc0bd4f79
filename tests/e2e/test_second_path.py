#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A viewer with two networks: live media that the first one brings too late comes over the second. The viewer is in a
network namespace of its own, with a link for each network."""
import re
import subprocess
import sys
import unittest

import lib

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402
from test_address import ip, packet, setUpModule  # noqa: E402, F401

HOST = "10.98.0.1"  # the server, which both networks lead to
OPEN = "media comes over far2, too"


def in_viewer(*words, text=None):
    subprocess.run(["nsenter", "--net=/run/netns/viewer", *words], check=True, text=True, input=text)


class SecondPath(lib.Case):
    def setUp(self):
        super().setUp()
        ip("netns", "add", "viewer", viewer=False)
        self.addCleanup(ip, "netns", "del", "viewer", viewer=False)
        ip("link", "set", "lo", "up")
        ip("addr", "add", f"{HOST}/32", "dev", "lo", viewer=False)
        self.addCleanup(ip, "addr", "del", f"{HOST}/32", "dev", "lo", viewer=False)
        for i in 1, 2:
            ip("link", "add", f"near{i}", "type", "veth", "peer", "name", f"far{i}", "netns", "viewer", viewer=False)
            self.addCleanup(ip, "link", "del", f"near{i}", viewer=False)
            ip("addr", "add", f"10.98.{i}.1/24", "dev", f"near{i}", viewer=False)
            ip("link", "set", f"near{i}", "up", viewer=False)
            ip("link", "set", f"far{i}", "up")
            ip("addr", "add", f"10.98.{i}.2/24", "dev", f"far{i}")
            ip("route", "add", HOST, "via", f"10.98.{i}.1", "dev", f"far{i}", "metric", str(100 * i))

    def cut(self, link):
        """Nothing passes on this link of the viewer's from now on. Neither end gets an error."""
        in_viewer("nft", "-f", "-", text=f"""
            add table ip cut
            add chain ip cut in {{ type filter hook prerouting priority -300; }}
            add chain ip cut out {{ type filter hook postrouting priority 0; }}
            add rule ip cut in iifname {link} drop
            add rule ip cut out oifname {link} drop
            """)

    def mend(self):
        in_viewer("nft", "delete", "table", "ip", "cut")

    def open(self, *args, player=(), second="far2"):
        server = self.server("--log", "info,track=debug", *args, listen=f"{HOST}:0")
        p = self.player(server.url, "--log", "info", "--second-path", second, *player,
                        prefix=["nsenter", "--net=/run/netns/viewer"])
        p.wait_shown(30, 60)
        return server, p

    def wait_more(self, p, count=60):
        p.wait_shown(len(p.shown()) + count, 60)

    def share(self, server):
        lib.until(lambda: re.search(r"([0-9.]+) % of the bytes took its second path", server.stderr), "the share", 20)
        return float(re.search(r"([0-9.]+) % of the bytes took", server.stderr).group(1))

    def silences(self, server):
        return int(re.search(r"the first was silent (\d+) times", server.stderr).group(1))

    def test_both_work(self):
        """Hardly anything takes the second path, if the first is never silent; a busy machine may make it so."""
        def never_silent():
            server, p = self.open()
            lib.until(lambda: OPEN in p.stderr, "the second path", 20)
            self.wait_more(p, 200)
            self.interrupt(p)
            share, report = self.share(server), p.report()
            self.assertEqual(report["session"]["reconnects"], 0)
            self.stop_cleanly(server)
            return self.silences(server) == 0 and (share, report["network"])
        judged = never_silent() or never_silent()
        if not judged:
            self.skipTest("this machine is busy: the first path was silent twice")
        share, network = judged
        self.assertLess(share, 12)
        self.between(1, network["second_path_bytes"], 0.12 * network["bytes_received"])

    def test_the_first_is_cut(self):
        """The media goes on over the second, and returns. Without it nothing would come until the cut ends."""
        server, p = self.open()
        lib.until(lambda: OPEN in p.stderr, "the second path", 20)
        self.wait_more(p)
        for _ in range(2):
            self.cut("far1")
            self.wait_more(p, 90)
            self.mend()
            self.wait_more(p, 90)
        self.interrupt(p)
        report = p.report()
        self.share(server)
        self.assertGreaterEqual(self.silences(server), 1)
        self.assertEqual(report["session"]["reconnects"], 0)
        numbers = [e["number"] for e in p.shown()]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.stop_cleanly(server)

    def test_the_second_is_cut(self):
        server, p = self.open()
        lib.until(lambda: OPEN in p.stderr, "the second path", 20)
        self.cut("far2")
        self.wait_more(p, 150)
        self.interrupt(p)
        self.assertEqual(p.report()["session"]["reconnects"], 0)
        self.stop_cleanly(server)

    def test_by_address(self):
        server, p = self.open(second="10.98.2.2")
        lib.until(lambda: "media comes over 10.98.2.2, too" in p.stderr, "the second path", 20)
        self.interrupt(p)
        self.stop_cleanly(server)

    def test_srtp(self):
        server = self.server("--state-dir", self.path("state"), "--log", "info,track=debug", listen=f"{HOST}:0")
        url = re.search(r"encrypted: (rtsps://\S+)", server.stderr).group(1)
        p = self.player(url, "--log", "info", "--second-path", "far2", prefix=["nsenter", "--net=/run/netns/viewer"])
        lib.until(lambda: OPEN in p.stderr, "the second path", 60)
        p.wait_shown(30, 60)
        self.cut("far1")
        self.wait_more(p, 90)
        self.interrupt(p)
        self.assertGreaterEqual(self.share(server), 1)
        self.stop_cleanly(server)

    def test_no_such_network(self):
        """One line says so, and playing goes on."""
        server, p = self.open(second="nowhere0")
        self.wait_more(p, 10)
        self.interrupt(p)
        self.assertEqual(p.stderr.count("no second path"), 1)
        self.stop_cleanly(server)


if __name__ == "__main__":
    lib.main_isolated(isolate)
