# SPDX-License-Identifier: GPL-2.0-or-later
"""The time until a viewer sees a live picture on the loopback."""
import lib
from figures import Measurement


class Start(Measurement):
    def measure_first_picture(self):
        p = self.play(self.sender().url, "--duration", "3")
        self.figure("live: start to first picture", p.report()["startup"]["time_to_first_frame"], high=1, unit="s")
