# SPDX-License-Identifier: GPL-2.0-or-later
"""The evidence for the papers' tables and figures, which accumulates: each finished run is a line of lab/evidence/*.csv, and counts
until the code that it depends on changes. docs/lab.md explains it."""
import collections
import csv
import datetime
import functools
import hashlib
import json
import os
import platform
import re
import subprocess
import time
from dataclasses import dataclass

from lab import experiment, report

ROOT = experiment.ROOT
DIRECTORY = os.path.join(ROOT, "lab", "evidence")
PAGES = os.path.join(ROOT, "docs", "papers")
BUSY_MAX = 0.1  # of all cores, by other programs, where a run of programs begins

LAWS = ("common/congestion", "common/mtp", "common/protocol/datagram_receiver.c", "common/protocol/datagram_sender.c",
        "common/protocol/minbuf.c", "common/repair", "lab/link")
SIMULATED = (*LAWS, "lab/sim", "lab/simulator", "lab/simulate.py")
PROGRAMS = (*LAWS, "common/net/receive_batch.c", "common/net/tcp_conn.c", "common/net/udp_socket.c", "common/transport",
            "lab/emulator/emulator.c", "lab/traffic", "lab/live.py", "lab/net.py", "stream/receive", "stream/send")
POLICY = ("stream/goddard", "stream/playout")
PROXY = ("proxy/bridge", "proxy/feed", "proxy/policy", "lab/experiments/proxy_cells.py")


@dataclass(frozen=True)
class Item:
    """Tables or figures of a paper, and the runs that they want."""
    page: str  # docs/papers/PAGE.md
    what: str
    experiment: str  # a module of lab/experiments
    only: tuple = ()  # as --only's
    first: str = ""  # a pattern of the cells that carry most of the paper's claims
    runs: int = 5  # seeds
    rooms: tuple = SIMULATED  # files and folders: a run counts while their code stands
    options: tuple = ()  # of the experiment, as pairs

    def load(self):
        return experiment.load(self.experiment, options=dict(self.options))

    @property
    def command(self):
        name = dict(self.options).get("controller", self.experiment)
        real = " --real" if name != self.experiment or name.endswith("_real") else ""
        only = "".join(f' --only "{p}"' for p in self.only)
        return f"./run lab {name.removesuffix('_real').replace('_', '-')}{real}{only}"


@dataclass(frozen=True)
class Paper:
    title: str
    without: tuple = ()  # (table or figure, why no run has it)


PAPERS = {
    "minbuf": Paper("Goel, Krasic, Li, Walpole: Supporting Low Latency TCP-Based Media Streams, 2002"),
    "mtp": Paper("Chung, Claypool, Kinicki: MTP: A Streaming-Friendly Transport Protocol, 2005",
                 (("Figs. 1, 3, 4", "tests/unit/common/mtp/mtp_sender_test.cpp has each of their packets"),)),
    "arc": Paper("Grieco, Mascolo: Adaptive rate control for streaming flows over the Internet, 2004"),
    "psp": Paper("A. Feng, W. Feng, Belford: Packet spacing, 2001", (("Figs. 1, 2", "drawings without a measurement"),)),
    "thesis": Paper("TFRC, layered streams and the proxy: the thesis",
                    (("Fig. 24", "no experiment of the lab repeats it yet"), ("Figs. 54, 55", "a design, which weir-send has"),
                     ("Figs. 56 to 64", "its appendix: not repeated"))),
}

ITEMS = (
    Item("minbuf", "Tables 1 to 3, Figs. 2 to 10", "minbuf", (r"-reno(2002)? (tcp|minbuf:1,0|minbuf:1,3)",),
         first="^(30mbit-100ms|12mbit-50ms)-", rooms=PROGRAMS),
    Item("mtp", "Figs. 2 and 5", "mtp_tcp", runs=10),
    Item("mtp", "Figs. 2 and 5 with programs", "real", options=(("controller", "mtp_tcp"),), runs=3, rooms=PROGRAMS),
    Item("mtp", "Figs. 9 to 21", "goddard", runs=7, rooms=SIMULATED + POLICY),
    Item("mtp", "Figs. 9 to 21 with programs", "goddard_real", runs=3, rooms=PROGRAMS + POLICY),
    Item("arc", "Figs. 5 to 31", "arc"),
    Item("arc", "Figs. 5 to 31 with programs", "arc_real", runs=5, rooms=PROGRAMS),
    Item("psp", "Figs. 5 to 19", "psp"),
    Item("psp", "Figs. 5 to 13 with programs", "psp_real", runs=5, rooms=PROGRAMS),
    Item("thesis", "Figs. 17 to 21", "tfrc"),
    Item("thesis", "Figs. 17 to 23 with programs", "layered", rooms=PROGRAMS),
    Item("thesis", "Figs. 28 to 53: the proxy", "proxy", rooms=PROGRAMS + PROXY),
)

COLUMNS = ("cell", "contender", "run", "seed", "code", "commit", "kernel", "machine", "started_at", "seconds", "waited", "figures")


def _plain(path):
    """Returns a file's code without comments and blanks: a change of words changes no figure."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if path.endswith(".py"):
        return "\n".join(line.rstrip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    text = re.sub(r"(?s)/\*.*?\*/", "", text)
    return re.sub(r"\s+", " ", re.sub(r"(?m)(^|\s)//.*$", "", text)).strip()


def files(rooms, root=ROOT):
    """Returns the files of the rooms, in order. A unit is given by its .c file, and has a header."""
    found = set()
    for room in rooms:
        path = os.path.join(root, room)
        if os.path.isdir(path):
            for directory, _, names in os.walk(path):
                found.update(os.path.join(directory, n) for n in names if n.endswith((".c", ".h", ".py")))
        else:
            found.update(p for p in (path, path.removesuffix(".c") + ".h") if os.path.exists(p))
    return sorted(found)


@functools.lru_cache(maxsize=None)
def code_of(rooms, root=ROOT):
    """Returns a hash of the rooms' code."""
    digest = hashlib.sha256()
    for path in files(rooms, root):
        digest.update(f"{os.path.relpath(path, root)}\n{_plain(path)}\n".encode())
    return digest.hexdigest()[:12]


def code(item):
    return code_of((*item.rooms, f"lab/experiments/{item.experiment}.py"))


class Lines:
    """The CSV of an experiment."""

    def __init__(self, name, directory=DIRECTORY):
        self.path = os.path.join(directory, name + ".csv")
        self.all = []
        if os.path.exists(self.path):
            with open(self.path, newline="", encoding="utf-8") as f:
                self.all = list(csv.DictReader(f))

    def append(self, line):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        is_new = not os.path.exists(self.path)
        with open(self.path, "a", newline="", encoding="utf-8") as f:
            writer = csv.DictWriter(f, COLUMNS, lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerow(line)
        self.all.append({k: str(line.get(k, "")) for k in COLUMNS})

    def newest(self, code):
        """Returns {(cell, contender, run): line}: of each run the newest line, and one of this code before any other."""
        found = {}
        for line in self.all:
            key = line["cell"], line["contender"], int(line["run"])
            if key not in found or line["code"] == code or found[key]["code"] != code:
                found[key] = line
        return found


@dataclass(frozen=True)
class State:
    """Of an item: its jobs, those with a run of today's code, and those with one of an earlier code."""
    item: Item
    jobs: tuple
    present: frozenset
    earlier: frozenset


def state(item, lines):
    e = item.load()
    jobs = tuple(experiment.plan(e, item.runs, item.only))
    there = lines.newest(code(item))
    keys = {job.key for job in jobs}
    present = frozenset(k for k, line in there.items() if k in keys and line["code"] == code(item))
    return State(item, jobs, present, frozenset(k for k in there if k in keys) - present)


def missing(states, seconds):
    """Returns (item, job) of what lacks a run of today's code: first what has the fewest runs, with none at all before those of an
    earlier code, then what carries most claims, then the shortest. SECONDS: {experiment: of a run}."""
    todo = []
    for s in states:
        runs = collections.Counter(key[:2] for key in s.present)
        for job in s.jobs:  # in the order of their seeds
            if job.key not in s.present:
                is_first = bool(s.item.first and re.search(s.item.first, job.cell.name))
                todo.append(((runs[job.key[:2]], job.key in s.earlier, not is_first, seconds[s.item.experiment]), s.item, job))
                runs[job.key[:2]] += 1
    return [(item, job) for _, item, job in sorted(todo, key=lambda t: t[0])]


def rows(item, lines):
    """Returns the runs of an item as an experiment's report reads them."""
    keys = {job.key for job in experiment.plan(item.load(), item.runs, item.only)}
    return [{"cell": k[0], "contender": k[1], "run": k[2], "figures": json.loads(line["figures"])}
            for k, line in lines.newest(code(item)).items() if k in keys]


def commit():
    found = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def machine():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
        model = re.search(r"(?m)^(?:model name|Model)\s*:\s*(.*)$", f.read())
    return f"{os.cpu_count()} x {model.group(1) if model else platform.machine()}"


def busy(seconds=1.0):
    """Returns the share of all cores that programs use now."""
    before = experiment.core_seconds()
    time.sleep(seconds)
    now = experiment.core_seconds()
    return 1 - (now[1] - before[1]) / max(now[0] - before[0], 1)


def is_simulated(item):
    return "lab/sim" in item.rooms


def fill(minutes, build, results, only=(), say=print):
    """Makes the runs that are most missing, one after the other, until MINUTES are over. Returns how many failed."""
    deadline = time.monotonic() + 60 * minutes
    lines = {item.experiment: Lines(item.experiment) for item in ITEMS}
    loaded = {item.experiment: item.load() for item in ITEMS}
    todo = missing([state(item, lines[item.experiment]) for item in ITEMS], {name: e.seconds for name, e in loaded.items()})
    todo = [(item, job) for item, job in todo
            if all(re.search(p, f"{item.page} {item.experiment} {job.cell.name} {job.contender}") for p in only)]
    failed = 0
    for item, job in todo:
        if time.monotonic() + loaded[item.experiment].seconds > deadline:
            continue
        what = f"{item.experiment} {job.cell.name} {job.contender} run {job.run}"
        if not is_simulated(item) and (share := busy()) > BUSY_MAX:
            say(f"{what}: not begun: other programs use {share * 100:.0f} % of the machine", flush=True)
            continue
        e = loaded[item.experiment]
        if e.missing and (lack := e.missing(job.contender, build)):
            say(f"{what}: left out: {lack}", flush=True)
            continue
        place = experiment.Results(os.path.join(results, item.experiment)).directory
        row = experiment.one_run((item.experiment, False, dict(item.options), job.key, build, place))
        if "error" in row:
            failed += 1
            say(f"{what}: FAILED\n{row['error'].rstrip()}", flush=True)
            continue
        waited = row["figures"].get("waited")
        if waited and waited > report.WAITED_MAX:
            say(f"{what}: does not count: a thread waited for a core {waited * 100:.0f} % of the time", flush=True)
            continue
        lines[item.experiment].append({
            **{k: row[k] for k in ("cell", "contender", "run", "seed", "kernel", "seconds")}, "code": code(item), "commit": commit(),
            "machine": machine(), "started_at": row["started_at"], "waited": "" if waited is None else round(waited, 4),
            "figures": json.dumps(row["figures"], separators=(",", ":"))})
        say(f"{what}: {row['seconds']:.0f} s", flush=True)
    return failed


def markdown_table(headers, body):
    def line(cells):
        return "| " + " | ".join(str("" if c is None else c).replace("|", "\\|") for c in cells) + " |"
    return "\n".join([line(headers), "|" + "---|" * len(headers), *(line(row) for row in body)])


def counts(s):
    """Returns how much of an item is there, as text."""
    text = f"{len(s.present)} of {len(s.jobs)} runs"
    return text + (f", and {len(s.earlier)} of earlier code" if s.earlier else "")


def section(s, lines, results):
    """Returns an item's part of its page: what there is of it, and each table with a goal."""
    parts = [f"## {s.item.what}", f"`{s.item.command}`: {counts(s)}."]
    found = rows(s.item, lines)
    if not found:
        return parts + ["No run yet."]
    e = s.item.load()
    page = report.Report(os.path.join(results, s.item.experiment), e.title, s.item.command)
    e.report(found, page)
    page.write()
    per = collections.Counter((row["cell"], row["contender"]) for row in found)
    least, most = min(per.values()), max(per.values())
    parts.append(f"Cell and contender: n = {least}{f' to {most}' if most > least else ''}. {page.summary() or ''}".rstrip())
    for caption, headers, body in page.judged_tables():
        parts += [f"**{caption}**", markdown_table(headers, body)]
    return parts


def write_pages(results, pages=PAGES, directory=DIRECTORY):
    """Writes docs/papers/*.md from the lines. Returns (runs of today's code, runs wanted)."""
    os.makedirs(pages, exist_ok=True)
    lines = {item.experiment: Lines(item.experiment, directory) for item in ITEMS}
    states = [state(item, lines[item.experiment]) for item in ITEMS]
    for name, paper in PAPERS.items():
        own = [s for s in states if s.item.page == name]
        parts = [f"# {paper.title}", "Written by `./run lab evidence`. A run counts while the code that it depends on stands; a mean's "
                 "brackets are its 95 % interval."]
        for s in own:
            parts += section(s, lines[s.item.experiment], results)
        if paper.without:
            parts += ["## Without a run", markdown_table(("of the paper", "why"), paper.without)]
        with open(os.path.join(pages, name + ".md"), "w", encoding="utf-8") as f:
            f.write("\n\n".join(parts) + "\n")
    done, wanted = sum(len(s.present) for s in states), sum(len(s.jobs) for s in states)
    parts = ["# The papers' evidence", f"{done} of {wanted} runs, on {datetime.date.today().isoformat()}. `./run lab evidence --minutes 100` "
             "adds to them ([how](../lab.md#evidence-that-accumulates)).",
             markdown_table(("paper", "tables and figures", "command", "runs"),
                            [(f"[{s.item.page}]({s.item.page}.md)", s.item.what, f"`{s.item.command}`", counts(s)) for s in states])]
    with open(os.path.join(pages, "README.md"), "w", encoding="utf-8") as f:
        f.write("\n\n".join(parts) + "\n")
    return done, wanted
