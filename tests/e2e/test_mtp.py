#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""MTP in UDP on real sockets: pictures, packets that no other packet's loss holds up, and strangers."""
import random
import re
import signal
import socket
import struct
import time

import lib
from relay import Relayed
from rtsp import Client, prove

VARIABLES = {"mode", "holes", "replaced", "dropped", "why"}
HEADER = struct.Struct("!BBHIIIQ")  # MTP's header and the token
WINDOW = 10  # packets before the first acknowledgement


def ack(token, cum, window=16384, ranges=()):
    head = struct.pack("!BBHQII", 0x51, 0x80 | len(ranges), window, token, cum, 0)
    return head + b"".join(struct.pack("!HH", *r) for r in ranges)


class Streams(Relayed):
    def test_each_mode_streams_and_tells_its_variables(self):
        modes = {"mtp": 0, "mtp:fill,2,0": 1, "mtp:resend": 2, "mtp:queue=200ms,frames": 0}
        server = self.server()
        players = {name: self.player(server.url, "--transport", name, "--no-picture") for name in modes}
        for name, mode in modes.items():
            with self.subTest(name):
                p = players[name]
                p.wait_shown(4)
                lib.until(lambda p=p: len(p.events("controller")) >= 2, "what the server's controller says", 20)
                p.signal(signal.SIGINT)
                self.assertEqual(p.wait(), 130, str(p))
                r = p.report()
                self.assertEqual(r["session"]["transport"], name)
                if "queue" not in name:  # that one gives up what a busy machine holds up for 200 ms
                    self.few_lost(r)
                told = p.events("controller")
                self.assertLessEqual(VARIABLES, set(told[-1]))
                self.assertEqual(told[-1]["mode"], mode)
                self.assertGreater(told[-1]["allowed"], 0)
                t = self.last_transport(name)
                self.assertLessEqual(VARIABLES, set(t["controller"]))
                self.between(1, t["cwnd"], 4096)
                self.assertGreater(t["rtt"], 0)
        self.stop_cleanly(server)

    def test_pictures_come_through_loss(self):
        """Two in a hundred are lost each way; what others lean on comes again as new data, else the encoder repairs."""
        server = self.server()
        relay = self.relay(server.port, loss_down=0.02, loss_up=0.02)
        p = self.player(relay.url, "--transport", "mtp")
        lib.until(lambda: relay.lost > 5 and self.stats() and self.last_transport()["controller"]["replaced"] > 0,
                  "packets that are lost and replaced", 20)
        p.wait_shown(len(p.shown()) + 30)
        p.signal(signal.SIGINT)
        self.assertEqual(p.wait(), 130, str(p))
        self.assertLess(p.report()["network"]["packets_lost"], relay.lost)


class Strangers(Relayed):
    def bound(self):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(s.close)
        s.bind(("127.0.0.1", 0))
        s.settimeout(5 * lib.PATIENCE)
        return s

    def begin(self, server):
        """(client, token, the server's ports, ours) of a session that plays."""
        c = Client(server.port)
        self.addCleanup(c.close)
        mine = [self.bound(), self.bound()]
        ports = "-".join(str(s.getsockname()[1]) for s in mine)
        answer = c.request("SETUP", f"{c.url}/trackID=0",
                           {"Transport": f"RTP/AVP;unicast;client_port={ports};x-weir=mtp"})
        self.assertEqual(answer.status, 200, str(answer))
        given = answer.headers["transport"]
        token = int(re.search(r"x-weir-token=([0-9A-F]{16})", given).group(1), 16)
        theirs = [int(p) for p in re.search(r"server_port=(\d+)-(\d+)", given).groups()]
        for s, port in zip(mine, theirs):
            prove(s, token, port)
        self.assertEqual(c.request("PLAY").status, 200)
        return c, token, theirs, mine

    @staticmethod
    def slot(s):
        return HEADER.unpack(s.recv(65536)[:HEADER.size])[4]

    def test_packets_carry_the_token_and_acknowledgements_must(self):
        server = self.server(source="synthetic:greedy")
        c, token, theirs, mine = self.begin(server)
        to = ("127.0.0.1", theirs[0])
        slots = []
        while len(slots) < WINDOW:
            data = mine[0].recv(65536)
            magic, _, length, number, slot, _, seen = HEADER.unpack(data[:HEADER.size])
            self.assertEqual((magic, seen, len(data)), (0x51, token, HEADER.size + length))
            self.assertEqual(data[HEADER.size] >> 6, 2)  # RTP
            self.assertEqual(number, slot)
            slots.append(slot)
        self.assertEqual(slots, list(range(WINDOW)))
        # A thousand guesses open nothing, and what cannot be true neither.
        guess = random.Random(7)
        for _ in range(1000):
            mine[0].sendto(ack(guess.getrandbits(64), WINDOW), to)
        mine[0].sendto(ack(token, 4000), to)
        mine[0].sendto(ack(token, WINDOW)[:19], to)
        mine[0].settimeout(0.3)
        with self.assertRaises(socket.timeout):
            while True:  # a time-out after a second fills a slot of the window again
                self.assertLess(self.slot(mine[0]), WINDOW)
        mine[0].settimeout(5 * lib.PATIENCE)
        mine[0].sendto(ack(token, WINDOW), to)
        lib.until(lambda: self.slot(mine[0]) == WINDOW, "the next slot")
        # A full socket may have dropped some of them.
        lib.until(lambda: self.stats() and 100 < self.last_transport()["acks_ignored"] <= 1001,
                  "the guesses to be counted")
        self.assertTrue(server.running())

    def test_who_does_not_acknowledge_is_stopped(self):
        server = self.server(source="synthetic:greedy")
        begun = time.monotonic()
        c, _, _, mine = self.begin(server)
        c.socket.settimeout(18 * lib.PATIENCE)
        end = b""
        while data := c.socket.recv(65536):
            end += data
        self.assertGreater(time.monotonic() - begun, 10)
        self.assertIn(b"no packet acknowledged", end)
        mine[0].setblocking(False)
        packets = 0
        try:
            while mine[0].recv(65536):
                packets += 1
        except BlockingIOError:
            pass
        self.between(WINDOW, packets, WINDOW + 8)  # a window, then one for each time-out: 1, 3, 5 ... s

    def test_nobody_inserts_packets(self):
        """Who knows addresses and ports, and not the token."""
        server = self.server()
        relay = self.relay(server.port)
        p = self.player(relay.url, "--transport", "mtp")
        p.wait_shown(10)
        guess = random.Random(3)
        for i in range(500):
            for flags in (0, 1):
                forged = HEADER.pack(0x51, flags, 12, i, i, 0, guess.getrandbits(64)) + bytes([0x80] + [0] * 11)
                relay.near[0].sendto(forged, relay.viewer_at[0])
            if i % 20 == 0:  # so that they do not fill the viewer's socket
                p.wait_shown(len(p.shown()) + 1)
        p.signal(signal.SIGINT)
        self.assertEqual(p.wait(), 130, str(p))
        self.few_lost(p.report())


class Paths(Relayed):
    def test_a_path_that_returns(self):
        server = self.server()
        relay = self.relay(server.port)
        p = self.player(relay.url, "--transport", "mtp")
        p.wait_shown(20)
        relay.away = True
        self.stall_lasts(p, 3)
        count = len(p.shown())
        relay.away = False
        # The next time-out comes within 2 s.
        lib.until(lambda: len(p.shown()) > count + 10 or not p.running(), "pictures after the gap", 5)
        p.signal(signal.SIGINT)
        self.assertEqual(p.wait(), 130, str(p))


if __name__ == "__main__":
    lib.main()
