# SPDX-License-Identifier: GPL-2.0-or-later
import os
import tempfile
import unittest

from lab.experiments import goddard_real
from lab.report import Report


def report(switches):
    return {"startup": {"initial_buffering": 5.5}, "playback": {"wall": 300.0, "frame_rate": 19.0, "frames_lost": 30,
                                                                "frames_received": 970},
            "rebuffering": {"count": 1}, "freezes": {"ratio": 0.25}, "jitter": {"mean": 50.0, "stddev": 6.0}, "network": {"throughput": 500e3},
            "levels": {"time_at": [0, 0, 100.0, 0, 200.0, 0, 0], "switches": switches}, "picture": {"ssim": 0.9}}


class Goddard(unittest.TestCase):
    def test_access(self):
        """With the backbone's 5 ms each way the round trip is the one asked for."""
        self.assertEqual(goddard_real.access(60), ("delay=25ms", "delay=25ms"))
        up, down = goddard_real.access(140, goddard_real.LINE)
        self.assertEqual((up, down), ("delay=65ms", "rate=750kbit,queue=droptail:20p,delay=65ms"))

    def test_figures(self):
        switches = [{"at": 0.5, "from": None, "to": 4, "why": "capacity"}, {"at": 7, "from": 4, "to": 2, "why": "loss"}]
        f = goddard_real.real_figures(report(switches), [], 250e3)
        self.assertEqual((f["kbps"], f["ratio"], f["level_end"], f["frames_lost"]), (500, 2, 2, 0.03))
        self.assertAlmostEqual(f["level_mean"], (100 * 2 + 200 * 4) / 300)
        self.assertEqual(f["levels"], [(0.5, 4), (7, 2)])
        self.assertEqual(goddard_real.real_figures(report([]), [{"event": "level", "to": 3}], 1)["levels"], [(0.0, 3)])

    def test_report(self):
        f = goddard_real.real_figures(report([{"at": 1, "from": None, "to": 4, "why": "capacity"}]), [], 250e3)
        figures = {**f, **{f"sim_{k}": f[k] for k in goddard_real.SIMULATED}}
        with tempfile.TemporaryDirectory() as directory:
            page = Report(directory, "t", "t")
            goddard_real.write([{"cell": "A", "contender": "mtp", "run": 0, "figures": figures}], page)
            page.write()
            with open(os.path.join(directory, "figures-A.csv"), encoding="utf-8") as table:
                lines = table.read().splitlines()
        self.assertEqual([line.split(",")[:2] for line in lines[1:]], [["mtp", "real"], ["mtp", "simulated"]])

    def test_parts(self):
        cells = goddard_real.experiment(True, {}).cells
        self.assertEqual([c.name for c in cells], ["A", "B"])
        for contender in ("udp", "tcp", "mtp:paper,queue=65536"):  # the paper's
            self.assertIn(contender, goddard_real.CONTENDERS)

    def test_check(self):
        row = {"cell": "A", "contender": "udp", "figures": {"frame_rate": 2.0}}
        self.assertEqual(len(goddard_real.check([row])), 1)
        row["figures"]["frame_rate"] = 20.0
        self.assertEqual(goddard_real.check([row]), [])


if __name__ == "__main__":
    unittest.main()
