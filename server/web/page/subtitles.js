// SPDX-License-Identifier: GPL-2.0-or-later
// The subtitles that a viewer sees: which cues to request for the film's position (player/policy/subtitles.h), and what
// text, styles and places their events have: those of Advanced SubStation Alpha (common/wire/subtitle.h), as far as text on a
// page has them. Fades, karaoke and drawings are left out. Positions are seconds of the film, times milliseconds of
// performance.now(). Pure.

const AHEAD = 20; // s that a response reaches
const INTERVAL = 1000; // ms
const CUES_MAX = 64, HEAD_MAX = 400; // of a response; lines
const FIELDS = 8; // of an event, the text is the last
const STYLE = { size: 16 / 288, bold: false, italic: false, underline: false, colour: "#ffffff", align: 2 };
const SIZE_LEAST = 0.025, SIZE_MOST = 0.14; // of the picture's height
const LEGACY = [2, 1, 2, 3, 2, 7, 8, 9, 2, 4, 5, 6]; // \a of SSA

// Returns "#rrggbb" of "&HAABBGGRR" or "&HBBGGRR&", undefined if it is none.
function colour_of(text) {
  const m = /^&?H?([0-9a-f]{1,8})&?$/i.exec(text.trim());
  const v = m ? parseInt(m[1], 16) : NaN;
  if (Number.isNaN(v)) return undefined;
  return `#${[v & 255, v >> 8 & 255, v >> 16 & 255].map(b => b.toString(16).padStart(2, "0")).join("")}`;
}

// Returns {width, height, wrap, styles} of the lines of a head.
export function head_of(lines) {
  const head = { width: 384, height: 288, wrap: 0, styles: new Map() };
  let format = [];
  for (const line of lines.slice(0, HEAD_MAX)) {
    const [, name, value] = /^(\w+):\s*(.*)$/.exec(line.trim()) ?? [];
    const number = Number(value);
    if (name === "PlayResX" && number > 0) head.width = number;
    else if (name === "PlayResY" && number > 0) head.height = number;
    else if (name === "WrapStyle") head.wrap = number;
    else if (name === "Format" && /fontname/i.test(value)) format = value.split(",").map(f => f.trim().toLowerCase());
    else if (name === "Style") {
      const values = value.split(",");
      const of = field => values[format.indexOf(field)]?.trim() ?? "";
      const align = Number(of("alignment"));
      head.styles.set(of("name").replace(/^\*/, ""), { size: Number(of("fontsize")) / head.height || STYLE.size,
        bold: Number(of("bold")) !== 0, italic: Number(of("italic")) !== 0, underline: Number(of("underline")) !== 0,
        colour: colour_of(of("primarycolour")) ?? STYLE.colour, align: align >= 1 && align <= 9 ? align : 2 });
    }
  }
  return head;
}

// Changes `now`, the style from here on, and `cue` by the tags between braces.
function read_tags(tags, now, cue, style, head) {
  for (const [, tag] of tags.matchAll(/\\([^\\]*)/g)) {
    let m;
    if ((m = /^([biu])(\d*)$/.exec(tag))) {
      const field = { b: "bold", i: "italic", u: "underline" }[m[1]];
      now[field] = m[2] === "" ? style[field] : Number(m[2]) !== 0;
    } else if ((m = /^1?c(.*)$/.exec(tag))) now.colour = colour_of(m[1]) ?? style.colour;
    else if ((m = /^fs(\d+(?:\.\d+)?)$/.exec(tag))) now.size = Number(m[1]) / head.height;
    else if ((m = /^an([1-9])$/.exec(tag))) cue.align = Number(m[1]);
    else if ((m = /^a(\d+)$/.exec(tag))) cue.align = LEGACY[Number(m[1])] ?? cue.align;
    else if ((m = /^(?:pos|move)\((-?[\d.]+),(-?[\d.]+)/.exec(tag))) cue.place = { x: Number(m[1]) / head.width, y: Number(m[2]) / head.height };
    else if ((m = /^p(\d+)$/.exec(tag))) now.draws = m[1] !== "0";
    else if (tag.startsWith("r")) Object.assign(now, head.styles.get(tag.slice(1)) ?? style);
  }
}

// Returns {begin, end (s), align (1 to 9, as on a number pad), place ({x, y} of the picture; null: by align), parts: [{text,
// size (of the picture's height), bold, italic, underline, colour}]} of the value of an `ass` line; null: it is malformed, or
// shows nothing. Lines of the text end in \n.
export function cue_of(value, head) {
  const m = /^(\d+) (\d+) (.*)$/s.exec(value);
  const fields = m ? m[3].split(",") : [];
  if (fields.length < FIELDS || Number(m[2]) <= Number(m[1])) return null;
  const style = head.styles.get(fields[1].replace(/^\*/, "")) ?? head.styles.get("Default") ?? STYLE;
  const cue = { begin: Number(m[1]) / 1000, end: Number(m[2]) / 1000, align: style.align, place: null, parts: [] };
  const now = { ...style, draws: false };
  for (const [, tags, text] of fields.slice(FIELDS - 1).join(",").matchAll(/\{([^}]*)\}|([^{]+|\{)/g)) {
    if (tags !== undefined) {
      read_tags(tags, now, cue, style, head);
    } else if (!now.draws) {
      const { size, bold, italic, underline, colour } = now;
      cue.parts.push({ text: text.replace(/\\N/g, "\n").replace(/\\n/g, head.wrap === 2 ? "\n" : " ").replace(/\\h/g, "\u00a0"),
        size: Math.min(Math.max(size, SIZE_LEAST), SIZE_MOST), bold, italic, underline, colour });
    }
  }
  return cue.parts.some(p => p.text.trim()) ? cue : null;
}

export class Subtitles {
  constructor() {
    this.choose(0);
  }

  // track: from 1; 0: none.
  choose(track) {
    Object.assign(this, { track, head: null, cues: [], from: -Infinity, due: 0, drawn: "" });
  }

  // Returns the body of the request that is due, or null. It counts as sent.
  request(position, now) {
    const jumped = position < this.from || position > this.from + AHEAD;
    if (!this.track || !Number.isFinite(position) || (!jumped && now < this.due)) return null;
    this.from = Math.max(0, position);
    this.due = now + INTERVAL;
    return `subtitles: ${this.track}/${Math.round(this.from * 1000)}${this.head ? "" : "/head"}\r\n`;
  }

  // Takes the body of the response to a request for `track`.
  received(body, track) {
    if (track !== this.track) return;
    const lines = body.split(/\r?\n/);
    const of = name => lines.filter(l => l.startsWith(`${name}: `)).map(l => l.slice(name.length + 2));
    const head = of("ass-head");
    if (head.length || !this.head) this.head = head.length ? head_of(head) : null;
    this.cues = of("ass").slice(0, CUES_MAX).map(value => cue_of(value, this.head ?? head_of([]))).filter(Boolean);
  }

  // Returns the cues that are shown at a position, null if they are those of the last call.
  shown(position) {
    const cues = this.cues.filter(c => c.begin <= position && position < c.end);
    const drawn = JSON.stringify(cues);
    if (drawn === this.drawn) return null;
    this.drawn = drawn;
    return cues;
  }
}
