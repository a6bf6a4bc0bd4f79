# SPDX-License-Identifier: GPL-2.0-or-later
"""Why `--transport auto` takes `minbuf` for stored media: a prepared film of up to 1.25 Mbit/s over paths that lose packets
or are narrow, with `auto` and with `mtp`, which does not send again what was lost."""
import lib
import link_case
from figures import Measurement

SECONDS = 60  # of the film; each viewer sees half of it
LEVELS = ["--level", "320x180@30:250", "--level", "640x360@30:600", "--level", "640x360@30:1100"]
TRANSPORTS = "auto", "mtp"
PATHS = {
    "20 Mbit/s, 100 ms, 1 % lost": "rate=20mbit,delay=50ms,queue=droptail:100ms,loss=1%",
    "10 Mbit/s, 40 ms, 1 % lost": "rate=10mbit,delay=20ms,queue=droptail:100ms,loss=1%",
    "2 Mbit/s, 100 ms": "rate=2mbit,delay=50ms,queue=droptail:100ms",
    "1 Mbit/s, 50 ms": "rate=1mbit,delay=25ms,queue=droptail:100ms",
}


def setUpModule():
    link_case.set_up()
    lib.need("ip", "ffmpeg")


class Films(link_case.LinkCase, Measurement):
    def measure_a_path(self):
        film = lib.prepared_film(self.folder, SECONDS, "640x360", LEVELS)
        for name, link in PATHS.items():
            self.link(link, link)
            sender = self.sender(source=film, listen=f"{link_case.A}:0", prefix=self.ends[0].inside())
            for transport in TRANSPORTS:
                p = self.player(sender.url, "--transport", transport, "--duration", str(SECONDS // 2),
                                prefix=self.ends[1].inside())
                self.assertEqual(p.wait(SECONDS * 2), 0, str(p))
                r, what = p.report(), f"{name}, {transport}"
                bound = 1 if transport == "auto" else None
                self.figure(f"{what}: first picture", r["startup"]["time_to_first_frame"], high=bound and 2, unit="s")
                self.figure(f"{what}: frozen", r["freezes"]["total"], high=bound, unit="s")
                self.figure(f"{what}: mean level, of 0 to 2", r["levels"]["mean"])
