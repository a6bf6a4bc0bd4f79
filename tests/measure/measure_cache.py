# SPDX-License-Identifier: GPL-2.0-or-later
"""What a proxy's store is worth: a picture as soon as from a local server, and one film and one live stream for all viewers.

The origin is behind a backbone with a round trip of 100 ms that loses 1 % of the packets each way. The proxy, its viewers,
and a server of the same film that the proxy is compared with are at the other end.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import time

import lib
import link_case
import test_cache
from figures import Measurement
from lib import until

FAR = "rate=20mbit,delay=50ms,queue=droptail:100ms,loss=1%"
PAIRS = 7
VIEWERS, EACH_S = 10, 6  # ten within a minute
LIVE_VIEWERS = 100
READ = "import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=30).read().decode())"


def setUpModule():
    link_case.set_up()
    lib.need("ip")


class FarCase(link_case.LinkCase, test_cache.CacheCase, Measurement):
    def setUp(self):
        super().setUp()
        self.backbone = self.link(FAR, FAR)
        self.near = {"listen": f"{link_case.B}:0", "prefix": self.ends[1].inside()}
        for end in self.ends:
            subprocess.run(end.inside("ip", "link", "set", "lo", "up"), check=True)

    def far_origin(self, *args, **options):
        return self.sender("--metrics", "127.0.0.1:0", "--stats", self.path("origin.jsonl"), *args, listen=f"{link_case.A}:0",
                           prefix=self.ends[0].inside(), **options)

    def view(self, base, *args):
        return self.player(base + "/live", *args, prefix=self.ends[1].inside())

    def sent(self, server, end):
        """Returns the bytes of media that a server has sent in sessions, once all have ended."""
        url = re.search(r"metrics at (http://\S+/)", server.stderr).group(1) + "status.json"

        def ended():
            done = subprocess.run(self.ends[end].inside(sys.executable, "-c", READ, url), stdout=subprocess.PIPE, check=True)
            status = json.loads(done.stdout)
            return None if status["sessions"] else status["total"]["transports"].values()
        return sum(t["octets"] + t["sound_octets"] for t in until(ended, "the end of the sessions", 30))

    def sessions(self, name):
        """Returns {session: its lines} of a file of --stats, without a line that is being written."""
        found = {}
        with open(self.path(name)) as f:
            for line in map(json.loads, f.read().split("\n")[:-1]):
                if "octets" in line:
                    found.setdefault(line["session"], []).append(line)
        return found


class Films(FarCase):
    seconds = 60

    def first_picture(self, base):
        p = self.view(base, "--duration", "1")
        self.assertEqual(p.wait(60), 0, str(p))
        return 1e3 * p.report()["startup"]["time_to_first_frame"]

    def measure_first_picture_of_a_prefix(self):
        """In turns with the local server."""
        local = self.sender(source=self.film, **self.near)
        proxy = self.caching(self.far_origin(source=self.film), "--share", "0", **self.near)
        p = self.view(proxy.base)
        p.wait_shown(20)
        p.stop()
        relayed = 1e3 * p.report()["startup"]["time_to_first_frame"]
        until(lambda: "the prefix of 192x108 is stored" in proxy.stderr, "the prefix", 60)
        base = local.url.rpartition("/")[0]
        pairs = [(self.first_picture(proxy.base), self.first_picture(base)) for _ in range(PAIRS)]
        self.assertIn("is served from the cache while it is filled", proxy.stderr)
        self.figure("film relayed over the backbone: start to first picture", relayed, unit="ms")
        self.figure("film of a local server: start to first picture, median", statistics.median(b for _, b in pairs), unit="ms")
        self.figure("film whose prefix is cached: start to first picture, median", statistics.median(a for a, _ in pairs), unit="ms")
        self.figure(f"the second to the first, median of {PAIRS} pairs", statistics.median(a / b for a, b in pairs), high=1.1)

    def measure_viewers_of_a_film(self):
        """Ten within a minute, whose levels follow the network; a viewer of a server on the same machine says what the film
        has in its highest level."""
        local = self.sender("--metrics", "127.0.0.1:0", source=self.film, **self.near)
        origin = self.far_origin(source=self.film)
        proxy = self.caching(origin, **self.near)
        alone = self.view(local.url.rpartition("/")[0], "--level", "2")
        viewers, begun = [], time.monotonic()
        for i in range(VIEWERS):
            time.sleep(max(0, begun + i * EACH_S - time.monotonic()))
            viewers.append(self.view(proxy.base))
        for p in alone, *viewers:
            self.assertEqual(p.wait(180), 0, str(p))
        film = self.sent(local, 1)
        until(self.is_complete, "the film is complete", 90)
        self.stop_cleanly(proxy)
        reports = [p.report() for p in viewers]
        total = self.sent(origin, 0)
        self.figure(f"{VIEWERS} viewers within a minute: films that the origin has sent", total / film, high=1.2)
        self.figure("of the viewers: lowest mean level of one, of 0 to 2", min(r["levels"]["mean"] for r in reports))
        self.figure("of the viewers: latest first picture of one", 1e3 * max(r["startup"]["time_to_first_frame"] for r in reports),
                    unit="ms")
        self.figure("of the viewers: most frames lost by one, of 1800", max(r["playback"]["frames_lost"] for r in reports))
        self.figure("of the viewers: longest rebuffering of one", max(r["rebuffering"]["total"] for r in reports), unit="s")
        mine = self.groups()
        self.assertEqual(mine, self.hashes_of_film(mine))

    def hashes_of_film(self, groups):
        return self.hashes(self.sender(source=self.film), groups)

    def measure_refetch(self):
        """Over a transport that loses packets for good if they are not sent again."""
        origin = self.far_origin(source=self.film)
        proxy = self.caching(origin, "--share", "0", "--fetch-rate", "2000000", "--backbone-transport", "tfrc", **self.near)
        p = self.view(proxy.base, "--level", "2")
        self.assertEqual(p.wait(150), 0, str(p))
        until(self.is_complete, "the film is complete", 90)
        mine = self.groups()
        proxy.stop()
        # Each line counts from its own beginning: that of the prefix, too. None: nothing was missing after the viewing.
        self.assertNotIn("what is missing cannot be fetched", proxy.stderr)  # its bytes are in no line
        fetched = sum(map(int, re.findall(r"is stored(?: completely)?; (\d+) bytes were fetched", proxy.stderr)))
        origin.stop()
        last = [lines[-1] for lines in self.sessions("origin.jsonl").values()]
        resent = sum(line["repair"]["bytes"] for line in last if line["repair"])
        _, end = self.stats(self.backbone)
        lost = end["a_to_b"]["bytes_in"] - end["a_to_b"]["bytes_out"]
        self.figure("one viewing over 1 % loss: lost in the backbone", lost / 1e3, unit="kB")
        self.figure("one viewing over 1 % loss: sent again meanwhile", resent / 1e3, unit="kB")
        self.figure("one viewing over 1 % loss: fetched afterwards, to the lost bytes", fetched / lost, high=1.2)
        self.assertEqual(mine, self.hashes_of_film(mine))


class Live(FarCase):
    seconds = 2

    def measure_viewers_of_a_live_stream(self):
        """What the origin sends, to what its encoder makes in the same seconds; what is sent again counts, too."""
        origin = self.far_origin("--sound", "none", "--level", "320x180@30:300", source="test:320x180@30")
        proxy = self.proxy("--origin", f"rtsp://{origin.url.split('/')[2]}", "--stats", self.path("proxy.jsonl"),
                           "--max-viewers", "1000", **self.near)
        viewers = self.start(self.ends[1].inside(os.path.join(lib.BUILD, "tests", "bench_fanout_client"),
                                                 f"{link_case.B}:{proxy.port}", "minbuf", str(LIVE_VIEWERS), "10", "0"))
        until(lambda: "end" in viewers.stdout or not viewers.running(), "the viewers' end", 60)
        self.assertIn("end", viewers.stdout, str(viewers))
        self.assertEqual(len(self.sessions("proxy.jsonl")), LIVE_VIEWERS)
        sent = self.sessions("origin.jsonl")
        longest = max(sent.values(), key=len)
        first, last = longest[0], longest[-1]
        encoded = last["encoder"]["bytes"] - first["encoder"]["bytes"]
        all_of_them = sum(lines[-1]["octets"] for lines in sent.values()) - first["octets"]
        self.figure(f"{LIVE_VIEWERS} live viewers of one size: sessions with the origin", len(sent), high=1)
        self.figure(f"{LIVE_VIEWERS} live viewers of one size: streams that the origin sends", all_of_them / encoded, high=1.05)
