# SPDX-License-Identifier: GPL-2.0-or-later
"""Fast forward of a file that is not prepared: the server refuses it and says what to do, and play continues. Another
speed of playing it does not refuse."""

import lib
from rtsp import Client


class NotPrepared(lib.Case):
    def setUp(self):
        super().setUp()
        self.film = self.clip(seconds=10, size="128x72", fps=10)

    def test_the_response(self):
        server = self.sender(source=self.film)
        c = Client(server.port)
        self.addCleanup(c.close)
        setup = c.request("SETUP", f"{c.url}/trackID=0", {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"})
        session = {"Session": setup.headers["session"].split(";")[0]}
        for scale in "4", "-2":
            answer = c.request("PLAY", headers={**session, "Scale": scale})
            self.assertEqual((answer.status, answer.reason), (456, "Header Field Not Valid for Resource"))
            self.assertIn("weir-send --prepare FILE", answer.body)
        answer = c.request("PLAY", headers={**session, "Scale": "1.0"})
        self.assertEqual(answer.status, 200, str(answer))
        self.assertEqual(answer.headers["scale"], "1")

    def test_the_player_plays_on(self):
        server = self.sender(source=self.film)
        p = self.play(server.url, "--no-picture", "--transport", "tcp", "--at", "3:scale=4", "--at", "5:scale=-2", seconds=60)
        self.assertEqual(p.stderr.count("playing continues: the server refuses PLAY: 456"), 2, str(p))
        report = p.report()
        self.assertEqual(report["ended"], "end-of-media", str(p))
        self.assertEqual(report["session"]["reconnects"], 0)
        self.assertEqual(report["controls"]["scale"]["count"], 0)
        self.assertGreater(max(e["number"] for e in p.shown()), 60, "pictures of after the second key")

    def test_live_media_has_one_scale(self):
        """It answers with it, as RFC 2326, 12.34 requires."""
        server = self.sender()
        c = Client(server.port)
        self.addCleanup(c.close)
        setup = c.request("SETUP", f"{c.url}/trackID=0", {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"})
        answer = c.request("PLAY", headers={"Session": setup.headers["session"].split(";")[0], "Scale": "4"})
        self.assertEqual((answer.status, answer.headers["scale"]), (200, "1"), str(answer))


class Speed(lib.Case):
    def test_all_of_a_film_in_half_the_time(self):
        seconds = 8
        film = self.path("film.mkv")
        lib.need("ffmpeg")
        lib.film_of(film, "-f", "lavfi", "-i", f"testsrc2=s=128x72:r=10:d={seconds}", "-f", "lavfi", "-i",
                    f"sine=d={seconds}", "-c:v", "libx264", "-preset", "ultrafast")
        server = self.sender(source=film)
        for speed in 2, .5:
            with self.subTest(speed=speed):
                p = self.play(server.url, "--speed", str(speed), "--no-picture", "--transport", "tcp", seconds=60)
                report = p.report()
                self.assertEqual(report["ended"], "end-of-media", str(p))
                self.assertGreaterEqual(max(e["number"] for e in p.shown()), 10 * seconds - 2, str(p))
                # Counted in samples that were played, not by a clock.
                self.assertGreater(report["audio"]["heard"], .7 * seconds / speed, str(p))
                self.assertLess(report["audio"]["heard"], 1.2 * seconds / speed, str(p))

    def test_what_has_no_other_speed(self):
        self.see(self.sender().url, "--no-picture", "--at", "0:speed=2", frames=20)
        p = self.play("rtsp://127.0.0.1/x", "--speed", "3", code=2)
        self.assertIn("expects 0.5 to 2", p.stderr)


if __name__ == "__main__":
    lib.main()
