#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks weir-send for a stream to the UDP ports of Janus, an "rtp" stream of its streaming plugin, and keeps it going.

feed.py [rtsp://HOST:PORT/PATH [VIDEO_PORT [AUDIO_PORT]]]    (default: rtsp://127.0.0.1:8554/live 5004 5006)

The media does not pass through this program. RTCP has the next port. Janus must be at this host's address.
"""
import itertools
import re
import select
import socket
import sys
import time
import urllib.parse

AGAIN, KEEP_ALIVE, PATIENCE = 1, 20, 10  # seconds


class Session:
    def __init__(self, url):
        at = urllib.parse.urlsplit(url)
        self.url, self.numbers, self.id = url, itertools.count(1), None
        self.socket = socket.create_connection((at.hostname, at.port or 554), PATIENCE)
        self.responses = self.socket.makefile("rb")

    def request(self, method, url, *headers):
        """Returns the headers of the response, which has no body; raises OSError unless it is 200."""
        lines = [f"{method} {url} RTSP/1.0", f"CSeq: {next(self.numbers)}", *headers, *([f"Session: {self.id}"] if self.id else [])]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        head = b"".join(iter(self.responses.readline, b"\r\n")).decode()
        if not head.startswith("RTSP/1.0 200"):
            raise OSError(f"{method}: {head.splitlines()[0] if head else 'the connection was closed'}")
        return head

    def play(self, ports):
        base, _, query = self.url.partition("?")
        for track, port in enumerate(ports):
            try:
                head = self.request("SETUP", f"{base}/trackID={track}{query and '?' + query}",
                                    f"Transport: RTP/AVP;unicast;client_port={port}-{port + 1}")
            except OSError:
                if not self.id:
                    raise
                break  # there is no audio
            self.id = re.search(r"(?im)^session: *([^;\s]+)", head).group(1)
        self.request("PLAY", self.url)

    def keep(self):
        while not select.select([self.socket], [], [], KEEP_ALIVE)[0]:
            self.request("OPTIONS", self.url)


def main(url="rtsp://127.0.0.1:8554/live", *ports):
    while True:
        try:
            session = Session(url)
            session.play([int(port) for port in ports or (5004, 5006)])
            print(f"{url} plays", flush=True)
            session.keep()
            print(f"{url} has ended", flush=True)
        except OSError as why:
            print(f"{url}: {why}", flush=True)
        time.sleep(AGAIN)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        pass
