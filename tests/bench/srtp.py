# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures what SRTP costs: two senders in one run, one plain, one with --srtp, each with viewers of 2 Mbit/s in datagrams.
Prints each end's share of a core per viewer, and the ratio."""
import argparse
import os
import re
import subprocess
import tempfile
import time


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def url_of(log):
    for _ in range(200):
        with open(log, encoding="utf-8") as f:
            if found := re.search(r" at (rtsp://\S+)", f.read()):
                return found.group(1)
        time.sleep(0.05)
    raise SystemExit("the sender did not start")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release", help="where the programs are")
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--viewers", type=int, default=8, help="of each sender")
    parser.add_argument("--transport", default="udp")
    o = parser.parse_args()
    started = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            ends = []
            for name, extra in ("plain", []), ("SRTP", ["--srtp"]):
                log = os.path.join(folder, name)
                with open(log, "w", encoding="utf-8") as out:
                    sender = subprocess.Popen([os.path.join(o.build, "weir-send"), "--listen", "127.0.0.1:0", *extra,
                                               "synthetic:steady:2000"], stderr=out)
                started.append(sender)
                url = url_of(log)
                viewers = [subprocess.Popen([os.path.join(o.build, "weir-play"), "--headless", *extra, "--transport",
                                             o.transport, "--repair", "off", "--duration", str(o.seconds + 10), url],
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(o.viewers)]
                started += viewers
                ends.append((name, sender, viewers))
            time.sleep(3)
            before = [[cpu_seconds(s), sum(map(cpu_seconds, v))] for _, s, v in ends]
            time.sleep(o.seconds)
            shares = []
            for (name, sender, viewers), was in zip(ends, before):
                used = [cpu_seconds(sender) - was[0], sum(map(cpu_seconds, viewers)) - was[1]]
                shares.append([100 * u / o.seconds / o.viewers for u in used])
                print(f"{name:5}  sender {shares[-1][0]:.3f} % of a core a viewer, viewer {shares[-1][1]:.3f} %")
            for i, end in enumerate(("sender", "viewer")):
                print(f"{end}: {shares[1][i] / shares[0][i]:.2f} times, {shares[1][i] - shares[0][i]:+.3f} % of a core")
        finally:
            for p in started:
                p.terminate()
            for p in started:
                p.wait()


if __name__ == "__main__":
    main()
