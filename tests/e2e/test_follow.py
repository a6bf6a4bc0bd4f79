# SPDX-License-Identifier: GPL-2.0-or-later
"""The rate of live media adapts to the network: it falls when a TCP path becomes slow. How much, and when it rises again,
depends on the encoder's speed: tests/measure."""
from lib import main, until
from relay import Relayed


class Follow(Relayed):
    def test_a_slow_viewer_beside_a_quick_one(self):
        """Two viewers of one test picture: the level of the slow viewer falls, however fast the encoders are."""
        server = self.server()
        relay = self.relay(server.port)
        quick, slow = (self.player(url, "--transport", "minbuf", "--no-picture") for url in (server.url, relay.url))
        slow.wait_shown(10)
        quick.wait_shown(10)
        relay.tcp_rate = 60e3
        top = len(server.levels()) - 1
        until(lambda: min((line["level"] for line in self.stats()[-2:] if line["playing"]), default=top) < top,
              "a level below the highest", 20)
        until(lambda: "network" in {e["why"] for e in slow.events("level")}, "the slow viewer to hear of it", 20)
        last = {line["session"]: line for line in self.stats() if line["playing"]}
        self.assertEqual(len(last), 2)
        self.assertIn(0, [line["adaptation"]["encoder"] for line in last.values()])
        for p in quick, slow:
            self.interrupt(p)


if __name__ == "__main__":
    main()
