// SPDX-License-Identifier: GPL-2.0-or-later
// What the page says to people. Pure.

// Returns "1:02:03" or "2:03".
export function clock_text(seconds) {
  const s = Math.max(0, Math.floor(Number.isFinite(seconds) ? seconds : 0));
  const two = n => String(n).padStart(2, "0");
  const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  return h ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}

export function rate_text(bps) {
  if (!Number.isFinite(bps)) return "–";
  return bps >= 1e6 ? `${(bps / 1e6).toFixed(bps < 1e7 ? 1 : 0)} Mbit/s` : `${Math.round(bps / 1000)} kbit/s`;
}

export function fps_text(fps) {
  return `${Number(fps.toFixed(fps % 1 && fps < 100 ? 1 : 0))} fps`;
}

export function level_text(level) {
  return `${level.width}×${level.height}, ${fps_text(level.fps)}, ${rate_text(level.rate)}`;
}

// What a film's policy takes the path's rate to be: {estimate (bit/s, 0: not known), error}.
export function path_text({ estimate, error }) {
  return estimate ? `${rate_text(estimate)} ± ${Math.round(error * 100)} %` : "not known";
}

const REASONS = {
  start: "nothing is known of the path yet", rate: "the path carries no higher level", buffer: "the buffer stays longer with it",
  stall: "it gives a picture soonest", chosen: "you chose it", fixed: "one level: nothing to adapt",
};

// Why it is this level.
export function reason_text(reason, top) {
  return reason === "rate" && top ? "the path carries it" : REASONS[reason];
}

export function ms_text(ms) {
  return Number.isFinite(ms) && ms !== null ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : "–";
}

// What the badge says of live media, {paused, behind (s)}: "live" only in the present.
export function badge_text({ paused, behind }) {
  if (behind < 1) return paused ? "" : "live";
  return behind < 60 ? `−${Math.floor(behind)} s` : `−${clock_text(behind)}`;
}

// Why no picture comes (live_place.js).
export function away_text({ why, seconds, reason }, host, now = Date.now()) {
  const s = `(${Math.floor(seconds)} s)`;
  if (reason !== undefined) return `The source is away since ${time_text(now / 1000 - seconds, now / 1000)}${reason ? `: ${reason}` : ""}.`;
  return { origin: `The proxy has lost its origin, and tries again ${s}.`, source: `The source sends nothing ${s}.`,
    network: `Nothing arrives from ${host} ${s}.` }[why];
}

// Returns "14:03" of the viewer's clock; of another day, after the date.
export function time_text(seconds, now = Date.now() / 1000) {
  const d = new Date(seconds * 1000), two = n => String(n).padStart(2, "0");
  const day = d.toDateString() === new Date(now * 1000).toDateString() ? "" : `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} `;
  return `${day}${two(d.getHours())}:${two(d.getMinutes())}`;
}

// The name of a track, number `n` from 1.
export function track_text(name, n) {
  return name || `track ${n}`;
}

// Returns the path if it is one of this server, else undefined: texts and lists may be those of another server behind a
// proxy, and what follows them gets the key. "//HOST", "/\HOST" and the like are other servers.
export function own_path(path) {
  const base = "http://here.invalid";
  if (!path?.startsWith("/")) return undefined;
  try {
    return new URL(path, base).origin === base ? path : undefined;
  } catch {
    return undefined;
  }
}

// Returns the path that a refusal names ("the server has only /live"), undefined if there is none.
export function only_path(detail) {
  return own_path(/only (\/\S*)/.exec(detail ?? "")?.[1]);
}

// Returns the sentence for a problem that the worker reports: {sentence, detail, way: {text, href}, again}. `where`:
// {host, path, secure_url}. again: another attempt may help.
export function problem_text(problem, where) {
  const { what, detail, status } = problem;
  switch (what) {
    case "insecure":
      return { sentence: "This browser decodes video only on encrypted pages, or on the machine of the server itself.",
        detail: "Open this page with https. The server needs TLS for that.", way: { text: `Open ${where.secure_url}`, href: where.secure_url } };
    case "decoder":
      return { sentence: "This browser has neither WebCodecs nor Media Source Extensions, which decode the video.",
        detail: "Current versions of Chrome, Edge, Safari and Firefox have them." };
    case "element":
      return { sentence: "This browser cannot decode the video here.", detail: detail || "On an encrypted page it may be able to.",
        way: { text: `Open ${where.secure_url}`, href: where.secure_url } };
    case "connect":
      return { sentence: `Cannot connect to ${where.host}.`, detail: "Is the server still running? Trying again.", again: true };
    case "origin":
      return { sentence: `${where.host} does not let this page play.`, again: true,
        detail: "Trying again, as the server may be full. Else start it with --allow-origin and the origin of this page, or open the page by the server's address." };
    case "silent":
      return { sentence: `${where.host} does not answer.`, detail: "Trying again.", again: true };
    case "lost":
      return { sentence: "The connection was lost.", detail: "Trying again.", again: true };
    case "over":
      return { sentence: "The stream has ended.", detail: "Trying again, in case it begins anew.", again: true };
    case "dismissed":
      return { sentence: "The server ended the session.", detail, again: true };
    case "codec":
      return { sentence: detail ? `This page plays H.264; the stream is ${detail}.` : "This stream has no pictures.",
        detail: "Use weir-play, or start weir-send with --codec h264." };
    case "protocol":
      return { sentence: "The server sends what this page does not understand.", detail };
    case "refused": {
      if (status === 403) return { sentence: "The server refuses to play this here.", detail };
      if (status === 401)
        return { sentence: /^the key/.test(detail) ? "The key of this page's URL is not accepted." : "This stream needs a key.", detail: detail || "Open the whole URL that the server printed, with its ?key=." };
      const only = only_path(detail);
      if (status === 404 && only)
        return { sentence: `There is no stream at ${where.path}.`, detail: "", way: { text: `Watch ${only}`, href: only } };
      if (status === 404 && /^no such (file|stream);/.test(detail))
        return { sentence: `There is no video at ${where.path}.`, detail: "", way: { text: "All videos", href: "/" } };
      return { sentence: "The server cannot play this.", detail: detail || `Status ${status}`, again: status === 503 };
    }
    default:
      return { sentence: "The video cannot be played.", detail: detail || what };
  }
}
