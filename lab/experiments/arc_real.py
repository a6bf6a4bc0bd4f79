# SPDX-License-Identifier: GPL-2.0-or-later
"""Grieco, Mascolo: Adaptive rate control for streaming flows over the Internet (2004), section 5, with programs: weir-send and weir-play,
the kernel's Reno, weir-link. Each run is next to weir-sim's of the same network and seconds (papers_real.py). `arc` has the paper's
1000 seconds, and all its cells, in simulation.

The paper's periods of 200 s of the CBR source are a fifth of a run here, the rate-based flows start after 5 s, and Reno is the kernel's,
which has SACK and a min RTO of 200 ms. The rest is the paper's: rates, queues, RTTs, 1500-byte packets.
"""
import shutil

from lab import stats
from lab.experiment import Cell, Experiment, Stand
from lab.experiments import papers_real as real
from lab.rows import Rows

PAPER_TFRC = "tfrc:selfclock,damp"
CONTENDERS = ("arc", "arc:report=packet", PAPER_TFRC, "reno")
RATES = CONTENDERS[:3]
LATE = 5  # s
SECONDS, QUICK_SECONDS = 200, 45
CBR_LONGER = 5 / 3  # five periods take longer than the rest


SHORT = "sessions begin with a handshake, and last 200 s of the paper's 1000 (quick: 45)"
PAPERS = (Stand("reno", "Reno of ns-2", "the kernel's: SACK, RACK, timestamps, min RTO of 200 ms, ten packets at the start; " + SHORT),
          Stand(PAPER_TFRC, "TFRC, enhanced by self-clocking, with the settings of ns-2 (5)", SHORT),
          Stand("arc", "ARC, reports once per SRTT (4.2)", "a report at once at a hole; a timeout; " + SHORT),
          Stand("arc:report=packet", "ARC, a report per packet", "the same"))


def dumbbell(name, contenders, mbit, m, **more):
    """A cell of section 5.1: a queue of 250 ms."""
    p = {"mbit": mbit, "rtt": 250, "queue": int(mbit * 1e6 * 0.25 / 8 / 1500), "m": m, "n": 0, "reverse": True, "cbr": 0, "late": LATE,
         **more}
    return Cell(name, p, contenders=tuple(contenders))


def hops(name, n, c1, cross, contenders=CONTENDERS, loss=0):
    return Cell(name, {"hops": n, "c1": c1, "cross": cross, "loss": loss, "late": LATE}, contenders=tuple(contenders))


def cells():
    yield dumbbell("5.1.1", CONTENDERS, 1, 1, reverse=False)
    yield dumbbell("5.1.1-reverse", CONTENDERS, 1, 1)
    yield dumbbell("5.1.2", CONTENDERS, 1, 1, cbr=0.7)
    yield dumbbell("5.1.3", CONTENDERS, 10, 20, cbr=7)
    for m in (20, 40):
        yield dumbbell(f"5.1.4-m{m}", CONTENDERS, 10, m)
    yield dumbbell("5.1.4-buffer30", CONTENDERS, 10, 40, queue=62)
    yield dumbbell("5.1.5", RATES, 1, 1, n=1, cbr=0.7)
    for m in (10, 30, 50):
        yield dumbbell(f"5.1.6-m{m}", RATES, 10, m, n=60 - m)
    for n in (1, 3, 10):
        yield hops(f"5.2.1-n{n}", n, "own", "own")
        yield hops(f"5.2.2-n{n}", n, "own", "reno")
        yield hops(f"5.2.3-n{n}", n, "reno", "own", RATES)
    yield hops("5.2.4-n3-loss1", 3, "own", "reno", CONTENDERS, 1)
    for loss in (0.1, 1, 10):
        yield hops(f"5.2.4-loss{loss:g}", 10, "own", "reno", CONTENDERS, loss)


QUICK_CELLS = ("5.1.1-reverse", "5.2.4-n3-loss1")  # of --quick without --only


def one(context):
    p, seconds = context.cell.params, context.experiment.options["seconds"]
    if p.get("cbr"):
        seconds = round(seconds * CBR_LONGER / 5) * 5
        p = {**p, "period": seconds / 5}
    programs, simulated = (real.hops_real, real.hops_simulated) if "hops" in p else (real.dumbbell_real, real.dumbbell_simulated)
    figures = programs(context, p, seconds)
    spread = max(real.TOGETHER, figures.get("spread", 0))
    figures = real.with_twin(context, figures, lambda c: simulated(c, p, seconds, spread))
    shutil.rmtree(context.directory, ignore_errors=True)  # hundreds of logs of a run that succeeded
    return figures


KEYS = [("mbps", "Mbit/s", 3), ("reno_mbps", "Reno's Mbit/s", 3), ("utilisation", "utilisation", 3), ("loss", "loss", 4),
        ("burst", "burstiness of seconds", 3), ("jain", "Jain", 3), ("on_mbps", "Mbit/s beside CBR", 3), ("off_mbps", "Mbit/s without CBR", 3),
        ("c1_mbps", "C1 Mbit/s", 3), ("c1_loss", "C1 loss", 4), ("even_mbps", "cross flow Mbit/s", 3), ("odd_mbps", "opposite Mbit/s", 3)]

# (claim, cell, key, contender, the one below it, factor), of the paper's text.
CLAIMS = [
    ("reverse load costs ARC less than TFRC", "5.1.1-reverse", "utilisation", "arc:report=packet", PAPER_TFRC, 1),
    ("and less than Reno", "5.1.1-reverse", "utilisation", "arc:report=packet", "reno", 1),
    ("20 ARC share more evenly than TFRC", "5.1.4-m20", "jain", "arc", PAPER_TFRC, 1),
    ("than Reno", "5.1.4-m20", "jain", "arc", "reno", 1),
    ("Reno gets more next to ARC than next to TFRC, 10 of 60", "5.1.6-m10", "reno_mbps", "arc", PAPER_TFRC, 1),
    ("30 of 60", "5.1.6-m30", "reno_mbps", "arc", PAPER_TFRC, 1),
    ("50 of 60", "5.1.6-m50", "reno_mbps", "arc", PAPER_TFRC, 1),
    ("C1 over three hops gets more with ARC than with TFRC", "5.2.1-n3", "c1_mbps", "arc", PAPER_TFRC, 1),
    ("Reno as C1 among ARC gets more than among TFRC", "5.2.3-n3", "c1_mbps", "arc", PAPER_TFRC, 1),
] + [(f"ARC on the lossy last hop: {factor} times {who}", cell, "c1_mbps", "arc", other, factor)
     for cell in ("5.2.4-n3-loss1", "5.2.4-loss0.1", "5.2.4-loss1", "5.2.4-loss10")
     for who, other, factor in (("Reno", "reno", 4), ("TFRC", PAPER_TFRC, 1.5))]


def claims_of(rows):
    """[claim, cell, the programs' ratio, weir-sim's] of each claim whose two contenders were run."""
    for what, cell, key, who, other, factor in CLAIMS:
        found = []
        for prefix in ("", "sim_"):
            ratio = stats.paired_ratio(rows.values(cell, who, prefix + key), rows.values(cell, other, prefix + key))
            found.append("-" if ratio is None else f"{'met' if ratio.value >= factor else 'missed'}: {ratio.text(2)}")
        if found != ["-", "-"]:
            yield [what, cell, f">= {factor}", *found]


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished yet.")
        return
    page.heading("What the paper claims")
    page.text("The ratio of the two contenders' figures, in pairs of runs, with programs and in simulation.")
    page.goals("Claims", ["claim", "cell", "bound", "programs", "simulated"], claims_of(rows), "claims")
    page.heading("Each cell, and its simulated twin")
    page.text("Rates are those on the wire from a flow's start to its end; the programs' include the time that a session needs to begin. "
              "Beside and without CBR: second halves of the CBR source's periods.")
    real.compare(rows, page, "Programs and simulation", "twins", KEYS, rows.cells())
    page.table("Machine, and how far the flows' starts were apart, which the twin repeats",
               ["cell", "contender", "longest share of a thread's life without a core", "starts apart, s"],
               [[cell, c, real.text(rows, cell, c, "waited", 3), real.text(rows, cell, c, "spread", 2)]
                for cell in rows.cells() for c in rows.contenders(cell)], "waited")


def check_quick(rows):
    """Checks that all programs run: a short run on a busy machine shows no more."""
    failed = []
    for row in rows:
        value = row["figures"].get("c1_mbps", row["figures"].get("mbps"))
        if not value or value <= 0:
            failed.append(f"{row['cell']} {row['contender']}: {value} Mbit/s")
    return failed


def experiment(quick, _options):
    title = "ARC's section 5 with programs, next to simulation"
    if quick:
        short = [Cell(c.name, c.params, c.name in QUICK_CELLS, c.contenders) for c in cells()]
        return Experiment("arc_real", title + " (quick)", short, list(CONTENDERS), one, write, runs=1, seconds=QUICK_SECONDS + 8,
                          check=check_quick, options={"seconds": QUICK_SECONDS}, papers=PAPERS)
    return Experiment("arc_real", title, list(cells()), list(CONTENDERS), one, write, runs=3, seconds=SECONDS + 8,
                      options={"seconds": SECONDS}, papers=PAPERS)
