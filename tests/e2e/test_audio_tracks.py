# SPDX-License-Identifier: GPL-2.0-or-later
"""A film with several audio tracks: each viewer hears its own. A track is a tone of its own pitch, and what is heard is
what the player gives the sound card, which is SDL's file here."""
import os
import subprocess

import numpy

import lib
import rtsp
from lib import until
from screen import Screen
from tones import HZ, RATE, film


class Tracks(Screen):
    def pcm(self, name):
        return {"SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": self.path(name)}

    def heard(self, name, seconds=None):
        """Returns the tracks that were heard, of the last seconds or of all: those whose tone is loud for a tenth of a
        second."""
        if not os.path.exists(self.path(name)):
            return []
        x = numpy.fromfile(self.path(name), dtype="<i2")
        x = x[:len(x) // 2 * 2].reshape(-1, 2)[:, 0].astype(float)
        x = x[-int(seconds * RATE):] if seconds else x
        window = RATE // 10
        x = x[:len(x) // window * window].reshape(-1, window)
        found = []
        for track, hz in enumerate(HZ, 1):
            tone = numpy.exp(-2j * numpy.pi * hz / RATE * numpy.arange(window))
            if (2 * numpy.abs(x @ tone) / window > 3000).any():
                found.append(track)
        return found

    def until_hears(self, name, track):
        until(lambda: self.heard(name, 1) == [track], f"track {track} alone in {name}", 30)

    @lib.long
    def test_each_viewer_hears_its_own(self):
        path = film(self.path("film.mkv"))
        for prepared in False, True:
            with self.subTest(prepared=prepared):
                if prepared:
                    said = subprocess.run([lib.SEND, "--prepare", "--level", "128x72@25:60", path], check=True, timeout=300 * lib.PATIENCE,
                                          capture_output=True, text=True).stderr
                    self.assertNotIn("left out", said)
                self.viewers(path, "prepared" if prepared else "live")

    def viewers(self, path, name):
        one, other = f"{name}-1.pcm", f"{name}-2.pcm"
        server = self.sender(source=path)
        until(lambda: "film.mkv: audio tracks for weir-play: eng; deu, Kommentar; no name\n" in server.stderr, "the tracks")
        self.env.update(self.pcm(one))
        p = self.open_url(server.url)
        q = self.player(server.url, "--audio-track", "3", window=True, env={"SDL_VIDEODRIVER": "dummy", **self.pcm(other)})
        self.until_hears(one, 1)
        self.until_hears(other, 3)
        for track in 2, 3, 1:
            self.key("numbersign")
            self.until_hears(one, track)
        self.until_hears(other, 3)
        self.quits(p)
        self.assertEqual(self.heard(other), [3], "nothing of what the other viewer chose")
        q.signal(2)
        q.wait(20)
        self.stop_cleanly(server)

    def test_requests(self):
        path = film(self.path("film.mkv"))
        server = self.sender(source=path)
        with rtsp.Client(server.port) as client:
            sdp = client.request("DESCRIBE").body
        self.assertEqual([line for line in sdp.split("\r\n") if "x-weir-audio" in line],
                         ["a=x-weir-audio:eng", "a=x-weir-audio:deu, Kommentar", "a=x-weir-audio:"])
        viewer = rtsp.Client(server.port)
        viewer.watch()
        for value, status in ("2", 200), ("3", 200), ("0", 451), ("4", 451), ("x", 451), ("", 451):
            answer = viewer.request("SET_PARAMETER", body=f"audio-track: {value}\r\n")
            self.assertEqual(answer.status, status, value)
        self.assertIn("the stream has 3 to choose from", answer.body)
        viewer.close()
        p = self.play(server.url, "--headless", "--audio-track", "5", "--subtitles", "3", "--duration", "1")
        self.assertIn("--audio-track 5 is ignored: the stream has 3 to choose from", p.stderr)
        self.assertIn("--subtitles 3 is ignored: the stream has 0 to choose from", p.stderr)


if __name__ == "__main__":
    lib.main()
