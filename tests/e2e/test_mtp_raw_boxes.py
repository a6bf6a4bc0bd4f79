#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The transport mtp-raw in the programs, through the NAT firewall of firewall.py and other boxes: pictures, or what the
programs do where there can be none."""
import signal
import sys
import time

import firewall
import lib

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402

RTSP, MEDIA, PROXY = 554, 443, 7443
BOTH = f"{{ {RTSP}, {MEDIA} }}"
BELOW_WRAP = 1 << 18  # bytes
LOSS = "0.5%"  # before and behind the router, each way
PROXY_CODE = """
import socket, sys, threading
def pump(a, b):
    while data := a.recv(65536):
        b.sendall(data)
    b.shutdown(socket.SHUT_WR)
here = socket.create_server(("", int(sys.argv[1])))
while True:
    near, _ = here.accept()
    far = socket.create_connection((sys.argv[2], int(sys.argv[3])))
    for pair in (near, far), (far, near):
        threading.Thread(target=pump, args=pair, daemon=True).start()
"""
MEASURED = []


def setUpModule():
    firewall.set_up(isolate)


def tearDownModule():
    for row in MEASURED:
        print(f"  {row}")


class Boxes(lib.Case):
    def start_watching(self, net, *args, transport="mtp-raw"):
        server = self.server("--mtp-port", str(MEDIA), listen=f"{net.server}:{RTSP}", prefix=net.command("server"))
        return server, self.player(server.url, "--transport", transport, *args, prefix=net.command("client"))

    def watch(self, net, seconds, code=0):
        server, p = self.start_watching(net, "--duration", str(seconds))
        self.assertEqual(p.wait(seconds + 20), code, str(p))
        return server, p

    def pictures(self, what, net, enough=lambda: True):
        """Plays until packets were replaced, in addition to the probe's, and until a middlebox has changed enough packets."""
        server, p = self.start_watching(net)
        p.wait_shown(60)
        lib.until(lambda: not p.running() or self.stats() and self.last_transport()["controller"]["replaced"] > 2 and enough(),
                  "packets that are replaced", 40)
        p.signal(signal.SIGINT)
        self.assertEqual(p.wait(), 130, str(p))
        r, t = p.report(), self.last_transport()
        self.stop_cleanly(server)
        MEASURED.append(f"{r['session']['duration']:.0f} s through {what}: {len(p.shown())} pictures shown, "
                        f"{r['playback']['frames_lost']} frames and {r['network']['packets_lost']} packets lost, write to read "
                        f"p95 {r['latency']['protocol']['p95']:.1f} ms, {t['controller']}, steps "
                        f"{p.events('transport-mode')}; invalid {net.invalid()}")
        self.assertEqual(r["session"]["transport"], "mtp-raw")

    def test_pictures_through_nat_and_loss(self):
        """After the router, the sequence numbers of server and client are changed, so that they wrap."""
        net = firewall.Network(self, LOSS, ports=BOTH, renumber=MEDIA, below_wrap=BELOW_WRAP)
        self.pictures("NAT", net, lambda: sum(seen.across for seen in net.box.connections.values()) > 100)
        (seen,) = net.box.connections.values()
        MEASURED.append(f"  {seen.across} of the server's segments behind the wrap")
        self.assertEqual(net.invalid(), (0, 0, 0))
        self.assertGreater(seen.across, 100)

    def test_ipv6(self):
        net = firewall.Network(self, LOSS, ports=BOTH, v6=True)
        self.pictures("NAT, IPv6", net)
        self.assertEqual(net.invalid(), (0, 0, 0))

    @lib.long
    def test_a_syn_proxy(self):
        """It answers for the server: from then on the sequence numbers and times of the two sides differ. IPv4 only: nft's
        takes no IPv6 connection between TUN devices, not a kernel's own either."""
        net = firewall.Network(self, LOSS, ports=BOTH)
        net.rules("router", firewall.SYN_PROXY, port=MEDIA)
        self.pictures("a SYN proxy", net)
        forward, own, stat = net.invalid()
        self.assertEqual((forward, own), (0, 0))
        self.assertLessEqual(stat, 3)  # its handshakes are unknown to the tracking
        self.assertEqual(net.statistic("router", "synproxy", "cookie_valid"), 1)

    @lib.long
    def test_reserved_bits(self):
        """No result depends on these bits: a middlebox may clear the bits that another one has set."""
        for cleared in True, False:
            with self.subTest(cleared=cleared):
                net = firewall.Network(self, LOSS, ports=BOTH)
                net.rules("server", firewall.MARKED, port=MEDIA)
                net.rules("client", firewall.WITNESS)
                if cleared:
                    net.rules("router", firewall.CLEARED)
                self.pictures(f"NAT, reserved bits {'cleared' if cleared else 'set'}", net,
                              lambda: not cleared or net.counters()["c_cleared"] > 100)
                self.assertEqual(net.invalid(), (0, 0, 0))
                self.assertEqual(net.counters("client")["c_reserved"] == 0, cleared)
                if cleared:
                    self.assertGreater(net.counters()["c_cleared"], 100)

    @lib.long
    def test_what_is_wrong_is_noticed(self):
        """Controls: with wrong checksums, or an ignored window, the tests above fail."""
        checksums = {"server": firewall.WRONG_SUMS}
        window = {"client": firewall.SMALL_WINDOW, "server": firewall.LARGE_WINDOW}
        for what, rules in ("checksums", checksums), ("window", window):
            with self.subTest(what):
                net = firewall.Network(self, "", ports=BOTH)
                for at, text in rules.items():
                    net.rules(at, text, port=MEDIA, window=1)
                _, p = self.start_watching(net)
                lib.until(lambda net=net: all((sum(net.invalid()[:2]), net.invalid()[2])) or not p.running(), "what is wrong", 20)
                p.stop()
                forward, own, stat = net.invalid()
                MEASURED.append(f"wrong {what}: invalid {(forward, own, stat)}")
                self.assertGreater(forward + own, 0)
                self.assertGreater(stat, 0)

    def proxy(self):
        """A kernel's TCP between the ends never acknowledges the data of a hole."""
        every = 150
        net = firewall.Network(self, "", ports=str(RTSP))
        net.rules("router", firewall.REDIRECT, port=MEDIA, proxy=PROXY, every=every, last=every - 1)
        self.start(net.command("router", sys.executable, "-c", PROXY_CODE, str(PROXY), net.server, str(MEDIA)))
        return net

    def test_the_probe_finds_a_proxy(self):
        server, p = self.start_watching(self.proxy())
        lib.until(lambda: p.events("transport-mode") or not p.running(), "the probe's result", 30)
        self.end_after(p, 1)
        steps = [(e["to"], e["reason"]) for e in p.events("transport-mode")]
        MEASURED.append(f"terminating proxy: {steps}, the first picture after {p.shown()[0]['shown']:.2f} s")
        self.assertEqual(steps, [("fill", "probe: acknowledged up to a hole, data beyond it reported")])
        self.assertIn("continuing in mode fill", server.stderr)

    def test_a_proxy_makes_the_sender_step_down(self):
        net = self.proxy()
        server, p = self.start_watching(net, transport="mtp-raw:strict")
        lib.until(lambda: net.counters()["c_hole"] > 0, "the first hole")
        hole = time.monotonic()
        lib.until(lambda: "in mode fill" in server.stderr, "the step down")
        took, before = time.monotonic() - hole, len(p.shown())
        p.wait_shown(before + 60, 30)  # pictures in the mode fill
        p.signal(signal.SIGINT)
        self.assertEqual(p.wait(), 130, str(p))
        steps = [(e["to"], e["reason"]) for e in p.events("transport-mode")]
        arrivals = sorted(e["arrived"] for e in p.events("frame") if e["arrived"] is not None)
        pause = max(b - a for a, b in zip(arrivals, arrivals[1:]))
        MEASURED.append(f"terminating proxy: {steps}, {took:.2f} s after the first hole; nothing came for {pause:.2f} s at "
                        f"most; {before} pictures, {len(p.shown()) - before} more in the mode fill, "
                        f"{self.last_transport()['controller']}")
        self.assertEqual(steps[0], ("fill", "recoveries without progress"))

    def test_a_blocked_port_is_told(self):
        _, p = self.watch(firewall.Network(self, "", ports=str(RTSP)), 30, code=4)
        self.assertIn("does not answer", p.report()["error"])


if __name__ == "__main__":
    lib.main_isolated(isolate)
