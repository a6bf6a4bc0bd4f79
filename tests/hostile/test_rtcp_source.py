# SPDX-License-Identifier: GPL-2.0-or-later
"""The server accepts RTCP of a viewer without a token only from the ports that the viewer named, not from others of its host."""
import re
import socket
import struct

import lib
from lib import until
from rtsp import Client


LOST = 0.75


def report(ssrc, of):
    """Returns a receiver report that three of four packets were lost (RFC 3550, 6.4.2)."""
    return struct.pack("!BBHIIB3xIIII", 0x81, 201, 7, ssrc, of, int(LOST * 256), 0, 0, 0, 0)


class RtcpSource(lib.Case):
    def setUp(self):
        super().setUp()
        self.sent_by = self.server()
        self.client = Client(self.sent_by.port)
        self.addCleanup(self.client.close)

    def udp(self, port=0, host="127.0.0.1"):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(s.close)
        s.bind((host, port))
        s.settimeout(10 * lib.PATIENCE)
        return s

    def pair(self):
        """Returns sockets on an even port and the next one."""
        for _ in range(100):
            first = self.udp()
            port = first.getsockname()[1]
            try:
                if port % 2 == 0:
                    return first, self.udp(port + 1)
            except OSError:
                pass
        raise AssertionError("no pair of ports")

    def watch(self, track=0):
        """SETUP with ports of its own. Returns them, the SSRC and the address for RTCP at the server."""
        media, rtcp = self.pair()
        port = media.getsockname()[1]
        answer = self.client.request("SETUP", f"{self.client.url}/trackID={track}",
                                     {"Transport": f"RTP/AVP;unicast;client_port={port}-{port + 1}"})
        self.assertEqual(answer.status, 200, str(answer))
        text = answer.headers["transport"]
        to = ("127.0.0.1", int(re.search(r"server_port=\d+-(\d+)", text).group(1)))
        return media, rtcp, int(re.search("ssrc=([0-9A-Fa-f]+)", text).group(1), 16), to

    def loss(self):
        """Returns the value of the last line of the sender's stats."""
        return self.last_transport().get("loss")

    def lines(self):
        return len([line for line in self.stats() if "transport" in line])

    def send(self, s, packet, to):
        """Repeats it until the stats were written twice."""
        before = self.lines()

        def twice():
            s.sendto(packet, to)
            return self.lines() >= before + 2
        until(twice, "the statistics", 20)

    def test_another_port_of_its_host_is_not_listened_to(self):
        media, rtcp, ssrc, to = self.watch()
        self.assertEqual(self.client.request("PLAY").status, 200)
        self.assertTrue(media.recv(2048))
        packet = report(7, ssrc)
        for stranger in self.udp(), self.udp(host="127.0.0.2"):
            self.send(stranger, packet, to)
            self.assertNotEqual(self.loss(), LOST, "a stranger's report counts")
        self.send(rtcp, packet, to)
        until(lambda: self.loss() == LOST, "its own report")

    def test_either_of_its_ports_will_do(self):
        media, rtcp, ssrc, to = self.watch()
        self.assertEqual(self.client.request("PLAY").status, 200)
        self.send(media, report(7, ssrc), to)
        until(lambda: self.loss() == LOST, "the report from its port for media")

    def test_the_sound_has_ports_of_its_own(self):
        _, _, ssrc, first = self.watch()
        _, rtcp, _, to = self.watch(track=1)
        self.assertEqual(self.client.request("PLAY").status, 200)
        self.assertNotEqual(first, to)
        self.send(self.udp(), report(7, ssrc), to)
        self.assertNotEqual(self.loss(), LOST, "a stranger's report counts")
        self.send(rtcp, report(7, ssrc), to)
        until(lambda: self.loss() == LOST, "its own report")


if __name__ == "__main__":
    lib.main()
