// SPDX-License-Identifier: GPL-2.0-or-later
// Plays audio faster or slower in its pitch: WSOLA (Verhelst and Roelands, "An overlap-add technique based on waveform
// similarity", ICASSP 1993). Each block of HOP output samples is faded over to the place of the input, within SEARCH of where
// the pace leads, that continues the block before best. So the output is at most SEARCH off its time. At a pace of 1 it is the
// input. Pure.

export const HOP = 720; // samples at 48 kHz: 15 ms
export const SEARCH = 480; // longer than a period of the lowest voices
const COARSE = 4; // of samples and places, at first
const FADE = Float32Array.from({ length: HOP }, (_, i) => 0.5 - 0.5 * Math.cos(Math.PI * (i + 0.5) / HOP));

export class Stretch {
  constructor(pace) {
    Object.assign(this, { pace, input: null, dropped: 0, blocks: 0, tail: 0 });
  }

  // channels: arrays of samples that follow those of the calls before. Returns the output so far that was not returned yet, in
  // as many channels; maybe empty.
  push(channels) {
    this.input = channels.map((samples, c) => {
      const before = this.input?.[c] ?? this.input?.[0] ?? new Float32Array(0), all = new Float32Array(before.length + samples.length);
      all.set(before);
      all.set(samples, before.length);
      return all;
    });
    const made = [];
    while (this.#has_block()) made.push(this.#block());
    this.#forget();
    return channels.map((_, c) => {
      const out = new Float32Array(made.length * HOP);
      made.forEach((block, i) => out.set(block[c], i * HOP));
      return out;
    });
  }

  #ideal() {
    return Math.round(this.blocks * HOP * this.pace) - this.dropped;
  }

  #has_block() {
    return this.input[0].length >= Math.max(this.#ideal() + SEARCH, this.tail) + HOP;
  }

  #forget() {
    const old = Math.max(0, Math.min(this.tail, this.#ideal() - SEARCH));
    this.input = this.input.map(samples => samples.slice(old));
    this.dropped += old;
    this.tail -= old;
  }

  // How much the input at `place` is like what follows the block before.
  #likeness(place, step) {
    const { tail } = this;
    let product = 0, power = 1e-9;
    for (const samples of this.input)
      for (let i = 0; i < HOP; i += step) {
        const a = samples[place + i];
        product += samples[tail + i] * a;
        power += a * a;
      }
    return product / Math.sqrt(power);
  }

  #best(from, to, step, first) {
    let best = first, most = this.#likeness(first, step);
    for (let place = from; place <= to; place += step) {
      const likeness = this.#likeness(place, step);
      if (likeness > most) [best, most] = [place, likeness];
    }
    return best;
  }

  #block() {
    const ideal = this.#ideal(), { tail } = this;
    let place = ideal;
    if (this.blocks && tail !== ideal) {
      const least = Math.max(0, ideal - SEARCH), most = ideal + SEARCH;
      place = this.#best(least, most, COARSE, Math.max(least, ideal));
      place = this.#best(Math.max(least, place - COARSE), Math.min(most, place + COARSE), 1, place);
    }
    this.blocks++;
    this.tail = place + HOP;
    return this.input.map(samples => {
      const out = samples.slice(place, place + HOP);
      if (this.blocks > 1)
        for (let i = 0; i < HOP; i++) out[i] = samples[tail + i] + (out[i] - samples[tail + i]) * FADE[i];
      return out;
    });
  }
}
