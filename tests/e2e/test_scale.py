# SPDX-License-Identifier: GPL-2.0-or-later
"""Fast forward of a file that is not prepared: the server refuses it and says what to do, and play continues."""
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


if __name__ == "__main__":
    lib.main()
