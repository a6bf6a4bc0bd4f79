# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of what viewers saw under loss, and the bounds that Weir's repair is to meet, from the runs of repair.py."""
import numpy as np

from lab import chrome
from lab.report import canvas
from lab.rows import Rows, text

MARGIN_MS = 20  # decoding, and the wait for the display
ENCODE_MS = 10
NONE_PERCENT = 0.01  # what a logarithmic plot shows for no frame
PERIOD_S = 300  # long freezes are counted per five minutes

# Bounds by the kind of loss; the overhead is repair bytes over media bytes.
LOST_RESENT = {"2%": 0.001, "5%": 0.003, "bursts": 0.002}  # frames not shown, budget of at least 2.5 RTT
LOST_FEC = {"2%": 0.005, "5%": 0.01, "bursts": 0.01}  # frames not shown, less than that
LONG_FREEZES = {"2%": 0, "5%": 1, "bursts": 1}  # of more than 200 ms, in PERIOD_S
OVERHEAD_ROUNDS = {"2%": 0.036, "5%": 0.075, "bursts": 0.04}  # three or more rounds: 1.3 times the loss, and 1 %
OVERHEAD_LAST = {"2%": 0.054, "5%": 0.12, "bursts": 0.08}  # fewer: 2.2 times the loss, and 1 %
OVERHEAD_FEC = {"2%": 0.15, "5%": 0.25, "bursts": 0.2}

# The rate of a transport that obeys a TCP equation or window does not carry every level: of these, only the frames of the
# level that the viewer had count.
BY_LEVEL = ("tfrc", "mtp")


def same(value):
    return value


def percent(value):
    return value * 100


def rest_percent(value):
    return (1 - value) * 100


# Figure, header, digits, what is shown of it.
COLUMNS = [("shown", "not shown, %", 2, rest_percent), ("of_level", "of its level, %", 2, rest_percent), ("gaps", "gaps", 1, same),
           ("gap_s", "their s", 2, same), ("long_freezes", "> 200 ms", 1, same), ("p50_ms", "50 %, ms", 0, same),
           ("p95_ms", "95 %", 0, same), ("p99_ms", "99 %", 0, same), ("ssim", "SSIM", 4, same),
           ("frame_rate", "frames/s", 1, same), ("link_mbps", "link, Mbit/s", 2, same), ("overhead", "repair, %", 1, percent),
           ("resent", "resent", 0, same), ("duplicated", "copies", 0, same), ("fec_packets", "parities", 0, same),
           ("fec_recovered", "recovered", 0, same), ("invalidations", "invalidations", 0, same), ("waited", "waited", 3, same)]


def rounds(budget, rtt):
    """Returns how many retransmissions, one after the other, can arrive in time. A loss is noticed one RTT after the packet
    was sent, and a copy needs half of one more; each further one comes an RTT later."""
    first = ENCODE_MS + 1.5 * rtt
    return max(0, int((budget - MARGIN_MS - first) // rtt) + 1)


def bounds(loss, rtt, budget):
    """Returns (share of frames not shown, long freezes in five minutes, overhead), or None where there are no bounds."""
    if loss not in LOST_RESENT or budget == "auto":
        return None
    left = rounds(budget, rtt)
    overhead = OVERHEAD_FEC if left == 0 else OVERHEAD_ROUNDS if left >= 3 else OVERHEAD_LAST
    lost = LOST_RESENT if budget >= 2.5 * rtt else LOST_FEC
    return lost[loss], LONG_FREEZES[loss], overhead[loss]


def conditions(cell):
    """Returns (loss, RTT in ms, budget) of a cell's name."""
    loss, rtt, budget = cell.split("-")
    return loss, int(rtt.removesuffix("ms")), budget if budget == "auto" else int(budget)


def is_weir(contender):
    kind = contender.split(" ")[0]
    return kind not in ("srt", "rist", *chrome.KINDS)


def value(rows, cell, contender, key):
    estimate = rows.mean(cell, contender, key)
    return None if estimate is None else estimate.value


def verdict(found, limit, digits, unit="", scale=1.0):
    """Returns whether a figure is within its bound, as text."""
    if found is None:
        return "not measured"
    return f"{'met' if found <= limit + 1e-9 else 'missed'}: {found * scale:.{digits}f}{unit} (at most {limit * scale:g}{unit})"


def goals_of(rows, cell):
    """Returns the lines of the goals' table for the cell: contender, and a verdict on each bound."""
    limits = bounds(*conditions(cell))
    if limits is None:
        return []
    found = []
    for contender in rows.contenders(cell):
        if not is_weir(contender) or "repair=" in contender:
            continue
        by_level = contender.split(":")[0] in BY_LEVEL
        shown = value(rows, cell, contender, "of_level" if by_level else "shown")
        total = sum(v for v in rows.values(cell, contender, "long_freezes").values() if v is not None)
        seconds = sum(v for v in rows.values(cell, contender, "seconds").values() if v is not None)
        freezes = total * PERIOD_S / seconds if seconds else None
        found.append([cell, contender, verdict(None if shown is None else 1 - shown, limits[0], 2, " %", 100),
                      verdict(freezes, limits[1], 1),
                      verdict(value(rows, cell, contender, "overhead"), limits[2], 1, " %", 100)])
    return found


def overview_figure(rows, page):
    """Frames not shown against the 95th percentile of the latency, a plot a kind of loss and round-trip time."""
    where = {}
    for cell in rows.cells():
        loss, rtt, budget = conditions(cell)
        where.setdefault((rtt, loss), []).append((cell, budget))
    rtts, losses = (list(dict.fromkeys(key[i] for key in where)) for i in (0, 1))
    names = list(dict.fromkeys(c for cell in rows.cells() for c in rows.contenders(cell)))
    figure, axes = canvas(len(rtts), len(losses), width=3.6, height=3.0, sharey=True)
    for axis, (rtt, loss) in zip(axes.flat, ((rtt, loss) for rtt in rtts for loss in losses)):
        for cell, budget in where.get((rtt, loss), ()):
            for contender in rows.contenders(cell):
                p95, shown = (value(rows, cell, contender, k) for k in ("p95_ms", "shown"))
                if p95 is None or shown is None:
                    continue
                at = p95, max(NONE_PERCENT, (1 - shown) * 100)
                axis.plot(*at, "o" if is_weir(contender) else "s", markersize=4, color=f"C{names.index(contender) % 10}")
                axis.annotate(budget, at, fontsize=5, xytext=(3, 2), textcoords="offset points")
        axis.set(title=f"loss {loss}, RTT {rtt} ms", yscale="log", ylim=(NONE_PERCENT / 2, 120))
        axis.set_xlim(0, 1.1 * axis.get_xlim()[1])
    for axis in axes[-1]:
        axis.set_xlabel("capture to shown, 95 % ms")
    for row in axes:
        row[0].set_ylabel("frames not shown, %")
    for i, name in enumerate(names):
        axes[0][-1].plot([], [], "o" if is_weir(name) else "s", markersize=4, color=f"C{i % 10}", label=name)
    axes[0][-1].legend(loc="upper left", bbox_to_anchor=(1.02, 1), fontsize=7)
    page.figure(f"Latency and frames not shown ({NONE_PERCENT:g} %: none), with the budget: left and down is better", figure,
                "overview")


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished.")
        return
    shown = [c for c in COLUMNS if any(r["figures"].get(c[0]) is not None for r in run_rows)]
    page.text("The link carries 4 Mbit/s and loses packets towards the viewer; the cell's name has the loss, the round-trip "
              "time and the budget from capture to screen in ms. bursts: Gilbert-Elliott with p = 1 %, r = 25 %. "
              "Frames count against the source's 30 a second, and (of its level) against those of the level that the viewer had. "
              "A gap is more than 100 ms without a new picture; 50, 95 and 99 % are of the time from capture to shown; repair is "
              "relative to the media's bytes; waited is the share of the time that a thread waited for a core.")
    page.table("What viewers saw", ["cell", "contender", "runs", *(c[1] for c in shown)],
               [[cell, contender, len(rows.values(cell, contender, "shown")),
                 *(text(rows.mean(cell, contender, key, scaled), digits) for key, _, digits, scaled in shown)]
                for cell in rows.cells() for contender in rows.contenders(cell)], "viewers")
    goals = [line for cell in rows.cells() for line in goals_of(rows, cell)]
    if goals:
        page.heading("Goals")
        page.text(f"Bounds follow from how many retransmissions can arrive within the budget. Of {', '.join(BY_LEVEL)} "
                  "only the frames of the viewer's level count.")
        page.goals("Goals", ["cell", "contender", "frames not shown", "freezes > 200 ms in 5 minutes", "repair"], goals, "goals")
    overview_figure(rows, page)
    worst = np.max([r["figures"]["ssim_unknown"] for r in run_rows])
    page.text(f"Frames without a comparison of their own: {worst * 100:.1f} % at most.")
