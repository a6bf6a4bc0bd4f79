# SPDX-License-Identifier: GPL-2.0-or-later
"""A firewall that changes the sequence numbers of TCP connections, as some firewalls do to hide predictable ones. It adds
a constant in each direction, chosen so that the numbers wrap soon. IPv4, between two TUN devices."""
import fcntl
import os
import select
import struct
import threading

from pyroute2 import IPRoute

from lab.net import inside

TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001
PROTOCOL_TCP = 6
SYN, ACK, SACK_OPTION = 2, 16, 5
WRAP = 1 << 32
HELLO_BELOW_WRAP = 16  # bytes: what the client says first goes across


def open_tun(namespace, name, address):
    with inside(namespace), IPRoute() as ip:
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN_NO_PI))
        index = ip.link_lookup(ifname=name)[0]
        ip.addr("add", index=index, address=address, prefixlen=30)
        ip.link("set", index=index, state="up")
    return fd


def word(packet, at):
    return struct.unpack_from(">I", packet, at)[0]


def put_word(packet, tcp, at, value):
    """RFC 1624, section 3, equation 3: HC' = ~(~HC + ~m + m'). `at` is even within the segment, as options are padded."""
    (check,) = struct.unpack_from(">H", packet, tcp + 16)
    total = (~check & 0xFFFF) + sum(~m & 0xFFFF for m in struct.unpack_from(">HH", packet, at))
    struct.pack_into(">I", packet, at, value % WRAP)
    total += sum(struct.unpack_from(">HH", packet, at))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    struct.pack_into(">H", packet, tcp + 16, ~total & 0xFFFF)


def sack_edges(packet, tcp, end):
    """Returns the offsets of the numbers in a segment's SACK blocks (RFC 2018, section 3)."""
    at = tcp + 20
    while at < end and packet[at] != 0:
        if packet[at] == 1:
            at += 1
            continue
        if packet[at] == SACK_OPTION:
            return range(at + 2, at + packet[at + 1], 4)
        at += packet[at + 1]
    return ()


class Connection:
    def __init__(self, client_isn):
        self.up = (WRAP - HELLO_BELOW_WRAP - client_isn) % WRAP  # is added to the client's numbers
        self.down = 0  # to the server's
        self.first = None  # of the server's numbers, as the client sees them
        self.across = 0  # the server's segments behind the wrap


class Renumber(threading.Thread):
    """Between namespace `near` and one port of the server in `far`. with_sack: also translates SACK blocks, which old
    firewalls do not."""

    def __init__(self, near, far, addresses, port, below_wrap, with_sack=True):
        super().__init__(daemon=True)
        self.fds = [open_tun(*end) for end in zip((near, far), ("renumber-a", "renumber-b"), addresses)]
        self.port = port
        self.below_wrap = below_wrap
        self.with_sack = with_sack
        self.connections = {}  # by the client's address and port; each SYN is the test's own
        self.sacks = 0  # blocks seen
        self.stop_reader, self.stop_writer = os.pipe()
        self.start()

    def stop(self):
        os.close(self.stop_writer)
        self.join()
        for fd in (*self.fds, self.stop_reader):
            os.close(fd)

    def run(self):
        near, far = self.fds
        while True:
            ready, _, _ = select.select([near, far, self.stop_reader], [], [])
            if self.stop_reader in ready:
                return
            for fd in ready:
                packet = bytearray(os.read(fd, 65536))
                if packet[0] >> 4 == 4 and packet[9] == PROTOCOL_TCP:
                    self.translate(packet, fd == near)
                    os.write(far if fd == near else near, packet)

    def translate(self, packet, upwards):
        tcp = (packet[0] & 15) * 4
        ports = struct.unpack_from(">HH", packet, tcp)
        client = bytes(packet[12:16] if upwards else packet[16:20]), ports[not upwards]
        flags = packet[tcp + 13]
        if ports[upwards] != self.port:
            return
        if upwards and flags & SYN and client not in self.connections:
            self.connections[client] = Connection(word(packet, tcp + 4))
        c = self.connections.get(client)
        if c is None:
            return
        seq = word(packet, tcp + 4)
        if upwards:
            put_word(packet, tcp, tcp + 4, seq + c.up)
            if flags & ACK:
                self.translate_back(packet, tcp, c.down)
            return
        if flags & SYN:
            c.first = WRAP - self.below_wrap
            c.down = (c.first - seq) % WRAP
        put_word(packet, tcp, tcp + 4, seq + c.down)
        c.across += (seq + c.down) % WRAP < WRAP // 2
        if flags & ACK:
            put_word(packet, tcp, tcp + 8, word(packet, tcp + 8) - c.up)

    def translate_back(self, packet, tcp, offset):
        put_word(packet, tcp, tcp + 8, word(packet, tcp + 8) - offset)
        for at in sack_edges(packet, tcp, tcp + (packet[tcp + 12] >> 4) * 4):
            self.sacks += 1
            if self.with_sack:
                put_word(packet, tcp, at, word(packet, at) - offset)
