# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables next to figure 51 of the thesis, goals, and its figures again, from the runs of proxy.py."""
import os

import numpy as np

from lab import stats
from lab.experiment import kept_path
from lab.experiments.proxy_cells import paths
from lab.report import canvas
from lab.rows import Rows, text

TARGET_MS = 250  # weir-proxy's --target
FIVE = (("mean", "mean, ms"), ("p5", "5 %"), ("p95", "95 %"), ("sd", "deviation"), ("max", "highest"))
BESIDES = [("base_p95", "base layer 95 %, ms", 0, 1), ("captured_p95", "from capture 95 %", 0, 1),
           ("queue_p95", "queue of the proxy 95 %", 0, 1), ("wait_p95", "from the proxy on 95 %", 0, 1), ("wait_max", "max", 0, 1),
           ("layers", "valid layers", 2, 1), ("layer_changes", "their change", 2, 1),
           ("goodput_kbps", "goodput, kbit/s", 0, 1), ("badput", "badput, %", 2, 100),
           ("lost_backbone", "packets lost in the backbone, %", 2, 100),
           ("lost_proxy", "layers lost from the proxy on, %", 2, 100),
           ("backbone_kbps", "backbone, kbit/s", 0, 1), ("access_kbps", "access", 0, 1),
           ("over_access", "backbone / access", 2, 1), ("backbone_variation", "variation of the backbone", 3, 1),
           ("access_variation", "of the access", 3, 1), ("swings", "swings", 1, 1), ("waited", "waited", 3, 1)]
FIGURES = {28: "Without blocking (figures 28 and 51)", 44: "Blocking (figures 44 and 51)",
           47: "Blocking, a deeper look (figures 47 and 51)", 52: "All at 200 and 10 ms (figure 52)"}
COLORS = {"komssys": "tab:orange", "komssys-blocking": "tab:red", "tcp": "tab:gray", "minbuf": "k", "weir": "tab:blue",
          "weir reflect=off": "tab:purple", "weir reflect=marks": "tab:green", "weir queue=fifo": "tab:brown",
          "weir badput=forward": "tab:pink"}
PATHS = {p.name: p for p in paths()}
DELAY_CELLS = ("fig28-none-0%", "fig28-none-5%", "fig28-medium-5%", "fig28-high-5%")
RATE_CELLS = ("fig28-none-0%", "fig28-none-5%", "fig28-medium-0%", "fig28-medium-5%", "fig28-high-0%", "fig28-high-5%",
              "fig44-none-512kbit", "fig47-512kbit-0%")
REFLECTIONS = ("weir reflect=off", "weir", "weir reflect=marks", "komssys-blocking")


def cells_of(rows, figure):
    return [name for name, p in PATHS.items() if p.figure == figure and name in rows.cells()]


def value(rows, cell, contender, key):
    found = rows.mean(cell, contender, key)
    return None if found is None else found.value


def delay_lines(rows, cells):
    """Returns the table's lines: the published numbers of a cell, then those of each contender."""
    lines = []
    for cell in cells:
        if PATHS[cell].published:
            lines.append([cell, "published", "", *(f"{v:g}" for v in PATHS[cell].published)])
        lines += [[cell, contender, len(rows.by[cell, contender]),
                   *(text(rows.mean(cell, contender, key), 0) for key, _ in FIVE)] for contender in rows.contenders(cell)]
    return lines


def verdict(met, what):
    return f"{'met' if met else 'missed'}: {what}"


def near(rows, cell, contender, key, published):
    """Goal (a): within 20 % of the published number."""
    found = rows.mean(cell, contender, key)
    return None if found is None else verdict(abs(found.value / published - 1) <= 0.2,
                                              f"{found.text(0)} for {published:g}, {100 * (found.value / published - 1):+.0f} %")


def published_goals(rows):
    for cell in cells_of(rows, 28):
        for index, (key, name) in enumerate(FIVE):
            found = near(rows, cell, "komssys", key, PATHS[cell].published[index]) if key in ("mean", "p95") else None
            if found:
                yield ["a", cell, "komssys", f"{name} within 20 % of figure 51", found]


def blocking_goals(rows):
    for cell in cells_of(rows, 47):
        found = [rows.mean(cell, "komssys-blocking", k) for k in ("swings", "backbone_variation", "access_variation")]
        if None not in found:
            swings, backbone, access = (f.value for f in found)
            yield ["b", cell, "komssys-blocking", "a zig-zag: the rate falls from 1.2 to 0.8 of its mean, again and again",
                   verdict(swings >= 3 and backbone > access, f"{swings:.1f} times, variation {backbone:.2f} for {access:.2f}")]


def reflection_goals(rows):
    for cell in (*cells_of(rows, 44), *cells_of(rows, 47)):
        if PATHS[cell].access_kbit not in (512, 128):
            continue
        for contender in ("weir", "weir reflect=marks"):
            over, queue = (rows.mean(cell, contender, k) for k in ("over_access", "queue_p95"))
            ratio = stats.paired_ratio(rows.values(cell, contender, "backbone_variation"),
                                       rows.values(cell, "komssys-blocking", "backbone_variation"))
            if over:
                yield ["c", cell, contender, "bytes in the backbone within 10 % of the access's",
                       verdict(abs(over.value - 1) <= 0.1, over.text(2))]
            if ratio:
                yield ["c", cell, contender, "variation of the backbone's rate at most half of blocking's",
                       verdict(ratio.value <= 0.5, ratio.text(2))]
            if queue:
                yield ["c", cell, contender, f"the proxy's queue at most {TARGET_MS + 100} ms for 95 % of the time",
                       verdict(queue.value <= TARGET_MS + 100, queue.text(0))]


def loss_goals(rows):
    for cell in (*cells_of(rows, 28), *cells_of(rows, 52)):
        if PATHS[cell].loss != 5:
            continue
        ratio = stats.paired_ratio(rows.values(cell, "weir", "base_p95"), rows.values(cell, "weir queue=fifo", "base_p95"))
        badput = rows.mean(cell, "weir", "badput")
        if ratio:
            yield ["d", cell, "weir", "base layer's 95 % at most 0.6 of fifo's", verdict(ratio.value <= 0.6, ratio.text(2))]
        if badput:
            yield ["d", cell, "weir", "badput on the access below 0.5 %",
                   verdict(badput.value < 0.005, f"{badput.value * 100:.2f} %")]


def end_to_end_goals(rows):
    for cell in (*cells_of(rows, 28), *cells_of(rows, 52)):
        if PATHS[cell].backbone_ms < 100 or not PATHS[cell].loss:
            continue
        for other in ("tcp", "minbuf"):
            for key, since in (("p95", "leaving the server"), ("captured_p95", "capture")):
                own, end = (rows.values(cell, c, key) for c in ("weir", other))
                less = stats.paired_difference(own, end)
                if less:
                    yield ["e", cell, "weir", f"95 % since {since} below {other}'s",
                           verdict(less.value < 0, f"{value(rows, cell, 'weir', key):.0f} for "
                                                   f"{value(rows, cell, other, key):.0f}; {less.text(0)}")]


def goals_of(rows):
    """Returns the lines of the goals' table."""
    return [line for goals in (published_goals, blocking_goals, reflection_goals, loss_goals, end_to_end_goals)
            for line in goals(rows)]


def kept_of(page, cell, contender):
    """Returns what the first run kept, or None."""
    path = kept_path(page.directory, cell, contender, 0, "npz")
    return np.load(path) if os.path.exists(path) else None


def rates_figure(rows, page):
    """Figures 29, 35, 39 to 42, 45 and 48: the rates of both links."""
    found = [(cell, contender, kept) for cell in RATE_CELLS for contender in ("komssys", "komssys-blocking", "weir")
             if (cell, contender) in rows.by and (kept := kept_of(page, cell, contender)) is not None]
    if not found:
        return
    columns = min(3, len(found))
    figure, axes = canvas(-(-len(found) // columns), columns, width=4.2, height=2.6, sharey=True)
    figure.subplots_adjust(hspace=0.5)
    for axis, (cell, contender, kept) in zip(axes.flat, found):
        axis.plot(kept["backbone"] / 1e3, color="tab:green", label="server to proxy")
        axis.plot(kept["access"] / 1e3, color="tab:blue", label="proxy to viewer")
        axis.set_title(f"{cell}, {contender}", fontsize=8)
    for axis in axes.flat[len(found):]:
        axis.axis("off")
    for row in axes:
        row[0].set(ylabel="kB in a second", ylim=(0, 140))
    axes[0][0].legend(fontsize=7)
    page.figure("Rates of both links over the seconds, the first runs (figures 29, 35, 39 to 42, 45, 48)", figure, "rates")


def delays_figure(rows, page, cells, contenders, caption, name):
    """Figures 30, 36 and 50: the delay of each layer."""
    found = [(cell, contender, kept) for cell in cells for contender in contenders
             if (cell, contender) in rows.by and (kept := kept_of(page, cell, contender)) is not None]
    if not found:
        return
    columns = min(len(contenders), len(found))
    figure, axes = canvas(-(-len(found) // columns), columns, width=4.2, height=2.4)
    figure.subplots_adjust(hspace=0.6)
    for axis, (cell, contender, kept) in zip(axes.flat, found):
        axis.plot(kept["pushed"], (kept["read"] - kept["pushed"]) * 1e3, ".", markersize=1.5, color=COLORS.get(contender))
        axis.set_title(f"{cell}, {contender}", fontsize=8)
        axis.set_ylim(0, None)
    for axis in axes.flat[len(found):]:
        axis.axis("off")
    for row in axes:
        row[0].set(ylabel="delay of a layer, ms")
    page.figure(caption, figure, name)


def queue_figure(rows, page, cell):
    """What waits at the proxy, with and without reflection (figures 34, 38, 43 show the queue without it)."""
    found = [(c, kept) for c in REFLECTIONS if (cell, c) in rows.by and (kept := kept_of(page, cell, c)) is not None]
    if not found:
        return
    figure, axes = canvas(2, 1, width=9, height=2.6, sharex=True)
    waits, rates = axes[0][0], axes[1][0]
    for contender, kept in found:
        order = np.argsort(kept["proxied"])
        wait = (kept["read"] - kept["proxied"])[order] * 1e3 - PATHS[cell].access_ms
        waits.plot(kept["proxied"][order], wait, ".", markersize=1.5, color=COLORS[contender], label=contender)
        rates.plot(kept["backbone"] * 8e-3, color=COLORS[contender], label=contender)
    waits.axhline(TARGET_MS, color="k", linewidth=0.6, linestyle="--")
    waits.set(ylabel="ms from the proxy to the viewer", yscale="log", ylim=(5, None))
    rates.axhline(PATHS[cell].access_kbit, color="k", linewidth=0.6, linestyle="--")
    rates.set(ylabel="kbit/s in the backbone", xlabel="s", ylim=(0, None))
    waits.legend(fontsize=7, ncol=4, markerscale=5)
    page.figure(f"{cell}: what waits behind the proxy, with and without reflection, and the rate before it; the first run "
                f"(dashed: the target, and the access's rate)", figure, f"queue-{cell.replace('%', '')}")


def statistics_figure(rows, page, figure_number, contenders):
    """Figures 52 and 53: mean, 5 % and 95 % of each cell."""
    cells = cells_of(rows, figure_number)
    some = [c for c in contenders if any((cell, c) in rows.by for cell in cells)]
    if not some:
        return
    figure, axes = canvas(1, 1, width=max(6, 1.2 * len(cells)), height=3.2)
    axis = axes[0][0]
    for k, contender in enumerate(("published", *some)):
        at, means, below, above = [], [], [], []
        for i, cell in enumerate(cells):
            found = PATHS[cell].published[:3] if contender == "published" else tuple(
                value(rows, cell, contender, key) for key in ("mean", "p5", "p95"))
            if len(found) == 3 and None not in found:
                at.append(i + 0.8 * (k + 0.5) / (len(some) + 1) - 0.4)
                means.append(found[0])
                below.append(max(0, found[0] - found[1]))
                above.append(max(0, found[2] - found[0]))
        if at:
            axis.errorbar(at, means, [below, above], fmt="o", markersize=3, capsize=2, label=contender,
                          color=COLORS.get(contender, "tab:olive"))
    axis.set(xticks=range(len(cells)), ylabel="delay of layers, ms", yscale="log")
    axis.set_xticklabels([cell.split("-", 1)[1] for cell in cells], fontsize=7)
    axis.legend(fontsize=7, ncol=4)
    page.figure(f"Mean, 5 and 95 % of the layers' delay (figure {53 if figure_number == 47 else figure_number})", figure,
                f"statistics-{figure_number}")


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished.")
        return
    page.text("The delay of a layer is from leaving the server to being read by the viewer, and end to end (tcp, minbuf) from "
              "being written by the server; from capture it includes what waits at the server. Published: Fiksdal 2003, figure "
              "51, one run each, with TCP's FACK, which Linux no longer has. komssys is the thesis's proxy; weir is weir-proxy "
              "with its defaults, then with one thing changed. The queue of the proxy is the time from a layer's arrival there until "
              "it was written to the access's socket, the longest of each 0.1 s; from the proxy on also counts socket and "
              "link, beyond the link's own time. Badput: layers that reached the viewer without one "
              "below them. Rates count from 12 s on. Waited is the share of the time that a thread was ready without a core: "
              "above 0.1 the machine was busy.")
    goals = goals_of(rows)
    if goals:
        page.heading("Goals")
        page.text("The mean of the runs counts.")
        page.goals("Goals", ["goal", "cell", "contender", "what", "result"], goals, "goals")
    for number, caption in FIGURES.items():
        cells = cells_of(rows, number)
        if not cells:
            continue
        page.heading(caption)
        page.table(caption, ["cell", "contender", "runs", *(name for _, name in FIVE)], delay_lines(rows, cells),
                   f"delays-{number}")
        shown = [c for c in BESIDES if any(rows.mean(cell, k, c[0]) for cell in cells for k in rows.contenders(cell))]
        page.table("Besides", ["cell", "lost as printed, %", "contender", *(c[1] for c in shown)],
                   [[cell, PATHS[cell].lost, contender,
                     *(text(rows.mean(cell, contender, key, lambda v, s=scale: v * s), digits) for key, _, digits, scale in shown)]
                    for cell in cells for contender in rows.contenders(cell)], f"besides-{number}")
    page.heading("Figures")
    rates_figure(rows, page)
    delays_figure(rows, page, DELAY_CELLS, ("komssys", "weir", "tcp", "minbuf"),
                  "Delay of each layer over the seconds, the first runs (figures 30, 36)", "delays")
    delays_figure(rows, page, cells_of(rows, 47), ("komssys-blocking", "weir"),
                  "The same, blocking (figure 50)", "delays-blocking")
    for cell in (*cells_of(rows, 44), *cells_of(rows, 47)):
        queue_figure(rows, page, cell)
    for number, contenders in ((28, ("komssys", "weir", "tcp", "minbuf")), (52, ("komssys", "weir", "tcp", "minbuf")),
                               (47, ("komssys-blocking", "weir", "weir reflect=marks", "tcp"))):
        statistics_figure(rows, page, number, contenders)
