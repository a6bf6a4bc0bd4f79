#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures what depends on this machine - latency, CPU, jitter, throughput - and prints a table: figure, bound, measured,
met or not.

A figure that misses its bound is printed as such and fails nothing: another program may have had the processor. The exit
code is 0 unless a measurement could not be made. Each module here named measure_*.py has classes of Measurement.
All of it runs in namespaces of its own (lab/isolate.py), where those are allowed; elsewhere what needs them is skipped.
"""
import argparse
import glob
import importlib
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TESTS, "e2e"), os.path.join(TESTS, "bench"), os.path.dirname(TESTS)]


def main():
    names = sorted(os.path.basename(path)[len("measure_"):-len(".py")] for path in glob.glob(HERE + "/measure_*.py"))
    parser = argparse.ArgumentParser(prog="./run measure", description="measures what depends on this machine")
    parser.add_argument("--build", default=os.path.join("build", "release"), help="the build directory")
    parser.add_argument("names", metavar="NAME", nargs="*", help="one of: " + ", ".join(names) + "; default: all")
    args = parser.parse_args()
    for name in args.names:
        if name not in names:
            parser.error(f"unknown measurement \"{name}\" (available: {', '.join(names)})")
    os.environ["WEIR_BUILD"] = os.path.abspath(args.build)
    from lab import isolate

    if isolate.isolated():
        isolate.prepare()
    else:
        try:
            sys.exit(isolate.enter([sys.executable, *sys.argv]))
        except isolate.NotPossible as why:
            print(f"without namespaces: {why}", file=sys.stderr)
    import figures  # after WEIR_BUILD is set: lib reads it when it is imported

    loader = unittest.TestLoader()
    loader.testMethodPrefix = "measure"
    suite = unittest.TestSuite(loader.loadTestsFromModule(importlib.import_module("measure_" + name))
                               for name in args.names or names)
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stderr).run(suite)
    print(figures.table(result))
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
