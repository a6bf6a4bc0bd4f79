# SPDX-License-Identifier: GPL-2.0-or-later
"""What `--transport auto` takes for stored media, and why: a prepared film of up to 1.25 Mbit/s over paths that lose packets
or have little more room, with TCP's repair (`minbuf`) and without it (`mtp`, the first for live media over UDP after scream)."""
import os
import shutil
import subprocess
import tempfile

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
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = tempfile.mkdtemp(prefix="weir-e2e-")
        cls.addClassCleanup(shutil.rmtree, made, ignore_errors=True)
        path = os.path.join(made, "film.mkv")
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", f"testsrc2=s=640x360:r=30:d={SECONDS}",
                        "-f", "lavfi", "-i", f"sine=d={SECONDS}", "-c:v", "libx264", "-preset", "ultrafast", path],
                       check=True, timeout=60 * lib.PATIENCE)
        subprocess.run([lib.SEND, "--prepare", *LEVELS, path], check=True, timeout=240 * lib.PATIENCE, capture_output=True)
        cls.film = path + ".weir.mkv"

    def measure_a_path(self):
        for name, link in PATHS.items():
            self.link(link, link)
            sender = self.sender(source=self.film, listen=f"{link_case.A}:0", prefix=self.ends[0].inside())
            for transport in TRANSPORTS:
                p = self.player(sender.url, "--transport", transport, "--duration", str(SECONDS // 2),
                                prefix=self.ends[1].inside())
                self.assertEqual(p.wait(SECONDS * 2), 0, str(p))
                r, what = p.report(), f"{name}, {transport}"
                bound = 1 if transport == "auto" else None
                self.figure(f"{what}: first picture", r["startup"]["time_to_first_frame"], high=bound and 2, unit="s")
                self.figure(f"{what}: frozen", r["freezes"]["total"], high=bound, unit="s")
                self.figure(f"{what}: mean level, of 0 to 2", r["levels"]["mean"])
