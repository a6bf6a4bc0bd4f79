# SPDX-License-Identifier: GPL-2.0-or-later
"""What a viewer of a prepared film was shown: the level of each group by the pictures and their times, and the figures of it.

The film's sizes and its quality are those of its table (stream/abr/film_table.h), which is attached to the prepared file; its
levels are those of its HLS playlist.
"""
import math
import os
import re
import struct
import subprocess
import tempfile
from dataclasses import dataclass

FREEZE_S = 0.5  # without a new picture
END_S = 0.5  # a film whose last pictures within this time are missing was still shown to its end
HEADER = struct.Struct("!4sBBHIHHII")


@dataclass(frozen=True)
class Level:
    width: int
    height: int
    fps: float

    @property
    def name(self):
        return f"{self.height}p{self.fps:g}"


@dataclass(frozen=True)
class Film:
    levels: tuple  # of Level, ascending
    lengths: tuple  # seconds of each group
    sizes: tuple  # bytes of each group, by level
    quality: tuple  # SSIM of each group in dB, by level; empty: not measured

    @property
    def seconds(self):
        return sum(self.lengths)

    def group_at(self, media):
        """Returns the group that is shown at MEDIA seconds; a picture's time may be a little early."""
        return min(len(self.lengths) - 1, max(0, int((media + 0.005) / self.lengths[0])))

    def kbps(self, group, level):
        return self.sizes[group][level] * 8 / self.lengths[group] / 1e3

    def mean_mbit(self, level):
        return sum(row[level] for row in self.sizes) * 8 / self.seconds / 1e6


@dataclass(frozen=True)
class Shown:
    at: float  # seconds since the request
    media: float  # seconds of the film
    level: int


def levels_of(playlist):
    """Returns the levels of a film's HLS playlist: rendition vN is level N."""
    found = {}
    for attributes, number in re.findall(r"^#EXT-X-STREAM-INF:(.*)\n[^#\n]*?v(\d+)\.m3u8", playlist, re.MULTILINE):
        size = re.search(r"RESOLUTION=(\d+)x(\d+)", attributes)
        rate = re.search(r"FRAME-RATE=([\d.]+)", attributes)
        found[int(number)] = Level(int(size[1]), int(size[2]), float(rate[1]))
    return tuple(found[n] for n in sorted(found))


def size_of(code):
    """Returns the bytes that a size byte of the table stands for."""
    return round(1024 * 2 ** (code % 16 / 16)) * 2 ** (code // 16)


def attached(path):
    """Returns the table of a prepared file; raises ValueError."""
    with tempfile.TemporaryDirectory(prefix="weir-") as there:
        table = os.path.join(there, "table")
        # It ends with an error, as nothing is converted.
        told = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-dump_attachment:t:0", table, "-i", path],
                              capture_output=True, text=True, timeout=60, check=False).stderr
        try:
            with open(table, "rb") as f:
                return f.read()
        except OSError as e:
            raise ValueError(f"{e} {told[-500:]}") from e


def rows_of(table):
    """Returns (seconds of each group, its bytes by level, its SSIM in dB by level) of a table; raises ValueError."""
    if len(table) < HEADER.size:
        raise ValueError("the film has no table")
    magic, count, flags, _, groups, frames, last, fps, per = HEADER.unpack_from(table)
    width = count * (2 if flags & 1 else 1)
    if magic != b"WFT\1" or len(table) != HEADER.size + groups * width or groups == 0:
        raise ValueError("the film's table is not readable")
    rows = [table[at:at + width] for at in range(HEADER.size, len(table), width)]
    lengths = [frames * per / fps] * (groups - 1) + [last * per / fps]
    return (tuple(lengths), tuple(tuple(map(size_of, row[:count])) for row in rows),
            tuple(tuple(q / 10 for q in row[count:]) for row in rows) if flags & 1 else ())


def read(table, playlist):
    """Returns the Film of a table and a playlist; raises ValueError."""
    lengths, sizes, quality = rows_of(table)
    levels = levels_of(playlist)
    if len(sizes[0]) != len(levels):
        raise ValueError(f"the film's table has {len(sizes[0])} levels, its playlist {len(levels)}")
    return Film(levels, lengths, sizes, quality)


def by_size(film, seen):
    """Returns what was shown, of pictures (at, media, height) whose levels are not known. Levels of one size differ by their
    rate: within a group, the shortest time from one picture to the next shows it, also if the viewer missed some."""
    spacing = {}
    for (_, before, height), (_, media, same) in zip(seen, seen[1:]):
        key = film.group_at(media), height
        if same == height and film.group_at(before) == key[0] and media > before:
            spacing[key] = min(spacing.get(key, math.inf), media - before)

    shown = []
    for at, media, height in seen:
        some = [i for i, level in enumerate(film.levels) if level.height == height]
        if not some:
            raise ValueError(f"a picture of {height} lines, which no level has")
        key = film.group_at(media), height
        if key in spacing:
            level = min(some, key=lambda i, of=spacing[key]: abs(math.log(film.levels[i].fps * of)))
        else:  # the only one of its size in the group
            level = shown[-1].level if shown and shown[-1].level in some else some[-1]
        shown.append(Shown(at, media, level))
    return shown


def weights_of(film, shown):
    """Returns {level: its share} of each group, by the time that its pictures stand for; empty: nothing of it was shown."""
    weights = [{} for _ in film.lengths]
    for picture in shown:
        of = weights[film.group_at(picture.media)]
        of[picture.level] = of.get(picture.level, 0) + 1 / film.levels[picture.level].fps
    return [{level: w / sum(of.values()) for level, w in of.items()} for of in weights]


def linear_qoe(rates, stalled_s, top):
    """Returns MPC's linear QoE, as abr_result_shown() in lab/abr/abr_session.c: the mean over the groups of the rate, minus its
    change, minus the top rate for each second of stall; all in Mbit/s."""
    changes = sum(abs(b - a) for a, b in zip(rates, rates[1:]))
    return (sum(rates) - changes - top * stalled_s) / len(rates)


def figures(film, shown, count):
    """Returns the figures of what was shown. COUNT: of pictures that were shown, of which SHOWN may lack some."""
    shown = sorted(shown, key=lambda s: s.at)
    weights = weights_of(film, shown)
    gaps = [b.at - a.at for a, b in zip(shown, shown[1:])]
    freezes = [gap for gap in gaps if gap > FREEZE_S]
    watched = [g for g, of in enumerate(weights) if of]
    seconds = sum(film.lengths[g] for g in watched)

    def mean(value):
        return sum(film.lengths[g] * share * value(g, level) for g in watched for level, share in weights[g].items()) / seconds
    shares = [mean(lambda _, level, i=i: level == i) for i in range(len(film.levels))]
    most = [max(of, key=of.get) for of in weights if of]
    top_fps = film.levels[-1].fps
    expected = sum(length * (sum(share * film.levels[level].fps for level, share in of.items()) if of else top_fps)
                   for length, of in zip(film.lengths, weights))
    # A group that was not shown has no rate.
    rates = [film.mean_mbit(max(of, key=of.get)) if of else 0.0 for of in weights]
    stalled = sum(freezes)
    return {"first_s": shown[0].at, "shares": shares, "freezes": len(freezes), "stalled_s": stalled,
            "longest_s": max(gaps, default=0.0), "kbps": mean(film.kbps),
            "shown_bytes": sum(share * film.sizes[g][level] for g in watched for level, share in weights[g].items()),
            "changes": sum(a != b for a, b in zip(most, most[1:])), "frames": count / expected,
            "qoe": linear_qoe(rates, stalled, film.mean_mbit(len(film.levels) - 1)),
            "ssim": mean(lambda g, level: 1 - 10 ** (-film.quality[g][level] / 10)) if film.quality else None,
            "complete": max(s.media for s in shown) > film.seconds - END_S}
