#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the #include lines between rooms; a room is a folder that holds .c or .h files.

    .ci/rooms.py [--tree DIR]            prints one line per fault; exit code 1 if there is one
    .ci/rooms.py --figures [--tree DIR]  prints the size and the shape of the tree

Rules: each room is on a floor and includes only its own floor and lower ones; rooms form no circle; a room listed in
pure.txt neither does I/O nor reads a clock, and includes only rooms listed there.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

# The floors, bottom to top. A name stands for that folder and all folders in it. Rooms on one floor may include each
# other, but not across a "|".
FLOORS = (
    "common/base",
    "common/options common/wire",
    "common/congestion common/repair",
    "common/protocol common/mtp common/srtp",
    "common/net",
    "common/program common/transport common/discovery",
    "media",
    "stream",
    "server | client",
    "sender | player | proxy",
    "lib",
    "lab packaging tests examples",
)
# Rooms that include less than their floor allows: themselves and these.
INCLUDES_ONLY = {"lab/link": ("common/base",)}
# Rooms that are pure by design: pure.txt must list each of them that exists.
PURE_BY_DESIGN = ("common/base", "common/options", "common/wire", "common/congestion", "common/repair", "common/protocol",
                  "common/mtp", "lab/link", "lab/sim")

INCLUDE = re.compile(r'\s*#\s*include\b\s*(?:<([^>]+)>|"([^"]+)"|(.*))')
IMPURE_HEADER = re.compile(r"(uv|pthread|threads|semaphore|sched|signal|time|unistd|fcntl|poll|dirent|dlfcn|jansson|x264)"
                           r"\.h$|sys/|netinet/|arpa/|net/|linux/|opus|vpx/|SDL|lib(av|sw)")
IMPURE_CALL = re.compile(r"\b(clock_gettime|gettimeofday|nanosleep|clock_now|clock_wall|uv_now|uv_hrtime|av_gettime|"
                         r"SDL_GetTicks|fopen|getenv|getrandom|rand|random)\s*\(")

# An #include of `text` in `file`:`line`, of the room `room`. If `text` names a file of the tree, `header` is its path and
# `target` its room; otherwise both are None. `system` is true between < and >.
Include = collections.namedtuple("Include", "file line text room header target system")


class Tree:
    """The .c and .h files that git lists in `root`, and their #include lines."""

    def __init__(self, root):
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z", "*.c", "*.h"], cwd=root, check=True,
                                stdout=subprocess.PIPE, text=True).stdout.split("\0")
        self.root = root
        self.text = {}
        for name in sorted(set(listed)):
            if name and os.path.isfile(os.path.join(root, name)):  # git lists a file that was just deleted, too
                with open(os.path.join(root, name), encoding="utf-8") as file:
                    self.text[name] = file.read()
        self.rooms = sorted({os.path.dirname(name) for name in self.text})
        self.includes = [include for name in self.text for include in self.includes_of(name)]

    def includes_of(self, name):
        room = os.path.dirname(name)
        for line, text in enumerate(self.text[name].split("\n"), 1):
            if found := INCLUDE.match(text):
                path = found[1] or found[2] or found[3]
                beside = os.path.normpath(os.path.join(room, path))
                header = path if path in self.text else beside if found[2] and beside in self.text else None
                yield Include(name, line, path, room, header, header and os.path.dirname(header), bool(found[1]))

    def arrows(self, place):
        """{(from, to): [the includes]} between the places, which are place(file): rooms, for example."""
        found = collections.defaultdict(list)
        for include in self.includes:
            if include.header and place(include.file) != place(include.header):
                found[place(include.file), place(include.header)].append(include)
        return dict(found)


def floor_of(room):
    """(floor, part of it) of the room, counted from 0; None if no floor names it."""
    for floor, names in enumerate(FLOORS):
        for part, group in enumerate(names.split("|")):
            if any((room + "/").startswith(name + "/") for name in group.split()):
                return floor, part
    return None


def reach(start, arrows):
    """{place: the place before it on a shortest way from `start`}; has `start` itself only if a circle leads back to it."""
    after = collections.defaultdict(list)
    for source, target in sorted(arrows):
        after[source].append(target)
    before, queue = {}, collections.deque([start])
    while queue:
        place = queue.popleft()
        for target in after[place]:
            if target not in before:
                before[target] = place
                queue.append(target)
    return before


def shortest_circle(arrows):
    """[(from, to), ...] around the shortest circle; empty if there is none."""
    best = []
    for start in sorted({source for source, _ in arrows}):
        before = reach(start, arrows)
        if start in before:
            circle = [(before[start], start)]
            while circle[0][0] != start:
                circle.insert(0, (before[circle[0][0]], circle[0][0]))
            if not best or len(circle) < len(best):
                best = circle
    return best


def knots(arrows):
    """The sets of places that all reach each other; each holds one circle or more."""
    reached = {place: set(reach(place, arrows)) for place in {source for source, _ in arrows}}
    return {frozenset(other for other in to if place in reached.get(other, ())) for place, to in reached.items() if place in to}


def forbidden(room, target):
    """Why no file of `room` may include one of `target`, with what to do; None if it may."""
    mine, its = floor_of(room), floor_of(target)
    if mine and its and its[0] > mine[0]:
        return (f"{target} is on a higher floor than {room} (move what is needed to {room} or lower, or let the upper room "
                "pass it as an argument)")
    if mine and its and its[0] == mine[0] and its[1] != mine[1]:
        return f"{room} and {target} never include each other (move what both need to a lower floor)"
    if target not in (room, *INCLUDES_ONLY.get(room, (target,))):
        return f"{room} includes only {' '.join(INCLUDES_ONLY[room])} (pass the value as an argument)"
    return None


def floor_faults(tree):
    for room in tree.rooms:
        if floor_of(room) is None:
            first = next(name for name in tree.text if os.path.dirname(name) == room)
            yield f"{first}:1: no floor for this folder: say in .ci/rooms.py on which floor {room or 'the top folder'} is"
    for include in tree.includes:
        at = f"{include.file}:{include.line}: "
        if include.header and (reason := forbidden(include.room, include.target)):
            yield f"{at}upward include: {include.header}: {reason}"
        elif not include.header and not include.system:
            yield (f"{at}{include.text} is no .c or .h file of this tree: it cannot be checked (correct the path; < > includes "
                   "a header of the system)")


def circle_faults(tree):
    """One fault per circle that upward includes have no part in: those are faults already. The arrow of the fewest includes
    is taken out of each circle found, then the next one is looked for."""
    arrows = {arrow: found for arrow, found in tree.arrows(os.path.dirname).items() if not forbidden(*arrow)}
    while circle := shortest_circle(arrows):
        way = circle[0][0]
        for arrow in circle:
            way += f" -> {arrow[1]} ({arrows[arrow][0].file}:{arrows[arrow][0].line} includes {arrows[arrow][0].header})"
        weakest = min(circle, key=lambda arrow: len(arrows[arrow]))
        first, count = arrows[weakest][0], len(arrows[weakest])
        yield (f"{first.file}:{first.line}: circle between rooms: {way}: remove an arrow, {weakest[0]} -> {weakest[1]} is "
               f"{count} include{'s' * (count > 1)} (move what both need to a lower room, or pass it as an argument)")
        del arrows[weakest]


def pure_faults(tree):
    """A pure room includes only pure rooms, and each file of those is looked at: so the rule holds at any depth."""
    try:
        with open(os.path.join(tree.root, "pure.txt"), encoding="utf-8") as file:
            lines = ["" if line.startswith("#") else line for line in file.read().splitlines()]
    except OSError as error:
        yield f"pure.txt:1: cannot be read: {error.strerror} (it lists the pure folders, one a line)"
        return
    pure = set(lines) - {""}
    for number, room in enumerate(lines, 1):
        if room and room not in tree.rooms:
            yield f"pure.txt:{number}: {room} is not a folder that holds .c or .h files (correct or remove this line)"
    for room in PURE_BY_DESIGN:
        if room in tree.rooms and room not in pure:
            yield f"pure.txt:{len(lines)}: {room} is missing: it is pure by design (list it)"
    for include in tree.includes:
        if include.room not in pure:
            continue
        at = f"{include.file}:{include.line}: impure include in a pure room: "
        if include.header and include.target not in pure:
            yield (f"{at}{include.header} is in a room that pure.txt does not list (pass the value as an argument, or move "
                   "this file to an impure room)")
        elif not include.header and IMPURE_HEADER.match(include.text):
            yield (f"{at}{include.text} does I/O, reads a clock or starts threads (pass the value as an argument, or move this "
                   "file to an impure room)")
    for name, text in tree.text.items():
        if os.path.dirname(name) in pure:
            for number, line in enumerate(text.split("\n"), 1):
                if call := IMPURE_CALL.search(line):
                    yield (f"{name}:{number}: impure call in a pure room: {call[1]}() (pass the value as an argument, or move "
                           "this file to an impure room)")


def faults(tree):
    if not tree.text:
        return ["git lists no .c or .h file: nothing was checked (run it in a git clone)"]
    return [*floor_faults(tree), *circle_faults(tree), *pure_faults(tree)]


def figures(tree):
    """Production code is everything outside tests/. A unit is a .c file other than main.c; sender/x.c is tested by
    tests/unit/sender/x_test.cpp. A function is a line "{" below a line that ends with ")": clang-format lays out every
    definition so. Functions are counted in .c files, per 1,000 lines of these."""
    lines = {name: text.count("\n") for name, text in tree.text.items() if not name.startswith("tests/")}
    functions = {name: len(re.findall(r"\)\n\{$", tree.text[name], re.M)) for name in lines if name.endswith(".c")}
    units = [name for name in functions if os.path.basename(name) != "main.c"]
    untested = [name for name in units if not os.path.exists(os.path.join(tree.root, "tests/unit", name[:-2] + "_test.cpp"))]
    inner = [{arrow for arrow in tree.arrows(place) if not arrow[0].startswith("tests/")}
             for place in (os.path.dirname, lambda name: os.path.splitext(name)[0])]
    print(f"rooms {len({os.path.dirname(name) for name in lines})}, arrows between them {len(inner[0])}, "
          f"circles between them {len(knots(inner[0]))}")
    print(f"circles between pairs of .c and .h {len(knots(inner[1]))}, which hold {sum(map(len, knots(inner[1])))} pairs\n")
    print("folder      rooms  files    lines  functions  per 1,000     without a test")
    for top in (*sorted({name.split("/")[0] for name in lines}), "all"):
        mine, code, every, bare = ([name for name in names if top in (name.split("/")[0], "all")]
                                   for names in (lines, functions, units, untested))
        count, length = sum(map(functions.get, code)), sum(map(lines.get, code))
        print(f"{top:10} {len({os.path.dirname(name) for name in mine}):6} {len(mine):6} {sum(map(lines.get, mine)):8} "
              f"{count:10} {1000 * count / max(1, length):10.1f} {f'{len(bare)} of {len(every)}':>18}")
    longest = sorted(lines, key=lambda name: -lines[name])[:10]
    print("\nlongest files", *(f"{lines[name]:7} {name}" for name in longest), sep="\n")
    print("\nunits without a test", *untested, sep="\n        ")


def main():
    parser = argparse.ArgumentParser(description="Checks the #include lines between rooms.")
    parser.add_argument("--figures", action="store_true", help="print the size and the shape of the tree instead")
    parser.add_argument("--tree", metavar="DIR", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."),
                        help="the git clone to look at (default: this one)")
    options = parser.parse_args()
    tree = Tree(options.tree)
    if options.figures:
        figures(tree)
        return 0
    found = faults(tree)
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
