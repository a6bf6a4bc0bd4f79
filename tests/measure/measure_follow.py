# SPDX-License-Identifier: GPL-2.0-or-later
"""The rate of live media adapts to the network: it falls when a TCP path becomes slow, and rises when it is fast again."""
import time

import lib
from figures import Measurement
from relay import Relayed


class Follow(Measurement, Relayed):
    def measure_a_path_that_is_slow_for_a_while(self):
        server = self.server()
        relay = self.relay(server.port)
        p = self.player(relay.url, "--transport", "minbuf", "--duration", "22")
        p.wait_shown(60)
        relay.tcp_rate = 300e3
        time.sleep(7)
        slow = sorted(self.stats()[-5:], key=lambda line: line["adaptation"]["target"])[2]  # the median: it probes, too
        relay.tcp_rate = 0.0
        self.assertEqual(p.wait(40), 0, str(p))
        fast, r = self.stats()[-1], p.report()
        low, high = slow["adaptation"]["target"], fast["adaptation"]["target"]
        self.figure("path of 300 kbit/s: target", low / 1e3, 56, 300, "kbit/s")
        self.figure("path of 300 kbit/s: level", slow["level"], high=4)
        self.figure("path that is fast again: target over the slow one's", high / low, low=2)
        self.figure("path that is fast again: levels gained", fast["level"] - slow["level"], low=1)
        self.figure("path that is slow for 7 s: stalls", r["rebuffering"]["total"], high=3, unit="s")
        self.figure("path that is slow for 7 s: frames shown in 22 s", len(p.shown()), low=22 * lib.FPS * 0.3)

    def lowest_level(self):
        """Returns the values of the two viewers in the last second."""
        return min((line["level"] for line in self.stats()[-2:] if line["playing"]), default=9)

    def measure_a_slow_viewer_beside_a_quick_one(self):
        server = self.server()
        relay = self.relay(server.port)
        quick, slow = (self.player(url, "--transport", "minbuf") for url in (server.url, relay.url))
        slow.wait_shown(30)
        relay.tcp_rate = 300e3
        begun = time.monotonic()
        lib.until(lambda: self.lowest_level() < 3, "the level to fall", 15)
        self.figure("slow viewer beside a quick one: level falls after", time.monotonic() - begun, high=15, unit="s")
        relay.tcp_rate = 0.0
        begun = time.monotonic()
        lib.until(lambda: self.lowest_level() > 4, "the level to rise again", 25)
        self.figure("slow viewer beside a quick one: level is back after", time.monotonic() - begun, high=25, unit="s")
        for p in quick, slow:
            p.signal(lib.signal.SIGTERM)
            self.assertEqual(p.wait(), 130, str(p))
        self.figure("quick viewer beside a slow one: switches of level", len(quick.report()["levels"]["switches"]), high=0)
