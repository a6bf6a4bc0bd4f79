# SPDX-License-Identifier: GPL-2.0-or-later
"""What a viewer of live media sees on a path that loses packets at random or in bursts, by the latency that the viewer
accepts: Weir's repair over its transports, next to ffmpeg over SRT and RIST and to Chrome's WebRTC where installed.

4 Mbit/s, a queue of 100 ms; only the direction towards the viewer loses. The test picture, at most 1920 kbit/s.
"""
from lab import chrome, others, streaming
from lab.experiment import Cell, Experiment
from lab.experiments import repair_report
from lab.streaming import DRAIN, LEAD

LOSSES = {"0.5%": "loss=0.5%", "1%": "loss=1%", "2%": "loss=2%", "5%": "loss=5%", "bursts": "loss=ge:p=1%:r=25%"}
RTTS_MS = (20, 50, 100, 200)
BUDGETS = (150, 250, 400, "auto")  # ms from capture to screen
RATE_MBIT = 4
WARM = 3  # seconds of media that do not count

WEIR = ("udp", "scream", "tfrc", "mtp")
MODES = ("udp repair=off", "udp repair=resend", "udp repair=fec")
PEERS = ("srt", "rist")  # with the cell's budget
CHROME = tuple(chrome.KINDS)  # they choose their latency


def by_default(loss, rtt, budget):
    """The conditions of the goals, and every loss with the adaptive latency."""
    if budget == "auto":
        return rtt == 100
    return rtt in (50, 100) and loss in ("2%", "5%", "bursts")


def contenders_of(loss, rtt, budget):
    if budget == "auto":
        return WEIR + (("minbuf:1,3",) if loss == "1%" else ()) + CHROME
    # Which part of the repair helps, where one resend is possible, and where none is.
    return WEIR + (MODES if rtt == 100 and budget in (150, 250) and loss != "0.5%" else ()) + PEERS


def cells():
    return [Cell(f"{loss}-{rtt}ms-{budget}", {"loss": loss, "rtt": rtt, "budget": budget}, by_default(loss, rtt, budget),
                 contenders_of(loss, rtt, budget))
            for loss in LOSSES for rtt in RTTS_MS for budget in BUDGETS]


def actual(contender, params):
    """Returns the contender with the cell's budget. SRT and RIST show a picture their latency plus half a round trip after
    it was sent."""
    if contender in PEERS:
        return f"{contender}-{max(20, round(params['budget'] - params['rtt'] / 2))}"
    return contender if contender in CHROME else f"{contender} latency={params['budget']}"


def one(context):
    p, settings = context.cell.params, context.experiment.options
    delay = f"delay={p['rtt'] / 2:g}ms"
    conditions = streaming.Conditions(f"rate={RATE_MBIT}mbit,queue=droptail:100ms,{LOSSES[p['loss']]},{delay}", delay,
                                      settings["duration"], WARM, settings["source"])
    viewed = streaming.view(context, conditions, actual(context.contender, p))
    return {**viewed.figures, "seconds": settings["duration"] - WARM}


def missing(contender, build):
    if contender in PEERS:
        return others.missing(contender)
    return streaming.missing(contender, build)


def check_quick(rows):
    """Checks that all programs run, and that the figures are possible."""
    return [f"{row['cell']} {row['contender']}: {text}" for row in rows for text in
            streaming.implausible(row["figures"], repair_report.conditions(row["cell"])[1] / 2)]


def experiment(quick, options):
    settings = {"source": options.get("clip", "test:1280x720@30"), "duration": 15 if quick else 60}
    title, every = "Loss repair for live media", cells()
    seconds = LEAD + settings["duration"] + DRAIN + 1
    if quick:
        some = [Cell(c.name, c.params, True, contenders) for c, contenders in (
            (next(c for c in every if c.name == "2%-100ms-250"), ("udp", "tfrc", *PEERS)),
            (next(c for c in every if c.name == "1%-100ms-auto"), ("scream", "minbuf:1,3", *CHROME[:1])))]
        return Experiment("repair", title + " (quick)", some, list(WEIR), one, repair_report.write, runs=1,
                          seconds=seconds, check=check_quick, missing=missing, options=settings)
    return Experiment("repair", title, every, [*WEIR, "minbuf:1,3", *MODES, *PEERS, *CHROME], one, repair_report.write,
                      runs=3, seconds=seconds, missing=missing, options=settings)
