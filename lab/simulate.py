# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs weir-sim and reads its output. `weir-sim --help` explains the words."""
import csv
import json
import subprocess

from lab.run import Failed, program


class Simulation:
    """The output of one run, by kind of line: flows, groups, hops, and the run; series: rows of the CSV, if requested."""

    def __init__(self, text, series):
        self.lines = [json.loads(line) for line in text.splitlines()]
        self.series = series

    def all(self, what):
        return [line for line in self.lines if line["what"] == what]


def simulate(build, seed, seconds, *words, series=None, step=1, timeout=600):
    """series: a path for the CSV of each flow's totals and state; its rows are returned as dicts."""
    argv = [program(build, "weir-sim"), "--seed", str(seed), "--seconds", str(seconds), *words]
    if series:
        argv += ["--series", series, "--step", str(step)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(argv)} ended with {done.returncode}: {done.stderr[-1000:]}")
    rows = []
    if series:
        with open(series, encoding="ascii", newline="") as f:
            rows = list(csv.DictReader(f))
    return Simulation(done.stdout, rows)
