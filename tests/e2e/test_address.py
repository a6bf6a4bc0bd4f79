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

HOST, VIEWERS = "10.99.0.1", [f"10.99.0.{i}" for i in range(2, 9)]
CHANGED = r"its address of datagrams has changed to (\S+),"
AGAIN = "the server has validated this viewer's address again"

CHALLENGE, RESPONSE = 2, 3


def packet(subtype, value):
    return struct.pack("!BBHI4sQ", 0x80 | subtype, 204, 4, 1, b"WEIR", value)


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
        self.addCleanup(ip, "link", "del", "near", viewer=False)  # at once; with the namespace, some time later
        ip("addr", "add", f"{HOST}/24", "dev", "near", viewer=False)
        ip("link", "set", "near", "up", viewer=False)
        ip("link", "set", "lo", "up")
        ip("link", "set", "far", "up")
        ip("addr", "add", f"{VIEWERS[0]}/24", "dev", "far")
        self.address = 0

    def address_now(self):
        return VIEWERS[self.address]

    def change_address(self):
        ip("addr", "del", f"{VIEWERS[self.address]}/24", "dev", "far")
        self.address += 1
        ip("addr", "add", f"{VIEWERS[self.address]}/24", "dev", "far")
        return self.address_now()

    def translate(self, ports):
        """A NAT that translates datagrams: {port of the viewer: port that the server sees}. What comes for another port, such
        as the ones before, is dropped."""
        rules = "".join(f"add rule ip nat out udp sport {port} udp sport set {to}\n"
                        f"add rule ip nat in udp dport {to} udp dport set {port} accept\n" for port, to in ports.items())
        subprocess.run(["nsenter", "--net=/run/netns/viewer", "nft", "-f", "-"], check=True, text=True, input=f"""
            add table ip nat
            delete table ip nat
            add table ip nat
            add chain ip nat out {{ type filter hook output priority 0; }}
            add chain ip nat in {{ type filter hook prerouting priority -300; }}
            {rules}
            add rule ip nat in meta l4proto udp drop
            """)

    def ports(self, server):
        return [int(port) for port in re.findall(r"its RTC?P can go to \S+:(\d+)", server.stderr)]

    def open(self, *args, player=(), moves=True):
        """Starts a server and a viewer that receives datagrams. Returns both."""
        server = self.server("--log", "info,track=debug", *args, listen=f"{HOST}:0")
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
        self.assertEqual(len({line["session"] for line in self.stats() if "transport" in line}), 1)
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
        server = self.server("--state-dir", self.path("state"), "--log", "info,track=debug", listen=f"{HOST}:0")
        url = re.search(r"encrypted: (rtsps://\S+)", server.stderr).group(1)
        p = self.player(url, "--log", "info", prefix=["nsenter", "--net=/run/netns/viewer"])
        lib.until(lambda: p.events("moved"), "media over scream", 120)
        self.wait_more(p)
        self.follow(server, p, self.change_address())
        self.assertTrue(self.last_transport("scream")["srtp"])
        self.check(server, p)

    def test_a_nat_forgets_the_ports(self):
        """Both, then the media's, then that of the reports. The connection stays, and may carry media meanwhile."""
        server, p = self.open()
        rtp, rtcp = self.ports(server)
        for to in {rtp: 20000, rtcp: 20001}, {rtp: 20002, rtcp: 20001}, {rtp: 20002, rtcp: 20003}:
            with self.subTest(to):
                moved = len(p.events("moved"))
                self.translate(to)
                lib.until(lambda: len(p.events("moved")) > moved and p.events("moved")[-1]["transport"] == "scream",
                          "media over scream again", 120)
                self.wait_more(p)
        self.assertIn(f"{self.address_now()}:20002", self.changes(server))
        self.check(server, p)

    def test_transports_that_are_named(self):
        for transport in "scream", "tfrc", "mtp":
            with self.subTest(transport):
                server, p = self.open(player=("--transport", transport), moves=False)
                self.follow(server, p, self.change_address())
                self.check(server, p)

    # ---- Bad input

    def open_by_hand(self, server):
        """A session over scream by hand. Returns its client, its token, and the server's ports."""
        c = Client(server.port)
        self.addCleanup(c.close)
        mine = [self.bound(), self.bound()]
        ports = "-".join(str(s.getsockname()[1]) for s in mine)
        answer = c.request("SETUP", f"{c.url}/trackID=0",
                           {"Transport": f"RTP/AVPF;unicast;client_port={ports};x-weir=scream"}).headers["transport"]
        token = int(re.search(r"x-weir-token=(\w+)", answer).group(1), 16)
        at = [int(n) for n in re.search(r"server_port=(\d+)-(\d+)", answer).groups()]
        for s, port in zip(mine, at):
            prove(s, token, port)
        return c, mine, token, at

    def test_no_media_for_an_address_that_has_not_responded(self):
        """The session's token, sent from elsewhere, evokes nothing but challenges; a token of another session, or a guessed
        response, not even that."""
        server = self.server("--log", "info,track=debug")
        c, mine, token, at = self.open_by_hand(server)
        _, _, other, _ = self.open_by_hand(server)
        self.assertEqual(c.request("PLAY").status, 200)
        thief = self.bound()
        thief.settimeout(20 * lib.PATIENCE)
        for _ in range(100):
            for wrong in other, token ^ 1, 0:
                send_token(thief, wrong, at[0])
            thief.sendto(packet(RESPONSE, token), ("127.0.0.1", at[0]))
            send_token(thief, token, at[0])
        kinds = {thief.recv(65536)[:2] for _ in range(100)}
        self.assertEqual(kinds, {bytes([0x80 | CHALLENGE, 204])})
        lib.until(lambda: 400 in [line["transport"]["wrong_tokens"] for line in self.stats() if "transport" in line],
                  "the wrong tokens to be counted")
        self.assertEqual(self.changes(server), [])
        self.assertEqual(c.request("GET_PARAMETER", body="clock\r\n").status, 200)
        self.stop_cleanly(server)

    def test_an_address_that_changes_all_the_time(self):
        """Each responds: the media follows a few, and the session goes on."""
        server = self.server("--log", "info,track=debug")
        c, mine, token, at = self.open_by_hand(server)
        self.assertEqual(c.request("PLAY").status, 200)
        for _ in range(200):
            s = self.bound()
            s.settimeout(20 * lib.PATIENCE)
            send_token(s, token, at[0])
            while (got := s.recv(65536))[:2] != bytes([0x80 | CHALLENGE, 204]):
                pass
            s.sendto(packet(RESPONSE, int.from_bytes(got[12:20], "big")), ("127.0.0.1", at[0]))
            s.close()
        self.assertEqual(c.request("GET_PARAMETER", body="clock\r\n").status, 200)
        self.assertLess(len(self.changes(server)), 100)
        self.stop_cleanly(server)


if __name__ == "__main__":
    lib.main_isolated(isolate)
