// SPDX-License-Identifier: GPL-2.0-or-later
// Which level of a prepared film is requested: the policy `auto` of stream/abr, without exchange, repair and cut. What the
// parts do, and why, is in the headers of film_table.h, rate_forecast.h, abr_plan.h and abr_auto.c; docs/films.md has the
// figures. The same input gives the same decisions: tests/unit/stream/abr/auto_vectors.txt. Times are milliseconds. Pure.

// ---- The film's table

const HEADER = 24; // bytes
const MANTISSA = [1024, 1069, 1117, 1166, 1218, 1272, 1328, 1387, 1448, 1512, 1579, 1649, 1722, 1798, 1878, 1961];
const GROUPS_MAX = 21600, FRAMES_MAX = 600, LEVELS_MAX = 32, FPS_PART_MAX = 1e6;
const EXCESS_MAX = 4; // times the ladder's rate that a level's mean may have

const size_of = code => MANTISSA[code & 15] * 2 ** (code >> 4);

function code_of(bytes) { // of the nearest size
  let code = 0;
  while (code < 255 && size_of(code) < bytes) code++;
  return code > 0 && bytes - size_of(code - 1) < size_of(code) - bytes ? code - 1 : code;
}

export class FilmTable {
  // shape: {levels, groups, frames (of a group), last (frames of the last group), num, den (frames a second), quality (it has)}.
  constructor(shape, body) {
    Object.assign(this, shape);
    this.pace = 1; // of playing: times are those of playing
    this.body = body;
    this.row = shape.levels * (shape.quality ? 2 : 1);
  }

  // The table of a film of which only the levels' rates (bit/s) are known.
  static of_rates(shape, rates) {
    const table = new FilmTable({ ...shape, quality: false }, new Uint8Array(shape.groups * shape.levels));
    for (let g = 0; g < shape.groups; g++)
      for (let l = 0; l < shape.levels; l++) table.body[g * shape.levels + l] = code_of(rates[l] * table.length(g) / 8000);
    return table;
  }

  // Returns null if the bytes are no table.
  static decode(bytes) {
    if (bytes.length < HEADER || String.fromCharCode(...bytes.subarray(0, 3)) !== "WFT" || bytes[3] !== 1) return null;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const shape = { levels: bytes[4], groups: view.getUint32(8), frames: view.getUint16(12), last: view.getUint16(14),
      num: view.getUint32(16), den: view.getUint32(20), quality: !!(bytes[5] & 1) };
    const { levels, groups, frames, last, num, den } = shape;
    const within = (value, max) => value >= 1 && value <= max;
    const good = !(bytes[5] & ~1) && !view.getUint16(6) && within(levels, LEVELS_MAX) && within(groups, GROUPS_MAX) &&
      within(frames, FRAMES_MAX) && within(last, frames) && within(num, FPS_PART_MAX) && within(den, FPS_PART_MAX) && within(num / den, 1000);
    const table = good ? new FilmTable(shape, bytes.slice(HEADER)) : null;
    return table && table.body.length === groups * table.row ? table : null;
  }

  // Returns true if it can be the table of a film with these levels' rates, frames a second and number of frames. The
  // description has the film's length in seconds, so it may be off.
  is_of(rates, fps, count) {
    const { levels, groups, frames, last, num, den } = this;
    return levels === rates.length && Math.abs(num / den - fps) < 0.01 && Math.abs((groups - 1) * frames + last - count) <= frames &&
      rates.every((rate, l) => this.mean(l) <= EXCESS_MAX * rate);
  }

  bytes(group, level) {
    return size_of(this.body[group * this.row + level]);
  }

  // Returns tenths of a dB, -1 if the table has no quality.
  get_quality(group, level) {
    return this.quality ? this.body[group * this.row + this.levels + level] : -1;
  }

  start(group) {
    const frames = group * this.frames + (group === this.groups ? this.last - this.frames : 0);
    return frames * this.den * 1000 / this.num / this.pace;
  }

  length(group) {
    return this.start(group + 1) - this.start(group);
  }

  mean(level) { // bit/s
    let bytes = 0;
    for (let g = 0; g < this.groups; g++) bytes += this.bytes(g, level);
    return 8000 * bytes / this.start(this.groups);
  }
}

// ---- The path's rate

const SAMPLE_S = 0.1, ROUNDING = 1e-6, CHECK_S = 2;
const HALF_LIVES_S = [2, 6];
const WIDEN_PER_S = 0.01, WIDEN_MAX = 1;
const USUAL_KEPT = 0.93303, OFF_KEPT = 0.96594, RAISED_S = 0.5, LONG_S = 0.5, AGED_S = 2, USUAL_AGED_S = 4;
const FIRST_SPREAD = 0.35, FIRST_KEPT = 0.7, FIRST_WEIGHT = 2, NOW_WEIGHT = 2;
const OFF_MAX = 2, PERSISTENCE_MAX = 0.95, MIN_BPS = 1000, ERRORS = 5;

export class RateForecast {
  constructor() {
    this.gathered = { bytes: 0, seconds: 0 };
    this.checked = { bytes: 0, seconds: 0 };
    this.checked_bps = 0;
    this.means = [0, 0];
    this.weights = [0, 0];
    this.errors = [];
    this.usual_weight = this.usual_sum = this.last_off = this.raised = 0;
    this.off_weight = FIRST_WEIGHT;
    this.off_squares = FIRST_SPREAD * FIRST_SPREAD * FIRST_WEIGHT;
    this.off_products = FIRST_KEPT * this.off_squares;
    this.heard = null; // when the last network-limited sample came
    this.last_bps = Infinity; // of the last sample, if the network limited it
  }

  // network: the path was the limit; else the sender's pace was.
  sample({ bytes, duration, network }, now) {
    const seconds = duration / 1000, bps = 8 * bytes / seconds;
    if (!network) this.#raise(bps, seconds);
    this.last_bps = network ? bps : Infinity;
    if (!network) return;
    this.gathered.bytes += bytes;
    this.gathered.seconds += seconds;
    if (this.gathered.seconds <= SAMPLE_S - ROUNDING) return;
    this.#add(this.gathered, now);
    this.gathered = { bytes: 0, seconds: 0 };
  }

  #raise(bps, seconds) {
    if (seconds < LONG_S) bps = Math.min(bps, this.last_bps);
    if (seconds >= SAMPLE_S) this.raised = Math.max(this.raised, bps);
  }

  #mean() {
    const known = HALF_LIVES_S.map((_, i) => i).filter(i => this.weights[i] > 0);
    return known.length ? Math.max(MIN_BPS, ...[Math.min(...known.map(i => this.means[i] / this.weights[i]))]) : 0;
  }

  #age(seconds) {
    const kept = 2 ** (-seconds / AGED_S), usual_kept = 2 ** (-seconds / USUAL_AGED_S);
    for (const i of [0, 1]) {
      this.means[i] *= kept;
      this.weights[i] *= kept;
    }
    this.usual_sum *= usual_kept;
    this.usual_weight *= usual_kept;
  }

  #add({ bytes, seconds }, now) {
    const bps = 8 * bytes / seconds;
    if (this.heard !== null) this.#age(Math.max((now - this.heard) / 1000 - seconds, 0));
    this.heard = now;
    HALF_LIVES_S.forEach((life, i) => {
      const kept = 2 ** (-seconds / life);
      this.means[i] = this.means[i] * kept + bps * (1 - kept);
      this.weights[i] = this.weights[i] * kept + 1 - kept;
    });
    if (bps < this.raised) this.raised = bps + (this.raised - bps) * 2 ** (-seconds / RAISED_S);
    this.checked.bytes += bytes;
    this.checked.seconds += seconds;
    if (this.checked.seconds > CHECK_S - ROUNDING || this.checked_bps <= 0) this.#check();
  }

  #check() {
    const bps = Math.max(8 * this.checked.bytes / this.checked.seconds, MIN_BPS);
    if (this.checked_bps > 0) {
      this.errors.push(Math.abs(this.checked_bps - bps) / bps);
      if (this.errors.length > ERRORS) this.errors.shift();
      const usual = this.usual_weight > 0 ? this.usual_sum / this.usual_weight : this.checked_bps;
      const off = Math.max(Math.log(bps / usual), -OFF_MAX);
      this.off_squares = this.off_squares * OFF_KEPT + off * off;
      this.off_products = this.off_products * OFF_KEPT + off * this.last_off;
      this.off_weight = this.off_weight * OFF_KEPT + 1;
      this.last_off = off;
      this.usual_sum = this.usual_sum * USUAL_KEPT + bps;
      this.usual_weight = this.usual_weight * USUAL_KEPT + 1;
    }
    this.checked = { bytes: 0, seconds: 0 };
    this.checked_bps = this.#mean();
  }

  // Returns {bps, error, usual, spread, persistence}, null if nothing was measured.
  read(now) {
    const mean = this.#mean();
    if (mean <= 0 && this.raised <= 0) return null;
    const idle = this.heard === null ? 0 : Math.max(now - this.heard, 0) / 1000;
    const bps = Math.max(mean, this.raised);
    return {
      bps, error: (this.errors.length ? Math.max(...this.errors) : FIRST_SPREAD) + Math.min(WIDEN_PER_S * idle, WIDEN_MAX),
      usual: (this.usual_sum + NOW_WEIGHT * bps) / (this.usual_weight + NOW_WEIGHT),
      spread: Math.sqrt(this.off_squares / this.off_weight),
      persistence: Math.max(0, Math.min(this.off_products / this.off_squares, PERSISTENCE_MAX)),
    };
  }
}

// ---- The plan

const STEPS = 8, REGIMES = 8, BINS = 64;

function at_buffer(values, from, bins) {
  const below = Math.min(BINS - 2, Math.max(0, Math.trunc(bins)));
  const share = Math.min(Math.max(bins - below, 0), 1);
  return values[from + below] + share * (values[from + below + 1] - values[from + below]);
}

// input: {length, target (s), usual ([step][level]: seconds at the usual rate), utilities ([step][level]), stall_cost, tail,
// tail_s, rest (s of buffer; more is worth no more), slowdown ([regime]), chances ([regime][regime])}. Solves it at once.
class Plan {
  constructor(input) {
    this.input = input;
    this.levels = input.usual[0].length;
    this.bin = input.target / (BINS - 1);
    this.after = new Float32Array(REGIMES * this.levels * BINS);
    let values = this.after.slice();
    for (let at = 0; at < values.length; at++)
      values[at] = input.tail * (1 - Math.exp(-Math.min((at % BINS) * this.bin, input.rest) / input.tail_s));
    for (let step = input.usual.length - 1; step > 0; step--) {
      this.#expect(step, values);
      values = this.#choose(step);
    }
    this.#expect(0, values);
  }

  #at(regime, level) {
    return (regime * this.levels + level) * BINS;
  }

  // Fills `out`: what a group that takes `seconds` is worth by buffer, the stall and what is after it.
  #download(seconds, next, from, out) {
    const { length, stall_cost } = this.input, { bin } = this;
    const empty = at_buffer(next, from, length / bin);
    let b = 0;
    for (; b < BINS && b * bin < seconds; b++) out[b] = empty - stall_cost * (seconds - b * bin);
    const less = (seconds - length) / bin;
    const share = less - Math.floor(less), shift = Math.max(Math.floor(less), -BINS);
    for (; b < BINS && b - shift < BINS; b++) {
      const above = b - shift;
      const below = next[from + Math.max(above - 1, 0)];
      out[b] = next[from + above] + share * (below - next[from + above]);
    }
    for (; b < BINS; b++) out[b] = next[from + BINS - 1];
  }

  #expect(step, next) {
    const { usual, slowdown, chances } = this.input;
    const worth = new Float32Array(BINS);
    this.after.fill(0);
    for (let l = 0; l < this.levels; l++)
      for (let i = 0; i < REGIMES; i++) {
        this.#download(usual[step][l] * slowdown[i], next, this.#at(i, l), worth);
        for (let j = 0; j < REGIMES; j++) {
          const chance = chances[j][i], to = this.#at(j, l);
          for (let b = 0; b < BINS && chance > 0; b++) this.after[to + b] += chance * worth[b];
        }
      }
  }

  // Utilities ascend: of the levels up to that before, 2 u - (its utility) counts, of those above it its utility.
  #choose(step) {
    const u = this.input.utilities[step];
    const out = new Float32Array(this.after.length).fill(-Infinity);
    const best = new Float32Array(BINS);
    const maximum = (to, at, values, from, more) => {
      for (let b = 0; b < BINS; b++) to[at + b] = Math.max(to[at + b], values[from + b] + more);
    };
    for (let j = 0; j < REGIMES; j++) {
      best.fill(-Infinity);
      for (let l = 0; l < this.levels; l++) {
        maximum(best, 0, this.after, this.#at(j, l), 2 * u[l]);
        maximum(out, this.#at(j, l), best, 0, -u[l]);
      }
      best.fill(-Infinity);
      for (let l = this.levels - 1; l >= 0; l--) {
        maximum(out, this.#at(j, l), best, 0, u[l]);
        maximum(best, 0, this.after, this.#at(j, l), 0);
      }
    }
    return out;
  }

  #value({ regime, before, buffer }, level) {
    const low = Math.max(Math.min(Math.trunc(regime), REGIMES - 2), 0);
    const share = Math.max(Math.min(regime - low, 1), 0);
    const bins = buffer / this.bin;
    const after = (1 - share) * at_buffer(this.after, this.#at(low, level), bins) +
      share * at_buffer(this.after, this.#at(low + 1, level), bins);
    const utility = this.input.utilities[0][level];
    return after + utility - Math.abs(utility - before) - this.input.stall_cost * Math.max(-buffer, 0);
  }

  // now: {regime, before (utility of the group before), buffer (s)}. Returns the best level of the first group.
  best(now) {
    let level = 0, most = -Infinity;
    for (let l = 0; l < this.levels; l++) {
      const value = this.#value(now, l);
      if (value > most) [level, most] = [l, value];
    }
    return level;
  }
}

// ---- The policy

const REGIME_STEP = 0.25, USUAL = REGIMES - 3;
const SPREAD_MIN = 0.1, SPREAD_MAX = 0.8, SIGMAS_MAX = 3;
const TAIL = 0.65, TAIL_S = 10, END_SPARE = 6, STALL_DB = 100, LEAST_STEP = 0.5;
const PACE_FROM = 10000, PACE = 4;
const START_BUFFER = 250, STALL_BUFFER = 2000, STALL_GROUPS = 4, MAX_STALLS = 6;

const regime_log = i => REGIME_STEP * (i - USUAL);

function chances_of({ persistence, spread }) {
  const step = Math.max(Math.min(spread, SPREAD_MAX) * Math.sqrt(1 - persistence * persistence), SPREAD_MIN);
  return Array.from({ length: REGIMES }, (_, j) => {
    const row = Array.from({ length: REGIMES }, (_, i) => {
      const off = (regime_log(i) - persistence * regime_log(j)) / step;
      return Math.abs(off) < SIGMAS_MAX || i === j ? Math.exp(-off * off / 2) : 0;
    });
    const sum = row.reduce((a, b) => a + b);
    return row.map(c => c / sum);
  });
}

// A state is {next (the first group that the sender has not begun), shown (the group at the position), buffered, begun (media
// after the position that has arrived, that was begun), pending (bytes of begun groups that have not arrived), playing}.
export class AutoPolicy {
  // rates: of the levels, bit/s; target: max. media in the buffer.
  constructor(table, rates, target) {
    Object.assign(this, { table, rates, target });
    this.forecast = new RateForecast();
    this.seek();
  }

  seek() {
    this.last = this.before = -1; // levels of the last decision, and of the group before that one
    this.decided = -1; // the group of the last decision
    this.played = this.stalled = false;
    this.stalls = 0; // since the path carried the lowest level
  }

  rate(sample, now) {
    this.forecast.sample(sample, now);
  }

  // A level that looks no better than a lower one by its quality still counts for more.
  #utility(group, level) {
    if (!this.table.quality)
      return this.rates[level] / 1e6;
    let utility = this.table.get_quality(group, 0) / 10;
    for (let l = 1; l <= level; l++)
      utility = Math.max(this.table.get_quality(group, l) / 10, utility + LEAST_STEP);
    return utility;
  }

  #bits(group, level) {
    return 8 * this.table.bytes(group, level);
  }

  #plan(next, rate) {
    const { table } = this, top = table.levels - 1;
    const usual = [], utilities = [];
    for (let g = next; g < Math.min(next + STEPS, table.groups); g++) {
      const times = [], worth = [];
      for (let l = 0; l <= top; l++) {
        times.push(this.#bits(g, l) / rate.usual);
        worth.push(this.#utility(g, l));
      }
      usual.push(times);
      utilities.push(worth);
    }
    const best = utilities[0][top], length = table.length(0) / 1000;
    return new Plan({ length, target: this.target / 1000, usual, utilities, stall_cost: table.quality ? STALL_DB : best,
      tail: TAIL * TAIL_S * best / length, tail_s: TAIL_S, rest: (table.groups - next - usual.length) * length + END_SPARE,
      slowdown: Array.from({ length: REGIMES }, (_, i) => Math.exp(-regime_log(i))), chances: chances_of(rate) });
  }

  #reason(s, rate, buffer, level) {
    const above = Math.min(level + 1, this.table.levels - 1);
    if ((!s.playing && s.shown > 0) || buffer < this.#bits(s.next, level) / rate.bps) return "stall";
    const carried = this.#bits(s.next, above) <= rate.bps * this.table.length(s.next) / 1000;
    return carried && above > level ? "buffer" : "rate";
  }

  // Returns {level, wait (ms before the request), pace (bit/s, 0: none), reason, estimate (bit/s, 0: not known), error}. The
  // decision about a group may be made again.
  decide(s, now) {
    const rate = this.forecast.read(now);
    if (s.next !== this.decided) this.before = this.last;
    this.decided = s.next;
    this.played ||= s.playing;
    this.stalled &&= !s.playing;
    const out = { level: 0, reason: "start", estimate: rate?.bps ?? 0, error: rate?.error ?? 0, pace: 0,
      wait: Math.max(s.begun + this.table.length(s.next) - this.target, 0) };
    if (rate) {
      const plan = this.#plan(s.next, rate);
      const buffer = s.begun / 1000 - 8 * s.pending / rate.bps;
      const before = plan.input.utilities[0][this.before >= 0 && s.next > 0 ? this.before : 0];
      out.level = plan.best({ regime: Math.log(rate.bps / rate.usual) / REGIME_STEP + USUAL, before, buffer });
      out.reason = this.#reason(s, rate, buffer, out.level);
    }
    if (s.begun > PACE_FROM && out.level === this.table.levels - 1)
      out.pace = PACE * this.#bits(s.next, out.level) / (this.table.length(s.next) / 1000);
    this.last = out.level;
    return out;
  }

  // Returns true if the next groups at the lowest level arrive as fast as they are played.
  #carries_lowest(next, bps) {
    let bits = 0, seconds = 0;
    for (let g = next; g < Math.min(next + STALL_GROUPS, this.table.groups); g++) {
      bits += this.#bits(g, 0);
      seconds += this.table.length(g) / 1000;
    }
    return bits <= bps * seconds;
  }

  // Playing has not begun, or has stalled: returns true if it may begin now.
  resumes(s, now) {
    const rate = this.forecast.read(now);
    if (this.played && !this.stalled && this.stalls < MAX_STALLS) this.stalls++;
    this.stalled = this.played;
    if (s.buffered < START_BUFFER) return false;
    if (!rate || !this.played) return true;
    if (this.#carries_lowest(s.next, Math.min(rate.bps / (1 + rate.error), rate.usual))) this.stalls = 0; // surely
    if (this.stalls > 1) return s.buffered >= Math.min(STALL_BUFFER * 2 ** (this.stalls - 1), this.target / 2);
    if (s.buffered >= STALL_BUFFER) return true;
    let bits = 8 * s.pending, end = s.begun / 1000; // of the media that these bits are
    for (let g = s.next; g < s.next + STALL_GROUPS; g++) {
      if (bits / rate.bps > end) return false;
      if (g >= this.table.groups) break;
      bits += this.#bits(g, 0);
      end += this.table.length(g) / 1000;
    }
    return true;
  }
}
