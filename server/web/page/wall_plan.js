// SPDX-License-Identifier: GPL-2.0-or-later
// Which pictures of a wall's tiles are decoded. Pure.
//
//   The law: a tile decodes all pictures of its level, or key frames alone. Tiles in view share ALL_PIXELS a second: the
//   cheapest get all pictures, the others key frames, at most one every KEY_EVERY ms. A tile out of view gets nothing.

export const ALL_PIXELS = 24e6; // a second: one camera of 1280x720 at 25 fps, or 15 of 320x240 at 20 fps
export const KEY_EVERY = 900; // ms

// tiles: [{id, width, height, fps, seen}]. Returns a Map of id -> "all", "keys" or "none".
export function plan(tiles) {
  const out = new Map(tiles.map(t => [t.id, "none"]));
  const cost = t => t.width * t.height * t.fps;
  let left = ALL_PIXELS;
  for (const t of tiles.filter(t => t.seen).sort((a, b) => cost(a) - cost(b))) {
    const fits = cost(t) > 0 && cost(t) <= left;
    if (fits) left -= cost(t);
    out.set(t.id, fits ? "all" : "keys");
  }
  return out;
}

// Returns true if a picture is decoded. last: when the tile's last one was, in ms; follows: the picture before it was.
export function decodes(mode, { key, follows }, last, now) {
  if (mode === "all") return key || follows;
  return mode === "keys" && key && now - last >= KEY_EVERY;
}

// Returns the ms after which a tile that lost its server connects again: 2, 4, 8 ... 30 s.
export function retry_after(attempts) {
  return Math.min(30000, 2000 * 2 ** attempts);
}
