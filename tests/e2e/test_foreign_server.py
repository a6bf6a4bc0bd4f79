# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-play with third-party servers: GStreamer's (gst_server.py), and one that behaves like cameras."""
import hashlib
import os
import re
import select
import signal
import socket
import struct
import subprocess
import unittest

import lib
from rtsp import FakeServer, Recording, Rtp
from screen import Screen

FPS = 25
SECONDS = 1.5
# Without a profile the server chooses the baseline one, which has no B frames.
B_FRAMES = "bframes=2 b-adapt=false rc-lookahead=5 sync-lookahead=0 ! video/x-h264,profile=main"


def have_server():
    probe = "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import Gst, GstRtspServer; " \
            "Gst.init(None); assert Gst.ElementFactory.find('x264enc')"
    return subprocess.run(["/usr/bin/python3", "-c", probe], stderr=subprocess.DEVNULL, timeout=60).returncode == 0


@unittest.skipUnless(have_server(), "GStreamer's RTSP server for Python, or its x264enc, is not installed")
class ForeignServer(lib.Case):
    def serve(self, *args):
        here = os.path.dirname(os.path.abspath(__file__))
        self.foreign = self.start(["/usr/bin/python3", os.path.join(here, "gst_server.py"), *args])
        found = lib.until(lambda: re.search(r"port (\d+)", self.foreign.stdout) or not self.foreign.running(), "the server")
        self.assertNotEqual(found, True, str(self.foreign))
        self.port = int(found.group(1))
        return f"rtsp://127.0.0.1:{self.port}/live"

    def asked(self, what):
        return self.foreign.stdout.count(f"asked {what}")

    def watch(self, url, *args, seconds=SECONDS):
        """Plays until as many pictures were shown as such a time has."""
        p = self.see(url, "--verbose", *args, frames=round(seconds * FPS))
        r = p.report()
        frames = r["playback"]["frames_played"]
        self.between(3, frames, (r["session"]["duration"] + 1) * FPS + 3, str(p))
        self.assertEqual(r["playback"]["frames_undecodable"], 0, str(p))
        return p, r

    def test_at_the_root(self):
        """At the root weir-send has a list, which requires no display. Another server's stream there requires a display."""
        root = self.serve("--path", "/").replace("/live", "/")
        self.watch(root)
        p = self.play(root, window=True, env={"DISPLAY": "", "WAYLAND_DISPLAY": "", "SDL_VIDEODRIVER": ""}, code=3)
        self.assertIn("no display is available", p.stderr)

    def test_tcp_and_udp(self):
        url = self.serve()
        for transport in "tcp", "udp":
            with self.subTest(transport):
                p, r = self.watch(url, "--transport", transport)
                self.assertEqual(r["session"]["transport"], transport)
                if not self.kernel_dropped(r):
                    self.assertEqual(r["network"]["packets_lost"], 0)
                self.assertIsNone(r["latency"]["display"]["p50"])  # nobody tells when it was captured
                self.assertIsNone(r["latency"]["protocol"]["p50"])
        self.assertEqual(self.asked("set-parameter"), 0)
        lib.until(lambda: self.asked("teardown") == 2, "both requests to end")  # players wait for 0.5 s for an answer

    def test_sound(self):
        """Opus is played, over separate ports and channels, with any payload type; other codecs are reported."""
        url = self.serve("--audio", "opus", "--audio-type", "96")
        for transport in "tcp", "udp":
            with self.subTest(transport):
                p, r = self.watch(url, "--transport", transport, seconds=2.5)
                # 50 a second, and those that came before the first picture.
                self.between(5, r["audio"]["packets"], 50 * (r["session"]["duration"] + 1), str(p))
                if not self.kernel_dropped(r):
                    self.assertEqual(r["audio"]["lost"], 0, str(p))
                self.between(0.1, r["audio"]["heard"], r["session"]["duration"] + 1, str(p))
                self.assertIsNotNone(r["audio"]["av_offset"]["p50"], str(p))
        p, r = self.watch(url, "--no-audio")
        self.assertIsNone(r["audio"])
        self.assertEqual(self.asked("setup"), 5)
        p, r = self.watch(self.serve("--audio", "aac"))
        self.assertEqual(p.stderr.count("audio codec MPEG4-GENERIC is not supported"), 1, str(p))
        self.assertIsNone(r["audio"])
        self.assertEqual(self.asked("setup"), 1)

    def test_several_slices_a_picture(self):
        p, r = self.watch(self.serve("--encoder", "tune=zerolatency option-string=slices=4:sliced-threads=1"),
                          "--transport", "udp")
        self.assertGreaterEqual(r["network"]["packets_received"], 3 * r["playback"]["frames_played"], str(p))

    def test_b_frames(self):
        url = self.serve("--encoder", B_FRAMES)
        for args in (), ("--low-latency",):
            with self.subTest(args):
                p, r = self.watch(url, *args)
                shown = [e["shown"] for e in p.shown()]
                self.assertEqual(len(set(shown)), len(shown))
                numbers = [e["number"] for e in p.shown()]
                self.assertNotEqual(numbers, sorted(numbers), "frames are numbered as they are decoded")

    def test_parameter_sets_of_the_description_alone(self):
        self.watch(self.serve("--encoder", "tune=zerolatency option-string=repeat-headers=0 ! "
                                           "video/x-h264,stream-format=avc"))

    def test_aggregated_packets(self):
        url = self.serve("--pay", "aggregate-mode=max-stap mtu=600")  # STAP-A and FU-A
        self.watch(url, "--transport", "udp")

    def test_digest(self):
        url = self.serve("--user", "joe:pa@ss").replace("//", "//joe:pa%40ss@")
        p, r = self.watch(url)
        self.assertNotIn("pa%40ss", str(r))
        self.assertNotIn("pa@ss", p.stderr + str(r))
        for user in "", "joe:wrong@":
            bad = self.play(f"rtsp://{user}127.0.0.1:{self.port}/live", "--duration", "2", code=3)
            self.assertRegex(bad.stderr, "the server refuses DESCRIBE: 401")

    def test_a_session_that_times_out_soon(self):
        """weir-play sends its keep-alive request three times within the server's session timeout."""
        url = self.serve("--timeout", "3")
        self.watch(url, "--transport", "udp", seconds=5)
        self.assertGreaterEqual(self.asked("get-parameter"), 2)

    def test_levels_are_not_to_be_had(self):
        url = self.serve()
        p = self.play(url, "--level", "2", "--duration", "2", code=3)
        self.assertRegex(p.stderr, "not weir-send: there are no levels")


@unittest.skipUnless(have_server(), "GStreamer's RTSP server for Python, or its x264enc, is not installed")
class Window(Screen):
    def test_at_the_root(self):
        root = ForeignServer.serve(self, "--path", "/").replace("/live", "/")
        self.quits(self.open_url(root))


class Camera(FakeServer):
    """Sends `packets` again and again, numbered on, self.rate pictures a second; until `change` if there is one: then as
    another source, elsewhere in its numbers and time."""

    def __init__(self, sdp, packets, change=None, **options):
        self.packets, self.change, self.channel, self.rate, self.sent = packets, change, 0, FPS, 0
        super().__init__(sdp, Camera.play, **options)

    def play(self):
        sent, ssrc, seq, stamp, frames = 0, 7, 65530, 2 ** 32 - 9000, 0
        while not self.over.is_set():
            p = Rtp(self.packets[sent % len(self.packets)])
            sent += 1
            head = struct.pack("!BBHII", 0x80, p.marker << 7 | 96, seq & 0xFFFF, stamp & 0xFFFFFFFF, ssrc)
            self.give(head + p.payload)
            seq += 1
            if p.marker:
                stamp += 90000 // self.rate
                frames += 1
                if frames == self.change:
                    ssrc, seq, stamp, sent = 8, seq + 30000, stamp + 2 ** 31 - 5, 0
                self.sent += 1
                self.pause(0.8 / self.rate)

    def give(self, data):
        self.packet(data, self.channel)

    def asked(self, method):
        return [head for head in self.requests if head.startswith(method + " ")]

    def uris(self, method):
        return [head.split(" ")[1] for head in self.asked(method)]


class Udp(Camera):
    """Its media is sent over UDP."""

    def give(self, data):
        port = int(re.search(r"client_port=(\d+)", self.asked("SETUP")[-1]).group(1))
        self.udp.sendto(data, ("127.0.0.1", port))


def refuse(status, headers="", times=1, method="SETUP"):
    """Returns a response of FakeServer that refuses the first `times` requests."""
    def answer(server, head):
        if server.methods.count(method) > times:
            return None
        return f"RTSP/1.0 {status} No\r\nCSeq: @CSEQ@\r\n{headers}\r\n".encode()
    return answer


def digest(algorithm, user="joe", password="pa@ss", old=()):
    """Returns the responses of a server that requires authentication, for each method; `old`: methods at which its nonce
    is stale, once."""
    hexed = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256}[algorithm]
    nonces = ["n0"]

    def answer(server, head):
        def h(text):
            return hexed(text.encode()).hexdigest()
        method, uri = head.split(" ")[:2]
        said = dict(re.findall(r'(\w+)="?([^",\r]+)', "".join(re.findall(r"(?m)^Authorization: Digest (.*)$", head))))
        stale = ""
        if method in old and server.methods.count(method) == 1:
            nonces.append(f"n{len(nonces)}")
            stale = ", stale=true"
        who, what = h(f"{user}:the camera:{password}"), h(f"{method}:{uri}")
        wanted = h(f"{who}:{nonces[-1]}:{said.get('nc')}:{said.get('cnonce')}:auth:{what}")
        if said.get("response") == wanted:
            return None
        return (f'RTSP/1.0 401 Unauthorized\r\nCSeq: @CSEQ@\r\nWWW-Authenticate: Digest realm="the camera", '
                f'nonce="{nonces[-1]}", qop="auth", algorithm={algorithm}{stale}\r\n\r\n').encode()
    return {method: answer for method in ("DESCRIBE", "SETUP", "PLAY", "OPTIONS", "GET_PARAMETER")}


class Cameras(lib.Case):
    """Behaviour of servers that is known to cause errors in players, each with a server of its own."""

    @classmethod
    def setUpClass(cls):
        case = lib.Case()
        case.setUp()
        try:
            recording = Recording(case.sender("--sound", "none", source=f"test:160x120@{FPS}").port, 1.0)
        finally:
            case.doCleanups()
        cls.sdp = "".join(line for line in recording.sdp.splitlines(True)
                          if not re.match("a=(extmap|x-weir|rtcp-fb|range)", line))
        cls.sprop = re.search(r";sprop-parameter-sets=[^;\r]+", cls.sdp).group()
        kinds = [Rtp(data).payload[0] & 31 for data in recording.packets]
        cls.packets = recording.packets[kinds.index(7):]  # from the first parameter sets

    def setUp(self):
        super().setUp()
        self.started = []

    def camera(self, sdp=None, packets=None, url=None, args=(), kind=Camera, change=None, code=0, **options):
        """Starts the server and a player, and returns both; finish() ends the player."""
        settings = {name: options.pop(name) for name in ("base", "session", "transport", "channel", "udp") if name in options}
        server = kind(sdp or self.sdp, packets or self.packets, change, **options)
        self.addCleanup(server.stop)
        for name, value in settings.items():
            setattr(server, name, value)
        player = self.player(url(server.url) if url else server.url, *args)
        self.started.append((player, code))
        return server, player

    def finish(self):
        for player, code in self.started:
            if code == 0:
                player.wait_shown(30, 30)
                player.signal(signal.SIGINT)
            self.assertEqual(player.wait(30), code or 130, str(player))
            if code == 0:
                r = player.report()
                self.between(3, r["playback"]["frames_played"], (r["session"]["duration"] + 1) * FPS / 0.8 + 3, str(player))
                self.assertEqual(r["playback"]["frames_undecodable"], 0, str(player))

    def test_where_the_media_is(self):
        table = [  # Content-Base, the video's control, the URL asked for, what SETUP and PLAY name
            ("{}/", "trackID=0", "{}", "{}/trackID=0", "{}/"),
            (None, "trackID=2", "{}?profile=7", "{}?profile=7/trackID=2", "{}?profile=7"),
        ]
        servers = []
        for base, control, url, *wanted in table:
            server, _ = self.camera(self.sdp.replace("trackID=0", control), url=url.format)
            server.base = base and base.format(server.url)
            servers.append((server, [w.format(server.url) for w in wanted]))
        self.finish()
        for server, wanted in servers:
            self.assertEqual(server.uris("SETUP") + server.uris("PLAY"), wanted)
            self.assertEqual(server.at_once, 1, server.requests)
            self.assertTrue(server.asked("OPTIONS"))

    def test_what_is_in_the_description(self):
        video = self.sdp[self.sdp.index("m=video"):]
        session = self.sdp[:self.sdp.index("m=video")]
        other = video.replace("trackID=0", "trackID=9")
        pcma = "m=audio 0 RTP/AVP 8\r\na=control:trackID=7\r\n"
        seen = {name: self.camera(sdp)[0] for name, sdp in {
            "sound first": session + pcma + video, "several": session + other.replace("H264", "H265") + video + other,
            "sets in band only": self.sdp.replace(self.sprop, ""),
            "no profile": re.sub(";profile-level-id=[^;\r]+", "", self.sdp),
            "mode 0": self.sdp.replace("packetization-mode=1", "packetization-mode=0"),
            "no fmtp": re.sub("a=fmtp:.*\r\n", "", self.sdp)}.items()}
        self.finish()
        for name, server in seen.items():
            self.assertEqual(server.uris("SETUP"), [f"{server.url}/trackID=0"], name)

    def test_another_size_in_mid_stream(self):
        """Its parameter sets are sent once, and differ from those of the description."""
        def kind(data):
            return Rtp(data).payload[0] & 31

        def begin(packets, frames):
            """Returns this many packets, from the first parameter sets on."""
            packets = packets[[kind(d) for d in packets].index(7):]
            ends = [i for i, d in enumerate(packets) if Rtp(d).marker]
            return packets[:ends[frames - 1] + 1]
        sender = self.sender("--sound", "none", source=f"test:192x144@{FPS}")
        other = begin(Recording(sender.port, 1.0, frames=10).packets, 10)
        again = [d for d in other if kind(d) not in (7, 8)]
        self.camera(packets=begin(self.packets, 8) + other + 200 * again, args=("--snapshot", self.path("last.png")))
        self.finish()
        self.assertEqual(lib.png_size(self.path("last.png")), (192, 144))

    def test_how_it_answers(self):
        def lower(server, head):
            return b"RTSP/1.0 200 OK\r\ncseq: @CSEQ@\r\nSESSION:  abc;timeout=60 \r\n" \
                   b"transport: RTP/AVP/TCP;unicast;INTERLEAVED=0-1;ssrc=1234567890;mode=\"PLAY\"\r\n\r\n"
        named, _ = self.camera(answers={"SETUP": lower})
        self.camera(transport="RTP/AVP/TCP;unicast;interleaved=6-7", channel=6)
        self.camera(transport="RTP/AVP/TCP;interleaved=4", channel=4)
        _, player = self.camera(change=15)
        self.finish()
        self.assertRegex(named.asked("PLAY")[0], r"(?m)^Session: abc\r?$")
        self.between(0, player.report()["network"]["packets_lost"], 3, str(player))

    def test_udp_alone(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.bind(("127.0.0.1", 0))
            port = udp.getsockname()[1]

            def answer(server, head):
                ports = re.search(r"client_port=\d+-\d+", head)
                if not ports:
                    return refuse(461)(server, head)
                return f"RTSP/1.0 200 OK\r\nCSeq: @CSEQ@\r\nSession: 1\r\nTransport: RTP/AVP;unicast;{ports.group()};" \
                       f"server_port={port}-{port + 1}\r\n\r\n".encode()
            server, player = self.camera(kind=Udp, answers={"SETUP": answer}, udp=udp)
            self.finish()
            lib.until(lambda: server.asked("TEARDOWN"), "the request to end")
            server.stop()
        self.assertEqual([bool("TCP" in head) for head in server.asked("SETUP")], [True, False])
        self.assertEqual(server.asked("TEARDOWN")[0].count("Session: 1"), 1)
        self.assertEqual(player.report()["session"]["transport"], "udp")

    def test_a_token_is_for_the_server_alone(self):
        """A server that names another host as the source cannot make the player send tokens there."""
        udp, victim, also = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3)]
        for s in udp, victim, also:
            self.addCleanup(s.close)
        udp.bind(("127.0.0.1", 0))
        port = udp.getsockname()[1]
        victim.bind(("127.0.0.2", port))
        also.bind(("127.0.0.2", port + 1))

        def answer(server, head):
            ports = re.search(r"client_port=\d+-\d+", head).group()
            return f"RTSP/1.0 200 OK\r\nCSeq: @CSEQ@\r\nSession: 1\r\nTransport: RTP/AVP;unicast;{ports};" \
                   f"server_port={port}-{port + 1};source=127.0.0.2;x-weir-token=0123456789ABCDEF\r\n\r\n".encode()
        self.camera(kind=Udp, args=["--transport", "udp"], answers={"SETUP": answer}, udp=udp)
        self.finish()
        self.assertEqual(select.select([victim, also], [], [], 0)[0], [])

    def test_sound_that_is_not_to_be_had(self):
        sdp = self.sdp + "m=audio 0 RTP/AVP 98\r\na=rtpmap:98 opus/48000/2\r\na=control:trackID=1\r\n"

        def second(server, head):
            return refuse(461, times=9)(server, head) if "trackID=1" in head else None
        server, player = self.camera(sdp, answers={"SETUP": second})
        self.finish()
        self.assertEqual(len(server.asked("SETUP")), 2)
        self.assertIn("the server refused the audio track (461)", player.stderr)
        self.assertIsNone(player.report()["audio"])

    def test_elsewhere(self):
        there = Camera(self.sdp, self.packets)
        self.addCleanup(there.stop)
        here, _ = self.camera(answers={"DESCRIBE": refuse(302, f"Location: {there.url}\r\n", method="DESCRIBE")})
        self.finish()
        self.assertIn("DESCRIBE " + there.url, there.requests[0])
        self.assertEqual(here.methods, ["DESCRIBE"])

    def test_who_we_are(self):
        def joe(url):
            return url.replace("//", "//joe:pa%40ss@")
        server, _ = self.camera(url=joe, answers=digest("SHA-256", old=("SETUP", "PLAY")))
        _, player = self.camera(url=joe, answers=digest("SHA-256", password="other"), code=3)
        self.finish()
        self.assertNotIn("pa", "".join(re.findall("//[^/ ]*@", "".join(server.requests))))
        self.assertIn("the server refuses DESCRIBE: 401", player.stderr)


if __name__ == "__main__":
    lib.main()
