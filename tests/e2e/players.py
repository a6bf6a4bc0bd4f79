# SPDX-License-Identifier: GPL-2.0-or-later
"""Players of others: each plays a URL as it is given, and proves the frames that it received."""
import os

import lib
from lib import until

FRAMES = 10
LEVEL = "--level", "426x240@30:600"  # the only one, so that a busy machine's pictures have the same size


class Players(lib.Case):
    """The sender must have LEVEL and lib.SOURCE."""

    def run_tool(self, argv, seconds=40):
        lib.need(argv[0])
        p = self.start(argv)
        self.assertEqual(p.wait(seconds), 0, f"{p}\n{p.stdout[-2000:]}")
        return p

    def play_by_ffmpeg(self, url):
        p = self.run_tool(["ffmpeg", "-v", "error", "-nostdin", "-rtsp_transport", "tcp", "-i", url, "-map", "0:v",
                           "-frames:v", str(FRAMES), "-f", "framemd5", "-"])
        self.assertEqual(len([line for line in p.stdout.splitlines() if not line.startswith("#")]), FRAMES)

    def play_by_ffplay(self, url):
        """Its filter says each frame that goes to the display, with the size of the picture."""
        lib.need("ffplay")
        p = self.start(["ffplay", "-v", "info", "-nostats", "-rtsp_transport", "tcp", "-vf", "showinfo", url],
                       env={"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"})
        until(lambda: p.stderr.count(" s:426x240 ") >= FRAMES or not p.running(), "ffplay's frames", 20)
        self.assertGreaterEqual(p.stderr.count(" s:426x240 "), FRAMES, str(p))

    def play_by_mpv(self, url):
        """It ends after its last frame, or with another code."""
        p = self.run_tool(["mpv", "--no-config", "--vo=null", "--ao=null", f"--frames={FRAMES}", "--rtsp-transport=tcp", url])
        self.assertIn("VO: [null] 426x240", p.stdout)

    def play_by_gstreamer(self, url, *source):
        """Its pictures are written to a file: all have the number of their frame."""
        path = self.path("grey")
        self.rtspsrc(url, "tcp", *source, "!", "rtph264depay", "!", "h264parse", "!", "avdec_h264", "!", "videoconvert", "!",
                       "video/x-raw,format=GRAY8", "!", "identity", f"eos-after={FRAMES + 1}", "!", "filesink",
                       f"location={path}")
        width, height, row = 426, 240, 428  # rows are aligned to 4 bytes
        self.assertEqual(os.path.getsize(path), FRAMES * row * height)
        with open(path, "rb") as f:
            frames = [b"".join(f.read(row)[:width] for _ in range(height)) for _ in range(FRAMES)]
        numbers = [lib.frame_number(width, height, luma) for luma in frames]
        self.assertNotIn(-1, numbers)
        self.assertEqual(numbers, sorted(set(numbers)))
