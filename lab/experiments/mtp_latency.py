# SPDX-License-Identifier: GPL-2.0-or-later
"""Protocol latency of MTP compared with TCP and MIN_BUF: the effect of a loss on other packets.

In the network of the MIN_BUF experiment (minbuf.py: its link, its cross traffic), and on a link of its own that loses
1 % at random. Two sources: greedy, and steady at 30 % of the link; on the lossy link also at 10 %, a quarter
of what Reno's window allows. MTP delivers each packet when it arrives; in TCP all packets after a lost one wait for it, at
least a round-trip time.
"""
from lab import live, net
from lab.experiment import Cell, Experiment
from lab.experiments import minbuf, mtp_latency_report

CONTENDERS = ["mtp", "mtp-raw", "tcp", "minbuf:1,3"]
STEADY = (*CONTENDERS, "mtp:queue=200ms")  # for a greedy source a queue that drops its oldest packets is useless
LOSS_SECONDS = 60
BUSY_QUEUE = "0.25bdp"


def cells():
    """The busy network, and an empty link with random loss on which Reno's window allows more than the steady rate:
    1.22 / sqrt(0.01) packets a round-trip time (Mathis and others, 1997), 4.6 Mbit/s in packets of 1176 bytes."""
    loss, busy = ("loss-10mbit-25ms", 10, 25, 1), ("busy-12mbit-50ms", 12, 50, 0)
    found = []
    for percent, contenders, networks in ((None, (), (loss, busy)), (30, STEADY, (loss, busy)), (10, STEADY, (loss,))):
        for name, mbit, rtt, lost in networks:
            params = {"mbit": mbit, "rtt_ms": rtt, "loss": lost, "percent": percent}
            source = f"steady{percent}" if percent else "greedy"
            found.append(Cell(f"{name}-{source}", params, contenders=contenders))
    return found


def source_of(p):
    return "synthetic:" + (f"steady:{p['percent'] * p['mbit'] * 10}" if p["percent"] else "greedy")


def link_texts(p):
    """Behind a quarter of the bandwidth-delay product, as in minbuf.py; if nothing else is sent, a whole one."""
    bdp = net.bdp_bytes(p["mbit"], p["rtt_ms"])
    delay = f"delay={p['rtt_ms'] / 2:g}ms"
    if p["loss"]:
        return f"rate={p['mbit']}mbit,queue={minbuf.queue_text('1bdp', bdp)},loss={p['loss']:g}%,{delay}", delay
    return f"rate={p['mbit']}mbit,queue={minbuf.queue_text(BUSY_QUEUE, bdp)},{delay}", delay


def start_traffic(context, mice, world, address, epoch):
    """The cross traffic of minbuf.py, with Reno only."""
    schedule = context.experiment.options["schedule"]
    traffic = live.Traffic(world, "s", address)
    for client, specs in minbuf.traffic_specs({**context.cell.params, "cc": "reno"}, schedule, mice).items():
        traffic.run(client, epoch, schedule["end"], context.seed, specs)
    return traffic


def one(context):
    p, options = context.cell.params, context.experiment.options
    duration = options["seconds"] if p["loss"] else options["schedule"]["end"]
    mice = 0 if p["loss"] else minbuf.tuned_mice(context, context.cell.name.rpartition("-")[0],
                                                 minbuf.network(p["mbit"], p["rtt_ms"], BUSY_QUEUE))
    with context.world(sysctls={"net/ipv4/tcp_ecn": "0"}) as world:
        at = net.dumbbell(world, ["s"], ["r1", "r2"], *link_texts(p), "--seed", str(context.seed))
        flow = live.Flow(world, "s", at["s"], source_of(p))
        epoch = live.start_time()
        traffic = None if p["loss"] else start_traffic(context, mice, world, at["s"], epoch)
        world.processes.sleep_until(epoch)
        is_kernel = not context.contender.startswith("mtp")
        flow.play("r1", context.contender, duration, "reno" if is_kernel else None)
        report = flow.finish(duration + 20)
        for process, _ in traffic.clients.values() if traffic else ():
            if process.wait(10) != 0:
                raise process.failed(f"ended with {process.code}")
        world.links["bottleneck"].stop()
        adus = flow.adus()
        live.save_latencies(context, adus, epoch)
        figures = mtp_latency_report.latency_figures(adus)
        figures["throughput_mbps"] = (report["network"]["throughput"] or 0) / 1e6
        live.remove(world.path("events.jsonl"))
    return figures


def check_quick(rows):
    """Checks that packets arrived, and none sooner than the link allows: how late they are a busy machine says, too."""
    failed = []
    for row in rows:
        f, one_way = row["figures"], mtp_latency_report.rtt_of(row["cell"]) / 2
        if not f["samples"] or f["p50_ms"] < one_way:
            failed.append(f"{row['cell']} {row['contender']}: {f['samples']} packets, a median of {f['p50_ms']} ms, at least {one_way:g} expected")
    return failed


def experiment(quick, _options):
    title = "MTP: protocol latency beside TCP"
    options = {"seconds": LOSS_SECONDS, "schedule": minbuf.SCHEDULE}
    if quick:
        chosen = [c for c in cells() if c.name == "loss-10mbit-25ms-greedy"]
        return Experiment("mtp_latency", title + " (quick)", chosen, ["mtp", "mtp-raw"], one, mtp_latency_report.write,
                          runs=1, seconds=15, check=check_quick, options={**options, "seconds": 12})
    return Experiment("mtp_latency", title, cells(), CONTENDERS, one, mtp_latency_report.write, runs=3,
                      seconds=minbuf.SCHEDULE["end"] + 3, options=options)
