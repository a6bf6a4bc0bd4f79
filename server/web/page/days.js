// SPDX-License-Identifier: GPL-2.0-or-later
// What was recorded, by days: from spans of time to what the page lists. A span is [from, to], in seconds since 1970, the
// oldest first. Days are those of the viewer's time zone. Pure.

const PIECE = 3600; // seconds of a row of the list, at most
const GAP = 2; // a shorter gap is none

// Returns the begin of the day that an instant is in.
export function day_of(seconds) {
  const d = new Date(seconds * 1000);
  return new Date(d.getFullYear(), d.getMonth(), d.getDate()).getTime() / 1000;
}

// A day has 23 to 25 hours.
export function day_after(day) {
  return day_of(day + 26 * 3600);
}

// Returns the days in which something was recorded, as their begins, the newest first.
export function days_of(spans) {
  const days = new Set();
  for (const [from, to] of spans)
    for (let day = day_of(from); day < to; day = day_after(day)) days.add(day);
  return [...days].sort((a, b) => b - a);
}

function hour_after(seconds) {
  const d = new Date(seconds * 1000);
  d.setMinutes(60, 0, 0);
  return d.getTime() / 1000;
}

// Returns the rows of a day: {from, to, gap}, of which one that was recorded ends with the hour, and a gap lies between two
// of them.
export function rows_of(spans) {
  const rows = [];
  for (const [from, to] of spans) {
    const before = rows.at(-1);
    if (before && from - before.to > GAP) rows.push({ from: before.to, to: from, gap: true });
    for (let at = from; at < to;) {
      const next = Math.min(to, hour_after(at), at + PIECE);
      rows.push({ from: at, to: next, gap: false });
      at = next;
    }
  }
  return rows;
}

const two = n => String(n).padStart(2, "0");

// Returns "14:03:09" of the viewer's clock.
export function clock_of(seconds) {
  const d = new Date(seconds * 1000);
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

// Returns the tag of an instant in UTC, which has milliseconds only if these are not 0: "2026-11-24T11:30:00Z".
export function utc_of(seconds) {
  return new Date(Math.round(seconds * 1000)).toISOString().replace(".000Z", "Z");
}

// Returns "4 s", "3 min" or "2 h 5 min".
export function length_text(seconds) {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  const minutes = Math.round(s / 60), hours = Math.floor(minutes / 60);
  return [hours ? `${hours} h` : "", minutes % 60 || !hours ? `${minutes % 60} min` : ""].filter(Boolean).join(" ");
}

// Returns the instant of a time of the clock ("14:03" or "14:03:09") on a day; NaN: the text is none.
export function instant_of(day, text) {
  const m = /^(\d\d):(\d\d)(?::(\d\d))?$/.exec(text);
  if (!m) return NaN;
  const d = new Date(day * 1000);
  return new Date(d.getFullYear(), d.getMonth(), d.getDate(), Number(m[1]), Number(m[2]), Number(m[3] ?? 0)).getTime() / 1000;
}
