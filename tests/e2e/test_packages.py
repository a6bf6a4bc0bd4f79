# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages: what is in them and what they need, the manual pages, and what the shell completes."""
import os
import re
import subprocess
import unittest

import lib

PACKAGING = os.path.join(lib.BUILD, "packaging")


def run(*argv, **options):
    return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=120 * lib.SLOW, **options).stdout


class Completion(lib.Case):
    """bash, with the completion loaded and a line typed."""

    def complete(self, line):
        program = line.split()[0]
        script = (f'source {PACKAGING}/{program}.bash; COMP_WORDBREAKS=$\' \\t\\n"\\\'><=;|&(:\'; COMP_LINE=$1; '
                  f'COMP_POINT=${{#1}}; _{program.replace("-", "_")}; printf "%s\\n" "${{COMPREPLY[@]}}"')
        return run("bash", "-c", script, "bash", line, cwd=self.folder).split()

    def test_bash(self):
        for name in "film.mkv", "fine.png":
            open(self.path(name), "w").close()
        for line, words in (
                ("weir-send --tempo", ["--temporal-layers"]),
                ("weir-send --loop synthetic:gr", ["greedy"]),
                ("weir-send fil", ["film.mkv"]),
                ("weir-send --stats fi", ["film.mkv", "fine.png"]),
                ("weir-send --listen ", []),
                ("weir-play --adapt ", ["sender", "none", "goddard"]),
                ("weir-play --adapt=g", ["goddard"]),
                ("weir-play -t minb", ["minbuf"]),
                ("weir-play --transport udp,mt", ["udp,mtp", "udp,mtp-raw"]),
                ("weir-play --transport minbuf:1,3,ud", ["1,3,udp"]),
                ("weir-play --goddard buf_factor=2,buf", ["2,buf_factor="]),
                ("weir-play --snapshot=fine", ["fine.png"])):
            with self.subTest(line):
                self.assertEqual(self.complete(line), words)

    def test_every_option_of_help(self):
        for program in "weir-send", "weir-play":
            listed = re.findall(r"^ {2,6}(?:-., )?(--[a-z-]+)", run(os.path.join(lib.BUILD, program), "--help"), re.M)
            self.assertGreater(len(listed), 10)
            self.assertEqual(self.complete(f"{program} -"), listed)

    def test_zsh(self):
        lib.need("zsh")
        for program in "weir-send", "weir-play":
            run("zsh", "-n", f"{PACKAGING}/{program}.zsh")


class Manual(lib.Case):
    def test_pages(self):
        lib.need("man")
        for program in "weir-send", "weir-play":
            page = subprocess.run(["man", "-l", "--warnings", f"{PACKAGING}/{program}.1"], capture_output=True, text=True,
                                  timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8", "MANPAGER": "cat", "MANWIDTH": "90"})
            self.assertEqual((page.returncode, page.stderr), (0, ""))
            for heading in "NAME", "SYNOPSIS", "OPTIONS", "CONFIGURATION FILE", "EXIT STATUS", "EXAMPLES":
                self.assertRegex(page.stdout, f"(?m)^{heading}$")
            for option in re.findall(r"(--[a-z-]+)", run(os.path.join(lib.BUILD, program), "--help")):
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
        needs = run("dpkg-deb", "-f", deb, "Depends")
        for library in "libc6", "libuv1", "libx264", "libsdl2", "libavcodec", "libavdevice59", "libjansson4":
            self.assertIn(library, needs)
        self.assertEqual(run("dpkg-deb", "-I", deb, "conffiles"), "/etc/weir/send.conf\n")

        deb, names = files["weir-lab"]
        for name in ("/usr/bin/weir-lab", "/usr/bin/weir-link", "/usr/bin/weir-traffic", "/usr/bin/weir-sim",
                     "/usr/share/weir/lab/lab.py", "/usr/share/weir/lab/experiments/minbuf.py",
                     "/usr/share/weir/lab/experiments/reference/psp-16.csv"):
            self.assertIn(name, names)
        self.assertFalse([name for name in names if name.endswith((".c", ".h"))])
        self.assertRegex(run("dpkg-deb", "-f", deb, "Depends"), r"weir \(= .*python3-pyroute2")


if __name__ == "__main__":
    lib.main()
