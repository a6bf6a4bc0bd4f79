# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs in network namespaces: starts them, waits for them with deadlines, ends them by process id, keeps their logs."""
import contextlib
import glob
import os
import re
import signal
import subprocess
import time

from lab import isolate


class Failed(Exception):
    """A program failed in a run; the text ends with the end of its log."""


class Process:
    """A program in a namespace. stdout and stderr go to LOG, unless the caller passes stdin and stdout."""

    def __init__(self, namespace, argv, log, stdin=subprocess.DEVNULL, stdout=None):
        self.name = os.path.basename(argv[0])
        self.log = log
        self.code = None
        self.cpu = None  # seconds, user and system, once it has ended
        prefix = ["nsenter", f"--net={isolate.NETNS_DIR}/{namespace}"] if namespace else []
        with open(log, "wb") as out:
            out.write((" ".join(argv) + "\n").encode())
            out.flush()
            self.popen = subprocess.Popen(prefix + list(argv), stdin=stdin, stdout=out if stdout is None else stdout,
                                          stderr=out, preexec_fn=isolate.die_with_parent)
        self.pid = self.popen.pid  # nsenter replaces itself by the program, so this is the program's id

    def poll(self):
        """Returns the exit code, or None while the program runs."""
        if self.code is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.code = self.popen.returncode = os.waitstatus_to_exitcode(status)
                self.cpu = usage.ru_utime + usage.ru_stime
        return self.code

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def failed(self, what):
        return Failed(f"{self.name}: {what}; log {self.log} ends:\n{self.text()[-1500:]}")

    def wait_line(self, pattern, seconds=10):
        """Waits until the log matches PATTERN; returns the match."""
        deadline = time.monotonic() + seconds
        while True:
            ended = self.poll()
            match = re.search(pattern, self.text())
            if match:
                return match
            if ended is not None:
                raise self.failed(f"ended with {ended} before it was ready")
            if time.monotonic() > deadline:
                raise self.failed(f"not ready within {seconds} s")
            time.sleep(0.02)

    def wait(self, seconds):
        """Waits until the program ends; returns the exit code."""
        deadline = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise self.failed(f"still running after {seconds:.0f} s")
            time.sleep(0.02)
        return self.code

    def stop(self, seconds=5):
        """Interrupts the program, and kills it if it does not end."""
        for number, patience in ((signal.SIGINT, seconds), (signal.SIGTERM, 1), (signal.SIGKILL, 5)):
            if self.poll() is not None:
                break
            os.kill(self.pid, number)
            deadline = time.monotonic() + patience
            while self.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
        return self.code


def thread_waited(path):
    """Returns the share of its life that the thread with this folder in /proc was ready without a core; 0 if it ended."""
    try:
        with open(path + "/schedstat", encoding="ascii") as f:
            ready = int(f.read().split()[1]) / 1e9
        with open(path + "/stat", encoding="ascii") as f:
            started = int(f.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return ready / max(0.01, time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    except (OSError, IndexError):
        return 0.0


def family(pid):
    """Returns the ids of a process and of those below it."""
    found = [pid]
    for one in found:  # which grows
        for path in glob.glob(f"/proc/{one}/task/*/children"):
            with contextlib.suppress(OSError), open(path, encoding="ascii") as f:
                found += map(int, f.read().split())
    return found


class Processes:
    """All programs of a run; leaving the `with` block ends the remaining ones, youngest first."""

    def __init__(self, directory):
        self.directory = directory
        self.all = []
        os.makedirs(directory, exist_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.all):
            process.stop()

    def start(self, namespace, argv, log=None, **files):
        path = os.path.join(self.directory, (log or f"{len(self.all):02d}-{os.path.basename(argv[0])}") + ".log")
        process = Process(namespace, [str(a) for a in argv], path, **files)
        self.all.append(process)
        return process

    def adopt(self, process):
        """Adds a program that something else started: an object with pid, poll() and stop()."""
        self.all.append(process)

    def waited(self):
        """Returns the max, over the threads of running programs, of the share of its life that a thread was ready without
        a core: the effect of the machine's other work on a run."""
        return max((thread_waited(path) for process in self.all if process.poll() is None for pid in family(process.pid)
                    for path in glob.glob(f"/proc/{pid}/task/*")), default=0.0)

    def sleep_until(self, monotonic):
        """Sleeps until MONOTONIC; raises if a program fails meanwhile."""
        while time.monotonic() < monotonic:
            for process in self.all:
                if process.poll() not in (None, 0):
                    raise process.failed(f"ended with {process.code} during the run")
            time.sleep(min(0.1, max(0.0, monotonic - time.monotonic())))


def program(build, name):
    """Returns a program's path in the build directory."""
    for path in (os.path.join(build, name), os.path.join(build, "lab", name)):
        if os.access(path, os.X_OK):
            return path
    raise Failed(f"{name} is not in {build}: build it first (./run build)")
