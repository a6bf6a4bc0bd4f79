#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Live media begins over the RTSP connection and moves beside it where UDP passes; it comes back when UDP dies, and moves
again. UDP is blocked on the loopback of a namespace. A busy machine may move media back and forth once more: the tests
look for what must happen, and at what must not be lost, whatever the number of moves."""
import re
import sys
import unittest

import lib

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402
from relay import Relayed  # noqa: E402
from rtsp import Client, prove, send_token  # noqa: E402
from test_auto import HOST, block  # noqa: E402

BESIDE = "X-Weir-Beside"


def setUpModule():
    lib.need("unshare", "nsenter", "nft")
    if not isolate.isolated():
        raise unittest.SkipTest("namespaces are not allowed here")


class Moves(Relayed):
    def tearDown(self):
        block("")
        super().tearDown()

    def wait_moved(self, p, transport, count=1):
        """Waits until media has moved so often, the last time to this transport."""
        def moved():
            moves = [e["transport"] for e in p.events("moved")]
            return len(moves) >= count and moves[-1] == transport
        lib.until(moved, f"media over {transport}", 120)
        return len(p.events("moved"))

    def wait_more(self, p, count=30):
        p.wait_shown(len(p.shown()) + count, 60)

    def names(self, p):
        return [t["transport"] for t in p.report()["session"]["transports"]]

    def check_pictures(self, p):
        """None was shown twice or before an earlier one."""
        numbers = [e["number"] for e in p.shown()]
        self.assertEqual(numbers, sorted(set(numbers)))

    def moves(self, url):
        p = self.player(url)
        self.wait_moved(p, "scream")
        self.wait_more(p)
        self.interrupt(p)
        report = p.report()
        self.assertEqual(report["session"]["transport"], "minbuf")
        self.assertEqual(self.names(p)[:2], ["minbuf", "scream"])
        carried = report["session"]["transports"]
        self.assertEqual([t["to"] for t in carried[:-1]], [t["from"] for t in carried[1:]])
        self.assertEqual(carried[-1]["to"], report["session"]["duration"])
        self.check_pictures(p)
        return p

    def test_where_udp_passes(self):
        server = self.server(listen=f"{HOST}:0")
        p = self.moves(server.url)
        if self.names(p) == ["minbuf", "scream"]:  # it was never taken for lost
            report = p.report()
            self.assertEqual(report["network"]["packets_lost"], 0)
            self.assertEqual(report["playback"]["frames_undecodable"], 0)
        self.assertGreater(p.report()["audio"]["packets"], 0)
        self.assertEqual(self.last_transport("scream")["wrong_tokens"], 0)
        self.stop_cleanly(server)

    def test_beside_an_encrypted_connection(self):
        """As SRTP."""
        server = self.server("--state-dir", self.path("state"), listen=f"{HOST}:0")
        self.moves(re.search(r"encrypted: (rtsps://\S+)", server.stderr).group(1))
        self.assertTrue(self.last_transport("scream")["srtp"])
        self.stop_cleanly(server)

    def test_through_a_proxy(self):
        server = self.server()
        proxy = self.proxy("--origin", f"rtsp://127.0.0.1:{server.port}", listen=f"{HOST}:0")
        self.moves(proxy.base + "/live")
        self.stop_cleanly(proxy)
        self.stop_cleanly(server)

    def test_where_udp_is_blocked(self):
        """Both ways, and either one: nothing is sent into a path that is not known to pass."""
        server = self.server(listen=f"{HOST}:0")
        for what in "meta l4proto udp drop", f"ip saddr {HOST} meta l4proto udp drop", f"ip daddr {HOST} meta l4proto udp drop":
            with self.subTest(what):
                block(what)
                p = self.see(server.url, frames=60)
                self.assertEqual(self.names(p), ["minbuf"])
                self.assertEqual(p.events("moved"), [])
                self.check_pictures(p)
        self.assertNotIn("media moves", server.stderr)
        self.stop_cleanly(server)

    def test_udp_is_cut_in_mid_stream(self):
        """Either way: the session goes on over the connection, and beside it once UDP passes again."""
        server = self.server(listen=f"{HOST}:0")
        for what in "meta l4proto udp drop", f"ip saddr {HOST} meta l4proto udp drop", f"ip daddr {HOST} meta l4proto udp drop":
            with self.subTest(what):
                p = self.player(server.url)
                count = self.wait_moved(p, "scream")
                self.wait_more(p)
                block(what)
                count = self.wait_moved(p, "minbuf", count + 1)
                self.wait_more(p)
                block("")
                self.wait_moved(p, "scream", count + 1)
                self.wait_more(p)
                self.interrupt(p)
                self.assertEqual(p.report()["session"]["reconnects"], 0)
                self.check_pictures(p)
        self.stop_cleanly(server)

    def test_a_transport_that_is_named_stays(self):
        server = self.server(listen=f"{HOST}:0")
        p = self.see(server.url, "--transport", "minbuf", frames=30)
        self.assertEqual(self.names(p), ["minbuf"])
        self.stop_cleanly(server)

    def test_an_older_server(self):
        server = self.server()
        relay = self.relay(server.port, replaced={BESIDE.encode(): b"X-Weir-Nobody"})
        p = self.see(relay.url, frames=60)
        self.assertEqual(self.names(p), ["minbuf"])
        self.assertEqual(p.events("moved"), [])
        self.stop_cleanly(server)

    # ---- Bad input

    def open_beside(self, server, beside):
        """Sets up a session over the connection, with this second path. Returns the client and the answer's header."""
        c = Client(server.port)
        self.addCleanup(c.close)
        headers = {"Transport": "RTP/AVP/TCP;interleaved=0-1;x-weir=minbuf", BESIDE: beside}
        answer = c.request("SETUP", f"{c.url}/trackID=0", headers)
        self.assertEqual(answer.status, 200)
        return c, answer.headers.get(BESIDE.lower())

    def test_transports_that_the_server_lacks(self):
        server = self.server()
        for beside in "", "x", "RTP/AVPF;unicast;client_port=9-10;x-weir=pigeon", "RTP/AVP/TCP;interleaved=2-3;x-weir=tcp":
            with self.subTest(beside):
                c, answer = self.open_beside(server, beside)
                self.assertIsNone(answer)
                self.assertEqual(c.request("SET_PARAMETER", body="path: beside\r\n").status, 451)
        self.stop_cleanly(server)

    def test_media_goes_to_no_address_that_has_not_answered(self):
        server = self.server()
        mine = [self.bound(), self.bound()]
        ports = "-".join(str(s.getsockname()[1]) for s in mine)
        beside = f"RTP/AVPF;unicast;client_port={ports};x-weir=scream"
        (a, first), (b, second) = (self.open_beside(server, beside) for _ in range(2))
        token, other = (int(re.search(r"x-weir-token=(\w+)", t).group(1), 16) for t in (first, second))
        at = [int(n) for n in re.search(r"server_port=(\d+)-(\d+)", first).groups()]

        def move():
            return a.request("SET_PARAMETER", body="path: beside\r\n").status
        self.assertEqual(move(), 451)
        for s, port in zip(mine, at):
            for wrong in 0, other, token ^ 1:  # `other` is of another session
                send_token(s, wrong, port)
        lib.until(lambda: 6 in [line["transport"]["wrong_tokens"] for line in self.stats() if "transport" in line],
                  "the wrong tokens to be counted")
        self.assertEqual(move(), 451)
        prove(mine[0], token, at[0])
        self.assertEqual(move(), 451, "one port is not enough")
        prove(mine[1], token, at[1])
        self.assertEqual(a.request("PLAY").status, 200)
        for _ in range(100):
            self.assertEqual(move(), 200)
        mine[0].settimeout(20 * lib.PATIENCE)
        self.assertEqual(mine[0].recv(65536)[0] >> 6, 2)
        b.close()
        self.stop_cleanly(server)


if __name__ == "__main__":
    lib.main_isolated(isolate)
