# SPDX-License-Identifier: GPL-2.0-or-later
"""Films that are not of one kind throughout: pulldown (soft telecine), also in parts, and broadcasts that go on in another
codec. Live and prepared, what is received is compared with what was made, picture by picture and beep by beep."""
import os
import re
import subprocess

import lib
from numbered import FPS, X264, beeps, film, numbers, run

MPEG2 = ("-c:v", "mpeg2video", "-g", "12", "-bf", "2", "-q:v", "2")
HEVC = ("-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:keyint=25:bframes=0")
FIELD = 1001 / 60000
PART = 3  # seconds


def pulldown(path):
    """Makes film of an MPEG-2 stream: 29.97 whole pictures a second, of which every other one stands for a field more
    (repeat_first_field, ISO/IEC 13818-2, 6.3.10)."""
    data = bytearray(open(path, "rb").read())
    group = coded = number = 0
    for found in re.finditer(b"\0\0\1[\x00\xb3\xb5\xb8]", bytes(data)):
        kind, at = data[found.end() - 1], found.end()
        if kind == 0xb3:  # sequence header: the rate
            data[at + 3] = data[at + 3] & 0xf0 | 4
        elif kind == 0xb8:
            group, coded = group + coded, 0
        elif kind == 0:  # picture header: temporal_reference
            number, coded = group + (data[at] << 2 | data[at + 1] >> 6), coded + 1
        elif data[at] >> 4 == 1:  # sequence extension: not only whole pictures
            data[at + 1] &= ~8 & 255
        elif data[at] >> 4 == 8:  # picture coding extension
            top, repeats = ((1, 1), (0, 0), (0, 1), (1, 0))[number % 4]
            data[at + 3] = data[at + 3] & 0x7d | top << 7 | repeats << 1
            data[at + 4] |= 0x80
    return bytes(data)


class FilmChanges(lib.Case):
    def store(self, path, level):
        subprocess.run([lib.SEND, "--prepare", "--level", level, path], check=True, capture_output=True,
                       timeout=120 * lib.PATIENCE)
        return path + ".weir.mkv"

    def watch(self, path, *args, options=()):
        server = self.sender(*options, source=path)
        record = self.path(f"seen-{server.port}.mkv")
        self.play(server.url, "--no-picture", "--record", record, *args, seconds=60)
        server.stop()
        return record, server

    def telecine(self, name, video):
        """Film of 96 pictures, then video of so many. Returns the times of all pictures."""
        with open(self.path("both.m2v"), "wb") as f:
            f.write(pulldown(film(self.path("film.m2v"), 96, 0, video=MPEG2)))
            if video:
                part = bytearray(open(film(self.path("video.m2v"), video, 0, first=96, video=MPEG2), "rb").read())
                for found in re.finditer(b"\0\0\1\xb3", bytes(part)):
                    part[found.end() + 3] = part[found.end() + 3] & 0xf0 | 4
                f.write(part)
        source = self.path("both.m2v")
        if not name.endswith(".m2v"):
            run("ffmpeg", "-v", "error", "-y", "-fflags", "+genpts", "-i", source, "-c", "copy", "-f", "mpegts", self.path("a.ts"))
            run("ffmpeg", "-v", "error", "-y", "-i", self.path("a.ts"), "-c", "copy", self.path(name))
            source = self.path(name)
        return source, [(5 * i + i % 2) // 2 * FIELD for i in range(96)] + [(240 + 2 * i) * FIELD for i in range(video)]

    def placed(self, path, want, within):
        """Checks that each picture is shown once it is due."""
        first = {}
        for at, number in numbers(path):
            first.setdefault(number, at)
        self.assertEqual(sorted(first), list(range(len(want))))
        for number, at in first.items():
            self.assertAlmostEqual(at, want[number], delta=within, msg=f"picture {number}")

    @lib.long
    def test_film_with_pulldown_has_its_own_rate(self):
        for name in "film.ts", "film.vob", "film.mkv", "film.mp4", "film.m2v":
            with self.subTest(name):
                path, want = self.telecine(name, 0)
                record, server = self.watch(path)
                self.assertEqual(max(f for _, _, f, _ in server.levels()), 23.976, server.stderr)
                self.assertEqual([n for _, n in numbers(record)], list(range(96)))
                self.placed(record, want, FIELD / 2 + .001)
        path, want = self.telecine("film.ts", 0)
        self.placed(self.store(path, "192x96@24000/1001:300"), want, FIELD / 2 + .001)

    @lib.long
    def test_film_and_video_keep_the_times_of_their_pictures(self):
        for name in "mixed.ts", "mixed.mkv":
            with self.subTest(name):
                path, want = self.telecine(name, 60)
                record, server = self.watch(path)
                self.assertEqual(max(f for _, _, f, _ in server.levels()), 59.94, server.stderr)
                self.placed(record, want, .002)

    def broadcast(self, name, parts):
        """Joins parts, each with PIDs of its own. No pictures are reordered, so that they all begin with their sound."""
        with open(self.path(name), "wb") as out:
            for i, (video, audio) in enumerate(parts):
                kind = os.path.splitext(name)[1]
                pids = ("-mpegts_start_pid", hex(0x100 * (i + 1))) if kind == ".ts" else ()
                # ffmpeg begins a programme stream half a second late, unless it is told a time.
                offset = PART * i + (.5 if kind == ".mpg" and i else 0)
                part = film(self.path(f"{i}{kind}"), PART * FPS, PART, "-c:a", audio, "-bf", "0", "-output_ts_offset",
                            str(offset), *pids, first=PART * FPS * i, second=PART * i, video=video)
                with open(part, "rb") as f:
                    out.write(f.read())
        return self.path(name)

    def complete(self, path, parts, what):
        shown = numbers(path)
        missing = set(range(PART * FPS * parts)) - {n for _, n in shown}
        # The last picture of a PID is complete when another one begins, which none does.
        self.assertLessEqual(len(missing), 3 * (parts - 1), f"{what}: {sorted(missing)}")
        for at, number in shown:
            self.assertAlmostEqual(number / FPS, at, delta=.13, msg=f"{what}, at {at}")
        heard = beeps(path)
        self.assertEqual([second for _, second in heard], list(range(PART * parts)), what)
        for at, second in heard:
            self.assertAlmostEqual(at, second, delta=.13, msg=f"{what}, beep {second}")

    def both(self, path, parts):
        record, _ = self.watch(path, options=("--level", "192x96@25:300"))
        self.complete(record, parts, "live")
        self.complete(self.store(path, "192x96@25:300"), parts, "prepared")

    def test_a_broadcast_goes_on_in_another_codec(self):
        path = self.broadcast("tv.ts", ((X264, "aac"), (HEVC, "ac3"), (MPEG2, "mp2"), (X264, "aac")))
        self.both(path, 4)
        os.remove(path + ".weir.mkv")
        record, server = self.watch(path, "--start", "7", "--duration", "1", options=("--level", "192x96@25:300"))
        self.assertAlmostEqual(numbers(record)[0][1], 7 * FPS, delta=3)
        self.assertNotIn("other video track", server.stderr)

    def test_a_programme_stream_goes_on_with_other_sound(self):
        self.both(self.broadcast("disc.mpg", ((MPEG2, "mp2"), (MPEG2, "ac3"))), 2)

    def test_two_languages_stay_two_tracks(self):
        """The second one begins late, while the first one goes on."""
        path = film(self.path("one.mpg"), 6 * FPS, 6, "-c:a", "mp2", video=MPEG2)
        run("ffmpeg", "-v", "error", "-i", path, "-f", "lavfi", "-itsoffset", "3", "-i", "sine=f=3000:d=3", "-map", "0",
            "-map", "1", "-c", "copy", "-c:a:1", "ac3", self.path("two.mpg"))
        record, _ = self.watch(self.path("two.mpg"), options=("--level", "192x96@25:300"))
        self.assertEqual([second for _, second in beeps(record)], list(range(6)))


if __name__ == "__main__":
    lib.main()
