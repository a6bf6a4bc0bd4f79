// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { crumbs, folder_view, named, search } from "../../../../../server/web/page/films.js";

const films = named(["/film%2010.mkv", "/film%202.mkv", "/Series/Season%2010/a.mkv", "/Series/Season%202/b.mkv", "/Series/%C3%89t%C3%A9.mkv",
  "/Series2/c.mkv", "/bad%ff.mkv"].map(path => ({ path })));

test("a folder has its own films and folders, in natural order", () => {
  const top = folder_view(films, "");
  assert.deepEqual(top.films.map(f => f.name), ["bad%ff.mkv", "film 2.mkv", "film 10.mkv"]);
  assert.deepEqual(top.folders, [{ name: "Series", path: "Series", count: 3 }, { name: "Series2", path: "Series2", count: 1 }]);
  const series = folder_view(films, "Series");
  assert.deepEqual(series.films.map(f => f.name), ["Été.mkv"]);
  assert.deepEqual(series.folders.map(f => f.name), ["Season 2", "Season 10"]);
  assert.deepEqual(folder_view(films, "Serie"), { folders: [], films: [] });
  assert.deepEqual(crumbs("Series/Season 2"), [{ name: "Series", path: "Series" }, { name: "Season 2", path: "Series/Season 2" }]);
  assert.deepEqual(crumbs(""), []);
});

test("a search finds words of the whole path, whatever their case and accents", () => {
  assert.deepEqual(search(films, "ETE").map(f => f.name), ["Été.mkv"]);
  assert.deepEqual(search(films, "season  series").map(f => f.name), ["b.mkv", "a.mkv"]);
  assert.deepEqual(search(films, "film 10").map(f => f.name), ["film 10.mkv"]);
  assert.deepEqual(search(films, "nothing"), []);
  assert.equal(search(films, "").length, films.length);
});
