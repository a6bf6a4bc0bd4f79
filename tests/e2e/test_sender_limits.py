# SPDX-License-Identifier: GPL-2.0-or-later
"""A sender at its limits: the end of a file, no free descriptor, one connection for many sessions."""
import os
import resource
import socket
import time

import lib
from rtsp import Client, Response, Rtp, rtcp_types, until

TCP = "RTP/AVP/TCP;unicast;interleaved=0-1"


class Limits(lib.Case):
    def connect(self, server, **options):
        c = Client(server.port, **options)
        self.addCleanup(c.close)
        return c

    def watch_to_the_end(self, client):
        """Returns the frame markers until BYE."""
        frames = 0
        while True:
            item = client.item()
            if isinstance(item, Response):
                continue
            if item[0] == 0:
                frames += Rtp(item[1]).marker
            elif 203 in rtcp_types(item[1]):
                return frames

    def test_who_stays_after_the_end_does_not_keep_others_out(self):
        server = self.sender(source=self.clip(seconds=2))
        first = self.connect(server)
        first.watch()
        whole = self.watch_to_the_end(first)
        self.assertGreater(whole, 3)
        second = self.connect(server)
        answer = second.watch()
        self.assertTrue(answer.headers["range"].startswith("npt=0.000-"), str(answer))
        self.between(3, self.watch_to_the_end(second), 2 * 25)
        # The first one's session is Ready again (RFC 2326, A.2): it may go back to the beginning.
        answer = first.request("PLAY", headers={"Range": "npt=0-"})
        self.assertEqual(answer.status, 200, str(answer))
        self.between(3, self.watch_to_the_end(first), 2 * 25)
        self.stop_cleanly(server)

    def test_who_comes_when_it_is_full_is_told(self):
        server = self.sender("--max-viewers", "1")
        self.connect(server).request("OPTIONS")
        for _ in range(20):  # the refusal and what the viewer asks cross each other on the way
            p = self.play(server.url, code=3)
            self.assertIn("the server refuses DESCRIBE: 503 Service Unavailable: the server is full", p.stderr)
        self.stop_cleanly(server)

    def test_speed_belongs_to_who_is_alone(self):
        server = self.sender(source=self.clip(seconds=20))
        first = self.connect(server)
        first.request("SETUP", f"{first.url}/trackID=0", {"Transport": TCP})
        answer = first.request("PLAY", headers={"Speed": "4"})
        self.assertEqual(float(answer.headers["speed"]), 4, str(answer))
        second = self.connect(server)
        second.watch()

        def pace_of_one():
            """The first frames may be of the old pace, or come late and at once from a busy machine, or not yet."""
            seen, begun = len(second.frames), time.monotonic()
            second.collect_least(10, 1.5)
            took = time.monotonic() - begun
            times = [Rtp(data).timestamp for channel, data in second.frames[seen:] if channel == 0]
            return times and (times[-1] - times[0] & 0xFFFFFFFF) / 90000 < 2 * took
        until(pace_of_one, "the pace of 1, not of 4", 20)
        answer = first.request("PLAY", headers={"Speed": "4"})
        self.assertEqual(float(answer.headers["speed"]), 1, str(answer))

    def test_no_descriptor_left(self):
        server = self.sender()
        open_now = {int(fd) for fd in os.listdir(f"/proc/{server.pid}/fd")}
        used = min(set(range(len(open_now) + 1)) - open_now)
        _, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (used, hard))
        waiting = self.connect(server)
        begun = time.monotonic()
        until(lambda: "cannot accept a viewer" in server.stderr, "the complaint")
        lib.never(lambda: server.stderr.count("cannot accept a viewer") > 3 + 2 * (time.monotonic() - begun), "many of them", 2)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (hard, hard))
        self.assertEqual(waiting.request("OPTIONS").status, 200)

    def test_no_descriptor_for_media(self):
        server = self.sender()
        c = self.connect(server)
        c.request("OPTIONS")
        open_now = {int(fd) for fd in os.listdir(f"/proc/{server.pid}/fd")}
        used = min(set(range(len(open_now) + 1)) - open_now)
        _, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (used, hard))
        mine = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for s in mine:
            self.addCleanup(s.close)
            s.bind(("127.0.0.1", 0))
        ports = "-".join(str(s.getsockname()[1]) for s in mine)
        setup = {"headers": {"Transport": f"RTP/AVP;unicast;client_port={ports}"}}
        self.assertEqual(c.request("SETUP", **setup).status, 503)
        self.assertIn("too many files are open; raise the limit with ulimit -n", server.stderr)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (hard, hard))
        self.assertEqual(c.request("SETUP", **setup).status, 200)

    def test_another_transport_on_a_full_connection(self):
        server = self.sender(source="synthetic:greedy")
        c = self.connect(server, receive_buffer=4096)
        c.watch(TCP + ";x-weir=tcp")
        c.fills()  # not read: the server waits for room
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as media:
            media.bind(("127.0.0.1", 0))
            port = media.getsockname()[1]
            end = c.format("TEARDOWN")  # together: the server finds both before it finds room again
            c.session = None
            c.send(end + c.format("SETUP", headers={"Transport": f"RTP/AVP;unicast;client_port={port}-{port}"}))
            for answer in c.response(), c.response():
                self.assertEqual(answer.status, 200, str(answer))
            self.assertEqual(c.request("OPTIONS").status, 200)

    def test_time_between_packets_is_no_silence(self):
        """At 8 kbit/s a packet lasts 1.4 s; a viewer that accepts each at once is not dropped after one."""
        server = self.sender("--timeout", "1", source="synthetic:steady:8")
        c = self.connect(server)
        c.watch(TCP + ";x-weir=tcp")
        until(lambda: c.collect(0.1) is None or sum(channel == 0 for channel, _ in c.frames) >= 4, "four packets", 20)
        self.assertNotIn("is dropped", server.stderr)

    def test_channels_differ(self):
        server = self.sender()
        for asked, given in {"4-5": "4-5", "3": "3-4", "7-7": "7-8", "255": "255-0"}.items():
            c = self.connect(server)
            answer = c.request("SETUP", f"{c.url}/trackID=0", {"Transport": f"RTP/AVP/TCP;unicast;interleaved={asked}"})
            self.assertIn(f"interleaved={given};", answer.headers["transport"])


if __name__ == "__main__":
    lib.main()
