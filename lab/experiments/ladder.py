# SPDX-License-Identifier: GPL-2.0-or-later
"""What films of different kinds need at equal quality: the ladder by content of weir-send --prepare against the fixed one.

Each film is prepared with either ladder. Its points, the bits and the SSIM of each level over the film, are those of its own
table, whose SSIM is against the source at the source's size. Between two points the logarithm of the rate is linear in dB. The
difference is the mean over the range of SSIM that both ladders have (Bjontegaard, VCEG-M33, with lines in place of cubics).
"""
import math
import os
import subprocess

import numpy as np

from lab import film, kinds
from lab.experiment import Cell, Experiment
from lab.rows import Rows
from lab.run import Failed, Process, program

CONTENDERS = ["fixed", "content"]
MAX_DIFFERENCE, MAX_CPU = -0.15, 1.3  # the goals: of bits, and of CPU time
STEPS = 400  # of the range of SSIM


def points_of(path):
    """Returns [(kbit/s, SSIM)] of the levels of a prepared file."""
    lengths, sizes, quality = film.rows_of(film.attached(path))
    seconds = sum(lengths)
    return [(sum(row[level] for row in sizes) * 8 / seconds / 1e3,
             sum(length * (1 - 10 ** (-row[level] / 10)) for length, row in zip(lengths, quality)) / seconds)
            for level in range(len(sizes[0]))]


def decibels(ssim):
    return -10 * math.log10(max(1 - ssim, 1e-9))


def curve_of(points):
    """Returns (dB, logarithms of the rates) of the levels that look better than all below."""
    curve = []
    for kbps, ssim in points:
        if not curve or decibels(ssim) > curve[-1][0]:
            curve.append((decibels(ssim), math.log(kbps)))
    return [list(axis) for axis in zip(*curve)]


def difference(before, after):
    """Returns (the mean of the bits that AFTER has more, as a part of BEFORE's, lowest and highest SSIM of both), or None."""
    a, b = curve_of(before), curve_of(after)
    low, high = max(a[0][0], b[0][0]), min(a[0][-1], b[0][-1])
    if low >= high:
        return None
    places = np.linspace(low, high, STEPS)
    more = np.mean(np.interp(places, *b) - np.interp(places, *a))
    return math.exp(more) - 1, 1 - 10 ** (-low / 10), 1 - 10 ** (-high / 10)


def one(context):
    os.makedirs(context.directory, exist_ok=True)
    source = kinds.make(context.cell.name, os.path.join(context.results, "films"), context.experiment.options["length"])
    own = os.path.join(context.directory, "film.mkv")
    os.link(source, own)
    argv = [program(context.build, "weir-send"), "--prepare", "--ladder", context.contender, own]
    process = Process(None, argv, os.path.join(context.directory, "prepare.log"))
    if process.wait(7200) != 0:
        raise process.failed("cannot prepare the film")
    try:
        points = points_of(own + ".weir.mkv")
    except ValueError as e:
        raise Failed(f"{own}: {e}") from e
    for path in own, own + ".weir.mkv":
        os.remove(path)
    return {"points": points, "cpu": process.cpu}


def line_of(rows, cell):
    """Returns (the table's line of a film, difference of bits, ratio of CPU times), or None if a run is missing."""
    found = [list(rows.values(cell, contender, "points").values()) for contender in CONTENDERS]
    if not all(found):
        return None
    fixed, content = (some[0] for some in found)  # those of all runs are the same
    cpu = rows.mean(cell, "content", "cpu").value / rows.mean(cell, "fixed", "cpu").value
    text = [f"{len(p)}, up to {p[-1][0]:.0f} kbit/s and SSIM {p[-1][1]:.3f}" for p in (fixed, content)]
    result = difference(fixed, content)
    if not result:
        return [cell, *text, "no common SSIM", "", f"{cpu:.2f}"], None, cpu
    return [cell, *text, f"{100 * result[0]:+.0f} %", f"{result[1]:.3f} to {result[2]:.3f}", f"{cpu:.2f}"], result[0], cpu


def verdict(met, text):
    return f"{'met' if met else 'missed'}: {text}"


def write(found, report):
    rows = Rows(found)
    lines = [line for line in (line_of(rows, cell) for cell in rows.cells()) if line]
    if not lines:
        return
    report.table("Films", ["film", "fixed: levels", "by content: levels", "bits at equal SSIM", "of", "CPU time, content / fixed"],
                 [line for line, _, _ in lines], "films")
    bits = [more for _, more, _ in lines if more is not None]
    cpu = np.mean([ratio for _, _, ratio in lines])
    goals = [["CPU time of preparing", verdict(cpu <= MAX_CPU, f"{cpu:.2f} times, at most {MAX_CPU}")]]
    if bits:
        goals.insert(0, ["bits at equal SSIM", verdict(np.mean(bits) <= MAX_DIFFERENCE,
                                                       f"{100 * np.mean(bits):+.1f} %, at most {100 * MAX_DIFFERENCE:+.0f} %")])
    report.goals("Mean over the films", ["", "goal"], goals, "goals")
    for row in found:
        name = f"{row['cell']} {row['contender']}"
        report.table(name, ["kbit/s", "SSIM"], [[f"{kbps:.0f}", f"{ssim:.4f}"] for kbps, ssim in row["figures"]["points"]])


def check(rows):
    """Returns what cannot be."""
    failed = []
    for row in rows:
        points = row["figures"]["points"]
        if any(not 0 < ssim < 1 for _, ssim in points) or points[-1][1] <= points[0][1]:
            failed.append(f"{row['cell']} {row['contender']}: the top level looks no better than the lowest: {points}")
    return failed


def missing(_contender, _build):
    done = subprocess.run(["ffmpeg", "-v", "quiet", "-h", "filter=drawtext"], capture_output=True, text=True, check=False)
    return None if "drawtext" in done.stdout and os.path.exists(kinds.FONT) else "ffmpeg with drawtext, and fonts-dejavu-core"


def experiment(quick, _options):
    names = list(kinds.KINDS)[:2] if quick else list(kinds.KINDS)
    return Experiment("ladder", "Levels by content" + (" (quick)" if quick else ""), [Cell(name, {}) for name in names], CONTENDERS,
                      one, write, runs=1, seconds=12 if quick else 40, check=check, missing=missing,
                      options={"length": 4 if quick else 10}, judged=() if quick else ())
