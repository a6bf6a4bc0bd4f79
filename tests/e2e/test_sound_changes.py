# SPDX-License-Identifier: GPL-2.0-or-later
"""Audio that changes within a film: codec, channels, rate and stream. All of it is sent, in time and at its pitch; more
channels than two are mixed by the levels of ITU-R BS.775."""
import subprocess
import unittest

import numpy

import lib

RATE = 48000
PART = 2  # seconds


def pcm(path, channels=1):
    """Returns the samples of the first audio track, on the file's time line."""
    p = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-map", "0:a:0", "-af",
                        f"aresample={RATE}:async=1:first_pts=0", "-ac", str(channels), "-f", "f32le", "-"],
                       capture_output=True, check=True, timeout=60 * lib.PATIENCE)
    return numpy.frombuffer(p.stdout, numpy.float32).reshape(-1, channels)


def hz_of(x):
    spectrum = numpy.abs(numpy.fft.rfft(x * numpy.hanning(len(x)), 4 * RATE))
    return spectrum.argmax() / 4


def level(x, hz):
    """Returns the amplitude of a tone in x."""
    return 2 * abs((x * numpy.exp(-2j * numpy.pi * hz / RATE * numpy.arange(len(x)))).mean())


class Changes(lib.Case):
    def part(self, name, number, audio, layout="stereo", rate=RATE, extra=()):
        """Makes a part of PART seconds; each half second has a beep of .25 s, whose pitch tells its place in the film."""
        lib.need("ffmpeg")
        path = self.path(name)
        tone = f"if(lt(mod(t\\,.5)\\,.25)\\,.3*sin(2*PI*(400+100*(floor(t*2)+{2 * PART * number}))*t)\\,0)"
        channels = {"mono": 1, "stereo": 2, "5.1": 6}[layout]
        lib.film_of(path, "-f", "lavfi", "-i", f"color=gray:s=160x90:r=25:d={PART}", "-f", "lavfi", "-i",
                    f"aevalsrc='{'|'.join([tone] * channels)}':c={layout}:s={rate}:d={PART}", "-c:v", "libx264", "-preset",
                    "ultrafast", "-g", "25", "-c:a", *audio, "-output_ts_offset",
                    str(PART * number if path.endswith(".ts") else 0), *extra)
        return path

    def join(self, name, parts):
        path = self.path(name)
        with open(path, "wb") as out:
            for part in parts:
                with open(part, "rb") as f:
                    out.write(f.read())
        return path

    def television(self):
        """A broadcast: 5.1 of AC-3, then stereo at another rate with other PIDs, then mono."""
        return self.join("tv.ts", [
            self.part("a.ts", 0, ("ac3",), "5.1"),
            self.part("b.ts", 1, ("ac3",), rate=44100, extra=("-mpegts_start_pid", "0x300")),
            self.part("c.ts", 2, ("ac3",), "mono", rate=32000, extra=("-mpegts_start_pid", "0x300"))])

    def stream(self):
        """A recording of RTMP whose audio becomes another one: AAC of one channel, then of two at another rate, then MP3."""
        path = self.path("joined.flv")
        kinds = (("aac",), "mono", 48000), (("aac",), "stereo", 22050), (("libmp3lame",), "stereo", 44100)
        with open(path, "wb") as out:
            for i, (audio, layout, rate) in enumerate(kinds):
                with open(self.part(f"{i}.flv", i, audio, layout, rate), "rb") as f:
                    data = f.read()
                out.write(data[:13] if i == 0 else b"")
                at = 13
                while at + 11 <= len(data):  # tags: type, size, time (24 bits, and the upper 8 after them)
                    size = int.from_bytes(data[at + 1:at + 4], "big")
                    time = int.from_bytes(data[at + 4:at + 7], "big") + PART * 1000 * i
                    tag = data[at:at + 11 + size + 4]
                    if tag[0] != 18:  # the script with the first part's properties
                        out.write(tag[:4] + time.to_bytes(3, "big") + tag[7:])
                    at += len(tag)
        return path

    def prepare(self, film):
        p = self.start([lib.SEND, "--quiet", "--prepare", "--level", "160x90@25:60", film])
        self.assertEqual(p.wait(60), 0, str(p))
        return film + ".weir.mkv"

    def view(self, film, *options):
        p = self.play(self.sender(*options, source=film).url, "--no-picture", "--record", self.path("seen.mkv"), seconds=40)
        self.assertEqual(p.report()["ended"], "end-of-media")
        return self.path("seen.mkv")

    def check_beeps(self, path, parts, what):
        x = pcm(path)[:, 0]
        for i in range(2 * PART * parts):
            # The codec's delay moves a beep by less than .1 s; a half second that is lost or misplaced shows.
            beep = x[int((.5 * i + .1) * RATE):int((.5 * i + .23) * RATE)]
            pause = x[int((.5 * i + .38) * RATE):int((.5 * i + .48) * RATE)]
            self.assertAlmostEqual(hz_of(beep), 400 + 100 * i, delta=8, msg=f"{what}, beep {i}")
            self.assertGreater(numpy.abs(beep).max(), .15, f"{what}, beep {i}")
            self.assertLess(numpy.abs(pause).max(), .1, f"{what}, after beep {i}")

    def test_a_broadcast_changes_channels_rate_and_stream(self):
        film = self.television()
        self.check_beeps(self.view(film), 3, "live")
        self.check_beeps(self.prepare(film), 3, "prepared")

    def test_parts_that_overlap_stay_in_time(self):
        """The second part begins .12 s early, at another rate: what overlaps is dropped, and no more than that."""
        second = self.part("second.ts", 1, ("aac",), rate=44100, extra=("-output_ts_offset", str(PART - .12)))
        x = numpy.abs(pcm(self.prepare(self.join("overlap.ts", [self.part("first.ts", 0, ("aac",)), second])))[:, 0])
        for at in (.5, 1, 1.5, 2.38, 2.88, 3.38):  # beeps, of which each follows a pause
            begin = int((at - .1) * RATE)
            self.assertAlmostEqual((begin + (x[begin:] > .1).argmax()) / RATE, at, delta=.03)

    def test_a_recorded_stream_changes_its_audio(self):
        film = self.stream()
        self.check_beeps(self.view(film), 3, "live")
        self.check_beeps(self.prepare(film), 3, "prepared")

    def test_a_prepared_film_that_begins_with_one_channel_has_two(self):
        """Else what is in stereo later would be lost."""
        right = f"aevalsrc='0|.3*sin(2*PI*700*t)':s={RATE}:d={PART}"
        lib.need("ffmpeg")
        lib.film_of(self.path("r.ts"), "-f", "lavfi", "-i", f"color=gray:s=160x90:r=25:d={PART}", "-f", "lavfi", "-i", right,
                    "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-output_ts_offset", str(PART))
        film = self.join("wider.ts", [self.part("m.ts", 0, ("aac",), "mono"), self.path("r.ts")])
        x = pcm(self.prepare(film), 2)
        middle = x[int(2.5 * RATE):int(3.5 * RATE)]
        self.assertAlmostEqual(level(middle[:, 1], 700), .3, delta=.02)
        self.assertLess(level(middle[:, 0], 700), .02)

    def surround(self, amplitude):
        path = self.path(f"surround-{amplitude}.mkv")
        lib.need("ffmpeg")
        tones = "|".join(f"{amplitude}*sin(2*PI*{hz}*t)" for hz in self.TONES.values())
        lib.film_of(path, "-f", "lavfi", "-i", f"color=gray:s=160x90:r=25:d={PART}", "-f", "lavfi", "-i",
                    f"aevalsrc='{tones}':c=5.1:s={RATE}:d={PART}", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "flac")
        return path

    TONES = {"L": 300, "R": 400, "C": 500, "LFE": 80, "Ls": 700, "Rs": 800}

    def levels(self, path):
        """Returns the levels in dB in the left and the right channel, by channel of the film; and the peak."""
        x = pcm(path, 2)
        x = x[RATE // 2:3 * RATE // 2]
        return ({name: [20 * numpy.log10(max(level(x[:, c], hz), 1e-3)) for c in (0, 1)] for name, hz in self.TONES.items()},
                numpy.abs(x).max())

    def test_surround_keeps_its_level_in_stereo(self):
        film = self.surround(.1)
        for what, path in ("live", self.view(film)), ("prepared", self.prepare(film)):
            found, _ = self.levels(path)
            for name, left, right in ("L", -20, None), ("R", None, -20), ("C", -23, -23), ("LFE", None, None), \
                    ("Ls", -23, None), ("Rs", None, -23):
                for got, wanted in zip(found[name], (left, right)):
                    if wanted is None:
                        self.assertLess(got, -45, (what, name, found))
                    else:
                        self.assertAlmostEqual(got, wanted, delta=.5, msg=f"{what} {name}: {found}")

    def test_the_levels_can_be_chosen(self):
        mix = "--center-mix-level", "0", "--surround-mix-level", "-60", "--lfe-mix-level", "-6"
        found, _ = self.levels(self.view(self.surround(.1), *mix))
        self.assertAlmostEqual(found["C"][0], -20, delta=.5, msg=found)
        self.assertAlmostEqual(found["LFE"][1], -26, delta=.7, msg=found)
        self.assertLess(found["Ls"][0], -45, found)

    def test_loud_surround_does_not_exceed_full_scale(self):
        found, peak = self.levels(self.prepare(self.surround(.9)))
        self.assertLess(peak, .99, found)
        self.assertGreater(peak, .8, found)


if __name__ == "__main__":
    lib.main()
