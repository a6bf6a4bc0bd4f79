# SPDX-License-Identifier: GPL-2.0-or-later
import io
import os
import tarfile
import tempfile
import unittest
from unittest import mock

from lab import film, peers, players
from lab.experiments import abr_real, abr_real_report
from lab.film import Film, Level, Shown
from lab.report import Report
from lab.rows import Rows
from lab.traces import generate

PLAYLIST = """#EXTM3U
#EXT-X-STREAM-INF:BANDWIDTH=316197,CODECS="avc1.640015",RESOLUTION=426x240,FRAME-RATE=30.000
v2.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=79317,CODECS="avc1.64000b",RESOLUTION=256x144,FRAME-RATE=7.500
v0.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=242817,AUDIO="aac",RESOLUTION=426x240,FRAME-RATE=15.000
v1.m3u8
"""
LEVELS = (Level(256, 144, 7.5), Level(426, 240, 15), Level(426, 240, 30))
# Two groups of 2 s and one of 1 s.
FILM = Film(LEVELS, (2, 2, 1), ((1e3, 2e3, 4e3), (1e3, 2e3, 4e3), (500, 1e3, 2e3)), ((10, 20, 30),) * 3)


def pictures(level, begin, end, late=0.1):
    """The pictures of a level from BEGIN to END of the film, each shown LATE."""
    step = 1 / LEVELS[level].fps
    return [Shown(begin + i * step + late, begin + i * step, level) for i in range(round((end - begin) / step))]


def table(rows, flags=1, levels=3, last=30):
    return film.HEADER.pack(b"WFT\1", levels, flags, 0, len(rows), 60, last, 30, 1) + b"".join(map(bytes, rows))


class Table(unittest.TestCase):
    def test_playlist(self):
        self.assertEqual(film.levels_of(PLAYLIST), LEVELS)

    def test_sizes(self):
        for code, size in ((0, 1024), (1, 1069), (16, 2048), (24, 2896), (255, 64258048)):
            self.assertEqual(film.size_of(code), size)

    def test_read(self):
        found = film.read(table([(0, 16, 32, 100, 150, 200)] * 2), PLAYLIST)
        self.assertEqual((found.lengths, found.sizes), ((2, 1), ((1024, 2048, 4096),) * 2))
        self.assertEqual(found.quality, ((10, 15, 20),) * 2)
        self.assertEqual(film.read(table([(0, 16, 32)], 0), PLAYLIST).quality, ())
        self.assertAlmostEqual(found.mean_mbit(2), 8192 * 8 / 3 / 1e6)

    def test_not_readable(self):
        good = table([(0, 16, 32, 100, 150, 200)])
        for bad in (b"", good[:-1], b"X" + good[1:], table([]), table([(0, 16)], 0, levels=2)):
            with self.assertRaises(ValueError):
                film.read(bad, PLAYLIST)


class Sizes(unittest.TestCase):
    def test_level_by_rate(self):
        """A page tells sizes only; pictures that it missed do not lower the level."""
        shown = pictures(0, 0, 2) + pictures(1, 2, 4) + [s for i, s in enumerate(pictures(2, 4, 5)) if i % 5]
        found = film.by_size(FILM, [(s.at, s.media, LEVELS[s.level].height) for s in shown])
        self.assertEqual(found, shown)

    def test_alone(self):
        """A single picture of its size in a group has the level of the one before it."""
        shown = pictures(1, 0, 2) + [Shown(2.1, 2.0, 1)] + pictures(0, 2.1, 4)
        self.assertEqual(film.by_size(FILM, [(s.at, s.media, LEVELS[s.level].height) for s in shown])[:31], shown[:31])

    def test_unknown(self):
        with self.assertRaises(ValueError):
            film.by_size(FILM, [(0, 0, 144), (1, 1, 360)])


class Figures(unittest.TestCase):
    def test_calm(self):
        shown = pictures(2, 0, 5)
        f = film.figures(FILM, shown, len(shown))
        self.assertEqual((f["freezes"], f["stalled_s"], f["changes"], f["complete"]), (0, 0, 0, True))
        self.assertAlmostEqual(f["first_s"], 0.1)
        self.assertAlmostEqual(f["frames"], 1)
        self.assertAlmostEqual(f["kbps"], 16)
        self.assertAlmostEqual(f["qoe"], 0.016)
        self.assertAlmostEqual(f["ssim"], 0.999)
        self.assertEqual(f["shown_bytes"], 10000)

    def test_changes_and_freezes(self):
        """The first group at level 0, the others at the top, 1 s late."""
        shown = pictures(0, 0, 2) + pictures(2, 2, 5, late=1.1)
        f = film.figures(FILM, shown, len(shown))
        gap = 1 + 1 / 7.5
        self.assertEqual((f["freezes"], f["changes"]), (1, 1))
        self.assertAlmostEqual(f["stalled_s"], gap)
        self.assertAlmostEqual(f["longest_s"], gap)
        for share, expected in zip(f["shares"], (0.4, 0, 0.6)):
            self.assertAlmostEqual(share, expected)
        self.assertAlmostEqual(f["ssim"], 0.4 * 0.9 + 0.6 * 0.999)
        self.assertAlmostEqual(f["frames"], 1)
        self.assertAlmostEqual(f["qoe"], (0.004 + 0.016 + 0.016 - 0.012 - 0.016 * gap) / 3)

    def test_gap_at_the_limit(self):
        for gap, freezes in ((0.49, 0), (0.51, 1)):
            shown = [Shown(0.1, 0, 0), Shown(0.1 + gap, 0.1, 0)]
            self.assertEqual(film.figures(FILM, shown, 2)["freezes"], freezes)

    def test_within_a_group(self):
        """A level counts by the time of its pictures, not by their number."""
        f = film.figures(FILM, pictures(0, 0, 1.2) + pictures(2, 1.2, 2), 33)
        self.assertAlmostEqual(f["shares"][0], 0.6, places=2)

    def test_unended(self):
        """Groups that were not shown have no rate, and lack all their frames."""
        shown = pictures(2, 0, 2)
        f = film.figures(FILM, shown, len(shown))
        self.assertFalse(f["complete"])
        self.assertAlmostEqual(f["frames"], 0.4)
        self.assertAlmostEqual(f["qoe"], (0.016 - 0.016) / 3)


class Rates(unittest.TestCase):
    def rates(self, text, seconds, lead=0):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t")
            with open(path, "w", encoding="ascii") as f:
                f.write(text)
            return abr_real.rates_of(path, seconds, lead)

    def test_seconds(self):
        """The last rate holds as long as the one before it; then the trace begins again."""
        found = self.rates("# a path\n5 1\n6 3\n", 3)
        self.assertEqual(found, [1] * 10 + [3] * 10 + [1] * 10)
        self.assertEqual(self.rates("0 2\n", 1.5), [2] * 15)

    def test_packets(self):
        found = self.rates("50\n150\n160\n200\n", 0.4)
        for mbit, expected in zip(found, (0.12, 0.36, 0.12, 0.36)):
            self.assertAlmostEqual(mbit, expected)

    def test_lead(self):
        """While the browser starts, the path carries the mean: the trace begins with the request."""
        found = self.rates("0 1\n1 3\n", 2, lead=1)
        self.assertEqual((found[:10], found[10:]), ([2] * 10, [1] * 10 + [3] * 10))
        times = generate.from_rates(found, abr_real.TICK_MS, sum(found) / len(found))
        self.assertAlmostEqual(sum(times > 2000), 3e6 / generate.PACKET_BITS, delta=1)

    def test_spread(self):
        self.assertEqual(abr_real.spread(list(range(10)), 3), [0, 3, 6])
        self.assertEqual(abr_real.spread([1, 2], 3), [1, 2])

    def test_series(self):
        lines = [{"monotonic": m, "a_to_b": {"bytes_out": 125000}} for m in (9, 11, 12)] + [{"event": "end", "monotonic": 12}]
        self.assertEqual(abr_real.link_series(lines, 10), (250000, [(1, 1), (2, 1)]))


def figures(**more):
    return {"first_s": 0.3, "shares": [0.05, 0, 0.95], "heights": [144, 240, 240], "names": [level.name for level in LEVELS],
            "freezes": 0, "stalled_s": 0, "longest_s": 0.1, "kbps": 1000, "top_kbps": 2000, "changes": 1, "frames": 1, "bytes": 2e6,
            "shown_bytes": 1e6, "qoe": 1, "ssim": 0.98, "complete": True, "waited": 0, **more}


def row(contender, cell="step", **more):
    return {"cell": cell, "contender": contender, "run": 0, "figures": figures(**more)}


class Page(unittest.TestCase):
    def verdicts(self, *rows):
        return [value.partition(":")[0] for _, value in abr_real_report.goals(Rows(rows))]

    def test_goals(self):
        peer = row("hls.js", ssim=0.97)
        self.assertEqual(self.verdicts(row("weir-play"), peer), ["met"] * 4)
        self.assertEqual(self.verdicts(row("weir-play", shares=[0.08, 0, 0.92], first_s=0.6, freezes=1, ssim=0.96), peer), ["missed"] * 4)
        self.assertEqual(self.verdicts(peer), [])
        self.assertEqual(self.verdicts(row("weir-play"), row(players.OWN, ssim=0.99)), ["met"] * 3)  # no peer

    def test_goals_of_traces(self):
        """Means over the traces that both watched."""
        rows = [row("weir-play", "puffer 0"), row("weir-play", "puffer 1", ssim=0.9), row("shaka", "puffer 0", ssim=0.97)]
        self.assertEqual(self.verdicts(*rows), ["met"])

    def test_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Report(folder, "t", "c")
            abr_real_report.write([row("weir-play"), row("hls.js", complete=False)], page)
            with open(page.write(), encoding="utf-8") as f:
                text = f.read()
        self.assertIn("left out: dash.js, shaka", text)
        self.assertIn("to its end: hls.js", text)
        self.assertIn("<td>95</td>", text)

    def test_page_of_traces(self):
        """The means are over the traces that all watched; the step is none."""
        rows = [row(c, cell, ssim=ssim) for c, own in (("weir-play", 0), ("shaka", -0.1))
                for cell, ssim in (("step", 0.5), ("puffer 0", 0.9 + own), ("puffer 1", 0.8 + own))]
        with tempfile.TemporaryDirectory() as folder:
            page = Report(folder, "t", "c")
            abr_real_report.write([*rows, row("weir-play", "puffer 2", ssim=0.1)], page)
            with open(page.write(), encoding="utf-8") as f:
                text = f.read()
        self.assertIn("Mean over 2 of 3 traces", text)
        self.assertIn("<td>0.8500</td>", text)
        self.assertIn("<td>0.7500</td>", text)

    def test_check(self):
        self.assertEqual(abr_real.check([row("weir-play"), row("hls.js")]), [])
        for bad in ({"first_s": 0.01}, {"bytes": 0.8e6}, {"kbps": 2001}, {"frames": 0}, {"complete": False}):
            self.assertEqual(len(abr_real.check([row("shaka", **bad)])), 1, bad)

    def test_cells(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(SystemExit):
                abr_real.cells(False, {"traces": folder})
            with open(os.path.join(folder, "a.txt"), "w", encoding="ascii") as f:
                f.write("0 1\n")
            self.assertEqual(len(abr_real.cells(False, {"traces": folder})), 2)
        self.assertEqual(len(abr_real.cells(False, {})), 1 + abr_real.TRACES)
        self.assertEqual([c.name for c in abr_real.cells(True, {})], ["step", "puffer 0", "puffer 1"])


class Peers(unittest.TestCase):
    def archive(self, folder, *names):
        path = os.path.join(folder, "p.tgz")
        with tarfile.open(path, "w:gz") as package:
            for name in names:
                member = tarfile.TarInfo("package/" + name)
                member.size = len(name)
                package.addfile(member, io.BytesIO(name.encode()))
        return path

    def test_keep(self):
        with tempfile.TemporaryDirectory() as folder:
            where = os.path.join(folder, "p-1")
            peers.keep(self.archive(folder, "dist/a.js", "src/a.js", "LICENSE.md", "package.json"), "dist/a.js", where)
            self.assertEqual(sorted(os.listdir(where)), ["LICENSE.md", "a.js"])
            with open(os.path.join(where, "a.js"), encoding="ascii") as f:
                self.assertEqual(f.read(), "dist/a.js")
            with self.assertRaises(FileNotFoundError):
                peers.keep(self.archive(folder, "LICENSE"), "dist/a.js", os.path.join(folder, "p-2"))
            self.assertEqual(sorted(os.listdir(folder)), ["p-1", "p.tgz"])

    def test_missing(self):
        self.assertEqual(set(players.PLAYLISTS), set(peers.PLAYERS))
        self.assertEqual(set(players.LOADERS), set(peers.PLAYERS))
        with mock.patch.object(peers, "folder", lambda: "/nonexistent"), mock.patch.object(players.chromium, "missing", lambda: None):
            self.assertIn("./run lab peers", abr_real.missing("hls.js", "b"))
            self.assertIsNone(abr_real.missing("weir-play", "b"))
            self.assertIsNone(abr_real.missing(players.OWN, "b"))


if __name__ == "__main__":
    unittest.main()
