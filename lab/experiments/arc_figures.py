# SPDX-License-Identifier: GPL-2.0-or-later
"""The measures of Grieco and Mascolo (section 5), from the series of a simulation. Arrays are times x flows."""
import numpy as np


class Series:
    """The rows that weir-sim wrote for the first FLOWS flows, as arrays; rates in bit/s."""

    def __init__(self, rows, flows):
        rows = [row for row in rows if int(row["flow"]) < flows]
        self.time = np.array([float(row["time"]) for row in rows[::flows]])
        self.sent = self._column(rows, flows, "sent_bytes")
        self.good = self._column(rows, flows, "good_bytes")
        self.rate = self._column(rows, flows, "rate_bps")

    @staticmethod
    def _column(rows, flows, name):
        return np.array([float(row[name] or 0) for row in rows]).reshape(-1, flows)

    def at(self, seconds):
        """The index of the first sample not before SECONDS."""
        return min(int(np.searchsorted(self.time, seconds - 1e-9)), self.time.size - 1)


def jain(values):
    """Jain's index of each row (section 5.1.3), 1 at best, 1/n at worst; NaN if all values are 0."""
    values = np.asarray(values, dtype=float)
    squares = values.shape[-1] * np.sum(values ** 2, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squares > 0, np.sum(values, axis=-1) ** 2 / squares, np.nan)


def variation(values):
    """The burstiness of section 5.1.1: standard deviation over mean, of each column."""
    values = np.asarray(values, dtype=float)
    mean = values.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(mean > 0, values.std(axis=0, ddof=1) / mean, np.nan)


def reaches(time, rate, change, until, level):
    """Seconds from CHANGE to the first sample at which RATE has reached LEVEL from its initial side; None: not by
    UNTIL."""
    inside = (time >= change) & (time <= until)
    values = rate[inside]
    arrived = values >= level if values[0] < level else values <= level
    return float(time[inside][np.argmax(arrived)] - change) if arrived.any() else None


def changes(first, period, end):
    """The times at which an on-off source that starts at FIRST turns on, and turns off."""
    edges = np.arange(first, end, period)
    return edges[::2].tolist(), edges[1::2].tolist()


def mean_or_none(values):
    values = [v for v in values if v is not None and np.isfinite(v)]
    return float(np.mean(values)) if values else None


def transients(series, cbr, capacity, rtt, end):
    """Rise and fall times in RTTs, until the sum of the rates is within 10 % of the rate that the CBR source leaves (figures 12-15);
    None if it is not reached each time."""
    total = series.rate.sum(axis=1)
    on, off = changes(cbr["start"], cbr["period"], end)
    fall = [reaches(series.time, total, t, t + cbr["period"], 1.1 * (capacity - cbr["rate"])) for t in on]
    rise = [reaches(series.time, total, t, t + cbr["period"], 0.9 * capacity) for t in off]
    return {name: None if None in times or not times else float(np.mean(times)) / rtt
            for name, times in (("rise_rtts", rise), ("fall_rtts", fall))}


def burstiness(series, since):
    """Burstiness of the controllers' rates and of the bytes sent, each second after SINCE; mean over the flows."""
    first = series.at(since)
    return {"burst_rate": mean_or_none(variation(series.rate[first:])),
            "burst_tx1s": mean_or_none(variation(np.diff(series.sent[first:], axis=0)))}


def fairness(series, start, instants=(10, 20, 100)):
    """Long-term: Jain's index of the bytes received so many seconds after START, and at the end. Short-term: of the
    rates each second, from 100 s after START."""
    out = {f"J{t}": mean_or_none([jain(series.good[series.at(start + t)])]) for t in instants}
    out["Jend"] = mean_or_none([jain(series.good[-1])])
    short = jain(series.rate[series.at(start + 100):])
    out["IJmean"], out["IJmin"] = mean_or_none(short), float(np.nanmin(short))
    return out
