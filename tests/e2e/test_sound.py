# SPDX-License-Identifier: GPL-2.0-or-later
"""Audio is synchronous with the pictures: over each kind of transport, through loss, stalls and changes of speed, from a file."""
import os
import re
import signal
import unittest

import numpy

import lib
import relay
from lib import until


class Sound(relay.Relayed):
    def check(self, report):
        """Checks that audio was played and compared with the pictures, and that the network lost none of it."""
        audio = report["audio"]
        if not self.kernel_dropped(report):
            self.assertEqual(audio["lost"], 0, audio)
        self.assertGreater(audio["packets"], 50, audio)
        self.assertGreaterEqual(audio["av_offset"]["samples"], 1, audio)

    def test_beeps_come_with_their_flashes(self):
        server = self.server()
        common = "--level", "1", "--no-picture"
        players = {t: self.player(server.url, "--transport", t, *common) for t in ("minbuf", "udp", "tfrc", "mtp")}
        low = self.player(server.url, "--low-latency", *common)
        deaf = self.player(server.url, "--no-audio", *common)
        for transport, p in players.items():
            report = self.end_after(p, 75).report()
            self.assertEqual(report["audio"]["av_offset"]["by"], "tone", transport)
            self.check(report)
            self.assertIn("audio ", p.stdout)
        self.check(self.end_after(low, 75).report())
        self.assertIsNone(self.end_after(deaf, 75).report()["audio"])
        last = {line["session"]: line["sound"] for line in self.stats() if "session" in line}
        self.assertEqual([s for s in last.values() if s is None], [None], last)  # who did not ask for it
        for sound in filter(None, last.values()):
            self.assertGreater(sound["packets"], 100)

    def test_a_device_that_is_not_there(self):
        """A sender that requires it ends; with a folder, no film can be opened, and the sender continues."""
        nobody = {"PULSE_SERVER": "unix:" + self.path("none")}
        p = self.start([lib.SEND, "--listen", "127.0.0.1:0", "--sound", "pulse", lib.SOURCE], nobody)
        self.assertEqual(p.wait(), 1, str(p))
        self.assertIn("--sound pulse:default cannot be recorded", p.stderr)
        self.clip("film.mkv", seconds=1, size="160x90")
        server = self.sender("--sound", "pulse", source=self.folder, prefix=["env", *(f"{k}={v}" for k, v in nobody.items())])
        for _ in range(3):
            until(lambda: "404" in self.play(f"rtsp://127.0.0.1:{server.port}/film.mkv", code=3).stderr, "the refusal", 30)
        self.assertGreaterEqual(server.stderr.count("cannot be recorded"), 3)
        self.stop_cleanly(server)

    def test_a_sender_without_sound(self):
        p = self.play(self.sender("--sound", "none").url, "--no-picture", "-d", "1")
        self.assertIsNone(p.report()["audio"])
        self.assertEqual(p.stderr, "")

    def test_what_is_lost_is_concealed(self):
        r = self.relay(self.sender().port, loss_down=0.05)
        p = self.see(r.url, "--transport", "udp", "--repair", "off", "--level", "1", "--no-picture", frames=75)
        audio = p.report()["audio"]
        self.assertGreater(audio["lost"], 0)
        self.assertEqual(audio["repaired"], 0, audio)
        # 20 ms a packet; a few are lost before playing begins.
        self.assertGreaterEqual(audio["concealed_ms"], 0.5 * 20 * audio["lost"], audio)

    def test_what_is_lost_is_sent_again(self):
        r = self.relay(self.sender().port, loss_down=0.05)
        # The latency leaves a busy machine the time to send again.
        p = self.see(r.url, "--transport", "udp", "--level", "1", "--no-picture", "--latency", "2000", frames=100)
        audio = p.report()["audio"]
        self.assertGreater(audio["lost"], 0)
        self.assertGreaterEqual(audio["repaired"], 0.5 * audio["lost"], audio)  # a copy may get lost, too

    def test_after_a_stall_and_at_another_speed(self):
        """The relay forwards nothing for a while: the picture freezes. Then its delay ends: the player plays at speed 1.05."""
        r = self.relay(self.sender().port, delay=0.2)
        p = self.player(r.url, "--transport", "udp", "--level", "1", "--no-picture")
        p.wait_shown(20)
        r.stand_still(1.0)
        until(lambda: p.events("rebuffer-end"), "the stall", 20)
        p.wait_shown(len(p.shown()) + 4 * lib.FPS)
        r.delay = 0.0
        until(lambda: any(e["speed"] > 1.01 for e in p.events("speed")), "a higher speed", 20)
        p.wait_shown(len(p.shown()) + 3 * lib.FPS)
        p.signal(signal.SIGTERM)
        self.assertEqual(p.wait(), 130, str(p))
        report = p.report()
        self.assertGreaterEqual(report["rebuffering"]["count"], 1)
        self.assertGreater(report["playback"]["speed"]["max"], 1.01)
        audio = report["audio"]
        self.assertGreater(audio["spliced"], 0, audio)  # periods left out, at a higher speed

    def file(self):
        """Makes a film with a flash and a tone of 0.2 s each second, from 0.5 s on."""
        lib.need("ffmpeg")
        path = self.path("clap.mkv")
        blink = "color=black:s=320x180:r=25:d=4,drawbox=c=white:t=fill:enable='lt(mod(t+0.5\\,1)\\,0.2)'"
        tone = "aevalsrc='if(lt(mod(t+0.5\\,1)\\,0.2)\\,0.4*sin(2*PI*440*t)\\,0)':s=44100:d=4"
        lib.film_of(path, "-f", "lavfi", "-i", blink, "-f", "lavfi", "-i", tone, "-c:v", "libx264", "-preset", "ultrafast",
                    "-c:a", "aac")
        return path

    def test_a_file(self):
        server = self.sender(source=self.file())
        self.assertIn("audio: aac, 44100 Hz", server.stderr)
        p = self.play(server.url, "--no-picture", seconds=40)
        report = p.report()
        self.assertEqual(report["ended"], "end-of-media")
        self.assertEqual(report["audio"]["av_offset"]["by"], "timestamps")
        self.check(report)

    def test_the_file_s_blinks_and_tones_reach_a_stranger_together(self):
        """ffmpeg records the stream; returns the times of flashes and tones in the recording."""
        lib.need("ffmpeg")
        server = self.sender(source=self.file())
        path = self.path("copy.mkv")
        copy = self.start(["ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", "tcp", "-i", server.url, "-t", "3.2",
                           "-c", "copy", path])
        self.assertEqual(copy.wait(40), 0, str(copy))
        found = {}
        for kind, filters in (("v", "[in]blackdetect=d=0.1:pix_th=0.5[out]"),
                              ("a", "[in]silencedetect=n=-30dB:d=0.1[out]")):
            p = self.start(["ffmpeg", "-v", "info", "-nostdin", "-i", path, "-map", f"0:{kind}", f"-{kind}f",
                            filters.replace("[in]", "").replace("[out]", ""), "-f", "null", "-"])
            self.assertEqual(p.wait(40), 0, str(p))
            key = "black_end:" if kind == "v" else "silence_end: "
            found[kind] = [float(part.split()[0]) for part in p.stderr.split(key)[1:]]
        self.assertGreaterEqual(len(found["v"]), 2, found)
        # A busy sender leaves out pictures, and with them the end of a flash; it cannot move all of them to tones.
        apart = min(abs(blink - tone) for blink in found["v"] for tone in found["a"])
        self.assertLess(apart, 0.06 + 0.04, found)  # of pictures of 40 ms

    def test_pause_and_seek(self):
        server = self.sender(source=self.file())
        p = self.play(server.url, "--no-picture", "--at", "0.8:pause", "--at", "1.2:go-on", "--at", "1.8:seek=2.5", seconds=40)
        self.check(p.report())
        self.assertEqual(len(p.events("seek")), 1, str(p))


RATE, HZ = 48000, 440


def silences(x):
    """Returns where at least 5 ms are silent, as (first sample, samples)."""
    quiet = numpy.concatenate(([0], numpy.abs(x) < 0.03 * numpy.abs(x).max(), [0]))
    ends = numpy.flatnonzero(numpy.diff(quiet)).reshape(-1, 2)
    return [(begin, end - begin) for begin, end in ends if end - begin > 0.005 * RATE]


def steps(x):
    """Returns how far each sample is from the continuation of a tone of HZ through the two before it: a click where it
    is far. The unit is the tone's amplitude."""
    return numpy.abs(x[2:] - 2 * numpy.cos(2 * numpy.pi * HZ / RATE) * x[1:-1] + x[:-2]) / numpy.abs(x).max()


def pitches(x):
    """Returns the frequency of each 20 ms."""
    base = x * numpy.exp(-2j * numpy.pi * HZ / RATE * numpy.arange(len(x)))
    window = numpy.hanning(2 * RATE // HZ + 2)
    phase = numpy.unwrap(numpy.angle(numpy.convolve(base, window, "same")))
    return HZ + numpy.diff(phase[::RATE // 50]) * 50 / (2 * numpy.pi)


class Tone(relay.Relayed):
    """A tone of 440 Hz, played to SDL's file. That device takes its samples about 1 % too slowly, so the player must leave
    out periods all the time."""

    def film(self):
        lib.need("ffmpeg")
        path = self.path("tone.mkv")
        lib.film_of(path, "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=60", "-f", "lavfi", "-i",
                    f"aevalsrc='0.35*sin(2*PI*{HZ}*t)':s={RATE}:d=60", "-c:v", "libx264", "-preset", "ultrafast", "-c:a",
                    "flac")
        return path

    def listen(self, url, transport):
        path = self.path(f"{transport}.pcm")
        env = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": path}
        p = self.player(url, "--transport", transport, window=True, env=env)
        p.pcm = path
        return p

    def check(self, p):
        """Checks that each disturbance of the tone is one that the report names: a busy machine causes some."""
        report = self.end_after(p, 6 * 25).report()
        audio = report["audio"]
        x = numpy.fromfile(p.pcm, dtype="<i2").reshape(-1, 2)[:, 0].astype(float)
        loud = numpy.flatnonzero(numpy.abs(x) > 1000)
        self.assertGreater(len(loud), RATE, audio)
        x = x[loud[0] + RATE // 10:loud[-1] - RATE // 10]
        named = audio["underruns"] + audio["jumps"] + report["rebuffering"]["count"]
        clicks = numpy.flatnonzero(steps(x) > 0.15)
        self.assertLessEqual(int((numpy.diff(clicks) > RATE // 50).sum()) + bool(len(clicks)), named, audio)
        self.assertLessEqual(len(silences(x)), named, audio)
        # A disturbance changes the pitch of four windows at most; on a busy machine that may be most of them.
        off = numpy.sort(abs(pitches(x)[1:-1] / HZ - 1))
        off = off[:max(0, len(off) - int(4 * named + audio["concealed_ms"] / 20))]
        self.assertLess(max(off, default=0), 0.005, audio)
        self.assertLess(numpy.median(off) if len(off) else 0, 0.001, audio)

    def test_a_tone(self):
        server = self.sender("--loop", source=self.film())
        lossy = self.relay(server.port, loss_down=0.01)
        players = [self.listen(server.url, "minbuf"), self.listen(server.url, "mtp"), self.listen(lossy.url, "udp")]
        last = players[-1]
        lib.until(lambda: len(last.shown()) >= 3 * 25 or not last.running(), "3 s of the film, or what a busy machine shows", 30)
        lossy.stand_still(0.4)
        for p in players:
            self.check(p)


@unittest.skipIf(lib.SLOW > 1, "sanitizers want to be loaded first themselves")
class Microphone(lib.Case):
    """A software sound card (fake_microphone.c), which replaces ALSA's by LD_PRELOAD."""

    def setUp(self):
        super().setUp()
        lib.need("ffmpeg")
        self.file = self.path("card")
        self.library = self.preloaded("fake_microphone")

    def plug(self, channels, rate, amplitude=8000):
        with open(self.file + ".new", "w") as f:
            f.write(f"{channels} {rate} {amplitude}\n")
        os.rename(self.file + ".new", self.file)

    def record(self):
        return self.sender("--sound", "alsa:hw:1", prefix=[
            "env", f"LD_PRELOAD={self.library}", f"WEIR_FAKE_MICROPHONE={self.file}"])

    def loudness(self, server):
        """Returns the level of 1.5 s in dB."""
        p = self.start(["ffmpeg", "-nostdin", "-rtsp_transport", "tcp", "-i", server.url, "-t", "1.5", "-vn", "-af",
                        "volumedetect", "-f", "null", "-"])
        self.assertEqual(p.wait(), 0, str(p))
        return float(re.search(r"mean_volume: (\S+) dB", p.stderr).group(1))

    def test_cards_of_all_kinds(self):
        for channels, rate in (2, 48000), (1, 48000), (1, 8000), (2, 44100), (6, 96000), (8, 192000):
            with self.subTest(channels=channels, rate=rate):
                self.plug(channels, rate)
                server = self.record()
                self.between(-24, self.loudness(server), -10)
                self.stop_cleanly(server)

    def test_unplugged_and_back(self):
        """Until then there is silence, and one log line per failure."""
        self.plug(2, 48000)
        server = self.record()
        self.assertGreater(self.loudness(server), -24)
        os.unlink(self.file)
        lib.until(lambda: "alsa:hw:1: the device delivers no more audio" in server.stderr, "the warning")
        lib.until(lambda: self.loudness(server) < -60, "silence, behind what the encoder held", 60)
        self.plug(1, 16000)  # another one
        lib.until(lambda: "alsa:hw:1: the device works again" in server.stderr, "it to be opened again")
        lib.until(lambda: self.loudness(server) > -24, "its tone", 60)
        self.assertEqual(server.stderr.count("trying again"), 1)
        os.unlink(self.file)
        lib.until(lambda: server.stderr.count("trying again") == 2, "the second warning")
        self.stop_cleanly(server)  # while it waits

    def test_it_stands_still(self):
        self.plug(2, 48000, amplitude=-1)
        server = self.record()
        self.stop_cleanly(server)
        self.assertIn("alsa:hw:1: the device does not respond", server.stderr)


if __name__ == "__main__":
    lib.main()
