# SPDX-License-Identifier: GPL-2.0-or-later
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


class Name(unittest.TestCase):
    """It calls itself as its user called it: by ./run in a clone, by weir-lab where it is installed."""

    def said(self, root):
        p = subprocess.run([sys.executable, os.path.join(root, "lab", "lab.py"), "nosuch"], capture_output=True, text=True,
                           timeout=60)
        self.assertEqual(p.returncode, 2)
        return p.stderr

    def test_in_a_clone(self):
        self.assertIn('./run lab: error: there is no experiment "nosuch"', self.said(ROOT))

    def test_installed(self):
        with tempfile.TemporaryDirectory() as root:
            shutil.copytree(os.path.join(ROOT, "lab"), os.path.join(root, "lab"),
                            ignore=lambda _, names: [n for n in names if "." in n and not n.endswith((".py", ".csv"))])
            self.assertIn('weir-lab: error: there is no experiment "nosuch"', self.said(root))


class Times(unittest.TestCase):
    def test_texts(self):
        sys.path.insert(0, ROOT)
        self.addCleanup(sys.path.remove, ROOT)
        from lab import lab
        for seconds, text in ((0, "0 s"), (40.2, "40 s"), (59.6, "1 min"), (60, "1 min"), (3599, "1 h"), (3600, "1 h"),
                              (4800, "1 h 20 min"), (127440, "35 h 24 min")):
            with self.subTest(seconds=seconds):
                self.assertEqual(lab.time_text(seconds), text)

    def test_list_has_the_shortest_first(self):
        p = subprocess.run([sys.executable, os.path.join(ROOT, "lab", "lab.py"), "list"], capture_output=True, text=True,
                           timeout=120)
        self.assertEqual(p.returncode, 0, p.stderr)
        units = {"h": 3600, "min": 60, "s": 1}
        times = [sum(int(n) * units[unit] for n, unit in re.findall(r"(\d+) (h|min|s)", line.split(",")[0]))
                 for line in p.stdout.splitlines() if line.startswith("    ")]
        self.assertGreater(len(times), 10)
        self.assertEqual(times, sorted(times))


if __name__ == "__main__":
    unittest.main()
