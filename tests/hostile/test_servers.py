# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile servers against weir-play: they try to get its password, to keep it waiting, or to control its terminal."""
import re
import socket
import threading

import lib
from rtsp import FakeServer, Recording

# What a terminal may obey: C0 but for line ends and tabs, DEL, C1 in UTF-8 and as single bytes.
CONTROLS = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|(?<![\xc2-\xf4])(?<![\xc2-\xf4][\x80-\xbf])[\x80-\x9f]")


class Told(threading.Thread):
    """Answers every request, on successive connections, with the result of `answer(number, request)`; `seen` lists the
    requests."""

    def __init__(self, answer):
        super().__init__(daemon=True)
        self.answer, self.seen = answer, []
        self.over = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"rtsp://127.0.0.1:{self.port}/live"
        self.start()

    def run(self):
        try:
            while True:
                c, _ = self.listener.accept()
                c.settimeout(60 * lib.PATIENCE)
                self.serve(c)
                c.close()
        except OSError:
            pass

    def serve(self, c):
        buffer = b""
        while data := c.recv(65536):
            buffer += data
            while b"\r\n\r\n" in buffer:
                head, buffer = buffer.split(b"\r\n\r\n", 1)
                self.seen.append(head)
                cseq = re.search(rb"CSeq: (\d+)", head).group(1)
                c.sendall(self.answer(len(self.seen), head).replace(b"@CSEQ@", cseq))

    def stop(self):
        self.over.set()
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()


def moved(url):
    return b"RTSP/1.0 302 Moved\r\nCSeq: @CSEQ@\r\nLocation: " + url.encode() + b"\r\n\r\n"


UNAUTHORIZED = b'RTSP/1.0 401 U\r\nCSeq: @CSEQ@\r\nWWW-Authenticate: Basic realm="x"\r\n\r\n'


class Case(lib.Case):
    def told(self, answer):
        server = Told(answer)
        self.addCleanup(server.stop)
        return server

    def fake(self, sdp, media, answers=None):
        server = FakeServer(sdp, media, answers)
        self.addCleanup(server.stop)
        return server


class Passwords(Case):
    def test_another_port_is_another_server(self):
        """The player sends no password after a redirect to another port of the host, and reports that."""
        thief = self.told(lambda n, head: UNAUTHORIZED)
        honest = self.told(lambda n, head: moved(thief.url))
        p = self.play(honest.url.replace("//", "//joe:sekret@"), code=3)
        self.assertTrue(thief.seen)
        self.assertFalse([h for h in thief.seen if b"Authorization" in h])
        self.assertIn(f"redirects to {thief.url}, to which the password is not sent", p.stderr)
        self.assertNotIn("sekret", p.stderr + str(p.report()))

    def test_the_same_server_still_gets_it(self):
        """A redirect to another path of the same host, in any notation of the host."""
        server = self.told(lambda n, head: UNAUTHORIZED if b"/other" in head.split(b"\r\n")[0]
                           else moved(server.url.replace("/live", "/other")))
        self.play(server.url.replace("//", "//joe:sekret@"), code=3)
        self.assertTrue([h for h in server.seen if b"Authorization: Basic" in h])


class Patience(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        maker = lib.Case()
        maker.setUp()
        try:
            cls.recording = Recording(maker.sender(source="test:256x144@30").port, 1.5 * lib.SLOW)
        finally:
            maker.doCleanups()

    def lost(self, p, text, code=4, ended="server-lost"):
        self.assertEqual(p.wait(20), code, str(p))
        r = p.report()
        self.assertEqual(r["ended"], ended, str(p))
        self.assertIn(text, r["error"])
        self.assertIn(text, p.stderr)
        return r

    def test_answers_and_no_media(self):
        server = self.fake(self.recording.sdp, lambda s: s.pause(60 * lib.PATIENCE))
        p = self.player(server.url, "--transport", "tcp", "--timeout", "2")
        r = self.lost(p, "the server answers, but sends no media for 2 s")
        self.assertEqual(r["playback"]["frames_played"], 0)
        self.assertIsNone(r["startup"]["time_to_first_frame"])
        self.assertGreaterEqual(server.methods.count("GET_PARAMETER"), 1)

    def test_no_media_any_more(self):
        """Received media is shown; then the server counts as lost, and the player reconnects if --reconnect is given."""
        def media(server):
            for data in self.recording.packets:
                server.packet(data)
                if not server.pause(0.005):
                    return
            server.pause(60 * lib.PATIENCE)
        server, again = self.fake(self.recording.sdp, media), self.fake(self.recording.sdp, media)
        once = self.player(server.url, "--transport", "tcp", "--timeout", "2")
        more = self.player(again.url, "--transport", "tcp", "--timeout", "2", "--reconnect")
        r = self.lost(once, "sends no media for 2 s")
        self.assertGreater(r["playback"]["frames_played"], 0)
        lib.until(lambda: more.events("reconnect"), "the player to connect again", 20)
        self.assertIn("sends no media", more.events("reconnect")[0]["why"])

    def test_reports_are_no_media(self):
        """Sender reports alone do not count as media."""
        def media(server):
            report = b"\x80\xc8\x00\x06" + b"\0" * 24
            while server.pause(0.2):
                server.packet(report, 1)
        server = self.fake(self.recording.sdp, media)
        self.lost(self.player(server.url, "--transport", "tcp", "--timeout", "2"), "sends no media for 2 s")

    def test_bytes_are_no_message(self):
        """An interleaved frame whose bytes arrive slowly does not count as a message, whatever it contains."""
        def media(server):
            for data in self.recording.packets[:60]:
                server.packet(data)
            server.send(b"$\x00\xff\xff")
            while server.pause(0.2):
                server.send(b"x")
        server = self.fake(self.recording.sdp, media)
        p = self.player(server.url, "--transport", "tcp", "--timeout", "2")
        self.lost(p, "no data from the server for 2 s")

    def test_a_short_look_at_nothing(self):
        """--duration ends before the server counts as lost: a session without a picture is an error."""
        server = self.fake(self.recording.sdp, lambda s: s.pause(60 * lib.PATIENCE))
        p = self.player(server.url, "--transport", "tcp", "--timeout", "60", "--duration", "4")
        self.lost(p, "the server sent no media")


class Terminals(Case):
    NASTY = b"a\x1b]0;x\x07b\xc2\x9b31mc\xc2\x9d0;y\xc2\x9cd\x7fe\x9b1mf\rg"

    def output(self, answer):
        server = self.told(lambda n, head: answer)
        p = self.player(server.url)
        p.wait()
        out = b""
        for path in p.err_path, p.err_path + ".out":
            with open(path, "rb") as f:
                out += f.read()
        self.assertIsNone(CONTROLS.search(out), out)
        return out

    def test_a_list(self):
        body = b"/" + self.NASTY + b"\t5\t640x360\n/gr\xc3\xbcn \xe2\x82\xac\t6\t320x180\n"
        out = self.output(b"RTSP/1.0 300 Multiple Choices\r\nCSeq: @CSEQ@\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        self.assertIn(b"\t5\t640x360\n/gr\xc3\xbcn \xe2\x82\xac\t6\t320x180\n", out)

    def test_words(self):
        """The message has the reason of a refusal, and the server's explanation."""
        body = self.NASTY
        nasty = self.NASTY.replace(b"\r", b"")
        self.output(b"RTSP/1.0 403 " + nasty + b"\r\nCSeq: @CSEQ@\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        self.output(moved("rtsp://127.0.0.1:1/" + nasty.decode("latin-1")))


if __name__ == "__main__":
    lib.main()
