#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Host names: their addresses, and name servers that do not respond. In a namespace, with its own files for both."""
import signal
import socket
import subprocess
import sys
import unittest

import lib

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402


def setUpModule():
    lib.need("unshare", "nsenter", "nft")
    if not isolate.isolated():
        raise unittest.SkipTest("namespaces are not allowed here")


class Names(lib.Case):
    def instead(self, path, text):
        """Replaces a file of the system."""
        mine = self.path("instead")
        with open(mine, "w") as f:
            f.write(text)
        subprocess.run(["mount", "--bind", mine, path], check=True)
        self.addCleanup(subprocess.run, ["umount", path], check=True)

    def test_an_address_that_does_not_answer(self):
        """If a host has several addresses, the player tries the next one."""
        self.instead("/etc/hosts", "::1 two\n127.0.0.1 two\n")
        server = self.sender()
        subprocess.run(["nft", "add table inet block; add chain inet block out { type filter hook output priority 0; }; "
                        f"add rule inet block out ip6 daddr ::1 tcp dport {server.port} drop"], check=True)
        p = self.play(server.url.replace("127.0.0.1", "two"), "--duration", "1")
        self.assertGreaterEqual(p.report()["startup"]["connect"], 1.9)
        self.stop_cleanly(server)

    def test_leaving_while_the_name_is_looked_up(self):
        self.instead("/etc/resolv.conf", "nameserver 127.0.0.1\n")
        silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(silent.close)
        silent.bind(("127.0.0.1", 53))
        silent.settimeout(10 * lib.PATIENCE)
        p = self.player("rtsp://nobody.example/live")
        silent.recv(512)
        p.signal(signal.SIGTERM)
        self.assertEqual(p.wait(3), 130, str(p))


if __name__ == "__main__":
    lib.main_isolated(isolate)
