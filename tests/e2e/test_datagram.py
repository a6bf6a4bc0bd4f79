# SPDX-License-Identifier: GPL-2.0-or-later
"""Datagram transports on real sockets: their rate controllers, path validation, feedback, and paths that fail."""
import contextlib
import re
import select
import signal
import socket
import struct
import time

import lib
from relay import Relayed
from rtsp import Client, Rtp, prove, send_token

# What each controller tells of itself.
VARIABLES = {"udp": {"rate"}, "psp": {"spacing"}, "psp-plain": {"spacing"}, "tfrc": {"p", "X"}, "arc": {"w", "B"},
             "scream": {"ref_wnd", "qdelay"}}


class Transports(Relayed):
    def test_each_streams_and_tells_its_variables(self):
        server = self.server()
        players = {name: self.player(server.url, "--transport", name, "--no-picture") for name in VARIABLES}
        for name, variables in VARIABLES.items():
            with self.subTest(name):
                p = players[name]
                lib.until(lambda p=p: len(p.events("controller")) >= 2 or not p.running(), "the controller's variables", 20)
                lib.until(lambda name=name: self.last_transport(name)["feedback"]["reports"] > 3, "reports", 20)
                r = self.end_after(p, 4).report()
                self.assertEqual(r["session"]["transport"], name)
                told = p.events("controller")
                self.assertLessEqual(variables, set(told[-1]))
                self.assertGreater(told[-1]["allowed"], 0)
                t = self.last_transport(name)
                self.assertLessEqual(variables, set(t["controller"]))
                f = t["feedback"]
                self.between(1, f["arrived"], f["packets"])
                self.assertEqual((f["lies"], f["reports_ignored"], t["wrong_tokens"]), (0, 0, 0))
                self.assertGreater(t["rtt"], 0)
        self.stop_cleanly(server)

    @lib.long
    def test_feedback_costs_five_percent_at_most(self):
        for name in "udp", "tfrc":
            with self.subTest(name):
                server = self.server()
                relay = self.relay(server.port)
                p = self.player(relay.url, "--transport", name)
                p.wait_shown(10)

                def costs_little(relay=relay):
                    """True of 500 kB of media. Requests of packets that a busy machine's relay holds up, as they seem to be
                    lost, make it more at times."""
                    began, media, reports = time.monotonic(), relay.down[0][1], relay.up[1][1]
                    lib.until(lambda: relay.down[0][1] > media + 500000, "media", 30)
                    # Receiver reports once a second are in it, too: what one a second costs is always allowed.
                    return relay.up[1][1] - reports < 0.05 * (relay.down[0][1] - media) + (time.monotonic() - began + 1) * 200

                lib.until(costs_little, "feedback that costs 5 %", 30)
                self.assertGreater(relay.up[1][0], 5)
                self.interrupt(p)

    def test_parameters_go_to_the_controller(self):
        server = self.server()
        r = self.play(server.url, "--transport", "udp:rate=2000000,tcp", "--duration", "1").report()
        self.assertEqual(r["session"]["transport"], "udp:rate=2000000")
        self.play(server.url, "--transport", "tfrc:nosuch=1", "--duration", "1", code=2)


class Addresses(Relayed):
    def setup(self, server, name="udp", profile="RTP/AVPF"):
        """Returns (client, token, server's ports, the ports of SETUP)."""
        c = Client(server.port)
        self.addCleanup(c.close)
        mine = [self.bound(), self.bound()]
        ports = "-".join(str(s.getsockname()[1]) for s in mine)
        transport = f"{profile};unicast;client_port={ports};x-weir={name}"
        answer = c.request("SETUP", f"{c.url}/trackID=0", {"Transport": transport})
        self.assertEqual(answer.status, 200, str(answer))
        given = answer.headers["transport"]
        token = int(re.search(r"x-weir-token=([0-9A-F]{16})", given).group(1), 16)
        return c, token, [int(p) for p in re.search(r"server_port=(\d+)-(\d+)", given).groups()], mine

    def silent(self, sockets, seconds):
        return not select.select(sockets, [], [], seconds)[0]

    def test_without_the_token_nothing_comes(self):
        server = self.server()
        c, token, ports, mine = self.setup(server)
        self.assertEqual(c.request("PLAY").status, 200)
        self.assertTrue(self.silent(mine, 1))
        for s, port in zip(mine, ports):
            for wrong in 0, token ^ 1, token ^ 1 << 63:
                send_token(s, wrong, port)
            s.sendto(b"WEIR", ("127.0.0.1", port))
        self.assertTrue(self.silent(mine, 1))
        # The right one, from a port that SETUP did not name: media goes there and nowhere else.
        other = [self.bound(), self.bound()]
        prove(other[0], token, ports[0])
        self.assertEqual(Rtp(other[0].recv(65536)).version, 2)
        self.assertTrue(self.silent([other[1]], 0.5))
        prove(other[1], token, ports[1])
        self.assertEqual(other[1].recv(65536)[1], 200)
        self.assertTrue(self.silent(mine, 0))
        lib.until(lambda: self.last_transport()["wrong_tokens"] == 6, "the wrong tokens to be counted")

    def test_pairs(self):
        """Two packets back to back, as large as media packets; not before the address is validated."""
        server = self.server()
        c, token, ports, mine = self.setup(server)
        self.assertEqual(c.request("SET_PARAMETER", body="capacity-probe: 5\r\n").status, 200)
        self.assertEqual(c.request("SET_PARAMETER", body="capacity-probe: 7\r\n").status, 200)
        self.assertTrue(self.silent(mine, 0.5))
        other = [self.bound(), self.bound()]
        prove(other[0], token, ports[0])
        self.assertEqual(c.request("SET_PARAMETER", body="capacity-probe: 2147483647\r\n").status, 200)
        other[0].settimeout(5 * lib.PATIENCE)
        for number in 7, 2147483647:  # the last that waited, and the one at once
            for which in 0, 1:
                packet = other[0].recv(65536)
                self.assertEqual((len(packet), packet[:4]), (1200, struct.pack("!BBH", 0x81, 204, 299)))
                self.assertEqual((packet[8:12], packet[12:]), (b"WEIR", struct.pack("!IB", number, which) + bytes(1183)))
        self.assertTrue(self.silent([*mine, *other], 0.2))
        for value in "x", "-1", "2147483648", "":
            self.assertEqual(c.request("SET_PARAMETER", body=f"capacity-probe: {value}\r\n").status, 451, value)
        with Client(server.port) as stream:
            stream.request("SETUP", f"{stream.url}/trackID=0", {"Transport": "RTP/AVP/TCP;interleaved=0-1"})
            answer = stream.request("SET_PARAMETER", body="capacity-probe: 1\r\n")
            self.assertEqual(answer.status, 451)
            self.assertIn("datagram transport", answer.body)

    def test_each_token_is_another(self):
        server = self.server()
        tokens = {self.setup(server)[1] for _ in range(5)}
        self.assertEqual(len(tokens), 5)

    def test_feedback_has_to_be_agreed_on(self):
        server = self.server()
        with Client(server.port) as c:
            answer = c.request("SETUP", f"{c.url}/trackID=0",
                               {"Transport": "RTP/AVP;unicast;client_port=5000-5001;x-weir=tfrc"})
            self.assertEqual(answer.status, 461)
            self.assertIn("RTP/AVPF", answer.body)

    def test_pairs_have_a_limit(self):
        """However many pairs a viewer requests, about ten a second are sent: two packets cost it 40 bytes."""
        server = self.server()
        c, token, ports, mine = self.setup(server)
        prove(mine[0], token, ports[0])
        begun = time.monotonic()
        for turn in range(10):
            c.send(b"".join(c.format("SET_PARAMETER", body=f"capacity-probe: {100 * turn + i}\r\n") for i in range(100)))
            for _ in range(100):
                self.assertEqual(c.response().status, 200)
        most = 2 + (time.monotonic() - begun) / 0.1
        mine[0].settimeout(1)
        packets = []
        with contextlib.suppress(TimeoutError):
            while True:
                packets.append(mine[0].recv(65536))
        self.between(2, len(packets) // 2, most)

    def test_lies_and_floods_are_counted(self):
        server = self.server()
        c, token, ports, mine = self.setup(server, "tfrc")
        for s, port in zip(mine, ports):
            prove(s, token, port)
        self.assertEqual(c.request("PLAY").status, 200)
        mine[0].settimeout(5 * lib.PATIENCE)
        first = Rtp(mine[0].recv(65536))
        # 64 packets arrived that were never sent, and again, more often than there are packets.
        metrics = struct.pack("!64H", *[0x8000] * 64)
        begin = (first.seq + 20000) & 0xFFFF
        for i in range(600):
            report = struct.pack("!IIHH", 1, first.ssrc, begin, 64) + metrics + struct.pack("!I", i << 10)
            mine[1].sendto(struct.pack("!BBH", 0x8B, 205, len(report) // 4) + report, ("127.0.0.1", ports[1]))
        lib.until(lambda: self.stats() and self.last_transport()["feedback"]["reports_ignored"] > 0 and
                  self.last_transport()["feedback"]["lies"] > 100, "the flood to be noticed")
        f = self.last_transport()["feedback"]
        self.assertEqual(f["arrived"], 0)
        self.assertEqual(server.stderr.count("impossible feedback"), 1)
        self.assertTrue(server.running())

    def test_who_does_not_report_is_stopped(self):
        server = self.server()
        c, token, ports, mine = self.setup(server, "tfrc")
        for s, port in zip(mine, ports):
            prove(s, token, port)
        begun = time.monotonic()
        self.assertEqual(c.request("PLAY").status, 200)
        c.socket.settimeout(18 * lib.PATIENCE)
        end = b""
        while data := c.socket.recv(65536):
            end += data
        self.assertGreater(time.monotonic() - begun, 10)
        self.assertRegex(end, rb"^TEARDOWN .*\r\n(.*\r\n)*\r\nno packet acknowledged")
        self.assertIn("no packet acknowledged", server.stderr)
        mine[0].setblocking(False)
        packets = 0
        try:
            while mine[0].recv(65536):
                packets += 1
        except BlockingIOError:
            pass
        self.between(1, packets, 20)  # one at first, then one for each time-out


class Paths(Relayed):
    def test_a_path_that_returns(self):
        """Two viewers of one sender, at the same time."""
        server = self.server()
        relays = [self.relay(server.port) for _ in range(2)]
        players = [self.player(relay.url, "--transport", name)
                   for relay, name in zip(relays, ("udp", "tfrc"))]
        for p in players:
            p.wait_shown(20)
        for relay in relays:
            relay.away = True
        before = [relay.down[0][0] for relay in relays]
        # After 1, 3, 5 s.
        last = lambda: {line["transport"]["name"]: line["transport"]["feedback"] for line in self.stats() if "transport" in line}
        lib.until(lambda: all(f["timeouts"] >= 2 and f["probes"] >= 1 for f in last().values()), "time-outs", 20)
        self.assertEqual([relay.down[0][0] for relay in relays], before)
        counts = [len(p.shown()) for p in players]
        for relay in relays:
            relay.away = False
        # The next probe leaves within 2 s.
        for p, count in zip(players, counts):
            lib.until(lambda p=p, count=count: len(p.shown()) > count + 10 or not p.running(),
                      "pictures after the gap", 5)
        for p in players:
            self.interrupt(p)
        self.assertEqual(set(last()), {"udp", "tfrc"})

    def test_a_path_that_stays_dead(self):
        """Both ends report why the session ended."""
        server = self.server()
        relay = self.relay(server.port)
        p = self.player(relay.url, "--transport", "tfrc")
        p.wait_shown(20)
        began = time.monotonic()
        relay.stopped_down = relay.stopped_up = True
        self.assertEqual(p.wait(25), 4, str(p))
        self.assertGreater(time.monotonic() - began, 10)
        for log in p.stderr, server.stderr, p.report()["error"]:
            self.assertIn("no packet acknowledged", log)
        self.assertEqual(p.report()["ended"], "server-lost")

    def test_reports_get_lost(self):
        """Only the return path fails: this also counts as a viewer without feedback, not as the end of the media."""
        server = self.server()
        relay = self.relay(server.port)
        p = self.player(relay.url, "--transport", "udp")
        p.wait_shown(20)
        relay.stopped_up = True
        self.assertEqual(p.wait(25), 4, str(p))
        self.assertIn("no packet acknowledged", p.stderr)


if __name__ == "__main__":
    lib.main()
