# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile origins behind weir-proxy: they lie, vanish at each step, and try to make it an open relay. The proxy stays, and a
viewer of an honest origin loses nothing."""
import random
import re
import struct
import time

import lib
from lib import until
from origin import Origin
from rtsp import Client, Recording, Viewer

MINBUF = "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf"


def refusal(text):
    return f"RTSP/1.0 {text}\r\nCSeq: @CSEQ@\r\n\r\n".encode()


def hang_up(connection):
    connection.close()
    return b""


def last_word(connection):
    """Answers and hangs up, before the proxy knows the origin's clock."""
    cseq = re.search(r"CSeq: (\d+)", connection.heads[-1]).group(1)
    connection.send(f"RTSP/1.0 200 OK\r\nCSeq: {cseq}\r\nSession: 12345678\r\n\r\n".encode())
    return hang_up(connection)


def without(sdp, pattern):
    return "".join(line for line in sdp.splitlines(True) if not re.match(pattern, line))


class Case(lib.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        maker = lib.Case()
        maker.setUp()
        try:
            cls.recording = Recording(maker.sender(source="test:256x144@30").port, 1.5 * lib.SLOW)
        finally:
            maker.doCleanups()
        cls.sdp = without(cls.recording.sdp, "a=x-weir-clock")

    def lying(self, sdp=None, media=lambda c: None, answers=None):
        origin = Origin(sdp or self.sdp, media, answers)
        self.addCleanup(origin.stop)
        return origin

    def behind(self, origin, *args):
        return self.proxy("--origin", origin.url, "--backbone-transport", "minbuf", *args)

    def steps(self, proxy, path="/live", headers=None):
        """Describes, sets up and plays. Returns the status of each answer, up to the first refusal, and the last answer."""
        done = []
        with Client(proxy.port) as c:
            c.url = proxy.base + path
            for method, uri, more in (("DESCRIBE", c.url, {}), ("SETUP", c.url + "/trackID=0", {"Transport": MINBUF}),
                                      ("PLAY", c.url, {})):
                answer = c.request(method, uri, {**more, **(headers or {})})
                done.append(answer.status)
                if answer.status != 200:
                    break
        self.assertTrue(proxy.running(), str(proxy))
        return done, str(answer)


class Lies(Case):
    def described(self, cases, check):
        """One proxy for all cases of (name, origin, ...). Calls `check` with what remains of a case, the status of
        DESCRIBE and the last answer."""
        proxy = self.proxy("--allow", "127.0.0.1", "--backbone-transport", "minbuf")
        for name, origin, *rest in cases:
            with self.subTest(name):
                done, text = self.steps(proxy, f"/127.0.0.1:{origin.port}/live")
                check(done[0], f"{text}\n{proxy.stderr}", *rest)

    def test_descriptions(self):
        """Refused with a reason, or taken as far as they are true."""
        level = "a=x-weir-level:{} size=0 tid=0 rate={}\r\n"
        cases = (
            ("a million levels", self.sdp + "".join(level.format(i, 1000 + i) for i in range(10 ** 6)), 502),
            ("33 levels", without(self.sdp, "a=x-weir-level") + "".join(level.format(i, 1000 + i) for i in range(33)), 502),
            ("no level", without(self.sdp, "a=x-weir-(level|size|source)"), 502),
            ("no level nor picture", without(self.sdp, "a=x-weir-(level|size)").replace(
                "H264", "X-WEIR-SYNTHETIC").replace("source:test", "source:layers"), 502),
            ("a level of no size", self.sdp.replace("size=0 tid=1", "size=7 tid=1"), 502),
            ("a rate of 0", self.sdp.replace("@30/1", "@0/1"), 502),
            ("no description", "", 502),
            ("another protocol", "<html></html>", 502),
            ("controls in the title", self.sdp.replace("s=", "s=\x1b]0;x\x07"), 502),
            ("slowest of rates", re.sub(r"@\d+/1", "@1/1000000000", self.sdp), 200),
            ("longest of films", self.sdp.replace("npt=now-", "npt=0-999999999"), 200),
        )
        self.described([(name, self.lying(sdp or "\r\n"), status) for name, sdp, status in cases],
                       lambda got, text, status: self.assertEqual(got, status, text))

    def test_answers(self):
        """Wrong lengths, endless headers, statuses and texts that are none."""
        endless = b"RTSP/1.0 200 OK\r\nCSeq: @CSEQ@\r\n" + b"X: y\r\n" * 10 ** 5
        cases = (
            ("endless headers", endless), ("an endless header", b"RTSP/1.0 200 OK\r\nX: " + b"y" * 10 ** 6),
            ("a length of 10^18", b"RTSP/1.0 200 OK\r\nCSeq: @CSEQ@\r\nContent-Length: 1000000000000000000\r\n\r\nv=0"),
            ("a negative length", b"RTSP/1.0 200 OK\r\nCSeq: @CSEQ@\r\nContent-Length: -1\r\n\r\nv=0"),
            ("two lengths", b"RTSP/1.0 200 OK\r\nCSeq: @CSEQ@\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nv=0\n"),
            ("no RTSP", b"HTTP/1.1 200 OK\r\n\r\n"), ("noise", random.Random(1).randbytes(10 ** 5)),
            ("status 999", refusal("999 ?")), ("status 401", refusal("401 U")), ("an escape", refusal("404 \x1b[2J")),
            ("a long reason", refusal("404 " + "x" * 3000)), ("much patience", refusal("100 Continue") * 10 ** 4 + refusal("404 n")),
        )

        def check(status, text):
            self.assertIn(status, (502, 404), text)
            self.assertNotIn("\x1b", text)
        self.described([(name, self.lying(answers={"DESCRIBE": answer})) for name, answer in cases], check)

    def test_media(self):
        """Numbers, time stamps and times of capture that jump, packets that are none, and noise between them. A viewer of
        another origin, over the same proxy, loses nothing."""
        honest = self.sender(source="test:256x144@30")
        chance = random.Random(2)

        def media(c):
            count = 0
            while c.pause(0.001):
                for data in self.recording.packets:
                    d = bytearray(data)
                    kind = count % 8
                    count += 1
                    at = d.find(b"\xbe\xde") + 4
                    if kind == 1:
                        struct.pack_into("!I", d, 4, chance.getrandbits(32))  # the time stamp
                    elif kind == 2:
                        struct.pack_into("!H", d, 2, chance.getrandbits(16))
                    elif kind >= 3 and at > 4:  # time of capture, number, layers, dependency
                        for _ in range(kind):
                            d[chance.randrange(at + 1, min(at + 28, len(d)))] = chance.getrandbits(8)
                    c.packet(bytes(d), chance.choice((0, 0, 0, 0, 1, 2, 3, 255)))
                if count > 20 * len(self.recording.packets):
                    c.pause(60 * lib.PATIENCE)
                    return
        origin = self.lying(media=media)
        proxy = self.proxy("--allow", "127.0.0.1", "--backbone-transport", "minbuf")
        other = Viewer(proxy.port, f"{proxy.base}/127.0.0.1:{honest.port}/live")
        viewers = []
        for _ in range(4):
            c = Client(proxy.port)
            self.addCleanup(c.close)
            c.url = f"{proxy.base}/127.0.0.1:{origin.port}/live"
            c.watch(MINBUF)
            viewers.append(c)
        for c in viewers:
            c.collect(2)
        self.assertTrue(proxy.running(), str(proxy))
        other.check()


class Vanishing(Case):
    def test_at_each_step(self):
        for method, status in ("DESCRIBE", [502]), ("SETUP", [200, 200, 502]), ("PLAY", [200, 200, 502]), (
                "GET_PARAMETER", None):
            with self.subTest(method):
                origin = self.lying(answers={method: hang_up})
                proxy = self.behind(origin, "--outage", "1")
                done, text = self.steps(proxy)
                if status:
                    self.assertEqual(done, status, text)

    def test_right_after_play(self):
        """The viewer waits for its answer while the origin is away, and gets it when the origin is back."""
        origin = self.lying(answers={"PLAY": lambda c: last_word(c) if origin.methods().count("PLAY") < 3 else None})
        proxy = self.behind(origin, "--outage", "60")
        done, text = self.steps(proxy)
        self.assertEqual(done, [200, 200, 200], text)

    def test_for_good(self):
        """An origin that ends every session at once: the media ends after the outage, not after endless attempts."""
        origin = self.lying(answers={"PLAY": last_word})
        proxy = self.behind(origin, "--outage", "2")
        done, text = self.steps(proxy)
        self.assertEqual(done, [200, 200, 502], text)
        self.assertIn("did not return", proxy.stderr)

    def test_a_frame_and_goodbye(self):
        """It is connected to once a second at most, whatever it sends."""
        bye = struct.pack("!BBHI", 0x80, 201, 1, 1)

        def media(c):
            key = [d for d in self.recording.packets][:40]
            for data in key:
                c.packet(data)
            ssrc = key[0][8:12]
            c.packet(bye[:4] + ssrc + struct.pack("!BBH", 0x81, 203, 1) + ssrc, 1)
            c.pause(60 * lib.PATIENCE)
        origin = self.lying(media=media)
        proxy = self.behind(origin)
        begun = time.monotonic()
        with Client(proxy.port) as c:
            try:
                c.watch(MINBUF)
            except AssertionError as refused:  # a busy proxy reads all in one piece, goodbye included: it saw no origin that plays
                self.assertIn("504 Gateway Time-out", str(refused))
            until(lambda: c.collect(0.1) is None or origin.methods().count("PLAY") >= 2, "another connection", 20)
            c.collect(4)
        sessions = origin.methods().count("PLAY")
        self.assertTrue(proxy.running(), str(proxy))
        self.between(2, sessions, time.monotonic() - begun + 2)

    def test_while_the_viewer_pauses(self):
        """Live media does not pause at the origin. PLAY after the origin was lost connects again."""
        gone = []

        def media(c):
            for data in self.recording.packets:
                c.packet(data)
            gone.append(c)
            c.pause(60 * lib.PATIENCE)
        origin = self.lying(media=media)
        proxy = self.behind(origin)
        with Client(proxy.port) as c:
            c.watch(MINBUF)
            c.collect_least(5)
            self.assertEqual(c.request("PAUSE").status, 200)
            until(lambda: gone, "the origin to have sent all")
            gone[0].close()
            self.assertEqual(c.request("PLAY").status, 200)
            until(lambda: origin.methods().count("PLAY") == 2, "the second session")

    def test_silence(self):
        """It takes the connection and says nothing, at each step."""
        waiting = []
        for method in "DESCRIBE", "SETUP", "PLAY":
            c = Client(self.behind(self.lying(answers={method: b""})).port)
            self.addCleanup(c.close)
            if method != "DESCRIBE":
                c.request("SETUP", c.url + "/trackID=0", {"Transport": MINBUF})
            c.send(c.format("DESCRIBE" if method == "DESCRIBE" else "PLAY"))
            waiting.append((method, c))
        for method, c in waiting:
            with self.subTest(method):
                self.assertEqual(c.response().status, 504)

    def test_the_viewer_leaves_first(self):
        """At each step, while the proxy waits for the origin."""
        for method in "DESCRIBE", "SETUP", "PLAY":
            with self.subTest(method):
                origin = self.lying(answers={method: b""})
                proxy = self.behind(origin)
                for _ in range(3):
                    c = Client(proxy.port)
                    if method != "DESCRIBE":
                        c.request("SETUP", c.url + "/trackID=0", {"Transport": MINBUF})
                    c.send(c.format("DESCRIBE" if method == "DESCRIBE" else "PLAY"))
                    before = origin.methods().count(method)
                    until(lambda: origin.methods().count(method) > before or before, method)
                    c.close()
                self.stop_cleanly(proxy)


class Relays(Case):
    def test_redirects(self):
        """To the origin's own host, and to hosts that --allow names; the others never hear of it."""
        for allowed in (), ("--allow", "localhost"):
            with self.subTest(allowed):
                victim = self.lying()
                origin = self.lying(answers={"DESCRIBE": refusal(
                    f"302 Moved\r\nLocation: rtsp://localhost:{victim.port}/live")})
                proxy = self.behind(origin, "--origin-user", "anna:secret", *allowed)
                done, text = self.steps(proxy)
                self.assertEqual(done, [200] * 3 if allowed else [502], text)
                self.assertEqual(bool(victim.connections), bool(allowed))
                self.assertNotIn("Authorization", str([c.heads for c in victim.connections]))
        back = self.lying(answers={"DESCRIBE": lambda c: None if "/other" in c.heads[-1].split("\r\n")[0] else refusal(
            f"302 Moved\r\nLocation: {back.url}/other")})
        self.assertEqual(self.steps(self.behind(back))[0], [200] * 3)

    def test_hosts_of_a_viewers_choice(self):
        """A viewer's URI can continue neither the origin's name nor its port."""
        victim = self.lying()
        proxy = self.proxy("--origin", "rtsp://127.0.0", "--origin-user", "anna:secret")
        tail = f"1:{victim.port}/live"
        for uri in (f".{tail}", f"@127.0.0.{tail}", f"/@127.0.0.{tail}", f"RTSP://127.0.0.{tail}", f"//127.0.0.{tail}",
                    f"rtsp://p/@127.0.0.{tail}", f"rtsp://p//127.0.0.{tail}", f"rtsp://p\\.{tail}", f"%2e{tail}"):
            with self.subTest(uri):
                with Client(proxy.port) as c:
                    self.assertNotEqual(c.request("DESCRIBE", uri).status, 200)
        self.assertFalse(victim.connections)
        only = self.proxy("--allow", "localhost")
        for host in (f"127.0.0.{tail}", f"localhost@127.0.0.{tail}", f"localhost%00.{tail}", f"LOCALHOST.{tail}",
                     f"[::ffff:127.0.0.1]:{victim.port}/live", f"2130706433:{victim.port}/live"):
            with self.subTest(host):
                self.assertIn(self.steps(only, f"/{host}")[0], ([403], [404]))
        self.assertFalse(victim.connections)

    def test_passwords_go_to_one_origin(self):
        p = self.start([lib.PROXY, "--allow", "127.0.0.1", "--origin-user", "anna:secret"])
        self.assertEqual(p.wait(), 2)
        self.assertIn("--origin-user requires --origin", p.stderr)
        asks = b'RTSP/1.0 401 U\r\nCSeq: @CSEQ@\r\nWWW-Authenticate: Basic realm="x"\r\n\r\n'
        origin = self.lying(answers={"DESCRIBE": lambda c: None if "Authorization" in c.heads[-1] else asks})
        proxy = self.behind(origin, "--origin-user", "anna:secret")
        done, text = self.steps(proxy)
        self.assertEqual(done[0], 200, text)
        self.assertNotIn("secret", text + proxy.stderr)
        self.assertNotIn("YW5uYTpzZWNyZXQ", text + proxy.stderr)

    def test_dots(self):
        """A viewer does not leave the path of --origin."""
        origin = self.lying()
        proxy = self.proxy("--origin", origin.url + "/public")
        for path in "/../private", "/%2e%2e/private", "/a/..", "/.%2E/x":
            with self.subTest(path):
                self.assertEqual(self.steps(proxy, path)[0], [404])
        self.assertFalse(origin.connections)


if __name__ == "__main__":
    lib.main()
