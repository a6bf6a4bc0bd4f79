# SPDX-License-Identifier: GPL-2.0-or-later
"""Films whose pictures carry their number, and whose sound has a beep in each second with a pitch that names it; and what
a file has of both, as ffmpeg decodes it."""
import array
import json
import math
import subprocess

import lib

FPS, WIDTH, HEIGHT, BITS, RATE = 25, 192, 96, 10, 48000
CELL = WIDTH // (BITS + 2)
BEEP = "if(lt(mod(t\\,1)\\,0.15)\\,0.5*sin(2*PI*(400+100*mod(floor(t)+%d\\,30))*mod(t\\,1))\\,0)"
X264 = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-pix_fmt", "yuv420p", "-g", "25", "-bf", "0")


def run(*argv, data=None):
    return subprocess.run(argv, input=data, stdout=subprocess.PIPE, check=True, timeout=120 * lib.PATIENCE).stdout


def picture(number):
    """A strip of white and black cells at the top: a white one, a black one, and the number's bits."""
    cells = [235, 16] + [235 if number >> i & 1 else 16 for i in range(BITS)]
    row = b"".join(bytes([c]) * CELL for c in cells)
    x = number * 5 % (WIDTH - 40)
    ground = bytes([90]) * x + bytes([170]) * 40 + bytes([90]) * (WIDTH - 40 - x)
    return row * (HEIGHT // 3) + ground * (HEIGHT - HEIGHT // 3) + bytes([128]) * (WIDTH * HEIGHT // 2)


def film(path, count, seconds, *args, first=0, video=X264, place="N", offset=0, second=0):
    """Makes `count` pictures from number `first` on and so many seconds of sound. `place`: an expression of FFmpeg for the
    25th of a second of picture N. `offset`: seconds by which the pictures are later. `second`: the first beep's."""
    lib.need("ffmpeg", "ffprobe")
    sound = ("-f", "lavfi", "-i", f"aevalsrc={BEEP % second}:s={RATE}:d={seconds}", "-c:a", "aac") if seconds else ()
    return lib.film_of(path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{WIDTH}x{HEIGHT}", "-r", str(FPS), "-itsoffset",
                       str(offset), "-i", "pipe:0", *sound, "-vf", f"setpts=({place})/{FPS}/TB+{offset}/TB", "-fps_mode", "vfr",
                       *video, *args, data=b"".join(picture(first + i) for i in range(count)))


def numbers(path):
    """Returns [(seconds, number)] of a file's last video track, which is the largest size of a stored film. -1: unreadable.
    A recording has no time of a B frame that is shown before the key frame with which it began: that one is left out."""
    streams = json.loads(run("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries",
                             "stream=index:frame=pts_time,stream_index", "-of", "json", path))
    last = streams["streams"][-1]["index"]
    times = [float(f.get("pts_time", "nan")) for f in streams["frames"] if f["stream_index"] == last]
    raw = run("ffmpeg", "-v", "error", "-i", path, "-map", f"0:{last}", "-vf", f"scale={WIDTH}:{HEIGHT},format=gray",
              "-fps_mode", "passthrough", "-f", "rawvideo", "-")
    found = []
    for i, at in enumerate(times):
        if math.isnan(at):
            continue
        cells = [raw[(i * HEIGHT + HEIGHT // 6) * WIDTH + CELL * k + CELL // 2] for k in range(BITS + 2)]
        readable = cells[0] - cells[1] > 100
        found.append((at, sum((c > 125) << k for k, c in enumerate(cells[2:])) if readable else -1))
    return found


def beeps(path):
    """Returns [(seconds, the second that the pitch names)] of the beeps in a file's first audio track."""
    raw = run("ffmpeg", "-v", "error", "-i", path, "-map", "0:a:0", "-af", "aresample=48000:async=1:first_pts=0", "-ac", "1",
              "-f", "s16le", "-")
    sound, found, at, step = array.array("h", raw), [], 0, RATE // 200
    while at + RATE // 10 < len(sound):
        if max(sound[at:at + step]) < 3000:
            at += step
            continue
        part = sound[at + step:at + step + RATE // 10]  # a tenth of a second, behind the beep's beginning
        rises = sum(a < 0 <= b for a, b in zip(part, part[1:]))
        found.append((at / RATE, round((rises * 10 - 400) / 100)))
        at += RATE // 2
    return found


def number_at(shown, at):
    """Returns the number that is shown at a time, that of the first picture before it."""
    return max([s for s in shown if s[0] <= at + 0.001], default=shown[0])[1]
