// SPDX-License-Identifier: GPL-2.0-or-later
// The panel of a stream's recordings: the days, what was recorded of one, its gaps; each piece is played, or saved as MP4.
import { clock_of, day_after, day_of, days_of, instant_of, length_text, rows_of, utc_of } from "./days.js";
import { set_icon } from "./icons.js";
import { element } from "./list.js";

const LONGEST = 4 * 3600; // seconds that the server gives at once

function load_style() {
  if (document.querySelector("link[href$='recordings.css']")) return;
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = "/.weir/recordings.css";
  document.head.append(link);
}

class Recordings {
  // path: of the stream; play(seconds since the picture was captured), null: the server plays no recording of it.
  constructor(box, { path, key, play, close }) {
    load_style();
    Object.assign(this, { box, path, key, play, spans: [], day: null, behind: 0 });
    const head = element("h2", "Recordings"), shut = element("button");
    shut.setAttribute("aria-label", "Close recordings");
    set_icon(shut, "close");
    shut.onclick = close;
    head.append(shut);
    this.days = element("select");
    this.days.setAttribute("aria-label", "Day");
    this.days.onchange = () => this.show_day(Number(this.days.value));
    this.rows = element("ol");
    this.text = element("p");
    box.replaceChildren(head, this.days, this.text, this.rows, this.piece());
    box.setAttribute("aria-label", "Recordings");
  }

  url(what, from, to) {
    const key = this.key ? `&key=${encodeURIComponent(this.key)}` : "";
    return `${this.path}.mp4?${what}=${from === undefined ? "all" : `${utc_of(from)},${utc_of(to)}`}${key}`;
  }

  // Returns the spans, or null after it has said why there are none.
  async get(from, to) {
    try {
      const answer = await fetch(this.url("recordings", from, to), { cache: "no-store" });
      if (!answer.ok) throw new Error((await answer.text()).trim());
      const at = Date.parse(answer.headers.get("Date")) + 500 - Date.now();
      this.ahead = Math.abs(at) > 1500 ? at / 1000 : 0; // of the server's clock
      return (await answer.json()).spans;
    } catch (error) {
      this.say(`The recordings cannot be listed: ${error.message}`);
      return null;
    }
  }

  say(text) {
    this.text.textContent = text;
    this.text.hidden = !text;
  }

  async open() {
    this.say("");
    const spans = await this.get();
    if (!spans) return;
    const days = days_of(spans), now = days.includes(this.day) ? this.day : days[0];
    this.days.hidden = this.form.hidden = !days.length;
    if (!days.length) return this.say("Nothing has been recorded yet.");
    this.days.replaceChildren(...days.map(day => new Option(new Date(day * 1000).toLocaleDateString(undefined,
      { weekday: "short", year: "numeric", month: "short", day: "numeric" }), day)));
    this.days.value = now;
    await this.show_day(now);
  }

  async show_day(day) {
    this.day = day;
    const spans = await this.get(day, day_after(day));
    if (!spans || this.day !== day) return;
    this.spans = spans;
    this.say(spans.length ? "" : "Nothing was recorded on this day.");
    this.rows.replaceChildren(...rows_of(spans).map(row => row.gap ? this.gap(row) : this.row(row)));
    if (spans.length) this.suggest(spans);
  }

  time(row) {
    const time = element("time", `${clock_of(row.from)} – ${clock_of(row.to)}`);
    time.dateTime = utc_of(row.from);
    time.title = `${utc_of(row.from)} – ${utc_of(row.to)}`;
    return time;
  }

  row(row) {
    const item = element("li"), play = element("button", "Play"), save = element("a", "Save");
    play.title = `Play from ${clock_of(row.from)}`;
    play.onclick = () => this.play(Date.now() / 1000 + this.ahead - row.from);
    play.hidden = !this.play;
    save.href = this.url("clip", row.from, row.to);
    save.download = "";
    save.title = "Save as MP4";
    item.append(this.time(row), element("small", length_text(row.to - row.from)), play, save);
    return item;
  }

  gap(row) {
    const item = element("li", "", "gap");
    item.append(this.time(row), element("small", `nothing recorded for ${length_text(row.to - row.from)}`));
    return item;
  }

  // The form that saves a piece of any length.
  piece() {
    const form = this.form = element("form"), save = element("button", "Save a piece", "button");
    [this.from, this.to] = ["From", "To"].map(name => {
      const field = element("input");
      Object.assign(field, { type: "time", step: 1, required: true, title: name });
      field.setAttribute("aria-label", name);
      return field;
    });
    form.append(this.from, "–", this.to, save);
    form.onsubmit = e => {
      e.preventDefault();
      const from = instant_of(this.day, this.from.value), to = instant_of(this.day, this.to.value);
      const is_good = to > from && to - from <= LONGEST;
      this.say(is_good ? "" : to > from ? `A piece has at most ${LONGEST / 3600} hours.` : "The piece ends before it begins.");
      if (!is_good) return;
      const link = element("a");
      link.href = this.url("clip", from, to);
      link.download = "";
      link.click();
    };
    return form;
  }

  // Fills in the last minute.
  suggest(spans) {
    const to = Math.min(Math.floor(spans.at(-1)[1]), day_after(this.day) - 1);
    this.from.value = clock_of(Math.max(to - 60, this.day, Math.ceil(spans[0][0])));
    this.to.value = clock_of(to);
  }
}

let shown = null;

// Shows the panel in `box`, or closes it. Returns true if it is shown.
export function toggle_recordings(box, options) {
  box.hidden = !box.hidden;
  if (box.hidden) return false;
  shown ??= new Recordings(box, options);
  shown.play = options.play;
  shown.open();
  return true;
}
