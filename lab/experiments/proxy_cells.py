# SPDX-License-Identifier: GPL-2.0-or-later
"""The paths of chapter 6 of Fiksdal's thesis (2003), and what it printed of them: figures 28, 44, 47 and 51.

All delay is towards the viewer, as in the thesis, so a delay is a round-trip time there. The access link loses packets at
random, towards the viewer only. Queues are one bandwidth-delay product, that of the access at least 10 packets of 1500
bytes; NIST Net's was unlimited in the six runs of figure 47.
"""
from dataclasses import dataclass

BACKBONE_MBIT = 100
ACCESS_QUEUE_MIN = 15000  # bytes
UNLIMITED = "1000000p"


@dataclass(frozen=True)
class Path:
    """One of the thesis's conditions."""
    name: str
    figure: int  # 28, 44, 47; 52 is the nine of figure 28 at 200 and 10 ms, without printed numbers
    traffic: str  # on the backbone: none, medium or high
    loss: float  # on the access link, %
    backbone_ms: float
    access_ms: float
    access_kbit: int = 1000
    udp_mbit: float = 0  # mean rate of the datagrams of the backbone's traffic, calibrated to `lost`
    lost: float = None  # %, of the stream in the backbone, as printed; of figure 44: also at the proxy
    published: tuple = ()  # delay of the layers, ms: mean, 5 %, 95 %, standard deviation, max

    @property
    def blocking(self):
        """True of the thesis's runs with a proxy that blocks."""
        return self.figure in (44, 47)


def _bytes(mbit, ms):
    return round(mbit * 1e6 / 8 * ms / 1e3)


def backbone_text(p):
    return f"rate={BACKBONE_MBIT}mbit,queue=droptail:{_bytes(BACKBONE_MBIT, p.backbone_ms)}B,delay={p.backbone_ms:g}ms"


def access_text(p):
    queue = UNLIMITED if p.figure == 47 else f"{max(ACCESS_QUEUE_MIN, _bytes(p.access_kbit / 1e3, p.access_ms))}B"
    loss = f"loss={p.loss:g}%," if p.loss else ""
    return f"rate={p.access_kbit}kbit,queue=droptail:{queue},{loss}delay={p.access_ms:g}ms"


# Figures 28 and 51: (traffic, loss at the access): (delays, Mbit/s of datagrams, loss in the backbone, the five numbers).
FIGURE_28 = {
    ("none", 0): (200, 10, 0, None, (233.8, 226.0, 244.0, 8.6, 336)),
    ("none", 2): (400, 13, 0, None, (452.2, 426.0, 565.0, 46.4, 719)),
    ("none", 5): (200, 10, 0, None, (372.6, 217.7, 744.0, 174.4, 1036)),
    ("medium", 0): (50, 7, 94, 2.8, (80.4, 72.0, 92.0, 8.5, 180)),
    ("medium", 2): (200, 15, 94, 1.6, (240.6, 219.0, 314.0, 34.9, 496)),
    ("medium", 5): (100, 15, 105, 3.3, (246.0, 127.8, 577.25, 153.3, 950)),
    ("high", 0): (300, 5, 121, 11.2, (324.6, 315.0, 340.4, 9.6, 408)),
    ("high", 2): (300, 20, 104, 4.6, (346.1, 331.0, 422.0, 42.3, 593)),
    ("high", 5): (50, 12, 104, 3.4, (144.1, 66.0, 322.0, 90.6, 564)),
}
# Figures 44 and 51: traffic: (delays, access kbit/s, Mbit/s of datagrams, loss in all, the five numbers).
FIGURE_44 = {
    "none": (100, 8, 512, 0, 1.6, (799.0, 545.0, 1052.0, 172.5, 1349)),
    "medium": (100, 15, 256, 98, 5.4, (683.6, 141.1, 1156.0, 294.8, 1444)),
    "high": (50, 12, 128, 104, 21.5, (3439.7, 2130.7, 4561.2, 975.0, 5455)),
}
# Figures 47 and 51, at 200 and 10 ms: (access kbit/s, loss at the access): the five numbers.
FIGURE_47 = {
    (512, 0): (1453.8, 479.05, 1885.7, 375.5, 1997), (512, 2): (726.7, 246.1, 952.0, 181.5, 1166),
    (512, 5): (650.8, 231.0, 1023.0, 254.3, 1907), (128, 0): (5959.7, 473.1, 7802.35, 2079.2, 8161),
    (128, 2): (2606.4, 588.0, 3826.6, 886.4, 4823), (128, 5): (2153.4, 754.4, 3159.3, 689.8, 3609),
}
# Figure 52: all at 200 and 10 ms; the datagrams' rates of its traffic.
FIGURE_52_MBIT = {"none": 0, "medium": 94, "high": 108}


def paths():
    """Returns every Path: the 18 of figures 28, 44 and 47, and the nine of figure 28 at 200 and 10 ms."""
    return [*(Path(f"fig28-{traffic}-{loss}%", 28, traffic, loss, backbone, access, udp_mbit=mbit, lost=lost, published=five)
              for (traffic, loss), (backbone, access, mbit, lost, five) in FIGURE_28.items()),
            *(Path(f"fig44-{traffic}-{kbit}kbit", 44, traffic, 0, backbone, access, kbit, mbit, lost, five)
              for traffic, (backbone, access, kbit, mbit, lost, five) in FIGURE_44.items()),
            *(Path(f"fig47-{kbit}kbit-{loss}%", 47, "none", loss, 200, 10, kbit, published=five)
              for (kbit, loss), five in FIGURE_47.items()),
            *(Path(f"fig52-{traffic}-{loss}%", 52, traffic, loss, 200, 10, udp_mbit=mbit)
              for traffic, mbit in FIGURE_52_MBIT.items() for loss in (0, 2, 5))]


# The traffic: two Reno downloads, and datagrams in on and off periods of Pareto lengths.
PARETO_FLOWS = 20
PARETO_ON_S, PARETO_OFF_S, PARETO_SHAPE, PARETO_BYTES = 0.5, 1, 1.5, 1472


def traffic_specs(p):
    """Returns weir-traffic's specifications."""
    if not p.udp_mbit:
        return []
    on_share = PARETO_ON_S / (PARETO_ON_S + PARETO_OFF_S)
    each = round(p.udp_mbit * 1e6 / PARETO_FLOWS / on_share)
    return ["elephants:n=2,cc=reno", f"udp-pareto:n={PARETO_FLOWS},rate={each}bit,size={PARETO_BYTES},on={PARETO_ON_S:g},"
            f"off={PARETO_OFF_S:g},shape={PARETO_SHAPE:g}"]
