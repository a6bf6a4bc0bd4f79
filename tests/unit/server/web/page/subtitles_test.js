// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { Subtitles, cue_of, head_of } from "../../../../../server/web/page/subtitles.js";

const HEAD = ["[Script Info]", "PlayResX: 640", "PlayResY: 480", "[V4+ Styles]",
  "Format: Name, Fontname, Fontsize, PrimaryColour, Bold, Italic, Underline, Alignment",
  "Style: Default,Arial,24,&H00ffffff,0,0,0,2", "Style: Sign,Arial,48,&H000000ff,-1,0,0,8"];
const plain = parts => parts.map(p => p.text).join("");

test("an event has its style, and what tags change of it", () => {
  const head = head_of(HEAD);
  const cue = cue_of("500 1500 0,Default,,0,0,0,,a, {\\i1}b{\\i0}\\Nc{\\c&H00ff00&\\b1}d\\he", head);
  assert.deepEqual([cue.begin, cue.end, cue.align, cue.place], [0.5, 1.5, 2, null]);
  assert.equal(plain(cue.parts), "a, b\ncd\u00a0e");
  assert.deepEqual(cue.parts.map(p => [p.italic, p.bold, p.colour]),
    [[false, false, "#ffffff"], [true, false, "#ffffff"], [false, false, "#ffffff"], [false, true, "#00ff00"]]);
  assert.equal(cue.parts[0].size, 0.05);
  const sign = cue_of("0 1 0,Sign,,0,0,0,,{\\pos(320,120)}x", head);
  assert.deepEqual([sign.align, sign.place, sign.parts[0].colour, sign.parts[0].bold, sign.parts[0].size],
    [8, { x: 0.5, y: 0.25 }, "#ff0000", true, 0.1]);
  assert.equal(cue_of("0 1 0,Default,,0,0,0,,{\\an5}x", head).align, 5);
  assert.equal(plain(cue_of("0 1 0,None,,0,0,0,,{x", head).parts), "{x");
});

test("what shows nothing, or is malformed, is no cue", () => {
  const head = head_of([]);
  for (const value of ["", "0 1", "0 1 0,Default", "5 5 0,Default,,0,0,0,,x", "x 1 0,D,,0,0,0,,x", "0 1 0,D,,0,0,0,,{\\p1}m 0 0 l 5 5{\\p0}",
    "0 1 0,D,,0,0,0,, "]) assert.equal(cue_of(value, head), null, value);
  assert.equal(cue_of("0 1 0,D,,0,0,0,,{\\fs9999}x", head).parts[0].size, 0.14);
});

test("requests: each second, at once after a jump, the head once", () => {
  const s = new Subtitles();
  assert.equal(s.request(1, 0), null);
  s.choose(2);
  assert.equal(s.request(NaN, 0), null);
  assert.equal(s.request(1.5, 0), "subtitles: 2/1500/head\r\n");
  assert.equal(s.request(1.9, 400), null);
  s.received("ass-head: PlayResY: 288\r\nass: 1000 3000 0,Default,,0,0,0,,hello\r\nass: 2000 4000 0,Default,,0,0,0,,there\r\n", 2);
  assert.equal(s.request(2.5, 1000), "subtitles: 2/2500\r\n");
  assert.equal(s.request(60, 1100), "subtitles: 2/60000\r\n");
  assert.equal(s.request(0.5, 1200), "subtitles: 2/500\r\n");
  assert.deepEqual(s.shown(1.5).map(c => plain(c.parts)), ["hello"]);
  assert.equal(s.shown(1.6), null);
  assert.deepEqual(s.shown(2.5).map(c => plain(c.parts)), ["hello", "there"]);
  assert.deepEqual(s.shown(4), []);
  s.choose(1);
  s.received("ass: 0 9000 0,Default,,0,0,0,,other\r\n", 2); // of the track before
  assert.deepEqual(s.cues, []);
});
