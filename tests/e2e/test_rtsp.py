# SPDX-License-Identifier: GPL-2.0-or-later
"""RTSP over raw sockets: the responses to correct and wrong requests, while another viewer watches without a disturbance."""
import os
import random
import re
import select
import socket
import struct
import time

import lib
import rtsp
from lib import until
from rtsp import Client, Rtp, Viewer

TCP = "RTP/AVP/TCP;unicast;interleaved=0-1"


class RtspCase(lib.Case):
    """A sender with a second viewer, whose stream must stay complete during the test."""

    def setUp(self):
        super().setUp()
        self.server = self.sender()
        self.viewer = Viewer(self.server.port)
        self.viewer.wait_frames(3)
        self.client = Client(self.server.port)
        self.addCleanup(self.client.close)

    def tearDown(self):
        self.assertTrue(self.server.running(), str(self.server))
        self.viewer.check()
        self.stop_cleanly(self.server)

    def connect(self, **options):
        c = Client(self.server.port, **options)
        self.addCleanup(c.close)
        return c

    def ask(self, status, method, *args, client=None, **options):
        answer = (client or self.client).request(method, *args, **options)
        self.assertEqual(answer.status, status, str(answer))
        self.assertEqual(answer.headers.get("cseq"), str((client or self.client).cseq), str(answer))
        return answer

    def arrives(self, client):
        """Waits until the media that was on its way has arrived."""
        until(lambda: not [channel for channel, _ in client.collect(0.3) if channel in (0, 4)], "the last media")

    def setup(self, client=None, transport=TCP, status=200, query=""):
        client = client or self.client
        return self.ask(status, "SETUP", f"{client.url}/trackID=0{query}", {"Transport": transport}, client=client)


class Conversation(RtspCase):
    def test_whole_session(self):
        c = self.client
        answer = self.ask(200, "OPTIONS")
        for method in "DESCRIBE", "SETUP", "PLAY", "PAUSE", "TEARDOWN", "GET_PARAMETER", "SET_PARAMETER":
            self.assertIn(method, answer.headers["public"])

        answer = self.ask(200, "DESCRIBE", headers={"Accept": "application/sdp"})
        self.assertEqual(answer.headers["content-type"], "application/sdp")
        self.assertEqual(answer.headers["content-base"], c.url + "/")
        self.assertRegex(answer.body, r"(?m)^m=video 0 RTP/AVP 96\r$")
        self.assertRegex(answer.body, r"(?m)^a=rtpmap:96 H264/90000\r$")
        self.assertRegex(answer.body, r"packetization-mode=1")
        self.assertRegex(answer.body, r"sprop-parameter-sets=[A-Za-z0-9+/=]+,[A-Za-z0-9+/=]+")
        self.assertEqual(len(re.findall(r"(?m)^a=x-weir-level:", answer.body)), len(self.server.levels()))

        answer = self.setup()
        self.assertRegex(answer.headers["session"], r"^[0-9a-f]{16};timeout=60$")
        self.assertRegex(answer.headers["transport"], r"^RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=[0-9A-F]{8}")
        ssrc = int(re.search("ssrc=([0-9A-F]{8})", answer.headers["transport"]).group(1), 16)

        answer = self.ask(200, "PLAY", headers={"Range": "npt=now-"})
        self.assertEqual(answer.headers["session"].split(";")[0], c.session)
        self.assertEqual(answer.headers["range"], "npt=now-")
        first = int(re.search(r"seq=(\d+)", answer.headers["rtp-info"]).group(1))
        packets = [Rtp(data) for channel, data in c.collect_least(20, 0.5) if channel == 0]
        self.assertGreater(len(packets), 3)
        self.assertEqual([p.seq for p in packets], [(first + i) & 0xFFFF for i in range(len(packets))])
        self.assertEqual({p.ssrc for p in packets}, {ssrc})
        self.assertEqual({p.version for p in packets}, {2})
        # Parameter sets come in band before the first key frame: SPS, PPS, or both in a STAP-A.
        self.assertIn(packets[0].payload[0] & 31, (7, 24))

        self.ask(200, "PAUSE")
        self.arrives(c)
        self.assertEqual([f for f in c.collect(0.5) if f[0] == 0], [])
        answer = self.ask(200, "PLAY", headers={"Range": "npt=now-"})
        again = int(re.search(r"seq=(\d+)", answer.headers["rtp-info"]).group(1))
        packets = [Rtp(data) for channel, data in c.collect_least(20, 0.5) if channel == 0]
        self.assertEqual(packets[0].seq, again)
        self.assertIn(packets[0].payload[0] & 31, (7, 24))

        self.ask(200, "TEARDOWN")
        self.ask(454, "PLAY")  # that session is over
        c.session = None
        self.setup()  # and another one can begin on the same connection
        self.ask(200, "PLAY")
        self.assertTrue(c.collect_least(1))

    def test_sender_report_and_names(self):
        self.setup()
        self.ask(200, "PLAY")
        until(lambda: self.client.collect(0.1) is None or any(channel == 1 for channel, _ in self.client.frames), "a report")
        reports = [data for channel, data in self.client.frames if channel == 1]
        self.assertEqual(rtsp.rtcp_types(reports[0]), [200, 202])  # SR, SDES
        ntp = int.from_bytes(reports[-1][8:16], "big") / 2**32 - 2208988800
        self.assertLess(abs(ntp - time.time()), 60)  # of one clock, however late it is read

    def test_a_max_rate_by_tmmbr(self):
        """RFC 5104: the last request of a compound is answered by one TMMBN; one for another source is not."""
        self.setup()
        self.ask(200, "PLAY")
        ssrc = Rtp(next(data for channel, data in self.client.collect_least(5) if channel == 0)).ssrc

        def request(source, bps):
            return struct.pack("!BBHIIII", 0x83, 205, 4, 77, 0, source, bps << 9)
        compound = struct.pack("!BBHI", 0x80, 201, 1, 77) + request(ssrc ^ 1, 1000) + request(ssrc, 90000) + request(ssrc, 64000)
        self.client.send(b"$\1" + struct.pack("!H", len(compound)) + compound)
        entry = struct.pack("!BBHIIII", 0x84, 205, 4, ssrc, 0, 77, 64000 << 9)

        def notices():
            self.client.collect(0.1)
            return [data for channel, data in self.client.frames if channel == 1 and 205 in rtsp.rtcp_types(data)]
        until(notices, "a TMMBN")
        self.client.collect(0.3)
        self.assertEqual(rtsp.rtcp_types(notices()[0]), [200, 202, 205])
        self.assertEqual([data[-20:] for data in notices()], [entry])

    def test_a_max_rate_by_remb(self):
        """The level keeps to the rate of the last REMB, whose source may be 0; 10 s later there is no limit."""
        self.setup()
        self.ask(200, "PLAY")
        self.client.collect_least(5)
        top = len(self.server.levels()) - 1

        def request(bps, *sources):
            exponent = max(0, bps.bit_length() - 18)
            body = struct.pack("!II4sI", 77, 0, b"REMB", len(sources) << 24 | exponent << 18 | bps >> exponent)
            packet = body + b"".join(source.to_bytes(4, "big") for source in sources)
            packet = struct.pack("!BBH", 0x8f, 206, len(packet) // 4) + packet
            self.client.send(b"$\1" + struct.pack("!H", len(packet)) + packet)

        def level():
            self.client.collect(0.1)
            return int(self.ask(200, "GET_PARAMETER", body="level\r\n").body.split(":")[1])
        request(90000, 0)
        until(lambda: level() < top, "a lower level")
        request(10**9)
        until(lambda: level() == top, "the top level", 20)
        request(90000, 1, 0, 2)
        until(lambda: level() < top, "a lower level again")
        until(lambda: level() == top, "the end of the limit", 20)

    def test_parameters(self):
        before = time.time()
        clock = int(self.ask(200, "GET_PARAMETER", body="clock\r\n").body.split(":")[1])
        self.between(before - 1, clock / 1e6, time.time() + 1)
        self.ask(200, "GET_PARAMETER")  # without a body: a ping
        self.ask(451, "GET_PARAMETER", body="level\r\n")  # there is no session yet
        self.setup()
        self.ask(200, "PLAY")
        self.client.collect(0.5)
        top = len(self.server.levels()) - 1

        def parameters():  # a busy machine may be at a lower level for a while
            self.client.collect(0.1)
            answer = self.ask(200, "GET_PARAMETER", body="clock\r\ntransport\r\nlevel\r\n")
            return answer.body.endswith(f"level: {top}\r\n") and answer
        answer = until(parameters, "the top level", 20)
        self.assertEqual(answer.headers["content-type"], "text/parameters")
        self.assertRegex(answer.body, rf"(?s)^clock: \d+\r\ntransport: .*rtt_ms=[\d.]+.*\r\nlevel: {top}\r\n$")
        self.ask(200, "SET_PARAMETER", body="level: 0\r\n")
        self.assertEqual(self.ask(200, "GET_PARAMETER", body="level\r\n").body, "level: 0\r\n")
        self.ask(200, "SET_PARAMETER", body="latency: 300\r\n")
        self.ask(200, "SET_PARAMETER", body="max-rate: 500000\r\n")
        self.ask(200, "SET_PARAMETER", body="max-rate: 0\r\n")
        self.ask(451, "SET_PARAMETER", body="max-rate: 100\r\n")
        for body in "level: 99\r\n", "level: -1\r\n", "level: x\r\n", "level:\r\n", f"level: {2**32}\r\n":
            self.assertIn(f"0 to {top}", self.ask(451, "SET_PARAMETER", body=body).body)
        for body in "latency: 0\r\n", "latency: 999999999999\r\n":
            self.assertIn("expected latency", self.ask(451, "SET_PARAMETER", body=body).body)
        self.assertIn("level", self.ask(451, "SET_PARAMETER", body="volume: 11\r\n").body)
        self.assertIn("clock", self.ask(451, "GET_PARAMETER", body="volume\r\n").body)
        self.ask(400, "SET_PARAMETER", body="no colon here\r\n")
        self.assertEqual(self.ask(200, "GET_PARAMETER", body="level\r\n").body, "level: 0\r\n")

    def test_level_in_the_url(self):
        self.setup(query="?level=1")
        self.assertEqual(self.ask(200, "GET_PARAMETER", body="level\r\n").body, "level: 1\r\n")
        for bad in "99", "-1", "x", "", "1x":
            c = self.connect()
            self.setup(client=c, query=f"?level={bad}", status=451)

    def setup_track(self, track, transport, status=200):
        """Returns the SSRC of the SETUP response."""
        answer = self.ask(status, "SETUP", f"{self.client.url}/trackID={track}", {"Transport": transport})
        return status == 200 and int(re.search("ssrc=([0-9A-F]{8})", answer.headers["transport"]).group(1), 16)

    def play_tracks(self, uri, tracks):
        """Returns the first sequence numbers in the response to PLAY, for all of these tracks."""
        told = self.ask(200, "PLAY", uri).headers["rtp-info"].split(",")
        found = [re.fullmatch(rf"url={re.escape(self.client.url)}/trackID=(\d);seq=(\d+)", part).groups() for part in told]
        self.assertEqual([int(track) for track, _ in found], tracks)
        return [int(seq) for _, seq in found]

    def test_the_sound_first(self):
        c = self.client
        sound = self.setup_track(1, TCP.replace("0-1", "4-5"))
        self.setup_track(1, TCP, 455)
        first, = self.play_tracks(f"{c.url}/trackID=1", [1])
        packets = c.collect_least(10, 0.7)
        self.assertEqual({channel for channel, _ in packets}, {4, 5})
        packet = next(Rtp(data) for channel, data in packets if channel == 4)
        self.assertEqual((packet.ssrc, packet.seq), (sound, first))
        self.setup_track(0, TCP, 455)  # it plays
        self.ask(200, "PAUSE")
        self.setup_track(0, TCP.replace("0-1", "4-5"), 461)
        pictures = self.setup_track(0, TCP)
        self.setup_track(0, TCP, 455)
        self.arrives(c)
        wanted = self.play_tracks(f"{c.url}/", [0, 1])
        packets = [(channel, Rtp(data)) for channel, data in c.collect_least(20, 0.5) if channel in (0, 4)]
        for channel, ssrc, seq in (0, pictures, wanted[0]), (4, sound, wanted[1]):
            of = [p for at, p in packets if at == channel]
            self.assertEqual(({p.ssrc for p in of}, of[0].seq), ({ssrc}, seq), channel)

    def test_the_sound_first_over_udp(self):
        sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(4)]
        for s in sockets:
            self.addCleanup(s.close)
            s.bind(("127.0.0.1", 0))
            s.settimeout(5 * lib.PATIENCE)
        ports = [s.getsockname()[1] for s in sockets]
        sound = self.setup_track(1, f"RTP/AVP;unicast;client_port={ports[0]}-{ports[1]}")
        pictures = self.setup_track(0, f"RTP/AVP;unicast;client_port={ports[2]}-{ports[3]}")
        self.play_tracks(None, [0, 1])
        for s, ssrc in (sockets[0], sound), (sockets[2], pictures):
            self.assertEqual({Rtp(s.recv(65536)).ssrc for _ in range(5)}, {ssrc})
        for s in sockets[1], sockets[3]:
            self.assertEqual(rtsp.rtcp_types(s.recv(65536)), [200, 202])

    def test_udp_goes_to_the_peer_alone(self):
        """The server ignores a `destination=` of another host, which could be an attack on that host (RFC 2326, 16)."""
        def bound(host):
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.addCleanup(s.close)
            s.bind((host, 0))
            return s
        mine, rtcp = bound("127.0.0.1"), bound("127.0.0.1")
        ports = mine.getsockname()[1], rtcp.getsockname()[1]
        victim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(victim.close)
        elsewhere = lib.own_address()
        victim.bind((elsewhere, ports[0]))
        answer = self.setup(transport=f"RTP/AVP;unicast;destination={elsewhere};client_port={ports[0]}-{ports[1]}")
        self.assertRegex(answer.headers["transport"], rf"client_port={ports[0]}-{ports[1]};server_port=\d+-\d+")
        self.assertNotIn(elsewhere, answer.headers["transport"])
        self.ask(200, "PLAY")
        mine.settimeout(5 * lib.PATIENCE)
        first = Rtp(mine.recv(65536))
        self.assertEqual((first.version, first.type), (2, 96))
        rtcp.settimeout(5 * lib.PATIENCE)
        self.assertEqual(rtcp.recv(65536)[1], 200)
        lib.never(lambda: select.select([victim], [], [], 0)[0], "media for another host")
        # Nobody else's datagrams count as RTCP of this viewer, and garbage harms nobody.
        server_port = int(re.search(r"server_port=\d+-(\d+)", answer.headers["transport"]).group(1))
        for size in 0, 1, 3, 4, 200, 1400:
            victim.setblocking(True)
            victim.sendto(os.urandom(size), ("127.0.0.1", server_port))
            rtcp.sendto(os.urandom(size), ("127.0.0.1", server_port))
        self.ask(200, "TEARDOWN")


class Refusals(RtspCase):
    def test_unknown_method(self):
        self.assertIn("PLAY", self.ask(501, "RECORD").headers["public"])
        self.ask(501, "PLAY!")
        self.ask(200, "OPTIONS")

    def test_unknown_path(self):
        base = self.client.url.rsplit("/", 1)[0]
        for path in "/", "/other", "/live2", "/liv", "/../live":
            self.ask(404, "DESCRIBE", base + path)
        self.assertIn("/live", self.ask(404, "DESCRIBE", base + "/other").body)
        self.ask(404, "SETUP", base + "/other/trackID=0", {"Transport": TCP})
        self.ask(404, "DESCRIBE", base + "/live" + "x" * 3000)
        self.ask(200, "DESCRIBE", base + "/live/")

    def test_wrong_session_and_state(self):
        self.ask(455, "PLAY")
        self.ask(455, "PAUSE")
        self.ask(455, "SET_PARAMETER", body="level: 0\r\n")
        self.ask(454, "PLAY", headers={"Session": "0123456789abcdef"})
        self.setup()
        self.ask(454, "PLAY", headers={"Session": None})
        for session in "0" * 16, self.client.session[:-1], self.client.session + "0", "x" * 2000:
            self.ask(454, "PLAY", headers={"Session": session})
            self.ask(454, "TEARDOWN", headers={"Session": session})
        self.setup(status=455)
        other = self.connect()
        other.session = self.client.session  # a session belongs to its connection
        self.ask(454, "TEARDOWN", client=other)
        self.ask(200, "PLAY", headers={"Session": self.client.session + ";timeout=60"})

    def test_unsupported_transports(self):
        for transport in ("RTP/AVP;multicast;client_port=5000-5001", "RTP/SAVP;unicast;client_port=5000-5001",
                          "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=smoke", "RTP/AVP;unicast",
                          "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=udp",
                          "RTP/AVP;unicast;client_port=5000-5001;x-weir=minbuf",
                          "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf:9,9,9",
                          "RTP/AVP/TCP;unicast;interleaved=0-1;x-cc=nosuch"):
            with self.subTest(transport):
                self.assertTrue(self.setup(transport=transport, status=461).body)
        for name in "tcp", "minbuf", "udp":
            self.assertIn(name, self.setup(transport=TCP + ";x-weir=smoke", status=461).body)
        self.assertIn("cubic", self.setup(transport=TCP + ";x-cc=nosuch", status=461).body)
        for malformed in "", "RTP", ";", TCP + ";interleaved=x", TCP + ";interleaved=0-999":
            with self.subTest(malformed):
                self.setup(transport=malformed, status=400)
        # The first alternative that can be given is taken.
        answer = self.setup(transport=f"RTP/SAVP;unicast, {TCP};x-weir=smoke, {TCP};x-weir=minbuf:1,2;x-cc=reno")
        self.assertIn("x-weir=minbuf:1,2", answer.headers["transport"])
        self.assertIn("x-cc=reno", answer.headers["transport"])

    def test_bad_ranges(self):
        self.setup()
        for value in ("npt=x-", "npt=-", "npt", "clock=19961108T143720.25Z-", "smpte=0:10:00-", "npt=1:99:99-",
                      "bytes=0-"):
            with self.subTest(value):
                self.ask(457, "PLAY", headers={"Range": value})
        self.ask(200, "PLAY", headers={"Range": "npt=0-"})

    def test_required_options(self):
        self.assertEqual(self.ask(551, "DESCRIBE", headers={"Require": "x-magic"}).headers["unsupported"], "x-magic")
        self.ask(406, "DESCRIBE", headers={"Accept": "text/html"})


class Malformed(RtspCase):
    def refused(self, data, status):
        """Checks that the response to the bytes has the status, and that the connection is closed."""
        c = self.connect()
        c.send(data)
        answer = c.response()
        self.assertEqual(answer.status, status, str(answer))
        self.assertTrue(c.closed())

    def test_malformed_requests(self):
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50), b"GARBAGE\r\n\r\n",
                     b"OPTIONS rtsp://x/live HTTP/1.1\r\nCSeq: 1\r\n\r\n", b"OPTIONS  RTSP/1.0\r\n\r\n",
                     b"OPTIONS * RTSP/1.0\r\nno colon\r\n\r\n", b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nX: \x00\r\n\r\n",
                     b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nContent-Length: -5\r\n\r\n",
                     b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"):
            with self.subTest(data[:60]):
                self.refused(data, 400)

    def test_too_large(self):
        self.refused(b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nX: " + b"x" * 9000, 413)
        self.refused(b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n" + b"X: y\r\n" * 100 + b"\r\n", 413)
        self.refused(b"SET_PARAMETER * RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 40000\r\n\r\n", 413)
        self.refused(b"SET_PARAMETER * RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 99999999999999999999\r\n\r\n", 413)

    def test_no_sequence_number(self):
        self.client.send(b"OPTIONS * RTSP/1.0\r\n\r\n")
        self.assertEqual(self.client.response().status, 400)
        self.ask(200, "OPTIONS")  # the message was whole: the connection stays

    def test_byte_by_byte(self):
        for byte in self.client.format("DESCRIBE"):
            self.client.send(bytes([byte]))
        self.assertEqual(self.client.response().status, 200)

    def test_many_at_once(self):
        count = 1500  # more than the server's buffer holds
        self.client.send(b"\r\n\r\n" + b"".join(self.client.format("OPTIONS") for _ in range(count)))
        self.assertEqual([self.client.response().headers["cseq"] for _ in range(count)], [str(i + 1) for i in range(count)])

    def test_line_ends_between_requests(self):
        """Some players keep their connection alive with such requests, for days."""
        for _ in range(8):
            self.client.send(b"\r\n" * 5000)
            time.sleep(0.05)  # so that most of them are read one by one
        self.ask(200, "OPTIONS")

    def test_interleaved_garbage(self):
        self.setup()
        self.ask(200, "PLAY")
        r = random.Random(7)
        for i in range(300):
            data = r.randbytes(r.choice([0, 1, 3, 7, 8, 40, 1400, 9000]))
            if len(data) > 8 and i % 2:  # looks like RTCP at first
                data = bytes([0x80 | r.randrange(32), r.choice([200, 201, 202, 203, 205, 206])]) + data[2:]
            self.client.send(b"$" + bytes([r.choice([0, 1, 1, 77])]) + struct.pack("!H", len(data)) + data)
            if i % 50 == 0:
                self.ask(200, "OPTIONS")
        self.ask(200, "GET_PARAMETER", body="level\r\n")
        gaps = [Rtp(data).seq for channel, data in self.client.frames if channel == 0]
        self.assertEqual(gaps, [(gaps[0] + i) & 0xFFFF for i in range(len(gaps))])

    def test_random_bytes(self):
        r = random.Random(11)
        for _ in range(60):
            c = self.connect()
            try:
                c.send(r.randbytes(r.randrange(1, 5000)))
            except OSError:
                pass
            c.close()

    def test_mutated_requests(self):
        """A valid session with some changed bytes: any response or a closed connection is correct; the server must not end."""
        r = random.Random(13)
        for _ in range(60):
            c = self.connect()
            data = bytearray(c.format("OPTIONS") + c.format("DESCRIBE") +
                             c.format("SETUP", headers={"Transport": TCP + ";x-weir=minbuf:1,3"}) +
                             c.format("PLAY", headers={"Session": "0" * 16, "Range": "npt=0-", "Speed": "1.0"}) +
                             c.format("SET_PARAMETER", body="level: 1\r\n"))
            for _ in range(r.randrange(1, 12)):
                data[r.randrange(len(data))] = r.choice(b"\x00\r\n :;,=-$\xff0129aZ")
            c.send(data)
            c.socket.setblocking(False)
            time.sleep(0.01)  # so that most of them are read before the end
            c.close()


class Reachability(lib.Case):
    def test_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
        except OSError:
            self.skipTest("no IPv6 here")
        server = self.sender(listen="[::1]:0")
        self.assertIn("rtsp://[::1]:", server.url)
        with Client(server.port, host="::1") as c:
            self.assertIn("c=IN IP6", c.request("DESCRIBE").body)
            c.watch()
            self.assertTrue(c.collect_least(1))

    def test_own_path(self):
        server = self.sender("--path", "/a/b")
        self.assertTrue(server.url.endswith("/a/b"))
        with Client(server.port) as c:
            self.assertEqual(c.request("DESCRIBE").status, 404)
            self.assertEqual(c.request("DESCRIBE", server.url).status, 200)


if __name__ == "__main__":
    lib.main()
