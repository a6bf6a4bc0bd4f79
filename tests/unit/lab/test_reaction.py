# SPDX-License-Identifier: GPL-2.0-or-later
import unittest

import numpy as np

from lab.experiments import reaction

S = round(1 / reaction.STEP_S)  # values a second
DOWN, UP = reaction.STEPS


def series(*parts):
    """(seconds, value) after (seconds, value)."""
    return np.concatenate([np.full(round(seconds * S), float(value)) for seconds, value in parts])


class Reaction(unittest.TestCase):
    def test_gone(self):
        # Highest after 0.5 s, below for a moment after 0.8 s, for good after 1.2 s.
        delay = np.array([20, 40, 60, 100, 200, 300, 200, 100, 40, 100, 100, 60, 30, 30, 30, 30, 30, 30, 100, 30.0])
        self.assertAlmostEqual(reaction.gone(delay, 50, 0, 2), 1.2)
        self.assertIsNone(reaction.gone(delay + 50, 50, 0, 2))

    def test_figures_of_a_reaction_that_meets_the_goals(self):
        rate = series((DOWN, 2.0), (0.4, 2.0), (UP - DOWN - 0.4, 1.0), (5, 1.5), (15, 2.2))
        late = series((DOWN, 30), (0.5, 200), (0.5, 120), (UP - DOWN - 1, 40), (20, 30))
        f = reaction.figures_of(rate, late, 2.4, 1.2)
        self.assertAlmostEqual(f["below_s"], 0.6, delta=0.21)
        self.assertAlmostEqual(f["gone_s"], 1.0, delta=0.11)
        self.assertAlmostEqual(f["used_s"], 5.6, delta=0.5)
        self.assertAlmostEqual(f["use_high"], 2.0 / 2.4, places=3)
        self.assertAlmostEqual(f["use_low"], 1.0 / 1.2, places=3)
        self.assertEqual(f["queue_max_ms"], 200)
        self.assertEqual(reaction.met([{"below_s": 0.5, "gone_s": 1.0, "used_s": 5.6}]), "met")

    def test_goals_that_are_missed_are_named(self):
        rate = series((UP, 2.0), (20, 0.5))
        late = series((DOWN, 30), (40, 400))
        f = reaction.figures_of(rate, late, 2.4, 1.2)
        self.assertIsNone(f["below_s"])
        self.assertIsNone(f["gone_s"])
        self.assertIsNone(f["used_s"])
        self.assertEqual(reaction.met([f]), "missed: below, gone, used")


if __name__ == "__main__":
    unittest.main()
