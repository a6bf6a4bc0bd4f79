// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { ALL_PIXELS, KEY_EVERY, decodes, plan, retry_after } from "../../../../../server/web/page/wall_plan.js";

const small = { width: 256, height: 144, fps: 6.25, seen: true }, large = { width: 1920, height: 1080, fps: 25, seen: true };
const modes = tiles => [...plan(tiles.map((t, id) => ({ id, ...t }))).values()];

test("the cheapest tiles in view get all pictures, the others key frames", () => {
  assert.deepEqual(modes(Array(16).fill(small)), Array(16).fill("all"));
  assert.deepEqual(modes([large, small, { ...small, seen: false }]), ["keys", "all", "none"]);
  const half = { width: 640, height: 360, fps: 25, seen: true }, fit = Math.floor(ALL_PIXELS / (640 * 360 * 25));
  assert.deepEqual(modes(Array(fit + 2).fill(half)), [...Array(fit).fill("all"), "keys", "keys"]);
  assert.deepEqual(modes([{ width: 0, height: 0, fps: 0, seen: true }]), ["keys"], "of a size that is not known");
  assert.deepEqual(modes([]), []);
});

test("a picture is decoded if it can be, and key frames not too often", () => {
  assert.equal(decodes("all", { key: false, follows: true }, 0, 1), true);
  assert.equal(decodes("all", { key: false, follows: false }, 0, 1), false);
  assert.equal(decodes("all", { key: true, follows: false }, 0, 1), true);
  assert.equal(decodes("keys", { key: false, follows: true }, 0, 10000), false);
  assert.equal(decodes("keys", { key: true }, 0, KEY_EVERY - 1), false);
  assert.equal(decodes("keys", { key: true }, 0, KEY_EVERY), true);
  assert.equal(decodes("none", { key: true }, -Infinity, 0), false);
});

test("a tile connects again ever later", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 20].map(retry_after), [2000, 4000, 8000, 16000, 30000, 30000]);
});
