# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures 5 and 7-19 of the paper, its claims and an independent simulation's rows, compared with the runs of psp.py."""
import csv
import os
from dataclasses import dataclass

import numpy as np

from lab import stats
from lab.experiment import kept_path
from lab.report import canvas
from lab.rows import Rows, text

REFERENCE = os.path.join(os.path.dirname(__file__), "reference")
# Numbers in the paper's text: {cell: {spacing: {figure: value}}}.
PUBLISHED = {
    "16": {0: {"sent_mbps": 100, "received_mbps": 10, "loss": 0.90}},
    "16-tcp20": {1000: {"received_mbps": 11, "loss": 0}, 1050: {"received_mbps": 11, "loss": 0}},
    "16-tcp800": {5000: {"received_mbps": 2.23, "tcp_mbps": 6.57}},
}
PUBLISHED_TCP20_MOST = 2.7
PUBLISHED_KEPT = (1540.6, 64.75)
PUBLISHED_DAMPING = 1.10
ADAPTIVE = ("psp", "psp-plain")
SWEEPS = ("1", "16", "16-tcp20", "16-tcp800")


@dataclass(frozen=True)
class Goal:
    """A goal and its result."""
    name: str
    what: str
    bound: str
    number: str
    met: bool


def expected_loss(us, n=16):
    """The mean loss over agents with random phases: the excess over 155 Mbit/s."""
    return max(0.0, 1 - 155 / (n * 12000 / (120 + us)))


def reference(name):
    with open(os.path.join(REFERENCE, name), encoding="ascii", newline="") as f:
        return list(csv.DictReader(f))


def spacings(rows, cell):
    return sorted(int(c.removesuffix("us")) for c in rows.contenders(cell) if c.endswith("us"))


def value(rows, cell, us, key):
    e = rows.mean(cell, f"{us}us", key)
    return None if e is None else e.value


def reference_of(cell):
    """{spacing: {figure: value}} of ns-2's rows for a sweep."""
    if cell == "16":
        return {int(r["spacing_us"]): {"sent_mbps": float(r["sent_avg"]), "received_mbps": float(r["recv_avg"]),
                                       "loss": float(r["loss_avg"])} for r in reference("psp-16.csv")}
    names = {"psa_sent": "sent_mbps", "psa_recv": "received_mbps", "psa_loss": "loss", "tcp_goodput": "tcp_mbps",
             "tcp_goodput_sd": "tcp_mbps_sd"}
    return {int(r["spacing_us"]): {to: float(r[of]) for of, to in names.items() if r[of]}
            for r in reference("psp-16-tcp.csv") if f"16-tcp{r['tcp_window']}" == cell}


def alike(key, ours, row):
    """The bands within which two engines agree: 2 % of throughput (or three of its deviations where the row has one),
    20 % of loss (or half a percent of packets)."""
    theirs = row[key]
    band = max(0.2 * theirs, 0.005) if key == "loss" else max(0.02 * theirs, 3 * row.get(key + "_sd", 0))
    return abs(ours - theirs) <= band


def reference_goals(rows, cell):
    for key in ("received_mbps", "loss", "tcp_mbps"):
        pairs = [(us, value(rows, cell, us, key), row) for us, row in reference_of(cell).items() if key in row]
        pairs = [p for p in pairs if p[1] is not None]
        if not pairs:
            continue
        off = [(us, a, row[key]) for us, a, row in pairs if not alike(key, a, row)]
        texts = ", ".join(f"{us} us {a:.4g} for {b:.4g}" for us, a, b in off)
        bound = {"loss": "within 20 % or 0.005", "tcp_mbps": "within 2 % or 3 sd"}.get(key, "within 2 %")
        yield Goal("reference", f"{cell}: {key} as in ns-2", bound,
                   f"{len(pairs) - len(off)} of {len(pairs)} rows" + (f"; {texts}" if off else ""), not off)


def claim(rows, cell):
    """Conclusion of the paper: loss cut by more than half at undiminished throughput against spacing 0."""
    base, loss0 = value(rows, cell, 0, "received_mbps"), value(rows, cell, 0, "loss")
    if base is None or not loss0:
        return None
    good = [us for us in spacings(rows, cell) if value(rows, cell, us, "received_mbps") >= 0.99 * base]
    best = min(good, key=lambda us: value(rows, cell, us, "loss"))
    loss, received = value(rows, cell, best, "loss"), value(rows, cell, best, "received_mbps")
    return Goal("cut", f"{cell} agents: loss over that at spacing 0, at 99 % of its throughput or more", "< 0.5",
                f"{loss / loss0:.3f} at {best} us ({loss:.4f} for {loss0:.4f}, {received:.2f} for {base:.2f} Mbit/s)",
                loss < 0.5 * loss0)


def kept_goals(rows, cell):
    mean, deviation = rows.mean(cell, "1500us", "kept_us"), rows.mean(cell, "1500us", "kept_sd_us")
    if mean:
        yield Goal("kept", f"{cell}: spacing of 1500 us at the receiver (published {PUBLISHED_KEPT[0]})",
                   "within 5 % of 1500", f"{mean.value:.1f} us", abs(mean.value - 1500) <= 75)
        yield Goal("kept", f"{cell}: its standard deviation (published {PUBLISHED_KEPT[1]})", "<= 150 us",
                   f"{deviation.value:.1f} us", deviation.value <= 150)


def sweep_goals(rows):
    alone = [(us, value(rows, "1", us, "received_mbps") / value(rows, "1", us, "sent_mbps"),
              value(rows, "1", us, "loss")) for us in spacings(rows, "1")]
    if alone:
        # Packets in flight at the end were sent and did not arrive: 42 ms of the run.
        yield Goal("alone", "one agent: received over sent, and loss (figure 7)", ">= 0.999, 0",
                   f"{min(r for _, r, _ in alone):.5f}, {max(l for *_, l in alone):g}",
                   all(r >= 0.999 and l == 0 for _, r, l in alone))
    apart = [abs(value(rows, "16", us, "loss") - expected_loss(us)) for us in spacings(rows, "16")]
    if apart:
        yield Goal("formula", "16 agents: loss against max(0, 1 - 155 / (16 x 12000 / (120 + spacing)))",
                   "within 0.01", f"{max(apart):.4f} apart", max(apart) <= 0.01)
    for cell in SWEEPS[1:]:
        yield from reference_goals(rows, cell)
        found = claim(rows, cell)
        if found:
            yield found
        yield from kept_goals(rows, cell)
    for cell, most in (("16-tcp20", PUBLISHED_TCP20_MOST),):
        best = [v for us in spacings(rows, cell) if (v := value(rows, cell, us, "tcp_mbps")) is not None]
        if best:
            yield Goal("window", f"a TCP of 20 packets gets at the most (published {most} Mbit/s)", "within 10 %",
                       f"{max(best):.2f} Mbit/s", abs(max(best) - most) <= 0.1 * most)


def adaptive_goals(rows):
    two = rows.values("two", "psp", "total_mbps"), rows.values("two", "psp-plain", "total_mbps")
    ratio = stats.paired_ratio(*two)
    if ratio:
        yield Goal("damped", f"two agents: throughput with damping over without (published {PUBLISHED_DAMPING:.2f})",
                   "> 1", ratio.text(3), ratio.value > 1)
        calm = stats.paired_ratio(rows.values("two", "psp", "oscillation"),
                                  rows.values("two", "psp-plain", "oscillation"))
        yield Goal("calm", "two agents: oscillation with damping over without (figure 5)", "< 1", calm.text(3),
                   calm.value < 1)
    for cell, what in (("two", "simultaneous start (figure 17)"), ("two-delayed", "delayed start (figure 18)"),
                       ("two-10tcp", "beside 10 TCPs (figure 19)"), ("sixteen", "16 agents"),
                       ("sixteen-16tcp", "16 agents and 16 TCPs")):
        fair = rows.mean(cell, "psp", "jain")
        if fair:
            yield Goal("fair", f"Jain's index of adaptive agents: {what}", ">= 0.95", fair.text(3), fair.value >= 0.95)
    yield from adaptive_claim(rows, "sixteen", "16")
    yield from adaptive_claim(rows, "sixteen-16tcp", "16-tcp800")


def adaptive_claim(rows, cell, blast):
    """The paper's abstract: less than half of UDP's loss without adversely affecting throughput, by the protocol."""
    own, loss = rows.mean(cell, "psp", "received_mbps"), rows.mean(cell, "psp", "loss")
    base, loss0 = value(rows, blast, 0, "received_mbps"), value(rows, blast, 0, "loss")
    if own and loss0:
        yield Goal("adaptive", f"{cell}: psp's loss over that at spacing 0", "< 0.5",
                   f"{loss.value / loss0:.5f} ({loss.value:.5f} for {loss0:.3f})", loss.value < 0.5 * loss0)
        yield Goal("adaptive", f"{cell}: psp's throughput over that at spacing 0", ">= 0.95",
                   f"{own.value / base:.3f}", own.value >= 0.95 * base)


def goals(rows):
    return [*sweep_goals(rows), *adaptive_goals(rows)]


def goals_table(rows, page):
    page.heading("Goals")
    found = goals(rows)
    if found:
        page.goals("Goals", ["what", "goal", "result"],
                   [[g.what, g.bound, ("met: " if g.met else "missed: ") + g.number] for g in found], "goals")


def sweep_tables(rows, page):
    page.heading("Spacing sweep")
    page.text("Means an agent and a TCP, Mbit/s. Least and most: the agents that got least and most, which depends on "
              "how their phases lock; the paper shows one agent. ns-2: rows of an independent simulation.")
    for cell in (c for c in SWEEPS if c in rows.cells()):
        out, theirs, said = [], reference_of(cell), PUBLISHED.get(cell, {})
        for us in spacings(rows, cell):
            at = lambda key: rows.mean(cell, f"{us}us", key)  # noqa: E731
            line = [us, text(at("sent_mbps"), 3), text(at("received_mbps"), 3)]
            for source in (said, theirs):
                line.append(source.get(us, {}).get("received_mbps"))
            line += [text(at("received_min"), 2), text(at("received_max"), 2), text(at("loss"), 4)]
            for source in (said, theirs):
                line.append(source.get(us, {}).get("loss"))
            if "tcp" in cell:
                line += [text(at("tcp_mbps"), 3), said.get(us, {}).get("tcp_mbps"), theirs.get(us, {}).get("tcp_mbps"),
                         text(at("tcp_loss"), 4)]
            out.append(line)
        heads = ["spacing, us", "sent", "received", "paper", "ns-2", "least", "most", "loss", "paper", "ns-2"]
        heads += ["TCP", "paper", "ns-2", "TCP's loss"] if "tcp" in cell else []
        page.table(f"Sweep: {cell}", heads, out, f"sweep-{cell}")


def kept_table(rows, page):
    out = []
    for cell in ("16-tcp20", "16-tcp800"):
        figures = [rows.mean(cell, "1500us", k) for k in ("kept_us", "kept_sd_us", "interval_us", "interval_sd_us")]
        if figures[0]:
            out.append([cell, *(text(f, 1) for f in figures)])
    if out:
        page.heading("Spacing at the receiver (3.2.4)")
        page.text("Spacing: from the end of a packet to the start of the next one sent; interval: from one arrival to "
                  f"the next, lost ones between them or not. The paper has {PUBLISHED_KEPT[0]} us and a standard "
                  f"deviation of {PUBLISHED_KEPT[1]} us. A packet takes 120 us on the Ethernet and 77 us on the long "
                  "link, so a spacing of 1500 us is one of 1543 us where it arrives.")
        page.table("1500 us sent", ["cell", "spacing, us", "deviation", "interval, us", "deviation"], out, "kept")


def sweep_axes(axis, rows, cell, key, label, color):
    found = spacings(rows, cell)
    axis.plot(found, [value(rows, cell, us, key) for us in found], "o-", markersize=3, color=color, label=label)
    for source, mark, name in ((reference_of(cell) if cell != "1" else {}, "x", "ns-2"),
                               (PUBLISHED.get(cell, {}), "*", "paper's text")):
        points = [(us, row[key]) for us, row in source.items() if key in row]
        if points:
            axis.plot(*zip(*points), mark, color="k", markersize=5 if mark == "x" else 9, fillstyle="none",
                      label=f"{name}")


def sweep_figure(page, rows, cell, who, numbers, keys=("received_mbps", "loss")):
    """Draws two panels, throughput and loss, as the paper's pairs of figures."""
    if cell not in rows.cells():
        return
    figure, axes = canvas(1, 2, width=5.5)
    throughput, loss = axes[0]
    if keys[0] == "received_mbps":
        found = spacings(rows, cell)
        throughput.plot(found, [value(rows, cell, us, "sent_mbps") for us in found], ":", color="tab:gray",
                        label="sent")
    sweep_axes(throughput, rows, cell, keys[0], "received", "tab:blue")
    sweep_axes(loss, rows, cell, keys[1], "loss", "tab:red")
    throughput.set(xlabel="packet spacing, us", ylabel="Mbit/s", ylim=(0, None), xlim=(-100, 5100))
    if keys[0] == "received_mbps" and cell != "1":
        throughput.set_ylim(0, 20)
        loss.plot(range(0, 5001, 10), [expected_loss(us) for us in range(0, 5001, 10)], "--", color="tab:gray",
                  linewidth=0.8, label="16 agents alone, formula")
    loss.set(xlabel="packet spacing, us", ylabel="fraction lost", ylim=(0, 1), xlim=(-100, 5100))
    for axis in axes[0]:
        axis.legend()
    page.figure(f"Figures {numbers}: throughput and loss of {who}, mean" if "," in numbers or " " in numbers else
                f"Figure {numbers}: throughput of {who}", figure, "figure-" + numbers.replace(" and ", "-"))


def _rates(page, cell, contender):
    path = kept_path(page.directory, cell, contender, 0, "npz")
    if not os.path.exists(path):
        return None, None
    with np.load(path) as kept:
        return kept["rates"], float(kept["step"])


def damping_figure(page):
    """Figure 5: the sending rate with and without damping."""
    found = {c: _rates(page, "two", c) for c in ("psp-plain", "psp")}
    if any(r is None for r, _ in found.values()):
        return
    figure, axes = canvas(1, 2, width=5.5, sharey=True)
    for axis, (contender, (rates, step)) in zip(axes[0], found.items()):
        axis.plot(np.arange(rates.shape[1]) * step, rates[0])
        axis.set(title=contender, xlabel="time, s")
    axes[0][0].set(ylabel="sending rate, Mbit/s", ylim=(0, None))
    page.figure("Figure 5: oscillation of one of two agents without and with damping", figure, "figure-5")


def rate_figure(page, cell, caption, name):
    """Figures 16 and 19: sending rates against time."""
    rates, step = _rates(page, cell, "psp")
    if rates is None:
        return
    figure, axes = canvas(width=9)
    for number, rate in enumerate(rates, 1):
        axes[0][0].plot(np.arange(rate.size) * step, rate, label=f"agent {number}")
    axes[0][0].set(xlabel="time, s", ylabel="sending rate, Mbit/s", xlim=(0, None), ylim=(0, None))
    axes[0][0].legend()
    page.figure(caption, figure, name)


def fairness_figure(page):
    """Figures 17 and 18: one agent's rate against the other's."""
    found = [(cell, title, *_rates(page, cell, "psp")) for cell, title in
             (("two", "Figure 17: simultaneous start"), ("two-delayed", "Figure 18: delayed start"))]
    found = [f for f in found if f[2] is not None]
    if not found:
        return
    figure, axes = canvas(1, len(found), width=4.6, height=4.4)
    for axis, (_, title, rates, _) in zip(axes[0], found):
        axis.plot(rates[0], rates[1], ".-", linewidth=0.3, markersize=2)
        axis.plot([0, 110], [0, 110], "k--", linewidth=0.8, label="fairness")
        axis.plot([45, 110], [110, 45], "k:", linewidth=0.8, label="155 Mbit/s")
        axis.set(title=title, xlabel="agent 1, Mbit/s", ylabel="agent 2, Mbit/s", xlim=(0, 110), ylim=(0, 110))
        axis.legend(loc="lower left")
    page.figure("Figures 17 and 18: fairness of two adaptive agents, a point every 0.2 s", figure, "figures-17-18")


def adaptive_table(rows, page):
    out = []
    for cell in (c for c in rows.cells() if c not in SWEEPS):
        for contender in (c for c in ADAPTIVE if c in rows.contenders(cell)):
            out.append([cell, contender, *(text(rows.mean(cell, contender, key), digits) for key, digits in
                                           (("received_mbps", 2), ("total_mbps", 1), ("loss", 5), ("jain", 3),
                                            ("oscillation", 3), ("tcp_mbps", 2)))])
    if out:
        page.heading("Adaptive agents")
        page.text("From 20 s after the (last) start on; loss is that of the whole run. Oscillation: standard deviation "
                  "over mean of the sending rate in steps of 0.2 s. Figure 5 does not say what ran there. "
                  "A revert of 2 us takes back what the agent did itself, not what a competitor or TCP did meanwhile: "
                  "the next loss doubles the spacing, so damping doubles it less often, not by less.")
        page.table("Adaptive agents", ["cell", "protocol", "Mbit/s an agent", "all agents", "loss", "Jain",
                                       "oscillation", "Mbit/s a TCP"], out, "adaptive")


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished yet.")
        return
    goals_table(rows, page)
    sweep_tables(rows, page)
    kept_table(rows, page)
    adaptive_table(rows, page)
    page.heading("Figures")
    damping_figure(page)
    sweep_figure(page, rows, "1", "one agent", "7")
    sweep_figure(page, rows, "16", "16 agents", "8 and 9")
    sweep_figure(page, rows, "16-tcp20", "16 agents beside 16 TCPs with windows of 20 packets", "10 and 11")
    sweep_figure(page, rows, "16-tcp20", "16 TCPs with windows of 20 packets beside 16 agents", "12 and 13",
                 ("tcp_mbps", "tcp_loss"))
    sweep_figure(page, rows, "16-tcp800", "16 TCPs with windows of 800 packets beside 16 agents", "14 and 15",
                 ("tcp_mbps", "tcp_loss"))
    rate_figure(page, "two", "Figure 16: sending rates of two adaptive agents", "figure-16")
    fairness_figure(page)
    rate_figure(page, "two-10tcp", "Figure 19: two adaptive agents against 10 TCPs", "figure-19")
