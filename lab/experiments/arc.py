# SPDX-License-Identifier: GPL-2.0-or-later
"""Grieco, Mascolo: Adaptive rate control for streaming flows over the Internet (2004), section 5, in simulation.

A cell is a scenario of the paper; a contender takes the place of the paper's Reno, TFRC or ARC sources in it. The
paper's TFRC is "tfrc:selfclock,damp": the enhanced one with the settings of ns-2. Cells are named section-variant.
"""
import os
import tempfile

import numpy as np

from lab.experiment import Cell, Experiment, Stand
from lab.experiments import arc_figures, arc_report
from lab.experiments.arc_report import ALL, MAIN, PAPER_TFRC, SWEEP
from lab.simulate import simulate

SECONDS, QUICK_SECONDS = 1000, 200
LATE = 10  # s: when rate-based sources start (section 5.1), and C1 (section 5.2)
SPREAD = "spread=100ms"  # flows start at random within this time, which avoids phase effects
MOST_RTT = 250  # ms
REVERSE = f"reno:n=10,rtt=25ms..{MOST_RTT}ms,from=1,to=0,{SPREAD}"
CBR_SECONDS = 200  # silent, on, silent, ...
HOP_RTT = 20  # ms


def group(contender, *words):
    """Returns the flows of a contender as a word for weir-sim."""
    words = [w for w in words if w]
    if contender == "reno":
        return "reno:" + ",".join(words)
    return "datagram:" + ",".join(["cc=" + contender.replace(",", "/"), *words])


def crowd(contender, n):
    """Section 5.1: N flows whose RTTs are spread over (250/n) ms to 250 ms."""
    rtt = f"rtt={MOST_RTT / n:g}ms..{MOST_RTT}ms" if n > 1 else f"rtt={MOST_RTT}ms"
    start = "" if contender == "reno" else f"start={LATE}s"
    return group(contender, f"n={n}", rtt, start, SPREAD)


def dumbbell(context, p, seconds):
    """Figure 4: m flows of the contender, n of Reno, optionally a CBR source and ten Reno flows in the opposite direction."""
    words = ["--link", f"rate={p['mbit']}mbit,queue=droptail:{p['queue']}p", crowd(context.contender, p["m"])]
    if p["n"]:
        words.append(crowd("reno", p["n"]))
    if p["reverse"]:
        words.append(REVERSE)
    if p["cbr"]:
        words.append(f"cbr:rate={p['cbr'] * 1000:g}kbit,start={CBR_SECONDS}s,on={CBR_SECONDS}s,off={CBR_SECONDS}s")
    with tempfile.TemporaryDirectory() as where:
        done = simulate(context.build, context.seed, seconds, *words, series=os.path.join(where, "series.csv"))
    series = arc_figures.Series(done.series, p["m"] + p["n"])
    if context.run == 0 and p["kept"]:
        np.savez_compressed(context.kept("npz"), time=series.time, rate=series.rate.astype("f4"), good=series.good)
    return dumbbell_figures(done.all("group"), series, p, context.contender, seconds)


def dumbbell_figures(groups, series, p, contender, seconds):
    own, reno = groups[0], groups[1] if p["n"] else None
    figures = {"mbps": own["goodput_bps"] / 1e6, "loss": own["loss"],
               "utilisation": (own["goodput_bps"] + (reno["goodput_bps"] if reno else 0)) / 1e6 / p["mbit"]}
    if reno:
        figures.update(reno_mbps=reno["goodput_bps"] / 1e6, reno_loss=reno["loss"])
    if p["cbr"]:
        cbr = {"start": CBR_SECONDS, "period": CBR_SECONDS, "rate": p["cbr"] * 1e6}
        figures.update(arc_figures.transients(series, cbr, p["mbit"] * 1e6, MOST_RTT / 1e3, seconds))
    for name in ("sent", "good", "rate"):  # the other figures are of the contender's own flows
        setattr(series, name, getattr(series, name)[:, :p["m"]])
    figures.update(arc_figures.burstiness(series, max(seconds - p["burst_seconds"], seconds / 10)))
    if p["m"] > 1:
        figures.update(arc_figures.fairness(series, 0 if contender == "reno" else LATE))
    return figures


def multihop(context, p, seconds):
    """Figure 27: C1 over all hops; on each hop one flow in the same direction (even) and one in the opposite (odd)."""
    hops = p["hops"]
    c1 = "reno" if p["c1"] == "reno" else context.contender
    cross = "reno" if p["cross"] == "reno" else context.contender
    loss = f"loss={p['loss']}%" if p["loss"] else ""
    words = ["--hops", str(hops), "--link", "rate=1mbit,delay=10ms,queue=droptail:12p",
             group(c1, f"rtt={HOP_RTT * (hops + 2)}ms", f"start={LATE}s", loss)]
    for i in range(hops):
        words += [group(cross, f"rtt={3 * HOP_RTT}ms", f"from={a}", f"to={b}", SPREAD)
                  for a, b in ((i, i + 1), (i + 1, i))]
    first, *others = simulate(context.build, context.seed, seconds, *words).all("flow")
    even = float(np.mean([f["goodput_bps"] for f in others[::2]])) / 1e6
    odd = float(np.mean([f["goodput_bps"] for f in others[1::2]])) / 1e6
    c1_mbps = first["goodput_bps"] / 1e6
    return {"c1_mbps": c1_mbps, "c1_loss": first["loss"], "even_mbps": even, "odd_mbps": odd,
            "total_mbps": c1_mbps + even}


def one(context):
    p = context.cell.params
    run = multihop if "hops" in p else dumbbell
    return run(context, p, context.experiment.options["seconds"])


def bottleneck(name, contenders, mbit, m, **more):
    """A cell of section 5.1; the queue is 250 ms long."""
    p = {"mbit": mbit, "queue": int(mbit * 1e6 * 0.25 / 8 / 1500), "m": m, "n": 0, "reverse": True, "cbr": 0,
         "burst_seconds": 900, "kept": False, **more}
    return Cell(name, p, contenders=tuple(contenders))


def hops(name, n, c1, cross, contenders=MAIN, loss=0):
    return Cell(name, {"hops": n, "c1": c1, "cross": cross, "loss": loss}, contenders=tuple(contenders))


def cells():
    swept = ALL + SWEEP
    yield bottleneck("5.1.1", swept, 1, 1, reverse=False, kept=True)
    yield bottleneck("5.1.1-reverse", swept, 1, 1, kept=True)
    # Burstiness while the remaining bandwidth is constant (section 5.1.2).
    yield bottleneck("5.1.2", ALL, 1, 1, cbr=0.7, burst_seconds=100, kept=True)
    yield bottleneck("5.1.3", ALL, 10, 20, cbr=7, kept=True)
    for m in (20, 40, 70, 120, 200):
        yield bottleneck(f"5.1.4-m{m}", swept if m == 20 else MAIN, 10, m)
    for percent in (10, 20, 30, 50, 70, 150):  # 100 is 5.1.4-m40
        yield bottleneck(f"5.1.4-buffer{percent}", MAIN, 10, 40, queue=208 * percent // 100)
    yield bottleneck("5.1.5", ALL, 1, 1, n=1, cbr=0.7, burst_seconds=100, kept=True)
    for m in (10, 20, 30, 40, 50):
        yield bottleneck(f"5.1.6-m{m}", swept if m in (10, 30, 50) else ALL + READINGS, 10, m, n=60 - m)
    for n in (1, 3, 5, 7, 10):
        yield hops(f"5.2.1-n{n}", n, "own", "own")
        yield hops(f"5.2.2-n{n}", n, "own", "reno")
        yield hops(f"5.2.3-n{n}", n, "reno", "own")
    for loss in (0.1, 0.3, 1, 3, 10):
        yield hops(f"5.2.4-loss{loss:g}", 10, "own", "reno", ALL, loss)


READINGS = [c for c in SWEEP if "eq7" in c]
# Goals that 200 s of each of five seeds meet alone. Not: use of the link, of which the start takes a part; burstiness
# next to TFRC alone on its link, over 900 s in the paper; fairness at the end of 1000 s.
JUDGED = ("burstiness over Reno's", "lossy last hop", "Reno's share", r"10 s after the start \S+ arc >=")
PAPERS = (Stand("reno", "Reno of ns-2", "acknowledges each second packet, or after 100 ms; the paper prints neither this nor the min RTO (here 1 s)"),
          Stand(PAPER_TFRC, "TFRC, enhanced by self-clocking, with the settings of ns-2 (5)"),
          Stand("arc", "ARC, reports once per SRTT (4.2)", "a report at once at a hole; a timeout, which the paper lacks"),
          Stand("arc:report=packet", "ARC, a report per packet", "the same"))
QUICK_CELLS = ("5.1.1", "5.1.1-reverse", "5.1.4-m20", "5.1.6-m30", "5.2.4-loss1")


def check_quick(rows):
    """Checks loose bounds for the quick version: all flows run, and their order is right."""
    at = {(row["cell"], row["contender"]): row["figures"] for row in rows}
    failed = [f"no run of {cell} {c}" for cell in QUICK_CELLS for c in MAIN if (cell, c) not in at]
    if failed:
        return failed

    def hold(cell, contender, key, bound):
        value = at[cell, contender][key]
        if value is None or value < bound:
            failed.append(f"{cell} {contender}: {key} is {value}, at least {bound:.3g} expected")
    for contender in MAIN:
        hold("5.1.1", contender, "utilisation", 0.9)
        hold("5.1.4-m20", contender, "utilisation", 0.85)
    hold("5.1.1-reverse", "arc:report=packet", "utilisation", at["5.1.1-reverse", "reno"]["utilisation"] + 0.1)
    hold("5.1.4-m20", "arc", "J10", at["5.1.4-m20", PAPER_TFRC]["J10"])
    hold("5.1.4-m20", "arc", "Jend", 0.95)
    hold("5.1.6-m30", "arc", "reno_mbps", 0.9 * at["5.1.6-m30", PAPER_TFRC]["reno_mbps"])
    hold("5.2.4-loss1", "arc", "c1_mbps", 2 * at["5.2.4-loss1", "reno"]["c1_mbps"])
    return failed


def experiment(quick, _options):
    title = "ARC, TFRC and Reno in simulation"
    if quick:
        chosen = [Cell(c.name, c.params, contenders=tuple(MAIN)) for c in cells() if c.name in QUICK_CELLS]
        return Experiment("arc", title + " (quick)", chosen, MAIN, one, arc_report.write, runs=1, seconds=1,
                          check=check_quick, options={"seconds": QUICK_SECONDS}, papers=PAPERS, judged=JUDGED)
    return Experiment("arc", title, list(cells()), ALL + SWEEP, one, arc_report.write, runs=5, seconds=1.5,
                      options={"seconds": SECONDS}, papers=PAPERS)
