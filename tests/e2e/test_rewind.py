# SPDX-License-Identifier: GPL-2.0-or-later
"""Live rewind: a viewer goes back in live video and returns, and no other viewer notices."""
import datetime
import glob
import os
import re
import signal
import time

import lib
import recordings
from lib import until
from rtsp import Client, Rtp, Viewer
from screen import Screen

TCP = "RTP/AVP/TCP;unicast;interleaved=0-1"


def seconds_of(clock):
    """The time that a header Range: clock=...- names."""
    text = re.fullmatch(r"clock=(\d{8}T\d{6}\.\d{3})Z-", clock).group(1)
    return datetime.datetime.strptime(text + "+0000", "%Y%m%dT%H%M%S.%f%z").timestamp()


def clock_of(seconds):
    t = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return f"clock={t:%Y%m%dT%H%M%S}.{t.microsecond // 1000:03}Z-"


def place_of(answer):
    """(behind, back, first) of a response to PLAY."""
    rewind = re.fullmatch(r"behind=([\d.]+);back=(\d+)", answer.headers["x-weir-rewind"])
    frames = re.match(r"first=(\d+);show=(\d+)", answer.headers.get("x-weir-frames", ""))
    return float(rewind.group(1)), int(rewind.group(2)), int(frames.group(1)) if frames else None


class Rewind(lib.Case):
    def begin(self, *options):
        self.server = self.sender(*options)
        self.viewer = Viewer(self.server.port)
        self.viewer.wait_frames(3)
        self.client = Client(self.server.port)
        self.addCleanup(self.client.close)
        self.client.request("SETUP", f"{self.client.url}/trackID=0", {"Transport": TCP})

    def request_play(self, range_, status=200):
        answer = self.client.request("PLAY", headers={"Range": range_} if range_ else {})
        self.assertEqual(answer.status, status, str(answer))
        return answer

    def end(self):
        self.viewer.check()
        self.stop_cleanly(self.server)


class Protocol(Rewind):
    def test_back_and_to_the_present(self):
        self.begin("--rewind", "60s")
        begun = time.time()
        answer = self.request_play("npt=now-")
        self.assertEqual(answer.headers["range"], "npt=now-")
        self.assertEqual(place_of(answer), (0, 60, None))
        seen = self.viewer.frames + 8 * lib.FPS
        until(lambda: self.client.collect(0.1) is None or self.viewer.frames > seen, "8 s of the stream", 20)

        # As far back as there is: the stream's begin.
        asked = time.time()
        answer = self.request_play("npt=-60-")
        behind, back, first = place_of(answer)
        self.assertGreater(behind, 7)
        self.assertEqual(back, 60)
        self.between(asked - behind - 1, seconds_of(answer.headers["range"]), time.time() - behind + 1)
        self.assertLess(seconds_of(answer.headers["range"]), begun)  # the viewer had pictures by then
        packets = [Rtp(data) for channel, data in self.client.collect_least(40, 1) if channel == 0]
        self.assertGreater(len(packets), 10)
        self.assertEqual(len({p.seq for p in packets}), len(packets))

        # A time: the answer has the key frame at or before it.
        wanted = time.time() - 4
        answer = self.request_play(clock_of(wanted))
        got = seconds_of(answer.headers["range"])
        self.assertLess(got, wanted + 0.01)
        self.assertGreater(got, wanted - 30)
        self.assertGreater(place_of(answer)[2], first)

        # Without a range it stays where it is.
        answer = self.request_play(None)
        self.assertGreater(place_of(answer)[0], 3)

        # A pause makes it later.
        self.assertEqual(self.client.request("PAUSE").status, 200)
        before = place_of(answer)[0]
        self.viewer.wait_frames(lib.FPS)
        answer = self.request_play(None)
        self.assertGreater(place_of(answer)[0], before)
        self.assertGreater(len(self.client.collect_least(10, 0.5)), 9)

        answer = self.request_play("npt=now-")
        self.assertEqual(answer.headers["range"], "npt=now-")
        self.assertEqual(place_of(answer)[0], 0)
        self.assertGreater(len(self.client.collect_least(10, 0.5)), 9)
        self.end()

    def test_begins_in_the_past(self):
        self.begin("--rewind", "60s")
        self.viewer.wait_frames(60)
        answer = self.request_play("npt=-30-")
        self.assertGreater(place_of(answer)[0], 1)
        packets = [Rtp(data) for channel, data in self.client.collect_least(20, 0.5) if channel == 0]
        self.assertGreater(len(packets), 10)
        self.end()

    def test_the_future_is_the_present(self):
        self.begin("--rewind", "60s")
        answer = self.request_play(clock_of(time.time() + 3600))
        self.assertEqual(answer.headers["range"], "npt=now-")
        self.end()

    def test_without_a_past(self):
        self.begin()
        for range_ in "npt=-60-", "clock=20200101T000000Z-":
            self.assertIn("--rewind", self.request_play(range_, 457).body)
        answer = self.request_play("npt=now-")
        self.assertNotIn("x-weir-rewind", answer.headers)
        self.request_play("npt=0.000-")  # ffplay's
        self.end()

    def test_nonsense(self):
        self.begin("--rewind", "60s")
        for range_ in "npt=-60-70", "clock=yesterday-", "clock=20261324T000000Z-", "smpte=0:0:1-":
            self.request_play(range_, 457)
        self.end()

    def test_options(self):
        for value in "0s", "60", "25h", "10MB", "1m,1m", "":
            p = self.start([lib.SEND, "--listen", "127.0.0.1:0", "--rewind", value, lib.SOURCE])
            self.assertEqual(p.wait(), 2, str(p))
            self.assertIn("--rewind", p.stderr)


DAY = 24 * 3600


class Recorded(Rewind):
    def pattern(self):
        return os.path.join(self.path("recordings"), recordings.PATTERN)

    def record(self, seconds):
        """Records a file and ends the sender."""
        os.makedirs(self.path("recordings"), exist_ok=True)
        sender = self.sender("--record", self.pattern())
        until(self.files, "a recording")
        viewer = Viewer(sender.port)
        viewer.wait_frames(seconds * 30)
        viewer.check()
        self.stop_cleanly(sender)

    def files(self):
        return sorted(glob.glob(self.path("recordings/*.mkv")))

    def move_back(self, path, seconds):
        return recordings.copy_older(path, seconds)

    @lib.long
    def test_a_day_back(self):
        self.record(14)
        begun = [self.move_back(self.files()[-1], DAY + i) for i in (600, 20, 0)]
        os.unlink(self.files()[-1])
        self.begin("--record", self.pattern())
        for wanted, least in ((begun[2] + 7, begun[2] + 1), (begun[1] + 2, begun[1]), (begun[0] + 13, begun[0] + 7),
                              (begun[0] - 3600, begun[0])):
            asked = time.time()
            answer = self.request_play(clock_of(wanted))
            now = time.time()
            packets = self.client.collect_least(1)
            got = seconds_of(answer.headers["range"])
            self.assertLess(got, max(wanted, begun[0]) + 0.1)
            self.assertGreater(got, least - 0.1)
            self.between(asked - got - 1, place_of(answer)[0], now - got + 1)
            self.assertTrue(packets)
        # It goes on from one file to the next, and the pause of ten minutes is left out. PLAY begins with a key frame again.
        until(lambda: self.client.collect_least(200) and place_of(self.request_play(None))[0] < DAY + 300, "the next file", 60)
        self.assertEqual(self.request_play("npt=now-").headers["range"], "npt=now-")
        self.assertGreater(len(self.client.collect_least(10, 0.5)), 9)
        self.end()

    @lib.long
    def test_the_file_that_is_being_written(self):
        os.makedirs(self.path("recordings"))
        self.begin("--record", self.pattern())
        until(self.files, "the recording")
        begun = time.time()
        self.viewer.wait_frames(26 * lib.FPS)  # longer than memory has it
        answer = self.request_play(clock_of(begun))
        got = seconds_of(answer.headers["range"])
        self.assertLess(got, begun + 4)
        self.assertGreater(len(self.client.collect_least(40, 1)), 30)
        self.end()

    def test_a_killed_recording_and_other_files(self):
        self.record(8)
        path = self.files()[-1]
        begun = self.move_back(path, 3600)
        os.unlink(path)
        path = self.files()[-1]
        with open(path, "r+b") as f:
            f.truncate(os.path.getsize(path) * 3 // 4)
        for name, data in ("2020-01-01_00-00-00.mkv", b""), ("2020-01-01_00-00-01.mkv", os.urandom(100000)):
            with open(self.path("recordings/" + name), "wb") as f:
                f.write(data)
        self.begin("--record", self.pattern())
        for wanted in begun + 3, 0:
            answer = self.request_play(clock_of(wanted))
            self.assertAlmostEqual(seconds_of(answer.headers["range"]), begun, delta=5)
            self.assertGreater(len(self.client.collect_least(20, 1)), 10)
        self.end()

    @lib.long
    def test_a_player_a_day_back(self):
        self.record(14)
        begun = self.move_back(self.files()[-1], DAY - 20)
        sender = self.sender("--record", self.pattern())
        other = Viewer(sender.port)
        other.wait_frames(30)
        p = self.player(sender.url, "--start", str(begun + 1 - time.time()))
        p.wait_shown(30)
        p.signal(signal.SIGTERM)
        self.assertEqual(p.wait(), 130, str(p))
        p = self.player(sender.url, "--at", f"2:seek={begun + 1 - time.time()}")
        until(lambda: p.events("seek") or not p.running(), "the past", 20)
        p.signal(signal.SIGTERM)
        self.assertEqual(p.wait(), 130, str(p))
        seeks = p.events("seek")
        self.assertEqual(len(seeks), 1, str(p))
        self.assertLess(seeks[0]["to"], -DAY / 2)  # not in the recording of today
        other.check()


class PassedOn(Rewind):
    """A camera whose pictures are passed on as they are: its past needs no viewer, and no encoder."""

    def setUp(self):
        super().setUp()
        self.camera = self.sender()

    def connect(self, *options):
        self.server = self.sender(*options, source=self.camera.url)
        self.assertIn("camera", self.server.stderr)
        self.client = Client(self.server.port)
        self.addCleanup(self.client.close)

    def pictures(self, count=20):
        """The next packets of pictures."""
        found = []
        until(lambda: found.extend(Rtp(data) for channel, data in self.client.collect(0.1) if channel == 0)
              or len(found) >= count, "pictures")
        return found

    def check_begins(self, packets):
        """They begin at a key frame, and none is sent twice."""
        self.assertIn(packets[0].payload[0] & 0x1f, (6, 7, 24), "a key frame")
        self.assertEqual(len({p.seq for p in packets}), len(packets))

    def test_back_and_to_the_present(self):
        begun = time.time()
        self.connect("--rewind", "60s")
        other = Viewer(self.server.port)
        other.wait_frames(8 * lib.FPS)
        self.client.request("SETUP", f"{self.client.url}/trackID=0", {"Transport": TCP})
        numbers = []
        for range_, least in ("npt=-60-", 6), ("npt=now-", 0), ("npt=-2-", 2), ("npt=now-", 0):
            with self.subTest(range_):
                answer = self.request_play(range_)
                behind, back, first = place_of(answer)
                self.assertEqual(back, 60)
                self.between(least, behind, least and time.time() - begun + 2)
                self.check_begins(self.pictures())
                numbers.append(first)
        self.assertEqual(numbers, sorted(numbers))
        other.check()
        self.stop_cleanly(self.server)

    def test_a_player(self):
        self.connect("--rewind", "60s")
        other = Viewer(self.server.port)
        other.wait_frames(4 * lib.FPS)

        def seeks():
            """Returns both seeks. A busy machine may be at the first still when the second takes its place."""
            p = self.player(self.server.url, "--at", "1:seek=-60", "--at", "4:seek=0", "--log", "info")
            until(lambda: [e for e in p.events("seek") if e["to"] == 0] or not p.running(), "the second seek", 60)
            now = p.events("seek")[-1]
            until(lambda: p.shown()[-1]["shown"] > now["t"] + 1 or not p.running(), "pictures of the present", 60)
            self.interrupt(p)
            return len(p.events("seek")) == 2 and p.events("seek")
        back, now = until(seeks, "both seeks", 60)
        self.assertLess(back["to"], -3)
        self.assertEqual(now["to"], 0)
        other.check()
        self.stop_cleanly(self.server)

    def test_a_recording(self):
        os.makedirs(self.path("recordings"))
        pattern = os.path.join(self.path("recordings"), recordings.PATTERN)
        files = lambda: glob.glob(self.path("recordings/*.mkv"))
        self.connect("--record", pattern)
        other = Viewer(self.server.port)
        other.wait_frames(6 * lib.FPS)
        other.check()
        self.stop_cleanly(self.server)
        begun = recordings.copy_older(files()[0], DAY)
        self.connect("--record", pattern)
        self.client.request("SETUP", f"{self.client.url}/trackID=0", {"Transport": TCP})
        answer = self.request_play(clock_of(begun + 1))
        self.between(begun - 1, seconds_of(answer.headers["range"]), begun + 1.1)
        self.check_begins(self.pictures(60))
        self.request_play("npt=now-")
        self.check_begins(self.pictures())
        self.stop_cleanly(self.server)


class Playing(lib.Case):
    def play_for(self, sender, *args, seconds=20):
        """Plays beside another viewer, which must not notice."""
        other = Viewer(sender.port)
        other.wait_frames(90)
        player = self.player(sender.url, "--log", "info,connection=debug", *args)
        begun = until(lambda: player.events("connected") or not player.running(), "the connection", 20)
        self.assertIsNot(begun, True, str(player))
        end = begun[0]["t"] + seconds
        until(lambda: player.shown() and player.shown()[-1]["shown"] > end or not player.running(), f"{seconds} s of pictures", 60)
        self.interrupt(player)
        other.check()
        return player

    def test_back_and_on(self):
        sender = self.sender("--rewind", "60s")

        def played():
            """Returns the player. A busy machine may be at a seek still when the next one takes its place."""
            p = self.play_for(sender, "--at", "3:seek=-60", "--at", "7:seek=-4", "--at", "11:seek=0", seconds=14)
            return len(p.events("seek")) == 3 and p
        p = until(played, "all seeks", 60)
        seeks = p.events("seek")
        self.assertLess(seeks[0]["to"], -3)
        self.assertLess(seeks[1]["to"], -3)
        self.assertEqual(seeks[2]["to"], 0)
        report = p.report()
        self.assertEqual(report["seeks"]["count"], 3)
        self.assertGreater(max(e["shown"] for e in p.shown()), seeks[2]["t"])

    def test_begins_in_the_past(self):
        sender = self.sender("--rewind", "60s")
        p = self.play_for(sender, "--start", "-3", seconds=6)
        self.assertTrue(p.shown(), str(p))

    @lib.long
    def test_over_udp_and_mtp(self):
        sender = self.sender("--rewind", "60s")
        for transport in "udp", "scream", "mtp":
            with self.subTest(transport):
                def seeks(transport=transport):
                    """True if both came. A busy machine may be at the first still when the second takes its place."""
                    p = self.play_for(sender, "--transport", transport, "--at", "2:seek=-10", "--at", "7:seek=0", seconds=12)
                    return len(p.events("seek")) == 2
                until(seeks, "both seeks", 60)

    def test_no_past(self):
        sender = self.sender()
        p = self.play_for(sender, "--at", "1:seek=-10", seconds=3)
        self.assertEqual(p.events("seek"), [])
        self.assertTrue(p.shown(), str(p))
        p = self.play(sender.url, "--start", "-10", code=3, seconds=20)
        self.assertIn("--rewind", p.stderr)


class Window(Screen):
    def test_keys(self):
        server = self.sender("--rewind", "60s")
        p = self.open_url(server.url)
        self.resize(640, 360)
        until(lambda: p.shown()[-1]["number"] > 120, "a past")
        seeks = lambda: [e["to"] for e in p.events("seek")]
        self.key("Left")
        until(lambda: len(seeks()) == 1, "the past")
        self.assertLess(seeks()[0], -2)
        place = (8, 6, 400, 14)
        self.key("i")
        until(lambda: sum(v > 150 for v in self.grab(place)) > 50, "the line of the panel")
        self.key("space")
        until(lambda: "paused" in self.title(), "the pause")
        self.key("Left")
        until(lambda: "paused" not in self.title() and len(seeks()) == 2, "a step ends the pause")
        shown = len(p.shown())
        until(lambda: len(p.shown()) > shown + 20, "pictures of the past")
        self.key("End")
        until(lambda: len(seeks()) == 3, "the present")
        self.assertEqual(seeks()[2], 0)
        self.key("Right", "BackSpace")
        shown = len(p.shown())
        until(lambda: len(p.shown()) > shown + 20, "pictures of the present")
        self.assertEqual(len(seeks()), 3)
        self.quits(p)


if __name__ == "__main__":
    lib.main()
