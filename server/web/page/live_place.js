// SPDX-License-Identifier: GPL-2.0-or-later
// Where a viewer of live media is: how far behind the present, and whether media comes. The laws are those of weir-play's
// (player/policy/rewind.h, media_silence.h). Distances are seconds, times milliseconds of performance.now(). Pure.

export const PRESENT = 1; // a distance below this is the present
const SILENCE = 1500; // ms without media
const SILENT_FRAMES = 3; // the same, of a source with few frames
const ANSWERED = 500; // ms after the last media; an answer after that shows that the server is there

export class LivePlace {
  // fps: of the source.
  constructor(fps) {
    Object.assign(this, { silence: Math.max(SILENCE, SILENT_FRAMES * 1000 / fps), kept: 0, behind: 0, paused_at: null, due: false, heard: 0, answered: 0 });
  }

  // PLAY was answered with 200; rewind: its X-Weir-Rewind, or undefined.
  placed(rewind, now) {
    const m = /^behind=([\d.]+);back=(\d+)/.exec(rewind ?? "");
    Object.assign(this, { behind: m ? Number(m[1]) : 0, kept: m ? Number(m[2]) : 0, paused_at: null, due: true, heard: now });
  }

  pause(now) {
    this.paused_at ??= now;
    this.due = false;
  }

  media(now) {
    this.heard = now;
  }

  answer(now) {
    this.answered = now;
  }

  // Returns how far behind the present the picture is.
  at(now) {
    return this.behind + (this.paused_at === null ? 0 : (now - this.paused_at) / 1000);
  }

  // Returns the distance that is `by` seconds on from a distance (negative: back); null: the server keeps no past.
  step(from, by) {
    if (!this.kept) return null;
    const to = Math.min(Math.max(from - by, 0), this.kept);
    return to < PRESENT ? 0 : to;
  }

  // Returns null while media comes, or none is due; else {why, seconds}: "origin": the proxy has lost its origin since
  // `origin` seconds; "source": the server is there; "network": that is not known. source: what the server says of its source
  // (source_away), null: it sends; then {why, seconds, reason}.
  away(origin, source, now) {
    const silent = now - this.heard;
    if (!this.due || silent < this.silence) return null;
    if (source && !(origin > 0)) return { why: "source", ...source };
    const why = origin > 0 ? "origin" : this.answered > this.heard + ANSWERED ? "source" : "network";
    return { why, seconds: origin > 0 ? origin : silent / 1000 };
  }
}

// Returns {seconds, reason} of the parameter source-away ("12.345 no whole picture came for 5 s"); null: there is none.
export function source_away(text) {
  const m = /^(\d+(?:\.\d+)?)(?: (.*))?$/.exec(text ?? "");
  return m ? { seconds: Number(m[1]), reason: (m[2] ?? "").trim() } : null;
}

// Returns the header Range of a PLAY at a distance.
export function live_range(distance) {
  return distance < PRESENT ? "npt=now-" : `npt=-${distance.toFixed(3)}-`;
}
