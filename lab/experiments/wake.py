# SPDX-License-Identifier: GPL-2.0-or-later
"""What it costs a sender over TCP to learn that there is room (Goel, Krasic, Li, Walpole 2002, section 2.2: "as soon as one packet can be
admitted"): its CPU time and how often it wakes, at rates below a core's. A receiver that discards what comes; Reno.

`greedy` always has media that waits; `steady` sends 30 % of the link's rate, so that media seldom waits.
"""
import json
import os
import sys

from lab import live, net
from lab.experiment import ROOT, Cell, Experiment
from lab.experiments.minbuf_gigabit import waits
from lab.rows import Rows, text

CONTENDERS = ["minbuf:1,0", "minbuf:1,3", "tcp:notsent=16384"]
LINKS = ((12, 50), (2, 100))
SECONDS = 8


def cells():
    return [Cell(f"{mbit}mbit-{rtt}ms-{source}", {"mbit": mbit, "rtt_ms": rtt, "source": source}) for mbit, rtt in LINKS
            for source in ("greedy", "steady")]


def source_of(p):
    return "synthetic:" + ("greedy" if p["source"] == "greedy" else f"steady:{p['mbit'] * 300}")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def one(context):
    p = context.cell.params
    delay = f"delay={p['rtt_ms'] / 2:g}ms"
    with context.world(sysctls={"net/ipv4/tcp_congestion_control": "reno"}) as world:
        for name in ("s", "r"):
            world.add(name)
        address, _ = world.link("bottleneck", "s", "r", f"rate={p['mbit']}mbit,queue=droptail:{net.bdp_bytes(p['mbit'], p['rtt_ms'])}B,{delay}",
                                delay, "--seed", str(context.seed))
        sender = world.start("s", ["weir-send", "--insecure", "--listen", f"{address}:{live.RTSP_PORT}", source_of(p)], "send")
        url = sender.wait_line(r" at (rtsp://\S+)").group(1)
        process = world.start("r", [sys.executable, os.path.join(ROOT, "lab", "drain.py"), url, context.contender, str(SECONDS)], "drain")
        process.wait_line("begun")
        before = cpu_seconds(sender.pid), waits(sender.pid)
        if process.wait(SECONDS + 30) != 0:
            raise process.failed(f"ended with {process.code}")
        cpu, woken = cpu_seconds(sender.pid) - before[0], waits(sender.pid) - before[1]
        waited = world.processes.waited()
        sender.stop()
    got = json.loads(process.text().strip().splitlines()[-1])["bytes_ps"]
    return {"cpu": cpu / SECONDS, "wakes_ps": woken / SECONDS, "mbps": got * 8e-6, "waited": waited}


COLUMNS = [("cpu", "sender's CPU, cores", 4), ("wakes_ps", "wakes a second", 0), ("mbps", "Mbit/s", 2),
           ("waited", "longest share of a thread's life without a core", 3)]


def write(run_rows, page):
    rows = Rows(run_rows)
    page.table("What waking costs", ["cell", "over", "runs", *(name for _, name, _ in COLUMNS)],
               [[cell, c, len(rows.by[cell, c]), *(text(rows.mean(cell, c, key), digits) for key, _, digits in COLUMNS)]
                for cell in rows.cells() for c in rows.contenders(cell)], "wake")


def check(rows):
    """Checks that media arrived: the kernel's events must not leave a sender asleep."""
    least = {"greedy": 0.7, "steady": 0.25}  # of the link's rate
    failed = []
    for row in rows:
        mbit, source = int(row["cell"].split("mbit")[0]), row["cell"].rpartition("-")[2]
        if row["figures"]["mbps"] < least[source] * mbit:
            failed.append(f"{row['cell']} {row['contender']}: {row['figures']['mbps']:.2f} Mbit/s, "
                          f"at least {least[source] * mbit:g} expected")
    return failed


def experiment(quick, _options):
    chosen = [c for c in cells() if not quick or c.name == "2mbit-100ms-greedy"]
    return Experiment("wake", "What it costs to learn of room over TCP", chosen, CONTENDERS[:1] if quick else CONTENDERS, one, write,
                      runs=1 if quick else 5, seconds=SECONDS + 4, check=check)
