// SPDX-License-Identifier: GPL-2.0-or-later
// RTSP 1.0 (RFC 2326) as it travels in a WebSocket: requests, responses and interleaved packets (10.12) are one byte
// stream; messages of the WebSocket have no meaning. And the description of a stream (SDP, RFC 8866). Pure.

const HEAD_MAX = 16384; // bytes of a start line with its headers
const BODY_MAX = 1 << 18; // bytes
const DOLLAR = 0x24;
const text = new TextDecoder();

export class RtspError extends Error {}

function end_of_head(bytes) {
  for (let i = 3; i < bytes.length; i++)
    if (bytes[i] === 10 && bytes[i - 1] === 13 && bytes[i - 2] === 10 && bytes[i - 3] === 13) return i + 1;
  return -1;
}

function parse_head(head) {
  const lines = head.split("\r\n");
  const headers = new Map();
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const response = /^RTSP\/1\.\d (\d{3})(?: (.*))?$/.exec(lines[0]);
  const request = /^([A-Z_]+) (\S+) RTSP\/1\.\d$/.exec(lines[0]);
  if (!response && !request) throw new RtspError(`not RTSP: ${lines[0].slice(0, 40)}`);
  const cseq = Number(headers.get("cseq") ?? -1);
  return response ? { kind: "response", status: Number(response[1]), reason: response[2] ?? "", cseq, headers }
    : { kind: "request", method: request[1], uri: request[2], cseq, headers };
}

// Cuts the byte stream into items.
export class RtspReader {
  constructor() {
    this.rest = new Uint8Array(0);
  }

  // Returns the items that end in these bytes: {kind: "media", channel, data}, {kind: "response", status, reason, cseq,
  // headers, body} or {kind: "request", method, uri, cseq, headers, body}. Their data borrows from the bytes. Throws
  // RtspError: the rest of the stream cannot be read.
  push(bytes) {
    let all = bytes;
    if (this.rest.length) {
      all = new Uint8Array(this.rest.length + bytes.length);
      all.set(this.rest);
      all.set(bytes, this.rest.length);
    }
    const items = [];
    let at = 0;
    while (at < all.length) {
      const used = this.#item(all.subarray(at), items);
      if (!used) break;
      at += used;
    }
    this.rest = all.slice(at);
    return items;
  }

  // Returns the number of bytes of the first item, 0 if it is incomplete.
  #item(bytes, items) {
    if (bytes[0] === DOLLAR) {
      if (bytes.length < 4) return 0;
      const len = bytes[2] << 8 | bytes[3];
      if (bytes.length < 4 + len) return 0;
      items.push({ kind: "media", channel: bytes[1], data: bytes.subarray(4, 4 + len) });
      return 4 + len;
    }
    if (bytes[0] === 13 || bytes[0] === 10) return 1; // stray line ends between messages
    const end = end_of_head(bytes.subarray(0, HEAD_MAX));
    if (end < 0) {
      if (bytes.length >= HEAD_MAX) throw new RtspError("a header is too long");
      return 0;
    }
    const item = parse_head(text.decode(bytes.subarray(0, end - 4)));
    const len = Number(item.headers.get("content-length") ?? 0);
    if (!Number.isInteger(len) || len < 0 || len > BODY_MAX) throw new RtspError("a body is too long");
    if (bytes.length < end + len) return 0;
    item.body = text.decode(bytes.subarray(end, end + len));
    items.push(item);
    return end + len;
  }
}

// Returns the text of a request. `headers`: an object; `body`: text, empty for none.
export function rtsp_request(method, uri, cseq, headers = {}, body = "") {
  let out = `${method} ${uri} RTSP/1.0\r\nCSeq: ${cseq}\r\n`;
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && value !== "") out += `${name}: ${value}\r\n`;
  if (body) out += `Content-Type: text/parameters\r\nContent-Length: ${new TextEncoder().encode(body).length}\r\n`;
  return `${out}\r\n${body}`;
}

// Returns {name: value} of the "name: value" lines of a body.
export function rtsp_parameters(body) {
  const out = {};
  for (const line of body.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0) out[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return out;
}

const EXTENSIONS = {
  "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time": "capture",
  "urn:x-weir:rtp-hdrext:adu": "adu",
  "urn:x-weir:rtp-hdrext:made": "made",
};

// Returns no bytes if the text is not base64.
export function bytes_of_base64(value) {
  try {
    return Uint8Array.from(atob(value), c => c.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
}

function read_format(medium, value) {
  for (const part of value.split(";")) {
    const equals = part.indexOf("=");
    const name = part.slice(0, equals).trim().toLowerCase();
    const content = part.slice(equals + 1).trim();
    if (name === "profile-level-id" && /^[0-9a-f]{6}$/i.test(content)) medium.profile = content.toLowerCase();
    if (name === "sprop-parameter-sets") medium.sets = content.split(",").map(bytes_of_base64).filter(s => s.length);
  }
}

function read_attribute(sdp, medium, name, value) {
  let m;
  if (name === "control" && medium) medium.control = value;
  else if (name === "range" && (m = /^npt=[\d.]*-([\d.]+)$/.exec(value))) sdp.duration = Number(m[1]);
  else if (name === "x-weir-source") sdp.source = value;
  else if (name === "x-weir-origin") sdp.prepared = true;
  else if (name === "x-weir-layers") sdp.layered = true;
  else if (name === "x-weir-recorded") sdp.recorded = true;
  else if (name === "x-weir-subtitles") sdp.subtitles.push(value);
  else if (name === "x-weir-subtitles-shown") sdp.subtitles_shown = Number(value) || 0;
  else if (name === "x-weir-audio") sdp.audio_tracks.push(value);
  else if (name === "x-weir-order") sdp.reorders = value === "decoding";
  else if (!medium) return;
  else if (name === "rtpmap" && (m = /^(\d+) ([^/ ]+)\/(\d+)/.exec(value)) && Number(m[1]) === medium.type)
    Object.assign(medium, { codec: m[2].toUpperCase(), rate: Number(m[3]) });
  else if (name === "fmtp" && (m = /^(\d+) (.*)$/.exec(value)) && Number(m[1]) === medium.type) read_format(medium, m[2]);
  else if (name === "extmap" && (m = /^(\d+)(?:\/\w+)? (\S+)/.exec(value)) && EXTENSIONS[m[2]])
    medium.ext[EXTENSIONS[m[2]]] = Number(m[1]);
  else if (name === "framerate" && Number(value) > 0) medium.fps = Number(value);
  else if (name === "x-weir-size" && (m = /^(\d+) (\d+)x(\d+)@(\d+)\/(\d+) layers=(\d+)/.exec(value))) {
    const [, id, width, height, num, den, layers] = m.map(Number);
    sdp.sizes[id] = { width, height, fps: num / den, layers };
  } else if (name === "x-weir-level" && (m = /^(\d+) size=(\d+) tid=(\d+) rate=(\d+)/.exec(value))) {
    const [, id, size, tid, rate] = m.map(Number);
    sdp.levels[id] = { size, tid, rate };
  }
}

// Returns {title, source, duration (seconds, -1: live), sizes, levels, video, audio}; a medium is {type, codec, rate,
// profile, sets, control, ext}, null if there is none. recorded: the server has recordings of it. audio_tracks, subtitles: their names, which may be empty;
// subtitles_shown: the number, from 1, of the track that is shown unless the viewer chooses; 0: none. A level of `levels` gets the width, height and fps of its pictures.
export function sdp_parse(body) {
  const sdp = { title: "", source: "", duration: -1, sizes: [], levels: [], layered: false, recorded: false, reorders: false, prepared: false, audio_tracks: [],
    subtitles: [], subtitles_shown: 0, video: null, audio: null };
  let medium = null;
  for (const line of body.split(/\r?\n/)) {
    const value = line.slice(2);
    if (line.startsWith("s=")) sdp.title = value;
    else if (line.startsWith("m=")) {
      const m = /^(\w+) \d+ \S+ (\d+)/.exec(value);
      medium = m ? { kind: m[1], type: Number(m[2]), codec: "", rate: 90000, profile: "", sets: [], control: "", ext: {}, fps: 0 } : null;
      if (medium && (medium.kind === "video" || medium.kind === "audio") && !sdp[medium.kind]) sdp[medium.kind] = medium;
    } else if (line.startsWith("a=")) {
      const colon = value.indexOf(":");
      read_attribute(sdp, medium, colon < 0 ? value : value.slice(0, colon), colon < 0 ? "" : value.slice(colon + 1));
    }
  }
  for (const level of sdp.levels.filter(Boolean)) {
    const size = sdp.sizes[level.size] ?? { width: 0, height: 0, fps: 0, layers: 1 };
    Object.assign(level, { width: size.width, height: size.height,
      fps: size.fps / 2 ** Math.max(0, size.layers - 1 - level.tid) });
  }
  return sdp;
}

// Returns the URI of a medium: its control, below that of the stream (RFC 2326, C.1.1).
export function control_uri(base, control) {
  if (/^rtsps?:\/\//.test(control)) return control;
  if (!control || control === "*") return base;
  const query = base.indexOf("?");
  const path = query < 0 ? base : base.slice(0, query);
  return `${path}${path.endsWith("/") ? "" : "/"}${control}${query < 0 ? "" : base.slice(query)}`;
}
