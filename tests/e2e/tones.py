# SPDX-License-Identifier: GPL-2.0-or-later
"""A film whose audio tracks are tones of their own pitch."""

import lib

RATE = 48000
HZ = [440, 880, 1320]


def film(path):
    lib.need("ffmpeg")
    tones = [arg for hz in HZ for arg in ("-f", "lavfi", "-i", f"aevalsrc='0.35*sin(2*PI*{hz}*t)':s={RATE}:d=90")]
    maps = [arg for i in range(len(HZ) + 1) for arg in ("-map", str(i))]
    lib.film_of(path, "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=90", *tones, *maps, "-c:v", "libx264", "-preset",
                "ultrafast", "-g", "50", "-c:a", "flac", "-metadata:s:a:0", "language=eng", "-metadata:s:a:1",
                "language=deu", "-metadata:s:a:1", "title=Kommentar")
    return path
