# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-send --prepare with films as people have them: odd names and times, sound with holes, recordings that begin in
the middle, files that nobody can seek in."""
import os
import signal
import subprocess

import lib
from lib import until
from rtsp import Client

LEVELS = ["--level", "128x72@25:60"]
# Of the pictures, which blink for 0.2 s each second from 0.5 s on, and of the sound, which sounds meanwhile.
BLINK = "color=black:s=128x72:r=25:d={0},drawbox=c=white:t=fill:enable='lt(mod(t+0.5\\,1)\\,0.2)'"
TONE = "aevalsrc='if(lt(mod(t+0.5\\,1)\\,0.2)\\,0.4*sin(2*PI*440*t)\\,0)':s=48000:d={0}"


class Prepare(lib.Case):
    def setUp(self):
        super().setUp()
        lib.need("ffmpeg")

    def ffmpeg(self, *args):
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", *args], check=True, timeout=60 * lib.PATIENCE)

    def film(self, name="film.mkv", seconds=1, *args, sound=True, filters=("-c:a", "pcm_s16le")):
        """Makes a film whose pictures flash and whose audio beeps at the same times."""
        path = self.path(name)
        inputs = ["-f", "lavfi", "-i", BLINK.format(seconds)] + sound * ["-f", "lavfi", "-i", TONE.format(seconds)]
        return lib.film_of(path, *inputs, "-c:v", "libx264", "-preset", "ultrafast", *sound * filters, *args)

    def prepare(self, path, *args, code=0, prefix=()):
        p = self.start([*prefix, lib.SEND, "--prepare", *LEVELS, *args, path])
        self.assertEqual(p.wait(60), code, str(p))
        return p

    def found(self, path, kind, filters, key):
        p = self.start(["ffmpeg", "-v", "info", "-nostdin", "-i", path, "-map", f"0:{kind}", f"-{kind}f", filters, "-f",
                        "null", "-"])
        self.assertEqual(p.wait(40), 0, str(p))
        return [float(part.split()[0]) for part in p.stderr.split(key)[1:]]

    def blinks_and_tones(self, path):
        return (self.found(path, "v", "blackdetect=d=0.1:pix_th=0.5", "black_end:"),
                self.found(path, "a", "silencedetect=n=-30dB:d=0.1", "silence_end: "))

    def check_together(self, path, least, near=0.06):
        """Checks that this many flashes have their tone, and no flash has another tone near it."""
        blinks, tones = self.blinks_and_tones(path)
        apart = [min((abs(blink - tone) for tone in tones), default=9) for blink in blinks]
        self.assertGreaterEqual(sum(d < near for d in apart), least, f"{blinks} {tones}")
        self.assertFalse([d for d in apart if near <= d < 0.45], f"{blinks} {tones}")

    def test_a_name_with_a_colon(self):
        """Which is no protocol's, in the folder that it lies in."""
        self.film("2001: a film.mkv", sound=False)
        self.prepare("2001: a film.mkv", prefix=["env", "-C", self.folder])
        self.assertEqual(sorted(f for f in os.listdir(self.folder) if "film" in f),
                         ["2001: a film.mkv", "2001: a film.mkv.weir.mkv"])

    def test_a_name_that_is_no_utf_8(self):
        film = os.fsencode(self.film(sound=False))
        name = film.replace(b"film.mkv", b"caf\xe9.mkv")
        os.rename(film, name)
        self.prepare(os.fsdecode(name))
        server = self.server(source=os.fsdecode(name))
        self.assertIn("using its prepared file", server.stderr)
        with Client(server.port) as c:
            c.send(c.format("DESCRIBE"))
            self.assertIn("s=caf?.mkv", c.response().body)

    def test_a_time_before_1970(self):
        film = self.film(sound=False)
        os.utime(film, (-5, -5))
        self.prepare(film)
        self.assertIn("using its prepared file", self.sender(source=film).stderr)

    def test_a_rate_with_no_simple_part(self):
        """The default levels then have the film's own frame rate."""
        film = self.path("film.mkv")
        self.ffmpeg("-f", "lavfi", "-i", "testsrc2=s=160x120:r=313/10:d=1", "-c:v", "libx264", "-preset", "ultrafast", film)
        p = self.start([lib.SEND, "--prepare", film])
        self.assertEqual(p.wait(60), 0, str(p))
        self.assertEqual(self.sender(source=film).levels()[-1][:3], (160, 120, 31.3))

    def test_one_at_a_time(self):
        film = self.film(seconds=60, sound=False)
        first = self.start([lib.SEND, "--prepare", *LEVELS, film])
        until(lambda: os.path.exists(film + ".weir.part/000000") or not first.running(), "the first to begin")
        first.signal(signal.SIGSTOP)
        for args in [], ["--temporal-layers", "2"]:
            self.assertIn("another weir-send --prepare is using this folder", self.prepare(film, *args, code=1).stderr)
        first.signal(signal.SIGCONT)
        self.assertEqual(first.wait(60), 0, str(first))

    def test_without_the_sound(self):
        film = self.film()
        self.prepare(film)
        for name in film, film + ".weir.mkv":
            with Client(self.sender("--sound", "none", source=name).port) as c:
                self.assertNotIn("m=audio", c.request("DESCRIBE").body)
        self.prepare(film, "--sound", "none")
        with Client(self.sender(source=film).port) as c:
            self.assertNotIn("m=audio", c.request("DESCRIBE").body)

    def test_sound_with_a_hole(self):
        """The stream is silent while the audio has a gap, and synchronous afterwards."""
        film = self.film(seconds=6, filters=("-af", "aselect='not(between(t,1.1,3.3))'", "-c:a", "pcm_s16le"))
        self.prepare(film)
        self.check_together(film + ".weir.mkv", 3)

    def test_sound_of_a_recording_that_begins_between_key_frames(self):
        """The pictures of the recording begin with the first key frame, after its start."""
        film = self.film("film.ts", 6, "-g", "75", filters=("-c:a", "mp2"))
        with open(film, "rb") as f:
            data = f.read()
        with open(film, "wb") as f:
            f.write(data[len(data) // 5 // 188 * 188:])
        self.prepare(film)
        self.check_together(film + ".weir.mkv", 2)

    def test_sound_whose_channels_change(self):
        parts = [self.film(f"{i}.ts", 2, "-output_ts_offset", str(2 * i), filters=("-ac", channels, "-c:a", "aac"))
                 for i, channels in enumerate("21")]
        film = self.path("film.ts")
        with open(film, "wb") as f:
            for part in parts:
                with open(part, "rb") as p:
                    f.write(p.read())
        self.prepare(film)
        self.check_together(film + ".weir.mkv", 4, near=0.1)  # each part's sound and pictures begin by themselves

    def frames(self, path):
        out = subprocess.run(["ffprobe", "-v", "error", "-count_packets", "-select_streams", "v:0", "-show_entries",
                              "stream=nb_read_packets", "-of", "csv=p=0", path], capture_output=True, text=True,
                             check=True, timeout=20 * lib.PATIENCE)
        return int(out.stdout.strip(",\n"))

    def interrupted(self, film):
        p = self.start([lib.SEND, "--prepare", *LEVELS, film])
        until(lambda: os.path.exists(film + ".weir.part/000001") or not p.running(), "two groups", 60)
        p.signal(signal.SIGKILL)
        p.wait()
        self.assertFalse(os.path.exists(film + ".weir.mkv"), "it was done already")

    @lib.long
    def test_taken_up_again_where_nobody_can_seek(self):
        film = self.film("film.h264", 30, sound=False)
        self.interrupted(film)
        self.prepare(film)
        self.between(30 * 25, self.frames(film + ".weir.mkv"), 30 * 25 + 3)

    @lib.long
    def test_taken_up_again_far_from_a_key_frame(self):
        """Containers without an index: the pictures before the next key frame are not lost."""
        film = self.film("film.ts", 30, "-g", "250", filters=("-c:a", "mp2"))
        self.interrupted(film)
        self.prepare(film)
        self.between(30 * 25, self.frames(film + ".weir.mkv"), 30 * 25 + 3)
        self.check_together(film + ".weir.mkv", 28)

    def test_a_folder(self):
        """Its films are prepared once; one that cannot be read does not keep the others from it."""
        os.mkdir(self.path("sub"))
        for name in "a.mkv", "sub/b c.mkv", ".hidden.mkv":
            self.film(name)
        with open(self.path("sub/broken.mkv"), "wb") as f:
            f.write(b"no film")
        p = self.prepare(self.folder, code=1)
        self.assertIn("film 1 of 3: ", p.stderr)
        self.assertIn("3 films: 2 prepared, 0 up to date, 1 failed", p.stderr)
        made = {name: os.stat(self.path(name + ".weir.mkv")).st_mtime_ns for name in ("a.mkv", "sub/b c.mkv")}
        os.remove(self.path("sub/broken.mkv"))
        os.utime(self.path("a.mkv"), (1e9, 1e9))
        self.assertIn("2 films: 1 prepared, 1 up to date, 0 failed", self.prepare(self.folder).stderr)
        again = {name: os.stat(self.path(name + ".weir.mkv")).st_mtime_ns for name in made}
        self.assertNotEqual(again["a.mkv"], made["a.mkv"])
        self.assertEqual(again["sub/b c.mkv"], made["sub/b c.mkv"])
        self.assertFalse(os.path.exists(self.path(".hidden.mkv.weir.mkv")))
        self.assertIn("a.mkv.weir.mkv is up to date", self.prepare(self.path("a.mkv")).stderr)

    def test_other_levels_are_not_up_to_date(self):
        film = self.film(sound=False)
        self.prepare(film)
        p = self.start([lib.SEND, "--prepare", "--level", "64x36@25:30", film])
        self.assertEqual(p.wait(60), 0, str(p))
        self.assertIn("1 levels of 1 sizes", p.stderr)

    def test_interrupted_by_a_signal(self):
        """It says how to go on, at once; no part is left that is served as a film."""
        film = self.film(seconds=60, sound=False)
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            p = self.start([lib.SEND, "--prepare", *LEVELS, self.folder])
            until(lambda p=p: "film 1 of 1" in p.stderr or not p.running(), "the film", 30)
            p.signal(number)
            self.assertEqual(p.wait(), 128 + number, str(p))
            self.assertIn("interrupted at film 1 of 1: film.mkv", p.stderr)
            self.assertIn("the same command continues here", p.stderr)
            self.assertFalse(os.path.exists(film + ".weir.mkv"))
        self.assertIn("1 prepared", self.prepare(self.folder).stderr)
        self.assertEqual(sorted(f for f in os.listdir(self.folder) if "film" in f), ["film.mkv", "film.mkv.weir.mkv"])

    def test_interrupted_in_a_script(self):
        """Shells ignore SIGINT in background processes, nohup ignores SIGHUP."""
        film = self.film(seconds=60, sound=False)
        p = self.start(["bash", "-c", 'trap "" INT HUP; exec "$@"', "-", lib.SEND, "--prepare", *LEVELS, film])
        until(lambda: "levels of" in p.stderr or not p.running(), "the film", 30)
        p.signal(signal.SIGHUP)
        p.signal(signal.SIGINT)
        self.assertEqual(p.wait(), 128 + signal.SIGINT, str(p))


FLAT = ("color=0x7fb7e8:s=640x360:r=25:d=4[a];color=0xc8453b:s=90x60:r=25:d=4[b];color=0x55a04c:s=640x120:r=25:d=4[c];"
        "[a][c]overlay=0:240[d];[d][b]overlay=100*t:215")
NOISE = "color=gray:s=320x180:r=25:d=3,noise=alls=30:allf=t"


class ByContent(lib.Case):
    """A film has the levels that its pictures need, unless --ladder fixed or --level is given."""

    def film(self, name, filters):
        path = self.path(name)
        return lib.film_of(path, "-filter_complex", filters, "-c:v", "libx264", "-preset", "ultrafast", "-crf", "12", "-pix_fmt",
                           "yuv420p")

    def prepare(self, path, *args):
        p = self.start([lib.SEND, "--prepare", "--no-passthrough", *args, path])
        self.assertEqual(p.wait(120), 0, str(p))
        return p.stderr

    def size(self, path):
        return os.path.getsize(path + ".weir.mkv")

    def test_a_cartoon_and_noise(self):
        """The cartoon gets fewer bits than with the fixed ladder, and than noise."""
        lib.need("ffmpeg")
        flat, noise = self.film("flat.mkv", FLAT), self.film("noise.mkv", NOISE)
        self.assertIn("levels by content: ", self.prepare(flat))
        by_content, levels = self.size(flat), self.sender(source=flat).levels()
        self.assertIn("is up to date", self.prepare(flat))
        self.prepare(noise)
        self.assertGreater(self.size(noise), 2 * by_content)
        of_noise = self.sender(source=noise).levels()
        self.assertGreater(of_noise[-1][3], 2 * levels[-1][3], "kbit/s of the top levels")
        for some in levels, of_noise:
            for low, high in zip(some, some[1:]):
                self.assertGreater(high[3], 1.15 * low[3], str(some))
        self.assertNotIn("is up to date", self.prepare(flat, "--ladder", "fixed"))
        self.assertGreater(self.size(flat), by_content)
        fixed = [level[3] for level in self.sender(source=flat).levels()]
        self.assertEqual(fixed, [80, 120, 240, 320, 640, 960])
        self.assertIn("is up to date", self.prepare(flat, "--ladder", "fixed"))

    def test_a_viewer_climbs(self):
        lib.need("ffmpeg")
        film = self.film("film.mkv", "testsrc2=s=320x180:r=25:d=6")
        self.assertIn("levels by content: ", self.prepare(film))
        server = self.sender("--loop", source=film)
        top = len(server.levels()) - 1
        self.assertGreater(top, 0)
        p = self.player(server.url, "--no-picture")
        until(lambda: any(e["level"] == top for e in p.shown()) or not p.running(), "the top level", 60)
        self.assertEqual(self.interrupt(p).report()["playback"]["frames_undecodable"], 0)

    def test_without_a_measure(self):
        """A film that is too short for it, or one whose levels are given."""
        lib.need("ffmpeg")
        short = self.film("short.mkv", "testsrc2=s=160x120:r=25:d=0.2")
        self.assertIn("short.mkv: it keeps the fixed ladder: it is shorter than 2 s", self.prepare(short))
        self.assertNotIn("ladder: ", self.prepare(self.film("given.mkv", "testsrc2=s=160x120:r=25:d=3"), *LEVELS))
        for args, said in ((["--ladder", "fixed", "--level", "128x72@25:60"], "--ladder conflicts with --level"),
                           (["--ladder", "wide"], "expects content or fixed")):
            p = self.start([lib.SEND, "--prepare", *args, short])
            self.assertEqual(p.wait(20), 2, str(p))
            self.assertIn(said, p.stderr)


if __name__ == "__main__":
    lib.main()
