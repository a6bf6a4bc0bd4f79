# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures what MTP costs, in UDP and in TCP segments, beside UDP with GSO and the kernel's TCP in the same run.

Two namespaces on a veth pair: packets are single (no TCP segmentation offload), so each protocol pays for each one. The
sending program has core 0, the receiving one core 1. A veth hands a packet over in the sender's time, so the kernel's
part of receiving counts there. CPU is what the processes used, system calls included: the sender's for what left, the
receiver's for what came.
"""
import argparse
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from lab import isolate  # noqa: E402

MSS = 1448  # of the kernel's TCP
SLOT = 1348  # what a segment of mtp-raw carries
BLAST = 1400  # a datagram of bench_blast
SENDER, RECEIVER = ["taskset", "-c", "0"], ["taskset", "-c", "1"]


class Row:
    """What a run of so many seconds sent and received, and what it cost."""

    def __init__(self, seconds, packet, sent, received, cpu):
        gbit = packet * 8 / 1e9
        self.pps, self.lost = received / seconds, 1 - received / max(sent, 1)
        self.gbps = self.pps * gbit
        self.sender = cpu[0] / (sent * gbit)
        self.both = self.sender + cpu[1] / (received * gbit)


class Bench:
    """Two hosts, and one way after the other between them."""

    def __init__(self, world, seconds):
        self.world, self.seconds, self.runs = world, seconds, 0
        self.near, self.far = (world.add(name) for name in ("sender", "receiver"))
        self.sender, self.receiver = world.veth("sender", "receiver")

    def start(self, namespace, core, *argv):
        self.runs += 1
        return self.world.processes.start(namespace, [*core, *map(str, argv)], f"run-{self.runs}")

    def finish(self, *processes):
        """Waits for their ends; the CPU seconds of each."""
        for p in processes:
            if p.wait(self.seconds + 30) != 0:
                raise p.failed(f"ended with {p.code}")
        return [p.cpu for p in processes]

    def program(self, name):
        return os.path.join(self.world.build, name)

    def whole_programs(self, transport):
        report = self.world.path(f"{transport}.json")
        sender = self.start(self.near, SENDER, self.program("weir-send"), "--insecure", "--listen", f"{self.sender}:8554",
                            "synthetic:greedy:1000000")  # kbit/s: of `udp`, which has no rate of its own
        url = sender.wait_line(r" at (rtsp://\S+)").group(1)
        player = self.start(self.far, RECEIVER, self.program("weir-play"), "--headless", "--no-picture", "--quiet",
                            "--transport", transport, "--duration", self.seconds, "--report", report, url)
        cpu = self.finish(player)
        sender.stop()
        with open(report, encoding="ascii") as f:
            r = json.load(f)
        net = r["network"]
        came = net["packets_received"]
        return Row(r["session"]["duration"], net["bytes_received"] / came, came + net["packets_lost"], came,
                   [sender.cpu, *cpu])

    def bare_core(self):
        """The protocol alone: numbered packets, no session around them."""
        probe = self.program("mtp_raw_probe")
        server = self.start(self.near, SENDER, probe, "serve", f"{self.sender}:443", "strict", 5e9, self.seconds)
        server.wait_line("ready")
        client = self.start(self.far, RECEIVER, probe, "fetch", f"{self.sender}:443", 16384)
        cpu = self.finish(server, client)
        sent, came = (json.loads(p.text().splitlines()[-1])[key] for p, key in ((server, "slots"), (client, "delivered")))
        return Row(self.seconds, SLOT, sent, came, cpu)

    def gso(self):
        blast = self.program("tests/bench_blast")
        to = f"{self.receiver}:5000"
        receiver = self.start(self.far, RECEIVER, blast, "receive", to, self.seconds + 1)
        receiver.wait_line("ready")
        sender = self.start(self.near, SENDER, blast, "send", to, self.seconds)
        cpu = self.finish(sender, receiver)
        sent, came = (int(re.search(r"^packets (\d+)", p.text(), re.M).group(1)) for p in (sender, receiver))
        return Row(self.seconds, BLAST, sent, came, cpu)

    def kernel_tcp(self):
        server = self.start(self.far, RECEIVER, "iperf3", "-s", "-1", "--forceflush")
        server.wait_line("listening")
        client = self.start(self.near, SENDER, "iperf3", "-c", self.receiver, "-t", self.seconds, "-J")
        cpu = self.finish(client, server)
        text = client.text()
        packets = json.loads(text[text.index("\n{"):])["end"]["sum_received"]["bytes"] / MSS
        return Row(self.seconds, MSS, packets, packets, cpu)


def measure(build, seconds):
    from lab.net import World
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder, World(folder, build) as world:
        bench = Bench(world, seconds)
        rows = {"UDP with GSO, bare": bench.gso()}
        if shutil.which("iperf3"):
            rows["kernel TCP, iperf3"] = bench.kernel_tcp()
        rows["mtp-raw, protocol alone"] = bench.bare_core()
        for transport in "mtp-raw", "mtp", "udp", "tcp":
            rows[f"programs: {transport}"] = bench.whole_programs(transport)
        return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="where the programs are")
    parser.add_argument("--seconds", type=int, default=4, help="of each run")
    options = parser.parse_args()
    if not isolate.isolated():
        try:
            sys.exit(isolate.enter([sys.executable, *sys.argv]))
        except isolate.NotPossible as e:
            print(f"not measured: {e}")
            return
    isolate.prepare()
    rows = measure(os.path.abspath(options.build), options.seconds)
    gso = rows["UDP with GSO, bare"]
    print(f"{'':24}{'Mbit/s':>8}{'packets/s':>11}{'lost':>8}   CPU s/Gbit: {'sender':>7}{'both':>7}{'to GSO':>8}")
    for name, r in rows.items():
        print(f"{name:24}{1000 * r.gbps:8.0f}{r.pps:11.0f}{100 * r.lost:7.1f}%{r.sender:22.2f}{r.both:7.2f}"
              f"{r.both / gso.both:8.2f}")
    raw = rows["programs: mtp-raw"]
    print(f"mtp-raw from one core: {raw.gbps:.2f} Gbit/s, of the {1 / raw.sender:.2f} that its CPU time a Gbit allows; "
          f"1 was the goal: {'met' if raw.gbps >= 1 else 'not met'}")


if __name__ == "__main__":
    main()
