# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-proxy --cache: films are stored as they pass, completed, and served without their origin."""
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.request

import lib
import link_case
from lib import until
from rtsp import Client

SECONDS = 8
LEVELS = ["--level", "96x54@30:50", "--level", "192x108@15:80", "--level", "192x108@30:140"]


class CacheCase(lib.Case):
    seconds = SECONDS

    @classmethod
    def setUpClass(cls):
        lib.need("ffmpeg")
        super().setUpClass()
        cls.made = tempfile.mkdtemp(prefix="weir-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        cls.film = lib.prepared_film(cls.made, cls.seconds, "192x108", LEVELS)

    def setUp(self):
        super().setUp()
        self.cache = self.path("cache")

    def copy(self, name="film.weir.mkv"):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return shutil.copy(self.film, path)

    def caching(self, origin, *args, **options):
        return self.proxy("--origin", f"rtsp://{origin.url.split('/')[2]}", "--cache", self.cache, *args, **options)

    def watch(self, proxy, *args, path="/live", **options):
        """Plays one size: the policy of films would view groups of both, in no certain order."""
        p = self.play(proxy.base + path, "--adapt", "none", *args, seconds=SECONDS + 30, **options)
        return p.report()

    def listed(self, cache=None):
        p = subprocess.run([lib.PROXY, "--cache", cache or self.cache, "--cache-list"], capture_output=True, text=True,
                           timeout=20 * lib.PATIENCE)
        self.assertEqual(p.returncode, 0, p.stderr)
        return p.stdout

    def is_complete(self):
        return " complete " in self.listed()

    def groups(self, cache=None):
        """Returns {(track, group): SHA-256} of the verified groups, from the bytes of their files."""
        found = {}
        for path in glob.glob(os.path.join(glob.escape(cache or self.cache), "*", "*-*")):
            m = re.fullmatch(r"(\d)-(\d{6})", os.path.basename(path))
            if m:
                with open(path, "rb") as f:
                    found[int(m[1]), int(m[2])] = hashlib.sha256(f.read()[80:]).hexdigest()
        return found

    def hashes(self, origin, groups, path="/live"):
        """Asks the origin for the same."""
        found = {}

        def ask():
            with Client(origin.port, origin.url.split("/")[2].rpartition(":")[0]) as c:
                names = {g: ("audio" if g[0] == 8 else str(g[0])) + f"/{g[1]}" for g in groups}
                r = c.request("GET_PARAMETER", f"rtsp://127.0.0.1:{origin.port}{path}", {},
                              "".join(f"group-hash: {n}\r\n" for n in names.values()))
                self.assertEqual(r.status, 200, str(r))
                for g, n in names.items():
                    found[g] = re.search(rf"group-hash: {n} (\S+)", r.body)[1]
            return "later" not in found.values()
        until(ask, "the origin's hashes", 20)
        return found

    def metric(self, proxy, name):
        address = re.search(r"http://[\d.:]+/", proxy.stderr)[0]
        with urllib.request.urlopen(address + "metrics", timeout=10 * lib.PATIENCE) as answer:
            return float(re.search(rf"^weir_cache_{name} (\S+)", answer.read().decode(), re.M)[1])


class Cache(CacheCase):
    def test_stored_and_served_without_its_origin(self):
        """After one viewing the copy is the origin's, byte for byte; then it plays with the origin dead, after a restart,
        too; the list and the metrics say so."""
        origin = self.sender(source=self.copy())
        proxy = self.caching(origin, "--metrics", "127.0.0.1:0", "--fetch-rate", "2000000")
        first = self.watch(proxy)
        until(self.is_complete, "the film is complete", 60)
        mine = self.groups()
        self.assertEqual(len(mine), 2 * ((SECONDS + 1) // 2), str(mine))
        self.assertEqual(mine, self.hashes(origin, mine))
        self.assertRegex(self.listed(), r"(?m)^20\d\d-\d\d-\d\d .* complete .* MB +192x108 +rtsp://\S+/live$")
        self.assertEqual(self.metric(proxy, "hits_total"), 0)
        origin.signal(signal.SIGKILL)
        origin.wait()
        second = self.watch(proxy)
        self.assertEqual(self.metric(proxy, "hits_total"), 1)
        self.assertGreater(self.metric(proxy, "saved_bytes_total"), 50000)
        self.assertEqual(self.metric(proxy, "complete_objects"), 1)
        for report in first, second:
            self.assertEqual(report["playback"]["frames_undecodable"], 0)
        self.stop_cleanly(proxy)
        proxy = self.caching(origin, "--outage", "1")
        self.watch(proxy)
        self.assertIn("the origin cannot be reached", proxy.stderr)
        self.assertIn("/live is served from the cache", proxy.stderr)
        self.stop_cleanly(proxy)

    def test_a_damaged_group(self):
        """Of a film that is complete: its viewer learns that it breaks off, and where it is served from its folder, too."""
        origin = self.sender(source=self.copy())
        proxy = self.caching(origin, "--fetch-rate", "2000000")
        self.watch(proxy)
        until(self.is_complete, "the film is complete", 60)
        path = glob.glob(os.path.join(glob.escape(self.cache), "*", "[0-7]-000001"))[0]
        with open(path, "r+b") as f:
            f.seek(200)
            f.write(bytes(100))
        p = self.play(proxy.base + "/live", code=4, seconds=SECONDS + 30)
        self.assertEqual(p.report()["ended"], "server-lost")
        self.assertIn("a part of it cannot be read", p.report()["error"])
        self.stop_cleanly(proxy)

    def test_thinned_layers_are_gaps(self):
        """A viewer of the lower layers leaves gaps; they are fetched."""
        origin = self.sender(source=self.copy())
        proxy = self.caching(origin, "--fetch-rate", "2000000")
        self.watch(proxy, "--level", "1")
        until(self.is_complete, "the film is complete", 60)
        mine = self.groups()
        self.assertEqual(mine, self.hashes(origin, mine))
        self.assertNotIn((0, 0), mine) # a size that nobody viewed

    def test_fast_forward_and_rewind(self):
        """They pass the proxy, and what a rewind brings is not stored at places of the film that it is not of. From the
        cache they work without the origin."""
        origin = self.sender(source=self.copy())
        proxy = self.caching(origin, "--fetch-rate", "2000000")

        def watch(*actions):
            p = self.play(proxy.base + "/live", "--adapt", "none", *(a for action in actions for a in ("--at", action)),
                          seconds=SECONDS + 30)
            self.assertEqual(p.report()["ended"], "end-of-media")
            self.assertNotIn("refused", p.stderr, "another answer of the origin was taken for the seek's")
            return [c["scale"] for c in p.events("scale")]
        # A scale that the next one replaces before its first picture is not reported.
        self.assertIn(watch("0.5:scale=2", "1:scale=-4"), ([2, -4, 1], [-4, 1]))
        until(self.is_complete, "the film is complete", 60)
        mine = self.groups()
        self.assertEqual(mine, self.hashes(origin, mine))
        self.stop_cleanly(origin)
        self.assertIn(watch("0.2:scale=4", "0.6:scale=8"), ([4, 8], [8]))
        self.assertIn("/live is served from the cache", proxy.stderr)

    def test_a_changed_file_replaces_the_first(self):
        source = self.copy("films/a.weir.mkv")
        origin = self.sender(source=os.path.dirname(source))
        proxy = self.caching(origin, "--validate", "0", "--fetch-rate", "2000000")
        self.watch(proxy, path="/a.weir.mkv")
        until(self.is_complete, "the film is complete", 60)
        self.watch(proxy, path="/a.weir.mkv")
        self.assertIn("is served from the cache", proxy.stderr)
        self.stop_cleanly(origin)
        os.utime(source, (1, 1))
        again = self.sender(source=os.path.dirname(source), listen=origin.url.split("/")[2])
        before = proxy.stderr.count("is served from the cache")
        self.watch(proxy, path="/a.weir.mkv", *["--duration", "3"])
        self.assertEqual(proxy.stderr.count("is served from the cache"), before)
        self.assertEqual(self.listed().count("a.weir.mkv"), 1)
        self.stop_cleanly(again)

    def test_odd_names(self):
        """The name of a film is no name of a file."""
        for name in "ä ö%.weir.mkv", "a..b.weir.mkv", "a&b;$(c)'.weir.mkv":
            self.copy("films/" + name)
        origin = self.sender(source=self.path("films"))
        proxy = self.caching(origin, "--fetch-rate", "2000000")
        for path in "/%C3%A4%20%C3%B6%25.weir.mkv", "/a..b.weir.mkv", "/a&b;$(c)'.weir.mkv":
            self.watch(proxy, "--duration", "3", path=path)
        until(lambda: self.listed().count("\n") >= 4, "three films", 20)
        for name in os.listdir(self.cache):
            self.assertRegex(name, r"^([0-9a-f]{32}|weir-cache)$")

    @lib.long
    def test_killed_while_storing(self):
        """What a killed proxy leaves is taken up again, and the copy becomes the origin's."""
        origin = self.sender(source=self.copy())
        known = {}
        for i in range(3):
            proxy = self.caching(origin)
            p = self.player(proxy.base + "/live")
            # Not so many pictures: a busy machine leaves some out, and the film is short.
            until(lambda: (p.shown() or [{"number": -1}])[-1]["number"] >= 30 + 40 * i, "a part of the film", 20)
            proxy.signal(signal.SIGKILL)
            proxy.wait()
            p.stop()
            for group, digest in known.items():
                self.assertEqual(self.groups().get(group), digest)
            known = self.groups()
        proxy = self.caching(origin, "--fetch-rate", "2000000")
        self.watch(proxy)
        until(self.is_complete, "the film is complete", 60)
        mine = self.groups()
        self.assertEqual(mine, self.hashes(origin, mine))

    @lib.long
    def test_bound(self):
        """--cache-bytes holds, although the films need more."""
        for name in "abc":
            self.copy(f"films/{name}.weir.mkv")
        origin = self.sender(source=self.path("films"))
        proxy = self.caching(origin, "--cache-bytes", "1M", "--fetch-rate", "2000000")
        for name in "abc":
            self.watch(proxy, path=f"/{name}.weir.mkv")
            used = subprocess.run(["du", "-s", "-B1", self.cache], capture_output=True, text=True, check=True)
            self.assertLessEqual(int(used.stdout.split()[0]), 1000000)

    def test_folders_that_cannot_be_used(self):
        """Another proxy's, of another version, with other things in it, a file, one that cannot be written: nothing is
        stored, and viewers are served."""
        origin = self.sender()
        first = self.caching(origin)
        cases = {"another proxy stores there": self.cache}
        for name, files in ("newer", {"weir-cache": "weir-cache 9\n"}), ("other", {"letter.txt": "text"}):
            os.mkdir(self.path(name))
            for file, text in files.items():
                with open(os.path.join(self.path(name), file), "w") as f:
                    f.write(text)
            cases[f"{name}: not a cache of this version"] = self.path(name)
        with open(self.path("file"), "w"):
            pass
        cases["file: Not a directory"] = self.path("file")
        for text, self.cache in cases.items():
            with self.subTest(text):
                proxy = self.caching(origin)
                self.assertIn(text, proxy.stderr)
                p = self.player(proxy.base + "/live")
                p.wait_shown(10)
                p.stop()
                self.stop_cleanly(proxy)
        with open(os.path.join(self.path("other"), "letter.txt")) as f:
            self.assertEqual(f.read(), "text")
        self.stop_cleanly(first)

    def test_a_folder_that_others_can_change(self):
        """What others put there would be served as the origin's: nothing is stored, and serving goes on."""
        origin = self.sender(source=self.copy())
        os.mkdir(self.cache)
        os.chmod(self.cache, 0o777)
        proxy = self.caching(origin)
        self.assertIn(f"{self.cache} is not used: other users may write into it (chmod 700 it)", proxy.stderr)
        self.assertIn("nothing is stored", proxy.stderr)
        self.watch(proxy)
        self.assertEqual(os.listdir(self.cache), [])
        self.stop_cleanly(proxy)

    def test_full_disk(self):
        """Storing stops and says so; serving goes on."""
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            raise unittest.SkipTest("mounts are not allowed here")
        os.mkdir(self.cache)
        mount = ["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=80k,mode=755 none '{self.cache}' && exec \"$@\"", "sh"]
        origin = self.sender(source=self.copy())
        proxy = self.caching(origin, prefix=mount)
        report = self.watch(proxy)
        self.assertEqual(report["playback"]["frames_undecodable"], 0)
        self.assertRegex(proxy.stderr, "No space left on device; storing stops, serving goes on")
        self.stop_cleanly(proxy)

    def test_usage(self):
        for args, text in (["--cache-list"], "--cache-list requires --cache"), (["--cache-bytes", "5"], "--cache-bytes"), (
                ["--cache-bytes", "5X"], "--cache-bytes"), (["--cache", ""], "--cache"), (["--validate", "-1"], "--validate"):
            p = self.start([lib.PROXY, *args])
            self.assertEqual(p.wait(), 2)
            self.assertIn(text, p.stderr)
        p = self.start([lib.PROXY, "--cache", self.path("none"), "--cache-list"])
        self.assertEqual(p.wait(), 1)
        self.assertIn("No such file or directory", p.stderr)


class Loss(link_case.LinkCase, CacheCase):
    @classmethod
    def setUpClass(cls):
        link_case.set_up()
        lib.need("ip")
        super().setUpClass()

    def test_one_per_cent(self):
        """Over a backbone that loses 1 % of the packets each way, the copy is the origin's after one viewing, and at most 1.2
        times the lost bytes are fetched. What the origin drops, on a machine that keeps it waiting, is fetched too."""
        lost = "rate=20mbit,delay=20ms,queue=droptail:100ms,loss=1%"
        link = self.link(lost, lost)
        a, b = self.ends
        subprocess.run(b.inside("ip", "link", "set", "lo", "up"), check=True)
        origin = self.sender("--stats", self.path("origin"), source=self.copy(), listen=f"{link_case.A}:0", prefix=a.inside())
        proxy = self.caching(origin, "--fetch-rate", "2000000", listen=f"{link_case.B}:0", prefix=b.inside())
        p = self.player(proxy.base + "/live", "--level", "2", prefix=b.inside())
        self.assertEqual(p.wait(SECONDS + 40), 0, str(p))
        until(self.is_complete, "the film is complete", 90)
        mine = self.groups()
        proxy.stop()
        done = re.search(r"is stored completely; (\d+) bytes", proxy.stderr)
        fetched = int(done[1]) if done else 0  # nothing was missing after the viewing
        origin.stop()
        _, end = self.stats(link)
        self.assertGreater(end["a_to_b"]["dropped"]["loss"], 0)
        with open(self.path("origin")) as f:
            dropped = max(sum(line["scheduler"]["dropped"]) for line in map(json.loads, f) if "scheduler" in line)
        if not dropped:
            self.assertLessEqual(fetched, 1.2 * (end["a_to_b"]["bytes_in"] - end["a_to_b"]["bytes_out"]))
        self.assertLess(fetched, os.path.getsize(self.film) / 2)
        again = self.sender(source=self.path("film.weir.mkv"))
        self.assertEqual(mine, self.hashes(again, mine))


class Parent(CacheCase):
    """A proxy behind a proxy, each with a cache. The first viewing fills the parent; the second one, which the parent serves in
    the size that it has, fills the leaf."""
    seconds = 4

    def setUp(self):
        super().setUp()
        self.leaf_cache = self.path("leaf")
        self.origin = self.sender(source=self.copy())
        self.parent = self.caching(self.origin, "--fetch-rate", "2000000", "--validate", "0")
        self.leaf = self.proxy("--parent", self.parent.base, "--cache", self.leaf_cache, "--fetch-rate", "2000000", "--validate", "0")
        self.watch(self.leaf)
        until(self.is_complete, "the parent's copy", 60)
        self.assertFalse(self.served(self.leaf))
        self.watch(self.leaf)
        self.assertTrue(self.served(self.parent), self.parent.stderr)
        until(lambda: " complete " in self.listed(self.leaf_cache), "the leaf's copy", 60)

    def served(self, proxy):
        return proxy.stderr.count("/live is served from the cache")

    @lib.long
    def test_both_store(self):
        """Both have the origin's bytes, and the leaf plays its own while the others live and when they are dead."""
        mine = self.groups()
        self.assertEqual(mine, self.hashes(self.origin, mine))
        self.assertEqual(sorted(self.groups(self.leaf_cache).values()), sorted(mine.values()))
        for dead, count in (None, 1), (self.origin, 2), (self.parent, 3):
            if dead:
                dead.signal(signal.SIGKILL)
                dead.wait()
            self.watch(self.leaf, "--duration", "1")
            self.assertEqual(self.served(self.leaf), count, self.leaf.stderr)
        self.assertIn("the origin cannot be reached", self.leaf.stderr)
        self.stop_cleanly(self.leaf)

    def test_a_changed_file_replaces_both(self):
        self.stop_cleanly(self.origin)
        source = self.path("film.weir.mkv")
        os.utime(source, (1, 1))
        self.sender(source=source, listen=self.origin.url.split("/")[2])
        served = self.served(self.parent)
        self.watch(self.leaf, "--duration", "1")
        self.assertEqual((self.served(self.leaf), self.served(self.parent)), (0, served), self.leaf.stderr)
        for cache in self.cache, self.leaf_cache:
            self.assertNotIn(" complete ", self.listed(cache))


if __name__ == "__main__":
    lib.main()
