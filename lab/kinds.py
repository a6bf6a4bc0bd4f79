# SPDX-License-Identifier: GPL-2.0-or-later
"""Films of different kinds, which ffmpeg makes: what their levels need differs as it does among real ones.

What is like a photo is a dead leaves picture: discs of all sizes, nearer ones over farther ones, whose statistics are those of
photos (Lee, Mumford, Huang 2001). Panning is by whole pixels; zooming is not.
"""
import os
import struct
import subprocess
import zlib

import numpy as np

from lab.run import Failed

SIZE, RATE = (1280, 720), 25
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"  # fonts-dejavu-core of packages.txt
LEAVES = 6000
DISC = "format=yuva444p,geq=lum='lum(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a='255*lt(hypot(X-W/2,Y-H/2),W/2)',loop=-1:1"

CARTOON = (f"color=0x7fb7e8:s=1280x720:r=25[sky];color=0x55a04c:s=1280x240:r=25[ground];color=0xf7d34a:s=110x110:r=25,{DISC}[sun];"
           f"color=0xe8e8f0:s=260x70:r=25[cloud];color=0xc8453b:s=180x120:r=25[car];color=0x303030:s=60x60:r=25,{DISC},split[w][v];"
           "[sky][ground]overlay=0:480,drawbox=700:330:160:150:0xb08050:fill,drawbox=740:390:40:90:0x503020:fill[a];"
           "[a][sun]overlay=900-10*t:80[b];[b][cloud]overlay=mod(80*t\\,1500)-260:120+20*sin(t)[c];"
           "[c][car]overlay=mod(200*t\\,1500)-200:430+6*sin(9*t)[d];[d][w]overlay=mod(200*t\\,1500)-190:525[e];"
           "[e][v]overlay=mod(200*t\\,1500)-90:525")
CELLS = ("life=s=320x180:r=25:seed=5:ratio=0.3:mold=12:life_color=0xffe0a0:death_color=0x303060:mold_color=0x101020,"
         "scale=1280:720:flags=neighbor")
SCROLL = "if(lt(mod(t,6),2),60*mod(t,6),120)+120*floor(t/6)"
SCREEN = ("color=white:s=1280x720:r=25,drawtext=fontfile={font}:textfile={text}:fontsize=20:x=180:y='40-" + SCROLL.replace(",", "\\,") +
          "',drawbox=0:0:150:720:0x304060:fill,drawbox=0:0:1280:30:0x607090:fill")

# A still picture `{photo}` as the input 0, or none; and the filters.
KINDS = {
    "cartoon": (False, CARTOON),
    "fractal zoom": (False, "mandelbrot=s=1280x720:r=25:end_scale=0.0005:end_pts=700"),
    "cells": (False, CELLS),
    "screen": (False, SCREEN),
    "slow zoom on a photo": (True, "scale=1920:1080,zoompan=z='1.1+0.3*sin(on/150)':x='iw/6+60*sin(on/90)':y='ih/6':d=1:s=1280x720:fps=25"),
    "sport": (True, "scale=1920:1080,crop=1280:720:'320+310*sin(t*0.9)':'180+40*sin(3*t)'[p];color=0xd02020:s=60x130:r=25[a];color=0xf0f0f0:s=60x130:r=25[b];"
                    "[p][a]overlay='600+400*sin(1.7*t)':'300+100*sin(2.3*t)'[q];[q][b]overlay='500+450*cos(1.3*t)':'350+100*cos(2*t)',"
                    "noise=alls=4:allf=t"),
}


def leaves(width, height, seed):
    """Returns a dead leaves picture as an array of RGB."""
    random = np.random.default_rng(seed)
    picture = np.full((height, width, 3), 110.0)
    radii = np.sort((random.pareto(2, LEAVES) + 1) * 9)[::-1].clip(9, height / 3)
    for radius in radii[np.argsort(random.random(LEAVES) * radii ** 0.4)[::-1]]:
        x, y = random.uniform(0, width), random.uniform(0, height)
        left, top = max(0, int(x - radius)), max(0, int(y - radius))
        part = picture[top:int(y + radius) + 1, left:int(x + radius) + 1]
        rows, columns = np.ogrid[top:top + part.shape[0], left:left + part.shape[1]]
        inside = (columns - x) ** 2 + (rows - y) ** 2 < radius ** 2
        colour = random.uniform(20, 235) + random.normal(0, 25, 3)
        slope = random.normal(0, 25, 2) / radius
        shade = slope[0] * (columns - x) + slope[1] * (rows - y)
        texture = random.normal(0, 3, part.shape[:2])
        part[inside] = (colour + (shade + texture)[..., None])[inside]
    return picture.clip(0, 255).astype(np.uint8)


def write_png(path, picture):
    height, width, _ = picture.shape
    rows = b"".join(b"\0" + row.tobytes() for row in picture)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def make(name, folder, seconds):
    """Makes the film of this kind; returns its path. One that is there already is used."""
    path = os.path.join(folder, f"{name.replace(' ', '-')}-{seconds:g}s.mkv")
    if os.path.exists(path):
        return path
    os.makedirs(folder, exist_ok=True)
    has_photo, filters = KINDS[name]
    photo, text = os.path.join(folder, "photo.png"), os.path.join(folder, "text.txt")
    if has_photo and not os.path.exists(photo):
        write_png(photo, leaves(2560, 1440, 7))
    with open(text, "w", encoding="ascii") as f:
        for line in range(400):
            f.write(" ".join(f"{zlib.crc32(b'%d %d' % (line, word)):x}" for word in range(line % 7 + 3)) + "\n")
    inputs = ["-loop", "1", "-r", f"{RATE}", "-i", photo] if has_photo else []
    done = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *inputs, "-filter_complex", filters.format(font=FONT, text=text),
                           "-t", f"{seconds:g}", "-an", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "16", "-pix_fmt",
                           "yuv420p", "-f", "matroska", path + ".new"], capture_output=True, text=True, check=False, timeout=3600)
    if done.returncode != 0:
        raise Failed(f"cannot make the film {name}: {done.stderr[-1000:]}")
    os.replace(path + ".new", path)
    return path
