// SPDX-License-Identifier: GPL-2.0-or-later
// The wall: tiles with moving pictures of live streams. wall_worker.js receives, decodes and draws them; where there are no
// WebCodecs, a tile has the newest picture, every STILL_EVERY ms. A tile that is not in view, and all in a hidden tab, pause.
const STILL_EVERY = 2000; // ms
const LEAVE = 1000; // ms until a tile out of view pauses
const can_decode = "VideoDecoder" in globalThis && "OffscreenCanvas" in globalThis;

export class Wall {
  constructor(key) {
    this.key = key;
    this.tiles = new Map(); // box -> {id, path, seen}
    this.shown = {}; // id -> pictures, for scripts and tests
    this.seen = new IntersectionObserver(entries => {
      for (const e of entries) this.see(e.target, e.isIntersecting);
    }, { rootMargin: "100px" });
    this.stills = can_decode ? 0 : setInterval(() => this.show_stills(), STILL_EVERY);
    this.on_hidden = () => this.update();
    document.addEventListener("visibilitychange", this.on_hidden);
  }

  close() {
    this.seen.disconnect();
    clearInterval(this.stills);
    document.removeEventListener("visibilitychange", this.on_hidden);
    this.worker?.terminate();
    this.tiles.clear();
  }

  // box: of the picture; on_silent(is, since): no pictures come; since: when the server lost the source, 0: not known.
  add(box, path, on_silent) {
    const id = this.tiles.size, tile = { id, path, seen: false, playing: false, box, on_silent };
    this.tiles.set(box, tile);
    if (can_decode) {
      this.worker ??= this.make_worker();
      const canvas = document.createElement("canvas"), offscreen = canvas.transferControlToOffscreen();
      tile.canvas = canvas;
      const query = this.key ? `?key=${encodeURIComponent(this.key)}` : "", at = location.host + path;
      this.worker.postMessage({ type: "tile", id, url: `${location.protocol === "https:" ? "wss" : "ws"}://${at}`, uri: `rtsp://${at}${query}`,
        canvas: offscreen }, [offscreen]);
    }
    this.seen.observe(box);
  }

  make_worker() {
    const worker = new Worker("/.weir/wall_worker.js", { type: "module" });
    worker.onmessage = ({ data: m }) => {
      const tile = [...this.tiles.values()].find(t => t.id === m.id);
      if (m.type === "shown" && !this.shown[m.id]) tile.box.replaceChildren(tile.canvas);
      if (m.type === "shown") this.shown[m.id] = m.count;
      if (m.type === "silent") tile.on_silent(m.silent, m.since);
    };
    return worker;
  }

  see(box, seen) {
    const tile = this.tiles.get(box);
    tile.seen = seen;
    clearTimeout(tile.leaving);
    if (seen) this.update();
    else tile.leaving = setTimeout(() => this.update(), LEAVE);
  }

  update() {
    for (const tile of this.tiles.values()) {
      const playing = tile.seen && !document.hidden;
      if (playing === tile.playing) continue;
      tile.playing = playing;
      if (can_decode) this.worker.postMessage({ type: "seen", id: tile.id, seen: playing });
    }
    if (!can_decode) this.show_stills();
  }

  show_stills() {
    for (const tile of this.tiles.values()) {
      if (!tile.playing || tile.asked) continue;
      const image = new Image();
      tile.asked = true;
      image.alt = "";
      image.onload = image.onerror = e => {
        tile.asked = false;
        tile.on_silent(e.type !== "load", 0);
        if (e.type !== "load") return;
        tile.box.replaceChildren(image);
        this.shown[tile.id] = (this.shown[tile.id] ?? 0) + 1;
      };
      image.src = `${tile.path}.jpg?at=${Date.now()}${this.key ? `&key=${encodeURIComponent(this.key)}` : ""}`;
    }
  }
}
