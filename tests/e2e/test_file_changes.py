# SPDX-License-Identifier: GPL-2.0-or-later
"""A file that is replaced, cut or removed while `weir-send FILE` serves it: later viewers get what is there."""
import os
import unittest

import lib


class FileChanges(lib.Case):
    def watched(self, p):
        """Returns the size of the pictures that a player reports."""
        return p.stdout.split("file ")[1].split("@")[0]

    def test_later_viewers_get_the_file_that_is_there(self):
        film = self.clip("film.mp4", seconds=8, size="320x180")
        other = self.clip("other.mp4", seconds=1, size="160x90")
        with open(other, "rb") as f:
            content = f.read()
        server = self.sender(source=film)
        first = self.player(server.url, "--no-picture", "--no-audio")
        first.wait_shown(5)
        os.replace(other, film)
        self.assertEqual(first.wait(60), 0, str(first))  # it keeps what it has
        self.assertEqual(first.report()["ended"], "end-of-media")
        self.assertEqual(self.watched(first), "320x180")
        self.assertEqual(self.watched(self.play(server.url, "--no-picture", "--no-audio")), "160x90")
        for what, change in (("cut", lambda: os.truncate(film, 100)), ("removed", lambda: os.remove(film))):
            change()
            refused = self.play(server.url, "--no-picture", code=3)
            self.assertIn("the film has changed, and is not available", refused.stderr, what)
        with open(film, "wb") as f:
            f.write(content)
        self.assertEqual(self.watched(self.play(server.url, "--no-picture", "--no-audio")), "160x90")
        self.stop_cleanly(server)


if __name__ == "__main__":
    lib.main()
