// SPDX-License-Identifier: GPL-2.0-or-later
// RTP (RFC 3550) with Weir's header extensions (common/wire/rtp.h), H.264 in it (RFC 6184), and RTCP as far as a
// viewer over TCP needs it. Pure.

const NTP_UNIX = 2208988800; // seconds from 1900 to 1970
export const FRAME_MAX = 8 << 20; // bytes of a coded picture

// Returns seconds since 1970 of an NTP time stamp (UQ32.32).
export function ntp_seconds(view, at) {
  return view.getUint32(at) - NTP_UNIX + view.getUint32(at + 4) / 2 ** 32;
}

function read_adu(view, at, len) {
  if (len < 12 || len > 15) return null;
  const flags = view.getUint8(at + 5);
  return {
    frame: view.getUint32(at), size: view.getUint8(at + 4) >> 4 & 7, tid: view.getUint8(at + 4) & 15,
    on_lower: !!(view.getUint8(at + 4) & 0x80), key: !!(flags & 0x80), first: !!(flags & 0x40), last: !!(flags & 0x20),
    level: flags & 0x1f, depends: view.getInt16(at + 6), written: view.getUint32(at + 8),
    reorder: len >= 14 ? view.getInt16(at + len - 2) : 0, // place in the order of sending, minus the frame's number
  };
}

// RFC 8285, 4.2.
function read_extensions(view, at, end, ext, out) {
  while (at < end) {
    const head = view.getUint8(at++);
    if (!head) continue;
    const id = head >> 4, len = (head & 15) + 1;
    if (id === 15 || at + len > end) return;
    if (id === ext.adu) out.adu = read_adu(view, at, len);
    else if (id === ext.capture && len >= 8) out.capture = ntp_seconds(view, at);
    else if (id === ext.made && len === 2) out.slow = !!(view.getUint8(at) & 0x80);
    at += len;
  }
}

// Returns {type, marker, seq, timestamp, ssrc, adu, capture, slow, payload}, or null if the bytes are no RTP packet. `ext`: the
// ids of the extensions, from the SDP. capture: seconds since 1970 by the sender's clock, NaN if absent. slow: true if
// the sender's machine does not keep up with encoding, null if absent.
export function rtp_parse(data, ext) {
  if (data.length < 12 || data[0] >> 6 !== 2) return null;
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const out = { type: data[1] & 127, marker: !!(data[1] & 128), seq: view.getUint16(2), timestamp: view.getUint32(4),
    ssrc: view.getUint32(8), adu: null, capture: NaN, slow: null, payload: null };
  let at = 12 + 4 * (data[0] & 15), end = data.length;
  if (data[0] & 0x10) {
    if (at + 4 > end) return null;
    const profile = view.getUint16(at), len = 4 * view.getUint16(at + 2);
    at += 4;
    if (at + len > end) return null;
    if (profile === 0xbede) read_extensions(view, at, at + len, ext, out);
    at += len;
  }
  if (data[0] & 0x20) end -= data[end - 1];
  if (at > end) return null;
  out.payload = data.subarray(at, end);
  return out;
}

// Extends 32-bit time stamps: each is the nearest to the one before.
export class Unwrap {
  constructor() {
    this.last = null;
  }
  add(stamp) {
    if (this.last === null) this.last = stamp;
    else this.last += (stamp - (this.last % 2 ** 32) + 3 * 2 ** 31) % 2 ** 32 - 2 ** 31;
    return this.last;
  }
}

// Makes whole pictures of packets that come in order, as over TCP. A picture is {data: Annex B, key, number, depends, tid,
// size, level, timestamp, capture}; of a server that is not Weir, number counts up and depends is its predecessor.
export class Depacketiser {
  constructor() {
    this.lost = 0; // pictures that stayed incomplete
    this.count = 0;
    this.reset();
  }

  reset() {
    this.parts = [];
    this.bytes = 0;
    this.head = null; // the first packet of the picture
    this.key = this.broken = this.in_fragments = false;
    this.seq = -1;
  }

  #put(bytes) {
    this.parts.push(bytes);
    this.bytes += bytes.length;
    if (this.bytes > FRAME_MAX) this.broken = true;
  }

  #unit(header, bytes) {
    const type = header & 31;
    if (header & 0x80 || type < 1 || type > 23) this.broken = true;
    if (type === 5 || type === 7) this.key = true;
    this.#put(START);
    if (bytes) this.#put(bytes);
  }

  #unpack(p) {
    const type = p.length ? p[0] & 31 : 0;
    if (type === 28) { // FU-A, 5.8
      if (p.length < 2) return void (this.broken = true);
      const start = !!(p[1] & 0x80);
      if (start === this.in_fragments) this.broken = true;
      if (start) {
        const header = p[0] & 0xe0 | p[1] & 31;
        this.#unit(header, Uint8Array.of(header));
      }
      this.#put(p.subarray(2));
      this.in_fragments = !(p[1] & 0x40);
      return;
    }
    if (this.in_fragments) this.broken = true;
    if (type === 24) { // STAP-A, 5.7.1
      for (let at = 1; at < p.length;) {
        const len = at + 2 <= p.length ? p[at] << 8 | p[at + 1] : 0;
        if (!len || at + 2 + len > p.length) return void (this.broken = true);
        this.#unit(p[at + 2], p.subarray(at + 2, at + 2 + len));
        at += 2 + len;
      }
      return;
    }
    this.#unit(p.length ? p[0] : 0, p);
  }

  // Returns the picture that the packet completes, or null. The packet's bytes are copied then.
  push(p) {
    const first = p.adu ? p.adu.first : !this.head || p.timestamp !== this.head.timestamp;
    const gap = this.seq >= 0 && p.seq !== (this.seq + 1 & 0xffff);
    this.seq = p.seq;
    if (first) {
      if (this.head) this.lost++;
      this.parts = [];
      this.bytes = 0;
      this.head = p;
      this.key = this.broken = this.in_fragments = false;
      if (gap && !p.adu) this.lost++;
    } else if (gap) {
      this.broken = true;
    }
    if (!this.head) return null; // the rest of a picture whose beginning is missing
    this.#unpack(p.payload);
    const last = p.adu ? p.adu.last : p.marker;
    return last ? this.#finish() : null;
  }

  #finish() {
    const { head } = this, adu = head.adu;
    const good = !this.broken && !this.in_fragments && this.bytes > 0;
    this.head = null;
    if (!good) {
      this.lost++;
      return null;
    }
    const data = new Uint8Array(this.bytes);
    let at = 0;
    for (const part of this.parts) {
      data.set(part, at);
      at += part.length;
    }
    this.parts = [];
    const number = adu ? adu.frame : this.count;
    this.count++;
    const key = adu ? adu.key : this.key;
    return { data, key, number, depends: key ? null : adu ? number - adu.depends >>> 0 : number - 1, tid: adu ? adu.tid : 0,
      size: adu ? adu.size : 0, level: adu ? adu.level : -1, timestamp: head.timestamp, capture: head.capture };
  }
}
const START = Uint8Array.of(0, 0, 0, 1);

// Returns the packets of an RTCP compound that a viewer needs: {kind: "report", ssrc, ntp (seconds since 1970), timestamp}
// and {kind: "bye"}.
export function rtcp_parse(data) {
  const out = [];
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  for (let at = 0; at + 4 <= data.length;) {
    const len = 4 * (view.getUint16(at + 2) + 1);
    if (data[at] >> 6 !== 2 || at + len > data.length) return out;
    if (data[at + 1] === 200 && len >= 28)
      out.push({ kind: "report", ssrc: view.getUint32(at + 4), ntp: ntp_seconds(view, at + 8), timestamp: view.getUint32(at + 16) });
    else if (data[at + 1] === 203) out.push({ kind: "bye" });
    at += len;
  }
  return out;
}

// Returns an interleaved frame with a request for a key frame (PLI, RFC 4585, 6.3.1).
export function pli(channel, ssrc) {
  const out = new Uint8Array(16);
  const view = new DataView(out.buffer);
  out.set([0x24, channel, 0, 12, 0x81, 206, 0, 2]);
  view.setUint32(8, 1);
  view.setUint32(12, ssrc);
  return out;
}
