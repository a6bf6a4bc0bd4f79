// SPDX-License-Identifier: GPL-2.0-or-later
// A prepared film's viewer, as its policy (abr.js) sees it: packets in, level and speed to request of the sender out. The laws
// are those of weir-play's (stream/abr): the sender sends as fast as the network carries it until the buffer is full, so most
// samples are limited by the network; a request of now changes the group that begins behind what a round trip carries. Times
// are milliseconds; of a film that is played at another pace than 1 they are those of playing, and speeds are multiples of the
// pace. Pure.
import { AutoPolicy, FilmTable } from "./abr.js";
import { bytes_of_base64, rtsp_parameters } from "./rtsp.js";

export const TARGET = 30000; // of media in the buffer
export const SAMPLE = 100; // run() is called as often
const PACED = 1000; // a sample at a speed below UNPACED
const UNPACED = 8, FAST = 100; // speeds
const FIRST = 8; // until the path is known: the first sample comes well before the second group begins
const SLOW_SERVER = 1.5; // of a server that leaves out frames which the network cannot take
const NETWORK_BELOW = 0.75; // of the speed
const SLOWEST = 0.25, BEYOND = 5000; // speed of a buffer that has so much more than its target
const MIN_PACE = 1.1; // below the target
const SPEED_STEP = 0.1; // changes by less are not requested
const SAMPLES = 64; // that a new table's policy is told
const GROUP = 2; // s, until a table says
const ROOM_GROUPS = 2;
const FULL_BYTES = 72 << 20, FULL_FRAMES = 2400;
const TABLE_MAX = 24 + 2 * 32 * 21600; // bytes

// The film's table, which comes in parts (stream/abr/film_table_parts.h).
export class TableParts {
  constructor() {
    this.data = null;
    this.len = 0;
  }

  // Returns the body of the next request.
  request() {
    return `film-table: ${this.len}\r\n`;
  }

  // Takes the body of the response. Returns "more", "later" (the same request again), "none", or the table.
  take(body) {
    const value = rtsp_parameters(body)["film-table"] ?? "";
    if (value === "later") return "later";
    const m = /^(\d+)\/(\d+) (\S+)$/.exec(value);
    const [at, total] = m ? [Number(m[1]), Number(m[2])] : [NaN, NaN];
    if (at !== this.len || total <= at || total > TABLE_MAX || (this.data && this.data.length !== total)) return "none";
    const part = bytes_of_base64(m[3]);
    if (!part.length || part.length > total - at) return "none";
    this.data ??= new Uint8Array(total);
    this.data.set(part, at);
    this.len += part.length;
    return this.len < total ? "more" : FilmTable.decode(this.data) ?? "none";
  }
}

export class FilmViewer {
  // rates: of the levels, bit/s; fps and frames: of the film.
  constructor({ rates, fps, frames, target = TARGET }) {
    const group = Math.max(1, Math.ceil(GROUP * fps)), groups = Math.max(1, Math.ceil(frames / group));
    const shape = { levels: rates.length, groups, frames: group, last: frames - (groups - 1) * group, num: Math.round(fps * 1000), den: 1000 };
    Object.assign(this, { rates, fps, frames, target, pace: 1, fastest: FAST, rtt: 0, has_table: false, told: [], chosen: -1,
      begun: false, requested: 0, decision: null, buffered: 0 });
    this.#use(FilmTable.of_rates(shape, rates));
    this.place(0, 0, 0);
  }

  #use(table) {
    table.pace = this.pace;
    this.table = table;
    this.policy = new AutoPolicy(table, this.rates, this.target);
    for (const { sample, at } of this.told) this.policy.rate(sample, at);
  }

  // Returns false if it is the table of another film, or lies; the one that is there stays.
  set_table(table) {
    if (!table.is_of(this.rates, this.fps, this.frames)) return false;
    this.#use(table);
    this.has_table = this.due = true;
    this.start = this.#group_at(this.first);
    if (this.group >= 0) this.group = this.#group_at(this.slot); // its groups may have another length
    return true;
  }

  // Of the sender, in multiples of the pace.
  get max_speed() {
    return this.fastest / this.pace;
  }

  // What PLAY requests.
  get play_speed() {
    return this.told.length ? this.fastest : Math.min(FIRST, this.fastest);
  }

  // The film is played `pace` times as fast as it was made; what was requested goes on.
  set_pace(pace) {
    this.speed *= this.pace / pace;
    Object.assign(this, { pace, since: null, due: true });
    this.table.pace = pace;
  }

  // The position changed: picture `number` of the stream is frame `frame` of the film. PLAY requested play_speed.
  place(number, frame, now) {
    Object.assign(this, { base: number - frame, first: number, group: -1, slot: null, since: null, received: 0,
      bytes: 0, first_slot: 0, level: 0, full: false, overfull: false, due: true, speed: this.play_speed / this.pace,
      speed_at: now - this.rtt });
    this.start = this.#group_at(number);
    this.policy.seek();
  }

  // The server granted this speed.
  granted(speed) {
    if (this.speed * this.pace < UNPACED || !(speed > 0 && speed < UNPACED)) return true;
    this.fastest = SLOW_SERVER;
    return false;
  }

  // Nothing is requested until the next place().
  pause() {
    this.since = null;
  }

  // The viewer chose this level; -1: the policy chooses.
  choose(level) {
    this.chosen = level;
    this.due = true;
  }

  #frames() {
    return (this.table.groups - 1) * this.table.frames + this.table.last;
  }

  #group_at(number) {
    return Math.min(Math.max(0, Math.floor((number - this.base) / this.table.frames)), this.table.groups - 1);
  }

  // A packet of picture `number`, which is sent in place `slot`, at a level that the sender serves.
  packet({ number, slot, level, bytes }, now) {
    const past = Math.floor((number - this.base) / this.#frames());
    if (past > 0) { // the film began again
      this.base += past * this.#frames();
      this.group = -1;
      this.policy.seek();
    }
    const group = this.#group_at(number);
    if (group > this.group) Object.assign(this, { group, received: 0, due: true });
    if (group === this.group) {
      this.level = level < this.rates.length ? level : 0;
      this.received += bytes;
    }
    this.slot = this.slot === null ? slot : Math.max(this.slot, slot);
    if (this.since === null) this.#begin_sample(now); // the first one says when the others begin to arrive
    else this.bytes += bytes;
  }

  // Nothing more arrives, and PLAY would begin the film again.
  #has_all() {
    return this.slot !== null && this.slot - this.base >= this.#frames() - 1;
  }

  #begin_sample(now) {
    Object.assign(this, { since: now, bytes: 0, first_slot: this.slot });
  }

  #sample(now) {
    if (this.since === null) return;
    if (this.#has_all()) return void (this.since = null);
    const duration = now - this.since;
    if (duration < (this.speed < UNPACED ? PACED : SAMPLE)) return;
    const media = (this.slot - this.first_slot) / this.fps / this.pace;
    const network = this.since >= this.speed_at + this.rtt && media < NETWORK_BELOW * this.speed * duration / 1000;
    const sample = { bytes: this.bytes, duration, network };
    this.told.push({ sample, at: now });
    if (this.told.length > SAMPLES) this.told.shift();
    this.policy.rate(sample, now);
    this.#begin_sample(now);
    this.due = true;
  }

  // What is begun: all that leaves the sender before a request of now gets there.
  #state({ number, media, playing }) {
    const { table, group } = this;
    const way = (this.decision?.estimate ?? 0) / 8000 * this.rtt;
    let next = group < 0 ? this.start : group + 1;
    let pending = group < 0 ? 0 : Math.max(table.bytes(group, this.level) - this.received, 0);
    while (group >= 0 && next < table.groups && pending <= way && next < group + SAMPLES) pending += table.bytes(next++, this.requested);
    const at = number < 0 ? table.start(this.start) : (number - this.base) * 1000 / this.fps / this.pace;
    const shown = number < 0 ? this.start : this.#group_at(number);
    return { next, shown: Math.min(shown, next), buffered: media, begun: Math.max(table.start(next) - at, 0), pending, playing };
  }

  #fill({ media, bytes, frames }) {
    const room = Math.max(this.target - ROOM_GROUPS * this.table.length(0), this.target / 2);
    const fits = bytes < FULL_BYTES && frames < FULL_FRAMES;
    const far = bytes >= FULL_BYTES / 3 * 4 || frames >= FULL_FRAMES / 3 * 4 || media >= this.target + BEYOND;
    this.full = !fits || media >= (this.full ? room : this.target);
    this.overfull = far || (this.overfull && (!fits || media >= this.target));
  }

  #speed({ pace, level, wait, group }) {
    if (this.overfull) return SLOWEST;
    if (this.full || wait > 0) return 1;
    if (!this.told.length) return this.speed;
    if (!pace) return this.max_speed;
    const rate = 8000 * this.table.bytes(group, level) / this.table.length(group);
    return Math.min(Math.max(pace / rate, MIN_PACE), this.max_speed);
  }

  #played(buffer) {
    return { ...buffer, media: buffer.media / this.pace };
  }

  // buffer: {number (of the picture that is shown; -1: none yet), media (that waits), bytes, frames, playing}. Call it every
  // SAMPLE ms, and first before PLAY. Returns null, or {level, speed, changes_level, changes_speed}.
  run(buffer, now) {
    buffer = this.#played(buffer);
    this.#sample(now);
    this.#fill(buffer);
    this.buffered = buffer.media;
    const s = this.#state(buffer);
    const decides = this.due && s.next < this.table.groups;
    this.due = false;
    if (decides) {
      s.begun = Math.min(s.begun, Math.max(this.target - this.table.length(s.next), 0)); // the sender goes on at speed 1
      this.decision = { ...this.policy.decide(s, now), group: s.next };
      if (this.chosen >= 0) this.decision.level = this.chosen;
    }
    if (!this.decision) return null;
    const { level } = this.decision, speed = this.#speed(this.decision);
    const out = { level, speed: speed * this.pace, changes_level: !this.begun || level !== this.requested,
      changes_speed: this.begun && !this.#has_all() && Math.abs(speed - this.speed) > SPEED_STEP * this.speed };
    if (out.changes_speed) Object.assign(this, { speed, speed_at: now });
    Object.assign(this, { begun: true, requested: level });
    return out.changes_level || out.changes_speed ? out : null;
  }

  // Playing has stalled: returns true if it may go on.
  resumes(buffer, now) {
    return this.policy.resumes({ ...this.#state(this.#played(buffer)), playing: false }, now);
  }

  // What is watched and why: {target (s), estimate (bit/s, 0: not known), error, reason, table (false: only rates are known)}.
  told_of() {
    const { estimate, error, reason } = this.decision ?? { estimate: 0, error: 0, reason: "start" };
    return { target: this.target / 1000, estimate, error, table: this.has_table,
      reason: this.rates.length === 1 ? "fixed" : this.chosen >= 0 ? "chosen" : reason };
  }
}
