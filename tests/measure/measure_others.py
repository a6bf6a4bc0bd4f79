# SPDX-License-Identifier: GPL-2.0-or-later
"""Third-party players, middleboxes, and viewers without feedback: number of pictures, and time to them."""
import subprocess
import time

import lib
import test_datagram
import test_mtp_raw_boxes
import test_strangers
from figures import Measurement
from rtsp import prove


class Ffmpeg(Measurement, test_strangers.Strangers):
    def measure_ffmpeg(self):
        for transport in "tcp", "udp":
            self.figure(f"ffmpeg over {transport}: frames in 3 s", len(self.ffmpeg(transport)), 3 * lib.FPS * 0.9, 3 * lib.FPS + 2)


class Boxes(Measurement, test_mtp_raw_boxes.Boxes):
    def setUp(self):
        super().setUp()
        try:
            test_mtp_raw_boxes.setUpModule()
        except subprocess.CalledProcessError as error:
            self.skipTest(str(error))

    def measure_probe(self):
        _, p = self.start_watching(self.proxy(), "--duration", "5")
        self.assertEqual(p.wait(40), 0, str(p))
        self.figure("mtp-raw, a proxy that the probe finds: first picture", p.shown()[0]["shown"], high=3, unit="s")

    def measure_step_down(self):
        net = self.proxy()
        server, p = self.start_watching(net, "--duration", "15", transport="mtp-raw:strict")
        lib.until(lambda: net.counters()["c_hole"] > 0, "the first hole")
        hole = time.monotonic()
        lib.until(lambda: "in mode fill" in server.stderr, "the step down")
        self.figure("mtp-raw:strict, a proxy: step down after the first hole", time.monotonic() - hole, high=2, unit="s")
        self.assertEqual(p.wait(40), 0, str(p))
        arrivals = sorted(e["arrived"] for e in p.events("frame") if e["arrived"] is not None)
        pause = max(b - a for a, b in zip(arrivals, arrivals[1:]))
        self.figure("mtp-raw:strict, a proxy: longest pause", pause, high=2, unit="s")
        late = [e for e in p.shown() if e["shown"] > 10]
        self.figure("mtp-raw:strict, a proxy: pictures after 10 s", len(late), low=3 * lib.FPS + 1)


class Silent(Measurement, test_datagram.Addresses):
    def measure_who_does_not_report(self):
        server = self.server()
        c, token, ports, mine = self.setup(server, "tfrc")
        for s, port in zip(mine, ports):
            prove(s, token, port)
        self.assertEqual(c.request("PLAY").status, 200)
        begun = time.monotonic()
        c.socket.settimeout(60)
        while c.socket.recv(65536):
            pass
        self.figure("viewer that does not report: stopped after", time.monotonic() - begun, 12.5, 16, "s")
