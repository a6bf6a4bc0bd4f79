# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page of a browser shows of the test picture: which frame at which time, and how similar to the source.

A script that runs before the page's own looks at the page's canvas or <video> each time that the browser refreshes the
screen (requestAnimationFrame), and reads the number strip (media/pattern/pattern_strip.h). So the times include what the
page's own report cannot know: the way from the page's drawing to what the page shows. Every second it keeps the luma of a
whole picture, scaled to the source's size.
"""
import base64
import contextlib
import json
import re
import subprocess
import threading

from lab import viewing
from lab.run import Failed, program

PICTURES_MAX = 120
# Declares number(from, width, height): the frame number of a canvas or video. The script around it declares WIDTH.
READER = """\
const strip = new OffscreenCanvas(WIDTH, 128).getContext("2d", { willReadFrequently: true, alpha: false });

// The strip's 40 cells: 32 bits of Gray code, then a CRC-8. Returns -1 if they are not readable.
function number(from, width, height) {
  // One drawing: each copies the page's picture.
  const [first, second] = [177, 187].map(y => Math.floor(height * y / 200)), rows = second - first + 1;
  strip.drawImage(from, 0, first, width, rows, 0, 0, WIDTH, rows);
  const lines = [0, rows - 1].map(y => strip.getImageData(0, y, WIDTH, 1).data);
  const cells = [0, 0];
  for (let i = 0; i < 40; i++) {
    const x = Math.floor(WIDTH * (29 + 18 * (i % 20)) / 400), value = lines[i < 20 ? 0 : 1][4 * x + 1];
    if (value > 90 && value < 160) return -1;
    const part = i < 32 ? 0 : 1;
    cells[part] = (cells[part] * 2 + (value > 127)) >>> 0;
  }
  let n = cells[0];
  for (const shift of [1, 2, 4, 8, 16]) n = (n ^ n >>> shift) >>> 0;
  let crc = 0xff;
  for (const shift of [24, 16, 8, 0]) {
    crc ^= n >>> shift & 0xff;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? (crc << 1 ^ 7) & 0xff : crc << 1;
  }
  return crc === cells[1] ? n : -1;
}
"""
PROBE = """
(() => {
  const WIDTH = %d, HEIGHT = %d, EVERY = 1000, MOST = %d;
  const probe = globalThis.probe = { frames: [], pictures: [], unreadable: 0, looks: 0, took: 0 };
  const whole = new OffscreenCanvas(WIDTH, HEIGHT).getContext("2d", { willReadFrequently: true, alpha: false });
  let last = -1, kept = -Infinity;

  %s
  function keep(from, now) {
    if (now - kept < EVERY || probe.pictures.length === MOST) return;
    kept = now;
    whole.drawImage(from, 0, 0, WIDTH, HEIGHT);
    const { data } = whole.getImageData(0, 0, WIDTH, HEIGHT), luma = new Uint8Array(WIDTH * HEIGHT);
    for (let i = 0, at = 0; i < luma.length; i++, at += 4)
      luma[i] = 16.5 + 219 / 255 * (%s);
    probe.pictures.push(luma);
  }

  function look() {
    requestAnimationFrame(look);
    const from = document.querySelector("#picture > :last-child, #video");
    const width = from && (from.videoWidth ?? from.width), height = from && (from.videoHeight ?? from.height);
    if (!width || !height || from.readyState < 2) return;
    const begin = performance.now();
    probe.looks++;
    const n = number(from, width, height);
    if (n < 0 && last >= 0) probe.unreadable++;
    if (n >= 0 && n !== last) {
      last = n;
      probe.frames.push([n, begin + performance.timeOrigin]);
      probe.first ??= begin;
      keep(from, begin);
    }
    probe.took += performance.now() - begin;
  }
  requestAnimationFrame(look);
  probe.take = () => {
    const luma = probe.pictures.shift();
    if (!luma) return null;
    let text = "";
    for (let i = 0; i < luma.length; i += 32768) text += String.fromCharCode(...luma.subarray(i, i + 32768));
    return btoa(text);
  };
})();
"""
# Luma of red, green and blue, as the browser decodes pictures of this height without a description of their colours.
BT709 = "0.2126 * data[at] + 0.7152 * data[at + 1] + 0.0722 * data[at + 2]"


class Screen:
    """The test picture SOURCE ("test:WxH@FPS") in the page of a Browser that has not opened it yet."""

    def __init__(self, browser, source):
        width, height, fps = map(int, re.fullmatch(r"test:(\d+)x(\d+)@(\d+)", source).groups())
        self.browser, self.source, self.fps, self.bytes = browser, source, fps, width * height
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=PROBE % (width, height, PICTURES_MAX, READER, BT709))

    def first_ms(self):
        """Returns when the first picture was seen, in ms since the page was requested; None: not yet."""
        return self.browser.value("globalThis.probe?.first ?? null")

    def cost_ms(self):
        """Returns what a look takes on the page's own thread."""
        return self.browser.value("probe.took / Math.max(1, probe.looks)")

    def frames(self, line):
        """Returns the frames seen; LINE: of capture_line."""
        seen = json.loads(self.browser.value("JSON.stringify(probe.frames)"))
        return [viewing.Shown(n, line + n / self.fps, at / 1000) for n, at in seen]

    def pictures(self):
        """Returns the luma of each picture kept."""
        found = []
        while (taken := self.browser.value("probe.take()")) is not None:
            found.append(base64.b64decode(taken))
        return found


def similarity(build, source, pictures, seconds=30):
    """Returns {number: SSIM} of pictures (luma) with the frames of SOURCE that have their numbers, by weir-watch."""
    found = {}
    watch = subprocess.Popen([program(build, "weir-watch"), source], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
    limit = threading.Timer(seconds + len(pictures), watch.kill)
    limit.start()
    try:
        for luma in pictures:
            watch.stdin.write(luma + b"\x80" * (len(luma) // 2))
            watch.stdin.flush()
            # One at a time, as its queue is short. It also compares the frames since the last picture.
            number = None
            for line in watch.stdout:
                told = json.loads(line)
                if told["event"] == "frame":
                    number = told["number"]
                elif told["event"] == "picture" and told["number"] == told["shown"] == number:
                    found[number] = told["ssim"]
                    break
            else:
                raise Failed("weir-watch did not compare the pictures in time")
        return found
    except BrokenPipeError as e:
        raise Failed("weir-watch ended while pictures were compared") from e
    finally:
        limit.cancel()
        with contextlib.suppress(BrokenPipeError):
            watch.stdin.close()
        watch.kill()
        watch.wait()
        watch.stdout.close()
