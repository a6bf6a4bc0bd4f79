// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { ArrivalJitter, ClockSync, FilmPlayout, LivePlayout, References } from "../../../../../server/web/page/playout.js";

const FRAME = 1000 / 30;

// Frames of 30 a second that arrive `delay(i)` ms after 100 ms; returns the playout.
function viewing(count, delay, playout = new LivePlayout()) {
  for (let i = 0; i < count; i++) playout.arrived(i * FRAME, 100 + i * FRAME + delay(i));
  return playout;
}

test("without jitter a picture is due when it comes", () => {
  const p = viewing(300, () => 0);
  assert.ok(Math.abs(p.wait) < 1e-6);
  assert.ok(Math.abs(p.due(300 * FRAME) - (100 + 300 * FRAME)) < 1e-6);
});

test("the decoder's time is waited for", () => {
  const p = new LivePlayout();
  for (let i = 0; i < 50; i++) p.decoded(4);
  viewing(60, () => 0, p);
  assert.ok(Math.abs(p.wait - 4) < 0.01);
});

test("the wait is raised at once, and lowered within seconds", () => {
  const p = viewing(300, () => 0);
  let at = 300;
  const go = (count, delay) => {
    for (let i = 0; i < count; i++, at++) p.arrived(at * FRAME, 100 + at * FRAME + delay(i));
  };
  go(60, i => (i % 3 ? 0 : 80));
  assert.ok(p.wait > 65 && p.wait <= 70.1, `raised to ${p.wait}`);
  go(60, () => 0); // 2 s, which the window of 4 s remembers
  assert.ok(p.wait > 60, `after 2 s: ${p.wait}`);
  go(210, () => 0); // 7 s
  assert.ok(p.wait < 1, `lowered to ${p.wait}`);
});

test("late by less than 10 ms is no jitter, and one late picture of many neither", () => {
  assert.ok(viewing(200, i => (i % 2 ? 9 : 0)).wait < 1e-6);
  assert.ok(viewing(200, i => (i === 100 ? 300 : 0)).wait < 1e-6);
});

test("the clocks may drift apart", () => {
  const p = viewing(3000, i => i * FRAME * 200e-6);
  assert.ok(p.wait < 1e-6);
  assert.ok(Math.abs(p.due(3000 * FRAME) - (100 + 3000 * FRAME * (1 + 200e-6))) < 2);
});

test("a start that gets faster is no jitter", () => {
  assert.ok(viewing(30, i => Math.max(0, 120 - 10 * i)).wait < 1e-6);
});

test("audio that comes later than the pictures is waited for", () => {
  const p = new LivePlayout();
  for (let i = 0; i < 150; i++) {
    p.audio_arrived(i * FRAME, 100 + i * FRAME + 40);
    p.arrived(i * FRAME, 100 + i * FRAME);
  }
  assert.ok(Math.abs(p.wait - 40) < 1e-6);
});

test("nothing is forgotten during a silence", () => {
  const j = new ArrivalJitter();
  for (let i = 0; i < 100; i++) j.add(i % 2 ? 50 : 0, i * FRAME);
  const before = j.read();
  j.add(60, 30000);
  assert.equal(j.base(), 0);
  assert.ok(j.read() >= before);
});

test("a film begins with 250 ms and stands when it ran dry", () => {
  const p = new FilmPlayout();
  p.arrived(0, 1000);
  assert.equal(p.due(0), Infinity);
  p.arrived(250, 1010);
  assert.deepEqual([p.due(0), p.due(250)], [1010, 1260]);
  p.dry(250);
  assert.equal(p.due(290), Infinity);
  p.arrived(900, 2000);
  assert.equal(p.due(290), Infinity);
  p.arrived(1250, 2100);
  assert.equal(p.due(290), 2140);
  p.restart();
  p.arrived(5, 3000, true); // the film's only picture
  assert.equal(p.due(5), 3000);
});

test("a change of pace keeps what is played", () => {
  const p = new FilmPlayout();
  p.set_pace(2, 900); // before it plays
  p.arrived(0, 1000);
  p.arrived(250, 1010);
  assert.deepEqual([p.due(0), p.due(250)], [1010, 1135]);
  p.set_pace(0.5, 1110); // 200 ms were played
  assert.deepEqual([p.due(200), p.due(250)], [1110, 1210]);
  assert.equal(p.line() + 250 / 0.5, p.due(250));
  p.set_pace(1, 1210);
  assert.deepEqual([p.due(250), p.due(300)], [1210, 1260]);
});

test("a prepared film that ran dry goes on when its policy says so", () => {
  const p = new FilmPlayout();
  p.resume_with(250, 900); // nothing has come yet
  p.arrived(0, 1000);
  p.arrived(250, 1010);
  p.dry(250);
  p.resume_with(2000, 1500);
  p.arrived(1400, 2000);
  assert.equal(p.due(250), Infinity);
  p.resume_with(250, 2100);
  assert.equal(p.due(250), 2100);
  p.resume_with(2000, 2200); // it plays
  assert.equal(p.due(250), 2100);
});

test("what depends on a missing picture is not decoded", () => {
  const r = new References();
  const p = (number, depends, tid = 0, key = false) => ({ number, depends, tid, key });
  const judge = (picture, behind = 0) => r.judge(picture, behind, 1);
  assert.equal(judge(p(9, 8)), "key"); // a stream begins with a key frame
  assert.equal(judge(p(10, null, 0, true)), "decode");
  assert.equal(judge(p(11, 10, 1)), "decode");
  assert.equal(judge(p(12, 10)), "decode");
  assert.equal(judge(p(13, 12, 1), 5), "drop"); // the decoder is behind: the upper layer goes first
  assert.equal(judge(p(14, 12), 5), "decode");
  assert.equal(judge(p(17, 16, 1)), "drop"); // 16 never came
  assert.equal(judge(p(18, 16)), "key");
  assert.equal(judge(p(20, null, 0, true)), "decode");
  assert.equal(judge(p(21, 14)), "key"); // of before the key frame
});

test("the clock of the sample with the shortest round trip", () => {
  const c = new ClockSync();
  c.sample(10, 110.05, 10.1);
  assert.ok(Math.abs(c.offset - 100) < 1e-9);
  c.sample(11, 111.3, 11.4); // a long round trip
  assert.ok(Math.abs(c.offset - 100) < 1e-9);
  c.sample(12, 112.011, 12.02);
  assert.ok(Math.abs(c.offset - 100.001) < 1e-9);
  c.sample(13, 100, 12.9); // the clock was set back
  assert.ok(Math.abs(c.offset - 100.001) < 1e-9);
});
