# SPDX-License-Identifier: GPL-2.0-or-later
"""When each layer of a layered stream left the server, reached a proxy, and was read by the viewer, and figures of both.

A layer is a packet; its name is (frame number, layer). The times on the first link are those of its captures, the
viewer's those of weir-play's --adu-events; both are seconds of the machine's monotonic clock.
"""
from dataclasses import dataclass

import numpy as np

from lab import pcap

SNAP = 128  # bytes of a packet, from IP, that hold all RTP headers of a layer, for the link's --snap
BIN_S = 0.1  # of the time over which waits are judged
NEVER = float("nan")

UDP, RTP_VERSION, EXTENSION = 17, 2, 0x10
MEDIA_TYPES = (96, 97)  # as in common/wire/rtp.h, as are the ids and the fields of the extension
PROFILE_ONE_BYTE, STOP_ID, CAPTURE_ID, ADU_ID = 0xbede, 15, 1, 2
ADU_BYTES = 12
NTP_UNIX = 2208988800  # seconds from 1900 to 1970


@dataclass
class Layer:
    """Seconds; NaN: never, or not known."""
    captured: float = NEVER
    pushed: float = NEVER  # entered the backbone, or was written by the server
    proxied: float = NEVER  # left the backbone towards the proxy
    written: float = NEVER  # by what serves the viewer
    read: float = NEVER


def elements(packet):
    """Yields (id, data) of the RTP header's extension (RFC 8285, one-byte form)."""
    at = 12 + 4 * (packet[0] & 15)
    if not packet[0] & EXTENSION or len(packet) < at + 4 or int.from_bytes(packet[at:at + 2], "big") != PROFILE_ONE_BYTE:
        return
    end = min(len(packet), at + 4 + 4 * int.from_bytes(packet[at + 2:at + 4], "big"))
    at += 4
    while at < end:
        kind, size = packet[at] >> 4, (packet[at] & 15) + 1
        if packet[at] == 0:  # padding
            at += 1
            continue
        if kind == STOP_ID or at + 1 + size > end:
            return
        yield kind, packet[at + 1:at + 1 + size]
        at += 1 + size


def media_packet(ip):
    """Returns (number, layer, first packet of its frame) of an IPv4 packet that is RTP with media over UDP; else None."""
    header = (ip[0] & 15) * 4
    rtp = ip[header + 8:]
    if ip[0] >> 4 != 4 or ip[9] != UDP or len(rtp) < 12 or rtp[0] >> 6 != RTP_VERSION or rtp[1] & 0x7f not in MEDIA_TYPES:
        return None
    for kind, data in elements(rtp):
        if kind == ADU_ID and len(data) >= ADU_BYTES:
            return int.from_bytes(data[:4], "big"), data[4] >> 4 & 7
    return None


def first_times(path):
    """Returns {(number, layer): seconds} of a capture: when each layer's first packet was first seen."""
    found = {}
    for time, ip in pcap.read(path):
        layer = media_packet(ip)
        if layer is not None:
            found.setdefault(layer, time)
    return found


def packets_lost(entered_path, left_path):
    """Returns the share of the media packets, retransmissions too, that entered a link and did not leave it."""
    entered, left = (sum(media_packet(ip) is not None for _, ip in pcap.read(path)) for path in (entered_path, left_path))
    return max(0.0, 1 - left / entered) if entered else None


def packets_and_bytes(path, source=None):
    """Returns (seconds, bytes) of the packets of a capture, as arrays; SOURCE: only those from this IPv4 address."""
    wanted = bytes(int(part) for part in source.split(".")) if source else None
    rows = [(time, int.from_bytes(ip[2:4], "big")) for time, ip in pcap.read(path) if wanted is None or ip[12:16] == wanted]
    return np.array([r[0] for r in rows]), np.array([r[1] for r in rows])


def of_viewer(lines):
    """Returns {(number, layer): Layer} from the lines of weir-play's --events, as far as the viewer knows."""
    found = {}
    for line in lines:
        if line.get("event") != "adu" or line["read"] is None:
            continue
        value = lambda key: NEVER if line.get(key) is None else line[key]  # noqa: E731
        found.setdefault((line["number"], line.get("size", 0)),
                         Layer(value("captured"), value("written"), NEVER, value("written"), line["read"]))
    return found


def with_backbone(layers, entered, left):
    """Adds the times of the backbone, of captures: layers that never reached the viewer too, and all as pushed there."""
    for key, time in entered.items():
        layers.setdefault(key, Layer()).pushed = time
    for key, time in left.items():
        layers.setdefault(key, Layer()).proxied = time
    return layers


def five(delays):
    """Returns the five numbers of figure 51, of delays in seconds, as ms: mean, 5 %, 95 %, standard deviation, max."""
    delays = np.asarray(delays) * 1e3
    delays = delays[~np.isnan(delays)]
    if not delays.size:
        return dict.fromkeys(("mean", "p5", "p95", "sd", "max"))
    low, high = np.percentile(delays, [5, 95])
    return {"mean": float(delays.mean()), "p5": float(low), "p95": float(high), "sd": float(delays.std()),
            "max": float(delays.max())}


def column(layers, name):
    return np.array([getattr(layer, name) for layer in layers])


def delays_of(layers, since="pushed", layer=None):
    """Returns the seconds from SINCE until they were read, of those that were; LAYER: only of that one."""
    some = [l for (_, at), l in layers.items() if layer is None or at == layer]
    late = column(some, "read") - column(some, since)
    return late[~np.isnan(late)]


def per_frame(layers):
    """Returns (layers that were read, those of them with every lower layer) of each frame from the first to the last."""
    came = {number: set() for number, _ in layers}
    for (number, at), layer in layers.items():
        if not np.isnan(layer.read):
            came[number].add(at)
    every = [came.get(number, set()) for number in range(min(came), max(came) + 1)] if came else []
    return np.array([(len(got), next(k for k in range(len(got) + 1) if k not in got)) for got in every]).reshape(-1, 2)


def lost_between(layers, first, then):
    """Returns the share of the layers with the time FIRST that have no time THEN; None if there are none. The last second
    does not count, as they may still be on their way."""
    began = column(layers.values(), first)
    if not began.size or np.isnan(began).all():
        return None
    counted = began < np.nanmax(began) - 1
    return float(np.isnan(column(layers.values(), then)[counted]).mean()) if counted.any() else None


def waits(layers, since, until, least=0.0):
    """Returns (seconds, longest wait in s) of each BIN_S in which layers came to SINCE: the time from then to UNTIL, less
    LEAST, the path's own."""
    some = [l for l in layers.values() if not np.isnan(getattr(l, until)) and not np.isnan(getattr(l, since))]
    if not some:
        return np.empty(0), np.empty(0)
    came = column(some, since)
    wait = np.maximum(0, column(some, until) - came - least)
    bins = np.floor(came / BIN_S).astype(int)
    first = bins.min()
    longest = np.full(bins.max() - first + 1, np.nan)
    np.fmax.at(longest, bins - first, wait)
    kept = ~np.isnan(longest)
    return (np.nonzero(kept)[0] + first) * BIN_S, longest[kept]


def rates(times, sizes, begin, seconds):
    """Returns the bytes of each whole second from BEGIN."""
    times, sizes = np.asarray(times), np.asarray(sizes)
    inside = (times >= begin) & (times < begin + seconds)
    return np.bincount((times[inside] - begin).astype(int), weights=sizes[inside], minlength=int(seconds))[:int(seconds)]


def variation(values):
    """Returns standard deviation over mean; None without a mean."""
    values = np.asarray(values, dtype=float)
    return float(values.std() / values.mean()) if values.size and values.mean() else None


def swings(values):
    """Returns how often the values fall from above 1.2 times their mean to below 0.8 times: the zig-zag of figure 48."""
    values = np.asarray(values, dtype=float)
    if not values.size:
        return 0
    sides = [v > values.mean() for v in values if not 0.8 * values.mean() <= v <= 1.2 * values.mean()]
    return sum(1 for before, after in zip(sides, sides[1:]) if before and not after)
