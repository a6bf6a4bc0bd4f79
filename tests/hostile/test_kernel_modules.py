# SPDX-License-Identifier: GPL-2.0-or-later
"""A viewer names a congestion control that the kernel has not loaded: no system call loads its module."""
import re

import lib
from lib import until
from rtsp import Client

TCP = "RTP/AVP/TCP;unicast;interleaved=0-1"


class KernelModules(lib.Case):
    def setup(self, server, name):
        with Client(server.port) as c:
            return c.request("SETUP", f"{c.url}/trackID=0", {"Transport": f"{TCP};x-cc={name}"})

    def test_only_what_is_available_is_asked_for(self):
        lib.need("strace")
        server = self.sender()
        log = self.path("strace")
        tracer = self.start(["strace", "-f", "-e", "trace=setsockopt", "-o", log, "-p", str(server.pid)])
        until(lambda: "attached" in tracer.stderr or not tracer.running(), "strace")
        if not tracer.running():
            self.skipTest(f"strace is not allowed here: {tracer.stderr}")
        with open("/proc/sys/net/ipv4/tcp_available_congestion_control") as f:
            available = f.read().split()
        refused = [(name, self.setup(server, name)) for name in ("nosuch", "cubicc", available[0][:-1])]
        self.assertEqual(self.setup(server, available[0]).status, 200)

        def calls():
            with open(log) as f:
                return len(re.findall("TCP_CONGESTION", f.read()))
        until(calls, "the call for what is available")
        self.assertEqual(calls(), 1)
        for name, answer in refused:
            self.assertEqual(answer.status, 461, str(answer))
            self.assertIn(f'"{name}" is not available (available: {" ".join(available)})', answer.body)


if __name__ == "__main__":
    lib.main()
