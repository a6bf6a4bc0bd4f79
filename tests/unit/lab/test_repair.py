# SPDX-License-Identifier: GPL-2.0-or-later
import unittest

from lab import experiment
from lab.experiments import repair, repair_report


class Rounds(unittest.TestCase):
    def test_table(self):
        """Of a packet that is lost, the first copy arrives 10 ms and 1.5 RTT after its frame's capture."""
        for rtt, expected in (
                (20, {100: 3, 150: 5, 250: 10, 400: 18}),
                (50, {100: 0, 150: 1, 250: 3, 400: 6}),
                (100, {100: 0, 150: 0, 250: 1, 400: 3}),
                (200, {100: 0, 150: 0, 250: 0, 400: 1})):
            got = {budget: repair_report.rounds(budget, rtt) for budget in expected}
            self.assertEqual(got, expected, rtt)


class Bounds(unittest.TestCase):
    def test_table(self):
        for loss, rtt, budget, expected in (
                ("2%", 50, 250, (0.001, 0, 0.036)),  # three rounds
                ("5%", 100, 400, (0.003, 1, 0.075)),
                ("bursts", 50, 400, (0.002, 1, 0.04)),
                ("2%", 100, 250, (0.001, 0, 0.054)),  # one round, a budget of 2.5 RTT
                ("5%", 50, 150, (0.003, 1, 0.12)),
                ("5%", 100, 150, (0.01, 1, 0.25)),  # none: parity
                ("bursts", 100, 150, (0.01, 1, 0.2)),
                ("1%", 100, 250, None), ("2%", 100, "auto", None)):
            self.assertEqual(repair_report.bounds(loss, rtt, budget), expected, (loss, rtt, budget))


def rows(*figures):
    names = ("shown", "of_level", "long_freezes", "overhead")
    return repair_report.Rows([{"cell": cell, "contender": contender, "run": run,
                                "figures": dict(zip(names, values), seconds=50)}
                               for run, (cell, contender, *values) in enumerate(figures)])


class Goals(unittest.TestCase):
    CELL = "2%-100ms-250"

    def results(self, *figures):
        return [line[1:] for line in repair_report.goals_of(rows(*figures), self.CELL)]

    def test_met_and_missed(self):
        self.assertEqual(self.results((self.CELL, "udp", 0.9995, 0.5, 0, 0.05)),
                         [["udp", "met: 0.05 % (at most 0.1 %)", "met: 0.0 (at most 0)", "met: 5.0 % (at most 5.4 %)"]])
        # One long freeze in two runs of 50 s is three in five minutes.
        self.assertEqual(self.results((self.CELL, "udp", 0.99, 0.5, 1, 0.06), (self.CELL, "udp", 0.99, 0.5, 0, 0.06)),
                         [["udp", "missed: 1.00 % (at most 0.1 %)", "missed: 3.0 (at most 0)", "missed: 6.0 % (at most 5.4 %)"]])

    def test_a_transport_that_obeys_tcps_equation_counts_the_frames_of_its_level(self):
        self.assertEqual(self.results((self.CELL, "tfrc", 0.5, 1.0, 0, 0.02))[0][1], "met: 0.00 % (at most 0.1 %)")

    def test_what_a_version_cannot_tell_is_not_met(self):
        self.assertEqual(self.results((self.CELL, "mtp", 1, None, 0, None)),
                         [["mtp", "not measured", "met: 0.0 (at most 0)", "not measured"]])

    def test_only_weir_with_its_default_repair(self):
        self.assertEqual(self.results((self.CELL, "srt", 0.5, 1, 0, 1), (self.CELL, "udp repair=off", 0.5, 1, 0, 0),
                                      (self.CELL, "googcc", 0.5, 1, 0, 0)), [])


class Cells(unittest.TestCase):
    def test_names_tell_the_conditions(self):
        for cell in repair.cells():
            self.assertEqual(repair_report.conditions(cell.name), tuple(cell.params[k] for k in ("loss", "rtt", "budget")))

    def test_bounded_conditions_run_by_default(self):
        for cell in repair.cells():
            bounded = repair_report.bounds(*repair_report.conditions(cell.name)) is not None
            self.assertEqual(cell.default, (bounded and cell.params["rtt"] in (50, 100))
                             or (cell.params["budget"] == "auto" and cell.params["rtt"] == 100), cell.name)

    def test_contenders_get_the_budget(self):
        for contender, params, expected in (
                ("udp", {"rtt": 100, "budget": 250}, "udp latency=250"), ("mtp", {"rtt": 100, "budget": "auto"}, "mtp latency=auto"),
                ("udp repair=fec", {"rtt": 100, "budget": 150}, "udp repair=fec latency=150"),
                ("srt", {"rtt": 100, "budget": 250}, "srt-200"), ("rist", {"rtt": 20, "budget": 150}, "rist-140"),
                ("googcc", {"rtt": 100, "budget": "auto"}, "googcc")):
            self.assertEqual(repair.actual(contender, params), expected)

    def test_no_peer_without_a_number(self):
        for job in experiment.plan(repair.experiment(False, {}), 1):
            repair.actual(job.contender, job.cell.params)  # srt and rist have no automatic latency: it would raise

    def test_quick_is_short(self):
        e = repair.experiment(True, {})
        self.assertLessEqual(len(experiment.plan(e, e.runs)) * e.seconds, 180)


class Check(unittest.TestCase):
    def test_impossible_figures_are_named(self):
        good = {"shown": 0.9, "half_rate": 0.95, "p50_ms": 240, "ssim": 0.98}
        for change, count in (({}, 0), ({"shown": 0}, 1), ({"half_rate": 0.8}, 1), ({"p50_ms": 49}, 1), ({"p50_ms": None}, 1),
                              ({"ssim": 0.1}, 1), ({"ssim": 0.1, "p50_ms": 3}, 2)):
            got = repair.check_quick([{"cell": "2%-100ms-250", "contender": "udp", "figures": good | change}])
            self.assertEqual(len(got), count, change)


if __name__ == "__main__":
    unittest.main()
