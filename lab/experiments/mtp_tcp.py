# SPDX-License-Identifier: GPL-2.0-or-later
"""MTP compared with TCP Reno in simulation: figures 2 and 5 of Chung, Claypool and Kinicki 2005.

Figure 2: one flow, an RTT of 60 ms, 1.4 % lost. Figure 5: 25 flows, RTTs drawn from 140 to 480 ms, 10 % of the ACKs lost.
As in the paper a run is made once with MTP and again with TCP on the same seed: the same RTTs, the same place of each loss
in the sequence of packets. 1000-byte packets, 100 Mbit/s, an ACK per packet, a min RTO of 1 s.

Both count congestion avoidance as the paper's figures 1, 3 and 4 do, + 1 per window of ACKs: reno:count. The values of
reference/mtp-fig2-fig5.csv are ns-2's, whose Reno adds 1/cwnd per ACK: reno.

The paper does not say whether a replacement's round trip may be measured. Here, as in ns-2's Reno, one packet per round trip is
timed, but neither Reno's retransmission nor MTP's replacement: a timeout stays backed off until a packet beyond them is
acknowledged. With timestamps, as in Linux's TCP and in the programs, every ACK is timed and the first ends the backoff:
reno:ts, mtp:ts. Each variant of MTP is compared with the same variant of Reno.
"""
import csv
import os
import random

import numpy as np

from lab import stats
from lab.experiment import Cell, Experiment, Stand, kept_path
from lab.report import canvas
from lab.rows import Rows, text
from lab.simulate import simulate

KINDS = {"mtp": "mtp:mode=strict", "mtp:ts": "mtp:mode=strict,ts=1", "mtp:fill": "mtp:mode=fill",
         "mtp:resend": "mtp:mode=resend",
         "reno:count": "reno:ca=count,delack=0s", "reno:ts": "reno:ca=count,ts=1,delack=0s", "reno": "reno:delack=0s"}
RENO_OF = {"mtp": "reno:count", "mtp:fill": "reno:count", "mtp:resend": "reno:count", "mtp:ts": "reno:ts"}
PAPERS = (Stand("mtp", "MTP (II)", "empty replacements if there is no data"),
          Stand("reno:count", "Reno as figures 1, 3 and 4 count (II)"), Stand("reno", "Reno of ns-2 (figures 2 and 5)"))
FIG2 = "figure-2"
WITHIN = {"figure-2": 0.02, "figure-5": 0.03}
REFERENCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference", "mtp-fig2-fig5.csv")


def figure_of(cell):
    return "-".join(cell.split("-")[:2])


def rtts_of(seed, flows):
    """Milliseconds: Figure 2's, or Figure 5's of this run."""
    if flows == 1:
        return [60]
    draw = random.Random(seed)
    return [round(draw.uniform(140, 480), 3) for _ in range(flows)]


def one(context):
    os.makedirs(context.directory, exist_ok=True)
    p, seconds = context.cell.params, context.experiment.options["seconds"]
    # One at a time, so that no two flows stay synchronized.
    groups = [f"{KINDS[context.contender]},rtt={rtt}ms,size=1000B,start={k * 37}ms"
              for k, rtt in enumerate(rtts_of(context.seed, p["flows"]))]
    back = "rate=100mbit" + (f",loss={p['back']:g}%" if p["back"] else "")
    keep = context.run == 0 and p["flows"] == 1
    series = os.path.join(context.directory, "series.csv") if keep else None
    done = simulate(context.build, context.seed, seconds, "--link", f"rate=100mbit,loss={p['loss']:g}%", "--back", back,
                    *groups, series=series, step=0.1)
    if keep:
        sent = np.diff([int(row["sent_bytes"]) for row in done.series][:601]) * 8e-5
        np.savez_compressed(context.kept("npz"), mbps=sent)
        os.unlink(series)
    flows = done.all("flow")
    total = lambda key: sum(f[key] or 0 for f in flows)  # noqa: E731
    return {"goodput_mbps": total("goodput_bps") / 1e6, "sent_mbps": total("sent_bps") / 1e6,
            "timeouts_per_37s": total("timeouts") * 37 / seconds,
            "recoveries_per_37s": total("fast_retransmits") * 37 / seconds,
            "loss": total("dropped") / total("sent_packets")}


def reference(cell):
    """ns-2's Reno in the conditions of the cell, or None."""
    with open(REFERENCE, encoding="ascii", newline="") as f:
        for row in csv.DictReader(f):
            like = tuple(row[k] for k in ("tcp", "delack", "minrto_s", "window", "pkt_B"))
            if like != ("Reno", "0", "1", "10000", "1000"):
                continue
            if cell == (FIG2 if row["fig"] == "Fig2" else f"figure-5-{float(row['p_f']):.2f}"):
                return row
    return None


def band(row, ours):
    """The allowed difference of two simulators: 5 %, or twice the standard error of the difference of the means."""
    mean = float(row["goodput_mbps"])
    theirs = float(row["goodput_mbps_sd"]) ** 2 / int(row["n"])
    own = float(np.var(ours, ddof=1)) / len(ours) if len(ours) > 1 else 0.0
    return max(0.05 * mean, 2 * (theirs + own) ** 0.5)


def goals(rows):
    for cell in rows.cells():
        within = WITHIN[figure_of(cell)]
        for contender, reno in RENO_OF.items():
            ratio = stats.paired_ratio(*(rows.values(cell, c, "goodput_mbps") for c in (contender, reno)))
            if ratio:
                yield [cell, contender, f"throughput over {reno}'s", f"within {within:.0%}",
                       f"{'met' if abs(ratio.value - 1) <= within else 'missed'}: {ratio.text(3)}"]
        row, ours = reference(cell), list(rows.values(cell, "reno", "goodput_mbps").values())
        if row and ours:
            off, most = float(np.mean(ours)) - float(row["goodput_mbps"]), band(row, ours)
            yield [cell, "reno", "throughput, Mbit/s, beside ns-2's", f"{row['goodput_mbps']} +- {most:.3f}",
                   f"{'met' if abs(off) <= most else 'missed'}: {np.mean(ours):.3f}"]


def series_figure(page):
    found = []
    for contender in ("mtp", "reno:count"):
        path = kept_path(page.directory, FIG2, contender, 0, "npz")
        if os.path.exists(path):
            with np.load(path) as kept:
                found.append((contender, kept["mbps"]))
    if not found:
        return
    figure, axes = canvas(1, 1, width=9)
    for contender, mbps in found:
        axes[0][0].plot(np.arange(len(mbps)) / 10, mbps, label=contender)
    axes[0][0].set(xlabel="time, s", ylabel="sent in 100 ms, Mbit/s")
    axes[0][0].legend()
    page.figure("Figure 2: one flow, the same losses, sent in each 100 ms of the first minute", figure, "figure-2")


def loss_figure(rows, page):
    cells = [c for c in rows.cells() if c != FIG2]
    if not cells:
        return
    figure, axes = canvas(1, 1, width=6)
    for contender in rows.contenders(cells[0]):
        means = [rows.mean(c, contender, "goodput_mbps") for c in cells]
        axes[0][0].plot([float(c.rsplit("-", 1)[1]) for c in cells], [m.value if m else np.nan for m in means], "o-",
                        markersize=4, label=contender)
    axes[0][0].set(xlabel="forward loss", ylabel="25 flows together, Mbit/s", ylim=(0, None))
    axes[0][0].legend()
    page.figure("Figure 5: aggregate throughput", figure, "figure-5")


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished yet.")
        return
    table = list(goals(rows))
    page.heading("Goals")
    page.text("Throughput: packets delivered, in order for "
              "TCP, at once for MTP; each counts once. What is sent counts all of them, also what the receiver had: after a "
              "timeout Reno goes back and sends some of it again, MTP does not (II-B). There, and in little else, they differ.")
    page.goals("Goals", ["cell", "contender", "what", "goal", "result"], table, "goals")
    keys = [("goodput_mbps", "throughput", 3), ("sent_mbps", "sent", 3), ("timeouts_per_37s", "timeouts in 37 s", 1),
            ("recoveries_per_37s", "fast recoveries in 37 s", 1), ("loss", "loss", 4)]
    page.heading("Figures")
    page.table("Beside Reno, Mbit/s", ["cell", "contender", *(h for _, h, _ in keys)],
               [[cell, contender, *(text(rows.mean(cell, contender, k), d) for k, _, d in keys)]
                for cell in rows.cells() for contender in rows.contenders(cell)], "figures")
    series_figure(page)
    loss_figure(rows, page)


def check(rows):
    """Checks the goals, for the exit code."""
    return [f"{g[0]} {g[1]}: {g[2]}: {g[-1]}; {g[3]} expected" for g in goals(Rows(rows)) if g[-1].startswith("missed")]


def experiment(quick, _options):
    cells = [Cell(FIG2, {"flows": 1, "loss": 1.4, "back": 0})]
    cells += [Cell(f"figure-5-{loss / 100:.2f}", {"flows": 25, "loss": loss, "back": 10}) for loss in (1, 5, 10)]
    if quick:
        return Experiment("mtp_tcp", "MTP beside TCP Reno (quick)", cells[:2],
                          ["mtp", "mtp:ts", "reno:count", "reno:ts", "reno"], one, write, runs=3, seconds=0.5,
                          options={"seconds": 500}, papers=PAPERS, judged=(".",))
    return Experiment("mtp_tcp", "MTP beside TCP Reno", cells, list(KINDS), one, write, runs=10, seconds=0.5,
                      options={"seconds": 1000}, papers=PAPERS)
