# SPDX-License-Identifier: GPL-2.0-or-later
import os
import tempfile
import unittest

import numpy as np

from lab.experiments import radios
from lab.traces import generate, recorded


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


class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        return path

    def test_both_formats(self):
        """A packet of 12 kbit every 10 ms for a second, then every 20 ms."""
        times = [*range(10, 1001, 10), *range(1020, 2001, 20)]
        mahimahi = self.file("a", "".join(f"{t}\n" for t in times))
        rates = self.file("b", "0 1.2\n1 0.6\n2 0.6\n")
        self.assertEqual(recorded.read(mahimahi).tolist(), times)
        np.testing.assert_allclose(recorded.read(rates), times)

    def test_the_mean_is_the_traces(self):
        """The parts of a trace keep their differences: 1.2 and 0.6 Mbit/s of a mean of 0.9 become 4 and 2 of 3."""
        path = self.file("a", "0 1.2\n10 0.6\n20 0.6\n")
        for number, mbit in (0, 4), (1, 2), (2, 4):
            times = recorded.window(path, 10, 3, number)
            self.assertAlmostEqual(len(times) * 12e-3 / 10, mbit, delta=0.05)
            self.assertEqual(times[-1], 10000)
            self.assertTrue((np.diff(times) >= 0).all() and times[0] >= 0)

    def test_a_short_trace_repeats(self):
        times = recorded.window(self.file("a", "0 1.2\n5 1.2\n"), 60, 2.4, 0)
        self.assertAlmostEqual(len(times) * 12e-3 / 60, 2.4, delta=0.05)

    def test_unavoidable(self):
        """Of 1 s, 400 ms are in gaps above 150 ms: from 100 to 300 and from 800 on."""
        times = [*range(0, 101, 20), *range(300, 801, 20)]
        self.assertAlmostEqual(recorded.unavoidable(times, 0, 1000), 0.4)

    def test_other_files_are_left_out(self):
        self.file("README", "Public traces\n")
        self.file("a.txt", "0 1\n10 1\n")
        self.assertEqual(list(radios.files_of(self.folder)), ["a.txt"])


if __name__ == "__main__":
    unittest.main()
