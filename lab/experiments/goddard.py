# SPDX-License-Identifier: GPL-2.0-or-later
"""The Goddard streams of section IV of Chung, Claypool and Kinicki 2005, whole sessions in simulation.

Figure 8: routers joined by 10 Mbit/s with 500 packets of queue. 25 bulk transfers run backward; 300 web sessions run forward,
pages of 2 objects (Pareto, shape 1.2, 5 KB on average), thinking 7 s (exponential): both with round trips from 60 to 1000 ms, begun
within 30 s. At 100 s a stream of 300 s begins on a path of 140 ms.

A  The stream and six bulk transfers have lines of 750 kbit/s with 20 packets of queue each. (The paper runs the streams of the
   three transports and four transfers at once. As each has its own line, and the backbone is not full, the other flows make no
   difference.)
B  The line is no bottleneck; 24 more bulk transfers run forward, and one on the stream's own path, until 400 s.

Each runs twice: with frames that are lost when one of their packets is, as in weir-play, and with frames that count when any
packet arrived (cells -in-part), see the report; and again with TCP windows of 64 or 20 packets. TCP is Reno with an ACK per packet,
as in ns-2; MTP is the transport's own code. The paper's MTP (mtp:paper,queue=65536) is a mode of that Reno: its initial window of two,
timeouts of at least 1 s without timestamps, an ACK per packet; it takes frames into a queue of 64 KB that drops at its front.
mtp:queue=65536 is today's MTP with that queue, and mtp is weir-send's, which leaves frames in the scheduler. TCP's send buffer is unlimited, as in the paper, or
64 KB. A frame waits in the scheduler for at most 5.5 s, which is what weir-play requests for its buffer of 5 s (weir-sim's
default for a stream with this policy).
"""
import csv
import json
import os

import numpy as np

from lab import stats
from lab.experiment import Cell, Experiment, Stand
from lab.experiments import goddard_report
from lab.simulate import simulate

START, LENGTH, RTT_MS = 100, 300, 140
BUF_FACTOR = 1.5  # Figure 7
LEVELS_KBPS = (80, 120, 240, 320, 640, 960, 1920)  # Figure 6
STEP = 5  # seconds between samples of all flows
PAPER_MTP = goddard_report.PAPER_MTP
# Goals that each of the seven seeds meets alone.
JUDGED = ("[AB] UDP (share|jitter|sd|frames|becomes).* in part", r"A \w+ rebufferings", "A MTP playing took",
          "B MTP (share of the time|rebufferings|kbit/s over|that after)")
PAPERS = (Stand("udp", "UDP (IV)", "a frame's packets leave at 2.5 times the media's rate, not at once"),
          Stand("tcp", "TCP Reno of ns-2, an ACK per packet, an unlimited send buffer (IV)"),
          Stand(PAPER_MTP, "MTP as a mode of that Reno, with a queue of 64 KB that drops its front (II)",
                "an empty packet where there is no new data; the rest of a frame that the queue cut does not leave"))
CONTENDERS = ["udp", "tcp", PAPER_MTP, "tcp:sndbuf=64KB", "minbuf:1,3", "mtp:queue=65536", "mtp", "tfrc", "arc", "psp"]
# Random, up to a packet's time on the backbone, in each host; otherwise the phase determines the losses (Floyd and Jacobson 1991).
HOST = "delack=0s,overhead=800us"
SIZE = "size=1040B"  # ns-2 counts a TCP packet's headers on top of its 1000 bytes
OTHERS = "rtt=60ms..1000ms,spread=30s"
WEB = "tcp=reno,objects=2,bytes=5KB,shape=1.2,think=7s,pause=exp"
WEBS, FTPS = 1, 2  # groups: web sessions; the bulk transfers on the stream's path, then all others that run forward


def words_of(cell, contender):
    """The arguments of weir-sim, without the seed."""
    line = ",local=750kbit,localq=20p" if cell.params["part"] == "A" else ""
    host = HOST + (f",window={cell.params['window']}p" if "window" in cell.params else "")
    # As in weir-play; the paper's TCP streams sent their packet pair separately.
    pair = ",pair=0" if contender.startswith("minbuf") else ""
    # The twin of a run of programs (goddard_real.py) has their timeouts and acknowledgements.
    as_tcp = ",astcp=1" if contender == PAPER_MTP and not cell.params.get("programs") else ""
    stream = (f"stream:via={contender.replace(',', '/')},rtt={RTT_MS}ms,start={START}s,length={LENGTH}s,tcp=reno,"
              f"parts={cell.params['in_part']}{pair}{as_tcp},{host}{line}")
    beside = f"reno:n={6 if line else 1},rtt={RTT_MS}ms,start={START}s,stop={START + LENGTH}s,{SIZE},{host}{line}"
    others = f"{OTHERS},{SIZE},{host}"
    loads = [f"reno:n=24,{others}"] if cell.params["part"] == "B" else []
    return ["--link", "rate=10mbit,queue=droptail:500p", "--since", str(START), "--till-ended", f"reno:n=25,from=1,to=0,{others}",
            f"web:n=300,{others},{WEB}", beside, *loads, stream]


def events_of(path):
    with open(path, encoding="ascii", newline="") as f:
        return list(csv.DictReader(f))


def asked_levels(events):
    """[(seconds since the stream's start, level)]"""
    return [(float(e["time"]) - START, int(float(e["value"]))) for e in events if e["event"] == "level"]


def shares_of(levels, end=LENGTH):
    """The share of the time from the first level on for which each of the seven levels was requested."""
    spent = np.zeros(7)
    for (at, level), (until, _) in zip(levels, [*levels[1:], (end, None)]):
        spent[level] += max(0.0, min(until, end) - min(at, end))
    return (spent / max(spent.sum(), 1e-9)).tolist()


def friendly_after(levels, kbps):
    """Seconds until a level of at most `kbps` was requested; None: never."""
    return next((at for at, level in levels if LEVELS_KBPS[level] <= kbps), None)


def first_stall(events, level, buffering):
    """Seconds until playback stopped for the first time, and the Mbyte of `level` produced until then that had not arrived."""
    at = next((float(e["time"]) - START for e in events if e["event"] == "stall"), None)
    if at is None:
        return None, None
    made = LEVELS_KBPS[level] / 8e3 * (BUF_FACTOR * buffering + at - buffering)
    there = [int(e["number"]) for e in events if e["event"] == "second" and float(e["time"]) - START <= at]
    return at, made - there[-1] / 1e6


def arrived(series, flow):
    """Kbit/s that arrived in the stream's 300 s; in less time if it was played faster."""
    rows = {float(r["time"]): int(r["arrived_bytes"]) for r in series if r["flow"] == str(flow)}
    end = max(t for t in rows if t <= START + LENGTH)
    return (rows[end] - rows[START]) * 8e-3 / (end - START)


def figures_of(report, events, levels):
    stall_at, backlog = first_stall(events, levels[0][1], report["startup"]["initial_buffering"])
    jitter = [float(e["value"]) for e in events if e["event"] == "frame" and e["value"]]
    played, ended = report["playback"], report["ended"] == "end-of-media"
    return {"ended": ended, "initial_buffering": report["startup"]["initial_buffering"],
            "duration": played["wall"], "rebufferings": report["rebuffering"]["count"],
            "frozen": report["freezes"]["ratio"],
            "rebuffered": report["rebuffering"]["total"], "first_stall": stall_at, "backlog_mb": backlog,
            "frame_rate": played["frame_rate"],
            "frames_lost": played["frames_lost"] / max(1, played["frames_lost"] + played["frames_received"]),
            "jitter_mean": float(np.mean(jitter)), "jitter_sd": float(np.std(jitter)),
            "jitter_134": float(np.mean(np.array(jitter) < 134)), "jitter_zero": float(np.mean(np.array(jitter) < 1)),
            "jitter_counts": stats.LogHistogram.counts(jitter), "loss": report["network"]["loss_rate"],
            "levels": levels, "level_shares": shares_of(levels), "level_mean": float(np.dot(shares_of(levels), range(7))),
            "level_end": levels[-1][1], "capacity_mbps": (report["network"]["capacity_estimate"] or 0) / 1e6}


def keep(context, events, series, stream):
    """For the figures that show one run."""
    pick = lambda kind: [(float(e["time"]) - START, float(e["value"])) for e in events  # noqa: E731
                         if e["event"] == kind and e["value"]]
    rows = [(float(r["time"]) - START, int(r["arrived_bytes"])) for r in series if r["flow"] == str(stream)]
    np.savez_compressed(context.kept("npz"), jitter=np.array(pick("frame")), held=np.array(pick("second")),
                        stalls=np.array(pick("stall")), arrived=np.array(rows))


def one(context):
    os.makedirs(context.directory, exist_ok=True)
    prefix = os.path.join(context.directory, "stream")
    series = os.path.join(context.directory, "series.csv")
    words = words_of(context.cell, context.contender)
    done = simulate(context.build, context.seed, context.experiment.options["seconds"], *words, "--streams", prefix,
                    series=series, step=STEP)
    flows, groups = done.all("flow"), done.all("group")
    stream = flows[-1]["flow"]
    beside = next(f["flow"] for f in flows if f["group"] == FTPS)
    with open(f"{prefix}-{stream}.json", encoding="utf-8") as f:
        report = json.load(f)
    events = events_of(prefix + ".csv")
    levels = asked_levels(events)
    own, theirs = arrived(done.series, stream), arrived(done.series, beside)
    if context.run == 0:
        keep(context, events, done.series, stream)
    for path in (series, prefix + ".csv"):
        os.unlink(path)
    bulk = [g for g in groups if g["group"] >= FTPS]
    return {**figures_of(report, events, levels), "kbps": own, "ftp_kbps": theirs, "ratio": own / max(1.0, theirs),
            "friendly_after": friendly_after(levels, theirs), "web_mbps": groups[WEBS]["goodput_bps"] / 1e6,
            "fair_kbps": sum(g["goodput_bps"] for g in bulk) / sum(g["n"] for g in bulk) / 1e3}


def check(rows):
    """The results that must hold for every seed, for the exit code."""
    wrong = []
    for row in rows:
        figures, name = row["figures"], f"{row['cell']} {row['contender']} run {row['run']}"
        if not figures["ended"]:
            wrong.append(f"{name}: the stream was not played to its end")
        if row["contender"] == "udp" and row["cell"] == "A-in-part" and figures["level_shares"][4] < 0.95:
            wrong.append(f"{name}: UDP left level 4")
        if row["contender"].startswith("mtp") and row["cell"] == "B" and figures["ratio"] > 2:
            wrong.append(f"{name}: MTP got {figures['ratio']:.1f} times the rate of the TCP on its path")
    return wrong


def experiment(quick, _options):
    cells = [Cell(part + ("-in-part" if in_part else ""), {"part": part, "in_part": in_part})
             for part in "AB" for in_part in (0, 1)]
    # The paper does not give the size of TCP's windows: 64 KB fit in a header without scaling, ns-2's default is 20 packets.
    cells += [Cell(f"{part}-window-{window}", {"part": part, "in_part": 1, "window": window},
                   contenders=("udp", "tcp", PAPER_MTP, "mtp")) for window in (64, 20) for part in "AB"]
    return Experiment("goddard", "Goddard over TCP, UDP and MTP, and beside them" + (" (quick)" if quick else ""), cells,
                      CONTENDERS, one, goddard_report.write, runs=1 if quick else 7, seconds=1.5, check=check,
                      options={"seconds": 2500}, papers=PAPERS, judged=JUDGED)
