# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-link between two network namespaces of the test's own, and link_probe at its ends.

The namespaces have no names; each is held by a child process and goes away with it. Their ports are free: nothing else
is in them.
"""
import json
import os
import re
import struct
import subprocess
import sys
import unittest

import lib

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402

LINK = os.path.join(lib.BUILD, "weir-link")
PROBE = os.path.join(lib.BUILD, "link_probe")
A, B = "10.99.0.1", "10.99.0.2"
A6, B6 = "fd99::1", "fd99::2"


def set_up():
    """For setUpModule: skips the module if the namespaces cannot be created."""
    lib.need("unshare", "nsenter", "setpriv")
    if subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        raise unittest.SkipTest("network namespaces are not allowed here: run as root or inside unshare -Urn")
    if not os.path.exists("/dev/net/tun"):
        raise unittest.SkipTest("there is no /dev/net/tun")


class Namespace:
    """A network namespace, held by a child that ends when this process does."""

    def __init__(self):
        self.holder = subprocess.Popen(["unshare", "-n", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.path = f"/proc/{self.holder.pid}/ns/net"
        own = os.readlink("/proc/self/ns/net")
        lib.until(lambda: os.readlink(self.path) != own, "a network namespace")

    def inside(self, *argv):
        return ["nsenter", f"--net={self.path}", *argv]

    def devices(self):
        with open(f"/proc/{self.holder.pid}/net/dev") as f:
            return [line.split(":")[0].strip() for line in f if ":" in line]

    def close(self):
        self.holder.stdin.close()
        self.holder.wait()


class LinkCase(lib.Case):
    def setUp(self):
        super().setUp()
        self.ends = [Namespace(), Namespace()]
        for end in self.ends:
            self.addCleanup(end.close)
        self.addCleanup(self.end_processes)

    def link(self, a_to_b, b_to_a, *args, ready=True):
        """Starts weir-link between the ends, which can have one at a time: ends an earlier one of the same test first."""
        self.end_processes()
        a, b = self.ends
        p = self.start([LINK, "--ns-a", f"pid:{a.holder.pid}", "--ns-b", b.path, "--addr-a", A + "/30", "--addr-a",
                        A6 + "/64", "--addr-b", B + "/30", "--addr-b", B6 + "/64", "--a-to-b", a_to_b, "--b-to-a",
                        b_to_a, "--stats", self.path("stats"), *args])
        if ready:
            lib.until(lambda: "\nweir-link: ready" in "\n" + p.stderr or not p.running(), "weir-link", 30)
            self.assertTrue(p.running(), str(p))
        return p

    def serve(self, end, verb, addr, *args, port=0):
        """Starts a server of the probe at that end, on a free port (`port`)."""
        p = self.start(self.ends[end].inside(PROBE, verb, addr, str(port), *map(str, args)))
        found = lib.until(lambda: re.search(r"ready (\d+)\n", p.stderr) or not p.running(), "a server", 30)
        self.assertNotEqual(found, True, str(p))
        p.port = int(found.group(1))
        return p

    def probe(self, end, *args):
        return self.start(self.ends[end].inside(PROBE, *map(str, args)))

    def result(self, p, seconds=60):
        self.assertEqual(p.wait(seconds), 0, str(p))
        return json.loads(p.stdout)

    def stats(self, p=None):
        """Returns (lines per second, last line) of the stats; stops the link if it runs."""
        if p:
            self.stop_cleanly(p)
        with open(self.path("stats")) as f:
            lines = [json.loads(line) for line in f]
        self.assertEqual(lines[-1].get("event"), "end")
        return lines[:-1], lines[-1]

    def pcap(self, name, snap):
        """Returns [(us, bytes)] of the packets of a capture: when the emulated link received or sent each."""
        with open(self.path(name), "rb") as f:
            data = f.read()
        self.assertEqual(struct.unpack("<IHHiIII", data[:24]), (0xa1b23c4d, 2, 4, 0, 0, snap, 101))
        at, packets = 24, []
        while at < len(data):
            seconds, nanoseconds, captured, length = struct.unpack_from("<IIII", data, at)
            self.assertEqual(captured, min(length, snap))
            self.assertEqual(data[at + 16] >> 4, 4)
            packets.append((seconds * 1000000 + nanoseconds // 1000, length))
            at += 16 + captured
        self.assertEqual(at, len(data))
        self.assertEqual(packets, sorted(packets, key=lambda packet: packet[0]))
        return packets

    def services(self, prefix):
        """Returns ([us of service of each packet from A], [us of waiting before it]) from captures without drops."""
        entered, left = self.pcap(f"{prefix}-a-in.pcap", 96), self.pcap(f"{prefix}-b-out.pcap", 96)
        self.assertEqual([size for _, size in entered], [size for _, size in left])
        begun = [max(into, before) for (into, _), before in zip(entered, [0] + [at for at, _ in left])]
        return ([out - at for (out, _), at in zip(left, begun)], [at - into for at, (into, _) in zip(begun, entered)])


class TwoLinks(lib.Case):
    """A run over the lab's path of two emulated links, in namespaces and mounts of its own."""

    SCRIPT = """if True:
        import json, sys
        from lab import isolate, net
        isolate.prepare()
        with net.World(sys.argv[1], sys.argv[2]) as world:
            at = net.two_part_path(world, ("rate=20mbit,delay=10ms", "delay=10ms"),
                                   ("rate=4mbit,queue=droptail:60ms,delay=5ms", "delay=5ms"),
                                   options=["--flow", "7000"])
            pings = []
            for host, namespace in ("server", "server"), ("proxy", "proxy"), ("proxy-access", "proxy"):
                echo = world.start(namespace, ["link_probe", "echo", at[host], "0"], "echo-" + host)
                port = echo.wait_line(r"ready (\\d+)", 30).group(1)
                ping = world.start("client", ["link_probe", "ping", at[host], port, "10", "10000"], "ping-" + host)
                ping.wait(60)
                pings.append(json.loads(ping.text().split("\\n")[1])["least"])
                echo.stop()
            world.start("server", ["weir-traffic", "serve", "--listen", at["server"] + ":7000"],
                        "serve").wait_line("ready", 30)
            client = world.start("client", ["weir-traffic", "run", "--server", at["server"] + ":7000", "--duration", "2",
                                            "--stats", world.path("client.jsonl"), "elephants:cc=reno"])
            codes = [client.wait(60)] + [link.stop(30) for link in world.links.values()]
            lines = lambda name: [json.loads(line) for line in open(world.path(name + ".jsonl"))]
            print(json.dumps({"codes": codes, "pings": pings, "client": lines("client"),
                              "links": {name: lines(name) for name in world.links}}))
        """

    def both_parts(self):
        """Runs a flow over both links. Returns exit codes, min round trips in us, and the stats of the client and of each
        link."""
        lib.need("ip")
        p = self.start([*isolate.command([sys.executable, "-c", self.SCRIPT]), self.path("run"), lib.BUILD],
                       {"PYTHONPATH": lib.ROOT})
        self.assertEqual(p.wait(180), 0, str(p))
        return json.loads(p.stdout)
