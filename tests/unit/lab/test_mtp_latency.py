# SPDX-License-Identifier: GPL-2.0-or-later
import unittest

from lab.experiments import mtp_latency, mtp_latency_report, real, real_report


def row(cell, contender, run=0, **figures):
    return {"cell": cell, "contender": contender, "run": run, "figures": figures}


class Words(unittest.TestCase):
    def test_cells(self):
        cells = {c.name: c.params for c in mtp_latency.cells()}
        self.assertEqual(mtp_latency.source_of(cells["loss-10mbit-25ms-steady30"]), "synthetic:steady:3000")
        self.assertEqual(mtp_latency.source_of(cells["loss-10mbit-25ms-steady10"]), "synthetic:steady:1000")
        self.assertEqual(mtp_latency.source_of(cells["busy-12mbit-50ms-greedy"]), "synthetic:greedy")
        # 10 Mbit/s and 25 ms: 31250 bytes. 12 Mbit/s and 50 ms: 75000 bytes, a quarter of it.
        self.assertEqual(mtp_latency.link_texts(cells["loss-10mbit-25ms-greedy"])[0],
                         "rate=10mbit,queue=droptail:31250B,loss=1%,delay=12.5ms")
        self.assertEqual(mtp_latency.link_texts(cells["busy-12mbit-50ms-greedy"])[0],
                         "rate=12mbit,queue=droptail:18750B,delay=25ms")
        self.assertEqual(mtp_latency_report.rtt_of("loss-10mbit-25ms-steady10"), 25)


class Figures(unittest.TestCase):
    def test_percentiles_and_what_arrived(self):
        # Numbers 0 to 9 without 3 and 7, 10 ms each, the last 30 ms.
        adus = [(n, 1.0, 1.030 if n == 9 else 1.010) for n in range(10) if n not in (3, 7)]
        f = mtp_latency_report.latency_figures(adus)
        self.assertAlmostEqual(f["p50_ms"], 10)
        self.assertAlmostEqual(f["max_ms"], 30)
        self.assertEqual((f["samples"], f["arrived"]), (8, 0.8))
        self.assertIsNone(mtp_latency_report.latency_figures([])["max_ms"])


class Goals(unittest.TestCase):
    def test_the_worst_run_counts(self):
        for tail, verdict in ((37.9, "met: 24.9"), (38.1, "missed: 25.1")):
            rows = [row("loss-10mbit-25ms-greedy", "mtp", 0, p50_ms=13, p999_ms=20, samples=9),
                    row("loss-10mbit-25ms-greedy", "mtp", 1, p50_ms=13, p999_ms=tail, samples=9),
                    row("loss-10mbit-25ms-greedy", "tcp", 0, p50_ms=13, p999_ms=99, samples=9),
                    row("busy-12mbit-50ms-greedy", "mtp", 0, p50_ms=13, p999_ms=99, samples=9)]
            found = list(mtp_latency_report.goals(mtp_latency_report.Rows(rows)))
            self.assertEqual([g[-1] for g in found], [verdict])

    def test_share_beside_reno(self):
        for stream, met in ((3.9, False), (4.1, True), (6.2, True), (6.3, False)):
            rows = real_report.Rows([row("1v1-reno", "mtp", share=0.5, use=1, stream_mbps=stream, download_mbps=5)])
            first = next(real_report.goals_of(rows, "1v1-reno"))
            self.assertEqual(first[2:4], ("streams over downloads", "0.8 to 1.25"))
            self.assertEqual(first[5], met, stream)

    def test_real(self):
        e = real.experiment(False, {"controller": "mtp_tcp"})
        self.assertEqual(e.contenders, ["mtp", "mtp-raw", "udp", "tcp"])
        self.assertEqual(e.options["duration"], 60)


if __name__ == "__main__":
    unittest.main()
