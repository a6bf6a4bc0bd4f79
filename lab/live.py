# SPDX-License-Identifier: GPL-2.0-or-later
"""The flow under test - weir-send to weir-play - and cross traffic, in namespaces of a World, and their figures."""
import json
import os
import time

import numpy as np

from lab.run import Failed
from lab.stats import LogHistogram

RTSP_PORT = 8554
TRAFFIC_PORT = 9000


def json_lines(path):
    """Returns the objects of a JSON-lines file, without an incomplete last line."""
    rows = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            try:
                rows.append(json.loads(line))
            except ValueError:
                break
    return rows


class Traffic:
    """Cross traffic from one serving namespace to others, all with one epoch."""

    def __init__(self, world, server, address):
        self.world = world
        self.address = f"{address}:{TRAFFIC_PORT}"
        self.clients = {}
        process = world.start(server, ["weir-traffic", "serve", "--listen", self.address], f"traffic-{server}")
        process.wait_line(r"weir-traffic: ready")

    def run(self, client, epoch, duration, seed, specs):
        stats = self.world.path(f"traffic-{client}.jsonl")
        argv = ["weir-traffic", "run", "--server", self.address, "--epoch", f"{epoch:.6f}", "--duration",
                str(duration), "--seed", str(seed), "--stats", stats, *specs]
        self.clients[client] = (self.world.start(client, argv, f"traffic-{client}"), stats)

    def profile(self):
        """Returns {kind: {second: bits per second}} over all clients."""
        kinds = {}
        for _, stats in self.clients.values():
            for line in json_lines(stats):
                if line.get("event") == "end":
                    continue
                for spec in line["specs"]:
                    seconds = kinds.setdefault(spec["spec"].split(":")[0], {})
                    second = round(line["t"])
                    seconds[second] = seconds.get(second, 0) + spec["bytes"] * 8
        return kinds


class Flow:
    """weir-send in one namespace, weir-play in another. NAME distinguishes the files of several flows."""

    def __init__(self, world, sender, address, source="synthetic:greedy", name="", options=()):
        self.world = world
        self.address = address
        self.source = source
        self.name = name
        self.waited = None  # processes.waited() at the player's end
        self.sender = world.start(sender, ["weir-send", "--insecure", "--listen", f"{address}:{RTSP_PORT}", "--timeout",
                                           "3600", "--stats", world.path(f"send{name}.jsonl"), *options, source],
                                  f"send{name}")
        self.sender.wait_line(r"rtsp://")
        self.player = None

    def play(self, receiver, transport, duration, cc=None, options=(), sound=False, address=None):
        """ADDRESS: of what the player connects to, if not the sender itself."""
        # TCP's timeouts double, so on a busy link it may be silent for longer than weir-play's usual timeout.
        argv = ["weir-play", "--headless", "--quiet", "--transport", transport, "--duration", str(duration),
                "--timeout", str(duration), "--report", self.path("report.json"), "--events", self.path("events.jsonl")]
        argv += options
        if cc:
            argv += ["--cc", cc]
        if self.source.startswith("synthetic"):
            argv.append("--adu-events")
        elif not sound:
            argv.append("--no-audio")
        self.player = self.world.start(receiver, [*argv, f"rtsp://{address or self.address}:{RTSP_PORT}/live"],
                                       f"play{self.name}")

    def path(self, file):
        """Returns the path of a file of the player."""
        stem, kind = file.split(".")
        return self.world.path(f"{stem}{self.name}.{kind}")

    def finish(self, seconds):
        """Waits until the player ends by itself, stops the sender and returns the QoE report."""
        if self.player.wait(seconds) != 0:
            raise self.player.failed(f"ended with {self.player.code}")
        self.waited = self.world.processes.waited()
        self.sender.stop()
        with open(self.path("report.json"), encoding="utf-8") as f:
            report = json.load(f)
        if report["ended"] not in ("duration", "end-of-media"):
            raise Failed(f"weir-play ended with {report['ended']}: {report['error']}")
        return report

    def adus(self):
        """Returns [(number, written, read)] in seconds of the monotonic clock."""
        return [(e["number"], e["written"], e["read"]) for e in json_lines(self.path("events.jsonl"))
                if e.get("event") == "adu" and e["written"] is not None]


def flow_figures(flow, report):
    """Returns the figures of the flow, for a row of runs.jsonl."""
    protocol, network = report["latency"]["protocol"], report["network"]
    cpu = report["cpu"]["user"] + report["cpu"]["system"] + flow.sender.cpu
    gbit = network["bytes_received"] * 8 / 1e9
    return {"d200": protocol["d200"], "d500": protocol["d500"], "mean_ms": protocol["mean"],
            "p50_ms": protocol["p50"], "p95_ms": protocol["p95"], "p99_ms": protocol["p99"],
            "samples": protocol["samples"], "throughput_bps": network["throughput"],
            "cpu_s_per_gbit": cpu / gbit if gbit else None}


def link_figures(world, name, port=RTSP_PORT, window=None, bps=None):
    """Returns the link's figures for the flow at PORT and for all; utilisation of BPS within WINDOW (monotonic seconds)."""
    lines = json_lines(world.path(f"{name}.jsonl"))
    if not lines or lines[-1].get("event") != "end":
        raise world.links[name].failed("wrote no final figures")
    end = lines[-1]
    own = end["flows"][str(port)]["a_to_b"]
    total = end["a_to_b"]
    figures = {"queue_delay_ms": own["queue_delay_ms"]["mean"], "queue_delay_p95_ms": own["queue_delay_ms"]["p95"],
               "flow_drops": sum(own["dropped"].values()), "flow_marks": own["marked"],
               "link_drops": sum(total["dropped"].values()), "link_marks": total["marked"],
               "link_packets": total["packets_in"], "pool_drops": total["dropped"]["pool"], "link_cpu_s": end["cpu_s"]}
    if window and bps:
        # A line covers the second before it.
        seconds = [l["a_to_b"]["bytes_out"] for l in lines[:-1] if window[0] + 1 <= l["monotonic"] <= window[1]]
        figures["utilisation"] = sum(seconds) * 8 / len(seconds) / bps if seconds else None
    return figures


def save_latencies(context, adus, epoch):
    """Saves the packets' latencies of each cell's first run one by one; returns those of any run as a histogram."""
    written = np.array([a[1] for a in adus])
    read = np.array([a[2] for a in adus])
    latency = (read - written) * 1e3
    if context.run == 0:
        np.savez_compressed(context.kept("npz"), received=(read - epoch).astype("f4"), latency=latency.astype("f4"))
    return LogHistogram.counts(latency)


def start_time(ahead=0.5):
    """Returns the epoch of a run: a little later than now, so that every program has started."""
    return time.monotonic() + ahead


def remove(*paths):
    for path in paths:
        if os.path.exists(path):
            os.unlink(path)
