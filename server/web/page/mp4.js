// SPDX-License-Identifier: GPL-2.0-or-later
// Fragmented MP4 for Media Source Extensions: one fragment a picture (ISO/IEC 14496-12; H.264: 14496-15). Pure.

export const TIMESCALE = 90000;
// A fragment is written before the next picture's time is known. Its duration is longer than a frame, so that media stays
// one range where pictures are left out (MSE, coded frame processing: a gap is more than twice the last duration).
const DURATION = TIMESCALE;
const HIGH = [100, 110, 122, 244, 44, 83, 86, 118, 128]; // profiles with chroma_format_idc
const MATRIX = [1, 0, 0, 0, 1, 0, 0, 0, 0x4000];

const u16 = (...values) => values.flatMap(v => [v >> 8 & 255, v & 255]);
const u32 = (...values) => values.flatMap(v => [v >>> 24, v >> 16 & 255, v >> 8 & 255, v & 255]);
const u64 = v => u32(Math.floor(v / 2 ** 32), v % 2 ** 32);
const zeros = n => new Uint8Array(n);

function join(parts) {
  const out = new Uint8Array(parts.reduce((sum, p) => sum + p.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const box = (type, ...parts) =>
  join([u32(parts.reduce((sum, p) => sum + p.length, 8)), [...type].map(c => c.charCodeAt(0)), ...parts]);
const full_box = (type, version, flags, ...parts) => box(type, u32(version * 2 ** 24 + flags), ...parts);

// ---- H.264

// Returns the NAL units of an Annex B picture, without start codes.
export function units_of(data) {
  const units = [];
  let begin = -1;
  for (let i = 0; i + 2 < data.length; i++) {
    if (data[i] || data[i + 1] || data[i + 2] !== 1) continue;
    if (begin >= 0) units.push(data.subarray(begin, i - (i > begin && !data[i - 1] ? 1 : 0)));
    begin = i + 3;
    i += 2;
  }
  if (begin >= 0) units.push(data.subarray(begin));
  return units.filter(u => u.length);
}

class Bits {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  bit() {
    if (this.at >= 8 * this.bytes.length) throw new RangeError("truncated");
    const bit = this.bytes[this.at >> 3] >> 7 - (this.at & 7) & 1;
    this.at++;
    return bit;
  }
  bits(n) {
    let v = 0;
    while (n-- > 0) v = v * 2 + this.bit();
    return v;
  }
  ue() {
    let n = 0;
    while (!this.bit()) if (++n > 31) throw new RangeError("too long");
    return 2 ** n - 1 + this.bits(n);
  }
  se() {
    const v = this.ue();
    return v & 1 ? (v + 1) / 2 : -v / 2;
  }
}

function skip_scaling_list(bits, size) {
  for (let i = 0, last = 8, next = 8; i < size && next; i++) {
    next = last + bits.se() + 256 & 255;
    last = next || last;
  }
}

// Returns {width, height} of the pictures of a sequence parameter set (H.264, 7.3.2.1.1), or null.
export function sps_size(sps) {
  const bits = new Bits(sps.filter((b, i) => !(b === 3 && i > 1 && !sps[i - 1] && !sps[i - 2])));
  try {
    bits.bits(8);
    const profile = bits.bits(8);
    bits.bits(16);
    bits.ue();
    let chroma = 1;
    if (HIGH.includes(profile)) {
      chroma = bits.ue();
      if (chroma === 3) bits.bit();
      bits.ue();
      bits.ue();
      bits.bit();
      if (bits.bit())
        for (let i = 0; i < (chroma === 3 ? 12 : 8); i++) if (bits.bit()) skip_scaling_list(bits, i < 6 ? 16 : 64);
    }
    bits.ue();
    const order = bits.ue();
    if (order === 0) bits.ue();
    if (order === 1) {
      bits.bit();
      bits.se();
      bits.se();
      for (let n = bits.ue(); n > 0; n--) bits.se();
    }
    bits.ue();
    bits.bit();
    const wide = bits.ue() + 1, high = bits.ue() + 1, frames = bits.bit();
    if (!frames) bits.bit();
    bits.bit();
    const [left, right, top, bottom] = bits.bit() ? [bits.ue(), bits.ue(), bits.ue(), bits.ue()] : [0, 0, 0, 0];
    const across = chroma === 1 || chroma === 2 ? 2 : 1, down = (chroma === 1 ? 2 : 1) * (2 - frames);
    const width = 16 * wide - across * (left + right), height = 16 * (2 - frames) * high - down * (top + bottom);
    return width > 0 && height > 0 && width < 65536 && height < 65536 ? { width, height } : null;
  } catch {
    return null;
  }
}

const hex = bytes => [...bytes].map(b => b.toString(16).padStart(2, "0")).join("");

// Returns the track {codec, width, height, entry} that an H.264 key frame (Annex B) begins, null without parameter sets.
export function h264_track(data) {
  const units = units_of(data);
  const sps = units.find(u => (u[0] & 31) === 7), pps = units.filter(u => (u[0] & 31) === 8);
  const size = sps && pps.length ? sps_size(sps) : null;
  if (!size) return null;
  const config = box("avcC", [1, ...sps.subarray(1, 4), 0xff, 0xe1], u16(sps.length), sps, [pps.length],
    ...pps.flatMap(p => [u16(p.length), p]));
  return { codec: `avc1.${hex(sps.subarray(1, 4))}`, ...size, entry: entry("avc1", size, config) };
}

// Returns the bytes of a picture as they are in the file: units with their lengths, without parameter sets and delimiters.
export function h264_sample(data) {
  return join(units_of(data).filter(u => ![7, 8, 9].includes(u[0] & 31)).flatMap(u => [u32(u.length), u]));
}

function entry(type, { width, height }, config) {
  return box(type, zeros(6), u16(1), zeros(16), u16(width, height), u32(0x480000, 0x480000, 0), u16(1), zeros(32),
    u16(24, 0xffff), config);
}

// ---- The file

// Returns the initialisation segment of a track. Its duration is unknown, as of live media.
export function init_segment({ width, height, entry }) {
  const table = type => full_box(type, 0, 0, u32(0));
  const samples = box("stbl", full_box("stsd", 0, 0, u32(1), entry), table("stts"), table("stsc"),
    full_box("stsz", 0, 0, u32(0, 0)), table("stco"));
  const media = box("minf", full_box("vmhd", 0, 1, zeros(8)), box("dinf", full_box("dref", 0, 0, u32(1), full_box("url ", 0, 1))), samples);
  const track = box("trak",
    full_box("tkhd", 0, 3, u32(0, 0, 1, 0, 0), zeros(16), u32(...MATRIX.map(m => m << 16)), u32(width << 16, height << 16)),
    box("mdia", full_box("mdhd", 0, 0, u32(0, 0, TIMESCALE, 0), u16(0x55c4, 0)),
      full_box("hdlr", 0, 0, u32(0), new TextEncoder().encode("vide"), zeros(12), [0]), media));
  return join([box("ftyp", new TextEncoder().encode("iso5"), u32(1), new TextEncoder().encode("iso5iso6mp41")),
    box("moov", full_box("mvhd", 0, 0, u32(0, 0, TIMESCALE, 0, 0x10000), u16(0x100), zeros(10), u32(...MATRIX.map(m => m << 16)), zeros(24), u32(2)),
      track, box("mvex", full_box("trex", 0, 0, u32(1, 1, 0, 0, 0))))]);
}

// Returns the fragment of one picture. Times are in TIMESCALE; decoded, shown >= 0.
export function fragment({ number, decoded, shown, key, sample }) {
  const make = offset => box("moof", full_box("mfhd", 0, 0, u32(number)), box("traf",
    full_box("tfhd", 0, 0x20000, u32(1)), full_box("tfdt", 1, 0, u64(decoded)),
    full_box("trun", 1, 0xf01, u32(1, offset, DURATION, sample.length, key ? 0x2000000 : 0x1010000, shown - decoded))));
  return join([make(make(0).length + 8), u32(sample.length + 8), [0x6d, 0x64, 0x61, 0x74], sample]);
}

// Times of pictures that come in decoding order. They begin at LEAD: pictures before the first one are shown, too.
export const LEAD = TIMESCALE;
export class Timeline {
  constructor() {
    this.number = 0;
    this.decoded = -1;
  }
  // `ticks`: when the picture is shown, from the first one on. reorders: pictures are not decoded in the order of showing.
  next(ticks, reorders) {
    const shown = Math.max(0, Math.round(ticks) + LEAD);
    this.decoded = Math.max(this.decoded + 1, shown - (reorders ? LEAD : 0));
    return { number: ++this.number, decoded: this.decoded, shown };
  }
}
