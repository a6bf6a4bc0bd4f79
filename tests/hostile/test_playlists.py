# SPDX-License-Identifier: GPL-2.0-or-later
"""Playlists that could fill, mislead or steer weir-play: it refuses each at once, before it connects, with the reason."""
import os
import subprocess

import lib


class Playlists(lib.Case):
    def refused(self, data, reason, url="rtsp://127.0.0.1:1/"):
        path = data if isinstance(data, str) else self.path("list.m3u")
        if path != data:
            with open(path, "wb") as f:
                f.write(data)
        done = subprocess.run([lib.PLAY, "--headless", "--playlist", path, *([url] if url else [])], capture_output=True,
                              timeout=20 * lib.PATIENCE)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(reason, done.stderr)
        self.assertNotIn(b"\x1b", done.stderr)
        self.assertNotIn(b"secret", done.stderr)

    def test_all(self):
        self.refused(b"", b"no channel in it")
        self.refused(os.urandom(4096) + b"\0\n", b"list.m3u: ")
        self.refused(b"\n" * (256 * 1024 + 1), b"more than 262144 bytes")
        self.refused("/dev/zero", b"more than 262144 bytes")
        self.refused(self.path("."), b"cannot be read")
        self.refused(self.path("none"), b"cannot be read")
        self.refused(b"/a\n" * 1025, b"line 1025: more than 1024 channels")
        self.refused(b"/ok\nfile:///etc/passwd\n", b"line 2: only rtsp:// URLs and paths are played")
        self.refused(b"rtsp://me:secret@host:99999/\n", b"line 1: the port must be a number")
        self.refused(b"/\x1b]0;title\x07\n", b"line 1: it contains white space or control characters")
        self.refused(b"rtsp://h/" + b"x" * 5000, b"line 1: too long")
        self.refused(b"/a\n", b"line 1: a path needs the URL of a server before it", url=None)


if __name__ == "__main__":
    lib.main()
