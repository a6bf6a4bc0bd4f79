# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of ./run measure: one row each, with the bound that an idle machine of two cores meets."""
import lib

SOURCE = "test:640x360@30"
rows = []


class Measurement(lib.Case):
    """Its methods named measure_* run programs and call figure(). A failed assertion there means that the measurement
    failed; a figure outside of its bound is marked in its row."""

    def sender(self, *args, source=SOURCE, **options):
        return super().sender(*args, source=source, **options)

    def figure(self, what, value, low=None, high=None, unit=""):
        """Adds a row: value is expected in [low, high], either of which may be None. A value of None fails."""
        self.assertIsNotNone(value, what)
        met = (low is None or value >= low) and (high is None or value <= high)
        if low is None and high is None:
            bound = "-"
        elif high is None:
            bound = f">= {low:g} {unit}"
        elif low is None:
            bound = f"<= {high:g} {unit}"
        else:
            bound = f"{low:g} to {high:g} {unit}"
        rows.append((what, bound.strip(), f"{value:.4g} {unit}".strip(), "yes" if met else "NO"))


def table(result):
    """Returns the table as text, and below it the skipped and failed measurements (of a unittest.TestResult)."""
    lines = [("figure", "bound", "measured", "met"), *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    text += [f"skipped: {test.id()}: {why}" for test, why in result.skipped]
    text += [f"NOT MEASURED: {test.id()}" for test, _ in result.failures + result.errors]
    text.append(f"{sum(row[3] == 'yes' for row in rows)} of {len(rows)} bounds met")
    return "\n".join(text)
