# SPDX-License-Identifier: GPL-2.0-or-later
"""The window of weir-play without a URL, on a virtual X display."""
import os
import random
import subprocess

import lib
from lib import until
from screen import Screen


class Start(Screen):
    def setUp(self):
        super().setUp()
        self.state = self.path("state")
        self.env["XDG_STATE_HOME"] = self.state
        self.server = self.sender(source="test:320x180@30")

    def begin(self, *args):
        """Starts weir-play without a URL, and waits for its window."""
        p = lib.Process([lib.PLAY, "--keep-levels", *args], self.folder, lib.env_of_window(self.env))
        self.processes.append(p)
        self.await_window()
        return p

    def type(self, text):
        self.xdotool("windowfocus", self.window)
        self.xdotool("type", "--delay", "30", text)

    def plays(self, p):
        """Waits until the window shows the stream, and quits."""
        until(lambda: self.server.stderr.count("plays level") == self.played + 1 or not p.running(), "a viewer", 30)
        self.assertTrue(p.running(), p)
        self.played += 1

        def titled():
            self.window = self.xdotool("search", "--name", " - weir-play")
            return self.window
        until(titled, "the player's window", 30)
        self.key_until(lambda: self.key("q"), lambda: not p.running(), "the end")
        self.assertEqual(p.wait(), 0)

    played = 0

    def noted(self):
        try:
            with open(os.path.join(self.state, "weir", "recent")) as f:
                return f.read().splitlines()
        except FileNotFoundError:
            return None

    def picture_of(self, name):
        self.picture_into(os.path.join(os.environ.get("WEIR_SCREENSHOTS", self.folder), f"{name}.png"))

    def test_typed_and_again(self):
        """A URL that is typed is played, noted without its key, and offered the next time."""
        p = self.begin()
        self.type("nonsense://x")
        self.key("Return")
        self.picture_of("start-wrong")
        self.assertTrue(p.running())
        self.key("ctrl+u")
        self.type(f"127.0.0.1:{self.server.port}/live?key=not-needed-here")  # with rtsp:// by itself
        self.key("Return")
        self.plays(p)
        self.assertEqual(self.noted(), [f"rtsp://127.0.0.1:{self.server.port}/live"])
        p = self.begin()
        self.picture_of("start-recent")
        self.key("Down", "Return")
        self.plays(p)
        p = self.begin("--no-resume")
        self.key("Down", "Return")  # there is nothing: the field is empty
        self.assertTrue(p.running())
        self.type(f"http://127.0.0.1:{self.server.port}/live")  # as a browser has it
        self.key("Return")
        self.plays(p)
        self.assertEqual(self.noted(), [f"rtsp://127.0.0.1:{self.server.port}/live"])
        self.assertEqual(os.stat(os.path.join(self.state, "weir", "recent")).st_mode & 0o777, 0o600)

    def test_a_file_that_is_not_ours(self):
        os.makedirs(os.path.join(self.state, "weir"), mode=0o700)
        path = os.path.join(self.state, "weir", "recent")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as f:
            f.write(random.Random(1).randbytes(3000) + b"\nrtsp://127.0.0.1:%d/live\n" % self.server.port + b"x" * 9000)
        p = self.begin()
        self.key("Down", "Return")
        self.plays(p)
        self.assertEqual(self.noted(), [f"rtsp://127.0.0.1:{self.server.port}/live"])

    def test_closed(self):
        """Closing it is no failure; without a display, and headless, there is the usage as before."""
        p = self.begin()
        self.key_until(lambda: self.key("Escape"), lambda: not p.running(), "the end")
        self.assertEqual((p.wait(), self.noted()), (0, None))
        for args, env in ((["--headless"], self.env), ([], {"DISPLAY": "", "WAYLAND_DISPLAY": ""})):
            done = subprocess.run([lib.PLAY, *args], env={**os.environ, **env}, capture_output=True, text=True, timeout=60 * lib.PATIENCE)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("a URL is required", done.stderr)


if __name__ == "__main__":
    lib.main()
