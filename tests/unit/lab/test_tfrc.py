# SPDX-License-Identifier: GPL-2.0-or-later
import unittest

from lab import experiment
from lab.experiments import real, tfrc, tfrc_report


def row(cell, contender, **figures):
    return {"cell": cell, "contender": contender, "run": 0, "figures": figures}


class Words(unittest.TestCase):
    def test_queues(self):
        # 10 Mbit/s and 50 ms: 41.7 packets.
        bdp = tfrc.bdp_packets(10, 50)
        self.assertEqual(round(bdp, 1), 41.7)
        for kind, expected in (("0.5bdp", "droptail:21p"), ("2bdp", "droptail:83p"),
                               ("red", "red:104p:min=10p:max=52p")):
            self.assertEqual(tfrc.queue_text(kind, bdp), expected)
        self.assertEqual(tfrc.queue_text("0.5bdp", 1), "droptail:5p")

    def test_cells(self):
        self.assertEqual(tfrc.friendly_cell(1, 50, "1bdp").name, "1v1-50ms-1bdp")
        self.assertEqual(tfrc.friendly_cell(16, (20, 200), "red", "linuxrto").name, "16v16-20..200ms-red-linuxrto")
        self.assertEqual(tfrc_report.split("16v16-50ms-0.5bdp"), (16, "50", "0.5bdp"))
        self.assertIsNone(tfrc_report.split("16v16-50ms-1bdp-nodelack"))

    def test_bursts_are_a_frame_each(self):
        # 8 packets of 1064 bytes every 8512 us are 8 Mbit/s; the eighth begins 596 us after the first.
        self.assertEqual(tfrc.stream_words("udp-bursts", 8, 80),
                         "cbr:rate=100mbit,on=638us,off=7874us,size=1064B,stop=80s")
        self.assertEqual(tfrc.stream_words("udp", 8, 80), "datagram:cc=fixed,rate=8mbit,size=1064B,stop=80s")


class Goals(unittest.TestCase):
    def test_friendliness_is_a_factor_of_two(self):
        for ratio, verdict in ((0.4, "missed"), (0.5, "met"), (2.0, "met"), (2.1, "missed")):
            rows = tfrc_report.Rows([row("1v1-50ms-1bdp", "tfrc", ratio=ratio, cov_1s=0.1, cov_1s_reno=0.2)])
            first, second = tfrc_report.friendly_goals(rows, "1v1-50ms-1bdp")
            self.assertTrue(first[-1].startswith(verdict), ratio)
            self.assertTrue(second[-1].startswith("met: 0.50"))


class Plan(unittest.TestCase):
    def test_a_cell_may_have_contenders_of_its_own(self):
        cells = [experiment.Cell("a", {}), experiment.Cell("b", {}, contenders=("x", "y"))]
        e = experiment.Experiment("e", "E", cells, ["p"], None, None)
        self.assertEqual([j.key for j in experiment.plan(e, 2)],
                         [("a", "p", 0), ("b", "x", 0), ("b", "y", 0), ("a", "p", 1), ("b", "y", 1), ("b", "x", 1)])

    def test_real_has_each_controller_and_the_baselines(self):
        self.assertEqual(real.experiment(False, {"controller": "psp"}).contenders, ["psp", "psp-plain", "udp", "tcp"])
        self.assertEqual(real.experiment(False, {}).contenders, ["arc", "psp", "psp-plain", "tfrc", "scream", "mtp", "mtp-raw", "udp",
                                                                "tcp"])
        self.assertEqual(len(real.experiment(False, {}).cells), 9)


if __name__ == "__main__":
    unittest.main()
