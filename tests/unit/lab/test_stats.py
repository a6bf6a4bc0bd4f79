# SPDX-License-Identifier: GPL-2.0-or-later
import unittest

import numpy as np

from lab import stats
from lab.stats import LogHistogram


class Mean(unittest.TestCase):
    def test_small_samples(self):
        for values, expected in (([], None), ([None], None), ([3.0], (3.0, None, None, 1)),
                                 ([2, 2, None], (2, 2, 2, 2))):
            got = stats.mean(values)
            with self.subTest(values=values):
                self.assertEqual(got and (got.value, got.low, got.high, got.n), expected)

    def test_interval_of_two_is_their_range(self):
        # A quarter of the resamples is (1, 1) and a quarter (3, 3): both tails hold more than 2.5 %.
        e = stats.mean([1, 3])
        self.assertEqual((e.value, e.low, e.high), (2, 1, 3))
        self.assertEqual(e.text(1), "2.0 [1.0, 3.0]")

    def test_covers_like_the_normal_interval(self):
        values = np.random.default_rng(7).normal(10, 2, 400)
        e = stats.mean(values)
        half = 1.96 * values.std(ddof=1) / 20
        self.assertAlmostEqual(e.low, values.mean() - half, delta=0.03)
        self.assertAlmostEqual(e.high, values.mean() + half, delta=0.03)

    def test_same_runs_same_numbers(self):
        self.assertEqual(stats.mean([1, 2, 5, 9]), stats.mean([1, 2, 5, 9]))


class Pairs(unittest.TestCase):
    def test_only_runs_of_both_count(self):
        d = stats.paired_difference({0: 5, 1: 7, 2: None, 4: 1}, {0: 1, 1: 3, 2: 2, 3: 9})
        self.assertEqual((d.value, d.low, d.high, d.n), (4, 4, 4, 2))
        self.assertTrue(d.significant)
        self.assertEqual(d.text(0), "+4 [+4, +4]")

    def test_interval_with_zero(self):
        d = stats.paired_difference({0: 1, 1: -1}, {0: 0, 1: 0})
        self.assertFalse(d.significant)
        self.assertTrue(d.text().startswith("no significant difference"))

    def test_one_pair_says_nothing(self):
        d = stats.paired_difference({0: 2}, {0: 1})
        self.assertFalse(d.significant)
        self.assertIn("one pair", d.text())
        self.assertIsNone(stats.paired_difference({0: 2}, {1: 1}))

    def test_ratio(self):
        r = stats.paired_ratio({0: 1, 1: 3}, {0: 2, 1: 2})
        self.assertEqual((r.value, r.low, r.high), (1.0, 0.5, 1.5))
        self.assertIsNone(stats.paired_ratio({0: 1}, {0: 0}))


class Histogram(unittest.TestCase):
    def test_bins(self):
        edges = LogHistogram.edges()
        self.assertEqual((edges[0], edges.size), (1, 201))
        counts = LogHistogram.counts([0.2, 1.0, 10.0, 1e7])
        self.assertEqual((counts[0], counts[40], counts[200], sum(counts)), (2, 1, 1, 4))
        self.assertEqual(list(LogHistogram.cdf(counts)[[0, 39, 40, 199, 200]]), [0.5, 0.5, 0.75, 0.75, 1])

    def test_empty(self):
        self.assertEqual(sum(LogHistogram.counts([])), 0)
        self.assertEqual(LogHistogram.cdf(LogHistogram.counts([]))[-1], 0)


if __name__ == "__main__":
    unittest.main()
