// SPDX-License-Identifier: GPL-2.0-or-later
// The films of a list: their folders, their order, and which of them a search finds. Pure.

// A name that is not UTF-8 stays as it is.
export function plain_text(coded) {
  try {
    return decodeURIComponent(coded);
  } catch {
    return coded;
  }
}

const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" }).compare; // "film 2" before "film 10"

// films: {path} of the list. Returns them with {folder, name}, decoded; a folder is "" or "a/b".
export function named(films) {
  return films.map(film => {
    const parts = film.path.slice(1).split("/").map(plain_text);
    const name = parts.pop();
    return { ...film, folder: parts.join("/"), name };
  });
}

// Returns what a folder has: {folders: [{name, path, count: films within}], films}, each in natural order.
export function folder_view(films, folder) {
  const prefix = folder ? `${folder}/` : "", folders = new Map();
  for (const film of films) {
    if (film.folder === folder || !`${film.folder}/`.startsWith(prefix)) continue;
    const name = film.folder.slice(prefix.length).split("/")[0];
    const known = folders.get(name) ?? { name, path: prefix + name, count: 0 };
    known.count++;
    folders.set(name, known);
  }
  return { folders: [...folders.values()].sort((a, b) => order(a.name, b.name)),
    films: films.filter(f => f.folder === folder).sort((a, b) => order(a.name, b.name)) };
}

const folded = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

// Returns the films that have all words of the text in their path, of all folders, in natural order.
export function search(films, text) {
  const words = folded(text).split(/\s+/).filter(Boolean);
  return films.filter(f => {
    const path = folded(`${f.folder}/${f.name}`);
    return words.every(w => path.includes(w));
  }).sort((a, b) => order(`${a.folder}/${a.name}`, `${b.folder}/${b.name}`));
}

// Returns [{name, path}] from the top folder to a folder.
export function crumbs(folder) {
  const parts = folder ? folder.split("/") : [];
  return parts.map((name, i) => ({ name, path: parts.slice(0, i + 1).join("/") }));
}
