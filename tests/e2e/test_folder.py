# SPDX-License-Identifier: GPL-2.0-or-later
"""A folder as the source: each film at its own path, a list of them, and no way out of the folder."""
import os
import shutil
import subprocess

import lib
from lib import until


class Folder(lib.Case):
    def setUp(self):
        super().setUp()
        lib.need("ffmpeg")
        os.makedirs(self.path("films/sub/.hidden"))
        clip = self.clip("films/one.mkv", seconds=3, size="320x180")
        self.clip("films/sub/my film.mkv", seconds=2, size="160x90")
        shutil.copy(clip, self.path("films/sub/.hidden/x.mkv"))
        shutil.copy(clip, self.path("outside.mkv"))
        os.symlink("../outside.mkv", self.path("films/out.mkv"))
        with open(self.path("films/text.txt"), "w") as f:
            f.write("no film")

    def urls(self, server):
        return f"rtsp://127.0.0.1:{server.port}"

    def test_list(self):
        server = self.sender(source=self.path("films"))
        self.assertIn("2 files", server.stderr)
        listed = subprocess.run([lib.PLAY, self.urls(server) + "/"], capture_output=True, text=True, timeout=20 * lib.SLOW)
        self.assertEqual((listed.returncode, listed.stdout.splitlines()),
                         (0, ["/one.mkv\t3.0\t320x180", "/sub/my%20film.mkv\t2.0\t160x90"]), listed.stderr)

    def test_two_files_at_once(self):
        server = self.sender(source=self.path("films"))
        players = [self.player(self.urls(server) + path, "--no-picture") for path in ("/one.mkv", "/sub/my%20film.mkv")]
        for p, frames, width in zip(players, (75, 50), (320, 160)):
            self.assertEqual(p.wait(), 0, str(p))
            report = p.report()
            self.assertEqual(report["ended"], "end-of-media")
            self.assertIn(f"file {width}x", report["session"]["source"])
            self.between(frames / 2 / lib.SLOW, report["playback"]["frames_received"], frames, str(report["causes"]))
        until(lambda: server.stderr.count(" is closed") == 2, "both files to be closed")
        self.stop_cleanly(server)

    def test_no_way_out(self):
        server = self.sender(source=self.path("films"))
        for path in ("/out.mkv", "/sub/.hidden/x.mkv", "/../outside.mkv", "/%2e%2e/outside.mkv", "/sub%2f..%2f..%2foutside.mkv",
                     "/sub/../../outside.mkv", "/none.mkv", "/sub", "/text.txt", "/" + "x" * 900):
            p = self.play(self.urls(server) + path, code=3)
            self.assertIn("404", p.stderr, path)
        self.assertNotIn(" is open", server.stderr)


if __name__ == "__main__":
    lib.main()
