# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of weir-send in chromium, next to weir-play, with and without TLS, and next to WebRTC: the same stream through
Janus to the same browser. The time to the first picture, from capture to the picture that is shown, and its quality.

On the loopback, and over a link of 4 Mbit/s with an RTT of 50 ms whose rate falls to 1 Mbit/s for 20 s. Each contender has
the stream for itself. What a browser shows is read from its page (lab/screen.py): the number strip on the canvas or the
<video>, when the screen is refreshed. The times of capture are the sender's (lab/capture_line.py). weir-play reports its
own; the page's own report is shown next to what was read. No WebRTC uses the loopback: Janus' browser has a veth pair.
"""
import json
import os
import re
import shutil
import sys
import time

import numpy as np

from lab import capture_line, janus, live, screen, viewing
from lab.browser import Browser
from lab.experiment import Cell, Experiment
from lab.rows import Rows
from lab.run import Failed

SOURCE, FPS = "test:1280x720@30", 30
CONTENDERS = ["page", "page tls", "janus", "weir-play", "weir-play tls"]
RTT_MS = 50
RATES = "rate=4mbit:1mbit@20s:4mbit@40s,queue=droptail:400ms"
CELLS = [("loopback", None, 30), ("step", RATES, 60), ("half an hour", None, 1800)]  # name, link, seconds
WARM = 3  # seconds after the first picture that do not count: two short sessions read the times of capture
# Goals of the page: {cell: {figure: (limit, it is a minimum)}}.
GOALS = {"loopback": {"first_ms": (400, False), "p95_ms": (90, False)},
         "step": {"p95_ms": (250, False), "longest_ms": (200, False), "ssim": (0.98, True)},
         "half an hour": {"drift_ms": (20, False)}}
PATIENCE = 60  # seconds, for each call of the browser
AGREES_MS = 5  # two readings of the same line; more: the source stood still in between

COLUMNS = [("first_ms", "first picture, ms", 0), ("p50_ms", "capture to shown 50 %, ms", 0), ("p95_ms", "95 %", 0),
           ("p99_ms", "99 %", 0), ("own_p95_ms", "95 % of its own report", 0), ("frame_rate", "frames/s", 1),
           ("freezes", "freezes", 1), ("longest_ms", "the longest gap, ms", 0), ("ssim", "SSIM", 4), ("drift_ms", "drift, ms", 1),
           ("sender_cpu", "cores of weir-send", 3)]


def missing(contender, _build):
    if contender.startswith("weir-play"):
        return None
    return "chromium is not installed" if not shutil.which("chromium") else janus.missing() if contender == "janus" else None


def wait(what, text):
    """Returns the first value of WHAT() that is not None."""
    deadline = time.monotonic() + PATIENCE
    while (found := what()) is None:
        if time.monotonic() > deadline:
            raise Failed(f"{text}: not within {PATIENCE} s")
        time.sleep(0.05)
    return found


def own_report(page):
    """Returns the report that the page saves."""
    page.value("document.getElementById('save').click()")
    return json.loads(wait(lambda: page.value("globalThis.weir?.report ? JSON.stringify(weir.report) : null"), "the page's report"))


def drift(frames):
    """Returns by how much the latency of the last tenth differs from that of the first tenth, in ms."""
    latency = [(f.shown - f.captured) * 1e3 for f in frames]
    part = max(1, len(latency) // 10)
    return float(np.median(latency[-part:]) - np.median(latency[:part]))


def figures_of(frames, first_ms, pictures):
    """Returns the figures of frames that were seen, and of {number: SSIM}."""
    frames = sorted((f for f in frames if f.shown >= min(f.shown for f in frames) + WARM), key=lambda f: f.shown)
    if len(frames) < FPS:
        raise Failed(f"only {len(frames)} frames were seen")
    latency = [(f.shown - f.captured) * 1e3 for f in frames]
    p50, p95, p99 = np.percentile(latency, [50, 95, 99])
    gaps = np.diff([f.shown for f in frames])
    limit = max(viewing.FREEZE_S, viewing.FREEZE_INTERVALS / FPS)
    counted = [ssim for number, ssim in pictures.items() if number >= frames[0].number]
    return {"first_ms": first_ms, "p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "frame_rate": len(gaps) / sum(gaps),
            "freezes": int(sum(gaps > limit)), "longest_ms": max(gaps) * 1e3, "drift_ms": drift(frames),
            "ssim": float(np.mean(counted)) if counted else None}


class Seen:
    """A page that SOURCE is watched on: opens URL, looks for SECONDS."""

    def __init__(self, context, world, namespace, *flags):
        self.context, self.world = context, world
        self.page = Browser(world.path("browser"), PATIENCE, *flags, prefix=["ip", "netns", "exec", world.names[namespace]])
        try:
            self.page.look(1280, 800, False)
            self.screen = screen.Screen(self.page, SOURCE)
        except Exception:
            self.page.close()
            raise

    def figures(self, url, seconds, read_line):
        """READ_LINE: returns the line of the times of capture, from a session of its own."""
        self.page.open(url)
        first = wait(self.screen.first_ms, "the first picture")
        end = time.monotonic() + seconds
        line = read_line()
        self.world.processes.sleep_until(end)
        found = self.screen.frames(line)
        again = read_line()
        if abs(again - line) * 1e3 > AGREES_MS:
            raise Failed(f"the source's times moved by {(again - line) * 1e3:.0f} ms")
        pictures, cost = self.screen.pictures(), self.screen.cost_ms()
        similar = screen.similarity(self.context.build, SOURCE, pictures)
        return figures_of(found, first, similar) | {"look_ms": cost}


def seen_at_page(context, world, namespace, url, seconds, read_line):
    # WebCodecs exist only in secure contexts, which plain HTTP from another address is not.
    seen = Seen(context, world, namespace, "--ignore-certificate-errors",
                "--unsafely-treat-insecure-origin-as-secure=" + url.rpartition("/")[0])
    try:
        figures = seen.figures(url, seconds, read_line)
        report = own_report(seen.page)
        with open(world.path("report.json"), "w", encoding="utf-8") as f:
            json.dump(report, f, indent=1)
        return figures | {"own_p95_ms": report["latency"]["display"]["p95"]}
    finally:
        seen.page.close()


def seen_through_janus(context, world, at, seconds, read_line):
    """The stream whose rate follows the browser, without audio, as the page plays none either."""
    feed = world.start("server", [sys.executable, os.path.join(janus.GIVEN, "feed.py"),
                                  f"rtsp://127.0.0.1:{live.RTSP_PORT}/live", "5004"], "feed")
    feed.wait_line(r"plays")
    argv = janus.command(world.path("janus"), lambda text: re.sub(r"(?m)^\taudio.*\n", "", text[text.index("weir-follows:"):]))
    world.start("server", ["/usr/bin/env", *argv], "janus").wait_line(r"Websockets server started \(port")
    world.start("server", [sys.executable, "-u", "-m", "http.server", "-b", at, "-d", janus.GIVEN, "8080"],
                "http").wait_line(r"Serving HTTP")
    seen = Seen(context, world, "client", "--autoplay-policy=no-user-gesture-required")
    try:
        return seen.figures(f"http://{at}:8080/watch.html?id={janus.FOLLOWS}", seconds, read_line)
    finally:
        seen.page.close()


def played(world, namespace, url, seconds):
    """weir-play's figures, by its own report and events."""
    player = world.start(namespace, ["weir-play", "--headless", "--quiet", "--transport", "minbuf:1,3", "--duration", str(seconds),
                                     "--report", world.path("report.json"), "--events", world.path("events.jsonl"), url], "play")
    if player.wait(seconds + 20) != 0:
        raise player.failed(f"ended with {player.code}")
    with open(world.path("report.json"), encoding="utf-8") as f:
        report = json.load(f)
    frames, _ = viewing.of_weir([l for l in live.json_lines(world.path("events.jsonl")) if l.get("shown") is not None])
    figures = figures_of(frames, report["startup"]["time_to_first_frame"] * 1e3, {})
    return figures | {"ssim": report["picture"]["ssim"], "own_p95_ms": report["latency"]["display"]["p95"]}


def network(world, contender, link):
    """Makes the hosts. Returns the viewer's namespace, and the address of the server."""
    world.add("server")
    if link is None and contender != "janus":
        return "server", "127.0.0.1"
    world.add("client")
    if link is None:
        return "client", world.veth("server", "client", offload=True)[0]
    return "client", world.link("link", "server", "client", f"{link},delay={RTT_MS / 2:g}ms", f"delay={RTT_MS / 2:g}ms")[0]


def one(context):
    p = context.cell.params
    kind, _, tls = context.contender.partition(" ")
    with context.world() as world:
        viewer, at = network(world, kind, p["link"])
        access = world.path("access")
        with open(os.open(access, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as f:
            f.write("allow = * / watch\n")
        options = ["--state-dir", world.path("state"), "--access", access] if tls else ["--insecure"]
        own = "127.0.0.1" if kind == "janus" else at
        sender = world.start("server", ["weir-send", "--listen", f"{own}:{live.RTSP_PORT}", *options, SOURCE], "send")
        found = sender.wait_line(r"(?:encrypted:| at) (rtsps://\S+)" if tls else r" at (rtsp://\S+)")
        began = time.monotonic()

        def read_line():
            return capture_line.read(world.names["server"], own, live.RTSP_PORT, FPS, bool(tls))
        if kind == "page":
            url = f"{'https' if tls else 'http'}://{at}:{live.RTSP_PORT}/live"
            figures = seen_at_page(context, world, viewer, url, p["seconds"], read_line)
        elif kind == "janus":
            figures = seen_through_janus(context, world, at, p["seconds"], read_line)
        else:
            figures = played(world, viewer, found.group(1), p["seconds"])
        seconds = time.monotonic() - began
        sender.stop()
        return figures | {"sender_cpu": sender.cpu / seconds}


def goals(rows, cell):
    """Returns [(figure, mean, limit, it is a minimum, kept)] of the page without TLS."""
    found = []
    for key, (limit, least) in GOALS.get(cell, {}).items():
        mean = rows.mean(cell, "page", key)
        if mean:
            value = abs(mean.value) if key == "drift_ms" else mean.value
            found.append((key, value, limit, least, value >= limit if least else value <= limit))
    return found


def goal_line(goal):
    key, value, limit, least, kept = goal
    return [key, f"at {'least' if least else 'most'} {limit}", f"{'met' if kept else 'missed'}: {value:.{4 if least else 0}f}"]


def write(lines, page):
    rows = Rows(lines)
    page.heading("The page next to weir-play and WebRTC")
    for cell in rows.cells():
        table = []
        for contender in rows.contenders(cell):
            means = [(rows.mean(cell, contender, key), digits) for key, _, digits in COLUMNS]
            table.append([contender, *("-" if m is None else m.text(digits) for m, digits in means)])
        page.table(cell, ["viewer", *(name for _, name, _ in COLUMNS)], table, cell)
        found = [goal_line(goal) for goal in goals(rows, cell)]
        if found:
            page.goals(f"{cell}: goals of the page without TLS", ["figure", "goal", "result"], found, f"goals-{cell}")


def check_quick(lines):
    """Checks that what was read from the page is possible, and agrees with the page's own report."""
    failed = []
    for row in lines:
        f = row["figures"]
        if not 0 < f["p50_ms"] < 1000 or not 0.5 < f["ssim"] < 1:
            failed.append(f"{row['contender']}: {f['p50_ms']:.0f} ms, SSIM {f['ssim']:.3f}: not possible")
    return failed


def experiment(quick, _options):
    cells = [Cell(name, {"link": link, "seconds": 10 if quick else seconds}, name != "half an hour",
                  ("page", "weir-play") if name == "half an hour" else ())
             for name, link, seconds in (CELLS[:1] if quick else CELLS)]
    return Experiment("page", "The page in a browser, weir-play and WebRTC", cells, CONTENDERS, one, write, runs=1 if quick else 4,
                      seconds=55, check=check_quick if quick else None, missing=missing)
