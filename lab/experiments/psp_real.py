# SPDX-License-Identifier: GPL-2.0-or-later
"""A. Feng, W. Feng, Belford: Packet Spacing (2001), sections 2.2 and 3, with programs on the paper's network at a tenth of its rates, which
weir-link carries: hosts of 10 Mbit/s with 2 ms to a gateway of 10 packets, from there 15.5 Mbit/s with 40 ms. All times of PSP that belong
to packets are ten times the paper's: a packet takes 1200 us on the host's Ethernet, the first spacing is 500 us, a step 20 us. Each
run is next to weir-sim's of the same network (papers_real.py); `psp` has the paper's rates in simulation.

Agents of a fixed spacing are `udp`, whose packets are evenly spaced: one every t_x + spacing. They start at random within a second.
"""
import shutil

import numpy as np

from lab import live, net, stats
from lab.experiment import Cell, Experiment, Stand
from lab.experiments import papers_real as real
from lab.rows import Rows
from lab.simulate import simulate

LINK = "rate=15.5mbit,queue=droptail:10p,delay=42ms"
BACK = "delay=42ms"
T_X_US = 1200  # of 1500 bytes at 10 Mbit/s
WIRE_BYTES = {"udp": 1228, "psp": 1500}  # of a packet
SPACINGS = (5000, 9000, 10500, 11200, 15000, 50000)  # us
ADAPTIVE = {"psp": "psp:link=10000000,first=500,step=20", "psp-plain": "psp-plain:link=10000000,first=500,step=20"}
SECONDS, QUICK_SECONDS = 60, 15
TENTH = "a tenth of the paper's rates; 60 s of its 500"
PAPERS = (Stand("SPACINGus", "PSA, an agent of a fixed spacing (3)", "udp: packets of 1228 bytes instead of 1500, as much more often; " + TENTH),
          Stand("psp", "PSP with damping (2.2)", "ten packets until the first round trip is known; " + TENTH),
          Stand("psp-plain", "PSP without damping (2.1)", "the same"),
          Stand("beside: TCP", "TCP of a window of 800 packets (3.2)", "the kernel's Reno, with SACK, and windows of its own"))
SETTLED = 0.5  # part of a run from which seconds count


def wire_bps(spacing):
    """A 1500-byte packet every t_x + spacing; smaller ones leave as much more often."""
    return 12000 / (T_X_US + spacing) * 1e6


def formula(spacing, n=16):
    """The loss of N agents with random phases."""
    return max(0.0, 1 - 15.5e6 / (n * wire_bps(spacing)))


def programs(context, seconds):
    p = context.cell.params
    fixed = p["kind"] == "fixed"
    spacing = int(context.contender.removesuffix("us")) if fixed else None
    transport = "udp" if fixed else ADAPTIVE[context.contender]
    rtp = WIRE_BYTES["udp"] - real.UDP_HEADERS
    source = f"synthetic:greedy:{round(wire_bps(spacing) * rtp / WIRE_BYTES['udp'] / 1000)}" if fixed else "synthetic:greedy:10000"
    rng = np.random.default_rng(context.seed)
    with context.world() as world:
        at = net.dumbbell(world, ["server", "cross"], [real.SINK], LINK, BACK, "--seed", str(context.seed))
        senders = real.Senders(world, source)
        senders.serve("server", at["server"])
        epoch = live.start_time(1.0)
        downloads = real.Downloads(world, epoch, seconds, context.seed)
        if p["tcp"]:
            downloads.run("tcp", "cross", at["cross"], real.SINK, [f"elephants:n={p['tcp']},cc=reno"])
        for start in sorted(rng.uniform(0, 1, p["n"])):
            world.processes.sleep_until(epoch + start)
            senders.play("server", real.SINK, transport, seconds - 1)
        reports = senders.finish(seconds + 60)
        downloads.finish()
        waited = world.processes.waited()
        world.links["bottleneck"].stop()
        total = [v[0] for t, v in real.link_seconds(world, epoch).items() if SETTLED * seconds < t < seconds - 1]
    received = [real.wire_mbps(r) for r in reports]
    lost = sum(r["network"]["packets_lost"] for r in reports)
    figures = {"received_mbps": float(np.mean(received)), "loss": lost / max(1, lost + sum(r["network"]["packets_received"] for r in reports)),
               "jain": stats.jain(received), "link_mbps": float(np.mean(total)), "waited": waited}
    if p["tcp"]:
        figures["tcp_mbps"] = sum(downloads.mbps("tcp"))
    return figures


def simulated(context, seconds):
    p = context.cell.params
    ends = f"n={p['n']},rtt=84ms,spread=1s,access=10mbit"
    if p["kind"] == "fixed":
        spacing = int(context.contender.removesuffix("us"))
        own = f"cbr:rate={round(wire_bps(spacing))}bit,size={WIRE_BYTES['udp']}B,{ends}"
    else:
        own = f"datagram:cc={ADAPTIVE[context.contender].replace(',', '/')},max=10mbit,{ends}"
    words = ["--link", "rate=15.5mbit,queue=droptail:10p", "--back", "rate=1gbit", own]
    words += [f"{real.KERNEL},n={p['tcp']},rtt=84ms,spread=1s"] if p["tcp"] else []
    done = simulate(context.build, context.seed, seconds, *words)
    groups, flows = done.all("group"), [f for f in done.all("flow") if f["group"] == 0]
    received = [f["goodput_bps"] / 1e6 for f in flows]
    there = next(link for link in done.all("link") if link["to"] == "right")
    figures = {"received_mbps": float(np.mean(received)), "loss": groups[0]["loss"], "jain": stats.jain(received),
               "link_mbps": there["bytes_out"] * 8e-6 / seconds}
    if p["tcp"]:
        figures["tcp_mbps"] = groups[1]["goodput_bps"] / 1e6
    return figures


def one(context):
    seconds = context.experiment.options["seconds"]
    figures = real.with_twin(context, programs(context, seconds), lambda c: simulated(c, seconds))
    shutil.rmtree(context.directory, ignore_errors=True)
    return figures


KEYS = [("received_mbps", "an agent's Mbit/s", 3), ("loss", "loss", 4), ("jain", "Jain", 3), ("link_mbps", "on the link, Mbit/s", 2),
        ("tcp_mbps", "TCP's Mbit/s", 2)]


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished yet.")
        return
    page.text("The formula of figures 8 and 9 for random phases: loss = max(0, 1 - 15.5 / (16 x 12000 / (1200 + spacing))).")
    page.table("Sixteen agents of a fixed spacing: loss", ["spacing", "formula", "programs", "simulated"],
               [[c, f"{formula(int(c.removesuffix('us'))):.3f}", *(real.text(rows, "16", c, key, 3) for key in ("loss", "sim_loss"))]
                for c in rows.contenders("16")], "formula")
    real.compare(rows, page, "Programs and simulation", "twins", KEYS, rows.cells())


def check_quick(rows):
    """Checks that all programs run, and that the figures are possible: a sender that gets no core in time loses more."""
    failed = []
    for row in rows:
        f, what = row["figures"], f"{row['cell']} {row['contender']}"
        if f["received_mbps"] <= 0:
            failed.append(f"{what}: {f['received_mbps']} Mbit/s")
        if not 0 <= f["loss"] < 1:
            failed.append(f"{what}: loss {f['loss']:.3f}")
    return failed


def cell(name, kind, n, contenders, tcp=0):
    return Cell(name, {"kind": kind, "n": n, "tcp": tcp}, contenders=tuple(contenders))


def experiment(quick, _options):
    title = "PSP's network at a tenth of its rates with programs, next to simulation"
    if quick:
        cells = [cell("16", "fixed", 16, ("5000us", "11200us")), cell("two", "adaptive", 2, ("psp",))]
        return Experiment("psp_real", title + " (quick)", cells, [], one, write, runs=1, seconds=QUICK_SECONDS + 4, check=check_quick,
                          options={"seconds": QUICK_SECONDS}, papers=PAPERS)
    cells = [cell("16", "fixed", 16, [f"{us}us" for us in SPACINGS]), cell("two", "adaptive", 2, ADAPTIVE),
             cell("sixteen", "adaptive", 16, ADAPTIVE), cell("two-10tcp", "adaptive", 2, ADAPTIVE, 10)]
    return Experiment("psp_real", title, cells, [], one, write, runs=3, seconds=SECONDS + 4, options={"seconds": SECONDS}, papers=PAPERS)
