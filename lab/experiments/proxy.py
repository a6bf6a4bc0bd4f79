# SPDX-License-Identifier: GPL-2.0-or-later
"""A TFRC backbone joined to a TCP access by weir-proxy: chapter 6 of Fiksdal's thesis (2003) with programs and kernel TCPs
on its path of two links, next to what it printed, and to what it did not measure: TCP from end to end.

The media are its 8 layers of 1024 bytes, at 90 kB/s. The delay of a layer is from leaving the server to being read by the
viewer, as in the thesis; end to end, from being written by the server.
"""
from dataclasses import dataclass

import numpy as np

from lab import layer_times, live, net, streaming
from lab.experiment import Cell, Experiment, Stand
from lab.experiments import proxy_report
from lab.experiments.proxy_cells import access_text, backbone_text, paths, traffic_specs
from lab.run import Failed, program

SOURCE = "synthetic:layers:8,1024,11"  # 90 kB/s: the thesis's TFRC had a limit of 91
LAYERS, LAYER_BYTES, HEADERS = 8, 1024, 100
SECONDS = 60
TRAFFIC_LEAD = 4  # seconds of the backbone's traffic before the stream
SETTLED = 12  # seconds until the thesis's streams had their rate
PINGS = 4  # some get lost
DRAIN = 12  # seconds for what waits at the end: 64 KB and an unlimited queue at 128 kbit/s


@dataclass(frozen=True)
class Contender:
    """How the stream goes from the server to the viewer."""
    access: str  # the viewer's transport
    proxy: tuple = None  # weir-proxy's options; None: end to end
    old: bool = False  # the hosts' TCP is that of 2003


KOMSSYS = ("--backbone-transport", "tfrc:komssys,rounds", "--queue", "fifo")
CONTENDERS = {
    "komssys": Contender("tcp:sndbuf=65536", (*KOMSSYS, "--reflect", "off")),
    "komssys hosts=2003": Contender("tcp:sndbuf=65536", (*KOMSSYS, "--reflect", "off"), True),
    "komssys-blocking": Contender("tcp:sndbuf=65536", (*KOMSSYS, "--reflect", "blocking")),
    "tcp": Contender("tcp"),
    "minbuf": Contender("minbuf:1,3"),
    "weir": Contender("minbuf:1,3", ()),
    "weir queue=fifo": Contender("minbuf:1,3", ("--queue", "fifo")),
    "weir reflect=off": Contender("minbuf:1,3", ("--reflect", "off")),
    "weir reflect=marks": Contender("minbuf:1,3", ("--reflect", "marks")),
    "weir badput=forward": Contender("minbuf:1,3", ("--badput", "forward")),
}
THEIRS = "computed at the server from reports, not at the receiver; interleaved on RTSP's connection; TCP is the kernel's Reno (SACK, RACK) for FACK"
PAPERS = (Stand("komssys", "the proxy of chapter 4, which forwards all (6.2)", THEIRS),
          Stand("komssys hosts=2003", "the same", "as above, but without RACK, tail loss probes and F-RTO"),
          Stand("komssys-blocking", "the same, which reads nothing while the socket is full (6.3)", THEIRS))
# Neither RACK nor tail loss probes nor F-RTO, which came later: with SACK alone the kernel counts duplicate ACKs, as FACK did
# about.
SYSCTLS_2003 = {"net/ipv4/tcp_recovery": "0", "net/ipv4/tcp_early_retrans": "0", "net/ipv4/tcp_frto": "0"}

# Where the access's queue has no limit, only the viewer's window bounds it: 64 KB, as in the thesis; half of it is window.
WINDOW_2003 = {"net/ipv4/tcp_rmem": "4096 131072 131072"}

PATHS = {p.name: p for p in paths()}
# The thesis had one kind of proxy in each cell.
EVERY = tuple(CONTENDERS)
PLAIN = tuple(c for c in EVERY if c != "komssys-blocking")
BLOCKING = tuple(c for c in EVERY if c not in ("komssys", "komssys hosts=2003"))


def missing(contender, build):
    """Returns what this build lacks for a contender, or None."""
    words = CONTENDERS[contender].proxy
    if words is None:
        return None
    try:
        text = streaming.help_of(program(build, "weir-proxy"))
    except Failed:
        return "weir-proxy is not built"
    for option, value in zip(words[::2], words[1::2]):
        if not streaming.offers(text, option.removeprefix("--"), value if ":" not in value else None):
            return f"weir-proxy has no {option} {value}"
    return None


def stream(context, world, at, how, seconds):
    """Starts server, proxy and viewer. Returns the flow."""
    flow = live.Flow(world, "server", at["server"], SOURCE)
    address = at["server"]
    if how.proxy is not None:
        address = at["proxy-access"]
        proxy = world.start("proxy", ["weir-proxy", "--insecure", "--listen", f"{address}:{live.RTSP_PORT}", "--origin",
                                      f"rtsp://{at['server']}:{live.RTSP_PORT}", "--access-transport", how.access,
                                      "--stats", world.path("proxy.jsonl"), *how.proxy], "proxy")
        proxy.wait_line(r"rtsp://")
    flow.play("client", how.access, seconds, options=["--adapt", "sender"], address=address)
    return flow


def layers_of(world, flow, proxied):
    """Returns {(number, layer): Layer}."""
    layers = layer_times.of_viewer(live.json_lines(flow.path("events.jsonl")))
    if proxied:
        layers = layer_times.with_backbone(layers, *(layer_times.first_times(world.path(f"backbone-{end}.pcap"))
                                                     for end in ("a-in", "b-out")))
    return layers


def access_rates(world, begin, seconds):
    """Returns the bytes that left the access link towards the viewer in each second from BEGIN."""
    lines = live.json_lines(world.path("access.jsonl"))
    if not lines or lines[-1].get("event") != "end":
        raise world.links["access"].failed("wrote no final figures")
    # A line covers the second before it.
    return np.array([l["a_to_b"]["bytes_out"] for l in lines[:-1] if begin + 1 <= l["monotonic"] <= begin + seconds + 1])


def least_access_s(p):
    """Returns the seconds of a layer on the access: its delay, and the time of its packet."""
    return p.access_ms / 1e3 + (LAYER_BYTES + HEADERS) * 8 / (p.access_kbit * 1e3)


def figures_of(p, layers, proxied, backbone, access):
    """Returns the figures for a row. BACKBONE, ACCESS: bytes of each second of the stream that left that link."""
    frames = layer_times.per_frame(layers)
    arrived, useful = (int(n) for n in frames.sum(axis=0))
    settled = slice(min(SETTLED, backbone.size // 2), None)
    figures = layer_times.five(layer_times.delays_of(layers))
    figures |= {"captured_p95": layer_times.five(layer_times.delays_of(layers, "captured"))["p95"],
                "base_p95": layer_times.five(layer_times.delays_of(layers, layer=0))["p95"],
                "layers": float(frames[:, 1].mean()),
                "layer_changes": float(np.abs(np.diff(frames[:, 1])).mean()) if len(frames) > 1 else None,
                "goodput_kbps": useful * LAYER_BYTES * 8e-3 / backbone.size,
                "badput": 1 - useful / arrived if arrived else None,
                "backbone_kbps": float(backbone[settled].mean()) * 8e-3, "access_kbps": float(access[settled].mean()) * 8e-3,
                "backbone_variation": layer_times.variation(backbone[settled]),
                "access_variation": layer_times.variation(access[settled]),
                "swings": layer_times.swings(backbone[settled])}
    figures["over_access"] = figures["backbone_kbps"] / figures["access_kbps"] if figures["access_kbps"] else None
    if proxied:
        _, wait = layer_times.waits(layers, "proxied", "read", least_access_s(p))
        _, queue = layer_times.waits(layers, "proxied", "written")
        figures |= {"lost_proxy": layer_times.lost_between(layers, "proxied", "read"),
                    "queue_p95": float(np.percentile(queue, 95)) * 1e3 if queue.size else None,
                    "wait_p95": float(np.percentile(wait, 95)) * 1e3 if wait.size else None,
                    "wait_max": float(wait.max()) * 1e3 if wait.size else None}
    return figures


def sysctls_of(p, how):
    """Returns the settings of the hosts' TCP."""
    return {**(SYSCTLS_2003 if how.old else {}), **(WINDOW_2003 if p.figure == 47 else {})}


def one(context):
    p, how = PATHS[context.cell.name], CONTENDERS[context.contender]
    seconds = context.experiment.options["seconds"]
    with context.world(sysctls=sysctls_of(p, how)) as world:
        at = net.two_part_path(world, (backbone_text(p), ""), (access_text(p), ""), options=["--seed", str(context.seed)],
                               backbone_options=["--flow", str(live.TRAFFIC_PORT), "--pcap", world.path("backbone"),
                                                 "--pcap-rest", "--snap", str(layer_times.SNAP)])
        ping = world.ping("client", at["server"], PINGS)
        epoch = live.start_time()
        specs = traffic_specs(p)
        if specs:
            traffic = live.Traffic(world, "cross-left", at["cross-left"])
            traffic.run("cross-middle", epoch, TRAFFIC_LEAD + seconds + 2, context.seed, specs)
            world.processes.sleep_until(epoch + TRAFFIC_LEAD)
        flow = stream(context, world, at, how, seconds)
        report = flow.finish(seconds + DRAIN + 20)
        waited = world.processes.waited()
        for link in world.links.values():
            link.stop()
        proxied = how.proxy is not None
        layers = layers_of(world, flow, proxied)
        if not layers:
            raise Failed(f"{context.contender}: no layer was read (logs: {context.directory})")
        begin = float(np.nanmin(layer_times.column(layers.values(), "pushed")))
        times, sizes = layer_times.packets_and_bytes(world.path("backbone-b-out.pcap"), at["server"])
        backbone = layer_times.rates(times, sizes, begin, seconds)
        access = access_rates(world, begin, seconds)
        dropped = live.json_lines(world.path("backbone.jsonl"))[-1]["a_to_b"]
        figures = figures_of(p, layers, proxied, backbone, access)
        if proxied:
            figures["lost_backbone"] = layer_times.packets_lost(*(world.path(f"backbone-{end}.pcap") for end in ("a-in", "b-out")))
        if context.run == 0:
            save(context.kept("npz"), layers, begin, backbone, access)
        live.remove(flow.path("events.jsonl"), *(world.path(f"backbone-{end}.pcap") for end in ("a-in", "b-out", "b-in", "a-out")))
    return {**figures, "ping_ms": ping, "waited": waited, "pool_drops": dropped["dropped"]["pool"],
            "stalled": report["rebuffering"]["ratio"]}


def save(path, layers, begin, backbone, access):
    """Saves a run's layers, by the seconds since its first, and the bytes of each second."""
    times = {name: (layer_times.column(layers.values(), name) - begin).astype("f4")
             for name in ("captured", "pushed", "proxied", "read")}
    np.savez_compressed(path, layer=np.array([at for _, at in layers], dtype="i1"),
                        number=np.array([number for number, _ in layers]), backbone=backbone, access=access, **times)


def check_quick(rows):
    """Checks that all programs run, and that the figures are possible."""
    failed = []
    for row in rows:
        f, p, what = row["figures"], PATHS[row["cell"]], f"{row['cell']} {row['contender']}"
        least = p.backbone_ms + p.access_ms
        if not least <= f["ping_ms"]:
            failed.append(f"{what}: a ping of {f['ping_ms']:.1f} ms, at least {least:g} expected")
        if f["p5"] is None or f["p5"] < least:
            failed.append(f"{what}: a delay of {f['p5']} ms, more than the path's {least:g} expected")
        if f["access_kbps"] > p.access_kbit * 1.05:
            failed.append(f"{what}: {f['access_kbps']:.0f} kbit/s on an access of {p.access_kbit}")
        if not 0 < f["goodput_kbps"] <= LAYERS * LAYER_BYTES * 11 * 8e-3:
            failed.append(f"{what}: a goodput of {f['goodput_kbps']:.0f} kbit/s")
    return failed


def cells():
    return [Cell(p.name, {}, contenders=BLOCKING if p.blocking else PLAIN) for p in PATHS.values()]


def experiment(quick, _options):
    title = "A proxy between a TFRC backbone and a TCP access"
    seconds = SECONDS
    if quick:
        seconds = 20
        some = [Cell("fig28-none-5%", {}, contenders=("komssys", "minbuf", "weir")),
                Cell("fig47-512kbit-0%", {}, contenders=("komssys-blocking", "weir"))]
        return Experiment("proxy", title + " (quick)", some, list(EVERY), one, proxy_report.write, runs=1,
                          seconds=seconds + TRAFFIC_LEAD + 3, check=check_quick, missing=missing, options={"seconds": seconds}, papers=PAPERS)
    return Experiment("proxy", title, cells(), list(EVERY), one, proxy_report.write, runs=5,
                      seconds=seconds + TRAFFIC_LEAD + 4, missing=missing, options={"seconds": seconds}, papers=PAPERS)
