# SPDX-License-Identifier: GPL-2.0-or-later
"""Viewers fill their media connection with responses to their requests just when the server is about to send media, or
while the server is stopped. The server and its other viewers continue."""
import signal
import threading
import time

import lib
import rtsp

QUESTIONS = "clock\r\n" * 500  # a request; its answer is twice as long
ATTACKERS = 8
ROUNDS = 3


class Attacker:
    """Watches over minbuf with a small window, at a level with few frames, so that most of the time no data waits to
    be sent."""

    def __init__(self, port):
        self.client = rtsp.Client(port, receive_buffer=4096, segment=536)
        self.client.watch(level=0)

    def wait_reports(self, count):
        """Returns when the server has just run its check of all sessions, once a second."""
        while count > 0:
            item = self.client.item()
            count -= not isinstance(item, rtsp.Response) and item[0] == 1

    def flood(self, requests):
        """Sends many requests, and reads no responses."""
        self.client.send(b"".join(self.client.format("GET_PARAMETER", body=QUESTIONS) for _ in range(requests)))


class Requests(lib.Case):
    def setUp(self):
        super().setUp()
        self.server = self.sender()
        self.quiet = rtsp.Viewer(self.server.port)

    def check(self):
        self.assertTrue(self.server.running(), str(self.server))
        self.quiet.check()
        with rtsp.Client(self.server.port) as client:
            self.assertEqual(client.request("OPTIONS").status, 200)
        self.stop_cleanly(self.server)

    def attack(self, requests):
        try:
            attacker = Attacker(self.server.port)
            attacker.wait_reports(3)
            attacker.flood(requests)
            self.quiet.wait_frames(lib.FPS)
            attacker.client.close()
        except (OSError, rtsp.Closed):
            pass  # the server may drop who does not read

    def test_answers_between_report_and_frame(self):
        for _ in range(ROUNDS):
            threads = [threading.Thread(target=self.attack, args=(12 + 6 * i,)) for i in range(ATTACKERS)]
            for t in threads:
                t.start()
            for t in threads:
                t.join(30 * lib.PATIENCE)
            self.quiet.wait_frames(5)
        self.check()

    def test_server_stands_still(self):
        """The server stops right after its check of all sessions. When it continues, half of the viewers have reset
        their connections, and the others have sent many requests whose responses they do not read."""
        attackers = [Attacker(self.server.port) for _ in range(ATTACKERS)]
        for a in attackers:
            a.wait_reports(2)  # one came with PLAY
        self.server.signal(signal.SIGSTOP)
        # What is not read makes the end a reset.
        for a in attackers:
            lib.stands(a.client.queued, "the connection", 0.1)
        for i, a in enumerate(attackers):
            if i % 2:
                a.flood(3 * i)
            else:
                a.client.close()
        time.sleep(1)  # until the stopped server has to look after its sessions again; nothing else tells
        self.server.signal(signal.SIGCONT)
        self.quiet.wait_frames(15)
        for a in attackers:
            a.client.close()
        self.check()


if __name__ == "__main__":
    lib.main()
