// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes the tiles of a wall: of each stream in view its lowest level, muted, over a WebSocket of its own. All tiles are
// drawn together, a few times a second: it is drawing that costs a page most. Messages to it: {type: "tile", id, url, uri,
// canvas}, {type: "seen", id, seen}, {type: "close"}. Messages from it: {type: "shown", id, count}, {type: "silent", id,
// silent, since}: no pictures come; since: when the server lost its source, in seconds since 1970, 0: that is not known.
import { RtspReader, rtsp_parameters, rtsp_request, sdp_parse, control_uri } from "./rtsp.js";
import { Depacketiser, rtp_parse } from "./rtp.js";
import { source_away } from "./live_place.js";
import { decodes, plan, retry_after } from "./wall_plan.js";

const PROTOCOL = "rtsp.onvif.org";
const DRAW_EVERY = 160; // ms
const ASK_EVERY = 10000; // ms; keeps the session alive
const SILENCE = 3000; // ms without a picture
const WIDE = 480; // pixels of a canvas
const GROUP = { "Pipelined-Requests": "1" };

const tiles = new Map();

function profile_of(data) { // of the SPS that a key frame begins with
  for (let i = 0; i + 7 < data.length; i++)
    if (!data[i] && !data[i + 1] && data[i + 2] === 1 && (data[i + 3] & 31) === 7)
      return [4, 5, 6].map(n => data[i + n].toString(16).padStart(2, "0")).join("");
  return null;
}

class Tile {
  constructor({ id, url, uri, canvas }) {
    Object.assign(this, { id, url, uri, canvas, seen: false, mode: "none", socket: null, decoder: null, frame: null, attempts: 0, count: 0, silent: null });
    this.context = canvas.getContext("2d", { alpha: false, desynchronized: true });
  }

  see(seen) {
    if (this.seen === seen) return;
    this.seen = seen;
    if (seen) this.open();
    else this.close();
  }

  open() {
    this.close();
    Object.assign(this, { reader: new RtspReader(), depacketiser: new Depacketiser(), pending: new Map(), cseq: 0, session: "", sdp: null,
      last: -Infinity, heard: performance.now(), follows: false, is_known: false });
    const socket = this.socket = new WebSocket(this.url, PROTOCOL);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.begin().catch(() => this.fail());
    socket.onmessage = e => this.received(new Uint8Array(e.data));
    socket.onclose = () => this.socket === socket && this.fail();
  }

  close() {
    clearTimeout(this.retry);
    clearInterval(this.asking);
    const { socket } = this;
    this.socket = null;
    socket?.close();
    if (this.decoder && this.decoder.state !== "closed") this.decoder.close();
    this.decoder = null;
    this.frame?.close();
    this.frame = null;
  }

  fail() {
    this.close();
    this.say(true);
    if (this.seen) this.retry = setTimeout(() => this.open(), retry_after(this.attempts++));
  }

  // since: when the server lost the source; 0: that is not known, and asked.
  say(silent, since = 0) {
    if (this.silent === silent && !since) return;
    this.silent = silent;
    self.postMessage({ type: "silent", id: this.id, silent, since });
    if (silent && !since && this.sdp && this.socket?.readyState === WebSocket.OPEN) this.ask_away();
  }

  // Keeps the session alive, and asks whether the source is away.
  async ask_away() {
    const answer = await this.ask("GET_PARAMETER", this.uri, {}, "transport\r\n");
    const away = source_away(rtsp_parameters(answer.body)["source-away"]);
    if (away) this.say(true, Date.now() / 1000 - away.seconds);
    else if (!this.is_known) this.say(false);
    this.is_known = true; // pictures before the answer may be old ones
  }

  ask(method, uri, headers = {}, body = "") {
    const cseq = ++this.cseq, session = this.session ? { Session: this.session } : GROUP;
    this.socket.send(new TextEncoder().encode(rtsp_request(method, uri, cseq, method === "DESCRIBE" ? headers : { ...headers, ...session }, body)));
    return new Promise(done => this.pending.set(cseq, done));
  }

  async begin() {
    const described = await this.ask("DESCRIBE", this.uri, { Accept: "application/sdp" });
    if (described.status !== 200) return this.fail();
    const sdp = sdp_parse(described.body), { video } = sdp;
    if (video?.codec !== "H264") return this.fail();
    const base = (described.headers.get("content-base") ?? this.uri).replace(/\/$/, "");
    const query = this.uri.includes("?") ? this.uri.slice(this.uri.indexOf("?")) : "";
    const transport = `RTP/AVP/TCP;unicast;interleaved=0-1${video.ext.adu ? ";x-weir=minbuf:auto,20" : ""}`;
    const set_up = this.ask("SETUP", control_uri(base, video.control) + query, { Transport: transport });
    if (sdp.levels.length) this.ask("SET_PARAMETER", this.uri, {}, "latency: 400\r\nadapt: sender\r\nlevel: 0\r\n");
    const played = this.ask("PLAY", this.uri, { Range: "npt=now-" });
    this.session = ((await set_up).headers.get("session") ?? "").split(";")[0];
    if ((await played).status !== 200) return this.fail();
    this.sdp = sdp;
    this.level = sdp.levels.find(Boolean) ?? { width: 0, height: 0, fps: 0 };
    this.attempts = 0;
    this.asking = setInterval(() => this.ask_away(), ASK_EVERY);
    divide();
    this.ask_away();
  }

  received(data) {
    for (const item of this.reader.push(data)) {
      if (!this.socket) return;
      if (item.kind === "response") {
        this.pending.get(item.cseq)?.(item);
        this.pending.delete(item.cseq);
      } else if (item.kind === "media" && item.channel === 0 && this.sdp) {
        this.media(item.data);
      }
    }
  }

  media(data) {
    const packet = rtp_parse(data, this.sdp.video.ext);
    if (packet?.type !== this.sdp.video.type) return;
    const { lost } = this.depacketiser, picture = this.depacketiser.push(packet);
    if (this.depacketiser.lost > lost) this.follows = false;
    if (picture) this.picture(picture);
  }

  picture(picture) {
    const now = performance.now();
    this.heard = now;
    if (this.is_known) this.say(false);
    if (this.depends_on_other(picture)) this.follows = false;
    if (!decodes(this.mode, { key: picture.key, follows: this.follows }, this.last, now)) return void (this.follows = false);
    this.last = now;
    this.follows = this.mode === "all";
    this.newest = picture.number;
    try {
      this.decode(picture);
    } catch {
      this.decoder = null;
      this.follows = false;
    }
  }

  // An upper layer may have been left out on the way.
  depends_on_other(picture) {
    return !picture.key && this.sdp.video.ext.adu && picture.depends > this.newest;
  }

  decode(picture) {
    const profile = picture.key && (profile_of(picture.data) ?? this.sdp.video.profile);
    if (picture.key && (!this.decoder || this.decoder.state === "closed" || profile !== this.profile)) {
      if (this.decoder && this.decoder.state !== "closed") this.decoder.close();
      this.decoder = new VideoDecoder({ output: frame => this.decoded(frame), error: () => { this.decoder = null; this.follows = false; } });
      this.decoder.configure({ codec: `avc1.${profile || "42e01f"}`, optimizeForLatency: true });
      this.profile = profile;
    }
    if (!this.decoder) return;
    this.decoder.decode(new EncodedVideoChunk({ type: picture.key ? "key" : "delta", timestamp: ++this.count * 1000, data: picture.data }));
    if (this.mode === "keys") this.decoder.flush().catch(() => {}); // it does not wait for pictures that are shown before
  }

  decoded(frame) {
    this.frame?.close();
    this.frame = frame;
  }

  draw() {
    const { frame, canvas } = this;
    if (!frame) return;
    this.frame = null;
    const wide = Math.min(WIDE, frame.displayWidth), high = Math.round(wide * frame.displayHeight / frame.displayWidth);
    if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
    this.context.drawImage(frame, 0, 0, wide, high);
    frame.close();
    self.postMessage({ type: "shown", id: this.id, count: this.count });
  }
}

function divide() {
  const playing = [...tiles.values()].filter(t => t.sdp).map(t => ({ id: t.id, ...t.level, seen: t.seen }));
  for (const [id, mode] of plan(playing)) tiles.get(id).mode = mode;
}

setInterval(() => {
  const now = performance.now();
  for (const tile of tiles.values()) {
    tile.draw();
    if (tile.socket && now - tile.heard > SILENCE) tile.say(true);
  }
}, DRAW_EVERY);

self.onmessage = ({ data: m }) => {
  if (m.type === "tile") tiles.set(m.id, new Tile(m));
  else if (m.type === "seen") tiles.get(m.id)?.see(m.seen);
  else if (m.type === "close") for (const tile of tiles.values()) tile.see(false);
  if (m.type !== "tile") divide();
};
