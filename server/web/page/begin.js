// SPDX-License-Identifier: GPL-2.0-or-later
// Runs before the rest of the page is there: the worker connects, receives and decodes while the page's other scripts
// load and it is drawn for the first time. page.js takes the worker over, with what it has said so far.
"use strict";
// Returns {worker, early} for the stream at a path; more: options of worker.js.
globalThis.weir_open = (path, more) => {
  const key = new URLSearchParams(location.search).get("key"), at = location.host + path;
  const worker = new Worker("/.weir/worker.js", { type: "module" }), early = [];
  worker.onmessage = worker.onerror = e => early.push(e);
  worker.postMessage({ type: "open", url: `${location.protocol === "https:" ? "wss" : "ws"}://${at}`,
    uri: `rtsp://${at}${key ? `?key=${encodeURIComponent(key)}` : ""}`, ...more });
  return { worker, early };
};
{
  const query = new URLSearchParams(location.search);
  globalThis.weir_first = weir_open(location.pathname, { level: query.has("level") ? Number(query.get("level")) : -1,
    start: Number(query.get("start") ?? 0) || 0, requested: performance.timeOrigin });
}
