# SPDX-License-Identifier: GPL-2.0-or-later
"""One viewer's live stream of a source over a link, by Weir's programs: the contender of the experiments about viewing.

A contender is a text: a transport, then words: `latency=MS`, `latency=auto`, `low-latency`, `repair=HOW`, `proxy`: weir-proxy between the two links of the conditions, the
transport on the first one and the proxy's default on the second.
"""
import functools
import json
import os
import re
import subprocess
import time
import zlib
from dataclasses import dataclass

import numpy as np

from lab import chrome, chromium, crossings, live, net, others, viewing
from lab.run import Failed, program

LEAD = 2.5  # seconds from the link's start to the first frame, in which programs start
DRAIN = 1.5  # seconds after the last frame that counts, for late frames
ACCESS = "minbuf"  # the transport from a proxy to the viewer


@functools.lru_cache
def help_of(path):
    return subprocess.run([path, "--help"], capture_output=True, text=True, timeout=20, check=True).stdout


def offers(text, option, word=None):
    """Returns true if the help TEXT describes --OPTION and, if WORD is given, that description contains it."""
    found = re.search(rf"^ +(?:-\w, )?--{re.escape(option)}(?![\w-])(.*(?:\n {{8,}}.*)*)", text, re.MULTILINE)
    return bool(found) and (word is None or re.search(rf"\b{re.escape(word)}\b", found.group(1)) is not None)


def missing(contender, build):
    """Returns what weir-play of this build lacks for a contender, or None."""
    kind = contender.split(" ")[0]
    if kind in chrome.KINDS:
        return chrome.missing()
    if kind == chromium.KIND:
        return chromium.missing()
    if others.is_other(kind):
        return others.missing(kind)
    try:
        text = help_of(program(build, "weir-play"))
    except Failed:
        return None  # each run then reports that the program is missing
    for word in contender.split(" ")[1:]:
        name, _, value = word.partition("=")
        if name == "repair" and not offers(text, "repair", value):
            return f"weir-play has no --repair {value}"
    transport = kind.split(":")[0]
    if "proxy" in contender.split(" "):
        try:
            program(build, "weir-proxy")
        except Failed:
            return "weir-proxy is not built"
    if not re.search(rf"^ {{8}}{re.escape(transport)} ", text, re.MULTILINE):
        return f"weir-play has no transport {transport}"
    return None


def play_options(contender, build):
    """Returns (transport, weir-play's options). A weir-play without --latency auto gets no --latency: its default."""
    transport, *words = contender.split(" ")
    options = []
    for word in words:
        name, _, value = word.partition("=")
        if name == "low-latency":
            options += ["--low-latency"]
        elif name == "latency":
            if value != "auto" or offers(help_of(program(build, "weir-play")), "latency", "auto"):
                options += ["--latency", value]
        elif name == "repair":
            options += ["--repair", value]
        elif name == "proxy":
            transport = ACCESS
        else:
            raise Failed(f"{contender}: the word {word} is unknown")
    return transport, options


def clip_of(context, source, seconds, as_is=False):
    """Returns a file of raw pictures of a source, which the first run makes. Without AS_IS a small one is enlarged."""
    stamp = os.stat(source).st_mtime_ns if os.path.exists(source) else 0
    name = f"clip-{zlib.crc32(f'{source} {stamp} {as_is}'.encode()):08x}-{seconds:g}s.y4m"
    path = os.path.join(context.results, name)
    if not os.path.exists(path):
        with open(path + ".new", "wb") as f:
            option = "--clip-as-is" if as_is else "--clip"
            made = subprocess.run([program(context.build, "weir-watch"), option, str(seconds), source], stdout=f,
                                  stderr=subprocess.PIPE, timeout=300, text=True)
        if made.returncode != 0:
            raise Failed(f"cannot make the clip of {source}: {made.stderr}")
        os.replace(path + ".new", path)
    return others.read_clip(path)


def until(when):
    time.sleep(max(0.0, when - time.monotonic()))


class WeirPair:
    """weir-send in namespace SENDER, at ADDRESS, and weir-play in RECEIVER; the same methods as others.Pair. PAUSE: (begin,
    end) in seconds of media, when the viewer pauses. VIA: the address that the player connects to, if not the sender's."""

    def __init__(self, world, address, source, transport, duration, send=(), play=(), sound=False, sender="server",
                 receiver="client", name="", watched=True, pause=(0, 0), via=None):
        self.via = via
        self.transport, self.duration, self.sound, self.receiver = transport, duration, sound, receiver
        self.options = ["--picture-events" if watched else "--no-picture", *play]
        if pause[1]:
            self.options += ["--at", f"{pause[0]:g}:pause", "--at", f"{pause[1]:g}:go-on"]
        self.started = None  # monotonic seconds; the events' clock begins there, or the start of a program later
        self.began = time.monotonic()  # weir-send's clock; its start takes some hundredths of a second
        self.flow = live.Flow(world, sender, address, source, name, send)

    def send(self, epoch):
        until(epoch)
        self.started = time.monotonic()
        self.flow.play(self.receiver, self.transport, self.duration + DRAIN, options=self.options, sound=self.sound,
                       address=self.via)

    def finish(self):
        """Waits for both; returns the lines of weir-play's events."""
        if self.flow.player.wait(20) not in (0, 4):  # 4: the server was lost, which is a valid outcome
            raise self.flow.player.failed(f"ended with {self.flow.player.code}")
        self.flow.sender.stop()
        return live.json_lines(self.flow.path("events.jsonl"))

    def cpu(self):
        """Returns the CPU seconds of both ends, once they have ended; weir-play's include the comparison of pictures."""
        return self.flow.player.cpu + self.flow.sender.cpu

    def encoder_rates(self):
        """Returns [(seconds since `started`, bit/s that the sender requests from the encoder)], one a second."""
        lines = live.json_lines(self.flow.world.path(f"send{self.flow.name}.jsonl"))
        return [(l["t"] + self.began - self.started, l["adaptation"]["encoder"]) for l in lines if l.get("adaptation")]

    def report(self):
        """Returns weir-play's report."""
        with open(self.flow.path("report.json"), encoding="utf-8") as f:
            return json.load(f)


def report_figures(report):
    """Returns the figures of weir-play's report that its frames do not tell; None for what this version lacks."""
    repair = report.get("repair") or {}
    causes = report.get("causes") or {}
    expected = causes.get("expected")
    sound = report.get("audio") or {}
    return {"av_offset_ms": (sound.get("av_offset") or {}).get("abs_p95"), "underruns": sound.get("underruns"),
            "of_level": causes["shown"] / expected if expected else None,
            "overhead": repair.get("overhead"), "resent": repair.get("resent"), "duplicated": repair.get("duplicated"),
            "fec_packets": repair.get("fec_packets"), "fec_recovered": repair.get("fec_recovered"),
            "invalidations": repair.get("invalidations")}


def waits_of(lines):
    """Returns {number: ms between complete and shown} of the frames that weir-play's lines tell of."""
    return {l["number"]: (l["shown"] - l["arrived"]) * 1e3 for l in lines
            if l.get("event") == "frame" and None not in (l.get("shown"), l.get("arrived"))}


def budgets_of(lines):
    """Returns [(seconds, ms that the viewer aims at from capture to shown, ms that the buffer adds)] of weir-play's lines."""
    return [(l["t"], l["target"], l["buffer_share"]) for l in lines if l.get("event") == "budget"]


def link_figures(world, name, begin, end):
    """Returns the traffic that left the link towards the viewer in these seconds, and the link's effects on it."""
    lines = live.json_lines(world.path(f"{name}.jsonl"))
    if not lines or lines[-1].get("event") != "end":
        raise world.links[name].failed("wrote no final figures")
    # A line covers the second before it.
    seconds = [l["a_to_b"]["bytes_out"] * 8e-6 for l in lines[:-1] if begin + 1 <= l["monotonic"] <= end]
    total = lines[-1]["a_to_b"]
    return {"link_mbps": sum(seconds) / len(seconds) if seconds else None,
            "queue_p95_ms": total["queue_delay_ms"]["p95"],
            "loss": sum(total["dropped"].values()) / max(1, total["packets_in"]),
            "pool_drops": total["dropped"]["pool"]}


@dataclass(frozen=True)
class Conditions:
    """One viewing, in seconds of media: DURATION, of which the first WARM do not count."""
    forward: str  # the link towards the viewer, as text; its times are since the link's start, LEAD before the media
    backward: str
    duration: float
    warm: float
    source: str = "test:1280x720@30"  # or a file, which is repeated
    ladder: tuple = ()  # weir-send's --level; others send at KBPS
    kbps: int = 1920
    traffic: tuple = ()  # weir-traffic's specifications, from the first frame on
    sound: bool = False  # also play the sound, where the source is weir-send's
    access: tuple = ()  # a second link between the first one and the viewer, in both directions; the words `proxy` need it
    capture: bool = False  # also return every packet's crossing of the link; the share next to traffic requires it


@dataclass
class Viewed:
    """What a viewing gave."""
    figures: dict
    frames: list  # of viewing.Shown
    waits: dict  # {number: ms in the buffer and the decoder}, of weir-play
    budgets: list  # as budgets_of; empty unless of weir-play, like the next
    encoder: list  # as WeirPair.encoder_rates
    zero: float  # of the clock of these, seconds of the monotonic clock
    fps: float  # of the source
    begin: float  # when the link started; seconds of the monotonic clock
    crossings: list


def source_of(context, c, contender):
    """Returns (source, clip): a text for weir-send, and the file of raw pictures if the contender needs one."""
    kind = contender.split(" ")[0]
    if c.source.startswith("test:") and not others.is_other(kind) and kind not in chrome.KINDS:
        return c.source, None
    clip = clip_of(context, c.source, c.duration + 5)
    return clip.path, clip


def pair_of(context, world, at, c, contender, source, clip):
    """Returns the programs of a contender."""
    kind = contender.split(" ")[0]
    if kind in chrome.KINDS:
        return chrome.Pair(world, "server", "client", clip, kind, c.kbps)
    if others.is_other(kind):
        return others.Pair(world, "server", "client", at[1], clip, kind, c.kbps)
    transport, play = play_options(contender, context.build)
    send = [word for level in c.ladder for word in ("--level", level)]
    if clip:  # a repeated file is live media: it has no end, and no viewer sets its speed
        send, play = ["--loop", *send], ["--reference", clip.path, *play]
    via = None
    if "proxy" in contender.split(" "):
        via = at[1]
    pair = WeirPair(world, at[0], source, transport, c.duration, send, play, c.sound and not clip, via=via)
    if via:
        start_proxy(world, at, kind)
    return pair


def start_proxy(world, at, backbone):
    """Starts weir-proxy at AT[1], in front of the server at AT[0]."""
    proxy = world.start("proxy", ["weir-proxy", "--insecure", "--listen", f"{at[1]}:{live.RTSP_PORT}", "--origin",
                                  f"rtsp://{at[0]}:{live.RTSP_PORT}", "--backbone-transport", backbone,
                                  "--access-transport", ACCESS, "--stats", world.path("proxy.jsonl")], "proxy")
    proxy.wait_line(r"rtsp://")


def path_of(context, world, c, options):
    """Makes the hosts and the links. Returns ([the server's address, the viewer's or the proxy's], the last link's name)."""
    options = ["--seed", str(context.seed), *options]
    if c.access:
        at = net.two_part_path(world, (c.forward, c.backward), c.access, cross=(), options=options)
        return [at["server"], at["proxy-access"]], "access"
    for name in ("server", "client"):
        world.add(name)
    return world.link("link", "server", "client", c.forward, c.backward, "--flow", str(live.TRAFFIC_PORT), *options), "link"


def view(context, c, contender):
    """Makes one viewing; returns what it gave."""
    source, clip = source_of(context, c, contender)
    fps = clip.fps if clip else float(source.rpartition("@")[2])
    with context.world() as world:
        capture = ["--pcap", world.path("link"), "--snap", str(crossings.SNAP)] if c.capture else []
        at, last = path_of(context, world, c, capture)
        epoch = time.monotonic() + LEAD
        pair = pair_of(context, world, at, c, contender, source, clip)
        if c.traffic:
            traffic = live.Traffic(world, "server", at[0])
            traffic.run("client", epoch, c.duration, context.seed, list(c.traffic))
        pair.send(epoch)
        until(epoch + c.duration + DRAIN - 0.2)  # before the programs end
        waited = world.processes.waited()
        lines = pair.finish()
        for link in world.links.values():
            link.stop()
        figures = link_figures(world, last, epoch + c.warm, epoch + c.duration) | {"waited": waited}
        stats = live.json_lines(world.path(f"{last}.jsonl"))
        crossed = []
        if c.capture:
            crossed = crossings.read(world.path("link-a-in.pcap"), world.path("link-b-out.pcap"))
            live.remove(*(world.path(f"link-{which}.pcap") for which in ("a-in", "b-out", "b-in", "a-out")))
        weir = isinstance(pair, WeirPair)
        if weir:
            figures |= report_figures(pair.report())
    if c.traffic:
        tcp, media = crossings.mbps_by(crossed, live.TRAFFIC_PORT, epoch + c.duration / 4, epoch + c.duration)
        figures |= {"tcp_mbps": tcp, "media_mbps": media, "share": media / tcp if tcp else None}
    frames, pictures = viewing.of_weir(lines) if weir else viewing.of_watch(lines, epoch, fps)
    if not frames:
        raise Failed(f"{contender}: no frame was shown (logs: {context.directory})")
    window = viewing.Window(round(c.warm * fps), round(c.duration * fps), fps)
    figures |= viewing.figures(frames, pictures, window)
    return Viewed(figures, frames, waits_of(lines) if weir else {}, budgets_of(lines), pair.encoder_rates() if weir else [],
                  pair.started if weir else 0.0, fps, stats[0]["monotonic"] - stats[0]["t"], crossed)


def implausible(figures, least_ms):
    """Returns texts about figures that no viewing on a link with a delay of LEAST_MS can have."""
    found = []
    if not 0 < figures["shown"] <= figures["half_rate"] <= 1:
        found.append(f"{figures['shown']:.3f} of the frames shown, more than 0 and at most 1 expected")
    if (figures["p50_ms"] or 0) <= least_ms:
        found.append(f"a latency of {figures['p50_ms']} ms, more than the link's own {least_ms:g} expected")
    if figures["ssim"] is not None and not 0.3 < figures["ssim"] < 1:
        found.append(f"SSIM {figures['ssim']:.3f}, 0.3 to 1 expected")
    return found


def missing_of(frames, fps):
    """Returns the capture times of the frames between the first and the last of FRAMES that were not shown."""
    shown = {f.number: f.captured for f in frames if f.read}
    if not shown:
        return []
    begin = np.median([captured - number / fps for number, captured in shown.items()])
    return [float(begin + number / fps) for number in range(min(shown), max(shown)) if number not in shown]


def save_series(path, viewed, seconds):
    """Saves rates, the link's delay, the frames' latency and the viewer's target, by the seconds since the link's start."""
    rate_in, rate_out, late = crossings.series_of(viewed.crossings, viewed.begin, seconds)
    frames = [f for f in viewed.frames if f.read]
    later = viewed.zero - viewed.begin
    np.savez_compressed(path, rate_in=rate_in, rate_out=rate_out, late=late,
                        captured=np.array([f.captured + later for f in frames]),
                        latency=np.array([(f.shown - f.captured) * 1e3 for f in frames]),
                        wait=np.array([viewed.waits.get(f.number, np.nan) for f in frames]),
                        missing=np.array(missing_of(frames, viewed.fps)) + later,
                        budget=np.array([(t + later, target, buffer) for t, target, buffer in viewed.budgets]).reshape(-1, 3),
                        encoder=np.array([(t + later, bps / 1e6) for t, bps in viewed.encoder]).reshape(-1, 2))
