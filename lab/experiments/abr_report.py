# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of lab/experiments/abr.py."""
import csv
import os
import statistics

from lab.experiment import kept_path
from lab.report import canvas

REFERENCES = ("bola-e", "dynamic", "robust-mpc")  # those that the goals name
JUDGED = ("puffer goddard", "hsdpa goddard", "lte-ghent goddard")
GAIN, OF_OPTIMUM, FIRST_S = 1.05, 0.90, 1.0
COLUMNS = ["contender", "traces", "kbit/s", "time stalled, %", "stalls", "changes", "first picture, median s", "QoE",
           "QoE / optimum", "SSIM, dB", "QoE of SSIM", "wasted, %"]


def mean(traces, key):
    values = [t[key] for t in traces if t.get(key) is not None]
    return statistics.fmean(values) if values else None


def stalled(traces):
    """Returns the mean share of time stalled, of the time from the request to the last picture."""
    return statistics.fmean(t["stalled_s"] / t["seconds"] for t in traces)


def text(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def line_of(contender, traces, best):
    qoe = mean(traces, "qoe")
    share = text(qoe / best) if best else "-"
    if contender == "optimum":
        return [contender, len(traces), "-", "-", "-", "-", "-", text(qoe, 3), share, "-", "-", "-"]
    wasted = statistics.fmean(t["wasted"] / max(t["bytes"], 1) for t in traces)
    return [contender, len(traces), text(mean(traces, "kbps"), 0), text(100 * stalled(traces)), text(mean(traces, "stalls")),
            text(mean(traces, "changes"), 0), text(statistics.median(t["first_picture_s"] for t in traces)), text(qoe, 3), share,
            text(mean(traces, "ssim_db")), text(mean(traces, "qoe_ssim")), text(100 * wasted, 1)]


def goals(cell, by):
    """Returns the rows (goal, value, verdict) of a judged cell."""
    if cell not in JUDGED or "auto" not in by:
        return []
    own, rows = by["auto"], []

    def add(goal, value, kept, digits=2):
        rows.append([cell, goal, text(value, digits), "met" if kept else "missed"])
    others = {c: mean(by[c], "qoe") for c in REFERENCES if c in by}
    if others:
        name = max(others, key=others.get)
        gain = mean(own, "qoe") / others[name]
        add(f"QoE at least {GAIN} x the best of BOLA-E, DYNAMIC, RobustMPC (here {name})", gain, gain >= GAIN, 3)
    if "bola-e" in by:
        add(f"time stalled at most BOLA-E's, {100 * stalled(by['bola-e']):.2f} %", 100 * stalled(own),
            stalled(own) <= stalled(by["bola-e"]))
    if "optimum" in by:
        share = mean(own, "qoe") / mean(by["optimum"], "qoe")
        if cell.startswith("puffer"):
            add(f"QoE at least {OF_OPTIMUM} of the optimum", share, share >= OF_OPTIMUM, 3)
    first = statistics.median(t["first_picture_s"] for t in own)
    add(f"median first picture within {FIRST_S:g} s", first, first <= FIRST_S)
    return rows


def distributions(cell, by, page):
    figure, axes = canvas(1, 3, width=3.6, height=3)
    for contender, traces in by.items():
        shares = [i / len(traces) for i in range(1, len(traces) + 1)]
        style = {"color": "black", "linestyle": "--"} if contender == "optimum" else {}
        axes[0][0].step(sorted(t["qoe"] for t in traces), shares, where="post", label=contender, **style)
        if contender != "optimum":
            axes[0][1].step(sorted(100 * t["stalled_s"] / t["seconds"] for t in traces), shares, where="post")
            axes[0][2].step(sorted(t["kbps"] for t in traces), shares, where="post")
    for axis, name in zip(axes[0], ("QoE", "time stalled, %", "kbit/s")):
        axis.set(xlabel=name, ylabel="share of traces" if name == "QoE" else "")
    axes[0][0].legend()
    page.figure(f"Distributions over the traces: {cell}", figure, f"cdf-{cell.replace(' ', '-')}")


def decisions(cell, page):
    """Plots what auto did on the cell's first trace."""
    path = kept_path(page.directory, cell, "auto", 0, "csv")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    rows = [r for r in rows if r["trace"] == rows[0]["trace"]]
    figure, axes = canvas(2, 1, width=9, height=2, sharex=True)
    at = [float(r["time"]) for r in rows]
    axes[0][0].plot(at, [float(r["estimate_bps"]) / 1e6 for r in rows], label="estimate, Mbit/s")
    axes[0][0].step(at, [int(r["level"]) for r in rows], where="post", label="level")
    for reason, color in (("exchange", "tab:green"), ("stall", "tab:red")):
        some = [r for r in rows if r["reason"] == reason]
        axes[0][0].plot([float(r["time"]) for r in some], [int(r["level"]) for r in some], ".", color=color, label=reason)
    axes[0][0].legend()
    axes[1][0].plot(at, [float(r["buffer_s"]) for r in rows])
    axes[1][0].set(xlabel="s", ylabel="buffer, s")
    page.figure(f"auto on the first trace: {cell}", figure, f"decisions-{cell.replace(' ', '-')}")


def write(rows, page):
    cells = {}
    for row in rows:
        cells.setdefault(row["cell"], {})[row["contender"]] = row["figures"]["traces"]
    scaled = sorted({row["cell"].split(" ")[0] for row in rows if row["figures"]["scaled"]})
    page.text("Means over the traces. QoE is MPC's: of each group its level's Mbit/s, minus the change from the group before, minus "
              "the top level's Mbit/s for each second of stall. QoE of SSIM is Puffer's: dB, minus its change, minus 100 a second. "
              "The optimum is an upper bound, about .5 % too high. auto maximises the first for the film goddard, which has no "
              "quality, and the second for vbr." + (f" Scaled to 2 Mbit/s: {', '.join(scaled)}." if scaled else ""))
    verdicts = [line for cell, by in cells.items() for line in goals(cell, by)]
    if verdicts:
        page.heading("Goals")
        page.table("Goals of auto", ["cell", "goal", "value", "verdict"], verdicts, "goals")
    for cell, by in cells.items():
        page.heading(cell)
        best = mean(by["optimum"], "qoe") if "optimum" in by else None
        page.table(f"All policies: {cell}", COLUMNS, [line_of(c, traces, best) for c, traces in by.items()],
                   f"figures-{cell.replace(' ', '-')}")
        distributions(cell, by, page)
        decisions(cell, page)
