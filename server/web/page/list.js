// SPDX-License-Identifier: GPL-2.0-or-later
// The list of a folder's films, or of a server's streams: a wall of the live ones, and below it the others. The fragment of the URL names the folder that is shown.
import { crumbs, folder_view, named, plain_text, search } from "./films.js";
import { set_icon } from "./icons.js";
import { clock_text, time_text } from "./text.js";
import { Wall } from "./wall.js";

const PICTURES = 2; // thumbnails that are requested at a time: each connection is one of the server's places

export function element(tag, text = "", name = "") {
  const e = document.createElement(tag);
  e.textContent = text;
  e.className = name;
  return e;
}

// Requests the pictures of cards when these come into view.
class Thumbnails {
  constructor(key) {
    Object.assign(this, { query: `?small${key ? `&key=${encodeURIComponent(key)}` : ""}`, wanted: [], running: 0, paths: new Map() });
    this.seen = new IntersectionObserver(entries => {
      for (const e of entries) {
        if (e.isIntersecting) this.wanted.push(e.target);
        else this.wanted = this.wanted.filter(box => box !== e.target);
      }
      this.next();
    }, { rootMargin: "200px" });
  }

  clear() {
    this.seen.disconnect();
    this.paths.clear();
    this.wanted = [];
  }

  add(box, path) {
    this.paths.set(box, path);
    this.seen.observe(box);
  }

  next() {
    while (this.running < PICTURES && this.wanted.length) {
      const box = this.wanted.shift(), image = new Image();
      this.seen.unobserve(box);
      this.running++;
      image.alt = "";
      image.onload = image.onerror = e => {
        this.running--;
        if (e.type === "load") box.replaceChildren(image);
        this.next();
      };
      image.src = `${this.paths.get(box)}.jpg${this.query}`;
    }
  }
}

// A stream that is live, with its moving picture.
function live_card(film, suffix, wall) {
  const card = element("a", "", "card live"), box = element("span", "", "thumb"), fact = element("small");
  card.href = film.path + suffix;
  set_icon(box, "film");
  const show = (silent, since) => {
    fact.textContent = !silent ? "live" : since ? `away since ${time_text(since)}` : "nothing comes";
    card.classList.toggle("silent", silent);
  };
  show(!!film.away, film.away);
  card.append(box, element("b", film.folder ? `${film.folder} / ${film.name}` : film.name), fact);
  wall.add(box, film.path, show);
  return card;
}

function film_card(film, suffix, with_folder, thumbnails) {
  const card = element("a", "", "card"), box = element("span", "", "thumb");
  card.href = film.path + suffix;
  const length = film.failed ? "not available" : Number.isFinite(film.seconds) ? clock_text(film.seconds) : "";
  const facts = [with_folder ? film.folder.replaceAll("/", " / ") : "", length, film.sizes.split(/[ ,]/)[0].replace("x", "×")];
  set_icon(box, "film");
  card.append(box, element("b", film.name), element("small", facts.filter(t => t && t !== "?").join(" · ")));
  if (!film.failed) thumbnails.add(box, film.path);
  return card;
}

function folder_card(folder) {
  const card = element("a", "", "card folder"), icon = element("span");
  card.href = `#${encodeURIComponent(folder.path)}`;
  set_icon(icon, "folder");
  card.append(icon, element("b", folder.name), element("small", `${folder.count} ${folder.count === 1 ? "video" : "videos"}`));
  return card;
}

// main: the place for it; films: of the worker; key: of the URL.
export function show_list(main, all, { key, suffix }) {
  const films = named(all), thumbnails = new Thumbnails(key);
  let wall = null;
  const bar = element("div", "", "tools"), path = element("nav"), field = element("input"), cards = element("div", "", "cards"), tiles = element("div", "", "cards wall");
  path.setAttribute("aria-label", "Folders");
  Object.assign(field, { type: "search", placeholder: "Search", title: "Search (/)" });
  field.setAttribute("aria-label", "Search");
  bar.append(path, field);
  bar.hidden = films.length < 2;
  main.replaceChildren(bar, tiles, cards);

  function draw() {
    const folder = plain_text(location.hash.slice(1)), text = field.value.trim();
    const view = text ? { folders: [], films: search(films, text) } : folder_view(films, folder);
    thumbnails.clear();
    wall?.close();
    wall = globalThis.weir.wall = new Wall(key);
    const top = element("a", "All videos");
    top.href = "#";
    path.replaceChildren(...[top, ...crumbs(folder).map(c => {
      const a = element("a", c.name);
      a.href = `#${encodeURIComponent(c.path)}`;
      return a;
    })]);
    path.lastChild.setAttribute("aria-current", "page");
    const none = text ? `No video has “${text}” in its name.` : folder ? "There is no such folder, or it has no videos." : "The folder has no videos.";
    const live = view.films.filter(f => f.live), others = view.films.filter(f => !f.live);
    const drawn = [...view.folders.map(folder_card), ...others.map(f => film_card(f, suffix, !!text, thumbnails))];
    tiles.replaceChildren(...live.map(f => live_card(f, suffix, wall)));
    cards.replaceChildren(...(drawn.length || live.length ? drawn : [element("p", none)]));
  }
  field.oninput = draw;
  addEventListener("hashchange", () => {
    field.value = "";
    draw();
    scrollTo(0, 0);
  });
  addEventListener("keydown", e => {
    if (e.key !== "/" || e.target === field || e.ctrlKey || e.altKey || e.metaKey) return;
    e.preventDefault();
    field.focus();
  });
  draw();
}
