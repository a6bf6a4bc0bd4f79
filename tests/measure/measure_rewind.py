# SPDX-License-Identifier: GPL-2.0-or-later
"""The time from a key to the first picture of live video's past: from memory, and from a recording of a day."""
import glob
import os

import lib
import recordings
from figures import Measurement
from lib import until

DAY = 24 * 3600
EVERY = 600  # seconds between the files of the recording
LENGTH = 20  # seconds of each file


class Rewind(Measurement):
    def first_picture(self, what, sender, back):
        p = self.play(sender.url, "--duration", "8", "--at", f"4:seek=-{back}", seconds=60)
        seeks = p.events("seek")
        self.assertEqual(len(seeks), 1, str(p))
        self.figure(f"live rewind: first picture, {what}", seeks[0]["first_frame_ms"] / 1e3, high=0.25, unit="s")

    def measure_memory(self):
        sender = self.sender("--rewind", "60s")
        self.play(sender.url, "--duration", "15", seconds=60)
        self.first_picture("10 s back", sender, 10)

    def measure_recording(self):
        folder = self.path("recordings")
        os.makedirs(folder)
        pattern = os.path.join(folder, recordings.PATTERN)
        sender = self.sender("--record", pattern)
        self.play(sender.url, "--duration", str(LENGTH), seconds=90)
        sender.stop()
        newest = until(lambda: glob.glob(folder + "/*.mkv"), "a recording")[0]
        for i in range(1, DAY // EVERY + 2):
            recordings.copy_older(newest, EVERY * i)
        sender = self.sender("--record", pattern)
        self.first_picture("24 h back", sender, DAY - EVERY // 2 - 5)
        self.first_picture("1 h back", sender, 3600)
