# SPDX-License-Identifier: GPL-2.0-or-later
import os
import tempfile
import unittest

import numpy as np

from lab.traces import generate


class Generators(unittest.TestCase):
    def test_form_and_mean(self):
        for kind in ("lte", "wifi"):
            for mbit in (1, 6, 20):
                times = generate.KINDS[kind](3, 30, mbit)
                with self.subTest(kind=kind, mbit=mbit):
                    self.assertTrue((np.diff(times) >= 0).all())
                    self.assertTrue((times >= 0).all() and times[-1] <= 30000)
                    # 12 kbit a packet.
                    self.assertAlmostEqual(len(times) * 12e3 / 30 / 1e6, mbit, delta=0.01 * mbit + 0.001)

    def test_seed(self):
        for kind in ("lte", "wifi"):
            make = generate.KINDS[kind]
            self.assertEqual(make(1, 10, 5).tolist(), make(1, 10, 5).tolist())
            self.assertNotEqual(make(1, 10, 5).tolist(), make(2, 10, 5).tolist())

    def test_steps(self):
        # 12 Mbit/s is a packet a ms; 10 s each at 1, 0.25, 1.5, 0.5, 2 and 0.1 times that.
        times = generate.steps(1, 60, 12)
        counts = np.histogram(times, bins=np.arange(7) * 10000 + 0.5)[0]
        self.assertEqual(counts.tolist(), [10000, 2500, 15000, 5000, 20000, 1000])

    def test_lte_varies_and_stops(self):
        a_second = np.bincount(generate.lte(5, 120, 6) // 1000, minlength=121)[:120] * 12e3 / 1e6
        self.assertGreater(a_second.std(), 1.5)
        self.assertGreater(np.diff(generate.lte(5, 120, 6)).max(), 200)  # an outage

    def test_wifi_comes_in_bursts(self):
        gaps = np.diff(generate.wifi(5, 60, 6))
        self.assertGreater(np.mean(gaps <= 1), 0.7)
        self.assertGreater(np.percentile(gaps, 99), 20)
        with self.assertRaises(ValueError):
            generate.wifi(1, 10, 60)

    def test_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "x")
            generate.write([0, 3, 3], path)
            with open(path, encoding="ascii") as f:
                self.assertEqual(f.read(), "0\n3\n3\n")
            with self.assertRaises(ValueError):
                generate.write([], path)


if __name__ == "__main__":
    unittest.main()
