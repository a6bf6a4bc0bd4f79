# SPDX-License-Identifier: GPL-2.0-or-later
import os
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


if __name__ == "__main__":
    unittest.main()
