# SPDX-License-Identifier: GPL-2.0-or-later
"""A middlebox for one viewer, in user space: the RTSP connection and both media ports pass through it, so its datagrams
can be counted and stopped. To the sender the media then comes from and goes to the relay: only the token tells whose
it is."""
import re
import select
import socket
import threading

from lib import SLOW


class Relay(threading.Thread):
    def __init__(self, port):
        super().__init__(daemon=True)
        self.upstream = socket.create_connection(("127.0.0.1", port), 10 * SLOW)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(20 * SLOW)
        self.url = f"rtsp://127.0.0.1:{self.listener.getsockname()[1]}/live"
        self.downstream = None
        # RTP, RTCP: towards the viewer and towards the sender
        self.near = [self._udp(), self._udp()]
        self.far = [self._udp(), self._udp()]
        self.server_ports = self.viewer = None
        self.viewer_at = [None, None]
        self.stopped_down = self.stopped_up = False  # datagrams towards the viewer, the sender
        self.down = [[0, 0], [0, 0]]  # datagrams and bytes with IP and UDP headers, RTP and RTCP
        self.up = [[0, 0], [0, 0]]
        self.over = threading.Event()
        self.start()

    @staticmethod
    def _udp():
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind(("127.0.0.1", 0))
        return s

    def stop(self):
        self.over.set()
        self.join(5 * SLOW)
        for s in [self.upstream, self.listener, self.downstream, *self.near, *self.far]:
            if s:
                s.close()

    def run(self):
        try:
            self.downstream, _ = self.listener.accept()
            self._forward()
        except OSError:
            pass

    def _forward(self):
        sockets = [self.upstream, self.downstream, *self.near, *self.far]
        while not self.over.is_set():
            for s in select.select(sockets, [], [], 0.1)[0]:
                if s in (self.upstream, self.downstream):
                    data = s.recv(65536)
                    if not data:
                        return
                    if s is self.upstream:
                        self.downstream.sendall(self._rewrite(data))
                    else:
                        self.upstream.sendall(data)
                elif s in self.near:
                    self._up(self.near.index(s))
                else:
                    self._down(self.far.index(s))

    def _rewrite(self, data):
        """The server's ports in SETUP's answer become the relay's."""
        found = re.search(rb"server_port=(\d+)-(\d+)", data)
        if not found:
            return data
        self.server_ports = [int(found.group(1)), int(found.group(2))]
        mine = "server_port=%d-%d" % tuple(s.getsockname()[1] for s in self.near)
        return data.replace(found.group(), mine.encode())

    def _up(self, i):
        data, self.viewer_at[i] = self.near[i].recvfrom(65536)
        self._count(self.up[i], data)
        if not self.stopped_up and self.server_ports:
            self.far[i].sendto(data, ("127.0.0.1", self.server_ports[i]))

    def _down(self, i):
        data = self.far[i].recv(65536)
        if self.stopped_down or not self.viewer_at[i]:
            return
        self._count(self.down[i], data)
        self.near[i].sendto(data, self.viewer_at[i])

    @staticmethod
    def _count(counts, data):
        counts[0] += 1
        counts[1] += len(data) + 28
