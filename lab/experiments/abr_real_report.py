# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of lab/experiments/abr_real.py."""
import json
import os
import statistics

from lab import peers
from lab.experiment import kept_path
from lab.report import canvas
from lab.rows import Rows, text

WEIR = "weir-play"
STEP = "step"
TOP_SHARE, FIRST_S = 0.93, 0.5
COLUMNS = [("first_s", "first picture, s", 2, 1), ("freezes", "freezes", 1, 1), ("stalled_s", "frozen, s", 1, 1),
           ("longest_s", "longest gap, s", 2, 1), ("kbps", "kbit/s shown", 0, 1), ("changes", "changes", 0, 1),
           ("frames", "frames shown, %", 1, 100), ("bytes", "MB over the link", 2, 1e-6), ("qoe", "QoE", 3, 1),
           ("ssim", "SSIM", 4, 1)]


def sizes_of(figures):
    """Returns {height: share of time}, the largest first."""
    sizes = {}
    for height, share in zip(figures["heights"], figures["shares"]):
        sizes[height] = sizes.get(height, 0) + share
    return dict(sorted(sizes.items(), reverse=True))


def line_of(rows, cell, contender):
    return [contender, *(text(rows.mean(cell, contender, key, lambda value, scale=scale: value * scale), digits)
                         for key, _, digits, scale in COLUMNS)]


def shares_table(rows, cell, page):
    by = {c: next(iter(rows.by[cell, c].values())) for c in rows.contenders(cell)}
    heights = list(dict.fromkeys(h for f in by.values() for h in sizes_of(f)))
    names = list(dict.fromkeys(n for f in by.values() for n in f["names"]))
    table = [[c, *(f"{100 * sizes_of(f).get(h, 0):.0f}" for h in heights),
              *(f"{100 * dict(zip(f['names'], f['shares'])).get(n, 0):.0f}" for n in names)] for c, f in by.items()]
    page.table(f"{cell}: share of the film's time at each size and level, %, run 0",
               ["viewer", *(f"{h}p" for h in heights), *names], table, f"shares-{cell.replace(' ', '-')}")


def mean_of(rows, cells, contender, key):
    values = [v for cell in cells for v in rows.values(cell, contender, key).values() if v is not None]
    return statistics.fmean(values) if values else None


def traces_table(rows, page):
    """The means over the traces that all players watched; a report of some of the traces compares the same ones, too."""
    traces = [cell for cell in rows.cells() if cell != STEP]
    contenders = list(dict.fromkeys(c for cell in traces for c in rows.contenders(cell)))
    both = [cell for cell in traces if set(rows.contenders(cell)) == set(contenders)]
    if not both:
        return
    page.heading("All traces")
    table = []
    for contender in contenders:
        means = [(mean_of(rows, both, contender, key), digits, scale) for key, _, digits, scale in COLUMNS]
        table.append([contender, *("-" if mean is None else f"{mean * scale:.{digits}f}" for mean, digits, scale in means)])
    page.table(f"Mean over {len(both)} of {len(traces)} traces: those that all players watched",
               ["viewer", *(name for _, name, _, _ in COLUMNS)], table, "figures-all-traces")


def goal(name, what, kept):
    return [name, f"{'met' if kept else 'missed'}: {what}"]


def against_peers(rows, name, cells):
    """Returns the goals of the mean SSIM; all cells have equal weight, and only those that both watched count."""
    found = []
    for peer in dict.fromkeys(c for cell in cells for c in rows.contenders(cell) if c in peers.PLAYERS):
        both = [cell for cell in cells if {peer, WEIR} <= set(rows.contenders(cell))]
        own, other = (mean_of(rows, both, c, "ssim") for c in (WEIR, peer))
        if own is not None and other is not None:
            found.append(goal(f"{name}: mean SSIM above {peer}'s", f"{own:.4f}, {peer} {other:.4f}", own > other))
    return found


def goals(rows):
    """Returns the rows (goal, verdict)."""
    found = []
    runs = list(rows.by.get((STEP, WEIR), {}).values())
    if runs:
        top = statistics.fmean(next(iter(sizes_of(f).values())) for f in runs)
        first = statistics.fmean(f["first_s"] for f in runs)
        freezes = sum(f["freezes"] for f in runs)
        found = [goal(f"{STEP}: at least {100 * TOP_SHARE:.0f} % of the time at the largest size", f"{100 * top:.1f} %", top >= TOP_SHARE),
                 goal(f"{STEP}: first picture within {FIRST_S:g} s", f"{first:.2f} s", first <= FIRST_S),
                 goal(f"{STEP}: no freeze", f"{freezes}", freezes == 0), *against_peers(rows, STEP, [STEP])]
    traces = [cell for cell in rows.cells() if cell != STEP]
    return found + (against_peers(rows, "all traces", traces) if traces else [])


def over_time(cell, contenders, rows, page):
    """Plots the first run of each contender."""
    figure, axes = canvas(3, 1, width=9, height=2.2, sharex=True)
    plotted = False
    for contender in contenders:
        path = kept_path(page.directory, cell, contender, 0, "json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            series = json.load(f)
        for axis, key, how in zip(axes[:, 0], ("rate", "level", "buffer"), ({}, {"drawstyle": "steps-post"}, {})):
            axis.plot([t for t, _ in series[key]], [v for _, v in series[key]], label=contender, **how)
        plotted = True
    if not plotted:
        return
    axes[0][0].set(ylabel="over the link, Mbit/s")
    axes[0][0].legend()
    names = next(iter(rows.by[cell, contenders[0]].values()))["names"]
    axes[1][0].set(ylabel="level shown", yticks=range(len(names)))
    axes[1][0].set_yticklabels(names)
    axes[2][0].set(ylabel="buffered, s", xlabel="s since the request")
    page.figure(f"{cell}: what each viewer fetched, showed and kept, run 0", figure, f"time-{cell.replace(' ', '-')}")


def write(lines, page):
    if not lines:
        page.text("No run has finished yet.")
        return
    rows = Rows(lines)
    versions = ", ".join(f"{kind} {version}" for kind, (_, version, _) in peers.PLAYERS.items())
    page.text(f"weir-play over RTSP, Weir's page in chromium without TLS (a <video>), the others in chromium over HTTP ({versions}; "
              "hls.js plays HLS, the others DASH), each alone, the same film and link. All players are as they come, with their default "
              "settings. Time counts from the request, of a page from the player's load call: the start of the browser, and the page and "
              "its script, which lie on the viewer's side, do not count. Weir's page and its scripts come over the link, and count.")
    absent = [kind for kind in peers.PLAYERS if not any(kind == c for _, c in rows.by)]
    if absent:
        page.text(f"Without a run, and so left out: {', '.join(absent)} (./run lab peers installs those that are missing).")
    page.text("A freeze is more than .5 s without a new picture, before the last one; all of that time counts. Two levels of one size "
              "differ by their frame rate. kbit/s and SSIM are those of the film's groups at the levels that were shown, by the film's "
              "table, weighted by time; SSIM knows no freeze. Frames are those shown, of those that the groups have at the levels "
              "shown. QoE is MPC's: of each group its level's mean Mbit/s, minus the change from the group before, minus the top "
              "level's for each second frozen.")
    verdicts = goals(rows)
    if verdicts:
        page.heading("Goals")
        page.goals("Goals of weir-play", ["goal", "result"], verdicts, "goals")
    traces_table(rows, page)
    for cell in rows.cells():
        contenders = rows.contenders(cell)
        page.heading(cell)
        page.table(f"All players: {cell}", ["viewer", *(name for _, name, _, _ in COLUMNS)],
                   [line_of(rows, cell, c) for c in contenders], f"figures-{cell.replace(' ', '-')}")
        shares_table(rows, cell, page)
        unended = [c for c in contenders if not all(rows.values(cell, c, "complete").values())]
        if unended:
            page.text(f"Did not show the film to its end: {', '.join(unended)}.")
        if cell == STEP:
            over_time(cell, contenders, rows, page)
