// SPDX-License-Identifier: GPL-2.0-or-later
// When pictures are shown. Times are milliseconds of performance.now(), media times milliseconds of the sender's time
// line. Pure.
//
// Live media keeps weir-play's law (stream/latency): with the offset of a picture = its arrival - its media time,
//
//     base   = min of the offsets of the last WINDOW, what the path takes at best
//     jitter = the PART quantile of (offset - base)
//     need   = max(jitter - TOLERATED, 0) + decoder
//     due    = media time + base + wait
//
// The wait is raised to the need at once, and lowered by at most LOWER a second, with audio by as much as that can follow. A picture that is late is shown at once.

const WINDOW = 4000;
const PART = 0.95;
const FEW = 64; // fewer samples are filled up with delays of 0
const TOLERATED = 10; // ms late that nobody notices
const LOWER = 40; // ms per second
const LOWER_AUDIO = 12;
const SILENCE = 500; // without arrivals nothing is forgotten
const MOST = 2000; // of the wait, ms

export class ArrivalJitter {
  constructor() {
    this.samples = []; // {at, offset, delay: behind the base that was known then}, in order of `at`
    this.forgotten = 0; // time during which nothing came
  }

  add(offset, now) {
    const last = this.samples.at(-1);
    if (last && now - last.at > SILENCE)
      for (const s of this.samples) s.at += now - last.at - SILENCE;
    this.samples.push({ at: now, offset, delay: offset - Math.min(offset, this.base()) });
    while (this.samples[0].at < now - WINDOW || this.samples.length > 1024) this.samples.shift();
  }

  base() {
    return this.samples.reduce((least, s) => Math.min(least, s.offset), Infinity);
  }

  read() {
    if (!this.samples.length) return 0;
    const base = this.base();
    // A start that gets faster is no jitter: what came at the base of its time was not late.
    const delays = this.samples.map(s => Math.min(s.delay, s.offset - base)).sort((a, b) => a - b);
    const filled = Math.max(0, FEW - delays.length);
    const rank = Math.ceil(PART * (delays.length + filled)) - filled;
    return rank > 0 ? delays[rank - 1] : 0;
  }
}

export class LivePlayout {
  constructor() {
    this.pace = 1;
    this.video = new ArrivalJitter();
    this.audio = null; // made by the first audio packet
    this.decoder = 0; // ms, mean
    this.wait = 0;
    this.turned = 0;
  }

  restart() {
    this.video = new ArrivalJitter();
    this.audio = null;
  }

  arrived(media, now) {
    this.video.add(now - media, now);
    this.#turn(now);
  }

  audio_arrived(media, now) {
    this.audio ??= new ArrivalJitter();
    this.audio.add(now - media, now);
  }

  decoded(took) {
    this.decoder += (took - this.decoder) * (this.decoder ? 0.1 : 1);
  }

  need() {
    let need = Math.max(0, this.video.read() - TOLERATED) + this.decoder;
    // Audio that is late is not heard: it waits for the latest, on the line of the pictures.
    if (this.audio) need = Math.max(need, this.audio.base() + this.audio.read() - this.video.base());
    return Math.min(need, MOST);
  }

  #turn(now) {
    const need = this.need();
    const step = this.turned ? (this.audio ? LOWER_AUDIO : LOWER) * Math.min(1, Math.max(0, now - this.turned) / 1000) : 0;
    this.turned = now;
    this.wait = need > this.wait ? need : Math.max(need, this.wait - step);
  }

  // due = line + media time
  line() {
    return this.video.base() + this.wait;
  }

  due(media) {
    return this.line() + media;
  }
}

export const START_FILM = 250; // ms of media that a film begins with
const AGAIN_FILM = 1000; // after it ran dry

// A film has a clock of its own: it begins when enough media is there, and stands while there is none. It plays `pace` times as
// fast as the film was made.
export class FilmPlayout {
  constructor() {
    this.pace = 1;
    this.restart();
  }

  restart() {
    this.start = START_FILM;
    this.first = this.newest = null; // media times
    this.anchor = null; // {at, media}; null: buffering
    this.held = NaN; // position during a pause
  }

  arrived(media, now, ended = false) {
    this.first = this.first === null ? media : Math.min(this.first, media);
    this.newest = this.newest === null ? media : Math.max(this.newest, media);
    this.#begin(now, ended);
  }

  #begin(now, ended) {
    if (!this.anchor && (ended || this.newest - this.first >= this.start)) this.anchor = { at: now, media: this.first };
  }

  // A film that ran dry goes on with so much media.
  resume_with(media, now) {
    if (this.anchor || this.newest === null) return;
    this.start = media;
    this.#begin(now, false);
  }

  // Nothing is left to show at `media`: waits for more.
  dry(media) {
    this.anchor = null;
    this.first = media;
    this.start = AGAIN_FILM;
  }

  // What is played at `now` stays.
  set_pace(pace, now) {
    if (this.anchor) this.anchor = { at: now, media: this.anchor.media + (now - this.anchor.at) * this.pace };
    this.pace = pace;
  }

  audio_arrived() {}
  decoded() {}
  line() {
    return this.anchor ? this.anchor.at - this.anchor.media / this.pace : NaN;
  }
  due(media) {
    return this.anchor ? this.line() + media / this.pace : Infinity;
  }
}

// Which pictures can be decoded, and which are left out when the decoder is behind.
export class References {
  constructor() {
    this.reset();
  }

  reset() {
    this.known = []; // numbers of pictures that were decoded
    this.waits_for_key = true;
  }

  // Returns "decode", "drop" (left out, as is what depends on it) or "key" (undecodable: a key frame is needed).
  // `behind`: pictures that wait in the decoder; `top`: the highest temporal layer.
  judge(picture, behind, top) {
    if (picture.key) {
      this.known = [];
      this.waits_for_key = false;
    }
    if (this.waits_for_key) return "key";
    if (!picture.key && !this.known.includes(picture.depends)) return picture.tid > 0 ? "drop" : "key";
    if (behind > 2 && picture.tid > 0 && picture.tid >= top) return "drop";
    this.known.push(picture.number);
    if (this.known.length > 128) this.known.shift();
    return "decode";
  }
}

// The sender's wall clock, by requests and responses (RFC 5905, section 8; stream/receive/clock_sync.h). Seconds.
const DRIFT = 200e-6;
export class ClockSync {
  constructor() {
    this.offset = NaN; // sender's clock - ours
    this.rtt = Infinity; // of the sample that counts; its half bounds the error
    this.taken = 0;
  }

  sample(asked, answered, received) {
    const rtt = received - asked;
    if (rtt < 0 || rtt >= this.rtt + 2 * DRIFT * (received - this.taken)) return;
    this.rtt = rtt;
    this.taken = received;
    this.offset = answered - (asked + rtt / 2);
  }
}
