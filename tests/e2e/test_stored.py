# SPDX-License-Identifier: GPL-2.0-or-later
"""Stored ladders: a file is encoded once, interrupted and taken up again; then many viewers watch it, each at its own
place and level, without encoding. The clip bears frame numbers as the test picture does, so what stands on the screen
tells where it is."""
import glob
import itertools
import os
import shutil
import signal
import struct
import subprocess
import tempfile

import numpy

import lib
from lib import until
from rtsp import Client, Rtp

WIDTH, HEIGHT, FPS, SECONDS = 480, 270, 30, 8
LEVELS = ["--level", "240x134@15:80", "--level", "480x270@7.5:150", "--level", "480x270@15:300", "--level", "480x270@30:450"]


def strip(number):
    """Returns the 40 cells of media/pattern/pattern_strip.h: 32 bits of Gray code, then a CRC-8."""
    crc = 0xFF
    for byte in number.to_bytes(4, "big"):
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 7) & 0xFF if crc & 0x80 else crc << 1
    cells = (number ^ number >> 1) << 8 | crc
    return [cells >> 39 - i & 1 for i in range(40)]


def picture(number):
    """Returns a grey frame: a moving wave, and its number."""
    x = numpy.arange(WIDTH)[None, :]
    y = numpy.arange(HEIGHT)[:, None]
    luma = 128 + 60 * numpy.sin((x + 3 * number) / 23) * numpy.cos((y - number) / 17)
    for i, cell in enumerate(strip(number)):
        left, top = WIDTH * (20 + 18 * (i % 20)) // 400, HEIGHT * (172 + 10 * (i // 20)) // 200
        luma[top:top + HEIGHT // 20, left:left + WIDTH * 18 // 400] = 235 if cell else 16
    return luma.astype(numpy.uint8).tobytes()


class Stored(lib.Case):
    @classmethod
    def setUpClass(cls):
        lib.need("ffmpeg")
        super().setUpClass()
        cls.made = tempfile.mkdtemp(prefix="weir-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)

    def numbered(self, seconds=SECONDS):
        """Returns a copy of a clip of this many seconds, which is made once."""
        made = os.path.join(self.made, f"{seconds}.mkv")
        if not os.path.exists(made):
            self.make(made, seconds)
        return shutil.copy2(made, self.path("film.mkv"))

    def prepared(self):
        """Returns a copy of the clip with its stored ladder."""
        film = self.numbered()
        made = os.path.join(self.made, "stored")
        if not os.path.exists(made):
            self.prepare(film)
            shutil.copy(film + ".weir.mkv", made)
        shutil.copy(made, film + ".weir.mkv")
        return film

    def make(self, path, seconds):
        encode = subprocess.Popen(
            ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{WIDTH}x{HEIGHT}", "-r", str(FPS),
             "-i", "-", "-f", "lavfi", "-i", f"sine=f=440:d={seconds}", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset",
             "ultrafast", "-crf", "12", "-c:a", "aac", path], stdin=subprocess.PIPE)
        for number in range(seconds * FPS):
            encode.stdin.write(picture(number))
        encode.stdin.close()
        self.assertEqual(encode.wait(60 * lib.PATIENCE), 0)

    def prepare(self, path, *args, code=0):
        p = self.start([lib.SEND, "--prepare", *LEVELS, *args, path])
        self.assertEqual(p.wait(60), code, str(p))
        return p

    def tracks(self, path):
        out = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_name,width,height", "-of",
                              "csv=p=0", path], capture_output=True, text=True, check=True, timeout=20 * lib.PATIENCE)
        return [line for line in out.stdout.split() if line != "unknown"]  # an attachment: the film's table

    def frames(self, path, track):
        out = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-map", f"0:{track}", "-f", "framemd5", "-"],
                             capture_output=True, text=True, check=True, timeout=60 * lib.PATIENCE)
        self.assertEqual(out.stderr, "")
        return [line for line in out.stdout.splitlines() if not line.startswith("#")]

    def number_shown(self, p):
        return lib.frame_number(*lib.grey_picture(p.snapshot))

    def at(self, url, seconds, level, *args):
        """Runs a player that seeks during a pause."""
        snapshot = self.path(f"at-{seconds}-{level}.png")
        p = self.player(url, "--level", str(level), "--at", "0.6:pause", "--at", f"0.8:seek={seconds}", "--snapshot",
                        snapshot, *args)
        p.snapshot = snapshot
        return p

    def stays(self, p):
        """Waits until the player has shown nothing more after its seek for 2 s of its clock."""
        until(lambda: p.events("seek") and [e["event"] for e in p.events()[-3:]] == ["transport"] * 3 or not p.running(),
              "the picture", 30)

    @lib.long
    def test_interrupted_and_taken_up_again(self):
        film = self.numbered()
        p = self.start([lib.SEND, "--prepare", *LEVELS, film])
        part = film + ".weir.part/0*[0-9]"
        until(lambda: len(glob.glob(part)) >= 2 and os.path.exists(film + ".weir.part/000000") or not p.running(),
              "two groups", 60)
        p.signal(signal.SIGKILL)
        p.wait()
        self.assertFalse(os.path.exists(film + ".weir.mkv"))
        kept = {f: os.stat(f).st_mtime_ns for f in glob.glob(part)}
        p = self.start([lib.SEND, "--prepare", *LEVELS, film])
        until(lambda: "continuing at" in p.stderr, "the message that it continues")
        until(lambda: not p.running() or os.path.exists(film + ".weir.part/sound"), "the sound", 60)
        for f, made in kept.items():
            if os.path.exists(f):
                self.assertEqual(os.stat(f).st_mtime_ns, made, f"{f} was encoded again")
        self.assertEqual(p.wait(60), 0, str(p))
        self.assertEqual(glob.glob(film + ".weir.*"), [film + ".weir.mkv"])
        self.assertEqual(self.tracks(film + ".weir.mkv"), ["h264,240,134", "h264,480,270", "opus"])
        self.assertEqual(len(self.frames(film + ".weir.mkv", 1)), SECONDS * FPS)
        self.assertEqual(len(self.frames(film + ".weir.mkv", 0)), SECONDS * FPS // 2)

    def test_viewers_at_places_of_their_own(self):
        film = self.prepared()
        server = self.sender(source=film)
        self.assertIn("using its prepared file", server.stderr)
        # 5.1 s is frame 153; the level of half the rate has every other frame, in the small size the odd ones.
        expected = {(5.1, 3): 153, (1.7, 2): 50, (6.6, 0): 197}
        players = {place: self.at(server.url, *place) for place in expected}
        steady = self.player(server.url, "--at", "1:seek=3", "--at", "1.7:pause", "--at", "2.2:go-on")
        for place, p in players.items():
            self.stays(p)
            self.interrupt(p)
            self.assertEqual(self.number_shown(p), expected[place], f"at {place}")
            seek = p.events("seek")[0]
            self.assertAlmostEqual(seek["to"], place[0], places=2)
            self.assertGreaterEqual(seek["first_frame_ms"], 0)
            self.assertEqual(p.report()["seeks"]["count"], 1)
        until(lambda: any(e["number"] > 3 * FPS + 20 for e in steady.shown()) or not steady.running(), "pictures behind the seek", 20)
        self.all_came(self.interrupt(steady, may_be_over=True).report())

    def test_media_ends_and_begins_again(self):
        film = self.numbered(seconds=3)
        self.prepare(film)
        server = self.sender(source=film)
        p = self.play(server.url, "--adapt", "none", "--start", "1.5")
        report = p.report()
        self.assertEqual(report["ended"], "end-of-media")
        self.assertEqual(report["causes"]["expected"], 51, "1.5 s, and what fills up the last period")
        server.stop()
        self.all_came(self.see(self.sender("--loop", source=film).url, frames=3 * FPS + 10).report())

    def in_order(self, p, numbers):
        """Checks that these frames were shown in order, and that each picture has its frame's number."""
        shown = sorted(p.shown(), key=lambda e: e["shown"])
        seen, causes = [e["number"] for e in shown], p.report()["causes"]
        # A decoder that others keep from its work may be late, but shows nothing out of turn.
        self.assertEqual(causes["by_root"]["network"], 0, str(causes))
        self.assertTrue(seen)
        self.assertEqual(seen, sorted(set(numbers) & set(seen)), str(causes))
        own = [e["ssim"] for e in p.events("picture") if e["shown"] == e["number"]]
        self.assertGreater(min(own, default=1), 0.85, "another picture scores 0.7")

    def test_every_frame_in_its_place(self):
        """Frames arrive in decoding order: B frames."""
        film = self.prepared()
        server = self.sender(source=film)
        compared = ["--reference", film, "--picture-events"]
        players = [(self.player(server.url, "--transport", transport, "--level", str(level), *compared), numbers)
                   for transport, level, numbers in (("minbuf", 3, range(240)), ("udp", 2, range(0, 240, 2)),
                                                     ("mtp", 1, range(0, 240, 4)), ("minbuf", 0, range(1, 240, 2)))]
        # Seconds lie between the commands, and the rest of the film behind them, as a busy machine is late.
        moved = self.player(server.url, "--adapt", "none", "--at", "0.5:pause", "--at", "1:seek=1.7", "--at", "3:go-on", "--at", "6:seek=5.1")
        for p, numbers in players:
            self.assertEqual(p.wait(), 0, str(p))
            self.in_order(p, numbers)
        self.assertEqual(moved.wait(), 0, str(moved))
        self.assertEqual([round(e["to"], 1) for e in moved.events("seek")], [1.7, 5.1])
        shown = [e["number"] for e in sorted(moved.shown(), key=lambda e: e["shown"])]
        self.assertEqual(shown, sorted(set(shown)))
        # The key frame before the place may be shown until that is there.
        self.assertLessEqual(len({n for n in shown if 31 <= n < 51}), 1, f"the first seek: {shown}")
        self.assertTrue([n for n in shown if 51 <= n < 140] and [n for n in shown if n >= 153], f"behind the seeks: {shown}")

    def test_a_frame_is_given_again_once(self):
        """A frame is sent again once for all its missing packets, in any number of entries and reports."""
        with Client(self.sender(source=self.prepared()).port) as c:
            c.watch(level=3)
            packets = [Rtp(data) for channel, data in c.collect_least(20, 0.5) if channel == 0]
            first = packets[0]
            lost = [p.seq for p in packets if p.timestamp == first.timestamp]
            self.assertGreater(len(lost), 2)
            entries = b"".join(struct.pack("!HH", seq, 0) for seq in lost)
            nack = struct.pack("!BBHII", 0x81, 205, 2 + len(lost), 1, first.ssrc) + entries
            c.send((b"$\x01" + struct.pack("!H", len(nack)) + nack) * 5)
            before = len(c.frames)

            def again():
                c.collect(0.1)
                packets = [Rtp(data) for channel, data in c.frames[before:] if channel == 0]
                return sum(p.timestamp == first.timestamp and p.marker for p in packets)
            until(again, "the frame")
            c.collect_least(20, 1)  # a second copy would come among these
            self.assertEqual(again(), 1)

    def test_level_changes_within_a_group(self):
        film = self.prepared()
        p = self.play(self.sender(source=film).url, "--level", "3", "--adapt", "none", "--at", "0.4:level=1", "--at",
                      "2.2:level=3", "--at", "3.9:level=0", "--reference", film, "--picture-events")
        self.assertEqual([(e["from"], e["to"]) for e in p.events("level")], [(3, 1), (1, 3), (3, 0)])
        numbers = sorted(e["number"] for e in p.events("frame"))
        self.in_order(p, numbers)
        steps = [step for step, _ in itertools.groupby(b - a for a, b in zip(numbers, numbers[1:]))]
        self.assertEqual(steps, [1, 4, 1, 2], str(numbers))
        self.assertEqual(p.report()["causes"]["expected"], len(numbers))

    def test_other_players(self):
        """Third-party players receive all frames, with the timestamps of their presentation."""
        lib.need("ffmpeg")
        server = self.sender(source=self.prepared())
        out = subprocess.run(["ffmpeg", "-v", "error", "-rtsp_transport", "tcp", "-i", server.url, "-map", "0:v", "-t", "3",
                              "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "gray", "-"], capture_output=True,
                             timeout=60 * lib.PATIENCE, check=True)
        size = WIDTH * HEIGHT
        numbers = [lib.frame_number(WIDTH, HEIGHT, out.stdout[i:i + size]) for i in range(0, len(out.stdout), size)]
        self.between(2.8 * FPS, len(numbers), 3.2 * FPS, "3 s by the sender's reports, however far ahead frames come")
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))

    def test_seeks_without_a_stored_ladder(self):
        """The film is encoded live, from the seek's position on; it has a single key frame."""
        p = self.play(self.sender(source=self.numbered()).url, "--at", "0.8:seek=4", "--at", "1.6:pause", "--at", "2:go-on",
                      "--at", "2.6:seek=2", "--at", "3.4:seek=5.5", seconds=60)
        seeks = [seek["to"] for seek in p.events("seek")]
        # A busy machine may be at a seek still when the next one takes its place.
        self.assertEqual(seeks[-1], 5.5)
        self.assertLessEqual(set(seeks), {4, 2, 5.5})
        self.all_came(p.report())

    def test_what_does_not_fit_is_not_used(self):
        film = self.numbered(seconds=2)
        self.prepare(film)
        os.utime(film, (1, 1))
        self.assertIn("the original file has changed since (run --prepare again)", self.sender(source=film).stderr)
        os.utime(film + ".weir.mkv")
        with open(film + ".weir.mkv", "r+b") as f:
            f.truncate(200)
        self.assertIn("it cannot be read", self.sender(source=film).stderr)

    def test_errors_are_clear(self):
        text = self.path("text.mkv")
        with open(text, "w") as f:
            f.write("no film")
        self.assertIn("not a readable video file", self.prepare(text, code=1).stderr)
        film = self.numbered(seconds=2)
        full = self.start(["bash", "-c", 'trap "" XFSZ; ulimit -f 16; exec "$@"', "-", lib.SEND, "--prepare", *LEVELS, film])
        self.assertEqual(full.wait(60), 1, str(full))
        self.assertIn("File too large", full.stderr)
        self.assertFalse(os.path.exists(film + ".weir.mkv"))


if __name__ == "__main__":
    lib.main()
