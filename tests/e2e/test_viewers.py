# SPDX-License-Identifier: GPL-2.0-or-later
"""Viewers that stop reading, disappear, or are too many do not disturb the others."""
import re
import signal
import socket
import struct
import time
import urllib.request

import lib
import rtsp
from rtsp import Client, Viewer, until

STUCK_AFTER = 20  # seconds without a byte taken (server/session/session.c)


class Viewers(lib.Case):
    def setUp(self):
        super().setUp()
        self.server = self.sender("--verbose")
        self.viewer = Viewer(self.server.port)
        self.viewer.wait_frames(10)

    def connect(self, server=None, **options):
        c = Client((server or self.server).port, **options)
        self.addCleanup(c.close)
        return c

    def name(self, client):
        return "%s:%d" % client.socket.getsockname()[:2]

    def wait_log(self, pattern, seconds=10, server=None):
        return until(lambda: re.search(pattern, (server or self.server).stderr), f"\"{pattern}\" in the log", seconds)

    @lib.long
    def test_viewers_that_do_not_read(self):
        def stop_reading(server, transport, receive_buffer=4096):
            c = Client(server.port, receive_buffer=receive_buffer)
            self.addCleanup(c.close)
            c.watch("RTP/AVP/TCP;unicast;interleaved=0-1" + transport)
            return server, c

        begun = time.monotonic()
        # Plain TCP fills the kernel's buffer first, which takes a low-rate stream half a minute: filler is faster.
        filler = self.sender("--verbose", source="synthetic:greedy")
        stuck = [stop_reading(self.server, ""), stop_reading(filler, ";x-weir=tcp")]
        # Some come to a stop within a frame, some between two.
        stuck += [stop_reading(self.server, ";x-weir=minbuf", 4096 + 300 * i) for i in range(12)]
        stop_reading(self.server, ";x-weir=tcp")
        deaf = self.connect(receive_buffer=4096)  # asks and asks, and never takes an answer
        deaf.socket.setblocking(False)
        gone = rf"viewer {re.escape(self.name(deaf))} is gone"

        def asks_until_it_is_gone():
            try:
                deaf.socket.send(deaf.format("DESCRIBE") * 20)
            except OSError:
                pass  # there is no room, or no connection
            return re.search(gone, self.server.stderr)
        until(asks_until_it_is_gone, "the deaf viewer to be gone", 20)
        before = self.server.status_kb("VmRSS")
        for server, c in stuck:
            self.wait_log(rf"viewer {re.escape(self.name(c))} is dropped: it has not taken a byte", 2 * STUCK_AFTER,
                          server)
        self.assertGreater(time.monotonic() - begun, STUCK_AFTER, "dropped too early")
        # Who does not read is sent smaller sizes, whose encoders begin to work. Sanitizers keep freed memory for a while.
        if lib.SLOW <= 1:
            self.assertLess(self.server.status_kb("VmRSS") - before, 24 * 1024)
        self.viewer.check()
        self.stop_cleanly(self.server)

    def test_viewers_that_vanish(self):
        for linger in None, 0:  # FIN, RST
            c = self.connect()
            c.watch()
            name = self.name(c)
            if linger is not None:
                c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, linger))
            c.close()
            self.wait_log(rf"viewer {re.escape(name)} is gone")
        half = self.connect()  # in the middle of a request
        half.send(half.format("DESCRIBE")[:-5])
        half.close()
        self.wait_log(rf"viewer .* is gone")
        self.viewer.check()

        # A viewer of datagrams: without its control connection nothing may be sent any more.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as media:
            media.bind(("127.0.0.1", 0))
            port = media.getsockname()[1]
            c = self.connect()
            c.watch(f"RTP/AVP;unicast;client_port={port}-{port}")
            media.settimeout(5 * lib.PATIENCE)
            media.recv(65536)
            name = self.name(c)
            c.close()
            self.wait_log(rf"viewer {re.escape(name)} is gone")
            media.setblocking(False)

            def comes():
                try:
                    return media.recv(65536)
                except BlockingIOError:
                    return None
            while comes():  # what was sent before
                pass
            lib.never(comes, "media")

    def test_nobody_watches(self):
        """Without viewers nothing is encoded; the next viewer receives a complete stream."""
        server = self.sender("--verbose", "--metrics", "127.0.0.1:0")
        metrics = re.search(r"metrics at (http://\S+)", server.stderr).group(1) + "metrics"

        def encoded():
            with urllib.request.urlopen(metrics, timeout=10 * lib.PATIENCE) as answer:
                return re.findall(rb"(?m)^weir_encoder_frames_total.*", answer.read())
        viewer = Viewer(server.port)
        viewer.wait_frames(10)
        self.assertTrue(encoded())
        viewer.check()
        self.wait_log(r"is gone", server=server)

        lib.stands(encoded, "the encoders")
        viewer = Viewer(server.port)
        viewer.wait_frames(10)
        viewer.check()

    def test_more_than_there_can_be(self):
        server = self.sender("--verbose", "--max-viewers", "40")
        # One address may have a quarter of the places.
        crowd = [self.connect(server, source=f"127.0.0.{1 + i // 10}") for i in range(40)]
        self.assertEqual(crowd[-1].request("OPTIONS").status, 200)
        late = self.connect(server, source="127.0.0.5")
        self.assertEqual(late.response().status, 503)
        self.assertTrue(late.closed())
        self.wait_log("40 are connected", server=server)
        for c in crowd:
            c.close()
        until(lambda: server.stderr.count("is gone") >= 40, "the crowd to leave")
        again = self.connect(server)
        self.assertEqual(again.request("OPTIONS").status, 200)
        self.viewer.check()

    def test_the_server_says_goodbye(self):
        self.server.signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(), 0, str(self.server))
        self.viewer.join(5 * lib.PATIENCE)
        self.assertIsInstance(self.viewer.error, rtsp.Closed)
        self.assertEqual(self.viewer.gaps, 0)
        self.assertTrue(self.viewer.said_goodbye)


if __name__ == "__main__":
    lib.main()
