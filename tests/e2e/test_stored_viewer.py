# SPDX-License-Identifier: GPL-2.0-or-later
"""The requests of a viewer of a stored ladder, one after the other, and the frames that follow."""
import collections
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import lib
from lib import until
from rtsp import Client, Rtp, rtcp_types

FPS, SECONDS = 30, 6
LEVELS = ["--level", "128x72@30:60", "--level", "192x108@30:120"]  # one of each size; a key frame every 2 s

Frame = collections.namedtuple("Frame", "number size key")


def adu(data):
    """Returns number, size and layer, and flags of a packet's frame (common/wire/rtp.h)."""
    p = Rtp(data)
    at = 12 + 4
    while p.header[at] >> 4 != 2:
        at += 2 + (p.header[at] & 15) if p.header[at] else 1
    return struct.unpack("!IBB", p.header[at + 1:at + 7])


def frame_of(data):
    """Returns None if the packet does not begin a frame."""
    number, layers, flags = adu(data)
    return Frame(number, layers >> 4, bool(flags & 0x80)) if flags & 0x40 else None


class StoredViewer(lib.Case):
    @classmethod
    def setUpClass(cls):
        lib.need("ffmpeg")
        super().setUpClass()
        cls.made = tempfile.mkdtemp(prefix="weir-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        film = os.path.join(cls.made, "film.mkv")
        lib.film_of(film, "-f", "lavfi", "-i", f"testsrc2=s=192x108:r={FPS}:d={SECONDS}", "-f", "lavfi", "-i",
                    f"sine=d={SECONDS}", "-c:v", "libx264", "-preset", "ultrafast")
        subprocess.run([lib.SEND, "--prepare", *LEVELS, film], check=True, timeout=60 * lib.PATIENCE, capture_output=True)

    def setUp(self):
        super().setUp()
        self.server = self.sender(source=os.path.join(self.made, "film.mkv"))
        self.client = Client(self.server.port)
        self.addCleanup(self.client.close)
        self.stamps = []  # of the frames that to_the_end returns

    def set_up(self, track=0):
        answer = self.client.request("SETUP", f"{self.client.url}/trackID={track}",
                                     {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf"})
        self.assertEqual(answer.status, 200, str(answer))

    def ask(self, method, body="", **headers):
        answer = self.client.request(method, headers=headers, body=body)
        self.assertEqual(answer.status, 200, str(answer))
        return answer

    def frames(self, seconds):
        """Returns the frames that begin within the time, and those received between earlier responses."""
        self.client.collect(seconds)
        packets, self.client.frames = self.client.frames, []
        return [f for f in (frame_of(data) for channel, data in packets if channel == 0) if f]

    def least(self, count, seconds=0.0):
        """Returns this many frames, and those that arrive within the time."""
        found = self.frames(seconds)
        until(lambda: found.extend(self.frames(0.1)) or len(found) >= count, f"{count} frames")
        return found

    def to_the_end(self):
        """Returns all frames until BYE."""
        frames, deadline = [], time.monotonic() + 20 * lib.PATIENCE
        while time.monotonic() < deadline:
            self.client.collect(0.1)
            self.stamps += [Rtp(data).timestamp for channel, data in self.client.frames if channel == 0 and frame_of(data)]
            over = any(channel == 1 and 203 in rtcp_types(data) for channel, data in self.client.frames)
            frames += self.frames(0)
            if over:
                return frames
        raise AssertionError("the media does not end")

    def test_another_speed_after_a_pause(self):
        """Earlier frames were sent at the earlier speed."""
        self.set_up()
        self.ask("PLAY", Range="npt=0-", Speed="2")
        before = self.least(10)
        self.ask("PAUSE")
        before = (before + self.frames(0.1))[-1].number
        self.ask("PLAY", Speed="0.25")
        numbers = [f.number for f in self.least(5)]
        self.between(before - 8, min(numbers), before + 8, "it goes on where it stopped")

    def second_group(self, client, **headers):
        """Requests a level when the first group has arrived. Returns the response, and the sizes in which frame 60 came."""
        self.client = client
        self.set_up()
        self.client.request("SET_PARAMETER", body="level: 0\r\n")
        answer = self.ask("PLAY", Range="npt=0-", Speed="4", **headers)
        # A server that does not wait has sent the first frame of the second group.
        frames = self.least(2 * FPS, 0.2) if headers else self.least(2 * FPS + 1)
        self.client.request("SET_PARAMETER", body="level: 1\r\n")
        frames += self.to_the_end()
        self.assertEqual(sorted({f.number for f in frames}), list(range(FPS * SECONDS)))
        return answer, [f.size for f in frames if f.number == 2 * FPS]

    def test_the_second_group_waits_for_the_level(self):
        """It does not wait for longer than half a group, which a busy machine may need: then once more."""
        def is_higher():
            client = Client(self.server.port)
            self.addCleanup(client.close)
            answer, sizes = self.second_group(client, **{"X-Weir-Await": "level"})
            self.assertIn(f"until={2 * FPS}", answer.headers["x-weir-frames"])
            return 1 in sizes
        until(is_higher, "the second group at the level that was requested", 120)

    def test_no_group_waits_unless_the_viewer_says_so(self):
        answer, sizes = self.second_group(self.client)
        self.assertNotIn("until", answer.headers["x-weir-frames"])
        self.assertEqual(sizes, [0])

    def test_a_group_again_at_a_lower_level(self):
        """Numbers go on as they were; the audio is not sent twice."""
        self.set_up()
        self.client.request("SETUP", f"{self.client.url}/trackID=1",
                            {"Transport": "RTP/AVP/TCP;unicast;interleaved=2-3;x-weir=minbuf"})
        self.ask("SET_PARAMETER", body="level: 1\r\n")
        self.ask("PLAY", Range="npt=0-", Speed="1")
        audio = []
        frames = self.least(2 * FPS + 1)
        self.ask("SET_PARAMETER", body=f"again: {2 * FPS}/0\r\n")
        refused = self.client.request("SET_PARAMETER", body=f"again: {2 * FPS + 1}/0\r\n")
        self.assertEqual(refused.status, 451, str(refused))
        deadline = time.monotonic() + 20 * lib.PATIENCE
        over = False
        while not over and time.monotonic() < deadline:
            self.client.collect(0.1)
            over = any(channel == 1 and 203 in rtcp_types(data) for channel, data in self.client.frames)
            audio += [adu(data)[0] for channel, data in self.client.frames if channel == 2]
            frames += self.frames(0)
        self.assertTrue(over, "the media does not end")
        again = [f.number for f in frames].index(2 * FPS) + 1
        again += [f.number for f in frames[again:]].index(2 * FPS)
        self.assertEqual(frames[again], Frame(2 * FPS, 0, True))
        self.assertEqual({f.size for f in frames[:again]}, {1})
        self.assertEqual(sorted(f.number for f in frames[again:]), list(range(2 * FPS, FPS * SECONDS)))
        self.assertEqual({f.size for f in frames[again:]}, {0})
        self.assertGreater(len(audio), 100)
        self.assertEqual(audio, sorted(set(audio)))

    def read_late(self, port):
        """While another viewer sees the whole film, the frames of the first wait for longer than those of live media may."""
        late, other = Client(port, receive_buffer=4096, segment=536), Client(port)
        for self.client in late, other:
            self.addCleanup(self.client.close)
            self.set_up()
            self.ask("PLAY", Range="npt=0-")
        self.to_the_end()
        self.client = late
        return sorted(f.number for f in self.to_the_end())

    def test_a_viewer_that_does_not_read(self):
        self.assertEqual(self.read_late(self.server.port), list(range(FPS * SECONDS)))

    def test_a_viewer_of_a_proxy_that_does_not_read(self):
        proxy = self.proxy("--origin", f"rtsp://{self.server.url.split('/')[2]}")
        self.assertEqual(self.read_late(proxy.port), list(range(FPS * SECONDS)))

    def test_once_more_from_the_beginning(self):
        """Playing again after the end, from any position, is no faster than the first time."""
        self.set_up()
        self.ask("PLAY", Range="npt=5-")
        last = max(f.number for f in self.to_the_end())
        answer = self.ask("PLAY")
        self.assertEqual(answer.headers["range"], f"npt=0.000-{SECONDS}.000")
        self.assertGreater(min(f.number for f in self.least(5)), last)

    def test_a_picture_lost_after_a_seek_forward(self):
        self.set_up()
        self.ask("PLAY", Range="npt=0-")
        self.least(5)
        self.ask("PLAY", Range="npt=3-")
        self.client.collect_least(20)
        ssrc = Rtp(next(data for channel, data in self.client.frames if channel == 0)).ssrc
        given = {f.number for f in self.frames(0)}
        self.client.send(b"$\1" + struct.pack("!H", 20) + struct.pack("!BBHIBBHII", 0x80, 201, 1, 1, 0x81, 206, 2, 1, ssrc))
        until(lambda: any(f.key and f.number in given for f in self.frames(0.1)), "what the newest picture needs, again")

    def test_a_pause_before_another_size_has_begun(self):
        """The current size continues until the key frame of the other one."""
        self.set_up()
        self.ask("PLAY", Range="npt=0-", Speed="0.25")  # so slowly that the pause comes before the key frame
        before = self.least(5)
        self.assertEqual({f.size for f in before}, {1})
        self.ask("SET_PARAMETER", "level: 0\r\n")
        self.ask("PAUSE")
        before += self.frames(0.2)
        self.ask("PLAY")
        after = self.least(2 * FPS, 1.5)
        numbers = [f.number for f in before + after if f.size == 1]
        self.assertEqual(sorted(set(numbers)), list(range(2 * FPS)), "those of the first group")
        self.assertTrue(next(f for f in after if f.size == 0).key)

    def test_fast_forward_and_rewind(self):
        """Key frames of the film of three groups, and time stamps of the time on the screen; then BYE."""
        for scale, start, place, numbers in (("-4", 5, 4, [0, 60, 120]), ("8", 1, 2, [0, 60]), ("-100", 1, 0, [0])):
            self.set_up()
            answer = self.ask("PLAY", Range=f"npt={start}-", Scale=scale)
            granted = max(-8, int(scale))
            self.assertEqual(answer.headers["scale"], str(granted))
            self.assertEqual(answer.headers["range"], f"npt={place}.000-{SECONDS}.000")
            first = int(answer.headers["x-weir-frames"].split("first=")[1].split(";")[0])
            self.stamps = []
            frames = self.to_the_end()
            self.assertEqual([f.number - first for f in frames], numbers)
            self.assertTrue(all(f.key for f in frames))
            steps = [b - a & 0xFFFFFFFF for a, b in zip(self.stamps, self.stamps[1:])]
            self.assertEqual(steps, [2 * 90000 // abs(granted)] * (len(numbers) - 1))
            self.ask("TEARDOWN")
            self.client.session = None

    def test_normal_play_after_a_rewind(self):
        self.set_up()
        self.ask("PLAY", Range="npt=5-", Scale="-2")
        last = self.least(1)[-1].number
        answer = self.ask("PLAY", Range="npt=3-", Scale="1")
        self.assertEqual(answer.headers["scale"], "1")
        self.assertEqual(answer.headers["range"], f"npt=3.000-{SECONDS}.000")
        first = int(answer.headers["x-weir-frames"].split("first=")[1].split(";")[0])
        self.assertGreater(first, last)
        shown = range(first + FPS, first + (SECONDS - 2) * FPS)
        numbers = [f.number for f in self.to_the_end() if f.number >= shown[0]]
        self.assertEqual(sorted(numbers), list(shown))

    def test_fast_forward_rewind_and_play(self):
        """A rewind that reaches the beginning goes on as normal play; fast forward ends with the film."""
        p = self.player(self.server.url, "--at", "0.5:scale=2", "--at", "1.6:scale=-2")
        fast = self.player(self.server.url, "--at", "0.5:scale=8")
        until(lambda: len(p.events("scale")) == 3 or not p.running(), "normal play from the beginning", 20)
        p.signal(signal.SIGTERM)
        self.assertIn(p.wait(), (0, 130), str(p))  # 0: a busy machine has played to the end meanwhile
        self.assertEqual(fast.wait(), 0, str(fast))
        changes = p.events("scale")
        self.assertEqual([c["scale"] for c in changes], [2, -2, 1])
        for c in changes:
            self.assertEqual(c["at"] % 2, 0, "key frames are 2 s apart")
        self.assertLessEqual(changes[1]["at"], 6)
        self.assertEqual(changes[2]["at"], 0)
        report = p.report()
        self.assertEqual(report["controls"]["scale"]["count"], 3)
        self.assertEqual(report["seeks"]["count"], 0)
        stalls = {cause for cause, s in report["rebuffering"]["by_cause"].items() if s["count"]}
        self.assertLessEqual(stalls, {"sender", "display"}, "a change is no stall; a busy machine may make some")
        self.all_came(report)
        numbers = [f["number"] for f in p.events("frame") if "shown" in f]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual(fast.report()["ended"], "end-of-media")

    def test_the_sound_alone(self):
        self.set_up(track=1)
        answer = self.ask("PLAY", Range="npt=3-")
        show = int(answer.headers["x-weir-frames"].split("show=")[1].split(";")[0])
        self.client.collect_least(60)
        positions = [adu(data)[0] for channel, data in self.client.frames if channel == 0]
        self.assertAlmostEqual(positions[0] / 48000, show / FPS, delta=0.05)


if __name__ == "__main__":
    lib.main()
