#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The transport mtp-raw in the programs, over the loopback, and what happens without the capability."""
import os
import signal
import socket
import sys
import unittest

import lib

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402

MEDIA = 443
WITHOUT = ("setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw")
REMEDY = "setcap cap_net_raw+ep"


def setUpModule():
    lib.need("unshare", "nsenter", "setpriv")
    if not isolate.isolated():
        raise unittest.SkipTest("namespaces are not allowed here")


class Raw(lib.Case):
    def media_port(self, server):
        return int(server.stderr.split("mtp-raw: TCP port ")[1].split()[0])


class Loopback(Raw):
    def test_pictures_in_both_families(self):
        for listen in "127.0.0.1:0", "[::1]:0", "[::]:0":
            with self.subTest(listen):
                server = self.server(listen=listen)
                url = server.url.replace("[::]", "127.0.0.1")
                p = self.see(url, "--transport", "mtp-raw", frames=60)
                r = p.report()
                self.assertEqual(r["session"]["transport"], "mtp-raw")
                self.few_lost(r)
                self.all_came(r)
                self.assertEqual([(e["to"], e["reason"]) for e in p.events("transport-mode")],
                                 [("strict", "probe: acknowledged over a hole")])
                self.assertEqual(self.last_transport()["acks_ignored"], 0)
                self.assertNotIn("dropped", server.stderr)
                self.stop_cleanly(server)

    def test_modes(self):
        for name, mode in (("mtp-raw:fill,2,0", 1), ("mtp-raw:resend", 2), ("mtp-raw:queue=200ms,frames", 0)):
            with self.subTest(name):
                server = self.server()
                p = self.player(server.url, "--transport", name)
                p.wait_shown(20)
                lib.until(lambda p=p: p.events("controller"), "what the server's controller says", 20)
                p.signal(signal.SIGINT)
                self.assertEqual(p.wait(), 130, str(p))
                if "queue" not in name:  # that one gives up what a busy machine holds up for 200 ms
                    self.few_lost(p.report())
                self.assertEqual(p.events("controller")[-1]["mode"], mode)
                self.stop_cleanly(server)

    def test_two_viewers_share_the_port(self):
        server = self.server("--log", "debug", "--mtp-port", str(MEDIA))
        self.assertEqual(self.media_port(server), MEDIA)
        players = [self.player(server.url, "--transport", "mtp-raw") for _ in range(2)]
        for p in players:
            self.few_lost(self.end_after(p, 60).report())

    def test_a_port_that_is_taken(self):
        server = self.server("--mtp-port", str(MEDIA))
        p = self.start([lib.SEND, "--listen", "127.0.0.1:0", "--mtp-port", str(MEDIA), lib.SOURCE])
        self.assertEqual(p.wait(), 1, str(p))
        self.assertIn(f":{MEDIA} for mtp-raw", p.stderr)
        self.assertTrue(server.running())

    def test_the_end_of_the_media_and_of_the_server(self):
        clip = self.clip(seconds=3)
        server = self.server(source=clip)
        p = self.play(server.url, "--transport", "mtp-raw")
        self.assertEqual(p.report()["ended"], "end-of-media", str(p))
        self.stop_cleanly(server)
        server = self.server(source=self.clip("long.mkv", seconds=30, size="320x180"))
        p = self.player(server.url, "--transport", "mtp-raw")
        p.wait_shown(10)
        self.stop_cleanly(server)
        self.assertEqual(p.wait(), 0, str(p))
        self.assertEqual(p.report()["ended"], "end-of-media", str(p))

    def test_a_viewer_that_is_killed(self):
        server = self.server()
        p = self.player(server.url, "--transport", "mtp-raw")
        p.wait_shown(10)
        p.popen.kill()
        p.popen.wait()
        self.few_lost(self.see(server.url, "--transport", "mtp-raw", frames=30).report())
        self.stop_cleanly(server)

    def test_strangers_on_the_port(self):
        """A normal TCP client can connect; its data is ignored."""
        server = self.server("--log", "debug")
        p = self.player(server.url, "--transport", "mtp-raw")
        p.wait_shown(10)
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", self.media_port(server)), 5 * lib.PATIENCE) as s:
                s.sendall(os.urandom(64))
        self.few_lost(self.end_after(p, len(p.shown()) + 10).report())
        self.stop_cleanly(server)


class Capability(Raw):
    def test_the_list_goes_on(self):
        for at in "server", "player":
            with self.subTest(f"the {at} lacks it"):
                server = self.server(prefix=WITHOUT if at == "server" else ())
                p = self.play(server.url, "--transport", "mtp-raw,minbuf", "--duration", "2",
                              prefix=WITHOUT if at == "player" else ())
                self.assertEqual(p.report()["session"]["transport"], "minbuf")
                texts = {"server": server.stderr, "player": p.stderr}
                self.assertEqual(texts.pop(at).count(REMEDY), 1)
                self.assertNotIn(REMEDY, texts.popitem()[1])

    def test_alone_it_is_refused(self):
        for at in "server", "player":
            with self.subTest(f"the {at} lacks it"):
                server = self.server(prefix=WITHOUT if at == "server" else ())
                p = self.play(server.url, "--transport", "mtp-raw", "--duration", "2", code=3,
                              prefix=WITHOUT if at == "player" else ())
                self.assertEqual(p.stderr.count(REMEDY), 1)
                self.assertEqual("461" in p.stderr, at == "server")
                self.assertTrue(server.running())

    def given_up(self, env=None):
        """Returns the names of all threads of both programs, and checks that none has the capability."""
        server = self.server(env=env)
        p = self.player(server.url, "--transport", "mtp-raw", env=env)
        p.wait_shown(10)
        names = []
        for process in server, p:
            names.append(set())
            for task in os.listdir(f"/proc/{process.pid}/task"):
                with open(f"/proc/{process.pid}/task/{task}/status") as f:
                    status = dict(line.split(":\t", 1) for line in f.read().splitlines())
                names[-1].add(status["Name"])
                for held in "CapPrm", "CapEff", "CapAmb":
                    self.assertFalse(int(status[held], 16) >> 13 & 1, f"{status['Name']} of {process}: {held}")
        return names

    def test_it_is_given_up(self):
        self.given_up()

    def test_a_thread_of_a_library_gives_it_up(self):
        """A thread that starts before main(), unknown to the programs."""
        if lib.SLOW > 1:
            raise unittest.SkipTest("sanitizers want to be loaded first themselves")
        for names in self.given_up({"LD_PRELOAD": self.preloaded("early_thread")}):
            self.assertIn("early", names)


if __name__ == "__main__":
    lib.main_isolated(isolate)
