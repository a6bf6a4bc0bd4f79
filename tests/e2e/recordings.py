# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of weir-send --record for tests: copies that seem to be older."""
import os
import time

PATTERN = "%Y-%m-%d_%H-%M-%S.mkv"
EPOCH_2001 = 978307200  # Matroska's dates count from there


def copy_older(path, seconds):
    """Makes a copy of a recording, beside it, that began so much earlier: its name, and its date. Returns its begin."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    at = data.index(b"\x44\x61\x88") + 3  # DateUTC, in ns
    date = int.from_bytes(data[at:at + 8], "big") - int(seconds * 10**9)
    data[at:at + 8] = date.to_bytes(8, "big")
    begun = date / 1e9 + EPOCH_2001
    with open(os.path.join(os.path.dirname(path), time.strftime(PATTERN, time.localtime(begun))), "wb") as f:
        f.write(data)
    return begun
