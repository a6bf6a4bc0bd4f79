# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that is too slow, at either end of a live stream: a program is stopped for most of the time."""
import os
import re
import signal
import threading
import time
import urllib.request

import lib

LEVELS = ["--level", "160x90@30:100", "--level", "320x180@30:300"]
SOURCE = "test:320x180@30"


class Starved:
    """While it is entered, the process is stopped again and again for so many seconds, and runs for 10 ms between."""

    def __init__(self, process, seconds=.39):
        self.pid = process.pid
        self.seconds = seconds
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.over.is_set():
            os.kill(self.pid, signal.SIGSTOP)
            self.over.wait(self.seconds)
            os.kill(self.pid, signal.SIGCONT)
            time.sleep(.01)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


class SlowMachineTest(lib.Case):
    def lowered(self, url):
        """Returns the seconds in which the sender encoded less, by its metrics."""
        with urllib.request.urlopen(url, timeout=60) as f:
            text = f.read().decode()
        return max(float(line.split()[-1]) for line in text.splitlines() if line.startswith("weir_encoder_lowered_seconds_total{"))

    def recovered(self, player):
        """Waits for pictures after the stalls, and ends the player. Returns the causes of its stalls, and its report."""
        frames = len(player.shown())
        lib.until(lambda: len(player.shown()) > frames + 60, "pictures", 30)
        r = self.interrupt(player).report()
        return {cause for cause, s in r["rebuffering"]["by_cause"].items() if s["count"]}, r

    @lib.long
    def test_sender(self):
        """The sender gives fewer frames and smaller pictures, says so, and returns when it has time."""
        sender = self.sender(*LEVELS, "--metrics", "127.0.0.1:0", source=SOURCE, lowers=True)
        metrics = re.search(r"metrics at (http://127.0.0.1:\d+/)", sender.stderr).group(1) + "metrics"
        player = self.player(sender.url)
        player.wait_shown(60)
        self.assertEqual(self.lowered(metrics), 0)
        with Starved(sender):
            lib.until(lambda: player.events("level"), "a smaller picture", 60)
        self.assertEqual(sender.stderr.count("does not keep up with encoding"), 1)
        lib.until(lambda: "keeps up with encoding again" in sender.stderr, "the end of it", 120)
        self.assertEqual(sender.stderr.count("does not keep up with encoding"), sender.stderr.count("keeps up with encoding again"))
        lib.until(lambda: player.events("level")[-1]["to"] == 1, "the whole picture", 60)
        changes = player.events("level")
        self.assertEqual((changes[0]["from"], changes[0]["to"]), (1, 0))
        self.assertEqual({e["why"] for e in changes}, {"sender"})
        lib.until(lambda: self.lowered(metrics) > 0, "the metric", 20)
        stalls, r = self.recovered(player)
        self.assertIn("sender", stalls)
        self.assertLessEqual(stalls, {"sender", "display"}, r["rebuffering"])
        self.assertGreater(r["causes"]["by_cause"]["sender"], 0)

    def test_keeps_levels(self):
        """With --keep-levels the same sender lowers nothing."""
        sender = self.sender(*LEVELS, source=SOURCE)
        player = self.player(sender.url)
        player.wait_shown(30)
        with Starved(sender, 2):
            lib.until(lambda: len(player.events("rebuffer-end")) > 2, "stalls", 60)
        self.assertNotIn("does not keep up", sender.stderr)

    def test_viewer(self):
        """The stalls of a viewer that was stopped are its own, whatever the network did meanwhile."""
        sender = self.sender(*LEVELS, source=SOURCE)
        player = self.player(sender.url, lowers=True)
        player.wait_shown(30)
        with Starved(player, 2):  # longer than the media that it holds
            lib.until(lambda: player.events("rebuffer-end"), "a stall", 60)
        stalls, r = self.recovered(player)
        self.assertIn("display", stalls)
        self.assertLessEqual(stalls, {"display", "sender"}, r["rebuffering"])  # a busy machine may hold up the sender, too
        freezes = [e["cause"] for e in player.events("freeze") if e["duration"] > 1.5]
        self.assertEqual(set(freezes) - {"sender"}, {"display"}, freezes)
        roots = r["causes"]["by_root"]
        self.assertGreater(roots["display"], max(n for cause, n in roots.items() if cause != "display"), roots)

    def test_viewer_that_is_stopped_stays_on_its_path(self):
        """Its reports cease, and the connection is silent, too: the media is not moved to it."""
        sender = self.sender(*LEVELS, source=SOURCE)
        player = self.player(sender.url)

        def stays():
            lib.until(lambda: (player.events("moved") or [{}])[-1].get("transport") == "scream", "a move to UDP", 120)
            player.wait_shown(len(player.shown()) + 15, 60)
            moves = len(player.events("moved"))
            self.stop(player)
            player.wait_shown(len(player.shown()) + 15, 60)
            return len(player.events("moved")) == moves

        # A busy machine may stop for another 50 ms between the viewer's response and its report.
        self.assertTrue(any(stays() for _ in range(3)))

    def stop(self, process):
        process.signal(signal.SIGSTOP)
        time.sleep(1)
        process.signal(signal.SIGCONT)


if __name__ == "__main__":
    lib.main()
