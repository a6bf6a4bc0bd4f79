# SPDX-License-Identifier: GPL-2.0-or-later
"""Live media over radio links: Weir's transports, Chrome's WebRTC with both of its controllers, and SRT, as in experiment rmcat,
over traces. Without --traces DIR they are generated (lab/traces/generate.py); DIR has recorded ones, of which each run takes the
next part. All are scaled to the same mean. The row "limit" is what a sender could reach that knows the future.
"""
import os

from lab import rmcat, streaming
from lab.experiment import Cell, Experiment
from lab.experiments import radios_report
from lab.experiments.rmcat import CONTENDERS, LEAD, WARM, of_case
from lab.traces import generate, recorded

MEAN_MBIT = 2.5
SECONDS = 60
ONE_WAY_MS = 25
QUEUE_MS = 300


def case_of(name, trace):
    hop = rmcat.Hop(((0.0, MEAN_MBIT),), delay_ms=ONE_WAY_MS, trace=trace)
    return rmcat.Case(name, "a radio link", SECONDS, (hop,), (rmcat.Media(0, SECONDS - 1),),
                      f"droptail:{round(QUEUE_MS * MEAN_MBIT * 1e3 / 8)}B")


def one(context):
    case = case_of(context.cell.name, context.cell.params["trace"])
    figures = of_case(context, case, SECONDS)
    times = recorded.read(os.path.join(context.directory, "link.trace"))
    begin, end = (LEAD + WARM) * 1e3, (LEAD + case.media[0].end) * 1e3
    return figures | {"limit_mbps": figures["media_mbps"] / figures["use"], "limit_frozen": recorded.unavoidable(times, begin, end)}


def check(rows):
    failed = []
    for row in rows:
        f, what = row["figures"], f"{row['cell']} {row['contender']}"
        failed += [f"{what}: {text}" for text in streaming.implausible(f, ONE_WAY_MS)]
        if not 0.05 < f["use"] < 1.15:
            failed.append(f"{what}: {f['use']:.2f} of the link used, 0.05 to 1.15 expected")
    return failed


def files_of(folder):
    """Returns {name: path} of the traces in a folder and in its folders."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            try:
                recorded.read(path)
            except ValueError:
                continue  # a README
            found[os.path.relpath(path, folder)] = path
    return dict(sorted(found.items()))


def experiment(quick, options):
    given = {kind: kind for kind in ("lte", "wifi") if kind in generate.KINDS}
    if "traces" in options:
        given = files_of(options["traces"])
        if not given:
            raise SystemExit(f"{options['traces']}: no traces in this folder")
    cells = [Cell(name, {"trace": trace}, True, ("scream", "minbuf:1,3") if quick else ()) for name, trace in given.items()]
    return Experiment("radios", "Live media over radio links" + (" (quick)" if quick else ""), cells, list(CONTENDERS), one,
                      radios_report.write, runs=1 if quick else 3, seconds=SECONDS + LEAD + 5, check=check, missing=streaming.missing)
