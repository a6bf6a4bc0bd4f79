# SPDX-License-Identifier: GPL-2.0-or-later
"""results/NAME/index.html: one self-contained page, with the tables as CSV and the plots as PNG in the same folder."""
import base64
import collections
import csv
import datetime
import html
import os
import platform
import re

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 84rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.2rem; border-bottom: 1px solid #ddd; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .88rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #e4e4e4; white-space: nowrap; }
th { background: #f5f6f8; } th:first-child, td:first-child { text-align: left; }
td.met { color: #146c2e; } td.missed { color: #b3261e; font-weight: 600; }
td.open { color: #666; }
.smoke td.missed { color: #666; font-weight: 400; } .note.smoke { font-weight: 600; }
figure { margin: 1.2rem 0; } img { max-width: 100%; } figcaption, .note { color: #555; font-size: .9rem; }
code { background: #f5f6f8; padding: .1rem .3rem; } .wide { overflow-x: auto; }
"""

WAITED_MAX = 0.05  # of its life that a thread may wait for a core in a run that is judged


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


Goal = collections.namedtuple("Goal", "verdict what value column")  # verdict: met, missed, or open if it is not judged
VERDICT = re.compile(r"(met|missed)\b:? ?")
NOT_JUDGED = "not judged by a quick run"


def verdict_of(value):
    """Returns met or missed if a table's cell begins with it, "open" if it is not judged, else None."""
    found = VERDICT.match(str(value))
    return found.group(1) if found else "open" if str(value).startswith(NOT_JUDGED) else None


def table_html(caption, headers, rows):
    """Returns a table; a cell that begins with a verdict gets its colour."""
    def cell(value):
        text = "" if value is None else str(value)
        verdict = verdict_of(value)
        kind = f' class="{verdict}"' if verdict else ""
        return f"<td{kind}>{html.escape(text)}</td>"
    head = "".join(f"<th>{html.escape(h)}</th>" for h in headers)
    body = "\n".join("<tr>" + "".join(cell(v) for v in row) + "</tr>" for row in rows)
    return (f'<div class="wide"><table><caption>{html.escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n'
            f"<tbody>{body}</tbody></table></div>")


def smoke_note(rows):
    """Returns a sentence if ROWS cannot carry a verdict, else None.

    Runs of programs are a smoke test if a cell has one run only, or if a thread waited for a core for more than
    WAITED_MAX of its life. Simulated runs are none: their figures do not depend on the machine.
    """
    real = [row for row in rows if row.get("cores")]
    if not real:
        return None
    counts = collections.Counter((row["cell"], row["contender"]) for row in real)
    least, most = min(counts.values()), max(counts.values())
    waited = max((row["figures"].get("waited") or 0 for row in real), default=0)
    if least > 1 and waited <= WAITED_MAX:
        return None
    runs = "one run" if most == 1 else f"{most} runs" if least == most else f"{least} to {most} runs"
    cores = max(row["cores"] for row in real)
    busy = max(row["busy"] for row in real)
    text = f"{runs}, {cores} core{'s' if cores > 1 else ''}, machine busy {busy * 100:.0f} %"
    if waited > WAITED_MAX:
        text += f", a thread waited for a core {waited * 100:.0f} % of the time"
    return text[0].upper() + text[1:] + ": a smoke test."


class Report:
    """Collects sections, tables and plots; write() writes the page.

    SMOKE: why its figures carry no verdict (smoke_note), or None. Then what was missed is grey, not red.
    JUDGED: of a quick run, patterns of the goals that it can judge: the others are printed as not judged. None: all are judged.
    A goal's text is the table's caption, its row without the verdicts, and the head of the verdict's column.
    """

    def __init__(self, directory, title, command, smoke=None, judged=None):
        self.directory = directory
        self.title = title
        self.command = command
        self.smoke = smoke
        self.judged = None if judged is None else [re.compile(pattern) for pattern in judged]
        self.parts = []
        self.tables = []  # (caption, headers, rows)
        self.verdicts = []  # a Goal each
        os.makedirs(directory, exist_ok=True)

    def _judge(self, caption, headers, row):
        """Returns the row; the verdicts of goals that a quick run cannot judge are replaced."""
        what = " ".join([caption, *(str(v) for v in row if not verdict_of(v))])
        out = []
        for head, value in zip(headers, row):
            verdict = verdict_of(value)
            if verdict:
                goal = f"{what} {head}"
                if self.judged is not None and not any(pattern.search(goal) for pattern in self.judged):
                    verdict, rest = "open", VERDICT.sub("", str(value))
                    value = f"{NOT_JUDGED}: {rest}" if rest else NOT_JUDGED
                self.verdicts.append(Goal(verdict, goal, value, head))
            out.append(value)
        return out

    def count(self, verdict):
        return sum(g.verdict == verdict for g in self.verdicts)

    def missed(self):
        """Returns the goals that were judged and missed, as texts."""
        return [f"{g.what}: {g.value}" for g in self.verdicts if g.verdict == "missed"]

    def summary(self):
        """Returns a sentence about all goals so far; None: there are none."""
        met, missed, left = (self.count(v) for v in ("met", "missed", "open"))
        if not self.verdicts:
            return None
        if self.judged is None:
            return f"Goals: {met} of {met + missed} met."
        if not met + missed:
            return f"A quick run: it judges none of the {left} goals, which require the runs of the full version."
        text = f"A quick run: it judges {met + missed} of {met + missed + left} goals, of which {met} {'is' if met == 1 else 'are'} met"
        return text + ("; the others require the runs of the full version" if left else "") + "."

    def heading(self, text):
        self.parts.append(f"<h2>{html.escape(text)}</h2>")

    def text(self, text):
        self.parts.append(f"<p>{html.escape(text)}</p>")

    def table(self, caption, headers, rows, name=None):
        """Adds a table, and writes it as CSV."""
        rows = [self._judge(caption, headers, list(r)) for r in rows]
        with open(os.path.join(self.directory, (name or slug(caption)) + ".csv"), "w", newline="",
                  encoding="utf-8") as f:
            csv.writer(f).writerows([headers, *rows])
        self.tables.append((caption, headers, rows))
        self.parts.append(table_html(caption, headers, rows))

    def judged_tables(self):
        """Returns the tables with a verdict, as (caption, headers, rows)."""
        return [table for table in self.tables if any(verdict_of(value) for row in table[2] for value in row)]

    def goals(self, caption, headers, rows, name=None):
        """Adds a table of goals, whose verdicts begin with met or missed, and how many of each column are met."""
        before, at = len(self.verdicts), len(self.parts)
        self.table(caption, headers, rows, name)
        columns = {}
        for goal in self.verdicts[before:]:
            columns.setdefault(goal.column, []).append(goal.verdict)
        texts = []
        for head, found in columns.items():
            judged = [v for v in found if v != "open"]
            text = f"{judged.count('met')} of {len(judged)} met" if judged else ""
            if len(judged) < len(found):
                text += f"{', ' if text else ''}{len(found) - len(judged)} {NOT_JUDGED}"
            texts.append(f"{head}: {text}" if len(columns) > 1 else text)
        if texts:
            self.parts.insert(at, f"<p>{html.escape('; '.join(texts))}.</p>")

    def figure(self, caption, figure, name=None):
        """Adds a matplotlib figure, and writes it as PNG."""
        path = os.path.join(self.directory, (name or slug(caption)) + ".png")
        figure.savefig(path, dpi=110, bbox_inches="tight")
        with open(path, "rb") as f:
            data = base64.b64encode(f.read()).decode()
        text = html.escape(caption)
        self.parts.append(f'<figure><img alt="{text}" src="data:image/png;base64,{data}">'
                          f"<figcaption>{text}</figcaption></figure>")

    def write(self):
        """Writes index.html and returns its path."""
        when = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
        note = (f"Made by <code>{html.escape(self.command)}</code> on {when}, Linux {html.escape(platform.release())}, "
                f"{os.cpu_count()} cores. Intervals in brackets are 95 % (bootstrap over runs).")
        body, smoke = "<body>", ""
        if self.judged is not None and self.verdicts:
            smoke = f'<p class="note">{html.escape(self.summary())}</p>\n'
        if self.smoke:
            body = '<body class="smoke">'
            smoke += f'<p class="note smoke">{html.escape(self.smoke)}</p>\n'
        page = (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(self.title)}</title>'
                f"<style>{STYLE}</style></head>{body}\n<h1>{html.escape(self.title)}</h1>\n{smoke}"
                f'<p class="note">{note}</p>\n' + "\n".join(self.parts) + "\n</body></html>\n")
        path = os.path.join(self.directory, "index.html")
        temporary = path + ".new"
        with open(temporary, "w", encoding="utf-8") as f:
            f.write(page)
        os.replace(temporary, path)
        return path


def canvas(rows=1, columns=1, width=5.0, height=3.4, **kwargs):
    """Returns a matplotlib figure with its axes in the lab's style; requires no display."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    pyplot.close("all")
    pyplot.rcParams.update({"font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "axes.spines.top": False,
                            "axes.spines.right": False, "lines.linewidth": 1.2, "legend.frameon": False})
    return pyplot.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False, **kwargs)
