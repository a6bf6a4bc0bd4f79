#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP segments of `minbuf` on an emulated link, captured: each begins with a packet, and packets follow the path's MSS.
What the sender says of ECN.

The module is skipped where network namespaces are not permitted."""
import os
import re
import signal
import subprocess
import sys
import unittest

import lib
import link_case
from link_case import A, LinkCase

sys.path.insert(0, lib.ROOT)
from lab import pcap  # noqa: E402

# Media of 550 kbit/s beyond what the link carries, so that data waits in the send buffer.
LINK = "rate=500kbit,queue=droptail:100ms,delay=20ms"
SOURCE = "synthetic:goddard"


def setUpModule():
    link_case.set_up()


class Segments(LinkCase):
    def watch(self, transport, seconds, meanwhile=None):
        """Plays over the link; returns the segments of the connection (pcap.segments)."""
        link = self.link(LINK, "delay=20ms", "--pcap", self.path("link"))
        a, b = self.ends
        server = self.sender(source=SOURCE, listen=f"{A}:0", prefix=a.inside())
        p = self.player(f"{server.url}?level=4", "--no-audio", "--transport", transport, prefix=b.inside())
        if meanwhile:
            meanwhile(server)
        self.end_after(p, 25 * seconds)
        server.stop()
        self.log = server.stderr
        self.stop_cleanly(link)
        port = int(re.search(r":(\d+)/", server.url).group(1))
        return pcap.segments(self.path("link-a-in.pcap"), port)

    def test_each_begins_with_a_packet(self):
        for transport in "minbuf:1,3", "minbuf:auto,100":
            with self.subTest(transport=transport):
                segments = self.watch(transport, 5)
                begun = sum(begins for _, begins in segments)
                self.assertGreater(len(segments), 50)
                self.assertGreaterEqual(begun, 0.95 * len(segments), f"{begun} of {len(segments)}")

    def test_what_precedes_the_first_picture_shares_segments(self):
        """The sender report shares one with the responses, and the parameter sets one with the key frame: each segment may be
        lost, and then all that follows waits."""
        for _ in range(8):  # the kernel ends a cork after 200 ms, in which a busy machine may not let the sender run
            apart = self.apart()
            if not apart:
                return
        self.fail(f"never together: {apart}")

    def apart(self):
        """Begins a session; returns what ends a segment of the report and the parameter sets."""
        link = self.link("rate=20mbit,delay=20ms", "delay=20ms", "--pcap", self.path("link"))
        server = self.sender(listen=f"{A}:0", prefix=self.ends[0].inside())
        p = self.player(server.url, "--transport", "minbuf:1,3", "--no-audio", prefix=self.ends[1].inside())
        p.wait_shown()
        p.signal(signal.SIGTERM)
        self.assertEqual(p.wait(), 130, str(p))
        server.stop()
        self.stop_cleanly(link)
        stream = pcap.longest_stream(self.path("link-a-in.pcap"), server.port)
        data, ends = stream.contiguous()
        boundaries = {end for end, _ in ends}
        packets = [(at, end) for at, end in pcap.messages(data) if data[at] == 0x24]
        report = next(at for at, _ in packets if data[at + 1] % 2)

        def nal(rtp):  # its extension is as long as bytes 14 and 15 say
            return rtp[16 + 4 * int.from_bytes(rtp[14:16], "big")] & 0x1F

        sets = [end for at, end in packets if data[at + 1] % 2 == 0 and nal(data[at + 4:end]) in (7, 8)][:2]
        self.assertEqual(len(sets), 2)
        return ["before the report"] * (report in boundaries) + ["behind a set"] * len(boundaries & set(sets))

    @lib.long
    def test_packets_follow_the_mss(self):
        """The path's MTU falls while media flows: segments become smaller, and still begin with packets."""
        def shrink(server):
            lib.until(lambda: os.path.exists(self.path("link-a-in.pcap")) and
                      os.path.getsize(self.path("link-a-in.pcap")) > 60000, "media", 30)
            device = next(d for d in self.ends[0].devices() if d != "lo")
            subprocess.run(self.ends[0].inside("ip", "link", "set", device, "mtu", "1000"), check=True)

        lib.need("ip")
        segments = self.watch("minbuf:1,3", 10, shrink)
        longest = max(length for length, _ in segments)
        self.assertGreater(longest, 1400)
        last = max(i for i, (length, _) in enumerate(segments) if length > 1000)
        after = segments[last + 1:]
        self.assertGreater(len(after), 50)
        self.assertLess(max(length for length, _ in after), 1000)
        # Packets of the old size that waited in the socket are cut in two; a busy machine lets more of them wait.
        settled = after[len(after) // 3:]
        begun = sum(begins for _, begins in settled)
        self.assertGreaterEqual(begun, 0.95 * len(settled), f"{begun} of {len(settled)}")

    def test_hint_at_ecn(self):
        """As the viewer's kernel does not ask for ECN, the sender says so, once; not if it does."""
        hint = "media over TCP without ECN"
        for asks, transport, times in (2, "minbuf", 1), (1, "tcp", 0):
            with self.subTest(asks=asks):
                subprocess.run(self.ends[1].inside("sh", "-c", f"echo {asks} >/proc/sys/net/ipv4/tcp_ecn"), check=True)
                self.watch(transport, 1)
                self.assertEqual(self.log.count(hint), times, self.log)


if __name__ == "__main__":
    lib.main()
