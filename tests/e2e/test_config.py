# SPDX-License-Identifier: GPL-2.0-or-later
"""Options from a file: the effective values, their precedence, and the error of a wrong line."""
import json
import re
import subprocess

import lib


class Config(lib.Case):
    def write(self, name, text):
        path = self.path(name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def run_program(self, *argv):
        return subprocess.run(argv, capture_output=True, text=True, timeout=20 * lib.PATIENCE)

    def printed(self, program, *args):
        """Returns {name: [values]} of --print-config."""
        p = self.run_program(program, *args, "--print-config")
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        options = {}
        for name, value in re.findall(r"^([a-z-]+) = (.*)$", p.stdout, re.M):
            options.setdefault(name, []).append(value)
        return p.stdout, options

    def fails(self, program, config, *words):
        path = self.write("bad.conf", config)
        p = self.run_program(program, "--config", path)
        self.assertEqual(p.returncode, 2, p.stderr)
        for word in words:
            self.assertIn(word.replace("FILE", path), p.stderr)

    def test_both_programs_from_one_file(self):
        config = self.write("weir.conf", f"""
# one file for both
[weir-send]
source = {lib.SOURCE}
listen = 127.0.0.1:0
path = /tv
level = 320x180@30:200
level = 426x240@30:400   # two levels
[weir-play]
headless = true
no-picture = true
transport = tcp
duration = 1
report = {self.path('file.json')}
""")
        sender = lib.Sender(self.folder, "--config", config)
        self.processes.append(sender)
        self.assertEqual([(w, h) for w, h, _, _ in sender.levels()], [(320, 180), (426, 240)])
        self.assertTrue(sender.url.endswith("/tv"), sender.url)
        # The command line goes before the file.
        p = self.start([lib.PLAY, "--config", config, "--report", self.path("line.json"), "--level=0", sender.url])
        self.assertEqual(p.wait(), 0, str(p))
        with open(self.path("line.json")) as f:
            report = json.load(f)
        self.assertEqual(report["session"]["transport"], "tcp")
        self.assertEqual(report["ended"], "duration")
        self.stop_cleanly(sender)

    def test_what_is_printed_can_be_read_back(self):
        config = self.write("send.conf", 'level = 640x360@30:960\nlevel = 320x180@30:300\nloop = true\nstats = "a #1"\n')
        text, options = self.printed(lib.SEND, "--config", config, "--path", "/x", "--loop=false", "test:640x360@30")
        self.assertEqual(options, {"source": ["test:640x360@30"], "path": ["/x"], "stats": ['"a #1"'],
                                   "level": ["640x360@30:960", "320x180@30:300"], "loop": ["false"]})
        again, _ = self.printed(lib.SEND, "--config", self.write("again.conf", text))
        self.assertEqual(again, text)
        # A list of the command line takes the place of the file's.
        _, options = self.printed(lib.SEND, "--config", config, "--level", "426x240@30:400")
        self.assertEqual(options["level"], ["426x240@30:400"])
        _, options = self.printed(lib.PLAY, "--goddard", "buf_factor=2,upscale_interval=30", "-l2")
        self.assertEqual(options, {"goddard": ["buf_factor=2,upscale_interval=30"], "level": ["2"]})
        # A switch and its opposite are one option.
        config = self.write("play.conf", "reconnect = true\n")
        _, options = self.printed(lib.PLAY, "--config", config, "--no-reconnect")
        self.assertEqual(options, {"reconnect": ["false"]})

    def test_the_log_is_read_back_as_it_was_said(self):
        for words in "--log error --verbose", "--verbose --log error", "--quiet --log main=info", "--log main=info --quiet":
            text, _ = self.printed(lib.SEND, *words.split())
            config = self.write("log.conf", text)
            nowhere = "--listen", "192.0.2.1:1", lib.SOURCE  # an address that is not this machine's
            self.assertEqual(self.run_program(lib.SEND, *words.split(), *nowhere).stderr,
                             self.run_program(lib.SEND, "--config", config, *nowhere).stderr, words)

    def test_a_full_disk_is_told(self):
        for option in "--print-config", "--help", "--version":
            with open("/dev/full", "w") as full:
                p = subprocess.run([lib.SEND, option], stdout=full, stderr=subprocess.PIPE, text=True, timeout=20 * lib.PATIENCE)
            self.assertEqual(p.returncode, 2)
            self.assertIn("cannot print: No space left", p.stderr)

    def test_wrong_lines_are_named(self):
        self.fails(lib.SEND, "loop = true\nlevle = 640x360@30:960\n", 'weir-send: FILE:2: "levle" is not an option',
                   'did you mean "level"?')
        self.fails(lib.SEND, "bits = 30", 'FILE:1: "bits" is not an option of weir-send', "listen", "level", "stats")
        self.fails(lib.SEND, "\n\nlevel = 640x360", "FILE:3: level '640x360': expects WIDTHxHEIGHT@FPS:KBPS")
        self.fails(lib.PLAY, "headless = yes", "weir-play: FILE:1: headless 'yes': expects true or false")
        self.fails(lib.PLAY, "goddard = buf_factor=9", "FILE:1: goddard 'buf_factor=9': expects", "1 to 4")
        self.fails(lib.PLAY, "version = true", "command line only")
        self.fails(lib.PLAY, "x" * 70000, "larger than 64 KiB")
        self.fails(lib.PLAY, "headless = true", "a URL is required")
        p = self.run_program(lib.SEND, "--config", self.path("none"))
        self.assertEqual(p.returncode, 2)
        self.assertIn("No such file", p.stderr)


if __name__ == "__main__":
    lib.main()
