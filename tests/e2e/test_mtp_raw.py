#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""MTP in TCP segments through a NAT router that admits TCP to one port, only, and drops what its connection tracking
calls invalid (firewall.py). Negative controls show that its counters count.
Without the right to make namespaces, the module starts itself again in a user namespace. Skipped without nft.
"""
import json
import os
import struct
import subprocess
import sys
import unittest

import lib
from firewall import Network, set_up

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402

PROBE = os.path.join(lib.BUILD, "mtp_raw_probe")
PORT = 443
SLOT_BYTES = 1348
MEASURED = []


def setUpModule():
    set_up(isolate)


def tearDownModule():
    for row in MEASURED:
        print(f"  {row}")


class Raw(lib.Case):
    def serve(self, net, *args):
        p = self.start(net.command("server", PROBE, "serve", f"{net.server}:{PORT}", *map(str, args)))
        lib.until(lambda: "ready" in p.stderr or not p.running(), "the server")
        self.assertTrue(p.running(), str(p))
        return p

    def fetch(self, net, window=4096):
        return self.start(net.command("client", PROBE, "fetch", f"{net.server}:{PORT}", str(window)))

    def result(self, p, seconds):
        self.assertEqual(p.wait(seconds), 0, str(p))
        return json.loads(p.stdout)


class Firewall(Raw):
    def stream(self, mode, seconds):
        net = Network(self, "0.5%")
        server = self.serve(net, mode, 4e6, seconds)
        client = self.fetch(net)
        c, s = self.result(client, seconds + 20), self.result(server, 20)
        MEASURED.append(f"{mode}: {s['slots']} slots, {s['bytes']} bytes from ISN {s['isn']:#x}; delivered "
                        f"{c['delivered']}/{s['pushed']}, marked {c['marked']}, fast recoveries "
                        f"{s['fast_recoveries']}, timeouts {s['timeouts']}; latency p50 {c.get('p50', 0) / 1e3:.1f}, "
                        f"p99 {c.get('p99', 0) / 1e3:.1f}, p99.9 {c.get('p999', 0) / 1e3:.1f} ms; "
                        f"invalid {net.invalid()}")
        self.assertEqual(net.invalid(), (0, 0, 0))
        self.assertGreater(s["isn"] + s["bytes"], 1 << 32)  # across the wrap
        self.assertGreater(s["slots"], 20 * seconds)
        self.assertEqual((c["duplicates"] if mode == "strict" else 0, c["forged"], s["strangers"], s["lies"]),
                         (0, 0, 0, 0))
        self.assertEqual((c["end"], s["end"]), (0, 0))  # FINs both ways
        return c, s

    def test_strict(self):
        c, s = self.stream("strict", 8)
        self.assertGreater(c["marked"], 0)
        # What is lost is never sent again.
        self.between(0.5 * s["pushed"], c["delivered"], 0.999 * s["pushed"])

    @unittest.skipIf(lib.SLOW > 1, "one of both is enough")
    def test_fill(self):
        _, s = self.stream("fill", 6)
        self.assertGreater(s["fills"], 0)

    @lib.long
    def test_other_sequence_numbers(self):
        """A firewall after the router renumbers the connection, but not its SACK blocks."""
        net = Network(self, "0.5%", renumber=PORT, below_wrap=1 << 17, with_sack=False)
        server = self.serve(net, "strict", 4e6, 8)
        client = self.fetch(net)
        c, s = self.result(client, 30), self.result(server, 20)
        (seen,) = net.box.connections.values()
        MEASURED.append(f"renumbered, {net.box.sacks} SACK blocks left as they are: {s['slots']} slots, delivered "
                        f"{c['delivered']}/{s['pushed']}, {seen.across} segments behind the wrap; invalid {net.invalid()}")
        self.assertEqual(net.invalid(), (0, 0, 0))
        self.assertGreater(net.box.sacks, 0)
        self.assertGreater(seen.across, 0)
        self.assertGreater(s["slots"], 20 * 8)
        self.assertEqual((c["duplicates"], c["forged"], s["strangers"], s["lies"]), (0, 0, 0, 0))
        self.between(0.5 * s["pushed"], c["delivered"], 0.999 * s["pushed"])
        self.assertEqual((c["end"], s["end"]), (0, 0))

    def test_the_firewall_admits_nothing_else(self):
        net = Network(self, "")
        sender = "import socket; s = socket.socket(2, 2); [s.sendto(b'x', ('%s', 443)) for _ in range(5)]" % net.server
        net.run("client", sys.executable, "-c", sender)
        lib.until(lambda: net.counters()["c_udp"] == 5, "five UDP packets to be dropped")


class Controls(Raw):
    """The firewall of this test detects faults."""

    def test_bad_checksums(self):
        net = Network(self, "")
        server = self.serve(net, "strict", 4e6, 4, "bad-sums")
        client = self.fetch(net)
        self.result(client, 20)
        self.result(server, 20)
        forward, own, stat = net.invalid()
        MEASURED.append(f"wrong checksums: invalid {(forward, own, stat)}")
        self.assertGreater(forward + own, 10)
        self.assertGreater(stat, 10)

    def test_beyond_the_window(self):
        net = Network(self, "", "40ms")
        server = self.serve(net, "strict", 40e6, 100, "no-window")
        client = self.fetch(net, 4)
        lib.until(lambda: sum(net.invalid()[:2]) > 0 and net.invalid()[2] > 0, "what is invalid", 20)
        client.stop()
        server.stop()
        forward, own, stat = net.invalid()
        MEASURED.append(f"window of 4 slots ignored: invalid {(forward, own, stat)}")
        self.assertGreater(forward + own, 0)
        self.assertGreater(stat, 0)


class Interoperation(Raw):
    def test_the_kernels_tcp_receives_what_fill_sends(self):
        net = Network(self, "0.5%")
        server = self.serve(net, "fill", 4e6, 8)
        hello = bytes.fromhex(subprocess.run([PROBE, "hello"], check=True, capture_output=True, text=True).stdout)
        code = ("import socket, sys; s = socket.create_connection((sys.argv[1], 443)); s.sendall(bytes.fromhex("
                "sys.argv[2]))\nwhile True:\n  b = s.recv(65536)\n  if not b: break\n  sys.stdout.buffer.write(b)")
        out = self.path("received")
        with open(out, "wb") as f:
            done = subprocess.run(net.command("client", sys.executable, "-c", code, net.server, hello.hex()), stdout=f,
                                  timeout=60)
        self.assertEqual(done.returncode, 0)
        s = self.result(server, 20)
        with open(out, "rb") as f:
            data = f.read()
        self.assertEqual(len(data), s["slots"] * SLOT_BYTES)
        numbers = set()
        for slot in range(s["slots"]):
            magic, _, length, number, at = struct.unpack_from(">BBHII", data, slot * SLOT_BYTES + 8)
            self.assertEqual((magic, at), (0x51, slot))
            self.assertNotIn(number, numbers)  # new data each time
            numbers.add(number)
        MEASURED.append(f"kernel client: {len(data)} bytes, {s['slots']} slots in order, {s['fills']} fills; invalid "
                        f"{net.invalid()}")
        self.assertGreater(s["fills"], 0)
        self.assertEqual(net.invalid(), (0, 0, 0))


class Loopback(Raw):
    def test_both_families(self):
        for address in "127.0.0.1", "[::1]":
            with self.subTest(address=address):
                server = self.start([PROBE, "serve", f"{address}:{PORT}", "strict", "50e6", "1"])
                lib.until(lambda: "ready" in server.stderr or not server.running(), "the server")
                client = self.start([PROBE, "fetch", f"{address}:{PORT}", "16384"])
                c, s = self.result(client, 20), self.result(server, 20)
                self.assertGreater(c["delivered"], 100)
                self.assertEqual((c["forged"], c["strangers"], s["strangers"], s["lies"]), (0, 0, 0, 0))


class Capability(Raw):
    def test_without_it_one_line_says_what_to_do(self):
        lib.need("setpriv")
        p = self.start(["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw", PROBE, "fetch",
                        "127.0.0.1:443", "100"])
        self.assertEqual(p.wait(), 3, str(p))
        self.assertEqual(len(p.stderr.splitlines()), 1)
        self.assertIn("setcap cap_net_raw+ep", p.stderr)


if __name__ == "__main__":
    lib.main_isolated(isolate)
