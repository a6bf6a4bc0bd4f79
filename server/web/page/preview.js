// SPDX-License-Identifier: GPL-2.0-or-later
// The time at the pointer over a film's position bar, with the film's picture there: its key frame, which the server takes of
// the file (/NAME.jpg?small&t=SECONDS). One picture is requested at a time, the newest one; of a film at most PLACES are.
import { clock_text } from "./text.js";

const PLACES = 100;

// Returns the seconds whose picture stands for `at`: whole ones, PLACES in a film at most.
export function picture_second(at, duration) {
  const step = Math.max(1, Math.ceil(duration / PLACES));
  return Math.floor(Math.min(Math.max(at, 0), duration) / step) * step;
}

export class Preview {
  // box: the place for it, within `bar`, an <input> of a range; url(second) is a picture's address.
  constructor(box, bar, url) {
    Object.assign(this, { box, bar, url, duration: 0, pictures: new Map(), wanted: null, loading: false, has_none: false });
    this.time = document.createElement("span");
    this.picture = document.createElement("div");
    box.replaceChildren(this.picture, this.time);
    bar.addEventListener("pointermove", e => this.#show(this.#seconds(e.clientX)));
    bar.addEventListener("pointerleave", () => this.hide());
    bar.addEventListener("pointercancel", () => this.hide());
    bar.addEventListener("input", () => this.#show(Number(bar.value)));
    bar.addEventListener("change", () => this.hide());
  }

  // Another film; 0: nothing is shown.
  set_duration(duration) {
    if (duration === this.duration) return;
    Object.assign(this, { duration, has_none: false });
    this.pictures.clear();
    this.hide();
  }

  hide() {
    this.wanted = null;
    this.box.hidden = true;
  }

  #seconds(x) {
    const { left, width } = this.bar.getBoundingClientRect();
    return Math.min(Math.max((x - left) / width, 0), 1) * this.duration;
  }

  #show(at) {
    if (!this.duration) return;
    this.wanted = picture_second(at, this.duration);
    this.time.textContent = clock_text(at);
    this.box.hidden = false;
    this.#draw();
    const { width } = this.bar.getBoundingClientRect(), half = this.box.offsetWidth / 2;
    this.box.style.left = `${this.bar.offsetLeft + Math.min(Math.max(at / this.duration * width, half), width - half)}px`;
    this.#load();
  }

  // Until the picture is there, the one before stays.
  #draw() {
    const image = this.pictures.get(this.wanted);
    if (image) this.picture.replaceChildren(image);
    this.picture.hidden = !this.picture.firstChild || this.has_none;
  }

  #load() {
    const second = this.wanted;
    if (second === null || this.loading || this.has_none || this.pictures.has(second)) return;
    const image = new Image(), { duration } = this;
    this.loading = true;
    image.alt = "";
    image.onload = image.onerror = e => {
      this.loading = false;
      if (duration === this.duration && e.type === "load") this.pictures.set(second, image);
      else if (duration === this.duration) this.has_none = !this.pictures.size;
      if (this.wanted !== null) this.#draw();
      if (this.wanted !== second) this.#load();
    };
    image.src = this.url(second);
  }
}
