# SPDX-License-Identifier: GPL-2.0-or-later
"""The rate controllers in the programs, together with the kernel's Reno, cubic and bbr, over an emulated link.

1 against 1 and 4 against 4 at 10 Mbit/s and 50 ms, behind a queue of one bandwidth-delay product: greedy streams with
as many downloads, all from the first second to the last. Then the test picture with 4 downloads, where its top level
is about a fair share. tcp is the stream over the same kernel TCP as the downloads, as a reference for fairness.
"""
import json
import shutil

from lab import live, net, stats
from lab.experiment import Cell, Experiment
from lab.experiments import real_report

# The transports of `lab NAME --real`, to which udp and tcp are always added.
TRANSPORTS = {"arc": ["arc"], "psp": ["psp", "psp-plain"], "tfrc": ["tfrc"], "scream": ["scream"],
              "mtp_tcp": ["mtp", "mtp-raw"]}
BASELINES = ["udp", "tcp"]
DURATIONS = {"mtp_tcp": 60}  # a window that grows by a packet per round trip needs tens of seconds to reach its share
KERNELS = ("reno", "cubic", "bbr")
MBIT, RTT_MS = 10, 50
PICTURE = "test:1280x720@30"
WIRE = 1500 / 1448  # bytes on the link per byte of a download: headers of IP and of TCP with timestamps


def cells():
    fair = [Cell(f"{n}v{n}-{cc}", {"streams": n, "downloads": n, "cc": cc, "picture": False})
            for n in (1, 4) for cc in KERNELS]
    return fair + [Cell(f"picture-{cc}", {"streams": 1, "downloads": 4, "cc": cc, "picture": True}) for cc in KERNELS]


def source(p):
    # Paced udp takes its configured rate: 80 % of the link in total, which leaves the downloads no fair share.
    return PICTURE if p["picture"] else f"synthetic:greedy:{round(0.8 * MBIT * 1000 / p['streams'])}"


def link_texts():
    delay = f"delay={RTT_MS / 2:g}ms"
    return f"rate={MBIT}mbit,queue=droptail:{net.bdp_bytes(MBIT, RTT_MS)}B,{delay}", delay


def share_figures(world, seconds):
    """The shares and losses on the link. The port identifies downloads; all else belongs to the streams. SECONDS: those
    of seconds_of() in which all programs ran, as they do not end at the same instant."""
    lines = live.json_lines(world.path("bottleneck.jsonl"))
    if not lines or lines[-1].get("event") != "end":
        raise world.links["bottleneck"].failed("wrote no final figures")
    every, theirs = lines[-1]["a_to_b"], lines[-1]["flows"][str(live.TRAFFIC_PORT)]["a_to_b"]
    packets = every["packets_in"] - theirs["packets_in"]
    total, downloads = (sum(s[i] for s in seconds) / len(seconds) for i in (1, 2))
    lost = sum(every["dropped"].values()) - sum(theirs["dropped"].values())
    return {"share": 1 - downloads / total, "use": total / MBIT, "stream_mbps": total - downloads,
            "download_mbps": downloads, "loss": lost / packets if packets else None,
            "download_loss": sum(theirs["dropped"].values()) / max(1, theirs["packets_in"]),
            "queue_ms": every["queue_delay_ms"]["mean"], "queue_p95_ms": every["queue_delay_ms"]["p95"],
            "pool_drops": every["dropped"]["pool"]}


def quality_figures(report):
    """The quality for a viewer of the test picture."""
    return {"stalled": report["rebuffering"]["ratio"], "stalls": report["rebuffering"]["count"],
            "freezes": report["freezes"]["count"], "frozen": report["freezes"]["ratio"],
            "frame_rate": report["playback"]["frame_rate"], "frames_lost": report["playback"]["frames_lost"],
            "frames_skipped": report["playback"]["frames_skipped_by_sender"],
            "goodput_mbps": (report["network"]["goodput"] or 0) / 1e6, "media_loss": report["network"]["loss_rate"],
            "display_p95_ms": report["latency"]["display"]["p95"]}


def one(context):
    p, duration = context.cell.params, context.experiment.options["duration"]
    senders = [f"s{i}" for i in range(p["streams"])]
    receivers = [f"r{i}" for i in range(p["streams"])]
    with context.world() as world:
        at = net.dumbbell(world, [*senders, "server"], [*receivers, "client"], *link_texts(), "--flow",
                          str(live.TRAFFIC_PORT), "--seed", str(context.seed))
        flows = [live.Flow(world, s, at[s], source(p), f"-{i}") for i, s in enumerate(senders)]
        traffic = live.Traffic(world, "server", at["server"])
        epoch = live.start_time()
        traffic.run("client", epoch, duration, context.seed, [f"elephants:n={p['downloads']},cc={p['cc']}"])
        world.processes.sleep_until(epoch)
        for flow, receiver in zip(flows, receivers):
            flow.play(receiver, context.contender, duration, p["cc"] if context.contender == "tcp" else None)
        reports = [flow.finish(duration + 20) for flow in flows]
        for process, _ in traffic.clients.values():
            if process.wait(10) != 0:
                raise process.failed(f"ended with {process.code}")
        world.links["bottleneck"].stop()
        seconds = seconds_of(world, traffic, epoch)
        figures = share_figures(world, [s for s in seconds if 2 <= s[0] <= duration - 1])
        figures["jain"] = stats.jain([r["network"]["throughput"] or 0 for r in reports])
        if p["picture"]:
            figures |= quality_figures(reports[0])
            shutil.copy(flows[0].path("report.json"), context.kept("qoe.json"))
        if context.run == 0:
            with open(context.kept("json"), "w", encoding="utf-8") as f:
                json.dump(seconds, f)
        live.remove(*(flow.path("events.jsonl") for flow in flows))
    return figures


def seconds_of(world, traffic, epoch):
    """Returns [[second, Mbit/s that left the link, Mbit/s of the downloads, ms of queue]]."""
    downloads = traffic.profile().get("elephants", {})
    rows = []
    for line in live.json_lines(world.path("bottleneck.jsonl"))[:-1]:
        second = round(line["monotonic"] - epoch)
        if second in downloads:
            there = line["a_to_b"]
            rows.append([second, there["bytes_out"] * 8e-6, downloads[second] * 1e-6 * WIRE,
                         there["queue_delay_ms"]["mean"]])
    return rows


def check_quick(rows):
    """Checks that both sides carry something, and the link no more than it can: shares depend on who gets a core."""
    failed = []
    for row in rows:
        f, what = row["figures"], f"{row['cell']} {row['contender']}"
        if not 0 < f["use"] <= 1.05:
            failed.append(f"{what}: {f['use']:.2f} of the link is used, more than 0 and at most 1 expected")
        if not 0 < f["share"] < 1:
            failed.append(f"{what}: {f['share']:.2f} of the link for the stream, more than 0 and less than 1 expected")
    return failed


def experiment(quick, options):
    controller = options.get("controller")
    contenders = TRANSPORTS[controller] if controller else [t for names in TRANSPORTS.values() for t in names]
    title = f"{(controller or 'Rate controllers').replace('mtp_tcp', 'MTP')} beside the kernel's TCPs"
    if quick:
        chosen = [c for c in cells() if c.name == "1v1-cubic"]
        return Experiment("real", title + " (quick)", chosen, contenders, one, real_report.write, runs=1, seconds=13,
                          check=check_quick, options={"duration": 10})
    duration = DURATIONS.get(controller, 30)
    return Experiment("real", title, cells(), contenders + BASELINES, one, real_report.write, runs=2,
                      seconds=duration + 3, options={"duration": duration})
