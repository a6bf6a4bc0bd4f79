# SPDX-License-Identifier: GPL-2.0-or-later
"""Several sources of one server: each at its own path, listed, and independent of each other."""
import json
import os
import re
import signal
import subprocess
import urllib.request

import lib
import test_metrics
from lib import until
from rtsp import Client


class Sources(lib.Case):
    def serve(self, *args, **options):
        """Starts a sender of a test picture, of a file that does not exist, and of `args`."""
        server = lib.Sender(self.folder, "front=test:320x180@30", "gone=" + self.path("gone.mkv"), *args, **options)
        self.processes.append(server)
        self.base = f"rtsp://127.0.0.1:{server.port}"
        return server

    def listed(self):
        p = subprocess.run([lib.PLAY, self.base + "/"], capture_output=True, text=True, timeout=20 * lib.PATIENCE)
        self.assertEqual(p.returncode, 0, p.stderr)
        return p.stdout.splitlines()

    def ask(self, server, what):
        base = re.search(r"metrics at (http://\S+/)", server.stderr).group(1)
        with urllib.request.urlopen(base + what, timeout=10 * lib.PATIENCE) as answer:
            text = answer.read().decode()
        return json.loads(text) if what.endswith("json") else test_metrics.parse(text)

    def test_both_play_and_a_third_fails(self):
        server = self.serve("yard=test:160x90@15", "--metrics", "127.0.0.1:0", "--stats", self.path("stats.jsonl"))
        until(lambda: server.stderr.count(" is open: ") == 2 and "/gone is not available" in server.stderr, "the sources")
        self.assertEqual(self.listed(), ["/front\tlive\t320x180,256x144", "/gone\tfailed\t?", "/yard\tlive\t160x90"])
        players = {path: self.player(self.base + path, "--no-picture", "--duration", "60") for path in ("/front", "/yard")}
        for p in players.values():
            p.wait_shown(20)
        refused = self.play(self.base + "/gone", code=3)
        self.assertIn("503 Service Unavailable: /gone is not available: not found", refused.stderr)
        unknown = self.play(self.base + "/garden", code=3)
        self.assertIn("no such stream; DESCRIBE rtsp://HOST/ lists the streams", unknown.stderr)
        status = until(lambda: (s := self.ask(server, "status.json")) and len(s["sessions"]) == 2 and s, "both in the status")
        self.assertEqual({s["path"]: s["encoder"]["width"] for s in status["sessions"]}, {"/front": 320, "/yard": 160})
        self.assertEqual({s["path"] for s in status["streams"]}, {"/front", "/yard"})
        metrics = self.ask(server, "metrics")
        self.assertEqual(metrics["weir_source_sessions"][1], {frozenset({("path", p)}): 1 for p in players})
        for p in players.values():
            self.assertTrue(p.running(), "a source that fails ends no other")
        until(lambda: {line["path"] for line in self.stats() if "session" in line} == set(players), "both in the lines")

    def test_signals_before_it_is_ready(self):
        """SIGHUP while the source is being opened ends nothing: the configuration is read again afterwards."""
        with open(self.path("send.conf"), "w") as f:
            f.write("listen = 127.0.0.1:0\n")

        def holds_back(p):
            """SIGHUP is caught, and SIGTERM is not yet."""
            with open(f"/proc/{p.popen.pid}/status") as f:
                caught = int(re.search(r"SigCgt:\s*(\w+)", f.read()).group(1), 16)
            return caught & 1 << signal.SIGHUP - 1 and not caught & 1 << signal.SIGTERM - 1

        sent = 0
        for _ in range(20):
            p = self.start([lib.SEND, "--config", self.path("send.conf")])
            until(lambda: holds_back(p) or "rtsp://" in p.stderr or not p.running(), "the beginning")
            early = holds_back(p)
            for _ in range(2 if early else 0):
                p.signal(signal.SIGHUP)
            until(lambda: "rtsp://" in p.stderr or not p.running(), "the end of the opening")
            self.assertTrue(p.running(), str(p))
            if early:
                until(lambda: "the configuration was read again" in p.stderr, "the reading")
                sent += 1
            self.stop_cleanly(p)
            if sent == 2:
                return
        self.fail("the signals were never held back")

    def test_a_source_that_comes_later(self):
        lib.need("ffmpeg")
        server = self.serve()
        until(lambda: "/gone is not available" in server.stderr, "the failure")
        self.clip("gone.mkv", seconds=3, size="160x90")

        def describe():
            with Client(server.port) as c:
                return c.request("DESCRIBE", self.base + "/gone").status == 200

        until(describe, "the file that is there now", 20)
        self.assertIn("/gone is open", server.stderr)
        self.assertRegex(self.listed()[1], r"^/gone\t3\.\d\t160x90$")

    def test_sections_and_access(self):
        """Each source has its own levels, and access rules apply to its path."""
        with open(os.open(self.path("users"), os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
            f.write("allow = * /yard watch\n")
        with open(self.path("send.conf"), "w") as f:
            f.write("level = 160x90@15:100\naccess = " + self.path("users") + "\n[source yard]\nsource = test:160x90@15\n"
                    "[source front]\nsource = test:320x180@30\nlevel = 320x180@30:300\nlevel = 160x90@30:150\n")
        server = lib.Sender(self.folder, "--config", self.path("send.conf"))
        self.processes.append(server)
        until(lambda: server.stderr.count(" is open: ") == 2, "the sources")
        self.assertIn("/front is open: test:320x180@30; 2 levels, up to 320x180 and 300 kbit/s", server.stderr)
        self.assertIn("/yard is open: test:160x90@15; 1 level, up to 160x90 and 100 kbit/s", server.stderr)
        with Client(server.port) as c:
            base = f"rtsp://127.0.0.1:{server.port}"
            self.assertEqual(c.request("DESCRIBE", base + "/yard").status, 200)
            self.assertEqual(c.request("DESCRIBE", base + "/front").status, 401)

    def test_printed_configuration(self):
        """The sections of a printed configuration are read again."""
        with open(self.path("a.conf"), "w") as f:
            f.write("[source a]\nsource = test:\nloop = true\n[source b]\nsource = camera:\n")

        def printed(name):
            p = subprocess.run([lib.SEND, "--config", name, "--print-config"], capture_output=True, text=True, timeout=60)
            self.assertEqual(p.returncode, 0, p.stderr)
            return p.stdout

        text = printed(self.path("a.conf"))
        self.assertTrue(text.endswith("\n[source a]\nsource = test:\nloop = true\n\n[source b]\nsource = camera:\n"), text)
        with open(self.path("b.conf"), "w") as f:
            f.write(text)
        self.assertEqual(printed(self.path("b.conf")), text)

    def configure(self, *sections, first=""):
        with open(self.path("send.conf"), "w") as f:
            f.write(first + "".join(f"[source {name}]\nsource = {source}\n{more}" for name, source, more in sections))

    def test_reload(self):
        """SIGHUP: sources come, go and change, and no viewer notices."""
        self.configure(("front", "test:320x180@30", ""), ("yard", "test:160x90@15", ""), ("hall", "test:160x90@15", ""))
        server = lib.Sender(self.folder, "--config", self.path("send.conf"), "--metrics", "127.0.0.1:0")
        self.processes.append(server)
        self.base = f"rtsp://127.0.0.1:{server.port}"
        players = [self.player(f"{self.base}/{name}", "--no-picture", "--duration", "600") for name in ("front", "yard", "hall")]
        for p in players:
            p.wait_shown(5)
        self.configure(("front", "test:320x180@30", "level = 160x90@30:100\n"), ("hall", "test:160x90@15", ""),
                       ("garden", "test:160x90@15", ""), first="max-viewers = 2000\nstats = elsewhere\n")
        server.signal(signal.SIGHUP)
        until(lambda: "/garden is open" in server.stderr and server.stderr.count("/front is open") == 2, "the new sources")
        self.assertIn('a change of "stats" takes effect when weir-send is started again', server.stderr)
        self.assertEqual(self.listed(), ["/front\tlive\t160x90", "/hall\tlive\t160x90", "/garden\tlive\t160x90"])
        other = self.play(self.base + "/front", "--no-picture", "--duration", "2")
        self.assertEqual(other.report()["levels"]["count"], 1)
        self.play(self.base + "/garden", "--no-picture", "--duration", "2")
        self.play(self.base + "/yard", code=3)
        metrics = self.ask(server, "metrics")["weir_source_sessions"][1]
        self.assertEqual(len(metrics), 5, metrics)
        # A faulty file changes nothing.
        self.configure(("front", "test:320x180@30", "levle = 1\n"))
        server.signal(signal.SIGHUP)
        until(lambda: "the configuration stays as it was: " in server.stderr, "the error")
        self.assertIn('send.conf:3: "levle" is not an option', server.stderr)
        self.assertEqual(len(self.listed()), 3)
        for p in players:
            p.wait_shown(len(p.shown()) + 20)
            self.assertTrue(p.running())
            self.assertEqual(p.events("reconnect"), [])
            p.signal(signal.SIGTERM)
            self.assertEqual(p.wait(), 130, str(p))
            self.assertEqual(p.report()["session"]["reconnects"], 0)
        until(lambda: server.stderr.count(", as it was before, is closed") == 2, "what nobody watches to be closed")
        server.signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0, str(server))


if __name__ == "__main__":
    lib.main()
