# SPDX-License-Identifier: GPL-2.0-or-later
import os
import socket
import tempfile
import unittest

import numpy as np

from lab import drain, watch_tcp
from lab.experiment import kept_path
from lab.experiments import minbuf, minbuf_report
from lab.report import Report
from lab.stats import LogHistogram

CELL, ECN = "30mbit-100ms-0.25bdp-reno", "30mbit-100ms-dred-reno"
FIGURES = {"d200": 0.9, "d500": 1.0, "mean_ms": 60.0, "p95_ms": 100.0, "queue_delay_ms": 5.0, "throughput_bps": 2e6,
           "utilisation": 0.9, "link_drops": 1, "link_marks": 0, "flow_drops": 1, "flow_marks": 0, "cpu_s_per_gbit": 5.0,
           "mice": 80, "mice_share": 0.3, "latency_bins": list(LogHistogram.counts(np.array([60.0])))}
COST = {"gigabit_bps": 1e9, "core_busy": 0.99, "core_s_per_gbit": 1.0, "waits_per_mbyte": 2.0}


def rows(*runs):
    """RUNS: (cell, contender, changes)."""
    return [{"cell": cell, "contender": contender, "run": 0,
             "figures": (COST if cell.startswith("gigabit") else FIGURES) | changes} for cell, contender, changes in runs]


class Mice(unittest.TestCase):
    def test_share(self):
        profile = {"mice": {10: 4e6, 11: 6e6, 12: 6e6, 13: 9e6}, "elephants": {11: 20e6}}
        self.assertAlmostEqual(minbuf.share_of_mice(profile, 30, 10, 12), 0.2)
        self.assertEqual(minbuf.share_of_mice({}, 30, 10, 12), 0)

    def test_search(self):
        """(what a mouse gets of the bandwidth, goal, mice found, shares measured)"""
        for each, goal, found, measured in ((0.3 / 40, 0.3, 40, 1), (0.1 / 40, 0.3, 120, 2), (1.2 / 40, 0.3, 10, 3),
                                            (0.001 / 40, 0.5, 300, 3)):
            with self.subTest(each=each, goal=goal):
                tried = []
                mice, share = minbuf.search(goal, lambda n: tried.append(n) or each * n, 4, 0.03)
                self.assertEqual((mice, len(tried)), (found, measured))
                self.assertAlmostEqual(share, each * mice)

    def test_goals(self):
        self.assertEqual([minbuf_report.mice_goal(q) for q in minbuf.QUEUES], [0.3, 0.3, 0.5, 0.3])
        good = rows((CELL, "tcp", {}), (ECN, "tcp", {"mice_share": 0.45}))
        self.assertEqual(minbuf.check(good + rows(("gigabit", "tcp", {}))), [])
        bad = rows((CELL, "tcp", {"mice_share": 0.5}), ("gigabit-tso", "tcp", {"core_busy": 0.4}))
        self.assertEqual([text.split(":")[0] for text in minbuf.check(bad)], ["gigabit-tso tcp", f"{CELL} tcp"])

    def test_quick(self):
        """A short run judges neither the cost nor the mice."""
        self.assertEqual(minbuf.check_quick(rows(("gigabit", "tcp", {"core_busy": 0.4}))), [])
        quick = [(CELL, c, {"samples": 900, "p50_ms": 60.0, "utilisation": 0.9, "throughput_bps": 1e6})
                 for c in ("tcp", "minbuf:1,0", "minbuf:1,3")]
        self.assertEqual(minbuf.check_quick(rows(("gigabit", "tcp", {"core_busy": 0.4}), *quick)), [])
        quick[1][2].update(mice_share=0.1, d500=0.5, mean_ms=900.0)
        self.assertEqual(minbuf.check_quick(rows(*quick)), [])

    def test_traffic(self):
        p = minbuf.cell(30, 100, "dred", "reno").params
        specs = minbuf.traffic_specs(p, minbuf_report.SCHEDULE, 55)
        self.assertIn("mice:n=55,bytes=20000,cc=reno,start=20,stop=75", specs["r1"])
        self.assertEqual(len(specs["r2"]), 3)


class Pages(unittest.TestCase):
    def test_whole(self):
        """Every table of a page: quality, mice, overhead; and figure 6 with its third panel."""
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "series"))
            times = np.linspace(1, 20, 200)
            np.savez_compressed(kept_path(folder, CELL, "minbuf:1,0", 0, "parts.npz"), written=times, sent=times + 0.01,
                                arrived=times + 0.06, read=times + 0.07, out=times, again=times > 19.9,
                                window_at=times, window=np.full(200, 8))
            page = Report(folder, "title", "command")
            minbuf_report.write(rows((CELL, "tcp", {"d200": 0.5, "throughput_bps": 4e6}), (CELL, "minbuf:1,0", {}),
                                     ("gigabit", "tcp", {}), ("gigabit", "minbuf:1,0", {"gigabit_bps": 8e8})), page)
            page.write()
            tables = {}
            for name in "quality", "mice", "overhead":
                with open(os.path.join(folder, name + ".csv"), encoding="utf-8") as f:
                    tables[name] = f.read().splitlines()
            self.assertTrue(os.path.exists(os.path.join(folder, "figure-6.png")))
        self.assertEqual(tables["quality"][2], f'{CELL},"minbuf:1,0",1.80,0.90,2.00,0.50')
        self.assertEqual(tables["mice"][1].split(",")[1:3], ["0.3", "80"])
        self.assertTrue(tables["overhead"][2].startswith('gigabit,"minbuf:1,0",1,800,0.80,0.99'), tables["overhead"])


class Windows(unittest.TestCase):
    def test_of_a_connection(self):
        """The kernel answers with the window of that connection: ten packets at its start (RFC 6928)."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port)) as client, server.accept()[0]:
                with open("/proc/self/net/tcp", encoding="ascii") as f:
                    self.assertEqual(watch_tcp.connections(f.read(), port), [(("127.0.0.1", port), client.getsockname())])
                with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, watch_tcp.NETLINK_SOCK_DIAG) as s:
                    for far, window in (client.getsockname(), 10), (("127.0.0.1", 1), None):
                        s.send(watch_tcp.request(("127.0.0.1", port), far))
                        self.assertEqual(watch_tcp.window_of(s.recv(65536)), window)

    def test_not_an_answer(self):
        for reply in (b"", b"\0" * 16, b"\xff" * 200):
            self.assertIsNone(watch_tcp.window_of(reply))


class Drain(unittest.TestCase):
    def test_track(self):
        sdp = "v=0\r\nm=audio 0 RTP/AVP 96\r\na=control:audio\r\nm=video 0 RTP/AVP 97\r\nb=AS:5\r\na=control:video\r\n"
        self.assertEqual(drain.track_of("rtsp://h/live", sdp), "rtsp://h/live/video")
        with self.assertRaises(drain.Refused):
            drain.track_of("rtsp://h/live", sdp[:40])


if __name__ == "__main__":
    unittest.main()
