# SPDX-License-Identifier: GPL-2.0-or-later
"""The quality that a viewer saw, from when each frame was captured and shown and from its similarity to the source.

It is computed equally for every program: `frames` are the frames shown, `pictures` the SSIM of the picture on the screen
for each frame of the source. Only the frames of a window count, which excludes the start of each program.
"""
from dataclasses import dataclass

import numpy as np

# A freeze as in weir-play's own report (docs/qoe-report.md): a longer time without a new frame counts in full. The
# interval is the source's for every program, as only Weir reports a level.
FREEZE_S, FREEZE_INTERVALS = 0.15, 3
GAP_S = 0.1  # a gap: a longer time without a new frame, at any frame rate
LONG_S = 0.2  # a long freeze, in comparisons with call programs


@dataclass(frozen=True)
class Shown:
    """A frame of the source on the viewer's screen; seconds of one clock."""
    number: int
    captured: float
    shown: float
    read: bool = True  # False: the number was unreadable and is an estimate


@dataclass(frozen=True)
class Window:
    """Frames first .. last - 1 of a source of FPS frames per second."""
    first: int
    last: int
    fps: float

    @property
    def seconds(self):
        return (self.last - self.first) / self.fps


def of_weir(lines):
    """Returns (frames, {number: SSIM}) from the lines of weir-play's --events."""
    frames = [Shown(l["number"], l["captured"], l["shown"], l.get("read", True)) for l in lines
              if l.get("event") == "frame" and l.get("captured") is not None]
    return frames, _pictures(lines)


def of_watch(lines, epoch, fps):
    """Returns (frames, {number: SSIM}) from the lines of weir-watch; frame n was due at EPOCH + n / FPS."""
    frames = [Shown(l["number"], epoch + l["number"] / fps, l["shown"], l["read"]) for l in lines
              if l.get("event") == "frame"]
    return frames, _pictures(lines)


def _pictures(lines):
    return {l["number"]: l["ssim"] for l in lines if l.get("event") == "picture" and l["ssim"] is not None}


def figures(frames, pictures, window):
    """Returns the figures for a row of runs.jsonl; a latency is None if no frame was shown."""
    inside = sorted((f for f in frames if window.first <= f.number < window.last), key=lambda f: f.shown)
    latency = [(f.shown - f.captured) * 1e3 for f in inside if f.read]
    p50, p95, p99 = np.percentile(latency, [50, 95, 99]) if latency else (None, None, None)
    freezes, gaps = freezes_of(inside, window), still(inside, window, GAP_S)
    ssim, held = ssim_of(pictures, window)
    shown, half = shown_of({f.number for f in frames}, window)
    return {"freezes": len(freezes), "frozen": sum(freezes) / window.seconds, "longest_freeze": max(freezes, default=0.0),
            "long_freezes": len(still(inside, window, LONG_S)), "gaps": len(gaps), "gap_s": sum(gaps),
            "frame_rate": len(inside) / window.seconds, "shown": shown, "half_rate": half,
            "broken": sum(not f.read for f in inside) / max(1, len(inside)), "p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "ssim": ssim, "ssim_unknown": held}


def shown_of(numbers, window):
    """Returns two shares of the window's frames: those shown, and those shown or between two that were shown, which is
    every frame at the full and at half the frame rate. NUMBERS: of all frames shown, a set."""
    every = range(window.first, window.last)
    shown = sum(n in numbers for n in every)
    between = sum(n not in numbers and n - 1 in numbers and n + 1 in numbers for n in every)
    return shown / len(every), (shown + between) / len(every)


def freezes_of(inside, window):
    """Returns the seconds of each freeze."""
    return still(inside, window, max(FREEZE_S, FREEZE_INTERVALS / window.fps))


def still(inside, window, limit):
    """Returns the seconds of each time longer than LIMIT without a new frame. INSIDE: the window's frames in the order in
    which they were shown. Viewing begins when the first frame of the window is captured. It ends when the last one is
    captured, or with the last frame shown after that."""
    if not inside:
        return [window.seconds]
    some = inside[0]
    begin = some.captured + (window.first - some.number) / window.fps
    times = [max(begin, f.shown) for f in inside]
    gaps = np.diff([begin, *times, max(times[-1], begin + window.seconds)])
    # The first frame captured appears only after the latency; until then the previous picture is on the screen.
    gaps[0] -= max(0.0, inside[0].shown - inside[0].captured)
    return [float(g) for g in gaps if round(g, 6) > limit]


def ssim_of(pictures, window):
    """Returns the mean SSIM over all frames of the window, and the share of frames without a comparison. Those count with
    the preceding value (0 before the first), which is optimistic, as a still picture differs more and more from its
    source."""
    total, held, last = 0.0, 0, 0.0
    for number in range(window.first, window.last):
        if number in pictures:
            last = pictures[number]
        else:
            held += 1
        total += last
    count = window.last - window.first
    return total / count, held / count
