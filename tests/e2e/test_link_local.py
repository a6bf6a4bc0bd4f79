#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Link-local addresses (fe80::/10), which need their interface. In a namespace, whose loopback gets one."""
import re
import subprocess
import sys
import unittest

import lib

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402

FORM = re.compile(r"rtsp://\[fe80::1%25lo\]:(\d+)/live")


def setUpModule():
    lib.need("unshare", "ip")
    if not isolate.isolated():
        raise unittest.SkipTest("namespaces are not allowed here")
    if subprocess.run(["ip", "-6", "address", "add", "fe80::1/64", "dev", "lo", "nodad"]).returncode != 0:
        raise unittest.SkipTest("there is no IPv6 here")


class LinkLocal(lib.Case):
    def test_served_and_watched(self):
        """The interface as shells have it and as URLs do (RFC 6874), over TCP and over UDP."""
        for listen in "[fe80::1%lo]:0", "[fe80::1%25lo]:0":
            server = self.sender(listen=listen)
            self.assertRegex(server.url, FORM)
            for url in server.url, server.url.replace("%25", "%"):
                for transport in "minbuf", "udp", "mtp":
                    with self.subTest(f"{url} over {transport}"):
                        p = self.see(url, "--transport", transport, frames=6)
                        self.assertEqual(p.report()["session"]["url"], url)
            self.stop_cleanly(server)

    def test_metrics(self):
        server = self.sender("--insecure", "--metrics", "[fe80::1%lo]:0")
        self.assertRegex(server.stderr, r"metrics at http://\[fe80::1%25lo\]:\d+/")

    def test_what_is_missing_is_said(self):
        needs = "a link-local address requires its network interface, such as [fe80::1%eth0]"
        for option in "--listen", "--metrics":
            p = self.start([lib.SEND, option, "[fe80::1]:0"])
            self.assertEqual(p.wait(), 2, str(p))
            self.assertIn(f"{option}", p.stderr)
            self.assertIn(needs, p.stderr)
        p = self.start([lib.SEND, "--listen", "[fe80::1%nosuch]:0"])
        self.assertEqual(p.wait(), 2, str(p))
        self.assertIn("there is no such network interface", p.stderr)
        p = self.play("rtsp://[fe80::1]:8554/live", code=2)
        self.assertIn(needs, p.stderr)

    def test_what_is_too_much_is_said(self):
        only = "only a link-local address (fe80::) has a network interface"
        for option in "--listen", "--metrics":
            p = self.start([lib.SEND, option, "[::1%lo]:0"])
            self.assertEqual(p.wait(), 2, str(p))
            self.assertIn(only, p.stderr)
        p = self.play("rtsp://[::1%25lo]:8554/live", code=2)
        self.assertIn(only, p.stderr)


if __name__ == "__main__":
    lib.main_isolated(isolate)
