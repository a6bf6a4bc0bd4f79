# SPDX-License-Identifier: GPL-2.0-or-later
"""Friendliness and smoothness compared with Reno, figures 19-21 of the thesis and its claims, from the runs of tfrc.py."""
import os

import numpy as np

from lab import stats
from lab.experiment import kept_path
from lab.report import canvas
from lab.rows import Rows, text

KOMSSYS = "tfrc:komssys/rounds"  # the thesis's: its parameters, and its loss events (3.5)
# Figure 21, total bit/s of 10 TCPs (FACK; the thesis does not say which of the two queues).
PUBLISHED_TCP = {KOMSSYS: 25.492792, "udp": 19.755064}
COLORS = {"tfrc": "tab:blue", "tfrc:damp": "tab:cyan", "tfrc:selfclock/damp": "tab:green", KOMSSYS: "tab:orange",
          "reno": "tab:gray"}


def friendly_cells(rows):
    return [c for c in rows.cells() if not c.startswith("thesis")]


def thesis_cells(rows):
    return [c for c in rows.cells() if c.startswith("thesis")]


def goal(cell, contender, what, bound, number, met):
    return [cell, contender, what, bound, f"{'met' if met else 'missed'}: {number}"]


def friendly_goals(rows, cell):
    for contender in rows.contenders(cell):
        ratio, own, reno = (rows.mean(cell, contender, k) for k in ("ratio", "cov_1s", "cov_1s_reno"))
        if contender == "reno" or not ratio:
            continue
        # RFC 5348, section 1: "generally within a factor of two of the sending rate of a TCP flow".
        yield goal(cell, contender, "throughput over Reno's", "0.5 to 2", ratio.text(2), 0.5 <= ratio.value <= 2)
        yield goal(cell, contender, "variation of the sending rate, 1 s, over Reno's beside it", "< 1",
                   f"{own.value / reno.value:.2f} ({own.value:.3f} for {reno.value:.3f})", own.value < reno.value)


def better(rows, cell, key, a, b):
    """(text, whether a's mean is above b's) or None."""
    x, y = rows.mean(cell, a, key), rows.mean(cell, b, key)
    return None if not x or not y else (f"{x.value:.3f} for {y.value:.3f}", x.value > y.value)


def thesis_goals(rows, cell):
    """The conclusions of section 5.1, where UDP sends without spacing."""
    for own, udp in ((KOMSSYS, "udp"), (KOMSSYS, "udp-bursts"), ("layers-komssys", "layers-udp")):
        for what, key, a, b in (("wastes layers that TFRC does not: useful part", "useful", own, udp),
                                ("takes from the 10 TCPs what TFRC leaves them: Mbit/s", "tcp_mbps", own, udp),
                                ("has more layered goodput than TFRC: Mbit/s", "goodput_mbps", udp, own),
                                ("has a goodput less steady than TFRC's: sd of seconds", "goodput_sd", udp, own)):
            found = better(rows, cell, key, a, b)
            if found:
                yield goal(cell, udp, what, "as in the thesis", *found)
    for own in (KOMSSYS, "tfrc", "layers-komssys", "layers-tfrc"):
        useful = rows.mean(cell, own, "useful")
        if not useful:
            continue
        yield goal(cell, own, "layers that are of use, of those that arrive", ">= 0.9", useful.text(3),
                   useful.value >= 0.9)


def goals(rows, page):
    page.heading("Goals")
    out = [g for c in friendly_cells(rows) for g in friendly_goals(rows, c)]
    out += [g for c in thesis_cells(rows) for g in thesis_goals(rows, c)]
    if out:
        page.text("A cell NvN has so many flows of "
                  "each kind. Rows of reno, two groups of which shared the link, show what is the network's doing.")
        page.goals("Goals", ["cell", "contender", "what", "goal", "result"], out, "goals")


def friendly_table(rows, page):
    keys = [("ratio", "over Reno's", 2), ("loss", "loss", 4), ("loss_reno", "Reno's loss", 4), ("jain", "Jain", 3),
            ("cov_1s", "variation 1 s", 3), ("cov_1s_reno", "Reno's", 3), ("cov_100ms", "100 ms", 3),
            ("cov_100ms_reno", "Reno's", 3), ("use", "link used", 3), ("queue_p50_ms", "queue, median ms", 1),
            ("queue_p99_ms", "99 % ms", 1)]
    out = [[cell, contender, *(text(rows.mean(cell, contender, k), digits) for k, _, digits in keys)]
           for cell in friendly_cells(rows) for contender in rows.contenders(cell)]
    if out:
        page.heading("Beside Reno")
        page.text("Goodput of a contender's flows over that of as many of Reno, from 30 s on. Variation: standard "
                  "deviation over mean of the bytes sent in each second (tenth of a second), mean over flows. "
                  "linuxrto: Reno with a minimum RTO of 200 ms instead of 1 s; nodelack: with an ACK for each packet, "
                  "which is the Reno whose equation TFRC follows (RFC 5348, 3.1: b = 1).")
        page.table("Friendliness and smoothness", ["cell", "contender", *(h for _, h, _ in keys)], out, "friendly")


def split(cell):
    """"16v16-50ms-1bdp" -> (16, "50", "1bdp"); None for others."""
    parts = cell.split("-")
    return (int(parts[0].split("v")[0]), parts[1].removesuffix("ms"), parts[2]) if len(parts) == 3 else None


def friendly_figure(rows, page, key, caption, name, log):
    found = {split(c): c for c in friendly_cells(rows) if split(c) and ".." not in c}
    numbers, rtts = (sorted({f[i] for f in found}, key=float) for i in (0, 1))
    if not found:
        return
    figure, axes = canvas(len(numbers), len(rtts), width=3.6, height=3.0, sharey=True)
    figure.subplots_adjust(hspace=0.4)
    for (n, rtt, _), cell in found.items():
        axis = axes[numbers.index(n)][rtts.index(rtt)]
        queues = [f[2] for f in found if f[:2] == (n, rtt)]
        for contender in rows.contenders(cell):
            values = [rows.mean(found[n, rtt, q], contender, key) for q in queues]
            axis.plot(range(len(queues)), [v.value if v else np.nan for v in values], "o-", markersize=4,
                      color=COLORS[contender], label=contender)
        axis.set(xticks=range(len(queues)), xticklabels=queues, title=f"{n} v {n}, {rtt} ms")
        axis.set_yscale("log" if log else "linear")
        if log:
            axis.axhline(1, color="k", linewidth=0.6)
            for edge in (0.5, 2):
                axis.axhline(edge, color="k", linewidth=0.6, linestyle="--")
    # Each panel is drawn once per queue, but the legend must contain a line only once.
    handles = dict(zip(*reversed(axes[0][0].get_legend_handles_labels())))
    axes[0][0].legend(handles.values(), handles.keys(), fontsize=7)
    page.figure(caption, figure, name)


def series_figure(page, cell):
    found = []
    for contender in ("tfrc", "tfrc:damp", KOMSSYS, "reno"):
        path = kept_path(page.directory, cell, contender, 0, "npz")
        if os.path.exists(path):
            with np.load(path) as kept:
                found.append((contender, kept["own"], kept["reno"]))
    if not found:
        return
    figure, axes = canvas(1, len(found), width=3.8, sharey=True)
    for axis, (contender, own, reno) in zip(axes[0], found):
        axis.plot(reno, color="tab:gray", linewidth=0.8, label="reno")
        axis.plot(own, color=COLORS[contender] if contender != "reno" else "k", label=contender)
        axis.set(xlabel="time, s")
        axis.legend(loc="upper right")
    axes[0][0].set(ylabel="sent in a second, Mbit/s", ylim=(0, None))
    page.figure(f"Sending rates beside Reno ({cell})", figure, "rates")


def thesis_table(rows, page):
    keys = [("throughput_mbps", "throughput", 2), ("goodput_mbps", "layered goodput", 2), ("useful", "useful part", 3),
            ("goodput_sd", "sd of its seconds", 3), ("layers", "layers a frame", 2),
            ("layer_changes", "layers' change, frame to frame", 3), ("loss", "loss", 4)]
    out, totals = [], []
    beside = (KOMSSYS, "tfrc", "udp", "udp-bursts", "layers-komssys", "layers-tfrc", "layers-udp")
    for cell in thesis_cells(rows):
        for contender in rows.contenders(cell):
            out.append([cell, contender, *(text(rows.mean(cell, contender, k), d) for k, _, d in keys)])
        tcp = {c: rows.mean(cell, c, "tcp_mbps") for c in rows.contenders(cell)}
        if KOMSSYS in tcp:
            cost = [stats.paired_ratio(rows.values(cell, c, "tcp_mbps"), rows.values(cell, KOMSSYS, "tcp_mbps"))
                    for c in ("udp", "udp-bursts")]
            totals.append([cell, *(text(tcp.get(c), 2) for c in beside),
                           *(text(c, 3) for c in cost)])
    if not out:
        return
    tfrc, udp = PUBLISHED_TCP[KOMSSYS], PUBLISHED_TCP["udp"]
    published = [tfrc, None, udp, udp, tfrc, None, udp, *[f"{udp / tfrc:.3f}"] * 2]
    page.heading("Layered streams (thesis, section 5.1)")
    page.text("Mbit/s of the layers' 1024 bytes. Throughput: what arrived; layered goodput: the layers of a frame "
              "before the first that is missing. udp spaces its packets evenly, udp-bursts sends a frame's at once. "
              "layers-komssys, layers-tfrc and layers-udp are whole sessions: a layer is a frame, what waits too long is dropped from the "
              "top layer down, and the viewer counts what it can show in time. A "
              "cell's name has the link's and the media's Mbit/s.")
    page.table("Figures 19 and 20: throughput and goodput", ["cell", "contender", *(h for _, h, _ in keys)], out,
               "layered")
    page.table("Figure 21: Mbit/s of 10 TCPs in all", ["cell", *(f"with {c}" for c in beside), f"udp over {KOMSSYS}",
                                                       f"udp-bursts over {KOMSSYS}"],
               [["thesis, figure 21 (FACK)", *published], *totals], "figure-21")


def thesis_figure(rows, page, cell, caption, name):
    found = []
    for contender in (KOMSSYS, "tfrc", "udp", "udp-bursts"):
        path = kept_path(page.directory, cell, contender, 0, "npz")
        if os.path.exists(path):
            with np.load(path) as kept:
                found.append((contender, kept["rates"]))
    if not found:
        return
    figure, axes = canvas(1, len(found), width=3.6, sharey=True)
    for axis, (contender, rates) in zip(axes[0], found):
        axis.plot(rates[:, 0], color="tab:gray", label="throughput")
        axis.plot(rates[:, 1], color="tab:blue", label="layered goodput")
        tcp = rows.mean(cell, contender, "tcp_mbps")
        if tcp:
            axis.axhline(tcp.value / 10, color="k", linestyle=":", label="a TCP, mean")
        axis.set(title=contender, xlabel="time, s")
    axes[0][0].set(ylabel="Mbit/s", ylim=(0, None))
    axes[0][0].legend()
    page.figure(f"{caption} ({cell})", figure, name)


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished yet.")
        return
    goals(rows, page)
    friendly_table(rows, page)
    friendly_figure(rows, page, "ratio", "Goodput over that of as many Renos", "friendliness", True)
    friendly_figure(rows, page, "cov_1s", "Variation of the sending rate, seconds", "smoothness", False)
    series_figure(page, "1v1-50ms-1bdp")
    thesis_table(rows, page)
    for link in ("100mbit-20media", "30mbit-8media", "30mbit-36media"):
        for number, queue in ((19, "drd"), (20, "droptail")):
            thesis_figure(rows, page, f"thesis-{link}-{queue}-reno",
                          f"Figure {number}: hierarchical layered streaming beside 10 TCPs, {queue}",
                          f"figure-{number}-{link}")
