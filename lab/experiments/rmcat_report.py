# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables and plots of experiment rmcat, and the tables of docs/comparison.md and of the README.

    /usr/bin/python3 -m lab.experiments.rmcat_report results/rmcat     writes these tables again
"""
import os
import re
import shutil
import sys

import numpy as np

from lab import rmcat, rmcat_metrics
from lab.experiment import ROOT, Results, kept_path
from lab.report import canvas, slug
from lab.rows import Rows, text

COLUMNS = [("use", "used, %", 0, 100), ("media_mbps", "media, Mbit/s", 2, 1), ("queue_p50_ms", "queue, 50 % ms", 0, 1),
           ("queue_p95_ms", "95 %", 0, 1), ("queue_p99_ms", "99 %", 0, 1), ("one_way_p50_ms", "one way, 50 % ms", 0, 1),
           ("one_way_p95_ms", "95 %", 0, 1), ("one_way_p99_ms", "99 %", 0, 1), ("loss", "lost, %", 2, 100),
           ("jain", "Jain", 2, 1), ("share", "media / TCP", 2, 1), ("priority", "first / others", 2, 1),
           ("start_s", "80 % after, s", 1, 1), ("back_s", "after a rise", 1, 1), ("drain_s", "queue gone after a fall", 1, 1),
           ("resume_s", "after the pause", 1, 1), ("p50_ms", "capture to screen, 50 % ms", 0, 1), ("p95_ms", "95 %", 0, 1),
           ("p99_ms", "99 %", 0, 1), ("freezes", "freezes", 1, 1), ("frozen", "frozen, %", 1, 100),
           ("shown", "shown, %", 1, 100), ("ssim", "SSIM", 3, 1), ("cpu", "cores a flow", 2, 1), ("waited", "waited", 2, 1)]
# The order of a case: a contender that uses less than this share of what the best one uses comes after all others.
EQUAL_USE = 0.85
WAITED = 0.1  # a thread that waits for a core for more of its time makes a figure the machine's
PLOTTED = 4  # contenders in a plot
MARK = "<!-- {name}: written by lab/experiments/rmcat_report.py -->"


def mean(rows, cell, contender, key):
    found = rows.mean(cell, contender, key)
    return None if found is None else found.value


def score(rows, cell, contender):
    """Returns the figure by which a case is won - the delay of a viewer's pictures where one sees them, a lower one first - or
    None: the 95th percentile from capture to screen."""
    return mean(rows, cell, contender, "p95_ms")


def order(rows, cell):
    """Returns the contenders of a case, best first: those that use the link about as well as the best, by the 95th percentile of
    capture to screen; then the others in the same way. udp has no congestion control and is not ranked."""
    some = [c for c in rows.contenders(cell) if c.split(" ")[0] != "udp" and score(rows, cell, c) is not None]
    used = {c: mean(rows, cell, c, "use") or 0 for c in some}
    least = EQUAL_USE * max(used.values(), default=0)
    if rmcat.case(cell).tcp:  # next to TCP: who gets too little or takes too much comes last
        share = {c: mean(rows, cell, c, "share") or 0 for c in some}
        return sorted(some, key=lambda c: (not 0.5 <= share[c] <= 2, score(rows, cell, c)))
    return sorted(some, key=lambda c: (used[c] < least, score(rows, cell, c)))


def starved(rows, cell, contender):
    """Returns true if the machine had too few cores for these runs."""
    return (mean(rows, cell, contender, "waited") or 0) > WAITED


def cell_text(rows, cell, contender):
    """Returns "used % · queue p95 · screen p95 · frozen %" of one contender; a dagger follows if the machine was too busy."""
    values = [(mean(rows, cell, contender, key), scale) for key, scale in
              (("share" if rmcat.case(cell).tcp else "use", 1 if rmcat.case(cell).tcp else 100), ("queue_p95_ms", 1), ("p95_ms", 1),
               ("frozen", 100))]
    if values[0][0] is None:
        return "-"
    first = f"{values[0][0]:.2f}×" if rmcat.case(cell).tcp else f"{values[0][0] * 100:.0f} %"
    return " · ".join([first, *("-" if v is None else f"{v * s:.0f}" for v, s in values[1:3]),
                       "-" if values[3][0] is None else f"{values[3][0] * 100:.1f} %"]) + " †" * starved(rows, cell, contender)


def contenders_of(rows):
    return list(dict.fromkeys(c for cell in rows.cells() for c in rows.contenders(cell)))


def cells_in_order(rows):
    return [c.name for c in rmcat.CASES if c.name in rows.cells()]


def comparison(rows):
    """Returns the lines of the table of cases by contenders, in Markdown; the winner of each case is bold."""
    every = sorted(contenders_of(rows), key=lambda c: (c.split(" ")[0] in ("googcc", "screamv2") or c.startswith("srt"), c))
    lines = ["| case | " + " | ".join(f"`{c}`" for c in every) + " |", "|---" * (len(every) + 1) + "|"]
    for cell in cells_in_order(rows):
        best = order(rows, cell)[:1]
        shown = [cell_text(rows, cell, c) if (cell, c) in rows.by else "" for c in every]
        lines.append(f"| {cell}: {rmcat.case(cell).title} | " +
                     " | ".join(f"**{t}**" if c in best else t for c, t in zip(every, shown)) + " |")
    return lines


def places(rows):
    """Returns [(contender, {place: cases})]: how often each was first, second ... of the ranked ones."""
    found = {}
    for cell in rows.cells():
        for place, contender in enumerate(order(rows, cell), 1):
            found.setdefault(contender, []).append(place)
    return sorted(found.items(), key=lambda item: sum(item[1]) / len(item[1]))


def short(rows):
    """Returns the README's table: each case, its winner, and the best of Chrome's controllers."""
    lines = ["| case | best | used, queue 95 %, capture to screen 95 %, frozen | best of Chrome's | |", "|---|---|---|---|---|"]
    for cell in cells_in_order(rows):
        ranked = order(rows, cell)
        chrome = [c for c in ranked if c in ("googcc", "screamv2")]
        if ranked:
            theirs = (f"`{chrome[0]}`", cell_text(rows, cell, chrome[0])) if chrome else ("-", "-")
            lines.append(f"| {cell}: {rmcat.case(cell).title} | `{ranked[0]}` | {cell_text(rows, cell, ranked[0])} | "
                         f"{theirs[0]} | {theirs[1]} |")
    return lines


def quiet(rows):
    """Returns true if most runs got their cores."""
    return sum(starved(rows, *key) for key in rows.by) * 2 < len(rows.by)


NOT_QUIET = ["Not measured yet on a machine that does nothing else:",
             "[docs/comparison.md](docs/comparison.md#make-it-again) has the commands, which also write this table."]
PLOT = ("case-5-1.png", os.path.join("images", "comparison-5-1.png"), "Case 5.1 over time: rate, queue, capture to screen")
SMOKE = "**A smoke test, not a comparison: the machine did other work.**"


def replace_between(path, name, lines):
    """Writes LINES between the two marks NAME of a text file."""
    with open(path, encoding="utf-8") as f:
        content = f.read()
    mark = MARK.format(name=name)
    if content.count(mark) != 2:
        raise SystemExit(f"{path}: expects the line {mark} twice")
    before, _, after = content.split(mark)
    with open(path, "w", encoding="utf-8") as f:
        f.write(before + mark + "\n" + "\n".join(lines) + "\n" + mark + after)


def capacity_line(case, seconds):
    return np.array([case.hops[0].mbit(t) for t in seconds])


def plot(rows, page, cell, speed):
    """Rate and delay over time of the first run of a case, the best contenders and Chrome's."""
    case = rmcat.case(cell).faster(speed)
    ranked = order(rows, cell)
    some = list(dict.fromkeys([*ranked[:PLOTTED - 1], *(c for c in ranked if c in ("googcc", "screamv2"))]))[:PLOTTED]
    kept = [(c, kept_path(page.directory, cell, c, 0, "npz")) for c in some]
    kept = [(c, np.load(path)) for c, path in kept if os.path.exists(path)]
    if not kept:
        return
    figure, axes = canvas(3, 1, width=9, height=1.9, sharex=True)
    rate, wait, screen = (row[0] for row in axes)
    for contender, series in kept:
        mbit = series["mbit"]
        t = np.arange(mbit.shape[1]) * rmcat_metrics.STEP_S
        forward = [row for row, m in zip(mbit, case.media) if not m.back]
        smooth = rmcat_metrics.rolling(np.sum(forward, axis=0))
        line = rate.plot(t[rmcat_metrics.SECOND - 1:], smooth, label=contender)[0]
        wait.plot(t, np.fmax.reduce(series["wait"]), color=line.get_color(), linewidth=0.8)
        screen.plot(series["shown"], series["latency"], ".", markersize=1.5, color=line.get_color())
    if not case.hops[0].trace:
        rate.step(t, capacity_line(case, t), where="post", color="grey", linewidth=0.8, label="link")
    rate.set(ylabel="media, Mbit/s", ylim=(0, None), xlim=(0, case.duration))
    wait.set(ylabel="longest wait in\nqueues, ms", ylim=(0, None))
    screen.set(ylabel="capture to\nscreen, ms", xlabel="s", ylim=(0, 1000))
    rate.legend(loc="upper right", fontsize=7, ncol=3)
    page.figure(f"{cell}, {case.title}: the first run", figure, "case-" + slug(cell))


def speed_of(rows, cell):
    return next((f["speed"] for key, runs in rows.by.items() if key[0] == cell for f in runs.values() if f.get("speed")), 1)


def speeds_text(rows):
    """Returns the cases whose times are divided, and by what; "" if no case has divided times."""
    by = {}
    for cell in cells_in_order(rows):
        by.setdefault(speed_of(rows, cell), []).append(cell)
    if len(by) == 1:
        return "".join(f"all times divided by {speed:g}" for speed in by if speed != 1)
    return "times divided: " + "; ".join(f"{', '.join(some)} by {speed:g}" for speed, some in sorted(by.items()) if speed != 1)


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished.")
        return
    divided = speeds_text(rows)
    page.text("Cases of RFC 8867; metrics of RFC 8868 from captures at the links, and what the viewer of the first flow saw. A "
              "contender is at its default latency. docs/comparison.md explains columns, order and what is unfair to whom."
              + (f" {divided[0].upper()}{divided[1:]}." if divided else ""))
    page.heading("All cases")
    every = contenders_of(rows)
    page.text("Used (next to TCP: media / TCP) · queue, 95 %, ms · capture to screen, 95 %, ms · frozen.")
    page.table("Cases by contenders", ["case", *every, "best"],
               [[f"{cell} {rmcat.case(cell).title}", *(cell_text(rows, cell, c) if (cell, c) in rows.by else "" for c in every),
                 (order(rows, cell) or ["-"])[0]] for cell in cells_in_order(rows)], "comparison")
    page.table("Places", ["contender", "cases", "first", "second", "third", "worst"],
               [[c, len(p), p.count(1), p.count(2), p.count(3), max(p)] for c, p in places(rows)], "places")
    for cell in cells_in_order(rows):
        page.heading(f"{cell}: {rmcat.case(cell).title}")
        runs = [r["figures"] for r in run_rows if r["cell"] == cell]
        shown = [c for c in COLUMNS if any(f.get(c[0]) is not None for f in runs)]
        ranked = order(rows, cell)
        ranked += [c for c in rows.contenders(cell) if c not in ranked]
        page.table(cell, ["contender", "runs", *(c[1] for c in shown)],
                   [[c, len(rows.values(cell, c, "use")),
                     *(text(rows.mean(cell, c, key, lambda v, s=scale: v * s), digits) for key, _, digits, scale in shown)]
                    for c in ranked], "case-" + slug(cell))
        plot(rows, page, cell, speed_of(rows, cell))


def state_of(run_rows):
    """Returns lines about when and how the runs were made."""
    rows = Rows(run_rows)
    busy = sum(starved(rows, *key) for key in rows.by)
    days = sorted({r["started_at"][:10] for r in run_rows})
    runs = sorted({sum(1 for r in run_rows if (r["cell"], r["contender"]) == key) for key in
                   {(r["cell"], r["contender"]) for r in run_rows}})
    divided = speeds_text(rows)
    return [*([] if quiet(rows) else [SMOKE]),
            f"{days[0]}{' to ' + days[-1] if len(days) > 1 else ''}, {os.cpu_count()} cores, {'-'.join(map(str, runs))} run(s) of a "
            f"case and contender{'; ' + divided if divided else ''}.",
            f"† in {busy} of {len(rows.by)} fields: a thread waited for a core for more than {WAITED * 100:.0f} % of its time."]


def main(directory):
    run_rows = [r for r in Results(os.path.abspath(directory)).read() if "figures" in r]
    if not run_rows:
        raise SystemExit(f"{directory} has no finished run")
    rows = Rows(run_rows)
    docs = os.path.join(ROOT, "docs")
    plots = {"": [], "docs": []}  # by the folder of the page
    drawn, kept, title = PLOT
    if quiet(rows) and os.path.exists(os.path.join(directory, drawn)):
        shutil.copy(os.path.join(directory, drawn), os.path.join(docs, kept))
        plots = {"": ["", f"![{title}](docs/{kept})", ""], "docs": [f"![{title}]({kept})", ""]}
    replace_between(os.path.join(docs, "comparison.md"), "cases",
                    ["", *state_of(run_rows), "", *comparison(rows), "", *plots["docs"]])
    replace_between(os.path.join(ROOT, "README.md"), "cases", [*short(rows), *plots[""]] if quiet(rows) else ["", *NOT_QUIET, ""])


if __name__ == "__main__":
    if len(sys.argv) != 2 or re.match("-", sys.argv[1]):
        raise SystemExit(__doc__)
    main(sys.argv[1])
