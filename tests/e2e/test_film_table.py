# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of a prepared film: sizes and quality of each group at each level, as a viewer gets it, from a proxy, too."""
import base64
import re
import signal
import struct
import subprocess

import lib
from lib import until
from rtsp import Client
from test_cache import CacheCase

GROUP = 2  # seconds


class FilmTable(CacheCase):
    seconds = 5
    sizes = (0, 1, 1)  # of the levels
    steps = (1, 2, 1)  # every which frame of its size a level has

    def table(self, server):
        """Returns the encoded table; None: the server has none."""
        data, total = b"", 1
        with Client(server.port) as c:
            set_up = c.request("SETUP", c.url + "/trackID=0", {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf"})
            self.assertEqual(set_up.status, 200, str(set_up))
            self.assertEqual(c.request("PLAY", headers={"Range": "npt=0-"}).status, 200)
            while len(data) < total:
                answers = []

                def ask():
                    answers.append(c.request("GET_PARAMETER", body=f"film-table: {len(data)}\r\n"))
                    return "later" not in answers[-1].body
                until(ask, "the table", 20)
                if answers[-1].status == 451:
                    return None
                self.assertEqual(answers[-1].status, 200, str(answers[-1]))
                part = re.fullmatch(r"film-table: (\d+)/(\d+) (\S+)\r\n", answers[-1].body)
                self.assertTrue(part, answers[-1].body)
                self.assertEqual(int(part[1]), len(data))
                data += base64.b64decode(part[3])
                total = int(part[2])
            beyond = c.request("GET_PARAMETER", body=f"film-table: {len(data)}\r\n")
            self.assertEqual(beyond.status, 451, str(beyond))
        return data

    def packets(self, size):
        """Returns (seconds, bytes) of the frames of a size in the prepared file, in the order of their times."""
        out = subprocess.run(["ffprobe", "-v", "error", "-select_streams", f"v:{size}", "-show_entries", "packet=pts_time,size",
                              "-of", "csv=p=0", self.film], check=True, capture_output=True, text=True, timeout=60 * lib.PATIENCE)
        return sorted((float(at), int(size)) for at, size in (line.split(",")[:2] for line in out.stdout.split()))

    def check(self, data):
        magic, levels, flags, _, groups, frames, last, num, den = struct.unpack("!4sBBHIHHII", data[:24])
        self.assertEqual((magic, levels, flags, groups, frames, last, num, den), (b"WFT\1", 3, 1, 3, 60, 30, 30, 1))
        rows = [data[24 + 6 * g:30 + 6 * g] for g in range(3)]
        self.assertEqual(len(data), 24 + 6 * 3)
        for level in range(3):
            packets = self.packets(self.sizes[level])[::self.steps[level]]
            for group, row in enumerate(rows):
                code = row[level]
                size = 1024 * 2 ** (code % 16 / 16) * 2 ** (code // 16)
                true = sum(n for at, n in packets if int((at + 0.005) // GROUP) == group)
                self.between(0.97, size / true, 1.03, f"bytes of group {group} at level {level}")
                self.between(10, row[3 + level], 254, "tenths of a dB")
        for row in rows:
            self.assertGreater(row[5], row[3], "the top level looks better than the lowest")
            self.assertGreater(row[5], row[4], "all frames look better than every second one")

    def test_as_prepared(self):
        lib.need("ffprobe")
        self.check(self.table(self.sender(source=self.copy())))

    def test_media_without(self):
        self.assertIsNone(self.table(self.sender(source="test:")))

    def test_relayed(self):
        origin = self.sender(source=self.copy())
        proxy = self.proxy("--origin", f"rtsp://{origin.url.split('/')[2]}")
        self.assertEqual(self.table(proxy), self.table(origin))
        live = self.sender(source="test:")
        proxy = self.proxy("--origin", f"rtsp://{live.url.split('/')[2]}")
        self.assertIsNone(self.table(proxy))

    def test_stored(self):
        """Its origin is dead, and the proxy was started again."""
        origin = self.sender(source=self.copy())
        proxy = self.caching(origin, "--fetch-rate", "2000000")
        table = self.table(proxy)
        self.assertEqual(table, self.table(origin))
        until(self.is_complete, "the film is complete", 60)
        origin.signal(signal.SIGKILL)
        origin.wait()
        self.stop_cleanly(proxy)
        self.assertEqual(self.table(self.caching(origin, "--outage", "1")), table)
