# SPDX-License-Identifier: GPL-2.0-or-later
"""Screens and cameras as sources. The screen is an Xvfb of the test; the camera is fake_camera.c, which replaces the
kernel's devices by LD_PRELOAD."""
import os
import re
import signal
import subprocess
import unittest

import lib

MARGIN = 12  # of a colour after coding
FRAMES = 60  # as many as 2 s have at most


def mean_colour(path):
    lib.need("ffmpeg")
    raw = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-vf", "scale=1:1:flags=area", "-f", "rawvideo",
                          "-pix_fmt", "rgb24", "-"], stdout=subprocess.PIPE, check=True, timeout=30 * lib.PATIENCE).stdout
    return tuple(raw[:3])


def paint(display, colour):
    """Gives the root window a colour, in a process that ends: Xlib ends its own on errors."""
    code = f"""
import ctypes
x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype = ctypes.c_void_p
x.XDefaultRootWindow.restype = ctypes.c_ulong
d = ctypes.c_void_p(x.XOpenDisplay({display.encode()!r}))
root = ctypes.c_ulong(x.XDefaultRootWindow(d))
x.XSetWindowBackground(d, root, ctypes.c_ulong({colour}))
x.XClearWindow(d, root)
x.XCloseDisplay(d)
"""
    subprocess.run(["/usr/bin/python3", "-c", code], check=True, timeout=20 * lib.PATIENCE)


class Capture(lib.Case):
    def near(self, got, wanted):
        for a, b in zip(got, wanted):
            self.between(b - MARGIN, a, b + MARGIN, f"{got}, not {wanted}")

    def said(self, p, pattern, seconds=10):
        lib.until(lambda: re.search(pattern, p.stderr), f"{pattern} of {p}", seconds)

    def watched(self, p, frames):
        """Ends a player after so many more shown frames, and returns its report. On a busy machine a duration could be over
        before them. What happens before this call is on screen after FRAMES more: even at full rate these take longer than
        a frame's way."""
        p.wait_shown(len(p.shown()) + frames, 30)
        p.signal(signal.SIGINT)
        self.assertEqual(p.wait(), 130, str(p))
        return p.report()

    def fails(self, args, pattern, env=None):
        p = self.start([lib.SEND, "--listen", "127.0.0.1:0", *args], env)
        self.assertEqual(p.wait(), 1, str(p))
        self.assertRegex(p.stderr, pattern)


class Screen(Capture):
    def setUp(self):
        super().setUp()
        lib.need("Xvfb")
        # Without -noreset the server would forget the colour with its last client.
        xvfb = self.start(["Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset"])
        number = lib.until(lambda: xvfb.stdout.strip() or not xvfb.running(), "Xvfb")
        self.assertNotEqual(number, True, str(xvfb))
        self.display = f":{number}"

    def snapshot(self, server, *args):
        path = self.path("shot.png")
        report = self.watched(self.player(server.url, "--snapshot", path, *args), 10)
        return report, mean_colour(path)

    def test_a_screen_is_seen_as_it_is(self):
        server = self.sender("--capture", "640x480@25", source=f"screen:{self.display}")
        self.assertRegex(server.stderr, rf"screen {self.display}: 640x480@25\n")
        for colour in 0xC02040, 0x2060A0:
            paint(self.display, colour)
            report, got = self.snapshot(server)
            self.near(got, (colour >> 16, colour >> 8 & 255, colour & 255))
        self.assertRegex(report["session"]["source"], "screen 640x480@25")
        self.assertGreaterEqual(report["playback"]["frames_played"], 10)
        self.stop_cleanly(server)

    def test_a_part_of_a_screen(self):
        server = self.sender("--capture", "320x240@15", source=f"screen:{self.display}+10,20")
        self.assertEqual(server.levels()[-1][:3], (320, 240, 15.0))
        self.fails([f"screen:{self.display}", "--capture", "1280x720@30"], "cannot be read, or is smaller than the requested size")

    def test_the_list(self):
        def listed():
            p = self.start([lib.SEND, "--list-devices"], {"DISPLAY": self.display})
            self.assertEqual(p.wait(), 0)
            return None if f"screen:{self.display}  does not respond\n" in p.stdout else p.stdout  # a busy machine's, in time
        self.assertIn(f"screen:{self.display}  640x480\n", lib.until(listed, "the list"))

    def test_a_screen_that_stands_still(self):
        """A hanging X server does not prevent the end of the programs."""
        server = self.sender(source=f"screen:{self.display}")
        p = self.player(server.url)
        p.wait_shown(10)
        self.processes[0].signal(signal.SIGSTOP)
        enough = len(p.shown()) + 15  # the last picture may be repeated
        lib.stands(lambda: min(enough, len(p.shown())), "the screen", 0.5)
        self.stop_cleanly(server)
        self.assertIn(f"screen:{self.display}: the device does not respond", server.stderr)
        p = self.start([lib.SEND, "--list-devices"], {"DISPLAY": self.display})
        self.assertEqual(p.wait(), 0, str(p))
        self.assertIn(f"screen:{self.display}  does not respond\n", p.stdout)

    def test_colours_that_are_not_read(self):
        xvfb = self.start(["Xvfb", "-displayfd", "1", "-screen", "0", "320x240x30", "-nolisten", "tcp"])
        number = lib.until(lambda: xvfb.stdout.strip() or not xvfb.running(), "Xvfb")
        self.fails([f"screen::{number}"], "this X display cannot be read: its colour depth is not 24 bits")

    def test_a_screen_that_goes_away(self):
        server = self.sender("--capture", "640x480@25", source=f"screen:{self.display}")
        paint(self.display, 0x208040)
        p = self.player(server.url)
        p.wait_shown(10)
        self.processes[0].stop()
        self.said(server, f"{self.display}: this X display is gone or was resized; trying again")
        self.watched(p, 5)
        self.stop_cleanly(server)


class NoDevice(Capture):
    def test_without_a_display(self):
        self.fails(["screen:"], "no X display: DISPLAY is not set", {"DISPLAY": ""})
        self.fails(["screen::4711"], ":4711: this X display cannot be read")

    def test_what_is_no_camera(self):
        self.fails(["camera:/dev/null"], "/dev/null: not a camera")
        self.fails(["camera:/dev/video4711"], "/dev/video4711: no such device")

    def test_the_list_says_so(self):
        p = self.start([lib.SEND, "--list-devices"], {"DISPLAY": ""})
        self.assertEqual(p.wait(), 0, str(p))
        if not os.path.exists("/dev/video0"):
            self.assertIn("no cameras", p.stdout)
        # Displays of other tests come and go meanwhile.
        self.assertNotEqual("no X displays" in p.stdout, "screen:" in p.stdout, p.stdout)


class Camera(Capture):
    def setUp(self):
        super().setUp()
        if lib.SLOW > 1:
            raise unittest.SkipTest("sanitizers want to be loaded first themselves")
        self.file = self.path("camera")
        self.env = {"LD_PRELOAD": self.preloaded("fake_camera"), "WEIR_FAKE_CAMERA": self.file}
        self.plug("good 180")

    def plug(self, text):
        with open(self.file + ".new", "w") as f:
            f.write(text)
        os.rename(self.file + ".new", self.file)

    def is_lit(self):
        return os.path.exists(self.file + ".on")

    def camera(self, *args):
        env = [f"{name}={value}" for name, value in self.env.items()]
        return self.sender(*args, source="camera:", prefix=["env", *env])

    def test_it_is_lit_only_while_someone_watches(self):
        server = self.camera("--capture", "1280x720@60")
        self.assertRegex(server.stderr, r"camera /dev/video0: 640x480@30 YUYV \(requested 1280x720@60\)\n")
        self.assertFalse(self.is_lit())
        p = self.player(server.url)
        p.wait_shown(30)
        self.assertTrue(self.is_lit())
        r = self.watched(p, 1)
        lib.until(lambda: not self.is_lit(), "the light to go out", 3)
        self.assertGreater(r["latency"]["frame"]["p50"], 0, "capture to arrival")
        self.stop_cleanly(server)

    @lib.long
    def test_mjpeg(self):
        """A size that the camera offers only in MJPEG arrives unchanged; half pictures and empty ones are skipped."""
        drawn, seen = self.path("drawn.png"), self.path("seen.png")
        test = self.sender("--sound", "none", source="test:1280x720@30")
        self.watched(self.player(test.url, "--snapshot", drawn), 5)
        test.stop()
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", drawn, "-pix_fmt", "yuvj422p", "-q:v", "3",
                        self.file + ".jpg"], check=True, timeout=30)
        number, colour = lib.frame_number(*lib.grey_picture(drawn)), mean_colour(drawn)
        self.assertGreater(number, 0)
        for how, broken in ("good", False), ("torn", True), ("empty", True):
            with self.subTest(how):
                self.plug(how)
                server = self.camera("--capture", "1280x720@30")
                self.assertRegex(server.stderr, r"camera /dev/video0: 1280x720@20 MJPEG \(requested 1280x720@30\)\n")
                self.watched(self.player(server.url, "--snapshot", seen), FRAMES)
                self.assertEqual(lib.frame_number(*lib.grey_picture(seen)), number)
                self.near(mean_colour(seen), colour)
                self.stop_cleanly(server)
                self.assertEqual("/dev/video0: broken picture skipped" in server.stderr, broken)
                self.assertEqual("broken pictures skipped" in server.stderr, broken)
                self.assertNotIn("trying again", server.stderr)

    def test_another_rate_than_it_says(self):
        """Its pictures are repeated, also in place of empty ones."""
        for how in "slow", "empty":
            with self.subTest(how):
                self.plug(how + " 90")
                seen = self.path("seen.png")
                server = self.camera()
                self.watched(self.player(server.url, "--snapshot", seen), FRAMES)
                self.near(mean_colour(seen), (86, 86, 86))
                self.assertNotIn("trying again", server.stderr)

    def test_unplugged_and_back(self):
        server = self.camera()
        p = self.player(server.url)
        p.wait_shown(20)
        os.unlink(self.file)
        self.said(server, "/dev/video0: the device was unplugged; trying again")
        self.plug("good 90")
        self.said(server, "/dev/video0: the device works again")
        lib.until(self.is_lit, "the light")
        self.watched(p, 1)
        self.assertEqual(server.stderr.count("trying again"), 1)

    def test_it_comes_back_under_another_number(self):
        """The source `camera:` uses it; a source with the camera's name waits."""
        server = self.camera()
        named = self.sender(source="camera:/dev/video0", prefix=["env", *(f"{k}={v}" for k, v in self.env.items())])
        seen = self.path("seen.png")
        p = self.player(server.url, "--snapshot", seen)
        q = self.player(named.url)
        p.wait_shown(20)
        q.wait_shown(20)
        self.plug("good 90 3")
        self.said(server, "/dev/video3: the device works again")
        self.watched(p, FRAMES)
        self.watched(q, 1)
        self.near(mean_colour(seen), (86, 86, 86))
        self.assertRegex(named.stderr, "/dev/video0: the device was unplugged; trying again")
        self.assertNotIn("works again", named.stderr)

    def test_its_clock_is_behind(self):
        """Its pictures are shown as they arrive."""
        self.plug("late 180")
        seen = self.path("seen.png")
        p = self.player(self.camera().url, "--snapshot", seen)
        p.wait_shown(20)
        self.plug("late 90")
        self.watched(p, FRAMES)
        self.near(mean_colour(seen), (86, 86, 86))

    def test_pictures_of_another_size(self):
        """Pictures keep their aspect ratio: a 4:3 picture in a 16:9 stream is shown between black bars."""
        def photograph(size):
            subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", f"color=white:s={size}",
                            "-frames:v", "1", "-pix_fmt", "yuvj422p", self.file + ".new.jpg"], check=True, timeout=30)
            os.rename(self.file + ".new.jpg", self.file + ".jpg")
        lib.need("ffmpeg")
        photograph("1280x720")
        seen = self.path("seen.png")
        p = self.player(self.camera("--capture", "1280x720@30").url, "--snapshot", seen)
        p.wait_shown(10)
        photograph("640x480")
        self.watched(p, FRAMES)
        width, height, luma = lib.grey_picture(seen)
        row = [luma[height // 2 * width + x * width // 16] for x in range(16)]
        self.assertEqual(["." if v < 40 else "#" if v > 215 else "?" for v in row[1:2] + row[3:13] + row[15:]],
                         ["."] + 10 * ["#"] + ["."], row)

    def test_unplugged_and_gone(self):
        server = self.camera()
        seen = self.path("seen.png")
        p = self.player(server.url, "--snapshot", seen)
        p.wait_shown(10)
        os.unlink(self.file)
        self.said(server, "/dev/video0: the device was unplugged; trying again")
        self.watched(p, 2 * FRAMES)  # the last picture stays for 2 s
        width, height, luma = lib.grey_picture(seen)
        ground = sum(luma[y * width + x] for y in range(20) for x in range(width)) / (20 * width)
        self.between(15, ground, 50, "the card is dark")
        self.assertGreater(max(luma), 180, "and has words on it")
        self.assertEqual(server.stderr.count("trying again"), 1)

    def test_another_program_has_it(self):
        self.plug("busy")
        self.fails(["camera:"], "/dev/video0: the device is in use by another program; it offers YUYV 640x480@30 320x240@30", self.env)

    def test_this_user_may_not(self):
        self.plug("closed")
        for name in "camera:", "camera:/dev/video0":
            self.fails([name], r"/dev/video0: permission denied \(is this user in the group video\?\)", self.env)

    def test_it_gives_nothing(self):
        self.plug("silent")
        server = self.camera()
        p = self.player(server.url)
        self.said(server, "/dev/video0: the device delivers no pictures; trying again")
        self.watched(p, 5)  # of the card
        self.assertNotIn("works again", server.stderr)  # opened again it gives nothing still
        self.assertEqual(server.stderr.count("trying again"), 1)

    def test_the_list(self):
        p = self.start([lib.SEND, "--list-devices"], self.env)
        self.assertEqual(p.wait(), 0, str(p))
        self.assertIn("camera:/dev/video0  A fake camera\n    YUYV 640x480@30 320x240@30\n", p.stdout)


if __name__ == "__main__":
    lib.main()
