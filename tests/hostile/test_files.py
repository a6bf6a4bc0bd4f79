# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that could block, fill or mislead a server of their folder, and a disk that fails."""
import os
import re
import shutil
import signal
import struct
import subprocess
import time

import lib
from lib import until
from rtsp import Client, Viewer

PLAYLIST = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:2.0,\n{}\n"


def box(kind, *parts):
    data = b"".join(parts)
    return struct.pack(">I", 8 + len(data)) + kind + data


def full(kind, *words):
    """Returns an MP4 box with version and flags 0, and these 32-bit words."""
    return box(kind, struct.pack(f">{len(words) + 1}I", 0, *words))


def claims(samples):
    """Returns an MP4 of about 500 bytes whose only track (320 x 180) claims this many samples of one byte."""
    entry = box(b"avc1", struct.pack(">6xH16xHHIIIH32xHh", 1, 320, 180, 72 << 16, 72 << 16, 0, 1, 24, -1),
                box(b"avcC", bytes.fromhex("0142001effe1000a6742c01ed900a02ff97001000468cb83cb")))
    samples_of = box(b"stbl", box(b"stsd", struct.pack(">II", 0, 1), entry), full(b"stts", 1, samples, 1),
                     full(b"stsc", 1, 1, samples, 1), full(b"stsz", 1, samples), full(b"stco", 1, 1000))
    media = box(b"mdia", full(b"mdhd", 0, 0, 25, samples, 0), full(b"hdlr", 0, int.from_bytes(b"vide", "big"), 0, 0, 0),
                box(b"minf", samples_of))
    track = box(b"trak", full(b"tkhd", 0, 0, 1, 0, samples, *[0] * 13, 320 << 16, 180 << 16), media)
    return box(b"ftyp", b"isom\0\0\2\0isomavc1") + box(b"moov", full(b"mvhd", 0, 0, 25, samples, *[0] * 20), track)


class Folder(lib.Case):
    def setUp(self):
        super().setUp()
        lib.need("ffmpeg")
        os.makedirs(self.path("films/.hidden"))
        self.clip("films/live", seconds=3, size="320x180")  # the path that Viewer and Client.url name

    def clip(self, name, seconds=3, size="160x90", **options):
        """A name without an extension does not tell the format."""
        made = super().clip("made.mkv", seconds, size, **options)
        os.rename(made, self.path(name))
        return self.path(name)

    def share(self, *args, **options):
        return self.sender("--loop", *args, source=self.path("films"), **options)

    def describe(self, server, name):
        with Client(server.port) as c:
            return c.request("DESCRIBE", c.url.replace("live", name))

    def open_films(self, server):
        """Their names. The descriptors tell; the log holds back lines that repeat."""
        folder, fds = self.path("films/"), f"/proc/{server.pid}/fd/"
        paths = {os.path.realpath(fds + fd) for fd in os.listdir(fds)}
        return [path for path in paths if path.startswith(folder)]

    def client(self, server):
        c = Client(server.port)
        self.addCleanup(c.close)
        return c

    def names(self, server):
        listed = self.describe(server, "")
        self.assertEqual(listed.status, 300, str(listed))
        return [line.split("\t")[0] for line in listed.body.splitlines()]

    def refused(self, server, name, *words, status=404):
        answer = self.describe(server, name)
        self.assertEqual(answer.status, status, f"{name}: {answer}")
        for word in words:
            self.assertIn(word, answer.body, name)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)


class Files(Folder):
    def hls(self):
        """An unfinished playlist, under two names, and a playlist that refers to files outside of the folder."""
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", self.path("films/live"), "-c:v", "libx264", "-f", "mpegts",
                        self.path("films/part0.ts")], check=True, timeout=60 * lib.PATIENCE)
        shutil.copy(self.path("films/part0.ts"), self.path("outside.ts"))
        self.write("films/stream.m3u8", PLAYLIST.format("part0.ts"))
        self.write("films/playlist.mp4", PLAYLIST.format("part0.ts"))
        self.write("films/out.mp4", PLAYLIST.format("../outside.ts") + "#EXT-X-ENDLIST\n")
        self.write("films/list.mkv", "ffconcat version 1.0\nfile part0.ts\n")

    def test_playlists(self):
        """A list of other files is not a film, whatever its name: the server does not wait for its next part."""
        self.hls()
        server = self.share()
        viewer = Viewer(server.port)
        for name in "stream.m3u8", "playlist.mp4", "out.mp4", "list.mkv":
            self.refused(server, name, "not a readable video file")
        self.assertEqual(self.names(server), ["/part0.ts"])
        viewer.check()
        self.stop_cleanly(server)

    def test_a_playlist_alone(self):
        self.hls()
        for name in "stream.m3u8", "playlist.mp4":
            p = self.start([lib.SEND, "--listen", "127.0.0.1:0", self.path("films/" + name)])
            self.assertEqual(p.wait(), 1, str(p))
            self.assertIn("hls is not a format that contains its own video", p.stderr)

    def test_torn_files(self):
        """Preallocated files that were never written: a part of each is read, and no memory is kept."""
        for ending in "h264", "mp4", "ts", "avi", "mpg", "mkv":
            with open(self.path("films/torn." + ending), "wb") as f:
                f.truncate(1 << 30)
        with open(self.path("films/torn.h264"), "r+b") as f:  # begins as one
            f.write(bytes([0, 0, 0, 1, 0x67, 66, 0, 30]))
        server = self.share()
        viewer = Viewer(server.port)
        for ending in "h264", "mp4", "ts", "avi", "mpg", "mkv":
            self.refused(server, "torn." + ending)
        known = [line for line in self.describe(server, "").body.splitlines() if "?" not in line]
        self.assertEqual(known, [], "a busy machine may not have looked into each yet")
        viewer.check()
        if lib.SLOW <= 1:
            self.assertLess(server.status_kb("VmHWM"), 700e3)
        self.stop_cleanly(server)

    def test_an_index_that_a_few_bytes_claim(self):
        """85 million samples require an index of 2 GB. It is not built for a list of the folder or a request of the film."""
        with open(self.path("films/claims.mp4"), "wb") as f:
            f.write(claims(85_000_000))
        server = self.share()
        viewer = Viewer(server.port)
        self.refused(server, "claims.mp4")
        self.assertEqual(self.describe(server, "").status, 300)
        viewer.check()
        if lib.SLOW <= 1:
            self.assertLess(server.status_kb("VmHWM"), 700e3)
        self.stop_cleanly(server)

    def test_what_is_no_file(self):
        os.mkfifo(self.path("films/fifo.mp4"))
        os.mkdir(self.path("films/folder.mp4"))
        os.symlink("/dev/zero", self.path("films/device.mp4"))
        os.symlink("loop.mp4", self.path("films/loop.mp4"))
        shutil.copy(self.path("films/live"), self.path("films/.hidden/film.mkv"))
        shutil.copy(self.path("films/live"), self.path("films/.film.mkv"))
        os.symlink(".hidden/film.mkv", self.path("films/one.mkv"))
        os.symlink(".film.mkv", self.path("films/two.mkv"))
        os.symlink(".hidden", self.path("films/three"))
        os.symlink("live", self.path("films/four.mkv"))
        server = self.share()
        for name in "fifo.mp4", "folder.mp4", "device.mp4", "loop.mp4", "one.mkv", "two.mkv", "three/film.mkv":
            self.refused(server, name, "no such file")
        self.assertEqual(self.names(server), ["/four.mkv"])
        self.assertEqual(self.describe(server, "four.mkv").status, 200)
        self.stop_cleanly(server)

    def test_what_is_next_to_a_film(self):
        """Subtitles and prepared files are those of the folder: a link may lead to another place in it, not out of it."""
        cue = "1\n00:00:00,000 --> 00:00:03,000\n{}\n"
        self.write("private.srt", cue.format("private"))
        self.write("films/text.srt", cue.format("public"))
        self.write("films/.hidden/text.srt", cue.format("hidden"))
        targets = {"out": "../private.srt", "absolute": self.path("private.srt"), "hidden": ".hidden/text.srt",
                   "device": "/dev/zero", "inside": "text.srt", "inside_absolute": self.path("films/text.srt")}
        for name, target in targets.items():
            shutil.copy(self.path("films/live"), self.path(f"films/{name}.mkv"))
            os.symlink(target, self.path(f"films/{name}.srt"))
        shutil.copy(self.path("films/live"), self.path("films/fifo.mkv"))
        os.mkfifo(self.path("films/fifo.srt"))
        # A prepared file outside of the folder, and one inside of it
        shutil.copy(self.path("films/live"), self.path("ladder"))
        made = self.start([lib.SEND, "--prepare", "--level", "160x90@25:80", self.path("ladder")])
        self.assertEqual(made.wait(60), 0, str(made))
        for name, target in ("far", "../ladder.weir.mkv"), ("near", "prepared.mkv"):
            shutil.copy2(self.path("ladder"), self.path(f"films/{name}.mkv"))
            os.symlink(target, self.path(f"films/{name}.mkv.weir.mkv"))
        shutil.copy(self.path("ladder.weir.mkv"), self.path("films/prepared.mkv"))
        server = self.share()
        for name in "out", "absolute", "hidden", "device", "fifo":
            self.assertNotIn("x-weir-subtitles", self.describe(server, name + ".mkv").body, name)
        for name in "inside", "inside_absolute":
            self.assertIn(f"a=x-weir-subtitles:{name}.srt", self.describe(server, name + ".mkv").body)
        self.assertNotIn("160x90@25", self.describe(server, "far.mkv").body)
        self.assertEqual(self.describe(server, "near.mkv").status, 200)
        self.assertIn("near.mkv: using its prepared file", server.stderr)
        self.assertNotIn("far.mkv: using its prepared file", server.stderr)
        self.stop_cleanly(server)

    def test_names(self):
        """Every film of the list can be requested."""
        deep = "/".join(["d\u00e4" * 60] * 3)
        os.makedirs(self.path("films/" + deep))
        for name in ("new\nline.mp4", "del\x7f.mp4", "tab\t.mkv", "blank %41?#.mkv", "\u00e4\u4e16.mkv", "back\\slash.mkv",
                     "a%2fb.mkv", deep + "/film.mkv"):
            shutil.copy(self.path("films/live"), self.path("films/" + name))
        server = self.share()
        names = self.names(server)
        self.assertEqual(len(names), 2, names)
        for name in names:
            self.assertEqual(self.describe(server, name[1:]).status, 200, name)

    def test_links_in_place_of_work_files(self):
        """--prepare follows no links: their targets do not change."""
        os.mkdir(self.path("else"))
        self.write("mine", "mine")
        film = self.clip("film.mkv", seconds=1)
        for suffix, target in (".weir.part", "else"), (".weir.mkv.new", "mine"):
            os.symlink(target, film + suffix)
            p = self.start([lib.SEND, "--prepare", "--level", "160x90@25:80", film])
            self.assertEqual(p.wait(60), 1, str(p))
            self.assertIn(f"{film}{suffix}: the work file is a symbolic link, which is not followed (remove it)", p.stderr)
            os.remove(film + suffix)
        self.assertEqual(os.listdir(self.path("else")), [])
        with open(self.path("mine")) as f:
            self.assertEqual(f.read(), "mine")

    def test_ever_other_films(self):
        """Viewers that describe film after film and stay connected keep few films open, and do not disturb a viewer that watches."""
        for i in range(40):
            os.link(self.path("films/live"), self.path(f"films/{i}.mkv"))
        server = self.share()
        viewer = Viewer(server.port)
        clients = [self.client(server) for _ in range(31)]
        for turn in range(2):
            for i, c in enumerate(clients):
                c.send(c.format("DESCRIBE", c.url.replace("live", f"{(i + 7 * turn) % 40}.mkv")))
            statuses = [c.response().status for c in clients]
            self.assertLessEqual(set(statuses), {200, 503}, "busy at most")
            self.assertIn(200, statuses)
        until(lambda: len(self.open_films(server)) <= 1 + 8 + 1, "8 idle films at most, the viewer's and one that opens")
        with Client(server.port) as c:  # of all of them one can still be set up
            url = c.url.replace("live", "3.mkv")
            self.assertEqual(c.request("SETUP", url + "/trackID=0",
                                       {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"}).status, 200)
            self.assertEqual(c.request("PLAY", url).status, 200)
        viewer.check()
        self.stop_cleanly(server)

    def test_one_idle_film_makes_room(self):
        """A viewer that requested another film keeps it."""
        for i in range(33):
            os.link(self.path("films/live"), self.path(f"films/{i}.mkv"))
        server = self.share()
        for i in range(33):
            c = self.client(server)  # not before its turn: a client without an accepted request is dropped after 10 s
            url = c.url.replace("live", f"{i}.mkv")
            if i < 24:
                self.assertEqual(c.request("SETUP", url + "/trackID=0",
                                           {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"}).status, 200)
            else:
                self.assertEqual(c.request("DESCRIBE", url).status, 200)
        self.assertEqual(re.findall(r"(\S+) is closed", server.stderr), ["24.mkv"])
        self.stop_cleanly(server)


TOO_LATE = "took more than 30 s to open"


class SlowDisk(Folder):
    """slow_disk.c intercepts system calls."""

    def setUp(self):
        if lib.SLOW > 1:
            self.skipTest("sanitizers want to be loaded first themselves")
        super().setUp()
        self.preload = ["env", "LD_PRELOAD=" + self.preloaded("slow_disk")]

    @lib.long
    def test_films_that_do_not_open(self):
        """Each viewer gets a response within the limit. Other viewers and the end of the program do not wait."""
        for name in "slow.mkv", "stuck.mkv", "other.mkv":
            self.clip("films/" + name, seconds=60 if name == "slow.mkv" else 2, size="640x360")
        server = self.share(prefix=self.preload)
        viewer = Viewer(server.port)
        players = [self.player(f"rtsp://127.0.0.1:{server.port}/{name}.mkv") for name in ("slow", "stuck")]
        gone = Client(server.port)
        gone.send(gone.format("DESCRIBE", gone.url.replace("live", "stuck.mkv")))
        held = self.client(server)
        held.send(held.format("DESCRIBE", held.url.replace("live", "stuck.mkv")) + held.format("OPTIONS", "*"))
        self.assertEqual(self.describe(server, "other.mkv").status, 200)
        self.assertTrue(players[1].running(), "it still waits")
        gone.close()
        self.assertEqual(held.response().status, 503)
        self.assertEqual(held.response().status, 200)
        for p in players:
            self.assertEqual(p.wait(), 3, str(p))
            self.assertIn("503", p.stderr)
            self.assertIn(TOO_LATE, p.stderr)
        self.assertEqual(self.describe(server, "other.mkv").status, 200)
        viewer.check()
        server.signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0, str(server))

    def test_a_disk_that_has_to_wake_up(self):
        """A film that opens slowly plays, behind a proxy, too; another program waits like ours. The film stays open for a
        viewer who did not wait."""
        server = self.share(prefix=self.preload)
        until(lambda: " in the folder" in server.stderr, "the list, which reads each file")
        for i in range(3):
            self.clip(f"films/asleep{i}.mkv", size="320x180")
        proxy = self.proxy("--origin", f"rtsp://127.0.0.1:{server.port}")
        other, gone = self.client(server), Client(server.port)
        gone.send(gone.format("DESCRIBE", gone.url.replace("live", "asleep0.mkv")))
        other.send(other.format("DESCRIBE", other.url.replace("live", "asleep1.mkv")))
        players = [self.player(f"{base}/asleep{i}.mkv") for base, i in ((f"rtsp://127.0.0.1:{server.port}", 1), (proxy.base, 2))]
        until(lambda: "asleep0.mkv is slow to open" in server.stderr, "the thread", 30)
        gone.close()
        self.assertEqual(other.response().status, 200)
        for p in players:
            self.end_after(p, 5)
        until(lambda: "asleep0.mkv is open" in server.stderr, "the film of the one who is gone")
        self.assertEqual(self.describe(server, "asleep0.mkv").status, 200)
        self.assertEqual(server.stderr.count("asleep0.mkv is open"), 1)
        self.stop_cleanly(server)

    @lib.long
    def test_a_film_that_hangs_takes_one_thread(self):
        """The other films open, however often the slow one is requested, and even if its viewers have left."""
        for name in "stuck.mkv", "other.mkv":
            self.clip("films/" + name)
        server = self.share(prefix=self.preload)
        url = f"rtsp://127.0.0.1:{server.port}/stuck.mkv"
        for _ in range(6):
            gone = Client(server.port)
            gone.send(gone.format("DESCRIBE", url))
            time.sleep(0.2)  # until a thread has it, mostly: nothing tells
            gone.close()
        for _ in range(6):
            c = self.client(server)
            answer = c.request("DESCRIBE", url)
            self.assertEqual(answer.status, 503)
            self.assertIn(TOO_LATE, answer.body)
        self.assertEqual(self.describe(server, "other.mkv").status, 200)
        server.signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0, str(server))

    @lib.long
    def test_a_request_that_waits_is_a_request(self):
        """The viewer's first request is complete in time; the time to open the film does not count."""
        self.clip("films/stuck.mkv")
        server = self.share(prefix=self.preload)
        c = self.client(server)
        time.sleep(7)  # of the 10 s that it has: of the server's clock
        c.send(c.format("DESCRIBE", c.url.replace("live", "stuck.mkv")))
        answer = c.response()
        self.assertEqual(answer.status, 503)
        self.assertIn(TOO_LATE, answer.body)
        server.signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0, str(server))

    @lib.long
    def test_too_many_that_do_not_open(self):
        for i in range(30):
            shutil.copy(self.path("films/live"), self.path(f"films/stuck{i}.mkv"))
        server = self.share(prefix=self.preload)
        viewer = Viewer(server.port)
        clients = [self.client(server) for _ in range(30)]
        for i, c in enumerate(clients):
            c.send(c.format("DESCRIBE", c.url.replace("live", f"stuck{i}.mkv")))
        answers = [c.response() for c in clients]
        self.assertEqual({a.status for a in answers}, {503})
        late = [a for a in answers if TOO_LATE in a.body]
        busy = [a for a in answers if "busy opening other files" in a.body]
        self.assertEqual(len(late) + len(busy), 30, [a.body for a in answers])
        self.assertGreaterEqual(len(late), 4)  # each makes room for one that has some time left
        self.refused(server, "", "takes more than 30 s to list", status=503)
        viewer.check()
        server.signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0, str(server))

    def test_films_that_hang_hold_up_no_other(self):
        """More films hang than threads open films; others open nevertheless."""
        for i in range(6):
            shutil.copy(self.path("films/live"), self.path(f"films/stuck{i}.mkv"))
        self.clip("films/other.mkv")
        server = self.share(prefix=self.preload)
        clients = [self.client(server) for _ in range(6)]
        for i, c in enumerate(clients):
            c.send(c.format("DESCRIBE", c.url.replace("live", f"stuck{i}.mkv")))
        self.assertEqual(self.describe(server, "other.mkv").status, 200)
        server.signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0, str(server))

    @lib.long
    def test_one_file(self):
        for name, words in ("slow.mkv", "opening it takes too long"), ("stuck.mkv", "not open after"):
            path = self.clip("films/" + name, seconds=60, size="640x360")
            p = self.start([*self.preload, lib.SEND, "--listen", "127.0.0.1:0", path])
            self.assertEqual(p.wait(), 1, str(p))
            self.assertIn(words, p.stderr)
            p = self.start([*self.preload, lib.SEND, "--listen", "127.0.0.1:0", path])
            until(lambda p=p: os.readlink(f"/proc/{p.pid}/exe").endswith("weir-send"), "the program")
            lib.stands(p.cpu_seconds, "the program", 0.5)  # in its disk
            p.signal(signal.SIGTERM)
            self.assertEqual(p.wait(3), -signal.SIGTERM, str(p))

    def test_a_disk_that_fails_while_a_film_plays(self):
        """Its viewer receives no more of it; other films open, and the program ends without waiting for the reading thread."""
        self.clip("films/other.mkv", size="320x180")
        server = self.share(prefix=self.preload)
        viewer = Viewer(server.port)
        viewer.wait_frames(5)
        os.rename(self.path("films/live"), self.path("films/stuck"))  # /proc/self/fd names it so from now on

        lib.stands(lambda: viewer.frames, "the film", 3)  # as long as it is: a busy machine is no failed disk
        viewer.over = True
        viewer.client.close()
        until(lambda: "live is closed" in server.stderr, "the film to be closed")
        self.assertEqual(self.describe(server, "other.mkv").status, 200)
        server.signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0, str(server))
        self.assertIn("still reads a file", server.stderr)


if __name__ == "__main__":
    lib.main()
