#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Films over a link that loses packets both ways: none of their pictures is missing, over any datagram transport."""
import shutil
import signal
import tempfile

import lib
import link_case

FPS, SECONDS, OUTAGE_SECONDS = 30, 10, 50
LEVELS = ["--level", f"128x72@{FPS}:60", "--level", f"192x108@{FPS}:140"]  # each level has all frames
OF_NETWORK = "network", "sender", "skipped", "outage"
TRANSPORTS = "tfrc", "scream", "mtp", "udp"


def setUpModule():
    link_case.set_up()


class FilmLoss(link_case.LinkCase):
    def all_shown(self, film, *args):
        """Plays the film over all transports side by side, each from a server of its own, and checks that each player got all
        frames, from the first to the last one. What a busy machine decodes or shows too late is none of the network's."""
        way = "rate=20mbit,queue=droptail:200ms,delay=25ms,loss=5%"
        link = self.link(way, way, "--seed", "5")
        players = {}
        for name in TRANSPORTS:
            server = self.sender(source=film, listen=f"{link_case.A}:0", prefix=self.ends[0].inside())
            players[name] = self.player(server.url, "--transport", name, *args, prefix=self.ends[1].inside())
        for name, p in players.items():
            with self.subTest(name):
                self.assertEqual(p.wait(6 * SECONDS), 0, str(p))
                r = p.report()
                self.assertEqual(r["ended"], "end-of-media")
                self.assertEqual(r["session"]["transport"].split(":")[0], name)
                self.assertGreater(r["network"]["packets_lost"], 0)
                self.assertEqual(r["causes"]["expected"], FPS * SECONDS, str(r["causes"]))
                self.assertEqual({c: r["causes"]["by_root"][c] for c in OF_NETWORK}, dict.fromkeys(OF_NETWORK, 0))
        _, end = self.stats(link)
        for way in "a_to_b", "b_to_a":
            self.assertGreater(end[way]["dropped"]["loss"], 0)

    @lib.long
    def test_prepared(self):
        made = tempfile.mkdtemp(prefix="weir-e2e-")
        self.addCleanup(shutil.rmtree, made, ignore_errors=True)
        self.all_shown(lib.prepared_film(made, SECONDS, "192x108", LEVELS))

    @lib.long
    def test_plain(self):
        """Its encoder follows the network, and what waits, or is on its way, outlasts a pause."""
        film = self.path("film.mkv")
        lib.make_film(film, SECONDS, "192x108")
        self.all_shown(film, "--at", "3:pause", "--at", "5:go-on")

    @lib.long
    def test_outage(self):
        """Nothing passes for 12 s, while 20 s and more are buffered: no viewer sees it, and no session ends."""
        made = tempfile.mkdtemp(prefix="weir-e2e-")
        self.addCleanup(shutil.rmtree, made, ignore_errors=True)
        film = lib.prepared_film(made, OUTAGE_SECONDS, "192x108", LEVELS)
        way = "rate=20mbit,queue=droptail:200ms,delay=25ms"
        link = self.link(way, way)
        server = self.sender(source=film, listen=f"{link_case.A}:0", prefix=self.ends[0].inside())
        players = {name: self.player(server.url, "--transport", name, "--no-reconnect", prefix=self.ends[1].inside())
                   for name in ("minbuf", "tfrc", "scream", "mtp")}  # udp's buffer fills slowly
        ahead = lambda p: any(e["buffer"] and e["buffer"] > 20 for e in p.events("decision"))
        for name, p in players.items():
            lib.until(lambda p=p: ahead(p) or not p.running(), f"20 s of the film over {name}", 40)
        link.signal(signal.SIGSTOP)
        lib.never(lambda: not all(p.running() for p in players.values()), "the end of a player", 12)
        link.signal(signal.SIGCONT)
        for name, p in players.items():
            with self.subTest(name):
                self.assertEqual(p.wait(2 * OUTAGE_SECONDS), 0, str(p))
                r = p.report()
                self.assertEqual(r["ended"], "end-of-media")
                self.assertEqual(r["causes"]["expected"], FPS * OUTAGE_SECONDS, str(r["causes"]))
                self.assertEqual({c: r["causes"]["by_root"][c] for c in OF_NETWORK}, dict.fromkeys(OF_NETWORK, 0))
                stalls = {e["cause"] for e in p.events("rebuffer-start")}
                self.assertLessEqual(stalls, {"display"}, "of a busy machine")


if __name__ == "__main__":
    lib.main()
