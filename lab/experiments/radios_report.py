# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of experiment radios."""
from lab import stats
from lab.report import slug
from lab.rows import Rows, text

COLUMNS = [("media_mbps", "media, Mbit/s", 2, 1), ("use", "used, %", 0, 100), ("queue_p95_ms", "queue, 95 % ms", 0, 1),
           ("p50_ms", "capture to screen, 50 % ms", 0, 1), ("p95_ms", "95 %", 0, 1), ("p99_ms", "99 %", 0, 1),
           ("freezes", "freezes", 1, 1), ("frozen", "frozen, %", 1, 100), ("avoidable", "of it avoidable, %", 1, 100),
           ("shown", "shown, %", 1, 100), ("ssim", "SSIM", 3, 1), ("loss", "lost, %", 2, 100), ("waited", "waited", 2, 1)]


def with_avoidable(row):
    f = row["figures"]
    return {**row, "figures": f | {"avoidable": max(0.0, f["frozen"] - f["limit_frozen"])}}


def limit_row(runs):
    """Returns the row of a sender that knows the future: all of the link that the media may use, and what no sender avoids."""
    mean = {key: stats.mean([f[key] for f in runs]) for key in ("limit_mbps", "limit_frozen")}
    shown = {"media_mbps": mean["limit_mbps"].value, "use": 1, "frozen": mean["limit_frozen"].value, "avoidable": 0}
    return ["limit", "", *(f"{shown[key] * scale:.{digits}f}" if key in shown else "" for key, _, digits, scale in COLUMNS)]


def table_of(rows, cells, caption, page, runs):
    contenders = list(dict.fromkeys(c for cell in cells for c in rows.contenders(cell)))
    lines = []
    for c in contenders:
        some = [f for cell in cells for f in rows.by.get((cell, c), {}).values()]
        values = [stats.mean(f[key] * scale for f in some if f.get(key) is not None) for key, _, _, scale in COLUMNS]
        lines.append([c, len(some), *(text(v, digits) for v, (_, _, digits, _) in zip(values, COLUMNS))])
    page.table(caption, ["contender", "runs", *(label for _, label, _, _ in COLUMNS)], [limit_row(runs), *lines], slug(caption))


def write(run_rows, page):
    if not run_rows:
        page.text("No run has finished.")
        return
    run_rows = [with_avoidable(row) for row in run_rows]
    rows = Rows(run_rows)
    page.text("Traces of radio links, scaled to the same mean. limit: the rate that the media could use, and the time in which the "
              "link carried no packet for more than 150 ms. A freeze is more than 150 ms without a new picture.")
    page.heading("All links")
    table_of(rows, rows.cells(), "Means over all links and runs", page, [r["figures"] for r in run_rows])
    for cell in rows.cells():
        table_of(rows, [cell], cell, page, [r["figures"] for r in run_rows if r["cell"] == cell])
