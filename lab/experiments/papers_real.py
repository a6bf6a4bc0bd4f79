# SPDX-License-Identifier: GPL-2.0-or-later
"""The networks of the papers' sections 5 (ARC) and 3 (PSP) with programs: weir-send, weir-play, the kernel's TCPs and weir-link; and the
same network in weir-sim, with the same rates, delays, queues and seconds. A figure `x` of a run has its simulated twin in `sim_x`: the
mean of SEEDS seeds, whose least and greatest are `sim_x_min` and `sim_x_max`.

A player's flow starts when its RTSP handshake through the loaded path is over. `spread` is how far these starts were apart in seconds;
the twin's flows start as far apart.

The kernel's Reno is simulated as Linux sends (KERNEL): with SACK and timestamps, a min RTO of 200 ms, an initial window of ten. The
flows of a crowd have five round-trip times, the middles of fifths of the paper's range, so that five access links suffice.
"""
import dataclasses
import datetime
import json
import os
from collections import Counter

import numpy as np

from lab import live, net, stats
from lab.experiments import arc_figures
from lab.run import Failed
from lab.simulate import simulate

KERNEL = "sack:minrto=200ms,ts=1,ca=packets,iw=10p,delack=40ms"
SINK = "sink"
UDP_HEADERS = 28  # bytes of IP and UDP
TCP_WIRE = 1500 / 1448  # bytes on the link per byte of a download: IP, TCP with timestamps
FIFTHS = 5
SEEDS = 5  # of a twin
TOGETHER = 0.1  # seconds within which flows start that start together


def rtts_of(n, longest, shortest=None):
    """Returns {RTT in ms: flows} of N flows whose RTTs are spread up to LONGEST, by default from LONGEST / N."""
    if n == 1:
        return {longest: 1}
    shortest = longest / n if shortest is None else shortest
    if n <= FIFTHS:
        return Counter(float(t) for t in np.linspace(shortest, longest, n))
    middles = [shortest + (longest - shortest) * (k + 0.5) / FIFTHS for k in range(FIFTHS)]
    return Counter({middles[k]: n // FIFTHS + (k < n % FIFTHS) for k in range(FIFTHS)})


def cbr_periods(first, period, end):
    """The on periods of a source that is silent until FIRST and then on every other PERIOD."""
    return [(t, min(t + period, end)) for t in np.arange(first, end, 2 * period)]


class Senders:
    """weir-send in one namespace after the other, and players of its flows at others. SOURCE names a rate that is no limit: PSP sends at
    no more than 2.5 times the media's."""

    def __init__(self, world, source):
        self.world = world
        self.source = source
        self.at = {}
        self.players = []

    def serve(self, name, address):
        sender = self.world.start(name, ["weir-send", "--insecure", "--listen", f"{address}:{live.RTSP_PORT}", "--timeout", "3600",
                                         "--max-viewers", "256", self.source], f"send-{name}")
        sender.wait_line(r"rtsp://")
        self.at[name] = address

    def play(self, sender, receiver, transport, seconds, n=1):
        """Starts N players; returns their numbers."""
        first = len(self.players)
        for k in range(first, first + n):
            report = self.world.path(f"report-{k}.json")
            argv = ["weir-play", "--headless", "--quiet", "--no-audio", "--transport", transport, "--adapt", "none", "--duration", f"{seconds:g}",
                    "--timeout", f"{seconds + 30:g}", "--report", report, f"rtsp://{self.at[sender]}:{live.RTSP_PORT}/live"]
            self.players.append((self.world.start(receiver, argv, f"play-{k}"), report))
        return range(first, first + n)

    def finish(self, seconds):
        """Waits for the players; returns their reports."""
        reports = []
        for process, path in self.players:
            if process.wait(seconds) != 0:
                raise process.failed(f"ended with {process.code}")
            with open(path, encoding="utf-8") as f:
                report = json.load(f)
            if report["ended"] not in ("duration", "end-of-media"):
                raise Failed(f"weir-play ended with {report['ended']}: {report['error']}")
            reports.append(report)
        return reports


def wire_mbps(report):
    """What a flow received, with the headers of IP and UDP, over the whole session, as weir-sim's goodput counts."""
    network = report["network"]
    return (network["bytes_received"] + UDP_HEADERS * network["packets_received"]) * 8e-6 / report["session"]["duration"]


def spread_of(reports):
    """Returns how many seconds the starts of these flows were apart."""
    starts = [datetime.datetime.fromisoformat(r["session"]["started_at"].replace("Z", "+00:00")).timestamp() + r["startup"]["connect"]
              for r in reports]
    return max(starts) - min(starts)


class Downloads:
    """weir-traffic at several ends at once; each client has a name. Flows go on for LONGER than the seconds that count: a player
    whose session began late must not be alone on the link at its end."""

    LONGER = 30

    def __init__(self, world, epoch, seconds, seed):
        self.world, self.epoch, self.seconds, self.seed = world, epoch, seconds, seed
        self.servers, self.clients = {}, {}

    def run(self, name, server, address, client, specs):
        """NAME: of the group, whose figures mbps() returns."""
        if server not in self.servers:
            process = self.world.start(server, ["weir-traffic", "serve", "--listen", f"{address}:{live.TRAFFIC_PORT}"], f"traffic-{server}")
            process.wait_line(r"weir-traffic: ready")
            self.servers[server] = f"{address}:{live.TRAFFIC_PORT}"
        number = sum(len(c) for c in self.clients.values())
        path = self.world.path(f"traffic-{number}.jsonl")
        argv = ["weir-traffic", "run", "--server", self.servers[server], "--epoch", f"{self.epoch:.6f}", "--duration", f"{self.seconds + self.LONGER:g}",
                "--seed", str(self.seed), "--stats", path, *specs]
        self.clients.setdefault(name, []).append((self.world.start(client, argv, f"run-{number}"), path))

    def finish(self):
        """Waits for the end of the seconds that count, and ends the clients."""
        self.world.processes.sleep_until(self.epoch + self.seconds + 1)
        for clients in self.clients.values():
            for process, _ in clients:
                process.stop()

    def mbps(self, name, factor=TCP_WIRE):
        """Returns the mean over the run, on the wire, of each client of the group."""
        found = []
        for _, path in self.clients.get(name, []):
            bits = sum(spec["bytes"] * 8 for line in live.json_lines(path) if line.get("event") != "end" and line["t"] <= self.seconds + 0.5
                       for spec in line["specs"])
            found.append(bits * factor * 1e-6 / self.seconds)
        return found


def link_seconds(world, epoch):
    """Returns {second: Mbit/s that left the bottleneck, ms of queue}."""
    out = {}
    for line in live.json_lines(world.path("bottleneck.jsonl"))[:-1]:
        there = line["a_to_b"]
        out[round(line["monotonic"] - epoch)] = (there["bytes_out"] * 8e-6, there["queue_delay_ms"]["mean"])
    return out


def phases(rates, p, seconds):
    """The means of RATES, {second: Mbit/s}, in the second halves of the CBR source's on and off periods."""
    if not p["cbr"]:
        return {}
    out = {"on": [], "off": []}
    for begin, end in cbr_periods(p["period"], p["period"], seconds):
        out["on"] += [rates[t] for t in rates if begin + p["period"] / 2 < t <= end]
        out["off"] += [rates[t] for t in rates if begin - p["period"] / 2 < t <= begin]
    return {f"{name}_mbps": float(np.mean(values)) for name, values in out.items() if values}


def variation(rates, since):
    values = np.array([r for t, r in sorted(rates.items()) if t > since])
    return float(values.std(ddof=1) / values.mean()) if values.size > 2 and values.mean() > 0 else None


# ---- The dumbbell of ARC's section 5.1


def dumbbell_plan(p, contender):
    """Returns ({RTT: flows of the contender}, {RTT: Reno's}, {RTT: Reno's in the opposite direction})."""
    own = rtts_of(p["m"], p["rtt"])
    others = rtts_of(p["n"], p["rtt"]) if p["n"] else {}
    if contender == "reno":  # its flows are downloads, too
        others, own = Counter(others) + Counter(own), {}
    return own, others, rtts_of(10, p["rtt"], p["rtt"] / 10) if p["reverse"] else {}


def dumbbell_real(context, p, seconds):
    own, others, reverse = dumbbell_plan(p, context.contender)
    host = {rtt: f"a{k}" for k, rtt in enumerate(sorted({*own, *others, *reverse}))}
    access = {name: (f"delay={rtt / 2:g}ms",) * 2 for rtt, name in host.items()}
    link = f"rate={p['mbit']}mbit,queue=droptail:{p['queue']}p"
    with context.world() as world:
        at = net.dumbbell(world, [*host.values(), "near"], [SINK], link, link, "--seed", str(context.seed), access=access)
        senders = Senders(world, f"synthetic:greedy:{p['mbit'] * 1000}")
        for rtt in own:
            senders.serve(host[rtt], at[host[rtt]])
        epoch = live.start_time(1.0)
        downloads = Downloads(world, epoch, seconds, context.seed)
        for rtt, n in others.items():
            downloads.run("reno", host[rtt], at[host[rtt]], SINK, [f"elephants:n={n},cc=reno"])
        for rtt, n in reverse.items():
            downloads.run("reverse", SINK, at[SINK], host[rtt], [f"elephants:n={n},cc=reno"])
        if p["cbr"]:
            rate = round(p["cbr"] * 1e3 * 1472 / 1500)
            downloads.run("cbr", "near", at["near"], SINK, [f"cbr:rate={rate}kbit,size=1472,start={a:g},stop={b:g}"
                                                           for a, b in cbr_periods(p["period"], p["period"], seconds)])
        world.processes.sleep_until(epoch + p["late"])
        for rtt, n in own.items():
            senders.play(host[rtt], SINK, context.contender, seconds - p["late"], n)
        reports = senders.finish(seconds + 60)
        downloads.finish()
        waited = world.processes.waited()
        world.links["bottleneck"].stop()
        total = {t: v[0] for t, v in link_seconds(world, epoch).items() if 0 < t <= seconds}
    reno = sum(downloads.mbps("reno"))
    mine = sum(wire_mbps(r) for r in reports) if own else reno
    figures = {"mbps": mine, "utilisation": (mine + (reno if own else 0)) / p["mbit"], "waited": waited}
    if len(reports) > 1:
        figures["spread"] = spread_of(reports)
    if own:
        lost = sum(r["network"]["packets_lost"] for r in reports)
        figures["loss"] = lost / max(1, lost + sum(r["network"]["packets_received"] for r in reports))
        if p["n"]:
            figures["reno_mbps"] = reno
    if own and len(reports) > 1:
        figures["jain"] = stats.jain([wire_mbps(r) for r in reports])
    if not p["n"]:
        # Without Reno flows the link carries the contender, the CBR source and the few ACKs of the opposite direction.
        rates = {t: max(0.0, v - (p["cbr"] if any(a < t <= b for a, b in cbr_periods(p["period"], p["period"], seconds)) else 0))
                 for t, v in total.items()} if p["cbr"] else total
        figures |= phases(rates, p, seconds)
        if not p["cbr"]:
            figures["burst"] = variation(total, seconds * 0.4)
    return figures


def words_of(kind, flows, *more, spread=TOGETHER):
    """The flows {RTT: number} as words for weir-sim; KIND ends with a colon or with keys."""
    join = "" if kind.endswith(":") else ","
    return [kind + join + ",".join([f"n={n}", f"rtt={rtt:g}ms", f"spread={spread:g}s", *more]) for rtt, n in flows.items()]


def kind_of(contender):
    return KERNEL if contender == "reno" else "datagram:cc=" + contender.replace(",", "/")


def dumbbell_simulated(context, p, seconds, spread):
    own, others, reverse = dumbbell_plan(p, context.contender)
    words = ["--link", f"rate={p['mbit']}mbit,queue=droptail:{p['queue']}p"]
    words += words_of(kind_of(context.contender), own, f"start={p['late']}s", spread=spread)
    words += words_of(KERNEL, others) + words_of(KERNEL, reverse, "from=1", "to=0")
    if p["cbr"]:
        words.append(f"cbr:rate={p['cbr'] * 1000:g}kbit,start={p['period']:g}s,on={p['period']:g}s,off={p['period']:g}s")
    path = os.path.join(context.directory, "series.csv")
    os.makedirs(context.directory, exist_ok=True)
    done = simulate(context.build, context.seed, seconds, *words, series=path)
    os.unlink(path)
    groups = done.all("group")
    mine, theirs = groups[:len(own)], groups[len(own):len(own) + len(others)]
    counted = sum(own.values()) or sum(others.values())
    series = arc_figures.Series(done.series, counted)
    time, good = series.time, series.good.sum(axis=1) * 8e-6
    rates = {round(t): float(r) for t, r in zip(time[1:], np.diff(good) / np.diff(time))}
    total = lambda found: sum(g["goodput_bps"] for g in found) / 1e6  # noqa: E731
    figures = {"mbps": total(mine or theirs), "utilisation": total(mine + theirs) / p["mbit"]}
    if own:
        flows = done.all("flow")[:counted]
        figures["loss"] = sum(f["dropped"] for f in flows) / max(1, sum(f["sent_packets"] for f in flows))
        if p["n"]:
            figures["reno_mbps"] = total(theirs)
        if counted > 1:
            figures["jain"] = stats.jain([f["goodput_bps"] for f in flows])
    if not p["n"]:
        figures |= phases(rates, p, seconds)
        if not p["cbr"]:
            figures["burst"] = variation(rates, seconds * 0.4)
    return figures


# ---- The hops of ARC's section 5.2

HOP_MS = 10


def hops_real(context, p, seconds):
    n = p["hops"]
    c1 = "reno" if p["c1"] == "reno" else context.contender
    cross = "reno" if p["cross"] == "reno" else context.contender
    link, wait = f"rate=1mbit,queue=droptail:12p,delay={HOP_MS}ms", f"delay={HOP_MS}ms"
    with context.world() as world:
        routers, crosses = [f"r{i}" for i in range(n + 1)], [f"x{i}" for i in range(n + 1)]
        for name in (*routers, *crosses, "c1", SINK):
            world.add(name)
        hosts = {}  # name: (its router's number, its address, the router's end)
        for name, number in (*((x, i) for i, x in enumerate(crosses)), ("c1", 0), (SINK, n)):
            lossy = f"{wait},loss={p['loss']}%" if name == SINK and p["loss"] else wait
            mine, router = world.link(f"access-{name}", name, routers[number], lossy, lossy, "--seed", str(context.seed))
            world.route(name, "default", router)
            hosts[name] = (number, mine)
        for i in range(n):
            left, right = world.link("bottleneck" if i == 0 else f"hop-{i}", routers[i], routers[i + 1], link, link,
                                     "--seed", str(context.seed + i))
            for number, address in hosts.values():
                world.route(routers[i], address + "/32", right) if number > i else world.route(routers[i + 1], address + "/32", left)
        address = {name: where[1] for name, where in hosts.items()}
        senders = Senders(world, "synthetic:greedy:1000")
        if c1 != "reno":
            senders.serve("c1", address["c1"])
        if cross != "reno":
            for x in crosses:
                senders.serve(x, address[x])
        epoch = live.start_time(1.0)
        downloads = Downloads(world, epoch, seconds, context.seed)
        ways = {"even": [(i, i + 1) for i in range(n)], "odd": [(i + 1, i) for i in range(n)]}
        numbers = {"even": [], "odd": []}
        if cross != "reno":
            world.processes.sleep_until(epoch)
        for name, pairs in ways.items():
            for a, b in pairs:
                if cross == "reno":
                    downloads.run(name, crosses[a], address[crosses[a]], crosses[b], ["elephants:n=1,cc=reno"])
                else:
                    numbers[name] += senders.play(crosses[a], crosses[b], cross, seconds)
        if c1 == "reno":
            downloads.run("c1", "c1", address["c1"], SINK, [f"elephants:n=1,cc=reno,start={p['late']}"])
        world.processes.sleep_until(epoch + p["late"])
        number = senders.play("c1", SINK, c1, seconds - p["late"])[0] if c1 != "reno" else None
        reports = senders.finish(seconds + 60)
        downloads.finish()
        waited = world.processes.waited()
    figures = {"waited": waited}
    if cross != "reno":
        figures["spread"] = spread_of([reports[k] for k in numbers["even"] + numbers["odd"]])
    for name in ways:
        rates = downloads.mbps(name) if cross == "reno" else [wire_mbps(reports[k]) for k in numbers[name]]
        figures[f"{name}_mbps"] = float(np.mean(rates))
    if c1 == "reno":
        figures["c1_mbps"] = downloads.mbps("c1")[0] * seconds / (seconds - p["late"])
    else:
        figures |= {"c1_mbps": wire_mbps(reports[number]), "c1_loss": reports[number]["network"]["loss_rate"]}
    return figures


def hops_simulated(context, p, seconds, spread):
    n = p["hops"]
    c1 = "reno" if p["c1"] == "reno" else context.contender
    cross = "reno" if p["cross"] == "reno" else context.contender
    words = ["--hops", str(n), "--link", f"rate=1mbit,delay={HOP_MS}ms,queue=droptail:12p"]
    words += words_of(kind_of(c1), {2 * HOP_MS * (n + 2): 1}, f"start={p['late']}s", *([f"loss={p['loss']}%"] if p["loss"] else []))
    for i in range(n):
        for a, b in ((i, i + 1), (i + 1, i)):
            words += words_of(kind_of(cross), {6 * HOP_MS: 1}, f"from={a}", f"to={b}", spread=spread)
    first, *others = simulate(context.build, context.seed, seconds, *words).all("flow")
    figures = {"c1_mbps": first["goodput_bps"] / 1e6, "even_mbps": float(np.mean([f["goodput_bps"] for f in others[::2]])) / 1e6,
               "odd_mbps": float(np.mean([f["goodput_bps"] for f in others[1::2]])) / 1e6}
    if c1 != "reno":
        figures["c1_loss"] = first["loss"]
    return figures


def with_twin(context, real, simulated):
    """REAL and the twin's figures; SIMULATED(context) makes those of one seed."""
    runs = [simulated(dataclasses.replace(context, seed=context.seed + 1000 * k)) for k in range(SEEDS)]
    out = dict(real)
    for key in runs[0]:
        values = [run[key] for run in runs if run[key] is not None]
        if values:
            out |= {f"sim_{key}": float(np.mean(values)), f"sim_{key}_min": min(values), f"sim_{key}_max": max(values)}
    return out


# ---- The page


def text(rows, cell, contender, key, digits):
    e = rows.mean(cell, contender, key)
    return "-" if e is None else e.text(digits)


def compare(rows, page, caption, name, keys, cells):
    """A row for each cell, contender and figure: as programs, in simulation, the range of its seeds, and the difference in pairs."""
    out = []
    ends = {"_min": min, "_max": max}
    for cell in cells:
        for contender in rows.contenders(cell):
            for key, label, digits in keys:
                real, twin = rows.values(cell, contender, key), rows.values(cell, contender, f"sim_{key}")
                if not any(v is not None for v in real.values()):
                    continue
                difference = stats.paired_difference(real, twin)
                found = [[v for v in rows.values(cell, contender, f"sim_{key}{end}").values() if v is not None] for end in ends]
                span = " to ".join(f"{pick(values):.{digits}f}" for pick, values in zip(ends.values(), found) if values) or "-"
                out.append([cell, contender, len(real), label, text(rows, cell, contender, key, digits),
                            text(rows, cell, contender, f"sim_{key}", digits), span, "-" if difference is None else difference.text(digits)])
    if out:
        page.table(caption, ["cell", "contender", "runs", "figure", "programs", "simulated", "its seeds", "difference"], out, name)
