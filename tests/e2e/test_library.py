# SPDX-License-Identifier: GPL-2.0-or-later
"""libweir: the installed package as a program meets it, and viewers in one process."""
import itertools
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import threading
import unittest

import lib

CLOSED, END_OF_MEDIA, DURATION, REFUSED, SERVER_LOST, UNDECODABLE, ERROR = range(7)
FUNCTIONS = sorted(set(re.findall(r"^WEIR_API .*?(weir_\w+)\(", open(os.path.join(lib.ROOT, "lib", "weir.h")).read(), re.M)))


def run(*argv, **options):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120 * lib.PATIENCE, **options)
    if done.returncode:
        raise AssertionError(f"{shlex.join(argv)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def unused_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Exports(lib.Case):
    def test_the_header_is_what_is_exported(self):
        lib.need("nm")
        listed = run("nm", "-D", "--defined-only", os.path.join(lib.BUILD, "libweir.so"))
        self.assertGreaterEqual(len(FUNCTIONS), 8)
        self.assertEqual(sorted(line.split()[2] for line in listed.splitlines()), FUNCTIONS)

    def test_no_window(self):
        lib.need("readelf")
        needs = run("readelf", "-d", os.path.join(lib.BUILD, "libweir.so"))
        self.assertIn("libavcodec", needs)
        self.assertNotIn("SDL2_ttf", needs)

    def test_the_header_in_other_languages(self):
        for words in (["cc", "-std=c99", "-pedantic", "-x", "c"], ["c++", "-std=c++98", "-x", "c++"],
                      ["c++", "-std=c++20", "-pedantic", "-x", "c++"]):
            with self.subTest(words[1]):
                lib.need(words[0])
                run(*words, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-include",
                    os.path.join(lib.ROOT, "lib", "weir.h"), "/dev/null")


@unittest.skipIf(lib.SLOW > 1, "packages are of a plain build")
class Installed(lib.Case):
    """Compiles the examples against the installed component."""

    def setUp(self):
        super().setUp()
        lib.need("cmake", "cc", "pkg-config")
        self.prefix = self.path("prefix with a blank")
        run("cmake", "--install", lib.BUILD, "--prefix", self.prefix, "--component", "libweir-dev",
            env={**os.environ, "DESTDIR": ""})
        self.libraries = os.path.join(self.prefix, "lib")
        self.env = {**os.environ, "PKG_CONFIG_PATH": f"{self.libraries}/pkgconfig", "LD_LIBRARY_PATH": self.libraries}

    def compile(self, name):
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "weir", env=self.env))
        built = self.path(name)
        run("cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L",
            os.path.join(lib.ROOT, "examples", name + ".c"), "-o", built, *flags)
        return built

    def test_the_guide(self):
        """Each program of the guide and of the manual can be compiled."""
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "weir", env=self.env))
        with open(os.path.join(lib.ROOT, "docs", "library.md")) as f:
            programs = re.findall(r"(?ms)^```c\n(.*?)^```$", f.read())
        with open(os.path.join(lib.ROOT, "docs", "man", "weir.3.in")) as f:
            page = f.read().partition(".SH EXAMPLES")[2]
        programs.append(re.search(r"(?ms)^\.nf\n(.*?)^\.fi$", page).group(1).replace("\\e", "\\"))
        self.assertEqual(len(programs), 3)
        for program in programs:
            source = self.path("program.c")
            with open(source, "w") as f:
                f.write(program)
            run("cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L", source, "-o",
                self.path("program"), *flags)

    def watch(self, *args, **options):
        p = self.start([self.watch_program, *args], env={"LD_LIBRARY_PATH": self.libraries, **options})
        p.wait(60)
        return p

    def test_files(self):
        names = sorted(os.path.relpath(os.path.join(folder, name), self.prefix)
                       for folder, _, files in os.walk(self.prefix) for name in files)
        version = run("pkg-config", "--modversion", "weir", env=self.env).strip()
        for name in ("include/weir.h", "lib/libweir.so", "lib/libweir.so.0", f"lib/libweir.so.{version}",
                     "lib/pkgconfig/weir.pc", "share/man/man3/weir.3.gz", "share/doc/libweir-dev/copyright",
                     "share/doc/libweir-dev/examples/watch.c"):
            self.assertIn(name, names)
        self.assertIn("SONAME", run("readelf", "-d", f"{self.libraries}/libweir.so"))
        self.assertRegex(run("readelf", "-d", f"{self.libraries}/libweir.so"), r"SONAME.*\[libweir\.so\.0\]")

    def test_watch(self):
        self.watch_program = self.compile("watch")
        sender = self.sender("--level", "426x240@30:400")  # one size, however busy the machine is
        last = self.path("last.pgm")
        seconds = itertools.count(3, 6)  # a busy machine may show nothing in the first of them
        p = lib.until(lambda: (p := self.watch(sender.url, last, "--duration", str(next(seconds)))) and
                      re.search(r"^pictures [1-9].*; audio [1-9]", p.stdout, re.M) and p, "a picture", 60)
        self.assertEqual((p.popen.returncode, p.stderr), (0, ""), str(p))
        seconds = re.findall(r"^pictures (\d+), last (-?\d+) of (\d+)x(\d+), (-?\d+) ms .*; audio (\d+) ms$", p.stdout, re.M)
        self.assertGreaterEqual(len(seconds), 1)
        pictures, number, width, height, _, audio = map(int, seconds[-1])
        self.assertGreater(pictures, 0)
        self.assertGreater(audio, 0)
        self.assertEqual((width, height), (426, 240))
        self.assertIn("ended: duration\n", p.stdout)
        report = json.loads(p.stdout[p.stdout.index("{\n"):])
        self.assertEqual((report["schema"], report["ended"]), ("weir.qoe/1", "duration"))
        self.assertEqual(report["playback"]["frames_played"], pictures)
        with open(last, "rb") as f:
            head = [f.readline() for _ in range(4)]
            luma = f.read()
        self.assertEqual(head, [b"P5\n", f"# frame {number}\n".encode(), b"426 240\n", b"255\n"])
        self.assertEqual(len(luma), 426 * 240)
        self.assertEqual(lib.frame_number(426, 240, luma), number)

    def test_ends(self):
        self.watch_program = self.compile("watch")
        p = self.watch(f"rtsp://127.0.0.1:{unused_port()}/live", self.path("none.pgm"))
        self.assertRegex(p.stdout, "(?m)^ended: refused: .*cannot connect|^ended: refused: .+$")
        self.assertEqual(p.stderr, "")
        self.assertFalse(os.path.exists(self.path("none.pgm")))
        clip = self.clip(seconds=1)
        p = self.watch(self.sender(source=clip).url, self.path("film.pgm"))
        self.assertIn("ended: end of media\n", p.stdout, str(p))
        p = self.watch("no-url", self.path("none.pgm"))
        self.assertEqual((p.popen.returncode, p.stdout), (2, ""))
        self.assertIn("expects rtsp://", p.stderr)

    def test_manual(self):
        lib.need("man")
        page = subprocess.run(["man", "-l", "--warnings", f"{self.prefix}/share/man/man3/weir.3.gz"], capture_output=True,
                              text=True, timeout=60 * lib.PATIENCE,
                              env={**os.environ, "LC_ALL": "C.UTF-8", "MANPAGER": "cat", "MANWIDTH": "100"})
        self.assertEqual((page.returncode, page.stderr), (0, ""))
        for name in FUNCTIONS:
            self.assertIn(name, page.stdout)


class Probe:
    """library_probe, whose lines are read while it runs."""

    def __init__(self, case, **options):
        fd_err = open(case.path("probe.err"), "wb")
        self.err_path = case.path("probe.err")
        self.popen = subprocess.Popen([os.path.join(lib.BUILD, "library_probe")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=options.pop("stderr", fd_err), text=True, bufsize=1, **options)
        fd_err.close()
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        case.addCleanup(self.kill)
        case.addCleanup(lambda: case.assertFalse(lib.SANITIZER.search(self.stderr()), self.stderr()))

    def kill(self):
        self.popen.kill()
        self.popen.wait()
        self.reader.join()
        self.popen.stdin.close()
        self.popen.stdout.close()

    def read(self):
        for line in self.popen.stdout:
            self.lines.append(line.rstrip("\n"))

    def stderr(self):
        with open(self.err_path, errors="replace") as f:
            return f.read()

    def say(self, *words):
        self.popen.stdin.write(" ".join(map(str, words)) + "\n")
        self.popen.stdin.flush()

    def found(self, pattern):
        return [m for m in (re.fullmatch(pattern, line) for line in list(self.lines)) if m]

    def expect(self, pattern, count=1, seconds=20):
        """Waits until so many lines match, and returns the last match."""
        lib.until(lambda: len(self.found(pattern)) >= count or self.popen.poll() is not None, f"{count} of {pattern}", seconds)
        found = self.found(pattern)
        if len(found) < count:
            raise AssertionError(f"{count} of {pattern} in {self.lines[-20:]}\n{self.stderr()}")
        return found[-1]

    def pictures(self, viewer):
        """Returns [(number, width, height, captured)]."""
        return [tuple(map(int, m.groups())) for m in self.found(rf"picture {viewer} (\d+) (\d+) (\d+) (\d+) \d+")]

    def events(self, viewer):
        return [json.loads(m.group(1)) for m in self.found(rf"event {viewer} (.*)")]

    def close(self, viewer):
        """Returns the report."""
        self.say("close", viewer)
        return json.loads(self.expect(rf"closed {viewer} (.*)", seconds=30).group(1))

    def finish(self):
        self.popen.stdin.close()
        code = self.popen.wait(30 * lib.PATIENCE)
        self.reader.join()
        return code


class Viewers(lib.Case):
    def setUp(self):
        super().setUp()
        self.probe = Probe(self, env={**os.environ, "TMPDIR": self.folder})

    def open(self, url, *options):
        count = len(self.probe.found("opened .*"))
        self.probe.say("open", url, *options)
        self.probe.expect("opened .*", count + 1)
        return count

    def test_two_at_once(self):
        # One size each, as on a busy machine the sender may take a smaller one.
        first = self.sender("--level", "426x240@30:400")
        second = self.sender("--level", "320x180@25:300", source="test:320x180@25")
        a = self.open(first.url)
        b = self.open(second.url, "--transport", "scream", "--no-audio")
        self.probe.expect(rf"picture {a} .*", 20)
        self.probe.expect(rf"picture {b} .*", 20)
        self.probe.expect(rf"audio {a} \d+ [1-9]\d\d+", 1)  # the beep
        self.assertEqual({p[1:3] for p in self.probe.pictures(a)}, {(426, 240)})
        self.assertEqual({p[1:3] for p in self.probe.pictures(b)}, {(320, 180)})
        report = self.probe.close(a)
        self.assertEqual((report["schema"], report["ended"], report["error"]), ("weir.qoe/1", "quit", None))
        self.assertEqual(self.probe.expect(rf"end {a} .*").group(), f"end {a} {CLOSED} ")
        numbers = [p[0] for p in self.probe.pictures(a)]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual(report["playback"]["frames_played"], len(numbers))
        events = self.probe.events(a)
        self.assertEqual(events[0]["event"], "connected")
        self.assertEqual((events[-1]["event"], events[-1]["ended"]), ("ended", "quit"))
        shown = [e["number"] for e in events if e["event"] == "frame" and e.get("shown") is not None]
        self.assertEqual(sorted(shown), numbers)
        after = len(self.probe.pictures(b))
        self.probe.expect(rf"picture {b} .*", after + 10)  # which goes on
        self.assertEqual(self.probe.close(b)["session"]["transport"], "scream")
        self.assertEqual(self.probe.found(rf"audio {b} .*"), [])
        self.assertEqual(self.probe.finish(), 0)
        self.probe.expect("signals untouched")
        self.assertEqual([line for line in self.probe.lines if not re.match(
            "version|opened|picture|audio|event|end|closed|signals", line)], [])

    def test_a_film_with_pause_and_seek(self):
        sender = self.sender(source=self.clip(seconds=12))
        v = self.open(sender.url, "--no-audio")
        self.probe.expect(rf"picture {v} .*", 10)
        self.probe.say("pause", v)
        self.probe.expect(rf'event {v} .*"action":"pause".*')
        self.probe.say("seek", v, 10)  # a key frame is there: a busy machine needs long to decode others
        self.probe.expect(rf'event {v} .*"event":"seek","to":10.*', seconds=30)  # a picture is shown in the pause
        self.probe.say("resume", v)
        self.probe.expect(rf"end {v} {END_OF_MEDIA} ", seconds=30)
        report = self.probe.close(v)
        self.assertEqual((report["ended"], report["seeks"]["count"]), ("end-of-media", 1))

    def test_a_terminal(self):
        """The library prints nothing, also where weir-play would."""
        master, terminal = os.openpty()
        self.addCleanup(os.close, master)
        self.probe = Probe(self, stderr=terminal)
        os.close(terminal)
        v = self.open(self.sender().url, "--no-audio")
        self.probe.expect(rf"picture {v} .*", 5)
        self.probe.close(v)
        self.assertEqual(self.probe.finish(), 0)
        printed = b""
        try:
            while chunk := os.read(master, 4096):
                printed += chunk
        except OSError:  # nothing is left, and no process has the terminal
            pass
        self.assertNotIn(b"weir-play", printed)

    def test_levels(self):
        sender = self.sender(source="test:1280x720@30")
        v = self.open(sender.url, "--no-audio")
        self.probe.expect(rf"picture {v} .*", 5)
        self.probe.say("level", v, 0)
        lowest = sender.levels()[0][:2]
        lib.until(lambda: self.probe.pictures(v)[-1][1:3] == lowest, "the lowest level", 30)
        self.assertTrue([e for e in self.probe.events(v) if e["event"] == "level"])
        self.probe.close(v)

    def test_cycles(self):
        """Opened and closed at once a hundred times, and never a file left open."""
        sender = self.sender()
        self.probe.say("cycle", 5, sender.url)
        self.probe.expect("cycled 5", seconds=60)
        folder = f"/proc/{self.probe.popen.pid}/fd"
        before = len(os.listdir(folder))
        self.probe.say("cycle", 100, sender.url)
        self.probe.expect("cycled 100", seconds=120)
        lib.until(lambda: len(os.listdir(folder)) <= before, "files to be closed", 10)
        self.assertEqual(self.probe.found("error .*"), [])
        self.assertEqual(len(self.probe.found(f"end 99 {CLOSED} ")), 105)

    def test_closed_while_it_connects(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            v = self.open(f"rtsp://127.0.0.1:{silent.getsockname()[1]}/live")
            accepted, _ = silent.accept()
            report = self.probe.close(v)
            accepted.close()
        self.probe.expect(rf"end {v} {CLOSED} ")
        self.assertEqual((report["ended"], report["session"]["transport"]), ("quit", None))

    def test_closed_in_a_stall(self):
        sender = self.sender()
        v = self.open(sender.url, "--timeout", "3600")
        self.probe.expect(rf"picture {v} .*", 5)
        sender.signal(lib.signal.SIGSTOP)
        self.probe.expect(rf'event {v} .*"event":"rebuffer-start".*', seconds=30)
        report = self.probe.close(v)
        sender.signal(lib.signal.SIGCONT)
        self.probe.expect(rf"end {v} {CLOSED} ")
        self.assertGreaterEqual(report["rebuffering"]["count"], 1)

    def test_ends(self):
        refused = self.open(f"rtsp://127.0.0.1:{unused_port()}/live")
        self.assertTrue(self.probe.expect(rf"end {refused} {REFUSED} (.*)").group(1))
        sender = self.sender()
        missing = self.open(sender.url + "-not")
        self.assertIn("404", self.probe.expect(rf"end {missing} {REFUSED} (.*)").group(1))
        folder = self.path("films")
        os.mkdir(folder)
        shutil.copy(self.clip(seconds=1), folder)
        listed = self.open(self.sender(source=folder).url)
        self.probe.expect(rf"end {listed} {REFUSED} the URL names a folder.*")
        timed = self.open(sender.url, "--duration", "0.5")
        self.probe.expect(rf"end {timed} {DURATION} ")
        lost = self.open(sender.url)
        self.probe.expect(rf"picture {lost} .*", 3)
        sender.popen.kill()
        self.assertTrue(self.probe.expect(rf"end {lost} {SERVER_LOST} (.*)", seconds=40).group(1))
        self.probe.say("pause", lost)  # it has ended: nothing happens
        report = self.probe.close(lost)
        self.assertEqual(report["ended"], "server-lost")
        self.assertEqual(self.probe.close(refused)["ended"], "error")
        self.assertEqual(len(self.probe.found("end .*")), 5)

    def test_faulty_configurations(self):
        url = "rtsp://127.0.0.1:1/live"
        for words, error in (
                ([url, "--transport", "pigeon"], ".*pigeon.*"),
                ([url, "--help"], "--help, --version and --print-config are .*"),
                ([url, "--latency", "500", "--low-latency"], "--latency conflicts with --low-latency"),
                ([url, "--picture-events", "--no-picture"], "--picture-events .*"),
                ([url, "--report", "/proc/no/report.json"], "--report '/proc/no/report.json': .*"),
                ([url, "--reference", "/proc/no/film.mkv"], ".*film.mkv.*"),
                ([url, "rtsp://127.0.0.1:2/live"], ".+"),
                (["ftp://127.0.0.1/"], ".*expects rtsp://.*")):
            with self.subTest(words):
                count = len(self.probe.found("error .*"))
                self.probe.say("open", *words)
                self.assertRegex(self.probe.expect("error .*", count + 1).group(), f"^error {error}$")
        self.assertEqual(self.probe.finish(), 0)
        self.assertEqual(self.probe.found("opened .*|end .*"), [])

    def test_files_of_options(self):
        sender = self.sender()
        report, events = self.path("report.json"), self.path("events.jsonl")
        v = self.open(sender.url, "--duration", "0.5", "--report", report, "--events", events)
        self.probe.expect(rf"end {v} {DURATION} ")
        returned = self.probe.close(v)
        with open(report) as f:
            self.assertEqual(json.load(f), returned)
        with open(events) as f:
            self.assertEqual([json.loads(line) for line in f], self.probe.events(v))

    def test_a_pipe_that_nobody_reads(self):
        """--events writes to a pipe whose reader has gone: the process lives on."""
        sender = self.sender()
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        v = self.open(sender.url, "--events", pipe)
        self.probe.expect(rf"picture {v} .*", 3)
        os.close(reader)
        count = len(self.probe.pictures(v))
        self.probe.expect(rf"picture {v} .*", count + 30)
        self.probe.close(v)
        self.assertEqual(self.probe.finish(), 0)


if __name__ == "__main__":
    lib.main()
