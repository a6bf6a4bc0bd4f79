#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The viewer's address changes while media comes: its machine gets another one, or a NAT another port for it. The session
goes on, and its requests over another connection. The viewer is in a network namespace of its own."""
import contextlib
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import unittest

import lib

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402
from relay import Relayed  # noqa: E402
from rtsp import Client, Closed, prove, send_token  # noqa: E402

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

    def attached(self, server, host=""):
        return re.findall(rf"its session goes on over the connection of ({re.escape(host)}\S*:\d+)", server.stderr)

    def attach(self, server, p, host):
        """Waits until the session's requests come over a connection of the host, and pictures have come since."""
        lib.until(lambda: self.attached(server, host), f"a connection of {host}", 120)
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
        """Twice: the connection is silently dead from then on, and another one takes its place."""
        server, p = self.open()
        for _ in range(2):
            host = self.change_address()
            self.follow(server, p, host)
            self.attach(server, p, host)
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
        host = self.change_address()
        self.follow(server, p, host)
        self.attach(server, p, host)
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

    def test_requests_from_another_address(self):
        """The viewer pauses, goes on and chooses a level again and again: the server serves that from there, too."""
        actions = [f"{6 * i + at}:{what}" for i in range(1, 11)
                   for at, what in enumerate(("pause", "go-on", f"level={3 * (i % 2)}"))]
        server, p = self.open(player=("--adapt", "none", *(word for action in actions for word in ("--at", action))))
        host = self.change_address()
        self.attach(server, p, host)
        since = p.shown()[-1]["t"]
        lib.until(lambda: re.search(rf"viewer {host}:\d+ plays level", server.stderr), "PLAY after a pause", 120)
        lib.until(lambda: [e for e in p.events("level") if e["t"] > since and e["why"] == "user"], "another level", 120)
        self.check(server, p)

    def test_media_over_the_connection(self):
        for transport in "minbuf", "tcp":
            with self.subTest(transport):
                server, p = self.open(player=("--transport", transport), moves=False)
                for _ in range(2):
                    self.attach(server, p, self.change_address())
                self.assertEqual(p.events("moved"), [])
                self.check(server, p)

    def test_a_film_over_the_connection(self):
        """What is lost on the way cannot be left out of a film: the viewer connects again, while it plays what it has."""
        server = self.server("--log", "info", listen=f"{HOST}:0", source=self.clip(seconds=60))
        p = self.player(server.url, "--log", "info", "--reconnect", prefix=["nsenter", "--net=/run/netns/viewer"])
        p.wait_shown(10, 60)
        self.change_address()
        lib.until(lambda: len(p.events("reconnect")) > 0, "another session", 60)
        self.wait_more(p)
        self.interrupt(p)
        self.assertIn("the address that this machine had is gone", p.stderr)
        self.assertEqual(p.report()["session"]["reconnects"], 1)
        numbers = [e["number"] for e in p.shown()]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.stop_cleanly(server)

    def test_a_connection_that_is_cut(self):
        """By what is between, which resets it or drops its packets: the server does not learn of it."""
        for how, args in (("reject with tcp reset", ()), ("drop", ()), ("drop", ("--transport", "minbuf"))):
            with self.subTest(how=how, args=args):
                server, p = self.open(player=args, moves=not args)
                port = re.search(rf"viewer {self.address_now()}:(\d+) plays", server.stderr).group(1)
                subprocess.run(["nsenter", "--net=/run/netns/viewer", "nft", "-f", "-"], check=True, text=True, input=f"""
                    add table ip cut
                    add chain ip cut out {{ type filter hook output priority 0; }}
                    add rule ip cut out tcp sport {port} {how}
                    """)
                self.attach(server, p, self.address_now())
                self.assertEqual(self.changes(server), [])
                self.check(server, p)

    def test_a_connection_that_the_server_closes_before_its_response_is_read(self):
        """The session goes on over the second one, as the server has said there."""
        server = self.server("--log", "info", listen="127.0.0.1:0")
        relay = self.relay(server.port)
        p = self.player(relay.url, "--log", "info", "--transport", "minbuf")
        self.wait_more(p)
        relay.away = True
        relay.listener.settimeout(60 * lib.PATIENCE)
        near = relay.listener.accept()[0]
        far = socket.create_connection(("127.0.0.1", server.port))
        for s in near, far:
            self.addCleanup(s.close)
            s.settimeout(60 * lib.PATIENCE)
        far.sendall(near.recv(65536))
        relay.upstream.settimeout(60 * lib.PATIENCE)
        with contextlib.suppress(ConnectionResetError):
            while relay.upstream.recv(65536):
                pass
        relay.downstream.shutdown(socket.SHUT_WR)
        time.sleep(.5)  # the player reads that first
        for a, b in (near, far), (far, near):
            threading.Thread(target=self.forward, args=(a, b), daemon=True).start()
        self.wait_more(p)
        self.check(server, p)

    @staticmethod
    def forward(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def test_transports_that_are_named(self):
        for transport in "scream", "tfrc", "mtp":
            with self.subTest(transport):
                server, p = self.open(player=("--transport", transport), moves=False)
                self.follow(server, p, self.change_address())
                self.check(server, p)

    # ---- Bad input

    def playing(self, server, encrypted=False):
        """A session over the connection by hand. Returns its client and its secret."""
        c = self.connect(server, encrypted)
        answer = c.request("SETUP", f"{c.url}/trackID=0", {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp",
                                                           "X-Weir-Attach": "wanted"})
        self.assertEqual(c.request("PLAY").status, 200)
        return c, answer.headers["x-weir-attach"]

    def connect(self, server, encrypted=False):
        c = Client(server.port)
        self.addCleanup(c.close)
        if encrypted:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            c.socket = context.wrap_socket(c.socket)
        return c

    def ask(self, server, session, secret, encrypted=False):
        """Asks for a session on a connection of its own. Returns the client, and the status."""
        c = self.connect(server, encrypted)
        status = c.request("OPTIONS", headers={"Session": session, "X-Weir-Attach": secret}).status
        c.session = session
        return c, status

    def assert_closed(self, c):
        with self.assertRaises((Closed, ConnectionError)):
            while True:
                c.item()

    def sessions(self):
        return {line["session"] for line in self.stats() if "transport" in line}

    def test_wrong_secrets(self):
        """A secret of another session, a guessed one, none, and the right one for a session that there is not: each costs its
        connection. From a number of them on the address waits."""
        server = self.server("--log", "info")
        c, secret = self.playing(server)
        other, others = self.playing(server)
        for session, wrong in ((c.session, others), (other.session, secret), (c.session, "0" * 32), (c.session, "x"),
                               ("0" * 16, secret), ("", secret), (c.session, secret + "0")):
            with self.subTest(session=session, secret=wrong):
                asked, status = self.ask(server, session, wrong)
                self.assertEqual(status, 454)
                self.assert_closed(asked)
        for _ in range(30):
            status = self.ask(server, c.session, "0" * 32)[1]
        self.assertEqual(status, 503)
        self.assertEqual(self.attached(server), [])
        for session in c, other:
            self.assertEqual(session.request("GET_PARAMETER", body="clock\r\n").status, 200)
        self.stop_cleanly(server)

    def test_a_connection_that_changes_all_the_time(self):
        """A few of a hundred are served, each closes the one before, and the session goes on over the last one."""
        server = self.server("--log", "info")
        c, secret = self.playing(server)
        served = []
        begun = time.monotonic()
        for _ in range(100):
            asked, status = self.ask(server, c.session, secret)
            self.assertIn(status, (200, 503))
            if status == 200:
                self.assert_closed(served[-1] if served else c)
                served.append(asked)
            else:
                self.assert_closed(asked)
        self.assertGreaterEqual(len(served), 4)
        self.assertLessEqual(len(served), 5 + time.monotonic() - begun)
        self.assertEqual(served[-1].request("PAUSE").status, 200)
        self.assertEqual(served[-1].request("PLAY").status, 200)
        before = len(served[-1].frames)
        while len(served[-1].frames) < before + 10:
            served[-1].request("GET_PARAMETER", body="clock\r\n")
        lib.until(lambda: len(self.sessions()) == 1, "the session in the stats", 60)
        self.assertEqual(served[-1].request("TEARDOWN").status, 200)
        self.assertEqual(self.ask(server, c.session, secret)[1], 454)
        self.stop_cleanly(server)

    def test_an_encrypted_session_stays_encrypted(self):
        server = self.server("--state-dir", self.path("state"), "--log", "info")
        c, secret = self.playing(server, encrypted=True)
        self.assertEqual(self.ask(server, c.session, secret)[1], 454)
        asked, status = self.ask(server, c.session, secret, encrypted=True)
        self.assertEqual(status, 200)
        self.assertEqual(asked.request("PAUSE").status, 200)
        self.stop_cleanly(server)

    def test_a_session_waits_for_another_connection(self):
        """One whose connection breaks does, if media does not end with it; one whose viewer closes it ends."""
        server = self.server("--log", "info,track=debug")
        for breaks in True, False:
            with self.subTest(breaks=breaks):
                c, mine, token, at, secret = self.open_by_hand(server, "wanted")
                self.assertEqual(c.request("PLAY").status, 200)
                if breaks:
                    c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                gone = server.stderr.count(" is gone")
                c.socket.close()
                if not breaks:
                    lib.until(lambda: server.stderr.count(" is gone") > gone, "the session's end")
                asked, status = self.ask(server, c.session, secret)
                self.assertEqual(status, 200 if breaks else 454)
                if breaks:
                    self.assertEqual(asked.request("PAUSE").status, 200)
        self.stop_cleanly(server)

    def open_by_hand(self, server, attach=None):
        """A session over scream by hand. Returns its client, its sockets, its token, and the server's ports; with `attach`
        also the secret."""
        c = Client(server.port)
        self.addCleanup(c.close)
        mine = [self.bound(), self.bound()]
        ports = "-".join(str(s.getsockname()[1]) for s in mine)
        headers = c.request("SETUP", f"{c.url}/trackID=0", {"Transport": f"RTP/AVPF;unicast;client_port={ports};x-weir=scream",
                                                            "X-Weir-Attach": attach}).headers
        answer = headers["transport"]
        token = int(re.search(r"x-weir-token=(\w+)", answer).group(1), 16)
        at = [int(n) for n in re.search(r"server_port=(\d+)-(\d+)", answer).groups()]
        for s, port in zip(mine, at):
            prove(s, token, port)
        return (c, mine, token, at, headers["x-weir-attach"]) if attach else (c, mine, token, at)

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
