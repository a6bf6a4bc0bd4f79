# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes traces of paths as viewers of films have them: lines of seconds and Mbit/s (lab/abr/rate_trace.h).

Each family is a process that was fitted to public traces, by the moments named here, over half of the traces of each:

    mean       of a trace, Mbit/s: lognormal, by its median and the standard deviation of its logarithm
    spread     standard deviation of ln(rate) about a trace's mean, drawn for each trace from a uniform range
    kept       correlation of ln(rate) from one step to the next: an AR(1) process
    outage     chance a step that the path carries almost nothing (.02 Mbit/s), and the mean length of it, steps

puffer     viewers of Stanford's Puffer (CC BY 4.0), steps of 2 s
hsdpa      3G in trams, trains, buses, ferries and cars (Riiser et al. 2013), steps of 1 s
lte-ghent  4G on foot and in vehicles (van der Hooft et al. 2016), steps of 1 s
"""
import dataclasses
import math

import numpy as np

SECONDS = 620
MIN_MBIT = 0.02


@dataclasses.dataclass(frozen=True)
class Family:
    step: float
    median_mbit: float
    mean_spread: float
    spread: tuple
    kept: float
    outage: float
    outage_steps: float


FAMILIES = {
    "puffer": Family(2, 1.68, 0.66, (0.23, 1.30), 0.45, 0.0216, 1.5),
    "hsdpa": Family(1, 1.10, 0.72, (0.56, 1.06), 0.90, 0.0127, 8.1),
    "lte-ghent": Family(1, 31.95, 0.26, (0.41, 0.70), 0.76, 0.0023, 1.8),
}


def rates(family, seed, seconds=SECONDS):
    """Returns the rate of each step, Mbit/s."""
    f, rng = FAMILIES[family], np.random.default_rng(seed)
    mean = f.median_mbit * math.exp(f.mean_spread * rng.standard_normal())
    spread = rng.uniform(*f.spread)
    x, outage, out = spread * rng.standard_normal(), 0, []
    for _ in range(math.ceil(seconds / f.step)):
        x = f.kept * x + math.sqrt(1 - f.kept ** 2) * spread * rng.standard_normal()
        if outage == 0 and rng.random() < f.outage:
            outage = int(rng.geometric(1 / f.outage_steps))
        out.append(MIN_MBIT if outage else mean * math.exp(x - spread ** 2 / 2))
        outage = max(0, outage - 1)
    return out


def write(family, seed, path, seconds=SECONDS):
    with open(path, "w", encoding="ascii") as f:
        for i, mbit in enumerate(rates(family, seed, seconds)):
            f.write(f"{i * FAMILIES[family].step:g} {mbit:.4g}\n")
