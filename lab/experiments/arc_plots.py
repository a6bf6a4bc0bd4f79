# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures 5 to 31 of the paper, from the runs of arc.py. Hollow marks are ns-2's; cells without runs are left out."""
import os

import numpy as np

from lab.experiment import kept_path
from lab.experiments.arc_figures import jain
from lab.report import canvas

COLOURS = {"reno": "tab:red", "tfrc:selfclock,damp": "tab:blue", "tfrc:selfclock": "tab:cyan", "tfrc": "tab:purple",
           "arc": "tab:green", "arc:report=packet": "tab:olive"}
SHOWN = ("reno", "tfrc:selfclock,damp", "arc", "arc:report=packet")
CBR_EDGES = (200, 400, 600, 800)


class Kept:
    """Rates (bit/s) and received bytes of the first run of a cell, time x flows."""

    def __init__(self, page, cell, contender):
        path = kept_path(page.directory, cell, contender, 0, "npz")
        self.there = os.path.exists(path)
        if self.there:
            with np.load(path) as arrays:
                self.time, self.rate, self.good = arrays["time"], arrays["rate"], arrays["good"]


def kept(page, cell):
    found = {who: Kept(page, cell, who) for who in SHOWN}
    return {who: k for who, k in found.items() if k.there}


def sending_rates(page, cells, caption, name):
    """Figures 5-7, 9-11 and 24: a row for each cell, a panel for each contender."""
    found = [(cell, kept(page, cell)) for cell in cells]
    found = [(cell, runs) for cell, runs in found if runs]
    if not found:
        return
    figure, axes = canvas(len(found), len(SHOWN), width=3.6, height=2.5, sharex=True, sharey=True,
                          layout="constrained")
    for row, (cell, runs) in zip(axes, found):
        for axis, who in zip(row, SHOWN):
            axis.set_title(f"{cell}: {who}", fontsize=8)
            if who in runs:
                axis.plot(runs[who].time, runs[who].rate[:, 0] / 1e6, color=COLOURS[who], linewidth=0.8)
        row[0].set_ylabel("sending rate, Mbit/s")
    axes[0][0].set(ylim=(0, 1.6), xlim=(0, None))
    for axis in axes[-1]:
        axis.set_xlabel("time, s")
    page.figure(caption, figure, name)


def transients(page, cell, caption, name, windows):
    """Figures 12, 14 and 15: the rates around the times when the CBR source turns off and on."""
    runs = kept(page, cell)
    if not runs or max(k.time[-1] for k in runs.values()) < max(last for _, last in windows):
        return
    figure, axes = canvas(len(windows), len(runs), width=3.6, height=2.5, sharey=True, layout="constrained")
    for row, (first, last) in zip(axes, windows):
        for axis, (who, k) in zip(row, runs.items()):
            inside = (k.time >= first) & (k.time <= last)
            axis.plot(k.time[inside], k.rate[inside] / 1e6, linewidth=0.7,
                      color=COLOURS[who] if k.rate.shape[1] < 3 else None)
            axis.set(title=who, xlabel="time, s", xlim=(first, last))
        row[0].set_ylabel("sending rates, Mbit/s")
    axes[0][0].set_ylim(0, 1.6)
    page.figure(caption, figure, name)


def fairness_over_time(page, cell):
    """Figures 16 and 17."""
    runs = kept(page, cell)
    if not runs:
        return
    figure, axes = canvas(1, 2, width=5.5, layout="constrained")
    for who, k in runs.items():
        start = 0 if who == "reno" else 10
        later = k.time > start
        axes[0][0].semilogx(k.time[later] - start, jain(k.good[later]), label=who, color=COLOURS[who])
    axes[0][0].set(xlabel="time since the flows' start, s", ylabel="Jain's index of bytes received", ylim=(0.2, 1.02))
    axes[0][0].legend()
    for who, k in runs.items():
        axes[0][1].plot(k.time, jain(k.rate), color=COLOURS[who], linewidth=0.6)
    axes[0][1].set(xlabel="time, s", ylabel="instantaneous index", ylim=(0.2, 1.02))
    page.figure("Figures 16 and 17: fairness of 20 flows with an on-off CBR source", figure, "figure-16-17")


def bars(rows, page, ns2, cells, panels, caption, name):
    """Figures 8, 13 and 25: a panel for each figure, a group of bars for each cell; +: ns-2."""
    cells = [cell for cell in cells if rows.contenders(cell)]
    whos = [who for who in COLOURS if any(who in rows.contenders(cell) for cell in cells)]
    if not whos:
        return
    figure, axes = canvas(1, len(panels), width=3.6, height=3, layout="constrained")
    width = 0.8 / len(whos)
    for axis, (key, label) in zip(axes[0], panels):
        for i, who in enumerate(whos):
            at = np.arange(len(cells)) + (i - (len(whos) - 1) / 2) * width
            means = [rows.mean(cell, who, key) for cell in cells]
            axis.bar(at, [m.value if m else 0 for m in means], width, color=COLOURS[who], label=who)
            reference = [float(ns2(cell, who, key) or "nan") for cell in cells]
            axis.plot(at, reference, "k+")
        axis.set_xticks(range(len(cells)), cells)
        axis.set_ylabel(label)
    axes[0][0].set_ylim(top=1.35 * axes[0][0].get_ylim()[1])
    axes[0][0].legend(fontsize=7, ncol=2, loc="upper center")
    page.figure(caption, figure, name)


def curves(rows, page, ns2, points, panels, x_label, caption, name, x_scale="linear"):
    """A panel for each of PANELS (key, label), a curve for each contender over POINTS [(x, cell)]; o: ns-2."""
    points = [(x, cell) for x, cell in points if rows.contenders(cell)]
    if not points:
        return
    figure, axes = canvas(1, len(panels), width=4.4, layout="constrained")
    for axis, (key, label) in zip(axes[0], panels):
        for who, colour in COLOURS.items():
            means = [(x, rows.mean(cell, who, key), ns2(cell, who, key)) for x, cell in points]
            own = [(x, m.value, m.low or m.value, m.high or m.value) for x, m, _ in means if m]
            if own:
                x, y, low, high = zip(*own)
                axis.plot(x, y, ".-", color=colour, label=who)
                axis.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
            reference = [(x, float(value)) for x, _, value in means if value]
            if reference:
                axis.plot(*zip(*reference), "o", color=colour, fillstyle="none", markersize=7)
        axis.set(xlabel=x_label, ylabel=label, xscale=x_scale, yscale="log" if key == "c1_mbps" else "linear")
        if key == "reno_mbps":
            axis.plot([x for x, _ in points], [x / 6 for x, _ in points], "k:", label="fair share")
    axes[0][0].legend(fontsize=7)
    page.figure(caption, figure, name)


def write(rows, page, ns2):
    sending_rates(page, ("5.1.1", "5.1.1-reverse"), "Figures 5-7: sending rates of one flow on 1 Mbit/s, without and "
                  "with reverse traffic", "figure-5-7")
    summary = (("mbps", "goodput, Mbit/s"), ("loss", "loss"), ("burst_rate", "burstiness"))
    bars(rows, page, ns2, ("5.1.1", "5.1.1-reverse"), summary, "Figure 8: goodput, loss and burstiness", "figure-8")
    sending_rates(page, ("5.1.2",), "Figures 9-11: one flow and an on-off CBR source of 0.7 Mbit/s", "figure-9-11")
    transients(page, "5.1.2", "Figure 12: after the CBR source goes (400 s) and comes (200 s)", "figure-12",
               ((390, 470), (190, 250)))
    bars(rows, page, ns2, ("5.1.2",), summary, "Figure 13: goodput, loss and burstiness with the CBR source",
         "figure-13")
    transients(page, "5.1.3", "Figures 14 and 15: 20 flows after the CBR source goes (400 s) and comes (200 s)",
               "figure-14-15", ((350, 450), (150, 250)))
    fairness_over_time(page, "5.1.3")
    many = (("Jend", "Jain's index at the end"), ("mbps", "total goodput, Mbit/s"), ("loss", "loss"))
    curves(rows, page, ns2, [(m, f"5.1.4-m{m}") for m in (20, 40, 70, 120, 200)], many, "flows",
           "Figures 18-20: many flows on 10 Mbit/s", "figure-18-20")
    buffers = [(p / 100, f"5.1.4-buffer{p}") for p in (10, 20, 30, 50, 70, 150)]
    curves(rows, page, ns2, sorted([*buffers, (1, "5.1.4-m40")]), many, "buffer, bandwidth-delay products",
           "Figures 21-23: 40 flows and the buffer", "figure-21-23")
    sending_rates(page, ("5.1.5",), "Figure 24: one flow, one Reno flow and an on-off CBR source; fair shares are 0.5 "
                  "and 0.15 Mbit/s", "figure-24")
    bars(rows, page, ns2, ("5.1.5",), (*summary, ("reno_mbps", "Reno's goodput, Mbit/s")),
         "Figure 25: goodput, loss and burstiness beside one Reno flow", "figure-25")
    curves(rows, page, ns2, [(60 - m, f"5.1.6-m{m}") for m in (50, 40, 30, 20, 10)],
           (("reno_mbps", "Reno's total, Mbit/s"), ("mbps", "the others' total, Mbit/s")), "Reno flows of 60",
           "Figure 26: friendliness", "figure-26")
    for scenario, (number, what) in enumerate(((28, "all flows alike"), (29, "C1 among Reno flows"),
                                               (30, "C1 is Reno, the others are not")), 1):
        curves(rows, page, ns2, [(n, f"5.2.{scenario}-n{n}") for n in (1, 3, 5, 7, 10)],
               (("c1_mbps", "C1, Mbit/s"), ("even_mbps", "cross flow, Mbit/s"), ("total_mbps", "total, Mbit/s")),
               "hops", f"Figure {number}: scenario {scenario}, {what}", f"figure-{number}")
    curves(rows, page, ns2, [(loss, f"5.2.4-loss{loss:g}") for loss in (0.1, 0.3, 1, 3, 10)],
           (("c1_mbps", "C1, Mbit/s"),), "loss, %", "Figure 31: scenario 4, C1 and the lossy last hop", "figure-31",
           "log")
