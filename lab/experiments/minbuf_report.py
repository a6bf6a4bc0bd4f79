# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables 1-3, figures 2-10 of the paper and the goals, from the runs of minbuf.py. Cells without runs are left out."""
import json
import os

import numpy as np

from lab import stats
from lab.experiment import kept_path
from lab.report import canvas
from lab.rows import Rows, text
from lab.stats import LogHistogram

CONTENDERS = ["tcp", "minbuf:1,0", "minbuf:1,3", "minbuf:2,0", "minbuf:auto,20", "tcp:notsent=16384"]
GIGABIT = "gigabit"  # cells of the third set (minbuf_gigabit.py) have this name, or with "-tso" behind it
# Section 4.1: when each kind of cross traffic starts and stops, in seconds.
SCHEDULE = {"elephants": 5, "mice": 20, "cbr": 40, "elephants_stop": 60, "rest_stop": 75, "end": 80}

RTTS = (100, 50, 25)
HAND_SET = ("minbuf:1,0", "minbuf:1,3", "minbuf:2,0")
NAMES = {"tcp": "std", "minbuf:1,0": "m10", "minbuf:1,3": "m13", "minbuf:2,0": "m20"}

# Tables 1, 2 and 3: {(Mbit/s, type): {RTT: (D200, D500, mean ms and its 95 %, normalised throughput and its 95 %)}}.
PUBLISHED = {
    (30, "std"): {100: (.73, .91, 226.31, .87, 1, 0), 50: (.72, .92, 218.84, 40.34, 1, 0),
                  25: (.84, .94, 138.61, 21.0, 1, 0)},
    (30, "m10"): {100: (.99, 1, 62.91, .96, .66, .11), 50: (.99, 1, 37.09, .80, .71, .08),
                  25: (1, 1, 19.71, .89, .76, .10)},
    (30, "m13"): {100: (.98, 1, 76.19, 2.71, .96, .12), 50: (.99, .99, 51.54, 3.73, .87, .08),
                  25: (.99, 1, 28.29, 1.70, .92, .12)},
    (30, "m20"): {100: (.91, .99, 152.14, 9.13, 1.02, .18), 50: (.97, .99, 89.74, 5.32, 1.13, .36),
                  25: (.99, 1, 48.21, 2.19, .91, .10)},
    (12, "std"): {100: (.53, .80, 369.22, 50.32, 1, 0), 50: (.62, .88, 260.27, 23.15, 1, 0),
                  25: (.60, .86, 296.25, 47.49, 1, 0)},
    (12, "m10"): {100: (.98, 1, 69.73, 2.15, .67, .09), 50: (.99, 1, 38.50, 1.09, .76, .05),
                  25: (.99, 1, 25.94, 1.80, .89, .11)},
    (12, "m13"): {100: (.95, .99, 91.42, 6.81, .92, .15), 50: (.99, 1, 49.17, 2.03, 1.06, .09),
                  25: (.98, 1, 39.08, 3.39, 1.08, .22)},
    (12, "m20"): {100: (.86, .99, 162.26, 6.06, 1.13, .16), 50: (.97, .99, 87.90, 1.46, 1.08, .14),
                  25: (.98, .99, 61.31, 5.59, 1.12, .17)},
}


def parse(cell):
    """"30mbit-100ms-1bdp-reno" -> (30, 100, "1bdp", "reno")"""
    mbit, rtt, queue, cc = cell.split("-")
    return int(mbit.removesuffix("mbit")), int(rtt.removesuffix("ms")), queue, cc


def mice_goal(queue):
    """The part of the bandwidth that mice get: sections 4.1, and 4.4 with ECN."""
    return 0.5 if queue == "dred" else 0.3


def published(cell, contender):
    """The paper's values for a cell, or None. It ran Reno behind drop-tail; its ECN runs have figures only."""
    mbit, rtt, queue, cc = parse(cell)
    if cc not in ("reno", "reno2002") or queue != "0.25bdp":
        return None
    return PUBLISHED.get((mbit, NAMES.get(contender)), {}).get(rtt)


def _ordered(rows):
    for cell in rows.cells():
        for contender in sorted(rows.contenders(cell), key=CONTENDERS.index):
            yield cell, contender


def tables(rows, page):
    page.heading("Latency and throughput")
    page.text("Beside the paper's values for drop-tail and Reno (it does not print its queue lengths) stand this "
              "lab's. NT: throughput over that of tcp in the paired runs of the cell.")
    one, two, three = [], [], []
    for cell, contender in _ordered(rows):
        paper = published(cell, contender)
        runs = len(rows.values(cell, contender, "d200"))
        one.append([cell, contender, runs, paper and f"{paper[0]:.2f}", text(rows.mean(cell, contender, "d200"), 3),
                    paper and f"{paper[1]:.2f}", text(rows.mean(cell, contender, "d500"), 3)])
        two.append([cell, contender, runs, paper and f"{paper[2]:.1f} ± {paper[3]:.1f}",
                    text(rows.mean(cell, contender, "mean_ms"), 1), text(rows.mean(cell, contender, "p95_ms"), 1),
                    text(rows.mean(cell, contender, "queue_delay_ms"), 1)])
        throughput = rows.values(cell, contender, "throughput_bps")
        base = rows.values(cell, "tcp", "throughput_bps")
        ratio = stats.paired_ratio(throughput, base)
        apart = stats.paired_difference({k: v / 1e6 for k, v in throughput.items() if v is not None},
                                        {k: v / 1e6 for k, v in base.items() if v is not None})
        mbps = stats.mean(v / 1e6 for v in throughput.values() if v is not None)
        three.append([cell, contender, runs, paper and f"{paper[4]:.2f} ± {paper[5]:.2f}", text(ratio, 2),
                      text(mbps, 2), "" if contender == "tcp" else text(apart, 2)])
    page.table("Table 1: fraction delivered within 200 and 500 ms",
               ["cell", "contender", "runs", "D200 paper", "D200", "D500 paper", "D500"], one, "table-1")
    page.table("Table 2: protocol latency, ms",
               ["cell", "contender", "runs", "mean paper", "mean", "95th percentile", "link queue, mean"], two,
               "table-2")
    page.table("Table 3: normalised throughput",
               ["cell", "contender", "runs", "NT paper", "NT", "Mbit/s", "Mbit/s more than tcp"], three, "table-3")


def link_table(rows, page):
    page.heading("The link and the cost")
    out = []
    for cell, contender in _ordered(rows):
        figure = {key: rows.mean(cell, contender, key) for key in
                  ("utilisation", "link_drops", "link_marks", "flow_drops", "flow_marks", "cpu_s_per_gbit")}
        out.append([cell, contender, text(figure["utilisation"], 3),
                    *(text(figure[k], 0) for k in ("link_drops", "link_marks", "flow_drops", "flow_marks")),
                    text(figure["cpu_s_per_gbit"], 2)])
    page.table("Link and processing", ["cell", "contender", "utilisation while the elephants run", "drops", "marks",
                                       "flow's drops", "flow's marks", "CPU s a Gbit, both ends"], out, "link")


def qualities(rows, cell, contender, share):
    """Section 4.2: the product of D200 or D500 (the share that arrives within so many ms) and the throughput, in Mbit/s, as
    {run: value}."""
    shares, bps = rows.values(cell, contender, share), rows.values(cell, contender, "throughput_bps")
    return {run: d * bps[run] / 1e6 for run, d in shares.items() if d is not None and bps[run] is not None}


def quality(rows, cell, contender):
    mean = stats.mean(qualities(rows, cell, contender, "d200").values())
    return mean.value if mean else None


def quality_table(rows, page):
    out = []
    for cell, contender in _ordered(rows):
        line = [cell, contender]
        for share in ("d200", "d500"):
            own, base = (qualities(rows, cell, c, share) for c in (contender, "tcp"))
            line += [text(stats.mean(own.values()), 2), text(stats.paired_ratio(own, base), 2)]
        out.append(line)
    page.table("D x throughput (section 4.2), Mbit/s, and over tcp's in the paired runs",
               ["cell", "contender", "D200 x throughput", "over tcp's", "D500 x throughput", "over tcp's"], out, "quality")


def mice_table(rows, page):
    out = []
    for cell in rows.cells():
        shares, counts = ([v for c in rows.contenders(cell) for v in rows.values(cell, c, key).values() if v is not None]
                          for key in ("mice_share", "mice"))
        if shares:
            share = stats.mean(shares)
            out.append([cell, mice_goal(parse(cell)[2]), ", ".join(map(str, sorted(set(counts)))), text(share, 3),
                        "yes" if abs(share.value - mice_goal(parse(cell)[2])) <= 0.1 else "no"])
    if out:
        page.heading("The mice")
        page.text("What the mice got of the bandwidth, from 5 s after their start until the elephants end. Their number is "
                  "tuned once a cell, without the flow under test and without CBR (the quick version does not tune). "
                  "Paper: 80 mice in all, about 30 %, and 50 % with ECN.")
        page.table("Share of the mice", ["cell", "goal", "mice", "share", "within 0.1"], out, "mice")


def gigabit(rows, page):
    """The third set of experiments (section 3.1), which the paper announces."""
    out = []
    for cell in rows.cells():
        for contender in rows.contenders(cell):
            mbps = rows.mean(cell, contender, "gigabit_bps", lambda bps: bps / 1e6)
            ratio = stats.paired_ratio(rows.values(cell, contender, "gigabit_bps"), rows.values(cell, "tcp", "gigabit_bps"))
            out.append([cell, contender, len(rows.values(cell, contender, "gigabit_bps")), text(mbps, 0), text(ratio, 2),
                        *(text(rows.mean(cell, contender, key), 2) for key in
                          ("core_busy", "core_s_per_gbit", "waits_per_mbyte"))])
    if out:
        page.heading("Processing overhead")
        page.text("The paper's third set of experiments (section 3.1): a network faster than the sender's CPU. A veth pair, "
                  "the sender on core 0, a receiver that discards on core 1. The core's time includes interrupts, and the "
                  "kernel's part of receiving, which a veth does in the sender's time. With tso the kernel hands over "
                  "segments of up to 64 KB, else single packets.")
        page.table("Overhead with the sender's core full", ["cell", "contender", "runs", "Mbit/s", "over tcp's",
                   "core busy", "core s a Gbit", "waits for events a MB"], out, "overhead")


def goals_of(rows, cell):
    """[(goal, contender, bound, number, met)] for what was run of a cell."""
    _, rtt, queue, _ = parse(cell)
    out = []
    for contender in rows.contenders(cell):
        mean, delay = rows.mean(cell, contender, "mean_ms"), rows.mean(cell, contender, "queue_delay_ms")
        factor = {"minbuf:1,0": 1.1, "minbuf:1,3": 1.4}.get(contender)
        if factor and mean and delay:
            ratio = mean.value / (rtt / 2 + delay.value)
            out.append(("mean latency over one-way delay + queue delay", contender, f"<= {factor}", ratio,
                        ratio <= factor))
        if contender.startswith("minbuf"):
            d500 = rows.mean(cell, contender, "d500")
            if d500:
                out.append(("D500", contender, ">= 0.99", d500.value, d500.value >= 0.99))
            ratio = stats.paired_ratio(rows.values(cell, contender, "throughput_bps"),
                                       rows.values(cell, "tcp", "throughput_bps"))
            if ratio:
                out.append(("throughput over tcp's", contender, ">= 0.95", ratio.value, ratio.value >= 0.95))
        d200 = rows.mean(cell, contender, "d200")
        if contender == "minbuf:1,0" and queue == "0.25bdp" and d200:
            out.append(("D200", contender, ">= 0.97", d200.value, d200.value >= 0.97))
    best = [q for q in (quality(rows, cell, c) for c in HAND_SET) if q]
    own = quality(rows, cell, "minbuf:auto,20")
    if own is not None and best:
        out.append(("D200 x throughput over the best hand-set one's", "minbuf:auto,20", ">= 0.9", own / max(best),
                    own / max(best) >= 0.9))
    return out


def goals(rows, page):
    page.heading("Goals")
    out = [[cell, goal, contender, bound, f"{'met' if met else 'missed'}: {number:.3f}"]
           for cell in rows.cells() for goal, contender, bound, number, met in goals_of(rows, cell)]
    if out:
        page.goals("Goals", ["cell", "what", "contender", "goal", "result"], out, "goals")


def longest_queue_ms(cell):
    """Returns the max time of a packet in the queue of this cell: its limit divided by the rate."""
    _, rtt, queue, _ = parse(cell)
    # minbuf.queue_text: DRED drops all packets beyond two bandwidth-delay products.
    return rtt * (2 if queue == "dred" else float(queue.removesuffix("bdp")))


def waiting(rows, page):
    """A packet that takes longer than the one-way delay and the whole queue did not wait only in the queue: it or an
    earlier one was lost and retransmitted, or it waited in the send buffer."""
    page.heading("What the latency is made of")
    page.text("Floor: one-way delay and the queue delay that the flow's own packets met, mean. A packet that was not "
              "lost, behind none that was, and not held back by its sender takes the one-way delay and the full queue's "
              "delay at the most (limit); those beyond waited for a retransmission or in the send buffer.")
    mids = LogHistogram.edges() * 10 ** (-0.5 / LogHistogram.PER_DECADE)
    out = []
    for cell, contender in _ordered(rows):
        counts = np.sum([b for b in rows.values(cell, contender, "latency_bins").values() if b], axis=0)
        mean, delay = rows.mean(cell, contender, "mean_ms"), rows.mean(cell, contender, "queue_delay_ms")
        if not mean or not delay or not np.sum(counts):
            continue
        one_way = parse(cell)[1] / 2
        limit = one_way + longest_queue_ms(cell)
        within = LogHistogram.edges() <= limit
        rest = np.sum(counts[within] * mids[within]) / max(1, np.sum(counts[within]))
        floor = one_way + delay.value
        out.append([cell, contender, f"{floor:.1f}", f"{mean.value:.1f}", f"{mean.value / floor:.2f}", f"{limit:.0f}",
                    f"{np.sum(counts[~within]) / np.sum(counts):.3f}", f"{rest:.1f}", f"{rest / floor:.2f}"])
    page.table("Packets that waited for more than the network's own delay, ms",
               ["cell", "contender", "floor", "mean", "over floor", "limit", "beyond the limit", "mean of the others",
                "over floor"], out, "waiting")


def _series(page, cell, contender, kind="npz"):
    path = kept_path(page.directory, cell, contender, 0, kind)
    return np.load(path) if os.path.exists(path) else None


def phases(page, rows):
    """The late packets in each phase of the schedule, in each cell's first run."""
    when = SCHEDULE
    bounds = [0, when["elephants"], when["mice"], when["cbr"], when["elephants_stop"], when["end"] + 20]
    names = ["alone", "elephants", "and mice", "and CBR", "without elephants"]
    out = []
    for cell, contender in _ordered(rows):
        series = _series(page, cell, contender)
        if series is None or not contender.startswith("minbuf"):
            continue
        received, latency = series["received"], series["latency"]
        line = [cell, contender]
        for low, high in zip(bounds, bounds[1:]):
            within = (received >= low) & (received < high)
            count = np.count_nonzero(within)
            line.append(f"{np.count_nonzero(latency[within] > 200)} of {count}, {latency[within].mean():.0f} ms"
                        if count else "-")
        out.append(line)
    if out:
        page.table("Later than 200 ms, and mean latency, by phase of the schedule; run 0", ["cell", "contender", *names],
                   out, "phases")


def profile(page, rows, cell, caption, name):
    """Figures 2 and 7: bandwidth of the cross traffic."""
    contender = next((c for c in rows.contenders(cell)), None)
    path = kept_path(page.directory, cell, contender, 0, "json") if contender else ""
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as f:
        kinds = json.load(f)
    figure, axes = canvas(width=8)
    for kind, seconds in sorted(kinds.items()):
        times = sorted(int(s) for s in seconds)
        axes[0][0].plot(times, [seconds[str(t)] / 1e6 for t in times], label=kind)
    axes[0][0].set(xlabel="time, s", ylabel="Mbit/s", xlim=(0, None), ylim=(0, None))
    axes[0][0].legend()
    page.figure(f"{caption} ({cell})", figure, name)


def against_time(page, cell, contenders, caption, name, top=None):
    """Figures 3, 4, 8 and 9: protocol latency of each packet against its receive time."""
    found = [(c, s) for c in contenders if (s := _series(page, cell, c)) is not None]
    if not found:
        return
    figure, axes = canvas(1, len(found), width=4.2, sharey=True)
    for axis, (contender, series) in zip(axes[0], found):
        axis.plot(series["received"], series["latency"], ".", markersize=1.5, rasterized=True)
        for threshold in (200, 500):
            axis.axhline(threshold, color="k", linewidth=0.6, linestyle="--")
        axis.set(title=contender, xlabel="receive time, s", ylim=(0, top))
    axes[0][0].set_ylabel("protocol latency, ms")
    page.figure(f"{caption} ({cell})", figure, name)


def distribution(rows, page, queue, cc, caption, name):
    """Figures 5 and 10: the distribution over all runs, a panel for each bandwidth and RTT."""
    cells = {parse(c)[:2]: c for c in rows.cells() if parse(c)[2:] == (queue, cc)}
    if not cells:
        return
    rates = sorted({mbit for mbit, _ in cells}, reverse=True)
    rtts = [r for r in RTTS if any(r == rtt for _, rtt in cells)]
    figure, axes = canvas(len(rates), len(rtts), width=4.2, sharey=True)
    for (mbit, rtt), cell in cells.items():
        axis = axes[rates.index(mbit)][rtts.index(rtt)]
        for _, contender in (pair for pair in _ordered(rows) if pair[0] == cell):
            counts = np.sum([b for b in rows.values(cell, contender, "latency_bins").values() if b], axis=0)
            axis.plot(LogHistogram.edges(), LogHistogram.cdf(counts), label=contender)
        for threshold in (200, 500):
            axis.axvline(threshold, color="k", linewidth=0.6, linestyle="--")
        axis.set(title=f"{mbit} Mbit/s, {rtt} ms", xscale="log", xlim=(5, 2e4), ylim=(0, 1.02))
        axis.set_xlabel("protocol latency, ms")
    axes[0][0].legend(fontsize=7)
    axes[0][0].set_ylabel("fraction of packets")
    page.figure(caption, figure, name)


def windows(axis, series, middle):
    """The third panel of figure 6: latency follows losses, not cwnd. Transmissions in packets a 100 ms."""
    near = (series["out"] > middle - 5) & (series["out"] < middle + 5)
    out, again = series["out"][near], series["again"][near]
    bins = np.arange(middle - 5, middle + 5.1, 0.1)
    axis.step(bins[:-1], np.histogram(out[~again], bins)[0], where="post", label="transmissions in 100 ms")
    axis.plot(out[again], np.zeros(np.count_nonzero(again)), "r^", markersize=6, label="retransmission")
    shown = (series["window_at"] > middle - 5) & (series["window_at"] < middle + 5)
    axis.plot(series["window_at"][shown], series["window"][shown], "k-", linewidth=1, label="cwnd")
    axis.set(ylabel="packets", ylim=(0, None))
    axis.legend(fontsize=7)


def parts(page, cell, contender):
    """Figure 6: where each packet waits, for the ten seconds around its worst second."""
    series = _series(page, cell, contender, "parts.npz")
    if series is None:
        return
    sent, read, written = series["sent"], series["read"], series["written"]
    middle = sent[np.argmax(read - written)]
    chosen = (sent > middle - 5) & (sent < middle + 5)
    figure, axes = canvas(3, 1, width=9, height=2.7, sharex=True)
    curves = {"total": (0, read - written), "network": (0, series["arrived"] - sent), "sender": (1, sent - written),
              "receiver": (1, read - series["arrived"])}
    for label, (row, values) in curves.items():
        axes[row][0].plot(sent[chosen], values[chosen] * 1e3, ".", markersize=2, label=label)
    for row in (0, 1):
        axes[row][0].set(ylabel="ms", ylim=(0, None))
        axes[row][0].legend(markerscale=4)
    windows(axes[2][0], series, middle)
    axes[2][0].set_xlabel("transmission time, s")
    page.figure(f"Figure 6: delay of each packet at the sender, in the network and at the receiver; transmissions, "
                f"retransmissions and cwnd ({cell}, {contender}). Sent: when it first entered the link; arrived: when it "
                "first left it.", figure, "figure-6")
    out = [[label, *(f"{x * 1e3:.2f}" for x in (values.mean(), *np.percentile(values, (50, 95, 99)), values.max()))]
           for label, (_, values) in curves.items()]
    page.table(f"Delay of {sent.size} packets, ms", ["part", "mean", "median", "95 %", "99 %", "largest"], out,
               "figure-6")


def write(run_rows, page):
    if not run_rows:
        page.text("No run has finished yet.")
        return
    of_cost = [row["cell"].startswith(GIGABIT) for row in run_rows]
    gigabit(Rows([row for row, cost in zip(run_rows, of_cost) if cost]), page)
    if all(of_cost):
        return
    rows = Rows([row for row, cost in zip(run_rows, of_cost) if not cost])
    goals(rows, page)
    tables(rows, page)
    quality_table(rows, page)
    waiting(rows, page)
    phases(page, rows)
    link_table(rows, page)
    mice_table(rows, page)
    page.heading("Figures")
    plain, ecn = "30mbit-100ms-0.25bdp-reno", "30mbit-100ms-dred-reno"
    profile(page, rows, plain, "Figure 2: bandwidth profile of the cross traffic", "figure-2")
    against_time(page, plain, ("tcp", "minbuf:1,0"), "Figure 3: protocol latencies", "figure-3")
    against_time(page, plain, HAND_SET, "Figure 4: protocol latencies of MIN_BUF", "figure-4", 500)
    distribution(rows, page, "0.25bdp", "reno", "Figure 5: distribution of protocol latency, drop-tail, all runs",
                 "figure-5")
    parts(page, plain, "minbuf:1,0")
    profile(page, rows, ecn, "Figure 7: bandwidth profile of the cross traffic, ECN", "figure-7")
    against_time(page, ecn, ("tcp", "minbuf:1,0"), "Figure 8: protocol latencies with ECN", "figure-8")
    against_time(page, ecn, HAND_SET, "Figure 9: protocol latencies of MIN_BUF with ECN", "figure-9", 500)
    distribution(rows, page, "dred", "reno", "Figure 10: distribution of protocol latency, ECN and DRED, all runs",
                 "figure-10")
    others = sorted({parse(c)[2:] for c in rows.cells()} - {("0.25bdp", "reno"), ("dred", "reno")})
    for queue, cc in others:
        distribution(rows, page, queue, cc, f"Distribution of protocol latency: queue {queue}, {cc}, all runs",
                     f"distribution-{queue}-{cc}")
