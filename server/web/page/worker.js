// SPDX-License-Identifier: GPL-2.0-or-later
// Plays one stream: RTSP in a WebSocket, H.264 and Opus through WebCodecs, pictures on an OffscreenCanvas. Where there are
// no WebCodecs it makes fragments for element.js, without audio. It runs in a worker, whose timers no hidden tab slows
// down. Messages to it: {type: "open", url, uri, level, start, audio_track, requested}, {type: "canvas", canvas}, "play",
// "pause", "level", "seek", "step", "pace", "subtitles", "audio_track", "hidden", "speaker", "report", "close", of element.js
// "presented" and "renew". Messages from it: {type: "described" | "state" | "stats" | "size" | "list" | "problem" |
// "report" | "cues"}, for element.js "track", "fragment", "clock".
import { RtspReader, rtsp_request, rtsp_parameters, sdp_parse, control_uri } from "./rtsp.js";
import { Depacketiser, Unwrap, rtp_parse, rtcp_parse, pli } from "./rtp.js";
import { LEAD, TIMESCALE, Timeline, fragment, h264_sample, h264_track, init_segment } from "./mp4.js";
import { LivePlayout, FilmPlayout, References, ClockSync, START_FILM } from "./playout.js";
import { LivePlace, PRESENT, live_range, source_away } from "./live_place.js";
import { Report } from "./report.js";
import { Subtitles } from "./subtitles.js";
import { Stretch } from "./stretch.js";
import { own_path } from "./text.js";

const film_viewer = import("./film_viewer.js"); // which live media does not wait for
film_viewer.catch(() => {}); // connected() gets the error

const PROTOCOL = "rtsp.onvif.org";
const TRANSPORT = "minbuf:auto,20";
const CLOCK_EVERY = 2000; // ms
const STATS_EVERY = 500;
const ANSWER_LIMIT = 10000; // ms until the server has answered
const KEY_EVERY = 500; // ms between two requests for a key frame
const DECODE_AHEAD = 250; // ms that pictures are decoded before they are due: decoded ones are few and large
const IN_DECODER = 12; // pictures of a film
const CODED_MAX = 96 << 20; // bytes of coded pictures that wait
const OUTPUT_MAX = 16; // decoded pictures that wait
const SENDER_SHARE = 400; // ms that a live frame may wait at the sender (stream/latency/latency_budget.h)
const FILM_SHARE = 2000;
const SLOW_SHARE = 60000; // of a server that leaves out what is late, for a buffer of a prepared film
const STALL_FILM = 2000; // ms of media with which a prepared film goes on, if its policy has not been asked
const HELD_FILM = 120000; // the same, if its policy says no; less when the film ends
const TABLE_AGAIN = 1000; // ms until a film's table is requested again of a proxy
const NATIVE = "VideoDecoder" in self;
const ELEMENT_AHEAD = 1000; // ms that pictures are given to the element before they are due
const ELEMENT_SHARE = 100; // ms that the element takes
const ELEMENT_LATE = 500; // ms after which a picture will not be shown any more
const ELEMENT_KEYS = 20000; // ms between key frames: what lies before one can be forgotten
const SENT_MAX = 1024; // pictures given to the element that are not yet shown
const GROUP = { "Pipelined-Requests": "1" }; // names the session until the server has named it (RFC 7826, 18.33)
const SOUND_AHEAD = 400; // ms that audio is decoded before it is due; the speaker keeps 4 s
const SOUND_LATE = 100; // ms after which it is no longer decoded
const SOUNDS_MAX = 8192; // packets of audio that wait
const HEARD_MAX = 64; // decoded packets that the speaker may not have played
const SOUND_GAP = 20; // ms of audio that is missing: what follows has its own time
const CUES_EVERY = 250; // ms between two looks for subtitles
const STUCK = 8; // pictures in the decoder without one out: it buffers

const wall = () => (performance.timeOrigin + performance.now()) / 1000; // s
const post = message => self.postMessage(message);

class Player {
  constructor(options) {
    this.options = options;
    this.width = this.height = 0; // of the shown picture
    this.canvas = null; // pictures wait for it
    this.uri = options.uri;
    this.level = options.level ?? -1; // -1: the server chooses
    // A viewing begins when its page is requested.
    const began = options.requested ? options.requested - performance.timeOrigin : performance.now();
    this.report = new Report(options.uri.split("?")[0], began);
    this.reader = new RtspReader();
    this.pending = new Map(); // cseq -> {method, done, asked}
    this.cseq = 0;
    this.session = "";
    this.sdp = null;
    this.clock = new ClockSync();
    this.transport = {};
    this.paused = this.hidden = this.ended = this.closed = false;
    this.awaited_play = 0; // PLAYs without a response: media before it is old
    this.channels = { video: 0, audio: 2 };
    this.key_asked = -Infinity;
    this.software = false;
    this.timers = [];
    this.unwrap = { video: new Unwrap(), audio: new Unwrap() };
    this.reports = {}; // track -> {stamp, ntp} of its first sender report
    this.origin = undefined; // time stamp at which the pictures' time line begins
    this.speaker = null;
    this.stuck = 0;
    this.viewer = null; // of a prepared film
    this.place = null; // of live media
    this.pace = options.pace ?? 1; // of a film
    this.subtitles = new Subtitles();
    this.open();
  }

  set_canvas(canvas) {
    if (!canvas) return; // of a page without WebCodecs
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false, desynchronized: true });
    // A film whose clock began before there was a canvas begins now, with its first picture.
    if (this.playout?.anchor && !this.shown) this.playout.anchor.at = performance.now();
    this.pump();
  }

  // ---- The connection

  open() {
    try {
      this.socket = new WebSocket(this.options.url, PROTOCOL);
    } catch (error) {
      return this.fail("connect", String(error.message));
    }
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.connected().catch(error => this.fail("protocol", String(error.message)));
    this.socket.onmessage = e => this.received(e.data);
    this.socket.onclose = e => this.lost(e);
    this.deadline = setTimeout(() => this.sdp || this.fail("silent"), ANSWER_LIMIT);
  }

  async connected() {
    this.report.connected(performance.now());
    this.every(CLOCK_EVERY, () => {
      if ([...this.pending.values()].some(r => wall() - r.asked > ANSWER_LIMIT / 1000)) this.fail(this.sdp ? "lost" : "silent");
    });
    const answer = await this.ask("DESCRIBE", this.uri, { Accept: "application/sdp" });
    clearTimeout(this.deadline);
    if (answer.status === 300) return this.list(answer);
    if (answer.status !== 200) // a user can log in where the server takes passwords
      return this.fail("refused", answer.body.trim(), answer.status, /^basic/i.test(answer.headers.get("www-authenticate")));
    this.sdp = sdp_parse(answer.body);
    this.live = this.sdp.duration < 0;
    const { video, audio } = this.sdp;
    if (!video || video.codec !== "H264") return this.fail("codec", video ? video.codec : "");
    this.top_tid = Math.max(0, ...this.sdp.levels.map(l => l.tid));
    this.playout = this.live ? new LivePlayout() : new FilmPlayout();
    if (this.live) this.pace = 1;
    else this.playout.set_pace(this.pace, performance.now());
    if (this.live) this.place = new LivePlace(Math.min(...this.sdp.levels.map(l => l.fps || 25), 25));
    this.start_media();
    if (!this.live && this.sdp.prepared && video.ext.adu && this.sdp.levels.length > 0)
      await this.begin_viewer();
    if (this.closed) return;
    const base = (answer.headers.get("content-base") ?? this.uri).replace(/\/$/, "");
    const uri_of = control => {
      const query = this.uri.includes("?") ? this.uri.slice(this.uri.indexOf("?")) : "";
      return control_uri(base, control) + query;
    };
    const opus = audio?.codec === "OPUS";
    this.has_audio = NATIVE && opus;
    post({ type: "described", title: this.sdp.title, source: this.sdp.source, live: this.live, recorded: this.sdp.recorded, duration: this.sdp.duration,
      levels: this.sdp.levels, audio: this.has_audio, silent: opus && !NATIVE, audio_tracks: this.has_audio ? this.sdp.audio_tracks : [],
      subtitles: this.sdp.subtitles, subtitles_shown: this.sdp.subtitles_shown });
    // All in one round trip.
    const of = channel => `RTP/AVP/TCP;unicast;interleaved=${channel}-${channel + 1}${video.ext.adu ? `;x-weir=${TRANSPORT}` : ""}`;
    const answers = [this.ask("SETUP", uri_of(video.control), { Transport: of(0) })];
    if (this.has_audio) answers.push(this.ask("SETUP", uri_of(audio.control), { Transport: of(2) }));
    this.set_parameters();
    if (this.options.audio_track) this.set_audio_track(this.options.audio_track);
    answers.push(this.play(this.live ? "npt=now-" : `npt=${(this.options.start ?? 0).toFixed(3)}-`));
    const first = await answers[0];
    if (first.status !== 200) return this.fail("refused", first.body.trim(), first.status);
    const played = await answers.at(-1);
    if (played.status !== 200) return this.fail("refused", played.body.trim(), played.status);
    this.state();
    this.every(CLOCK_EVERY, () => this.ask_clock());
    for (const delay of [0, 150, 400]) this.timers.push(setTimeout(() => this.ask_clock(), delay));
    this.every(STATS_EVERY, () => this.tell());
    if (this.sdp.subtitles.length) this.every(CUES_EVERY, () => this.get_cues());
    if (this.viewer) {
      this.check_speed(played);
      this.every((await film_viewer).SAMPLE, () => this.drive());
      this.get_table();
    }
    if (!NATIVE && this.live) this.every(ELEMENT_KEYS, () => this.paused || this.request_key());
  }

  // ---- The policy of a prepared film (film_viewer.js)

  async begin_viewer() {
    const { FilmViewer } = await film_viewer;
    const fps = Math.max(...this.sdp.sizes.filter(Boolean).map(s => s.fps));
    this.viewer = new FilmViewer({ rates: this.sdp.levels.map(l => l.rate), fps, frames: Math.max(1, Math.round(this.sdp.duration * fps)) });
    this.viewer.set_pace(this.pace);
    this.viewer.choose(this.level);
  }

  buffer() {
    const { shown, playout } = this, from = shown ? shown.media : playout.first;
    return { number: shown ? shown.number : -1, media: playout.newest === null ? 0 : Math.max(0, playout.newest - from),
      bytes: this.coded_bytes, frames: this.coded.length, playing: !!shown && !!playout.anchor };
  }

  drive() {
    if (this.paused || this.ended || this.bye || this.awaited_play) return;
    const now = performance.now(), buffer = this.buffer();
    const request = this.viewer.run(buffer, now);
    if (request?.changes_level) this.ask("SET_PARAMETER", this.uri, {}, `level: ${request.level}\r\n`);
    if (request?.changes_speed) this.ask("PLAY", this.uri, { Speed: request.speed.toFixed(3) });
    const resume = buffer.playing ? STALL_FILM : this.viewer.resumes(buffer, now) ? START_FILM : HELD_FILM;
    if (this.shown) this.playout.resume_with(resume, now);
  }

  // An older server sends films at 4 times their pace at most, and leaves out what the network does not carry in time.
  check_speed(played) {
    if (!this.viewer.granted(Number(played.headers.get("speed") ?? 1)))
      this.ask("SET_PARAMETER", this.uri, {}, `latency: ${SLOW_SHARE}\r\n`);
  }

  async get_table() {
    const parts = new (await film_viewer).TableParts();
    for (let got = "more"; !this.closed && (got === "more" || got === "later");) {
      if (got === "later") await new Promise(done => setTimeout(done, TABLE_AGAIN));
      const answer = await this.ask("GET_PARAMETER", this.uri, {}, parts.request());
      got = answer.status === 200 ? parts.take(answer.body) : "none";
      if (typeof got === "object") this.viewer.set_table(got);
    }
  }

  set_parameters() {
    if (this.viewer) {
      const { level } = this.viewer.run(this.buffer(), performance.now());
      return void this.ask("SET_PARAMETER", this.uri, {}, `adapt: none\r\nlevel: ${level}\r\n`);
    }
    let body = `latency: ${this.live ? SENDER_SHARE : FILM_SHARE}\r\nadapt: sender\r\n`;
    if (this.level >= 0) body += `level: ${this.level}\r\n`;
    if (this.sdp.levels.length) this.ask("SET_PARAMETER", this.uri, {}, body);
  }

  every(ms, what) {
    this.timers.push(setInterval(what, ms));
  }

  ask(method, uri, headers = {}, body = "") {
    const cseq = ++this.cseq;
    if (method !== "DESCRIBE") headers = { ...headers, ...(this.session ? { Session: this.session } : GROUP) };
    const text = rtsp_request(method, uri, cseq, headers, body);
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(new TextEncoder().encode(text));
    return new Promise(done => this.pending.set(cseq, { method, seeks: "Range" in headers, done, asked: wall() }));
  }

  play(range) {
    this.awaited_play++;
    return this.ask("PLAY", this.uri, { Range: range, Speed: this.viewer ? this.viewer.play_speed : this.live || this.pace === 1 ? undefined : this.pace });
  }

  received(data) {
    const now = performance.now();
    this.report.bytes(data.byteLength, now);
    let items;
    try {
      items = this.reader.push(new Uint8Array(data));
    } catch (error) {
      return this.fail("protocol", error.message);
    }
    for (const item of items) {
      if (this.closed) return;
      if (item.kind === "media") this.media(item, now);
      else if (item.kind === "response") this.answered(item);
      else if (item.method === "TEARDOWN") this.fail("dismissed", item.body.trim());
    }
    this.pump();
  }

  answered(item) {
    const request = this.pending.get(item.cseq);
    if (!request) return;
    this.pending.delete(item.cseq);
    item.asked = request.asked;
    item.at = wall();
    if (request.method === "SETUP" && item.status === 200)
      this.session = (item.headers.get("session") ?? "").split(";")[0];
    if (request.method === "PLAY" && request.seeks) {
      this.awaited_play--;
      if (item.status === 200) this.play_begins(item);
    }
    if (item.status === 200) this.place?.answer(performance.now());
    request.done(item);
  }

  async ask_clock() {
    if (this.closed) return;
    const answer = await this.ask("GET_PARAMETER", this.uri, {}, "clock\r\ntransport\r\n");
    if (answer.status !== 200) return;
    const told = rtsp_parameters(answer.body);
    if (this.viewer && told.transport) this.viewer.rtt = Number(/rtt_ms=([\d.]+)/.exec(told.transport)?.[1] ?? this.viewer.rtt);
    this.source_away = source_away(told["source-away"]);
    if (told.clock) this.clock.sample(answer.asked, Number(told.clock) / 1e6, answer.at);
    this.transport = Object.fromEntries((told.transport ?? "").split(" ").map(p => p.split("=")).filter(p => p.length === 2));
  }

  lost(event) {
    if (this.closed || this.ended) return;
    if (this.report.connected_at === null) return this.fail("connect", event.reason);
    this.fail("lost", event.reason);
  }

  fail(what, detail = "", status = 0, login = false) {
    if (this.closed) return;
    this.report.end("error", detail || what, performance.now());
    post({ type: "problem", what, detail, status, login });
    this.close();
  }

  // The list of a large folder comes in parts.
  async list(answer) {
    const lines = [];
    for (let part = answer; part.status === 300; part = await this.ask("DESCRIBE", this.uri, { Accept: "application/sdp", "X-Weir-List": lines.length })) {
      const more = part.body.split(/\r?\n/).filter(Boolean);
      lines.push(...more);
      if (!more.length || lines.length >= Number(/total=(\d+)/.exec(part.headers.get("x-weir-list") ?? "")?.[1] ?? 0)) break;
    }
    const films = lines.map(line => line.split("\t"))
      .filter(parts => own_path(parts[0]))
      .map(([path, seconds, sizes, ...more]) => ({ path, seconds: Number(seconds), sizes: sizes ?? "", live: seconds === "live", failed: seconds === "failed" || seconds === "away",
        away: Number(/^away=(\d+)$/.exec(more.join(" "))?.[1] ?? 0) }));
    post({ type: "list", films });
    this.close();
  }

  close() {
    this.closed = true;
    for (const timer of this.timers) clearInterval(timer);
    clearTimeout(this.deadline);
    clearTimeout(this.drawing);
    this.timers = [];
    if (this.socket) this.socket.onclose = null;
    this.socket?.close();
    this.stop_media();
  }

  // ---- Media

  start_media() {
    this.depacketiser = new Depacketiser();
    this.references = new References();
    this.coded = []; // pictures that are not yet decoded
    this.coded_bytes = 0;
    this.sounds = []; // packets of audio that are not yet decoded, {media, data}
    this.heard = []; // decoded ones that the speaker may not have played, {media, channels}
    this.stretch = null; // {to: Stretch, begin (ms of playing), made, next (media)}; null: begins with the next packet
    this.inside = new Map(); // time stamp -> picture in the decoder
    this.output = []; // decoded pictures, {frame, picture}
    this.configured = "";
    this.begin_track();
    this.shown = null;
    this.npt = null; // {media, seconds} of a film
    this.counter = 0;
  }

  stop_media() {
    for (const { frame } of this.output ?? []) frame.close();
    this.output = [];
    this.coded = [];
    this.coded_bytes = 0;
    this.sounds = [];
    this.inside?.clear();
    if (this.decoder && this.decoder.state !== "closed") this.decoder.close();
    this.decoder = null;
    if (this.audio_decoder && this.audio_decoder.state !== "closed") this.audio_decoder.close();
    this.audio_decoder = null;
    this.speaker?.postMessage({ type: "flush" });
  }

  // The response to PLAY: what came before it is old.
  play_begins(answer) {
    if (this.awaited_play > 0) return;
    this.place?.placed(answer.headers.get("x-weir-rewind"), performance.now());
    const range = /npt=([\d.]+)/.exec(answer.headers.get("range") ?? "");
    const frames = /show=(-?\d+)/.exec(answer.headers.get("x-weir-frames") ?? "");
    this.stop_media();
    this.start_media();
    this.playout.restart();
    this.seek_to = range && !this.live ? Number(range[1]) : null;
    this.show_from = frames ? Number(frames[1]) : -Infinity;
    if (this.viewer && frames) this.viewer.place(this.show_from, Math.round((this.seek_to ?? 0) * this.viewer.fps), performance.now());
    this.ended = this.bye = this.flushed = false;
  }

  media(item, now) {
    const audio = this.has_audio && item.channel >> 1 === 1;
    const track = audio ? "audio" : "video";
    if (!this.sdp || item.channel > 3) return;
    if (item.channel & 1) return this.control(track, item.data);
    if (this.awaited_play > 0 || this.paused) return;
    const packet = rtp_parse(item.data, this.sdp[track].ext);
    if (!packet || packet.type !== this.sdp[track].type) return;
    if (audio) return this.audio(packet, now);
    this.place?.media(now);
    this.ssrc = packet.ssrc;
    this.slow = packet.slow ?? this.slow;
    const { adu } = packet;
    if (this.viewer && adu)
      this.viewer.packet({ number: adu.frame, slot: adu.frame + adu.reorder, level: adu.level, bytes: packet.payload.length }, now);
    const lost = this.depacketiser.lost;
    const picture = this.depacketiser.push(packet);
    if (this.depacketiser.lost > lost) this.report.lost(this.depacketiser.lost - lost);
    if (!picture) return;
    picture.arrived = now;
    picture.media = this.video_time(picture.timestamp);
    this.report.received(picture, now);
    if (!this.live && this.seek_to !== null && picture.number >= this.show_from && this.npt === null)
      this.npt = { media: picture.media, seconds: this.seek_to };
    if (this.live || picture.number >= this.show_from) this.playout.arrived(picture.media, now);
    this.coded.push(picture);
    this.coded_bytes += picture.data.length;
    if (this.coded_bytes > CODED_MAX) this.fail("protocol", "the server sends faster than the page plays");
  }

  // Milliseconds on the time line of the pictures, which begins with the first one.
  video_time(timestamp) {
    const stamp = this.unwrap.video.add(timestamp);
    this.origin ??= stamp;
    return (stamp - this.origin) / 90;
  }

  // The same of audio, by the first sender report of each track. NaN: there is none yet.
  audio_time(timestamp) {
    const stamp = this.unwrap.audio.add(timestamp);
    const { audio, video } = this.reports;
    if (!audio || !video || this.origin === undefined) return NaN;
    const ntp = audio.ntp + (stamp - audio.stamp) / 48000;
    return (ntp - video.ntp) * 1000 + (video.stamp - this.origin) / 90;
  }

  control(track, data) {
    for (const p of rtcp_parse(data)) {
      if (p.kind === "report") this.reports[track] ??= { stamp: this.unwrap[track].add(p.timestamp), ntp: p.ntp };
      if (p.kind === "bye" && track === "video" && !this.awaited_play) {
        this.bye = true;
        if (this.live) return this.fail("over");
        else if (this.playout.newest !== null) this.playout.arrived(this.playout.newest, performance.now(), true);
      }
    }
  }

  finish() {
    if (this.ended) return;
    this.ended = true;
    this.report.end("end-of-media", null, performance.now());
    this.state();
  }

  // Feeds pictures to the decoder when they are about to be due; shows what is due. Live ones do not wait for the decoder:
  // where it is behind, decode() leaves some out.
  pump() {
    if (this.closed || !this.playout || this.paused) return;
    const now = performance.now();
    this.pump_sounds(now);
    const ahead = NATIVE ? DECODE_AHEAD : ELEMENT_AHEAD;
    while (this.coded.length && this.playout.due(this.coded[0].media) < now + ahead &&
           (this.live || (this.inside.size < IN_DECODER && this.inside.size + this.output.length < OUTPUT_MAX))) {
      const picture = this.coded.shift();
      this.coded_bytes -= picture.data.length;
      this.decode(picture);
    }
    if (this.bye && !this.coded.length && this.inside.size && !this.flushed) { // pictures that waited for later ones
      this.flushed = true;
      this.decoder?.flush().catch(() => {});
    }
    this.draw();
  }

  request_key() {
    const now = performance.now();
    if (now - this.key_asked < KEY_EVERY || this.ssrc === undefined || this.socket.readyState !== WebSocket.OPEN) return;
    this.key_asked = now;
    this.socket.send(pli(this.channels.video + 1, this.ssrc));
  }

  make_decoder(picture) {
    const codec = `avc1.${profile_of(picture.data) ?? (this.sdp.video.profile || "42e01f")}`;
    const wanted = `${codec} ${picture.size}`;
    if (this.decoder && wanted === this.configured) return;
    if (!this.decoder)
      this.decoder = new VideoDecoder({
        output: frame => this.decoded(frame),
        error: error => this.decoder_failed(error),
      });
    this.decoder.configure({ codec, optimizeForLatency: true,
      ...(this.software ? { hardwareAcceleration: "prefer-software" } : {}) });
    this.configured = wanted;
  }

  decoder_failed(error) {
    this.report.decoder_errors++;
    this.restart_decoder();
    this.request_key();
    if (error.name === "NotSupportedError") this.fail("codec", this.sdp.video.codec);
  }

  restart_decoder() {
    if (this.decoder && this.decoder.state !== "closed") this.decoder.close();
    this.decoder = null;
    this.inside.clear();
    this.references.reset();
  }

  decode(picture) {
    // A decoder that cannot keep up begins anew with a key frame.
    if (this.live && this.inside.size > 4 * STUCK) this.restart_decoder();
    const verdict = this.references.judge(picture, this.live ? this.inside.size : 0, this.top_tid);
    if (verdict !== "decode") {
      this.report.dropped(verdict === "drop" ? "late" : "undecodable");
      if (verdict === "key") this.request_key();
      return;
    }
    if (!NATIVE) return this.give(picture);
    try {
      if (picture.key) this.make_decoder(picture);
      if (!this.decoder) return this.references.reset();
      const stamp = ++this.counter; // in the order of decoding; a film with B frames is in that of showing
      const timestamp = this.sdp.reorders ? Math.round(picture.media * 1000) : stamp;
      this.inside.set(timestamp, picture);
      picture.entered = performance.now();
      this.decoder.decode(new EncodedVideoChunk({ type: picture.key ? "key" : "delta", timestamp, data: picture.data }));
      picture.data = null;
    } catch (error) {
      this.decoder_failed(error);
    }
    // A decoder that keeps many pictures would add their time to the latency.
    if (this.live && this.inside.size > STUCK && !this.software && ++this.stuck > STUCK) {
      this.software = true;
      this.decoder_failed(new Error("the decoder keeps pictures"));
    }
  }

  decoded(frame) {
    const picture = this.inside.get(frame.timestamp);
    this.inside.delete(frame.timestamp);
    if (!picture || this.closed) return frame.close();
    this.stuck = 0;
    const now = performance.now();
    this.playout.decoded(now - picture.entered);
    this.report.decoded(now - picture.entered);
    if (picture.number < this.show_from) return frame.close();
    this.output.push({ frame, picture });
    if (this.output.length > OUTPUT_MAX && !this.canvas) this.skip();
    else if (this.output.length > OUTPUT_MAX) this.show(this.output.shift(), now); // early, rather than never
    this.pump();
  }

  skip() {
    const { frame } = this.output.shift();
    frame.close();
    this.report.dropped("display");
  }

  // Shows the newest picture that is due; older ones are left out.
  draw() {
    clearTimeout(this.drawing);
    if (NATIVE && !this.canvas) return;
    const now = performance.now();
    while (this.output.length > 1 && this.playout.due(this.output[1].picture.media) <= now) this.skip();
    if (this.output.length && this.playout.due(this.output[0].picture.media) <= now + 0.5) this.show(this.output.shift(), now);
    const next = Math.min(this.output.length ? this.playout.due(this.output[0].picture.media) : Infinity,
      this.coded.length && (this.live || !this.output.length) ? this.playout.due(this.coded[0].media) - DECODE_AHEAD : Infinity);
    if (!this.live && this.shown && !this.output.length && !this.inside.size && !this.coded.length && !this.awaits_element(now)) {
      if (this.bye) return this.finish();
      if (this.playout.anchor && now > this.playout.due(this.shown.media) + 200) {
        this.playout.dry(this.shown.media);
        post({ type: "clock", at: NaN, pace: this.pace });
      }
    }
    if (next < Infinity) this.drawing = setTimeout(() => this.pump(), Math.max(0, next - now));
    else if (!this.live) this.drawing = setTimeout(() => this.pump(), 100);
  }

  show({ frame, picture }, now) {
    const { displayWidth: width, displayHeight: height } = frame;
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.sized(width, height);
    }
    this.context.drawImage(frame, 0, 0);
    frame.close();
    this.was_shown(picture, performance.now());
    this.report.late(now - this.playout.due(picture.media));
  }

  sized(width, height) {
    if (this.width === width && this.height === height) return;
    this.width = width;
    this.height = height;
    post({ type: "size", width, height });
  }

  was_shown(picture, done) {
    const first = !this.shown;
    this.shown = picture;
    const captured = picture.capture - this.clock.offset; // by our wall clock
    const latency = this.live && this.place.behind < PRESENT ? ((performance.timeOrigin + done) / 1000 - captured) * 1000 : NaN;
    this.report.shown(picture, done, latency, this.fps() * this.pace);
    if (first) this.state();
    this.draw_cues();
    if (this.speaker) this.speaker.postMessage({ type: "line", line: this.audio_line() });
  }

  fps() {
    const level = this.sdp.levels[this.shown?.level];
    return level?.fps || this.sdp.video.fps || 25;
  }

  position() {
    if (this.live || !this.shown || !this.npt) return this.seek_to ?? 0;
    return this.npt.seconds + (this.shown.media - this.npt.media) / 1000;
  }

  // ---- The element of a page without WebCodecs

  begin_track() {
    this.track = { timeline: new Timeline(), first: NaN, entry: "" };
    this.sent = new Map(); // time in the element -> picture
  }

  // Milliseconds since 1970 at which the element's time 0 is due.
  element_clock() {
    const share = this.live ? ELEMENT_SHARE : 0;
    return this.audio_line() + (this.track.first - 1000 * LEAD / TIMESCALE) / this.pace + share;
  }

  give(picture) {
    const { track } = this;
    const found = picture.key && h264_track(picture.data);
    if (found && found.entry.join() !== track.entry) {
      post({ type: "track", codec: `video/mp4; codecs="${found.codec}"`, init: init_segment(found), fresh: !track.entry, begin: LEAD / TIMESCALE });
      track.entry = found.entry.join();
    }
    if (!track.entry) return this.references.reset();
    picture.width = found ? found.width : this.given.width;
    picture.height = found ? found.height : this.given.height;
    this.given = picture;
    if (Number.isNaN(track.first)) track.first = picture.media;
    const time = track.timeline.next((picture.media - track.first) * TIMESCALE / 1000, this.sdp.reorders);
    const data = fragment({ ...time, key: picture.key, sample: h264_sample(picture.data) });
    picture.data = null;
    this.sent.set(time.shown, picture);
    if (this.sent.size > SENT_MAX) this.sent.delete(this.sent.keys().next().value);
    post({ type: "fragment", data, key: picture.key, time: time.shown / TIMESCALE, at: this.element_clock(), pace: this.pace });
  }

  // The element has shown `count` pictures, the last one that of `time` (s).
  presented({ time, count, at }) {
    const stamp = Math.round(time * TIMESCALE) + TIMESCALE / 1000;
    const past = [...this.sent.keys()].filter(t => t <= stamp).sort((a, b) => a - b);
    const done = at - performance.timeOrigin;
    past.forEach((t, i) => {
      const picture = this.sent.get(t);
      this.sent.delete(t);
      if (picture.number < this.show_from) return;
      if (i < past.length - count) return this.report.dropped("display");
      this.sized(picture.width, picture.height);
      this.was_shown(picture, done);
    });
  }

  awaits_element(now) {
    return [...this.sent.values()].some(p => this.playout.due(p.media) > now - ELEMENT_LATE);
  }

  renew() {
    this.begin_track();
    this.references.reset();
    this.request_key();
    if (!this.live && !this.paused && !this.ended) this.seek(this.position());
  }

  // ---- Audio

  // A film's audio comes as far ahead as its pictures, and waits here.
  audio(packet, now) {
    const media = this.audio_time(packet.timestamp);
    if (!Number.isFinite(media) || (this.live && !this.speaker)) return;
    this.playout.audio_arrived(media, now);
    this.report.audio_packets++;
    this.sounds.push({ media, data: packet.payload.slice() });
    if (this.sounds.length > SOUNDS_MAX) this.sounds.shift();
  }

  pump_sounds(now) {
    while (this.sounds.length && this.playout.due(this.sounds[0].media) < now + SOUND_AHEAD) {
      const { media, data } = this.sounds.shift();
      if (this.speaker && (this.live || this.playout.due(media) > now - SOUND_LATE)) this.decode_sound(media, data);
    }
  }

  decode_sound(media, data) {
    try {
      if (!this.audio_decoder) {
        this.audio_decoder = new AudioDecoder({
          output: decoded => this.audio_decoded(decoded),
          error: () => { this.audio_decoder = null; },
        });
        this.audio_decoder.configure({ codec: "opus", sampleRate: 48000, numberOfChannels: 2 });
      }
      this.audio_decoder.decode(new EncodedAudioChunk({ type: "key", timestamp: Math.round(media * 1000), data }));
    } catch {
      this.audio_decoder = null;
    }
  }

  audio_decoded(data) {
    const channels = [];
    for (let i = 0; i < Math.min(2, data.numberOfChannels); i++) {
      const samples = new Float32Array(data.numberOfFrames);
      data.copyTo(samples, { planeIndex: i, format: "f32-planar" });
      channels.push(samples);
    }
    const media = data.timestamp / 1000;
    data.close();
    if (this.live) return this.speak(media, channels);
    this.heard.push({ media, channels });
    if (this.heard.length > HEARD_MAX) this.heard.shift();
    this.stretched(media, channels);
  }

  speak(media, channels) {
    this.speaker?.postMessage({ type: "samples", media, line: this.audio_line(), channels }, channels.map(c => c.buffer));
  }

  // A film's audio in its pitch at any pace. The speaker's times are those of playing.
  stretched(media, channels) {
    if (!this.stretch || Math.abs(media - this.stretch.next) > SOUND_GAP)
      this.stretch = { to: new Stretch(this.pace), begin: media / this.pace, made: 0, next: media };
    const { stretch } = this, out = stretch.to.push(channels);
    stretch.next = media + channels[0].length / 48;
    const at = stretch.begin + stretch.made / 48;
    stretch.made += out[0].length;
    if (out[0].length) this.speak(at, out);
  }

  // Films only: `pace` times as fast as the film was made.
  set_pace(pace) {
    if (!this.sdp) this.pace = pace;
    if (!this.playout || this.live || pace === this.pace) return;
    const now = performance.now();
    this.pace = pace;
    this.playout.set_pace(pace, now);
    if (this.viewer) this.viewer.set_pace(pace);
    else if (!this.paused && !this.ended && !this.awaited_play) this.ask("PLAY", this.uri, { Speed: pace });
    this.speaker?.postMessage({ type: "flush" });
    this.stretch = null;
    for (const { media, channels } of this.heard) if (this.playout.due(media) > now) this.stretched(media, channels);
    post({ type: "clock", at: this.element_clock(), pace });
    this.pump();
  }

  // By the clock that worker, page and audio have in common: milliseconds since 1970.
  audio_line() {
    return this.playout.line() + performance.timeOrigin;
  }

  set_speaker(port) {
    this.speaker = port;
    if (!port) return;
    port.onmessage = e => { this.report.speaker = e.data; };
  }

  // ---- Subtitles

  async get_cues() {
    const { track } = this.subtitles, body = this.awaited_play ? null : this.subtitles.request(this.position(), performance.now());
    if (!body) return;
    const answer = await this.ask("GET_PARAMETER", this.uri, {}, body);
    this.subtitles.received(answer.status === 200 ? answer.body : "", track);
    this.draw_cues();
  }

  draw_cues() {
    const cues = this.subtitles.shown(this.position());
    if (cues) post({ type: "cues", cues });
  }

  // ---- What the viewer chooses

  // 0: none.
  set_subtitles(track) {
    this.subtitles.choose(track);
    post({ type: "cues", cues: [] });
    this.get_cues();
  }

  // Of a prepared film the other track is buffered already.
  set_audio_track(track) {
    this.ask("SET_PARAMETER", this.uri, {}, `audio-track: ${track}\r\n`);
    if (this.viewer && this.shown && !this.paused && !this.ended) this.seek(this.position());
  }

  set_level(level) {
    this.level = level;
    this.viewer?.choose(level);
    if (this.viewer && level < 0) this.drive();
    else if (this.sdp?.levels.length && !this.hidden)
      this.ask("SET_PARAMETER", this.uri, {}, `level: ${level < 0 ? this.sdp.levels.length - 1 : level}\r\n`);
  }

  async pause() {
    if (this.paused || !this.sdp) return;
    this.paused = true;
    this.viewer?.pause();
    this.paused_at = this.position();
    this.place?.pause(performance.now());
    clearTimeout(this.drawing);
    this.report.paused(true, performance.now());
    this.speaker?.postMessage({ type: "flush" });
    this.state();
    await this.ask("PAUSE", this.uri);
  }

  // Goes on where it stopped; live media, of which the server keeps no past, in the present.
  async resume() {
    if (!this.paused) return;
    await this.seek(this.live ? this.place.kept ? -this.place.at(performance.now()) : 0 : this.paused_at);
  }

  // seconds: of a film; of live media the distance from the present, which is negative.
  async seek(seconds) {
    if (!this.sdp) return;
    const was = this.paused;
    this.report.paused(false, performance.now());
    this.report.seek(performance.now());
    this.paused = false;
    this.wanted = this.paused_at = seconds;
    this.ended = false;
    const answer = await this.play(this.live ? live_range(-seconds) : `npt=${Math.max(0, seconds).toFixed(3)}-`);
    if (answer.status !== 200 && was) this.paused = true;
    this.state();
  }

  // Steps add up, also those that have not been answered.
  step(by) {
    if (!this.sdp || !this.playout) return;
    const at = this.awaited_play > 0 && this.wanted !== undefined ? this.wanted : this.live ? -this.place.at(performance.now()) : this.position();
    const to = this.live ? this.place.step(-at, by) : Math.min(Math.max(0, at + by), Math.max(0, this.sdp.duration - 0.1));
    if (to === null || (this.live && !to && -at < PRESENT && !this.paused)) return;
    this.seek(this.live ? -to : to);
  }

  // The tab is hidden. Live media with sound on goes to the lowest level, without sound it pauses. A film plays on.
  set_hidden(hidden) {
    if (!this.sdp || !this.live || hidden === this.hidden) return;
    this.hidden = hidden;
    if (hidden && this.speaker) {
      this.ask("SET_PARAMETER", this.uri, {}, "level: 0\r\n");
    } else if (hidden && !this.paused) {
      this.asleep = { behind: this.place.at(performance.now()) };
      this.pause();
    } else if (!hidden && this.asleep) {
      if (this.asleep.behind < PRESENT) this.seek(0);
      else this.resume();
      this.asleep = null;
    } else if (!hidden) {
      this.set_level(this.level);
    }
  }

  // ---- What the page is told

  state() {
    post({ type: "state", playing: !this.paused && !this.ended && !!this.shown, paused: this.paused, ended: this.ended,
      buffering: !this.shown, position: this.position() });
  }

  tell() {
    const now = performance.now();
    const stats = this.report.stats(now);
    const { shown } = this;
    post({ type: "stats", ...stats, position: this.position(), level: shown?.level ?? -1, number: shown?.number ?? -1,
      width: this.width, height: this.height, wait: this.live ? this.playout.wait : null,
      decoder: NATIVE ? this.live ? this.playout.decoder : stats.decode_ms : NaN, rtt: Number(this.transport.rtt_ms ?? NaN),
      server_rate: Number(this.transport.rate_bps ?? NaN), clock_error: this.clock.rtt * 500,
      buffered: this.live || !this.playout.newest || !shown ? 0 : Math.max(0, this.playout.newest - shown.media) / 1000,
      behind: this.place?.at(now) ?? 0, kept: this.place?.kept ?? 0, away: this.place?.away(Number(this.transport["backbone.away_s"] ?? 0), this.source_away, now) ?? null,
      choice: this.viewer?.told_of() ?? null, in_decoder: this.inside.size, slow: !!this.slow, waits: !!shown && !this.live && !this.playout.anchor && !this.paused });
  }
}

// profile_idc, constraint flags and level_idc of the sequence parameter set that a key frame begins with.
function profile_of(data) {
  for (let i = 0; i + 7 < Math.min(data.length, 256); i++)
    if (!data[i] && !data[i + 1] && data[i + 2] === 1 && (data[i + 3] & 31) === 7)
      return [...data.subarray(i + 4, i + 7)].map(b => b.toString(16).padStart(2, "0")).join("");
  return null;
}

let player = null;
const HANDLERS = {
  open: m => { player?.close(); player = new Player(m); },
  canvas: m => player?.set_canvas(m.canvas),
  play: () => player?.resume(),
  pause: () => player?.pause(),
  level: m => player?.set_level(m.level),
  seek: m => player?.seek(m.seconds),
  step: m => player?.step(m.by),
  pace: m => player?.set_pace(m.pace),
  subtitles: m => player?.set_subtitles(m.track),
  audio_track: m => player?.set_audio_track(m.track),
  hidden: m => player?.set_hidden(m.hidden),
  speaker: m => player?.set_speaker(m.port),
  report: () => post({ type: "report", report: player?.report.json(performance.now(), player) ?? null }),
  close: () => player?.close(),
  presented: m => player?.presented(m),
  renew: () => player?.renew(),
};
self.onmessage = e => HANDLERS[e.data.type]?.(e.data);
