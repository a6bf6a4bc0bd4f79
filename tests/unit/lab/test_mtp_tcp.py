# SPDX-License-Identifier: GPL-2.0-or-later
import unittest

from lab.experiments import mtp_tcp
from lab.rows import Rows


def row(cell, contender, run, goodput):
    return {"cell": cell, "contender": contender, "run": run, "figures": {"goodput_mbps": goodput}}


class Setup(unittest.TestCase):
    def test_rtts_are_the_runs(self):
        self.assertEqual(mtp_tcp.rtts_of(5, 1), [60])
        rtts = mtp_tcp.rtts_of(5, 25)
        self.assertEqual(rtts, mtp_tcp.rtts_of(5, 25))
        self.assertNotEqual(rtts, mtp_tcp.rtts_of(6, 25))
        self.assertTrue(all(140 <= r <= 480 for r in rtts))

    def test_reference(self):
        self.assertEqual(mtp_tcp.reference("figure-2")["goodput_mbps"], "0.897")
        self.assertEqual(mtp_tcp.reference("figure-5-0.05")["goodput_mbps"], "2.042")
        self.assertIsNone(mtp_tcp.reference("figure-5-0.10"))


class Goals(unittest.TestCase):
    def test_within(self):
        for mtp, verdict in ((0.910, "met"), (0.930, "missed"), (0.870, "missed")):
            rows = [row("figure-2", "reno:count", k, 0.9) for k in (0, 1)]
            rows += [row("figure-2", "mtp", k, mtp) for k in (0, 1)]
            found = list(mtp_tcp.goals(Rows(rows)))
            self.assertEqual(len(found), 1)
            self.assertTrue(found[0][-1].startswith(verdict), found)

    def test_renos_band(self):
        # 5 % of 0.897 is 0.045, more than the spread of equal runs.
        self.assertAlmostEqual(mtp_tcp.band(mtp_tcp.reference("figure-2"), [0.9, 0.9]), 0.04485)
        # 6.950 +- 0.507 over 10: twice the root of 0.507^2 / 10 + 0.5^2 / 2.
        self.assertAlmostEqual(mtp_tcp.band(mtp_tcp.reference("figure-5-0.01"), [7.0, 7.707106781]), 0.776866, places=3)
        found = list(mtp_tcp.goals(Rows([row("figure-2", "reno", 0, 0.8)])))
        self.assertTrue(found[0][-1].startswith("missed"))


if __name__ == "__main__":
    unittest.main()
