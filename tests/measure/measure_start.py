# SPDX-License-Identifier: GPL-2.0-or-later
"""The time until a viewer sees a live picture, and the audio that it misses: on the loopback and over an emulated link, by
transport. Each transport's starts alternate with those of the others, so all have the same machine."""
import os
import statistics

import lib
from figures import Measurement
from link_case import A, LinkCase, set_up

TRANSPORTS = ["minbuf", "auto", "mtp"]
STARTS = int(os.environ.get("WEIR_MEASURE_STARTS", "5"))  # of each transport
SECONDS = 4


def setUpModule():
    set_up()


class Start(Measurement):
    def measure_first_picture(self):
        p = self.play(self.sender().url, "--duration", "3")
        self.figure("live: start to first picture", p.report()["startup"]["time_to_first_frame"], high=1, unit="s")


class StartOverLink(Measurement, LinkCase):
    def starts(self, round_trip_ms):
        """Adds the figures of each transport, medians: start to first picture, and concealed audio."""
        delay = f"rate=20mbit,queue=droptail:100ms,delay={round_trip_ms / 2:g}ms"
        self.link(delay, delay)
        sender = self.sender(listen=f"{A}:0", prefix=self.ends[0].inside())
        reports = {name: [] for name in TRANSPORTS}
        for _ in range(STARTS):
            for name, list_ in reports.items():
                p = self.play(sender.url, "--transport", name, "--duration", str(SECONDS), prefix=self.ends[1].inside())
                list_.append(p.report())
        first, concealed = ({name: statistics.median(of(r) for r in list_) for name, list_ in reports.items()} for of in (
            lambda r: r["startup"]["time_to_first_frame"], lambda r: r["audio"]["concealed_ms"]))
        for name in TRANSPORTS:
            what = f"round trip of {round_trip_ms} ms: {name}: "
            self.figure(what + "start to first picture", first[name], high=0.5, unit="s")
            if name != "minbuf":
                self.figure(what + "that of minbuf times", first[name] / first["minbuf"])
            self.figure(what + "concealed audio", concealed[name], high=None if name == "minbuf" else concealed["minbuf"],
                        unit="ms")

    def measure_40_ms(self):
        self.starts(40)

    def measure_100_ms(self):
        self.starts(100)
