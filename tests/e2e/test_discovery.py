#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers that announce themselves by DNS-SD and are found, with a D-Bus and an avahi-daemon of the test's own, in
namespaces: the daemon's folder below /run is the test's, too."""
import os
import re
import subprocess
import sys
import unittest

import lib
from screen import Screen

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402

ADDRESS = "192.0.2.1"
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>custom</type><listen>unix:path={0}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_type="method_call"/>
<allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>
"""
DAEMON = """[server]
host-name=test
allow-interfaces=weir0
use-ipv6=no
[wide-area]
enable-wide-area=no
[publish]
publish-workstation=no
[rlimits]
"""


def setUpModule():
    lib.need("unshare", "ip", "mount", "dbus-daemon", "avahi-daemon")
    if not isolate.isolated():
        raise unittest.SkipTest("namespaces are not allowed here")
    for command in (["ip", "link", "add", "weir0", "type", "veth", "peer", "name", "weir1"],
                    ["ip", "address", "add", f"{ADDRESS}/24", "dev", "weir0"],
                    ["ip", "link", "set", "weir0", "up", "multicast", "on"],
                    ["ip", "link", "set", "weir1", "up"],
                    ["mount", "-t", "tmpfs", "tmpfs", "/run"]):
        if subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
            raise unittest.SkipTest(f"not possible here: {' '.join(command)}")
    os.mkdir("/run/avahi-daemon")


class Avahi:
    """Mixed into a case: a bus and a daemon of its own."""

    env = {}

    def setUp(self):
        super().setUp()
        self.env = {**self.env, "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.folder}/bus"}

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def bus(self):
        self.start(["dbus-daemon", "--nofork", "--config-file", self.write("bus.conf", BUS.format(self.folder))])
        lib.until(lambda: os.path.exists(self.path("bus")), "the bus")

    def daemon(self):
        daemon = self.start(["avahi-daemon", "--no-drop-root", "--no-chroot", "--no-rlimits", "--file",
                             self.write("avahi.conf", DAEMON)], self.env)
        lib.until(lambda: "startup complete" in daemon.stderr or not daemon.running(), "avahi-daemon", 30)
        self.assertTrue(daemon.running(), str(daemon))
        return daemon

    def announced(self, p, times=1):
        lib.until(lambda: p.stderr.count("announced by DNS-SD as") == times, f"an announcement of {p}", 60)


class Discovery(Avahi, lib.Case):
    def listed(self, code=0):
        """`code`: None: any."""
        p = self.start([lib.PLAY, "--list-servers"], self.env)
        got = p.wait(30)
        self.assertEqual(got, got if code is None else code, str(p))
        return p

    def test_found_as_announced(self):
        self.bus()
        self.daemon()
        self.assertIn("no server found", self.listed(3).stderr)
        sender = self.sender("--log", "debug", listen=f"{ADDRESS}:0", env=self.env)
        proxy = self.proxy("--origin", sender.url, "--log", "debug", listen=f"{ADDRESS}:0", env=self.env)
        for p in sender, proxy:
            self.announced(p)
        hidden = self.sender("--no-announce", "--log", "debug", listen=f"{ADDRESS}:0", env=self.env)
        local = self.sender("--log", "debug", env=self.env)
        second = self.sender("--path", "/b", "--log", "debug", listen=f"{ADDRESS}:0", env=self.env)
        self.announced(second)
        lines = sorted(self.listed().stdout.splitlines())
        self.assertEqual(lines, sorted([f"{sender.url}  weir-send on test", f"{second.url}  weir-send on test #2",
                                        f"rtsp://{ADDRESS}:{proxy.port}/  weir-proxy on test"]))
        for p in hidden, local:
            self.assertNotIn("DNS-SD", p.stderr)
        self.see(lines[-1].split()[0], frames=3)
        for p in second, proxy, sender:
            self.stop_cleanly(p)
        # The daemon keeps what was withdrawn for a second (RFC 6762, 10.1).
        lib.until(lambda: "no server found" in self.listed(None).stderr, "an empty list", 30)

    def test_key_is_not_announced(self):
        self.bus()
        self.daemon()
        p = self.start([lib.SEND, "--listen", f"{ADDRESS}:0", "--log", "debug", lib.SOURCE], self.env)
        self.announced(p)
        self.assertIn("key=", p.stdout + p.stderr)
        self.assertRegex(self.listed().stdout, rf"^rtsps://{re.escape(ADDRESS)}:\d+/live  weir-send on test\n$")

    def test_restart_of_the_daemon(self):
        """Also a server that starts first, without a daemon or a bus, is announced when they come."""
        sender = self.sender("--log", "debug", listen=f"{ADDRESS}:0", env=self.env)
        lib.until(lambda: "not announced by DNS-SD" in sender.stderr, "the line in the log")
        self.assertIn("no avahi-daemon responds", self.listed(3).stderr)
        self.bus()
        for times in 1, 2:
            daemon = self.daemon()
            self.announced(sender, times)
            self.assertIn(sender.url, self.listed().stdout)
            self.stop_cleanly(daemon)
        self.assertEqual(sender.stderr.count("not announced by DNS-SD"), 1, str(sender))
        self.stop_cleanly(sender)


class Window(Avahi, Screen):
    """The window of weir-play without a URL."""

    def test_found_and_played(self):
        self.bus()
        self.daemon()
        senders = [self.sender("--log", "debug", *path, listen=f"{ADDRESS}:0", env=self.env) for path in ((), ("--path", "/second"))]
        for sender in senders:
            self.announced(sender)
        p = self.start([lib.PLAY, "--keep-levels"], lib.env_of_window(self.env))
        self.await_window()
        # Without servers Down stays in the field, which is empty.
        self.key_until(lambda: self.key("Down", "Return"), lambda: any("plays level" in s.stderr for s in senders), "a viewer")
        self.assertTrue(p.running(), p)


if __name__ == "__main__":
    lib.main_isolated(isolate)
