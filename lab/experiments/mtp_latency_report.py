# SPDX-License-Identifier: GPL-2.0-or-later
"""The distribution of protocol latency, from the runs of mtp_latency.py."""
import os

import numpy as np

from lab.experiment import kept_path
from lab.report import canvas
from lab.rows import Rows, text

__all__ = ["Rows", "goals", "latency_figures", "write"]

PERCENTILES = {"p50_ms": 50, "p95_ms": 95, "p99_ms": 99, "p999_ms": 99.9, "max_ms": 100}

WHAT = ("Protocol latency is the time from writing a packet to reading it. Greedy: it is written when the transport "
        "takes it. mtp and mtp-raw take a packet only when it can leave, so nothing of their own is in it; tcp and "
        "minbuf keep it in the kernel's send buffer first. Steady, 30 or 10 % of the link: it is written when it is due, "
        "so the wait for the transport counts for all of them alike, in the sender as in the kernel. What waits "
        "longer than 1 s in the sender is left out, and with mtp:queue=200ms what waits longer than that in its "
        "drop-front queue: neither is among the latencies. arrived: of what was due, or of what was sent; the rest "
        "was left out or lost. Lost packets of MTP do not come again and have no latency.")


def rtt_of(cell):
    return int(cell.split("-")[2].removesuffix("ms"))


def latency_figures(adus):
    """Latencies of [(number, written, read)], in milliseconds. Missing numbers were lost or left out."""
    if not adus:
        return dict.fromkeys([*PERCENTILES, "arrived"]) | {"samples": 0}
    latency = np.array([read - written for _, written, read in adus]) * 1e3
    numbers = [number for number, _, _ in adus]
    return {**{key: float(np.percentile(latency, p)) for key, p in PERCENTILES.items()}, "samples": len(numbers),
            "arrived": len(set(numbers)) / (max(numbers) + 1)}


def goals(rows):
    """At 1 % random loss: no packet of MTP waits for the loss of another. For the steady source, the wait for the window
    also counts."""
    for cell in rows.cells():
        if not cell.startswith("loss-"):
            continue
        for contender in rows.contenders(cell):
            spread = [f["p999_ms"] - f["p50_ms"] for f in rows.by[cell, contender].values() if f["samples"]]
            if not contender.startswith("mtp") or not spread:
                continue
            worst = max(spread)
            yield [cell, contender, "p99.9 less the median, ms, worst run", f"<= {rtt_of(cell)}",
                   f"{'met' if worst <= rtt_of(cell) else 'missed'}: {worst:.1f}"]


def distribution(page, rows):
    cells = rows.cells()
    figure, axes = canvas(1, len(cells), width=4.2, sharey=True)
    for axis, cell in zip(axes[0], cells):
        for contender in rows.contenders(cell):
            path = kept_path(page.directory, cell, contender, 0, "npz")
            if not os.path.exists(path):
                continue
            with np.load(path) as kept:
                latency = np.sort(kept["latency"])
            above = 1 - np.arange(latency.size) / latency.size
            axis.plot(latency, above, label=contender)
        axis.set(title=cell, xscale="log", yscale="log", ylim=(1e-4, 1), xlabel="protocol latency, ms")
    axes[0][0].set_ylabel("fraction of packets above")
    axes[0][0].legend(fontsize=7)
    page.figure("Latencies of each cell's first run: how many packets took longer", figure, "distribution")


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished yet.")
        return
    table = list(goals(rows))
    if table:
        page.heading("Goals")
        page.text("At 1 % loss p99.9 is within one round-trip time of the median. Greedy shows the network alone; steady also "
                  "what waits while Reno's window is halved.")
        page.goals("Goals", ["cell", "contender", "what", "goal", "result"], table, "goals")
    page.heading("Protocol latency")
    page.text(WHAT)
    keys = [("p50_ms", "p50", 1), ("p95_ms", "p95", 1), ("p99_ms", "p99", 1), ("p999_ms", "p99.9", 1),
            ("max_ms", "max", 1), ("arrived", "arrived", 4), ("throughput_mbps", "Mbit/s", 2)]
    page.table("Latency, ms", ["cell", "contender", *(h for _, h, _ in keys)],
               [[cell, contender, *(text(rows.mean(cell, contender, k), d) for k, _, d in keys)]
                for cell in rows.cells() for contender in rows.contenders(cell)], "latency")
    distribution(page, rows)
