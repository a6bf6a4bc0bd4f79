# SPDX-License-Identifier: GPL-2.0-or-later
"""Films with the programs, in real time: weir-play and Weir's page beside hls.js, dash.js and Shaka Player in chromium.

All watch the same prepared film of one weir-send, weir-play over RTSP, the others its HLS or DASH, each alone, over the same
emulated link: RTT 50 ms, a queue of 100 kB, and a rate that steps from 4 to 1 and back to 4 Mbit/s, or that of a trace (generated,
or of --traces DIR). All players are as they come, with their default settings. Pages and scripts lie on the viewer's own side.

Time counts from the request: of weir-play from its session's start, of a page from the player's load call, so without the start
of the browser; of Weir's page from the navigation, as it and its scripts come over the link. Figures of all are made by one code
from the pictures and the times at which they were shown (lab/film.py): those of weir-play's events, and those that the browser
tells of its <video> (requestVideoFrameCallback).
"""
import json
import os
import subprocess
import time
import urllib.request

from lab import chromium, film, live, net, players
from lab.experiment import Cell, Experiment, seed_of
from lab.experiments import abr, abr_real_report
from lab.experiments.goddard_real import video_of
from lab.run import Failed, program
from lab.streaming import until
from lab.traces import generate, paths

WEIR = "weir-play"
CONTENDERS = [WEIR, players.OWN, *players.PLAYLISTS]
HTTP_PORT = 8080
RTT_MS = 50
QUEUE = "droptail:100KB"
STEP = (4, 1, 4)  # Mbit/s, of a third of the film each
LEAD = 20  # seconds from the link's start to the request: a browser starts slowly
TRACES, QUICK_TRACES, FAMILY = 20, 2, "puffer"
TICK_MS = 100  # of a trace that is made for weir-link
MIN_SHARE = 0.9  # of the bytes of what was shown, sizes being rounded, that crossed the link


def film_of(context):
    """Returns the film, which the first run makes and prepares."""
    video = video_of(context, context.experiment.options["length"])
    done = subprocess.run([program(context.build, "weir-send"), "--prepare", "--ladder", "fixed", video], capture_output=True,
                          text=True, timeout=7200, check=False)
    if done.returncode != 0:
        raise Failed(f"cannot prepare {video}: {done.stderr[-1000:]}")
    return video


def rates_of(path, seconds, lead=LEAD):
    """Returns the Mbit/s of each TICK_MS of a trace of either form (lab/abr/rate_trace.h), repeated for SECONDS, behind LEAD
    seconds of its mean."""
    with open(path, encoding="ascii") as f:
        rows = [[float(x) for x in line.split()] for line in f if line.strip() and line[0] != "#"]
    tick = TICK_MS / 1e3
    if len(rows[0]) == 1:
        own = [0.0] * max(1, -(-int(rows[-1][0]) // TICK_MS))
        for ms, in rows:
            own[min(len(own) - 1, int(ms / TICK_MS))] += generate.PACKET_BITS / 1e6 / tick
    else:
        ends = [at for at, _ in rows[1:]]
        ends.append(ends[-1] + (rows[-1][0] - rows[-2][0]) if ends else rows[0][0] + 1)
        own = []
        for (at, mbit), end in zip(rows, ends):
            own += [mbit] * (round((end - rows[0][0]) / tick) - len(own))
    count = round(seconds / tick)
    own = (own * (-(-count // len(own))))[:count]
    return [sum(own) / len(own)] * round(lead / tick) + own


def rate_of(context, seconds):
    """Returns the rate of the link as text."""
    p = context.cell.params
    if "step" in p:
        third = context.experiment.options["length"] / 3
        return f"rate={p['step'][0]}mbit:" + ":".join(f"{mbit}mbit@{LEAD + (i + 1) * third:g}s" for i, mbit in enumerate(p["step"][1:]))
    source = p.get("file")
    if source is None:
        source = os.path.join(context.directory, "path.txt")
        paths.write(FAMILY, seed_of(FAMILY, p["number"]), source)
    rates = rates_of(source, seconds)
    path = os.path.join(context.directory, "link.trace")
    generate.write(generate.from_rates(rates, TICK_MS, sum(rates) / len(rates)), path)
    return f"trace={path}"


def described(world, video, url):
    """Returns the lab.film.Film of a prepared film that is served at URL."""
    with net.inside(world.names["server"]), urllib.request.urlopen(f"{url}/index.m3u8", timeout=30) as answer:
        playlist = answer.read().decode()
    try:
        return film.read(film.attached(video + ".weir.mkv"), playlist)
    except ValueError as e:
        raise Failed(f"{video}: {e}") from e


def watched_by_weir(flow, the_film, seconds):
    """Returns (pictures, their number, [(seconds, s of buffer)], s of the monotonic clock when it began)."""
    began = time.monotonic()
    flow.play("client", "minbuf", seconds)
    report = flow.finish(seconds + 30)
    events = live.json_lines(flow.path("events.jsonl"))
    live.remove(flow.path("events.jsonl"))
    pictures = [e for e in events if e["event"] == "frame" and e.get("shown") is not None]
    if not pictures:
        raise flow.player.failed("showed no picture")
    later = report["startup"]["time_to_first_frame"] - pictures[0]["shown"]  # the events' clock began before the request, or after
    fps, first = the_film.levels[-1].fps, pictures[0]["number"]
    shown = [film.Shown(e["shown"] + later, (e["number"] - first) / fps, e["level"]) for e in pictures]
    return shown, len(shown), [(e["t"] + later, e["buffer"]) for e in events if e["event"] == "decision"], began


def watched_by_page(told, kind, the_film, epoch, seconds):
    """Returns the same of what a page noted."""
    if not told["pictures"]:
        raise Failed(f"{kind}: no picture within {seconds:g} s; it says {told['errors']}")
    seen = [(ms / 1e3, media, height) for ms, media, height in told["pictures"]]
    try:
        return film.by_size(the_film, seen), told["presented"], [(ms / 1e3, s) for ms, s in told["buffer"]], epoch
    except ValueError as e:
        raise Failed(f"{kind}: {e}") from e


def link_series(lines, began):
    """Returns (bytes that left the link towards the viewer since BEGAN, [(seconds, Mbit/s)]) of the link's lines."""
    seconds = [(l["monotonic"] - began, l["a_to_b"]["bytes_out"]) for l in lines if l.get("event") != "end" and l["monotonic"] > began]
    return sum(n for _, n in seconds), [(t, n * 8 / 1e6) for t, n in seconds]


def one(context):
    options, kind = context.experiment.options, context.contender
    os.makedirs(context.directory, exist_ok=True)
    video = film_of(context)
    seconds = options["length"] + options["grace"]
    with context.world() as world:
        for name in ("server", "client"):
            world.add(name)
        rate = rate_of(context, seconds)
        delay = f"delay={RTT_MS / 2:g}ms"
        at, _ = world.link("link", "server", "client", f"{rate},queue={QUEUE},{delay}", delay, "--seed", str(context.seed))
        epoch = time.monotonic() + LEAD
        url = f"http://{at}:{HTTP_PORT}/live"
        flow = live.Flow(world, "server", at, video, options=["--http", f"{at}:{HTTP_PORT}", "--allow-origin", "*"])
        the_film = described(world, video, url)
        if kind == WEIR:
            until(epoch)
            shown, count, buffer, began = watched_by_weir(flow, the_film, seconds)
            waited = flow.waited
        else:
            with chromium.answering():
                if kind == players.OWN:
                    viewer = players.OwnViewer(world, "client", f"http://{at}:{live.RTSP_PORT}/live")
                else:
                    viewer = players.Viewer(world, "client", kind, url)
                if time.monotonic() > epoch:
                    raise Failed(f"chromium: it started too slowly, more than {LEAD} s")
                told = viewer.watch(epoch, seconds, *([the_film.seconds] if kind == players.OWN else []))
                shown, count, buffer, began = watched_by_page(told, kind, the_film, epoch, seconds)
            waited = world.processes.waited()
            viewer.stop()
        world.links["link"].stop()
        crossed, rates = link_series(live.json_lines(world.path("link.jsonl")), began)
    with open(context.kept("json"), "w", encoding="utf-8") as f:
        json.dump({"rate": rates, "buffer": buffer, "level": [(s.at, s.level) for s in sorted(shown, key=lambda s: s.at)]}, f)
    return film.figures(the_film, shown, count) | {
        "heights": [level.height for level in the_film.levels], "names": [level.name for level in the_film.levels],
        "top_kbps": max(the_film.kbps(g, len(the_film.levels) - 1) for g in range(len(the_film.lengths))),
        "bytes": crossed, "waited": waited}


def check(rows):
    """Returns what cannot be."""
    failed = []
    for row in rows:
        f, name = row["figures"], f"{row['cell']} {row['contender']}"
        if f["first_s"] < RTT_MS / 1e3:
            failed.append(f"{name}: a picture after {f['first_s']:.3f} s, before a round trip")
        if f["bytes"] < MIN_SHARE * f["shown_bytes"]:
            failed.append(f"{name}: {f['bytes']} bytes crossed the link, what was shown has {f['shown_bytes']:.0f}")
        if not 0 < f["kbps"] <= f["top_kbps"]:
            failed.append(f"{name}: {f['kbps']:.0f} kbit/s were shown, the film has {f['top_kbps']:.0f} at most")
        if not 0 < f["frames"] < 1.05:
            failed.append(f"{name}: {100 * f['frames']:.0f} % of the frames were shown")
        if row["cell"] == "step" and not f["complete"]:
            failed.append(f"{name}: the film did not end")
    return failed


def missing(contender, _build):
    return None if contender == WEIR else players.missing(contender)


def spread(items, count):
    """Returns COUNT of the items, or all, at equal distances."""
    return [items[i * len(items) // count] for i in range(count)] if len(items) > count else items


def cells(quick, options):
    step, count = [Cell("step", {"step": STEP})], QUICK_TRACES if quick else TRACES
    if "traces" not in options:
        return step + [Cell(f"{FAMILY} {i}", {"number": i}) for i in range(count)]
    files = [(family, file) for family, some in abr.families_of(options["traces"]).items() for file in some]
    if not files:
        raise SystemExit(f"{options['traces']}: no traces in this folder")
    return step + [Cell(f"{family} {os.path.basename(file)}", {"file": file}) for family, file in spread(files, count)]


def experiment(quick, options):
    length, grace = (18, 12) if quick else (90, 60)
    return Experiment("abr_real", "Films with the programs, beside the players of the web" + (" (quick)" if quick else ""),
                      cells(quick, options), CONTENDERS, one, abr_real_report.write, runs=1, seconds=LEAD + length + 15, check=check,
                      missing=missing, options={"source": options.get("clip", "test:1280x720@30"), "length": length, "grace": grace})
