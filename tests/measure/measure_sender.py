# SPDX-License-Identifier: GPL-2.0-or-later
"""A sender's CPU time, its time to respond and to end, and the time in which its viewers return."""
import os
import re
import resource
import signal
import socket
import time
import urllib.request

import fanout
import lib
import rtsp
import test_auto
import test_capture
import test_folder
from figures import Measurement
from lab import isolate

TCP = "RTP/AVP/TCP;unicast;interleaved=0-1"


class Sender(Measurement):
    def spent(self, server, seconds):
        before = server.cpu_seconds()
        time.sleep(seconds)
        return server.cpu_seconds() - before

    def measure_without_viewers(self):
        server = self.sender("--verbose")
        viewer = rtsp.Viewer(server.port)
        viewer.wait_frames(10)
        viewer.check()
        self.figure("quiet viewer: longest silence", viewer.longest_silence, high=3, unit="s")
        lib.until(lambda: "is gone" in server.stderr, "it to go")
        time.sleep(0.3)
        self.figure("nobody watches: processor in 1 s", self.spent(server, 1), high=0.15, unit="s")
        begun = time.monotonic()
        self.stop_cleanly(server)
        self.figure("nobody watches: end after", time.monotonic() - begun, high=1, unit="s")

    def measure_viewers_that_stay(self):
        server = self.sender()
        stuck = rtsp.Client(server.port, receive_buffer=4096)
        self.addCleanup(stuck.close)
        stuck.watch(TCP)
        time.sleep(0.5)
        begun = time.monotonic()
        self.stop_cleanly(server)
        self.figure("viewer that does not leave: end after", time.monotonic() - begun, 0.8, 3, "s")

    def measure_no_descriptor_left(self):
        server = self.sender()
        open_now = {int(fd) for fd in os.listdir(f"/proc/{server.pid}/fd")}
        used = min(set(range(len(open_now) + 1)) - open_now)
        _, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (used, hard))
        waiting = rtsp.Client(server.port)
        self.addCleanup(waiting.close)
        lib.until(lambda: "cannot accept a viewer" in server.stderr, "the complaint")
        self.figure("no descriptor left: processor in 2 s", self.spent(server, 2), high=0.3, unit="s")

    def measure_full_connection(self):
        server = self.sender(source="synthetic:greedy")
        c = rtsp.Client(server.port, receive_buffer=4096)
        self.addCleanup(c.close)
        c.watch(TCP + ";x-weir=tcp")
        time.sleep(0.5)  # not read: the server waits for room
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as media:
            media.bind(("127.0.0.1", 0))
            port = media.getsockname()[1]
            end = c.format("TEARDOWN")
            c.session = None
            c.send(end + c.format("SETUP", headers={"Transport": f"RTP/AVP;unicast;client_port={port}-{port}"}))
            for answer in c.response(), c.response():
                self.assertEqual(answer.status, 200, str(answer))
            self.figure("full connection, then another transport: processor in 1 s", self.spent(server, 1), high=0.3, unit="s")

    def measure_metrics(self):
        """Next to idle connections."""
        server = self.sender("--metrics", "127.0.0.1:0")
        port = int(re.search(r"metrics at http://127.0.0.1:(\d+)/", server.stderr).group(1))

        def answered():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                    return answer.status == 200
            except OSError:
                return False
        for addresses, what, high in ((range(2, 6), "elsewhere", 1), ([1], "the same address", 2.5)):
            for i in addresses:
                for _ in range(50):
                    s = socket.create_connection(("127.0.0.1", port), timeout=15, source_address=(f"127.0.0.{i}", 0))
                    self.addCleanup(s.close)
            begun = time.monotonic()
            lib.until(answered, "the metrics")
            self.figure(f"idle connections from {what}: metrics after", time.monotonic() - begun, high=high, unit="s")

    def measure_player_that_is_told_twice(self):
        server = self.sender()
        p = self.player(server.url)
        p.wait_shown(5)
        server.signal(signal.SIGSTOP)
        p.signal(signal.SIGTERM)
        time.sleep(0.1)
        begun = time.monotonic()
        p.signal(signal.SIGTERM)
        self.assertEqual(p.wait(5), -signal.SIGTERM, str(p))
        self.figure("player told to end twice: end after", time.monotonic() - begun, high=0.4, unit="s")

    def measure_reconnect(self):
        address = lib.own_address()
        server = self.sender(listen=f"{address}:0")
        p = self.player(server.url, "--reconnect")
        p.wait_shown(30)
        server.signal(signal.SIGKILL)
        server.wait(10)
        lib.until(lambda: len(p.events("reconnect")) >= 3, "three tries")
        times = [e["t"] for e in p.events("reconnect")]
        self.figure("lost server: second try after", times[1] - times[0], 0.5, 0.8, "s")
        self.figure("lost server: third try after", times[2] - times[1], 1, 1.3, "s")
        self.sender(listen=f"{address}:{server.port}")
        up = time.monotonic()
        lib.until(lambda: len(p.events("connected")) == 2, "the connection")
        wait, since = p.events("reconnect")[-1]["in"], p.events("connected")[1]["t"]
        lib.until(lambda: any(e["shown"] > since for e in p.shown()), "a picture", 20)
        self.figure("server that is back: picture after the wait between tries", time.monotonic() - up - wait, high=1, unit="s")

    def measure_fanout(self):
        for transport in "minbuf", "udp":
            run = fanout.Run(lib, self.folder, transport, 20, 3, 0)
            row = run.measure()
            self.processes.append(run.sender)
            self.figure(f"20 viewers of 720p, {transport}: frames in 3 s", row["frames"], low=3 * fanout.FPS / 2 + 1)
            self.figure(f"20 viewers of 720p, {transport}: frames incomplete", row["incomplete"], high=0)


class Folder(Measurement, test_folder.Folder):
    def measure_many_files(self):
        for i in range(30000):
            open(self.path(f"films/{i}.jpg"), "w").close()
        server = self.sender(source=self.path("films"))
        before = server.cpu_seconds()
        with rtsp.Client(server.port) as c:
            for _ in range(6):
                self.assertIn("/one.mkv\t", c.request("DESCRIBE", c.url.replace("live", "")).body)
        self.figure("30000 other files: processor of six lists", server.cpu_seconds() - before, high=0.6, unit="s")

    def measure_many_requests(self):
        os.link(self.path("films/one.mkv"), self.path("films/live"))
        server = self.sender("--loop", source=self.path("films"))
        viewer = rtsp.Viewer(server.port)
        viewer.wait_frames(10)
        with rtsp.Client(server.port) as c:
            urls = [self.urls(server) + path for path in ("/one.mkv", "/sub/my%20film.mkv")]
            c.send(b"".join(c.format("DESCRIBE", url) for url in 80 * urls))
            for _ in range(160):
                self.assertEqual(c.response().status, 200)
        viewer.check()
        self.figure("160 requests for films: a viewer's longest silence", viewer.longest_silence, high=0.8, unit="s")


class Camera(Measurement, test_capture.Camera):
    def measure_camera(self):
        p = self.play(self.camera("--capture", "1280x720@60").url, "--duration", "3")
        r = p.report()
        self.figure("camera of 30 Hz: frames played in 3 s", r["playback"]["frames_played"], 60, 92)
        self.figure("camera: capture to arrival, p50", r["latency"]["frame"]["p50"], 0, 80, "ms")

    def measure_unplugged(self):
        server = self.camera()
        p = self.player(server.url, "--duration", "5")
        p.wait_shown(20)
        os.unlink(self.file)
        self.said(server, "/dev/video0: the device was unplugged; trying again")
        self.plug("good 90")
        self.said(server, "/dev/video0: the device works again")
        self.assertEqual(p.wait(), 0, str(p))
        r = p.report()
        self.figure("camera unplugged and back: stalls", r["rebuffering"]["total"], 0, 0.5, "s")
        self.figure("camera unplugged and back: frames played in 5 s", r["playback"]["frames_played"], 110, 155)


class Auto(Measurement, test_auto.Auto):
    def setUp(self):
        super().setUp()
        lib.need("nft")
        if not isolate.isolated():
            self.skipTest("namespaces are not allowed here")

    def measure_choice(self):
        server = self.server("--mtp-port", str(test_auto.MEDIA), listen=f"{test_auto.HOST}:0")
        took = []
        for what, _, _ in test_auto.TABLE:
            test_auto.block(what)
            p, _, _ = self.choose(server)
            took.append(p.events("connected")[0]["t"] - p.report()["startup"]["connect"])
        self.figure(f"choice of a transport, the slowest of {len(took)}", max(took), high=1.5, unit="s")
