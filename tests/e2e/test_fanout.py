# SPDX-License-Identifier: GPL-2.0-or-later
"""Many viewers at once: each receives every frame completely."""
import os
import sys

import lib

sys.path.insert(0, os.path.join(lib.ROOT, "tests", "bench"))
import fanout  # noqa: E402

VIEWERS, SECONDS = 20, 3


class Fanout(lib.Case):
    def watch(self, transport, secure=False):
        fanout.SOURCE, fanout.LEVEL = lib.SOURCE, "426x240@30:400"
        run = fanout.Run(lib, self.folder, transport, VIEWERS, SECONDS, 0, secure=secure)
        row = run.measure()
        self.processes.append(run.sender)
        self.assertGreater(row["frames"], 0, row)
        if transport != "udp" or lib.datagrams_dropped() == self.dropped_before:
            self.assertEqual(row["incomplete"], 0, row)
        self.assertEqual(run.sender.stderr.count(", SRTP"), VIEWERS if secure and transport == "udp" else 0)

    def test_over_tcp(self):
        self.watch("minbuf")

    @lib.long
    def test_over_udp(self):
        self.watch("udp")

    @lib.long
    def test_over_tls(self):
        self.watch("minbuf", secure=True)

    @lib.long
    def test_over_srtp(self):
        self.watch("udp", secure=True)

    @lib.long
    def test_over_websockets(self):
        self.watch(fanout.WEBSOCKET)


if __name__ == "__main__":
    lib.main()
