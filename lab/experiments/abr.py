# SPDX-License-Identifier: GPL-2.0-or-later
"""Which policy chooses the levels of a film best: Weir's `auto` beside BOLA-E, DYNAMIC, RobustMPC and the throughput rule, and
the optimum of a viewer that knows the future, over many traces of paths, in simulation (weir-sim abr).

The traces are generated (lab/traces/paths.py), 40 a family, or those of --traces DIR: each folder in it is a family, or DIR is
one. A family whose traces are mostly more than twice as fast as the top level is scaled: each trace to 2 Mbit/s.

`auto` is streamed, as Weir sends; the others request a group at a time, as players over HTTP do. All have 30 s of buffer and a
round trip of 50 ms. One run of a contender views the film over all traces of a family.
"""
import json
import os
import statistics
import subprocess

from lab.experiment import Cell, Experiment, seed_of
from lab.experiments import abr_report
from lab.run import Failed, program
from lab.traces import paths

REFERENCES = ["bola-e", "dynamic", "robust-mpc", "throughput"]
CONTENDERS = ["auto", *REFERENCES, "optimum"]
FILMS = ["goddard", "vbr:1"]
GENERATED = 40
TOP_MBIT = 1.92
SCALED_KBPS = 2000
AT_ONCE = 200  # traces of one call of weir-sim


def mean_mbit(path):
    """Returns the mean rate of a trace of either form (lab/abr/rate_trace.h)."""
    with open(path, encoding="ascii") as f:
        rows = [[float(x) for x in line.split()] for line in f if line.strip() and line[0] != "#"]
    if len(rows[0]) == 1:
        return len(rows) * 12e3 / max(rows[-1][0], 1) / 1e3
    spans = [(b[0] - a[0], a[1]) for a, b in zip(rows, rows[1:])]
    return sum(t * mbit for t, mbit in spans) / sum(t for t, _ in spans) if spans else rows[0][1]


def files_of(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if os.path.isfile(os.path.join(folder, name)) and not name.startswith((".", "README")))


def families_of(directory):
    """Returns {family: its files} of a folder of traces, or of folders of traces."""
    inner = {name: files_of(os.path.join(directory, name)) for name in sorted(os.listdir(directory))
             if os.path.isdir(os.path.join(directory, name))}
    return {name: files for name, files in inner.items() if files} or {os.path.basename(directory): files_of(directory)}


def generated(context, family):
    """Writes the family's traces, the same for every contender, and returns their paths."""
    folder = os.path.join(context.directory, "traces")
    os.makedirs(folder, exist_ok=True)
    files = []
    for i in range(context.cell.params["traces"]):
        files.append(os.path.join(folder, f"{i:03d}.txt"))
        paths.write(family, seed_of(family, i), files[-1])
    return files


def viewed(build, files, *words):
    """Returns the lines that weir-sim abr prints, one a trace."""
    lines = []
    for at in range(0, len(files), AT_ONCE):
        argv = [program(build, "weir-sim"), "abr", *words, *files[at:at + AT_ONCE]]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=7200, check=False)
        if done.returncode != 0:
            raise Failed(f"{' '.join(argv[:12])} ... ended with {done.returncode}: {done.stderr[-1000:]}")
        lines += [json.loads(line) for line in done.stdout.splitlines()]
    return lines


def one(context):
    p = context.cell.params
    files = p.get("files") or generated(context, p["family"])
    words = ["--policy", context.contender, "--film", p["film"], "--seconds", str(p["seconds"])]
    if context.contender in REFERENCES:
        words.append("--segments")
    scaled = statistics.median(map(mean_mbit, files)) > 2 * TOP_MBIT
    if scaled:
        words += ["--mean", str(SCALED_KBPS)]
    if context.contender == "auto":
        words += ["--decisions", context.kept("csv")]
    lines = viewed(context.build, files, *words)
    for line in lines:
        line["trace"] = os.path.basename(line["trace"])
    return {"traces": lines, "scaled": scaled}


def check(rows):
    """Returns what cannot be: a policy above the optimum, a film that did not end."""
    failed = []
    best = {row["cell"]: [t["qoe"] for t in row["figures"]["traces"]] for row in rows if row["contender"] == "optimum"}
    for row in rows:
        for i, t in enumerate(row["figures"]["traces"]):
            name = f"{row['cell']} {row['contender']} {t['trace']}"
            if row["contender"] != "optimum" and not t["complete"]:
                failed.append(f"{name}: the film did not end")
            # The optimum's start may take 1 s; a first group more or less is what a later one gains.
            if row["cell"] in best and t["qoe"] > best[row["cell"]][i] + 0.01:
                failed.append(f"{name}: QoE {t['qoe']:.3f} is above the optimum, {best[row['cell']][i]:.3f}")
    return failed


def experiment(quick, options):
    seconds = 120 if quick else 600
    if "traces" in options:
        found = families_of(options["traces"])
        if not any(found.values()):
            raise SystemExit(f"{options['traces']}: no traces in this folder")
        given = [{"family": name, "files": files[:4] if quick else files} for name, files in found.items()]
    else:
        given = [{"family": name, "traces": 4 if quick else GENERATED} for name in paths.FAMILIES]
    cells = [Cell(f"{g['family']} {film.partition(':')[0]}", {**g, "film": film, "seconds": seconds})
             for film in FILMS for g in given]
    return Experiment("abr", "Films: which policy chooses the levels best", cells, CONTENDERS, one, abr_report.write, runs=1,
                      seconds=15, check=check)
