# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of control.py: the time from a key to the first new picture, by transport, link and load."""
import numpy as np

from lab import stats
from lab.report import canvas
from lab.rows import Rows, text

ACTIONS = {"channel": "channel change", "seek": "seek", "resume": "play after a pause", "play": "play after a stop",
           "scale": "fast forward and rewind"}
GOAL, GOAL_CELLS = "minbuf:1,3", "-load"
PLAIN = "tcp one"  # what a program has that knows neither MIN_BUF nor a second connection
STEPS = {"requested_ms": "requests left", "described_ms": "DESCRIBE answered", "played_ms": "PLAY answered",
         "packet_ms": "first media packet", "complete_ms": "first picture complete", "decoded_ms": "decoded",
         "first_frame_ms": "shown"}
MARGIN_MS = 150  # beyond two round trips

WHAT = ("Each value is the time from a key to the first picture that it brings, in ms. All keys of all runs of a cell are one "
        "sample; brackets are 95 % bootstrap intervals over keys. 'Late' counts keys without a picture before the next key: "
        "those have at least the time that is listed. After a pause of 0.7 s buffered media is shown at once. 'One' is "
        "weir-play --no-standby: channels change over the one connection.")


def quantile(values, percent):
    """Returns the percentile of VALUES and its interval as text; '-' if there are none."""
    values = np.array(values, dtype=float)
    if values.size == 0:
        return "-"
    at = f"{np.percentile(values, percent):.0f}"
    if values.size < 3:
        return at
    drawn = np.random.default_rng(stats.SEED).integers(0, values.size, size=(stats.RESAMPLES, values.size))
    low, high = np.percentile(np.percentile(values[drawn], percent, axis=1), [2.5, 97.5])
    return f"{at} [{low:.0f}, {high:.0f}]"


def pooled(rows, cell, contender, key):
    """Returns all values of the runs that have KEY."""
    return [v for values in rows.values(cell, contender, key).values() if values for v in values]


def step_values(rows, cell, contender, step):
    """Returns the times of STEP of all runs."""
    return [v for steps in rows.values(cell, contender, "steps").values() if steps for v in steps.get(step, [])]


def round_trip(cell):
    return int(cell.split("-")[1].removesuffix("ms"))


def goals(rows):
    """Returns [cell, action, n, bound, p95 in words] of the contender with a goal."""
    for cell in rows.cells():
        if not cell.endswith(GOAL_CELLS):
            continue
        bound = 2 * round_trip(cell) + MARGIN_MS
        for action, name in ACTIONS.items():
            own = pooled(rows, cell, GOAL, f"{action}_ms")
            plain = pooled(rows, cell, PLAIN, f"{action}_ms")
            if not own:
                continue
            p95 = float(np.percentile(own, 95))
            yield [cell, name, len(own), f"<= {bound} ms", f"{'met' if p95 <= bound else 'missed'}: {quantile(own, 95)}"]
            if plain:
                quarter = float(np.percentile(plain, 95)) / 4
                yield [cell, name, len(plain), f"<= {quarter:.0f} ms, a quarter of the p95 of tcp over one connection",
                       f"{'met' if p95 <= quarter else 'missed'}: {p95:.0f}"]


def distribution(page, rows, cell):
    names = [a for a in ACTIONS if any(pooled(rows, cell, c, f"{a}_ms") for c in rows.contenders(cell))]
    if not names:
        return
    figure, axes = canvas(1, len(names), width=3.4, sharey=True)
    for axis, action in zip(axes[0], names):
        for contender in rows.contenders(cell):
            values = np.sort(pooled(rows, cell, contender, f"{action}_ms"))
            if values.size:
                axis.step(values, np.arange(1, values.size + 1) / values.size, where="post", label=contender)
        axis.axvline(2 * round_trip(cell) + MARGIN_MS, color="grey", linewidth=0.8)
        axis.set_xscale("log")
        axis.set_title(ACTIONS[action])
        axis.set_xlabel("ms from the key to the picture")
    axes[0][0].set_ylabel("share of the keys")
    axes[0][-1].legend(fontsize=7)
    page.figure(f"{cell} (the line is two round trips and {MARGIN_MS} ms)", figure, f"distribution-{cell}")


def write(run_rows, page):
    if not run_rows:
        page.text("No run has finished yet.")
        return
    rows = Rows(run_rows)
    page.text(WHAT)
    page.heading("Goals")
    page.goals("The goals of minbuf:1,3 next to the traffic of the paper", ["cell", "control", "n", "goal for p95", "measured"],
               goals(rows))
    page.table("Mice and machine", ["cell", "over", "mice", "their share of the link (the paper: 0.3)", "longest share of a thread's life without a core"],
               [[cell, c, *(text(rows.mean(cell, c, key), digits) for key, digits in (("mice", 0), ("mice_share", 2), ("waited", 3)))]
                for cell in rows.cells() for c in rows.contenders(cell)], "mice")
    for cell in rows.cells():
        page.heading(cell)
        table = []
        for action, name in ACTIONS.items():
            for contender in rows.contenders(cell):
                values = pooled(rows, cell, contender, f"{action}_ms")
                late = sum(v or 0 for v in rows.values(cell, contender, f"{action}_late").values())
                if values:
                    table.append([name, contender, len(values), quantile(values, 50), quantile(values, 95), late])
        page.table(cell, ["control", "over", "n", "median, ms", "p95, ms", "late"], table)
        page.table(f"{cell}: steps of the channel changes that brought a picture, ms from the key", ["over", *STEPS.values()],
                   [[contender, *(quantile(step_values(rows, cell, contender, step), 50) for step in STEPS)]
                    for contender in rows.contenders(cell)])
        distribution(page, rows, cell)


def check(run_rows):
    """Returns what is not plausible: every contender must have brought pictures after channel changes."""
    rows = Rows(run_rows)
    return [f"{cell}: {contender} showed no picture after a change of channel" for cell, contender in rows.by
            if not pooled(rows, cell, contender, "channel_ms") or
            sum(v or 0 for v in rows.values(cell, contender, "channel_late").values()) ==
            len(pooled(rows, cell, contender, "channel_ms"))]
