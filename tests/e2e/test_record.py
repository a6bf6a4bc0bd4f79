#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of weir-send and weir-play: what is in the files, which files are deleted, and what a kill at any instant, a
slow disk and wrong options do.

WEIR_KILLS is the number of kills (20); WEIR_KILL_SEED makes their instants again.
"""
import calendar
import concurrent.futures
import glob
import json
import os
import random
import re
import select
import signal
import subprocess
import threading
import time
import unittest

import lib

KILLS = int(os.environ.get("WEIR_KILLS", "20"))
NAMES = "%Y-%m-%d_%H-%M-%S.mkv"
ALLOWED = 1.0  # seconds of media that a kill may cost


class Recorded:
    """A file of a recording, read by ffprobe."""

    def __init__(self, path):
        self.path = path
        done = subprocess.run(["ffprobe", "-v", "error", "-show_entries",
                               "format_tags=creation_time:stream=codec_name,width,height:packet=stream_index,pts_time,flags",
                               "-of", "json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60 * lib.PATIENCE)
        if done.returncode != 0:
            raise AssertionError(f"{path} of {os.path.getsize(path)} bytes cannot be read: {done.stderr}")
        read = json.loads(done.stdout)
        self.streams = [s["codec_name"] for s in read["streams"]]
        self.size = (read["streams"][0]["width"], read["streams"][0]["height"])
        self.video = [(float(p["pts_time"]), "K" in p["flags"]) for p in read["packets"] if p["stream_index"] == 0]
        self.audio = [float(p["pts_time"]) for p in read["packets"] if p["stream_index"] == 1]

    def end(self):
        return max(time for time, _ in self.video)

    def decode(self):
        """Decodes all pictures; returns their number. No error is accepted."""
        done = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0", "-show_entries",
                               "stream=nb_read_frames", "-of", "csv=p=0", self.path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60 * lib.PATIENCE)
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f"{self.path} does not decode: {done.stderr}")
        return int(done.stdout)


class Oversleep:
    """By how much the machine let a thread oversleep, at most: a program was then not run for as long, either."""

    def __init__(self):
        self.max = 0.0
        self.over = threading.Event()
        threading.Thread(target=self.nap, daemon=True).start()

    def nap(self):
        while not self.over.is_set():
            due = time.monotonic() + 0.02
            time.sleep(0.02)
            self.max = max(self.max, time.monotonic() - due)


class Case(lib.Case):
    def setUp(self):
        lib.need("ffprobe")
        super().setUp()
        self.dir = self.path("recordings")
        os.mkdir(self.dir)

    def names(self):
        return sorted(name for name in os.listdir(self.dir) if name.endswith(".mkv"))

    def files(self):
        """Returns the recordings, in the order in which they were begun."""
        return [Recorded(path) for path in sorted(glob.glob(os.path.join(self.dir, "*.mkv")))]

    def recording(self, *args, names=NAMES, **options):
        return self.sender("--record", os.path.join(self.dir, names), *args, **options)


class Sender(Case):
    def test_segments_begin_with_a_key_frame_and_hold_all(self):
        sender = self.recording("--record-segment", "2s")
        lib.until(lambda: len(self.names()) >= 3, "three segments", 30)
        self.stop_cleanly(sender)
        files = self.files()
        for file in files:
            self.assertEqual(file.streams, ["h264", "opus"])
            self.assertEqual(file.size, (426, 240))
            self.assertEqual(file.video[0], (0, True), file.path)
            self.assertEqual(file.decode(), len(file.video), file.path)
            self.assertTrue(re.match(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(\+\d+)?\.mkv$", os.path.basename(file.path)))
        for file, following in zip(files, files[1:]):
            self.assertGreaterEqual(begin_of(following.path) - begin_of(file.path), 2 - 2 / lib.FPS, file.path)
            self.assertGreater(len(file.audio), 2 / 0.02 / 2, file.path)
        # It is the largest size with all its layers: the source's rate. A slow machine leaves out frames here and there.
        steps = [b - a for f in files for (a, _), (b, _) in zip(f.video, f.video[1:])]
        self.assertLess(min(steps), 1.5 / lib.FPS)

    def test_is_played_by_weir_play(self):
        sender = self.recording(names="film.mkv")
        lib.until(lambda: self.names() == ["film.mkv"], "the recording", 20)
        path = os.path.join(self.dir, "film.mkv")
        lib.until(lambda: Recorded(path).video[-1][0] > 2, "two seconds of it", 30)
        sender.popen.kill()
        sender.wait()
        film = Recorded(path)
        again = self.sender(source=path)
        p = self.play(again.url, "--no-picture", seconds=60)
        report = p.report()
        self.assertEqual(report["ended"], "end-of-media")
        self.all_came(report)
        # To its last picture, at any level: one may have half the rate, and a busy sender leaves out some, which the report counts.
        rate = float(report["session"]["source"].rpartition("@")[2])
        last = max(e["number"] for e in p.events("frame"))
        self.assertGreaterEqual(last, round(film.end() * rate) - 2 - report["causes"]["by_root"]["sender"], str(p))

    def test_a_taken_name_is_left_alone(self):
        taken = os.path.join(self.dir, "film.mkv")
        with open(taken, "w") as f:
            f.write("mine")
        sender = self.recording(names="film.mkv")
        lib.until(lambda: "film+2.mkv" in self.names(), "the recording", 20)
        self.stop_cleanly(sender)
        self.assertIn("film+2.mkv", sender.stderr)
        with open(taken) as f:
            self.assertEqual(f.read(), "mine")
        self.assertGreater(len(Recorded(os.path.join(self.dir, "film+2.mkv")).video), 0)

    def test_keep_deletes_the_oldest_of_the_pattern_only(self):
        def put(name, days, size=1000):
            path = os.path.join(self.dir, name)
            with open(path, "wb") as f:
                f.write(bytes(size))
            os.utime(path, (time.time() - days * 86400,) * 2)
            return name

        old = put("2020-01-01_00-00-00.mkv", 9)
        put("2020-01-02_00-00-00+2.mkv", 8)
        big = put("2026-01-01_00-00-00.mkv", 3, 3000000)
        recent = put("2026-01-02_00-00-00.mkv", 2)
        others = [put("holiday.mkv", 900), put("2020-01-01_00-00-00.mkv.txt", 900), put("2020-13-01_00-00-00.mkv", 900),
                  put("2020-01-01_00-00-00-2.mkv", 900)]
        os.mkdir(os.path.join(self.dir, "2019-01-01_00-00-00.mkv"))
        os.symlink("holiday.mkv", os.path.join(self.dir, "2018-01-01_00-00-00.mkv"))
        sender = self.recording("--record-keep", "7d,2MB")
        lib.until(lambda: old not in self.names() and big not in self.names(), "the deletion", 20)
        lib.until(lambda: "recording to" in sender.stderr, "the recording", 20)
        self.stop_cleanly(sender)
        left = self.names()
        self.assertNotIn("2020-01-02_00-00-00+2.mkv", left)
        for name in (recent, "2019-01-01_00-00-00.mkv", "2018-01-01_00-00-00.mkv"):
            self.assertIn(name, left)
        for name in others:
            self.assertTrue(os.path.exists(os.path.join(self.dir, name)), name)

    @lib.long
    def test_several_sources(self):
        """Each is recorded under its own name, with its own segments; one that comes later, too, without a viewer."""
        with open(self.path("send.conf"), "w") as f:
            f.write(f"record = {self.dir}/%N_%H-%M-%S.mkv\nrecord-segment = 2s\n"
                    "[source front]\nsource = test:320x180@30\n"
                    f"[source yard]\nsource = test:160x90@15\nrecord = {self.dir}/own.mkv\nrecord-segment = 1h\n"
                    f"[source gone]\nsource = {self.path('gone.mkv')}\n")
        # `own.mkv` has no time in it, so its segments would need one: the configuration is refused.
        p = self.start([lib.SEND, "--config", self.path("send.conf"), "--listen", "127.0.0.1:0"])
        self.assertEqual(p.wait(), 2, str(p))
        self.assertIn("source 'yard': --record-segment and --record-keep require a name with the time in it", p.stderr)
        with open(self.path("send.conf")) as f:
            text = f.read().replace("own.mkv", "own%H-%M-%S.mkv")
        with open(self.path("send.conf"), "w") as f:
            f.write(text)
        sender = lib.Sender(self.folder, "--config", self.path("send.conf"))
        self.processes.append(sender)

        def of(name):
            return [n for n in self.names() if n.startswith(name)]

        lib.until(lambda: len(of("front_")) >= 2 and of("own"), "the recordings", 30)
        self.assertEqual(of("gone_"), [])
        self.clip("gone.mkv", seconds=2, size="160x90")
        lib.until(lambda: of("gone_"), "the recording of the source that came later", 40)
        self.stop_cleanly(sender)
        self.assertEqual(len(of("own")), 1)
        for name, size in ("front_", (320, 180)), ("own", (160, 90)), ("gone_", (160, 90)):
            for path in of(name):
                film = Recorded(os.path.join(self.dir, path))
                self.assertEqual((film.streams[0], film.size), ("h264", size), path)
                self.assertEqual(film.decode(), len(film.video), path)

    def test_a_reload_changes_what_is_recorded(self):
        conf = self.path("send.conf")

        def write(*lines):
            with open(conf, "w") as f:
                f.write("\n".join(["[source front]", "source = test:160x90@15", *lines, ""]))

        write()
        sender = lib.Sender(self.folder, "--config", conf)
        self.processes.append(sender)
        viewer = self.player(f"rtsp://127.0.0.1:{sender.port}/front", "--no-picture", "--no-reconnect")
        viewer.wait_shown(5)
        write(f"record = {self.dir}/%N.mkv")
        sender.signal(signal.SIGHUP)
        lib.until(lambda: self.names() == ["front.mkv"], "the recording", 30)
        write(f"record = {self.dir}/second.mkv")
        sender.signal(signal.SIGHUP)
        lib.until(lambda: self.names() == ["front.mkv", "second.mkv"], "the other recording", 30)
        self.assertTrue(viewer.running())
        self.stop_cleanly(sender)
        for film in self.files():
            self.assertEqual(film.decode(), len(film.video), film.path)

    def test_vp9(self):
        """The file has the largest size alone, and every picture of it decodes; with a named source next to it."""
        conf = self.path("send.conf")
        with open(conf, "w") as f:
            f.write(f"record = {self.dir}/%N_%H-%M-%S.mkv\nrecord-segment = 2s\ncodec = vp9\n[source front]\n"
                    "source = test:640x360@15\n[source yard]\nsource = test:160x90@15\ncodec = h264\n")
        sender = lib.Sender(self.folder, "--config", conf)
        self.processes.append(sender)
        self.play(f"rtsp://127.0.0.1:{sender.port}/front", "--no-picture", "--duration", "1")
        lib.until(lambda: len([n for n in self.names() if n.startswith("front")]) >= 3, "three segments", 40)
        self.stop_cleanly(sender)
        for path in self.names():
            film = Recorded(os.path.join(self.dir, path))
            is_vp9 = path.startswith("front")
            self.assertEqual(film.streams, ["vp9" if is_vp9 else "h264", "opus"], path)
            self.assertEqual(film.size, (640, 360) if is_vp9 else (160, 90))
            self.assertEqual(film.video[0], (0, True), path)
            self.assertEqual(film.decode(), len(film.video), path)
        frames = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=width,height", "-of",
                                 "csv=p=0", film.path.replace(path, self.names()[0])], capture_output=True, text=True,
                                timeout=60 * lib.PATIENCE, check=True).stdout.split()
        self.assertEqual({f.strip(",") for f in frames}, {"640,360"})

    def test_a_film_is_recorded_to_its_end(self):
        clip = self.clip(seconds=3, size="320x240")
        sender = self.recording(names="copy.mkv", source=clip)
        lib.until(lambda: "its recording is complete" in sender.stderr, "the end", 30)
        self.stop_cleanly(sender)
        copy = Recorded(os.path.join(self.dir, "copy.mkv"))
        self.assertEqual(copy.decode(), len(copy.video))
        self.assertGreater(copy.end(), 2)

    def test_wrong_options_are_errors(self):
        cases = [
            (["--record", "a.mp4"], "ends in .mkv"),
            (["--record", "%j.mkv"], "one of Y m d H M S"),
            (["--record", "%Y/a.mkv"], "in the name of the file"),
            (["--record", "a%Y.mkv", "--record-segment", "1s"], "at least 2s"),
            (["--record", "a%Y.mkv", "--record-segment", "ten"], "at least 2s"),
            (["--record", "a%Y.mkv", "--record-keep", "7"], "7d,20GB"),
            (["--record", "a.mkv", "--record-keep", "7d"], "require a name with the time"),
            (["--record", "a.mkv", "--record-segment", "7s"], "require a name with the time"),
            (["--record-segment", "7s"], "requires --record"),
            (["--record-keep", "7d"], "requires --record"),
            (["--record", "a.mkv", "--prepare"], "--prepare"),
            (["--record", "a.mkv", "a=test:", "b=test:"], "requires %N"),
            (["--record", "%N.mkv"], "the name of a source"),
            (["--record", "a.mkv", "synthetic:greedy"], "no pictures"),
        ]
        for args, text in cases:
            with self.subTest(args):
                p = self.start([lib.SEND, "--listen", "127.0.0.1:0", *args])
                self.assertEqual(p.wait(), 2, str(p))
                self.assertIn(text, p.stderr)
        for args, text in ((["--record", self.path("none/a.mkv")], "create the folder"),
                           (["--record", self.path("none/%N.mkv"), "a=test:"], "create the folder"),
                           (["--record", self.path("a.mkv"), self.dir], "not a folder")):
            p = self.start([lib.SEND, "--listen", "127.0.0.1:0", *args])
            self.assertEqual(p.wait(), 1, str(p))
            self.assertIn(text, p.stderr)

    @unittest.skipIf(lib.SLOW > 1, "sanitizers want to be loaded first themselves")
    @lib.long
    def test_a_disk_that_hangs_costs_no_viewer_a_frame(self):
        env = {"LD_PRELOAD": self.preloaded("slow_disk")}
        sender = self.recording("--record-segment", "2s", env=env)
        lib.until(self.names, "the recording", 20)
        held = os.path.join(self.dir, "held")
        os.mkdir(held)
        player = self.player(sender.url, "--no-picture")
        lib.until(lambda: "the disk is too slow" in sender.stderr, "the gap", 40)
        player.wait_shown(len(player.shown()) + 60)
        os.rmdir(held)
        lib.until(lambda: "continues after a gap" in sender.stderr, "its end", 40)
        before = len(self.names())
        lib.until(lambda: len(self.names()) > before + 1, "more of the recording", 40)
        self.all_came(self.interrupt(player).report())
        self.stop_cleanly(sender)
        self.assertEqual(sender.stderr.count("the disk is too slow"), 1)
        for file in self.files():
            self.assertEqual(file.decode(), len(file.video), file.path)

    @unittest.skipIf(lib.SLOW > 1, "sanitizers want to be loaded first themselves")
    def test_a_disk_that_hangs_does_not_hold_the_end(self):
        env = {"LD_PRELOAD": self.preloaded("slow_disk")}
        sender = self.recording(env=env)
        lib.until(self.names, "the recording", 20)
        os.mkdir(os.path.join(self.dir, "held"))
        time.sleep(1)  # until the recording thread is in its disk: nothing tells
        sender.signal(signal.SIGTERM)
        sender.wait(20)
        self.assertIn("the disk does not respond", sender.stderr)
        for file in self.files():
            self.assertEqual(file.decode(), len(file.video), file.path)


class Player(Case):
    def test_records_what_it_receives(self):
        sender = self.sender()
        path = os.path.join(self.dir, "seen.mkv")
        report = self.see(sender.url, "--no-picture", "--record", path, frames=60).report()
        seen = Recorded(path)
        self.assertEqual(seen.streams, ["h264", "opus"])
        self.assertEqual(seen.video[0], (0, True))
        self.assertEqual(seen.decode(), len(seen.video))
        self.assertGreaterEqual(len(seen.video), report["playback"]["frames_played"])
        self.assertGreater(len(seen.audio), 0)

    def test_records_datagrams_and_leaves_a_taken_name(self):
        sender = self.sender()
        path = os.path.join(self.dir, "seen.mkv")
        for _ in range(2):
            self.see(sender.url, "--no-picture", "--record", path, "--transport", "scream,udp", frames=40)
        self.assertEqual(self.names(), ["seen+2.mkv", "seen.mkv"])
        for file in self.files():
            self.assertEqual(file.decode(), len(file.video))

    def test_records_a_prepared_film_with_b_frames(self):
        clip = self.clip(seconds=4, size="320x240")
        subprocess.run([lib.SEND, "--prepare", "--level", "320x240@25:400", clip], check=True, stderr=subprocess.DEVNULL,
                       timeout=60 * lib.PATIENCE)
        sender = self.sender(source=clip)
        path = os.path.join(self.dir, "film.mkv")
        report = self.play(sender.url, "--adapt", "none", "--no-picture", "--record", path, seconds=60).report()
        film = Recorded(path)
        self.assertEqual(film.decode(), len(film.video))
        self.assertGreaterEqual(len(film.video), report["playback"]["frames_played"])
        times = [t for t, _ in film.video]
        self.assertNotEqual(times, sorted(times))  # in decoding order
        self.assertEqual(len(times), len(set(times)))
        steps = [b - a for a, b in zip(sorted(times), sorted(times)[1:])]
        self.assertAlmostEqual(sorted(steps)[len(steps) // 2], 1 / 25, delta=0.002)

    def test_what_cannot_be_recorded_is_an_error(self):
        sender = self.sender("--codec", "vp9")
        path = os.path.join(self.dir, "seen.mkv")
        p = self.play(sender.url, "--no-picture", "--record", path, "--duration", "1", code=1)
        self.assertIn("records H.264", p.stderr)
        self.assertEqual(self.names(), [])
        for name, text in (("seen.avi", "ends in .mkv"), (os.path.join("none", "a.mkv"), "create the folder")):
            p = self.play(sender.url, "--record", os.path.join(self.dir, name), code=2)
            self.assertIn(text, p.stderr)


@lib.long
class Kill(Case):
    """What a process that is killed leaves behind."""

    def kill_one(self, number, pause):
        """Records until a kill; returns how much of the media that the recording took is missing, in seconds, beyond what the
        machine did not run the process for."""
        folder = os.path.join(self.dir, str(number))
        os.mkdir(folder)
        p = subprocess.Popen([os.path.join(lib.BUILD, "record_crash"), os.path.join(folder, NAMES), "700"],
                             stdout=subprocess.PIPE)
        try:
            select.select([p.stdout], [], [], 20 * lib.PATIENCE)
            time.sleep(pause)  # the kill is to come at any moment
        finally:
            p.kill()
        with p.stdout:
            lines = p.stdout.read().decode().split("\n")[:-1]
        p.wait()
        self.assertEqual(p.returncode, -signal.SIGKILL)
        taken, late = (int(word) / 1e6 for word in lines[-1].split())
        files = [Recorded(path) for path in sorted(glob.glob(os.path.join(folder, "*.mkv")), key=order)]
        for file in files:
            self.assertEqual(file.video[0], (0, True), file.path)
            self.assertEqual(file.decode(), len(file.video), file.path)
        length = sum(file.end() + 1 / 30 for file in files)
        return taken + 1 / 30 - length - late, folder

    def test_a_kill_costs_at_most_a_second(self):
        seed = int(os.environ.get("WEIR_KILL_SEED", random.randrange(1 << 32)))
        print(f"WEIR_KILL_SEED={seed}")
        draw = random.Random(seed)
        pauses = [draw.uniform(0, 3) for _ in range(KILLS)]
        missing = []
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for short, folder in pool.map(self.kill_one, range(KILLS), pauses):
                self.assertLessEqual(short, ALLOWED, folder)
                missing.append(short)
        print(f"{KILLS} kills: missing {sorted(missing)[KILLS // 2]:.3f} s at the median, {max(missing):.3f} s at most")

    def test_a_kill_of_the_sender(self):
        for number in range(max(3, KILLS // 50)):
            oversleep = Oversleep()
            pause = random.uniform(1, 4)
            sender = self.recording("--record-segment", "2s", names=f"{number}-{NAMES}")
            lib.until(lambda: any(n.startswith(f"{number}-") for n in self.names()), "the recording", 20)
            time.sleep(pause)  # the same
            sender.popen.kill()
            killed = time.time()
            oversleep.over.set()
            sender.wait()
            files = [Recorded(path) for path in sorted(glob.glob(os.path.join(self.dir, f"{number}-*.mkv")), key=order)]
            for file in files:
                self.assertEqual(file.video[0], (0, True), file.path)
                self.assertEqual(file.decode(), len(file.video), file.path)
            begun = begin_of(files[-1].path)
            # What was captured in the encoders' time is not recorded yet; a machine that lags encodes late.
            self.assertLess(killed - (begun + files[-1].end()), ALLOWED + 2 * SEGMENT_LAG + 4 * oversleep.max, str(sender))


SEGMENT_LAG = 0.3  # a segment that was just begun may not exist yet


def order(path):
    """Sorts names of one second by their +2, +3 ..."""
    copy = re.search(r"\+(\d+)\.mkv$", path)
    return re.sub(r"(\+\d+)?\.mkv$", "", path), int(copy[1]) if copy else 1


def begin_of(path):
    """Returns the wall clock of a file's first picture."""
    text = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "format_tags=creation_time", "-of", "csv=p=0", path],
                          stdout=subprocess.PIPE, check=True, text=True, timeout=60 * lib.PATIENCE).stdout.strip()
    whole, part = text.rstrip("Z").split(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + part)


if __name__ == "__main__":
    lib.main()
