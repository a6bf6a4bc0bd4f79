# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages: what is in them and what they need, the manual pages, and what the shell completes."""
import os
import re
import subprocess
import sys
import unittest

import lib

PACKAGING = os.path.join(lib.BUILD, "packaging")
PROGRAMS = "weir-send", "weir-play", "weir-link", "weir-traffic", "weir-sim"


def run(*argv, **options):
    return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=120 * lib.SLOW, **options).stdout


class Completion(lib.Case):
    """bash and zsh, with the completion loaded and a line typed."""

    def bash(self, line):
        program = line.split()[0]
        script = (f'source {PACKAGING}/{program}.bash; COMP_WORDBREAKS=$\' \\t\\n"\\\'><=;|&(:\'; COMP_LINE=$1; '
                  f'COMP_POINT=${{#1}}; _{program.replace("-", "_")}; printf "%s\\n" "${{COMPREPLY[@]}}"')
        return run("bash", "-c", script, "bash", line, cwd=self.folder).split()

    def zsh(self, line):
        return run("zsh", "-f", os.path.join(os.path.dirname(__file__), "complete.zsh"), self.path("functions"), line,
                   cwd=self.folder).split()

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("functions"))
        for program in PROGRAMS:
            os.symlink(f"{PACKAGING}/{program}.zsh", self.path(f"functions/_{program}"))
        for name in "film.mkv", "fine.png":
            open(self.path(name), "w").close()

    def test_words(self):
        lib.need("zsh")
        for line, words, *zsh in (  # zsh: where it answers with other words
                ("weir-send --tempo", ["--temporal-layers"]),
                ("weir-send --loop synthetic:gr", ["greedy"], ["synthetic:greedy"]),
                ("weir-send fil", ["film.mkv"]),
                ("weir-send --stats fi", ["film.mkv", "fine.png"]),
                ("weir-send --listen ", []),
                ("weir-play --adapt ", ["sender", "none", "goddard"]),
                ("weir-play --adapt=g", ["goddard"]),
                ("weir-play -t minb", ["minbuf"]),
                ("weir-play --transport udp,mt", ["udp,mtp", "udp,mtp-raw"], ["mtp", "mtp-raw"]),
                ("weir-play --transport minbuf:1,3,ud", ["1,3,udp"], ["udp"]),
                ("weir-play --goddard buf_factor=2,buf", ["2,buf_factor="], ["buf_factor="]),
                ("weir-play --snapshot=fine", ["fine.png"]),
                ("weir-traffic s", ["serve"]),
                ("weir-traffic run el", ["elephants:"]),
                ("weir-link --pcap fi", ["film.mkv", "fine.png"]),
                ("weir-link fi", []),
                ("weir-sim da", ["datagram"])):
            with self.subTest(line):
                self.assertEqual(self.bash(line), words)
                self.assertEqual(self.zsh(line), zsh[0] if zsh else words)

    def test_every_option_of_help(self):
        lib.need("zsh")
        for program in PROGRAMS:
            listed = re.findall(r"^ {2,6}(?:-., )?(--[a-z-]+)", run(os.path.join(lib.BUILD, program), "--help"), re.M)
            self.assertGreater(len(listed), 8)
            self.assertEqual(self.bash(f"{program} -"), listed)
            self.assertEqual(sorted(word for word in self.zsh(f"{program} --") if word.startswith("--")), sorted(listed))


class Manual(lib.Case):
    def test_pages(self):
        lib.need("man")
        lab = [sys.executable, os.path.join(lib.ROOT, "lab", "lab.py")]
        for program in *PROGRAMS, "weir-watch", "weir-lab":
            page = subprocess.run(["man", "-l", "--warnings", f"{PACKAGING}/{program}.1"], capture_output=True, text=True,
                                  timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8", "MANPAGER": "cat", "MANWIDTH": "90"})
            self.assertEqual((page.returncode, page.stderr), (0, ""))
            for heading in "NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS":
                self.assertRegex(page.stdout, f"(?m)^{heading}$")
            if program in PROGRAMS[:2]:
                self.assertRegex(page.stdout, "(?m)^CONFIGURATION FILE$")
            argv = lab if program == "weir-lab" else [os.path.join(lib.BUILD, program)]
            for option in re.findall(r"(--[a-z-]+)", run(*argv, "--help")):
                self.assertIn(option, page.stdout)


@unittest.skipIf(lib.SLOW > 1, "packages are of a plain build")
class Packages(lib.Case):
    def test_contents(self):
        lib.need("cpack", "dpkg-deb", "dpkg-shlibdeps")
        run("cpack", "--config", f"{lib.BUILD}/CPackConfig.cmake", "-B", self.folder, cwd=lib.BUILD,
            env={**os.environ, "SOURCE_DATE_EPOCH": "1"})
        files = {}
        for name in os.listdir(self.folder):
            if name.endswith(".deb"):
                deb = self.path(name)
                listed = [line.split(maxsplit=5) for line in run("dpkg-deb", "-c", deb).splitlines()]
                self.assertEqual({entry[1] for entry in listed}, {"root/root"})
                self.assertEqual({entry[3] for entry in listed}, {"1970-01-01"})
                files[run("dpkg-deb", "-f", deb, "Package").strip()] = deb, {entry[5][1:]: entry[0] for entry in listed}
        self.assertEqual(sorted(files), ["weir", "weir-lab"])

        deb, names = files["weir"]
        for name in ("/usr/bin/weir-send", "/usr/bin/weir-play", "/usr/share/man/man1/weir-send.1.gz",
                     "/usr/share/man/man1/weir-play.1.gz", "/usr/share/bash-completion/completions/weir-play",
                     "/usr/share/zsh/vendor-completions/_weir-send", "/etc/weir/send.conf",
                     "/usr/share/applications/weir-play.desktop", "/usr/share/icons/hicolor/scalable/apps/weir-play.svg",
                     "/usr/share/doc/weir/README.Debian", "/usr/share/doc/weir/copyright", "/usr/share/doc/weir/changelog.gz"):
            self.assertIn(name, names)
        if os.path.exists(os.path.join(lib.ROOT, "packaging", "weir-send.service")):
            self.assertIn("/lib/systemd/system/weir-send.service", names)
        for name, mode in names.items():
            self.assertTrue(name.startswith(("/usr/", "/etc/", "/lib/")), name)
            self.assertNotIn("s", mode, f"{name} {mode}")
            self.assertFalse("local" in name or "__pycache__" in name or name.endswith(".c"), name)
        self.assertRegex(run("dpkg-deb", "-f", deb, "Maintainer"), r"^[^,<>]+ <[^@,<> ]+@[^@,<> ]+>$")
        needs = run("dpkg-deb", "-f", deb, "Depends")
        for library in "libc6", "libuv1", "libx264", "libsdl2", "libavcodec", "libavdevice59", "libjansson4":
            self.assertIn(library, needs)
        self.assertEqual(run("dpkg-deb", "-I", deb, "conffiles"), "/etc/weir/send.conf\n")

        deb, names = files["weir-lab"]
        for program in "weir-watch", "weir-lab":
            self.assertIn(f"/usr/share/man/man1/{program}.1.gz", names)
        for program in "weir-link", "weir-traffic", "weir-sim":
            for name in (f"bin/{program}", f"share/man/man1/{program}.1.gz", f"share/bash-completion/completions/{program}",
                         f"share/zsh/vendor-completions/_{program}"):
                self.assertIn("/usr/" + name, names)
        for name in ("/usr/bin/weir-lab",
                     "/usr/share/weir/lab/lab.py", "/usr/share/weir/lab/experiments/minbuf.py",
                     "/usr/share/weir/lab/experiments/reference/psp-16.csv"):
            self.assertIn(name, names)
        self.assertFalse([name for name in names if name.endswith((".c", ".h"))])
        self.assertRegex(run("dpkg-deb", "-f", deb, "Depends"), r"weir \(= .*python3-pyroute2")


if __name__ == "__main__":
    lib.main()
