# SPDX-License-Identifier: GPL-2.0-or-later
"""The Goddard streams (goddard.py) with the programs, the kernel's TCPs and real video, in real time.

The backbone, its load and the lines are those of section IV: 10 Mbit/s with 500 packets of queue; 25 bulk transfers backward and
300 web sessions forward over round trips of 60, 400 and 1000 ms.

A  A stream and six bulk transfers, each behind a line of 750 kbit/s with 20 packets of queue, over 140 ms.
B  The lines are no bottleneck: 24 bulk transfers forward over the load's round trips, and one over the stream's 140 ms.

weir-send cuts frames into the paper's fragments of 1000 bytes. The load has 30 s to settle, then weir-play watches 300 s of a stored video by
Goddard's policy (--adapt goddard), its levels those of Figure 6's rates. The video is the test picture, or --clip FILE.

Each run is compared with goddard.py's simulation of the same cell, whose frames are synthetic and of equal size. A viewer
that is slower than the media is stopped after 330 s; frames that it did not show count in its frame rate, not in its SSIM.
"""
import os
import shutil
import subprocess
import time
import zlib

import numpy as np

from lab import live, net
from lab.experiment import Cell, Experiment, Stand
from lab.experiments import goddard
from lab.report import canvas
from lab.rows import Rows, text
from lab.run import Failed, program

CONTENDERS = ["udp", "tcp", "mtp:paper,queue=65536", "mtp", "minbuf:1,3"]
PAPERS = (Stand("udp", "UDP (IV)", "a frame's packets leave at 2.5 times the media's rate, not at once"),
          Stand("tcp", "TCP Reno with an unlimited send buffer (IV)", "the kernel's: a buffer with an end, before which weir-send drops what waited for "
                "5.5 s; SACK, RACK, min RTO of 200 ms"),
          Stand("mtp:paper,queue=65536", "MTP with a queue of 64 KB (II)", "as the kernel's TCP: min RTO of 200 ms, timestamps, an ACK for each second packet"))
FRAGMENT = 1000  # bytes
LINE = "rate=750kbit,queue=droptail:20p"
LINES = {"A": 6, "B": 1}  # bulk transfers over the stream's round trip
FORWARD = 8  # more of them to each of FAR_MS's hosts in part B
FAR_MS = {"near": 60, "middle": 400, "far": 1000}  # round trips of the load
HOP_MS = 10  # the backbone's share of it, both ways
VIDEO_KBPS = 4000  # of the stored file: well above the levels


def video_of(context, seconds):
    """Returns the stored video, which the first run makes."""
    source = context.experiment.options["source"]
    stamp = os.stat(source).st_mtime_ns if os.path.exists(source) else 0
    path = os.path.join(context.results, f"video-{zlib.crc32(f'{source} {stamp}'.encode()):08x}-{seconds:g}s.mp4")
    if os.path.exists(path):
        return path
    # Encoded, as a file of raw pictures would have 12 GB.
    argv = ["ffmpeg", "-v", "error", "-y", "-f", "yuv4mpegpipe", "-i", "-", "-c:v", "libx264", "-preset", "superfast", "-b:v",
            f"{VIDEO_KBPS}k", "-g", "60", "-pix_fmt", "yuv420p", "-f", "mp4", path + ".new"]
    os.makedirs(context.results, exist_ok=True)
    with subprocess.Popen([program(context.build, "weir-watch"), "--clip", f"{seconds:g}", source],
                          stdout=subprocess.PIPE) as clip:
        made = subprocess.run(argv, stdin=clip.stdout, stderr=subprocess.PIPE, text=True, check=False, timeout=900)
        clip.stdout.close()
    if made.returncode != 0 or clip.returncode != 0:
        raise Failed(f"cannot make the video of {source}: {made.stderr}")
    os.replace(path + ".new", path)
    return path


def access(rtt_ms, line=""):
    """Returns the links (towards the router, from it) that give this round-trip time together with the backbone."""
    delay = f"delay={(rtt_ms - HOP_MS) / 2:g}ms"
    return delay, f"{line},{delay}" if line else delay


def network(world, seed, part):
    """Addresses; hosts: server and client, `bulk` and line0 to line5, `web` and `forward`, and FAR_MS's and back-FAR_MS's."""
    hosts = {host: access(rtt) for host, rtt in FAR_MS.items()}
    lines = [f"line{k}" for k in range(LINES[part])]
    hosts |= {host: access(goddard.RTT_MS, LINE if part == "A" else "") for host in ("client", *lines)}
    backbone = f"rate=10mbit,queue=droptail:500p,delay={HOP_MS / 2:g}ms"
    left = ["server", "bulk", "web", *(["forward"] if part == "B" else []), *(f"back-{host}" for host in FAR_MS)]
    return net.dumbbell(world, left, list(hosts), backbone, backbone, "--seed", str(seed), access=hosts)


def load(world, at, epoch, duration, seed, part):
    """Starts all transfers at EPOCH. Returns those over the stream's round trip."""
    beside = live.Traffic(world, "bulk", at["bulk"])
    web = live.Traffic(world, "web", at["web"])
    forward = live.Traffic(world, "forward", at["forward"]) if part == "B" else None
    for k in range(LINES[part]):
        beside.run(f"line{k}", epoch, duration, seed + k, ["elephants:n=1,cc=reno"])
    for k, host in enumerate(FAR_MS):
        # A page of two objects is one object of their total size.
        web.run(host, epoch, duration, seed + 10 + k, ["web:n=100,cc=reno,mean=10000,shape=1.2,off=7"])
        back = live.Traffic(world, host, at[host])
        back.run(f"back-{host}", epoch, duration, seed + 20 + k, [f"elephants:n={8 + (k == 0)},cc=reno"])
        if forward:
            forward.run(host, epoch, duration, seed + 30 + k, [f"elephants:n={FORWARD},cc=reno"])
    return beside


def real_figures(report, events, beside_bps):
    levels = [(s["at"], s["to"]) for s in report["levels"]["switches"]]
    first = next((e["to"] for e in events if e["event"] == "level"), 0)
    levels = levels or [(0.0, first)]
    played, jitter = report["playback"], report["jitter"]
    kbps = (report["network"]["throughput"] or 0) / 1e3
    shares = np.array(report["levels"]["time_at"], dtype=float)
    shares /= max(shares.sum(), 1e-9)
    return {"initial_buffering": report["startup"]["initial_buffering"], "duration": played["wall"],
            "rebufferings": report["rebuffering"]["count"],
            "frozen": report["freezes"]["ratio"], "frame_rate": played["frame_rate"],
            "frames_lost": played["frames_lost"] / max(1, played["frames_lost"] + played["frames_received"]),
            "jitter_mean": jitter["mean"], "jitter_sd": jitter["stddev"], "level_mean": float(shares @ range(shares.size)),
            "level_end": levels[-1][1], "kbps": kbps, "ratio": kbps / max(1e-3, beside_bps / 1e3), "levels": levels,
            "ssim": (report["picture"] or {}).get("ssim")}


def one(context):
    options = context.experiment.options
    os.makedirs(context.directory, exist_ok=True)
    simulated = goddard.one(context)
    video = video_of(context, options["length"])
    total = options["settle"] + options["length"] + options["grace"]
    part = context.cell.params["part"]
    with context.world() as world:
        at = network(world, context.seed, part)
        epoch = live.start_time(2)
        beside = load(world, at, epoch, total, context.seed, part)
        flow = live.Flow(world, "server", at["server"], video, options=["--fragment", str(FRAGMENT)])
        time.sleep(max(0.0, epoch + options["settle"] - time.monotonic()))
        flow.play("client", context.contender, options["length"] + options["grace"],
                  options=["--adapt", "goddard", "--reference", video])
        report = flow.finish(options["length"] + options["grace"] + 30)
        world.links["bottleneck"].stop()
        shutil.copy(flow.path("report.json"), context.kept("qoe.json"))
        events = live.json_lines(flow.path("events.jsonl"))
        live.remove(flow.path("events.jsonl"))
        rates = [bps / LINES[part] for second, bps in beside.profile()["elephants"].items() if second > options["settle"]]
    return {**real_figures(report, events, float(np.mean(rates))), "waited": flow.waited, **{f"sim_{k}": simulated.get(k) for k in SIMULATED}}


KEYS = [("initial_buffering", "initial buffering, s", 1), ("duration", "playing took, s", 0), ("rebufferings", "rebufferings (buffer empty)", 0),
        ("frozen", "time frozen (no new picture)", 3),
        ("frame_rate", "frames/s", 1), ("frames_lost", "frames lost", 3), ("jitter_mean", "jitter, ms", 1),
        ("jitter_sd", "sd of the jitter", 0), ("level_mean", "mean level", 2), ("level_end", "last level", 0),
        ("kbps", "kbit/s", 0), ("ratio", "over a transfer's beside it", 2), ("ssim", "SSIM", 3)]
MACHINE = [("waited", "longest share of a thread's life without a core", 2)]


SIMULATED = [key for key, _, _ in KEYS] + ["levels"]


def write(run_rows, page):
    if not run_rows:
        page.text("No run has finished yet.")
        return
    rows = Rows(run_rows)
    page.heading("The streams in real time")
    page.text("Each contender as it was (programs, the kernel's TCPs, real video), and as simulated with synthetic frames. The "
              "paper's Figures 9 to 21 have the streams over UDP, TCP and MTP. The simulation's tcp is the paper's, with an unlimited send "
              "buffer; the kernel's has an end, and weir-send drops frames that waited too long for it.")
    for cell in rows.cells():
        out = []
        for contender in rows.contenders(cell):
            for prefix, name in ("", "real"), ("sim_", "simulated"):
                out.append([contender, name, *(text(rows.mean(cell, contender, prefix + k), d) for k, _, d in KEYS + MACHINE)])
        page.table(f"Part {cell}, real and simulated", ["over", "", *(h for _, h, _ in KEYS + MACHINE)], out,
                   f"figures-{cell}")
        level_figure(rows, page, cell)


def level_figure(rows, page, cell):
    figure, axes = canvas(1, 2, width=6.5, sharey=True)
    for axis, key, title in zip(axes[0], ("levels", "sim_levels"), ("real", "simulated")):
        for contender in rows.contenders(cell):
            run = rows.values(cell, contender, key).get(0)
            if run:
                axis.step([at for at, _ in run] + [max(goddard.LENGTH, run[-1][0])], [lv for _, lv in run] + [run[-1][1]],
                          where="post", label=contender)
        axis.set(xlabel="time of the stream, s", title=title, ylim=(-0.3, 6.5))
        axis.legend()
    axes[0][0].set(ylabel="level")
    page.figure(f"Part {cell}: levels over time, run 0", figure, f"levels-{cell}")


def check(rows):
    """Checks that the stream played, which every run must."""
    return [f"{r['cell']} {r['contender']}: {r['figures']['frame_rate'] or 0:.1f} frames/s, at least 5 expected" for r in rows
            if (r["figures"]["frame_rate"] or 0) < 5]


def experiment(quick, options):
    length, settle, grace = (30, 5, 10) if quick else (goddard.LENGTH, 30, 30)
    return Experiment("goddard_real", "Goddard's streams in real time" + (" (quick)" if quick else ""),
                      [Cell(part, {"part": part, "in_part": 0, "programs": True}) for part in "AB"], CONTENDERS, one, write, runs=1, check=check,
                      seconds=settle + length + grace + 10,
                      options={"seconds": 2500, "source": options.get("clip", "test:1280x720@30"), "length": length,
                               "settle": settle, "grace": grace}, papers=PAPERS)
