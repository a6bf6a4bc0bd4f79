# SPDX-License-Identifier: GPL-2.0-or-later
"""Third-party players watch Weir's streams."""
import json
import os
import re
import statistics
import tempfile
from fractions import Fraction

import lib


class Strangers(lib.Case):
    def setUp(self):
        super().setUp()
        self.server = self.sender()

    def run_tool(self, argv, seconds=40):
        lib.need(argv[0])
        p = self.start(argv)
        self.assertEqual(p.wait(seconds), 0, f"{p}\n{p.stdout[-2000:]}\n{self.server}")
        return p

    def ffmpeg(self, transport, rate, frames, query=""):
        """Checks so many frames that ffmpeg decodes: they are no faster than this rate, and none comes twice."""
        p = self.run_tool(["ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", transport, "-i",
                           self.server.url + query, "-frames:v", str(frames), "-map", "0:v", "-fps_mode", "passthrough",
                           "-f", "framemd5", "-"])
        if transport == "tcp" or lib.datagrams_dropped() == self.dropped_before:
            self.assertNotRegex(p.stderr, r"(?i)error while decoding|concealing|missing picture|RTP: missed", p.stderr)
        rows = [line.split(",") for line in p.stdout.splitlines() if not line.startswith("#")]
        self.assertEqual(len(rows), frames)
        self.assertEqual(len({row[-1] for row in rows}), frames, "a picture came twice: the test picture always moves")
        unit = Fraction(re.search(r"#tb 0: (\S+)", p.stdout).group(1))
        # ffmpeg moves its time line when the first sender report comes, so one step may be any.
        stamps = [int(row[2]) for row in rows]
        usual = statistics.mode(b - a for a, b in zip(stamps, stamps[1:]))
        self.assertGreater(usual * unit, 0.98 / rate)

    def test_ffprobe(self):
        p = self.run_tool(["ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-show_streams", "-of", "json",
                           self.server.url])
        streams = json.loads(p.stdout)["streams"]
        self.assertEqual(len(streams), 2)
        width, height = self.server.levels()[-1][:2]
        self.assertEqual((streams[0]["codec_name"], streams[0]["width"], streams[0]["height"]),
                         ("h264", width, height))
        self.assertEqual(streams[0]["has_b_frames"], 0)
        self.assertEqual((streams[1]["codec_name"], streams[1]["sample_rate"], streams[1]["channels"]), ("opus", "48000", 2))

    def beeps(self, said):
        """Checks ffmpeg's silencedetect output: a beep of 0.1 s each second."""
        lengths = [float(length) for length in re.findall(r"silence_duration: ([\d.]+)", said)]
        self.between(1, len(lengths), 4, said)
        self.between(0.85, max(lengths), 0.95, said)

    def beeps_in(self, path):
        self.beeps(self.run_tool(["ffmpeg", "-v", "info", "-nostdin", "-i", path, "-af", "silencedetect=n=-30dB:d=0.5",
                                  "-f", "null", "-"]).stderr)

    def test_ffmpeg_hears_it(self):
        """A beep of 0.1 s each second, over interleaved channels and separate ports; with the video, or alone."""
        for transport in "tcp", "udp":
            for media in ("audio", "video+audio"):
                with self.subTest(f"{media} over {transport}"):
                    p = self.run_tool(["ffmpeg", "-v", "info", "-nostdin", "-rtsp_transport", transport,
                                       "-allowed_media_types", media, "-i", self.server.url, "-t", "2.6", "-map", "0:a",
                                       "-af", "silencedetect=n=-30dB:d=0.5", "-f", "null", "-"])
                    self.beeps(p.stderr)

    def test_ffmpeg(self):
        for transport in "tcp", "udp":
            with self.subTest(transport):
                self.ffmpeg(transport, lib.FPS, 60)

    def test_ffmpeg_watches_a_lower_level(self):
        level = 1
        width, height, rate, _ = self.server.levels()[level]
        p = self.run_tool(["ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-show_entries", "stream=width,height",
                           "-of", "csv=p=0", f"{self.server.url}?level={level}"])
        self.assertEqual(p.stdout.strip(), f"{width},{height}")
        self.ffmpeg("tcp", rate, 15, f"?level={level}")

    def test_gstreamer(self):
        frames = 60
        for protocol in "tcp", "udp":
            with self.subTest(protocol):
                p = self.rtspsrc(self.server.url, protocol, "latency=100", "!", "rtph264depay", "!", "h264parse", "!",
                                 "avdec_h264", "!", "identity", "silent=false", f"eos-after={frames}", "!", "fakesink",
                                 "sync=false")
                chain = re.findall(r"identity0: last-message = chain", p.stdout)
                self.assertGreaterEqual(len(chain), frames - 1, p.stdout[-2000:])
                width, height = self.server.levels()[-1][:2]
                self.assertRegex(p.stdout, rf"video/x-raw.*width\W+int\W+{width}\W+height\W+int\W+{height}\b")

    def test_gstreamer_hears_it(self):
        for protocol in "tcp", "udp":
            with self.subTest(protocol):
                path = self.path(protocol + ".wav")
                p = self.rtspsrc(self.server.url, protocol, "latency=100", "name=s", "s.", "!",
                                 "application/x-rtp,media=video", "!", "rtph264depay", "!", "h264parse", "!", "avdec_h264",
                                 "!", "identity", "silent=false", "eos-after=40", "!", "fakesink", "sync=false", "s.", "!",
                                 "application/x-rtp,media=audio", "!", "rtpopusdepay", "!", "opusdec", "!", "audioconvert",
                                 "!", "identity", "eos-after=130", "!", "wavenc", "!", "filesink", f"location={path}")
                # Fewer than it waits for if a busy sender left out some while all of the audio came.
                self.between(5, p.stdout.count("identity0: last-message = chain"), 39)
                self.beeps_in(path)

    def test_mpv(self):
        lib.need("mpv")
        for transport in "tcp", "udp":
            with self.subTest(transport):
                folder = tempfile.mkdtemp(dir=self.folder)
                sound = self.path(transport + ".wav")
                self.run_tool(["mpv", "--no-config", "--no-terminal", "--ao=pcm", f"--ao-pcm-file={sound}", "--vo=image",
                               "--vo-image-format=png", "--vo-image-png-compression=1", f"--vo-image-outdir={folder}",
                               "--length=2.6", f"--rtsp-transport={transport}", self.server.url])
                frames = len(os.listdir(folder))
                self.between(3, frames, 2.6 * lib.FPS + 2)
                self.beeps_in(sound)
                numbers = [lib.frame_number(*lib.grey_picture(os.path.join(folder, f"{i:08}.png")))
                           for i in (1, frames // 2, frames)]
                self.assertNotIn(-1, numbers)
                self.assertLess(numbers[0], numbers[1])
                self.assertLess(numbers[1], numbers[2])

    def test_the_file_that_ffmpeg_records_is_whole(self):
        """Stream copy: no frame is decoded, so the file contains the sent frames."""
        path = self.path("copy.mkv")
        self.run_tool(["ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", "tcp", "-i", self.server.url, "-t", "2",
                       "-c", "copy", path])
        p = self.run_tool(["ffmpeg", "-v", "error", "-nostdin", "-xerror", "-i", path, "-f", "null", "-"])
        self.assertEqual(p.stderr, "")


if __name__ == "__main__":
    lib.main()
