# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of an experiment's runs, by cell and contender, and as text for a report."""
from lab import stats


class Rows:
    """The runs, by cell and contender."""

    def __init__(self, rows):
        self.by = {}
        for row in rows:
            self.by.setdefault((row["cell"], row["contender"]), {})[row["run"]] = row["figures"]

    def cells(self):
        return list(dict.fromkeys(cell for cell, _ in self.by))

    def contenders(self, cell):
        return [c for k, c in self.by if k == cell]

    def values(self, cell, contender, key):
        """Returns {run: value}."""
        return {run: f.get(key) for run, f in self.by.get((cell, contender), {}).items()}

    def mean(self, cell, contender, key, scaled=lambda value: value):
        """Returns the mean over the runs of the values, each after SCALED; None if there are none."""
        values = self.values(cell, contender, key).values()
        return stats.mean(scaled(v) for v in values if v is not None)


def text(estimate, digits):
    return "-" if estimate is None else estimate.text(digits)
