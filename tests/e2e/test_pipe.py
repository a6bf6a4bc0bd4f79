# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program writes into a pipe as a source of weir-send: the standard input or a FIFO. Its pictures are told apart by their
numbers. A machine that holds weir-send up makes it later, never faster."""
import os
import shlex
import subprocess
import threading
import unittest

import lib
import numbered

# Of each container the arguments of ffmpeg, whether it has sound, and its codec where that is not H.264.
X264 = numbered.X264[:-2]  # without its number of B frames
CONTAINERS = {
    "mpegts": ((*X264, "-bf", "0", "-f", "mpegts"), True),
    "mpegts of several slices": ((*X264, "-tune", "zerolatency", "-f", "mpegts"), True),
    "mpegts with B frames": ((*X264, "-bf", "2", "-f", "mpegts"), True),
    "matroska": ((*X264, "-bf", "0", "-c:a", "libopus", "-f", "matroska"), True),
    "h264": ((*X264, "-bf", "0", "-f", "h264"), False),
    "fragmented mp4": ((*X264, "-bf", "0", "-movflags", "frag_keyframe+empty_moov", "-f", "mp4"), True),
}
SLACK = 0.2  # seconds that pictures may catch up (pipe_pace.h)


class Writer(threading.Thread):
    """Writes parts into a FIFO as fast as it takes them. Before each but the first one it waits until it is called."""

    def __init__(self, fifo, *parts):
        super().__init__(daemon=True)
        self.fifo, self.parts, self.calls, self.refused = fifo, parts, threading.Semaphore(1), False
        self.start()

    def run(self):
        with open(self.fifo, "wb", buffering=0) as out:
            for part in self.parts:
                self.calls.acquire()
                try:
                    for i in range(0, len(part), 65536):
                        out.write(part[i:i + 65536])
                except BrokenPipeError:
                    self.refused = True
                    return

    def go_on(self):
        self.calls.release()


class Case(lib.Case):
    def fifo(self, name="in"):
        path = self.path(name)
        os.mkfifo(path)
        return path

    def film(self, name, count, *args, first=0, seconds=0, **options):
        path = self.path(name)
        numbered.film(path, count, seconds, *args, first=first, video=(), **options)
        with open(path, "rb") as f:
            return f.read()

    def sender_of(self, fifo, *args, **options):
        """weir-send that reads the FIFO as its standard input."""
        return self.sender(*args, source="-", prefix=("sh", "-c", f'exec "$@" < {shlex.quote(fifo)}', "sh"), **options)

    def recorded(self, url, *args):
        """Starts a player that records, and returns it when it shows pictures, and the recording's path."""
        path = self.path(f"recorded{len(self.processes)}.mkv")
        p = self.player(url, "--record", path, "--latency", "500", "--transport", "tcp", *args)
        p.wait_shown(1, 60)
        return p, path

    def check_numbers(self, path, last=None):
        """Each picture once, in order, and none faster than it was filmed. Returns how many."""
        found = numbered.numbers(path)
        shown = [n for _, n in found]
        self.assertNotIn(-1, shown)
        self.assertEqual(shown, sorted(set(shown)))
        if last is not None:
            self.assertEqual(shown[-1], last)
        for at, n in found:
            self.assertGreater(at - found[0][0], (n - shown[0]) / numbered.FPS - SLACK - 0.01, found)
        return len(shown)

    def ends(self, sender, code=0):
        self.assertEqual(sender.wait(60), code, str(sender))


class Containers(Case):
    @lib.long
    def test_each(self):
        """All that is written is shown, at its pace, though the writer is as fast as the pipe. Then the viewer's session and
        weir-send end."""
        lib.need("ffmpeg")
        count = 200
        for name, (args, has_sound) in CONTAINERS.items():
            with self.subTest(name):
                data = self.film("film " + name, count, *args, seconds=count // numbered.FPS if has_sound else 0)
                fifo = self.fifo("fifo " + name)
                writer = Writer(fifo, data[:len(data) // 2], data[len(data) // 2:])
                sender = self.sender_of(fifo)
                p, path = self.recorded(sender.url)
                writer.go_on()
                self.assertEqual(p.wait(60), 0, str(p))
                self.ends(sender)
                self.assertIn("standard input has ended", sender.stderr)
                got = self.check_numbers(path, count - 1)
                # What a busy machine dropped, and the picture that was half there when the writer had paused for long.
                missing = p.report()["causes"]["by_root"]["sender"] + p.stderr.count("the server's source is away")
                first = numbered.numbers(path)[0][1]
                self.assertLessEqual(count - first - got, missing, str(p))
                if has_sound:
                    seconds = [round(pitch) for _, pitch in numbered.beeps(path)]
                    self.assertGreater(len(seconds), 2)
                    self.assertEqual(seconds, sorted(set(seconds)))

    def test_ffmpeg_into_a_pipe(self):
        """The line of the documentation."""
        lib.need("ffmpeg")
        sender = self.sender(source="-", prefix=("bash", "-c", 'exec "$@" < <(ffmpeg -v error -nostdin -re -f lavfi -i '
                             "testsrc2=s=192x96:r=25 -t 600 -c:v libx264 -tune zerolatency -g 50 -pix_fmt yuv420p -f mpegts -)", "bash"))
        self.assertEqual([(w, h) for w, h, _, _ in sender.levels()], [(192, 96)])
        p = self.see(sender.url, frames=20)
        self.assertEqual(p.report()["playback"]["frames_undecodable"], 0, str(p))

    @lib.long
    def test_other_codecs_are_encoded(self):
        """H.265 is decoded, and encoded in levels; H.264 with --transcode, too."""
        lib.need("ffmpeg")
        count = 200
        for codec, args, options in (("libx265", ("-x265-params", "log-level=none:bframes=0:keyint=25"), ()),
                                     ("libx264", ("-bf", "0", "-g", "25"), ("--transcode",))):
            with self.subTest(codec):
                has = codec in subprocess.run(["ffmpeg", "-v", "error", "-encoders"], stdout=subprocess.PIPE, text=True).stdout
                if not has:
                    self.skipTest("this ffmpeg has no " + codec)
                data = self.film(codec, count, "-c:v", codec, *args, "-pix_fmt", "yuv420p", "-f", "mpegts")
                fifo = self.fifo("fifo " + codec)
                writer = Writer(fifo, data[:len(data) // 2], data[len(data) // 2:])
                sender = self.sender_of(fifo, *options)
                p, path = self.recorded(sender.url)
                writer.go_on()
                self.assertEqual(p.wait(60), 0, str(p))
                self.ends(sender)
                shown = [n for _, n in numbered.numbers(path)]
                self.assertEqual(shown, sorted(shown))
                self.assertGreater(shown[-1], count // 2)

    def test_levels(self):
        lib.need("ffmpeg")
        data = self.film("film", 500, *X264, "-bf", "0", "-f", "mpegts")
        fifo = self.fifo()
        Writer(fifo, data)
        sender = self.sender("--transcode", "--level", "192x96@25:200", "--level", "96x48@25:60", source=fifo)
        self.assertEqual([(w, h) for w, h, _, _ in sender.levels()], [(96, 48), (192, 96)])
        for level in "0", "1":
            p = self.see(sender.url, "--level", level, frames=10)
            self.assertEqual(p.report()["playback"]["frames_undecodable"], 0, str(p))


class Writers(Case):
    def test_the_next_writer(self):
        """With --wait viewers stay between two writers, and see the pictures of both."""
        lib.need("ffmpeg")
        args = (*X264, "-bf", "0", "-f", "mpegts")
        first, second = self.film("first", 100, *args), self.film("second", 100, *args, first=100)
        fifo = self.fifo()
        writer = Writer(fifo, first[:len(first) // 2], first[len(first) // 2:])
        sender = self.sender("--wait", source=fifo)
        p, path = self.recorded(sender.url)
        writer.go_on()
        lib.until(lambda: "its writer has ended; waiting for the next one" in sender.stderr, "the end", 40)
        Writer(fifo, second)
        lib.until(lambda: "is back after" in sender.stderr, "the next writer", 40)
        lib.until(lambda: sender.stderr.count("waiting for the next one") == 2, "its end", 40)
        self.assertEqual(len(p.events("connected")), 1, str(p))
        self.interrupt(p)
        self.assertEqual(len(p.events("connected")), 1, str(p))
        self.check_numbers(path)
        shown = [n for _, n in numbered.numbers(path)]
        self.assertTrue(min(shown) < 100 <= max(shown), shown)
        self.stop_cleanly(sender)

    def test_a_silent_writer(self):
        """A writer may be silent for as long as it likes: viewers stay, and see what comes then."""
        lib.need("ffmpeg")
        data = self.film("film", 200, *X264, "-bf", "0", "-f", "mpegts")
        fifo = self.fifo()
        writer = Writer(fifo, data[:len(data) // 2], data[len(data) // 2:])
        sender = self.sender(source=fifo)
        p, path = self.recorded(sender.url)
        lib.until(lambda: "waiting for its writer" in sender.stderr, "the silence", 60)
        writer.go_on()
        self.assertEqual(p.wait(60), 0, str(p))
        self.ends(sender)
        self.assertIn("is back after", sender.stderr)
        self.check_numbers(path, 199)

    def test_stamps_that_jump(self):
        """Pictures go on at their pace where the time stamps leap forwards and back."""
        lib.need("ffmpeg")
        parts = [self.film(f"part{i}", 50, *X264, "-bf", "0", "-output_ts_offset", str(offset), "-f", "mpegts", first=50 * i)
                 for i, offset in enumerate((7000, 20000, 0, 60))]
        fifo = self.fifo()
        writer = Writer(fifo, parts[0], b"".join(parts[1:]))
        sender = self.sender(source=fifo)
        p, path = self.recorded(sender.url)
        writer.go_on()
        self.assertEqual(p.wait(60), 0, str(p))
        self.ends(sender)
        self.check_numbers(path, 199)

    def test_several_sources(self):
        """A FIFO with a name always waits, and noise in it concerns no other source."""
        lib.need("ffmpeg")
        fifo = self.fifo()
        noise = Writer(fifo, os.urandom(200000))
        sender = self.sender(f"test=test:160x120@{lib.FPS}", source=f"pipe={fifo}")
        lib.until(lambda: "not a readable video file" in sender.stderr, "the noise", 60)
        self.see(sender.url.rstrip("/") + "/test", frames=5)
        noise.join(20 * lib.PATIENCE)
        film = self.film("film", 1000, *X264, "-bf", "0", "-f", "mpegts")
        writers = [noise]

        def is_shown():
            if not writers[-1].is_alive():  # weir-send may just have given up an attempt to open the FIFO
                writers.append(Writer(fifo, film))
            p = self.player(sender.url.rstrip("/") + "/pipe", "--duration", "3")
            p.wait(60)
            return p.popen.returncode == 0 and p.report()["playback"]["frames_played"]
        lib.until(is_shown, "the pipe's pictures", 120)
        self.stop_cleanly(sender)


class Hostile(Case):
    def refused(self, data, text, *args):
        fifo = self.fifo(f"fifo{len(self.processes)}")
        writer = Writer(fifo, data)
        p = self.start(["sh", "-c", f'exec "$@" < {shlex.quote(fifo)}', "sh", lib.SEND, "--listen", "127.0.0.1:0", *args, "-"])
        self.assertEqual(p.wait(60), 1, str(p))
        self.assertIn(text, p.stderr)
        writer.join(20 * lib.PATIENCE)

    def test_no_media(self):
        self.refused(b"", "standard input: not a readable video file")
        self.refused(os.urandom(1 << 20), "standard input: not a readable video file")
        self.refused(b"#EXTM3U\n/etc/passwd\n" * 1000, "standard input: not a readable video file")

    def test_what_is_not_taken(self):
        lib.need("ffmpeg")
        self.refused(self.film("mpeg2", 50, "-c:v", "mpeg2video", "-f", "mpegts"), "its video is mpeg2video: write H.264")
        self.refused(self.film("b", 50, *X264, "-bf", "2", "-f", "h264"), "its B frames have no times")
        self.refused(self.film("short", 5, *X264, "-f", "mpegts"), "it has ended before enough pictures came")

    def test_endless(self):
        """Zeros without an end, as fast as a pipe takes them, alone and behind a film: weir-send refuses them, with at
        most 1 GB of memory."""
        lib.need("ffmpeg")
        film = self.path("film.ts")
        self.film("film.ts", 100, *X264, "-bf", "0")
        for head, text, code in ("true", "not a readable video file", 1), (f"cat {film}", "no picture came in the last 64 MB", 0):
            with self.subTest(text):
                grown = self.path(f"size{code}")
                line = f'{{ {head}; cat /dev/zero; }} | {{ "$@"; echo $? > {grown}.code; }}'
                # A sanitizer's shadow memory alone is larger.
                limit = ["prlimit", f"--data={1 << 30}"] if lib.SLOW == 1 else []
                p = self.start(["sh", "-c", line, "sh", *limit, lib.SEND, "--listen", "127.0.0.1:0", "-"])
                p.wait(120)
                with open(grown + ".code", encoding="ascii") as f:
                    self.assertEqual(int(f.read()), code, str(p))
                self.assertIn(text, p.stderr)

    def test_options(self):
        fifo = self.fifo()
        for args, text in ((["--wait", "-"], "--wait requires a FIFO"), (["--wait", "test:"], "--wait requires a FIFO"),
                           (["--level", "160x120@25:200", fifo], "require --transcode"),
                           (["--prepare", fifo], "requires FILE or FOLDER")):
            with self.subTest(args):
                p = self.start([lib.SEND, *args])
                self.assertEqual(p.wait(20), 2, str(p))
                self.assertIn(text, p.stderr)


if __name__ == "__main__":
    lib.main()
