# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures an audience behind HTTP caches: weir-send --http, Varnish, and many light viewers, all on this machine.

A viewer (edge_client.c) follows the playlists of the lowest rendition as a player does: blocking reloads, then what is
new, over one connection; with `segments` it takes whole segments, with `parts` the parts of low latency. Its clock plays
from when its buffer is filled as the playlist says; a stall is when the clock comes to the buffer's end. `behind` is how
far what plays is behind its capture, `edge` the time from the end of a segment's (part's) capture until a viewer has it
whole, `margin` the least that any viewer had buffered. Every viewer's media is compared with the other viewers' bytes.

CPU is in per cent of one core; `others` is what the rest of this machine takes: with more than a few, a run of many
viewers says little. The origin's requests and bytes are those of the measured time. The viewers take no audio, so the
origin has none.

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
            before = self.figures(origin, client)
            client.signal(signal.SIGUSR1)
            if self.options.kill:
                self.kill_and_restart(origin)
            self.wait_word(client, "end", self.options.seconds + START_SECONDS)
            after = self.figures(origin, client)
            if client.wait() != 0:
                raise RuntimeError(f"the viewers failed: {client}")
            return self.row(before, after, json.loads(client.stdout.splitlines()[-1]))
        finally:
            for process in reversed(self.started):
                process.stop()

    def wait_word(self, client, word, seconds):
        self.lib.until(lambda: f"{word}\n" in client.stdout or not client.running(), f"the viewers' \"{word}\"",
                       seconds / self.lib.PATIENCE)
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

    def figures(self, origin, client):
        caches = {id(c): c for c in self.inner + self.outer}.values()
        requests, size = map(sum, zip(self.origin_before_kill, *(self.asked(c) for c in self.inner)))
        cache = self.cache_before_kill + sum(cpu_seconds(c.pid) for c in caches)
        return {"time": time.monotonic(), "origin": origin.cpu_seconds(), "cache": cache, "client": client.cpu_seconds(),
                "machine": machine_seconds(), "requests": requests, "bytes": size}

    def row(self, before, after, result):
        seconds = after["time"] - before["time"]
        cpu = {f"{name}_cpu": 100 * (after[name] - before[name]) / seconds for name in ("origin", "cache", "client", "machine")}
        cpu["others_cpu"] = 2 * cpu["machine_cpu"] - sum(cpu.values())
        return {"mode": self.mode, "seconds": seconds, **cpu, **result,
                "origin_requests_a_second": (after["requests"] - before["requests"]) / seconds,
                "origin_bytes_a_second": (after["bytes"] - before["bytes"]) / seconds}


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


def numbers(text):
    return [int(n) for n in text.split(",")]


def options_of(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="where the programs are")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    parser.add_argument("--viewers", type=numbers, metavar="N,N,...",
                        help="default: 10,100,1000,5000,10000; with parts 10,100,1000,2500")
    parser.add_argument("--mode", type=lambda text: text.split(","), default=["segments", "parts"], metavar="NAME,...")
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
    if options.json:
        with open(options.json, "w") as f:
            json.dump({"source": SOURCE, "level": options.level, "chain": options.chain, "kill": options.kill, "rows": rows}, f,
                      indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
