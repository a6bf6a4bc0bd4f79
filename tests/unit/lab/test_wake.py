# SPDX-License-Identifier: GPL-2.0-or-later
import os
import tempfile
import unittest

from lab.experiments import wake
from lab.report import Report


class Wake(unittest.TestCase):
    def row(self, cell, mbps):
        return {"cell": cell, "contender": "minbuf:1,0", "run": 0, "figures": {"cpu": 0.02, "wakes_ps": 500, "mbps": mbps, "waited": 0.01}}

    def test_sources(self):
        found = {c.name: wake.source_of(c.params) for c in wake.cells()}
        self.assertEqual(found["12mbit-50ms-steady"], "synthetic:steady:3600")
        self.assertEqual(found["2mbit-100ms-greedy"], "synthetic:greedy")

    def test_a_sender_asleep_is_found(self):
        good = [self.row("12mbit-50ms-greedy", 11.5), self.row("12mbit-50ms-steady", 3.6)]
        self.assertEqual(wake.check(good), [])
        self.assertEqual(len(wake.check([self.row("2mbit-100ms-greedy", 0.3), self.row("2mbit-100ms-steady", 0.4)])), 2)
        with tempfile.TemporaryDirectory() as directory:
            wake.write(good, Report(directory, "t", "t"))
            with open(os.path.join(directory, "wake.csv"), encoding="utf-8") as f:
                self.assertIn('12mbit-50ms-greedy,"minbuf:1,0",1,0.0200,500,11.50,0.010', f.read())

    def test_this_process(self):
        self.assertGreater(wake.cpu_seconds(os.getpid()), 0)


if __name__ == "__main__":
    unittest.main()
