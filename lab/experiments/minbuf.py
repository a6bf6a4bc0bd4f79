# SPDX-License-Identifier: GPL-2.0-or-later
"""Goel, Krasic, Li, Walpole: Supporting Low Latency TCP-Based Media Streams (2002), sections 3 and 4, live.

One flow from S to R1 over a dumbbell (section 3.2), with the cross traffic of section 4.1. The paper does not print its
queue lengths; a quarter of the bandwidth-delay product gives means close to its own.
"""
import json

import numpy as np

from lab import live, net, pcap
from lab.experiment import Cell, Experiment
from lab.experiments import minbuf_report
from lab.experiments.minbuf_report import CONTENDERS, SCHEDULE

QUEUES = ["0.25bdp", "1bdp", "dred", "5bdp"]

QUICK_SCHEDULE = {"elephants": 2, "mice": 6, "cbr": 10, "elephants_stop": 16, "rest_stop": 18, "end": 20}

# The run whose packets are traced through sender, network and receiver (section 4.3, figure 6).
FOLLOWED = ("30mbit-100ms-0.25bdp-reno", "minbuf:1,0", 0)


def queue_text(kind, bdp):
    if kind == "dred":
        # Section 3.2: drdmin, drdmax, drdcongest are 1.0, 2.0, 2.0 bandwidth-delay products.
        return f"dred:{2 * bdp}B:min={bdp}B:max={2 * bdp}B:ecn"
    return f"droptail:{round(float(kind.removesuffix('bdp')) * bdp)}B"


# Reno with the end hosts of the paper's year: connections begin with two packets (RFC 2581; today ten, RFC 6928), and
# windows of 64 KB bound them (today's grow to megabytes, so a lone flow's slow start overruns the queue by far).
HOSTS_OF_2002 = {"initial_window": 2, "sysctls": {"net/ipv4/tcp_rmem": "4096 131072 131072",  # half of it is window
                                                  "net/ipv4/tcp_wmem": "4096 16384 131072"}}


def cell(mbit, rtt, queue, kind):
    """KIND: reno, cubic, bbr, or reno2002."""
    cc = kind.removesuffix("2002")
    params = {"mbit": mbit, "rtt_ms": rtt, "queue": queue, "cc": cc, "hosts": HOSTS_OF_2002 if kind != cc else {}}
    # Reno is the paper's; the others run only with --only.
    return Cell(f"{mbit}mbit-{rtt}ms-{queue}-{kind}", params, cc == "reno")


def traffic_specs(p, schedule):
    """The traffic that R1 and R2 request from S (section 4.1)."""
    s, cc = schedule, p["cc"]
    mice = f"mice:n=40,bytes=20000,cc={cc},start={s['mice']},stop={s['rest_stop']}"
    # 10 % of the bandwidth, including the headers of IP and UDP.
    rate = round(0.1 * p["mbit"] * 1e6 * 1000 / 1028)
    return {"r1": [f"elephants:n=7,cc={cc},start={s['elephants']},stop={s['elephants_stop']}", mice],
            "r2": [f"elephants:n=8,cc={cc},start={s['elephants']},stop={s['elephants_stop']}", mice,
                   f"cbr:rate={rate}bit,size=1000,start={s['cbr']},stop={s['rest_stop']}"]}


def one(context):
    p = context.cell.params
    schedule = context.experiment.options["schedule"]
    followed = (context.cell.name, context.contender, context.run) == FOLLOWED
    bdp = net.bdp_bytes(p["mbit"], p["rtt_ms"])
    forward = f"rate={p['mbit']}mbit,queue={queue_text(p['queue'], bdp)},delay={p['rtt_ms'] / 2:g}ms"
    backward = f"delay={p['rtt_ms'] / 2:g}ms"
    options = ["--flow", str(live.RTSP_PORT), "--seed", str(context.seed)]
    # ECN is negotiated only if the router marks (section 3.2).
    sysctls = {"net/ipv4/tcp_ecn": "1" if p["queue"] == "dred" else "0", **p["hosts"].get("sysctls", {})}
    with context.world(sysctls=sysctls) as world:
        if followed:
            options += ["--pcap", world.path("link")]
        at = net.dumbbell(world, ["s"], ["r1", "r2"], forward, backward, *options)
        if "initial_window" in p["hosts"]:
            world.initial_window("s", p["hosts"]["initial_window"])
        flow = live.Flow(world, "s", at["s"])
        traffic = live.Traffic(world, "s", at["s"])
        epoch = live.start_time()
        for client, specs in traffic_specs(p, schedule).items():
            traffic.run(client, epoch, schedule["end"], context.seed, specs)
        world.processes.sleep_until(epoch)
        flow.play("r1", context.contender, schedule["end"], p["cc"])
        report = flow.finish(schedule["end"] + 20)
        for process, _ in traffic.clients.values():
            if process.wait(10) != 0:
                raise process.failed(f"ended with {process.code}")
        world.links["bottleneck"].stop()
        window = (epoch + schedule["elephants"] + 1, epoch + schedule["elephants_stop"])
        figures = {**live.flow_figures(flow, report),
                   **live.link_figures(world, "bottleneck", window=window, bps=p["mbit"] * 1e6)}
        adus = flow.adus()
        figures["latency_bins"] = live.save_latencies(context, adus, epoch)
        if context.run == 0:
            with open(context.kept("json"), "w", encoding="utf-8") as f:
                json.dump(traffic.profile(), f)
        if followed:
            follow(context, world, adus, epoch)
        live.remove(world.path("events.jsonl"))
    return figures


def follow(context, world, adus, epoch):
    """Saves the times of each packet, from the captures at the link."""
    entered, left = world.path("link-a-in.pcap"), world.path("link-b-out.pcap")
    rows = pcap.join(adus, pcap.flow_packets(entered, live.RTSP_PORT), pcap.flow_packets(left, live.RTSP_PORT))
    if rows:
        times = np.array([row[1:] for row in rows]) - epoch
        np.savez_compressed(context.kept("parts.npz"), written=times[:, 0], sent=times[:, 1], arrived=times[:, 2],
                            read=times[:, 3])
    live.remove(*(world.path(f"link-{which}.pcap") for which in ("a-in", "b-out", "b-in", "a-out")))


def check_quick(rows):
    """Checks loose bounds for the quick version: all flows run, and their order is right."""
    by = {row["contender"]: row["figures"] for row in rows}
    failed = [f"no run of {c}" for c in ("tcp", "minbuf:1,0", "minbuf:1,3") if c not in by]
    for contender, f in by.items():
        if not f["utilisation"] or f["utilisation"] <= 0.5:
            failed.append(f"{contender}: link utilisation {f['utilisation']}, more than 0.5 expected")
        if not contender.startswith("minbuf"):
            continue
        if f["d500"] is None or f["d500"] < 0.9:
            failed.append(f"{contender}: D500 {f['d500']}, at least 0.9 expected")
        if "tcp" in by and not (f["mean_ms"] or 1e9) < 0.5 * (by["tcp"]["mean_ms"] or 0):
            failed.append(f"{contender}: mean {f['mean_ms']} ms is not below half of tcp's {by['tcp']['mean_ms']}")
    return failed


def experiment(quick, _options):
    title = "MIN_BUF TCP: protocol latency and throughput under congestion"
    if quick:
        return Experiment("minbuf", title + " (quick)", [cell(30, 100, "0.25bdp", "reno")], CONTENDERS[:3], one,
                          minbuf_report.write, runs=1, seconds=QUICK_SCHEDULE["end"] + 2, check=check_quick,
                          options={"schedule": QUICK_SCHEDULE})
    kinds = [("reno", QUEUES), ("reno2002", QUEUES[:1]), ("cubic", QUEUES), ("bbr", QUEUES)]
    cells = [cell(mbit, rtt, queue, kind) for kind, queues in kinds for queue in queues for mbit in (30, 12)
             for rtt in (100, 50, 25)]
    return Experiment("minbuf", title, cells, CONTENDERS, one, minbuf_report.write, runs=8,
                      seconds=SCHEDULE["end"] + 3, options={"schedule": SCHEDULE})
