// SPDX-License-Identifier: GPL-2.0-or-later
// Draws subtitles (subtitles.js) as text over the picture; style.css places them.
const ZONES = ["bottom", "middle", "top"]; // of align: 1 to 3, 4 to 6, 7 to 9

function line_of(cue) {
  const box = document.createElement("div"), p = document.createElement("p");
  p.dir = "auto"; // each line has its own direction, by its first letter
  for (const part of cue.parts) {
    const span = document.createElement("span");
    span.textContent = part.text;
    if (part.bold) span.style.fontWeight = "bold";
    if (part.italic) span.style.fontStyle = "italic";
    if (part.underline) span.style.textDecoration = "underline";
    span.style.color = part.colour;
    span.style.setProperty("--size", part.size * 100);
    p.append(span);
  }
  box.append(p);
  return box;
}

// cues: in the order of the script. The first one of a zone stays nearest to the edge.
export function draw_cues(over, cues) {
  const zones = ZONES.map(name => {
    const zone = document.createElement("div");
    zone.className = `zone ${name}`;
    return zone;
  });
  const placed = [];
  for (const cue of cues) {
    const box = line_of(cue), column = (cue.align - 1) % 3, row = Math.floor((cue.align - 1) / 3);
    box.style.textAlign = ["left", "center", "right"][column];
    if (cue.place) {
      box.className = "placed";
      box.style.left = `${100 * cue.place.x}%`;
      box.style.top = `${100 * cue.place.y}%`;
      box.style.transform = `translate(${-50 * column}%, ${50 * row - 100}%)`;
      placed.push(box);
    } else {
      zones[row].append(box);
    }
  }
  over.replaceChildren(...zones.filter(z => z.children.length), ...placed);
}
