# SPDX-License-Identifier: GPL-2.0-or-later
import os
import tempfile
import unittest

import numpy as np

from lab.experiments import layered
from lab.layer_times import Layer
from lab.report import Report
from lab.rows import Rows


def row(cell, contender, **figures):
    return {"cell": cell, "contender": contender, "run": 0,
            "figures": {key: 1.0 for key, _, _ in layered.COLUMNS} | figures}


class Layered(unittest.TestCase):
    def test_seconds(self):
        """A layer without the one below it is throughput, and no goodput."""
        nan = float("nan")
        layers = {(1, 0): Layer(pushed=10.1, read=10.2), (1, 1): Layer(pushed=10.1, read=10.3),
                  (2, 0): Layer(pushed=10.5, read=nan), (2, 1): Layer(pushed=10.5, read=10.7),
                  (3, 0): Layer(pushed=11.9, read=12.5), (4, 0): Layer(pushed=12.0, read=12.6)}
        read, useful = layered.seconds_of(layers, 10.0, 2)
        self.assertEqual((read / layered.LAYER_BITS * 1e6).round(6).tolist(), [3, 1])
        self.assertEqual((useful / layered.LAYER_BITS * 1e6).round(6).tolist(), [2, 1])

    def test_claims(self):
        rows = Rows([row("5.1-drd", "tfrc:komssys,rounds", useful=0.9, tcp_mbps=20.0), row("5.1-drd", "udp", useful=0.5, tcp_mbps=21.0)])
        found = {what: result for _, what, result in layered.claims_of(rows)}
        self.assertEqual(found["TFRC wastes less of its throughput than UDP"], "met: 0.900 for 0.500")
        self.assertEqual(found["the downloads get more next to TFRC than next to UDP"], "missed: 20.000 for 21.000")
        self.assertNotIn("SACK carries more than Reno", found)

    def test_plan_and_page(self):
        e = layered.experiment(False, {})
        self.assertEqual([c.contenders for c in e.cells], [layered.STREAMS, layered.STREAMS, ("reno", "sack", "rack")])
        with tempfile.TemporaryDirectory() as directory:
            os.makedirs(os.path.join(directory, "series"))
            np.savez_compressed(os.path.join(directory, "series", "5.2-drd--sack--0.npz"), read=np.ones(3), useful=np.ones(3))
            page = Report(directory, "t", "t")
            layered.write([row("5.2-drd", "sack"), row("5.1-drd", "udp")], page)
            self.assertLessEqual({"streams.csv", "claims.csv", "seconds-5.2-drd.png"}, set(os.listdir(directory)))

    def test_quick(self):
        good = row("5.1-drd", "udp", goodput_mbps=2.0, throughput_mbps=3.0)
        self.assertEqual(layered.check_quick([good]), [])
        self.assertEqual(len(layered.check_quick([row("5.1-drd", "udp", goodput_mbps=0.0, tcp_mbps=0.0)])), 2)


if __name__ == "__main__":
    unittest.main()
