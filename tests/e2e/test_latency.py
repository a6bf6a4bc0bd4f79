# SPDX-License-Identifier: GPL-2.0-or-later
"""The latency of live media: the target is reported, and after a standstill of the network it is what it was."""
import lib
import relay

STALL = 2.0  # seconds


class Stalled(relay.Relayed):
    def behind_relay(self, server, *args):
        middle = self.relay(server.port)
        p = self.player(middle.url, "--no-picture", *args)
        p.middle = middle
        return p

    def lag(self, p):
        """Seconds from capture to shown of the last picture."""
        shown = p.shown()[-1]
        return shown["shown"] - shown["captured"]

    @lib.long
    def test_live_is_back_after_a_standstill_and_a_file_is_not_hurried(self):
        """The relays pass no data for a while, and then all held data; TCP loses none of it."""
        live = self.sender()
        file = self.sender(source=self.clip(seconds=150, size="320x180"))
        short = self.behind_relay(live, "--latency", "500")
        usual = self.behind_relay(live)
        start = self.behind_relay(live, "--buffer", "0.5")
        low = self.behind_relay(live, "--low-latency")
        stored = self.behind_relay(file)
        players = [short, usual, start, low, stored]
        for p in players:
            p.wait_shown(2 * lib.FPS, 20)
        for p in players:
            p.middle.stand_still(STALL)
        for p in short, usual, start, low:
            lib.until(lambda: p.events("rebuffer-end") and self.lag(p) < STALL, "the live edge", 20)
        counts = [len(p.shown()) for p in players]
        for p, count in zip(players, counts):
            p.wait_shown(count + 10)
            p.signal(lib.signal.SIGTERM)
            self.assertEqual(p.wait(), 130, str(p))
        for p, mode in (short, "fixed"), (usual, "auto"), (start, "start"), (low, "low"):
            self.check_spent(p, mode)
            self.check_skipped(p)
        self.assertEqual(short.report()["latency"]["budget"]["target"], 500)
        self.assertEqual(low.report()["playback"]["speed"], {"mean": 1, "min": 1, "max": 1})
        playback = stored.report()["playback"]
        self.assertEqual((playback["speed"], playback["skips"]), ({"mean": 1, "min": 1, "max": 1}, 0))
        self.assertIsNone(stored.report()["latency"]["budget"])
        self.assertEqual(stored.events("speed") + stored.events("skip"), [])

    def check_spent(self, p, mode):
        r = p.report()
        budget = r["latency"]["budget"]
        self.assertEqual(budget["mode"], mode)
        self.between(0, budget["target"], budget["targets"]["max"] + 1)
        self.assertGreater(budget["sender_share"], 0)
        self.assertGreaterEqual(budget["buffer_share"], 0)
        # A frame has no part that is not known yet, as its transport's before the clocks agree.
        mean = r["latency"]["display"]["mean"]
        self.assertAlmostEqual(sum(budget["spent"].values()), mean, delta=20 + mean / 5)
        speed = r["playback"]["speed"]
        self.between(0.95, speed["min"], speed["mean"])
        self.between(speed["mean"], speed["max"], 1.05)

    def check_skipped(self, p):
        """Frames that were left out to catch up are reported, each."""
        playback = p.report()["playback"]
        self.assertEqual(playback["skips"], len(p.events("skip")))
        skipped = [e for e in p.events("frame") if e.get("dropped") == "skipped"]
        self.assertEqual(playback["frames_skipped"], len(skipped))
        self.between(0, len(skipped), lib.FPS * sum(e["media"] for e in p.events("skip")) + 1)


class Target(lib.Case):
    def test_what_is_held_back_is_no_broken_stream(self):
        """The first picture is due more than 10 s after the first packet."""
        p = self.player(self.sender().url, "--no-picture", "--latency", "11500")
        p.wait_shown(1, 30)
        p.signal(lib.signal.SIGTERM)
        self.assertEqual(p.wait(), 130, str(p))
        self.assertEqual(p.report()["latency"]["budget"]["target"], 11500)

    def test_what_contradicts_itself_is_refused(self):
        for args in ["--low-latency"], ["--buffer", "0.5"], ["--buffer", "2"], ["--adapt", "goddard"]:
            p = self.play("rtsp://127.0.0.1:9/live", "--latency", "500", *args, code=2)
            self.assertIn("--latency", p.stderr)
            self.assertIn(args[0], p.stderr)

    def test_stored_media_has_no_latency_to_keep(self):
        server = self.sender(source=self.clip(seconds=2, size="320x180"))
        p = self.play(server.url, "--latency", "500")
        self.assertIn("not live", p.stderr)


if __name__ == "__main__":
    lib.main()
