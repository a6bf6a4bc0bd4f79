#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-link between two network namespaces of its own, measured: delay, rate, loss, marks, changes, captures, cost.

The namespaces have no names; each is held by a child process and goes away with it. Without the right to make
them, the module starts itself again in a user namespace. What was measured is printed at the end.
"""
import json
import math
import os
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

import lib

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402

LINK = os.path.join(lib.BUILD, "weir-link")
PROBE = os.path.join(lib.BUILD, "link_probe")
A, B = "10.99.0.1", "10.99.0.2"
A6, B6 = "fd99::1", "fd99::2"
MEASURED = []  # rows of the table


def setUpModule():
    lib.need("unshare", "nsenter", "setpriv")
    if subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        raise unittest.SkipTest("network namespaces are not allowed here")
    if not os.path.exists("/dev/net/tun"):
        raise unittest.SkipTest("there is no /dev/net/tun")


def tearDownModule():
    print("\n  what                          asked          measured")
    for row in MEASURED:
        print("  {:<28}  {:<13}  {}".format(*row))


def measured(what, asked, value):
    MEASURED.append((what, asked, value))


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
        a, b = self.ends
        p = self.start([LINK, "--ns-a", f"pid:{a.holder.pid}", "--ns-b", b.path, "--addr-a", A + "/30", "--addr-a",
                        A6 + "/64", "--addr-b", B + "/30", "--addr-b", B6 + "/64", "--a-to-b", a_to_b, "--b-to-a",
                        b_to_a, "--stats", self.path("stats"), *args])
        if ready:
            lib.until(lambda: "\nweir-link: ready" in "\n" + p.stderr or not p.running(), "weir-link")
            self.assertTrue(p.running(), str(p))
        return p

    def serve(self, end, *args):
        p = self.start(self.ends[end].inside(PROBE, *args))
        lib.until(lambda: "ready" in p.stderr or not p.running(), "a server")
        self.assertTrue(p.running(), str(p))
        return p

    def probe(self, end, *args):
        p = self.start(self.ends[end].inside(PROBE, *map(str, args)))
        return p

    def result(self, p, seconds=30):
        self.assertEqual(p.wait(seconds), 0, str(p))
        return json.loads(p.stdout)

    def stats(self, p=None):
        """(seconds, end) of the figures; a link that runs is stopped."""
        if p:
            self.stop_cleanly(p)
        with open(self.path("stats")) as f:
            lines = [json.loads(line) for line in f]
        self.assertEqual(lines[-1].get("event"), "end")
        return lines[:-1], lines[-1]


def lateness(seconds):
    """By how many ms the machine wakes whoever sleeps too late, 99 % of the time: others may have its processors."""
    late, end = [], time.monotonic() + seconds
    while (before := time.monotonic()) < end:
        time.sleep(0.001)
        late.append(time.monotonic() - before - 0.001)
    return 1000 * sorted(late)[len(late) * 99 // 100]


@unittest.skipIf(lib.SLOW > 1, "a sanitizer's build is not measured")
class Accuracy(LinkCase):
    def test_round_trip_time(self):
        for ms in 10, 50, 100:
            p = self.link(f"delay={ms / 2}ms", f"delay={ms / 2}ms")
            for family, addr in ("IPv4", B), ("IPv6", B6):
                with self.subTest(ms=ms, family=family):
                    echo = self.serve(1, "echo", addr, "5000")
                    tries = []
                    while len(tries) < 8:  # others may take the processors away for a while
                        probe = self.probe(0, "ping", addr, 5000, 300, 5000)
                        limit = max(0.3, 4 * lateness(1.5))  # two hops each way wake somebody
                        r = self.result(probe)
                        self.assertEqual(r["received"], 300)
                        over = [r[k] / 1000 - ms for k in ("min", "p50", "p99", "max")]
                        self.assertGreaterEqual(over[0], -r["clock_set"] / 1000)
                        tries.append((over[2] - limit, over[2], limit, over))
                        if over[2] <= 0.3:
                            break
                    echo.stop()
                    _, p99, limit, over = min(tries)
                    measured(f"RTT above it, {family}", f"{ms} ms", "min %.3f, median %.3f, p99 %.3f, max %.3f ms; "
                             "best of %d tries; limit %.2f" % (*over, len(tries), limit))
                    self.assertLessEqual(p99, limit)
            self.stop_cleanly(p)

    def test_rate(self):
        for mbit in 1, 12, 30, 100:
            with self.subTest(mbit=mbit):
                for attempt in range(8):
                    p = self.link(f"rate={mbit}mbit,queue=droptail:30p", "")
                    sink = self.serve(1, "count", B, "5000", "0.5", "2.5")
                    self.result(self.probe(0, "blast", B, 5000, 1.1e6 * mbit, 1500, 2.6, 0))
                    r = self.result(sink)
                    self.stop_cleanly(p)
                    off = 100 * (r["bps"] / (1e6 * mbit) - 1)
                    if abs(off) <= 0.5:
                        break
                measured("goodput with headers", f"{mbit} Mbit/s", f"{r['bps'] / 1e6:.4f} Mbit/s, {off:+.3f} %")
                self.between(-0.5, off, 0.5)

    def test_loss(self):
        n, p = 10000, 0.02
        link = self.link("loss=2%", "", "--seed", "7")
        sink = self.serve(1, "count", B, "5000", "0", "9")
        sent = self.result(self.probe(0, "blast", B, 5000, 3.2e6, 100, n * 800 / 3.2e6, 0))["sent"]
        lost = sent - self.result(sink)["packets"]
        _, end = self.stats(link)
        measured("lost of 10000", "2 %", f"{lost / n:.2%}")
        self.assertEqual(sent, n)
        self.assertEqual(end["a_to_b"]["dropped"], {"loss": lost, "full": 0, "aqm": 0, "pool": 0})
        self.assertLessEqual(abs(lost - n * p), 2.576 * math.sqrt(n * p * (1 - p)))  # 99 % of the binomial

    def test_cpu(self):
        link = self.link("rate=30mbit,delay=20ms,queue=droptail:100p", "rate=30mbit,delay=20ms,queue=droptail:100p")
        tries = []
        while len(tries) < 4:  # who shares the core or its caches makes all take longer
            sinks = [self.serve(1, "count", B, "5000", "0.5", "2.5"), self.serve(0, "count", A, "5000", "0.5", "2.5")]
            before = link.cpu_seconds()
            sources = [self.probe(0, "blast", B, 5000, 30e6, 1500, 3, 0), self.probe(1, "blast", A, 5000, 30e6, 1500, 3, 0)]
            for p in sources:
                self.result(p)
            used = (link.cpu_seconds() - before) / 3
            tries.append((used, [self.result(p)["bps"] / 1e6 for p in sinks]))
            if used < 0.25:
                break
        used, rates = min(tries)
        measured("CPU, 30 Mbit/s both ways", "< 25 %",
                 f"{used:.1%} of a core; {rates[0]:.2f} and {rates[1]:.2f} Mbit/s; best of {len(tries)} tries")
        self.assertLess(used, 0.25)


class Script(LinkCase):
    def test_marks(self):
        link = self.link("rate=5mbit,queue=droptail:100p:ecn=10p", "")
        for addr, size in (B, 1000), (B6, 1000):
            with self.subTest(addr=addr):
                sink = self.serve(1, "count", addr, "5000", "0", "2")
                self.result(self.probe(0, "blast", addr, 5000, 6e6, size, 1, 2))  # ECT(0)
                r = self.result(sink)
                measured("CE marks seen", "some", f"{r['ce']} of {r['packets']}, {addr}")
                self.between(100, r["ce"], r["packets"] - 10)
        sink = self.serve(1, "count", B, "5000", "0", "2")
        self.result(self.probe(0, "blast", B, 5000, 6e6, 1000, 0.5, 0))  # not ECN-capable
        self.assertEqual(self.result(sink)["ce"], 0)
        self.stop_cleanly(link)

    def test_a_trace(self):
        """Three packets each 6 ms: 6 Mbit/s, in bursts of the trace's own times."""
        with open(self.path("trace"), "w") as f:
            f.write("# two at once, one later\n2\n2\n6\n")
        link = self.link(f"trace={self.path('trace')},queue=droptail:30p", "", "--pcap", self.path("link"))
        sink = self.serve(1, "count", B, "5000", "0.3", "1.5")
        self.result(self.probe(0, "blast", B, 5000, 9e6, 1500, 1.7, 0))
        r = self.result(sink)
        _, end = self.stats(link)
        measured("a trace", "6 Mbit/s", f"{r['bps'] / 1e6:.3f} Mbit/s")
        self.between(0.98 * 6e6, r["bps"], 1.02 * 6e6)
        self.assertEqual(end["a_to_b"]["packets_out"], r["packets"])
        self.assertGreater(end["a_to_b"]["dropped"]["full"], 100)
        self.between(0.020, end["a_to_b"]["queue_delay_ms"]["max"] / 1000, 0.062)  # 30 packets, 2 ms each

    def pcap(self, name, snap):
        with open(self.path(name), "rb") as f:
            data = f.read()
        self.assertEqual(struct.unpack("<IHHiIII", data[:24]), (0xa1b23c4d, 2, 4, 0, 0, snap, 101))
        at, packets, last = 24, 0, 0
        while at < len(data):
            seconds, nanoseconds, captured, length = struct.unpack_from("<IIII", data, at)
            self.assertEqual(captured, min(length, snap))
            self.assertEqual(data[at + 16] >> 4, 4)
            self.assertGreaterEqual(seconds + nanoseconds / 1e9, last)
            last = seconds + nanoseconds / 1e9
            at += 16 + captured
            packets += 1
        self.assertEqual(at, len(data))
        return packets

    def test_changes_figures_and_captures(self):
        with open(self.path("changes"), "w") as f:
            f.write("# halved\n2 a-to-b rate=5mbit\n")
        link = self.link("rate=10mbit,queue=droptail:30p", "", "--changes", self.path("changes"), "--pcap",
                         self.path("link"), "--snap", "96", "--flow", "5000", "--flow", "7")
        sink = self.serve(1, "count", B, "5000", "0", "9")
        self.result(self.probe(0, "blast", B, 5000, 12e6, 1500, 4.3, 0))
        got = self.result(sink)["packets"]
        seconds, end = self.stats(link)
        rates = [s["a_to_b"]["bytes_out"] * 8 / 1e6 for s in seconds]
        measured("a change halves the rate", "10, 5 Mbit/s", f"{rates[1]:.2f}, {rates[3]:.2f} Mbit/s")
        self.between(9.9, rates[1], 10.1)
        self.between(4.9, rates[3], 5.1)
        d = end["a_to_b"]
        self.assertEqual(d["packets_out"], got)
        self.assertEqual(d["packets_in"], got + d["dropped"]["full"])
        self.assertEqual(end["flows"]["5000"]["a_to_b"]["packets_out"], got)
        self.assertEqual(end["flows"]["7"]["a_to_b"]["packets_in"], 0)
        self.assertEqual(end["b_to_a"]["queue_delay_ms"], {"mean": None, "p95": None, "max": None})
        self.assertGreater(d["queue_delay_ms"]["p95"], 30)  # 30 packets at 10 and at 5 Mbit/s: 36 to 72 ms
        self.assertLess(d["queue_delay_ms"]["max"], 75)
        self.assertEqual(self.pcap("link-a-in.pcap", 96), d["packets_in"])
        self.assertEqual(self.pcap("link-b-out.pcap", 96), d["packets_out"])
        self.assertEqual(self.pcap("link-b-in.pcap", 96), 0)

    def test_tcp_comes_in_packets(self):
        """The kernel segments before the device: a packet above the MTU would end weir-link."""
        link = self.link("rate=100mbit,delay=2ms,queue=droptail:200p", "delay=2ms")
        server = self.start(self.ends[1].inside(sys.executable, "-c", f"""if True:
            import socket
            s = socket.create_server(("{B}", 5000))
            print("ready", flush=True)
            c, n = s.accept()[0], 0
            while data := c.recv(65536):
                n += len(data)
            print(n)"""))
        lib.until(lambda: "ready" in server.stdout, "the server")
        client = self.start(self.ends[0].inside(sys.executable, "-c", f"""if True:
            import socket
            socket.create_connection(("{B}", 5000)).sendall(bytes(4 << 20))"""))
        self.assertEqual(client.wait(), 0, str(client))
        self.assertEqual(server.wait(), 0, str(server))
        self.assertIn(str(4 << 20), server.stdout)
        _, end = self.stats(link)
        self.between(4 << 20, end["a_to_b"]["bytes_in"], 1.2 * (4 << 20))


class Life(LinkCase):
    def test_nothing_remains_after_a_kill(self):
        p = self.link("", "")
        self.assertIn("weir-a", self.ends[0].devices())
        self.assertIn("weir-b", self.ends[1].devices())
        p.popen.kill()
        p.wait()
        for end in self.ends:
            lib.until(lambda: end.devices() == ["lo"], "the devices to go")

    def test_a_user_namespace_is_enough(self):
        p = self.start(["unshare", "-Urn", LINK, "--ns-a", "self", "--ns-b", "self", "--addr-a", A + "/30",
                        "--addr-b", B + "/30", "--a-to-b", "", "--b-to-a", "", "--duration", "0.2"])
        self.assertEqual(p.wait(), 0, str(p))
        self.assertIn("weir-link: ready", p.stderr)

    def as_nobody(self, mode):
        """weir-link as an ordinary user in user and network namespaces of its own, after it has ended. It sees a
        /dev/net/tun of that mode, which stands in mounts of its own."""
        lib.need("mount", "mknod")
        script = (f"set -e; mount -t tmpfs none /dev/net; mknod -m {mode} /dev/net/tun c 10 200; exec setpriv "
                  "--reuid=65534 --regid=65534 --clear-groups unshare -Urn ")
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "sh", "-c", script + "true"],
                                               stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("this user may not make a device, or nobody a user namespace")
        program = self.path("weir-link")  # where nobody may read it, too
        shutil.copy(LINK, program)
        os.chmod(self.folder, 0o755)
        p = self.start(["unshare", "-m", "sh", "-c", script + shlex.join([
            program, "--ns-a", "self", "--ns-b", "self", "--addr-a", A + "/30", "--addr-b", B + "/30", "--a-to-b", "",
            "--b-to-a", "", "--duration", "0.2"])])
        p.wait()
        return p

    def test_an_ordinary_user_needs_the_device_to_be_open(self):
        p = self.as_nobody("600")
        self.assertEqual(p.popen.returncode, 1, str(p))
        self.assertIn("cannot open /dev/net/tun: its mode keeps this user out", p.stderr)
        self.assertIn("'chmod 0666 /dev/net/tun'", p.stderr)
        self.assertEqual(p.stderr.count("\n"), 1, p.stderr)

    def test_an_ordinary_user(self):
        p = self.as_nobody("666")
        self.assertEqual(p.popen.returncode, 0, str(p))
        self.assertIn("weir-link: ready", p.stderr)

    def test_a_packet_above_the_mtu(self):
        lib.need("ip")
        p = self.link("", "")
        subprocess.run(self.ends[0].inside("ip", "link", "set", "weir-a", "mtu", "3000"), check=True)
        self.result(self.probe(0, "blast", B, 5000, 1e6, 2000, 0.1, 0))
        self.assertEqual(p.wait(), 1, str(p))
        self.assertIn("a packet longer than the MTU of 1500 came from the device of A", p.stderr)
        self.assertIn("'ip link set DEV mtu 1500 gso_max_segs 1' or 'ethtool -K DEV tso off gso off'", p.stderr)

    def test_a_full_disk(self):
        """The captures end there and say so; the link goes on, and its exit code tells."""
        lib.need("mount")
        os.mkdir(self.path("small"))
        a, b = self.ends
        command = shlex.join([LINK, "--ns-a", a.path, "--ns-b", b.path, "--addr-a", A + "/30", "--addr-b", B + "/30",
                              "--a-to-b", "", "--b-to-a", "", "--pcap", self.path("small/x"), "--stats",
                              self.path("stats")])
        p = self.start(["unshare", "-m", "sh", "-c",
                        f"mount -t tmpfs -o size=256k none {self.path('small')} && exec {command}"])
        lib.until(lambda: "weir-link: ready" in p.stderr or not p.running(), "weir-link")
        self.assertTrue(p.running(), str(p))
        sink = self.serve(1, "count", B, "5000", "0", "9")
        sent = self.result(self.probe(0, "blast", B, 5000, 10e6, 1500, 0.6, 0))["sent"]  # 750 kB, twice
        self.assertEqual(self.result(sink)["packets"], sent)
        p.signal(signal.SIGTERM)
        self.assertEqual(p.wait(), 1, str(p))
        for name in "a-in", "b-out":
            self.assertEqual(p.stderr.count(f"x-{name}.pcap: No space left on device; it ends here\n"), 1, p.stderr)
        self.assertEqual(p.stderr.count("No space left"), 2, p.stderr)
        self.assertEqual(self.stats()[1]["a_to_b"]["packets_out"], sent)

    def test_a_device_that_is_taken_away(self):
        lib.need("ip")
        p = self.link("", "")
        subprocess.run(self.ends[0].inside("ip", "link", "del", "weir-a"), check=True)
        self.assertEqual(p.wait(), 1, str(p))

    def fails(self, code, says, *argv):
        p = self.start([*argv])
        self.assertEqual(p.wait(), code, str(p))
        self.assertIn(says, p.stderr)
        self.assertEqual(p.stderr.count("\n"), 1 + (code == 2), p.stderr)  # wrong usage: and where help is

    def test_errors_say_what_to_do(self):
        ends = ["--addr-a", A + "/30", "--addr-b", B + "/30"]
        good = [LINK, "--ns-a", "self", "--ns-b", "self", *ends, "--a-to-b", "", "--b-to-a", ""]
        self.fails(2, "--ns-a", LINK)
        self.fails(2, "rate", LINK, "--a-to-b", "rate=banana")
        self.fails(2, "--addr-a", LINK, "--addr-a", "10.0.0.1")
        self.fails(2, "--mtu", LINK, "--mtu", "70000")
        self.fails(2, "--nonsense", LINK, "--nonsense")
        self.fails(1, "no-such", LINK, "--ns-a", "no-such", "--ns-b", "self", *ends, "--a-to-b", "", "--b-to-a", "")
        self.fails(1, "pid:x", LINK, "--ns-a", "pid:x", "--ns-b", "self", *ends, "--a-to-b", "", "--b-to-a", "")
        self.fails(1, "/no/file", *good, "--changes", "/no/file")
        with open(self.path("changes"), "w") as f:
            f.write("\n1 sideways rate=1mbit\n")
        self.fails(1, "line 2: the second word", *good, "--changes", self.path("changes"))
        with open(self.path("changes"), "w") as f:
            f.write("1 both rate=1mbit\n")
        self.fails(1, "has no rate=", *good, "--changes", self.path("changes"))
        with open(self.path("trace"), "w") as f:
            f.write("1\n3\n2\n")
        self.fails(1, "trace, line 3: ", *good[:-4], "--a-to-b", f"trace={self.path('trace')}", "--b-to-a", "")
        self.fails(1, "/no/trace", *good[:-4], "--a-to-b", "trace=/no/trace", "--b-to-a", "")
        p = self.start([*good, "--stats", "/dev/full", "--duration", "0.1"])
        self.assertEqual(p.wait(), 1, str(p))
        self.assertIn("cannot write /dev/full: No space left on device", p.stderr)
        self.fails(1, "run as root or inside unshare -Urn", "setpriv", "--inh-caps=-all",
                   "--bounding-set=-net_admin,-sys_admin", *good)


class Path(lib.Case):
    """The lab's path of two emulated links, in namespaces and mounts of its own."""

    SCRIPT = """if True:
        import json, sys
        from lab import isolate, net
        isolate.prepare()
        with net.World(sys.argv[1], sys.argv[2]) as world:
            at = net.two_part_path(world, ("rate=20mbit,delay=10ms", "delay=10ms"),
                                   ("rate=4mbit,queue=droptail:60ms,delay=5ms", "delay=5ms"),
                                   options=["--flow", "7000"])
            pings = [world.ping("client", at[host]) for host in ("server", "proxy", "proxy-access")]
            world.start("server", ["weir-traffic", "serve", "--listen", at["server"] + ":7000"], "serve").wait_line("ready")
            client = world.start("client", ["weir-traffic", "run", "--server", at["server"] + ":7000", "--duration", "2",
                                            "--stats", world.path("client.jsonl"), "elephants:cc=reno"])
            codes = [client.wait(20)] + [link.stop() for link in world.links.values()]
            lines = lambda name: [json.loads(line) for line in open(world.path(name + ".jsonl"))]
            print(json.dumps({"codes": codes, "pings": pings, "client": lines("client"),
                              "links": {name: lines(name)[-1] for name in world.links}}))
        """

    def test_a_flow_over_both_parts(self):
        lib.need("ip", "ping")
        p = self.start([*isolate.command([sys.executable, "-c", self.SCRIPT]), self.path("run"), lib.BUILD],
                       {"PYTHONPATH": lib.ROOT})
        self.assertEqual(p.wait(40), 0, str(p))
        r = json.loads(p.stdout)
        self.assertEqual(r["codes"], [0, 0, 0])
        for ms, measured_ms in zip((30, 10, 10), r["pings"]):
            self.between(ms, measured_ms, ms + 15 * lib.SLOW)
        *seconds, end = r["client"]
        goodput = seconds[-1]["specs"][0]["bytes"] * 8 / 1e6
        measured("a flow over two links", "4 Mbit/s", f"{goodput:.2f} Mbit/s of payload in the last second")
        self.between(3, goodput, 4 * 1448 / 1500 * 1.05)
        flows = {name: r["links"][name]["flows"]["7000"] for name in ("backbone", "access")}
        # The access link is the narrow one: what comes to it has passed the backbone, and only there it queues.
        # The backbone is stopped first; in the last milliseconds one counts what the other no longer does.
        for first, second, way in ("backbone", "access", "a_to_b"), ("access", "backbone", "b_to_a"):
            out, into = flows[first][way]["packets_out"], flows[second][way]["packets_in"]
            self.between(0.9 * out, into, 1.1 * out, way)
            self.assertGreater(into, 200)
        self.assertGreater(flows["access"]["a_to_b"]["queue_delay_ms"]["p95"], 20)
        self.assertLess(flows["backbone"]["a_to_b"]["queue_delay_ms"]["mean"], 20)
        self.assertGreaterEqual(flows["access"]["a_to_b"]["bytes_out"], end["specs"][0]["bytes"])


if __name__ == "__main__":
    for program in LINK, PROBE:
        if not os.access(program, os.X_OK):
            raise SystemExit(f"{program} is not built; WEIR_BUILD names the build directory")
    if os.geteuid() != 0 and shutil.which("unshare") and subprocess.run(["unshare", "-Urn", "true"]).returncode == 0:
        os.execvp("unshare", ["unshare", "-Urn", sys.executable, *sys.argv])
    unittest.main(verbosity=2)
