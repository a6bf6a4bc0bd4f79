# SPDX-License-Identifier: GPL-2.0-or-later
"""Goals and tables from the runs of arc.py, compared with the paper's values and those of ns-2 (tests/sim/reference)."""
import csv
import functools
import os

from lab import stats
from lab.experiment import ROOT
from lab.experiments import arc_plots
from lab.rows import Rows, text

PAPER_TFRC = "tfrc:selfclock,damp"
MAIN = ["reno", PAPER_TFRC, "arc", "arc:report=packet"]
ALL = MAIN[:1] + ["tfrc", "tfrc:selfclock"] + MAIN[1:]
# The effect of ARC's parameters on friendliness, and its cost.
SWEEP = ["arc:alpha=0.2", "arc:alpha=0.5", "arc:k=1", "arc:tau=1", "arc:report=packet,alpha=0.4",
         "arc:report=packet,alpha=0.5", "arc:report=packet,alpha=1", "arc:report=packet,k=1", "arc:eq7=arrival",
         "arc:report=packet,eq7=arrival"]

ARC = ("arc", "arc:report=packet")
TFRC = ("tfrc:selfclock,damp", "tfrc:selfclock", "tfrc")
MIXES = (10, 20, 30, 40, 50)  # rate-based ones of 60

# Which contenders are the paper's protocols.
PAPERS_NAMES = {"reno": "reno", PAPER_TFRC: "tfrc", "arc": "arc", "arc:report=packet": "arc"}
# Printed in the text of sections 5.1.1 to 5.1.3; (cell, Reno, TFRC or ARC): {figure: value}.
PRINTED = {
    ("5.1.1", "reno"): {"utilisation": "0.98"}, ("5.1.1-reverse", "reno"): {"utilisation": "0.57"},
    ("5.1.1", "tfrc"): {"utilisation": "0.99"}, ("5.1.1-reverse", "tfrc"): {"utilisation": "0.88"},
    ("5.1.1", "arc"): {"utilisation": "0.99"}, ("5.1.1-reverse", "arc"): {"utilisation": "0.99"},
    ("5.1.2", "tfrc"): {"rise_rtts": "200", "fall_rtts": "40"},
    ("5.1.2", "arc"): {"rise_rtts": "200", "fall_rtts": "40"},
    ("5.1.3", "reno"): {"Jend": "0.9", "IJmean": "0.7-0.95"}, ("5.1.3", "tfrc"): {"Jend": "0.9", "IJmean": "0.7-0.95"},
    ("5.1.3", "arc"): {"J10": "1", "Jend": "1", "IJmean": "0.9-1"},
}

# Names in the columns "proto" and the like: ns-2's TFRC has oscillation prevention on.
NS2_NAMES = {"reno": "Reno", "tfrc:selfclock,damp": "TFRC(conservative)"}
NS2_SCENARIOS = {"reno": "52s1_reno", "tfrc:selfclock,damp": "52s{}_tfrc"}
NS2_COLUMNS = {"mbps": ("goodput_mbps", "rate_total_mbps"), "utilisation": ("util",), "reno_mbps": ("reno_total_mbps",),
               "reno_loss": ("reno_loss",), "loss": ("loss", "rate_loss"), "burst_rate": ("burst_rate",),
               "burst_tx1s": ("burst_tx1s",), "Jend": ("J1000",), "c1_mbps": ("C1_mbps",), "c1_loss": ("C1_loss",),
               "even_mbps": ("even_avg_mbps",), "total_mbps": ("total_mbps",),
               **{key: (key,) for key in ("J10", "J20", "J100", "IJmean", "IJmin")}}

LABELS = {"mbps": "Mbit/s", "reno_mbps": "Reno's Mbit/s", "reno_loss": "Reno's loss",
          "burst_rate": "burstiness of rate",
          "burst_tx1s": "burstiness of what is sent", "rise_rtts": "rise, RTTs", "fall_rtts": "fall, RTTs",
          "Jend": "J at the end", "IJmean": "IJ mean", "IJmin": "IJ least", "c1_mbps": "C1 Mbit/s",
          "c1_loss": "C1 loss", "even_mbps": "cross flow Mbit/s", "total_mbps": "total Mbit/s"}
DIGITS = {"loss": 4, "reno_loss": 4, "c1_loss": 4, "c1_mbps": 4, "rise_rtts": 0, "fall_rtts": 0, "Jend": 4}


@functools.lru_cache
def _reference(name):
    with open(os.path.join(ROOT, "tests", "sim", "reference", name), encoding="ascii") as f:
        return list(csv.DictReader(f))


def _ns2_row(cell, contender):
    section, _, variant = cell.partition("-")
    name = NS2_NAMES.get(contender)
    if section in ("5.1.1", "5.1.3"):
        wanted = {"proto": name, **({"reverse": "10" if variant else "0"} if section == "5.1.1" else {})}
    elif section == "5.1.4" and variant.startswith("m"):
        wanted = {"proto": name, "M": variant[1:]}
    elif section == "5.1.6":
        wanted = {"rate_proto": name, "M_rate": variant[1:]}
    elif section.startswith("5.2.") and variant.startswith("n"):
        scenario = NS2_SCENARIOS.get(contender, "").format(section[-1])
        wanted = {"scenario": scenario, "N": variant[1:]}
    else:
        return {}
    file = "arc-5.2.csv" if section.startswith("5.2") else f"arc-{section}.csv"
    return next((r for r in _reference(file) if all(r[k] == v for k, v in wanted.items())), {})


def ns2(cell, contender, key):
    """Returns ns-2's value of a figure, as text, or None."""
    row = _ns2_row(cell, contender)
    return next((row[column] for column in NS2_COLUMNS.get(key, ()) if column in row), None)


def printed(cell, contender, key):
    """Returns the paper's value, of the contender that stands for its protocol."""
    return PRINTED.get((cell, PAPERS_NAMES.get(contender)), {}).get(key)


def ordered(rows, cell):
    there = rows.contenders(cell)
    return [c for c in ALL if c in there], [c for c in SWEEP if c in there]


def section(rows, page, caption, prefix, keys, name):
    """A table with a row for each cell and contender; columns for the paper and ns-2 only if they have values."""
    pairs = [(cell, c) for cell in rows.cells() if cell == prefix or cell.startswith(prefix + "-")
             for c in ordered(rows, cell)[0]]
    columns = []
    for key in keys:
        label = LABELS.get(key, key)
        for where, value in (("paper", printed), ("ns-2", ns2)):
            if any(value(cell, c, key) for cell, c in pairs):
                columns.append((f"{label}, {where}", functools.partial(value, key=key)))
        columns.append((label, lambda cell, c, key=key: text(rows.mean(cell, c, key), DIGITS.get(key, 3))))
    if pairs:
        page.table(caption, ["cell", "contender", "runs", *(label for label, _ in columns)],
                   [[cell, c, len(rows.values(cell, c, keys[0])), *(value(cell, c) for _, value in columns)]
                    for cell, c in pairs], name)


class Goals:
    """Rows [goal, cell, contender, bound, result]; cells without runs are left out."""

    def __init__(self, rows):
        self.rows = rows
        self.out = []

    def add(self, goal, cell, who, bound, value, below=False):
        """VALUE: a number, or a pair of a number and the contender that it refers to."""
        value, *over = value if isinstance(value, tuple) else (value,)
        if value is not None:
            met = value < bound if below else value >= bound
            self.out.append([goal, cell, who, f"{'<' if below else '>='} {bound:g}",
                             " ".join([f"{'met' if met else 'missed'}: {value:.4g}", *(f"({o})" for o in over)])])

    def ratio(self, cell, who, others, key):
        """Returns (WHO's mean divided by that of one of OTHERS, which one), for all of them that were run."""
        found = ((stats.paired_ratio(self.rows.values(cell, who, key), self.rows.values(cell, o, key)), o)
                 for o in others)
        return [(e.value, o) for e, o in found if e]

    def utilisation(self):
        """At least one setting has to meet both bounds."""
        goals = {"5.1.1": 0.99, "5.1.1-reverse": 0.97}
        means = {who: {cell: self.rows.mean(cell, who, "utilisation") for cell in goals} for who in ARC}
        means = {who: m for who, m in means.items() if all(m.values())}
        if means:
            best = max(means, key=lambda who: min(means[who][cell].value - goals[cell] for cell in goals))
            for cell, bound in goals.items():
                self.add("utilisation", cell, best, bound, means[best][cell].value)

    def fairness(self, cell, who):
        for key, bound in (("J10", 0.98), ("Jend", 0.995)):
            mean = self.rows.mean(cell, who, key)
            self.add(f"Jain, {'10 s after the start' if key == 'J10' else 'at the end'}", cell, who, bound,
                     mean and mean.value)

    def burstiness(self, cell, who):
        """Burstiness of the rate, as in the paper."""
        for goal, others in (("burstiness over Reno's", ("reno",)), ("burstiness over the smoothest TFRC's", TFRC)):
            self.add(goal, cell, who, 1, max(self.ratio(cell, who, others, "burst_rate"), default=None), below=True)

    def wireless(self, cell, who):
        self.add("goodput on the lossy last hop over Reno's", cell, who, 4,
                 min(self.ratio(cell, who, ("reno",), "c1_mbps"), default=None))
        self.add("goodput on the lossy last hop over the best TFRC's", cell, who, 1.5,
                 min(self.ratio(cell, who, TFRC, "c1_mbps"), default=None))

    def friendliness(self, cell, who):
        self.add("Reno's share over what the friendliest TFRC leaves it", cell, who, 1,
                 min(self.ratio(cell, who, TFRC, "reno_mbps"), default=None))


def goals_of(rows):
    goals = Goals(rows)
    goals.utilisation()
    for cell in ("5.1.3", "5.1.4-m20"):
        for who in ARC:
            goals.fairness(cell, who)
    for cell in ("5.1.1", "5.1.1-reverse", "5.1.2", "5.1.3", "5.1.5"):
        for who in ARC:
            goals.burstiness(cell, who)
    for cell in (c for c in rows.cells() if c.startswith("5.2.4-")):
        for who in ARC:
            goals.wireless(cell, who)
    for m in MIXES:
        goals.friendliness(f"5.1.6-m{m}", "arc")
    return goals.out


def wireless_table(rows, page):
    """Section 5.2, scenario 4: the paper has 4 to 26 times Reno's goodput and 1.5 to 11 times TFRC's."""
    out = []
    for cell in (c for c in rows.cells() if c.startswith("5.2.4-")):
        for who in ordered(rows, cell)[0]:
            values = rows.values(cell, who, "c1_mbps")
            kbps = stats.mean(1e3 * v for v in values.values())
            over = [text(stats.paired_ratio(values, rows.values(cell, o, "c1_mbps")), 2) if who != o else None
                    for o in ("reno", *TFRC[:1])]
            arc = who in ARC
            out.append([cell, who, len(values), text(kbps, 1), over[0], "4-26" if arc else None, over[1],
                        "1.5-11" if arc else None])
    if out:
        page.table("Section 5.2, scenario 4: C1 over ten hops of Reno traffic and a lossy last hop",
                   ["cell", "C1", "runs", "kbit/s", "over Reno's", "paper", f"over {TFRC[0]}'s", "paper"], out, "5.2.4")


def sweep_table(rows, page):
    """The share that ARC's parameters leave Reno in the mixes, and their cost in other cells."""
    if not rows.contenders("5.1.6-m30"):
        return
    mixes = [f"5.1.6-m{m}" for m in (10, 30, 50)]
    everybody = ordered(rows, "5.1.6-m30")
    out = []
    for who in everybody[0] + everybody[1]:
        shares = [rows.mean(cell, who, "reno_mbps") for cell in mixes]
        left = [min(Goals(rows).ratio(cell, who, TFRC, "reno_mbps"), default=None) for cell in mixes]
        out.append([who, *(text(e, 3) for e in shares),
                    "yes" if who.startswith("arc") and None not in left and min(left)[0] >= 1 else None,
                    *(text(rows.mean(cell, who, key), digits) for cell, key, digits in
                      (("5.1.1", "utilisation", 3), ("5.1.1-reverse", "utilisation", 3),
                       ("5.1.1-reverse", "burst_rate", 3), ("5.1.4-m20", "J10", 3), ("5.1.4-m20", "Jend", 4),
                       ("5.1.4-m20", "loss", 4)))])
    page.text("Reno's total beside 10, 30 and 50 of them, of 60; its fair shares of 10 Mbit/s are 8.33, 5 and 1.67. "
              "Friendly: Reno has at least what the friendliest TFRC leaves it in all three.")
    page.table("ARC's parameters and friendliness",
               ["who", "Reno's Mbit/s, m10", "m30", "m50", "friendly", "5.1.1 utilisation",
                "5.1.1-reverse utilisation", "burstiness", "5.1.4-m20 J10", "J at the end", "loss"], out, "sweep")


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished yet.")
        return
    page.heading("Goals")
    out = goals_of(rows)
    page.text("Goals against the smoothest, the friendliest or the best TFRC hold ARC against more variants than the paper's, "
              f"{PAPER_TFRC}: the result names the one that counts.")
    page.goals("Goals", ["what", "cell", "who", "goal", "result"], out, "goals")
    page.heading("Tables")
    page.text("Goodput is counted from a flow's start to the end. Burstiness: standard deviation over mean, each "
              "second. Rise and fall: until the rates' sum is within 10 % of what the CBR source leaves, in RTTs of "
              "250 ms. The paper's TFRC, and ns-2's, is tfrc:selfclock,damp.")
    one = ("utilisation", "mbps", "loss", "burst_rate", "burst_tx1s")
    hops = ("c1_mbps", "even_mbps", "total_mbps", "c1_loss")
    fair = ("J10", "J20", "J100", "Jend", "IJmean", "IJmin")
    for name, caption, keys in (
            ("5.1.1", "one flow, without and with reverse traffic", one),
            ("5.1.2", "one flow and an on-off CBR source", one[1:] + ("rise_rtts", "fall_rtts")),
            ("5.1.3", "twenty flows and an on-off CBR source", one[1:] + fair + ("rise_rtts", "fall_rtts")),
            ("5.1.4", "many flows; forty flows and the buffer in % of 208 packets",
             ("utilisation", "mbps", "loss") + fair),
            ("5.1.5", "one flow, one Reno flow and an on-off CBR source",
             ("mbps", "reno_mbps", "loss", "reno_loss", "burst_rate", "burst_tx1s")),
            ("5.1.6", "M flows among 60 - M Reno flows", ("reno_mbps", "mbps", "utilisation", "reno_loss", "loss")),
            ("5.2.1", "all flows alike", hops),
            ("5.2.2", "C1 among Reno flows", hops),
            ("5.2.3", "C1 is Reno, the others are not", hops)):
        what = f"Section 5.2, scenario {name[-1]}" if name.startswith("5.2") else f"Section {name}"
        section(rows, page, f"{what}: {caption}", name, keys, name)
    wireless_table(rows, page)
    sweep_table(rows, page)
    page.heading("Figures")
    arc_plots.write(rows, page, ns2)
