# SPDX-License-Identifier: GPL-2.0-or-later
"""An experiment is cells x contenders x seeds and a function that makes one run and returns its figures.

Runs are paired: run k of a cell has the same seed for every contender. Contenders take turns, so slow changes on the
machine affect all of them equally. Each finished run is one line of results/NAME/runs.jsonl.
"""
import datetime
import importlib
import json
import multiprocessing
import os
import pkgutil
import platform
import re
import shutil
import sys
import time
import traceback
import zlib
from dataclasses import dataclass, field
from typing import Callable

from lab import net, run as programs

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass(frozen=True)
class Cell:
    """One condition. Cells with default=False run only if --only selects them."""
    name: str
    params: dict
    default: bool = True
    contenders: tuple = ()  # if not empty, replaces the experiment's contenders


@dataclass(frozen=True)
class Stand:
    """A contender that takes the place of a protocol of a paper, whose figures and claims the report holds against it."""
    contender: str
    protocol: str  # of the paper, with its section
    differs: str = ""  # from what the paper describes


@dataclass
class Experiment:
    name: str
    title: str
    cells: list
    contenders: list
    run: Callable  # (Context) -> dict of figures
    report: Callable  # (list of rows, Report) -> None
    runs: int = 8
    seconds: float = 60  # approximate duration of a run
    check: Callable = None  # (list of rows) -> list of failures as texts; determines the exit code
    missing: Callable = None  # (contender, build) -> what the machine lacks for it, as a text, or None
    options: dict = field(default_factory=dict)
    papers: tuple = ()  # a Stand for each contender whose figures are next to a paper's
    quick: bool = False
    judged: tuple = ()  # of the quick version: patterns of the goals that it can judge (report.Report)
    named: dict = field(default_factory=dict)  # {contender that runs only if --only names it: names of its cells}


@dataclass(frozen=True)
class Job:
    """One run."""
    cell: Cell
    contender: str
    run: int

    @property
    def key(self):
        return self.cell.name, self.contender, self.run

    @property
    def seed(self):
        return seed_of(self.cell.name, self.run)


def seed_of(cell, run):
    """Returns the seed that all contenders of a cell share in one run."""
    return zlib.crc32(f"{cell}:{run}".encode()) & 0x7fffffff


@dataclass
class Context:
    """The argument of a run function."""
    experiment: Experiment
    cell: Cell
    contender: str
    run: int
    seed: int
    build: str
    directory: str  # logs of this run
    results: str  # results/NAME
    prefix: str
    is_real: bool = False  # programs run: the figures depend on the machine

    def world(self, **kwargs):
        self.is_real = True
        return net.World(self.directory, self.build, self.prefix, **kwargs)

    def kept(self, kind):
        """Returns a path for data that the report reads in addition to the figures; every caller gets the same path."""
        return kept_path(self.results, self.cell.name, self.contender, self.run, kind)


def safe(text):
    return "".join(c if c.isalnum() or c in ".-" else "_" for c in text)


def kept_path(results, cell, contender, run, kind):
    return os.path.join(results, "series", f"{safe(cell)}--{safe(contender)}--{run}.{kind}")


def names():
    """Returns the names of all experiments."""
    from lab import experiments
    found = []
    for module in sorted(m.name for m in pkgutil.iter_modules(experiments.__path__)):
        if hasattr(importlib.import_module(f"lab.experiments.{module}"), "experiment"):
            found.append(module)
    return found


def load(name, quick=False, options=None):
    """Returns the experiment of lab/experiments/NAME.py: the result of its experiment(quick, options)."""
    e = importlib.import_module(f"lab.experiments.{name}").experiment(quick, options or {})
    e.quick = quick
    return e


def named(experiment, only):
    """Returns {contender: names of its cells} of those that run because ONLY names them."""
    return {c: cells for c, cells in experiment.named.items() if any(c in pattern for pattern in only)}


def plan(experiment, runs, only=()):
    """Returns all jobs in order: every cell and contender once, then again with the next seed."""
    jobs = []
    for run in range(runs):
        for cell in experiment.cells:
            if not only and not cell.default:
                continue
            contenders = [*(cell.contenders or experiment.contenders),
                          *(c for c, cells in named(experiment, only).items() if cell.name in cells)]
            turn = run % len(contenders)
            for contender in contenders[turn:] + contenders[:turn]:
                if all(re.search(pattern, f"{cell.name} {contender}") for pattern in only):
                    jobs.append(Job(cell, contender, run))
    return jobs


def possible(experiment, jobs, build):
    """Returns (the jobs that this machine can run, {contender: what it lacks for the others})."""
    lacks = {c: experiment.missing(c, build) if experiment.missing else None
             for c in dict.fromkeys(job.contender for job in jobs)}
    return [job for job in jobs if not lacks[job.contender]], {c: why for c, why in lacks.items() if why}


class Results:
    """results/NAME/runs.jsonl: one line per run, appended whole or not at all."""

    def __init__(self, directory):
        self.directory = directory
        self.path = os.path.join(directory, "runs.jsonl")
        os.makedirs(os.path.join(directory, "series"), exist_ok=True)

    def set_aside(self):
        """Renames the file of earlier runs, which keeps them."""
        if os.path.exists(self.path):
            stamp = datetime.datetime.fromtimestamp(os.path.getmtime(self.path)).strftime("%Y%m%d-%H%M%S")
            os.replace(self.path, os.path.join(self.directory, f"runs-{stamp}.jsonl"))

    def append(self, row):
        """Writes one line in one call. If a crash left an incomplete line, ends that first; read() then skips it."""
        line = (json.dumps(row) + "\n").encode()
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":
                line = b"\n" + line
            os.write(fd, line)
            os.fsync(fd)
        finally:
            os.close(fd)

    def read(self):
        """Returns the last row of each run, including failed ones."""
        rows = {}
        try:
            with open(self.path, encoding="utf-8") as f:
                for line in f:
                    try:
                        row = json.loads(line)
                        rows[row["cell"], row["contender"], row["run"]] = row
                    except (ValueError, KeyError, TypeError):
                        continue
        except FileNotFoundError:
            pass
        return list(rows.values())


def core_seconds():
    """Returns (all, idle) time of all cores since the machine started, in ticks."""
    with open("/proc/stat", encoding="ascii") as f:
        ticks = [int(n) for n in f.readline().split()[1:9]]  # user nice system idle iowait irq softirq steal
    return sum(ticks), ticks[3] + ticks[4]


def one_run(task):
    """Makes one run (perhaps in a worker) and returns its row: figures, or the error that ended it."""
    name, quick, options, key, build, results = task
    experiment = load(name, quick, options)
    cell = next(c for c in experiment.cells if c.name == key[0])
    directory = os.path.join(results, "logs", f"{safe(key[0])}--{safe(key[1])}--{key[2]}")
    shutil.rmtree(directory, ignore_errors=True)
    context = Context(experiment, cell, key[1], key[2], seed_of(key[0], key[2]), build, directory, results,
                      f"w{os.getpid()}")
    row = {"cell": key[0], "contender": key[1], "run": key[2], "seed": context.seed,
           "started_at": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
           "kernel": platform.release()}
    start, before = time.monotonic(), core_seconds()
    try:
        row["figures"] = experiment.run(context)
    except programs.Failed as e:
        row["error"] = str(e)
    except Exception:  # a failed run must not end the others
        row["error"] = traceback.format_exc()
    seconds = time.monotonic() - start
    row["seconds"] = round(seconds, 1)
    if context.is_real:
        now = core_seconds()
        row["cores"] = os.cpu_count()
        row["busy"] = round(1 - (now[1] - before[1]) / max(now[0] - before[0], 1), 3)  # by all programs of the machine
    return row


def _clock(seconds):
    seconds = round(seconds)
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def execute(experiment, jobs, results, build, quick=False, options=None, workers=1):
    """Makes all runs that are missing in results; returns how many failed."""
    done = {(r["cell"], r["contender"], r["run"]) for r in results.read() if "figures" in r}
    todo = [job for job in jobs if job.key not in done]
    tasks = [(experiment.name, quick, options, job.key, build, results.directory) for job in todo]
    if len(jobs) > len(todo):
        print(f"{len(jobs) - len(todo)} of {len(jobs)} runs already exist", flush=True)
    started, failed = time.monotonic(), 0
    pool = multiprocessing.get_context("spawn").Pool(workers) if workers > 1 else None
    rows = pool.imap_unordered(one_run, tasks) if pool else map(one_run, tasks)
    print(f"{len(todo)} runs, about {_clock(len(todo) * experiment.seconds / workers)}", flush=True)
    for count, row in enumerate(rows, 1):
        results.append(row)
        error = row.get("error")
        failed += error is not None
        left = (time.monotonic() - started) / count * (len(todo) - count)
        print(f"[{count}/{len(todo)}, {_clock(left)} left] {row['cell']} {row['contender']} run {row['run']}: "
              + ("FAILED" if error else f"{row['seconds']:.0f} s"), flush=True)
        if error:
            print(error.rstrip(), file=sys.stderr, flush=True)
    if pool:
        pool.close()
        pool.join()
    return failed
