# SPDX-License-Identifier: GPL-2.0-or-later
"""Goddard's client (--adapt goddard): the requested levels, and their reasons. tests/measure has its estimates."""

import lib
from relay import Relayed


class Goddard(Relayed):
    def goddard(self, url, transport, *args, **parameters):
        """Starts a player with these parameters of Goddard."""
        values = ",".join(f"{name}={value}" for name, value in parameters.items())
        return self.player(url, "--adapt", "goddard", "--goddard", values, "--transport", transport, *args)

    def levels(self, p):
        return [(e["from"], e["to"], e["why"]) for e in p.events("level")]

    def modes(self, p):
        return [e["mode"] for e in p.events("mode")]

    def test_lost_pairs(self):
        """The player requests packet pairs again; if none arrives, playing begins at the lowest level."""
        server = self.sender(source="synthetic:goddard")
        relay = self.relay(server.port, loss_down=1.0)
        p = self.goddard(relay.url, "udp", play_buf_thresh=0.5, pkp_timeout_interval=lib.SLOW)
        # Echoes of the token are among them.
        lib.until(lambda: relay.lost >= 4, "a pair to be lost")
        relay.loss_down = 0.0
        lib.until(lambda: self.levels(p), "a level")
        self.interrupt(p)
        self.assertEqual([why for _, _, why in self.levels(p)][:1], ["capacity"])
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

    def test_slow_over_tcp(self):
        """Over TCP the rate of the first media gives the capacity. Frames that the sender dropped, or a stall, lower the level;
        it rises again when the path is faster."""
        server = self.sender(source="synthetic:goddard")
        relay = self.relay(server.port)
        p = self.goddard(relay.url, "tcp", play_buf_thresh=1, loss_monitor_interval=2, upscale_interval=3,
                         upscale_limit_time_factor=1)
        p.wait_shown(10)
        (capacity,) = p.events("capacity")
        self.assertEqual(capacity["by"], "media")
        self.assertEqual(self.levels(p)[0][2], "probe")
        relay.tcp_rate = 200e3
        lib.until(lambda: {"loss", "rebuffer"} & {why for _, _, why in self.levels(p)}, "a lower level", 25)
        relay.tcp_rate = 0.0
        lib.until(lambda: self.levels(p)[-1][2] == "upscale", "a higher level", 25)
        p.signal(lib.signal.SIGINT)
        p.wait()
        before, after, _ = next(level for level in self.levels(p) if level[2] in ("loss", "rebuffer"))
        self.assertLess(after, before)
        self.stop_cleanly(server)

    def test_speed(self):
        """The player requests a higher speed while the buffer fills; a live source has one pace, which the policy accepts."""
        for source in "synthetic:goddard", lib.SOURCE:
            with self.subTest(source=source):
                server = self.sender(source=source)
                p = self.goddard(server.url, "udp", play_buf_thresh=2, buf_factor=2)
                lib.until(lambda: len(self.modes(p)) > 1 or not p.running(), "the second mode", 20)
                p.signal(lib.signal.SIGINT)
                self.assertEqual(p.wait(), 130, str(p))
                report = p.report()
                self.assertGreater(report["startup"]["initial_buffering"], 0)
                self.assertEqual([why for _, _, why in self.levels(p)][:1], ["capacity"])
                self.assertEqual(self.modes(p)[:2], ["buffering", "streaming"])
                self.stop_cleanly(server)

    def test_after_a_reconnect(self):
        """The policy of the next connection also measures the path, and then playing begins."""
        server = self.sender(listen=f"{lib.own_address()}:0", source="synthetic:goddard")
        p = self.goddard(server.url, "udp", "--reconnect", play_buf_thresh=0.5)
        lib.until(lambda: self.levels(p), "a level")
        server.signal(lib.signal.SIGKILL)
        server.wait(10)
        self.sender(listen=f"{lib.own_address()}:{server.port}", source="synthetic:goddard")
        lib.until(lambda: len(p.events("capacity")) == 2, "the capacity of the new path", 20)
        lib.until(lambda: self.modes(p)[-1] == "streaming", "playing again", 20)
        p.signal(lib.signal.SIGINT)
        p.wait()
        self.assertEqual(p.report()["session"]["reconnects"], 1)


class Adapt(lib.Case):
    def test_refused_together(self):
        for args, word in (["--adapt", "goddard", "--level", "2"], "--level"), (["--adapt", "none", "--goddard", "buf_factor=2"], "requires"):
            p = self.play("rtsp://127.0.0.1:1/live", *args, code=2)
            self.assertIn(word, p.stderr)

    def test_who_adapts(self):
        """The player requests whether the sender adapts to the network."""
        for args, follows in ([], True), (["--adapt", "sender"], True), (["--adapt", "none"], False):
            with self.subTest(args=args):
                server = self.server()
                p = self.player(server.url, *args, "--transport", "tfrc")
                lib.until(lambda: any("transport" in line for line in self.stats()), "the stats", 20)
                p.wait_shown(lib.FPS)
                p.signal(lib.signal.SIGINT)
                self.assertEqual(p.wait(), 130, str(p))
                self.stop_cleanly(server)
                views = [line for line in self.stats() if "transport" in line]
                self.assertEqual(views[-1].get("adaptation") is not None, follows, views[-1])


if __name__ == "__main__":
    lib.main()
