#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-link between two network namespaces of its own: delay, rate, loss, marks, changes, captures, ends and errors.

Nothing here depends on how soon the machine wakes a program: a packet may be late, never early, and the instants of the
captures are those of the emulated link. What the machine decides is in tests/measure/measure_link.py. Without the right
to make namespaces, the module starts itself again in a user namespace.
"""
import collections
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import lib
import link_case
from link_case import A, A6, B, B6, LINK, PROBE, LinkCase

# weir-link counts whole microseconds: a packet that comes within one may leave that part of it early, each way.
CLOCK_US = 2
PACKET = 1500


def setUpModule():
    link_case.set_up()


class NeverEarly(LinkCase):
    def ping(self, addr, ms, count, interval_us, disturb=None):
        """Checks the round trips over a link with a delay of `ms`; disturb(link, ping) runs meanwhile."""
        link = self.link(f"delay={ms / 2}ms", f"delay={ms / 2}ms")
        echo = self.serve(1, "echo", addr)
        ping = self.probe(0, "ping", addr, echo.port, count, interval_us)
        if disturb:
            disturb(link, ping)
        r = self.result(ping)
        echo.stop()
        _, end = self.stats(link)
        for way in end["a_to_b"], end["b_to_a"]:
            self.assertEqual((way["packets_out"], sum(way["dropped"].values())), (way["packets_in"], 0), way)
        # The kernel may lose some between a program and the link, on a busy machine.
        self.between(count * 9 // 10, r["received"], count, r)
        self.assertGreaterEqual(r["least"], 1000 * ms - CLOCK_US, r)

    def test_round_trips(self):
        for ms in 10, 50, 100:
            for addr in B, B6:
                with self.subTest(ms=ms, addr=addr):
                    self.ping(addr, ms, 300, 5000)

    def test_while_the_link_is_held_up(self):
        """Packets that arrive while weir-link is stopped get no older timestamp."""
        def hold_up(link, ping):
            while ping.running():
                link.signal(signal.SIGSTOP)
                time.sleep(0.005)  # so that some of the packets come while it is stopped
                link.signal(signal.SIGCONT)
                time.sleep(0.012)

        self.ping(B, 40, 10000, 200, hold_up)


class Rate(LinkCase):
    def test_each_packet_takes_its_time(self):
        """A packet leaves at the later of its arrival and the preceding departure, plus its own time at the rate."""
        for mbit in 1, 12, 30, 100:
            with self.subTest(mbit=mbit):
                n = 40 * mbit + 60
                link = self.link(f"rate={mbit}mbit,queue=droptail:{n}p", "", "--pcap", self.path(f"link{mbit}"),
                                 "--snap", "96")
                sink = self.serve(1, "count", B, 0, 9)
                sent = self.result(self.probe(0, "blast", B, sink.port, 1.1e6 * mbit, PACKET, n * 8 * PACKET / 1.1e6 / mbit,
                                              0))["sent"]
                self.assertEqual(self.result(sink)["packets"], sent)
                self.stop_cleanly(link)
                services, _ = self.services(f"link{mbit}")
                self.assertEqual((sent, len(services)), (n, n))
                wanted = 8 * PACKET / mbit
                for k, service in enumerate(services):
                    self.between(wanted - 1, service, wanted + 1, f"packet {k}")


class Loss(LinkCase):
    def test_loss(self):
        n, p = 10000, 0.02
        link = self.link("loss=2%", "", "--seed", "7")
        sink = self.serve(1, "count", B, 0, 9)
        sent = self.result(self.probe(0, "blast", B, sink.port, 3.2e6, 100, n * 800 / 3.2e6, 0))["sent"]
        lost = sent - self.result(sink)["packets"]
        _, end = self.stats(link)
        self.assertEqual(sent, n)
        self.assertEqual(end["a_to_b"]["dropped"], {"loss": lost, "full": 0, "aqm": 0, "pool": 0})
        self.assertLessEqual(abs(lost - n * p), 2.576 * math.sqrt(n * p * (1 - p)))  # 99 % of the binomial


class Script(LinkCase):
    def test_marks(self):
        """Packets come much faster than they leave: those that meet 10 in the queue are marked."""
        link = self.link("rate=5mbit,queue=droptail:100p:ecn=10p", "")
        marked = 0
        for addr in B, B6:
            with self.subTest(addr=addr):
                sink = self.serve(1, "count", addr, 0, 9)
                self.result(self.probe(0, "blast", addr, sink.port, 60e6, 1000, 0.1, 2))  # ECT(0)
                r = self.result(sink)
                self.between(10, r["ce"], r["packets"] - 10)
                marked += r["ce"]
        sink = self.serve(1, "count", B, 0, 9)
        self.result(self.probe(0, "blast", B, sink.port, 60e6, 1000, 0.05, 0))  # not ECN-capable
        self.assertEqual(self.result(sink)["ce"], 0)
        self.assertEqual(self.stats(link)[1]["a_to_b"]["marked"], marked)

    def test_a_trace(self):
        """Three packets each 6 ms: 6 Mbit/s, in bursts of the trace's own times."""
        with open(self.path("trace"), "w") as f:
            f.write("# two at once, one later\n2\n2\n6\n")
        link = self.link(f"trace={self.path('trace')},queue=droptail:30p", "", "--pcap", self.path("link"))
        sink = self.serve(1, "count", B, 0, 9)
        self.result(self.probe(0, "blast", B, sink.port, 30e6, PACKET, 0.5, 0))
        r = self.result(sink)
        _, end = self.stats(link)
        d = end["a_to_b"]
        self.assertEqual(d["packets_out"], r["packets"])
        self.assertEqual(d["packets_in"], d["packets_out"] + d["dropped"]["full"])
        self.assertGreater(d["dropped"]["full"], 100)
        self.between(0.020, d["queue_delay_ms"]["max"] / 1000, 0.062)  # 30 packets, 2 ms each
        left = collections.Counter(at for at, _ in self.pcap("link-b-out.pcap", 65535))
        pair, single = (left_at for left_at in self.phases(left, 6000))
        self.assertEqual((single - pair) % 6000, 4000)
        for at, packets in left.items():
            self.assertLessEqual(packets, 2 if at % 6000 == pair else 1)
        self.assertGreater(max(left.values()), 1)

    def phases(self, instants, period):
        """The instants within a period at which packets left, the one with more packets first."""
        found = collections.Counter()
        for at, packets in instants.items():
            found[at % period] += packets
        return [phase for phase, _ in found.most_common()]

    def test_changes_figures_and_captures(self):
        """The queue is filled at once and lasts beyond the change: from then on a packet takes twice as long."""
        with open(self.path("changes"), "w") as f:
            f.write("# halved\n3 a-to-b rate=5mbit\n")
        port = 5000  # named to weir-link before the namespace has the address; nothing else is in there
        link = self.link("rate=10mbit,queue=droptail:4000p", "", "--changes", self.path("changes"), "--pcap",
                         self.path("link"), "--snap", "96", "--flow", str(port), "--flow", "7")
        sink = self.serve(1, "count", B, 0, 9, port=port)
        sent = self.result(self.probe(0, "blast", B, port, 60e6, PACKET, 0.7, 0))["sent"]
        got = self.result(sink)["packets"]
        seconds, end = self.stats(link)
        services, waits = self.services("link")
        halved = next(k for k, us in enumerate(services) if us > 1201)
        for k, us in enumerate(services):  # the rate changes while packet `halved` is sent
            low, high = (1199, 1201) if k < halved else (1199, 2401) if k == halved else (2399, 2401)
            self.between(low, us, high, f"packet {k} of {len(services)}, {halved}")
        self.between(100, halved, sent - 100)
        d = end["a_to_b"]
        self.assertEqual((d["packets_in"], d["packets_out"], d["dropped"]["full"]), (sent, sent, 0))
        self.assertEqual(got, sent)
        # A second's last packet may have begun in the one before.
        for i, second in enumerate(seconds):
            self.assertLessEqual(second["a_to_b"]["bytes_out"], (10e6 if i < 3 else 5e6) / 8 + PACKET)
        self.assertEqual(end["flows"][str(port)]["a_to_b"]["packets_out"], got)
        self.assertEqual(end["flows"]["7"]["a_to_b"]["packets_in"], 0)
        self.assertEqual(end["b_to_a"]["queue_delay_ms"], {"mean": None, "p95": None, "max": None})
        self.assertAlmostEqual(d["queue_delay_ms"]["max"], max(waits) / 1000, delta=0.01)
        self.assertAlmostEqual(d["queue_delay_ms"]["mean"], sum(waits) / len(waits) / 1000, delta=0.01)
        self.assertEqual(len(self.pcap("link-b-in.pcap", 96)), 0)

    def test_tcp_comes_in_packets(self):
        """The kernel segments before the device: a packet above the MTU would end weir-link."""
        link = self.link("rate=100mbit,delay=2ms,queue=droptail:200p", "delay=2ms")
        server = self.start(self.ends[1].inside(sys.executable, "-c", f"""if True:
            import socket
            s = socket.create_server(("{B}", 0))
            print("port", s.getsockname()[1], flush=True)
            c, n = s.accept()[0], 0
            while data := c.recv(65536):
                n += len(data)
            print(n)"""))
        port = lib.until(lambda: re.search(r"port (\d+)\n", server.stdout), "the server", 30).group(1)
        client = self.start(self.ends[0].inside(sys.executable, "-c", f"""if True:
            import socket
            socket.create_connection(("{B}", {port})).sendall(bytes(4 << 20))"""))
        self.assertEqual(client.wait(60), 0, str(client))
        self.assertEqual(server.wait(60), 0, str(server))
        self.assertIn(f"\n{4 << 20}\n", server.stdout)
        _, end = self.stats(link)
        self.assertGreaterEqual(end["a_to_b"]["bytes_in"], 4 << 20)


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
        self.assertIn("cannot open /dev/net/tun: its mode excludes this user", p.stderr)
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
        sink = self.serve(1, "count", B, 0, 9)
        sent = self.result(self.probe(0, "blast", B, sink.port, 10e6, 1500, 0.6, 0))["sent"]  # 750 kB, twice
        self.assertEqual(self.result(sink)["packets"], sent)
        p.signal(signal.SIGTERM)
        self.assertEqual(p.wait(), 1, str(p))
        for name in "a-in", "b-out":
            self.assertEqual(p.stderr.count(f"x-{name}.pcap: No space left on device (the capture ends here)\n"), 1, p.stderr)
        self.assertEqual(p.stderr.count("No space left"), 2, p.stderr)
        self.assertEqual(self.stats()[1]["a_to_b"]["packets_out"], sent)

    def test_a_device_that_is_taken_away(self):
        lib.need("ip")
        p = self.link("", "")
        subprocess.run(self.ends[0].inside("ip", "link", "del", "weir-a"), check=True)
        self.assertEqual(p.wait(), 1, str(p))

    def fails(self, code, says, *argv):
        p = self.start(self.ends[0].inside(*argv))
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
        self.fails(1, "line 2: expects a-to-b, b-to-a or both", *good, "--changes", self.path("changes"))
        with open(self.path("changes"), "w") as f:
            f.write("1 both rate=1mbit\n")
        self.fails(1, "has no rate=", *good, "--changes", self.path("changes"))
        with open(self.path("trace"), "w") as f:
            f.write("1\n3\n2\n")
        self.fails(1, "trace, line 3: ", *good[:-4], "--a-to-b", f"trace={self.path('trace')}", "--b-to-a", "")
        self.fails(1, "/no/trace", *good[:-4], "--a-to-b", "trace=/no/trace", "--b-to-a", "")
        p = self.start(self.ends[0].inside(*good, "--stats", "/dev/full", "--duration", "0.1"))
        self.assertEqual(p.wait(), 1, str(p))
        self.assertIn("cannot write /dev/full: No space left on device", p.stderr)
        self.fails(1, "run as root or inside unshare -Urn", "setpriv", "--inh-caps=-all",
                   "--bounding-set=-net_admin,-sys_admin", *good)


class Path(link_case.TwoLinks):
    def test_a_flow_over_both_parts(self):
        r = self.both_parts()
        self.assertEqual(r["codes"], [0, 0, 0])
        for ms, least in zip((30, 10, 10), r["pings"]):
            self.assertGreaterEqual(least, 1000 * ms - CLOCK_US * (2 if ms == 30 else 1))
        end = r["client"][-1]
        self.assertGreater(end["specs"][0]["bytes"], 0)
        # The access link never carries more than its rate; a second's last packet may have begun in the one before.
        for second in r["links"]["access"][:-1]:
            self.assertLessEqual(second["a_to_b"]["bytes_out"], 4e6 / 8 + PACKET)
        flows = {name: lines[-1]["flows"]["7000"] for name, lines in r["links"].items()}
        # The access link is the narrow one: what comes to it has passed the backbone, and there it queues.
        # The backbone is stopped first; in the last milliseconds one counts what the other no longer does.
        for first, second, way in ("backbone", "access", "a_to_b"), ("access", "backbone", "b_to_a"):
            out, into = flows[first][way]["packets_out"], flows[second][way]["packets_in"]
            self.between(0.9 * out, into, 1.1 * out, way)
            self.assertGreater(into, 20)
        self.assertGreater(flows["access"]["a_to_b"]["queue_delay_ms"]["mean"],
                           flows["backbone"]["a_to_b"]["queue_delay_ms"]["mean"])
        self.assertGreaterEqual(flows["access"]["a_to_b"]["bytes_out"], end["specs"][0]["bytes"])


if __name__ == "__main__":
    for program in LINK, PROBE:
        if not os.access(program, os.X_OK):
            raise SystemExit(f"{program} is not built; WEIR_BUILD names the build directory")
    if os.geteuid() != 0 and shutil.which("unshare") and subprocess.run(["unshare", "-Urn", "true"]).returncode == 0:
        os.execvp("unshare", ["unshare", "-Urn", sys.executable, *sys.argv])
    lib.main()
