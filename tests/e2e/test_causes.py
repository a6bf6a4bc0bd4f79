# SPDX-License-Identifier: GPL-2.0-or-later
"""The causes of missing frames and of stalls: each frame is reported once, with one cause, and the report has the sums."""
import signal

import lib
from relay import Relayed

CAUSES = {"network", "late", "sender", "proxy", "dependency", "decoder", "display", "skipped", "outage"}


class Causes(Relayed):
    def check_account(self, p):
        """Checks that report, events and the frames' numbers agree. The level has every frame of the source."""
        causes = p.report()["causes"]
        self.assertEqual(set(causes["by_cause"]), CAUSES)
        self.assertEqual(set(causes["by_root"]), CAUSES - {"dependency"})
        missing = causes["expected"] - causes["shown"]
        self.assertEqual(sum(causes["by_cause"].values()), missing)
        self.assertEqual(sum(causes["by_root"].values()), missing)
        frames = p.events("frame")
        numbers = sorted(e["number"] for e in frames)
        self.assertEqual(len(numbers), len(set(numbers)), "a frame is reported twice")
        last = max(e["number"] for e in p.shown())
        self.assertEqual([n for n in numbers if n <= last], list(range(numbers[0], last + 1)))
        missed = sum(e["frames"] for e in p.events("missed"))
        self.assertEqual(missed, causes["by_cause"]["outage"])
        self.assertEqual(len(frames) + missed, causes["expected"])
        self.assertEqual(len(p.shown()), causes["shown"])
        dropped = [e for e in frames if "dropped" in e]
        for cause in CAUSES - {"outage"}:
            self.assertEqual(sum(e["dropped"] == cause for e in dropped), causes["by_cause"][cause], cause)
            if cause != "dependency":
                roots = sum(e.get("cause", e["dropped"]) == cause for e in dropped)
                self.assertEqual(roots, causes["by_root"][cause], cause)
        for e in dropped:
            self.assertEqual("needs" in e, e["dropped"] == "dependency", e)
        if missing:
            self.assertIn(f"not shown {missing} of {causes['expected']} frames: ", p.stdout)
        return causes

    def check_stalls(self, p):
        """Returns the causes of the stalls, in order."""
        stalls = p.report()["rebuffering"]
        sums = stalls["by_cause"]
        self.assertEqual(set(sums), {"network", "transport", "outage", "sender", "display", "server-lost"})
        self.assertEqual(sum(s["count"] for s in sums.values()), stalls["count"])
        self.assertAlmostEqual(sum(s["total"] for s in sums.values()), stalls["total"], delta=0.01)
        ends = [e["cause"] for e in p.events("rebuffer-end")]
        self.assertEqual([e["cause"] for e in stalls["events"]][:len(ends)], ends)
        for e in p.events("rebuffer-start"):
            self.assertLessEqual({"cause", "number", "silence"}, set(e))
        return [e["cause"] for e in stalls["events"]]

    def test_lost_packets(self):
        server = self.sender()
        relay = self.relay(server.port, loss_down=0.05)
        p = self.player(relay.url, "--transport", "udp", "--repair", "off", "--adapt", "none")
        lib.until(lambda: relay.lost > 10 and len([e for e in p.events("frame") if e.get("dropped") == "network"]) > 3,
                  "frames that the network lost", 20)
        self.interrupt(p)
        causes = self.check_account(p)
        self.assertGreater(causes["by_root"]["network"], 3)
        self.check_stalls(p)

    def test_lost_packets_are_repaired(self):
        server = self.sender()
        relay = self.relay(server.port, loss_down=0.05, delay=0.02)
        p = self.player(relay.url, "--transport", "udp", "--buffer", "1", "--adapt", "none")

        def frames_lost():
            return sum(e.get("cause", e["dropped"]) == "network" for e in p.events("frame") if "dropped" in e)

        def repaired():
            """True after 30 lost packets that cost few frames. While the machine is away, repair comes too late."""
            packets, frames = relay.lost, frames_lost()
            lib.until(lambda: relay.lost > packets + 30, "lost packets", 20)
            return frames_lost() - frames < 10  # of 30 and more without repair

        lib.until(repaired, "packets that are repaired", 30)
        self.interrupt(p)
        self.check_account(p)
        repair = p.report()["repair"]
        self.assertGreater(repair["resent"], 3)
        self.assertGreater(p.report()["network"]["packets_lost"], 3)

    def test_nothing_is_wrong(self):
        server = self.sender()
        p = self.see(server.url, "--buffer", "0.5", "--adapt", "none", frames=60)
        causes = self.check_account(p)
        self.assertEqual(causes["by_root"]["network"], 0)
        self.check_stalls(p)

    def test_outage(self):
        for transport in "udp", "minbuf":
            with self.subTest(transport):
                server = self.sender()
                relay = self.relay(server.port)
                p = self.player(relay.url, "--transport", transport, "--buffer", "0.5", "--adapt", "none")
                p.wait_shown(30)
                before = len(p.events("rebuffer-start"))
                relay.stopped_down = relay.held_back = True
                lib.until(lambda: any(e["cause"] == "outage" for e in p.events("rebuffer-start")[before:]), "the stall", 20)
                self.stall_lasts(p, since=before)
                relay.stopped_down = relay.held_back = False
                p.wait_shown(len(p.shown()) + 30)
                self.interrupt(p)
                causes = self.check_account(p)
                self.assertIn("outage", self.check_stalls(p))
                first = next(e for e in p.events("rebuffer-start")[before:] if e["cause"] == "outage")
                self.assertGreaterEqual(first["silence"], 400)
                self.assertGreaterEqual(first["number"], 29)
                self.assertIn("nothing came", p.stdout)
                # What was sent meanwhile is lost over UDP. Over TCP it waits, and comes or is left out.
                self.assertEqual(causes["by_cause"]["network"] > 0, transport == "udp")

    def test_the_source_stops(self):
        """The sender sends nothing for a while, over a path without faults."""
        server = self.sender()
        # The encoder of a busy machine may not follow, so that it leaves out frames.
        p = self.player(server.url, "--buffer", "0.5", "--adapt", "none")
        p.wait_shown(30)
        before = len(p.events("rebuffer-end"))
        server.signal(signal.SIGSTOP)
        self.stall_lasts(p, since=before)
        server.signal(signal.SIGCONT)
        p.wait_shown(len(p.shown()) + 30)
        self.interrupt(p)
        self.check_account(p)
        self.assertIn("sender", self.check_stalls(p))

    def test_tcp_slower_than_the_level(self):
        """The sender drops frames that would arrive too late: no sequence number is missing."""
        server = self.sender()
        relay = self.relay(server.port)
        p = self.player(relay.url, "--transport", "minbuf", "--buffer", "0.3", "--adapt", "none")
        p.wait_shown(30)
        relay.tcp_rate = 0.4 * self.bits_per_second(p)
        lib.until(lambda: any(e["cause"] == "transport" for e in p.events("rebuffer-end")), "a stall", 20)
        lib.until(lambda: any(e.get("dropped") == "sender" for e in p.events("frame")), "a frame that was left out", 20)
        self.interrupt(p)
        causes = self.check_account(p)
        self.assertEqual(causes["by_root"]["network"], 0)
        stalls = self.check_stalls(p)
        self.assertIn("transport", stalls)
        self.assertIn("transport too slow", p.stdout)

    def bits_per_second(self, p):
        """Returns the values of the shown frames."""
        shown = p.shown()
        return 8 * sum(e["bytes"] for e in shown) / (shown[-1]["arrived"] - shown[0]["arrived"])


if __name__ == "__main__":
    lib.main()
