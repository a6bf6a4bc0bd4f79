# SPDX-License-Identifier: GPL-2.0-or-later
"""Layered goodput (Fiksdal 2003, section 5.1): a layer of a frame counts only if all lower layers also arrived.

A simulated flow sends packets, not frames: a frame is the packets that leave within a frame's time, one packet per layer from
the lowest up. A sender that may send less than the media's rate therefore leaves out the top layers.
"""
import numpy as np

# Tolerance for rounding errors, as a part of a frame.
TINY = 1e-9


def sent_times(numbers, sent, total):
    """When each of TOTAL packets left, from the arrivals' numbers and sending times: lost ones are interpolated
    between their neighbours (as controllers do between two packets), those after the last arrival are left out."""
    order = np.argsort(numbers)
    numbers, sent = np.asarray(numbers)[order], np.asarray(sent, dtype=float)[order]
    last = int(min(numbers[-1] + 1, total)) if numbers.size else 0
    return np.interp(np.arange(last), numbers, sent) if last else np.empty(0)


def frames(sent, frame_time, count):
    """The layers sent for each of COUNT frames, as lists of packet numbers, lowest layer first."""
    index = np.floor(np.asarray(sent) / frame_time + TINY).astype(int)
    edges = np.searchsorted(index, np.arange(count + 1))
    return [np.arange(a, b) for a, b in zip(edges[:-1], edges[1:])]


def valid_layers(layers, arrived):
    """Returns how many of a frame's layers are useful: those before the first missing one."""
    came = arrived[layers]
    return int(came.size if came.all() else np.argmin(came))


def count(numbers, sent, frame_time, seconds, layers=8):
    """(arrived, valid) layers of each frame of a stream that lasts SECONDS; there are no layers above the LAYERS-th:
    packets beyond it count as the next frame's first."""
    total = int(max(numbers, default=-1)) + 1
    times = sent_times(numbers, sent, total)
    arrived = np.zeros(total, dtype=bool)
    arrived[np.asarray(numbers, dtype=int)] = True
    out, carried = [], np.empty(0, dtype=int)
    for own in frames(times, frame_time, int(seconds / frame_time + TINY)):
        own = np.concatenate([carried, own])
        own, carried = own[:layers], own[layers:]
        out.append((int(arrived[own].sum()), valid_layers(own, arrived)))
    return np.array(out, dtype=int).reshape(-1, 2)


def per_second(counts, frame_time, layer_bytes):
    """(throughput, goodput) in bit/s of each whole second."""
    second = np.floor((np.arange(len(counts)) + 0.5) * frame_time).astype(int)
    sums = [np.bincount(second, weights=counts[:, i]) * layer_bytes * 8 for i in (0, 1)]
    return np.stack(sums, axis=1)[:-1] if len(counts) else np.empty((0, 2))
