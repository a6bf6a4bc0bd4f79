# SPDX-License-Identifier: GPL-2.0-or-later
"""The quality for a viewer over links whose rate changes: Weir's transports compared with today's usual programs.

The same frames - the test picture, or with --clip one's own video - come from the same file, over the same link, in the
same minutes, and the same code measures them at the receiver. The programs of Weir run with their defaults and the whole
ladder; ffmpeg, whose users choose one rate, runs with the ladder's top rate and with a modest one.
"""
import os
import time

from lab import chrome, live, net, others, streaming, viewing
from lab.experiment import Cell, Experiment
from lab.experiments import qoe_report
from lab.run import Failed
from lab.streaming import DRAIN, LEAD, WeirPair, clip_of, link_figures, play_options, until
from lab.traces import generate

WEIR = ["minbuf:1,3", "minbuf:auto,20", "tcp", "udp", "tfrc", "arc", "scream", "psp", "mtp", "mtp-raw", "auto"]
VARIANTS = ["minbuf:1,3 low-latency", "minbuf:1,3 latency=300"]  # weir-play with another latency than its default
RATES = (1920, 1200)  # kbit/s: the top of Weir's ladder, and a modest one
OTHERS = [f"{kind} {kbps}k" for kbps in RATES for kind in others.KINDS]
CHROME = list(chrome.KINDS)  # it follows the network itself, up to the first of these rates

RTT_MS = 50
STAIRS_MBIT = (4, 2, 4, 1.5, 4)
MEAN_MBIT = 2.5  # mean rate of a trace
DOWNLOAD_MBIT = 4
WARM = 3  # seconds of media that do not count


def cells():
    links = [Cell(f"{name}-{queue}", {"link": name, "queue": queue})
             for name in ("stairs", *(f"trace-{kind}" for kind in generate.KINDS)) for queue in ("1bdp", "200ms")]
    return links + [Cell("download-1bdp", {"link": "download", "queue": "1bdp"})]


def stairs_text(duration):
    """Returns a schedule of equal parts; the first also has the lead."""
    part = duration / len(STAIRS_MBIT)
    later = "".join(f":{rate}mbit@{round((LEAD + i * part) * 1000)}ms" for i, rate in enumerate(STAIRS_MBIT) if i)
    return f"rate={STAIRS_MBIT[0]}mbit{later}"


def link_text(context, duration):
    p = context.cell.params
    rate = {"stairs": STAIRS_MBIT[0], "download": DOWNLOAD_MBIT}.get(p["link"], MEAN_MBIT)
    queue = f"{net.bdp_bytes(rate, RTT_MS)}B" if p["queue"] == "1bdp" else p["queue"]
    if p["link"] == "stairs":
        text = stairs_text(duration)
    elif p["link"] == "download":
        text = f"rate={rate}mbit"
    else:
        path = os.path.join(context.directory, "link.trace")
        os.makedirs(context.directory, exist_ok=True)
        generate.write(generate.KINDS[p["link"].removeprefix("trace-")](context.seed, duration, rate), path)
        text = f"trace={path}"
    return f"{text},queue=droptail:{queue},delay={RTT_MS / 2:g}ms"


def pair_of(world, at, clip, contender, duration, build):
    kind, _, rate = contender.partition(" ")
    if kind in others.KINDS:
        return others.Pair(world, "server", "client", at[1], clip, kind, int(rate.removesuffix("k")))
    if kind in chrome.KINDS:
        return chrome.Pair(world, "server", "client", clip, kind, RATES[0])
    transport, play = play_options(contender, build)
    # A repeated file is live media: it has no end, and no viewer sets its speed.
    return WeirPair(world, at[0], clip.path, transport, duration, ["--loop"], ["--reference", clip.path, *play])


def one(context):
    duration = context.experiment.options["duration"]
    clip = clip_of(context, context.experiment.options["source"], duration + 5)
    with context.world() as world:
        for name in ("server", "client"):
            world.add(name)
        at = world.link("bottleneck", "server", "client", link_text(context, duration), f"delay={RTT_MS / 2:g}ms",
                        "--flow", str(live.TRAFFIC_PORT), "--seed", str(context.seed))
        epoch = time.monotonic() + LEAD
        pair = pair_of(world, at, clip, context.contender, duration, context.build)
        traffic = None
        if context.cell.params["link"] == "download":
            traffic = live.Traffic(world, "server", at[0])
            traffic.run("client", epoch, duration, context.seed, ["elephants:n=1,cc=cubic"])
        pair.send(epoch)
        until(epoch + duration + DRAIN - 0.2)  # before the programs end
        waited = world.processes.waited()
        lines = pair.finish()
        world.links["bottleneck"].stop()
        figures = viewer_figures(context, lines, clip, epoch)
        figures |= link_figures(world, "bottleneck", epoch + WARM, epoch + duration) | {"waited": waited}
        if traffic:
            rates = [bps for second, bps in traffic.profile()["elephants"].items() if WARM < second < duration]
            figures["download_mbps"] = sum(rates) / len(rates) * 1e-6
    return figures


def viewer_figures(context, lines, clip, epoch):
    if context.contender.partition(" ")[0] in (*others.KINDS, *chrome.KINDS):
        frames, pictures = viewing.of_watch(lines, epoch, clip.fps)
    else:
        frames, pictures = viewing.of_weir(lines)
    if not frames and not any(l.get("event") == "end" and l.get("pictures") for l in lines):
        raise Failed(f"{context.contender}: no frame was shown (logs: {context.directory})")
    window = viewing.Window(round(WARM * clip.fps), round(context.experiment.options["duration"] * clip.fps), clip.fps)
    if context.run == 0 and frames:
        qoe_report.save_series(context.kept("npz"), frames, pictures, window)
    return viewing.figures(frames, pictures, window)


def check_quick(rows):
    """Checks that all programs run, and that the figures are possible."""
    failed = []
    for row in rows:
        f, what = row["figures"], f"{row['cell']} {row['contender']}"
        if f["frame_rate"] < 5:
            failed.append(f"{what}: {f['frame_rate']:.1f} frames/s, at least 5 expected")
        if not RTT_MS / 2 < (f["p50_ms"] or 0) < 3000:
            failed.append(f"{what}: a latency of {f['p50_ms']} ms, more than the link's own {RTT_MS / 2:g} expected")
        if not 0.5 < f["ssim"] < 1:
            failed.append(f"{what}: SSIM {f['ssim']:.3f}, 0.5 to 1 expected")
    return failed


def experiment(quick, options):
    settings = {"source": options.get("clip", "test:1280x720@30"), "duration": 10 if quick else 30}
    title = "What a viewer sees: Weir beside SRT, RTSP and WebRTC"
    seconds = LEAD + settings["duration"] + DRAIN + 1
    if quick:
        return Experiment("qoe", title + " (quick)", cells()[:1], ["minbuf:1,3", "auto", "srt-120 1920k", "googcc"], one,
                          qoe_report.write, runs=1, seconds=seconds, check=check_quick, missing=streaming.missing,
                          options=settings)
    return Experiment("qoe", title, cells(), WEIR + VARIANTS + OTHERS + CHROME, one, qoe_report.write, runs=3, seconds=seconds,
                      missing=streaming.missing, options=settings)
