# SPDX-License-Identifier: GPL-2.0-or-later
"""The first motive of MIN_BUF TCP (Goel, Krasic, Li, Walpole 2002, sections 1 and 6): control operations are responsive only
if little media waits in front of what they change. The time from a key to the first new picture, with the programs.

Two viewers watch stored ladders of one server over a dumbbell, alone or with the traffic of section 4.1, whose mice are tuned to
the paper's share (minbuf.tuned_mice; of a trace at its mean rate), and press the same keys. What is not on the screen when the
next key is pressed counts as that long, at least.
"""
import os
import shutil
import subprocess

from lab import live, net
from lab.experiment import Cell, Experiment
from lab.experiments import control_report, minbuf
from lab.run import Failed, program
from lab.traces import generate

# A transport; with ONE the player keeps no second connection to the server.
ONE = " one"
CONTENDERS = ["tcp", "tcp" + ONE, "tcp:notsent=16384", "minbuf:1,0", "minbuf:1,3", "minbuf:1,3" + ONE, "mtp", "tfrc"]
LINKS = [("12mbit-50ms", 12, 50, None), ("30mbit-100ms", 30, 100, None), ("lte-50ms", 6, 50, "lte")]
# {action: the event of its first picture}
ACTIONS = {"channel": "channel-shown", "seek": "seek", "resume": "resume", "play": "channel-shown", "scale": "scale"}
FILMS = 3
LEVEL = 2  # of the usual ladder: 240 kbit/s, about what a flow gets next to the traffic
FILM_SECONDS = 40
VIEWERS = 2
LOAD_FIRST = 3  # seconds, before the viewers start
GAP = 1.8
# The keys of a viewer, GAP apart; a pair belongs together: the second one is measured.
KEYS = ["next", "seek=25", "next", ("pause", "go-on"), "seek=5", "next", ("stop", "go-on"), "seek=30", "scale=4", "scale=1",
        "next", ("pause", "go-on")]
# A cell of channel changes only has so many of them that the p95 means something.
ZAP_KEYS, ZAP_GAP = ["next"] * 22, 1.05
FIRST_KEY = 3.0
WAIT = 0.7  # from the first key of a pair to the second


def script(keys=None, gap=GAP):
    """Returns [(seconds, action)], seconds from the first PLAY, and how long the viewers watch."""
    steps, at = [], FIRST_KEY
    for key in keys or KEYS:
        for action in (key,) if isinstance(key, str) else key:
            steps.append((at, action))
            at += WAIT
        at += gap - WAIT
    return steps, at


def films(context):
    """Returns the folder of the films with their ladders, which the first run makes."""
    folder = os.path.join(context.results, f"films-{FILM_SECONDS}s")
    if os.path.isdir(folder):
        return folder
    made = folder + ".new"
    shutil.rmtree(made, ignore_errors=True)
    os.makedirs(made)
    film = os.path.join(made, "film1.mp4")
    encode = ["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i",
              f"testsrc2=size=640x360:rate=30:duration={FILM_SECONDS},noise=alls=6:allf=t", "-c:v", "libx264", "-preset",
              "superfast", "-b:v", "4M", "-pix_fmt", "yuv420p", film]
    for step in (encode, [program(context.build, "weir-send"), "--prepare", "--ladder", "fixed", film]):
        done = subprocess.run(step, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False, timeout=900)
        if done.returncode != 0:
            raise Failed(f"cannot make {film}: {done.stderr}")
    for i in range(1, FILMS):  # the server knows no difference between films of equal content
        for suffix in ("", ".weir.mkv"):
            shutil.copy2(film + suffix, os.path.join(made, f"film{i + 1}.mp4{suffix}"))
    os.replace(made, folder)
    return folder


def link(context, seconds):
    """Returns the link's text towards the viewers, and back."""
    p = context.cell.params
    delay = f"delay={p['rtt_ms'] / 2:g}ms"
    bdp = net.bdp_bytes(p["mbit"], p["rtt_ms"])
    rate = f"rate={p['mbit']}mbit"
    if p["trace"]:
        os.makedirs(context.directory, exist_ok=True)
        path = os.path.join(context.directory, "link.trace")
        generate.write(generate.KINDS[p["trace"]](context.seed, seconds + 5, p["mbit"] * 1e6), path)
        rate = f"trace={path}"
    return f"{rate},queue=droptail:{bdp}B,{delay}", delay


def play(world, host, at, contender, steps, duration):
    transport = contender.removesuffix(ONE)
    argv = ["weir-play", "--headless", "--quiet", "--no-audio", "--no-picture", "--transport", transport, "--adapt", "none",
            "--level", str(LEVEL), "--timeout", str(duration), "--duration", f"{duration:g}", "--playlist", world.path("channels.m3u"), "--report",
            world.path(f"report-{host}.json"), "--events", world.path(f"events-{host}.jsonl")]
    if contender.endswith(ONE):
        argv.append("--no-standby")
    for when, action in steps:
        argv += ["--at", f"{when:.2f}:{action}"]
    return world.start(host, [*argv, f"rtsp://{at}:{live.RTSP_PORT}/"], f"play-{host}")


def steps_of(events):
    """Returns {step: [ms from the key, ...]} of the channels after the first."""
    shown = [e for e in events if e["event"] == "channel-shown"]
    return {step: [e[step] for e in shown if step in e] for step in control_report.STEPS}


def waits(events, duration):
    """Returns ({action: [ms, ...]}, {action: count}): from each key to the first picture that it brings, and how often there
    was none before the next key; such a wait counts as long as it was watched."""
    found, late, pending = {}, {}, None

    def watched(ms, in_time):
        found.setdefault(pending[0], []).append(round(ms, 1))
        late[pending[0]] = late.get(pending[0], 0) + (not in_time)

    for e in [*events, {"event": "control", "action": "end", "t": duration}]:
        if e["event"] == "control":
            if pending:
                watched((e["t"] - pending[1]) * 1e3, False)
            pending = (e["action"], e["t"]) if e["action"] in ACTIONS else None
        elif pending and e["event"] == ACTIONS[pending[0]]:
            watched(e["first_frame_ms"], True)
            pending = None
    return found, late


def one(context):
    p = context.cell.params
    made = films(context)
    steps, watched = script(ZAP_KEYS, ZAP_GAP) if p["zaps"] else script()
    seconds = LOAD_FIRST + watched + 2
    forward, backward = link(context, seconds)
    network = minbuf.network(p["mbit"], p["rtt_ms"], "1bdp")
    mice = minbuf.tuned_mice(context, context.cell.name, network) if p["load"] else 0
    hosts = ["r1", "r2"][:VIEWERS]
    with context.world() as world:
        at = net.dumbbell(world, ["s"], ["r1", "r2"], forward, backward, "--flow", str(live.RTSP_PORT), "--seed", str(context.seed))
        flow = live.Flow(world, "s", at["s"], made)
        with open(world.path("channels.m3u"), "w", encoding="ascii") as f:
            f.writelines(f"/film{i + 1}.mp4\n" for i in range(FILMS))
        epoch = live.start_time()
        if p["load"]:
            traffic = live.Traffic(world, "s", at["s"])
            schedule = dict.fromkeys(("elephants", "mice", "cbr"), 0) | dict.fromkeys(("elephants_stop", "rest_stop"), seconds)
            for client, specs in minbuf.traffic_specs(network, schedule, mice).items():
                traffic.run(client, epoch, seconds, context.seed, specs)
            world.processes.sleep_until(epoch + LOAD_FIRST)
        viewers = []
        for k, host in enumerate(hosts):
            world.processes.sleep_until(epoch + (LOAD_FIRST if p["load"] else 0) + 0.4 * k)  # not in step
            viewers.append((host, play(world, host, at["s"], context.contender, steps, watched)))
        found, late, parts = {}, {}, {}
        for host, player in viewers:
            if player.wait(watched + 20) != 0:
                raise player.failed(f"ended with {player.code}")
            events = live.json_lines(world.path(f"events-{host}.jsonl"))
            for total, part in zip((found, late, parts), (*waits(events, watched), steps_of(events))):
                for action, value in part.items():
                    total[action] = total[action] + value if action in total else value
        figures = {"waited": world.processes.waited()}
        flow.sender.stop()
        if p["load"]:
            minbuf.join(traffic)
            figures |= {"mice": 2 * mice, "mice_share": minbuf.share_of_mice(traffic.profile(), p["mbit"], LOAD_FIRST, int(seconds))}
        world.links["bottleneck"].stop()
        queue = live.link_figures(world, "bottleneck")
    return {**figures, **{f"{action}_ms": sorted(found.get(action, [])) for action in ACTIONS},
            **{f"{action}_late": late.get(action, 0) for action in ACTIONS}, "steps": parts,
            **{key: queue[key] for key in ("queue_delay_ms", "queue_delay_p95_ms", "pool_drops")}}


def experiment(quick, _options):
    cells = []
    for name, mbit, rtt, trace in LINKS:
        for load in ("load", "alone"):
            cells.append(Cell(f"{name}-{load}", {"mbit": mbit, "rtt_ms": rtt, "trace": trace, "load": load == "load", "zaps": False}))
    name = LINKS[0][0]
    cells.append(Cell(f"{name}-zap-load", {**cells[0].params, "zaps": True}))
    return Experiment("control", "From a key to the first new picture", cells[:1] if quick else cells,
                      ["tcp", "tcp" + ONE, "minbuf:1,3"] if quick else CONTENDERS, one, control_report.write, runs=1 if quick else 4,
                      seconds=LOAD_FIRST + script()[1] + 5, check=control_report.check)
