#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A list of transports: the player uses the first that the server offers and that works on the network, and reports why.
The other transports are blocked on the loopback of a namespace."""
import subprocess
import sys
import unittest

import lib

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402
from relay import Relayed  # noqa: E402

HOST = "127.0.0.2"  # the server's; its viewers have 127.0.0.1
MEDIA = 8557
WITHOUT = ("setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw")
SILENT = "the server is not heard in time"
LIST = "scream,mtp,mtp-raw,minbuf"
# What is blocked, what is taken, what is said of the others.
TABLE = [
    ("", "scream", []),
    ("meta l4proto udp drop", "mtp-raw", [f"scream: {SILENT}", f"mtp: {SILENT}"]),
    (f"ip saddr {HOST} meta l4proto udp drop", "mtp-raw", [f"mtp: {SILENT}"]),  # one way only
    (f"meta l4proto udp drop; tcp dport {MEDIA} drop", "minbuf", [f"mtp: {SILENT}", f"mtp-raw: {SILENT}"]),
    (f"meta l4proto udp drop; tcp sport {MEDIA} drop", "minbuf", [f"mtp: {SILENT}", f"mtp-raw: {SILENT}"]),
    (f"meta l4proto udp drop; tcp dport {MEDIA} reject with tcp reset", "minbuf",
     [f"mtp: {SILENT}", "mtp-raw: the server's media port refuses TCP"]),
]


def setUpModule():
    lib.need("unshare", "nsenter", "nft", "setpriv")
    if not isolate.isolated():
        raise unittest.SkipTest("namespaces are not allowed here")


def block(what):
    rules = "; ".join(f"add rule inet block out {rule}" for rule in what.split("; ") if rule)
    subprocess.run(["nft", "add table inet block; delete table inet block; add table inet block; "
                    "add chain inet block out { type filter hook output priority 0; }; " + rules], check=True)


class Auto(Relayed):
    def tearDown(self):
        block("")
        super().tearDown()

    def taken(self, url, transport, *args, **options):
        """Plays, and returns the player. It waits for 0.5 s for the server, which may be longer on a busy machine: if the
        transport that the network lets through was given up for that, it plays again."""
        def play():
            p = self.play(url(), "--transport", LIST, "--duration", "3", *args, **options)
            return p.shown() and f"{transport}: {SILENT}" not in p.report()["session"]["transport_why"] and p
        return lib.until(play, f"{transport} to be heard", 60)

    def choose(self, server, expected, *args, prefix=()):
        p = self.taken(lambda: server.url, expected, *args, prefix=prefix)
        r = p.report()
        connected = p.events("connected")[0]
        self.assertEqual(connected["why"], r["session"]["transport_why"])
        self.assertEqual(connected["transport"], r["session"]["transport"])
        self.assertTrue(p.shown(), str(p))
        self.assertEqual(r["ended"], "duration")
        return p, r["session"]["transport"], r["session"]["transport_why"]

    def test_what_the_network_lets_through(self):
        server = self.server("--mtp-port", str(MEDIA), listen=f"{HOST}:0")
        for what, taken, reasons in TABLE:
            with self.subTest(what):
                block(what)
                p, transport, why = self.choose(server, taken, "--log", "info")
                self.assertEqual(transport, taken, why)
                self.assertNotIn("not mtp:", p.stderr, "UDP was tried twice")
                for reason in reasons:
                    self.assertIn(reason, why)
                self.assertEqual("the server responded after" in why, taken != "minbuf", why)
        self.stop_cleanly(server)

    def test_two_modes_of_one_port(self):
        """The fault of the port is reported for both transports."""
        server = self.server("--mtp-port", str(MEDIA), listen=f"{HOST}:0")
        block(f"tcp dport {MEDIA} reject with tcp reset")
        p = self.play(server.url, "--transport", "mtp-raw:strict,mtp-raw:resend,minbuf", "--duration", "1")
        session = p.report()["session"]
        self.assertEqual(session["transport"], "minbuf")
        self.assertEqual(session["transport_why"].count("the server's media port refuses TCP"), 2)
        self.stop_cleanly(server)

    def test_without_the_capability(self):
        block("meta l4proto udp drop")
        server = self.server("--mtp-port", str(MEDIA), listen=f"{HOST}:0")
        p, transport, why = self.choose(server, "minbuf", prefix=WITHOUT)
        self.assertEqual(transport, "minbuf")
        self.assertIn("mtp-raw: TCP segments of our own need the capability CAP_NET_RAW", why)
        self.assertEqual(p.stderr.count("setcap cap_net_raw+ep"), 1, p.stderr)
        block("")
        p, transport, why = self.choose(server, "scream", prefix=WITHOUT)
        self.assertEqual((transport, p.stderr), ("scream", ""), "nothing is missed")
        for choice in "mtp-raw", "mtp-raw:strict,mtp-raw:fill":
            p = self.play(server.url, "--transport", choice, code=3, prefix=WITHOUT)
            self.assertIn("setcap cap_net_raw+ep", p.stderr, choice)
            self.assertIn("no transport of the list is available", p.stderr)
        self.stop_cleanly(server)

    def test_a_server_without_it(self):
        block("meta l4proto udp drop")
        server = self.server(prefix=WITHOUT)
        _, transport, why = self.choose(server, "minbuf")
        self.assertEqual(transport, "minbuf")
        self.assertIn("mtp-raw: the server did not choose it", why)
        self.stop_cleanly(server)

    def test_a_server_without_scream(self):
        server = self.server()
        without = {b"x-weir=scream": b"x-weir=absent"}
        session = self.taken(lambda: self.relay(server.port, replaced=without).url, "mtp").report()["session"]
        self.assertEqual(session["transport"], "mtp")
        self.assertIn("scream: the server did not choose it", session["transport_why"])
        self.stop_cleanly(server)

    def test_stored_media(self):
        """A file goes over TCP, and stays there."""
        server = self.server(source=self.clip())
        session = self.play(server.url, "--transport", "auto", "--duration", "3").report()["session"]
        self.assertEqual(session["transport"], "minbuf")
        self.assertIsNone(session["transport_why"], "nothing else was tried")
        self.assertEqual([t["transport"] for t in session["transports"]], ["minbuf"])
        self.stop_cleanly(server)

    def test_one_alone_is_no_choice(self):
        server = self.server()
        p = self.play(server.url, "--transport", "mtp", "--duration", "1")
        self.assertIsNone(p.report()["session"]["transport_why"])
        self.stop_cleanly(server)


if __name__ == "__main__":
    lib.main_isolated(isolate)
