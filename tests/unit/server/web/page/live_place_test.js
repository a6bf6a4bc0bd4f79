// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { source_away, LivePlace, live_range } from "../../../../../server/web/page/live_place.js";

test("the distance is that of the answer to PLAY, and grows in a pause", () => {
  const p = new LivePlace(30);
  p.placed("behind=12.345;back=60", 1000);
  assert.deepEqual([p.at(1000), p.at(9000), p.kept], [12.345, 12.345, 60]);
  p.pause(2000);
  p.pause(5000);
  assert.equal(p.at(6000), 16.345);
  p.placed(undefined, 7000);
  assert.deepEqual([p.at(9000), p.kept], [0, 0]);
});

test("steps end at the oldest that is kept, and in the present", () => {
  const p = new LivePlace(30);
  p.placed("behind=0;back=60", 0);
  assert.deepEqual([p.step(0, -10), p.step(55, -10), p.step(10.4, 10), p.step(30, 10), p.step(0, 5)], [10, 60, 0, 20, 0]);
  p.placed(undefined, 0);
  assert.equal(p.step(0, -10), null);
  assert.deepEqual([live_range(0), live_range(0.9), live_range(12.5)], ["npt=now-", "npt=now-", "npt=-12.500-"]);
});

test("silence is told while media is due, and why", () => {
  const p = new LivePlace(30);
  assert.equal(p.away(0, null, 60000), null); // before PLAY
  p.placed(undefined, 1000);
  assert.equal(p.away(0, null, 2400), null);
  assert.deepEqual(p.away(0, null, 3000), { why: "network", seconds: 2 });
  p.answer(2900);
  assert.deepEqual(p.away(0, null, 3000), { why: "source", seconds: 2 });
  assert.deepEqual(p.away(7, null, 3000), { why: "origin", seconds: 7 });
  const source = { seconds: 60, reason: "it answers 401" };
  assert.deepEqual(p.away(0, source, 3000), { why: "source", ...source });
  assert.equal(p.away(7, source, 3000).why, "origin");
  p.media(3000);
  assert.equal(p.away(7, null, 3100), null);
  assert.equal(p.away(0, source, 3100), null, "pictures come again");
  p.pause(3200);
  assert.equal(p.away(0, null, 60000), null);
  const slow = new LivePlace(0.5); // a picture in two seconds
  slow.placed(undefined, 0);
  assert.deepEqual([slow.away(0, null, 5900), slow.away(0, null, 6100).why], [null, "network"]);
});

test("what the server says of its source", () => {
  assert.deepEqual(source_away("12.345 no whole picture came for 5 s"), { seconds: 12.345, reason: "no whole picture came for 5 s" });
  assert.deepEqual(source_away("3"), { seconds: 3, reason: "" });
  for (const text of [undefined, "", "x 1", "-1 a"]) assert.equal(source_away(text), null);
});
