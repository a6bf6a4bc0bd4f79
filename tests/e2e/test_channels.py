# SPDX-License-Identifier: GPL-2.0-or-later
"""Channels of a playlist: five of a server's films, each on a connection that stood by, or all over the one connection; one of
them dead, a stop, and another server."""
import os

import lib


class Channels(lib.Case):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("films"))
        for name in ("a", "b", "c"):
            self.clip(f"films/{name}.mkv", seconds=8, size="160x90", fps=10)

    def playlist(self, *lines):
        with open(self.path("channels.m3u"), "w") as f:
            f.write("".join(line + "\n" for line in lines))
        return self.path("channels.m3u")

    def zap(self, server, channels, keys, *args):
        """Presses KEYS, 1.5 s apart from 1 s on; returns the player and its list of channels. Does so again if a busy machine
        had not opened a channel before the next key, or before the end."""
        steps = [word for i, key in enumerate(keys) for word in ("--at", f"{1 + 1.5 * i}:{key}")]

        def zapped():
            self.before = len(server.stderr)
            player = self.play(f"rtsp://127.0.0.1:{server.port}/", "--playlist", self.playlist(*channels), "--no-picture", *steps,
                               "--duration", str(1 + 1.5 * len(keys) + 2), *args)
            opened = player.report()["channels"]
            return all(c["wait"] is not None or c["error"] for c in opened["list"]) and (player, opened)
        return lib.until(zapped, "a picture or an error of each channel", 60)

    def zaps_through_five(self, transport, connections, *args):
        server = self.sender("--log", "debug", source=self.path("films"))
        player, channels = self.zap(server, ["#EXTINF:-1,First", "/a.mkv", "b.mkv", "/gone.mkv", "c.mkv", "/a.mkv"], ["next"] * 4,
                                    "--transport", transport, *args)
        self.assertEqual([c["channel"] for c in channels["list"]], [2, 3, 4, 5], str(player))
        self.assertEqual(channels["count"], 4)
        self.assertIn("404", channels["list"][1]["error"])
        self.assertIsNone(channels["list"][1]["wait"])
        self.assertEqual([c["error"] for c in channels["list"] if c["channel"] != 3], [None] * 3)
        self.assertIsNotNone(channels["list"][-1]["wait"], str(player))
        self.assertEqual(player.report()["session"]["url"], f"rtsp://127.0.0.1:{server.port}/a.mkv")
        self.assertEqual(player.report()["session"]["reconnects"], 0)
        self.assertIn("gone.mkv", player.stderr)
        self.assertIn(server.stderr[self.before:].count(" connected"), connections, server.stderr)
        self.stop_cleanly(server)

    def test_five_over_minbuf(self):
        """The last film that played, and each after a change, leaves its connection for the one that stood by."""
        self.zaps_through_five("minbuf:1,3", range(3, 7))

    def test_five_over_tcp_on_one_connection(self):
        self.zaps_through_five("tcp", [1], "--no-standby")

    def test_five_over_tfrc(self):
        """Media in datagrams needs no second connection: nothing of it waits in the first."""
        self.zaps_through_five("tfrc", [1])

    def test_second_connection_is_lost(self):
        """A server that refuses a second connection is still watched, and changes over the one there is."""
        server = self.sender("--log", "debug", "--max-viewers", "1", source=self.path("films"))
        player, channels = self.zap(server, ["/a.mkv", "/b.mkv"], ["next", "next"], "--transport", "minbuf:1,3")
        self.assertEqual([(c["channel"], c["error"]) for c in channels["list"]], [(2, None), (1, None)], str(player))
        self.assertIsNotNone(channels["list"][-1]["wait"], str(player))
        self.assertEqual(server.stderr[self.before:].count(" connected\n"), 1, server.stderr)

    def test_stop_and_another_server(self):
        """A stop ends the session; playing begins again. The other server has a connection of its own, its death ends no viewing."""
        server, other = (self.sender("--log", "debug", source=self.path("films")) for _ in range(2))
        player, channels = self.zap(server, ["/a.mkv", f"rtsp://127.0.0.1:{other.port}/b.mkv", "rtsp://127.0.0.1:1/x"],
                                    ["stop", "go-on", "channel=2", "channel=3", "channel=9", "previous"])
        self.assertEqual([c["channel"] for c in channels["list"]], [1, 2, 3, 2], str(player))
        self.assertIn("cannot connect", channels["list"][2]["error"])
        self.assertIsNotNone(channels["list"][3]["wait"], str(player))
        self.assertIn("there is no channel 9", player.stderr)

    def test_seek_during_a_change(self):
        """A key pressed while the next channel is being opened does not move that one."""
        server, other = (self.sender(source=self.path("films")) for _ in range(2))
        player = self.play(f"rtsp://127.0.0.1:{server.port}/", "--playlist",
                           self.playlist("/a.mkv", f"rtsp://127.0.0.1:{other.port}/b.mkv"), "--no-picture",
                           "--at", "1:channel=2", "--at", "1:seek=7", "--duration", "5")
        report = player.report()
        self.assertEqual([c["error"] for c in report["channels"]["list"]], [None], str(player))
        self.assertEqual(report["ended"], "duration", str(player))

    def test_nobody_can_choose(self):
        """Without a window and without keys the first channel must open."""
        server = self.sender(source=self.path("films"))
        player = self.player(f"rtsp://127.0.0.1:{server.port}/", "--playlist", self.playlist("/gone.mkv", "/a.mkv"))
        self.assertEqual(player.wait(), 3, str(player))
        self.assertIn("404", player.stderr)


if __name__ == "__main__":
    lib.main()
