# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the simulator: 1000 simulated seconds at 10 Mbit/s, for TCP and for the datagram transports."""
import argparse
import json
import os
import resource
import subprocess

SECONDS = 1000


def measured(program, flows, kind):
    """CPU seconds, and events."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([program, "--quiet", "--seconds", str(SECONDS), "--link", "rate=10mbit,queue=droptail:208p",
                          f"{kind},n={flows},rtt={250 / flows}ms..250ms"], stdout=subprocess.PIPE, check=True, timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = json.loads(out.stdout.splitlines()[-1])
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, run["events"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release", help="where the programs are")
    program = os.path.join(parser.parse_args().build, "weir-sim")
    for kind in "reno:iw=2p", "datagram:cc=tfrc", "datagram:cc=arc":
        for flows in 20, 200:
            cpu, events = measured(program, flows, kind)
            print(f"{kind:18} {flows:3} flows: {cpu:5.2f} s of CPU, {events / cpu / 1e6:5.2f} million events a second, "
                  f"{SECONDS / cpu:6.0f} times real time")


if __name__ == "__main__":
    main()
