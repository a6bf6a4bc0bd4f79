# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables, goals and plots of live media on bad networks, from the runs of live.py."""
import os

import numpy as np

from lab.crossings import STEP_S, smooth
from lab.experiment import kept_path
from lab.report import canvas, slug
from lab.rows import Rows, text
from lab.streaming import LEAD

HIGH_MBIT, LOW_MBIT, STEPS = 4, 1, (12, 24)  # Mbit/s, and the seconds of media when the rate falls and rises
PROPAGATION_MS = 25  # of the link with steps, one way
PLOT_MS = 1000  # the largest time that a plot shows

COLUMNS = [("shown", "shown, %", 1, 100), ("half_rate", "full or half rate, %", 1, 100),
           ("of_level", "of its level, %", 1, 100), ("gaps", "gaps", 1, 1), ("gap_s", "their s", 2, 1),
           ("p50_ms", "50 %, ms", 0, 1), ("p95_ms", "95 %", 0, 1), ("p99_ms", "99 %", 0, 1),
           ("ssim", "SSIM", 4, 1), ("frozen", "frozen, %", 2, 100), ("link_mbps", "link, Mbit/s", 2, 1),
           ("media_mbps", "media there", 2, 1), ("tcp_mbps", "TCP there", 2, 1), ("share", "media / TCP", 2, 1),
           ("use_low", "use after the fall", 2, 1), ("use_high", "the rise", 2, 1),
           ("overhead", "repair, %", 1, 100), ("av_offset_ms", "audio offset, ms", 0, 1),
           ("underruns", "sound ran out", 0, 1), ("waited", "waited", 3, 1)]
LABELS = {key: label for key, label, _, _ in COLUMNS}
UNITS = {key: (digits, scale) for key, _, digits, scale in COLUMNS}

PROXIED, END_TO_END = "tfrc latency=400 proxy", "mtp latency=400"
# (cells, transports, latency, [(figure, sign of the bound, bound, unit)]); latency "" is the default.
FOLLOWERS = ("minbuf:1,3", "mtp", "tfrc", "scream")
CALM = ("minbuf:1,3", "mtp", "tfrc", "scream", "udp", "arc", "tcp", "psp", "mtp-raw")  # on the calm path
GOALS = [
    (("step",), FOLLOWERS, "", [("gaps", "<=", 0), ("p50_ms", "<=", 70), ("p95_ms", "<=", 110), ("p99_ms", "<=", 250),
                                ("half_rate", ">=", 0.98), ("ssim", ">=", 0.985), ("use_low", ">=", 0.8),
                                ("use_high", ">=", 0.8)]),
    (("step",), FOLLOWERS, "latency=300", [("gaps", "<=", 0), ("p95_ms", "<=", 310)]),
    (("loss-1%",), ("udp", "scream"), "", [("shown", ">=", 0.997), ("gaps", "<=", 0), ("ssim", ">=", 0.988),
                                           ("p95_ms", "<=", 220), ("overhead", "<=", 0.023)]),
    (("loss-5%",), ("udp", "scream"), "", [("shown", ">=", 0.99), ("gaps", "<=", 2), ("ssim", ">=", 0.983),
                                           ("p95_ms", "<=", 250), ("overhead", "<=", 0.12)]),
    (("loss-1%", "loss-5%"), ("tfrc", "mtp"), "", [("of_level", ">=", 0.9995)]),
    (("loss-1%",), ("minbuf:1,3",), "", [("shown", ">=", 0.97), ("ssim", ">=", 0.97)]),
    (("calm",), CALM, "", [("p50_ms", "<=", 60), ("p95_ms", "<=", 70), ("av_offset_ms", "<=", 40),
                          ("underruns", "<=", 0)]),
    (("reno", "cubic"), FOLLOWERS, "", [("share", ">=", 0.6), ("share", "<=", 1.5), ("p95_ms", "<=", 150),
                                        ("frozen", "<=", 0.005)]),
    # A freeze is a gap above 150 ms. A contender as bound: its figure in the same run.
    (("proxy",), ("tfrc",), "latency=400 proxy", [("frozen", "<=", 0), ("p95_ms", "<=", 450), ("ssim", ">=", END_TO_END)]),
]

# Chrome's engine (libwebrtc M152) in the same conditions, measured with another emulator in November 2026, one or two runs
# per cell: the bar. "720p": VP8 at 1280x720, else 640x360. Gaps with their total seconds.
CHROME = [
    ("step", "GoogCC", "94", "12 (2.2 s)", "147-293 / 314 / 1045", ".973"),
    ("step", "GoogCC, 720p", "91", "14 (2.5 s)", "142 / 307 / 920", ".975"),
    ("step", "ScreamV2", "98", "1-3 (.1-.5 s)", "92 / 120 / 371", ".982"),
    ("step", "ScreamV2, 720p", "92", "12 (1.5 s)", "96 / 130 / 399", ".977"),
    ("loss-1%", "GoogCC", "99", "3 (.4 s)", "- / 207-234 / -", ".989"),
    ("loss-1%", "ScreamV2", "99", "3", "- / 220 / -", ".984"),
    ("loss-5%", "GoogCC", "99", "10 (1.6 s)", "- / 255 / -", ".989 (720p: .983)"),
    ("loss-5%", "ScreamV2", "97", "8 (1.5 s)", "- / 264 / -", ".970"),
    ("calm", "GoogCC", "", "", "75 / 80 / -", ""), ("calm", "ScreamV2", "", "", "71 / 76 / -", ""),
    ("reno", "GoogCC", "media / TCP .44-.53", "", "- / 194-220 / -", ""), ("reno", "ScreamV2", "media / TCP .02", "", "", ""),
]

def within(value, sign, bound):
    return value is not None and (value <= bound + 1e-9 if sign == "<=" else value >= bound - 1e-9)


def worst(values, sign):
    """Returns the value that is furthest on the wrong side; None if a run has none."""
    if not values or None in values:
        return None
    return max(values) if sign == "<=" else min(values)


def judge(values, digits, scale, sign, bound):
    """Returns one text: every run is to be within the bound."""
    found = worst(values, sign)
    if found is None:
        return "missed: not measured"
    return f"{'met' if within(found, sign, bound) else 'missed'}: {found * scale:.{digits}f}"


def judge_next_to(rows, cell, contender, key, sign, other):
    """Returns one text: every run is to be within the other contender's figure in the same run."""
    mine, others = rows.values(cell, contender, key), rows.values(cell, other, key)
    pairs = [(mine[run], others[run]) for run in mine if others.get(run) is not None and mine[run] is not None]
    if not pairs or len(pairs) < len(mine):
        return "missed: not measured"
    digits, scale = UNITS[key]
    value, bound = min(pairs, key=lambda p: (p[0] - p[1]) * (1 if sign == ">=" else -1))
    return f"{'met' if within(value, sign, bound) else 'missed'}: {value * scale:.{digits}f}, {bound * scale:.{digits}f}"


def goals_of(rows):
    """Returns the tables of goals: (caption, headers, lines), a column for each bound with the worst of the runs."""
    tables = []
    for cells, transports, latency, bounds in GOALS:
        for cell in cells:
            lines = [[c, len(rows.by[cell, c]),
                      *(judge_next_to(rows, cell, c, key, sign, bound) if isinstance(bound, str) else
                        judge(list(rows.values(cell, c, key).values()), *UNITS[key], sign, bound)
                        for key, sign, bound in bounds)]
                     for c in (f"{t} {latency}".strip() for t in transports) if (cell, c) in rows.by]
            heads = [f"{LABELS[key]} {sign} " + (bound if isinstance(bound, str) else f"{bound * UNITS[key][1]:.4g}")
                     for key, sign, bound in bounds]
            if lines:
                tables.append((f"{cell}, {latency.replace('=', ' ') or 'the default latency'}", ["contender", "runs", *heads], lines))
    return tables


def plot(rows, page, contender):
    """The step over time, of the first run: rates, queue, latency, the viewer's target."""
    path = kept_path(page.directory, "step", contender, 0, "npz")
    if not os.path.exists(path):
        return
    kept = np.load(path)
    if "budget" not in kept:  # written by an older version
        return
    t = np.arange(kept["rate_in"].size) * STEP_S - LEAD
    figure, axes = canvas(4, 1, width=9, height=1.9, sharex=True)
    rate, queue, frames, target = (row[0] for row in axes)
    down, up = STEPS
    link = np.where((t < down) | (t >= up), HIGH_MBIT, LOW_MBIT)
    rate.step(t, link, where="post", color="grey", label="link")
    rate.plot(t, smooth(kept["rate_in"], 3), label="into the link, mean of 0.3 s")
    rate.plot(kept["encoder"][:, 0] - LEAD, kept["encoder"][:, 1], "o-", markersize=2, color="tab:orange",
              label="requested of the encoder, once a second")
    rate.set(ylabel="Mbit/s", ylim=(0, HIGH_MBIT * 1.4), xlim=(0, t[-1]))
    queue.plot(t, np.maximum(0, kept["late"] - PROPAGATION_MS), color="tab:red",
               label="longest wait in the link's queue in 0.1 s")
    queue.set(ylabel="ms", ylim=(0, upper(kept["late"] - PROPAGATION_MS, 100)))
    frames.plot(kept["captured"] - LEAD, kept["latency"], ".", markersize=2, label="capture to shown")
    frames.plot(kept["missing"] - LEAD, np.full(kept["missing"].size, 0.04), "|", color="tab:red", markersize=6,
                transform=frames.get_xaxis_transform(), label="not shown")
    frames.set(ylabel="ms", ylim=(0, upper(kept["latency"])))
    target.step(kept["budget"][:, 0] - LEAD, kept["budget"][:, 1], where="post", label="target, capture to shown")
    target.step(kept["budget"][:, 0] - LEAD, kept["budget"][:, 2], where="post", label="of that the buffer's wait")
    target.plot(kept["captured"] - LEAD, kept["wait"], ".", color="grey", markersize=2,
                label="wait of each frame, decoder included")
    target.set(xlabel="s of media", ylabel="ms", ylim=(0, upper(np.concatenate([kept["wait"], kept["budget"][:, 1]]))))
    for axis in (rate, queue, frames, target):
        axis.legend(loc="upper right", fontsize=7, ncol=3, markerscale=2)
    page.figure(f"{contender}: the first run of the step", figure, "step-" + slug(contender))


def upper(values, percent=99.5):
    """Returns the upper edge of a plot of these, ms, with room for a legend: the highest ones may lie outside."""
    values = values[~np.isnan(values)]
    return min(PLOT_MS, max(100, 1.4 * np.percentile(values, percent))) if values.size else PLOT_MS


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished.")
        return
    page.text("A contender is a transport with the default latency, with --latency 300 or with --low-latency. A gap is more "
              "than 100 ms without a new picture. A frame counts as at full or half rate if it was shown, or the frames "
              "before and after it. 50, 95 and 99 % are of the time from capture to shown. Use is relative to what both the "
              "link and the ladder allow, 5 to 7 s after a step. Waited is the share of the time that a thread waited for a "
              "core.")
    for cell in rows.cells():
        runs = [r["figures"] for r in run_rows if r["cell"] == cell]
        shown = [c for c in COLUMNS if any(f.get(c[0]) is not None for f in runs)]
        page.table(cell, ["contender", "runs", *(c[1] for c in shown)],
                   [[contender, len(rows.values(cell, contender, "shown")),
                     *(text(rows.mean(cell, contender, key, lambda v, s=scale: v * s), digits) for key, _, digits, scale in shown)]
                    for contender in rows.contenders(cell)], f"viewers-{cell.replace('%', '')}")
    goals = goals_of(rows)
    if goals:
        page.heading("Goals")
        page.text("Every run is to be within each bound; the figure is the worst run's.")
        for caption, headers, lines in goals:
            page.goals(caption, headers, lines, "goals-" + slug(caption))
    page.heading("Chrome's WebRTC")
    page.text("For comparison: libwebrtc M152 in the same conditions over another emulator, at most 1.9 Mbit/s, one or two "
              "runs per cell, VP8 at 640x360 unless it says 720p. Compare SSIM only with 720p.")
    page.table("Measured before", ["cell", "controller", "frames shown, %", "gaps", "50 / 95 / 99 %, ms", "SSIM"],
               CHROME, "chrome")
    if "step" in rows.cells():
        page.heading("The step")
        for contender in rows.contenders("step"):
            plot(rows, page, contender)
