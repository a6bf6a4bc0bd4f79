# SPDX-License-Identifier: GPL-2.0-or-later
"""The player reconnects to a lost server, and one report covers all connections."""
import itertools
import signal
import unittest

import lib
from lib import until
from rtsp import FakeServer, Recording

NO_LEVELS = """v=0
m=video 0 RTP/AVP 96
a=rtpmap:96 H264/90000
a=extmap:2 urn:x-weir:rtp-hdrext:adu
a=control:trackID=0
"""


class Reconnect(lib.Case):
    def again(self, server, **options):
        """Starts a sender on the address of an earlier one."""
        return self.sender(listen=f"{lib.own_address()}:{server.port}", **options)

    def sender(self, *args, listen=None, **options):
        """Starts it on an address whose port no other process uses after its end."""
        return super().sender(*args, listen=listen or f"{lib.own_address()}:0", **options)

    def pictures_after(self, p, begun):
        """Waits for a picture that was shown after the session's second `begun`; returns its time."""
        return until(lambda: next((e["shown"] for e in p.shown() if e["shown"] > begun), None), "a picture again", 20)

    def lose_and_find(self, end, *args):
        server = self.sender()
        p = self.player(server.url, "--reconnect", *args)
        p.wait_shown(30)
        end(server)
        server.wait(10)
        lost = until(lambda: len(p.events("reconnect")) > 1 and p.events("reconnect"), "a try in vain")[0]
        self.again(server)
        until(lambda: len(p.events("connected")) == 2, "the connection", 10)
        back = self.pictures_after(p, p.events("connected")[1]["t"])
        return p, lost, back

    def stalls(self, r):
        return [s["cause"] for s in r["rebuffering"]["events"]]

    def test_killed(self):
        p, lost, back = self.lose_and_find(lambda s: s.signal(signal.SIGKILL))
        self.assertEqual((lost["try"], lost["in"]), (1, 0.5))
        self.assertIn("the connection to the server ended", lost["why"])
        until(lambda: len(p.shown()) > 60, "more pictures")
        p.signal(signal.SIGTERM)
        p.wait(10)
        r = p.report()
        self.assertEqual((r["ended"], r["error"], r["session"]["reconnects"]), ("interrupted", None, 1))
        self.assertIn("server-lost", self.stalls(r))
        outage = r["rebuffering"]["by_cause"]["server-lost"]
        self.assertEqual(outage["count"], 1)
        self.between(0.2, outage["total"], back - lost["t"] + 0.05)
        causes = r["causes"]
        self.assertEqual(sum(causes["by_cause"].values()), causes["expected"] - causes["shown"])
        self.assertEqual(causes["shown"], r["playback"]["frames_played"])
        self.assertGreater(r["network"]["packets_received"], 60)
        self.assertIsNotNone(r["picture"])

    def test_ended(self):
        """A server that sent BYE also returns; over UDP."""
        p, lost, _ = self.lose_and_find(lambda s: s.signal(signal.SIGTERM), "--transport", "udp")
        self.assertEqual(lost["why"], "the server has ended")
        p.signal(signal.SIGTERM)
        p.wait(10)
        r = p.report()
        self.assertEqual((r["session"]["transport"], r["session"]["reconnects"]), ("udp", 1))

    def test_tries_each_second(self):
        def tried(seconds=itertools.count(7, 7)):
            """A busy machine may begin when the duration is over."""
            server = self.sender()
            p = self.player(server.url, "--reconnect", "--duration", str(next(seconds)))
            until(lambda: len(p.shown()) > 9 or not p.running(), "pictures", 20)
            server.signal(signal.SIGKILL)
            p.wait(15)
            return len(p.events("reconnect")) > 3 and p
        p = until(tried, "four tries", 60)
        self.assertEqual(p.wait(), 4, str(p))
        tries = [(e["try"], e["in"]) for e in p.events("reconnect")]
        self.assertEqual(tries[:3], [(1, 0.5), (2, 1.0), (3, 1.0)])
        times = [e["t"] for e in p.events("reconnect")]
        self.assertGreaterEqual(times[1] - times[0], 0.5)
        self.assertGreaterEqual(times[2] - times[1], 1.0)
        r = p.report()
        self.assertEqual((r["ended"], r["session"]["reconnects"]), ("server-lost", 0))
        self.assertGreater(r["rebuffering"]["by_cause"]["server-lost"]["total"], 2)

    def test_only_when_asked_for(self):
        server = self.sender()
        p = self.player(server.url)
        p.wait_shown(10)
        server.signal(signal.SIGKILL)
        self.assertEqual(p.wait(10), 4, str(p))
        self.assertEqual(p.events("reconnect"), [])

    def test_another_server_in_between(self):
        """A server whose stream is not playable does not prevent the player from finding the right one."""
        server = self.sender()
        p = self.player(server.url, "--reconnect")
        p.wait_shown(10)
        server.signal(signal.SIGKILL)
        server.wait(10)
        other = FakeServer(NO_LEVELS, lambda s: None, port=server.port, host=lib.own_address())
        self.addCleanup(other.stop)
        until(lambda: any("no levels" in e["why"] for e in p.events("reconnect")), "the other server's refusal", 10)
        other.stop()
        self.again(server)
        until(lambda: len(p.events("connected")) == 2, "the connection", 10)
        self.pictures_after(p, p.events("connected")[1]["t"])

    def through_a_restart(self, seconds, stop):
        """Plays a film whose server stops during the film and returns. Returns the player, which played to the end."""
        film = self.clip("film.mkv", seconds)
        server = self.sender(source=film)
        p = self.player(server.url, "--reconnect", "--adapt", "none")  # other levels have half the rate
        p.wait_shown(40)
        stop(server)
        self.again(server, source=film)
        self.assertEqual(p.wait(25), 0, str(p))
        r = p.report()
        self.assertEqual((r["ended"], r["session"]["reconnects"]), ("end-of-media", 1))
        # Frames count from where a connection began; the film is accounted for, and little of it twice.
        self.between(seconds * 25 * 0.8, r["causes"]["expected"], seconds * 25 + 25)
        return p

    def test_stored_media_goes_on_where_it_stood(self):
        def kill(server):
            server.signal(signal.SIGKILL)
            server.wait(10)
        self.through_a_restart(14, kill)

    @lib.long
    def test_a_server_that_ends_before_its_file(self):
        p = self.through_a_restart(14, self.stop_cleanly)
        self.assertEqual([e["why"] for e in p.events("reconnect")][:1], ["the server has ended"])

    @lib.long
    def test_a_seek_while_the_server_is_lost(self):
        """The next connection begins at that position."""
        film = self.clip("film.mkv", 30, "320x180")
        server = self.sender(source=film)
        p = self.player(server.url, "--reconnect", "--at", "12:seek=29")
        p.wait_shown(10)
        server.signal(signal.SIGKILL)
        server.wait(10)
        sought = p.events("connected")[0]["t"] + 12
        until(lambda: any(e["t"] > sought + 1 for e in p.events("reconnect")), "a try after the seek")
        self.again(server, source=film)
        self.assertEqual(p.wait(25), 0, str(p))
        r = p.report()
        self.assertEqual((r["ended"], r["session"]["reconnects"]), ("end-of-media", 1))
        self.assertLess(len(p.shown()), 14 * 25, "from the beginning up to the loss, and the last second")

    def test_what_was_lost_before_counts(self):
        """The stats include the last packet of a connection, which may be less than a second old."""
        recording = Recording(self.sender(listen="127.0.0.1:0").port, 1.0, frames=40)
        holes = range(10, 40, 5)

        def media(server, holes=holes):
            for i, data in enumerate(recording.packets[:60]):
                if i not in holes:
                    server.packet(data)
            server.pause(20 * lib.PATIENCE)
        first = FakeServer(recording.sdp, media, host=lib.own_address())
        self.addCleanup(first.stop)
        p = self.player(first.url, "--reconnect", "--transport", "tcp")
        p.wait_shown(1)
        first.stop()
        second = FakeServer(recording.sdp, lambda server: media(server, ()), port=int(first.url.split(":")[2].split("/")[0]),
                            host=lib.own_address())
        self.addCleanup(second.stop)
        until(lambda: len(p.events("connected")) == 2, "the connection", 10)
        self.pictures_after(p, p.events("connected")[1]["t"])
        p.signal(signal.SIGTERM)
        p.wait(10)
        self.assertEqual(p.report()["network"]["packets_lost"], len(holes), str(p))

    def test_the_last_picture_is_kept(self):
        """Keeps the last picture until another server delivers one."""
        server = self.sender()
        p = self.player(server.url, "--reconnect", "--snapshot", self.path("last.png"))
        p.wait_shown(10)
        server.signal(signal.SIGKILL)
        server.wait(10)
        other = FakeServer(NO_LEVELS, lambda s: None, port=server.port, host=lib.own_address())
        self.addCleanup(other.stop)
        until(lambda: any("no levels" in e["why"] for e in p.events("reconnect")), "the other server's refusal", 10)
        p.signal(signal.SIGTERM)
        self.assertEqual(p.wait(10), 130, str(p))
        self.assertEqual(lib.png_size(self.path("last.png")), (426, 240))


if __name__ == "__main__":
    lib.main()
