# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the causes of frames that were not shown, on paths that lose packets or are too slow."""
import test_causes
from figures import Measurement


class Causes(Measurement, test_causes.Causes):
    def measure_lost_packets(self):
        relay = self.relay(self.sender().port, loss_down=0.05)
        p = self.play(relay.url, "--transport", "udp", "--duration", "8")
        roots = self.check_account(p)["by_root"]
        self.figure("5 % loss: frames missing by network, share", roots["network"] / max(sum(roots.values()), 1), low=0.8)

    def measure_tcp_slower_than_the_level(self):
        relay = self.relay(self.sender().port)
        p = self.player(relay.url, "--duration", "10", "--buffer", "0.3", "--adapt", "none")
        p.wait_shown(30)
        relay.tcp_rate = 0.4 * self.bits_per_second(p)
        self.assertEqual(p.wait(), 0, str(p))
        roots = self.check_account(p)["by_root"]
        self.figure("TCP at 0.4 of the level: frames left out by the sender", roots["sender"], low=11)
        self.figure("... their share of all that are missing", roots["sender"] / max(sum(roots.values()), 1), low=0.6)
        self.figure("... stalls by the transport", self.check_stalls(p).count("transport"), low=1)
