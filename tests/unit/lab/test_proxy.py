# SPDX-License-Identifier: GPL-2.0-or-later
import os
import tempfile
import unittest

import numpy as np

from lab import experiment, layer_times
from lab.experiments import proxy, proxy_cells, proxy_report
from lab.layer_times import Layer
from lab.report import Report

PATHS = proxy.PATHS


def rows(*runs):
    """RUNS: (cell, contender, figures); of a contender in a cell, the k-th is run k."""
    seen, out = {}, []
    for cell, contender, figures in runs:
        run = seen[cell, contender] = seen.get((cell, contender), -1) + 1
        out.append({"cell": cell, "contender": contender, "run": run, "figures": figures})
    return out


def goals(*runs):
    return [(goal, cell, result.split(":")[0]) for goal, cell, _, _, result in
            proxy_report.goals_of(proxy_report.Rows(rows(*runs)))]


class Cells(unittest.TestCase):
    def test_all(self):
        by = {}
        for p in proxy_cells.paths():
            by.setdefault(p.figure, []).append(p)
        self.assertEqual({figure: len(some) for figure, some in by.items()}, {28: 9, 44: 3, 47: 6, 52: 9})
        self.assertTrue(all(len(p.published) == 5 for figure in (28, 44, 47) for p in by[figure]))
        self.assertTrue(all((p.backbone_ms, p.access_ms) == (200, 10) for figure in (47, 52) for p in by[figure]))
        for p in proxy_cells.paths():
            mean, low, high, _, most = p.published or (1, 0, 2, 0, 3)
            self.assertTrue(low <= mean <= high <= most, p.name)
            self.assertEqual(p.traffic == "none", p.udp_mbit == 0, p.name)

    def test_links(self):
        p = PATHS["fig28-medium-5%"]
        self.assertEqual(proxy_cells.backbone_text(p), "rate=100mbit,queue=droptail:1250000B,delay=100ms")
        self.assertEqual(proxy_cells.access_text(p), "rate=1000kbit,queue=droptail:15000B,loss=5%,delay=15ms")
        self.assertEqual(proxy_cells.access_text(PATHS["fig47-128kbit-0%"]), "rate=128kbit,queue=droptail:1000000p,delay=10ms")

    def test_traffic(self):
        """20 sources that send a third of the time."""
        p = proxy_cells.Path("p", 28, "medium", 0, 50, 7, udp_mbit=90)
        self.assertEqual(proxy_cells.traffic_specs(p), ["elephants:n=2,cc=reno", "udp-pareto:n=20,rate=13500000bit,size=1472,"
                                                        "on=0.5,off=1,shape=1.5"])
        self.assertEqual(proxy_cells.traffic_specs(PATHS["fig28-none-5%"]), [])

    def test_plan(self):
        e = proxy.experiment(False, {})
        jobs = experiment.plan(e, 1)
        self.assertEqual({j.contender for j in jobs if j.cell.name == "fig47-512kbit-2%"}, 
                         set(proxy.EVERY) - {"komssys", "komssys hosts=2003"})
        self.assertEqual({j.contender for j in jobs if j.cell.name == "fig52-high-2%"}, set(proxy.EVERY) - {"komssys-blocking"})
        quick = proxy.experiment(True, {})
        self.assertTrue(all(c.name in PATHS and set(c.contenders) <= set(proxy.EVERY) for c in quick.cells))

    def test_hosts(self):
        how = proxy.CONTENDERS
        self.assertEqual(proxy.sysctls_of(PATHS["fig28-none-0%"], how["weir"]), {})
        self.assertEqual(proxy.sysctls_of(PATHS["fig47-512kbit-0%"], how["tcp"]), proxy.WINDOW_2003)
        self.assertEqual(proxy.sysctls_of(PATHS["fig28-none-0%"], how["komssys hosts=2003"]), proxy.SYSCTLS_2003)

    def test_missing(self):
        self.assertIsNone(proxy.missing("tcp", "/nowhere"))
        self.assertEqual(proxy.missing("weir", "/nowhere"), "weir-proxy is not built")


class Figures(unittest.TestCase):
    def test_of_a_run(self):
        """Two layers a second reach the proxy after 200 ms; the upper one of frame 3 is lost in the backbone."""
        p = PATHS["fig47-512kbit-0%"]
        layers = {(n, k): Layer(n, n, n + 0.2, n + 0.2, n + 0.2 + 0.1 * (k + 1)) for n in range(20) for k in (0, 1)}
        layers[3, 0].proxied = layers[3, 0].read = float("nan")
        f = proxy.figures_of(p, layers, True, np.array([1000.0, 3000] * 10), np.full(20, 2000.0))
        self.assertAlmostEqual(f["base_p95"], 300)
        self.assertAlmostEqual(f["max"], 400)
        self.assertAlmostEqual(f["layers"], 38 / 20)
        self.assertAlmostEqual(f["badput"], 1 / 39)
        self.assertEqual(f["lost_proxy"], 0)
        self.assertEqual((f["over_access"], f["backbone_variation"], f["access_variation"]), (1, 0.5, 0))
        self.assertAlmostEqual(f["goodput_kbps"], 38 * 1024 * 8e-3 / 20)
        self.assertAlmostEqual(f["wait_max"], 200 - proxy.least_access_s(p) * 1e3)
        self.assertAlmostEqual(f["queue_p95"], 0)  # written at once
        plain = proxy.figures_of(p, layers, False, np.full(20, 2000.0), np.full(20, 2000.0))
        self.assertNotIn("queue_p95", plain)


class Goals(unittest.TestCase):
    def test_published(self):
        for mean, p95, expected in ((233, 244, ["met", "met"]), (281, 244, ["missed", "met"]), (187, 195, ["missed", "missed"])):
            self.assertEqual([g[2] for g in goals(("fig28-none-0%", "komssys", {"mean": mean, "p95": p95}))], expected)

    def test_reflection(self):
        blocking = ("fig47-128kbit-0%", "komssys-blocking", {"swings": 3, "backbone_variation": 0.6, "access_variation": 0.1})
        good = {"over_access": 1.05, "backbone_variation": 0.2, "queue_p95": 340}
        for changes, missed in (({}, []), ({"over_access": 1.2}, [0]), ({"backbone_variation": 0.31}, [1]),
                                ({"queue_p95": 351}, [2])):
            found = goals(blocking, ("fig47-128kbit-0%", "weir", good | changes))
            self.assertEqual(found[0], ("b", "fig47-128kbit-0%", "met"))
            self.assertEqual([i for i, g in enumerate(found[1:]) if g[2] == "missed"], missed)

    def test_zig_zag(self):
        steady = {"swings": 0, "backbone_variation": 0.6, "access_variation": 0.1}
        self.assertEqual(goals(("fig47-128kbit-0%", "komssys-blocking", steady)), [("b", "fig47-128kbit-0%", "missed")])

    def test_loss(self):
        cell = "fig52-none-5%"
        for base, badput, expected in ((60, 0.004, ["met", "met"]), (61, 0.005, ["missed", "missed"])):
            self.assertEqual([g[2] for g in goals((cell, "weir", {"base_p95": base, "badput": badput}),
                                                  (cell, "weir queue=fifo", {"base_p95": 100})) if g[0] == "d"], expected)

    def test_end_to_end(self):
        own, end = {"p95": 300, "captured_p95": 400}, {"p95": 310, "captured_p95": 390}
        found = lambda cell: [g[2] for g in goals((cell, "weir", own), (cell, "tcp", end)) if g[0] == "e"]  # noqa: E731
        self.assertEqual(found("fig28-none-2%"), ["met", "missed"])
        self.assertEqual(found("fig28-high-5%"), [])  # a backbone of 50 ms
        self.assertEqual(found("fig28-none-0%"), [])  # no loss


class Page(unittest.TestCase):
    def test_all_parts(self):
        """With what the first runs kept, and with a run of each figure."""
        figures = {key: 1.0 for key, *_ in proxy_report.BESIDES} | {key: 200.0 for key, _ in proxy_report.FIVE}
        run_rows = rows(("fig28-none-0%", "komssys", figures), ("fig28-none-0%", "komssys", figures),
                        ("fig47-512kbit-0%", "weir", figures), ("fig47-512kbit-0%", "tcp", figures | {"queue_p95": None}),
                        ("fig52-none-2%", "weir", figures))
        with tempfile.TemporaryDirectory() as directory:
            for cell, contender in (("fig28-none-0%", "komssys"), ("fig47-512kbit-0%", "weir")):
                path = experiment.kept_path(directory, cell, contender, 0, "npz")
                os.makedirs(os.path.dirname(path), exist_ok=True)
                layers = {(n, 0): Layer(n, n, n + 0.2, n + 0.2, n + 0.3) for n in range(5)}
                proxy.save(path, layers, 0.0, np.ones(5), np.ones(5))
            page = Report(directory, "t", "t")
            proxy_report.write(run_rows, page)
            page.write()
            made = set(os.listdir(directory))
            self.assertLessEqual({"goals.csv", "delays-28.csv", "delays-47.csv", "besides-52.csv", "rates.png", "delays.png",
                                  "delays-blocking.png", "queue-fig47-512kbit-0.png", "statistics-28.png"}, made)
            with open(os.path.join(directory, "delays-28.csv"), encoding="utf-8") as f:
                lines = f.read().splitlines()
            self.assertEqual(lines[1], "fig28-none-0%,published,,233.8,226,244,8.6,336")
            self.assertTrue(lines[2].startswith('fig28-none-0%,komssys,2,"200 [200, 200]"'))

    def test_nothing(self):
        with tempfile.TemporaryDirectory() as directory:
            page = Report(directory, "t", "t")
            proxy_report.write([], page)
            self.assertIn("No run", "".join(page.parts))


if __name__ == "__main__":
    unittest.main()
