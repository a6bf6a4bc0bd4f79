# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs as services: stopped by signals, supervised by systemd, with a log for machines."""
import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import time

import lib
import rtsp
from lib import until


def catches(p, number):
    """Returns True if the process has a handler for the signal."""
    with open(f"/proc/{p.pid}/status") as f:
        return int(re.search(r"(?m)^SigCgt:\s+(\w+)", f.read()).group(1), 16) >> (number - 1) & 1


class Stop(lib.Case):
    def ended(self, p, seconds):
        self.assertEqual(p.wait(seconds), 0, str(p))

    def test_viewers_get_all_that_was_said(self):
        """Responses and the BYE reach a viewer that continues to send requests, and the connection ends without a reset."""
        server = self.sender()
        c = rtsp.Client(server.port)
        self.addCleanup(c.close)
        c.watch("RTP/AVP/TCP;unicast;interleaved=0-1")
        c.send(c.format("OPTIONS") * 50)
        server.signal(signal.SIGTERM)
        c.socket.settimeout(5 * lib.PATIENCE)
        received = c.buffer
        try:
            while data := c.socket.recv(65536):
                received += data
                c.socket.sendall(c.format("OPTIONS"))  # nobody hears it any more
        except BrokenPipeError:
            pass
        self.assertIn(b"\xcb\x00", received, "no BYE")  # RTCP 203 (RFC 3550, 6.6)
        c.close()
        self.ended(server, 5)

    def test_a_viewer_that_does_not_leave(self):
        """A viewer that does not read delays the sender's end by at most a second."""
        server = self.sender()
        idle = socket.create_connection(("127.0.0.1", server.port))
        self.addCleanup(idle.close)
        stuck = rtsp.Client(server.port, receive_buffer=4096)
        self.addCleanup(stuck.close)
        stuck.watch("RTP/AVP/TCP;unicast;interleaved=0-1")
        stuck.fills()
        begun = time.monotonic()
        server.signal(signal.SIGINT)
        self.ended(server, 5)
        self.assertGreater(time.monotonic() - begun, 0.5)

    def test_nobody_watches(self):
        server = self.sender()
        server.signal(signal.SIGTERM)
        self.ended(server, 5)

    def test_nobody_reads_what_it_says(self):
        """A waiting pager or a stopped terminal does not block viewers."""
        for option in [], ["--stats", "/dev/stderr"]:
            reader, writer = os.pipe()
            self.addCleanup(os.close, reader)
            os.set_blocking(reader, False)
            argv = [lib.SEND, "--listen", "127.0.0.1:0", "--log", "info,connection=debug", *option, lib.SOURCE]
            p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writer)
            os.close(writer)
            self.addCleanup(p.wait)
            self.addCleanup(p.kill)
            said = bytearray()

            def says(what):
                try:
                    said.extend(os.read(reader, 65536))
                except BlockingIOError:
                    pass
                return re.search(what, said)

            port = int(until(lambda: says(rb" at rtsp://127.0.0.1:(\d+)/"), "the sender", 20).group(1))
            fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)  # from now on, as a busy machine may read the first lines late
            viewers = [rtsp.Viewer(port) for _ in range(4)]  # each has its line a second
            for _ in range(100):  # two lines each
                with rtsp.Client(port) as c:
                    self.assertEqual(c.request("OPTIONS").status, 200)
            viewers[0].wait_frames(4 * lib.FPS if option else 10)
            for viewer in viewers:
                viewer.check()
            until(lambda: says(rb"\d+ log lines dropped") or rtsp.Client(port).close(), "the gap")
            p.terminate()
            self.assertEqual(p.wait(10 * lib.PATIENCE), 0)

    def test_a_second_signal(self):
        for _ in range(8):  # the end takes a second, which a busy machine may let pass before the second signal
            server = self.sender()
            idle = rtsp.Client(server.port)
            self.addCleanup(idle.close)
            self.assertEqual(idle.request("OPTIONS").status, 200)
            server.signal(signal.SIGTERM)
            until(lambda s=server: "stopped by SIGTERM" in s.stderr, "the first signal to be taken")
            server.signal(signal.SIGTERM)
            if server.wait(5) == -signal.SIGTERM:
                return
            self.assertEqual(server.wait(), 0, str(server))
        self.fail("the second signal never ended it")

    def test_the_player_says_goodbye(self):
        server = self.sender("--verbose")
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            p = self.player(server.url, "--verbose")
            p.wait_shown(5)
            p.signal(number)
            self.assertEqual(p.wait(5), 130, str(p))
            self.assertEqual(p.report()["ended"], "interrupted")
            self.assertTrue(p.report()["playback"]["frames_played"])
            self.assertIn("asked TEARDOWN", p.stderr)

    def test_a_terminal_that_is_gone(self):
        """SIGHUP ends a stream like other signals, but not a program that was started with nohup."""
        server = self.sender(prefix=["nohup"])
        p = self.player(server.url, prefix=["nohup"])
        p.wait_shown(5)
        for program in server, p:
            program.signal(signal.SIGHUP)
        p.wait_shown(len(p.shown()) + 20)
        other = self.sender()
        other.signal(signal.SIGHUP)
        self.ended(other, 5)
        self.assertIn("stopped by SIGHUP", other.stderr)

    def test_the_player_ends_at_once(self):
        """A second signal ends it at once, although its server does not respond."""
        server = self.sender()
        for _ in range(8):  # it waits for the server for a short time, which a busy machine may let pass
            p = self.player(server.url)
            p.wait_shown(5)
            server.signal(signal.SIGSTOP)
            p.signal(signal.SIGTERM)
            until(lambda p=p: not p.running() or not catches(p, signal.SIGTERM), "the first to be taken")
            p.signal(signal.SIGTERM)
            code = p.wait(5)
            server.signal(signal.SIGCONT)
            if code == -signal.SIGTERM:
                return
            self.assertEqual(code, 130, str(p))
        self.fail("the second signal never ended it")


class Notify(lib.Case):
    """systemd's side of sd_notify(3)."""

    def listen(self, name):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind(name)
        s.settimeout(10 * lib.PATIENCE)
        self.addCleanup(s.close)
        return s

    def run_supervised(self, name, **env):
        argv = [lib.SEND, "--listen", "127.0.0.1:0", "--quiet", lib.SOURCE]
        return self.start(argv, {"NOTIFY_SOCKET": name, **env})

    def test_ready_alive_stopping(self):
        s = self.listen(self.path("notify"))
        begun = time.monotonic()  # before it can say something, as a busy machine may read all of it late
        p = self.run_supervised(self.path("notify"), WATCHDOG_USEC="400000")
        self.assertEqual(s.recv(256), b"READY=1")
        for _ in range(15):
            self.assertEqual(s.recv(256), b"WATCHDOG=1")
        self.assertGreater(time.monotonic() - begun, 2)
        # A loop that stands still says nothing.
        p.signal(signal.SIGSTOP)
        s.settimeout(0.7)
        with self.assertRaises(TimeoutError):
            while True:
                s.recv(256)
        p.signal(signal.SIGCONT)
        s.settimeout(10 * lib.PATIENCE)
        p.signal(signal.SIGTERM)
        while (said := s.recv(256)) == b"WATCHDOG=1":
            pass
        self.assertEqual(said, b"STOPPING=1")
        self.assertEqual(p.wait(), 0, str(p))

    def test_what_is_tried_again(self):
        """systemd restarts the service after failures that may be temporary, but not after a wrong configuration (exit code)."""
        with open(os.path.join(lib.ROOT, "packaging", "weir-send.service")) as f:
            final = re.search("^RestartPreventExitStatus=(.*)$", f.read(), re.M).group(1).split()
        config = self.path("send.conf")
        for text, again in ("listen = nowhere\n", False), ("listen = 192.0.2.1:1\n", True), ("source = /none\n", True):
            with open(config, "w") as f:
                f.write(text)
            p = self.start([lib.SEND, "--config", config])
            self.assertEqual(str(p.wait()) not in final, again, str(p))

    def test_names(self):
        name = f"weir-test-{os.getpid()}"
        s = self.listen("\0" + name)
        p = self.run_supervised("@" + name, WATCHDOG_USEC="200000", WATCHDOG_PID="1")
        self.assertEqual(s.recv(256), b"READY=1")
        s.settimeout(0.5)
        self.assertRaises(TimeoutError, s.recv, 256)  # another process is watched
        self.stop_cleanly(p)
        for name in "", "relative", "@", "/" + "x" * 200, self.path("nobody"):
            p = self.start([lib.SEND, "--listen", "127.0.0.1:0", lib.SOURCE], {"NOTIFY_SOCKET": name})
            until(lambda: " at rtsp://" in p.stderr, "the sender", 20)
            self.stop_cleanly(p)


class Streams(lib.Case):
    def test_closed_ones(self):
        """With closed standard streams, no file and no socket gets their numbers."""
        address = lib.own_address()  # where the port stays free
        with socket.create_server((address, 0)) as s:
            port = s.getsockname()[1]
        closed = ["bash", "-c", 'exec "$@" <&- >&- 2>&-', "bash"]
        server = self.start([*closed, lib.SEND, "--listen", f"{address}:{port}", "--verbose", lib.SOURCE])

        def listens():
            with socket.socket() as s:
                return s.connect_ex((address, port)) == 0
        until(listens, "the sender", 20)
        for _ in range(2):
            p = self.see(f"rtsp://{address}:{port}/live", "--verbose", prefix=closed)
            self.assertGreater(p.report()["playback"]["frames_played"], 0)
            with open(p.base + ".jsonl") as f:
                for line in f:
                    json.loads(line)
        self.stop_cleanly(server)


class Log(lib.Case):
    def test_json(self):
        server = self.sender("--log-json", "--log", "info,connection=debug")
        url = server.url.rstrip('"}')
        p = self.play(url, "--log-json", "--log", "debug,qoe=error", "--duration", "1")
        self.stop_cleanly(server)
        for program in server, p:
            lines = [json.loads(line) for line in program.stderr.splitlines()]
            self.assertTrue(lines)
            for line in lines:
                self.assertLessEqual(set(line), {"ts", "level", "module", "msg", "viewer"})
                self.assertRegex(line["ts"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
                self.assertIn(line["level"], ("error", "warn", "info", "debug"))
        viewers = {e["viewer"] for e in map(json.loads, server.stderr.splitlines()) if "viewer" in e}
        self.assertEqual(len(viewers), 1)
        self.assertRegex(viewers.pop(), r"^127\.0\.0\.1:\d+$")
        debug = {e["module"] for e in map(json.loads, server.stderr.splitlines()) if e["level"] == "debug"}
        self.assertEqual(debug, {"connection"})

    def test_levels(self):
        for args, wanted in (["--quiet"], False), (["--log", "warn"], False), (["--log", "warn,main=info"], True), \
                (["--log", "warn,sender=info"], True), (["--verbose", "--log", "error"], False):
            path = self.path("ready")
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
                ready.bind(path)
                ready.settimeout(20 * lib.PATIENCE)
                p = self.start([lib.SEND, "--listen", "127.0.0.1:0", *args, lib.SOURCE], {"NOTIFY_SOCKET": path})
                ready.recv(256)
                self.stop_cleanly(p)
            os.unlink(path)
            self.assertEqual(" at rtsp://" in p.stderr, wanted, args)


if __name__ == "__main__":
    lib.main()
