# SPDX-License-Identifier: GPL-2.0-or-later
"""Means with bootstrap intervals and paired comparisons. Resampling is seeded: the same runs give the same numbers."""
from dataclasses import dataclass
from typing import Optional

import numpy as np

RESAMPLES = 4000
LEVEL = 0.95
SEED = 1


@dataclass(frozen=True)
class Estimate:
    """A value and its 95 % interval; low and high are None if there are fewer than two samples."""
    value: float
    low: Optional[float]
    high: Optional[float]
    n: int

    def text(self, digits=2):
        if self.low is None:
            return f"{self.value:.{digits}f}"
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


@dataclass(frozen=True)
class Difference(Estimate):
    """A paired difference."""

    @property
    def significant(self):
        return self.low is not None and not self.low <= 0 <= self.high

    def text(self, digits=2):
        if self.low is None:
            return f"{self.value:+.{digits}f} (significance unknown: only one pair)"
        interval = f"{self.value:+.{digits}f} [{self.low:+.{digits}f}, {self.high:+.{digits}f}]"
        return interval if self.significant else "no significant difference: " + interval


def _bounds(resampled):
    tail = (1 - LEVEL) / 2 * 100
    low, high = np.percentile(resampled, [tail, 100 - tail])
    return float(low), float(high)


def _resamples(n):
    """Returns an array whose row k holds the indices of resample k (percentile bootstrap, Efron 1979)."""
    return np.random.default_rng(SEED).integers(0, n, size=(RESAMPLES, n))


def mean(values):
    """Returns the mean of VALUES, or None if there are none (None values are ignored)."""
    values = np.array([v for v in values if v is not None], dtype=float)
    if values.size == 0:
        return None
    if values.size == 1:
        return Estimate(float(values[0]), None, None, 1)
    return Estimate(float(values.mean()), *_bounds(values[_resamples(values.size)].mean(axis=1)), values.size)


def _pairs(a, b):
    """Takes two dicts run -> value; returns the values of the runs that both have."""
    keys = sorted(k for k in a.keys() & b.keys() if a[k] is not None and b[k] is not None)
    return np.array([a[k] for k in keys], dtype=float), np.array([b[k] for k in keys], dtype=float)


def paired_difference(a, b):
    """Returns the mean of a - b over the runs that both have; None if there are none."""
    x, y = _pairs(a, b)
    e = mean(x - y)
    return e and Difference(e.value, e.low, e.high, e.n)


def paired_ratio(a, b):
    """Returns mean(a) / mean(b) over the runs that both have, resampled in pairs; None if there are none or b is 0."""
    x, y = _pairs(a, b)
    if x.size == 0 or y.mean() == 0:
        return None
    value = float(x.mean() / y.mean())
    if x.size == 1:
        return Estimate(value, None, None, 1)
    index = _resamples(x.size)
    below = y[index].mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = x[index].mean(axis=1) / below
    ratios = ratios[np.isfinite(ratios)]
    return Estimate(value, *_bounds(ratios), x.size) if ratios.size else Estimate(value, None, None, x.size)


class LogHistogram:
    """Counts in logarithmic bins, small enough to be stored with every run and summed over runs."""
    PER_DECADE = 40
    LOW, DECADES = 1.0, 5  # 1 ms to 100 s

    @classmethod
    def edges(cls):
        """Returns the upper edges of all bins; the first bin takes all smaller values, the last all larger ones."""
        return cls.LOW * 10 ** (np.arange(cls.PER_DECADE * cls.DECADES + 1) / cls.PER_DECADE)

    @classmethod
    def counts(cls, values):
        bins = np.searchsorted(cls.edges(), np.asarray(values, dtype=float), side="left")
        return np.bincount(np.minimum(bins, cls.edges().size - 1), minlength=cls.edges().size).tolist()

    @classmethod
    def cdf(cls, counts):
        """Returns the fraction of values at or below each edge."""
        total = np.sum(counts)
        return np.cumsum(counts) / total if total else np.zeros(len(counts))


def jain(values):
    """Returns Jain's index: 1 if all values are equal, 1/n if one is the whole sum."""
    values = np.asarray(values, dtype=float)
    squares = np.sum(values ** 2) * values.size
    return float(np.sum(values) ** 2 / squares) if squares > 0 else None
