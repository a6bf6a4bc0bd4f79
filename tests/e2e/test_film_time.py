# SPDX-License-Identifier: GPL-2.0-or-later
"""The time line of a film: pictures that stand, sound before the first picture and behind the last one, clocks that jump,
parameter sets that change, seeks. What is received is compared with what ffmpeg decodes, picture by picture and beep by
beep."""
import os
import subprocess

import lib
import numbered
from numbered import FPS, beeps, film, number_at, numbers, run


class FilmTime(lib.Case):
    def watch(self, path, *args, options=("--level", "192x96@25:300")):
        """Plays the film, and returns what was recorded: its pictures and beeps."""
        server = self.sender(*options, source=path)
        record = self.path(f"seen-{server.port}.mkv")
        self.play(server.url, "--no-picture", "--record", record, *args, seconds=60)
        server.stop()
        return numbers(record), beeps(record)

    def store(self, path):
        subprocess.run([lib.SEND, "--prepare", "--level", "192x96@25:300", path], check=True, capture_output=True,
                       timeout=120 * lib.PATIENCE)
        return numbers(path + ".weir.mkv"), beeps(path + ".weir.mkv")

    def same(self, seen, want, start, seconds):
        """Checks the recording of a film that was entered at `start`. `want`: the film's pictures and beeps."""
        pictures, heard = seen
        self.assertAlmostEqual(pictures[-1][0] + 1 / FPS, seconds, delta=0.1)
        for i in range(1, round(seconds * FPS), 5):
            seen, due = number_at(pictures, i / FPS), number_at(want[0], start + i / FPS)
            self.assertAlmostEqual(seen, due, delta=1, msg=f"at {i / FPS} s")  # a picture goes to the nearest 25th
        due = [(at - start, second) for at, second in want[1] if start + 0.1 < at < start + seconds - 0.2]
        heard = [(at, second) for at, second in heard if 0.1 < at < seconds - 0.2]
        self.assertEqual([second for _, second in heard], [second for _, second in due])
        for (at, _), (at_due, _) in zip(heard, due):
            self.assertAlmostEqual(at, at_due, delta=0.05)

    def both(self, path, want, seconds, start=0):
        args = ("--start", str(start)) if start else ()
        self.same(self.watch(path, *args), want, start, seconds - start)
        self.same(self.store(path), want, 0, seconds)

    def test_a_picture_that_stands(self):
        """It stands for 65 s, while the sound goes on."""
        path = film(self.path("film.mkv"), 75, 68, place=f"if(lt(N\\,25)\\,N\\,N+{65 * FPS})")
        self.both(path, (numbers(path), beeps(path)), 68, start=62)

    @lib.long
    def test_sound_behind_the_last_picture(self):
        path = film(self.path("film.mp4"), 50, 6)
        self.both(path, (numbers(path), beeps(path)), 6)

    @lib.long
    def test_sound_before_the_first_picture(self):
        path = film(self.path("film.mkv"), 50, 6, offset=2)
        self.both(path, (numbers(path), beeps(path)), 6)

    @lib.long
    def test_pictures_that_stand_to_the_end(self):
        """Slides, and the cover of a recording: no sign of a film that breaks off."""
        slides = film(self.path("slides.mkv"), 3, 8, place="N*50")
        self.both(slides, ([(0, 0), (2, 1), (4, 2)], beeps(slides)), 8)
        run("ffmpeg", "-v", "error", "-i", slides, "-frames:v", "1", "-update", "1", self.path("cover.png"))
        for name in "song.mp3", "song.m4a", "song.flac":
            with self.subTest(name):
                song = self.path(name)
                run("ffmpeg", "-v", "error", "-i", slides, "-i", self.path("cover.png"), "-map", "0:a", "-map", "1:v", "-c:v",
                    "png", "-disposition:v", "attached_pic", song)
                for pictures, heard in self.watch(song), self.watch(song, "--start", "3"), self.store(song):
                    self.assertEqual({number for _, number in pictures}, {number for _, number in numbers(self.path("cover.png"))})
                    heard = [(at, second) for at, second in heard if at > 0.5]  # that of the beginning may be cut
                    first = round(heard[0][1] - heard[0][0])
                    self.assertEqual([second for _, second in heard], list(range(first + 1, 8)))
                    for at, second in heard:
                        self.assertAlmostEqual(at + first, second, delta=0.1)
                    self.assertAlmostEqual(pictures[-1][0], 8 - first, delta=1)

    @lib.long
    def test_an_end_that_the_container_names_wrongly(self):
        """AVI has no time at which the sound begins: its length is that with the silence."""
        path = film(self.path("whole.avi"), 150, 6, "-c:a", "mp3")
        run("ffmpeg", "-v", "error", "-i", path, "-itsoffset", "3", "-i", path, "-map", "0:v", "-map", "1:a", "-c", "copy",
            self.path("late.avi"))
        pictures, _ = self.watch(self.path("late.avi"))  # checks that the player does not miss an end
        self.assertEqual(sorted({n for _, n in pictures}), list(range(150)))

    @lib.long
    def test_several_programmes(self):
        """The sound is that of the pictures' programme, also if the other one comes first."""
        one, two = (film(self.path(f"{i}.mkv"), 75, 3, first=100 * i, second=10 * i) for i in (0, 1))
        path = self.path("film.ts")
        run("ffmpeg", "-v", "error", "-i", one, "-i", two, "-map", "0:a", "-map", "1:v", "-map", "1:a", "-map", "0:v", "-c",
            "copy", "-program", "st=1:st=2", "-program", "st=0:st=3", path)
        for pictures, heard in self.watch(path), self.store(path):
            programme = min(n for _, n in pictures) // 100
            self.assertEqual(sorted({n // 100 for _, n in pictures}), [programme])
            heard = [second for at, second in heard if at > 0.5]  # that of the beginning may be cut
            self.assertEqual(heard, [10 * programme + i for i in (1, 2)])

    def test_a_clock_that_begins_again(self):
        """Two recordings one behind the other, with the same times. The first one's last picture stands."""
        first = film(self.path("1.ts"), 50, 4)
        second = film(self.path("2.ts"), 75, 3, first=50, second=4)
        with open(self.path("film.ts"), "wb") as f:
            for part in first, second:
                with open(part, "rb") as p:
                    f.write(p.read())
        want = [(i / FPS + (2 if i >= 50 else 0), i) for i in range(125)], [(second, second) for second in range(7)]
        server = self.sender("--level", "192x96@25:300", source=self.path("film.ts"))
        record = self.path("seen.mkv")
        self.play(server.url, "--no-picture", "--record", record, seconds=60)  # the container's duration is another one
        self.same((numbers(record), beeps(record)), want, 0, 7)
        self.same(self.store(self.path("film.ts")), want, 0, 7)

    @lib.long
    def test_parameter_sets_that_change(self):
        """A broadcast whose encoder began again with others: an FLV with two sequence headers. Its video passes."""
        def video(refs, cabac):
            return ("-c:v", "libx264", "-preset", "veryfast", "-b:v", "1500k", "-g", "25", "-bf", "0", "-sc_threshold", "0",
                    "-pix_fmt", "yuv420p", "-vf", "noise=alls=40:allf=t",
                    "-x264-params", f"cabac={cabac}:8x8dct={cabac}:ref={refs}:weightp=0")

        parts = [film(self.path(f"{i}.flv"), 75, 0, first=75 * i, video=video(1 + 3 * i, i)) for i in (0, 1)]
        data = [open(p, "rb").read() for p in parts]
        with open(self.path("film.flv"), "wb") as f:
            f.write(data[0][:13])
            for i, part in enumerate(data):
                at = 13
                while at + 11 <= len(part):
                    size = int.from_bytes(part[at + 1:at + 4], "big")
                    tag = bytearray(part[at:at + 11 + size + 4])
                    at += len(tag)
                    if (tag[0] == 18 and i) or (tag[0] == 9 and tag[12] == 2):  # metadata, the end of the sequence
                        continue
                    tag[4:7] = (int.from_bytes(tag[4:7], "big") + 3000 * i).to_bytes(3, "big")
                    f.write(tag)
        server = self.sender(source=self.path("film.flv"))
        self.assertIn("its own video passes", server.stderr)
        run("ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", "tcp", "-i", server.url, "-an", "-c", "copy",
            self.path("theirs.mkv"))
        theirs = [n for _, n in numbers(self.path("theirs.mkv"))]
        self.assertEqual(theirs, list(range(theirs[0], 150)))
        self.assertLess(theirs[0], 75)

    def test_seeks(self):
        """The first picture is the one that was requested, also the film's last one, and in a file without a duration."""
        whole = film(self.path("film.mp4"), 250, 0)
        run("ffmpeg", "-v", "error", "-i", whole, "-c", "copy", "-f", "matroska", "-live", "1", self.path("live.mkv"))
        long = film(self.path("long.ts"), 250, 0, "-g", "250", "-sc_threshold", "0")
        for path, starts in (whole, (0.04, 2.88, 9.96, 9.98)), (self.path("live.mkv"), (5.2,)), (long, (9.0,)):
            for start in starts:
                with self.subTest(path=path, start=start):
                    server = self.sender("--level", "192x96@25:300", source=path)
                    record = self.path(f"{os.path.basename(path)}-{start}.mkv")
                    p = self.player(server.url, "--no-picture", "--record", record, "--start", str(start), "--duration", "1")
                    p.wait(30)
                    server.stop()
                    self.assertEqual(numbers(record)[0][1], min(int(start * FPS + 0.001), 249))


if __name__ == "__main__":
    lib.main()
