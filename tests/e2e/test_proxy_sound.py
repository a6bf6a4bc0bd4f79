# SPDX-License-Identifier: GPL-2.0-or-later
"""Sound and pictures behind weir-proxy, by content: when a player that is not ours (ffmpeg) sees flashes and hears the beeps of
the same times. It synchronises by RTCP sender reports. All times are those of the media, so a busy machine changes none."""
import os
import re
import struct
import unittest

import lib
from lib import until
from rtsp import Client
from test_foreign_server import have_server
from test_stored_viewer import adu

LEVELS = ["--level", "160x90@25:60"]
FLASHES = (1, 2.32, 4.12, 6.6)  # s; no two are as far apart as two others, so a beep never has another's flash
SECONDS = 8
NEAR = 0.04 + 0.001


class ProxySound(lib.Case):
    @classmethod
    def setUpClass(cls):
        lib.need("ffmpeg", "ffprobe")
        super().setUpClass()

    def film(self, name="film.mp4", *, late=0, opus=False):
        """Makes a film that flashes and beeps for 0.2 s at FLASHES; `late`: its sound begins so much later."""
        path = self.path(name)
        on = "+".join(f"between(t\\,{t - 0.001}\\,{t + 0.199})" for t in FLASHES)
        shifted = "+".join(f"between(t\\,{t - late}\\,{t - late + 0.2})" for t in FLASHES)
        lib.film_of(path, "-f", "lavfi", "-i", f"color=black:s=160x90:r=25:d={SECONDS},drawbox=c=white:t=fill:enable='{on}'",
                    "-itsoffset", str(late), "-f", "lavfi", "-i",
                    f"aevalsrc='if({shifted}\\,0.4*sin(2*PI*1000*t)\\,0)':s=48000:d={SECONDS - late}", "-c:v", "libx264",
                    "-preset", "ultrafast", "-bf", "0", "-g", "25", "-pix_fmt", "yuv420p", "-c:a",
                    "libopus" if opus else "aac")
        return path

    def prepared(self, path):
        p = self.start([lib.SEND, "--state-dir", self.path("state"), "--prepare", *LEVELS, path])
        self.assertEqual(p.wait(60), 0, str(p))
        return path + ".weir.mkv"

    def origin(self, **films):
        first, *others = [f"{name}={path}" for name, path in films.items()]
        return self.sender(*LEVELS, *others, source=first)

    def behind(self, origin, *args):
        return self.proxy("--origin", f"rtsp://127.0.0.1:{origin.port}", *args)

    def look(self, source, *args):
        return self.start(["ffmpeg", "-v", "info", "-nostdin", "-copyts", *args, "-i", source, "-t", str(SECONDS - 1),
                           "-vf", "blackdetect=d=0.1:pix_th=0.5", "-af", "silencedetect=n=-30dB:d=0.1,ashowinfo", "-f", "null",
                           "-"])

    def watch(self, url, *args):
        return self.look(url, "-rtsp_transport", "tcp", *args)

    def check(self, watcher, least, what, settled=0.2):
        """At least so many flashes have their beeps, and no time stamp steps back from `settled` seconds on. (The player guesses
        the first of them, before a report. A server that is late on a busy machine moves all that follows, both tracks alike.)"""
        self.assertEqual(watcher.wait(SECONDS + 60), 0, f"{what} {watcher}")
        flashes, beeps, sound = ([float(t) for t in re.findall(key + r": *([-\d.]+)", watcher.stderr)]
                                 for key in ("black_end", "silence_end", r"ashowinfo.*pts_time"))
        apart = [min((abs(flash - beep) for beep in beeps), default=9) for flash in flashes]
        found = f"{what}: flashes {flashes}, beeps {beeps}"
        self.assertGreaterEqual(sum(d < NEAR for d in apart), least, found)
        first = next(i for i, d in enumerate(apart) if d < NEAR)  # before it there may be no sound
        self.assertLess(max(apart[first:-1], default=0), NEAR, found)  # the last may be the end
        steps = [(at, round(then - at, 4)) for at, then in zip(sound, sound[1:]) if at - sound[0] >= settled]
        self.assertFalse([s for s in steps if s[1] < 0.01], what)

    def test_films(self):
        """Prepared and not, with sound that begins later, over each kind of backbone, through two proxies."""
        film = self.film()
        late = self.film("late.mp4", late=1.5)
        origin = self.origin(raw=film, late=late, film=self.prepared(self.film("other.mp4")))
        first = self.behind(origin)
        proxies = {"the default": first, "a chain": self.behind(first)}
        for transport in "tcp", "tfrc", "udp", "mtp", "scream":
            proxies[transport] = self.behind(origin, "--backbone-transport", transport)
        copies = {}
        for name, proxy in proxies.items():
            for path in ("film", "raw", "late") if name == "the default" else ("film",):
                copies[name, path] = self.watch(f"{proxy.base}/{path}")
        copies["no proxy", "film"] = self.watch(f"rtsp://127.0.0.1:{origin.port}/film")
        for (name, path), copy in copies.items():
            with self.subTest(f"{path}: {name}"):
                self.check(copy, 2, f"{path}: {name}")

    def test_recording(self):
        """What weir-play records behind the proxy, read by ffmpeg: the times of the file, which no sender report mends."""
        origin = self.origin(raw=self.film(), late=self.film("late.mp4", late=1.5),
                             film=self.prepared(self.film("other.mp4")))
        proxy = self.behind(origin)
        players = {path: self.player(f"{proxy.base}/{path}", "--no-picture", "--no-reconnect", "--record", self.path(path + ".mkv"))
                   for path in ("film", "raw", "late")}
        for path, player in players.items():
            with self.subTest(path):
                self.assertEqual(player.wait(SECONDS + 60), 0, str(player))
                self.check(self.look(self.path(path + ".mkv")), 2, f"the recording of {path}")

    def test_seek(self):
        """A play that begins within the film, also with the key frame before."""
        origin = self.origin(raw=self.film(), film=self.prepared(self.film("other.mp4")))
        proxy = self.behind(origin)
        copies = [self.watch(f"{proxy.base}/{path}", "-ss", "3.3") for path in ("film", "raw")]
        for copy in copies:
            self.check(copy, 1, "seek")

    def test_prefix(self):
        """The start from the store, the rest from the origin meanwhile."""
        origin = self.origin(film=self.prepared(self.film()))
        cache = self.path("cache")
        proxy = self.behind(origin, "--cache", cache, "--prefix", "2")
        self.play(f"{proxy.base}/film", "-d", "1")
        until(lambda: len([f for _, _, files in os.walk(cache) for f in files if re.fullmatch(r"0-\d{6}", f)]) >= 1,
              "the prefix", 30)
        self.check(self.watch(f"{proxy.base}/film"), 2, "prefix")

    def test_pause(self):
        """After it, all sender reports of both tracks name one clock, from the first on."""
        origin = self.origin(film=self.prepared(self.film()))
        for port in origin.port, self.behind(origin).port:
            with self.subTest(port), Client(port) as c:
                url = f"rtsp://127.0.0.1:{port}/film"
                for i in range(2):
                    c.request("SETUP", f"{url}/trackID={i}", {"Transport": f"RTP/AVP/TCP;unicast;interleaved={2 * i}-{2 * i + 1}"})
                c.request("PLAY", url, {"Range": "npt=0-"})
                c.collect(1)
                c.request("PAUSE", url)
                c.collect(1.5)
                c.request("PLAY", url)
                before = len(c.frames)

                def reports():
                    c.collect(0.1)
                    return len(self.lines(c.frames, before)[3]) >= 3
                until(reports, "the reports", 20)
                lines = self.lines(c.frames, before)
                for pictures, sound in zip(lines[1], lines[3]):
                    self.assertLess(abs(pictures - sound), 0.005, lines)
                self.assertLess(max(lines[1]) - min(lines[1]), 1, lines)  # it would be the pause's 1.5 s

    @staticmethod
    def lines(frames, begin):
        """Returns media time minus wall-clock time of each pair of reports from frame `begin` on, by channel; media times are
        those of packets of the same track."""
        media, found = {}, {1: [], 3: []}
        for channel, data in frames:
            if channel in (0, 2) and channel not in media:
                stamp, rate = struct.unpack("!I", data[4:8])[0], (48000 if channel else 90000)
                number = adu(data)[0]
                media[channel] = stamp, rate, number / (rate if channel else 25)
        for channel, data in frames[begin:]:
            if channel in (1, 3) and data[1] == 200:
                ntp, stamp = struct.unpack("!QI", data[8:20])
                first, rate, at = media[channel - 1]
                found[channel].append(at + ((stamp - first + 2**31) % 2**32 - 2**31) / rate - ntp / 2**32)
        return {channel: lines[len(lines) - min(map(len, found.values())):] for channel, lines in found.items()}

    @unittest.skipUnless(have_server(), "GStreamer's RTSP server for Python, or its x264enc, is not installed")
    def test_an_origin_that_is_not_ours(self):
        """Its own sender reports say what belongs together."""
        here = os.path.dirname(os.path.abspath(__file__))
        p = self.start(["/usr/bin/python3", os.path.join(here, "gst_server.py"), "--file", self.film("film.mkv", opus=True)])
        found = until(lambda: re.search(r"port (\d+)", p.stdout) or not p.running(), "the server")
        self.assertNotEqual(found, True, str(p))
        proxy = self.proxy("--origin", f"rtsp://127.0.0.1:{found.group(1)}")
        self.check(self.watch(f"{proxy.base}/live"), 2, "GStreamer", settled=1)


if __name__ == "__main__":
    lib.main()
