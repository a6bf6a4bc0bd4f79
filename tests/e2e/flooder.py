# SPDX-License-Identifier: GPL-2.0-or-later
"""A viewer over RTP/AVP that receives a live stream and sends a feedback packet every 5 ms, even without a
loss."""
import re
import socket
import struct
import threading

from rtsp import Client

PAUSE = 0.005


def pli(ssrc, seq):
    return struct.pack("!BBHII", 0x81, 206, 2, 1, ssrc)


def nack_newest(ssrc, seq):
    return struct.pack("!BBHIIHH", 0x81, 205, 3, 1, ssrc, seq, 0)


def nack_all(ssrc, seq):
    """Names the newest 170 packets."""
    entries = b"".join(struct.pack("!HH", (seq - 17 * k) & 0xFFFF, 0xFFFF) for k in range(10))
    return struct.pack("!BBHII", 0x81, 205, 2 + 10, 1, ssrc) + entries


class Flooder(threading.Thread):
    def __init__(self, port, packet, plays=True):
        super().__init__(daemon=True)
        self.packet = packet
        self.sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for s in self.sockets:
            s.bind(("127.0.0.1", 0))
            s.setblocking(False)
        self.client = Client(port)
        rtp, rtcp = (s.getsockname()[1] for s in self.sockets)
        answer = self.client.request("SETUP", self.client.url + "/trackID=0",
                                     {"Transport": f"RTP/AVP;unicast;client_port={rtp}-{rtcp}"})
        transport = answer.headers["transport"]
        self.to = "127.0.0.1", int(re.search(r"server_port=\d+-(\d+)", transport).group(1))
        self.ssrc = int(re.search(r"ssrc=([0-9A-Fa-f]+)", transport).group(1), 16)
        self.seq = 0
        self.sent = 0
        self.over = threading.Event()
        if plays:
            self.client.request("PLAY")
        self.start()

    def _receive(self):
        for s in self.sockets:
            try:
                while True:
                    data = s.recv(2048)
                    if s is self.sockets[0]:
                        self.seq = struct.unpack("!H", data[2:4])[0]
            except BlockingIOError:
                pass

    def run(self):
        while not self.over.wait(PAUSE):
            self._receive()
            self.sockets[1].sendto(self.packet(self.ssrc, self.seq), self.to)
            self.sent += 1

    def stop(self):
        self.over.set()
        self.join()
        self.client.close()
        for s in self.sockets:
            s.close()
