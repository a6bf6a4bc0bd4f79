# SPDX-License-Identifier: GPL-2.0-or-later
"""Layered streams over TFRC and UDP next to 10 TCPs, and over TCP next to 5 TCPs and 5 UDPs: sections 5.1 and 5.2 of
Fiksdal's thesis (2003, figures 17 to 23) with programs and kernel TCPs. Runs of 5.1 have a twin in weir-sim; `tfrc` has more rates there.

5.1: 100 Mbit/s, an RTT of 60 ms, DRD from 5 to 25 packets, or drop-tail of 25; 10 downloads for 90 s, the stream for 80. 5.2:
10 Mbit/s, 2 ms, DRD from 3 to 5. The thesis prints neither the stream's rate nor that of the datagrams beside it: here 3.9
Mbit/s (8 layers of 1024 bytes, 60 frames/s), which is more than a download gets in 5.1, and 5 of 1 Mbit/s.

The TCPs of 5.2 are reno (without SACK), sack, and rack: Linux's own (RFC 8985), which took the place of the thesis's FACK.
"""
import os

import numpy as np

from lab import layer_times, live, net
from lab.experiment import Cell, Experiment, Stand, kept_path
from lab.experiments import papers_real, tfrc
from lab.report import canvas
from lab.rows import Rows, text

SOURCE = "synthetic:layers:8,1024,60"
LAYER_BITS = 1024 * 8
PARTS = {"5.1-drd": ("rate=100mbit,queue=drd:25p:min=5p:max=25p,delay=30ms", "delay=30ms"),
         "5.1-droptail": ("rate=100mbit,queue=droptail:25p,delay=30ms", "delay=30ms"),
         "5.2-drd": ("rate=10mbit,queue=drd:5p:min=3p:max=5p,delay=1ms", "delay=1ms")}
STREAMS = ("tfrc:komssys,rounds", "tfrc", "udp")  # of 5.1
FLAVOURS = {"reno": {"net/ipv4/tcp_sack": "0"}, "sack": {"net/ipv4/tcp_sack": "1", "net/ipv4/tcp_recovery": "0"},
            "rack": {"net/ipv4/tcp_sack": "1", "net/ipv4/tcp_recovery": "1"}}
GUESSED = "the stream's rate is not printed; computed at the sender; downloads are the kernel's Reno (SACK, RACK) for FACK"
PAPERS = (Stand("tfrc:komssys,rounds", "TFRC of Komssys (3.5, 5.1)", GUESSED),
          Stand("udp", "UDP (5.1)", "the stream's rate is not printed; paces packets at 2.5 times the media's rate"),
          Stand("reno", "Reno (5.2)", "the kernel's without SACK"), Stand("sack", "SACK (5.2)", "the kernel's without RACK"),
          Stand("rack", "FACK (5.2)", "RACK (RFC 8985), which took its place in Linux"))
LEAD = 5  # seconds of the traffic before the stream, and of 5.1's after it


TCP_PAYLOAD = 1448 / 1500  # weir-sim counts a download's bytes on the wire
TWINS = [("throughput_mbps", "throughput, Mbit/s", 2), ("goodput_mbps", "layered goodput, Mbit/s", 2), ("useful", "useful part", 3),
         ("layers", "layers a frame", 2), ("tcp_mbps", "the downloads together, Mbit/s", 2)]


def is_tcp(cell):
    return cell.startswith("5.2")


def traffic_of(cell):
    if is_tcp(cell):
        return ["elephants:n=5,cc=reno", "cbr:n=5,rate=1mbit,size=1000"]
    return ["elephants:n=10,cc=reno"]


def seconds_of(layers, begin, seconds):
    """Returns (throughput, goodput) in Mbit/s of each second: layers that were read, and those of use, by when they left."""
    read, useful = np.zeros(seconds), np.zeros(seconds)
    came = {}
    for (number, at), layer in layers.items():
        if not np.isnan(layer.read):
            came.setdefault(number, {})[at] = layer.pushed
    for got in came.values():
        second = int(min(got.values()) - begin)
        if 0 <= second < seconds:
            read[second] += len(got)
            useful[second] += next(k for k in range(len(got) + 1) if k not in got)
    return read * LAYER_BITS / 1e6, useful * LAYER_BITS / 1e6


def one(context):
    cell, seconds = context.cell.name, context.experiment.options["seconds"]
    sysctls = FLAVOURS.get(context.contender, {})
    with context.world(sysctls=sysctls) as world:
        at = net.dumbbell(world, ["server", "cross"], ["client"], *PARTS[cell], "--seed", str(context.seed), "--flow",
                          str(live.TRAFFIC_PORT))
        flow = live.Flow(world, "server", at["server"], SOURCE)
        traffic = live.Traffic(world, "cross", at["cross"])
        epoch = live.start_time()
        traffic.run("client", epoch, seconds + 2 * LEAD, context.seed, traffic_of(cell))
        world.processes.sleep_until(epoch + LEAD)
        if is_tcp(cell):
            flow.play("client", "tcp", seconds, "reno", options=["--adapt", "none"])
        else:
            flow.play("client", context.contender, seconds, options=["--adapt", "none" if context.contender == "udp" else "sender"])
        flow.finish(seconds + 30)
        layers = layer_times.of_viewer(live.json_lines(flow.path("events.jsonl")))
        for process, _ in traffic.clients.values():
            if process.wait(20) != 0:
                raise process.failed(f"ended with {process.code}")
        waited = world.processes.waited()
        world.links["bottleneck"].stop()
        profile = traffic.profile()
        live.remove(flow.path("events.jsonl"))
        link = live.json_lines(world.path("bottleneck.jsonl"))[-1]["a_to_b"]
    begin = float(np.nanmin(layer_times.column(layers.values(), "pushed")))
    read, useful = seconds_of(layers, begin, seconds)
    frames = layer_times.per_frame(layers)
    if context.run == 0:
        np.savez_compressed(context.kept("npz"), read=read, useful=useful)
    own = [profile["elephants"].get(s, 0) for s in range(LEAD + 1, LEAD + seconds)]
    figures = {"throughput_mbps": float(read.mean()), "goodput_mbps": float(useful.mean()), "goodput_sd": float(useful.std()),
            "useful": float(useful.sum() / read.sum()) if read.sum() else None, "layers": float(frames[:, 1].mean()),
            "layer_changes": float(np.abs(np.diff(frames[:, 1])).mean()), "tcp_mbps": float(np.mean(own)) / 1e6,
            "link_loss": sum(link["dropped"].values()) / max(1, link["packets_in"]), "waited": waited}
    return figures if is_tcp(cell) else papers_real.with_twin(context, figures, lambda c: simulated(c, seconds))


def simulated(context, seconds):
    """The figures of 5.1 in weir-sim, with the same sending core."""
    p = {"mbit": 100, "media": 60 * 8 * LAYER_BITS / 1e6, "queue": context.cell.name.partition("-")[2], "tcp": "sack"}
    found = tfrc.session(context.directory, context.build, context.seed, p, context.contender.replace(",", "/"), seconds)
    found["tcp_mbps"] *= TCP_PAYLOAD
    return {key: found[key] for key, _, _ in TWINS}


COLUMNS = [("throughput_mbps", "throughput, Mbit/s", 2), ("goodput_mbps", "layered goodput", 2), ("useful", "useful part", 3),
           ("goodput_sd", "deviation of its seconds", 3), ("layers", "layers a frame", 2), ("layer_changes", "their change", 3),
           ("tcp_mbps", "the downloads together", 2), ("link_loss", "loss of all", 4), ("waited", "waited", 3)]


def claims_of(rows):
    """The conclusions of both sections."""
    for cell in rows.cells():
        at = lambda c, key: (lambda e: None if e is None else e.value)(rows.mean(cell, c, key))  # noqa: E731
        for own, other, key, what in (
                ("tfrc:komssys,rounds", "udp", "useful", "TFRC wastes less of its throughput than UDP"),
                ("tfrc:komssys,rounds", "udp", "tcp_mbps", "the downloads get more next to TFRC than next to UDP"),
                ("udp", "tfrc:komssys,rounds", "goodput_mbps", "UDP has more layered goodput"),
                ("udp", "tfrc:komssys,rounds", "layer_changes", "and less steady layers"),
                ("sack", "reno", "throughput_mbps", "SACK carries more than Reno"),
                ("rack", "reno", "throughput_mbps", "Linux's own too")):
            a, b = at(own, key), at(other, key)
            if a is not None and b is not None:
                yield [cell, what, f"{'met' if a > b else 'missed'}: {a:.3f} for {b:.3f}"]


def write(run_rows, page):
    rows = Rows(run_rows)
    if not run_rows:
        page.text("No run has finished.")
        return
    page.text("A layer is useful if all below it in its frame were read. Figure 21 prints 25.49 Mbit/s of ten downloads next to "
              "TFRC and 19.76 next to UDP (without a unit).")
    page.table("Streams", ["cell", "contender", "runs", *(name for _, name, _ in COLUMNS)],
               [[cell, c, len(rows.by[cell, c]), *(text(rows.mean(cell, c, key), digits) for key, _, digits in COLUMNS)]
                for cell in rows.cells() for c in rows.contenders(cell)], "streams")
    papers_real.compare(rows, page, "Section 5.1 next to its simulated twin", "twins", TWINS, [c for c in rows.cells() if not is_tcp(c)])
    page.goals("What the thesis concludes", ["cell", "what", "result"], claims_of(rows), "claims")
    for cell in rows.cells():
        plot(rows, page, cell)


def plot(rows, page, cell):
    """Figures 19, 20 and 23: throughput and goodput over the seconds."""
    found = [(c, np.load(path)) for c in rows.contenders(cell)
             if os.path.exists(path := kept_path(page.directory, cell, c, 0, "npz"))]
    if not found:
        return
    figure, axes = canvas(1, 1, width=9, height=3)
    axis = axes[0][0]
    for k, (contender, kept) in enumerate(found):
        axis.plot(kept["read"], color=f"C{k}", linestyle=":", label=f"{contender}, throughput")
        axis.plot(kept["useful"], color=f"C{k}", label="goodput")
    axis.set(xlabel="s", ylabel="Mbit/s", ylim=(0, None))
    axis.legend(fontsize=7, ncol=3)
    number = {"5.1-drd": 19, "5.1-droptail": 20}.get(cell, 23)
    page.figure(f"{cell}: throughput and layered goodput of the first runs (figure {number})", figure, f"seconds-{cell}")


def check_quick(rows):
    """Checks that all programs run, and that the figures are possible."""
    failed = []
    for row in rows:
        f, what = row["figures"], f"{row['cell']} {row['contender']}"
        if not 0 < f["goodput_mbps"] <= f["throughput_mbps"] < 4.2:
            failed.append(f"{what}: a goodput of {f['goodput_mbps']:.2f} of {f['throughput_mbps']:.2f} Mbit/s")
        if f["tcp_mbps"] <= 0:
            failed.append(f"{what}: the downloads carry nothing")
    return failed


def experiment(quick, _options):
    title = "Layered streams over TFRC, UDP and TCP"
    cells = [Cell(name, {}, contenders=tuple(FLAVOURS) if is_tcp(name) else STREAMS) for name in PARTS]
    seconds = 15 if quick else 80
    if quick:
        cells = [Cell("5.1-drd", {}, contenders=("tfrc:komssys,rounds",)), Cell("5.2-drd", {}, contenders=("sack",))]
    return Experiment("layered", title + (" (quick)" if quick else ""), cells, [*STREAMS, *FLAVOURS], one, write,
                      runs=1 if quick else 5, seconds=seconds + 2 * LEAD + 3, check=check_quick if quick else None,
                      options={"seconds": seconds}, papers=PAPERS)
