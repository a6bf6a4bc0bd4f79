# SPDX-License-Identifier: GPL-2.0-or-later
"""libweir's sender: the example that pushes pictures, and senders and viewers in one process."""
import os
import re
import signal
import subprocess
import unittest

import lib

OPTIONS = "--listen", "127.0.0.1:0"


@unittest.skipIf(lib.SLOW > 1, "packages are of a plain build")
class Built(lib.Case):
    """Builds programs with what a package installs of the library, as a program that is not Weir's would."""

    def setUp(self):
        super().setUp()
        lib.need("cc", "cmake", "pkg-config")
        self.prefix = self.path("installed")
        subprocess.run(["cmake", "--install", lib.BUILD, "--prefix", self.prefix, "--component", "libweir-dev"], check=True,
                       capture_output=True, timeout=60 * lib.PATIENCE, env={**os.environ, "DESTDIR": ""})
        libraries = os.path.join(self.prefix, "lib")
        self.env = {**os.environ, "PKG_CONFIG_PATH": f"{libraries}/pkgconfig", "LD_LIBRARY_PATH": libraries}

    def build(self, source, *flags):
        """Returns the program that `source` becomes."""
        said = subprocess.run(["pkg-config", "--cflags", "--libs", "weir"], check=True, text=True,
                              capture_output=True, env=self.env).stdout.split()
        program = self.path(os.path.basename(source)[:-2])
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-O1", os.path.join(lib.ROOT, source), *said, *flags, "-o",
                        program], check=True, timeout=60 * lib.PATIENCE, env=self.env)
        return program

    def run_program(self, *argv):
        """Starts a program, waits for its end and returns it."""
        p = self.start([*argv], env=self.env)
        self.assertEqual(p.wait(60), 0, f"{p}\nstdout:\n{p.stdout}")
        self.assertEqual(p.stderr, "", "the library prints nothing")
        return p


class Example(Built):
    def example(self, *args):
        p = self.start([self.build("examples/send.c"), *OPTIONS, *args], env=self.env)
        url = lib.until(lambda: re.match(r"rtsp://\S+\n", p.stdout) or not p.running(), "the example's URL", 20)
        self.assertTrue(p.running(), str(p))
        return p, url.group().strip()

    def test_it_is_watched(self):
        p, url = self.example("--path", "/room")
        self.assertTrue(url.endswith("/room"))
        lib.until(lambda: "viewers: 0\n" in p.stdout, "a count of viewers")
        player = self.player(url)
        lib.until(lambda: "viewers: 1\n" in p.stdout, "the viewer in the stats")
        player.wait_shown(60)
        player.signal(signal.SIGTERM)
        self.assertEqual(player.wait(), 130, str(player))
        report = player.report()
        self.assertEqual(report["playback"]["frames_undecodable"], 0)
        self.assertGreater(report["latency"]["display"]["mean"], 0)
        lib.until(lambda: self.play(url, "--duration", "3").report()["audio"]["heard"] > 1, "the tone", 20)
        p.signal(signal.SIGINT)
        self.assertEqual(p.wait(), 0, str(p))
        self.assertEqual(p.stderr, "", "the library prints nothing")

    def test_an_option_that_does_not_exist_is_named(self):
        p = self.start([self.build("examples/send.c"), "--bitrate", "3"], env=self.env)
        self.assertEqual(p.wait(), 1)
        self.assertIn("--bitrate", p.stderr)


class Both(Built):
    def setUp(self):
        super().setUp()
        self.program = self.build("tests/e2e/library_both.c", "-pthread")

    def test_a_viewer_and_a_sender_in_one_process(self):
        p = self.run_program(self.program, "watch", *OPTIONS, "--level", "320x180@30:300")
        self.assertEqual(p.stdout, "pictures 1 loud 1 bad 0\n")

    def test_again_and_again(self):
        p = self.run_program(self.program, "again", "--listen", f"{lib.own_address()}:0")
        self.assertEqual(p.stdout, "20 senders\n")

    def test_a_port_in_use(self):
        at = f"{lib.own_address()}:18554"
        p = self.run_program(self.program, "two", "--listen", at, "--insecure")
        self.assertRegex(p.stdout, rf"\Aerror: .*{re.escape(at)}.*in use.*\nsecond: refused\n\Z")


if __name__ == "__main__":
    lib.main()
