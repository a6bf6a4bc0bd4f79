# SPDX-License-Identifier: GPL-2.0-or-later
"""Channels of live paths, and of a live path beside a film: over TCP, MTP and TLS."""
import re
import signal

import lib

LIVE = ("front=test:160x90@15", "yard=test:192x108@10")


class LiveChannels(lib.Case):
    def setUp(self):
        super().setUp()
        self.clip("film.mkv", seconds=60, size="128x72", fps=10)
        with open(self.path("channels.m3u"), "w", encoding="ascii") as f:
            f.write("/front\n/yard\n/film\n")

    def serve(self, *args):
        return self.sender("--log", "debug", *args, *LIVE, source="film=" + self.path("film.mkv"))

    def watch(self, url, *args):
        """Goes from the first channel to the second, the film, and the first again, 1.5 s apart; ends when its picture is there.
        Returns the report."""
        player = self.player(url, "--playlist", self.path("channels.m3u"), "--no-picture", "--at", "2:next", "--at", "3.5:next", "--at",
                             "5:channel=1", *args, env={"XDG_STATE_HOME": self.path("home")})
        lib.until(lambda: [e["channel"] for e in player.events("channel")] == [2, 3, 1] or not player.running(), "three keys", 60)
        lib.until(lambda: any(e["channel"] == 1 for e in player.events("channel-shown")) or not player.running(),
                  "the picture of the first channel again", 60)
        player.signal(signal.SIGINT)
        self.assertEqual(player.wait(), 130, str(player))
        report = player.report()
        self.assertEqual(report["ended"], "interrupted", str(player))
        self.assertEqual([(c["channel"], c["error"]) for c in report["channels"]["list"]], [(2, None), (3, None), (1, None)], str(player))
        self.assertIsNotNone(report["channels"]["list"][-1]["wait"], str(player))
        self.assertTrue(report["session"]["url"].split("?")[0].endswith("/front"), report["session"]["url"])
        self.assertEqual(report["session"]["reconnects"], 0, str(player))
        return report

    def over(self, transport):
        server = self.serve()
        report = self.watch(server.url, "--transport", transport)
        self.assertEqual(report["session"]["transport"], transport)
        self.stop_cleanly(server)

    def test_over_minbuf(self):
        self.over("minbuf:1,3")

    def test_over_tcp(self):
        self.over("tcp")

    def test_over_mtp(self):
        self.over("mtp")

    def test_encrypted(self):
        """The pin of the first URL is that of all of the playlist's paths."""
        server = self.serve("--state-dir", self.path("state"))
        secure = re.search(r"encrypted: (rtsps://\S+)", server.stderr).group(1)
        for transport in "minbuf:1,3", "mtp":
            report = self.watch(secure, "--transport", transport)
            self.assertTrue(report["session"]["url"].startswith("rtsps://"), report["session"]["url"])


if __name__ == "__main__":
    lib.main()
