# SPDX-License-Identifier: GPL-2.0-or-later
"""IP cameras as sources of weir-send: their H.264 is passed on as it is, or decoded and encoded. The cameras are fake ones of which
each packet is known, and GStreamer's RTSP server."""
import base64
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.request

import lib
from rtsp import FakeServer, Recording, Rtp
from test_foreign_server import FPS, Camera, have_server


def units(packets):
    """The NAL units of RTP packets (RFC 6184): single ones and fragments."""
    found = []
    for p in (Rtp(data).payload for data in packets):
        if p[0] & 31 != 28:
            found.append(p)
        elif p[1] & 0x80:
            found.append(bytes([p[0] & 0xE0 | p[1] & 31]) + p[2:])
        else:
            found[-1] += p[2:]
    return found


def slices(all_units):
    return [u for u in all_units if u[0] & 31 in (1, 5)]


class Case(lib.Case):
    @classmethod
    def setUpClass(cls):
        case = lib.Case()
        case.setUp()
        try:
            cls.small = cls.recorded(case, "160x120")
            cls.large = cls.recorded(case, "320x240")
        finally:
            case.doCleanups()

    @staticmethod
    def recorded(case, size):
        recording = Recording(case.sender("--sound", "none", source=f"test:{size}@{FPS}").port, 1.0)
        sdp = "".join(line for line in recording.sdp.splitlines(True)
                      if not re.match("a=(extmap|x-weir|rtcp-fb|range)", line))
        kinds = [Rtp(data).payload[0] & 31 for data in recording.packets]
        return sdp, recording.packets[kinds.index(7):]  # from the first parameter sets

    def camera(self, of=None, kind=Camera, **options):
        sdp, packets = of or self.small
        server = kind(sdp, packets, **options)
        self.addCleanup(server.stop)
        return server

    def fails(self, url, *args, seconds=60):
        """Runs weir-send, which ends by itself, and returns its messages."""
        p = self.start([lib.SEND, "--listen", "127.0.0.1:0", *args, url])
        self.assertEqual(p.wait(seconds), 1, str(p))
        return p.stderr

    def recorded_slices(self, path):
        out = subprocess.run(["ffmpeg", "-v", "fatal", "-i", path, "-c", "copy", "-bsf:v", "h264_mp4toannexb", "-f", "h264",
                              "-"], stdout=subprocess.PIPE, check=True, timeout=60 * lib.PATIENCE).stdout
        return slices([u.rstrip(b"\0") for u in re.split(b"\0\0\0?\1", out) if u])


class Passed(Case):
    def test_bit_for_bit(self):
        """What a viewer records are the units that the camera sent, all and in order. One that joins late begins at once. On a
        busy machine the sender may drop frames that waited, and the kernel datagrams: then the viewer's report counts each
        that is missing."""
        lib.need("ffmpeg")
        sent = [u.rstrip(b"\0") for u in slices(units(self.small[1]))]
        sender = self.sender(source=self.camera().url)
        self.assertEqual([(w, h) for w, h, _, _ in sender.levels()], [(160, 120)])
        for transport in "minbuf", "udp", "scream":
            with self.subTest(transport):
                path = self.path(transport + ".mkv")
                p = self.player(sender.url, "--no-picture", "--record", path, "--latency", "3000", "--transport", transport)
                p.wait_shown(FPS, 30)
                p.signal(signal.SIGINT)
                self.assertEqual(p.wait(), 130, str(p))
                self.assertEqual(p.report()["playback"]["frames_undecodable"], 0, str(p))
                got = self.recorded_slices(path)
                self.assertGreaterEqual(len(got), FPS, str(p))
                places = [sent.index(unit) for unit in got]
                missing = sum((b - a - 1) % len(sent) for a, b in zip(places, places[1:]))
                report = p.report()
                roots = report["causes"]["by_root"]
                self.assertLessEqual(missing, roots["sender"] + (roots["network"] if self.kernel_dropped(report) else 0), places)

    def test_one_picture_a_second(self):
        """The numbers of its pictures count seconds from the first one on."""
        sdp = re.sub("a=framerate.*\r\n", "", self.small[0])
        first = access_units(b"".join(b"\0\0\0\1" + u for u in units(self.small[1])))[0]
        camera = Slow(sdp, [first], [0])
        self.addCleanup(camera.stop)
        sender = self.sender(source=camera.url)
        self.assertEqual([rate for _, _, rate, _ in sender.levels()], [1.0], str(sender))
        p = self.see(sender.url, frames=3)
        numbers = [e["number"] for e in p.events("frame")]  # a busy machine may show fewer
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        self.assertLess(numbers[0], 60)

    def test_a_multicast_group(self):
        """It is joined where the camera refuses all else, names a group by itself, or is asked for one."""
        def answer(server, head):
            if accepts(head):
                return (f"RTSP/1.0 200 OK\r\nCSeq: @CSEQ@\r\nSession: 1\r\nTransport: RTP/AVP;multicast;"
                        f"destination={server.group[0]};port={server.group[1]}-{server.group[1] + 1};ttl=1\r\n\r\n").encode()
            return b"RTSP/1.0 461 Unsupported Transport\r\nCSeq: @CSEQ@\r\n\r\n"
        for name, query, accepts, asked in (
                ("refuses the others", "", lambda head: "multicast" in head, ["TCP", "client_port", "multicast"]),
                ("names it", "", lambda head: True, ["TCP"]),
                ("asked for", "?transport=multicast", lambda head: True, ["multicast"])):
            with self.subTest(name):
                camera = self.camera(kind=Group, answers={"SETUP": answer})
                sender = self.sender(source=camera.url + query)
                self.assertEqual([next(w for w in ("TCP", "client_port", "multicast") if w in head)
                                  for head in camera.asked("SETUP")], asked)
                self.assertNotIn("transport=", "".join(camera.uris("DESCRIBE")))
                self.see(sender.url, frames=FPS)
                sender.stop()
                camera.stop()

    def test_goes_away_and_comes_back(self):
        """Viewers stay while the camera is away. It comes back with larger pictures."""
        camera = self.camera()
        port = int(re.search(r":(\d+)/", camera.url).group(1))
        sender = self.sender(source=camera.url)
        p = self.player(sender.url, "--duration", "600")
        p.wait_shown(FPS)
        camera.stop()
        lib.until(lambda: "is lost" in sender.stderr, "the loss", 20)
        lib.until(lambda: "the server's source is away: " in p.stderr, "the reason, for viewers", 30)
        self.assertNotIn("127.0.0.1", re.search(".*source is away.*", p.stderr)[0])
        self.camera(self.large, port=port)
        lib.until(lambda: "is back after" in sender.stderr, "the return", 40)
        self.assertIn("now sends pictures of 320x240", sender.stderr)
        before = len(p.shown())
        lib.until(lambda: len(p.shown()) > before + FPS, "pictures after the return", 20)
        self.assertEqual(len(p.events("connected")), 1, str(p))
        late = self.see(sender.url, frames=FPS)
        self.assertGreater(late.report()["playback"]["frames_played"], 3, str(late))
        self.assertIn("320x240", late.stdout)
        self.assertEqual(sender.stderr.count("is lost"), 1, str(sender))

    def test_the_rate_follows_the_camera(self):
        """A camera that gets faster: its viewers connect again, and see its rate. Its recording goes on."""
        lib.need("ffprobe")
        camera, path = self.camera(), self.path("recorded.mkv")
        sender = self.sender("--record", path, source=camera.url)
        p = self.player(sender.url, "--duration", "600", "--reconnect")
        p.wait_shown(FPS)
        camera.rate = 2 * FPS
        lib.until(lambda: f"now sends {2 * FPS} frames/s, more than {FPS}" in sender.stderr, "the rise", 40)
        rise = camera.sent
        lib.until(lambda: len(p.events("connected")) > 1, "another session", 40)
        before = len(p.shown())
        lib.until(lambda: len(p.shown()) > before + FPS, "pictures after the rise", 40)
        late = self.see(sender.url, frames=10)
        self.assertEqual(late.report()["session"]["source"], f"camera 160x120@{2 * FPS}")
        self.assertEqual(late.report()["playback"]["frames_undecodable"], 0, str(late))
        self.assertEqual(sender.stderr.count("now sends"), 1, str(sender))
        lib.until(lambda: camera.sent > rise + 12 * FPS, "pictures to record", 40)
        self.stop_cleanly(sender)
        self.assertGreater(float(self.probe(path)[-1]), rise / FPS + 2, "the recording goes on, in the same file")

    def test_b_frames_in_a_recording(self):
        """Each picture of the recording has the time at which it is shown, though it comes in the order of decoding."""
        for tool in "ffmpeg", "ffprobe":
            lib.need(tool)
        source = self.path("b.mp4")
        made = subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc=s=160x120:r={FPS}:d=2", "-pix_fmt",
                               "yuv420p", "-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", "25", "-x264-params",
                               "b-adapt=0:scenecut=0:open-gop=0", source], timeout=60 * lib.PATIENCE)
        if made.returncode:
            self.skipTest("this ffmpeg has no libx264")
        data = subprocess.run(["ffmpeg", "-v", "error", "-i", source, "-c", "copy", "-bsf:v", "h264_mp4toannexb", "-f", "h264",
                               "-"], stdout=subprocess.PIPE, check=True, timeout=60 * lib.PATIENCE).stdout
        shown = [float(t) for t in self.probe(source)]
        sdp = re.sub(r";sprop-parameter-sets=[^;\r]+", "", self.small[0])
        camera = self.camera((sdp, access_units(data)), kind=Reordered, shown=[round(FPS * (t - min(shown))) for t in shown])
        path = self.path("recorded.mkv")
        sender = self.sender("--record", path, source=camera.url)
        self.assertIn("sends B frames", sender.stderr)
        self.see(sender.url, frames=4 * FPS)
        self.stop_cleanly(sender)
        times = [float(t) for t in self.probe(path)]
        self.assertGreater(len(times), FPS, str(sender))
        times = [t for t in times if t > 0.5]  # before, it is not known yet how late the camera's pictures are
        self.assertNotEqual(times, sorted(times))
        steps = [b - a for a, b in zip(sorted(times), sorted(times)[1:])]
        near = [s for s in steps if s > 0.5 / FPS and abs(s - round(s * FPS) / FPS) < 0.01]  # more than one: one is left out
        self.assertGreater(len(near), 0.8 * len(steps), str(steps))

    @staticmethod
    def probe(path):
        out = subprocess.run(["ffprobe", "-v", "fatal", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of",
                              "csv=p=0", path], stdout=subprocess.PIPE, check=True, timeout=60 * lib.PATIENCE, text=True).stdout
        return [line.rstrip(",") for line in out.split()]

    def test_silence_is_a_loss(self):
        """A camera that answers and sends nothing more is lost after 10 s."""
        camera = self.camera(kind=Pauses)
        sender = self.sender(source=camera.url)
        lib.until(lambda: re.search(r"is lost: no whole picture came for 1\d s", sender.stderr), "the loss", 40)
        self.assertNotIn("no key frame", sender.stderr)

    def test_several_sources(self):
        """A camera that is away does not keep the others from viewers."""
        gone = socket.create_server(("127.0.0.1", 0))
        port = gone.getsockname()[1]
        gone.close()
        password = "sekret"
        sender = self.sender("--metrics", "127.0.0.1:0", f"yard={self.camera().url}",
                             source=f"gate=rtsp://joe:{password}@127.0.0.1:{port}/x")
        lib.until(lambda: "/gate is not available" in sender.stderr, "the failure", 20)
        p = self.see(sender.url.rstrip("/") + "/yard", frames=FPS)
        self.assertGreater(p.report()["playback"]["frames_played"], 3, str(p))
        self.assertNotIn(password, sender.stderr + sender.stdout)

    def test_a_still_picture(self):
        camera = self.camera()
        sender = self.sender("--insecure", source=camera.url)
        at = f"http://127.0.0.1:{sender.port}/live.jpg"
        with urllib.request.urlopen(at, timeout=20 * lib.PATIENCE) as answer:
            self.assertTrue(answer.read().startswith(b"\xff\xd8"))
        camera.stop()
        lib.until(lambda: "is lost" in sender.stderr, "the loss", 20)

        def refused():
            try:
                urllib.request.urlopen(at, timeout=20 * lib.PATIENCE).close()
            except urllib.error.HTTPError as e:
                return e.code
            return None
        self.assertGreaterEqual(lib.until(refused, "the refusal", 20), 500)

    def test_transcode(self):
        sender = self.sender("--transcode", "--level", f"160x120@{FPS}:200", "--level", f"80x60@{FPS}:60",
                             source=self.camera().url)
        self.assertEqual([(w, h) for w, h, _, _ in sender.levels()], [(80, 60), (160, 120)])
        for level in "0", "1":
            with self.subTest(level):
                p = self.see(sender.url, "--level", level, frames=FPS)
                self.assertGreater(p.report()["playback"]["frames_played"], 3, str(p))
                self.assertEqual(p.report()["playback"]["frames_undecodable"], 0, str(p))

    def test_options(self):
        for args, text in ((["--level", "160x120@25:200"], "require --transcode"),
                           (["--prepare"], "requires FILE or FOLDER")):
            with self.subTest(args):
                p = self.start([lib.SEND, *args, "rtsp://joe:sekret@127.0.0.1/x"])
                self.assertEqual(p.wait(20), 2, str(p))
                self.assertIn(text, p.stderr)
        p = self.start([lib.SEND, "--print-config", "yard=rtsp://joe:sekret@127.0.0.1/x"])
        self.assertEqual(p.wait(20), 0, str(p))
        self.assertNotIn("sekret", p.stdout + p.stderr)
        self.assertNotIn("joe", p.stdout + p.stderr)
        self.assertIn("@127.0.0.1/x", p.stdout)


def access_units(data):
    """The pictures of H.264, Annex B: for each its NAL units. The encoder makes one slice a picture."""
    pictures, waiting = [], []
    for unit in (u.rstrip(b"\0") for u in re.split(b"\0\0\0?\1", data) if u):
        waiting.append(unit)
        if unit[0] & 31 in (1, 5):
            pictures.append(waiting)
            waiting = []
    return pictures


class Reordered(FakeServer):
    """Sends pictures in the order of decoding, again and again. `shown`: for each its place in the order of display."""

    def __init__(self, sdp, pictures, shown, **options):
        self.pictures, self.shown, self.seq = pictures, shown, 0
        super().__init__(sdp, type(self).play, **options)

    def play(self):
        count, begun = 0, time.monotonic()
        while not self.over.is_set():
            place = count % len(self.pictures)
            at = count - place + self.shown[place]
            units_of = self.pictures[place]
            for i, unit in enumerate(units_of):
                self.unit(unit, 9000 + at * 90000 // FPS, i == len(units_of) - 1)
            count += 1
            self.pause(max(0, begun + count / FPS - time.monotonic()))  # at the rate that its time stamps have

    def unit(self, unit, stamp, last):
        whole = len(unit) <= 1200
        parts = [unit] if whole else [unit[i:i + 1200] for i in range(1, len(unit), 1200)]
        for i, part in enumerate(parts):
            ends = i == len(parts) - 1
            head = b"" if whole else bytes([unit[0] & 0xE0 | 28, (i == 0) << 7 | ends << 6 | unit[0] & 31])
            rtp = struct.pack("!BBHII", 0x80, (last and ends) << 7 | 96, self.seq & 0xFFFF, stamp & 0xFFFFFFFF, 7)
            self.packet(rtp + head + part)
            self.seq += 1


class Pauses(Camera):
    """Sends for a second, and then nothing."""

    def give(self, data):
        self.given = getattr(self, "given", 0) + 1
        if self.given < 2 * FPS:
            super().give(data)


class Slow(Reordered):
    """One key frame a second, by its time stamps."""

    def play(self):
        count = 0
        while not self.over.is_set():
            for i, unit in enumerate(self.pictures[0]):
                self.unit(unit, 9000 + count * 90000, i == len(self.pictures[0]) - 1)
            count += 1
            self.pause(1)


class Group(Camera):
    """Sends to a multicast group alone, of this host."""

    def __init__(self, *args, **options):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        self.group = "239.255.7.7", self.socket.getsockname()[1] & ~1
        super().__init__(*args, **options)

    def give(self, data):
        self.socket.sendto(data, self.group)

    def stop(self):
        super().stop()
        self.socket.close()


class Silent(FakeServer):
    """Answers PLAY and sends nothing."""

    def __init__(self, sdp, packets, **options):
        super().__init__(sdp, lambda server: None, **options)


class Huge(FakeServer):
    """Sends a picture without end."""

    def __init__(self, sdp, packets, **options):
        super().__init__(sdp, Huge.play, **options)

    def play(self):
        seq = 0
        while not self.over.is_set():
            begins = 0x80 if seq == 0 else 0
            head = struct.pack("!BBHII", 0x80, 96, seq & 0xFFFF, 9000, 7)
            self.packet(head + bytes([0x7C, begins | 5]) + b"\x88" * 1400)
            seq += 1


class Endless(threading.Thread):
    """Answers each request with `head` and an endless body."""

    def __init__(self, head):
        super().__init__(daemon=True)
        self.head, self.sent, self.over = head, 0, threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"rtsp://127.0.0.1:{self.listener.getsockname()[1]}/live"
        self.start()

    def run(self):
        try:
            c, _ = self.listener.accept()
            with c:
                asked = c.recv(65536)
                cseq = re.search(rb"CSeq: (\d+)", asked).group(1)
                c.sendall(b"RTSP/1.0 200 OK\r\nCSeq: " + cseq + b"\r\n" + self.head)
                while not self.over.is_set():
                    c.sendall(b"a=x\r\n" * 1000)
                    self.sent += 5000
        except OSError:
            pass

    def stop(self):
        self.over.set()
        self.listener.close()


class Hostile(Case):
    def test_a_description_without_end(self):
        for head in b"Content-Length: 2000000000\r\n\r\n", b"x: ", b"Content-Length: 16000\r\n\r\n":
            with self.subTest(head):
                server = Endless(head)
                self.addCleanup(server.stop)
                self.assertRegex(self.fails(server.url), "error: camera at 127.0.0.1: ")
                self.assertLess(server.sent, 64 << 20)

    @lib.long
    def test_nothing_that_can_be_shown(self):
        """No picture, or one without end: weir-send ends in time, and says why."""
        bare = re.sub(r";sprop-parameter-sets=[^;\r]+", "", self.small[0]), self.small[1]
        for kind in Silent, Huge:
            with self.subTest(kind):
                self.assertRegex(self.fails(self.camera(bare, kind=kind).url), "camera at 127.0.0.1: no (picture|key frame)|whole")

    def test_lines_without_end(self):
        """A camera that changes its size all the time makes a bounded number of lines."""
        (sdp, small), (_, large) = self.small, self.large
        camera = self.camera((sdp, small[:40] + large[:40]))
        sender = self.sender(source=camera.url)
        lib.until(lambda: "further messages are left out" in sender.stderr, "the bound", 120)
        lines, sent = sender.stderr.count("\n"), camera.sent
        lib.until(lambda: camera.sent > sent + 4 * FPS, "further pictures", 40)
        self.assertEqual(sender.stderr.count("\n"), lines, str(sender))

    def test_no_camera(self):
        for sdp, text in ((self.small[0].replace("H264", "VP8"), "no H.264, H.265, VP9 or JPEG video"),
                          ("nonsense", "cannot be used")):
            with self.subTest(text):
                self.assertIn(text, self.fails(self.camera((sdp, self.small[1])).url))
        self.assertIn("malformed", self.fails("rtsp://joe:sekret@:x/"))


class Coded(Camera):
    """Sends pictures that ffmpeg has encoded; each is a list of payloads with their markers."""

    def __init__(self, sdp, pictures, **options):
        super().__init__(sdp, pictures, **options)
        self.media = Coded.give_pictures

    def give_pictures(self):
        seq, n = 0, 0
        while not self.over.is_set():
            for payload, marker in self.packets[n % len(self.packets)]:
                self.give(struct.pack("!BBHII", 0x80, marker << 7 | 96, seq & 0xFFFF, n * 90000 // FPS & 0xFFFFFFFF, 7) + payload)
                seq += 1
            n, self.sent = n + 1, self.sent + 1
            self.pause(1 / FPS)


class Odd(Case):
    """Cameras that send one quirk at a time, in H.264 and in H.265."""

    AUD = {"H264": b"\x09\xf0", "H265": b"\x46\x01"}

    def pictures(self, codec, *args):
        """Returns the units of each picture of a second of the codec, which has delimiters before them."""
        lib.need("ffmpeg")
        name, more = {"H264": ("libx264", "h264"), "H265": ("libx265", "hevc")}[codec]
        parameters = f"keyint={FPS}:bframes=0:scenecut=0:aud=1:repeat-headers=1:slices=4" + (":log-level=none" if codec == "H265" else "")
        out = subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=s=320x240:r={FPS}", "-t", "1", "-pix_fmt",
                              "yuv420p", *args, "-c:v", name, "-preset", "ultrafast", f"-{name[3:]}-params", parameters, "-f", more, "-"],
                             stdout=subprocess.PIPE, check=True, timeout=60 * lib.PATIENCE).stdout
        found = []
        for unit in [u.rstrip(b"\0") for u in re.split(b"\0\0\0?\1", out) if u]:
            if unit[0] == self.AUD[codec][0]:
                found.append([])
            else:
                found[-1].append(unit)
        return found

    @staticmethod
    def is_set(codec, unit):
        return unit[0] & 31 in (7, 8) if codec == "H264" else unit[0] >> 1 & 63 in (32, 33, 34)

    @staticmethod
    def fragments(codec, unit, size=900):
        """The payloads of a unit: itself, or fragments."""
        head = 1 if codec == "H264" else 2
        if len(unit) <= size:
            return [unit]
        parts = [unit[at:at + size] for at in range(head, len(unit), size)]
        kind = unit[0] & 31 if head == 1 else unit[0] >> 1 & 63
        indicator = bytes([unit[0] & 0xE0 | 28]) if head == 1 else bytes([unit[0] & 0x81 | 49 << 1, unit[1]])
        return [indicator + bytes([kind | (i == 0) << 7 | (i == len(parts) - 1) << 6]) + part for i, part in enumerate(parts)]

    def camera_of(self, codec, pictures, markers, sets=()):
        """`markers`: "right", "none" or "all" (at each unit)."""
        def packets(units):
            found = [(p, i == len(f) - 1) for u in units for f in [self.fragments(codec, u)] for i, p in enumerate(f)]
            return [(p, markers == "all" and ends or markers == "right" and i == len(found) - 1) for i, (p, ends) in enumerate(found)]
        coded = [base64.b64encode(s).decode() for s in sets]
        names = ("sprop-vps", "sprop-sps", "sprop-pps") if codec == "H265" else ()
        fmtp = ";".join(f"{n}={v}" for n, v in zip(names, coded)) or "packetization-mode=1" + (
            ";sprop-parameter-sets=" + ",".join(coded) if coded else "")
        sdp = ("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\n"
               f"a=rtpmap:96 {codec}/90000\r\na=fmtp:96 {fmtp}\r\na=control:track1\r\n")
        return self.camera((sdp, [packets(units) for units in pictures]), kind=Coded)

    def check_seen(self, camera, *args, undecodable=0):
        sender = self.sender(*args, source=camera.url)
        r = self.see(sender.url, frames=FPS).report()["playback"]
        self.assertGreater(r["frames_played"], 3, str(sender))
        self.assertLessEqual(r["frames_undecodable"], undecodable, str(sender))

    def test_markers(self):
        """Four slices a picture, with markers that are missing, or at each of them: the first picture shows that these lie."""
        for codec in "H264", "H265":
            pictures = self.pictures(codec)
            for markers in "none", "all":
                with self.subTest((codec, markers)):
                    self.check_seen(self.camera_of(codec, pictures, markers), undecodable=markers == "all")

    def test_parameter_sets_in_the_description_alone(self):
        for codec in "H264", "H265":
            with self.subTest(codec):
                pictures = self.pictures(codec)
                sets = [u for u in pictures[0] if self.is_set(codec, u)]
                bare = [[u for u in units if not self.is_set(codec, u)] for units in pictures]
                self.check_seen(self.camera_of(codec, bare, "right", sets))

    def test_start_codes_in_units(self):
        """A key picture with its parameter sets as one unit, with start codes between them, and one before it."""
        for codec in "H264", "H265":
            pictures = self.pictures(codec)
            for code in b"", b"\0\0\0\1":
                with self.subTest((codec, code)):
                    joined = [[code + b"\0\0\0\1".join(units)] for units in pictures]
                    self.check_seen(self.camera_of(codec, joined, "right"))

    def test_ten_bits(self):
        """Pictures of ten bits and 4:2:2 are shown, whether weir-send decodes them or the viewer."""
        pictures = self.pictures("H264", "-pix_fmt", "yuv422p10le", "-profile:v", "high422")
        self.check_seen(self.camera_of("H264", pictures, "right"))
        self.check_seen(self.camera_of("H264", pictures, "right"), "--transcode")

    def test_no_key_frame(self):
        """Pictures come, but after the first key frame none for 10 s."""
        pictures = self.pictures("H264")
        camera = self.camera_of("H264", pictures + 60 * pictures[1:], "right")
        sender = self.sender(source=camera.url)
        lib.until(lambda: "no key frame came for 10 s" in sender.stderr, "the line", 60)


@unittest.skipUnless(have_server(), "GStreamer's RTSP server for Python, or its x264enc, is not installed")
class ThirdParty(lib.Case):
    def serve(self, *args):
        here = os.path.dirname(os.path.abspath(__file__))
        p = self.start(["/usr/bin/python3", os.path.join(here, "gst_server.py"), *args])
        found = lib.until(lambda: re.search(r"port (\d+)", p.stdout) or not p.running(), "the server")
        self.assertNotEqual(found, True, str(p))
        return int(found.group(1))

    def test_a_viewer_joins_within_a_long_group(self):
        """The camera makes a key frame each 10 s; viewers see pictures before the next one."""
        port = self.serve("--encoder", "tune=zerolatency bframes=0 key-int-max=250")
        sender = self.sender(source=f"rtsp://127.0.0.1:{port}/live")
        self.play(sender.url, "--duration", "3")
        p = self.player(sender.url, "--duration", "600")
        p.wait_shown(3)
        newest = max(e["number"] for e in p.events("frame"))
        lib.until(lambda: any(e["number"] > newest for e in p.shown()), "a picture of after the start", 30)

    def test_passwords(self):
        for args in (), ("--basic",):
            port = self.serve("--user", "joe:pa@ss", *args)
            with self.subTest(args):
                sender = self.sender(source=f"rtsp://joe:pa%40ss@127.0.0.1:{port}/live")
                p = self.see(sender.url, frames=FPS)
                self.assertGreater(p.report()["playback"]["frames_played"], 3, str(p))
                for text in sender.stderr, p.stderr, str(p.report()):
                    self.assertNotRegex(text, "pa%40ss|pa@ss|joe")
            for user in "", "joe:sekret@":
                with self.subTest((args, user)):
                    p = self.start([lib.SEND, "--listen", "127.0.0.1:0", f"rtsp://{user}127.0.0.1:{port}/live"])
                    self.assertEqual(p.wait(30), 1, str(p))
                    self.assertIn("401", p.stderr)
                    self.assertNotIn("sekret", p.stderr)

    def test_udp_only(self):
        port = self.serve("--udp")
        sender = self.sender(source=f"rtsp://127.0.0.1:{port}/live")
        self.assertIn("the camera sends over UDP", sender.stderr)
        p = self.see(sender.url, frames=FPS)
        self.assertGreater(p.report()["playback"]["frames_played"], 3, str(p))

    def test_h265_is_decoded_and_encoded(self):
        port = self.serve("--video", "h265")
        sender = self.sender(source=f"rtsp://127.0.0.1:{port}/live")
        self.assertIn("sends H.265: viewers get H.264", sender.stderr)
        p = self.see(sender.url, frames=FPS)
        self.assertGreater(p.report()["playback"]["frames_played"], 3, str(p))
        self.assertEqual(p.report()["playback"]["frames_undecodable"], 0, str(p))

    def test_jpeg_is_decoded_and_encoded(self):
        """Pictures of 4:2:0 (RFC 2435, type 1), with the standard's tables and with the camera's own."""
        for pay in "", "jpegenc quality=92 ! rtpjpegpay":
            with self.subTest(pay):
                port = self.serve("--video", "jpeg")
                sender = self.sender(source=f"rtsp://127.0.0.1:{port}/live")
                self.assertIn("sends JPEG: viewers get H.264", sender.stderr)
                p = self.see(sender.url, frames=FPS)
                self.assertGreater(p.report()["playback"]["frames_played"], 3, str(p))
                self.assertEqual(p.report()["playback"]["frames_undecodable"], 0, str(p))

    def heard(self, url, *args):
        r = self.see(url, *args, frames=50).report()
        self.assertIsNotNone(r["audio"], str(r))
        self.assertGreater(r["audio"]["packets"], 20, str(r))
        self.assertGreater(r["audio"]["heard"], 0.1, str(r))

    @lib.long
    def test_audio(self):
        for kind, name in (("opus", None), ("aac", "AAC"), ("pcma", "G.711"), ("pcmu", "G.711"), ("l16", "L16"), ("g726", "G.726"),
                           ("aal2", "G.726")):
            with self.subTest(kind):
                port = self.serve("--audio", kind)
                sender = self.sender(source=f"rtsp://127.0.0.1:{port}/live")
                self.heard(sender.url)
                if name:
                    self.assertIn(f"its audio, {name}, is sent as Opus", sender.stderr)

    def test_audio_that_is_not_wanted(self):
        port = self.serve("--audio", "aac")
        for sound, said in ("none", ""), ("alsa", "--sound alsa is ignored: what is passed on has its own audio"):
            with self.subTest(sound):
                sender = self.sender("--sound", sound, source=f"rtsp://127.0.0.1:{port}/live")
                self.assertIn(said, sender.stderr)
                self.assertEqual(self.see(sender.url, frames=FPS).report()["audio"] is None, sound == "none")

    def test_audio_that_is_not_known(self):
        port = self.serve("--audio", "g722")
        sender = self.sender(source=f"rtsp://127.0.0.1:{port}/live")
        self.assertIn("its audio, G722, is not sent: set the camera to AAC or G.711", sender.stderr)
        self.assertIsNone(self.play(sender.url, "--duration", "2").report()["audio"])


class FfmpegJpeg(lib.Case):
    """JPEG as FFmpeg's RTP muxer sends it: one quantization table for all components."""

    def recorded(self):
        """RTP packets of two seconds, and the media of their SDP."""
        lib.need("ffmpeg")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("127.0.0.1", 0))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
            s.settimeout(.2)
            ffmpeg = subprocess.Popen(
                ["ffmpeg", "-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=15:d=2", "-c:v", "mjpeg",
                 "-huffman", "default", "-q:v", "5", "-pix_fmt", "yuvj420p", "-f", "rtp", "-sdp_file", self.path("x.sdp"),
                 f"rtp://127.0.0.1:{s.getsockname()[1]}?pkt_size=1200"])
            self.addCleanup(ffmpeg.kill)
            packets = []

            def over():
                done = ffmpeg.poll() is not None  # before the queue is found empty
                try:
                    while True:
                        packets.append(s.recv(4000))
                except TimeoutError:
                    return done
            lib.until(over, "all packets", 60)
            self.assertEqual(ffmpeg.wait(), 0)
        with open(self.path("x.sdp")) as f:
            text = f.read()
        return packets, re.sub(r"m=video \d+", "m=video 0", text[text.index("m="):]).replace("\n", "\r\n")

    def test_one_table_for_all_components(self):
        packets, media = self.recorded()
        first = Rtp(packets[0]).payload
        self.assertEqual((first[5], first[10:12]), (255, b"\0\x40"), "Q 255 and a table of 64 bytes, which this test is about")

        def play(server):
            seq = base = 0
            while True:
                last = None
                for data in packets:
                    stamp = struct.unpack("!I", data[4:8])[0]
                    if last not in (None, stamp) and not server.pause(1 / 15):
                        return
                    last = stamp
                    head = struct.pack("!BBHI", data[0], data[1], seq & 0xFFFF, base + stamp & 0xFFFFFFFF)
                    server.packet(head + data[8:])
                    seq += 1
                base += 2 * 90000

        head = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\na=control:*\r\na=range:npt=now-\r\n"
        camera = FakeServer(head + media + "a=control:v\r\n", play)
        self.addCleanup(camera.stop)
        sender = self.sender(source=camera.url)
        self.assertIn("sends JPEG: viewers get H.264", sender.stderr)
        p = self.see(sender.url, frames=10)
        self.assertEqual(p.report()["playback"]["frames_undecodable"], 0, str(p))


if __name__ == "__main__":
    lib.main()
