// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { Report, Samples, quantile } from "../../../../../server/web/page/report.js";

test("quantiles and bounded samples", () => {
  assert.equal(quantile([], 0.5), null);
  assert.equal(quantile([1, 2, 3, 4], 0.5), 2);
  assert.equal(quantile([1, 2, 3, 4], 0.95), 4);
  const s = new Samples();
  for (let i = 0; i < 200000; i++) s.add(i);
  s.add(NaN);
  assert.equal(s.count, 200000);
  assert.ok(s.values.length < 65536);
  assert.ok(Math.abs(s.json().p50 - 100000) < 2000);
});

test("freezes, levels and the report's keys", () => {
  const r = new Report("rtsp://h/live", 0);
  r.connected(20);
  let now = 100;
  const show = (gap, level = 1) => r.shown({ level }, now += gap, 50, 30);
  show(0);
  for (let i = 0; i < 29; i++) show(33);
  show(400); // a freeze
  r.paused(true);
  now += 5000;
  r.paused(false);
  show(0, 0);
  show(33, 0);
  r.dropped("late");
  r.lost(2);
  r.end("end-of-media", null, now);
  const json = r.json(now + 1000, { sdp: { levels: [{ rate: 1 }, { rate: 2 }], source: "test" }, clock: { offset: 0, rtt: 0.002 } });
  assert.equal(json.schema, "weir.qoe/1");
  assert.equal(json.ended, "end-of-media");
  assert.deepEqual([json.freezes.count, json.freezes.total], [1, 0.4]);
  assert.deepEqual([json.playback.frames_played, json.playback.frames_late, json.playback.frames_lost], [33, 1, 2]);
  assert.deepEqual([json.latency.display.p50, json.latency.offset_error], [50, 1]);
  assert.equal(json.levels.switch_count, 1);
  assert.equal(json.startup.time_to_first_frame, 0.1);
  for (const key of ["session", "startup", "playback", "rebuffering", "freezes", "causes", "levels", "latency", "network", "audio"])
    assert.ok(key in json, key);
});
