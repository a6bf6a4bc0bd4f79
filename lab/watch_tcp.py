# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples the congestion window of one TCP connection of another namespace, as `ss -ti` reads it (sock_diag(7))."""
import contextlib
import socket
import struct
import threading
import time

from lab.net import inside

SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, NETLINK_SOCK_DIAG = 20, 1, 4
TCP_ESTABLISHED, INET_DIAG_INFO = 1, 2
HEADER, MESSAGE = 16, 72  # bytes of struct nlmsghdr, and of struct inet_diag_msg
CWND_AT = 80  # of tcpi_snd_cwnd within struct tcp_info
INTERVAL = 0.01  # seconds


def request(near, far):
    """The request for the connection of two (address, port) pairs, of IPv4."""
    pair = struct.pack("!HH16s16s", near[1], far[1], socket.inet_aton(near[0]), socket.inet_aton(far[0]))
    body = struct.pack("BBBxI", socket.AF_INET, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), 1 << TCP_ESTABLISHED)
    body += pair + struct.pack("III", 0, 0xffffffff, 0xffffffff)  # any interface, any cookie
    return struct.pack("IHHII", HEADER + len(body), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0) + body


def window_of(reply):
    """Returns cwnd in packets, or None if the reply has none: no such connection."""
    if len(reply) < HEADER + MESSAGE or struct.unpack_from("IH", reply)[1] != SOCK_DIAG_BY_FAMILY:
        return None
    if reply[HEADER + 1] != TCP_ESTABLISHED:  # without such a connection the kernel answers for the listening socket
        return None
    at = HEADER + MESSAGE
    while at + 4 <= len(reply):
        length, kind = struct.unpack_from("HH", reply, at)
        if kind == INET_DIAG_INFO and length >= 4 + CWND_AT + 4:
            return struct.unpack_from("I", reply, at + 4 + CWND_AT)[0]
        at += max(4, (length + 3) & ~3)
    return None


def connections(text, port):
    """Returns [(near, far)] of the established connections at local PORT in the text of /proc/net/tcp."""
    found = []
    for line in text.splitlines()[1:]:
        _, near, far, state = line.split()[:4]
        ends = [(socket.inet_ntoa(struct.pack("=I", int(a, 16))), int(p, 16))
                for a, p in (end.split(":") for end in (near, far))]
        if int(state, 16) == TCP_ESTABLISHED and ends[0][1] == port:
            found.append(tuple(ends))
    return found


class WindowWatch:
    """Samples from a thread until stop()."""

    def __init__(self, namespace, port):
        self.namespace, self.port = namespace, port
        self.samples = []  # (monotonic seconds, packets)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        with contextlib.suppress(OSError), inside(self.namespace):
            with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as s:
                s.settimeout(1)
                wanted = None
                while not self.ended.wait(INTERVAL):
                    if not wanted:
                        with open(f"/proc/self/task/{threading.get_native_id()}/net/tcp", encoding="ascii") as f:
                            wanted = next(iter(connections(f.read(), self.port)), None)
                        continue
                    s.send(request(*wanted))
                    window = window_of(s.recv(65536))
                    if window is not None:
                        self.samples.append((time.monotonic(), window))

    def stop(self):
        """Returns [(monotonic seconds, packets)]."""
        self.ended.set()
        self.thread.join()
        return self.samples
