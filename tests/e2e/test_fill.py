# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-proxy --cache: films that are viewed from the store while what they lack is fetched."""
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import time
import urllib.request
from random import Random

import lib
from lib import until
from rtsp import Viewer
from test_cache import SECONDS, CacheCase


class FillCase(CacheCase):
    """Over a backbone that loses nothing, even on a machine that has no time for its datagrams."""

    def origin(self, *args, **options):
        return self.sender("--metrics", "127.0.0.1:0", *args, source=self.copy(), **options)

    def filling(self, origin, *args, **options):
        return self.caching(origin, "--backbone-transport", "minbuf", "--metrics", "127.0.0.1:0", "--log", "info,film=debug",
                            *args, **options)

    def viewer(self, proxy, path="/live"):
        v = Viewer(proxy.port, proxy.base + path)
        self.addCleanup(v.client.close)
        return v

    def sent(self, origin):
        """Returns the bytes of media that the origin has sent in sessions that have ended, and their number."""
        base = re.search(r"metrics at (http://\S+/)", origin.stderr).group(1)

        def ended():
            with urllib.request.urlopen(base + "status.json", timeout=10 * lib.PATIENCE) as answer:
                status = json.loads(answer.read().decode())
            return None if status["sessions"] else status["total"]["transports"].values()
        kinds = until(ended, "the end of the sessions with the origin", 20)
        return sum(t["octets"] + t["sound_octets"] for t in kinds), sum(t["sessions"] for t in kinds)


class Prefix(FillCase):
    def test_plays_while_the_origin_stands_still(self):
        """The start of a film that was asked for once is there, without a byte of the origin; the rest comes from it."""
        origin = self.origin()
        proxy = self.filling(origin, "--prefix", "4", "--share", "0")
        first = self.viewer(proxy)
        first.wait_frames(20)
        first.over = True
        first.client.close()
        until(lambda: "the prefix of 192x108 is stored" in proxy.stderr, "the prefix", 30)
        origin.signal(signal.SIGSTOP)
        self.addCleanup(origin.signal, signal.SIGCONT)
        p = self.player(proxy.base + "/live", "--adapt", "none")
        # Not 90 pictures: a busy machine leaves some out, and no more than 120 are there.
        until(lambda: (p.shown() or [{"number": -1}])[-1]["number"] >= 90 or not p.running(), "three seconds of the film", 30)
        self.assertTrue(p.running(), str(p))
        self.assertIn("is served from the cache while it is filled", proxy.stderr)
        origin.signal(signal.SIGCONT)
        self.assertEqual(p.wait(SECONDS + 60), 0, str(p) + str(proxy))
        self.assertEqual(p.report()["playback"]["frames_undecodable"], 0)
        until(self.is_complete, "the film is complete", 30)
        mine = self.groups()
        self.assertEqual(mine, self.hashes(origin, mine))
        self.stop_cleanly(proxy)


class Share(FillCase):
    def test_ten_viewers_cost_one_film(self):
        """Ten viewers, one after the other within the time of --share: each gets the film, which crosses the backbone about
        once."""
        origin = self.origin()
        cache, self.cache = self.cache, self.path("other")
        alone = self.filling(origin, "--prefix", "0", "--share", "0")
        self.cache = cache
        v = self.viewer(alone)
        until(lambda: v.said_goodbye, "the film of one viewer", 60)
        v.over = True
        v.client.close()
        self.stop_cleanly(alone)
        one, _ = self.sent(origin)
        proxy = self.filling(origin, "--prefix", "0", "--share", "60")
        viewers = []
        for _ in range(10):
            viewers.append(self.viewer(proxy))
            until(lambda: viewers[-1].frames or viewers[-1].error, "a frame of each", 30)
        for v in viewers:
            until(lambda v=v: v.said_goodbye or v.error, "the end of each", 60)
            self.assertIsNone(v.error)
            self.assertEqual(v.gaps, 0)
        frames = {v.frames for v in viewers}
        self.assertEqual(len(frames), 1, "all have the whole film")
        self.stop_cleanly(proxy)
        all_of_them, sessions = self.sent(origin)
        print(f"  one film {one} bytes, ten viewers {all_of_them - one} in {sessions - 1} sessions; frames {frames}", end=" ")
        self.assertLessEqual(all_of_them - one, 1.2 * one, f"{sessions - 1} sessions\n{proxy}")

    def test_the_first_viewer_leaves(self):
        """The others have the film to its end, with a seek and in another size, too."""
        origin = self.origin()
        proxy = self.filling(origin, "--prefix", "0", "--share", "60", "--fill-speed", "4")
        first = self.viewer(proxy)
        first.wait_frames(20)
        p = self.player(proxy.base + "/live", "--adapt", "none", "--at", "3:level=0", "--at", "5:seek=1", "--at",
                        "7:seek=5", "--duration", "20")
        p.wait_shown(10, 30)
        first.over = True
        first.client.close()
        self.assertEqual(p.wait(SECONDS + 60), 0, f"{p}\n{proxy}")
        self.assertIn("is served from the cache while it is filled", proxy.stderr)
        self.assertEqual(p.report()["playback"]["frames_undecodable"], 0)
        self.assertEqual({e["to"] for e in p.events("level") if e["why"] == "user"}, {0}, str(p.events("level")))
        mine = self.groups()
        self.assertIn((0, 3), mine, "a group of the smaller size")
        self.assertEqual(mine, self.hashes(origin, mine))
        self.stop_cleanly(proxy)

    def bereft(self):
        """Returns a proxy that has the prefix of a film whose origin has stopped."""
        origin = self.origin()
        proxy = self.filling(origin, "--prefix", "2", "--share", "0", "--outage", "2")
        first = self.viewer(proxy)
        first.wait_frames(20)
        first.over = True
        first.client.close()
        until(lambda: "the prefix of 192x108 is stored" in proxy.stderr, "the prefix", 30)
        origin.signal(signal.SIGSTOP)
        return origin, proxy

    def parted(self, origin, proxy):
        self.assertIn("what is missing did not come within 2 s: the media ends", proxy.stderr)
        origin.signal(signal.SIGKILL)
        origin.wait()
        self.stop_cleanly(proxy)

    def test_the_origin_is_lost(self):
        """What is missing does not come any more: the media ends for who needs it, after --outage."""
        origin, proxy = self.bereft()
        p = self.player(proxy.base + "/live", "--adapt", "none")
        self.assertEqual(p.wait(60), 4, str(p))
        self.assertEqual(len(p.shown()), 60)
        self.assertEqual(p.report()["ended"], "server-lost")
        self.assertIn("origin: ", p.report()["error"])
        self.parted(origin, proxy)

    def test_the_origin_is_lost_to_others(self):
        """The end that another program sees is not the film's."""
        origin, proxy = self.bereft()
        v = self.viewer(proxy)
        until(lambda: v.said_goodbye or v.error, "the end", 60)
        self.assertFalse(v.said_goodbye)
        self.assertEqual(v.frames, 60)
        self.parted(origin, proxy)


class Behind(FillCase):
    seconds = 30  # a busy machine has a second viewer while the film is filled

    def test_behind_a_proxy_that_stores_nothing(self):
        """It names no digests, so nothing can be verified: each viewer is relayed. One that stores names them."""
        origin = self.origin()
        for stores in False, True:
            with self.subTest(stores=stores):
                parent = self.proxy("--allow", "127.0.0.1", "--backbone-transport", "minbuf",
                                    *(["--cache", self.path("parent")] if stores else []))
                leaf = self.proxy("--parent", parent.base, "--backbone-transport", "minbuf", "--prefix", "0",
                                  "--cache", self.path(f"leaf{stores}"))
                path = f"/127.0.0.1:{origin.port}/live"
                viewers = [self.viewer(leaf, path)]
                viewers[0].wait_frames(1)
                if stores:
                    until(lambda: glob.glob(os.path.join(glob.escape(self.path("leafTrue")), "*", "1-000000")), "a verified group")
                viewers.append(self.viewer(leaf, path))
                for v in viewers:
                    until(lambda v=v: v.frames > 70 or v.error, "more than a group", 30)
                    self.assertIsNone(v.error)
                self.assertEqual("while it is filled" in leaf.stderr, stores, str(leaf))
                for v in viewers:
                    v.over = True
                    v.client.close()
                self.stop_cleanly(leaf)
                self.stop_cleanly(parent)


@lib.long
class Killed(FillCase):
    """WEIR_KILLS=1000 is the whole test."""

    FILMS = 4

    def listing(self):
        """Returns the paths of the complete films."""
        return {line.rpartition("/")[2] for line in self.listed().splitlines() if " complete " in line}

    def stored(self):
        """Returns {file: SHA-256 of its bytes} of the verified groups."""
        found = {}
        for path in glob.glob(os.path.join(glob.escape(self.cache), "*", "?-??????")):
            with open(path, "rb") as f:
                found[path] = hashlib.sha256(f.read()[80:]).hexdigest()
        return found

    def fill_and_kill(self, origin, name, random):
        """A viewer is relayed and recorded, and leaves; for another one the rest is fetched, faster than it plays; then the proxy
        is killed."""
        proxy = self.filling(origin, "--fill-speed", "4", "--fetch-rate", "2000000")
        self.processes.remove(proxy)
        viewers = []
        try:
            for _ in range(2):
                viewers.append(self.viewer(proxy, "/" + name))
                viewers[-1].wait_frames(1)
            viewers[0].over = True
            viewers[0].client.close()
            time.sleep(random.uniform(0, 2.5))  # the kill is to come at any moment of the storing
        finally:
            proxy.signal(signal.SIGKILL)
            proxy.wait()
            for v in viewers:
                v.over = True
                v.client.close()

    def test_while_filling(self):
        """No byte of a verified group is wrong, none is lost, and a complete film stays complete and plays without its origin."""
        kills, random = int(os.environ.get("WEIR_KILLS", 8)), Random(19)
        names = [os.path.basename(self.copy(f"films/{i}.weir.mkv")) for i in range(self.FILMS)]
        origin = self.sender(source=self.path("films"))
        alone = self.sender(source=self.film)
        origins = self.hashes(alone, [(track, group) for track in (0, 1, 8) for group in range(SECONDS // 2)])
        self.stop_cleanly(alone)
        complete, known, total, killed_films = set(), {}, 0, 0
        for i in range(kills):
            if len(complete) == len(names):  # begin again
                shutil.rmtree(self.cache)
                complete, known = set(), {}
            name = next(n for n in names if n not in complete)
            self.fill_and_kill(origin, name, random)
            now, listed = self.stored(), self.listing()
            for path, digest in now.items():
                track, group = map(int, os.path.basename(path).split("-"))
                self.assertEqual(digest, origins[track, group], f"kill {i}: a wrong byte in {path}")
            self.assertLessEqual(set(known), set(now), f"kill {i}: a verified group is lost")
            self.assertLessEqual(complete, listed, f"kill {i}: a complete film is lost")
            total += len(set(now) - set(known))
            killed_films += len(listed - complete)
            known, complete = now, listed
        print(f"  {kills} kills, {total} groups and {killed_films} films stored", end=" ")
        self.assertGreater(total, 0)
        # What is left is completed, and plays without the origin.
        proxy = self.filling(origin, "--fetch-rate", "2000000", "--fill-speed", "4")
        if not complete:
            self.watch(proxy, path="/" + names[0])
            until(lambda: names[0] in self.listing(), "a complete film", 60)
        name = min(self.listing())
        origin.signal(signal.SIGKILL)
        origin.wait()
        report = self.watch(proxy, path="/" + name)
        self.assertIn("is served from the cache", proxy.stderr)
        self.assertEqual(report["playback"]["frames_undecodable"], 0)
        self.stop_cleanly(proxy)


class Prefetch(FillCase):
    def test_films_of_a_list(self):
        """They are stored without a viewer, one after the other; what the origin does not have is said."""
        for name in "abc":
            self.copy(f"films/{name}.weir.mkv")
        origin = self.sender(source=self.path("films"))
        with open(self.path("list"), "w") as f:
            f.write("# films of today\n/a.weir.mkv\n\n/none.weir.mkv\r\n/b.weir.mkv")
        proxy = self.caching(origin, "--prefetch", self.path("list"), "--fetch-rate", "2000000")
        until(lambda: self.listed().count(" complete ") == 2, "two films", 60)
        self.assertRegex(proxy.stderr, "/none.weir.mkv is not stored in advance: origin: ")
        self.assertNotIn("/c.weir.mkv", self.listed())
        origin.signal(signal.SIGKILL)
        origin.wait()
        self.watch(proxy, "--duration", "3", path="/b.weir.mkv")
        self.stop_cleanly(proxy)

    def test_usage(self):
        for args, text in (["--share", "5"], "--share requires --cache DIR"), (["--prefix", "5"], "--prefix requires --cache DIR"), (
                ["--prefetch", "x"], "--prefetch requires --cache DIR"), (["--fill-speed", "5"], "expects a number from 1 to 4"):
            p = self.start([lib.PROXY, "--origin", "rtsp://127.0.0.1:1", *args])
            self.assertEqual(p.wait(), 2)
            self.assertIn(text, p.stderr)
        p = self.start([lib.PROXY, "--origin", "rtsp://127.0.0.1:1", "--cache", self.cache, "--prefetch", self.path("none")])
        self.assertEqual(p.wait(), 1)
        self.assertIn("none: No such file or directory", p.stderr)


if __name__ == "__main__":
    lib.main()
