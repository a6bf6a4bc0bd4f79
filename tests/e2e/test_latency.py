# SPDX-License-Identifier: GPL-2.0-or-later
"""The latency of live media: it is what was asked for, and comes back to that after the network stood still."""
import lib
import relay

STALL = 2.0  # seconds
BACK = 45  # seconds at most until the latency is what it was
NEAR = 0.1  # seconds


class Stalled(relay.Relayed):
    def behind_relay(self, server, *args, fps=lib.FPS):
        middle = self.relay(server.port)
        p = self.player(middle.url, "--no-picture", *args)
        p.middle, p.fps = middle, fps
        return p

    @staticmethod
    def lags(p):
        """How long after its media time each frame was shown, in the order shown; the zero is arbitrary."""
        return [e["shown"] - e["number"] / p.fps for e in p.shown()]

    def stand_still(self, players):
        """The relays let nothing pass for STALL, and then all that was held up; TCP loses nothing of it."""
        for p in players:
            p.wait_shown(5 * p.fps, 20)
        for p in players:
            p.before = self.lags(p)[-1]
            p.middle.stand_still(STALL)
        for p in players:
            lib.until(lambda p=p: max(self.lags(p)) > p.before + STALL / 4, f"the stall of {p}", 10)

    def is_back(self, p):
        return all(lag < p.before + NEAR for lag in self.lags(p)[-p.fps:])

    def test_live_catches_up_and_a_file_does_not(self):
        live = self.sender()
        file = self.sender(source=self.clip(seconds=70, size="320x180"))
        short = self.behind_relay(live, "--latency", "500")
        long = self.behind_relay(live, "--latency", "1500")
        usual = self.behind_relay(live)
        stored = self.behind_relay(file, fps=25)
        self.stand_still([short, long, usual, stored])
        for p in short, long, usual:
            lib.until(lambda p=p: self.is_back(p), f"the latency to be back: {p}", BACK)
        self.assertGreater(min(self.lags(stored)[-stored.fps:]), stored.before + STALL / 2)
        for p in short, long, usual, stored:
            self.stop_interrupted(p)
        self.check_spent(short, 500)
        self.check_spent(long, 1500)
        self.check_skipped(usual)
        self.assertEqual(long.report()["playback"]["skips"], 0)  # not beyond twice the target
        self.assertGreater(max(e["speed"] for e in long.events("speed")), 1.01)
        playback = stored.report()["playback"]
        self.assertEqual((playback["speed"], playback["skips"]), ({"mean": 1, "min": 1, "max": 1}, 0))
        self.assertIsNone(stored.report()["latency"]["budget"])
        self.assertEqual(stored.events("speed") + stored.events("skip"), [])

    def stop_interrupted(self, p):
        p.signal(lib.signal.SIGTERM)
        self.assertEqual(p.wait(), 130, str(p))

    def check_spent(self, p, target):
        r = p.report()
        budget = r["latency"]["budget"]
        self.assertEqual(budget["target"], target)
        self.between(20, budget["sender_share"], target + 1000)
        self.between(20, budget["buffer_share"], target + 1000)
        self.assertAlmostEqual(sum(budget["spent"].values()), r["latency"]["display"]["mean"], delta=20)
        speed = r["playback"]["speed"]
        self.between(0.95, speed["min"], speed["mean"])
        self.between(speed["mean"], speed["max"], 1.05)

    def check_skipped(self, p):
        """2 s are beyond the bound of a short buffer: frames that were there are left out, and told."""
        playback = p.report()["playback"]
        self.assertGreater(playback["skips"], 0)
        self.assertEqual(playback["skips"], len(p.events("skip")))
        skipped = [e for e in p.events("frame") if e.get("dropped") == "skipped"]
        self.assertEqual(playback["frames_skipped"], len(skipped))
        # What the sender had dropped meanwhile was not there to be left out.
        self.between(1, len(skipped), p.fps * sum(e["media"] for e in p.events("skip")) + 1)


class Target(lib.Case):
    def test_what_is_asked_for_is_kept(self):
        server = self.server()
        targets = [150, 400, 1500]
        players = [self.player(server.url, "--no-picture", "--latency", str(t), "--duration", "8") for t in targets]
        for target, p in zip(targets, players):
            self.assertEqual(p.wait(), 0, str(p))
            r = p.report()
            self.assertEqual(r["latency"]["budget"]["target"], target)
            if lib.SLOW <= 1:
                self.assertAlmostEqual(r["latency"]["display"]["p50"], target, delta=80)

    def test_what_is_held_back_is_no_broken_stream(self):
        """The first picture is due more than 10 s after the first packet."""
        p = self.play(self.sender().url, "--no-picture", "--latency", "11500", "--duration", "12.5")
        self.assertGreater(p.report()["playback"]["frames_played"], 0, str(p))

    def test_what_contradicts_itself_is_refused(self):
        for args in ["--low-latency"], ["--buffer", "0.5"], ["--buffer", "2"]:
            p = self.play("rtsp://127.0.0.1:9/live", "--latency", "500", *args, code=2)
            self.assertIn("--latency", p.stderr)
            self.assertIn(args[0], p.stderr)

    def test_stored_media_has_no_latency_to_keep(self):
        server = self.sender(source=self.clip(seconds=2, size="320x180"))
        p = self.play(server.url, "--latency", "500")
        self.assertIn("not live", p.stderr)


if __name__ == "__main__":
    lib.main()
