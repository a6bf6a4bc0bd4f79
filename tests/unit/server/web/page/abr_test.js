// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { AutoPolicy, FilmTable } from "../../../../../server/web/page/abr.js";

const near = (got, want, part, what) => assert.ok(Math.abs(got - want) <= part * Math.abs(want) + 1e-9, `${what}: ${got}, not ${want}`);

// auto_vectors_test.cpp says what the lines are.
test("the policy decides as weir-play's", () => {
  const text = readFileSync(new URL("../../../stream/abr/auto_vectors.txt", import.meta.url), "utf8");
  let policy = null, decisions = 0, resumed = 0;
  for (const line of text.split("\n").filter(l => l && l[0] !== "#")) {
    const words = line.split(" ");
    if (words[0] === "film") {
      const table = FilmTable.decode(Uint8Array.from(atob(words[2]), c => c.charCodeAt(0)));
      policy = new AutoPolicy(table, words.slice(3).map(Number), Number(words[1]) / 1000);
      continue;
    }
    const now = Number(words[1]) / 1000;
    if (words[0] === "s") {
      policy.rate({ bytes: Number(words[2]), duration: Number(words[3]) / 1000, network: words[4] === "n" }, now);
      continue;
    }
    if (words[0] === "k") {
      policy.seek();
      continue;
    }
    const [next, shown, buffered, begun, pending, last] = words.slice(2, 8).map(Number);
    const state = { next, shown, buffered: buffered / 1000, begun: begun / 1000, pending, playing: words[0] === "d" && last === 1 };
    if (words[0] === "r") {
      assert.equal(policy.resumes(state, now), last === 1, line);
      resumed += last;
      continue;
    }
    assert.equal(words[0], "d");
    const got = policy.decide(state, now);
    assert.deepEqual([got.level, got.reason], [Number(words[8]), words[9]], line);
    assert.ok(Math.abs(got.wait * 1000 - Number(words[10])) < 2, line);
    near(got.pace, Number(words[11]), 1e-6, line);
    near(got.estimate, Number(words[12]), 1e-6, line);
    near(got.error, Number(words[13]), 1e-6, line);
    decisions++;
  }
  assert.ok(decisions >= 120 && resumed >= 6);
});

// As film_table.h has it.
function encoded({ levels = 2, groups = 3, frames = 60, last = 45, num = 30, den = 1, quality = true } = {}) {
  const row = levels * (quality ? 2 : 1), out = new Uint8Array(24 + groups * row), view = new DataView(out.buffer);
  out.set([0x57, 0x46, 0x54, 1, levels, quality ? 1 : 0]);
  view.setUint32(8, groups);
  view.setUint16(12, frames);
  view.setUint16(14, last);
  view.setUint32(16, num);
  view.setUint32(20, den);
  for (let g = 0; g < groups; g++) out.set([100 + g, 120, ...(quality ? [150, 200] : [])].slice(0, row), 24 + g * row);
  return out;
}

test("a table is read, and malformed ones are not", () => {
  const t = FilmTable.decode(encoded());
  assert.equal(t.bytes(1, 0), 1272 * 64); // code 101
  assert.equal(t.get_quality(2, 1), 200);
  assert.deepEqual([t.start(1), t.start(3), t.length(2)], [2000, 5500, 1500]);
  assert.equal(FilmTable.decode(encoded({ quality: false })).get_quality(0, 0), -1);
  const bad = { levels: [0, 33], groups: [0, 21601], frames: [0, 601], last: [0, 61], num: [0, 2000001], den: [0, 2000001] };
  for (const [name, values] of Object.entries(bad))
    for (const value of values)
      if (name !== "groups" || value < 21601) assert.equal(FilmTable.decode(encoded({ [name]: value })), null, `${name} ${value}`);
  const good = encoded();
  for (const [at, value] of [[0, 0x58], [3, 2], [5, 3], [6, 1]]) {
    const other = good.slice();
    other[at] = value;
    assert.equal(FilmTable.decode(other), null, `byte ${at}`);
  }
  assert.equal(FilmTable.decode(good.subarray(0, good.length - 1)), null);
  assert.equal(FilmTable.decode(good.subarray(0, 10)), null);
});

test("a table of another film, or one that lies, is told from the film's", () => {
  const t = FilmTable.decode(encoded()), rates = [300000, 800000];
  const mean = t.mean(0);
  near(mean, 8 * (t.bytes(0, 0) + t.bytes(1, 0) + t.bytes(2, 0)) / 5.5, 1e-9, "mean");
  assert.ok(t.is_of(rates, 30, 165));
  assert.ok(t.is_of(rates, 30, 170)); // the length is known in seconds
  assert.ok(!t.is_of(rates, 25, 165));
  assert.ok(!t.is_of(rates, 30, 300));
  assert.ok(!t.is_of([...rates, 900000], 30, 165));
  assert.ok(!t.is_of([mean / 4.1, 800000], 30, 165));
});

test("a film of which only rates are known has groups of these rates", () => {
  const t = FilmTable.of_rates({ levels: 2, groups: 3, frames: 60, last: 30, num: 30000, den: 1000 }, [200000, 1000000]);
  for (let g = 0; g < 3; g++) {
    near(8000 * t.bytes(g, 0) / t.length(g), 200000, 0.023, "level 0");
    near(8000 * t.bytes(g, 1) / t.length(g), 1000000, 0.023, "level 1");
  }
  assert.equal(t.get_quality(0, 0), -1);
});
