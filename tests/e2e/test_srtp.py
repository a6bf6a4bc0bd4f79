# SPDX-License-Identifier: GPL-2.0-or-later
"""SRTP: media in datagrams beside an RTSP connection, over each transport and through a proxy; what a middlebox reads,
replays and forges. The option --srtp makes the programs do beside a plain connection what they do beside an encrypted one."""
import collections
import math
import re
import signal

import lib
from relay import Relay, Relayed
from rtsp import Client

TRANSPORTS = "udp", "tfrc", "arc", "psp", "scream", "mtp"


class Tapped(Relay):
    """A middlebox that keeps the datagrams of the media, and may send copies and forged ones too."""

    def __init__(self, port):
        self.kept = []  # towards the viewer, on the port for RTP
        self.sent = []  # the same, with those that are lost
        self.replays = self.forges = False
        super().__init__(port)

    def _count(self, counts, data):
        super()._count(counts, data)
        if counts is self.down[0]:
            self.sent.append(data)

    def _pass(self, i, s, data, to, wait=0.0):
        super()._pass(i, s, data, to, wait)
        if i != 0 or s is not self.near[0]:
            return
        self.kept.append(data)
        if self.replays:
            super()._pass(i, s, data, to, wait)
        if self.forges and len(data) > 100:  # another number, so that no replay is seen
            other = bytearray(data)
            other[3] ^= 0x55
            other[-40] ^= 1
            super()._pass(i, s, bytes(other), to, wait)


class Srtp(Relayed):
    def tapped(self, port, **settings):
        relay = Tapped(port)
        self.addCleanup(relay.stop)
        for name, value in settings.items():
            setattr(relay, name, value)
        return relay

    def after(self, relay, p, size, count):
        """Ends the player after so many datagrams of more than this size, however long they take, and some pictures."""
        lib.until(lambda: sum(len(d) > size for d in relay.kept) > count and len(p.shown()) > 10 or not p.running(), "media", 20)
        p.signal(signal.SIGTERM)

    def good(self, p, transport, code=0):
        self.assertEqual(p.wait(40), code, str(p))
        r = p.report()
        self.assertEqual(r["session"]["transport"], transport)
        self.assertNotIn("malformed packets", p.stderr)  # what a wrong key or a wrong rollover counter would make
        self.assertTrue(p.shown(), str(p))
        self.assertGreater(r["picture"]["psnr_y"], 20, "another picture has less")
        return r

    def test_each_transport_is_encrypted_and_shows_the_right_picture(self):
        server = self.server("--srtp")
        for t in TRANSPORTS:  # one after the other: six encoders and decoders at once are too much for a busy machine
            with self.subTest(t):
                relay = self.tapped(server.port)
                p = self.player(relay.url, "--srtp", "--transport", t)
                self.after(relay, p, 200, 100)
                self.good(p, t, 130)
                self.assertNotIn(" forged ", p.stderr)
                media = [d for d in relay.kept if len(d) > 200]
                self.assertGreater(len(media), 50)
                # Random bytes take each value about as often; a picture's slices and headers do not.
                payload = b"".join(d[80:-14] for d in media)
                self.assertGreater(entropy(payload), 7.99, f"{len(payload)} bytes")
                self.assertLessEqual(max(map(len, media)), 1200 if t in ("udp", "tfrc", "scream", "mtp") else 1472)
        for line in self.stats():
            srtp = line.get("transport", {}).get("srtp")
            if "transport" in line:
                self.assertEqual((srtp["replayed"], srtp["forged"]), (0, 0), line)
        self.stop_cleanly(server)

    def test_keys_reach_no_log(self):
        server = self.server("--srtp", "--log", "debug")
        seen = []
        relay = self.tapped(server.port)
        rewrite = relay._rewrite
        relay._rewrite = lambda data: seen.append(data) or rewrite(data)
        p = self.play(relay.url, "--srtp", "--transport", "udp", "--duration", "1", "--log", "debug")
        key = re.search(rb"x-weir-srtp=([\w-]{40})", b"".join(seen)).group(1).decode()
        for text in server.stderr, p.stderr, p.stdout:
            self.assertNotIn(key, text)

    def test_replayed_and_forged_packets_are_dropped_and_counted(self):
        server = self.server("--srtp")
        relay = self.tapped(server.port, replays=True, forges=True)
        p = self.player(relay.url, "--srtp", "--transport", "udp")
        self.after(relay, p, 100, 150)
        self.good(p, "udp", 130)
        found = re.search(r"SRTP: dropped (\d+) packets that came before and (\d+) forged ones", p.stderr)
        self.assertTrue(found, str(p))
        self.assertGreater(int(found.group(1)), 50)
        self.assertGreater(int(found.group(2)), 50)

    def test_repair_sends_the_same_ciphertext_again(self):
        server = self.server("--srtp")
        relay = self.tapped(server.port, loss_down=0.1)
        p = self.player(relay.url, "--srtp", "--transport", "udp", "--repair", "auto", "--buffer", "0.6")

        def copied():
            of_packet = collections.defaultdict(list)
            for d in list(relay.sent):
                if len(d) > 100:
                    of_packet[d[2:4] + d[8:12]].append(ciphertext(d))
            return [c for c in of_packet.values() if len(c) > 1]

        lib.until(lambda: len(copied()) > 10 or not p.running(), "copies", 20)
        self.end_after(p, len(p.shown()) + 10)
        r = self.good(p, "udp", 130)
        self.assertGreater(r["repair"]["resent"], 0, r["repair"])
        for c in copied():
            self.assertEqual(len(set(c)), 1)

    def test_through_a_proxy(self):
        server = self.server("--srtp")
        proxy = self.proxy("--srtp", "--origin", f"rtsp://127.0.0.1:{server.port}", "--backbone-transport", "udp")
        self.good(self.see(f"{proxy.base}/live", "--srtp", "--transport", "tfrc", frames=10), "tfrc", 130)
        self.assertIn(", SRTP", server.stderr)
        self.assertIn(", SRTP", proxy.stderr)

    def test_plain_media_is_refused_by_both_ends(self):
        secure, plain = self.sender("--srtp"), self.sender()
        p = self.play(secure.url, "--transport", "udp", code=3)
        self.assertIn("must be SRTP", p.stderr)
        with Client(secure.port) as c:
            for transport in ("RTP/AVP;unicast;client_port=5000-5001;x-weir=udp", "RTP/AVP;unicast;client_port=5000-5001",
                              "RTP/SAVP;unicast;client_port=5000-5001;x-weir=udp",
                              "RTP/SAVP;unicast;client_port=5000-5001;x-weir=udp;x-weir-srtp=short",
                              "RTP/AVP;unicast;client_port=5000-5001;x-weir=udp;x-weir-srtp=" + 40 * "A"):
                self.assertEqual(c.request("SETUP", f"{c.url}/trackID=0", {"Transport": transport}).status, 461, transport)
        # A connection's own media needs no SRTP.
        self.play(secure.url, "--transport", "minbuf", "--duration", "1")
        # Where the keys could be read, SRTP would protect nothing.
        p = self.play(plain.url, "--srtp", "--transport", "udp", code=3)
        self.assertIn("could be read on this connection", p.stderr)
        with Client(plain.port) as c:
            transport = "RTP/SAVP;unicast;client_port=5000-5001;x-weir=udp;x-weir-srtp=" + 40 * "A"
            self.assertEqual(c.request("SETUP", f"{c.url}/trackID=0", {"Transport": transport}).status, 461)
        self.assertNotIn(", SRTP", plain.stderr)


def ciphertext(d):
    """Returns what SRTP encrypted of an RTP packet with an extension: the extension itself may differ in a copy."""
    return d[16 + 4 * int.from_bytes(d[14:16], "big"):-10]


def entropy(data):
    """Returns the bits per byte of the bytes' frequencies."""
    n = len(data)
    return -sum(c / n * math.log2(c / n) for c in collections.Counter(data).values())


if __name__ == "__main__":
    lib.main()
