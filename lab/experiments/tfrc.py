# SPDX-License-Identifier: GPL-2.0-or-later
"""TFRC in simulation: smoothness and friendliness to Reno (RFC 5348), and layered streams compared with UDP (Fiksdal 2003, 5.1).

Friendliness: as many flows of a contender as of Reno share a link, 1 and 16 of each, over RTTs and queues; Reno against
Reno shows the network's own effect. Thesis: 10 TCPs for 90 s with a stream of 8 layers of 1024 bytes for 80 s,
an RTT of 60 ms, DRD from 5 to 25 packets or drop-tail of 25. The thesis prints 100 Mbit/s, but its 10 TCPs get 25.5
Mbit/s in total together with TFRC (figure 21), so links of 30 and of 100 Mbit/s are run. It does not print the
stream's rate: 8 Mbit/s of 30 take from the TCPs about as much as in figure 21; 36 of 30 make half of UDP's layers
useless, as in figure 19.

The streams come in two ways. A plain flow of packets, to which layers.py assigns layers by the time they left; and
(layers-...) whole sessions of weir-send's sending core and weir-play's viewing core with synthetic:layers, in which each
layer is a frame, the scheduler drops layers, and the viewer counts the valid ones.
"""
import csv
import json
import os

import numpy as np

from lab.experiment import Cell, Experiment, Stand
from lab.experiments import layers, tfrc_report
from lab.experiments.tfrc_report import KOMSSYS
from lab.simulate import simulate

VARIANTS = ("tfrc", "tfrc:damp", "tfrc:selfclock/damp", KOMSSYS, "reno")
SESSIONS = {"layers-komssys": KOMSSYS, "layers-tfrc": "tfrc", "layers-udp": "udp"}
STREAMS = (KOMSSYS, "tfrc", "udp", "udp-bursts", *SESSIONS)
# Goals of the quick version: those of 16 flows, and of a stream's means. Not: one flow next to one Reno, whose share needs more time and
# seeds, and how steady the seconds of 30 s are.
JUDGED = ("16v16", "wastes layers", "takes from the 10 TCPs", "more layered goodput", "layers that are of use")
GUESSED = "the media's rate, and so the rate of UDP, is not printed; the TCPs beside it are Reno or SACK for FACK"
PAPERS = (Stand(KOMSSYS, "TFRC of Komssys (3.5, 5.1)", "computed at the sender, not at the receiver; " + GUESSED),
          Stand("layers-komssys", "the same, with layers that the scheduler drops", GUESSED),
          Stand("udp-bursts", "UDP, a frame's packets at once (5.1)", GUESSED),
          Stand("udp", "the same", "spaces packets evenly"),
          Stand("layers-udp", "the same, with layers", "paces packets at 2.5 times the media's rate"))
SETTLED = 30  # s
FLOW_MBIT = {1: 5, 16: 2.5}  # a flow's fair share
LAYERS, LAYER_BYTES = 8, 1024
STREAM_PACKET = LAYER_BYTES + 12 + 28  # RTP; IP and UDP
THESIS_QUEUES = {"drd": "drd:25p:min=5p:max=25p", "droptail": "droptail:25p"}
THESIS_RATES = ((100, 20), (30, 8), (30, 36))  # Mbit/s of the link, of the media


def bdp_packets(mbit, rtt_ms):
    return mbit * rtt_ms / 12


def queue_text(kind, bdp):
    """KIND: a multiple of the bandwidth-delay product, or red: as in Floyd, Handley, Padhye and Widmer 2000, up to
    2.5 of it, thresholds of a quarter and one and a quarter."""
    packets = lambda share: max(2, round(share * bdp))  # noqa: E731
    if kind == "red":
        return f"red:{max(10, packets(2.5))}p:min={packets(0.25)}p:max={max(5, packets(1.25))}p"
    return f"droptail:{max(5, packets(float(kind.removesuffix('bdp'))))}p"


# Variants of Reno: with Linux's min RTO instead of RFC 6298's, with an ACK for each packet.
RENOS = {"": "", "linuxrto": ",minrto=200ms", "nodelack": ",delack=0s"}


def friendly_cell(n, rtt, queue, reno=""):
    """RTT: ms, or a pair."""
    rtts = rtt if isinstance(rtt, tuple) else (rtt, rtt)
    name = "-".join(t for t in (f"{n}v{n}", "..".join(str(r) for r in dict.fromkeys(rtts)) + "ms", queue, reno) if t)
    return Cell(name, {"kind": "friendly", "n": n, "rtt": rtts, "queue": queue, "reno": reno}, contenders=VARIANTS)


def thesis_cell(mbit, media, queue, tcp):
    return Cell(f"thesis-{mbit}mbit-{media}media-{queue}-{tcp}",
                {"kind": "thesis", "mbit": mbit, "media": media, "queue": queue, "tcp": tcp}, contenders=STREAMS)


def rtt_text(rtts):
    return f"{rtts[0]}ms..{rtts[1]}ms" if rtts[0] != rtts[1] else f"{rtts[0]}ms"


def friendly(context):
    p, seconds = context.cell.params, context.experiment.options["friendly_seconds"]
    n, (least, most) = p["n"], p["rtt"]
    mbit = 2 * n * FLOW_MBIT[n]
    link = f"rate={mbit:g}mbit,queue={queue_text(p['queue'], bdp_packets(mbit, (least + most) / 2))},delay=5ms"
    # Without randomness in the hosts, the phase determines the shares: with an ACK-clocked Reno, whose packets arrive
    # when others leave, TFRC gets 1.2 or 7 times as much as Reno, depending on the delays. The remedy of Floyd and
    # Jacobson (1991) is a random delay of up to a packet's time on the bottleneck.
    ends = f"n={n},rtt={rtt_text(p['rtt'])},spread=1s,overhead={round(12000 / mbit)}us"
    reno = f"reno:{ends}{RENOS[p['reno']]}"
    own = reno if context.contender == "reno" else f"datagram:{ends},cc={context.contender}"
    words = ["--link", link, "--since", str(SETTLED), reno, own]
    keep = context.run == 0 and n == 1
    series = os.path.join(context.directory, "series.csv") if keep else None
    done = simulate(context.build, context.seed, seconds, *words, series=series, step=1)
    groups, flows = done.all("group"), done.all("flow")
    there = next(l for l in done.all("link") if l["to"] == "right")
    if keep:
        sent = {k: np.diff([int(r["sent_bytes"]) for r in done.series if r["flow"] == str(k)]) * 8e-6 for k in (0, 1)}
        np.savez_compressed(context.kept("npz"), reno=sent[0], own=sent[1])
        os.unlink(series)
    mean = lambda i, key: float(np.mean([f[key] or 0 for f in flows if f["group"] == i]))  # noqa: E731
    total = sum(g["goodput_bps"] for g in groups)
    return {"ratio": groups[1]["goodput_bps"] / max(1.0, groups[0]["goodput_bps"]),
            "share": groups[1]["goodput_bps"] / total, "use": total / mbit / 1e6,
            "loss_reno": groups[0]["loss"], "loss": groups[1]["loss"], "jain": groups[1]["jain"],
            "cov_1s": mean(1, "burst_tx1s"), "cov_1s_reno": mean(0, "burst_tx1s"),
            "cov_100ms": mean(1, "burst_tx100ms"), "cov_100ms_reno": mean(0, "burst_tx100ms"),
            "queue_p50_ms": there["queue_delay_p50_ms"], "queue_p99_ms": there["queue_delay_p99_ms"]}


def frame_seconds(media):
    return LAYERS * STREAM_PACKET * 8 / (media * 1e6)


def stream_words(contender, media, seconds):
    ends = f"size={STREAM_PACKET}B,stop={seconds}s"
    if contender == "udp-bursts":
        # The packets of a frame leave at once, at the speed of the sender's Ethernet; the last one begins within on=.
        on = round((LAYERS - 0.5) * STREAM_PACKET * 8 / 100)
        off = round(frame_seconds(media) * 1e6) - on
        return f"cbr:rate=100mbit,on={on}us,off={off}us,{ends}"
    cc = "fixed" if contender == "udp" else contender
    return f"datagram:cc={cc},rate={media}mbit,{ends}"


def arrivals(path):
    with open(path, encoding="ascii", newline="") as f:
        rows = [(int(r["number"]), int(r["sent_us"])) for r in csv.DictReader(f)]
    return np.array([r[0] for r in rows], dtype=int), np.array([r[1] for r in rows], dtype=float) / 1e6


def session(directory, build, seed, p, via, seconds, more=""):
    """10 TCPs and a session: figures of thesis(), from the viewer's own report."""
    link = f"rate={p['mbit']}mbit,queue={THESIS_QUEUES[p['queue']]},delay=30ms"
    fps = round(p["media"] * 1e6 / (8 * LAYERS * LAYER_BYTES))
    prefix = os.path.join(directory, "session")
    done = simulate(build, seed, seconds + 10, "--link", link, "--streams", prefix,
                    f"{p['tcp']}:n=10,spread=1s,overhead={round(12000 / p['mbit'])}us",
                    f"stream:via={via},media=layers:{LAYERS}/{LAYER_BYTES}/{fps},level={LAYERS - 1},fragment=1200B,"
                    f"length={seconds}s,stop={seconds}s{more}")
    with open(f"{prefix}-10.json", encoding="utf-8") as f:
        report = json.load(f)
    for path in (f"{prefix}-10.json", f"{prefix}.csv"):
        os.unlink(path)
    tcp, stream = done.all("group")
    found = report["layers"]
    throughput, goodput = found["throughput_bps"] / 1e6, found["goodput_bps"] / 1e6
    return {"tcp_mbps": tcp["goodput_bps"] / 1e6, "tcp_jain": tcp["jain"], "loss": stream["loss"],
            "throughput_mbps": throughput, "goodput_mbps": goodput, "useful": goodput / throughput,
            "layers": found["mean"], "changes": found["changes"]}


def thesis(context):
    p, seconds = context.cell.params, context.experiment.options["stream_seconds"]
    if context.contender in SESSIONS:
        return session(context.directory, context.build, context.seed, p, SESSIONS[context.contender], seconds)
    path = os.path.join(context.directory, "arrivals.csv")
    link = f"rate={p['mbit']}mbit,queue={THESIS_QUEUES[p['queue']]},delay=30ms"
    done = simulate(context.build, context.seed, seconds + 10, "--link", link,
                    f"{p['tcp']}:n=10,spread=1s,overhead={round(12000 / p['mbit'])}us",
                    stream_words(context.contender, p["media"], seconds), "--arrivals", f"10:{path}")
    numbers, sent = arrivals(path)
    os.unlink(path)
    counts = layers.count(numbers, sent, frame_seconds(p["media"]), seconds, LAYERS)
    rates = layers.per_second(counts, frame_seconds(p["media"]), LAYER_BYTES) / 1e6
    tcp, stream = done.all("group")
    if context.run == 0:
        np.savez_compressed(context.kept("npz"), rates=rates)
    throughput, goodput = rates.mean(axis=0)
    return {"tcp_mbps": tcp["goodput_bps"] / 1e6, "tcp_jain": tcp["jain"], "loss": stream["loss"],
            "throughput_mbps": float(throughput), "goodput_mbps": float(goodput),
            "useful": float(goodput / throughput) if throughput else None, "goodput_sd": float(rates[:, 1].std()),
            # The change of the number of layers from one frame to the next, which a viewer sees.
            "layers": float(counts[:, 1].mean()), "layer_changes": float(np.abs(np.diff(counts[:, 1])).mean())}


def one(context):
    os.makedirs(context.directory, exist_ok=True)
    return friendly(context) if context.cell.params["kind"] == "friendly" else thesis(context)


def check_quick(rows):
    """Checks loose bounds for the quick version."""
    rows = tfrc_report.Rows(rows)
    failed = []
    for cell in rows.cells():
        for contender in rows.contenders(cell):
            at = lambda key: rows.mean(cell, contender, key)  # noqa: E731
            ratio, use, useful = at("ratio"), at("use"), at("useful")
            if ratio and contender == "tfrc" and not 0.2 <= ratio.value <= 5:
                failed.append(f"{cell} {contender}: {ratio.value:.2f} times Reno's throughput, 0.2 to 5 expected")
            if use and use.value < 0.8:
                failed.append(f"{cell} {contender}: {use.value:.2f} of the link is used, more than 0.8 expected")
            if useful and contender in (KOMSSYS, "layers-komssys", "layers-tfrc") and useful.value < 0.8:
                failed.append(f"{cell} {contender}: {useful.value:.2f} of the layers are valid, 0.8 expected")
    for pair in ((KOMSSYS, "udp"), ("layers-komssys", "layers-udp")):
        own, udp = (rows.mean("thesis-30mbit-8media-drd-reno", c, "tcp_mbps") for c in pair)
        if not own or not udp or own.value <= udp.value:
            failed.append(f"10 TCPs do not get more beside {pair[0]} than beside {pair[1]}")
    return failed


def experiment(quick, _options):
    title = "TFRC: smoothness, friendliness, layered streams"
    if quick:
        cells = [friendly_cell(1, 50, "1bdp"), friendly_cell(16, 50, "1bdp"), thesis_cell(30, 8, "drd", "reno")]
        return Experiment("tfrc", title + " (quick)", cells, [], one, tfrc_report.write, runs=2, seconds=1,
                          check=check_quick, options={"friendly_seconds": 90, "stream_seconds": 30}, papers=PAPERS, judged=JUDGED)
    cells = [friendly_cell(n, rtt, queue) for n in (1, 16) for rtt in (20, 50, 200)
             for queue in ("0.5bdp", "1bdp", "2bdp", "red")]
    cells += [friendly_cell(16, (20, 200), queue) for queue in ("1bdp", "red")]
    cells += [friendly_cell(n, 50, "1bdp", reno) for n in (1, 16) for reno in ("linuxrto", "nodelack")]
    cells += [thesis_cell(mbit, media, queue, tcp) for mbit, media in THESIS_RATES for queue in THESIS_QUEUES
              for tcp in ("reno", "sack")]
    return Experiment("tfrc", title, cells, [], one, tfrc_report.write, runs=3, seconds=1.5,
                      options={"friendly_seconds": 200, "stream_seconds": 80}, papers=PAPERS)
