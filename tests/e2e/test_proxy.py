# SPDX-License-Identifier: GPL-2.0-or-later
"""weir-proxy between an origin and its viewers."""
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import unittest

import lib
from lib import until
from rtsp import Client
from test_foreign_server import have_server
from test_stored_viewer import frame_of

LEVELS = ["--level", "128x72@30:60", "--level", "192x108@30:120"]


class ProxyCase(lib.Case):
    def behind(self, origin, *args, **options):
        """Starts a proxy of this origin."""
        return self.proxy("--origin", f"rtsp://{origin.url.split('/')[2]}", *args, **options)

    def origin(self, *args, **options):
        return self.sender(*args, **options)

    def run_tool(self, argv, seconds=60):
        try:
            p = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds * lib.PATIENCE)
        except subprocess.TimeoutExpired as why:
            raise AssertionError(f"{argv[0]} did not end: {why.stderr}") from None
        self.assertEqual(p.returncode, 0, "\n".join([" ".join(argv), p.stderr, *map(str, self.processes)]))
        return p

    def film(self, seconds=6):
        """Makes a stored ladder with audio; returns its path."""
        lib.need("ffmpeg")
        path = self.path("film.mkv")
        lib.make_film(path, seconds, "192x108")
        self.run_tool([lib.SEND, "--prepare", *LEVELS, path])
        return path


class Live(ProxyCase):
    def test_the_printed_url(self):
        """Of an origin without a path it has a word in place of the stream's; of one with a path it plays as it is."""
        server = self.origin()
        for given, printed in ("", "/PATH"), ("/live", "/"):
            with self.subTest(given):
                proxy = self.proxy("--origin", f"rtsp://127.0.0.1:{server.port}{given}")
                url = re.search(r"to watch: weir-play '(\S+)'", proxy.stderr).group(1)
                self.assertEqual(url, proxy.base + printed)
                self.see(url.replace("/PATH", "/live"), frames=lib.FPS)

    def test_live(self):
        """The test picture with its beeps, over each kind of backbone and access; the capture times are the origin's."""
        server = self.origin()
        for backbone, access in ("tfrc", "minbuf"), ("minbuf", "mtp"), ("udp", "tcp"):
            with self.subTest(f"{backbone} {access}"):
                proxy = self.behind(server, "--backbone-transport", backbone, "--access-transport", access)
                p = self.player(proxy.base + "/live", "--transport", f"mtp,{access}")
                p.wait_shown(60)
                p.signal(signal.SIGTERM)
                p.wait()
                r = p.report()
                self.assertEqual(r["session"]["transport"], access)
                self.assertEqual(r["playback"]["frames_undecodable"], 0)
                self.assertGreater(r["picture"]["psnr_y"], 20, "another picture has less: " + str(r["picture"]))
                self.assertGreater(r["audio"]["packets"], 20)
                self.assertIsNotNone(r["latency"]["display"]["p50"])
                self.stop_cleanly(proxy)

    def test_synthetic(self):
        """Frames without pictures; filler, which has none, is refused."""
        for source, code in ("synthetic:layers:3,200", 0), ("synthetic:steady", 3):
            with self.subTest(source):
                proxy = self.behind(self.origin(source=source))
                p = self.player(proxy.base + "/live")
                if code:
                    self.assertEqual(p.wait(), code)
                    self.assertIn("415", p.stderr)
                else:
                    p.wait_shown(50)

    def test_one_description(self):
        """The session of the first viewer begins with SETUP: the stream has just been described."""
        proxy = self.behind(self.origin(), "--log", "debug")
        self.player(proxy.base + "/live").wait_shown(5)
        asked = re.findall(r"asked (\w+) rtsp", proxy.stderr)
        self.assertEqual(asked[:2], ["DESCRIBE", "SETUP"])
        self.assertEqual(asked.count("DESCRIBE"), 1)

    def test_adapt_reaches_the_origin_at_once(self):
        path = self.path("origin.jsonl")
        server = self.origin("--stats", path)
        proxy = self.behind(server)

        def adapts():
            with open(path) as f:
                lines = [json.loads(line) for line in f if line.endswith("\n")]
            return [line["adaptation"] is not None for line in lines if line.get("playing")]

        with Client(proxy.port) as c:
            c.watch()
            until(lambda: c.collect(0.1) or adapts()[-1:] == [True], "the origin to adapt")
            for value in "none", "sender":
                c.request("SET_PARAMETER", headers={"Content-Type": "text/parameters"}, body=f"adapt: {value}\r\n")
                until(lambda: c.collect(0.1) or adapts()[-1:] == [value == "sender"], f"adapt: {value}")

    def test_origin_ends_first(self):
        """Both ends leave cleanly, in either order."""
        server = self.origin()
        proxy = self.behind(server)
        self.player(proxy.base + "/live").wait_shown(5)
        self.stop_cleanly(server)
        self.stop_cleanly(proxy)


class Vp9(ProxyCase):
    def origin(self, *args, **options):
        return super().origin("--codec", "vp9", *args, source="test:640x360@30", **options)

    def test_levels(self):
        """Layers within a picture pass, of each backbone; a viewer of all sizes and one of the smallest."""
        server = self.origin()
        for backbone, access, level in ("tfrc", "minbuf", 8), ("minbuf", "udp", 2):
            with self.subTest(backbone):
                proxy = self.behind(server, "--backbone-transport", backbone, "--access-transport", access)
                p = self.player(proxy.base + "/live", "--transport", access, "--level", str(level), "--adapt", "none")
                p.wait_shown(30, 40)
                p.signal(signal.SIGTERM)
                self.assertEqual(p.wait(), 130, str(p))
                r = p.report()
                self.assertEqual(r["playback"]["frames_undecodable"], 0)
                self.assertGreater(r["playback"]["frames_played"], 5)
                self.assertGreater(r["picture"]["compared"], 3)
                self.assertEqual([i for i, time in enumerate(r["levels"]["time_at"]) if time > 0], [level])
                self.stop_cleanly(proxy)

    def test_switching_needs_no_key_frame(self):
        proxy = self.behind(self.origin())
        p = self.player(proxy.base + "/live", "--level", "2", "--adapt", "none", "--at", "2:level=8", "--at", "6:level=2",
                        "--at", "8:level=5")
        last = until(lambda: p.events("connected") or not p.running(), "the connection", 20)[0]["t"] + 10
        until(lambda: p.events("level") and p.events()[-1]["t"] > last or not p.running(), "a switch", 40)
        r = self.interrupt(p).report()
        # A busy machine may skip a level that was wanted for seconds only, or not reach the last.
        switches = [(s["from"], s["to"]) for s in r["levels"]["switches"]]
        whole = ([(2, 8), (8, 2), (2, 5)], [(2, 8), (8, 5)], [(2, 5)])
        self.assertTrue(switches and any(switches == way[:len(switches)] for way in whole), switches)
        self.assertEqual(r["playback"]["frames_undecodable"], 0)

    def test_other_players_get_the_smallest_size(self):
        lib.need("ffmpeg")
        proxy = self.behind(self.origin())
        p = self.run_tool(["ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", "tcp", "-i", proxy.base + "/live", "-t",
                           "3", "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-"])
        frames = [line.split(",") for line in p.stdout.splitlines() if not line.startswith("#")]
        self.assertGreater(len(frames), 0)
        self.assertEqual({int(f[4]) for f in frames}, {160 * 90 * 3 // 2})


class Stored(ProxyCase):
    def test_the_viewer_commands(self):
        """Seek, pause, level and the end reach the origin."""
        # A film that ends 4 s after the first seek would have come as a whole before the level is requested.
        server = self.origin(source=self.film(12))
        proxy = self.behind(server)
        p = self.play(proxy.base + "/live", "--adapt", "none", "--at", "1:seek=4", "--at", "2:pause", "--at",
                      "3:go-on", "--at", "3.5:level=0", "--at", "5:seek=2", seconds=60)
        r = p.report()
        self.assertEqual(r["ended"], "end-of-media", str(p))
        # A busy machine may be at the first seek still when the second one takes its place.
        seeks = [s["to"] for s in p.events("seek")]
        self.assertEqual(seeks[-1], 2)
        self.assertIn(seeks, ([4, 2], [2]))
        self.assertIn((1, 0), [(e["from"], e["to"]) for e in p.events("level")])
        # From the place of the last seek to the film's end, which is 10 s.
        seek = p.events("seek")[-1]["t"]
        after = [e["number"] for e in p.events("frame") if e["t"] >= seek]
        self.between(295 - r["causes"]["by_root"]["sender"], max(after) - min(after), 330, str(p))

    def test_speed_and_positions(self):
        """A viewer's Range and Speed are the origin's, and the answers are, too."""
        proxy = self.behind(self.origin(source=self.film(8)))
        with Client(proxy.port) as c:
            track = {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf"}
            self.assertEqual(c.request("SETUP", f"{c.url}/trackID=0", track).status, 200)
            play = c.request("PLAY", headers={"Range": "npt=3-", "Speed": "4"})
            self.assertEqual(play.status, 200, str(play))
            self.assertIn("npt=3.000-8", str(play))
            self.assertEqual(play.headers["speed"], "4.000")
            until(lambda: c.collect(0.1) or any(len(d) > 1 and d[1] == 203 for ch, d in c.frames if ch == 1), "BYE")
            again = c.request("PLAY", headers={"Range": "npt=1-"})
            self.assertEqual(again.status, 200, str(again))
            self.assertIn("npt=1.000-8", str(again))
            beyond = c.request("PLAY", headers={"Range": "npt=9-"})
            self.assertEqual(beyond.status, 457, str(beyond))


class Subtitles(ProxyCase):
    @lib.long
    def test_of_a_film(self):
        """They come through, each track its own, whether the origin's film is prepared or not, and with a store, too."""
        lib.need("ffmpeg")
        film = self.clip("film.mkv", seconds=90, size="192x108")  # the origin is asked while it plays
        with open(self.path("film.srt"), "w") as f:
            f.write("1\n00:00:00,500 --> 00:00:29,000\nfirst\n\n2\n00:00:25,000 --> 00:00:29,000\nlater\n\n")
        for args in (), ("--cache", self.path("store")):
            if args:
                self.run_tool([lib.SEND, "--prepare", "--level", "192x108@25:150", film])
                os.mkdir(self.path("store"))
            origin = self.sender(source=film)
            proxy = self.behind(origin, *args)
            with self.subTest(args), Client(proxy.port) as c:
                self.assertIn("a=x-weir-subtitles:film.srt\r\n", c.request("DESCRIBE").body)
                c.watch("RTP/AVP/TCP;unicast;interleaved=0-1;mode=play")

                def cues(track, at):
                    return c.request("GET_PARAMETER", body=f"subtitles: {track}/{at}\r\n")

                until(lambda: cues(1, 1000).body == "ass: 500 29000 0,Default,,0,0,0,,first\r\n", "the cue", 20)
                until(lambda: cues(1, 26000).body == "ass: 500 29000 0,Default,,0,0,0,,first\r\nass: 25000 29000 0,Default,,0,0,0,,later\r\n", "both", 20)
                self.assertEqual(cues(2, 1000).status, 451)
                self.assertEqual(cues(0, 1000).status, 451)
                self.assertEqual(cues(1, 1000).status, 200)
            origin.signal(signal.SIGTERM)
            origin.wait()

    def test_live_media_have_none(self):
        proxy = self.behind(self.origin())
        with Client(proxy.port) as c:
            self.assertNotIn("x-weir-subtitles", c.request("DESCRIBE").body)
            c.watch()
            self.assertEqual(c.request("GET_PARAMETER", body="subtitles: 1/0\r\n").status, 451)


class Refusals(ProxyCase):
    def status(self, port, uri, headers=None):
        with Client(port) as c:
            answer = c.request("DESCRIBE", uri, {"Accept": "application/sdp", **(headers or {})})
            return answer.status, str(answer)

    def test_the_origin_refuses(self):
        """Its status and its reason pass; an origin that is not there is a bad gateway."""
        server = self.origin()
        proxy = self.behind(server)
        status, text = self.status(proxy.port, proxy.base + "/nothing")
        self.assertEqual(status, 404)
        self.assertIn("no such stream: the server has only /live", text)
        self.stop_cleanly(server)
        status, text = self.status(proxy.port, proxy.base + "/live")
        self.assertEqual(status, 502)
        self.assertIn("cannot connect", text)

    def test_an_origin_that_says_nothing(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        proxy = self.proxy("--origin", f"rtsp://127.0.0.1:{silent.getsockname()[1]}")
        self.assertEqual(self.status(proxy.port, proxy.base + "/live")[0], 504)

    def test_no_open_relay(self):
        """Without --origin the path begins with the host, which --allow must name."""
        server = self.origin()
        proxy = self.proxy("--allow", "127.0.0.1")
        address = server.url.split("/")[2]
        self.assertEqual(self.status(proxy.port, f"{proxy.base}/{address}/live")[0], 200)
        self.assertEqual(self.status(proxy.port, f"{proxy.base}/localhost:{server.port}/live")[0], 403)
        self.assertEqual(self.status(proxy.port, f"{proxy.base}/x@{address}/live")[0], 404)
        self.assertEqual(self.status(proxy.port, proxy.base + "/")[0], 404)
        p = self.player(f"{proxy.base}/{address}/live")
        p.wait_shown(5)

    def test_loops(self):
        """Two proxies of each other, and a chain that is too long."""
        a = self.proxy("--allow", "127.0.0.1")
        b = self.proxy("--origin", a.base)
        status, text = self.status(a.port, f"{a.base}/127.0.0.1:{b.port}/127.0.0.1:{b.port}/127.0.0.1:{b.port}/live")
        self.assertEqual(status, 502, text)
        self.assertIn("loop", text)
        server = self.origin()
        chain = [self.behind(server)]
        for _ in range(4):
            chain.append(self.proxy("--origin", chain[-1].base))
        self.assertEqual(self.status(chain[3].port, chain[3].base + "/live")[0], 200)
        status, text = self.status(chain[4].port, chain[4].base + "/live")
        self.assertEqual(status, 502)
        self.assertIn("too many proxies", text)

    def test_a_chain_plays(self):
        first = self.behind(self.origin())
        second = self.proxy("--origin", first.base)
        self.player(second.base + "/live").wait_shown(30)

    def test_wrong_options(self):
        for args, said in ([], "requires --origin"), (["--origin", "http://x"], "rtsp://"), (
                ["--origin", "rtsp://u:p@x"], "--origin-user"), (["--origin", "rtsp://x", "--origin-user", "u"], "USER:PASSWORD"), (
                ["--allow", "a/b"], "host"), (["--origin", "rtsp://x", "--backbone-transport", "pigeons"], "unknown transport"), (
                ["--origin", "rtsp://x", "--parent", "rtsp://y"], "--parent conflicts with --origin"):
            with self.subTest(args):
                p = self.start([lib.PROXY, *args])
                self.assertEqual(p.wait(), 2)
                self.assertIn(said, p.stderr)


class Outage(ProxyCase):
    def origin(self, *args, listen=None, **options):
        """Starts it on an address whose port no other process uses after its end."""
        return super().origin(*args, listen=listen or f"{lib.own_address()}:0", **options)

    @lib.long
    def test_killed_and_restarted(self):
        """The viewer keeps its session; live media and files continue."""
        for source in lib.SOURCE, self.film(60):
            with self.subTest(source):
                server = self.origin(source=source)
                proxy = self.behind(server, "--outage", "60")
                p = self.player(proxy.base + "/live", "--log", "info", "--timeout", "60")  # as the outage
                p.wait_shown(30)
                server.signal(signal.SIGKILL)
                server.wait()
                until(lambda: "is lost" in proxy.stderr, "the loss")
                until(lambda: "the proxy has lost its origin" in p.stderr, "the viewer's message", 20)
                self.origin(listen=f"{lib.own_address()}:{server.port}", source=source)
                until(lambda: "is back" in proxy.stderr, "the return", 20)
                until(lambda: "the proxy has its origin again" in p.stderr, "the viewer's second message", 20)
                back = p.events()[-1]["t"]
                until(lambda: any(e["shown"] > back + 1 for e in p.shown()) or not p.running(), "pictures again", 30)
                self.assertTrue(p.running(), str(p))
                p.signal(signal.SIGTERM)
                p.wait()
                self.assertEqual(p.report()["session"]["reconnects"], 0)
                self.assertEqual(p.report()["playback"]["frames_undecodable"], 0)
                self.stop_cleanly(proxy)

    @lib.long
    def test_lost_during_fast_forward(self):
        """The scale is kept: after the return, too, the viewer gets frames of the lowest layer alone."""
        film = self.film(60)
        server = self.origin(source=film)
        proxy = self.behind(server, "--outage", "60", "--backbone-transport", "minbuf")
        with Client(proxy.port) as c:
            track = {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf"}
            self.assertEqual(c.request("SETUP", f"{c.url}/trackID=0", track).status, 200)
            self.assertEqual(c.request("PLAY", headers={"Range": "npt=0-", "Scale": "4"}).headers["scale"], "4")

            def frames():
                c.collect(0.1)
                return [f for f in (frame_of(data) for channel, data in c.frames if channel == 0) if f]
            until(lambda: len(frames()) >= 3, "the first frames")
            server.signal(signal.SIGKILL)
            server.wait()
            until(lambda: "is lost" in proxy.stderr, "the loss")
            before = len(frames())
            self.origin(listen=f"{lib.own_address()}:{server.port}", source=film)
            until(lambda: "is back" in proxy.stderr, "the return", 20)
            until(lambda: len(frames()) >= before + 5, "frames again", 30)
            numbers = [f.number for f in frames()]
            self.assertTrue(all(b - a >= 4 for a, b in zip(numbers, numbers[1:])), str(numbers))
        self.stop_cleanly(proxy)

    @lib.long
    def test_it_does_not_return(self):
        """After the outage the media breaks off: each viewer learns why, also behind another proxy. Players that are not
        ours see no BYE, which would be the end of the media, but the end of the connection."""
        for source in lib.SOURCE, self.film(60):
            with self.subTest(source):
                server = self.origin(source=source)
                proxy = self.behind(server, "--outage", "2")
                leaf = self.proxy("--parent", f"rtsp://127.0.0.1:{proxy.port}", "--outage", "2")
                players = [self.player(at.base + "/live") for at in (proxy, leaf)]
                for p in players:
                    p.wait_shown(10)
                with Client(proxy.port) as c:
                    c.watch()
                    c.collect_least(5)
                    server.signal(signal.SIGKILL)
                    server.wait()
                    until(lambda: re.search(r"did not return within \d+ s", proxy.stderr), "the end of the outage", 20)
                    for p in players:
                        self.assertEqual(p.wait(30), 4, str(p))
                        self.assertEqual(p.report()["ended"], "server-lost")
                        self.assertRegex(p.report()["error"], r"ends the session: origin: it was lost for \d+ s: \w+")
                    rest = b""
                    while more := c.socket.recv(65536):
                        rest += more
                    self.assertIn(b"TEARDOWN * RTSP/1.0", rest)
                    self.assertNotIn(struct.pack("!BBH", 0x81, 203, 1), rest)
                self.stop_cleanly(proxy)
                self.stop_cleanly(leaf)


class Viewers(ProxyCase):
    def test_one_that_never_reads(self):
        """It is dropped; the viewer next to it loses nothing."""
        server = self.origin()
        proxy = self.behind(server, "--timeout", "2", "--access-transport", "tcp,minbuf", "--backbone-transport", "minbuf")
        with Client(proxy.port, receive_buffer=4096) as stuck:
            stuck.watch()
            p = self.player(proxy.base + "/live", "--transport", "minbuf")
            until(lambda: "is dropped: it has not taken a byte" in proxy.stderr, "its end", 40)
            shown = len(p.shown())
            until(lambda: len(p.shown()) > shown + 30, "pictures")
        p.signal(signal.SIGTERM)
        p.wait()
        self.assertEqual(p.report()["network"]["packets_lost"], 0)
        self.assertEqual(p.report()["playback"]["frames_undecodable"], 0)
        self.stop_cleanly(proxy)

    def test_many_come_and_go(self):
        """All memory is freed, and the origin is left."""
        server = self.origin("--log", "debug")
        proxy = self.behind(server, "--max-viewers", "400", "--log", "debug")
        for _ in range(4):
            clients = [Client(proxy.port) for _ in range(12)]
            for i, c in enumerate(clients):
                if i % 3 == 0:
                    c.watch()
                elif i % 3 == 1:
                    c.request("SETUP", f"{c.url}/trackID=0", {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"})
                else:
                    c.send(c.format("DESCRIBE"))
            for c in clients:
                c.close()
        until(lambda: self.left(proxy) == 48, "the viewers to leave")
        until(lambda: self.left(server) == server.stderr.count(" connected\n"), "the origin's last viewer to leave")
        self.stop_cleanly(proxy)

    def left(self, server):
        return server.stderr.count(" is gone\n")


class Reflection(ProxyCase):
    def test_each_way(self):
        """Each mode plays where nothing is in the way; the stats have both legs."""
        server = self.origin()
        for args in (["--reflect", "limit"], ["--reflect", "marks", "--queue", "deadline"], ["--reflect", "off", "--queue", "fifo"],
                     ["--reflect", "blocking", "--access-transport", "tcp", "--access-blocking", "0.5"]):
            with self.subTest(args):
                path = self.path("proxy.jsonl")
                proxy = self.behind(server, *args, "--stats", path)
                p = self.player(proxy.base + "/live", "--transport", "tcp,minbuf")
                p.wait_shown(60)
                p.signal(signal.SIGTERM)
                p.wait()
                r = p.report()
                self.assertEqual(r["playback"]["frames_undecodable"], 0)
                self.assertTrue(r["session"]["via"].startswith("RTSP/1.0 weir-proxy-"), r["session"])
                self.stop_cleanly(proxy)
                with open(path) as f:
                    relays = [line["relay"] for line in map(json.loads, f) if "relay" in line]
                self.assertTrue(any((relay["backbone.rate_bps"] or 0) > 0 for relay in relays), str(relays))
                os.remove(path)


class Strangers(ProxyCase):
    def test_ffprobe_and_ffmpeg(self):
        """Players that are not ours see the stream's size and hear its audio."""
        lib.need("ffmpeg", "ffprobe")
        proxy = self.behind(self.origin())
        for transport in "tcp", "udp":
            with self.subTest(transport):
                p = self.run_tool(["ffprobe", "-v", "error", "-rtsp_transport", transport, "-show_streams", "-of", "json",
                                   proxy.base + "/live"])
                kinds = {s["codec_name"]: s for s in json.loads(p.stdout)["streams"]}
                self.assertEqual((kinds["h264"]["width"], kinds["h264"]["height"]), (426, 240))
                self.assertIn("opus", kinds)
                p = self.run_tool(["ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", transport, "-i",
                                   proxy.base + "/live", "-frames:v", "30", "-fps_mode", "passthrough", "-f", "framemd5", "-an",
                                   "-"])
                hashes = re.findall(r"(\w{32})$", p.stdout, re.M)
                self.assertEqual(len(set(hashes)), 30, "the test picture always moves")

    def test_mpv(self):
        """It shows the pictures in their order."""
        lib.need("mpv")
        proxy = self.behind(self.origin())
        for transport in "tcp", "udp":
            with self.subTest(transport):
                folder = tempfile.mkdtemp(dir=self.folder)
                self.run_tool(["mpv", "--no-config", "--no-terminal", "--ao=null", "--vo=image", "--vo-image-format=png",
                               "--vo-image-png-compression=1", f"--vo-image-outdir={folder}", "--length=2.6",
                               f"--rtsp-transport={transport}", proxy.base + "/live"])
                pictures = sorted(os.listdir(folder))
                self.assertGreater(len(pictures), 4)
                numbers = [lib.frame_number(*lib.grey_picture(os.path.join(folder, name))) for name in
                           (pictures[0], pictures[-1])]
                self.assertNotIn(-1, numbers)
                self.assertLess(numbers[0], numbers[1])

    def test_gstreamer(self):
        proxy = self.behind(self.origin())
        self.rtspsrc(f"{proxy.base}/live", "tcp", "!", "rtph264depay", "!", "h264parse", "!", "identity", "eos-after=30",
                       "!", "fakesink")


@unittest.skipUnless(have_server(), "GStreamer's RTSP server for Python, or its x264enc, is not installed")
class ForeignOrigin(ProxyCase):
    def serve(self, *args):
        here = os.path.dirname(os.path.abspath(__file__))
        p = self.start(["/usr/bin/python3", os.path.join(here, "gst_server.py"), *args])
        found = until(lambda: re.search(r"port (\d+)", p.stdout) or not p.running(), "the server")
        self.assertNotEqual(found, True, str(p))
        return f"rtsp://127.0.0.1:{found.group(1)}"

    def test_it_plays(self):
        """GStreamer's server behind the proxy, with Opus, over TCP and UDP."""
        for transport in "tcp", "udp":
            with self.subTest(transport):
                proxy = self.proxy("--origin", self.serve("--audio", "opus"), "--backbone-transport", transport)
                p = self.player(proxy.base + "/live")
                p.wait_shown(40)
                p.signal(signal.SIGTERM)
                p.wait()
                self.assertEqual(p.report()["playback"]["frames_undecodable"], 0)
                self.assertGreater(p.report()["audio"]["packets"], 20)
                self.stop_cleanly(proxy)

    def test_credentials(self):
        """The proxy has the origin's password; viewers need none, and do not learn it."""
        origin = self.serve("--user", "anna:secret")
        for args, code in ([], 3), (["--origin-user", "anna:wrong"], 3), (["--origin-user", "anna:secret"], 0):
            with self.subTest(args):
                proxy = self.proxy("--origin", origin, *args)
                p = self.player(proxy.base + "/live")
                if code:
                    self.assertEqual(p.wait(), code)
                    self.assertIn("502", p.stderr)
                else:
                    p.wait_shown(10)
                self.assertNotIn("secret", p.stderr + proxy.stderr)


if __name__ == "__main__":
    lib.main()
