# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures an audience behind HTTP caches: weir-send --http, Varnish, and many light viewers, all on this machine.

A viewer (edge_client.c) follows the playlists of the lowest rendition as a player does: blocking reloads, then what is
new, over one connection; with `segments` it takes whole segments, with `parts` the parts of low latency. Its clock plays
from when its buffer is filled as the playlist says; a stall is when the clock comes to the buffer's end. `behind` is how
far what plays is behind its capture, `edge` the time from the end of a segment's (part's) capture until a viewer has it
whole, `margin` the least that any viewer had buffered. Every viewer's media is compared with the other viewers' bytes.

CPU is in per cent of one core; `others` is what the rest of this machine takes: with more than a few, a run of many
viewers says little. The origin's requests and bytes are counted from the end of one burst of requests to that of another,
so that a run has whole segments (parts). The viewers take no audio, so the origin has none.

The last lines say which goals the rows meet. The origin's load is compared with that of the fewest viewers. The goal of the
delay is of parts, those of the audience are judged from its size and time on: 10,000 viewers, three minutes.

--chain puts a second cache behind the first; --kill starts two caches side by side, ends one of them (and its processes)
after a third of the time and starts it again after two thirds: its viewers turn to the other one.
"""
import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import time

# The lowest level that weir-send chooses for 720p.
SOURCE, LEVEL = "test:426x240@30", "256x144@15:120"
# For an audience: a thread serves a request, not a viewer; many viewers ask at the same instant, when a part is ready.
# A thread that lingers on a connection, or a queue that overflows, would be what the viewers wait for.
PARAMETERS = ("thread_pool_min=50", "thread_pool_max=500", "thread_queue_limit=20000", "timeout_linger=0",
              "listen_depth=4096")
START_SECONDS = 60  # for all viewers to play
BURST_WITHIN = 6  # seconds; a segment has 2
# The goals: an audience and its seconds, the origin's load beside that of few viewers, seconds behind capture, and what a
# viewer misses of a lost cache.
GOAL_VIEWERS, GOAL_SECONDS, GOAL_LOAD, GOAL_BEHIND_MS, GOAL_LOST_MS = 10000, 180, 0.05, 2000, 2000
MODES = {"segments": 0.4, "parts": 0.15}  # seconds without a request of the caches that end a burst


def cpu_seconds(pid):
    """Returns the CPU time of a process and of its children that live."""
    total = 0
    for one in [pid, *children(pid)]:
        try:
            with open(f"/proc/{one}/stat") as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except FileNotFoundError:
            continue
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def machine_seconds():
    """Returns the CPU time that all processes of this machine have taken."""
    with open("/proc/stat") as f:
        user, nice, system, _, _, irq, softirq = map(int, f.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(word) for word in f.read().split()]
    except FileNotFoundError:
        return []


class Run:
    """An origin, caches, and so many viewers. The modules `lib` and `varnish` are tests/e2e's."""

    def __init__(self, lib, varnish, folder, viewers, mode, options):
        self.lib, self.varnish, self.folder = lib, varnish, folder
        self.viewers, self.mode, self.options = viewers, mode, options
        self.started, self.origin_before_kill, self.cache_before_kill = [], (0, 0), 0

    def start(self, make, *args, **options):
        process = make(*args, **options)
        self.started.append(process)
        return process

    def origin(self):
        sender = self.start(self.lib.Sender, self.folder, "--http", "127.0.0.1:0", "--sound", "none", "--level",
                            self.options.level, SOURCE)
        sender.http = self.varnish.origin_of(sender)
        return sender

    def cache(self, origin, port=0):
        parameters = [word for parameter in PARAMETERS for word in ("-p", parameter)]
        return self.start(self.varnish.Varnish, self.folder, origin, *parameters, port=port)

    def client(self, caches):
        """The viewers start within 5 s, or 2000 a second."""
        argv = [os.path.join(self.lib.BUILD, "tests", "bench_edge_client"), ",".join(c.at for c in caches), "/live/index.m3u8",
                str(self.viewers), str(self.options.seconds), self.mode, str(min(2000, max(10, self.viewers / 5)))]
        return self.start(self.lib.Process, argv, self.folder)

    def measure(self):
        try:
            origin = self.origin()
            self.inner = [self.cache(origin.http) for _ in range(2 if self.options.kill else 1)]
            self.outer = [self.cache(self.inner[0].at)] if self.options.chain else self.inner
            client = self.client(self.outer)
            self.wait_word(client, "playing", START_SECONDS)
            time.sleep(2)
            first = self.after_burst()
            before = self.figures(origin, client)
            client.signal(signal.SIGUSR1)
            self.end = time.monotonic() + self.options.seconds
            if self.options.kill:
                self.kill_and_restart(origin)
            last = self.last_burst(client)
            self.wait_word(client, "end", START_SECONDS)
            after = self.figures(origin, client)
            if client.wait() != 0:
                raise RuntimeError(f"the viewers failed: {client}")
            return self.row(before, after, [b - a for a, b in zip(first, last)], json.loads(client.stdout.splitlines()[-1]))
        finally:
            for process in reversed(self.started):
                process.stop()

    def wait_word(self, client, word, seconds):
        self.lib.until(lambda: f"{word}\n" in client.stdout or not client.running(), f"the viewers' \"{word}\"",
                       seconds / self.lib.PATIENCE_AT_WORK)
        if f"{word}\n" not in client.stdout:
            raise RuntimeError(f"the viewers failed: {client}")

    def kill_and_restart(self, origin):
        time.sleep(self.options.seconds / 3)
        dead = self.inner[0]
        self.origin_before_kill = self.asked(dead)
        self.cache_before_kill = cpu_seconds(dead.pid)
        for pid in [dead.pid, *children(dead.pid)]:
            os.kill(pid, signal.SIGKILL)
        dead.wait()
        time.sleep(self.options.seconds / 3)
        self.inner[0] = self.cache(origin.http, port=dead.port)

    def asked(self, cache):
        """What a cache has got of the origin: (requests, bytes)."""
        counters = cache.counters()
        return (counters["VBE.boot.origin.req"],
                counters["VBE.boot.origin.beresp_bodybytes"] + counters["VBE.boot.origin.beresp_hdrbytes"])

    def requested(self):
        """(time, requests, bytes): what all caches have got of the origin."""
        return time.monotonic(), *map(sum, zip(self.origin_before_kill, *(self.asked(c) for c in self.inner)))

    def after_burst(self, ends=lambda: False):
        """Waits until the caches have sent a burst of requests; returns requested(), or None if `ends` comes true before, or
        nothing is requested for long."""
        start = before = now = self.requested()
        while not ends() and now[0] < start[0] + BURST_WITHIN:
            time.sleep(0.05)
            now = self.requested()
            if now[1] != before[1]:
                before = now
            elif before[1] != start[1] and now[0] - before[0] >= MODES[self.mode]:
                return before
        return None if ends() else now

    def last_burst(self, client):
        """Waits for the viewers' "end"; returns requested() after the last burst that was complete by then."""
        over = lambda: "end\n" in client.stdout or not client.running()  # noqa: E731
        last = self.requested()
        time.sleep(max(0, self.end - BURST_WITHIN - time.monotonic()))
        while not over():
            last = self.after_burst(over) or last
        return last

    def figures(self, origin, client):
        caches = {id(c): c for c in self.inner + self.outer}.values()
        cache = self.cache_before_kill + sum(cpu_seconds(c.pid) for c in caches)
        return {"time": time.monotonic(), "origin": origin.cpu_seconds(), "cache": cache, "client": client.cpu_seconds(),
                "machine": machine_seconds()}

    def row(self, before, after, origin, result):
        """origin: seconds, requests and bytes from one burst to another."""
        seconds = after["time"] - before["time"]
        cpu = {f"{name}_cpu": 100 * (after[name] - before[name]) / seconds for name in ("origin", "cache", "client", "machine")}
        cpu["others_cpu"] = 2 * cpu["machine_cpu"] - sum(cpu.values())
        return {"mode": self.mode, "seconds": seconds, **cpu, **result,
                "origin_requests_a_second": origin[1] / origin[0], "origin_bytes_a_second": origin[2] / origin[0]}


def print_head():
    print(f"{'':9}{'viewers':>8}{'origin/s':>9}{'kB/s':>7}{'CPU':>8}{'caches':>9}{'clients':>9}{'others':>9}{'req/s':>8}"
          f"{'Mbit/s':>8}{'stalls':>8}{'lost ms':>8}{'corrupt':>8}  behind ms:{'p50':>6}{'p95':>7}  edge ms:{'p50':>6}{'p95':>7}"
          f"{'margin':>8}")


def print_row(r):
    behind, edge, margin = r["behind_ms"], r["edge_ms"], r["margin_ms"]
    print(f"{r['mode']:9}{r['viewers']:8}{r['origin_requests_a_second']:9.2f}{r['origin_bytes_a_second'] / 1e3:7.1f}"
          f"{r['origin_cpu']:6.1f} %{r['cache_cpu']:7.1f} %{r['client_cpu']:7.1f} %{r['others_cpu']:7.1f} %"
          f"{r['requests'] / r['seconds']:8.0f}{r['bytes'] * 8e-6 / r['seconds']:8.0f}{r['stalls']:8}{r['most_lost_ms']:8.0f}"
          f"{r['corrupt']:8}{'':12}{behind.get('p50', 0):6.0f}{behind.get('p95', 0):7.0f}{'':10}{edge.get('p50', 0):6.0f}"
          f"{edge.get('p95', 0):7.0f}{margin.get('min', 0):8.0f}", flush=True)


def goals(rows, kill):
    """Returns (goal, what was measured, True or False: met; None: the rows do not say)."""
    for mode in MODES:
        mine = sorted((r for r in rows if r["mode"] == mode), key=lambda r: r["viewers"])
        if not mine or kill:
            continue
        few, many = mine[0], mine[-1]
        whole = mode == "parts" or many["viewers"] >= GOAL_VIEWERS
        met = many["stalls"] == many["corrupt"] == 0
        yield (f"{mode}: no stall" + (f" of {GOAL_VIEWERS} viewers in {GOAL_SECONDS} s" if mode == "segments" else ""),
               f"{many['stalls']} stalls of {many['viewers']} viewers in {many['seconds']:.0f} s, {many['corrupt']} wrong objects",
               met if whole and many["seconds"] >= GOAL_SECONDS or not met else None)
        if many is not few:
            changes = [(r[key] / few[key] - 1, r["viewers"], name) for r in mine[1:] for key, name in
                       (("origin_requests_a_second", "requests"), ("origin_bytes_a_second", "bytes"))]
            change, viewers, name = max(changes, key=lambda c: abs(c[0]))
            yield (f"{mode}: the origin's load within {GOAL_LOAD:.0%} of that of {few['viewers']} viewers",
                   f"at most {change:+.1%} ({name}, {viewers} viewers)", abs(change) <= GOAL_LOAD)
        if mode == "parts":
            worst = max(mine, key=lambda r: r["behind_ms"].get("p95", float("inf")))
            p95 = worst["behind_ms"].get("p95", float("inf"))
            yield (f"parts: p95 behind capture <= {GOAL_BEHIND_MS} ms", f"{p95:.0f} ms ({worst['viewers']} viewers)",
                   p95 <= GOAL_BEHIND_MS)
    if kill:
        worst = max(rows, key=lambda r: r["most_lost_ms"] + r["longest_stall_ms"])
        cost = worst["most_lost_ms"] + worst["longest_stall_ms"]
        yield (f"a lost cache costs a viewer at most one segment, {GOAL_LOST_MS} ms",
               f"{worst['most_lost_ms']:.0f} ms missed and {worst['longest_stall_ms']:.0f} ms of a stall ({worst['mode']}, "
               f"{worst['viewers']} viewers, {worst['reconnects']} of them turned to the other cache)",
               cost <= GOAL_LOST_MS if worst["reconnects"] else None)


def print_goals(rows, kill):
    print()
    for goal, measured, met in goals(rows, kill):
        print(f"{'not judged' if met is None else 'met' if met else 'MISSED'}: {goal}: {measured}")
    others = max(r["others_cpu"] for r in rows)
    if others > 5:
        print(f"other programs took up to {others:.0f} % of a core meanwhile: repeat it on a quiet machine")


def numbers(text):
    return [int(n) for n in text.split(",")]


def modes(text):
    names = text.split(",")
    for name in names:
        if name not in MODES:
            raise argparse.ArgumentTypeError(f'expects segments or parts, not "{name}"')
    return names


def options_of(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="where the programs are")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    parser.add_argument("--viewers", type=numbers, metavar="N,N,...",
                        help="default: 10,100,1000,5000,10000; with parts 10,100,1000,2500")
    parser.add_argument("--mode", type=modes, default=list(MODES), metavar="NAME,...", help="default: segments,parts")
    parser.add_argument("--seconds", type=float, default=60, help="of each run")
    parser.add_argument("--level", default=LEVEL, metavar="WxH@FPS:KBPS", help="that the sender encodes")
    parser.add_argument("--chain", action="store_true", help="two caches in a row")
    parser.add_argument("--kill", action="store_true", help="two caches side by side; end and restart one of them")
    return parser.parse_args(argv)


def main():
    options = options_of(sys.argv[1:])
    os.environ["WEIR_BUILD"] = options.build
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
    import lib  # reads WEIR_BUILD
    import varnish
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started ends
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # a cache needs a file a viewer
    print_head()
    rows = []
    for mode in options.mode:
        for viewers in options.viewers or ([10, 100, 1000, 2500] if mode == "parts" else [10, 100, 1000, 5000, 10000]):
            with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder:
                rows.append(Run(lib, varnish, folder, viewers, mode, options).measure())
            print_row(rows[-1])
    print_goals(rows, options.kill)
    if options.json:
        with open(options.json, "w") as f:
            json.dump({"source": SOURCE, "level": options.level, "chain": options.chain, "kill": options.kill, "rows": rows}, f,
                      indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
