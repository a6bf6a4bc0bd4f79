// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { Depacketiser, Unwrap, pli, rtcp_parse, rtp_parse, ntp_seconds } from "../../../../../server/web/page/rtp.js";

const EXT = { capture: 1, adu: 2, made: 4 };

// A packet as weir-send writes it. adu: {frame, size, tid, key, first, last, level, depends, left, reorder}.
function packet(seq, timestamp, payload, { marker = false, adu = null, capture = null, made = null } = {}) {
  const ext = [];
  if (capture !== null) {
    const v = new DataView(new ArrayBuffer(8));
    v.setUint32(0, Math.floor(capture) + 2208988800);
    v.setUint32(4, (capture % 1) * 2 ** 32);
    ext.push(0x17, ...new Uint8Array(v.buffer));
  }
  if (adu) {
    const more = [...(adu.left === undefined ? [] : [adu.left]), ...(adu.reorder === undefined ? [] : [adu.reorder >> 8 & 255, adu.reorder & 255])];
    const v = new DataView(new ArrayBuffer(12));
    v.setUint32(0, adu.frame);
    v.setUint8(4, (adu.size ?? 0) << 4 | (adu.tid ?? 0));
    v.setUint8(5, (adu.key ? 0x80 : 0) | (adu.first ? 0x40 : 0) | (adu.last ? 0x20 : 0) | (adu.level ?? 0));
    v.setInt16(6, adu.depends ?? 0);
    ext.push(0x2b + more.length, ...new Uint8Array(v.buffer), ...more);
  }
  if (made !== null) ext.push(0x41, made >> 8, made & 255);
  while (ext.length % 4) ext.push(0);
  const head = new DataView(new ArrayBuffer(ext.length ? 16 : 12));
  head.setUint8(0, 0x80 | (ext.length ? 0x10 : 0));
  head.setUint8(1, (marker ? 0x80 : 0) | 96);
  head.setUint16(2, seq);
  head.setUint32(4, timestamp);
  head.setUint32(8, 77);
  if (ext.length) {
    head.setUint16(12, 0xbede);
    head.setUint16(14, ext.length / 4);
  }
  return Uint8Array.of(...new Uint8Array(head.buffer), ...ext, ...payload);
}

function frames(...packets) {
  const d = new Depacketiser();
  const out = packets.map(p => d.push(rtp_parse(p, EXT))).filter(Boolean);
  return { out, lost: d.lost };
}

test("a header with its extensions", () => {
  const p = rtp_parse(packet(7, 90000, [0x65, 1], { marker: true, capture: 1795462601.25,
    adu: { frame: 300, size: 2, tid: 1, first: true, last: true, level: 5, depends: 2 } }), EXT);
  assert.deepEqual([p.type, p.marker, p.seq, p.timestamp, p.ssrc, p.capture], [96, true, 7, 90000, 77, 1795462601.25]);
  assert.deepEqual([p.adu.frame, p.adu.size, p.adu.tid, p.adu.key, p.adu.level, p.adu.depends], [300, 2, 1, false, 5, 2]);
  assert.deepEqual([...p.payload], [0x65, 1]);
  for (const [more, reorder] of [[{}, 0], [{ left: 9 }, 0], [{ reorder: -3 }, -3], [{ left: 9, reorder: 300 }, 300]])
    assert.equal(rtp_parse(packet(7, 90000, [0x65], { adu: { frame: 300, ...more } }), EXT).adu.reorder, reorder);
});

test("whether the sender's machine keeps up", () => {
  for (const [made, slow] of [[null, null], [0x0123, false], [0x8123, true]])
    assert.equal(rtp_parse(packet(7, 90000, [0x65], { adu: { frame: 300 }, made }), EXT).slow, slow);
});

test("bytes that are no packet", () => {
  assert.equal(rtp_parse(new Uint8Array(11), EXT), null);
  assert.equal(rtp_parse(new Uint8Array(40), EXT), null); // version 0
  const good = packet(1, 1, [1], { adu: { frame: 1 } });
  assert.equal(rtp_parse(good.subarray(0, 20), EXT), null); // the extension is cut off
  const padded = packet(1, 1, [0x65, 1, 200]);
  padded[0] |= 0x20;
  assert.equal(rtp_parse(padded, EXT), null); // more padding than packet
});

test("single units, aggregates and fragments (RFC 6184)", () => {
  const key = { frame: 1, key: true };
  const { out, lost } = frames(
    packet(1, 0, [24, 0, 2, 0x67, 1, 0, 1, 0x68], { adu: { ...key, first: true } }),
    packet(2, 0, [0x7c, 0x85, 10, 11], { adu: key }),
    packet(3, 0, [0x7c, 0x05, 12], { adu: key }),
    packet(4, 0, [0x7c, 0x45, 13], { marker: true, adu: { ...key, last: true } }),
    packet(5, 3000, [0x41, 9], { marker: true, adu: { frame: 2, first: true, last: true, depends: 1 } }));
  assert.equal(lost, 0);
  assert.deepEqual([...out[0].data], [0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 0, 0, 0, 1, 0x65, 10, 11, 12, 13]);
  assert.deepEqual([out[0].key, out[0].number, out[0].depends], [true, 1, null]);
  assert.deepEqual([...out[1].data], [0, 0, 0, 1, 0x41, 9]);
  assert.deepEqual([out[1].key, out[1].number, out[1].depends], [false, 2, 1]);
});

test("incomplete and malformed pictures are left out", () => {
  const one = { frame: 1, first: true, last: true };
  for (const payload of [[], [0], [24, 0, 9, 1], [24, 0, 0], [0x7c], [0x7c, 0x05, 1], [0xe5, 1], [30, 1], [0x7c, 0x85, 1]])
    assert.deepEqual([frames(packet(1, 0, payload, { adu: one })).out.length], [0], payload.join());
  const gap = frames(packet(1, 0, [0x61, 1], { adu: { frame: 1, first: true } }),
    packet(3, 0, [0x61, 2], { adu: { frame: 1, last: true } }),
    packet(4, 0, [0x61, 2], { adu: { frame: 2, first: true, last: true } }));
  assert.deepEqual([gap.out.map(f => f.number), gap.lost], [[2], 1]);
  const middle = frames(packet(9, 0, [0x61, 2], { adu: { frame: 1, last: true } }));
  assert.equal(middle.out.length, 0);
});

test("a server that is not Weir: the marker ends a picture", () => {
  const { out } = frames(packet(1, 0, [0x67, 1]), packet(2, 0, [0x65, 1], { marker: true }), packet(3, 3000, [0x41, 1], { marker: true }));
  assert.deepEqual(out.map(f => [f.key, f.number, f.depends]), [[true, 0, null], [false, 1, 0]]);
});

test("time stamps wrap", () => {
  const u = new Unwrap();
  assert.deepEqual([0xfffffff0, 0x10, 0xfffffff8, 0x20].map(t => u.add(t) - 0xfffffff0), [0, 32, 8, 48]);
});

test("RTCP", () => {
  const v = new DataView(new ArrayBuffer(28 + 8));
  v.setUint32(0, 0x80c80006);
  v.setUint32(4, 5);
  v.setUint32(8, 2208988800 + 10);
  v.setUint32(12, 2 ** 31);
  v.setUint32(16, 4500);
  v.setUint32(28, 0x81cb0001);
  const all = new Uint8Array(v.buffer);
  assert.deepEqual(rtcp_parse(all), [{ kind: "report", ssrc: 5, ntp: 10.5, timestamp: 4500 }, { kind: "bye" }]);
  assert.deepEqual(rtcp_parse(all.subarray(0, 27)), []);
  assert.deepEqual(rtcp_parse(Uint8Array.of(1, 2, 3, 4)), []);
  assert.equal(ntp_seconds(v, 8), 10.5);
  assert.deepEqual([...pli(1, 0x01020304)], [0x24, 1, 0, 12, 0x81, 206, 0, 2, 0, 0, 0, 1, 1, 2, 3, 4]);
});
