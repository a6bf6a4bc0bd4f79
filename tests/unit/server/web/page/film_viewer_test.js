// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { FilmTable } from "../../../../../server/web/page/abr.js";
import { FilmViewer, SAMPLE, TableParts } from "../../../../../server/web/page/film_viewer.js";

const FPS = 25, PACKET = 1200;
const RATES = [100000, 300000, 700000, 1500000];

// A server that sends the film's frames at the requested level and speed, as a path of `bps` carries them, and a viewer that
// plays them. Returns {levels (of the groups, as sent), stalls, buffered: most and last, requests}.
function watch({ bps, seconds, viewer = new FilmViewer({ rates: RATES, fps: FPS, frames: seconds * FPS }), rtt = 50, pace = 1, jump = null }) {
  viewer.set_pace(pace);
  let level = 0, speed = viewer.play_speed, left = 0, frame = 0, sent = 0, shown = -1, playing = false, start = 250, clock = 0;
  const levels = [], requests = [], delayed = [];
  let stalls = 0, most = 0, buffered = 0;
  viewer.rtt = rtt;
  const buffer = () => ({ number: shown, media: Math.max(0, (frame - 1 - Math.max(shown, 0)) * 1000 / FPS), bytes: 0, frames: frame - shown, playing });
  level = viewer.run(buffer(), 0).level;
  viewer.place(0, 0, 0);
  for (let now = 0; shown < seconds * FPS - 1 && now < 10 * seconds * 1000; now += 10) {
    while (delayed.length && delayed[0].at <= now) ({ level = level, speed = speed } = delayed.shift().request);
    left += bps(now) / 800;
    clock += speed * 10; // ms of media that the server may have sent
    while (left >= PACKET && frame < seconds * FPS && frame * 1000 / FPS <= clock) {
      if (frame % (2 * FPS) === 0 && !sent) levels.push(level);
      const of = levels.at(-1);
      viewer.packet({ number: frame, slot: frame, level: of, bytes: PACKET }, now);
      left -= PACKET;
      sent += PACKET;
      if (sent < RATES[of] / 8 / FPS) continue;
      sent = 0;
      frame++;
    }
    if (frame * 1000 / FPS > clock || frame === seconds * FPS) left = Math.min(left, PACKET);
    else clock = Math.min(clock, frame * 1000 / FPS + 100 * speed); // what the path does not take waits
    if (playing) shown = Math.min(shown + pace * FPS / 100, frame - 1);
    if (playing && shown >= frame - 1 && frame < seconds * FPS) {
      playing = false;
      stalls++;
      start = 2000;
    }
    buffered = buffer().media;
    most = Math.max(most, buffered);
    if (now % SAMPLE === 0) {
      const request = viewer.run(buffer(), now);
      if (request) {
        requests.push(request);
        delayed.push({ at: now + rtt / 2, request });
      }
      if (!playing && shown >= 0) start = viewer.resumes(buffer(), now) ? 250 : 2000;
    }
    if (!playing && (buffered >= start || frame === seconds * FPS)) {
      playing = true;
      shown = Math.max(shown, 0);
    }
    jump?.(now, viewer);
  }
  return { levels, stalls, most, requests, end: shown >= seconds * FPS - 1.5 };
}

const share = (levels, level) => levels.filter(l => l === level).length / levels.length;

test("a fast path: the top level within two groups, the buffer up to its target", () => {
  const { levels, stalls, most, end } = watch({ bps: () => 6e6, seconds: 120 });
  assert.ok(end);
  assert.equal(stalls, 0);
  assert.deepEqual([levels[0], levels[2]], [0, 3], levels.join());
  assert.ok(share(levels, 3) > 0.95, levels.join());
  assert.ok(most > 27000 && most < 37000, `buffered ${most}`);
});

test("the level follows the path, and nothing stalls", () => {
  const { levels, stalls } = watch({ bps: now => (now > 30000 && now < 70000 ? 450000 : 2.5e6), seconds: 120 });
  assert.equal(stalls, 0);
  assert.ok(share(levels, 3) > 0.4 && Math.min(...levels.slice(1)) < 3, levels.join());
});

test("at another pace the path carries other levels, and the buffer is as long to play", () => {
  for (const [pace, level] of [[0.5, 3], [1, 2], [2, 1]]) {
    const { levels, stalls, most, end } = watch({ bps: () => 950000, seconds: 240, pace });
    assert.ok(end);
    assert.equal(stalls, 0, `${pace}`);
    assert.ok(levels.slice(-30).every(l => l === level || l === level + 1), `${pace}: ${levels.join()}`);
    assert.ok(share(levels, level) > 0.5, `${pace}: ${levels.join()}`);
    assert.ok(most / pace < 37000, `${pace}: buffered ${most}`);
  }
});

test("speeds are multiples of the pace, and a change of it is requested", () => {
  const viewer = new FilmViewer({ rates: RATES, fps: FPS, frames: 1000 * FPS });
  const buffer = media => ({ number: 100, media, bytes: 0, frames: 0, playing: true });
  viewer.set_pace(2);
  viewer.run(buffer(0), 0);
  viewer.place(0, 0, 0);
  viewer.packet({ number: 0, slot: 0, level: 0, bytes: PACKET }, 0);
  for (const [media, speed] of [[61000, 2], [57000, null], [73000, 0.5], [58000, 2]])
    assert.equal(viewer.run(buffer(media), 1000)?.speed ?? null, speed, `${media} ms`);
  viewer.set_pace(1);
  assert.equal(viewer.run(buffer(30500), 1100).speed, 1);
});

test("a path below the lowest level: it stays, and the film is played", () => {
  const { levels, end } = watch({ bps: () => 80000, seconds: 30 });
  assert.ok(end);
  assert.deepEqual([...new Set(levels)], [0]);
});

test("the level that the viewer chooses is requested", () => {
  const viewer = new FilmViewer({ rates: RATES, fps: FPS, frames: 60 * FPS });
  viewer.choose(1);
  const { levels } = watch({ bps: () => 6e6, seconds: 60, viewer });
  assert.deepEqual([...new Set(levels)], [1]);
  assert.equal(viewer.told_of().reason, "chosen");
});

test("a film of one level is buffered as any other", () => {
  const viewer = new FilmViewer({ rates: [400e3], fps: FPS, frames: 120 * FPS });
  const { levels, stalls, most } = watch({ bps: now => now > 15000 && now < 25000 ? 0 : 4e6, seconds: 120, viewer });
  assert.deepEqual([...new Set(levels)], [0]);
  assert.equal(stalls, 0);
  assert.ok(most > 28000 && most < 36000, `${most} ms`);
  assert.equal(viewer.told_of().reason, "fixed");
});

test("a buffer that is full is kept at the film's pace, and one that is too full shrinks", () => {
  const viewer = new FilmViewer({ rates: RATES, fps: FPS, frames: 1000 * FPS });
  const buffer = media => ({ number: 100, media, bytes: 0, frames: 0, playing: true });
  viewer.run(buffer(0), 0);
  viewer.place(0, 0, 0);
  viewer.packet({ number: 0, slot: 0, level: 0, bytes: PACKET }, 0);
  for (const [media, speed] of [[5000, 100], [30500, 1], [29000, 1], [25500, 100], [36000, 0.25], [31000, 0.25], [29500, 1]]) {
    const request = viewer.run(buffer(media), 1000);
    assert.equal(request?.speed ?? viewer.speed, speed, `${media} ms`);
  }
  const large = viewer.run({ ...buffer(10000), bytes: 80 << 20 }, 1000); // of a film of many bits
  assert.equal(large?.speed ?? viewer.speed, 1);
});

test("nothing is requested when the whole film has arrived", () => {
  const viewer = new FilmViewer({ rates: RATES, fps: FPS, frames: 20 * FPS });
  const buffer = { number: 100, media: 16000, bytes: 0, frames: 0, playing: true };
  viewer.run(buffer, 0);
  viewer.place(0, 0, 0);
  viewer.packet({ number: 400, slot: 400, level: 0, bytes: PACKET }, 0);
  assert.ok(viewer.run(buffer, 1000).changes_speed);
  viewer.packet({ number: 20 * FPS - 1, slot: 20 * FPS - 1, level: 0, bytes: PACKET }, 1010);
  assert.equal(viewer.run({ ...buffer, media: 40000 }, 1020), null);
  assert.equal(viewer.run(buffer, 2000), null);
});

test("an older server is asked for no more than it sends without loss", () => {
  const viewer = new FilmViewer({ rates: RATES, fps: FPS, frames: 1000 * FPS });
  assert.ok(viewer.granted(100));
  assert.ok(!viewer.granted(4));
  assert.equal(viewer.max_speed, 1.5);
});

function table() {
  const out = new Uint8Array(24 + 30 * 4), view = new DataView(out.buffer);
  out.set([0x57, 0x46, 0x54, 1, 4, 0]);
  for (const [at, value] of [[8, 30], [16, FPS], [20, 1]]) view.setUint32(at, value);
  for (const at of [12, 14]) view.setUint16(at, 2 * FPS);
  for (let g = 0; g < 30; g++) out.set([70, 95, 115, 132], 24 + 4 * g);
  return out;
}
const line = (at, total, bytes) => `film-table: ${at}/${total} ${btoa(String.fromCharCode(...bytes))}\r\n`;

test("the film's table comes in parts, and takes over what was measured", () => {
  const data = table(), parts = new TableParts();
  assert.equal(parts.request(), "film-table: 0\r\n");
  assert.equal(parts.take("film-table: later\r\n"), "later");
  assert.equal(parts.take(line(0, data.length, data.subarray(0, 100))), "more");
  assert.equal(parts.request(), "film-table: 100\r\n");
  const got = parts.take(line(100, data.length, data.subarray(100)));
  assert.ok(got instanceof FilmTable);
  const viewer = new FilmViewer({ rates: RATES, fps: FPS, frames: 60 * FPS });
  viewer.run({ number: -1, media: 0, bytes: 0, frames: 0, playing: false }, 0);
  viewer.place(0, 0, 0);
  for (let i = 0; i < 40; i++) viewer.packet({ number: 0, slot: 0, level: 0, bytes: PACKET }, 100 + i * 10);
  viewer.run({ number: -1, media: 0, bytes: 0, frames: 0, playing: false }, 500);
  const { estimate } = viewer.told_of();
  assert.ok(estimate > 900000 && estimate < 1000000, `${estimate}`);
  assert.ok(viewer.set_table(got));
  viewer.run({ number: -1, media: 0, bytes: 0, frames: 0, playing: false }, 500);
  assert.equal(viewer.told_of().estimate, estimate);
  assert.ok(!new FilmViewer({ rates: RATES, fps: FPS, frames: 600 * FPS }).set_table(got)); // of another film
});

test("parts that do not follow each other are no table", () => {
  const data = table();
  const cases = ["", "film-table: x\r\n", line(5, data.length, data), line(0, 1e9, data), line(0, 10, data), "film-table: 0/144 ====\r\n",
    line(0, data.length, new Uint8Array(data.length))];
  for (const body of cases) assert.equal(new TableParts().take(body), "none", body.slice(0, 30));
  const parts = new TableParts();
  assert.equal(parts.take(line(0, data.length, data.subarray(0, 10))), "more");
  assert.equal(parts.take(line(10, data.length + 1, data.subarray(10))), "none");
});
