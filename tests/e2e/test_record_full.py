#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A full disk while weir-send and weir-play record: a small tmpfs in a mount namespace of the test."""
import os
import subprocess
import sys
import unittest

import lib

sys.path.insert(0, lib.ROOT)
from lab import isolate  # noqa: E402
from test_record import NAMES, Case  # noqa: E402

DISK = 1 << 20  # bytes
FREE = 150000  # bytes that are left of them: some seconds of the recording


def setUpModule():
    lib.need("unshare", "nsenter")
    if not isolate.isolated():
        raise unittest.SkipTest("namespaces are not allowed here")


class Full(Case):
    def setUp(self):
        super().setUp()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", self.dir], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.dir])
        self.filler = os.path.join(self.dir, "other.bin")

    def fill(self, leave):
        with open(self.filler, "wb") as f:
            f.write(bytes(DISK - leave))

    def check_files(self, count):
        files = self.files()
        self.assertGreaterEqual(len(files), count)
        for file in files:
            self.assertEqual(file.video[0], (0, True), file.path)
            self.assertEqual(file.decode(), len(file.video), file.path)

    @lib.long
    def test_the_sender_goes_on_and_records_again(self):
        self.fill(FREE)
        sender = self.recording()
        lib.until(self.names, "the recording", 20)
        player = self.player(sender.url, "--no-picture")
        lib.until(lambda: "No space left on device" in sender.stderr, "the full disk", 40)
        player.wait_shown(len(player.shown()) + 12 * lib.FPS)  # it is tried again meanwhile, in vain
        self.all_came(self.interrupt(player).report())
        self.check_files(1)
        os.remove(self.filler)
        subprocess.run(["mount", "-o", f"remount,size={64 * DISK}", self.dir], check=True)  # it is not to be full again
        lib.until(lambda: "recording again" in sender.stderr, "the next attempt", 40)
        lib.until(lambda: len(self.names()) == 2, "the next file", 20)
        self.stop_cleanly(sender)
        self.assertEqual(sender.stderr.count("cannot record"), 1)
        self.check_files(2)

    def test_a_disk_that_is_full_from_the_start(self):
        self.fill(0)
        sender = self.recording()
        lib.until(lambda: "No space left on device" in sender.stderr, "the message", 40)
        self.assertEqual(self.names(), [])
        self.play(sender.url, "--no-picture", "--duration", "2")
        self.stop_cleanly(sender)

    def test_keep_makes_room(self):
        self.fill(DISK // 2)
        sender = self.recording("--record-segment", "2s", "--record-keep", "300MB,1h")
        lib.until(lambda: len(self.names()) >= 2, "two segments", 40)
        self.stop_cleanly(sender)
        old = self.names()
        for name in old:
            os.utime(os.path.join(self.dir, name), (0, 0))
        again = self.recording("--record-segment", "2s", "--record-keep", "300MB,1h", names="%Y-%m-%d_%H-%M-%S.mkv")
        lib.until(lambda: not set(old) & set(self.names()), "their deletion", 40)
        lib.until(self.names, "the recording", 20)
        self.stop_cleanly(again)
        self.check_files(1)

    def test_the_player_plays_on_and_reports_it(self):
        self.fill(FREE * 2 // 5)  # a slow machine sends less in 10 s
        sender = self.sender()
        p = self.play(sender.url, "--no-picture", "--record", os.path.join(self.dir, NAMES), "--duration", "10", code=1)
        self.assertIn("No space left on device", p.stderr)
        self.assertEqual(p.stderr.count("cannot record"), 1)
        self.all_came(p.report())
        self.check_files(1)


if __name__ == "__main__":
    lib.main_isolated(isolate)
