# SPDX-License-Identifier: GPL-2.0-or-later
"""Goddard's client (--adapt goddard) on paths that are narrow, lose packets, or stand still: which level it asks for, and
why."""
import time
import unittest

import lib
from relay import Relayed
from test_synthetic import GODDARD

BITRATES = [1000 * kbps for _, kbps in GODDARD]


def level_below(bps):
    """The highest level with a bitrate below the capacity; the lowest if there is none."""
    return max([k for k, rate in enumerate(BITRATES) if rate < bps], default=0)


class Goddard(Relayed):
    def goddard(self, url, transport, *args, **parameters):
        """A player with these of Goddard's parameters."""
        values = ",".join(f"{name}={value}" for name, value in parameters.items())
        return self.player(url, "--adapt", "goddard", "--goddard", values, "--transport", transport, *args)

    def levels(self, p):
        return [(e["from"], e["to"], e["why"]) for e in p.events("level")]

    def modes(self, p):
        return [e["mode"] for e in p.events("mode")]

    def check_steps(self, levels):
        """Loss takes one level, its absence gives one."""
        for before, after, why in levels:
            self.assertEqual(after - before, {"loss": -1, "upscale": 1}[why], levels)

    @unittest.skipIf(lib.SLOW > 1, "measures milliseconds")
    def test_capacity_then_loss(self):
        """A path of 800 kbit/s, then loss on it, then none: which is heard of as capacity, loss and upscale."""
        server = self.sender(source="synthetic:goddard")
        relay = self.relay(server.port, rate_down=800e3, queue_down=60000)
        p = self.goddard(relay.url, "udp", play_buf_thresh=1, loss_monitor_interval=2, upscale_interval=2,
                         upscale_limit_time_factor=1)
        p.wait_shown(20)
        (capacity,) = p.events("capacity")
        self.assertEqual(capacity["by"], "pair")
        self.between(645e3, capacity["capacity"], 955e3)
        self.assertEqual(self.levels(p), [(None, 4, "capacity")])
        time.sleep(2)  # streaming, and neither loss nor a stall
        self.assertEqual((self.levels(p), self.modes(p)), ([(None, 4, "capacity")], ["buffering", "streaming"]))
        self.assertEqual(relay.lost, 0)
        relay.loss_down = 0.1
        lib.until(lambda: self.levels(p)[-1][1] <= 2, "two levels less", 20)
        relay.loss_down = 0.0
        down = len(self.levels(p))
        lib.until(lambda: len(self.levels(p)) >= down + 2 and self.levels(p)[-1][2] == "upscale", "a level more", 20)
        p.signal(lib.signal.SIGINT)
        p.wait()
        levels = self.levels(p)
        self.check_steps(levels[1:])
        self.assertNotIn((4, 5, "upscale"), levels)  # 960 kbit/s are above the capacity
        report = p.report()
        self.assertEqual([(s["from"], s["to"], s["why"]) for s in report["levels"]["switches"]], levels)
        self.assertEqual(report["network"]["capacity_estimate"], capacity["capacity"])
        self.assertEqual(report["rebuffering"]["count"], 0)
        self.stop_cleanly(server)

    @unittest.skipIf(lib.SLOW > 1, "measures milliseconds")
    def test_first_level(self):
        """It is the highest below the capacity, whatever the datagrams carry."""
        server = self.sender(source="synthetic:goddard")
        for transport, rate in ("udp", 400e3), ("mtp", 1400e3), ("tfrc", 200e3):
            with self.subTest(transport=transport, rate=rate):
                relay = self.relay(server.port, rate_down=rate)
                p = self.goddard(relay.url, transport, "--duration", "1", buf_factor=1, play_buf_thresh=0.5)
                self.assertEqual(p.wait(), 0, str(p))
                first = self.levels(p)[0]
                self.assertEqual(first, (None, level_below(rate), "capacity"), p.events("capacity"))
        self.stop_cleanly(server)

    def test_lost_pairs(self):
        """They are asked for again; when none comes, playing begins at the lowest level."""
        server = self.sender(source="synthetic:goddard")
        relay = self.relay(server.port, loss_down=1.0)
        p = self.goddard(relay.url, "udp", "--duration", "2", play_buf_thresh=0.5, pkp_timeout_interval=lib.SLOW)
        # Echoes of the token are among them.
        lib.until(lambda: relay.lost >= 4, "a pair to be lost")
        relay.loss_down = 0.0
        self.assertEqual(p.wait(), 0, str(p))
        self.assertEqual(self.levels(p), [(None, 6, "capacity")])
        relay = self.relay(server.port, loss_down=1.0)
        p = self.goddard(relay.url, "udp", play_buf_thresh=0.5, pkp_timeout_interval=0.2)
        lib.until(lambda: p.events("capacity"), "the probe to be given up")
        self.assertEqual([e["capacity"] for e in p.events("capacity")], [None])
        relay.loss_down = 0.0
        lib.until(lambda: self.levels(p), "a level")
        self.assertEqual(self.levels(p), [(None, 0, "no-capacity")])
        p.signal(lib.signal.SIGINT)
        p.wait()
        self.stop_cleanly(server)

    def test_stalls_over_tcp(self):
        """There the rate of the first media tells the capacity, and a stall what it has become."""
        server = self.sender(source="synthetic:goddard")
        relay = self.relay(server.port, tcp_rate=2.8e6)
        p = self.goddard(relay.url, "tcp", play_buf_thresh=1, loss_monitor_interval=2)
        p.wait_shown(10)
        (capacity,) = p.events("capacity")
        self.assertEqual(capacity["by"], "media")
        self.assertEqual(self.levels(p)[0], (None, 6, "probe"))
        level = self.levels(p)[-1][1]
        relay.tcp_rate = 500e3
        lib.until(lambda: "rebuffer" in [why for _, _, why in self.levels(p)], "a level less by a stall", 25)
        lib.until(lambda: self.modes(p)[-1] == "streaming" and len(self.modes(p)) >= 4, "playing again", 25)
        p.signal(lib.signal.SIGINT)
        p.wait()
        before, after, why = self.levels(p)[-1]
        self.assertEqual(why, "rebuffer")
        self.assertLess(after, level)
        self.assertGreaterEqual(p.report()["rebuffering"]["count"], 1)
        self.stop_cleanly(server)

    def test_loss_over_minbuf(self):
        """What finds no room is left out by the sender before the buffer runs empty, and counts as lost."""
        server = self.sender(source="synthetic:goddard")
        relay = self.relay(server.port, tcp_rate=3e6)
        p = self.goddard(relay.url, "minbuf:1,3", play_buf_thresh=3, loss_monitor_interval=2)
        lib.until(lambda: self.modes(p)[-1:] == ["streaming"], "playing", 20)
        relay.tcp_rate = 700e3
        lib.until(lambda: "loss" in [why for _, _, why in self.levels(p)], "a level less by loss", 20)
        p.signal(lib.signal.SIGINT)
        p.wait()
        (step,) = [s for s in self.levels(p) if s[2] == "loss"][:1]
        self.assertEqual(step[0] - step[1], 1)
        self.assertGreater(p.report()["playback"]["frames_skipped_by_sender"], 0)
        self.stop_cleanly(server)

    def test_speed(self):
        """The buffer fills at buf_factor times the pace; a live source has one pace, and the policy lives with it."""
        for source, fastest, slowest in ("synthetic:goddard", 0.9, 1.6), (lib.SOURCE, 1.8, 3.0):
            with self.subTest(source=source):
                server = self.sender(source=source)
                p = self.play(server.url, "--adapt", "goddard", "--goddard", "play_buf_thresh=2,buf_factor=2",
                              "--transport", "udp", "--duration", "4")
                report = p.report()
                self.between(fastest, report["startup"]["initial_buffering"], slowest * lib.SLOW)
                self.assertEqual(self.levels(p), [(None, report["levels"]["count"] - 1, "capacity")])
                self.assertEqual(self.modes(p), ["buffering", "streaming"])
                self.assertEqual(report["rebuffering"]["count"], 0)
                self.stop_cleanly(server)


class Adapt(lib.Case):
    def test_refused_together(self):
        for args, word in (["--adapt", "goddard", "--level", "2"], "--level"), (["--goddard", "buf_factor=2"], "beside"):
            p = self.play("rtsp://127.0.0.1:1/live", *args, code=2)
            self.assertIn(word, p.stderr)

    def test_who_adapts(self):
        """The player says whether the sender follows the network."""
        for args, follows in ([], True), (["--adapt", "sender"], True), (["--adapt", "none"], False):
            with self.subTest(args=args):
                server = self.server()
                self.play(server.url, *args, "--transport", "tfrc", "--duration", "2")
                self.stop_cleanly(server)
                views = [line for line in self.stats() if "transport" in line]
                self.assertEqual(views[-1].get("adaptation") is not None, follows, views[-1])


if __name__ == "__main__":
    lib.main()
