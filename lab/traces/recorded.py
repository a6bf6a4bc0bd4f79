# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads recorded traces of links: packet-delivery traces in Mahimahi's format (a line for each packet of 1500 bytes that could
leave, whole ms), or lines of seconds and Mbit/s, from each of which that rate holds.
"""
import numpy as np

from lab.traces.generate import PACKET_BITS

STILL_MS = 150  # more without a new picture is a freeze (lab/viewing.py)


def read(path):
    """Returns the delivery times, ms; raises ValueError for another kind of file."""
    with open(path, encoding="ascii") as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith("#")]
    try:
        if rows and len(rows[0]) == 1:
            return np.array([float(row[0]) for row in rows])
        seconds, mbit = np.array([[float(value) for value in row] for row in rows]).T
    except ValueError as e:
        raise ValueError(f"{path}: expects lines of ms, or of seconds and Mbit/s") from e
    credit = np.concatenate([[0], np.cumsum(mbit[:-1] * np.diff(seconds))]) * 1e6 / PACKET_BITS
    return np.interp(np.arange(1, int(credit[-1] + 1e-6) + 1), credit, seconds * 1e3)


def window(path, seconds, mean_mbit, number):
    """Returns the times of the NUMBER-th part of a trace, scaled to a mean: of each packet's time k packets, k for the whole
    trace. The parts begin again at the trace's start if it is too short."""
    times = read(path)
    length = times[-1] - times[0]
    copies = mean_mbit * 1e3 * length / (len(times) * PACKET_BITS)
    many = np.floor(np.arange(1, len(times) + 1) * copies) - np.floor(np.arange(len(times)) * copies)
    scaled = np.repeat(times - times[0], many.astype(int))
    begin = number * seconds * 1e3 % max(1, length)
    twice = np.concatenate([scaled, scaled + length])
    while twice[-1] < begin + seconds * 1e3:
        twice = np.concatenate([twice, scaled + twice[-1]])
    inside = twice[(twice >= begin) & (twice < begin + seconds * 1e3)] - begin
    return np.ceil(np.append(inside, seconds * 1e3)).astype(int)  # a link repeats a trace after its last time


def unavoidable(times, begin, end):
    """Returns the share of the time between two instants, ms, in gaps that no sender can avoid: more than STILL_MS in which the
    link carries no packet."""
    inside = np.concatenate([[begin], [t for t in times if begin <= t < end], [end]])
    gaps = np.diff(inside)
    return float(gaps[gaps > STILL_MS].sum() / (end - begin))
