#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/own-controller.md, followed word by word in a copy of the source: the controller is built, shares a simulated link, and
carries a picture."""
import ast
import json
import os
import re
import shutil
import subprocess

import lib

PAGE = os.path.join(lib.ROOT, "docs", "own-controller.md")
BLOCK = r":?(?:,? on a line of its own)?\s+```(?:c|python)\n(.*?)```"
NEW = re.compile(r"Write `(\S+)`" + BLOCK, re.S)
AFTER = re.compile(r"[Ii]n\s+`([^`\n]+)`, after `([^`\n]+)`" + BLOCK, re.S)
END = re.compile(r"At the end of\s+`([^`\n]+)`" + BLOCK, re.S)
TARGETS = "weir-sim", "weir-send", "weir-play"


@lib.long
class OwnController(lib.Case):
    def follow(self, page, copy):
        def read(path):
            with open(os.path.join(copy, path)) as f:
                return f.read()

        def write(path, text):
            with open(os.path.join(copy, path), "w") as f:
                f.write(text)

        new, after, end = NEW.findall(page), AFTER.findall(page), END.findall(page)
        self.assertEqual((len(new), len(after), len(end)), (2, 4, 1))
        for path, text in new:
            self.assertFalse(os.path.exists(os.path.join(copy, path)), path)
            write(path, text)
        for path, anchor, text in after:
            lines = read(path).splitlines(True)
            at = [i for i, line in enumerate(lines) if anchor in line]
            self.assertEqual(len(at), 1, f"{path}: {anchor}")
            lines.insert(at[0] + 1, text)
            write(path, "".join(lines))
        for path, text in end:
            write(path, read(path) + text)

    def run_in(self, copy, *argv):
        done = subprocess.run(argv, cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=600 * lib.PATIENCE)
        self.assertEqual(done.returncode, 0, f"{' '.join(argv)}\n{done.stdout[-4000:]}")
        return done.stdout

    def test_the_page(self):
        lib.need("cmake", "cc")
        with open(PAGE) as f:
            page = f.read()
        copy = self.path("source")
        shutil.copytree(lib.ROOT, copy, ignore=shutil.ignore_patterns(".git", "build", "results", "demo", "__pycache__"))
        self.follow(page, copy)
        # Without optimisation: it is compiled in a third of the time.
        self.run_in(copy, "cmake", "--preset", "release", "-DCMAKE_BUILD_TYPE=Debug")
        self.run_in(copy, "cmake", "--build", "--preset", "release", "-j2", "--target", *TARGETS)
        with open(os.path.join(copy, "lab", "experiments", "real.py")) as f:
            tables = [n.value for n in ast.parse(f.read()).body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "TRANSPORTS"]
        self.assertEqual(ast.literal_eval(tables[0])["aimd"], ["aimd"])

        simulation = re.search(r"^build/release/weir-sim (?:.*\\\n)*.*$", page, re.M).group(0).replace("\\\n", " ")
        out = [json.loads(line) for line in self.run_in(copy, *simulation.split()).splitlines()]
        ours, theirs = (line["goodput_bps"] / 1e6 for line in out if line["what"] == "group")
        self.between(9, ours + theirs, 10, "Mbit/s, of a link of 10")
        self.between(3, ours, 7, "Mbit/s, next to as many TCPs")
        self.assertIn(f"`aimd` gets {ours:.1f} Mbit/s and TCP {theirs:.1f}.", " ".join(page.split()))

        self.check_programs(os.path.join(copy, "build", "release"))

    def check_programs(self, build):
        server = self.start([os.path.join(build, "weir-send"), "--listen", "127.0.0.1:0", lib.SOURCE])
        url = lib.until(lambda: re.search(r" at (rtsp://\S+)", server.stderr), "the sender", 20).group(1)
        report = self.path("report.json")
        player = self.start([os.path.join(build, "weir-play"), "--headless", "--no-audio", "--transport", "aimd", "--duration", "3",
                             "--report", report, url])
        self.assertEqual(player.wait(), 0, str(player))
        with open(report) as f:
            r = json.load(f)
        self.assertEqual(r["session"]["transport"], "aimd")
        self.assertGreater(r["playback"]["frames_played"], 5)
        self.stop_cleanly(server)


if __name__ == "__main__":
    lib.main()
