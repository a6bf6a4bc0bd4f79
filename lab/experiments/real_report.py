# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares of the bottleneck, queue delay, loss, and the quality for a viewer, from the runs of real.py."""
import json
import os

from lab import stats
from lab.experiment import kept_path
from lab.report import canvas
from lab.rows import Rows, text

__all__ = ["Rows", "write"]

COLORS = {"tfrc": "tab:blue", "arc": "tab:green", "psp": "tab:red", "psp-plain": "tab:pink", "udp": "tab:brown",
          "tcp": "k", "mtp": "tab:orange", "mtp-raw": "tab:olive"}


def is_picture(cell):
    return cell.startswith("picture")


def ratio_of(rows, cell, contender):
    """The throughput of the streams divided by that of the downloads."""
    return stats.paired_ratio(*(rows.values(cell, contender, key) for key in ("stream_mbps", "download_mbps")))


def goals_of(rows, cell):
    """Friendliness as in RFC 5348: within a factor of two of a TCP's rate, which is a third to two thirds of the link. For
    the picture: it plays. MTP promises more, as it is Reno: within a quarter of Reno's rate."""
    for contender in rows.contenders(cell):
        if contender in ("udp", "tcp"):
            continue
        share, use, stalled = (rows.mean(cell, contender, k) for k in ("share", "use", "stalled"))
        if is_picture(cell):
            yield cell, contender, "time stalled (buffer empty)", "<= 0.01", text(stalled, 3), stalled and stalled.value <= 0.01
        elif share and contender.startswith("mtp") and cell.endswith("reno"):
            ratio = ratio_of(rows, cell, contender)
            yield (cell, contender, "streams over downloads", "0.8 to 1.25", text(ratio, 2),
                   ratio and 0.8 <= ratio.value <= 1.25)
            yield cell, contender, "link used", ">= 0.9", text(use, 3), use.value >= 0.9
        elif share:
            yield cell, contender, "share of the link", "1/3 to 2/3", text(share, 3), 1 / 3 <= share.value <= 2 / 3
            yield cell, contender, "link used", ">= 0.9", text(use, 3), use.value >= 0.9


def goals(rows, page):
    page.heading("Goals")
    out = [[*g[:4], f"{'met' if g[5] else 'missed'}: {g[4]}"] for c in rows.cells() for g in goals_of(rows, c)]
    if out:
        page.goals("Goals", ["cell", "contender", "what", "goal", "result"], out, "goals")


def table(rows, page, caption, name, cells, keys):
    out = [[cell, contender, *(text(rows.mean(cell, contender, k), digits) for k, _, digits in keys)]
           for cell in cells for contender in rows.contenders(cell)]
    if out:
        page.table(caption, ["cell", "contender", *(h for _, h, _ in keys)], out, name)


LINK = [("share", "share", 3), ("stream_mbps", "streams, Mbit/s", 2), ("download_mbps", "downloads, Mbit/s", 2),
        ("use", "link used", 3), ("loss", "loss", 4), ("download_loss", "downloads' loss", 4),
        ("queue_ms", "queue, mean ms", 1), ("queue_p95_ms", "95 % ms", 1), ("jain", "Jain", 3)]
QUALITY = [("stalls", "stalls", 1), ("stalled", "time stalled (buffer empty)", 3), ("freezes", "freezes", 1),
           ("frozen", "time frozen (no new picture)", 3), ("frame_rate", "frames/s", 1),
           ("frames_lost", "frames lost", 0), ("frames_skipped", "left out by the sender", 0),
           ("goodput_mbps", "goodput, Mbit/s", 2), ("media_loss", "loss", 4),
           ("display_p95_ms", "capture to shown, 95 % ms", 0)]


def shares_figure(rows, page):
    cells = [c for c in rows.cells() if not is_picture(c)]
    if not cells:
        return
    names = list(dict.fromkeys(k for c in cells for k in rows.contenders(c)))
    figure, axes = canvas(3, 1, width=9, height=2.4, sharex=True)
    for row, (key, label) in enumerate((("share", "share of the link"), ("queue_ms", "queue, ms"), ("loss", "loss"))):
        for i, contender in enumerate(names):
            values = [rows.mean(c, contender, key) for c in cells]
            axes[row][0].bar([x + (i - len(names) / 2) * 0.8 / len(names) for x in range(len(cells))],
                             [v.value if v else 0 for v in values], width=0.75 / len(names),
                             color=COLORS.get(contender), label=contender, align="edge")
        axes[row][0].set_ylabel(label)
    axes[0][0].axhline(0.5, color="k", linewidth=0.6, linestyle="--")
    axes[0][0].set_ylim(0, 1)
    axes[0][0].legend(ncols=len(names), fontsize=7)
    axes[2][0].set_xticks(range(len(cells)), cells)
    page.figure("Share of the link, queue delay and the streams' loss", figure, "shares")


def seconds_figure(rows, page, cell):
    found = []
    for contender in rows.contenders(cell):
        path = kept_path(page.directory, cell, contender, 0, "json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                found.append((contender, json.load(f)))
    found = [f for f in found if f[1]]
    if not found:
        return
    figure, axes = canvas(1, len(found), width=3.4, sharey=True)
    for axis, (contender, seconds) in zip(axes[0], found):
        times, total, downloads, _ = zip(*seconds)
        axis.plot(times, downloads, color="tab:gray", label="downloads")
        axis.plot(times, [max(0, t - d) for t, d in zip(total, downloads)], color=COLORS.get(contender),
                  label="streams")
        axis.set(title=contender, xlabel="time, s", ylim=(0, 11))
    axes[0][0].set_ylabel("Mbit/s")
    axes[0][0].legend(fontsize=7)
    page.figure(f"Rates on the link ({cell})", figure, f"seconds-{cell}")


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished yet.")
        return
    goals(rows, page)
    page.heading("The bottleneck")
    page.text("10 Mbit/s, 50 ms, a queue of one bandwidth-delay product. Share: what the streams got of what left the "
              "link, from the second second to the last but one; loss and queue are those of the whole run, its start "
              "as well. udp is told to send 80 % of the link (the picture: its own rate).")
    table(rows, page, "Share, queue delay, loss", "shares", rows.cells(), LINK)
    page.heading("The test picture beside 4 downloads")
    table(rows, page, "What a viewer saw", "picture", [c for c in rows.cells() if is_picture(c)], QUALITY)
    page.heading("Figures")
    shares_figure(rows, page)
    for cell in rows.cells():
        seconds_figure(rows, page, cell)
