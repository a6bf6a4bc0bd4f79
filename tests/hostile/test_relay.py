# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile viewers of weir-proxy. Its other viewers lose no packet."""
import json
import re
import struct
import threading
import urllib.request

import lib
from lib import until
from origin import Origin
from rtsp import Client, Closed, Recording, Viewer

MINBUF = "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf"


class Case(lib.Case):
    def setUp(self):
        super().setUp()
        self.honest = self.sender("--metrics", "127.0.0.1:0", source="test:256x144@30")

    def relay(self, *args, **options):
        return self.proxy("--origin", f"rtsp://127.0.0.1:{self.honest.port}", "--backbone-transport", "minbuf", *args, **options)

    def streams(self, program):
        """Returns the number of sessions of each stream, {path: sessions}."""
        port = re.search(r"metrics at http://127\.0\.0\.1:(\d+)/", program.stderr).group(1)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/status.json", timeout=10 * lib.PATIENCE) as answer:
            return {s["path"]: s["sessions"] for s in json.load(answer)["streams"]}

    def key_frames(self):
        """Returns how many key frames the origin's encoders have made."""
        port = re.search(r"metrics at http://127\.0\.0\.1:(\d+)/", self.honest.stderr).group(1)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10 * lib.PATIENCE) as answer:
            found = re.findall(r"^weir_encoder_key_frames_total\S* (\d+)", answer.read().decode(), re.M)
        assert found, "no key frames in the metrics"
        return sum(map(int, found))

    def wait_viewers(self, count):
        until(lambda: sum(self.streams(self.honest).values()) == count, f"the origin to have {count} viewers", 30)


class Requests(Case):
    def test_each_holds_another_stream(self):
        """Forty paths that viewers hold are forty places of --max-viewers, no more; the stats sum them up."""
        proxy = self.relay("--max-viewers", "256", "--metrics", "127.0.0.1:0")
        clients = [Client(proxy.port) for _ in range(40)]
        for i, c in enumerate(clients):
            self.addCleanup(c.close)
            self.assertEqual(c.request("DESCRIBE", f"{c.url}?x={i}").status, 200)
            if i > 30:
                c.url += f"?x={i}"
                c.watch(MINBUF)
        other = Viewer(proxy.port)
        until(lambda: sum(self.streams(proxy).values()) == 10, "all sessions in the stats")
        self.assertIn("others", self.streams(proxy))
        other.check()
        self.stop_cleanly(proxy)

    def test_uris(self):
        """Whatever a URI says, the answer is a refusal, and what the origin and the stats get is clean."""
        origin = Origin("v=0\r\n")
        self.addCleanup(origin.stop)
        proxy = self.proxy("--origin", origin.url, "--metrics", "127.0.0.1:0")
        for uri in (b"/", b"*", b"", b"rtsp://", b"rtsp:///", b"/" + b"a" * 900, b"/" + b"/" * 900, b"/\xff\xfe\xc2\x9b", b"/%00%0d%0a",
                    b"/a%0d%0aX:%20y", b"/?", b"/#", b"/live?" + b"&" * 800, b"/live?level=-1", b"/live?level=99999999999",
                    b"/live/trackID=0/trackID=1/trackID=0", b"\\live", b"//live//", b"/[", b"/]:99999/"):
            for method in b"DESCRIBE", b"SETUP", b"PLAY", b"GET_PARAMETER":
                with Client(proxy.port) as c:
                    try:
                        c.send(method + b" " + uri + b" RTSP/1.0\r\nCSeq: 1\r\nTransport: " + MINBUF.encode() + b"\r\n\r\n")
                        self.assertGreaterEqual(c.response().status, 300, uri)
                    except Closed:
                        pass
            self.streams(proxy)
        for c in origin.connections:
            for head in c.heads:
                self.assertRegex(head, r"\ADESCRIBE rtsp://127\.0\.0\.1:\d+[^\s]* RTSP/1\.0\r\nCSeq: 1\r\nUser-Agent: [^\r]*\r\n"
                                 r"Accept: application/sdp\r\nVia: RTSP/1\.0 weir-proxy-\w+\Z")
        self.stop_cleanly(proxy)

    def test_via(self):
        """Endless, empty and wrong lists are passed on or refused."""
        proxy = self.relay()
        for via, status in ("", 200), (",,,,,,,,", 502), ("x" * 511, 502), ("x" * 4000, 502), ("RTSP/1.0 a", 200), (
                "RTSP/1.0 a,RTSP/1.0 b , RTSP/1.0 c", 200), (", ".join(["RTSP/1.0 a"] * 5), 502), ("\xff\xfe", 200):
            with self.subTest(via):
                with Client(proxy.port) as c:
                    c.send(f"DESCRIBE {c.url} RTSP/1.0\r\nCSeq: 1\r\nVia: {via}\r\n\r\n".encode("latin-1"))
                    self.assertEqual(c.response().status, status)

    def test_parameters(self):
        """Limits of rate, level and latency that are none are refused, and the media flows on."""
        proxy = self.relay()
        with Client(proxy.port) as c:
            c.watch(MINBUF)
            for name, values in {
                    "max-rate": ("-1", "1", "7999", "1e300", "nan", "inf", "99999999999999999999", "", "8000 8000", "0x10"),
                    "level": ("-1", "2", "99999999999999999999", "x", ""), "latency": ("0", "-5", "1e9", "60001"),
                    "playout": ("0", "-5", "60001"), "adapt": ("", "yes"), "x": ("y",)}.items():
                for value in values:
                    with self.subTest(f"{name}: {value}"):
                        self.assertEqual(c.request("SET_PARAMETER", body=f"{name}: {value}\r\n").status, 451)
            for body in "max-rate: 8000\r\n", "max-rate: 2147483647\r\n", "max-rate: 0\r\n":
                self.assertEqual(c.request("SET_PARAMETER", body=body).status, 200, body)
            c.collect_least(20)
        self.stop_cleanly(proxy)

    def test_a_storm_of_requests(self):
        """PLAY, PAUSE, seeks and speeds in one stroke, by several viewers, who do not wait for the answers."""
        proxy = self.relay()
        other = Viewer(proxy.port)
        for _ in range(4):
            c = Client(proxy.port)
            self.addCleanup(c.close)
            c.request("SETUP", f"{c.url}/trackID=0", {"Transport": MINBUF})
            storm = [c.format("PLAY"), c.format("PAUSE"), c.format("PLAY", headers={"Range": "npt=3-", "Speed": "nan"}),
                     c.format("PLAY", headers={"Speed": "1e300"}), c.format("PAUSE"), c.format("GET_PARAMETER", body="clock\r\n"),
                     c.format("SET_PARAMETER", body="level: 0\r\nmax-rate: 8000\r\n"), c.format("DESCRIBE")]
            c.send(b"".join(storm * 8))
        other.wait_frames(60)
        other.check()
        self.stop_cleanly(proxy)


    def test_a_storm_of_plis(self):
        """Viewers share the origin's stream, so each key frame is for all of them: one viewer cannot have one after the other."""
        proxy = self.relay()
        other = Viewer(proxy.port)
        other.wait_frames(5)
        with Client(proxy.port) as c:
            c.watch(MINBUF)
            media = next(d for channel, d in c.collect_least(20) if channel == 0)
            ssrc, = struct.unpack_from("!I", media, 8)
            pli = struct.pack("!BBHI", 0x80, 201, 1, 1) + struct.pack("!BBHII", 0x81, 206, 2, 1, ssrc)
            before = self.key_frames()
            for _ in range(40):
                c.send((b"$\x01" + struct.pack("!H", len(pli)) + pli) * 100)
                c.collect(0)
                other.wait_frames(3)
            # At once, then 0.5 s, 1 s, 2 s, 4 s and 8 s after each other; those that the encoder makes by itself are few.
            self.assertLess(self.key_frames() - before, 20)
        other.check()
        self.stop_cleanly(proxy)


class Places(Case):
    def test_no_play(self):
        """A session without PLAY costs the origin nothing."""
        proxy = self.relay()
        clients = [Client(proxy.port) for _ in range(20)]
        for c in clients:
            self.addCleanup(c.close)
            self.assertEqual(c.request("SETUP", c.url + "/trackID=0", {"Transport": MINBUF}).status, 200)
        other = Viewer(proxy.port)
        self.wait_viewers(1)
        other.check()

    def test_a_thousand_come_and_go(self):
        """At each step, as fast as they can, next to a viewer that stays."""
        proxy = self.relay("--max-viewers", "2048")
        other = Viewer(proxy.port)
        errors = []

        def come_and_go(number):
            try:
                for i in range(250 // 4 * 4):
                    with Client(proxy.port) as c:
                        kind = (i + number) % 4
                        if kind == 0:
                            c.send(c.format("DESCRIBE"))
                        elif kind == 1:
                            c.request("SETUP", c.url + "/trackID=0", {"Transport": MINBUF})
                        elif kind == 2:
                            c.request("SETUP", c.url + "/trackID=0", {"Transport": MINBUF})
                            c.send(c.format("PLAY"))
                        elif i % 16 == 3:
                            c.watch(MINBUF)
            except Exception as e:
                errors.append(e)
        threads = [threading.Thread(target=come_and_go, args=(i,), daemon=True) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(120 * lib.PATIENCE)
        self.assertFalse(errors or [t for t in threads if t.is_alive()], errors)
        other.check()
        self.wait_viewers(0)
        self.stop_cleanly(proxy)

    def test_a_flood_for_one_that_never_reads(self):
        """An origin that sends as fast as it can, for a viewer that takes nothing: what waits has a bound."""
        recording = Recording(self.honest.port, lib.SLOW)

        def media(c):
            again = 0
            while c.pause(0):
                for i, data in enumerate(recording.packets):
                    d = bytearray(data)
                    at = 16 if d[16] >> 4 == 2 else 18 + (d[16] & 15)  # the extension with the frame's number
                    number, = struct.unpack_from("!I", d, at + 1)
                    struct.pack_into("!I", d, at + 1, number + 1200 * again)
                    struct.pack_into("!H", d, 2, again * len(recording.packets) + i & 0xFFFF)
                    c.packet(bytes(d))
                again += 1
        origin = Origin(recording.sdp, media)
        self.addCleanup(origin.stop)
        proxy = self.proxy("--allow", "127.0.0.1", "--backbone-transport", "minbuf", "--access-transport", "tcp,minbuf",
                           "--timeout", "3")
        other = Viewer(proxy.port, f"{proxy.base}/127.0.0.1:{self.honest.port}/live")
        with Client(proxy.port, receive_buffer=4096) as c:
            c.url = f"{proxy.base}/127.0.0.1:{origin.port}/live"
            c.watch()
            until(lambda: "has not taken a byte" in proxy.stderr, "its end", 40)
        other.check()
        self.assertLess(proxy.status_kb("VmHWM"), 700 << 10)  # half of which may be a sanitizer's
        self.stop_cleanly(proxy)


if __name__ == "__main__":
    lib.main()
