# SPDX-License-Identifier: GPL-2.0-or-later
"""Live media on bad networks: a link whose rate falls to a quarter and recovers, a path that loses packets, a calm one,
one shared with a TCP download, and one of two parts with a proxy between. Each of Weir's transports with its default latency, with a budget of 300 ms and with
none; Chrome's WebRTC where installed.
"""
from lab import chrome, net, streaming
from lab.crossings import mean_between, series_of
from lab.experiment import Cell, Experiment
from lab.experiments import live_report
from lab.experiments.live_report import CALM, END_TO_END, HIGH_MBIT, LOW_MBIT, PROXIED, STEPS
from lab.streaming import DRAIN, LEAD, Conditions

TRANSPORTS = ("minbuf:1,3", "mtp", "tfrc", "scream", "udp", "arc")
LATENCIES = ("", " latency=300", " low-latency")
CONTENDERS = [t + latency for latency in LATENCIES for t in TRANSPORTS]
SRT = ("srt-120", "srt-500")  # at the ladder's top rate; it does not follow the network, so not next to TCP
PEERS = tuple(chrome.KINDS)

TOP_MBPS = 1.92  # the top of the ladder, which is less than the high rate
AFTER_S = (5, 7)  # the seconds after a step in which its use is measured
QUEUE = "droptail:50000B"
WARM, CALM_WARM = 3, 5  # seconds of media that do not count
SHARED_MBIT, SHARED_RTT_MS = 10, 50
# A long path that loses packets, and a narrow access: through a proxy, and from end to end.
BACKBONE, BACKBONE_BACK = "rate=100mbit,queue=droptail:100ms,delay=50ms,loss=1%", "delay=50ms"
ACCESS = "rate=1mbit,queue=droptail:400ms,delay=10ms", "delay=10ms"
# Next to a TCP flow the media must be able to take more than half of the link.
LADDER = ("320x180@30:240", "640x360@30:900", "1280x720@15:2400", "1280x720@30:6000")


def cells():
    return [Cell("step", {"rtt": 50, "duration": 36}), Cell("loss-1%", {"rtt": 100, "duration": 20, "loss": "1%"}),
            Cell("loss-5%", {"rtt": 100, "duration": 20, "loss": "5%"}),
            Cell("calm", {"rtt": 50, "duration": 20}, contenders=(*CALM, *CONTENDERS[len(TRANSPORTS):], *SRT, *PEERS)),
            *(Cell(cc, {"rtt": SHARED_RTT_MS, "duration": 40, "cc": cc}, contenders=(*CONTENDERS, *PEERS))
              for cc in ("reno", "cubic")),
            Cell("proxy", {"rtt": 120, "duration": 60}, contenders=(PROXIED, END_TO_END))]


def step_text():
    down, up = (round((LEAD + s) * 1000) for s in STEPS)
    return f"rate={HIGH_MBIT}mbit:{LOW_MBIT}mbit@{down}ms:{HIGH_MBIT}mbit@{up}ms"


def conditions_of(cell, source):
    p = cell.params
    delay = f"delay={p['rtt'] / 2:g}ms"
    if "cc" in p:
        forward = f"rate={SHARED_MBIT}mbit,queue=droptail:{net.bdp_bytes(SHARED_MBIT, p['rtt'])}B,{delay}"
        return Conditions(forward, delay, p["duration"], WARM, source, LADDER, 6000,
                          (f"elephants:n=1,cc={p['cc']}",), capture=True)
    if cell.name == "proxy":
        return Conditions(BACKBONE, BACKBONE_BACK, p["duration"], CALM_WARM, source, access=ACCESS)
    rate = step_text() if cell.name == "step" else f"rate={HIGH_MBIT}mbit"
    loss = f"loss={p['loss']}," if "loss" in p else ""
    return Conditions(f"{rate},queue={QUEUE},{loss}{delay}", delay, p["duration"],
                      CALM_WARM if cell.name == "calm" else WARM, source,
                      sound=cell.name == "calm", capture=cell.name == "step")


def use_after(rate, step, link_mbit):
    """Returns the share of what the link and the ladder allow that left the link some seconds after a step. RATE: Mbit/s
    out of the link every STEP_S since its start."""
    begin, end = (LEAD + step + s for s in AFTER_S)
    return mean_between(rate, begin, end) / min(link_mbit, TOP_MBPS)


def one(context):
    conditions = conditions_of(context.cell, context.experiment.options["source"])
    viewed = streaming.view(context, conditions, context.contender)
    figures = viewed.figures
    seconds = LEAD + conditions.duration
    if context.cell.name == "step":
        _, out, _ = series_of(viewed.crossings, viewed.begin, seconds)
        figures |= {"use_low": use_after(out, STEPS[0], LOW_MBIT), "use_high": use_after(out, STEPS[1], HIGH_MBIT)}
        if context.run == 0:
            streaming.save_series(context.kept("npz"), viewed, seconds)
    return figures


def check_quick(rows):
    """Checks that all programs run, and that the figures are possible."""
    delays = {c.name: c.params["rtt"] / 2 for c in cells()}
    failed = []
    for row in rows:
        f, what = row["figures"], f"{row['cell']} {row['contender']}"
        failed += [f"{what}: {text}" for text in streaming.implausible(f, delays[row["cell"]])]
        if row["cell"] == "step" and not 0.1 < f["use_low"] < 1.1:
            failed.append(f"{what}: {f['use_low']:.2f} of the low rate used, 0.1 to 1.1 expected")
        if row["cell"] in ("reno", "cubic") and not 0 < f["tcp_mbps"] < SHARED_MBIT * 1.05 - f["media_mbps"]:
            failed.append(f"{what}: {f['tcp_mbps']:.2f} + {f['media_mbps']:.2f} Mbit/s on a link of {SHARED_MBIT}")
    return failed


def experiment(quick, options):
    settings = {"source": options.get("clip", "test:1280x720@30")}
    title, every = "Live media on bad networks", cells()
    mean = sum(c.params["duration"] for c in every) / len(every) + LEAD + DRAIN + 1
    if quick:
        some = [Cell(c.name, c.params, True, contenders) for c in every for contenders in [
            {"step": ("mtp", "minbuf:1,3 low-latency"), "loss-1%": ("udp latency=300",), "reno": ("scream",)}.get(c.name)]
            if contenders]
        return Experiment("live", title + " (quick)", some, CONTENDERS, one, live_report.write, runs=1, seconds=mean,
                          check=check_quick, missing=streaming.missing, options=settings)
    return Experiment("live", title, every, [*CONTENDERS, *SRT, *PEERS, PROXIED, END_TO_END], one,
                      live_report.write, runs=3, seconds=mean,
                      missing=streaming.missing, options=settings)
