# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast live media follows its network: a link whose rate halves after 20 s and doubles after 40 s, an RTT of 50 ms, a
queue of 400 ms at the high rate. All traffic over the link towards the viewer counts, from its captures.

Goals: the sending rate below the new one within 500 ms and 2 RTTs of the fall, the queueing delay that the fall caused
gone within 2 s; 80 % of the rate used within 10 s of the rise.
"""
import os

import numpy as np

from lab import crossings, live, stats
from lab.crossings import SNAP, STEP_S, smooth
from lab.experiment import Cell, Experiment, kept_path
from lab.report import canvas

CONTENDERS = ["minbuf:1,3", "minbuf:auto,20", "tcp", "tfrc", "arc", "scream", "psp", "mtp", "mtp-raw"]
SOURCE = "test:1280x720@30"
RTT_MS = 50
STEPS = (20, 40)  # seconds: down, up
BELOW_S, GONE_S, USED_S = 0.5 + 2 * RTT_MS / 1e3, 2, 10
QUEUE_MS = 50  # more than this above the delay before the fall: the fall's queue still exists


def first(where, begin, end=None):
    """Returns the seconds from BEGIN until WHERE (a series of bools) is true; None: not before END."""
    hits = np.nonzero(where[round(begin / STEP_S):end and round(end / STEP_S)])[0]
    return float(hits[0]) * STEP_S if hits.size else None


def gone(delay, limit, begin, end):
    """Seconds from BEGIN until DELAY is below LIMIT for half a second, after it was highest within 2 s; None: never."""
    part = delay[round(begin / STEP_S):round(end / STEP_S)]
    least = round(0.5 / STEP_S)
    for k in range(int(np.argmax(part[:round(2 / STEP_S)])), part.size - least):
        if (part[k:k + least] < limit).all():
            return float(k) * STEP_S
    return None


def figures_of(rate, late, high, low):
    """RATE (into the link) and LATE as returned by crossings.series_of; HIGH and LOW: the link's rates, Mbit/s."""
    down, up = STEPS
    third = smooth(rate, 3)
    second = smooth(rate, 10)
    before = np.nanmedian(late[round((down - 10) / STEP_S):round(down / STEP_S)])
    filled = np.where(np.isnan(late), before, late)
    return {"below_s": first(third < low, down + STEP_S, up), "gone_s": gone(filled, before + QUEUE_MS, down, up),
            "used_s": first(second > 0.8 * high, up),
            "use_high": float(rate[round(10 / STEP_S):round(down / STEP_S)].mean() / high),
            "use_low": float(rate[round((down + 5) / STEP_S):round(up / STEP_S)].mean() / low),
            "queue_p95_ms": float(np.nanpercentile(late, 95)), "queue_max_ms": float(np.nanmax(late))}


def one(context):
    p, duration = context.cell.params, context.experiment.options["duration"]
    with context.world() as world:
        for name in ("server", "client"):
            world.add(name)
        high, low = (f"{p[k]}mbit" for k in ("high", "low"))
        steps = f"rate={high}:{low}@{STEPS[0]}s:{high}@{STEPS[1]}s"
        forward = f"{steps},queue=droptail:{round(p['high'] * 1e6 / 8 * 0.4)}B,delay={RTT_MS / 2:g}ms"
        at, _ = world.link("link", "server", "client", forward, f"delay={RTT_MS / 2:g}ms", "--pcap", world.path("link"),
                           "--snap", str(SNAP))
        flow = live.Flow(world, "server", at, SOURCE)
        flow.play("client", context.contender, duration)
        report = flow.finish(duration + 20)
        world.links["link"].stop()
        crossed = crossings.read(world.path("link-a-in.pcap"), world.path("link-b-out.pcap"))
        live.remove(*(world.path(f"link-{which}.pcap") for which in ("a-in", "b-out", "b-in", "a-out")))
        lines = live.json_lines(world.path("link.jsonl"))
    begin = lines[0]["monotonic"] - lines[0]["t"]
    rate, _, late = crossings.series_of(crossed, begin, STEPS[1] + 20)
    np.savez_compressed(context.kept("npz"), rate=rate, late=late)
    return {**figures_of(rate, late, p["high"], p["low"]), "stalled": report["rebuffering"]["ratio"],
            "frozen": report["freezes"]["ratio"],
            "frame_rate": report["playback"]["frame_rate"], "display_p95_ms": report["latency"]["display"]["p95"],
            "frames_lost": report["playback"]["frames_lost"]}


COLUMNS = [("below_s", "below the new rate after, s", 2), ("gone_s", "its queue gone after, s", 2),
           ("used_s", "80 % used after, s", 1), ("use_high", "use before", 2), ("use_low", "use of the low rate", 2),
           ("queue_p95_ms", "link delay 95 %, ms", 0), ("queue_max_ms", "max, ms", 0), ("stalled", "stalled (buffer empty)", 3),
           ("frozen", "frozen (no new picture)", 3),
           ("frame_rate", "frames/s", 1), ("display_p95_ms", "capture to shown 95 %, ms", 0)]
GOALS = {"below_s": BELOW_S, "gone_s": GONE_S, "used_s": USED_S}


def met(runs):
    """Returns texts on the goals of a contender's runs."""
    missed = [name for name, limit in GOALS.items() if any(r[name] is None or r[name] > limit for r in runs)]
    return "met" if not missed else "missed: " + ", ".join(m.removesuffix("_s") for m in missed)


def write(rows, page):
    cells = list(dict.fromkeys(row["cell"] for row in rows))
    out = []
    for cell in cells:
        for contender in CONTENDERS:
            runs = [r["figures"] for r in rows if r["cell"] == cell and r["contender"] == contender]
            if not runs:
                continue
            line = [cell, contender, len(runs)]
            for key, _, digits in COLUMNS:
                values = [r[key] for r in runs if r[key] is not None]
                text = stats.mean(values).text(digits) if values else "never"
                line.append(text + (f" ({len(runs) - len(values)} never)" if 0 < len(values) < len(runs) else ""))
            out.append([*line, met(runs)])
    page.heading("Reaction")
    page.goals(f"Goals: below within {BELOW_S:g} s, gone within {GONE_S} s, used within {USED_S} s",
               ["cell", "transport", "runs", *(name for _, name, _ in COLUMNS), "goals"], out, "reaction")
    page.heading("The first run of each cell")
    for cell in cells:
        for contender in CONTENDERS:
            plot(cell, contender, page)


def plot(cell, contender, page):
    path = kept_path(page.directory, cell, contender, 0, "npz")
    if not os.path.exists(path):
        return
    kept = np.load(path)
    rate, late = kept["rate"], kept["late"]
    t = np.arange(rate.size) * STEP_S
    figure, axes = canvas(width=9, height=3, columns=1)
    axis = axes[0][0]
    axis.plot(t, smooth(rate, 3), label="sent, 0.3 s")
    link = np.select([t < STEPS[0], t < STEPS[1]], [CELLS[cell][0], CELLS[cell][1]], CELLS[cell][0])
    axis.step(t, link, color="grey", label="link")
    axis.set(xlabel="s", ylabel="Mbit/s", ylim=(0, 1.6 * CELLS[cell][0]))
    other = axis.twinx()
    other.plot(t, late, "r.", markersize=2, label="delay over the link")
    other.set(ylabel="ms", ylim=(0, 1000))
    axis.legend(loc="upper left", ncol=2)
    other.legend(loc="upper right", markerscale=3)
    page.figure(f"{contender}: {cell}", figure, f"{cell}-{contender.replace(':', '-').replace(',', '-')}")


CELLS = {"halves": (2.4, 1.2), "quarters": (2.4, 0.6)}


def experiment(quick, options):
    cells = [Cell(name, {"high": high, "low": low}, default=name == "halves") for name, (high, low) in CELLS.items()]
    return Experiment("reaction", "Live media that follows its network", cells[:1] if quick else cells,
                      ["minbuf:1,3"] if quick else CONTENDERS, one, write, runs=1 if quick else 3,
                      seconds=STEPS[1] + 25, options={"duration": STEPS[1] + 21})
