# SPDX-License-Identifier: GPL-2.0-or-later
import unittest

import numpy as np

from lab import stats
from lab.experiments import psp, psp_report


def row(cell, contender, **figures):
    return {"cell": cell, "contender": contender, "run": 0, "figures": figures}


class Words(unittest.TestCase):
    def test_a_packet_every_tx_plus_spacing(self):
        self.assertTrue(psp.agents(0, 1).startswith("cbr:n=1,rate=100000000bit,"))
        # 12000 bits every 1620 us.
        self.assertTrue(psp.agents(1500, 16).startswith("cbr:n=16,rate=7407407bit,"))


class Series(unittest.TestCase):
    def test_gaps_of_packets_sent_one_after_the_other(self):
        following, every = psp.gaps([(100, 0), (1700, 1), (4900, 3), (6500, 4)])
        self.assertEqual(following.tolist(), [1600, 1600])
        self.assertEqual(every.tolist(), [1600, 3200, 1600])

    def test_sent_rates(self):
        series = [{"flow": "0", "sent_bytes": "0"}, {"flow": "1", "sent_bytes": "0"},
                  {"flow": "0", "sent_bytes": "50000"}, {"flow": "1", "sent_bytes": "25000"}]
        got = psp.sent_rates(series, 0.2)
        self.assertEqual({k: v.tolist() for k, v in got.items()}, {0: [2.0], 1: [1.0]})

    def test_oscillation(self):
        steady, swinging = np.array([9.0, 5, 5, 5, 5]), np.array([9.0, 4, 6, 4, 6])
        self.assertEqual(psp.oscillation([steady], 1), 0)
        self.assertAlmostEqual(psp.oscillation([swinging], 1), 0.2)
        self.assertAlmostEqual(psp.oscillation([steady, swinging], 1), 0.1)


class Report(unittest.TestCase):
    def test_jain(self):
        for values, expected in (([1, 1, 1, 1], 1), ([1, 0, 0, 0], 0.25), ([3, 1], 0.8), ([0, 0], None)):
            self.assertEqual(stats.jain(values), expected)

    def test_expected_loss(self):
        for us, expected in ((0, 0.903125), (1000, 0.095833), (1118, 110 / 192000), (1119, 0), (5000, 0)):
            self.assertAlmostEqual(psp_report.expected_loss(us), expected, places=6)

    def test_reference_is_there(self):
        self.assertEqual(psp_report.reference_of("16")[1050]["received_mbps"], 9.687)
        self.assertEqual(psp_report.reference_of("16-tcp800")[5000]["tcp_mbps"], 5.246)
        self.assertNotIn("tcp_mbps", psp_report.reference_of("16-tcp20")[0])

    def test_bands(self):
        for key, ours, row_, expected in (("received_mbps", 9.8, {"received_mbps": 9.687}, True),
                                          ("received_mbps", 9.9, {"received_mbps": 9.687}, False),
                                          ("loss", 0.11, {"loss": 0.1}, True), ("loss", 0.13, {"loss": 0.1}, False),
                                          ("loss", 0.004, {"loss": 0}, True),
                                          ("tcp_mbps", 2.0, {"tcp_mbps": 1.8, "tcp_mbps_sd": 0.1}, True)):
            with self.subTest(key=key, ours=ours):
                self.assertEqual(psp_report.alike(key, ours, row_), expected)

    def claim(self, received, loss):
        rows = [row("16", f"{us}us", received_mbps=r, loss=l) for us, r, l in zip((0, 500, 1000), received, loss)]
        return psp_report.claim(psp_report.Rows(rows), "16")

    def test_claim_takes_the_least_loss_at_undiminished_throughput(self):
        goal = self.claim((10, 10, 9), (0.9, 0.4, 0))
        self.assertTrue(goal.met)
        self.assertIn("500 us", goal.number)
        self.assertFalse(self.claim((10, 10, 9), (0.9, 0.5, 0)).met)
        self.assertIsNone(self.claim((10, 10, 9), (0, 0, 0)))


if __name__ == "__main__":
    unittest.main()
