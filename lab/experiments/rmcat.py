# SPDX-License-Identifier: GPL-2.0-or-later
"""The test cases of RFC 8867 (lab/rmcat.py) with programs over emulated links: Weir's live transports, Chrome's WebRTC with
both of its controllers, and SRT, in the same minutes. Metrics are those of RFC 8868, and what a viewer of the first flow sees.
"""
import os
import socket
import time

import numpy as np

from lab import chrome, chromium, live, net, others, rmcat, rmcat_metrics, streaming, viewing
from lab.crossings import SNAP
from lab.experiment import Cell, Experiment
from lab.experiments import rmcat_report
from lab.run import Failed
from lab.streaming import DRAIN, WeirPair, clip_of, play_options, until
from lab.traces import generate, recorded

WEIR = ("scream", "tfrc", "mtp", "minbuf:1,3", "arc", "udp")
SRT = ("srt-120",)
# The browser itself: one flow, and no trace, which begins LEAD before the media.
NAMED = {chromium.KIND: [c.name for c in rmcat.CASES if len(c.media) == 1 and not c.hops[0].trace]}
CONTENDERS = (*WEIR, *chrome.KINDS, *SRT)
SOURCE = "test:640x360@30"  # several flows at once must not fill the machine's cores
# The same size at the top for all; 150 kbit/s (RFC 8867, 4.3) is within the range of the lowest level.
LADDER = ("320x180@30:300", "640x360@15:700", f"640x360@30:{rmcat.TOP_KBPS}")
SRT_SHARE = 0.8  # of the mean capacity, which a user of SRT would have to know

LEAD = 5  # seconds from the first link's start to the first frame
AHEAD, SEND_AHEAD = 2.5, 1.5  # seconds before a flow's first frame in which its programs start
WARM = 3  # seconds of each flow that do not count
QUICK_SPEED = 5
SHOWN = {"5.1": ("scream", "googcc"), "5.3": ("minbuf:1,3",), "5.6": ("tfrc",), "5.8": ("mtp",), "6.3": ("scream",),
         "lte": ("screamv2", "srt-120")}  # of --quick


def cells():
    return [Cell(c.name, {}, c.default) for c in rmcat.CASES]


def rates_text(rates, lead):
    later = "".join(f":{mbit:g}mbit@{round((lead + start) * 1000)}ms" for start, mbit in rates[1:])
    return f"rate={rates[0][1]:g}mbit{later}"


def link_texts(case, hop, lead, trace):
    """Returns a hop's texts in both directions; LEAD: seconds from the link's start to the start of the case."""
    delay = f"delay={hop.delay_ms:g}ms" + (f",jitter={case.jitter_ms:g}ms" if case.jitter_ms else "")

    def text(rates):
        return f"{rates_text(rates, lead)},queue={case.queue},{delay}" if rates else delay
    return f"trace={trace},queue={case.queue},{delay}" if trace else text(hop.forward), text(hop.backward)


def trace_of(context, case, hop):
    """Returns (path, Mbit/s that media may use) of a hop with a trace: a generated one of a kind, or a recorded one's file."""
    if hop.trace in generate.KINDS:
        times = generate.KINDS[hop.trace](context.seed, LEAD + case.duration, hop.mbit(0))
    else:
        times = recorded.window(hop.trace, LEAD + case.duration, hop.mbit(0), context.run)
    path = os.path.join(context.directory, "link.trace")
    generate.write(times, path)
    second = np.bincount(np.asarray(times) // 1000, minlength=int(LEAD + case.duration))[LEAD:] * 1500 * 8e-6
    return path, float(np.mean(np.minimum(second, rmcat.TOP_KBPS * 1e-3 * rmcat.OVERHEAD)))


class Network:
    """The routers, hosts and links of a case."""

    def __init__(self, context, world, case, lead=LEAD):
        self.world, self.case, self.of_trace = world, case, None
        self.started = time.monotonic()
        self.epoch = self.started + lead
        self.senders = [f"s{i}" for i in range(len(case.media))]
        self.receivers = [f"r{i}" for i in range(len(case.media))]
        hosts, access = {}, {}
        for i, m in enumerate(case.media):
            left, right = (self.receivers[i], self.senders[i]) if m.back else (self.senders[i], self.receivers[i])
            hosts |= {left: m.first, right: m.last}
            if m.access_ms:
                access[left] = (f"delay={m.access_ms:g}ms",) * 2
        if case.tcp:
            hosts |= {"server": 0, "client": len(case.hops)}
        self.at = net.chain(world, [lambda i=i: self._texts(context, i) for i in range(len(case.hops))], hosts, access)

    def _texts(self, context, number):
        hop, trace = self.case.hops[number], None
        if hop.trace:
            trace, self.of_trace = trace_of(context, self.case, hop)
        texts = link_texts(self.case, hop, self.epoch - time.monotonic(), trace)
        return (*texts, "--seed", str(context.seed), "--pcap", self._capture(number), "--snap", str(SNAP))

    def _capture(self, number):
        return self.world.path(f"hop{number}")

    def packets(self):
        """Ends the links; returns (the packets of each media flow, those of all TCP flows)."""
        for name, link in self.world.links.items():
            if name.startswith("hop"):
                link.stop()
        last = len(self.case.hops) - 1
        forward = [(rmcat_metrics.read(f"{self._capture(i)}-a-in.pcap"), rmcat_metrics.read(f"{self._capture(i)}-b-out.pcap"))
                   for i in range(last + 1)]
        backward = None
        if any(m.back for m in self.case.media):
            backward = (rmcat_metrics.read(f"{self._capture(last)}-b-in.pcap"), rmcat_metrics.read(f"{self._capture(0)}-a-out.pcap"))
        found = []
        for i, m in enumerate(self.case.media):
            entered, left = backward if m.back else (forward[m.first][0], forward[m.last - 1][1])
            found.append(rmcat_metrics.packets_of(entered, left, self._ends(self.senders[i], self.receivers[i])))
        tcp = rmcat_metrics.packets_of(forward[0][0], forward[last][1], self._ends("server", "client")) if self.case.tcp else []
        for i in range(last + 1):
            live.remove(*(f"{self._capture(i)}-{which}.pcap" for which in ("a-in", "b-out", "b-in", "a-out")))
        return found, tcp

    def _ends(self, sender, receiver):
        return socket.inet_aton(self.at[sender]), socket.inet_aton(self.at[receiver])


def pair_of(context, network, contender, number, clip):
    """Starts the programs of one flow but the one that begins the media."""
    world, case, flow = network.world, network.case, network.case.media[number]
    sender, receiver, name = network.senders[number], network.receivers[number], f"-{number}"
    kind = contender.split(" ")[0]
    pause = tuple(t - flow.start if t else 0 for t in flow.pause)
    several = {"name": name, "watched": number == 0, "pause": pause}
    if kind in chrome.KINDS:
        return chrome.Pair(world, sender, receiver, clip, kind, rmcat.TOP_KBPS, **several)
    if kind == chromium.KIND:
        return chromium.Pair(world, sender, receiver, clip, rmcat.TOP_KBPS)
    if others.is_other(kind):
        kbps = round(SRT_SHARE * case.mean_kbps(flow) / (2 if case.tcp else 1))
        return others.Pair(world, sender, receiver, network.at[receiver], clip, kind, kbps, **several)
    transport, play = play_options(contender, context.build)
    send = [word for level in LADDER for word in ("--level", level)]
    return WeirPair(world, network.at[sender], SOURCE, transport, flow.end - flow.start, send, play, sender=sender,
                    receiver=receiver, **several)


def conduct(context, network, contender, clip):
    """Runs all flows of the case; returns (the pairs, the lines of the first one's viewer, share of waiting for a core)."""
    case, pairs, steps = network.case, {}, []
    ahead = chromium.AHEAD if contender == chromium.KIND else AHEAD
    # Chrome's and ffmpeg's senders start before their first frame; Weir's viewer starts with it.
    send_ahead = SEND_AHEAD if clip else 0
    for i, flow in enumerate(case.media):
        at = network.epoch + flow.start

        def make(i=i):
            pairs[i] = pair_of(context, network, contender, i, clip)
        steps += [(at - ahead, i, make), (at - send_ahead, i, lambda i=i, at=at: pairs[i].send(at))]
    for when, _, step in sorted(steps, key=lambda s: s[:2]):
        until(when)
        step()
    until(network.epoch + min(m.end for m in case.media) - 0.3)
    waited = network.world.processes.waited()
    until(network.epoch + max(m.end for m in case.media) + DRAIN)
    lines = [pairs[i].finish() for i in range(len(case.media))]
    return pairs, lines[0], waited


def one(context):
    speed = context.experiment.options["speed"]
    longest = max(c.duration for c in rmcat.CASES) / speed
    return of_case(context, rmcat.case(context.cell.name).faster(speed), longest) | {"speed": speed}


def of_case(context, case, longest):
    """Returns the figures of a run of a case. LONGEST: seconds of the longest case, which share a clip."""
    contender = context.contender
    kind = contender.split(" ")[0]
    browser, peer = kind == chromium.KIND, kind in chrome.KINDS or others.is_other(kind)
    clip = clip_of(context, SOURCE, longest, as_is=True) if peer or browser else None
    with context.world() as world:
        network = Network(context, world, case, chromium.LEAD if browser else LEAD)
        if case.tcp:
            traffic = live.Traffic(world, "server", network.at["server"])
            spec = f"elephants:n={case.tcp.count},cc={case.tcp.cc}" if case.tcp.kind == "long" else \
                f"web:n={case.tcp.count},mean=40000,shape=20,off=10,cc={case.tcp.cc}"
            traffic.run("client", network.epoch, case.duration, context.seed, [spec])
        pairs, lines, waited = conduct(context, network, contender, clip)
        packets, tcp = network.packets()
        figures, series = rmcat_metrics.figures(case, packets, tcp, network.epoch, WARM, network.of_trace)
        cpu = sum(p.cpu() for p in pairs.values()) / sum(m.end - m.start for m in case.media)
        figures |= {"cpu": cpu, "waited": waited}
        fps = 30.0
        flow = case.media[0]
        frames, pictures = viewing.of_watch(lines, network.epoch + flow.start, fps) if peer else viewing.of_weir(lines)
    if not frames:
        raise Failed(f"{contender}: no frame was shown (logs: {context.directory})")
    window = viewing.Window(round(WARM * fps), round((flow.end - flow.start) * fps), fps)
    figures |= viewing.figures(frames, pictures, window)
    if browser:
        figures |= {"ssim": None, "ssim_unknown": None}  # no picture was compared
    if context.run == 0:
        zero = pairs[0].started if isinstance(pairs[0], WeirPair) else 0  # of the clock of the frames, seconds of the monotonic one
        np.savez_compressed(context.kept("npz"), mbit=np.array([s.mbit for s in series]),
                            wait=np.array([s.wait for s in series]),
                            tcp=rmcat_metrics.Series(tcp, network.epoch, case.duration, 0).mbit if tcp else [],
                            shown=np.array([f.captured for f in frames if f.read]) + zero - network.epoch,
                            latency=np.array([(f.shown - f.captured) * 1e3 for f in frames if f.read]))
    return figures


def check(rows):
    """Checks that the figures are possible."""
    failed = []
    for row in rows:
        f, what = row["figures"], f"{row['cell']} {row['contender']}"
        case = rmcat.case(row["cell"])
        failed += [f"{what}: {text}" for text in streaming.implausible(f, case.hops_ms(case.media[0]))]
        if f.get("use") is None or not 0.05 < f["use"] < 1.15:
            failed.append(f"{what}: {f.get('use')} of the link used, 0.05 to 1.15 expected")
        if not 0 <= f["loss"] < 0.9:
            failed.append(f"{what}: {f['loss']:.3f} of the packets lost, less than 0.9 expected")
    return failed


def experiment(quick, options):
    speed = options.get("speed") or (QUICK_SPEED if quick else 1)
    title = "RFC 8867's test cases: Weir beside WebRTC and SRT"
    if quick:
        some = [Cell(c.name, {}, True, SHOWN[c.name]) for c in rmcat.CASES if c.name in SHOWN]
        return Experiment("rmcat", title + " (quick)", some, CONTENDERS, one, rmcat_report.write, runs=1, seconds=34,
                          check=check, missing=streaming.missing, options={"speed": speed}, named=NAMED)
    mean = sum(c.duration for c in rmcat.CASES if c.default) / sum(c.default for c in rmcat.CASES) / speed
    return Experiment("rmcat", title, cells(), list(CONTENDERS), one, rmcat_report.write, runs=3, seconds=mean + LEAD + 5,
                      check=check, missing=streaming.missing, options={"speed": speed}, named=NAMED)
