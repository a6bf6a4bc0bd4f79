# SPDX-License-Identifier: GPL-2.0-or-later
"""The public players of films over HTTP - hls.js, dash.js and Shaka Player - in chromium, as they come: no setting is changed.

The page is a file on the viewer's own side, and so is the player's script (lab/peers.py); only the media come over the link. It
notes each picture that the <video> shows (requestVideoFrameCallback), and, each half second, what is buffered.

Weir's own page comes over the link, with its scripts, as it does to any viewer. Without TLS a browser gives it no WebCodecs, so
it shows the film in a <video>, too, whose pictures are noted in the same way.
"""
import json
import time

from lab import chromium, peers
from lab.run import Failed
from lab.streaming import until

FLAGS = ("--autoplay-policy=no-user-gesture-required", "--disable-background-networking", "--no-first-run")
PLAYLISTS = {"hls.js": "index.m3u8", "dash.js": "index.mpd", "shaka": "index.mpd"}
LOADERS = {
    "hls.js": """
  const hls = new Hls();
  hls.on(Hls.Events.ERROR, (_, told) => told.fatal && failed(told.details));
  return () => { hls.loadSource(url); hls.attachMedia(video); };""",
    "dash.js": """
  const player = dashjs.MediaPlayer().create();
  player.on(dashjs.MediaPlayer.events.ERROR, told => failed(told.error?.message));
  return () => player.initialize(video, url, true);""",
    "shaka": """
  shaka.polyfill.installAll();
  const player = new shaka.Player();
  player.addEventListener("error", told => failed(told.detail?.code));
  await player.attach(video);
  return () => player.load(url).catch(e => failed(e.code));""",
}
PAGE = """<!doctype html>
<video id="video" muted autoplay playsinline width="1280" height="720"></video>
<script src="file://%(script)s"></script>
<script>
const video = document.getElementById("video"), url = %(url)s;
const watch = { pictures: [], buffer: [], errors: [], presented: 0, ended: false };
const failed = what => watch.errors.push(String(what));
let begun;

function look(now, picture) {
  video.requestVideoFrameCallback(look);
  watch.pictures.push([now - begun, picture.mediaTime, picture.height]);
  watch.presented = picture.presentedFrames;
}

function note() {
  const { buffered, currentTime } = video;
  let end = currentTime;
  for (let i = 0; i < buffered.length; i++)
    if (buffered.start(i) <= currentTime + 0.1) end = Math.max(end, buffered.end(i));
  watch.buffer.push([performance.now() - begun, end - currentTime]);
}

async function prepare() {
%(loader)s
}

// Loads the film at ms of performance.now().
async function start(at) {
  addEventListener("error", told => failed(told.message));
  addEventListener("unhandledrejection", told => failed(told.reason));
  video.addEventListener("ended", () => watch.ended = true);
  const load = await prepare();
  setTimeout(() => {
    begun = performance.now();
    video.requestVideoFrameCallback(look);
    setInterval(note, 500);
    load();
  }, at - performance.now());
}
</script>
"""


OWN = "weir page"
# Weir's page makes its <video> itself. A source that it begins again has a new timeline, not noted: `again` counts.
HOOK = """
const watch = globalThis.watch = { pictures: [], buffer: [], errors: [], presented: 0, ended: false, again: 0 };
const make = document.createElement.bind(document);
document.createElement = (name, ...more) => {
  const made = make(name, ...more);
  if (name !== "video") return made;
  let first;
  const look = (now, picture) => {
    made.requestVideoFrameCallback(look);
    first ??= picture.mediaTime;
    watch.pictures.push([now, picture.mediaTime - first, picture.height]);
    watch.presented = picture.presentedFrames;
  };
  made.requestVideoFrameCallback(look);
  made.addEventListener("loadstart", () => watch.again++);
  return made;
};
"""
EMPTY = "<!doctype html><script>function start() {}</script>"
LAST = 0.1  # seconds before the film's end: the last pictures


def missing(kind):
    """Returns what this machine lacks for a player, or None."""
    return chromium.missing() or (None if kind == OWN or peers.player(kind) else f"{kind} is not installed: ./run lab peers")


class Viewer(chromium.End):
    """A browser in namespace AT that will watch the film below URL with the player KIND."""

    def __init__(self, world, at, kind, url):
        text = PAGE % {"script": peers.player(kind), "url": json.dumps(f"{url}/{PLAYLISTS[kind]}"), "loader": LOADERS[kind]}
        super().__init__(world, at, "browser", *FLAGS, text=text)

    def watch(self, epoch, seconds):
        """Watches from EPOCH of the monotonic clock on, until the film's end, or for SECONDS. Returns what the page noted: see
        its `watch`; ms count from the load call."""
        self.ask("start", (epoch - self.later) * 1e3)
        while time.monotonic() < epoch + seconds and not self.browser.value("watch.ended"):
            time.sleep(0.5)
        return json.loads(self.browser.value("JSON.stringify(watch)"))


class OwnViewer(chromium.End):
    """A browser in namespace AT that will watch Weir's own page at URL."""

    def __init__(self, world, at, url):
        super().__init__(world, at, "browser", *FLAGS, text=EMPTY)
        self.url = url
        self.browser.call("Page.enable")
        self.browser.call("Page.addScriptToEvaluateOnNewDocument", source=HOOK)

    def watch(self, epoch, seconds, length):
        """Opens the page at EPOCH of the monotonic clock, watches the film of LENGTH seconds to its end, or for SECONDS.
        Returns what the page noted; ms count from the navigation."""
        until(epoch)
        self.browser.open(self.url)
        while time.monotonic() < epoch + seconds and not self.browser.value(f"watch.pictures.at(-1)?.[1] > {length - LAST}"):
            time.sleep(0.5)
        told = json.loads(self.browser.value("JSON.stringify(watch)"))
        if told["again"] > 1:
            raise Failed("the page began its <video> again: its times are not those of the film")
        return told
