// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { away_text, badge_text, clock_text, fps_text, level_text, ms_text, only_path, own_path, path_text, problem_text, rate_text, reason_text, time_text, track_text } from "../../../../../server/web/page/text.js";

const where = { host: "h:8554", path: "/x", secure_url: "https://h:8554/x" };

test("figures", () => {
  assert.deepEqual([0, 61, 3723.9, NaN, -3].map(clock_text), ["0:00", "1:01", "1:02:03", "0:00", "0:00"]);
  assert.deepEqual([320000, 1920000, 12e6, NaN].map(rate_text), ["320 kbit/s", "1.9 Mbit/s", "12 Mbit/s", "–"]);
  assert.deepEqual([30, 7.5, 29.97].map(fps_text), ["30 fps", "7.5 fps", "30.0 fps".replace(".0", "")]);
  assert.deepEqual([3.14, 42.4, null, NaN].map(ms_text), ["3.1 ms", "42 ms", "–", "–"]);
  assert.equal(level_text({ width: 640, height: 360, fps: 15, rate: 640000 }), "640×360, 15 fps, 640 kbit/s");
});

test("each problem has a sentence, and says whether to try again", () => {
  for (const what of ["insecure", "decoder", "element", "connect", "origin", "silent", "lost", "over", "dismissed", "codec", "protocol", "refused", "script"]) {
    const told = problem_text({ what, detail: "", status: 500 }, where);
    assert.match(told.sentence, /^(h:8554|[A-Z]).*\.$/, what);
    assert.equal(!!told.again, ["connect", "origin", "silent", "lost", "over", "dismissed"].includes(what), what);
  }
  assert.equal(problem_text({ what: "insecure" }, where).way.href, "https://h:8554/x");
  assert.equal(problem_text({ what: "refused", status: 404, detail: "no such stream: the server has only /live" }, where).way.href, "/live");
  assert.match(problem_text({ what: "refused", status: 401, detail: "" }, where).sentence, /key/);
  assert.equal(problem_text({ what: "refused", status: 403, detail: "use rtsps" }, where).detail, "use rtsps");
  assert.match(problem_text({ what: "codec", detail: "VP9" }, where).sentence, /VP9/);
});

test("what gets the key is a path of this server", () => {
  for (const path of ["/", "/live", "/a/b%20c.mp4", "/a//b", "/a?level=1"]) assert.equal(own_path(path), path);
  for (const path of ["//evil.example/", "/\\evil.example/", "/\t/evil.example/", "\\\\evil.example", "https://evil.example/",
    "javascript:alert(1)", "live", "", "/\n//[", "//", undefined]) assert.equal(own_path(path), undefined, path);
  assert.equal(only_path("no such stream: the server has only /live"), "/live");
  for (const detail of ["only //evil.example/", "only /\\evil.example/x", "only https://evil.example/", "nothing", undefined]) {
    assert.equal(only_path(detail), undefined, detail);
    const told = problem_text({ what: "refused", status: 404, detail: detail ?? "" }, where);
    assert.ok(!told.way?.href.includes("evil"), detail);
  }
});

test("what a film's policy knows and decides", () => {
  assert.equal(path_text({ estimate: 0, error: 0 }), "not known");
  assert.equal(path_text({ estimate: 3940000, error: 0.083 }), "3.9 Mbit/s ± 8 %");
  assert.equal(reason_text("rate", false), "the path carries no higher level");
  assert.equal(reason_text("rate", true), "the path carries it");
  for (const reason of ["start", "buffer", "stall", "chosen", "fixed"]) assert.ok(reason_text(reason, false), reason);
});

test("live media is live in the present only", () => {
  assert.deepEqual([[false, 0], [false, 0.9], [true, 0.5], [false, 12.7], [true, 3], [false, 65]].map(([paused, behind]) => badge_text({ paused, behind })),
    ["live", "live", "", "−12 s", "−3 s", "−1:05"]);
  for (const why of ["origin", "source", "network"]) assert.match(away_text({ why, seconds: 3.9 }, "h:1"), /^[A-Z].*\(3 s\)\.$/);
  const noon = new Date(2026, 10, 24, 12, 0, 5).getTime();
  assert.equal(away_text({ why: "source", seconds: 65, reason: "it answers 401" }, "h:1", noon), "The source is away since 11:59: it answers 401.");
  assert.equal(away_text({ why: "source", seconds: 6, reason: "" }, "h:1", noon), "The source is away since 11:59.");
  assert.equal(time_text(noon / 1000 - 86400, noon / 1000), "2026-11-23 12:00");
  assert.deepEqual([track_text("eng", 1), track_text("", 3)], ["eng", "track 3"]);
});
