# SPDX-License-Identifier: GPL-2.0-or-later
"""Which lines and branches of each room the unit tests run (clang's source-based coverage), as a table.

The build has no asserts: the branch of one that fails cannot be run. Pure rooms are held to a goal, because a test can reach all of
them: they have no input but their arguments.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIMULATIONS = ("test_storm", "test_rmcat", "test_proxy_path")  # run nearly everything, and check little of it
LEFT_OUT = {"test_common": ["~transport orders*"]}  # minutes, for lines that others run, too
GOAL = {"lines": 95.0, "branches": 90.0}  # percent, of each pure room


def pure_rooms():
    with open(os.path.join(ROOT, "pure.txt"), encoding="utf-8") as f:
        return {line.strip() for line in f if line.strip() and not line.startswith("#")}


def run_tests(binaries, folder):
    """Runs each binary, two at once, and returns their profiles."""
    waiting, running, profiles = list(binaries), [], []
    while waiting or running:
        while waiting and len(running) < 2:
            binary = waiting.pop()
            profile = os.path.join(folder, os.path.basename(binary) + ".profraw")
            log = open(profile + ".log", "w", encoding="utf-8")
            env = {**os.environ, "LLVM_PROFILE_FILE": profile}
            words = [binary, *LEFT_OUT.get(os.path.basename(binary), [])]
            running.append((binary, subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, env=env, cwd=folder), log))
            profiles.append(profile)
        binary, process, log = running.pop(0)
        if process.wait() != 0:
            print(f"{os.path.basename(binary)} failed: {log.name}", file=sys.stderr)
        log.close()
    return [p for p in profiles if os.path.exists(p)]


def source_of(path):
    """Returns a source file's path in this tree; None: it is none. A compiler cache that several trees share may have given an
    object the path of another tree."""
    path = os.path.normpath(path)
    parts = os.path.relpath(path, ROOT).split(os.sep) if path.startswith(ROOT + os.sep) else path.split(os.sep)[1:]
    tails = (os.path.join(*parts[i:]) for i in range(len(parts)))
    return next((tail for tail in tails if os.path.isfile(os.path.join(ROOT, tail))), None)


def summaries(binaries, folder):
    """Returns {file: {"lines": (covered, count), "branches": (covered, count)}} of the project's C files."""
    profile = os.path.join(folder, "all.profdata")
    subprocess.run(["llvm-profdata", "merge", "-sparse", "-o", profile, *run_tests(binaries, folder)], check=True)
    objects = [word for binary in binaries[1:] for word in ("-object", binary)]
    out = subprocess.run(["llvm-cov", "export", "-summary-only", f"-instr-profile={profile}", binaries[0], *objects],
                         check=True, stdout=subprocess.PIPE).stdout
    found = {}
    for entry in json.loads(out)["data"][0]["files"]:
        name = source_of(entry["filename"])
        if name and name.endswith(".c") and not name.startswith(("tests/", "build/")):
            found[name] = {what: (entry["summary"][what]["covered"], entry["summary"][what]["count"]) for what in GOAL}
    return found


def percent(covered, count):
    return 100 * covered / count if count else 100.0


def table(files, pure, by_file):
    """Returns the lines of the table, and the pure rooms below the goal."""
    rooms = defaultdict(lambda: {what: [0, 0] for what in GOAL})
    for name, entry in files.items():
        for what, (covered, count) in entry.items():
            for key in (os.path.dirname(name), "all pure rooms" if os.path.dirname(name) in pure else "all other rooms"):
                rooms[key][what][0] += covered
                rooms[key][what][1] += count
    out = [f"{'room':<28} {'':1} {'lines':>7} {'not run':>8} {'branches':>9} {'not run':>8}"]
    below = []

    def row(name, mark, entry):
        (lines, all_lines), (branches, all_branches) = entry["lines"], entry["branches"]
        out.append(f"{name:<28} {mark:1} {percent(lines, all_lines):6.1f}% {all_lines - lines:8} "
                   f"{percent(branches, all_branches):8.1f}% {all_branches - branches:8}")

    for room in sorted(r for r in rooms if not r.startswith("all ")):
        row(room, "P" if room in pure else "", rooms[room])
        if room in pure and any(percent(*rooms[room][what]) < goal for what, goal in GOAL.items()):
            below.append(room)
        for name in sorted(n for n in files if by_file and os.path.dirname(n) == room):
            row("  " + os.path.basename(name), "", files[name])
    for key in ("all pure rooms", "all other rooms"):
        row(key, "", rooms[key])
    return out, below


def main():
    parser = argparse.ArgumentParser(prog="./run coverage", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--files", action="store_true", help="also a line for each file")
    args = parser.parse_args()
    folder = os.path.join(os.path.abspath(args.build), "coverage")
    os.makedirs(folder, exist_ok=True)
    for old in glob.glob(os.path.join(folder, "*.profraw")):
        os.remove(old)
    binaries = sorted(b for b in glob.glob(os.path.join(os.path.abspath(args.build), "tests", "test_*")) if os.path.isfile(b)
                      and os.path.basename(b) not in SIMULATIONS)
    lines, below = table(summaries(binaries, folder), pure_rooms(), args.files)
    print("\n".join(lines))
    print(f"goal of each pure room (P): {GOAL['lines']:.0f} % of lines, {GOAL['branches']:.0f} % of branches; below it: "
          f"{', '.join(below) or 'none'}")


if __name__ == "__main__":
    main()
