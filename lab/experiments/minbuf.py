# SPDX-License-Identifier: GPL-2.0-or-later
"""Goel, Krasic, Li, Walpole: Supporting Low Latency TCP-Based Media Streams (2002), sections 3 and 4, live.

One flow from S to R1 over a dumbbell (section 3.2), with the cross traffic of section 4.1. The paper does not print its
queue lengths; a quarter of the bandwidth-delay product gives means close to its own. It chose the number of mice so that
they get 30 % of the bandwidth (4.1), or 50 % with ECN (4.4); so does tuned_mice(), once a cell.
minbuf_gigabit.py is the third set of experiments.
"""
import contextlib
import fcntl
import json
import os

import numpy as np

from lab import live, net, pcap
from lab.experiment import Cell, Experiment, Stand
from lab.experiments import minbuf_gigabit, minbuf_report
from lab.experiments.minbuf_report import CONTENDERS, GIGABIT, SCHEDULE, mice_goal
from lab.watch_tcp import WindowWatch

QUEUES = ["0.25bdp", "1bdp", "dred", "5bdp"]

TODAY = ("today's Linux: RACK, tail loss probes, an initial window of ten, which leaves spread over half a round trip, windows of "
         "megabytes; in cells named reno2002 two packets and 64 KB. A frame's last packet may be short (TCP_NODELAY for TCP_CORK)")
OURS = TODAY + "; the rule is applied in the program before each write, not in the kernel"
PAPERS = (Stand("tcp", "standard TCP, with SACK (3.2)", TODAY), Stand("minbuf:1,0", "MIN_BUF(1,0), with the SACK correction (2.2)", OURS),
          Stand("minbuf:1,3", "MIN_BUF(1,3)", "the same"), Stand("minbuf:2,0", "MIN_BUF(2,0)", "the same"))
QUICK_SCHEDULE = {"elephants": 2, "mice": 6, "cbr": 10, "elephants_stop": 16, "rest_stop": 18, "end": 20}

# The run whose packets are traced through sender, network and receiver (section 4.3, figure 6).
# How mice are tuned: elephants from the start, mice from START, their share between FROM and END; seconds.
TUNING = {"start": 2, "from": 5, "end": 13, "steps": 4, "close": 0.03}
MICE, MAX_MICE = 40, 300  # at each receiver: to begin with, and the most

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


def network(mbit, rtt_ms, queue):
    """The parameters of a network with today's hosts and Reno."""
    return {"mbit": mbit, "rtt_ms": rtt_ms, "queue": queue, "cc": "reno", "hosts": {}}


def cell(mbit, rtt, queue, kind):
    """KIND: reno, cubic, bbr, or reno2002."""
    cc = kind.removesuffix("2002")
    params = {**network(mbit, rtt, queue), "cc": cc, "hosts": HOSTS_OF_2002 if kind != cc else {}}
    # Reno is the paper's; the others run only with --only.
    return Cell(f"{mbit}mbit-{rtt}ms-{queue}-{kind}", params, cc == "reno")


def traffic_specs(p, schedule, mice_count):
    """The traffic that R1 and R2 request from S (section 4.1)."""
    s, cc = schedule, p["cc"]
    mice = f"mice:n={mice_count},bytes=20000,cc={cc},start={s['mice']},stop={s['rest_stop']}"
    # 10 % of the bandwidth, including the headers of IP and UDP.
    rate = round(0.1 * p["mbit"] * 1e6 * 1000 / 1028)
    return {"r1": [f"elephants:n=7,cc={cc},start={s['elephants']},stop={s['elephants_stop']}", mice],
            "r2": [f"elephants:n=8,cc={cc},start={s['elephants']},stop={s['elephants_stop']}", mice,
                   f"cbr:rate={rate}bit,size=1000,start={s['cbr']},stop={s['rest_stop']}"]}


@contextlib.contextmanager
def dumbbell(context, p, captures=False):
    """The network of the cell's parameters: yields the world, and the address of each host."""
    bdp = net.bdp_bytes(p["mbit"], p["rtt_ms"])
    forward = f"rate={p['mbit']}mbit,queue={queue_text(p['queue'], bdp)},delay={p['rtt_ms'] / 2:g}ms"
    backward = f"delay={p['rtt_ms'] / 2:g}ms"
    options = ["--flow", str(live.RTSP_PORT), "--seed", str(context.seed)]
    # ECN is negotiated only if the router marks (section 3.2).
    sysctls = {"net/ipv4/tcp_ecn": "1" if p["queue"] == "dred" else "0", **p["hosts"].get("sysctls", {})}
    with context.world(sysctls=sysctls) as world:
        if captures:
            options += ["--pcap", world.path("link")]
        at = net.dumbbell(world, ["s"], ["r1", "r2"], forward, backward, *options)
        if "initial_window" in p["hosts"]:
            world.initial_window("s", p["hosts"]["initial_window"])
        yield world, at


def join(traffic):
    """Waits until all clients of the cross traffic have ended."""
    for process, _ in traffic.clients.values():
        if process.wait(10) != 0:
            raise process.failed(f"ended with {process.code}")


def share_of_mice(profile, mbit, start, stop):
    """Returns the part of the bandwidth that mice got in the seconds after START, up to STOP."""
    seconds = profile.get("mice", {})
    return sum(seconds.get(t, 0) for t in range(start + 1, stop + 1)) / (stop - start) / (mbit * 1e6)


def share_without_flow(context, p, mice):
    """Returns the share of so many mice at each receiver beside the elephants."""
    t = TUNING
    schedule = {"elephants": 0, "elephants_stop": t["end"], "mice": t["start"], "rest_stop": t["end"],
                "cbr": t["end"] - 1, "end": t["end"]}
    with dumbbell(context, p) as (world, at):
        traffic = live.Traffic(world, "s", at["s"])
        epoch = live.start_time()
        for client, specs in traffic_specs(p, schedule, mice).items():
            traffic.run(client, epoch, t["end"], context.seed, [spec for spec in specs if not spec.startswith("cbr")])
        world.processes.sleep_until(epoch + t["end"])
        join(traffic)
        return share_of_mice(traffic.profile(), p["mbit"], t["from"], t["end"])


def search(goal, share, steps, close):
    """Returns (mice at each receiver, their share), the closest to GOAL that SHARE(mice) reaches in so many steps."""
    tried, mice = {}, MICE
    while len(tried) < steps and mice not in tried:
        tried[mice] = share(mice)
        if abs(tried[mice] - goal) <= close:
            break
        # More mice get more, but less than in proportion, as each then waits longer.
        mice = max(1, min(MAX_MICE, round(mice * min(3, max(0.3, goal / max(tried[mice], 0.01))))))
    best = min(tried, key=lambda n: abs(tried[n] - goal))
    return best, tried[best]


def tuned_mice(context, name=None, p=None):
    """Returns the number of mice at each receiver of the network NAME with the parameters P; by default the cell's. The first run
    there searches for it; all others of the results have the same."""
    name, p = name or context.cell.name, p or context.cell.params
    path = os.path.join(context.results, "mice.json")
    with open(path, "a+", encoding="utf-8") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.seek(0)
        known = json.loads(f.read() or "{}")
        if name not in known:
            known[name] = search(mice_goal(p["queue"]), lambda n: share_without_flow(context, p, n),
                                 TUNING["steps"], TUNING["close"])
            f.seek(0)
            f.truncate()
            json.dump(known, f)
        return known[name][0]


def one(context):
    if context.cell.name.startswith(GIGABIT):
        return minbuf_gigabit.one(context)
    p = context.cell.params
    schedule = context.experiment.options["schedule"]
    followed = (context.cell.name, context.contender, context.run) == FOLLOWED
    mice = tuned_mice(context) if context.experiment.options["tunes"] else MICE
    with dumbbell(context, p, followed) as (world, at):
        flow = live.Flow(world, "s", at["s"])
        traffic = live.Traffic(world, "s", at["s"])
        epoch = live.start_time()
        for client, specs in traffic_specs(p, schedule, mice).items():
            traffic.run(client, epoch, schedule["end"], context.seed, specs)
        world.processes.sleep_until(epoch)
        flow.play("r1", context.contender, schedule["end"], p["cc"])
        windows = WindowWatch(world.names["s"], live.RTSP_PORT) if followed else None
        report = flow.finish(schedule["end"] + 20)
        join(traffic)
        world.links["bottleneck"].stop()
        window = (epoch + schedule["elephants"] + 1, epoch + schedule["elephants_stop"])
        figures = {**live.flow_figures(flow, report),
                   **live.link_figures(world, "bottleneck", window=window, bps=p["mbit"] * 1e6)}
        profile = traffic.profile()
        figures["mice"] = 2 * mice
        figures["mice_share"] = share_of_mice(profile, p["mbit"], min(schedule["mice"] + 5, schedule["elephants_stop"] - 1),
                                              schedule["elephants_stop"])
        adus = flow.adus()
        figures["latency_bins"] = live.save_latencies(context, adus, epoch)
        if context.run == 0:
            with open(context.kept("json"), "w", encoding="utf-8") as f:
                json.dump(profile, f)
        if followed:
            follow(context, world, adus, epoch, windows.stop())
        live.remove(world.path("events.jsonl"))
    return figures


def follow(context, world, adus, epoch, windows):
    """Saves the times of each packet and of each transmission, from the captures at the link, and the WINDOWS over time."""
    entered, left = world.path("link-a-in.pcap"), world.path("link-b-out.pcap")
    rows = pcap.join(adus, pcap.flow_packets(entered, live.RTSP_PORT), pcap.flow_packets(left, live.RTSP_PORT))
    if rows:
        times = np.array([row[1:] for row in rows]) - epoch
        out = pcap.transmissions(entered, live.RTSP_PORT)
        np.savez_compressed(context.kept("parts.npz"), written=times[:, 0], sent=times[:, 1], arrived=times[:, 2],
                            read=times[:, 3], out=np.array([t for t, _, _ in out]) - epoch,
                            again=np.array([again for _, _, again in out]),
                            window_at=np.array([t for t, _ in windows]) - epoch, window=np.array([w for _, w in windows]))
    live.remove(*(world.path(f"link-{which}.pcap") for which in ("a-in", "b-out", "b-in", "a-out")))


def check_gigabit(rows):
    """Checks that the sender's core was full, so that the cost is what limits the throughput."""
    return [f"{row['cell']} {row['contender']}: the sender's core was busy for {row['figures']['core_busy']:.2f} of the "
            "time, more than 0.7 expected" for row in rows if row["figures"]["core_busy"] <= 0.7]


def check_mice(rows):
    """Checks the share of mice: within a tenth of the bandwidth where it was tuned."""
    failed = []
    for row in rows:
        queue, share = minbuf_report.parse(row["cell"])[2], row["figures"]["mice_share"]
        if abs(share - mice_goal(queue)) > 0.1:
            failed.append(f"{row['cell']} {row['contender']}: mice got {share:.2f} of the bandwidth, "
                          f"{mice_goal(queue)} ± 0.1 expected")
    return failed


def check(rows):
    gigabit = [row for row in rows if row["cell"].startswith(GIGABIT)]
    return check_gigabit(gigabit) + check_mice([row for row in rows if row not in gigabit])


def check_quick(rows):
    """Checks what holds on any machine, however busy: all flows ran, and their figures are possible. How they compare, a run of
    seconds beside other work does not show."""
    rows = [row for row in rows if not row["cell"].startswith(GIGABIT)]
    there = {row["contender"] for row in rows}
    failed = [f"no run of {c}" for c in ("tcp", "minbuf:1,0", "minbuf:1,3") if there and c not in there]  # none: --only gigabit
    for row in rows:
        contender, f, one_way = row["contender"], row["figures"], minbuf_report.parse(row["cell"])[1] / 2
        if not f["samples"] or not f["throughput_bps"]:
            failed.append(f"{contender}: nothing arrived")
        elif not f["p50_ms"] >= one_way:
            failed.append(f"{contender}: a median of {f['p50_ms']:.1f} ms, at least the link's own {one_way:g} expected")
        if not 0 < (f["utilisation"] or 0) <= 1.01:
            failed.append(f"{contender}: link utilisation {f['utilisation']}, more than 0 and at most 1 expected")
    return failed


def experiment(quick, _options):
    title = "MIN_BUF TCP: protocol latency and throughput under congestion"
    if quick:
        cells = [cell(30, 100, "0.25bdp", "reno"), *minbuf_gigabit.cells(CONTENDERS[:3])]
        return Experiment("minbuf", title + " (quick)", cells, CONTENDERS[:3], one,
                          minbuf_report.write, runs=1, seconds=(QUICK_SCHEDULE["end"] + 2 * 7) / 3, check=check_quick,
                          options={"schedule": QUICK_SCHEDULE, "tunes": False}, papers=PAPERS)
    kinds = [("reno", QUEUES), ("reno2002", QUEUES[:1]), ("cubic", QUEUES), ("bbr", QUEUES)]
    cells = [cell(mbit, rtt, queue, kind) for kind, queues in kinds for queue in queues for mbit in (30, 12)
             for rtt in (100, 50, 25)]
    return Experiment("minbuf", title, cells + minbuf_gigabit.cells(CONTENDERS), CONTENDERS, one, minbuf_report.write,
                      runs=8, seconds=SCHEDULE["end"] + 3, check=check, options={"schedule": SCHEDULE, "tunes": True}, papers=PAPERS)
