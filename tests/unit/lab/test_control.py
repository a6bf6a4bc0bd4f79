# SPDX-License-Identifier: GPL-2.0-or-later
import os
import tempfile
import unittest

from lab.experiments import control, control_report, minbuf
from lab.report import Report
from lab.rows import Rows


def key(t, action):
    return {"event": "control", "action": action, "t": t}


class Waits(unittest.TestCase):
    def test_what_is_late_counts_as_watched(self):
        events = [key(1, "seek"), {"event": "seek", "first_frame_ms": 250}, key(2, "channel"), key(3.5, "seek"), key(4, "pause"),
                  key(5, "channel")]
        found, late = control.waits(events, 7)
        self.assertEqual(found, {"seek": [250, 500], "channel": [1500, 2000]})
        self.assertEqual(late, {"seek": 1, "channel": 2})


class Mice(unittest.TestCase):
    def test_the_number_is_searched(self):
        """Twice the mice get less than twice the share; four steps suffice."""
        asked = []

        def share(n):
            asked.append(n)
            return n / (n + 60)
        mice, got = minbuf.search(0.3, share, 4, 0.03)
        self.assertAlmostEqual(got, 0.3, delta=0.03)
        self.assertEqual(got, mice / (mice + 60))
        self.assertLessEqual(len(asked), 4)

    def test_the_network_is_that_of_the_cell(self):
        p = minbuf.network(12, 50, "1bdp")
        self.assertEqual(minbuf.cell(12, 50, "1bdp", "reno").params, p)
        self.assertEqual(minbuf.queue_text(p["queue"], 75000), "droptail:75000B")
        self.assertEqual(minbuf.mice_goal(p["queue"]), 0.3)


class Page(unittest.TestCase):
    def test_goals_and_mice(self):
        figures = {"channel_ms": [200, 240], "channel_late": 0, "mice": 130, "mice_share": 0.31, "waited": 0.02}
        slow = {"channel_ms": [1200, 1800], "channel_late": 1, "mice": 130, "mice_share": 0.29, "waited": 0.02}
        rows = [{"cell": "12mbit-50ms-load", "contender": c, "run": 0, "figures": f} for c, f in
                (("tcp one", slow), ("minbuf:1,3", figures))]
        self.assertEqual([g[-1].split(":")[0] for g in control_report.goals(Rows(rows))], ["met", "met"])
        self.assertEqual(control_report.check(rows), [])
        with tempfile.TemporaryDirectory() as directory:
            control_report.write(rows, Report(directory, "t", "t"))
            with open(os.path.join(directory, "mice.csv"), encoding="utf-8") as f:
                self.assertIn('12mbit-50ms-load,"minbuf:1,3",130,0.31,0.020', f.read())


if __name__ == "__main__":
    unittest.main()
