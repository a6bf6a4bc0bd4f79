# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the datagram transports on this machine: what a packet costs, how evenly packets leave, and how many leave a
second over the loopback, beside iperf3 in the same run."""
import argparse
import json
import os
import shutil
import socket
import subprocess
import time

SPACING_US = 50
PACKET = 1200
RATE = PACKET * 8 * 1000000 // SPACING_US


def rows(bench, *args):
    out = subprocess.run([bench, *map(str, args)], stdout=subprocess.PIPE, check=True, timeout=120, text=True).stdout
    for line in out.splitlines():
        words = line.split()
        yield {"name": words[1], **dict(zip(words[2::2], map(float, words[3::2])))}


def iperf(seconds):
    """Packets a second that iperf3 sends as fast as it can."""
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    server = subprocess.Popen(["iperf3", "-s", "-1", "-B", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        out = subprocess.run(["iperf3", "-c", "127.0.0.1", "-p", str(port), "-u", "-b", "0", "-l", str(PACKET), "-t",
                              str(seconds), "-J"], stdout=subprocess.PIPE, check=True, timeout=60).stdout
        return json.loads(out)["end"]["sum_sent"]["packets"] / seconds
    finally:
        server.terminate()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release", help="where the programs are")
    parser.add_argument("--seconds", type=int, default=3, help="of each run")
    options = parser.parse_args()
    bench = os.path.join(options.build, "tests", "bench_datagram")
    print("both protocol endpoints in memory, ns a packet: " +
          ", ".join(f"{r['name']} {r['ns_per_packet']:.0f}" for r in rows(bench, "memory")))
    (r,) = rows(bench, "loopback", f"udp:rate={RATE}", options.seconds)
    off = 100 * (r["spacing_us"] / SPACING_US - 1)
    print(f"spacing of {SPACING_US} us: mean {r['spacing_us']:.2f} us ({off:+.1f} %), standard deviation "
          f"{r['sd_us']:.1f} us, sender {r['ns_per_packet']:.0f} ns of CPU a packet")
    rates = {}
    for name in f"udp:rate=10000000000", "psp", "psp-plain", "tfrc", "arc":
        (r,) = rows(bench, "loopback", name, options.seconds)
        rates[name] = r["sent_pps"]
        print(f"{name:22} {r['sent_pps']:9.0f} packets/s left, {r['received_pps']:9.0f} arrived, "
              f"{r['ns_per_packet']:6.0f} ns of CPU a packet, {r['lost']:.0f} lost")
    if shutil.which("iperf3"):
        other = iperf(options.seconds)
        best = max(rates.values())
        print(f"iperf3 -u -b 0 -l {PACKET}: {other:.0f} packets/s; ours is {best / other:.2f} of it")


if __name__ == "__main__":
    main()
