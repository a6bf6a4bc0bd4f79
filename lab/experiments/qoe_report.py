# SPDX-License-Identifier: GPL-2.0-or-later
"""A table of the quality for a viewer, the goals, and latency over time, from the runs of qoe.py."""
import os

import numpy as np

from lab import chrome, others, viewing
from lab.experiment import kept_path
from lab.report import canvas
from lab.rows import Rows, text

TODAY = "srt-120"  # the contender that the goals compare with
LATENCY_GOAL = 0.5  # times its 95th percentile
# Links that always carry the lowest level: the programs cause each freeze there.
ALWAYS_ENOUGH = ("stairs", "trace-steps", "download")

COLUMNS = [("freezes", "freezes", 1), ("frozen", "time frozen", 3), ("longest_freeze", "longest freeze, s", 2), ("p50_ms", "capture to shown, 50 % ms", 0),
           ("p95_ms", "95 %", 0), ("p99_ms", "99 %", 0), ("ssim", "SSIM", 4), ("frame_rate", "frames/s", 1),
           ("broken", "of them broken", 3), ("link_mbps", "on the link, Mbit/s", 2), ("loss", "lost there", 4),
           ("queue_p95_ms", "queue, 95 % ms", 0), ("download_mbps", "the download, Mbit/s", 2), ("waited", "waited for a core", 3)]


def is_weir(contender):
    return contender.partition(" ")[0] not in (*others.KINDS, *chrome.KINDS)


def candidates(rows, cell):
    """Weir's transports that may meet a goal: not udp, which has no congestion control."""
    return [c for c in rows.contenders(cell) if is_weir(c) and c != "udp"]


def value(rows, cell, contender, key):
    estimate = rows.mean(cell, contender, key)
    return None if estimate is None else estimate.value


def freeze_goal(rows, cell):
    """(cell, goal, result) for the transport of Weir with the least freezing; of equals the fastest."""
    weir = candidates(rows, cell)
    if not weir:
        return None
    best = min(weir, key=lambda c: (value(rows, cell, c, "frozen"), value(rows, cell, c, "p95_ms") or np.inf))
    frozen = value(rows, cell, best, "frozen")
    return (cell, "no freeze over the best transport",
            f"{'met' if frozen == 0 else 'missed'}: {best} stood still {frozen * 100:.1f} % of the time")


def latency_goal(rows, cell, today):
    """(cell, goal, result) against TODAY for a transport with at least its SSIM; if there is none, the nearest one."""
    limit, ssim = (value(rows, cell, today, k) for k in ("p95_ms", "ssim"))
    weir = [c for c in candidates(rows, cell) if value(rows, cell, c, "p95_ms") is not None]
    if limit is None or not weir:
        return None
    as_good = [c for c in weir if value(rows, cell, c, "ssim") >= ssim]
    best = min(as_good, key=lambda c: value(rows, cell, c, "p95_ms")) if as_good else \
        max(weir, key=lambda c: value(rows, cell, c, "ssim"))
    p95, own = (value(rows, cell, best, k) for k in ("p95_ms", "ssim"))
    met = bool(as_good) and p95 <= LATENCY_GOAL * limit
    return (cell, f"95 % latency at most half of {today}'s, SSIM no less",
            f"{'met' if met else 'missed'}: {best} {p95:.0f} ms, SSIM {own:.4f}; {today} {limit:.0f} ms, {ssim:.4f}")


def goals_of(rows, cell):
    link = cell.rpartition("-")[0]
    found = [freeze_goal(rows, cell)] if link in ALWAYS_ENOUGH else []
    if link == "stairs":
        found += [latency_goal(rows, cell, c) for c in rows.contenders(cell) if c.startswith(TODAY)]
    return [g for g in found if g]


def save_series(path, frames, pictures, window):
    """Saves when each frame was captured, its latency, and its SSIM."""
    frames = [f for f in frames if f.read]
    begin = min((f.captured - f.number / window.fps for f in frames), default=0)
    np.savez_compressed(path, captured=np.array([f.captured - begin for f in frames], "f4"),
                        latency=np.array([(f.shown - f.captured) * 1e3 for f in frames], "f4"),
                        number=np.array(sorted(pictures), "i4"), fps=window.fps,
                        ssim=np.array([pictures[n] for n in sorted(pictures)], "f4"))


def chosen(rows, cell):
    """The contenders drawn over time: the fastest of Weir with at least the SSIM of TODAY, and TODAY."""
    today = [c for c in rows.contenders(cell) if c.startswith(TODAY)][:1]
    weir = [c for c in candidates(rows, cell) if value(rows, cell, c, "p95_ms") is not None]
    least = value(rows, cell, today[0], "ssim") if today else 0
    weir.sort(key=lambda c: (value(rows, cell, c, "ssim") < least, value(rows, cell, c, "p95_ms")))
    return weir[:2] + today


def time_figure(rows, page, cell):
    found = [(c, kept_path(page.directory, cell, c, 0, "npz")) for c in chosen(rows, cell)]
    found = [(c, np.load(path)) for c, path in found if os.path.exists(path)]
    if not found:
        return
    figure, axes = canvas(2, 1, width=9, height=2.4, sharex=True)
    for contender, series in found:
        axes[0][0].plot(series["captured"], series["latency"], ".", markersize=2, label=contender)
        axes[1][0].plot(series["number"] / series["fps"], series["ssim"], linewidth=0.8)
    axes[0][0].set(ylabel="capture to shown, ms", yscale="log")
    axes[0][0].legend(markerscale=5, fontsize=7)
    axes[1][0].set(ylabel="SSIM", xlabel="time, s")
    page.figure(f"{cell}: the first run", figure, f"time-{cell}")


def overview_figure(rows, page):
    cells = rows.cells()
    figure, axes = canvas(1, len(cells), width=3.6, height=3.4, sharey=True)
    for axis, cell in zip(axes[0], cells):
        for contender in rows.contenders(cell):
            p95, ssim = (value(rows, cell, contender, k) for k in ("p95_ms", "ssim"))
            if p95 is not None:
                axis.plot(p95, ssim, "o" if is_weir(contender) else "s", markersize=4,
                          color="tab:blue" if is_weir(contender) else "tab:red")
                axis.annotate(contender, (p95, ssim), fontsize=5, xytext=(3, 2), textcoords="offset points")
        axis.set(title=cell, xscale="log", xlabel="capture to shown, 95 % ms")
    axes[0][0].set_ylabel("SSIM")
    page.figure("Latency and quality: left and up is better; blue is Weir", figure, "overview")


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished yet.")
        return
    page.text("One viewer over an emulated link, RTT 50 ms. stairs: 4, 2, 4, 1.5 and 4 Mbit/s, a fifth of the time each; "
              "trace-*: generated traces of 2.5 Mbit/s in the mean; download: 4 Mbit/s and one cubic download beside it. "
              "The queue is one bandwidth-delay product, or 200 ms, at the first rate. Weir: weir-send with its defaults, "
              "weir-play with its default latency, or with the one that is named. The others: ffmpeg to ffmpeg, x264 at a constant rate.")
    page.text(f"Latency is from when the source gave a frame to when it was shown. A time of more than "
              f"{viewing.FREEZE_S * 1e3:.0f} ms, and of {viewing.FREEZE_INTERVALS} frames of the source, without a new frame is a "
              "freeze, all of it and whatever its reason, counted alike for all; an empty buffer (a stall) is not told apart. SSIM is the mean over all frames "
              "of the source, at its size; where one was not shown, of what stood there instead. Start-up does not count. "
              "Waited for a core: the thread that waited longest, as a part of its life; above a few percent the figures "
              "are also those of a machine that is too busy.")
    goals = [g for cell in rows.cells() for g in goals_of(rows, cell)]
    if goals:
        page.goals("Goals",
                   ["cell", "goal", "result"], goals, "goals")
    shown = [c for c in COLUMNS if any(r["figures"].get(c[0]) is not None for r in run_rows)]
    page.table("What a viewer saw", ["cell", "contender", *(h for _, h, _ in shown)],
               [[cell, contender, *(text(rows.mean(cell, contender, k), digits) for k, _, digits in shown)]
                for cell in rows.cells() for contender in rows.contenders(cell)], "viewers")
    unknown = [(value(rows, cell, c, "ssim_unknown"), cell, c) for cell in rows.cells() for c in rows.contenders(cell)]
    worst = max(unknown)
    page.text(f"Frames without a comparison of their own: {worst[0] * 100:.1f} % at most ({worst[1]}, {worst[2]}).")
    overview_figure(rows, page)
    for cell in rows.cells():
        time_figure(rows, page, cell)
