# SPDX-License-Identifier: GPL-2.0-or-later
"""--on: commands that run when something happens."""
import glob
import os
import signal
import stat

import lib
from lib import until
from rtsp import Viewer

SCRIPT = """#!/bin/sh
printf '%s|%s|%s|%s\\n' "$WEIR_EVENT" "$WEIR_SUBJECT" "$WEIR_REASON" "$*" >> "{log}"
"""


class Hooks(lib.Case):
    def script(self, name, text):
        path = self.path(name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def setUp(self):
        super().setUp()
        self.log = self.path("events")
        self.note = self.script("note", SCRIPT.format(log=self.log))

    def events(self, name):
        """The events of that name: (subject, reason, arguments)."""
        try:
            with open(self.log) as f:
                lines = [line.rstrip("\n").split("|") for line in f]
        except FileNotFoundError:
            return []
        return [line[1:] for line in lines if line[0] == name]

    def test_viewers_and_a_camera(self):
        camera = self.sender()
        options = []
        for event in "viewer", "viewer-gone", "source-lost", "source-back", "recording-closed":
            options += ["--on", f"{event} {self.note} a b"]
        os.makedirs(self.path("recordings"))
        sender = self.sender(*options, "--record", self.path("recordings/%H-%M-%S.mkv"), source=camera.url)
        viewer = Viewer(sender.port)
        viewer.wait_frames(3)
        until(lambda: self.events("viewer"), "the viewer's event")
        subject, reason, arguments = self.events("viewer")[0]
        self.assertRegex(subject, r"127\.0\.0\.1:\d+")
        self.assertRegex(reason, r"rtsp://127\.0\.0\.1:\d+/live")
        self.assertEqual(arguments, "a b")
        viewer.check()
        until(lambda: self.events("viewer-gone") == [[subject, "", "a b"]], "the viewer's end")
        listen = f"127.0.0.1:{camera.port}"
        self.stop_cleanly(camera)
        until(lambda: self.events("source-lost"), "the loss")
        self.assertIn("camera at 127.0.0.1", self.events("source-lost")[0][0])
        self.assertTrue(self.events("source-lost")[0][1])
        self.sender("--listen", listen)
        until(lambda: self.events("source-back"), "the camera's return", 60)
        self.assertEqual(len(self.events("source-lost")), 1)
        self.stop_cleanly(sender)
        # The file of before the loss at least; that of the end may come when the server has gone.
        until(lambda: self.events("recording-closed"), "a complete recording")
        self.assertIn(self.events("recording-closed")[0][0], glob.glob(self.path("recordings/*.mkv")))

    def test_commands_that_fail_or_hang(self):
        hangs = self.script("hangs", f"#!/bin/sh\necho $$ >> {self.path('pids')}\nexec sleep 1000\n")
        fails = self.script("fails", "#!/bin/sh\nexit 3\n")
        sender = self.sender("--on", f"viewer {hangs}", "--on", f"viewer {fails}", "--on", "viewer /no/such/command",
                             "--on", f"viewer {self.note}")
        for _ in range(3):
            viewer = Viewer(sender.port)
            viewer.wait_frames(3)
            viewer.check()
        until(lambda: len(self.events("viewer")) == 3, "the commands beside those that hang")
        until(lambda: "has failed: exit code 3" in sender.stderr, "the failure")
        self.assertIn("cannot run the command /no/such/command of --on", sender.stderr)
        self.stop_cleanly(sender)
        with open(self.path("pids")) as f:
            pids = [int(line) for line in f]
        self.assertEqual(len(pids), 3)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    def test_a_bad_hook(self):
        for text in "viewer", "door /bin/true", "":
            p = self.start([lib.SEND, "--listen", "127.0.0.1:0", "--on", text, lib.SOURCE])
            self.assertEqual(p.wait(), 2, str(p))
            self.assertIn("expects \"EVENT COMMAND ARGUMENT...\"", p.stderr)


if __name__ == "__main__":
    lib.main()
