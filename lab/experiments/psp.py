# SPDX-License-Identifier: GPL-2.0-or-later
"""A. Feng, W. Feng, Belford: Packet Spacing (2001), sections 2.2 and 3, in simulation.

The paper's network (figure 6): 100 Mbit/s Ethernets with 2 ms to a gateway of 10 packets, from there 155 Mbit/s with
40 ms. Agents without feedback are senders of constant rate: a packet of 1500 bytes every t_x + spacing (figure 3).
They start within a second, at random: synchronized agents would get all or nothing, and only their mean is stable.
"""
import csv
import os

import numpy as np

from lab import stats
from lab.experiment import Cell, Experiment, Stand
from lab.experiments import psp_report
from lab.experiments.psp_report import ADAPTIVE
from lab.simulate import simulate

NETWORK = ("--link", "rate=155mbit,queue=droptail:10p,delay=40ms")
ENDS = "access=100mbit,rtt=84ms"
PACKET_BITS = 12000
T_X_US = 120  # time of a packet on the access link
WIRE_US = PACKET_BITS / 155  # time of a packet on the long link

SPACINGS = (0, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1050, 1100, 1110, 1120, 1150, 1200, 1500, 2000,
            3000, 4000, 5000)
QUICK_SPACINGS = (0, 100, 1050, 1120, 1500, 5000)
KEPT = 1500  # section 3.2.4: the spacing whose arrivals are examined
SETTLED = 20.0  # s: adaptive agents are measured from this time on
LATE = 10.0  # s, figure 18: the second agent starts this much later
STEP = 0.2  # s between the totals of sent bytes


# Goals of the quick version's means over agents. Not: what two agents do over 60 s (oscillation, fairness), and each TCP's rate.
JUDGED = ("16 agents: loss against", "(received_mbps|loss) as in ns-2", "loss over that at spacing 0", "at the receiver", "its standard deviation",
          "a TCP of 20 packets", "throughput with damping")
FIXED = "SPACINGus"  # the contenders of a fixed spacing
PAPERS = (Stand(FIXED, "PSA, an agent of a fixed spacing (3)", "starts at random within a second; the mean of the agents, of which the paper shows one"),
          Stand("psp", "PSP with damping (2.2)", "ten packets until the first round trip is known; knows its link's rate (link=)"),
          Stand("psp-plain", "PSP without damping (2.1)", "the same"),
          Stand("beside: TCP", "TCP of a window of 20 or 800 packets (3.2)", "Reno that acknowledges each second packet; the paper names no TCP"))


def spacing_name(us):
    return f"{us}us"


def agents(us, n):
    rate = round(PACKET_BITS / (T_X_US + us) * 1e6)
    return f"cbr:n={n},rate={rate}bit,spread=1s,{ENDS}"


def tcps(n, window):
    return f"reno:n={n},window={window}p,spread=1s,{ENDS}"


def adaptive(name, n, start=0.0):
    return f"datagram:n={n},cc={name}:link=100000000,max=100mbit,start={start:g}s,spread=100ms,{ENDS}"


def sweep_cell(name, n, window=None, spacings=SPACINGS):
    return Cell(name, {"agents": n, "window": window}, contenders=tuple(spacing_name(s) for s in spacings))


def adaptive_cell(name, n, late=0.0, tcp=None):
    return Cell(name, {"agents": n, "late": late, "tcp": tcp}, contenders=ADAPTIVE)


def gaps(arrivals):
    """Arrivals as (time in us, packet's number): the times between one packet and the next one sent, and those between
    any two successive arrivals, even if packets between them were lost."""
    rows = np.array(sorted(arrivals, key=lambda a: a[1]), dtype=float).reshape(-1, 2)
    between, numbers = np.diff(rows[:, 0]), np.diff(rows[:, 1])
    return between[numbers == 1], between


def sent_rates(series, step):
    """Rows of a series -> {flow: Mbit/s sent in each step}."""
    sums = {}
    for row in series:
        sums.setdefault(int(row["flow"]), []).append(int(row["sent_bytes"]))
    return {flow: np.diff(np.array(sent, dtype=float)) * 8 / step / 1e6 for flow, sent in sums.items()}


def oscillation(rates, settled):
    """The mean over flows of standard deviation / mean of the steps from SETTLED on."""
    rates = [r[settled:] for r in rates]
    return float(np.mean([r.std() / r.mean() for r in rates if r.size and r.mean() > 0]))


def _tcp_figures(group, n):
    return {"tcp_mbps": group["goodput_bps"] / n / 1e6, "tcp_loss": group["loss"]}


def _kept(path):
    with open(path, encoding="ascii", newline="") as f:
        following, every = gaps([(int(r["time_us"]), int(r["number"])) for r in csv.DictReader(f)])
    # The spacing is the gap after a packet (figure 3); a packet takes less time on the long link than on the Ethernet.
    return {"kept_us": float(following.mean() - WIRE_US), "kept_sd_us": float(following.std()),
            "interval_us": float(every.mean()), "interval_sd_us": float(every.std())}


def sweep(context):
    p, seconds = context.cell.params, context.experiment.options["sweep_seconds"]
    us = int(context.contender.removesuffix("us"))
    words = [*NETWORK, "--since", "1", agents(us, p["agents"])]
    if p["window"]:
        words.append(tcps(16, p["window"]))
    path = os.path.join(context.directory, "arrivals.csv")
    looked_at = us == KEPT and p["window"]
    if looked_at:
        words += ["--arrivals", f"0:{path}"]
    done = simulate(context.build, context.seed, seconds, *words)
    groups = done.all("group")
    flows = [f for f in done.all("flow") if f["group"] == 0]
    received = [f["goodput_bps"] / 1e6 for f in flows]
    sent = np.mean([f["sent_bps"] for f in flows]) / 1e6
    figures = {"sent_mbps": float(sent), "received_mbps": float(np.mean(received)), "received_min": min(received),
               "received_max": max(received), "loss": groups[0]["loss"]}
    if p["window"]:
        figures |= _tcp_figures(groups[1], 16)
    if looked_at:
        figures |= _kept(path)
        os.unlink(path)
    return figures


def adapt(context):
    p, seconds = context.cell.params, context.experiment.options["adaptive_seconds"]
    name, n = context.contender, p["agents"]
    words = [*NETWORK, "--since", f"{SETTLED + p['late']:g}"]
    words += [adaptive(name, 1), adaptive(name, n - 1, p["late"])] if p["late"] else [adaptive(name, n)]
    if p["tcp"]:
        words.append(tcps(*p["tcp"]))
    series = os.path.join(context.directory, "series.csv")
    done = simulate(context.build, context.seed, seconds, *words, series=series, step=STEP)
    rates = {k: r for k, r in sent_rates(done.series, STEP).items() if k < n}
    os.unlink(series)
    flows = done.all("flow")
    received = np.array([f["goodput_bps"] for f in flows[:n]]) / 1e6
    sent = np.array([f["sent_packets"] for f in flows[:n]], dtype=float)
    lost = np.array([f["dropped"] for f in flows[:n]], dtype=float)
    figures = {"received_mbps": float(received.mean()), "total_mbps": float(received.sum()),
               "loss": float(lost.sum() / sent.sum()), "jain": stats.jain(received),
               "oscillation": oscillation(rates.values(), round((SETTLED + p["late"]) / STEP))}
    if p["tcp"]:
        figures |= _tcp_figures(done.all("group")[-1], p["tcp"][0])
    if context.run == 0:
        np.savez_compressed(context.kept("npz"), rates=np.array(list(rates.values())), step=STEP)
    return figures


def one(context):
    os.makedirs(context.directory, exist_ok=True)
    return adapt(context) if context.contender in ADAPTIVE else sweep(context)


def check_quick(rows):
    """Checks that there are figures for the goals that the quick version judges."""
    missing = {"formula", "cut", "kept", "damped"} - {g.name for g in psp_report.goals(psp_report.Rows(rows))}
    return [f"nothing was measured for {name}" for name in sorted(missing)]


def experiment(quick, _options):
    title = "PSP: packet spacing, fixed and adaptive"
    if quick:
        cells = [sweep_cell("16", 16, None, QUICK_SPACINGS), sweep_cell("16-tcp20", 16, 20, QUICK_SPACINGS),
                 adaptive_cell("two", 2)]
        return Experiment("psp", title + " (quick)", cells, [], one, psp_report.write, runs=2, seconds=1,
                          check=check_quick, options={"sweep_seconds": 20, "adaptive_seconds": 60}, papers=PAPERS, judged=JUDGED)
    cells = [sweep_cell("1", 1), sweep_cell("16", 16), sweep_cell("16-tcp20", 16, 20),
             sweep_cell("16-tcp800", 16, 800), adaptive_cell("two", 2), adaptive_cell("two-delayed", 2, late=LATE),
             adaptive_cell("two-10tcp", 2, tcp=(10, 800)), adaptive_cell("sixteen", 16),
             adaptive_cell("sixteen-16tcp", 16, tcp=(16, 800))]
    return Experiment("psp", title, cells, [], one, psp_report.write, runs=5, seconds=1,
                      options={"sweep_seconds": 100, "adaptive_seconds": 100}, papers=PAPERS)
