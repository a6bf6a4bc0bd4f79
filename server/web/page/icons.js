// SPDX-License-Identifier: GPL-2.0-or-later
// The icons, as paths in a square of 24.
const PATHS = {
  play: "M8 5v14l11-7z",
  pause: "M7 5h4v14H7zM13 5h4v14h-4z",
  replay: "M12 5V1L6.5 6.2 12 11V7a5.5 5.5 0 1 1-5.5 5.5h-2A7.5 7.5 0 1 0 12 5z",
  sound: "M4 9v6h4l5 5V4L8 9zM15.5 8.2v7.6a4.2 4.2 0 0 0 0-7.6zM15.5 3.6v2.1a6.6 6.6 0 0 1 0 12.6v2.1a8.6 8.6 0 0 0 0-16.8z",
  muted: "M4 9v6h4l5 5V4L8 9zM21 9.4 19.6 8 17.5 10.1 15.4 8 14 9.4l2.1 2.1-2.1 2.1 1.4 1.4 2.1-2.1 2.1 2.1 1.4-1.4-2.1-2.1z",
  full: "M5 14H3v7h7v-2H5zM3 10h2V5h5V3H3zM19 19h-5v2h7v-7h-2zM14 3v2h5v5h2V3z",
  window: "M3 16h5v5h2v-7H3zM8 8H3v2h7V3H8zM14 21h2v-5h5v-2h-7zM16 8V3h-2v7h7V8z",
  info: "M4 20V10h4v10zM10 20V4h4v16zM16 20v-7h4v7z",
  subtitles: "M3 5h18v14H3zM5 7v10h14V7zM7 13h3v2H7zM12 13h5v2h-5zM7 9.5h6v2H7zM15 9.5h2v2h-2z",
  tracks: "M12 3v10.6A4 4 0 1 0 14 17V7h4V3zM3 5h6v2H3zM3 9h6v2H3z",
  keys: "M2 6h20v12H2zM4 8v8h16V8zM6 9.5h2v2H6zM10 9.5h2v2h-2zM14 9.5h4v2h-4zM7 13h10v2H7z",
  film: "M3 5h18v14H3zM5 7v2h2V7zM5 11v2h2v-2zM5 15v2h2v-2zM9 7v10h6V7zM17 7v2h2V7zM17 11v2h2v-2zM17 15v2h2v-2z",
  folder: "M3 5h7l2 2h9v12H3z",
  records: "M3 4h4V2h2v2h6V2h2v2h4v17H3zM5 9v10h14V9zM10 11l5 3-5 3z",
  close: "M18.3 7.1 16.9 5.7 12 10.6 7.1 5.7 5.7 7.1l4.9 4.9-4.9 4.9 1.4 1.4 4.9-4.9 4.9 4.9 1.4-1.4-4.9-4.9z",
  home: "M3 5h5v5H3zM10 5h11v5H10zM3 14h5v5H3zM10 14h11v5H10z",
};
const SVG = "http://www.w3.org/2000/svg";

export function set_icon(element, name) {
  if (element.dataset.icon === name) return;
  element.dataset.icon = name;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  element.replaceChildren(svg);
}
