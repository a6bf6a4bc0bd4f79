# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures whole programs on this machine: weir-send and headless weir-plays over the loopback, 720p30.

Latency is capture to display with its parts, as the players report it; CPU is in per cent of one core.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time

SOURCE = "test:1280x720@30"
TRANSPORTS = ["minbuf", "tcp", "udp"]
PARTS = ["encoder", "transport", "buffer", "decoder", "display"]


def percent(seconds, of):
    return 100 * seconds / of


class Bench:
    def __init__(self, lib, folder):
        self.lib, self.folder = lib, folder
        self.server = lib.Sender(folder, SOURCE)

    def play(self, count, seconds, *args):
        """The reports of so many players at once, and the sender's CPU in the meantime in per cent."""
        begun, used = time.monotonic(), self.server.cpu_seconds()
        players = [self.lib.Player(self.folder, self.server.url, "--low-latency", "--no-picture", "--quiet",
                                   "--duration", str(seconds), *args) for _ in range(count)]
        try:
            for p in players:
                if p.wait(seconds + 30) != 0:
                    raise SystemExit(str(p))
        finally:
            for p in players:
                p.stop()
        sender = percent(self.server.cpu_seconds() - used, time.monotonic() - begun)
        return [p.report() for p in players], sender

    def transports(self, seconds):
        rows = {}
        for name in TRANSPORTS:
            (report,), sender = self.play(1, seconds, "--transport", name)
            rows[name] = {"display": report["latency"]["display"], "parts": report["latency"]["parts"],
                          "frames_lost": report["playback"]["frames_lost"],
                          "frames_late": report["playback"]["frames_late"], "sender_cpu": sender,
                          "player_cpu": player_cpu(report)}
        return rows

    def starts(self, count):
        times = []
        for _ in range(count):
            (report,), _ = self.play(1, 0.5)
            times.append(1000 * report["startup"]["time_to_first_frame"])
        return {"count": count, "min": min(times), "median": statistics.median(times), "max": max(times)}

    def crowd(self, count, seconds):
        reports, sender = self.play(count, seconds)
        players = sum(player_cpu(r) for r in reports)
        return {"viewers": count, "seconds": seconds,
                "frames_received": sum(r["playback"]["frames_received"] for r in reports),
                "frames_played": sum(r["playback"]["frames_played"] for r in reports),
                "frames_lost": sum(r["playback"]["frames_lost"] for r in reports),
                "frames_late": sum(r["playback"]["frames_late"] for r in reports),
                "stalls": sum(r["rebuffering"]["count"] for r in reports),
                "display_p95": max(r["latency"]["display"]["p95"] for r in reports),
                "sender_cpu": sender, "players_cpu": players, "all_cpu": sender + players}


def player_cpu(report):
    return percent(report["cpu"]["user"] + report["cpu"]["system"], report["session"]["duration"])


def print_transports(rows):
    print(f"{'capture to display, ms':24}{'mean':>8}{'p95':>8}" + "".join(f"{p:>11}" for p in PARTS) +
          f"{'lost':>7}{'late':>6}{'sender CPU':>12}{'player CPU':>12}")
    for name, r in rows.items():
        parts = "".join(f"{r['parts'][p]['mean']:11.2f}" for p in PARTS)
        print(f"  {name:22}{r['display']['mean']:8.1f}{r['display']['p95']:8.1f}{parts}{r['frames_lost']:7}"
              f"{r['frames_late']:6}{r['sender_cpu']:10.1f} %{r['player_cpu']:10.1f} %")


def print_starts(s):
    print(f"first picture of {s['count']} starts, ms: min {s['min']:.0f}, median {s['median']:.0f}, "
          f"max {s['max']:.0f}")


def print_crowd(c):
    print(f"{c['viewers']} viewers at once for {c['seconds']} s: {c['frames_played']} of {c['frames_received']} frames "
          f"shown, {c['frames_lost']} lost, {c['frames_late']} late, {c['stalls']} stalls, worst p95 {c['display_p95']:.0f} ms")
    print(f"  CPU: sender {c['sender_cpu']:.1f} %, players {c['players_cpu']:.1f} %, all {c['all_cpu']:.1f} % of a core")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="where the programs are")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    parser.add_argument("--seconds", type=float, default=8, help="of each transport's run")
    parser.add_argument("--viewers", type=int, default=10)
    options = parser.parse_args()
    os.environ["WEIR_BUILD"] = options.build
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
    import lib  # reads WEIR_BUILD
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder:
        bench = Bench(lib, folder)
        try:
            results = {"source": SOURCE, "transports": bench.transports(options.seconds)}
            print_transports(results["transports"])
            results["first_picture_ms"] = bench.starts(10)
            print_starts(results["first_picture_ms"])
            results["crowd"] = bench.crowd(options.viewers, 20)
            print_crowd(results["crowd"])
        finally:
            bench.server.stop()
    if options.json:
        with open(options.json, "w") as f:
            json.dump(results, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
