// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";

// A browser as far as element.js needs one: what it was told is in `said`.
const said = [];
class Buffer {
  appendBuffer(data) {
    said.push(`append ${data[0]}`);
    this.updating = true;
  }
  remove(from, to) {
    said.push(`remove ${from} ${to}`);
    this.updating = true;
  }
  done() {
    this.updating = false;
    this.onupdateend();
  }
}
let source = null;
globalThis.MediaSource = class {
  static isTypeSupported = codec => codec !== "none";
  constructor() {
    source = this;
    this.readyState = "open";
  }
  addSourceBuffer() {
    return this.buffer = new Buffer();
  }
};
URL.createObjectURL = () => "blob:x";
URL.revokeObjectURL = () => {};
globalThis.document = { createElement: () => ({ currentTime: 0, paused: true, readyState: 0, playbackRate: 1, requestVideoFrameCallback() {},
  play() { this.paused = false; return Promise.resolve(); }, pause() { this.paused = true; } }) };
const { Element, rate_for } = await import("../../../../../server/web/page/element.js");

function begin(t) {
  said.length = 0;
  const told = [], failed = [];
  const e = new Element(m => told.push(m.type), codec => failed.push(codec));
  t.after(() => e.close());
  e.track({ codec: "some", init: [0], fresh: true, begin: 1 });
  return { e, told, failed };
}

test("the rate follows the error, within bounds and with a band", () => {
  assert.deepEqual([0, 0.02, -0.02, 0.1, 3, -0.1, -3].map(rate_for), [1, 1, 1, 1.1, 2, 0.9, 0.5]);
});

test("fragments are appended one after the other, and forgotten before a key frame", t => {
  const { e } = begin(t);
  e.fragment({ data: [1], key: true, time: 1, at: NaN });
  source.onsourceopen();
  e.fragment({ data: [2], key: true, time: 20, at: NaN });
  assert.deepEqual(said, ["append 0"]);
  source.buffer.done();
  source.buffer.done();
  assert.deepEqual(said, ["append 0", "append 1", "append 2"]);
  source.buffer.done();
  e.video.currentTime = 21;
  e.fragment({ data: [3], key: false, time: 21, at: NaN });
  source.buffer.done();
  e.video.currentTime = 23;
  e.fragment({ data: [4], key: false, time: 22, at: NaN });
  assert.deepEqual(said.slice(3), ["append 3", "remove 0 20"]);
  source.buffer.done();
  assert.equal(said.at(-1), "append 4");
});

test("it plays when the time is known, and begins anew when it is far behind", t => {
  const { e, told } = begin(t);
  source.onsourceopen();
  assert.equal(e.video.paused, true);
  e.video.readyState = 4;
  e.video.currentTime = 1;
  const now = performance.timeOrigin + performance.now();
  e.clock(now - 1500);
  assert.equal(e.video.paused, false);
  assert.ok(Math.abs(e.video.playbackRate - 1.5) < 0.2);
  e.set_paused(true);
  assert.equal(e.video.paused, true);
  e.set_paused(false);
  e.clock(NaN);
  assert.equal(e.video.paused, true);
  e.clock(now - 60000);
  assert.deepEqual(told, ["renew"]);
  e.fragment({ data: [1], key: true, time: 1, at: 0 }); // of the source before
  assert.deepEqual(said, ["append 0"]);
});

test("a queue has a bound, and errors that repeat are a failure", t => {
  const { e, told, failed } = begin(t);
  for (let i = 0; i < 4; i++) {
    e.fragment({ data: { length: 33 << 20 }, key: true, time: 1, at: 0 });
    if (i < 3) e.track({ codec: "some", init: [0], fresh: true, begin: 1 });
  }
  assert.deepEqual([told, failed.length], [["renew", "renew", "renew"], 1]);
  e.track({ codec: "none", init: [0], fresh: true, begin: 1 });
  assert.equal(failed.at(-1), "none");
});
