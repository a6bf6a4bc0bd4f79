# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of `lab goddard`: the values of section IV compared with ours, and its figures 9 to 21."""
import os

import numpy as np

from lab import stats
from lab.experiment import kept_path
from lab.report import canvas
from lab.rows import Rows, text

PAPER_MTP = "mtp:paper,queue=65536"
PAPERS = {"udp": "UDP", "tcp": "TCP", PAPER_MTP: "MTP"}
TITLES = {"A": "limited local bandwidth", "B": "backbone link congestion"}
# The paper's values: part, contender, figure, its words, the min and max that they allow, and their place.
PUBLISHED = [
    ("A", "udp", "at_4", "level 4 all the time", 0.99, 1, "Fig. 11"),
    ("A", "tcp", "at_3", "level 3 about 85 % of the time", 0.75, 0.95, "Fig. 11"),
    ("A", PAPER_MTP, "at_4", "level 4 about 60 % of the time", 0.5, 0.7, "Fig. 11"),
    ("A", PAPER_MTP, "at_2", "level 2 about 12 % of the time", 0.07, 0.17, "Fig. 11"),
    ("A", "udp", "jitter_mean", "50 ms", 48, 52, "IV-A, one run"),
    ("A", "udp", "jitter_sd", "6 ms", 3, 9, "IV-A, one run"),
    ("A", PAPER_MTP, "jitter_mean", "52 ms", 49, 55, "IV-A, one run"),
    ("A", PAPER_MTP, "jitter_sd", "11 ms", 6, 17, "IV-A, one run"),
    ("A", "tcp", "rebufferings", "1 or 2", 1, 2, "Fig. 14"),
    ("A", "udp", "rebufferings", "none", 0, 0, "Fig. 14"),
    ("A", PAPER_MTP, "rebufferings", "none", 0, 0, "Fig. 14"),
    ("A", "tcp", "frame_rate", "about 19", 18.5, 19.5, "Fig. 14"),
    ("A", "udp", "frame_rate", "close to 20", 19.5, 20, "Fig. 14"),
    ("A", PAPER_MTP, "frame_rate", "about 18 to 19", 17.5, 19.5, "Fig. 14"),
    ("A", PAPER_MTP, "duration", "that of the media, 300 s", 295, 305, "Fig. 13"),
    ("B", PAPER_MTP, "below_3", "level 2 or below most of the time", 0.5, 1, "Fig. 17"),
    ("B", "udp", "at_6", "the best level all the time", 0.99, 1, "Figs. 15, 17"),
    ("B", "tcp", "jitter_mean", "82 ms", 62, 102, "IV-B, one run"),
    ("B", "tcp", "jitter_sd", "213 ms", 140, 290, "IV-B, one run"),
    ("B", PAPER_MTP, "jitter_mean", "64 ms", 54, 74, "IV-B, one run"),
    ("B", PAPER_MTP, "jitter_sd", "60 ms", 40, 80, "IV-B, one run"),
    ("B", "udp", "jitter_mean", "33 ms", 31, 35, "IV-B, one run"),
    ("B", "udp", "jitter_sd", "16 ms", 10, 22, "IV-B, one run"),
    ("B", PAPER_MTP, "jitter_134", "95 % under 134 ms", 0.93, 0.97, "IV-B"),
    ("B", "udp", "loss", "0.005 of its packets", 0.002, 0.008, "IV-B"),
    ("B", "tcp", "duration", "two to three times 300 s", 600, 900, "Fig. 19"),
    ("B", PAPER_MTP, "rebufferings", "none, at most one", 0, 1, "Fig. 20"),
    ("B", "udp", "ratio", "6 to 9 times the transfer beside it", 6, 9, "Fig. 21"),
    ("B", "tcp", "ratio", "less than the transfer beside it", 0, 1, "Fig. 21"),
    ("B", PAPER_MTP, "ratio", "less than the transfer beside it", 0, 1, "Fig. 21"),
    ("B", "tcp", "friendly_after", "2 to 3 minutes to a friendly level", 120, 180, "Fig. 21"),
    ("B", PAPER_MTP, "friendly_after", "quickly", 0, 60, "Fig. 21"),
    ("B", "udp", "adapts", "never", 0, 0, "Fig. 21"),
    ("B", PAPER_MTP, "fair_kbps", "270 kbit/s are a fair share", 240, 300, "IV-B"),
]
# The cells of a part: the suffixes of their names, and their descriptions.
READINGS = {"": "whole", "-in-part": "in part", "-window-64": "in part, windows of 64 packets"}


def derived(figures):
    """Adds the shares of levels under the names in PUBLISHED, and whether the rate ever became friendly."""
    shares = figures["level_shares"]
    return {**figures, **{f"at_{k}": share for k, share in enumerate(shares)}, "below_3": sum(shares[:3]),
            "adapts": float(figures["friendly_after"] is not None)}


def digits_of(what):
    return {"at": 2, "be": 2, "ra": 2, "lo": 4}.get(what[:2], 2 if what == "jitter_134" else 1)  # shares and ratios have two


def label_of(what):
    """In words."""
    if what.startswith("at_"):
        return f"share of the time at level {what[3:]}"
    return {"below_3": "share of the time at level 2 or below", "jitter_134": "share of the frames"}.get(
        what, next((label for key, label, _ in KEYS if key == what), what))


def verdict(estimate, least, most, digits):
    if estimate is None:
        return "missed: never"
    if least <= estimate.value <= most:
        return "met: " + estimate.text(digits)
    off = estimate.value - (most if estimate.value > most else least)
    return f"missed: {estimate.text(digits)}, by {off:+.{digits}f}"


def published(rows):
    for part, contender, what, words, least, most, where in PUBLISHED:
        ours = [verdict(rows.mean(part + reading, contender, what), least, most, digits_of(what))
                if (part + reading, contender) in rows.by else "not run" for reading in READINGS]
        yield [part, PAPERS[contender], label_of(what), words, where, *ours]


def pooled(rows, cell, contender, key):
    return [np.array(v) for v in rows.values(cell, contender, key).values() if v is not None]


def kept(page, cell, contender):
    path = kept_path(page.directory, cell, contender, 0, "npz")
    return np.load(path) if os.path.exists(path) else None


def level_figure(rows, page, cell, number):
    """Figures 9 and 15: the first run."""
    contenders = rows.contenders(cell)
    figure, axes = canvas(1, 2, width=6.5, sharey=True)
    for axis, some in zip(axes[0], (list(PAPERS), [c for c in contenders if c not in PAPERS])):
        for contender in some:
            run = rows.values(cell, contender, "levels").get(0)
            if run:
                end = rows.values(cell, contender, "duration")[0]
                axis.step([at for at, _ in run] + [max(300, end)], [lv for _, lv in run] + [run[-1][1]], where="post",
                          label=contender)
        axis.set(xlabel="time of the stream, s", ylim=(-0.3, 6.5))
        if axis.lines:
            axis.legend()
    axes[0][0].set(ylabel="level asked for")
    page.figure(f"Figure {number}: levels over time, run 0 ({cell})", figure, f"figure-{number}-{cell}")


def jitter_figure(page, cell, number):
    """Figures 10 and 16: the first run."""
    found = [(c, run) for c, run in ((c, kept(page, cell, c)) for c in PAPERS) if run is not None]
    if not found:
        return
    figure, axes = canvas(1, len(found), width=4.6, sharey=True)
    for axis, (contender, run) in zip(axes[0], found):
        jitter, stalls = run["jitter"].reshape(-1, 2), run["stalls"].reshape(-1, 2)
        axis.plot(jitter[:, 0], np.maximum(jitter[:, 1], 1), ".", markersize=2)
        axis.plot(stalls[:, 0], [3] * len(stalls), "rv", label="playing stops")
        axis.set(title=contender, xlabel="time of the stream, s", yscale="log")
    axes[0][0].set(ylabel="jitter, ms (1: 1 or less)")
    axes[0][0].legend()
    page.figure(f"Figure {number}: frame reception jitter, run 0 ({cell})", figure, f"figure-{number}-{cell}")


def cdf_figure(rows, page, cell, numbers):
    """Figures 11 and 12, 17 and 18: all runs."""
    figure, axes = canvas(1, 2, width=6)
    edges = stats.LogHistogram.edges()
    for contender in rows.contenders(cell):
        style = "-" if contender in PAPERS else "--"
        shares = pooled(rows, cell, contender, "level_shares")
        axes[0][0].step(range(7), np.cumsum(np.mean(shares, axis=0)), style, where="post", label=contender)
        counts = np.sum(pooled(rows, cell, contender, "jitter_counts"), axis=0)
        axes[0][1].plot(edges, stats.LogHistogram.cdf(counts), style, label=contender)
    axes[0][0].set(xlabel="level asked for", ylabel="share of the time at or below")
    axes[0][1].set(xlabel="jitter, ms", ylabel="share of the frames", xscale="log", xlim=(1, 1000))
    axes[0][0].legend(fontsize=7)
    page.figure(f"Figures {numbers}: levels and jitter, all runs ({cell})", figure, f"figure-{numbers.split()[0]}-{cell}")


def bars_figure(rows, page, cell, numbers, keys):
    """Figures 13 and 14, 19 to 21: one mark per run."""
    figure, axes = canvas(2, (len(keys) + 1) // 2, width=4.4, height=2.8)
    contenders = rows.contenders(cell)
    for axis, (key, label, log) in zip(axes.flat, keys):
        for k, contender in enumerate(contenders):
            values = [v for v in rows.values(cell, contender, key).values() if v is not None]
            axis.plot([k] * len(values), values, "o", markersize=3, alpha=0.6)
            if values:
                axis.plot([k - 0.3, k + 0.3], [np.mean(values)] * 2, "k-")
        axis.set(title=label, yscale="log" if log else "linear", xlim=(-0.5, len(contenders) - 0.5))
        if log:
            axis.set_yticks([0.25, 0.5, 1, 2, 4, 8], ["1/4", "1/2", "1", "2", "4", "8"])
        axis.set_xticks(range(len(contenders)), contenders, rotation=60, fontsize=7)
    for axis in list(axes.flat)[len(keys):]:
        axis.axis("off")
    figure.tight_layout()
    page.figure(f"Figures {numbers}: each run, and the mean ({cell})", figure, f"figure-{numbers.split()[0]}-{cell}")


KEYS = [("initial_buffering", "initial buffering, s", 1), ("duration", "playing took, s", 0), ("rebufferings", "rebufferings (buffer empty)", 1),
        ("frozen", "time frozen (no new picture)", 3),
        ("frame_rate", "frames/s", 1), ("frames_lost", "frames lost", 3), ("jitter_mean", "jitter, ms", 1),
        ("jitter_sd", "sd of the jitter", 0), ("level_mean", "mean level", 2), ("level_end", "last level", 1), ("kbps", "kbit/s", 0),
        ("ratio", "kbit/s over the transfer's beside it", 2), ("adapts", "becomes friendly", 2), ("friendly_after", "that after, s", 0),
        ("fair_kbps", "a fair share, kbit/s", 0), ("loss", "packets lost", 4)]
BARS = [("initial_buffering", "initial buffering, s", False), ("duration", "playing took, s", False),
        ("rebufferings", "rebufferings", False), ("frame_rate", "frames/s", False)]
FRIENDLY = [("ratio", "throughput over the transfer's", True), ("friendly_after", "s until a friendly level", False)]


def reasons(page, rows):
    """Reasons for the differences, as far as traces and the other cells show them; all numbers are of these runs."""
    def mean(cell, contender, key, digits=None):
        estimate = rows.mean(cell, contender, key)
        return "?" if estimate is None else f"{estimate.value:.{digits_of(key) if digits is None else digits}f}"
    mtp, today = PAPER_MTP, "mtp:queue=65536"
    page.heading("What differs, and why")
    page.text("When is a frame lost? While it buffers, UDP is sent 1.5 x 640 kbit/s and headers, a third more than the line takes: "
              "every fourth packet is dropped, and a frame is four packets. If each costs its frame, most frames of those seconds "
              f"are lost, and UDP must leave level 4: it is there {mean('A', 'udp', 'at_4')} of the time. The paper's UDP stays, "
              "since \"the packet loss rate for the initial measurement interval is less than 5%\" (IV-A), so its client must count "
              f"frames that came in part. Read so, UDP stays ({mean('A-in-part', 'udp', 'at_4')}), and in B at level 6 "
              f"({mean('B-in-part', 'udp', 'at_6')}; else {mean('B', 'udp', 'at_6')}). The cells -in-part are to be compared with "
              "the paper; a decoder has no use for such frames, and weir-play does not show them.")
    page.text("Two steps down at once: what was in the queues when a level was left is lost after the decision and counts for the "
              "next, five seconds later. That, and a sender that starts slowly, takes MTP down to level 2 in ten seconds, as in "
              "Figure 9; each level up then takes a minute.")
    page.text(f"MTP at level 4 in A: {mean('A-in-part', mtp, 'at_4')} of the time, not 0.6, because it is lost again after some tens "
              "of seconds: with its headers it is about 700 kbit/s, and a Reno alone on such a line gets "
              f"{mean('A-in-part', mtp, 'ftp_kbps', 0)} of 750. Its ACKs wait in the queue that 25 reverse transfers without a limit "
              "on their windows fill, and 20 packets of queue do not cover that; two steps down and a minute at each follow. So its frame "
              f"rate is {mean('A-in-part', mtp, 'frame_rate')}, and its jitter {mean('A-in-part', mtp, 'jitter_mean', 0)} +- "
              f"{mean('A-in-part', mtp, 'jitter_sd', 0)} ms. Where the windows of all TCPs beside it end at 64 packets, as without window "
              f"scaling, MTP is at level 4 for {mean('A-window-64', mtp, 'at_4')} of the time, at level 2 for {mean('A-window-64', mtp, 'at_2')}, "
              f"its jitter is {mean('A-window-64', mtp, 'jitter_mean', 0)} +- {mean('A-window-64', mtp, 'jitter_sd', 0)} ms; with 20 packets a Reno gets {mean('A-window-20', mtp, 'ftp_kbps', 0)} kbit/s and MTP is there "
              f"{mean('A-window-20', mtp, 'at_4')}, but then TCP loses nothing and stays at level 4, too ({mean('A-window-20', 'tcp', 'at_4')}). "
              "The paper does not print its windows.")
    page.text("Which MTP: the paper's is a mode of NS's Reno. Today's, with NewReno, RACK, byte counting and RFC 7661 and the same queue "
              f"({today}), has more: in B {mean('B-in-part', today, 'kbps', 0)} kbit/s instead of {mean('B-in-part', mtp, 'kbps', 0)} and a mean "
              f"level of {mean('B-in-part', today, 'level_mean')} instead of {mean('B-in-part', mtp, 'level_mean')}.")
    page.text("TCP in B: in the paper's run 0 it buffers for some 37 s, which is what 5 s of level 6 take at 270 kbit/s, and stops 5 s "
              f"later with 15 Mbyte in the send buffer. Here it gets {mean('B-in-part', 'tcp', 'kbps', 0)} kbit/s, buffers for "
              f"{mean('B-in-part', 'tcp', 'initial_buffering', 0)} s and stops after {mean('B-in-part', 'tcp', 'first_stall', 0)} s with "
              f"{mean('B-in-part', 'tcp', 'backlog_mb')} Mbyte, so all that follows is shorter: it plays "
              f"{mean('B-in-part', 'tcp', 'duration', 0)} s, not 600 to 900, and is at a friendly level sooner. The mean share is "
              f"{mean('B', mtp, 'fair_kbps', 0)} kbit/s, near the paper's 270, but here the path of 140 ms has more "
              f"({mean('B-in-part', 'tcp', 'ftp_kbps', 0)} for the transfer beside TCP), as a Reno's rate falls with its round trip and "
              "the others' are 530 ms on average. In the paper it has not: 6 to 9 times less than UDP are 210 to 320 kbit/s. The text "
              "does not say why.")
    page.text(f"UDP's loss is {mean('B-in-part', 'udp', 'loss')} of its packets in B, not 0.005; with windows of 20 packets it is "
              f"{mean('B-window-20', 'udp', 'loss')}. A fair share is {mean('B-in-part', mtp, 'fair_kbps', 0)} kbit/s without a limit on windows "
              f"and {mean('B-window-64', mtp, 'fair_kbps', 0)} with 64 packets.")
    page.text("tcp:sndbuf=64KB and minbuf: what finds no room waits in the scheduler for at most 5.5 s, the bound that "
              "weir-play requests for its buffer of 5 s, and is dropped there. The policy hears of those frames, as weir-play's does, scales at once, and playing does not stop "
              f"(rebufferings in B: {mean('B', 'tcp:sndbuf=64KB', 'rebufferings')} and {mean('B', 'minbuf:1,3', 'rebufferings')}; "
              f"tcp: {mean('B', 'tcp', 'rebufferings')}); the price is {mean('B', 'tcp:sndbuf=64KB', 'frames_lost', 3)} and "
              f"{mean('B', 'minbuf:1,3', 'frames_lost', 3)} of the frames.")


def write(run_rows, page):
    if not run_rows:
        page.text("No run has finished yet.")
        return
    rows = Rows([{**r, "figures": derived(r["figures"])} for r in run_rows])
    table = list(published(rows))
    page.heading("What the paper prints")
    page.text("Goddard over TCP, UDP and MTP (Chung, Claypool and Kinicki 2005, section IV). Means over the runs; the paper's "
              "levels are shares of all runs, its jitter is of one. The bands are this project's reading of the paper's words. "
              "Whole: a frame is lost when a packet of it is; in part: a frame counts when any packet came.")
    page.goals("Published and ours", ["part", "over", "what", "the paper", "where", *READINGS.values()], table, "published")
    reasons(page, rows)
    for cell in rows.cells():
        reading = "" if len(cell) == 1 else ", frames in part" + (f", windows of {cell[9:]} packets" if "window" in cell else "")
        page.heading(f"{cell}: {TITLES[cell[0]]}{reading}")
        page.table(f"All contenders ({cell})", ["contender", *(h for _, h, _ in KEYS)],
                   [[c, *(text(rows.mean(cell, c, k), d) for k, _, d in KEYS)] for c in rows.contenders(cell)], f"figures-{cell}")
        first = 9 if cell[0] == "A" else 15
        level_figure(rows, page, cell, first)
        jitter_figure(page, cell, first + 1)
        cdf_figure(rows, page, cell, f"{first + 2} and {first + 3}")
        bars_figure(rows, page, cell, f"{first + 4} and {first + 5}" if first == 9 else "19 to 21",
                    BARS if first == 9 else BARS + FRIENDLY)
