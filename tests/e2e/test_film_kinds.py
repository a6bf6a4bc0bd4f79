# SPDX-License-Identifier: GPL-2.0-or-later
"""Films of every kind that ffmpeg makes: containers, codecs, orders of pictures, samples, time lines. All are prepared, and
some are played live, too; each picture and each beep is compared with those that were made."""
import os
import subprocess

import lib
from numbered import FPS, HEIGHT, WIDTH, X264, beeps, film, numbers, picture, run

X265 = ("-c:v", "libx265", "-preset", "ultrafast", "-x265-params")
QUIET = "log-level=none:keyint=12"


def x264(pixels, *params):
    return (*X264[:-5], pixels, *params)


# Name: how the video and the sound are encoded; None: no sound. Two seconds each.
CODECS = {
    "mjpeg.avi": (("-c:v", "mjpeg", "-q:v", "3"), "pcm_s16le"),
    "prores.mov": (("-c:v", "prores_ks", "-pix_fmt", "yuv422p10le"), "pcm_s16le"),
    "ffv1.mkv": (("-c:v", "ffv1", "-pix_fmt", "yuv444p10le"), "flac"),
    "rgb.nut": (("-c:v", "ffv1", "-pix_fmt", "bgr0"), "pcm_s16le"),
    "raw.nut": (("-c:v", "rawvideo", "-pix_fmt", "yuyv422"), "pcm_s16le"),
    "vp8.webm": (("-c:v", "libvpx", "-b:v", "1M", "-deadline", "realtime", "-auto-alt-ref", "1"), "libopus"),
    "alpha.webm": (("-vf", "format=yuva420p", "-c:v", "libvpx-vp9", "-b:v", "1M", "-deadline", "realtime"), "libopus"),
    "b.avi": (("-c:v", "mpeg4", "-q:v", "2", "-bf", "2"), "mp3"),
    "reordered.avi": (x264("yuv420p", "-bf", "3", "-x264-params", "b-adapt=0"), "mp3"),
    "b.m4v": (("-c:v", "mpeg4", "-q:v", "2", "-bf", "2"), "aac"),
    "3gp.3gp": (("-c:v", "mpeg4", "-q:v", "2"), "aac"),
    "theora.ogv": (("-c:v", "libtheora", "-q:v", "9"), "libvorbis"),
    "wmv.wmv": (("-c:v", "wmv2", "-q:v", "2"), "wmav2"),
    "ps.mpg": (("-c:v", "mpeg2video", "-q:v", "2", "-bf", "2", "-g", "12", "-f", "vob"), "mp2"),
    "mpeg1.mpg": (("-c:v", "mpeg1video", "-q:v", "2", "-bf", "2"), "mp2"),
    "mxf.mxf": (("-c:v", "mpeg2video", "-q:v", "2", "-bf", "2", "-pix_fmt", "yuv422p"), "pcm_s16le"),
    "flash.flv": (("-c:v", "flv", "-q:v", "2"), "mp3"),
    "qtrle.mov": (("-c:v", "qtrle"), "pcm_s16le"),
    "gif.gif": (("-pix_fmt", "gray"), None),
    "apng.apng": (("-pix_fmt", "gray", "-f", "apng"), None),
    "y4m.y4m": (("-pix_fmt", "yuv420p"), None),
    "raw.h264": (x264("yuv420p", "-bf", "3"), None),
    "raw.h265": ((*X265, f"{QUIET}:bframes=3"), None),
    "422.mkv": (x264("yuv422p"), "aac"),
    "444.mp4": (x264("yuv444p"), "aac"),
    "ten.mkv": (x264("yuv420p10le"), "aac"),
    "grey.mkv": (x264("gray"), "aac"),
    "full.mp4": (x264("yuvj420p"), "aac"),
    "pyramid.mp4": (x264("yuv420p", "-bf", "8", "-x264-params", "b-pyramid=normal:b-adapt=0:keyint=25"), "aac"),
    "open.ts": (x264("yuv420p", "-bf", "3", "-x264-params", "open-gop=1:keyint=12:b-adapt=0"), "aac"),
    "open.mkv": ((*X265, f"{QUIET}:open-gop=1:bframes=4"), "aac"),
    "fields.mkv": (x264("yuv420p", "-flags", "+ilme+ildct", "-x264-params", "tff=1"), "aac"),
    "sidx.mp4": ((*X264, "-movflags", "+frag_keyframe+default_base_moof+dash+global_sidx"), "aac"),
    "parts.mp4": ((*X264, "-movflags", "+frag_keyframe+empty_moov+default_base_moof"), "aac"),
    "smooth.ismv": (X264, "aac"),
    "bluray.m2ts": ((*X264, "-mpegts_m2ts_mode", "1"), "ac3"),
    "odd.mkv": (("-c:v", "ffv1", "-vf", "pad=197:101:0:0"), "aac"),
    "shape.mkv": ((*X264, "-vf", "setsar=64/45"), "alac"),
}
LIVE = ("mjpeg.avi", "vp8.webm", "b.avi", "ps.mpg", "raw.h265", "pyramid.mp4", "open.mkv", "parts.mp4")


@lib.long
class FilmKinds(lib.Case):
    def store(self, path):
        subprocess.run([lib.SEND, "--prepare", "--level", "192x96@25:300", path], check=True, capture_output=True,
                       timeout=120 * lib.PATIENCE)
        return path + ".weir.mkv"

    def watch(self, path, *args, code=0):
        """Returns a recording, and how many pictures the sender dropped: a busy machine's may. `code`: of the player's end."""
        server = self.sender("--level", "192x96@25:300", source=path)
        record = self.path(f"seen-{server.port}.mkv")
        p = self.play(server.url, "--no-picture", "--record", record, *args, code=code, seconds=60)
        server.stop()
        return record, p.report()["causes"]["by_root"]["sender"]

    def check(self, path, pictures, seconds, first=0, late=0.0, dropped=0):
        """Checks a recording: so many pictures from number `first` on, the first one at `late` seconds; and the beeps."""
        seen = {}  # a picture is repeated where the film's times lie between those of its rate
        for at, n in numbers(path):
            seen.setdefault(n, at)
        self.assertEqual(list(seen), sorted(seen))
        self.assertLessEqual(set(seen), set(range(first, first + pictures)))
        self.assertGreaterEqual(len(seen), pictures - dropped)
        for n, at in list(seen.items())[1:]:  # the first one stands from the beginning on
            self.assertAlmostEqual(at, late + (n - first) / FPS, delta=0.05)
        heard = [(at, second) for at, second in (beeps(path) if seconds else []) if at > 0.5]
        self.assertEqual([second for _, second in heard], list(range(1, seconds)))
        for at, second in heard:
            self.assertAlmostEqual(at, second, delta=0.05)

    def test_codecs_and_containers(self):
        for name, (video, sound) in CODECS.items():
            with self.subTest(name):
                seconds = 2 if sound else 0
                path = film(self.path(name), 50, seconds, *(("-c:a", sound) if sound else ()), video=video)
                self.check(self.store(path), 50, seconds)

    def test_live(self):
        for name in LIVE:
            with self.subTest(name):
                video, sound = CODECS[name]
                seconds = 2 if sound else 0
                path = film(self.path(name), 50, seconds, *(("-c:a", sound) if sound else ()), video=video)
                record, dropped = self.watch(path)
                self.check(record, 50, seconds, dropped=dropped)

    def test_films_that_break_off(self):
        """Each picture is shown that is there, and the viewer learns where the film breaks off."""
        for name, args in ("cut.mkv", ()), ("cut.mp4", ("-movflags", "+faststart")), ("cut.avi", ("-c:a", "mp3")):
            with self.subTest(name):
                path = film(self.path(name), 150, 6, *args)
                os.truncate(path, os.path.getsize(path) * 6 // 10)
                there = int(run("ffprobe", "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries",
                                "stream=nb_read_frames", "-of", "csv=p=0", path))
                record, dropped = self.watch(path, code=4)
                self.check(record, there, 0, dropped=dropped)

    def test_seeks_in_joined_parts(self):
        """Both parts have the same time stamps: pictures and sound are those of the part that the position is in."""
        for name, head in ("joined.ts", 0), ("joined.flv", 13):
            path = self.path(name)
            with open(path, "wb") as joined:
                for part in 0, 1:
                    one = film(self.path(f"{part}-{name}"), 75, 3, first=75 * part, second=3 * part)
                    with open(one, "rb") as f:
                        joined.write(f.read()[head * part:])  # the second part's tags follow without a file header
            for start in 1, 4:
                with self.subTest(name, start=start):
                    record, dropped = self.watch(path, "--start", str(start))
                    seen = [n for _, n in numbers(record)]
                    self.assertEqual(seen[0], FPS * start)
                    self.assertEqual(seen, sorted(seen))
                    self.assertGreaterEqual(len(set(seen)), 150 - FPS * start - dropped)
                    heard = [(at, second) for at, second in beeps(record) if at > 0.5]
                    self.assertEqual([second for _, second in heard], list(range(start + 1, 6)))
                    for at, second in heard:
                        self.assertAlmostEqual(at, second - start, delta=0.1)

    def test_a_single_picture(self):
        """It stands for as long as one watches, and upright as its Exif says."""
        # TIFF 6.0: one entry, Orientation, of one SHORT; then where it lies, by the filter that undoes it.
        exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0%c\0\0\0\0\0\0\0"
        for name, orientation, lies in ("a.png", 0, "null"), ("a.webp", 0, "null"), ("flipped.jpg", 4, "vflip"), \
                ("right.jpg", 6, "transpose=2"), ("across.jpg", 7, "transpose=3"):
            with self.subTest(name):
                path = self.path(name)
                run("ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{WIDTH}x{HEIGHT}", "-i", "pipe:0",
                    "-vf", lies, "-frames:v", "1", "-q:v", "2", path, data=picture(77))
                if orientation:
                    with open(path, "r+b") as f:
                        data = f.read()
                        app = exif % orientation
                        f.seek(2)
                        f.write(b"\xff\xe1" + (len(app) + 2).to_bytes(2, "big") + app + data[2:])
                server = self.sender("--level", "192x96@5:300", source=path)
                record = self.path(f"seen-{server.port}.mkv")
                self.see(server.url, "--no-picture", "--record", record, frames=8)
                seen = [n for _, n in numbers(record)]
                self.assertGreaterEqual(len(seen), 8)
                self.assertEqual(set(seen), {77})

    def test_time_lines(self):
        """Tracks that begin late, an edit list, stamps that wrap, many tracks, a tail that is missing."""
        whole = film(self.path("whole.mkv"), 75, 3)
        with self.subTest("the pictures begin late"):
            self.check(self.store(film(self.path("late.mkv"), 50, 4, offset=1.5)), 50, 4, late=1.5)
        with self.subTest("the pictures begin when the sound is over"):
            self.check(self.store(film(self.path("apart.mkv"), 50, 1, offset=2)), 50, 1, late=2)
        with self.subTest("a delay in an edit list"):
            run("ffmpeg", "-v", "error", "-itsoffset", "1", "-i", whole, "-i", whole, "-map", "0:v", "-map", "1:a", "-c",
                "copy", self.path("delay.mov"))
            self.check(self.store(self.path("delay.mov")), 75, 3, late=1)
        with self.subTest("stamps of 33 bits wrap"):
            run("ffmpeg", "-v", "error", "-i", whole, "-c", "copy", "-output_ts_offset", str(2**33 / 90000 - 2.9),
                "-muxdelay", "0", self.path("wrap.ts"))
            self.check(self.store(self.path("wrap.ts")), 75, 3)
        with self.subTest("twelve audio tracks"):
            run("ffmpeg", "-v", "error", "-i", whole, "-map", "0:v", *("-map", "0:a") * 12, "-c", "copy", self.path("many.mkv"))
            self.check(self.store(self.path("many.mkv")), 75, 3)
        with self.subTest("an initialisation segment and its fragments"):
            folder = os.path.join(self.path("dash"), "")
            os.mkdir(folder)
            run("ffmpeg", "-v", "error", "-i", whole, "-map", "0:v", "-c", "copy", "-f", "dash", folder + "film.mpd")
            parts = sorted(p for p in os.listdir(folder) if p.startswith("chunk"))
            with open(self.path("joined.mp4"), "wb") as f:
                for part in ["init-stream0.m4s", *parts]:
                    with open(folder + part, "rb") as p:
                        f.write(p.read())
            self.check(self.store(self.path("joined.mp4")), 75, 0)
        with self.subTest("a tail that is missing"):
            path = film(self.path("tail.ts"), 75, 3)
            os.truncate(path, os.path.getsize(path) * 2 // 3 - 77)
            self.check(self.store(path), len(numbers(path)), 0)


if __name__ == "__main__":
    lib.main()
