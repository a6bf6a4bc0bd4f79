# SPDX-License-Identifier: GPL-2.0-or-later
"""A folder as the source: each film at its own path, a list of them, and no way out of the folder."""
import json
import os
import re
import shutil
import subprocess
import urllib.parse
import urllib.request

import lib
import test_metrics
from lib import until
from rtsp import Client, Viewer


class Folder(lib.Case):
    def setUp(self):
        super().setUp()
        lib.need("ffmpeg")
        os.makedirs(self.path("films/sub/.hidden"))
        clip = self.clip("silent.mkv", seconds=3, size="320x180")
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", clip, "-f", "lavfi", "-i", "sine=440:d=3", "-c:v", "copy",
                        "-c:a", "flac", self.path("films/one.mkv")], check=True, timeout=60 * lib.PATIENCE)
        self.clip("films/sub/my film.mkv", seconds=2, size="160x90")
        shutil.copy(clip, self.path("films/sub/.hidden/x.mkv"))
        shutil.copy(clip, self.path("outside.mkv"))
        os.symlink("../outside.mkv", self.path("films/out.mkv"))
        with open(self.path("films/text.txt"), "w") as f:
            f.write("no film")

    def urls(self, server):
        return f"rtsp://127.0.0.1:{server.port}"

    def test_list(self):
        server = self.sender(source=self.path("films"))
        until(lambda: "2 files in the folder" in server.stderr, "the folder to be looked into")
        listed = subprocess.run([lib.PLAY, self.urls(server) + "/"], capture_output=True, text=True, timeout=20 * lib.PATIENCE)
        self.assertEqual((listed.returncode, listed.stdout.splitlines()),
                         (0, ["/one.mkv\t3.0\t320x180", "/sub/my%20film.mkv\t2.0\t160x90"]), listed.stderr)

    def test_weir_play_prints_a_long_list_as_a_whole(self):
        """Also through a proxy, whose own answers come in parts, too."""
        one = self.path("films/one.mkv")
        for i in range(400):
            os.link(one, self.path(f"films/a film with a name that is long enough for a list of several parts {i}.mkv"))
        server = self.sender(source=self.path("films"))
        proxy = self.proxy("--origin", f"rtsp://127.0.0.1:{server.port}")
        for base in server, proxy, server:
            listed = subprocess.run([lib.PLAY, f"rtsp://127.0.0.1:{base.port}/"], capture_output=True, text=True, timeout=60 * lib.PATIENCE)
            paths = [line.split("\t")[0] for line in listed.stdout.splitlines()]
            self.assertEqual((listed.returncode, len(paths), len(set(paths))), (0, 402, 402), listed.stderr)

    def test_a_long_list_comes_in_parts(self):
        names = [f"a film with a long name number {i:03}.mkv" for i in range(800)]
        for name in names:
            os.link(self.path("films/one.mkv"), self.path(f"films/{name}"))
        server = self.sender(source=self.path("films"))
        client, found, total, parts = Client(server.port), [], 1, 0
        self.addCleanup(client.close)
        while len(found) < total:
            headers = {"X-Weir-List": len(found)} if found else {}
            answer = client.request("DESCRIBE", f"{self.urls(server)}/", headers)
            self.assertEqual(answer.status, 300, str(answer))
            first, total = map(int, re.fullmatch(r"first=(\d+);total=(\d+)", answer.headers["x-weir-list"]).groups())
            self.assertEqual(first, len(found))
            found += [line.split("\t")[0] for line in answer.body.splitlines()]
            parts += 1
        self.assertGreater(parts, 1)
        self.assertEqual(len(set(found)), 802)
        self.assertEqual({f"/{urllib.parse.quote(name)}" for name in names} - set(found), set())

    def test_the_list_knows_stored_ladders(self):
        """A stored ladder that is valid, and one whose film has changed since."""
        server, film = self.sender(source=self.path("films")), self.path("films/one.mkv")

        def line():
            listed = subprocess.run([lib.PLAY, self.urls(server) + "/"], capture_output=True, text=True,
                                    timeout=20 * lib.PATIENCE)
            return listed.stdout.splitlines()[0]

        self.assertEqual(line(), "/one.mkv\t3.0\t320x180")
        made = self.start([lib.SEND, "--prepare", "--level", "160x90@25:80", film])
        self.assertEqual(made.wait(60), 0, str(made))
        self.assertRegex(line(), r"^/one.mkv\t3.\d\t160x90$")
        shutil.copy(self.path("silent.mkv"), film)
        self.assertEqual(line(), "/one.mkv\t3.0\t320x180")

    def test_files_that_come_and_go(self):
        """The list forgets removed files."""
        server, names = self.sender(source=self.path("films")), [self.path(f"films/{i}-0.avi") for i in range(150)]
        for name in names:
            open(name, "w").close()
        grown = []
        with Client(server.port) as c:
            for turn in range(1, 61):
                self.assertEqual(c.request("DESCRIBE", c.url.replace("live", "")).status, 300)
                grown.append(server.status_kb("VmRSS"))
                gone, names = names, [re.sub(r"-\d+.avi$", f"-{turn}.avi", name) for name in names]
                for old, new in zip(gone, names):
                    os.rename(old, new)
        if lib.SLOW <= 1:  # sanitizers keep what is freed
            self.assertLess(grown[-1] - grown[9], 2000, f"{grown} kB")

    @lib.long
    def test_two_files_at_once(self):
        paths = "/long.mkv", "/sub/long%20one.mkv"  # which play while a busy machine asks
        clip = self.clip("long.mkv", seconds=40, size="320x180")
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", clip, "-f", "lavfi", "-i", "sine=440:d=40", "-c:v", "copy",
                        "-c:a", "flac", self.path("films/long.mkv")], check=True, timeout=60 * lib.PATIENCE)
        self.clip("films/sub/long one.mkv", seconds=39, size="160x90")
        for _ in range(8):  # a busy machine may open one of them when the other has ended
            server = self.server("--metrics", "127.0.0.1:0", source=self.path("films"))
            players = [self.player(self.urls(server) + path, "--no-picture") for path in paths]
            for p in players:
                p.wait_shown(1, 30)
            def both_or_one_is_over(server=server, players=players):
                """The status has a session within a second."""
                return len(self.ask(server, "status.json")["sessions"]) == 2 or not all(p.running() for p in players)
            until(both_or_one_is_over, "two sessions", 60)
            if all(p.running() for p in players):
                break
            for p in players:
                p.wait(60)
            self.stop_cleanly(server)
        self.both_are_told_of(server, paths)
        for p, frames, width in zip(players, (1000, 975), (320, 160)):
            self.assertEqual(p.wait(60), 0, str(p))
            report = p.report()
            self.assertEqual(report["ended"], "end-of-media")
            self.assertIn(f"file {width}x", report["session"]["source"])
            # The first one may come twice: of another size, until the film's own key frame is there.
            self.between(5, report["playback"]["frames_received"], frames + 1, str(report["causes"]))
        until(lambda: server.stderr.count(" is closed") == 2, "both files to be closed")
        sound = {line["path"]: line["sound"] for line in self.stats() if "session" in line}
        self.assertGreater(sound.pop(paths[0])["encoder"]["packets"], 0)
        self.assertEqual(sound, {paths[1]: None})
        until(lambda: not self.ask(server, "status.json")["streams"], "the status to forget them")
        total = self.ask(server, "status.json")["total"]
        self.assertEqual(sum(t["sessions"] for t in total["transports"].values()), 2)
        self.assertGreater(sum(total["sent"]), 10, "what was done counts on")
        self.stop_cleanly(server)

    def ask(self, server, what):
        base = re.search(r"metrics at (http://\S+/)", server.stderr).group(1)
        with urllib.request.urlopen(base + what, timeout=10 * lib.PATIENCE) as answer:
            text = answer.read().decode()
        return json.loads(text) if what.endswith("json") else test_metrics.parse(text)

    def both_are_told_of(self, server, paths):
        status = self.ask(server, "status.json")
        self.assertEqual(status["source"], "films")
        self.assertEqual({s["path"] for s in status["streams"]}, set(paths))
        self.assertEqual({s["path"]: s["encoder"]["width"] for s in status["sessions"]}, {paths[0]: 320, paths[1]: 160})
        self.assertEqual({s["number"] for s in status["sessions"]}, {1, 2})
        metrics = self.ask(server, "metrics")
        self.assertEqual(metrics["weir_source_sessions"][1], {frozenset({("path", p)}): 1 for p in paths})
        self.assertEqual({dict(k)["path"] for k in metrics["weir_session_info"][1]}, set(paths))
        self.assertEqual({dict(k)["path"] for k in metrics["weir_encoder_frames_total"][1]}, set(paths))

    def test_many_requests_at_once(self):
        """A viewer that opens and closes films repeatedly does not block the films of others."""
        shutil.copy(self.path("films/one.mkv"), self.path("films/live"))
        server = self.sender("--loop", source=self.path("films"))
        viewer = Viewer(server.port)
        viewer.wait_frames(10)
        with Client(server.port) as c:
            urls = [self.urls(server) + path for path in ("/one.mkv", "/sub/my%20film.mkv")]
            c.send(b"".join(c.format("DESCRIBE", url) for url in 80 * urls))
            for _ in range(160):
                self.assertEqual(c.response().status, 200)
        viewer.check()

    def test_among_other_files(self):
        """Films are found among tens of thousands of photographs."""
        for i in range(30000):
            open(self.path(f"films/{i}.jpg"), "w").close()
        server = self.sender(source=self.path("films"))
        with Client(server.port) as c:
            self.assertIn("/one.mkv\t", c.request("DESCRIBE", c.url.replace("live", "")).body)

    def test_no_way_out(self):
        server = self.sender(source=self.path("films"))
        for path in ("/out.mkv", "/sub/.hidden/x.mkv", "/../outside.mkv", "/%2e%2e/outside.mkv", "/sub%2f..%2f..%2foutside.mkv",
                     "/sub/../../outside.mkv", "/none.mkv", "/sub", "/text.txt", "/" + "x" * 900):
            p = self.play(self.urls(server) + path, code=3)
            self.assertIn("404", p.stderr, path)
            if path != "/text.txt":
                self.assertIn("no such file; DESCRIBE rtsp://HOST/ lists", p.stderr, path)
        self.assertNotIn(" is open", server.stderr)

    def test_a_sound_device_that_is_not_there(self):
        """If no film can be opened, all its open files are closed again."""
        server = self.sender("--sound", "alsa:none-such", source=self.path("films"))

        def threads():
            return len(os.listdir(f"/proc/{server.pid}/task"))

        with Client(server.port) as c:
            for _ in range(3):
                before = threads()
                self.assertEqual(c.request("DESCRIBE", c.url.replace("live", "one.mkv")).status, 404)
        until(lambda: threads() <= before, "the threads to end")

    def test_deep_down(self):
        """The response to PLAY names both tracks, and is complete, however long their URLs are."""
        path = "/".join(["d" * 200] * 4 + ["f" * 150])
        os.makedirs(os.path.dirname(self.path("films/" + path)))
        os.rename(self.path("films/one.mkv"), self.path("films/" + path))
        with Client(self.sender(source=self.path("films")).port) as c:
            url = c.url.replace("live", path)
            for track in 0, 1:
                transport = f"RTP/AVP/TCP;unicast;interleaved={2 * track}-{2 * track + 1}"
                self.assertEqual(c.request("SETUP", f"{url}/trackID={track}", {"Transport": transport}).status, 200)
            played = c.request("PLAY", url)
        self.assertEqual(played.headers["session"], c.session)
        self.assertRegex(played.headers["rtp-info"], rf"^url={url}/trackID=0;seq=\d+,url={url}/trackID=1;seq=\d+$")


if __name__ == "__main__":
    lib.main()
