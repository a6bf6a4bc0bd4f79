# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual X display, the player's window on it, and its keys, clicks and pictures."""
import os
import subprocess
import time

import lib
from lib import stands, until


class Screen(lib.Case):
    SIZE = "1024x768"
    DPI = 96

    def setUp(self):
        super().setUp()
        lib.need("Xvfb", "xdotool", "ffmpeg")
        read, write = os.pipe()
        # On a busy machine a key is down for long: it is not to repeat itself.
        server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", self.SIZE + "x24", "-dpi",
                                   str(self.DPI), "-nolisten", "tcp", "-noreset", "-ardelay", "60000"], pass_fds=[write],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)

        def end():
            server.terminate()
            server.wait(10)
        self.addCleanup(end)
        # Cleanups run last in, first out: the programs must go before their display.
        self.addCleanup(self.end_processes)
        with os.fdopen(read) as pipe:
            self.display = ":" + pipe.readline().strip()
        self.assertNotEqual(self.display, ":", "Xvfb did not start")
        self.env = {"DISPLAY": self.display, "SDL_VIDEODRIVER": "x11", "SDL_RENDER_DRIVER": "software",
                    "XDG_RUNTIME_DIR": self.folder, "LIBGL_ALWAYS_SOFTWARE": "1"}

    def xdotool(self, *args):
        p = subprocess.run(["xdotool", *args], env={**os.environ, **self.env}, capture_output=True, text=True,
                           timeout=20 * lib.PATIENCE)
        return p.stdout.strip()

    def key(self, *keys):
        self.xdotool("windowfocus", self.window)  # there is no window manager to do it
        self.xdotool("key", "--delay", "50", *keys)

    def click(self, x, y):
        """Clicks at a position of the window."""
        self.xdotool("mousemove", "--window", self.window, str(x), str(y), "click", "1")

    def await_window(self, name="weir-play", seconds=10):
        """Waits for a window that shows something. SDL may make its window twice: the first one is then gone."""
        def shows():
            self.window = self.xdotool("search", "--name", name)
            try:
                return len(set(self.grab())) > 3
            except (ValueError, subprocess.CalledProcessError):
                return False  # there is none
        until(shows, f"a window {name} with something in it", seconds)

    def open_url(self, url, *args):
        p = self.player(url, *args, window=True, env=self.env)
        p.wait_shown(10)  # SDL may make its window twice before it shows something
        self.window = until(lambda: self.xdotool("search", "--name", "weir-play"), "the window")
        self.assertRegex(self.window, r"^\d+$", "one window")
        return p

    def steady(self):
        """Waits until the window has not changed for longer than a sign in it takes to fade, and returns what it shows."""
        return stands(self.grab, "the window", 1.5)

    def key_until(self, act, condition, what):
        """Presses or clicks, every two seconds, until the condition is true: a busy machine may not be ready for the first."""
        def works():
            act()
            end = time.monotonic() + 2
            while time.monotonic() < end:
                if condition():
                    return True
                time.sleep(0.02)
            return False
        until(works, what, 30)

    def title(self):
        return self.xdotool("getwindowname", self.window)

    def geometry(self):
        text = self.xdotool("getwindowgeometry", "--shell", self.window)
        fields = dict(line.split("=") for line in text.split("\n"))
        return tuple(int(fields[name]) for name in ("X", "Y", "WIDTH", "HEIGHT"))

    def resize(self, width, height):
        self.xdotool("windowmove", self.window, "0", "0")
        self.xdotool("windowsize", self.window, str(width), str(height))
        until(lambda: self.geometry()[2:] == (width, height), "another size")

    def grab_into(self, output, area=None):
        """Grabs (x, y, width, height) of the window (default: all of it), with ffmpeg."""
        x, y, width, height = self.geometry()
        dx, dy, width, height = area or (0, 0, width, height)
        return subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "x11grab", "-draw_mouse", "0", "-video_size",
                               f"{width}x{height}", "-i", f"{self.display}+{x + dx},{y + dy}", "-frames:v", "1",
                               *output], stdout=subprocess.PIPE, check=True, timeout=20 * lib.PATIENCE).stdout

    def grab(self, area=None):
        """Returns the luma of the window."""
        return self.grab_into(["-f", "rawvideo", "-pix_fmt", "gray", "-"], area)

    def picture_into(self, path):
        """Saves what the window shows."""
        x, y, width, height = self.geometry()
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "x11grab", "-draw_mouse", "0", "-video_size", f"{width}x{height}", "-i",
                        f"{self.display}+{x},{y}", "-frames:v", "1", path], check=True, timeout=60 * lib.PATIENCE)

    def quits(self, p, seconds=5):
        self.key("q")
        self.assertEqual(p.wait(seconds), 0, str(p))
        return p.report()
