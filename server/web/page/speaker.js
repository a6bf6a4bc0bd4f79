// SPDX-License-Identifier: GPL-2.0-or-later
// Audio at the time of its pictures, in an AudioWorklet. A sample of media time m is due at line + m (playout.js), in
// milliseconds since 1970; {offset} says what that is at currentTime 0. Small errors are removed by playing up
// to 1.5 % faster or slower, large ones by leaving samples out or by silence.

const QUEUE_MAX = 48000 * 4; // samples
const EARLY = 40; // ms: waits
const LATE = 60; // ms: leaves out
const BAND = 6; // ms that are no error
const BEND = 0.015;

class Speaker extends AudioWorkletProcessor {
  constructor(options) {
    super();
    this.offset = options.processorOptions?.offset ?? 0;
    this.queue = []; // {media, channels, at}: `at` samples of it were played
    this.length = 0;
    this.line = NaN;
    this.place = 0; // fraction of a sample
    this.underruns = this.skipped = 0;
    this.playing = false;
    this.told = 0;
    this.port.onmessage = e => {
      if (e.data.type === "port") {
        this.from = e.data.port;
        this.from.onmessage = m => this.#take(m.data);
      } else if (e.data.type === "offset") {
        this.offset = e.data.offset;
      }
    };
  }

  #take(m) {
    if (m.line !== undefined && Number.isFinite(m.line)) this.line = m.line;
    if (m.type === "flush") {
      this.queue = [];
      this.length = 0;
      this.playing = false;
    }
    if (m.type !== "samples") return;
    this.queue.push({ media: m.media, channels: m.channels, at: 0 });
    this.length += m.channels[0].length;
    while (this.length > QUEUE_MAX) this.#drop(this.queue[0].channels[0].length - this.queue[0].at);
  }

  #drop(n) {
    this.length -= n;
    while (n > 0 && this.queue.length) {
      const head = this.queue[0], left = head.channels[0].length - head.at;
      if (n < left) {
        head.at += n;
        return;
      }
      n -= left;
      this.queue.shift();
    }
  }

  // Milliseconds by which the next sample is late; negative: early.
  #error() {
    const head = this.queue[0];
    const media = head.media + head.at / 48;
    return this.offset + currentTime * 1000 - (this.line + media);
  }

  process(_, [out]) {
    const n = out[0].length;
    if (!this.queue.length || !Number.isFinite(this.line)) {
      if (this.playing && this.queue.length === 0) this.underruns++;
      this.playing = false;
      return true;
    }
    let error = this.#error();
    if (error > LATE) {
      const samples = Math.min(this.length, Math.round(error * 48));
      this.skipped += samples;
      this.#drop(samples);
      if (!this.queue.length) return true;
      error = this.#error();
    }
    if (error < (this.playing ? -EARLY : -3)) return true;
    this.playing = true;
    const step = Math.abs(error) < BAND ? 1 : 1 + Math.sign(error) * BEND;
    for (let i = 0; i < n; i++) {
      if (!this.queue.length) break;
      const head = this.queue[0];
      for (let c = 0; c < out.length; c++) {
        const samples = head.channels[Math.min(c, head.channels.length - 1)];
        const a = samples[head.at], b = samples[head.at + 1] ?? a;
        out[c][i] = a + (b - a) * this.place;
      }
      this.place += step;
      const whole = Math.floor(this.place);
      this.place -= whole;
      if (whole) this.#drop(whole);
    }
    if (currentTime - this.told > 0.5) {
      this.told = currentTime;
      this.from?.postMessage({ underruns: this.underruns, skipped_ms: Math.round(this.skipped / 48), error_ms: error,
        queued_ms: this.length / 48 });
    }
    return true;
  }
}

registerProcessor("weir-speaker", Speaker);
