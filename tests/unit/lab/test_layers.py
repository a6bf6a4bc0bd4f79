# SPDX-License-Identifier: GPL-2.0-or-later
import unittest

import numpy as np

from lab.experiments import layers


class Layers(unittest.TestCase):
    def test_valid_layers_end_at_the_first_hole(self):
        for arrived, expected in (("1111", 4), ("0111", 0), ("1101", 2), ("1110", 3), ("0000", 0), ("", 0)):
            with self.subTest(arrived=arrived):
                came = np.array([c == "1" for c in arrived], dtype=bool)
                self.assertEqual(layers.valid_layers(np.arange(came.size), came), expected)

    def test_sending_times_of_the_lost(self):
        # 0 and 3 arrived, at 0 and 0.3 s; nothing tells of 4.
        times = layers.sent_times([3, 0], [0.3, 0.0], 5)
        np.testing.assert_allclose(times, [0, 0.1, 0.2, 0.3])
        self.assertEqual(layers.sent_times([], [], 0).size, 0)

    def test_frames_by_time(self):
        got = [list(f) for f in layers.frames([0.0, 0.04, 0.11, 0.31], 0.1, 4)]
        self.assertEqual(got, [[0, 1], [2], [], [3]])

    def test_count(self):
        # Frames of 0.1 s with two layers: 0 1 | 2 3 | 4 5, of which 2 is lost: 3 came and is of no use.
        numbers, sent = [0, 1, 3, 4, 5], [0.0, 0.05, 0.15, 0.2, 0.25]
        counts = layers.count(numbers, sent, 0.1, 0.3, 2)
        self.assertEqual(counts.tolist(), [[2, 2], [1, 0], [2, 2]])

    def test_a_slow_sender_leaves_out_the_top(self):
        numbers = np.arange(10)
        counts = layers.count(numbers, numbers * 0.1 + 0.01, 0.1, 1.0, 8)
        self.assertEqual(counts.tolist(), [[1, 1]] * 10)

    def test_what_is_above_the_top_layer_goes_to_the_next_frame(self):
        counts = layers.count([0, 1, 2, 3], [0.0, 0.01, 0.02, 0.15], 0.1, 0.2, 2)
        self.assertEqual(counts.tolist(), [[2, 2], [2, 2]])

    def test_nothing_arrived(self):
        self.assertEqual(layers.count([], [], 0.1, 0.3).tolist(), [[0, 0]] * 3)

    def test_independent_loss_has_the_expected_value(self):
        # Each layer arrives with probability 0.8: the sum of 0.8^i, i = 1 to 8, are valid: 3.329.
        rng = np.random.default_rng(1)
        numbers = np.flatnonzero(rng.random(80000) < 0.8)
        counts = layers.count(numbers, numbers * 0.001 + 0.0005, 0.008, 80, 8)
        self.assertAlmostEqual(counts[:, 1].mean(), 3.329, delta=0.06)
        self.assertAlmostEqual(counts[:, 0].mean(), 6.4, delta=0.06)

    def test_per_second(self):
        # 10 frames a second, 2.5 s: the last half second is left out.
        rates = layers.per_second(np.array([[8, 4]] * 25), 0.1, 1000)
        self.assertEqual(rates.tolist(), [[640000, 320000]] * 2)


if __name__ == "__main__":
    unittest.main()
