# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of weir-send in chromium, next to weir-play, with and without TLS: the time to the first picture, and from capture
to the picture that is shown.

On the loopback, and over a link of 4 Mbit/s with an RTT of 50 ms whose rate falls to 1 Mbit/s for 20 s. Each contender has
the stream for itself. The viewers' own reports count, from their first picture on.
"""
import json
import os
import shutil
import time

from lab import live
from lab.browser import Browser
from lab.experiment import Cell, Experiment
from lab.rows import Rows
from lab.run import Failed

SOURCE = "test:1280x720@30"
CONTENDERS = ["page", "page tls", "weir-play", "weir-play tls"]
RTT_MS = 50
RATES = "rate=4mbit:1mbit@20s:4mbit@40s,queue=droptail:400ms"
CELLS = [("loopback", None, 30), ("step", RATES, 60)]  # name, link, seconds
# Goals of the page: {cell: {figure: at most}}.
GOALS = {"loopback": {"first_ms": 400, "p95_ms": 90}, "step": {"p95_ms": 250, "longest_ms": 200}}
PATIENCE = 60  # seconds, for each call of the browser

COLUMNS = [("first_ms", "first picture, ms", 0), ("p50_ms", "capture to shown 50 %, ms", 0), ("p95_ms", "95 %", 0),
           ("p99_ms", "99 %", 0), ("frame_rate", "frames/s", 1), ("freezes", "freezes", 1), ("longest_ms", "the longest, ms", 0),
           ("sender_cpu", "cores of weir-send", 3)]


def missing(contender, _build):
    return None if contender.startswith("weir-play") or shutil.which("chromium") else "chromium is not installed"


def seen_by_page(world, namespace, url, seconds):
    """Shows the page for SECONDS and returns its report."""
    argv = ["ip", "netns", "exec", namespace]
    # WebCodecs exist only in secure contexts, which plain HTTP from another address is not.
    trusted = ["--ignore-certificate-errors", "--unsafely-treat-insecure-origin-as-secure=" + url.rpartition("/")[0]]
    page = Browser(world.path("browser"), PATIENCE, *trusted, prefix=argv)
    try:
        page.look(1280, 800, False)
        page.open(url)
        world.processes.sleep_until(time.monotonic() + seconds)
        page.value("document.getElementById('save').click()")
        deadline = time.monotonic() + PATIENCE
        while not page.value("!!(globalThis.weir && weir.report)"):
            if time.monotonic() > deadline:
                raise Failed("the page made no report")
            time.sleep(0.1)
        return json.loads(page.value("JSON.stringify(weir.report)"))
    finally:
        page.close()


def figures_of(report, cpu):
    shown, freezes = report["latency"]["display"], report["freezes"]
    return {"first_ms": report["startup"]["time_to_first_frame"] * 1e3, "p50_ms": shown["p50"], "p95_ms": shown["p95"],
            "p99_ms": shown["p99"], "frame_rate": report["playback"]["frame_rate"], "freezes": freezes["count"],
            "longest_ms": freezes["longest"] * 1e3, "sender_cpu": cpu}


def one(context):
    p = context.cell.params
    kind, _, tls = context.contender.partition(" ")
    with context.world() as world:
        viewer = "server"
        at = "127.0.0.1"
        world.add("server")
        if p["link"]:
            viewer = "client"
            world.add("client")
            at, _ = world.link("link", "server", "client", f"{p['link']},delay={RTT_MS / 2:g}ms", f"delay={RTT_MS / 2:g}ms")
        access = world.path("access")
        with open(os.open(access, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as f:
            f.write("allow = * / watch\n")
        options = ["--state-dir", world.path("state"), "--access", access] if tls else ["--insecure"]
        sender = world.start("server", ["weir-send", "--listen", f"{at}:{live.RTSP_PORT}", *options, SOURCE], "send")
        found = sender.wait_line(r"(?:encrypted:| at) (rtsps://\S+)" if tls else r" at (rtsp://\S+)")
        began = time.monotonic()
        if kind == "page":
            url = f"{'https' if tls else 'http'}://{at}:{live.RTSP_PORT}/live"
            report = seen_by_page(world, world.names[viewer], url, p["seconds"])
        else:
            player = world.start(viewer, ["weir-play", "--headless", "--quiet", "--transport", "minbuf:1,3", "--duration",
                                          str(p["seconds"]), "--report", world.path("report.json"), found.group(1)],
                                 "play")
            if player.wait(p["seconds"] + 20) != 0:
                raise player.failed(f"ended with {player.code}")
            with open(world.path("report.json"), encoding="utf-8") as f:
                report = json.load(f)
        seconds = time.monotonic() - began
        sender.stop()
        return figures_of(report, sender.cpu / seconds)


def goals(rows, cell):
    """Returns [(figure, mean, limit)] of the page without TLS."""
    means = ((key, rows.mean(cell, "page", key), limit) for key, limit in GOALS.get(cell, {}).items())
    return [(key, mean.value, limit) for key, mean, limit in means if mean]


def write(lines, page):
    rows = Rows(lines)
    page.heading("The page next to weir-play")
    for cell in rows.cells():
        table = []
        for contender in rows.contenders(cell):
            means = [(rows.mean(cell, contender, key), digits) for key, _, digits in COLUMNS]
            table.append([contender, *("-" if m is None else m.text(digits) for m, digits in means)])
        text = ", ".join(f"{key} {value:.0f} (at most {limit})" for key, value, limit in goals(rows, cell))
        page.table(f"{cell}: goals of the page: {text}", ["viewer", *(name for _, name, _ in COLUMNS)], table, cell)


def experiment(quick, _options):
    cells = [Cell(name, {"link": link, "seconds": seconds}) for name, link, seconds in (CELLS[:1] if quick else CELLS)]
    return Experiment("page", "The page in a browser, and weir-play", cells, CONTENDERS, one, write, runs=1 if quick else 4,
                      seconds=50, missing=missing)
