# SPDX-License-Identifier: GPL-2.0-or-later
"""A middlebox for one viewer, in user space: the RTSP connection and both media ports pass through it, so its datagrams
can be counted and stopped, and what comes over the connection held back or slowed down. To the sender the media then comes from and goes to the relay: only the token tells whose
it is."""
import bisect
import random
import re
import select
import socket
import threading
import time

import lib
from lib import PATIENCE


class Relay(threading.Thread):
    def __init__(self, port):
        super().__init__(daemon=True)
        self.upstream = socket.socket()
        self.upstream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)  # so that the sender feels what waits
        self.upstream.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1460)  # a network's, not the loopback's
        self.upstream.settimeout(10 * PATIENCE)
        self.upstream.connect(("127.0.0.1", port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(20 * PATIENCE)
        self.url = f"rtsp://127.0.0.1:{self.listener.getsockname()[1]}/live"
        self.downstream = None
        # RTP, RTCP: towards the viewer and towards the sender
        self.near = [self._udp(), self._udp()]
        self.far = [self._udp(), self._udp()]
        self.server_ports = self.viewer = None
        self.replaced = {}  # words of the viewer's requests: the server reads other ones of the same length
        self.viewer_at = [None, None]
        self.stopped_down = self.stopped_up = False  # datagrams towards the viewer, the sender
        self.away = False  # nothing passes; the RTSP connection goes on where it was
        self.loss_down = self.loss_up = 0.0  # of datagrams on the ports for RTP
        self.delay = 0.0  # seconds, each way, likewise
        self.still_until = 0.0  # nothing passes before; what waits in the kernel then does
        self.rate_down = 0.0  # bit/s of those towards the viewer; 0 = no limit
        self.queue_down = 20000  # bytes that wait for it at most
        self.free_at = 0.0  # when all of them have left
        self.held = []  # (when, socket, datagram, to), in order
        self.lost = 0
        self.held_back = False  # what comes to the viewer over TCP
        self.tcp_rate = 0.0  # bit/s of that; 0 = no limit
        self.next_read = 0.0
        self.random = random.Random(1)
        self.down = [[0, 0], [0, 0]]  # datagrams and bytes with IP and UDP headers, RTP and RTCP
        self.up = [[0, 0], [0, 0]]
        self.over = threading.Event()
        self.start()

    @staticmethod
    def _udp():
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind(("127.0.0.1", 0))
        return s

    def stand_still(self, seconds):
        self.still_until = time.monotonic() + seconds

    def stop(self):
        self.over.set()
        self.join(5 * PATIENCE)
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
            if time.monotonic() < self.still_until:
                time.sleep(0.01)
                continue
            wait = self.held[0][0] - time.monotonic() if self.held else 0.1
            waiting = self.held_back or time.monotonic() < self.next_read
            if waiting:
                wait = min(wait, 0.002)
            passing = sockets[2:] if self.away else sockets[waiting:]
            ready = select.select(passing, [], [], min(max(wait, 0), 0.1))[0]
            while self.held and self.held[0][0] <= time.monotonic():
                _, s, data, to = self.held.pop(0)
                s.sendto(data, to)
            for s in ready:
                if s in (self.upstream, self.downstream):
                    data = s.recv(4096 if s is self.upstream and self.tcp_rate else 65536)
                    if not data:
                        return
                    if s is self.upstream:
                        if self.tcp_rate:
                            self.next_read = time.monotonic() + 8 * len(data) / self.tcp_rate
                        self.downstream.sendall(self._rewrite(data))
                    else:
                        for word, other in self.replaced.items():
                            data = data.replace(word, other)
                        self.upstream.sendall(data)
                elif s in self.near:
                    self._up(self.near.index(s))
                else:
                    self._down(self.far.index(s))

    def _rewrite(self, data):
        """Replaces the server's ports in the SETUP response by the relay's."""
        found = re.search(rb"server_port=(\d+)-(\d+)", data)
        if not found:
            return data
        self.server_ports = [int(found.group(1)), int(found.group(2))]
        mine = "server_port=%d-%d" % tuple(s.getsockname()[1] for s in self.near)
        return data.replace(found.group(), mine.encode())

    def _up(self, i):
        data, self.viewer_at[i] = self.near[i].recvfrom(65536)
        self._count(self.up[i], data)
        if i == 0 and self._loses(self.loss_up):
            return
        if not self.stopped_up and not self.away and self.server_ports:
            self._pass(i, self.far[i], data, ("127.0.0.1", self.server_ports[i]))

    def _down(self, i):
        data = self.far[i].recv(65536)
        if self.stopped_down or self.away or not self.viewer_at[i]:
            return
        self._count(self.down[i], data)
        if i == 0 and self._loses(self.loss_down):
            return
        wait = 0.0
        if i == 0 and self.rate_down:
            wait = self._queue(len(data) + 28)
            if wait is None:
                self.lost += 1
                return
        self._pass(i, self.near[i], data, self.viewer_at[i], wait)

    def _queue(self, size):
        """Returns the seconds until a datagram of that size has left a drop-tail queue; None: the queue is full."""
        now = time.monotonic()
        begin = max(now, self.free_at)
        if (begin - now) * self.rate_down > 8 * self.queue_down:
            return None
        self.free_at = begin + 8 * size / self.rate_down
        return self.free_at - now

    def _pass(self, i, s, data, to, wait=0.0):
        if i == 0 and self.delay + wait > 0:
            bisect.insort(self.held, (time.monotonic() + self.delay + wait, s, data, to), key=lambda held: held[0])
        else:
            s.sendto(data, to)

    def _loses(self, loss):
        lost = self.random.random() < loss
        self.lost += lost
        return lost

    @staticmethod
    def _count(counts, data):
        counts[0] += 1
        counts[1] += len(data) + 28


class Relayed(lib.Case):
    OUTAGE = 6  # seconds; 10 are survived

    def relay(self, port, **settings):
        relay = Relay(port)
        self.addCleanup(relay.stop)
        for name, value in settings.items():
            setattr(relay, name, value)
        return relay

    def bound(self):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(s.close)
        s.bind(("127.0.0.1", 0))
        return s
