# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures what one viewer more costs weir-send: many viewers of one 2 Mbit/s stream over the loopback.

The viewers are one process that decodes nothing (fanout_client.c). CPU is in per cent of one core; that of a viewer is
the network thread's, divided by the viewers: the encoder works for one as for all. Memory of a viewer is what the
sender's resident set has grown by. A frame is late that is complete more than one frame interval later than any of a
lone viewer's; a key frame, which the pacing of udp draws out, comes every 10 s.

With --secure each number of viewers is measured twice: with plain connections, and encrypted, as off the loopback: minbuf
and tcp in TLS, datagrams in SRTP. The last lines say what encryption costs a viewer.

The transport "websocket" is what the page in a browser uses: RTSP in a WebSocket, with minbuf:auto,20.

With --proxy, weir-proxy is between the sender and the viewers, with the transport on both of its legs, and the figures
are weir-proxy's. It has one thread. Before, two viewers of one sender, one of them through the proxy, say what the
proxy adds to a frame's delay: the difference of their quantiles, as both get the same frames at the same time.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

QUANTILES = ("p50", "p95", "p99", "max")
SOURCE, LEVEL, FPS = "test:1280x720@30", "1280x720@30:1920", 30
WEBSOCKET = "websocket"


def cpu_seconds(pid, thread=None):
    """Of a process, or of one of its threads."""
    with open(f"/proc/{pid}/stat" if thread is None else f"/proc/{pid}/task/{thread}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Run:
    """A sender, so many viewers of it, and what they got."""

    def __init__(self, lib, folder, transport, viewers, seconds, late_ms, proxy=False, level=None, secure=False):
        self.lib, self.folder, self.proxy, self.level, self.secure = lib, folder, proxy, level or LEVEL, secure
        self.transport, self.viewers, self.seconds, self.late_ms = transport, viewers, seconds, late_ms

    def start(self):
        """Returns the sender and the viewers' server: the proxy, or the sender itself."""
        # One address may have a quarter of the connections; a proxy has one more to the sender, for its descriptions.
        limit = "--max-viewers", str(max(1024, 4 * (self.viewers + 10)))
        keys = ["--state-dir", os.path.join(self.folder, "state")] if self.secure else []
        sender = self.lib.Sender(self.folder, "--level", self.level, *limit, *([] if self.proxy else keys), SOURCE)
        if not self.proxy:
            return sender, sender
        leg = "minbuf:auto,20" if self.transport == WEBSOCKET else self.transport
        return sender, self.lib.Proxy(self.folder, "--origin", f"rtsp://127.0.0.1:{sender.port}", "--backbone-transport", leg,
                                      "--access-transport", leg, *limit, *keys)

    def view(self, server):
        pin = [re.search(r"encrypted: rtsps://\S+pin=(sha256:\w+)", server.stderr).group(1)] if self.secure else []
        return subprocess.Popen([os.path.join(self.lib.BUILD, "tests", "bench_fanout_client"), f"127.0.0.1:{server.port}",
                                 self.transport, str(self.viewers), str(self.seconds), str(self.late_ms), *pin],
                                stdout=subprocess.PIPE, text=True)

    def added_ms(self):
        """Returns {quantile: ms} that the proxy adds to a frame's delay."""
        sender, server = self.start()
        clients = []
        try:
            clients = [self.view(server), self.view(sender)]
            lines = [client.communicate(timeout=self.seconds + 60)[0].splitlines() for client in clients]
            if any(len(said) < 3 for said in lines):
                raise RuntimeError(f"the viewers failed\n{server}")
            via, direct = (dict(zip(said[-1].split()[::2], map(float, said[-1].split()[1::2]))) for said in lines)
            return {key: via[f"delay_{key}"] - direct[f"delay_{key}"] for key in QUANTILES}
        finally:
            for client in clients:
                client.kill()
                client.wait()
            server.stop()
            sender.stop()

    def measure(self):
        client = None
        sender, server = self.start()
        self.sender = sender
        try:
            alone = server.status_kb("VmRSS")
            client = self.view(server)
            begin, end = (self.at_word(server, client, word) for word in ("begin", "end"))
            return self.row(server, alone, begin, end, client.stdout.readline().split())
        finally:
            if client:
                client.kill()
                client.wait()
                client.stdout.close()
            server.stop()
            sender.stop()

    def at_word(self, server, client, word):
        """The server's figures when the client says the word."""
        if client.stdout.readline().strip() != word:
            raise RuntimeError(f"the viewers failed\n{server}")
        return {"time": time.monotonic(), "all": cpu_seconds(server.pid), "network": cpu_seconds(server.pid, server.pid),
                "client": cpu_seconds(client.pid), "rss": server.status_kb("VmRSS")}

    def row(self, server, alone, begin, end, words):
        if not words:
            raise RuntimeError(f"the viewers failed before the end\n{server}")
        figures = dict(zip(words[::2], map(float, words[1::2])))
        seconds = end["time"] - begin["time"]
        whole, network, client = (100 * (end[key] - begin[key]) / seconds for key in ("all", "network", "client"))
        return {"transport": self.transport, "secure": self.secure, "viewers": self.viewers, "seconds": seconds, "server_cpu": whole,
                "network_cpu": network, "client_cpu": client, "cpu_a_viewer": network / self.viewers,
                "kb_a_viewer": (end["rss"] - alone) / self.viewers, "rss_kb": end["rss"], "frames": int(figures["frames"]),
                "incomplete": int(figures["frames"] * self.viewers - figures["complete"]), "late": int(figures["late"]),
                "delay_ms": {key: figures[f"delay_{key}"] for key in QUANTILES}}


def measure(lib, folder, transport, options):
    """Rows of one transport; a lone viewer's first, whose delay says what is late."""
    def run(viewers, late_ms, secure):
        return Run(lib, folder, transport, viewers, options.seconds, late_ms, options.proxy, options.level, secure).measure()

    ways = (False, True) if options.secure else (False,)
    alone = {secure: run(1, 0, secure) for secure in ways}
    added = Run(lib, folder, transport, 1, options.seconds, 0, True, options.level).added_ms() if options.proxy else None
    if added:
        alone[False]["added_ms"] = added
        print(f"{transport}: the proxy adds to a frame's delay, ms: " +
              ", ".join(f"{key} {value:+.2f}" for key, value in added.items()), flush=True)
    for viewers in options.viewers:
        for secure in ways:
            late_ms = alone[secure]["delay_ms"]["max"] + 1000 / FPS
            row = alone[secure] if viewers == 1 else run(viewers, late_ms, secure)
            if viewers > 1:  # without what the first viewer's encoder takes
                row["kb_a_viewer"] = (row["rss_kb"] - alone[secure]["rss_kb"]) / (viewers - 1)
            print_row(row)
            yield row


def print_head(server):
    print(f"{'':16}{'viewers':>8}{server + ' CPU':>12}{'network':>9}{'a viewer':>10}{'kB each':>9}{'frames':>8}{'incompl.':>10}"
          f"{'late':>8}   delay ms:{'p50':>6}{'p95':>7}{'p99':>7}{'max':>7}{'clients':>9}")


def print_row(r):
    d = r["delay_ms"]
    name = r["transport"] + (" secure" if r["secure"] else "")
    print(f"{name:16}{r['viewers']:8}{r['server_cpu']:10.1f} %{r['network_cpu']:7.1f} %{r['cpu_a_viewer']:8.3f} %"
          f"{r['kb_a_viewer']:9.0f}{r['frames']:8}{r['incomplete']:10}{r['late']:8}{'':12}{d['p50']:6.1f}"
          f"{d['p95']:7.1f}{d['p99']:7.1f}"
          f"{d['max']:7.1f}{r['client_cpu']:7.1f} %", flush=True)


def print_costs(rows):
    """What encryption adds, of pairs of rows that differ in nothing else."""
    for plain, secure in zip(rows[::2], rows[1::2]):
        more = secure["cpu_a_viewer"] - plain["cpu_a_viewer"]
        print(f"{plain['transport']}, {plain['viewers']} viewers: encryption {more:+.3f} % of a core a viewer, "
              f"{secure['kb_a_viewer'] - plain['kb_a_viewer']:+.0f} kB")


def numbers(text):
    return [int(n) for n in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="where the programs are")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    parser.add_argument("--viewers", type=numbers, default=[1, 10, 50, 100, 250, 500], metavar="N,N,...")
    parser.add_argument("--transport", type=lambda text: text.split(","), metavar="NAME,...",
                        help="default: minbuf, udp and websocket; with --proxy minbuf")
    parser.add_argument("--seconds", type=float, default=12, help="of each run")
    parser.add_argument("--level", default=LEVEL, metavar="WxH@FPS:KBPS", help="that the sender encodes")
    parser.add_argument("--secure", action="store_true", help="measure encrypted viewers beside plain ones")
    parser.add_argument("--proxy", action="store_true", help="weir-proxy serves the viewers; measure it")
    options = parser.parse_args()
    options.transport = options.transport or (["minbuf"] if options.proxy else ["minbuf", "udp", WEBSOCKET])
    os.environ["WEIR_BUILD"] = options.build
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
    import lib  # reads WEIR_BUILD
    print_head("proxy" if options.proxy else "sender")
    rows = []
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder:
        for transport in options.transport:
            rows += measure(lib, folder, transport, options)
    if options.secure:
        print_costs(rows)
    if options.json:
        with open(options.json, "w") as f:
            json.dump({"source": SOURCE, "level": options.level, "proxy": options.proxy, "rows": rows}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
