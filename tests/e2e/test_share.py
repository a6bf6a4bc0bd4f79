# SPDX-License-Identifier: GPL-2.0-or-later
"""Viewers of weir-proxy that share its sessions with the origin."""
import json
import re
import selectors
import signal
import threading
import time
import urllib.request

import lib
from lib import until
from rtsp import Client, Viewer
from test_proxy import ProxyCase

TINY = "test:160x90@10"


class ShareCase(ProxyCase):
    def origin(self, *args, source=lib.SOURCE, **options):
        return self.sender("--metrics", "127.0.0.1:0", *args, source=source, **options)

    def behind(self, origin, *args, **options):
        """Over a backbone that loses nothing, even on a machine that has no time for its datagrams."""
        return super().behind(origin, "--backbone-transport", "minbuf", *args, **options)

    def ask(self, program, what="status.json"):
        base = re.search(r"metrics at (http://\S+/)", program.stderr).group(1)
        with urllib.request.urlopen(base + what, timeout=10 * lib.PATIENCE) as answer:
            return answer.read().decode()

    def sessions(self, origin):
        """Returns the origin's current sessions, and how many it has had."""
        status = json.loads(self.ask(origin))
        return status["sessions"], sum(t["sessions"] for t in status["total"]["transports"].values())

    def viewer(self, proxy, level=None):
        v = Viewer(proxy.port) if level is None else LevelViewer(proxy.port, level)
        self.addCleanup(v.client.close)
        return v


class LevelViewer(Viewer):
    def __init__(self, port, level):
        self.level = level
        super().__init__(port)

    def start(self):
        self.set_level(self.level)
        super().start()

    def set_level(self, level):
        self.client.send(self.client.format("SET_PARAMETER", body=f"level: {level}\r\n"))


class Live(ShareCase):
    @lib.long
    def test_a_hundred_viewers_cost_one_stream(self):
        """The origin has one session, and sends once what all of them get."""
        origin = self.origin(source=TINY)
        proxy = self.behind(origin, "--max-viewers", "800", "--timeout", "600", "--metrics", "127.0.0.1:0")
        with Crowd(proxy.port, 100) as crowd:
            crowd.wait_bytes(1000)
            until(lambda: self.sessions(origin)[0], "the session in the status")
            received = list(crowd.bytes)  # before: a busy machine may let seconds pass here
            before, _ = self.sessions(origin)
            crowd.wait_bytes(30000)
            now, had = self.sessions(origin)
            self.assertEqual(len(now), 1)
            self.assertEqual(had, 1)
            sent = now[0]["octets"] - before[0]["octets"]
            got = [b - r for b, r in zip(crowd.bytes, received)]
            self.assertGreater(sum(got), 50 * sent, "the viewers got far more than the origin sent")
            until(lambda: 'proxy_viewers{session="1"} 100' in self.ask(proxy, "metrics"), "the metrics")
            print(f"  100 viewers got {sum(got)} bytes, the origin sent {sent} of payload in 1 session", end=" ")
        until(lambda: not self.sessions(origin)[0], "the proxy to leave the origin")
        self.stop_cleanly(proxy)

    def test_one_for_each_size(self):
        """A viewer that changes its size joins the other viewers of that one."""
        origin = self.origin("--level", "128x72@10:60", "--level", "192x108@10:120", source="test:192x108@10")
        proxy = self.behind(origin, "--log", "debug")
        low, high = self.viewer(proxy, 0), self.viewer(proxy, 1)
        for v in low, high:
            v.wait_frames(10)
        until(lambda: sorted(s["encoder"]["width"] for s in self.sessions(origin)[0]) == [128, 192], "both sizes")
        p = self.player(proxy.base + "/live", "--at", "3:level=0", "--at", "6:level=1")
        until(lambda: len(p.events("level")) >= 2 or not p.running(), "both changes", 30)
        self.assertEqual(self.sessions(origin)[1], 2, f"sessions at the origin\n{proxy}")
        shown = len(p.shown())
        until(lambda: len(p.shown()) > shown + 10 or not p.running(), "more pictures")
        p.signal(signal.SIGTERM)
        p.wait()
        self.assertEqual(p.report()["playback"]["frames_undecodable"], 0)
        self.assertEqual(p.report()["network"]["packets_lost"], 0)
        for v in low, high:
            v.check()
        self.assertLessEqual(self.sessions(origin)[1], 2)
        self.stop_cleanly(proxy)

    @lib.long
    def test_the_others_lose_nothing(self):
        """Viewers come, go, pause, and stop reading; next to them no frame is missing."""
        origin = self.origin(source=TINY)
        proxy = self.behind(origin, "--max-viewers", "400", "--timeout", "2", "--metrics", "127.0.0.1:0")
        quiet = self.viewer(proxy)
        quiet.wait_frames(5)
        with Client(proxy.port, receive_buffer=4096) as stuck, Client(proxy.port) as pauses:
            stuck.watch()
            pauses.watch()
            for _ in range(5):
                clients = [Client(proxy.port) for _ in range(6)]
                for c in clients:
                    c.watch()
                self.assertEqual(pauses.request("PAUSE").status, 200)
                quiet.wait_frames(2)
                for c in clients[::2]:
                    c.request("TEARDOWN")
                for c in clients:
                    c.close()
                self.assertEqual(pauses.request("PLAY").status, 200)
            until(lambda: "is dropped: it has not taken a byte" in proxy.stderr, "the end of the one that is stuck", 60)
        # A machine with more to do may pass some too late; one that stopped for others would pass no more.
        mine = next(s["scheduler"] for s in json.loads(self.ask(proxy))["sessions"] if s["number"] == 1)
        self.assertEqual(mine["dropped_by_cause"]["full"], 0, str(mine))
        quiet.check()
        self.assertEqual(self.sessions(origin)[1], 1)
        self.stop_cleanly(proxy)

    def test_the_session_waits_for_the_next_viewer(self):
        """It goes on for some seconds after the last viewer; then it ends, and the next viewer has another."""
        origin = self.origin(source=TINY)
        proxy = self.behind(origin)
        for _ in range(8):  # a busy machine may need more than the 3 s that the session waits
            until(lambda: not self.sessions(origin)[0], "the proxy to leave the origin")
            before = self.sessions(origin)[1]
            for _ in range(2):
                self.viewer(proxy).check()
            until(lambda n=before: self.sessions(origin)[1] > n, "the session")
            had = self.sessions(origin)[1] - before
            if had == 1:
                break
        self.assertEqual(had, 1)
        until(lambda: not self.sessions(origin)[0], "the proxy to leave the origin")
        self.viewer(proxy).check()
        until(lambda: self.sessions(origin)[1] == before + 2, "another session")
        self.stop_cleanly(proxy)

    def test_one_reconnect_for_all(self):
        """The origin is killed and comes back: all its viewers go on, with one session."""
        address = lib.own_address()
        origin = self.origin(listen=f"{address}:0", source=TINY)
        proxy = self.behind(origin, "--outage", "60")
        viewers = [self.viewer(proxy) for _ in range(5)]
        for v in viewers:
            v.wait_frames(5)
        origin.signal(signal.SIGKILL)
        origin.wait()
        until(lambda: "is lost" in proxy.stderr, "the loss")
        origin = self.origin(listen=f"{address}:{origin.port}", source=TINY)
        until(lambda: "is back" in proxy.stderr, "the return", 20)
        viewers.append(self.viewer(proxy))
        for v in viewers:
            v.wait_frames(10)
        self.assertEqual(proxy.stderr.count("is back"), 1)
        self.assertEqual(len(self.sessions(origin)[0]), 1)
        for v in viewers[:-1]:
            self.assertFalse(v.said_goodbye)
        self.stop_cleanly(proxy)

    def test_a_slow_viewer(self):
        """Alone it has the source lowered; next to another it has not."""
        origin = self.origin(source="test:640x360@30")
        proxy = self.behind(origin, "--log", "debug", "--queue-bytes", "65536")

        def asked():
            said = re.findall(r"asks the origin \S+ (?:for (\d+) kbit/s at most|to end the limit)", proxy.stderr)
            return [int(n or 0) for n in said]

        with SlowClient(proxy.port) as slow:
            until(asked, "a limit", 60)
            self.assertGreater(asked()[-1], 0)
            other = self.viewer(proxy)
            other.wait_frames(5)
            until(lambda: asked()[-1] == 0, "the end of the limit")
            self.assertGreater(slow.bytes, 0)
            other.check()
        self.stop_cleanly(proxy)


class Tree(ShareCase):
    def test_a_proxy_behind_a_proxy(self):
        """The viewers of two proxies behind a third one share a stream there, too; each sees the whole way."""
        origin = self.origin(source=TINY)
        parent = self.proxy("--allow", "127.0.0.1", "--metrics", "127.0.0.1:0", "--backbone-transport", "minbuf")
        leaves = [self.proxy("--parent", parent.base, "--backbone-transport", "minbuf") for _ in range(2)]
        path = f"/127.0.0.1:{origin.port}/live"
        viewers = [Viewer(leaf.port, leaf.base + path) for leaf in leaves for _ in range(3)]
        for v in viewers:
            self.addCleanup(v.client.close)
            v.wait_frames(10)
        p = self.player(leaves[0].base + path)
        p.wait_shown(10)
        p.signal(signal.SIGTERM)
        p.wait()
        self.assertEqual(p.report()["session"]["via"].count("weir-proxy-"), 2, str(p.report()["session"]))
        self.assertEqual(p.report()["playback"]["frames_undecodable"], 0)
        for v in viewers:
            v.check()
        self.assertEqual(self.sessions(parent)[1], 2)
        self.assertEqual(self.sessions(origin)[1], 1)
        for program in *leaves, parent:
            self.stop_cleanly(program)


class Crowd(threading.Thread):
    """Viewers that count the bytes that they get."""

    def __init__(self, port, count):
        super().__init__(daemon=True)
        self.bytes = [0] * count
        self.over = False
        self.error = None
        self.ready = selectors.DefaultSelector()
        self.clients = [Client(port) for _ in range(count)]
        for i, c in enumerate(self.clients):
            c.watch()
            self.ready.register(c.socket, selectors.EVENT_READ, i)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.join(5 * lib.PATIENCE)
        for c in self.clients:
            c.close()

    def run(self):
        while not self.over:
            for key, _ in self.ready.select(0.1):
                data = self.clients[key.data].socket.recv(65536)
                if not data:
                    self.error = f"viewer {key.data} was cut off"
                    return
                self.bytes[key.data] += len(data)

    def wait_bytes(self, count):
        """Each viewer has so many bytes more."""
        least = [b + count for b in self.bytes]
        until(lambda: self.error or all(b >= n for b, n in zip(self.bytes, least)), "bytes for each viewer", 60)
        assert not self.error, self.error


class SlowClient(threading.Thread):
    """Reads about 20 kB/s."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.client = Client(port, receive_buffer=4096)
        self.client.watch()
        self.bytes = 0
        self.over = False

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.join(5 * lib.PATIENCE)
        self.client.close()

    def run(self):
        try:
            while not self.over:
                self.bytes += len(self.client.socket.recv(1000))
                time.sleep(0.05)  # its slowness is what the test is about
        except OSError:
            pass


if __name__ == "__main__":
    lib.main()
