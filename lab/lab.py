#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab: real programs over emulated links. docs/lab.md explains how to measure with it and how to add an experiment."""
import argparse
import os
import re
import shlex
import sys

# In a script, this file's folder is first in the path and would hide the package of the same name.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from lab import evidence, experiment, isolate, report  # noqa: E402

ROOT = experiment.ROOT


# The command in messages: in a clone, and where the lab is installed.
PROGRAM = "./run lab" if os.path.isfile(os.path.join(sys.path[0], "run")) else "weir-lab"


def pattern(text):
    """Returns TEXT if it is a regular expression."""
    try:
        re.compile(text)
    except re.error as e:
        raise argparse.ArgumentTypeError(f"{text}: {e}") from e
    return text


def arguments():
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    parser.add_argument("name", help='an experiment, "list", "peers", which installs other programs to compare with, or "evidence", '
                                     'which makes the runs that the pages of the papers lack most')
    parser.add_argument("--minutes", type=float, metavar="N", default=0,
                        help='evidence: for how long (default: write the pages from the runs that there are)')
    parser.add_argument("--runs", type=int, help="seeds for each cell and contender (default: the experiment's own)")
    parser.add_argument("--quick", action="store_true",
                        help="a short version; its exit code shows whether results are plausible, and the goals met that it can judge")
    parser.add_argument("--resume", action="store_true", help="continue with the existing results")
    parser.add_argument("--report-only", action="store_true", help="write the report again from finished runs")
    parser.add_argument("--jobs", type=int, default=1, help="number of runs at once; more than 1 requires idle cores")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", type=pattern,
                        help='only runs whose "CELL CONTENDER" contains PATTERN, a text or a regular expression; if repeated: all of them')
    parser.add_argument("--real", action="store_true",
                        help="arc, psp, tfrc, mtp-tcp, goddard: over emulated links with the kernel's TCPs, not in simulation")
    parser.add_argument("--trace", metavar="FILE", help="experiment traces: your own trace in Mahimahi's format")
    parser.add_argument("--traces", metavar="DIR",
                        help="experiments abr, abr-real, radios: your own traces of paths; each folder in DIR is a family of abr's")
    parser.add_argument("--clip", metavar="FILE",
                        help="experiments qoe, live, repair, abr-real, goddard --real: your own video instead of the test picture")
    parser.add_argument("--speed", type=float, metavar="N", help="experiment rmcat: divide all times of the cases by N, 1 to 10")
    parser.add_argument("--build", default="build/release", metavar="DIR", help="folder of the programs")
    parser.add_argument("--results", default="results", metavar="DIR", help="folder for the results")
    args = parser.parse_args()
    args.name = args.name.replace("-", "_")  # a module's name
    if args.runs is not None and args.runs < 1 or args.jobs < 1:
        parser.error("--runs and --jobs expect a number of at least 1")
    if args.speed is not None and not 1 <= args.speed <= 10:
        parser.error("--speed expects 1 to 10")
    return parser, args


def duration(e):
    """Returns the seconds that all default runs of an experiment take, one after the other."""
    return len(experiment.plan(e, e.runs)) * e.seconds


def time_text(seconds):
    """Returns a duration in hours, minutes and seconds, with two units at most: 22 h 6 min, 3 min, 40 s."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    hours, minutes = divmod(minutes, 60)
    return " ".join(text for text in (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "") if text)


def show_list():
    """Prints all experiments, the shortest first."""
    found = [(name, experiment.load(name), experiment.load(name, quick=True)) for name in experiment.names()]
    for name, e, quick in sorted(found, key=lambda item: (duration(item[1]), item[0])):
        default = sum(c.default for c in e.cells)
        print(f"{name}: {e.title}\n    {time_text(duration(e))}, with --quick {time_text(duration(quick))}: "
              f"{default} cells ({len(e.cells)} in all), {len(experiment.plan(e, 1))} conditions and contenders, "
              f"{e.runs} run{'s' if e.runs > 1 else ''} each")


REAL = ("goddard", "arc", "psp")  # they have an experiment NAME_real; the others are contenders of `real`


def module_of(args):
    if not args.real:
        return args.name
    return args.name + "_real" if args.name in REAL else "real"


def conduct(args, options):
    """Makes the runs and the report, in the isolated program. Returns the exit code."""
    e = experiment.load(module_of(args), args.quick, options)
    directory = args.name + ("-real" if args.real else "") + ("-quick" if args.quick else "")
    directory = os.path.abspath(os.path.join(args.results, directory))
    results = experiment.Results(directory)
    failed = 0
    jobs = experiment.plan(e, args.runs or e.runs, args.only)
    for contender, cells in experiment.named(e, args.only).items():
        print(f"{contender}: only in {', '.join(cells)}", flush=True)
    if not jobs:
        cells = "\n".join(f"  {c.name}" for c in e.cells)
        print(f"{PROGRAM}: no run matches --only; contenders {', '.join([*e.contenders, *e.named])}; cells:\n{cells}", file=sys.stderr)
        return 2
    if not args.report_only:
        if not args.resume:
            results.set_aside()
        jobs, lacks = experiment.possible(e, jobs, os.path.abspath(args.build))
        for contender, why in lacks.items():
            print(f"{contender}: left out: {why}", flush=True)
        if not jobs:
            return 1
        failed = experiment.execute(e, jobs, results, os.path.abspath(args.build), args.quick, options, args.jobs)
    rows = [r for r in results.read() if "figures" in r]
    page = report.Report(directory, e.title, PROGRAM + " " + shlex.join(sys.argv[1:]), report.smoke_note(rows),
                         e.judged if e.quick else None)
    complaints = show(e, rows, page)
    if failed:
        print(f"{PROGRAM}: {failed} runs failed (--resume tries them again)", file=sys.stderr)
    return 1 if failed or complaints else 0


def gather(args):
    """Makes runs for the papers' pages, and writes these. Returns the exit code."""
    results = os.path.abspath(os.path.join(args.results, "evidence"))
    failed = evidence.fill(args.minutes, os.path.abspath(args.build), results, args.only)
    done, wanted = evidence.write_pages(results)
    print(f"{done} of {wanted} runs; {os.path.relpath(evidence.PAGES)}/README.md", flush=True)
    return 1 if failed else 0


def show(e, rows, page):
    """Writes the page and prints its summary. Returns why the exit code is not 0, as texts: what is not plausible, and, of a
    quick run, each goal that it judged and that is missed."""
    e.report(rows, page)
    if e.papers and rows:
        page.heading("Who stands for whom")
        page.text("The contenders whose figures this page holds against a paper's, and what they have that the paper's do not.")
        page.table("Contenders and papers", ["contender", "of the paper", "differs"],
                   [[stand.contender, stand.protocol, stand.differs or "-"] for stand in e.papers], "papers")
    complaints = e.check(rows) if e.check else []
    if complaints:
        page.heading("Not plausible")
        page.table("What cannot be", ["what"], [[text] for text in complaints], "not-plausible")
    print(f"report: {os.path.relpath(page.write())}", flush=True)
    if page.summary():
        print(page.summary(), flush=True)
    complaints += [f"missed: {text}" for text in page.missed()] if e.quick else []
    for text in complaints:
        print(f"{PROGRAM}: {text}", file=sys.stderr)
    return complaints


def main():
    parser, args = arguments()
    if args.name == "list":
        show_list()
        return 0
    if args.name == "peers":
        from lab import peers
        return peers.install()
    if args.name not in [*experiment.names(), "evidence"]:
        parser.error(f'there is no experiment "{args.name}" (available: {", ".join(experiment.names())})')
    options = {}
    if args.real:
        from lab.experiments import real
        choice = [*dict.fromkeys([*(name for name in real.TRANSPORTS if name in experiment.names()), *REAL])]
        if args.name not in choice:
            parser.error(f"--real requires one of {', '.join(choice).replace('_', '-')}")
        if module_of(args) == "real":
            options["controller"] = args.name
    if args.trace:
        if not os.path.isfile(args.trace):
            parser.error(f"--trace: there is no file {args.trace}")
        options["trace"] = os.path.abspath(args.trace)
    if args.traces:
        if not os.path.isdir(args.traces):
            parser.error(f"--traces: there is no folder {args.traces}")
        options["traces"] = os.path.abspath(args.traces)
    if args.clip:
        if not os.path.isfile(args.clip):
            parser.error(f"--clip: there is no file {args.clip}")
        options["clip"] = os.path.abspath(args.clip)
    if args.speed:
        options["speed"] = args.speed
    if args.report_only:
        return conduct(args, options)
    if args.name == "evidence" and not os.access(evidence.DIRECTORY if os.path.isdir(evidence.DIRECTORY) else ROOT, os.W_OK):
        parser.error(f"evidence keeps its runs in {evidence.DIRECTORY}, which you cannot write to: use a clone")
    if not isolate.isolated():
        try:
            return isolate.enter([sys.executable, *sys.argv])
        except isolate.NotPossible as e:
            print(f"{PROGRAM}: {e}", file=sys.stderr)
            return 1
    isolate.prepare()
    return gather(args) if args.name == "evidence" else conduct(args, options)


if __name__ == "__main__":
    try:
        code = main()
    except KeyboardInterrupt:
        print(f"\n{PROGRAM}: interrupted (--resume continues from here)", file=sys.stderr)
        code = 130
    except BrokenPipeError:  # the reader of stdout has ended, as in "list | head"
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.stdout.flush()
    if isolate.isolated():
        os._exit(code)  # as process 1 of the namespace, it ends all remaining processes
    sys.exit(code)
