# SPDX-License-Identifier: GPL-2.0-or-later
"""Live media follows its network: less is sent when a TCP path becomes slow, and more again when it is fast."""
import time
import unittest

import lib
from relay import Relayed


class Follow(Relayed):
    def adaptation(self):
        return self.stats()[-1]["adaptation"]

    def lowest_level(self):
        """Of the two viewers in the last second."""
        return min((line["level"] for line in self.stats()[-2:] if line["playing"]), default=9)

    def slow_then_fast(self, *args):
        """(player, (seconds, figures of the sender) of the slow time's end, (seconds, figures) of the end)"""
        server = self.server()
        relay = self.relay(server.port)
        p = self.player(relay.url, "--transport", "minbuf", "--duration", "22", *args)
        p.wait_shown(60)
        relay.tcp_rate = 300e3
        time.sleep(7)
        slow = sorted(self.stats()[-5:], key=lambda line: line["adaptation"]["target"])[2]  # the median: it probes, too
        relay.tcp_rate = 0.0
        self.assertEqual(p.wait(40), 0, str(p))
        return p, slow, self.stats()[-1]

    @unittest.skipIf(lib.SLOW > 1, "a sanitizer's encoder does not reach the rate")
    def test_the_rate_falls_and_rises(self):
        p, slow, fast = self.slow_then_fast()
        low, high = slow["adaptation"], fast["adaptation"]
        self.between(56e3, low["target"], 300e3)
        self.assertLess(slow["level"], 5)
        self.assertGreater(high["target"], 2 * low["target"])
        self.assertGreater(fast["level"], slow["level"])
        self.assertIn("network", {e["why"] for e in p.events("level")})
        r = p.report()
        self.assertEqual(r["ended"], "duration")
        self.assertEqual(r["network"]["packets_lost"], 0)
        self.assertLess(r["rebuffering"]["total"], 3, r["rebuffering"])
        frames = [e for e in p.events("frame") if "shown" in e]
        self.assertGreater(len(frames), 22 * lib.FPS * 0.3)

    def quick_and_slow(self, seconds):
        """Two viewers, and the relay that is slow from now on for the second of them."""
        server = self.server()
        relay = self.relay(server.port)
        quick, slow = (self.player(url, "--transport", "minbuf", "--duration", str(seconds)) for url in (server.url, relay.url))
        slow.wait_shown(30)
        relay.tcp_rate = 300e3
        return quick, slow, relay

    def test_two_viewers_share_the_levels(self):
        quick, slow, _ = self.quick_and_slow(10)
        for p in quick, slow:
            self.assertEqual(p.wait(30), 0, str(p))
        last = {line["session"]: line for line in self.stats() if line["playing"]}
        self.assertEqual(len(last), 2)
        self.assertIn(0, [line["adaptation"]["encoder"] for line in last.values()])
        self.assertGreater(max(line["level"] for line in last.values()), min(line["level"] for line in last.values()))
        self.assertEqual(quick.report()["levels"]["switches"], [])

    @unittest.skipIf(lib.SLOW > 1, "a sanitizer's encoder does not reach the rate")
    def test_who_shares_the_levels_comes_back(self):
        quick, slow, relay = self.quick_and_slow(40)
        lib.until(lambda: self.lowest_level() < 3, "the level to fall", 15)
        relay.tcp_rate = 0.0
        lib.until(lambda: self.lowest_level() > 4, "the level to rise again", 25)
        for p in quick, slow:
            p.signal(lib.signal.SIGTERM)
            self.assertEqual(p.wait(), 130, str(p))


if __name__ == "__main__":
    lib.main()
