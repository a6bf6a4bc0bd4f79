# SPDX-License-Identifier: GPL-2.0-or-later
import os
import tempfile
import unittest
from unittest import mock

import numpy as np

from lab import chrome, crossings, others, streaming
from lab.run import Failed
from lab.viewing import Shown

BEFORE = """Usage: weir-play
        udp                RTP over UDP
        minbuf             TCP with a short send buffer: minbuf:A,B (1,3) or
                           minbuf:auto,MS
      --latency MS         target for live media, from capture to screen (default: the
                           latency at the start, with --buffer)
      --low-latency        no buffer
"""
AFTER = """Usage: weir-play
        udp                RTP over UDP
        scream             UDP, SCReAMv2
      --latency MS|auto    target for live media (default: auto)
      --low-latency        no buffer
      --repair HOW         what the sender does about losses:
        off                nothing
        resend             lost packets again
        fec                parity before the loss
        auto               what the latency allows (default)
  -q, --quiet              less
"""


class Options(unittest.TestCase):
    def test_offers(self):
        for text, option, word, expected in (
                (BEFORE, "latency", None, True), (BEFORE, "latency", "auto", False), (BEFORE, "repair", None, False),
                (BEFORE, "low", None, False), (AFTER, "latency", "auto", True), (AFTER, "repair", "fec", True),
                (AFTER, "repair", "rfi", False), (AFTER, "low-latency", "nothing", False), (AFTER, "quiet", "less", True),
                (AFTER, "latency", "parity", False), ("", "latency", None, False)):
            self.assertEqual(streaming.offers(text, option, word), expected, (option, word))

    def with_help(self, text):
        return mock.patch.multiple(streaming, help_of=lambda _: text, program=lambda *_: "weir-play")

    def test_missing(self):
        with self.with_help(BEFORE):
            self.assertIsNone(streaming.missing("udp latency=auto", "b"))
            self.assertIsNone(streaming.missing("minbuf:1,3 low-latency", "b"))
            self.assertEqual(streaming.missing("udp repair=off", "b"), "weir-play has no --repair off")
            self.assertEqual(streaming.missing("scream", "b"), "weir-play has no transport scream")
        with self.with_help(AFTER):
            for contender in ("scream latency=250", "udp repair=fec"):
                self.assertIsNone(streaming.missing(contender, "b"))
        with mock.patch.object(others, "missing", lambda kind: "no " + kind), mock.patch.object(chrome, "missing", lambda: "no wrtc"):
            self.assertEqual(streaming.missing("rist-120", "b"), "no rist-120")
            self.assertEqual(streaming.missing("googcc", "b"), "no wrtc")
        with mock.patch("shutil.which", lambda program: None):
            self.assertEqual(streaming.missing("chromium", "b"), "chromium is not installed")

    def test_play_options(self):
        for text, contender, expected in (
                (BEFORE, "udp", ("udp", [])),
                (BEFORE, "udp latency=auto", ("udp", [])),  # its default is the nearest
                (AFTER, "udp latency=auto", ("udp", ["--latency", "auto"])),
                (BEFORE, "minbuf:1,3 latency=300", ("minbuf:1,3", ["--latency", "300"])),
                (AFTER, "mtp low-latency", ("mtp", ["--low-latency"])),
                (AFTER, "tfrc latency=400 proxy", (streaming.ACCESS, ["--latency", "400"])),
                (AFTER, "mtp repair=off latency=150", ("mtp", ["--repair", "off", "--latency", "150"]))):
            with self.with_help(text), self.subTest(contender=contender):
                self.assertEqual(streaming.play_options(contender, "b"), expected)
        with self.assertRaises(Failed):
            streaming.play_options("udp fast", "b")


class Figures(unittest.TestCase):
    def test_report(self):
        old = streaming.report_figures({"causes": {"expected": 200, "shown": 150}})
        self.assertEqual((old["of_level"], old["overhead"], old["invalidations"]), (0.75, None, None))
        new = streaming.report_figures({"causes": None, "repair": {"resent": 7, "duplicated": 1, "fec_packets": 0,
                                                                   "fec_recovered": 0, "invalidations": 2, "overhead": 0.03}})
        self.assertEqual((new["of_level"], new["resent"], new["overhead"], new["invalidations"]), (None, 7, 0.03, 2))
        self.assertIsNone(streaming.report_figures({"repair": {"overhead": None}})["overhead"])

    def test_waits(self):
        lines = [{"event": "frame", "number": 1, "arrived": 1.0, "captured": 0.9, "shown": 1.25},
                 {"event": "frame", "number": 2, "dropped": "late"}, {"event": "mode"},
                 {"event": "frame", "number": 3, "arrived": None, "shown": 2}]
        self.assertEqual(streaming.waits_of(lines), {1: 250.0})

    def test_budgets(self):
        lines = [{"t": 1.5, "event": "budget", "target": 72.0, "buffer_share": 12.0}, {"t": 2, "event": "speed", "speed": 1.1}]
        self.assertEqual(streaming.budgets_of(lines), [(1.5, 72.0, 12.0)])

    def test_missing_frames(self):
        """Frame n was captured at about 10 + n / 4; those before the first and after the last that was shown are not known."""
        frames = [Shown(n, 10 + n / 4 + late, 11 + n / 4) for n, late in ((1, 0), (2, 0.01), (5, 0), (6, -0.01))]
        np.testing.assert_allclose(streaming.missing_of(frames, 4.0), [10.75, 11])
        self.assertEqual(streaming.missing_of([], 4.0), [])

    def test_series_have_one_clock(self):
        viewed = streaming.Viewed({}, [Shown(0, 1.0, 1.1), Shown(2, 1.5, 1.7), Shown(3, 2, 3, False)], {0: 40.0},
                                  [(0.5, 72.0, 12.0)], [(1, 240000), (2, 900000)], 100.0, 4.0, 98.0, [crossings.Crossing(98.05, 98.15, 1250, 1)])
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "s.npz")
            streaming.save_series(path, viewed, 0.3)
            kept = np.load(path)
            np.testing.assert_allclose(kept["captured"], [3.0, 3.5])
            np.testing.assert_allclose(kept["latency"], [100, 200])
            np.testing.assert_allclose(kept["wait"], [40, np.nan])
            np.testing.assert_allclose(kept["missing"], [3.25])
            np.testing.assert_allclose(kept["budget"], [[2.5, 72, 12]])
            np.testing.assert_allclose(kept["encoder"], [[3, 0.24], [4, 0.9]])
            np.testing.assert_allclose(kept["rate_in"], [0.1, 0, 0])
            np.testing.assert_allclose(kept["rate_out"], [0, 0.1, 0])


class Others(unittest.TestCase):
    def test_kinds(self):
        for kind, expected in (("srt-120", True), ("srt-75", True), ("rist-200", True), ("rtsp-udp", True), ("srt", False),
                               ("mtp-raw", False), ("udp", False)):
            self.assertEqual(others.is_other(kind), expected, kind)

    def test_rist(self):
        receiver, sender = others.ends("rist-200", "10.0.0.2")
        self.assertEqual(receiver, ["-buffer_size", "200", "-i", "rist://@10.0.0.2:8600"])
        self.assertEqual(sender[-1], "rist://10.0.0.2:8600")
        self.assertEqual(sender[2:4], ["-buffer_size", "200"])


if __name__ == "__main__":
    unittest.main()
