# SPDX-License-Identifier: GPL-2.0-or-later
"""An RTSP server that records what is pushed to it, over the connection or over UDP. Over UDP it sends a receiver report
each second (RFC 3550, 6.4.2), and NACKs (RFC 4585, 6.2.1)."""
import ctypes
import re
import select
import socket
import struct
import threading
import time

CLONE_NEWNET = 0x40000000
NTP_1970 = 2208988800
SSRC = 0x77656972  # of the reports


class Losses:
    """The packets of one flow, for its receiver reports."""

    def __init__(self):
        self.first, self.highest, self.received = None, 0, 0
        self.before = 0, 0  # expected and received at the last report

    def packet(self, seq):
        if self.first is None:
            self.first = self.highest = seq
        self.highest += max(0, (seq - self.highest + 0x8000) % 0x10000 - 0x8000)
        self.received += 1

    def block(self):
        """Returns the fraction lost since the last block, in 1/256, and the number lost at all."""
        expected = self.highest - self.first + 1
        new = expected - self.before[0]
        lost = max(0, new - (self.received - self.before[1]))
        self.before = expected, self.received
        return 256 * lost // max(new, 1) & 0xFF, max(0, expected - self.received)


class RecordServer(threading.Thread):
    """Records one stream. on_packet(server, is_rtcp, data, wall time) gets the packets of the first track."""

    def __init__(self, address, on_packet, namespace=None):
        super().__init__(daemon=True)
        self.address, self.on_packet, self.namespace = address, on_packet, namespace
        self.url, self.ready = None, threading.Event()
        self.others = []  # sockets of other tracks
        self.udp, self.peer = [], None  # sockets of RTP and RTCP, and where the sender's RTCP is
        self.losses, self.ssrc, self.lsr = Losses(), None, None
        self.start()

    def run(self):
        if self.namespace:
            with open(self.namespace) as f:  # of this thread alone
                if ctypes.CDLL(None, use_errno=True).setns(f.fileno(), CLONE_NEWNET) != 0:
                    raise OSError("cannot enter the namespace")
        self.listener = socket.create_server((self.address, 0))
        self.url = f"rtsp://{self.address}:{self.listener.getsockname()[1]}/live"
        self.ready.set()
        try:
            c, self.client = self.listener.accept()
            with c:
                self.serve(c)
        except OSError:
            pass
        for s in (*self.udp, *self.others):
            s.close()

    def stop(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()

    def serve(self, c):
        buffer, report_at = bytearray(), time.monotonic() + 1
        while True:
            readable = select.select([c, *self.udp], [], [], max(0, report_at - time.monotonic()))[0]
            now = time.time()
            for i, s in enumerate(self.udp):
                if s in readable:
                    self.packet(i, s.recv(65536), now)
            if self.udp and time.monotonic() >= report_at:
                self.report()
            if time.monotonic() >= report_at:
                report_at = time.monotonic() + 1
            if c in readable:
                data = c.recv(65536)
                if not data:
                    return
                buffer += data
                while self.message(c, buffer, now):
                    pass

    def message(self, c, buffer, now):
        """Takes a packet or a request out of the buffer. Returns false if there is no whole one."""
        if buffer[:1] == b"$":
            end = 4 + int.from_bytes(buffer[2:4], "big") if len(buffer) >= 4 else 1 << 30
            if len(buffer) < end:
                return False
            if buffer[1] < 2:
                self.packet(buffer[1], bytes(buffer[4:end]), now)
            del buffer[:end]
            return True
        at = buffer.find(b"\r\n\r\n")
        if at < 0:
            return False
        head = bytes(buffer[:at])
        length = re.search(rb"(?im)^content-length: *(\d+)", head)
        end = at + 4 + (int(length.group(1)) if length else 0)
        if len(buffer) < end:
            return False
        del buffer[:end]
        if not head.startswith(b"RTSP/"):
            out = b"RTSP/1.0 200 OK\r\nSession: 42\r\n" + re.search(rb"(?im)^cseq: *\d+", head).group() + b"\r\n"
            c.sendall(out + self.transport(head) + b"\r\n")
        return True

    def transport(self, head):
        found = re.search(rb"(?im)^transport: *[^\r]+", head)
        if not found:
            return b""
        ports = re.search(rb"client_port=(\d+)-(\d+)", found.group())
        if not ports:
            return found.group() + b"\r\n"
        pair = self.pair()
        if not self.udp:  # the audio's are bound, not read
            self.udp, self.peer = pair, (self.client[0], int(ports.group(2)))
        else:
            self.others = pair
        return found.group() + b";server_port=%d-%d\r\n" % tuple(s.getsockname()[1] for s in pair)

    def pair(self):
        """Returns sockets of an even port and the next one: some senders look at the first only (RFC 3550, 11)."""
        while True:
            pair = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
            try:
                pair[0].bind((self.address, 0))
                port = pair[0].getsockname()[1]
                if port % 2 == 0:
                    pair[1].bind((self.address, port + 1))
                    return pair
            except OSError:
                pass
            for s in pair:
                s.close()

    def packet(self, is_rtcp, data, now):
        if is_rtcp and data[1] == 200:
            self.lsr = struct.unpack_from("!I", data, 10)[0], now  # the middle of the NTP time
        if not is_rtcp:
            seq, _, self.ssrc = struct.unpack_from("!HII", data, 2)
            if self.on_packet(self, False, data, now) is not False:  # false: as if it had been lost
                self.losses.packet(seq)
        else:
            self.on_packet(self, True, data, now)

    def report(self):
        if self.losses.first is None:
            return
        fraction, lost = self.losses.block()
        lsr, since = (self.lsr[0], int((time.time() - self.lsr[1]) * 65536)) if self.lsr else (0, 0)
        self.udp[1].sendto(struct.pack("!BBHIIIIIII", 0x81, 201, 7, SSRC, self.ssrc, fraction << 24 | min(lost, 0x7FFFFF),
                                       self.losses.highest, 0, lsr, since), self.peer)

    def nack(self, seq):
        """Requests one packet, in a compound that begins with an empty report."""
        empty = struct.pack("!BBHI", 0x80, 201, 1, SSRC)
        self.udp[1].sendto(empty + struct.pack("!BBHIIHH", 0x81, 205, 3, SSRC, self.ssrc, seq, 0), self.peer)
