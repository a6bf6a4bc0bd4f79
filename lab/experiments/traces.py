# SPDX-License-Identifier: GPL-2.0-or-later
"""One flow over links whose rate changes: generated traces (lab/traces/generate.py) or, with --trace, one's own.

A queue of 200 ms at the mean rate, an RTT of 50 ms. A greedy flow measures only the transports; the test picture, at
a mean of its top level's rate, measures the quality for a viewer.
"""
import os

from lab import live, stats
from lab.experiment import Cell, Experiment, kept_path
from lab.report import canvas
from lab.traces import generate

CONTENDERS = ["tcp", "minbuf:1,3", "minbuf:auto,20"]
SOURCES = {"greedy": "synthetic:greedy", "picture": "test:1280x720@30"}
MEAN_MBIT = {"greedy": 6, "picture": 2.5}


def trace_of(context):
    """Returns the trace's file: the user's, or one made from the run's seed, the same for every contender."""
    p = context.cell.params
    if "file" in p:
        return p["file"]
    path = os.path.join(context.directory, "link.trace")
    os.makedirs(context.directory, exist_ok=True)
    generate.write(generate.KINDS[p["kind"]](context.seed, 60, MEAN_MBIT[p["source"]]), path)
    return path


def one(context):
    p, duration = context.cell.params, context.experiment.options["duration"]
    with context.world() as world:
        for name in ("server", "client"):
            world.add(name)
        options = ["--flow", str(live.RTSP_PORT), "--seed", str(context.seed)]
        forward = f"trace={trace_of(context)},queue=droptail:200ms,delay=25ms"
        at, _ = world.link("bottleneck", "server", "client", forward, "delay=25ms", *options)
        flow = live.Flow(world, "server", at, SOURCES[p["source"]])
        epoch = live.start_time(0)
        flow.play("client", context.contender, duration)
        report = flow.finish(duration + 20)
        world.links["bottleneck"].stop()
        figures = {**live.flow_figures(flow, report), **live.link_figures(world, "bottleneck")}
        if p["source"] == "greedy":
            figures["latency_bins"] = live.save_latencies(context, flow.adus(), epoch)
        else:
            figures["rebuffering_ratio"] = report["rebuffering"]["ratio"]
            figures["frozen"] = report["freezes"]["ratio"]
            figures["frame_rate"] = report["playback"]["frame_rate"]
            figures["display_ms"] = report["latency"]["display"]["p95"]
        live.remove(world.path("events.jsonl"))
    return figures


COLUMNS = [("throughput_bps", "Mbit/s", 1e-6, 2), ("mean_ms", "mean ms", 1, 0), ("p95_ms", "95 % ms", 1, 0),
           ("d200", "D200", 1, 3), ("d500", "D500", 1, 3), ("queue_delay_ms", "link queue ms", 1, 0),
           ("rebuffering_ratio", "stalled (buffer empty)", 1, 3), ("frozen", "frozen (no new picture)", 1, 3),
           ("frame_rate", "frames/s", 1, 1),
           ("display_ms", "capture to shown, 95 % ms", 1, 0)]


def write(rows, page):
    cells = list(dict.fromkeys(row["cell"] for row in rows))
    out, apart = [], []
    for cell in cells:
        by = {c: {r["run"]: r["figures"] for r in rows if r["cell"] == cell and r["contender"] == c}
              for c in CONTENDERS}
        for contender, runs in by.items():
            if not runs:
                continue
            line = [cell, contender, len(runs)]
            for key, _, scale, digits in COLUMNS:
                estimate = stats.mean(f[key] * scale for f in runs.values() if f.get(key) is not None)
                line.append(estimate.text(digits) if estimate else "-")
            out.append(line)
            if contender != "tcp":
                values = [{k: f["mean_ms"] for k, f in by[c].items()} for c in (contender, "tcp")]
                difference = stats.paired_difference(*values)
                apart.append([cell, contender, difference.text(0) if difference else "-"])
    page.heading("Figures of the flow")
    page.table("All runs", ["cell", "contender", "runs", *(name for _, name, _, _ in COLUMNS)], out, "runs")
    page.table("Mean protocol latency, ms more than tcp's in the paired runs", ["cell", "contender", "difference"],
               apart, "difference")
    page.heading("The first run of each cell")
    for cell in cells:
        plot(cell, page)


def plot(cell, page):
    import numpy as np
    figure, axes = canvas(width=9, height=3)
    shown = 0
    for contender in CONTENDERS:
        path = kept_path(page.directory, cell, contender, 0, "npz")
        if os.path.exists(path):
            series = np.load(path)
            axes[0][0].plot(series["received"], series["latency"], ".", markersize=1.5, label=contender)
            shown += 1
    if shown:
        axes[0][0].set(xlabel="receive time, s", ylabel="protocol latency, ms", yscale="log")
        axes[0][0].legend(markerscale=6)
        page.figure(f"Protocol latency: {cell}", figure, f"latency-{cell}")


def experiment(quick, options):
    if "trace" in options:
        file = options["trace"]
        # A link's text cannot contain a comma within a value.
        if any(c in file for c in ",\n"):
            raise SystemExit(f"{file}: the path of a trace must not contain a comma")
        cells = [Cell(f"{source}-own", {"source": source, "file": file}) for source in SOURCES]
    else:
        cells = [Cell(f"{source}-{kind}", {"source": source, "kind": kind}) for source in SOURCES
                 for kind in generate.KINDS]
    if quick:
        cells = cells[:1]
    duration = 10 if quick else 60
    return Experiment("traces", "Links whose rate changes", cells, CONTENDERS, one, write, runs=1 if quick else 5,
                      seconds=duration + 2, options={"duration": duration})
