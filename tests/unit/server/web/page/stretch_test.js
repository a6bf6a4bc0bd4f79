// SPDX-License-Identifier: GPL-2.0-or-later
import assert from "node:assert/strict";
import test from "node:test";

import { HOP, SEARCH, Stretch } from "../../../../../server/web/page/stretch.js";

const RATE = 48000, SECONDS = 1;

function sine(frequency, samples = RATE * SECONDS) {
  return Float32Array.from({ length: samples }, (_, i) => Math.sin(2 * Math.PI * frequency * i / RATE));
}

// In packets of 20 ms, as Opus has them.
function stretched(pace, channels) {
  const stretch = new Stretch(pace), out = channels.map(() => []);
  for (let at = 0; at < channels[0].length; at += 960)
    stretch.push(channels.map(c => c.subarray(at, at + 960))).forEach((samples, c) => out[c].push(...samples));
  return out;
}

function crossings(samples) {
  let count = 0;
  for (let i = 1; i < samples.length; i++) count += samples[i - 1] < 0 && samples[i] >= 0;
  return count;
}

test("the pitch stays, the length changes, and nothing clicks", () => {
  for (const pace of [0.5, 0.75, 1.25, 1.5, 2])
    for (const frequency of [70, 110, 440, 1000, 3000]) {
      const [out] = stretched(pace, [sine(frequency)]), what = `${frequency} Hz at ${pace}`;
      const wanted = RATE * SECONDS / pace;
      assert.ok(Math.abs(out.length - wanted) <= (2 * HOP + SEARCH) / Math.min(pace, 1) + HOP, `${what}: ${out.length} samples`);
      const measured = crossings(out) * RATE / out.length;
      assert.ok(Math.abs(measured - frequency) < 0.02 * frequency + 1, `${what}: ${measured}`);
      const steepest = 2 * Math.PI * frequency / RATE;
      for (let i = 1; i < out.length; i++) assert.ok(Math.abs(out[i] - out[i - 1]) < 1.5 * steepest + 0.01, `${what}: a click at ${i}`);
      assert.ok(out.every(v => Math.abs(v) <= 1.0001), what);
    }
});

test("at a pace of 1 it is the input", () => {
  const input = sine(440), [out] = stretched(1, [input]);
  assert.ok(out.length > input.length - 2 * HOP - SEARCH);
  assert.ok(out.every((v, i) => Math.abs(v - input[i]) < 1e-6));
});

test("a sound stays at its time", () => {
  for (const pace of [0.5, 1.5, 2]) {
    const input = new Float32Array(RATE * SECONDS);
    for (let i = 0; i < 4800; i++) input[RATE / 2 + i] = Math.sin(i / 8) * Math.sin(Math.PI * i / 4800);
    const [out] = stretched(pace, [input]);
    const centre = samples => {
      let sum = 0, weight = 0;
      samples.forEach((v, i) => { sum += i * v * v; weight += v * v; });
      return sum / weight;
    };
    assert.ok(Math.abs(centre(out) - centre(input) / pace) < 2 * SEARCH + HOP, `${pace}: ${centre(out)}`);
  }
});

test("channels stay together; silence is silence", () => {
  const left = sine(300), right = left.map(v => -v / 2), out = stretched(1.5, [left, right]);
  assert.equal(out[0].length, out[1].length);
  assert.ok(out[0].every((v, i) => Math.abs(out[1][i] + v / 2) < 1e-6));
  assert.ok(stretched(2, [new Float32Array(RATE)])[0].every(v => v === 0));
});
