# SPDX-License-Identifier: GPL-2.0-or-later
"""Streaming from end to end over each transport: the player's report, and its pictures."""
import json
import math
import os
import subprocess
import time

import lib

NUMBER = (int, float)
QUANTILES = {"mean": NUMBER, "p95": NUMBER}
LATENCY = {"mean": NUMBER, "p50": NUMBER, "p95": NUMBER, "p99": NUMBER, "max": NUMBER}

# The schema weir.qoe/1: every key, and what it holds when pictures were streamed. None: may be null.
SCHEMA = {
    "schema": str, "ended": str, "error": None,
    "session": {"url": str, "transport": str, "source": str, "started_at": str, "duration": NUMBER},
    "startup": {"connect": NUMBER, "initial_buffering": NUMBER, "time_to_first_frame": NUMBER},
    "playback": {"media": NUMBER, "wall": NUMBER, "frames_received": int, "frames_played": int, "frames_lost": int,
                 "frames_late": int, "frames_skipped": int, "skips": int,
                 "speed": {"mean": NUMBER, "min": NUMBER, "max": NUMBER}, "frame_rate": NUMBER, "encoded_frame_rate": NUMBER},
    "freezes": {"count": int, "total": NUMBER, "ratio": NUMBER, "longest": NUMBER, "by_cause": dict, "events": list},
    "rebuffering": {"count": int, "total": NUMBER, "ratio": NUMBER, "by_cause": dict, "events": list},
    "causes": {"expected": int, "shown": int, "by_cause": dict, "by_root": dict},
    "jitter": {**LATENCY, "stddev": NUMBER},
    "levels": {"count": int, "mean": NUMBER, "time_at": list, "bitrates": list, "switches": list},
    "latency": {"protocol": {**LATENCY, "d200": NUMBER, "d500": NUMBER, "samples": int, "clock": str},
                "frame": LATENCY, "display": LATENCY, "clock": str, "budget": None},
    "network": {"bytes_received": int, "throughput": NUMBER, "goodput": NUMBER, "packets_received": int,
                "packets_lost": int, "loss_rate": NUMBER, "loss_event_rate": NUMBER, "packets_reordered": int,
                "ecn_marked": None, "second_path_bytes": None, "rtt": QUANTILES, "capacity_estimate": None},
    "repair": None,
    "picture": {"compared": int, "psnr_y": NUMBER, "ssim": NUMBER},
    "audio": None,
    "cpu": {"user": NUMBER, "system": NUMBER, "max_rss": NUMBER},
}


class StreamCase(lib.Case):
    def check_schema(self, value, schema=SCHEMA, name="report"):
        if isinstance(schema, dict):
            self.assertIsInstance(value, dict, name)
            for key, inner in schema.items():
                self.assertIn(key, value, name)
                self.check_schema(value[key], inner, f"{name}.{key}")
        elif schema is not None:
            self.assertIsInstance(value, schema, name)
            self.assertNotIsInstance(value, bool, name)
            if isinstance(value, float):
                self.assertTrue(math.isfinite(value), name)

    def check_events(self, p, ended):
        """Checks that every line is an object with a time and a name, in order of time. Only the end's time may be earlier:
        frames that were passed to the screen before it are reported first."""
        events = p.events()
        times = [e["t"] for e in events[:-1]]
        self.assertTrue(all(a <= b for a, b in zip(times, times[1:])), times)
        names = {e["event"] for e in events}
        self.assertLessEqual({"mode", "connected", "frame", "transport", "ended"}, names)
        self.assertLessEqual(names, {"connected", "capacity", "mode", "level", "controller", "rebuffer-start",
                                     "rebuffer-end", "freeze", "missed", "frame", "loss", "transport", "budget", "speed", "skip", "ended"})
        self.assertEqual(p.events("mode")[0]["mode"], "buffering")
        self.assertEqual(events[-1]["event"], "ended")
        self.assertEqual(events[-1]["ended"], ended)
        for e in p.events("frame"):
            self.assertLessEqual({"number", "level"}, set(e))
            self.assertTrue("shown" in e or "dropped" in e, e)
        for e in p.events("transport"):
            self.assertLessEqual({"rtt", "rate", "loss", "queue", "cwnd"}, set(e))

    def check_whole(self, p, server):
        """Checks a stream that was shown from its first to its last frame. Its level may have followed the network, as which
        a busy machine looks."""
        report = p.report()
        playback = report["playback"]
        self.all_came(report)
        self.few_lost(report)
        self.between(3, playback["frames_played"], playback["frames_received"])
        rates = [rate for _, _, rate, _ in server.levels()]
        self.assertAlmostEqual(playback["media"], sum(1 / rates[e["level"]] for e in p.shown()), delta=0.2)
        self.between(0, report["latency"]["protocol"]["d500"], 1)

    def check_picture(self, report):
        picture = report["picture"]
        self.assertIsNotNone(picture)
        self.between(3, picture["compared"], report["playback"]["frames_played"])
        self.between(20, picture["psnr_y"], 100, "another picture has less")
        self.between(0.5, picture["ssim"], 1)


class Transports(StreamCase):
    def test_all_at_once(self):
        """One viewer per transport, at the same time. Each receives all frames."""
        server = self.sender("--stats", self.path("stats.jsonl"))
        names = ["tcp", "tcp:notsent=16384", "minbuf", "minbuf:1,0", "minbuf:auto,20", "udp"]
        players = [self.player(server.url, "--transport", name) for name in names]
        for name, p in zip(names, players):
            with self.subTest(name):
                lib.until(lambda p=p: p.events("transport") or not p.running(), "the transport's state")
                r = self.end_after(p, 90).report()
                self.check_schema(r)
                self.check_events(p, "interrupted")
                self.check_whole(p, server)
                self.check_picture(r)
                self.assertEqual(r["network"]["ecn_marked"], 0 if name == "udp" else None)
                self.assertEqual((r["schema"], r["ended"], r["error"]), ("weir.qoe/1", "interrupted", None))
                self.assertEqual((r["session"]["transport"], r["session"]["url"]), (name, server.url))
                self.assertGreater(r["session"]["duration"], 0)
                self.assertIn(lib.SOURCE.split(":")[1], r["session"]["source"])
                self.assertGreater(r["startup"]["time_to_first_frame"], 0)
                top = len(server.levels()) - 1
                levels = r["levels"]
                self.assertEqual((levels["count"], levels["time_at"][top] > 0), (top + 1, True))
                self.assertEqual(levels["bitrates"], [1000 * l[3] for l in server.levels()])
                self.assertEqual(len(levels["time_at"]), top + 1)
                self.assertAlmostEqual(sum(levels["time_at"]), r["playback"]["wall"], delta=0.3)
                latency = r["latency"]
                self.assertEqual((latency["clock"], latency["protocol"]["clock"]), ("shared", "shared"))
                self.assertEqual(latency["protocol"]["samples"], r["network"]["packets_received"])
                for kind in "protocol", "frame", "display":
                    q = latency[kind]
                    self.between(0, q["p50"], q["p95"])
                    self.between(q["p95"], q["p99"], q["max"])
                self.between(0, r["rebuffering"]["ratio"], 1)
                self.between(10, r["network"]["packets_received"], r["network"]["bytes_received"] / 20)
                self.assertIsNotNone(p.events("transport")[-1]["rtt"])
                self.assertGreater(r["cpu"]["user"], 0)
                self.between(1e6, r["cpu"]["max_rss"], 4e9)
                for word in "frames", "PSNR", "latency", "packets":
                    self.assertIn(word, p.stdout)
        cpu = server.cpu_seconds()
        self.stop_cleanly(server)
        self.check_statistics(self.path("stats.jsonl"), names, cpu)

    def check_statistics(self, path, names, cpu):
        with open(path) as f:
            *lines, end = [json.loads(line) for line in f]
        self.assertEqual(end["event"], "end")
        self.assertGreaterEqual(end["t"], lines[-1]["t"])
        self.assertGreaterEqual(end["cpu"]["user"] + end["cpu"]["system"], cpu - 0.05)
        self.between(1e6, end["max_rss"], 4e9)
        self.assertEqual({line["transport"]["name"] for line in lines}, set(names))
        for line in lines:
            self.assertLessEqual({"t", "session", "playing", "level", "packets", "transport", "scheduler", "encoder"},
                                 set(line))
        last = lines[-1]
        self.assertGreater(last["encoder"]["frames"], 0)
        self.assertGreater(sum(last["scheduler"]["sent"]), 0)

    def test_preference(self):
        """The player uses the first transport of the list that the server offers; udp if it is first."""
        server = self.sender()
        r = self.play(server.url, "--transport", "udp,tcp", "--duration", "1").report()
        self.assertEqual((r["session"]["transport"], r["ended"]), ("udp", "duration"))
        self.assertGreaterEqual(r["session"]["duration"], 1)
        r = self.play(server.url, "--transport", "minbuf:2,1,tcp", "--duration", "1").report()
        self.assertEqual(r["session"]["transport"], "minbuf:2,1")

    def test_congestion_controls(self):
        with open("/proc/sys/net/ipv4/tcp_available_congestion_control") as f:
            names = f.read().split()
        server = self.sender("--stats", self.path("stats.jsonl"))
        players = {n: self.player(server.url, "--transport", "tcp", "--cc", n) for n in names}
        for name, p in players.items():
            with self.subTest(name):
                self.check_whole(self.end_after(p, 30), server)
        p = self.play(server.url, "--transport", "tcp", "--cc", "nosuch", code=3)
        for name in "nosuch", *names:
            self.assertIn(name, p.stderr)

    def test_filler(self):
        """Filler is as fast as each transport allows; without pictures, the report has no picture values."""
        server = self.sender(source="synthetic:greedy:4000")
        names = ["tcp", "tcp:notsent=16384", "minbuf", "udp"]
        players = [self.player(server.url, "--transport", name, "--adu-events") for name in names]
        for name, p in zip(names, players):
            with self.subTest(name):
                lib.until(lambda p=p: len(p.events("adu")) > 200 or not p.running(), "packets of filler", 20)
                r = self.interrupt(p).report()
                self.assertEqual(r["session"]["transport"], name)
                self.assertIsNone(r["picture"])
                for key in "frames_played", "frame_rate", "media":
                    self.assertTrue(r["playback"] is None or r["playback"][key] is None, r["playback"])
                self.assertTrue(r["rebuffering"] is None or r["rebuffering"]["count"] is None, r["rebuffering"])
                latency = r["latency"]["protocol"]
                self.between(0, latency["d200"], latency["d500"])
                self.between(0, latency["d500"], 1)
                self.assertGreater(latency["samples"], 100)
                self.few_lost(r)
                self.assertGreater(r["network"]["throughput"], 0)

    def test_adu_events(self):
        """Each packet of filler is reported: when it was written and read, on the machine's monotonic clock."""
        server = self.sender(source="synthetic:greedy:4000")
        began = time.monotonic()
        p = self.player(server.url, "--transport", "udp", "--adu-events")
        lib.until(lambda: len(p.events("adu")) > 200 or not p.running(), "packets of filler", 20)
        self.interrupt(p)
        ended = time.monotonic()
        adus = p.events("adu")
        r = p.report()
        self.assertEqual(len(adus), r["network"]["packets_received"])
        self.assertEqual([e["number"] for e in adus], list(range(len(adus))))
        for e in adus:  # a program may lose the processor between its looks at the two clocks, which shifts a stamp
            self.between(began - 60, e["written"], ended + 60)
            self.between(began - 60, e["read"], ended + 60)
        latencies = [e["read"] - e["written"] for e in adus]
        self.assertAlmostEqual(1e3 * sum(latencies) / len(adus), r["latency"]["protocol"]["mean"], delta=0.01)
        times = [e["t"] for e in p.events()]
        self.assertEqual(times, sorted(times))

    def test_ipv6(self):
        if not os.path.exists("/proc/net/if_inet6"):
            self.skipTest("no IPv6 here")
        server = self.sender(listen="[::1]:0")
        for transport in "minbuf", "udp":
            p = self.see(server.url, "--transport", transport, frames=30)
            self.check_whole(p, server)
            self.assertEqual(p.report()["session"]["url"], server.url)

    def test_low_latency(self):
        server = self.sender()
        self.check_whole(self.see(server.url, "--low-latency", frames=45), server)


class Levels(StreamCase):
    def check_level(self, p, level, rate):
        """Checks that the viewer saw this level only. The report has the level's announced rate."""
        r = p.report()
        self.assertEqual({e["level"] for e in p.shown()}, {level})
        self.assertEqual(r["levels"]["mean"], level)
        self.assertAlmostEqual(r["playback"]["encoded_frame_rate"], rate, delta=0.01)

    def test_each_level(self):
        """By option and by URL: the right size is shown at the right rate, and the sent rate does not exceed the level's."""
        server = self.sender()
        players = []
        for i, level in enumerate(server.levels()):
            snapshot = self.path(f"level-{i}.png")
            where = (server.url, "--level", str(i)) if i % 2 else (f"{server.url}?level={i}",)
            players.append((level, snapshot, self.player(*where, "--snapshot", snapshot, "--adapt", "none",
                                                         "--transport", ["minbuf", "tcp", "udp"][i % 3])))
        for i, ((width, height, rate, kbps), snapshot, p) in enumerate(players):
            with self.subTest(level=i):
                r = self.end_at_step(p, round(lib.FPS / rate), round(2 * rate)).report()
                self.check_whole(p, server)
                self.check_level(p, i, rate)
                self.assertEqual(lib.png_size(snapshot), (width, height))
                self.assertGreater(r["picture"]["psnr_y"], 20)

    def test_the_picture_shown_last(self):
        """The number in the picture's strip is that of the last shown frame in the trace."""
        server = self.sender()
        p = self.see(server.url, "--snapshot", self.path("last.png"), "--contact-sheet", self.path("sheet.png"), frames=40)
        number = lib.frame_number(*lib.grey_picture(self.path("last.png")))
        self.assertEqual(number, p.shown()[-1]["number"])
        width, height = lib.png_size(self.path("sheet.png"))
        self.assertGreater(width, height)

    def test_own_ladder(self):
        server = self.sender("--level", "320x180@15:300", "--level", "320x180@30:500", "--level", "160x90@10:60",
                             "--temporal-layers", "3", source="test:640x360@30")
        self.assertEqual(server.levels(), [(160, 90, 10, 60), (320, 180, 15, 300), (320, 180, 30, 500)])
        players = [self.player(server.url, "--level", str(i), "--adapt", "none", "--snapshot", self.path(f"{i}.png"))
                   for i in range(3)]
        for i, p in enumerate(players):
            width, height, rate, _ = server.levels()[i]
            self.check_level(self.end_at_step(p, 30 // rate), i, rate)
            self.assertEqual(lib.png_size(self.path(f"{i}.png")), (width, height))

    def test_odd_rates(self):
        server = self.sender("--level", "160x90@29.97:200", source="test:320x180@30000/1001")
        p = self.end_at_step(self.player(server.url), 1, 40)
        self.check_level(p, 0, 30000 / 1001)
        self.check_whole(p, server)


class OwnSize(StreamCase):
    """The top level is the source's own size and rate, as far as the machine encodes it."""

    def test_upright(self):
        server = self.sender("--no-passthrough", source=self.clip(seconds=1, size="720x1280", fps=30))
        self.assertEqual([level[:2] for level in server.levels()],
                         [(144, 256)] * 2 + [(240, 426)] * 2 + [(360, 640)] * 2 + [(720, 1280)])
        self.assertNotIn("at most", server.stderr)

    def test_large(self):
        clip = self.clip(seconds=2, size="1920x1080", fps=60)
        server = self.sender("--no-passthrough", "--loop", source=clip)
        top = server.levels()[-1]
        self.assertIn(top, [(1280, 720, 30, 1920), (1920, 1080, 30, 3530), (1920, 1080, 60, 4990)])
        if top[:3] != (1920, 1080, 60):
            self.assertRegex(server.stderr, rf"clip.mkv: viewers get at most {top[0]}x{top[1]} at 30 frames/s of the source's "
                                            r"1920x1080 at 60: .*--level")
        # Such a picture is encoded in slices, if there are the cores; a level by --level is not bounded.
        server = self.sender("--level", "1920x1080@60:4000", "--loop", source=clip)
        self.assertNotIn("at most", server.stderr)
        p = self.see(server.url, "--snapshot", self.path("large.png"), frames=5)
        self.assertEqual(p.report()["playback"]["frames_undecodable"], 0)
        self.assertEqual(lib.png_size(self.path("large.png")), (1920, 1080))

    def test_prepared(self):
        """Preparing has no bound."""
        film = self.clip(seconds=0.2, size="1280x720", fps=60)
        subprocess.run([lib.SEND, "--prepare", "--ladder", "fixed", "--no-passthrough", film], check=True,
                       timeout=120 * lib.PATIENCE, capture_output=True)
        self.assertEqual(self.sender(source=film).levels()[-2:], [(1280, 720, 30, 1920), (1280, 720, 60, 2720)])


class NothingSilently(StreamCase):
    """What a film has and viewers do not get is said in a line at the start; so is what is changed."""

    def test_tracks(self):
        text, film = self.path("a.srt"), self.path("film.mkv")
        with open(text, "w") as f:
            f.write("1\n00:00:00,000 --> 00:00:01,000\nHello\n\n")
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=1", "-f", "lavfi",
                        "-i", "sine=d=1", "-f", "lavfi", "-i", "sine=d=1", "-i", text, "-filter_complex",
                        "[1:a]aformat=channel_layouts=5.1[a]", "-map", "0", "-map", "[a]", "-map", "2", "-map", "3", "-c:v",
                        "mpeg4", "-c:a", "ac3", "-c:s", "srt", "-metadata:s:a:1", "language=deu", "-metadata:s:s:0",
                        "language=eng", film], check=True, timeout=60 * lib.PATIENCE)
        said = self.sender(source=film).stderr
        self.assertIn("film.mkv: subtitles for weir-play: eng\n", said)
        self.assertNotIn("subtitle track", said)
        self.assertRegex(said, r"audio: ac3, \d+ Hz, 5\.1\S* mixed down to stereo, ")
        self.assertIn("film.mkv: audio tracks for weir-play: no name; deu\n", said)
        self.assertNotIn("not sent", said)
        for track in "2", "DEU":
            server = self.sender("--sound", f"track:{track}", source=film)
            self.assertIn("film.mkv: audio tracks for weir-play: deu; no name\n", server.stderr)
            self.stop_cleanly(server)
        said = self.sender("--sound", "track:fra", source=film).stderr
        self.assertIn('no audio track "fra": the file has 2 audio tracks (ac3, deu ac3); sending its default', said)
        p = subprocess.run([lib.SEND, "--prepare", film], check=True, timeout=120 * lib.PATIENCE, capture_output=True, text=True)
        self.assertNotIn("subtitle track", p.stderr)
        self.assertRegex(p.stderr, r"audio track 1: ac3, \d+ Hz, 5\.1\S* mixed down to stereo\n[^\n]*audio track 2: ac3, \d+ Hz\n")
        p = subprocess.run([lib.SEND, "--prepare", "--sound", "track:deu", film], check=True, timeout=120 * lib.PATIENCE,
                           capture_output=True, text=True)
        self.assertRegex(p.stderr, r"audio track 2: [^\n]*\n[^\n]*audio track 1: ")
        said = self.sender("--sound", "track:deu", source=film).stderr
        self.assertIn("using its prepared file", said)
        self.assertIn("film.mkv: audio tracks for weir-play: deu; no name\n", said)
        self.assertIn("--sound track:deu is ignored: a prepared file has its own audio", said)

    def test_interlaced(self):
        film = self.path("film.ts")
        lib.film_of(film, "-f", "lavfi", "-i", "testsrc2=s=320x240:r=50:d=2", "-vf", "interlace", "-c:v", "mpeg2video",
                    "-flags", "+ilme+ildct", "-b:v", "2M")
        server = self.sender(source=film)
        self.assertIn("film.ts: interlaced pictures are deinterlaced\n", server.stderr)
        r = self.play(server.url).report()
        self.assertEqual(r["ended"], "end-of-media")
        self.assertAlmostEqual(r["playback"]["encoded_frame_rate"], 25, delta=0.01)
        self.between(5, r["playback"]["frames_received"], 50)


class Files(StreamCase):
    def test_to_the_end(self):
        """Each frame of a file is sent and reported, then the session ends; with --reference the pictures are compared."""
        clip = self.clip(seconds=3, size="320x180")
        server = self.sender(source=clip)
        p = self.play(server.url, "--reference", clip)
        r = p.report()
        self.assertEqual(r["ended"], "end-of-media")
        self.check_schema(r)
        self.check_events(p, "end-of-media")
        self.check_picture(r)
        self.assertGreaterEqual(r["session"]["duration"], 2.9)
        numbers = [e["number"] for e in p.events("frame")]
        self.assertEqual(len(set(numbers)), len(numbers), "a frame is reported twice")
        self.assertLessEqual(set(numbers), set(range(75)))
        self.all_came(r)
        # The next viewer gets it from the beginning; without the file nothing can be compared. Frame numbers go on
        # from the next frame of the base layer, which is a multiple of 2 or 4.
        p = self.play(server.url, "--transport", "udp")
        r = p.report()
        self.assertEqual(r["ended"], "end-of-media")
        self.assertIsNone(r["picture"])
        self.between(75, max(e["number"] for e in p.events("frame")), 76 + 75 - 1)  # a slow encoder may leave out the last
        self.between(5, r["playback"]["frames_received"], 75 + 1)  # the first one may come in two levels
        self.stop_cleanly(server)

    def test_loop(self):
        clip = self.clip(seconds=1, size="320x180")
        server = self.sender("--loop", source=clip)
        p = self.player(server.url, "--reference", clip)
        lib.until(lambda: any(e["number"] > 50 for e in p.shown()) or not p.running(), "the clip again", 20)
        self.check_picture(self.interrupt(p).report())

    def test_formats(self):
        """Common containers and codecs, with an odd size."""
        lib.need("ffmpeg")
        base = ["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=427x241:r=24000/1001:d=1.5"]
        files = {"a.mp4": ["-c:v", "mpeg4"], "b.webm": ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8"],
                 "c.avi": ["-c:v", "mjpeg", "-pix_fmt", "yuvj422p"], "d.ts": ["-c:v", "mpeg2video"]}
        players = {}
        for name, codec in files.items():
            path = self.path(name)
            if subprocess.run(base + codec + [path], timeout=60 * lib.PATIENCE, stderr=subprocess.DEVNULL).returncode:
                continue  # this ffmpeg lacks the encoder
            server = self.sender(source=path)
            self.assertEqual(server.levels()[-1][:2], (426, 240))
            players[name] = self.player(server.url)
        for name, p in players.items():
            with self.subTest(name):
                self.assertEqual(p.wait(), 0, str(p))
                r = p.report()
                self.assertEqual(r["ended"], "end-of-media")
                self.assertAlmostEqual(r["playback"]["encoded_frame_rate"], 24000 / 1001, delta=0.01)
                self.between(3, r["playback"]["frames_received"], 37)


if __name__ == "__main__":
    lib.main()
