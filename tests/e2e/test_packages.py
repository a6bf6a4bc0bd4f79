# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages: their contents and dependencies, the manual pages, and the shell completion."""
import os
import re
import subprocess
import sys
import unittest

import lib

PACKAGING = os.path.join(lib.BUILD, "packaging")
PROGRAMS = "weir-send", "weir-play", "weir-proxy", "weir-link", "weir-traffic", "weir-sim"


def run(*argv, **options):
    return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=120 * lib.PATIENCE, **options).stdout


class Completion(lib.Case):
    """Runs bash and zsh with the completion and a typed line."""

    def bash(self, line):
        return " ".join(self.bash_lines(line)).split()

    def bash_lines(self, line):
        program = line.split()[0]
        script = (f'source "{PACKAGING}/{program}.bash"; COMP_WORDBREAKS=$\' \\t\\n"\\\'><=;|&(:\'; COMP_LINE=$1; '
                  f'COMP_POINT=${{#1}}; _{program.replace("-", "_")}; printf "%s\\n" "${{COMPREPLY[@]}}"')
        return [word for word in run("bash", "-c", script, "bash", line, cwd=self.folder).split("\n") if word]

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
                ("weir-play --adapt ", ["auto", "sender", "none", "goddard", "bola-e", "dynamic", "robust-mpc", "throughput"]),
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

    def test_names_with_blanks(self):
        """bash quotes what is there itself; what is typed is read with its quotes, in one word with what stands before it."""
        for name in "my film.mkv", "my find.mkv", "it's.mkv":
            open(self.path(name), "w").close()
        for line, names in ((r"weir-send my", ["my film.mkv", "my find.mkv"]), (r"weir-send my\ fil", ["my film.mkv"]),
                            (r"weir-send 'my fil", ["my film.mkv"]), (r'weir-send --stats "my fin', ["my find.mkv"]),
                            (r"weir-send --stats=my\ fil", ["my film.mkv"]), (r"weir-send my\ film.mkv --tempo", ["--temporal-layers"]),
                            (r"weir-send it\'", ["it's.mkv"]), (r"weir-send my\ xyz", []),
                            (r"weir-play --snapshot 'a b' --adapt g", ["goddard"])):
            with self.subTest(line):
                self.assertEqual(sorted(self.bash_lines(line)), sorted(names))

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
            if program in PROGRAMS[:3]:
                self.assertRegex(page.stdout, "(?m)^CONFIGURATION FILE$")
            argv = lab if program == "weir-lab" else [os.path.join(lib.BUILD, program)]
            for option in re.findall(r"(--[a-z-]+)", run(*argv, "--help")):
                self.assertIn(option, page.stdout)


@unittest.skipIf(lib.SLOW > 1, "packages are of a plain build")
class Packages(lib.Case):
    def test_an_installation_elsewhere(self):
        """No file is installed outside of the prefix, and installed files find each other."""
        lib.need("cmake")
        prefix = self.path("programs")
        for component in "weir", "weir-lab":
            run("cmake", "--install", lib.BUILD, "--prefix", prefix, "--component", component, env={**os.environ, "DESTDIR": ""})
        with open(f"{prefix}/lib/systemd/system/weir-send.service") as f:
            start = re.search("^ExecStart=(.*)$", f.read(), re.M).group(1)
        self.assertEqual(start, f"{prefix}/bin/weir-send --config {prefix}/etc/weir/send.conf")
        self.assertIn("weir-send ", run(f"{prefix}/bin/weir-send", "--config", f"{prefix}/etc/weir/send.conf", "--version"))
        self.assertRegex(run(f"{prefix}/bin/weir-lab", "list", cwd=self.folder), "(?m)^minbuf:")
        root = self.path("root")
        run("cmake", "--install", lib.BUILD, "--prefix", "/usr", "--component", "weir", env={**os.environ, "DESTDIR": root})
        with open(f"{root}/lib/systemd/system/weir-send.service") as f, \
                open(os.path.join(lib.ROOT, "packaging", "weir-send.service")) as original:
            self.assertEqual(f.read(), original.read())
        self.assertEqual(sorted(os.listdir(root)), ["etc", "lib", "usr"])

    @lib.long
    def test_contents(self):
        lib.need("cpack", "dpkg-deb", "dpkg-shlibdeps")
        run("cpack", "--config", f"{lib.BUILD}/CPackConfig.cmake", "-B", self.folder, cwd=lib.BUILD,
            env={**os.environ, "SOURCE_DATE_EPOCH": "1"}, umask=0o077)
        files = {}
        for name in os.listdir(self.folder):
            if name.endswith(".deb"):
                deb = self.path(name)
                listed = [line.split(maxsplit=5) for line in run("dpkg-deb", "-c", deb).splitlines()]
                self.assertEqual({entry[1] for entry in listed}, {"root/root"})
                self.assertEqual({entry[3] for entry in listed}, {"1970-01-01"})
                self.assertLessEqual({entry[0] for entry in listed}, {"drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--", "lrwxrwxrwx"})
                files[run("dpkg-deb", "-f", deb, "Package").strip()] = deb, {entry[5][1:].partition(" -> ")[0]: entry[0]
                                                                             for entry in listed}
        self.assertEqual(sorted(files), ["libweir-dev", "weir", "weir-lab"])

        deb, names = files["weir"]
        self.assertNotIn("lrwxrwxrwx", names.values())
        for name in ("/usr/bin/weir-send", "/usr/bin/weir-play", "/usr/share/man/man1/weir-send.1.gz",
                     "/usr/share/man/man1/weir-play.1.gz", "/usr/share/bash-completion/completions/weir-play",
                     "/usr/share/zsh/vendor-completions/_weir-send", "/etc/weir/send.conf",
                     "/usr/bin/weir-proxy", "/usr/share/man/man1/weir-proxy.1.gz", "/etc/weir/proxy.conf",
                     "/usr/share/applications/weir-play.desktop", "/usr/share/icons/hicolor/scalable/apps/weir-play.svg",
                     "/usr/share/doc/weir/README.Debian", "/usr/share/doc/weir/copyright", "/usr/share/doc/weir/changelog.gz"):
            self.assertIn(name, names)
        if os.path.exists(os.path.join(lib.ROOT, "packaging", "weir-send.service")):
            self.assertIn("/lib/systemd/system/weir-send.service", names)
            self.assertIn("/lib/systemd/system/weir-proxy.service", names)
        for name, mode in names.items():
            self.assertTrue(name.startswith(("/usr/", "/etc/", "/lib/")), name)
            self.assertNotIn("s", mode, f"{name} {mode}")
            self.assertFalse("local" in name or "__pycache__" in name or name.endswith(".c"), name)
        self.assertRegex(run("dpkg-deb", "-f", deb, "Maintainer"), r"^[^,<>]+ <[^@,<> ]+@[^@,<> ]+>$")
        needs = run("dpkg-deb", "-f", deb, "Depends")
        for library in "libc6", "libuv1", "libx264", "libsdl2", "libavcodec", "libavdevice59", "libavfilter8", "libjansson4":
            self.assertIn(library, needs)
        self.assertEqual(run("dpkg-deb", "-I", deb, "conffiles"), "/etc/weir/send.conf\n/etc/weir/proxy.conf\n")

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

        deb, names = files["libweir-dev"]
        library = next(os.path.dirname(name) for name in names if name.endswith("/libweir.so"))
        version = run("dpkg-deb", "-f", deb, "Version").strip()
        for name in (f"{library}/libweir.so.0", f"{library}/libweir.so.{version}", f"{library}/pkgconfig/weir.pc",
                     "/usr/include/weir.h", "/usr/share/man/man3/weir.3.gz", "/usr/share/doc/libweir-dev/copyright",
                     "/usr/share/doc/libweir-dev/changelog.gz", "/usr/share/doc/libweir-dev/examples/watch.c"):
            self.assertIn(name, names)
        self.assertEqual(sorted(name for name, mode in names.items() if mode[0] == "l"),
                         [f"{library}/libweir.so", f"{library}/libweir.so.0"])
        self.assertFalse([name for name in names if not name.startswith("/usr/")])
        needs = run("dpkg-deb", "-f", deb, "Depends")
        for other in "libc6", "libuv1", "libavcodec", "libavdevice59", "libavfilter8", "libsdl2-2.0-0":
            self.assertIn(other, needs)
        self.assertNotIn("libsdl2-ttf", needs)  # it has no window
        self.assertRegex(run("dpkg-deb", "-I", deb, "shlibs"), r"libweir 0 libweir-dev \(>= ")


if __name__ == "__main__":
    lib.main()
