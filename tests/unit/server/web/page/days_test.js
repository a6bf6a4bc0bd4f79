// SPDX-License-Identifier: GPL-2.0-or-later
process.env.TZ = "Europe/Berlin"; // whose last summer hour of 2026 ends on 25 October at 01:00 UTC
import test from "node:test";
import assert from "node:assert/strict";
import { clock_of, day_after, day_of, days_of, instant_of, length_text, rows_of, utc_of } from "../../../../../server/web/page/days.js";

const at = text => Date.parse(text) / 1000;

test("days are those of the viewer, also where they have 25 hours", () => {
  assert.equal(day_of(at("2026-10-25T00:30:00Z")), at("2026-10-24T22:00:00Z"));
  assert.equal(day_after(at("2026-10-24T22:00:00Z")), at("2026-10-25T23:00:00Z"));
  assert.equal(day_after(at("2026-03-28T23:00:00Z")), at("2026-03-29T22:00:00Z"));
  assert.deepEqual(days_of([[at("2026-10-23T10:00:00Z"), at("2026-10-23T22:00:01Z")], [at("2026-10-25T12:00:00Z"), at("2026-10-25T13:00:00Z")]]),
    ["2026-10-24T22:00:00Z", "2026-10-23T22:00:00Z", "2026-10-22T22:00:00Z"].map(at));
  assert.deepEqual(days_of([]), []);
});

test("rows end with the hour, and gaps are stated", () => {
  const rows = rows_of([[at("2026-11-24T10:50:00Z"), at("2026-11-24T12:10:00Z")], [at("2026-11-24T12:10:01Z"), at("2026-11-24T12:20:00Z")],
    [at("2026-11-24T12:30:00Z"), at("2026-11-24T12:31:00Z")]]);
  assert.deepEqual(rows.map(r => [utc_of(r.from).slice(11, 19), utc_of(r.to).slice(11, 19), r.gap]), [
    ["10:50:00", "11:00:00", false], ["11:00:00", "12:00:00", false], ["12:00:00", "12:10:00", false], ["12:10:01", "12:20:00", false],
    ["12:20:00", "12:30:00", true], ["12:30:00", "12:31:00", false]]);
  assert.deepEqual(rows_of([]), []);
});

test("the hour that comes twice is two rows", () => {
  const rows = rows_of([[at("2026-10-25T00:00:00Z"), at("2026-10-25T02:00:00Z")]]);
  assert.deepEqual(rows.map(r => [clock_of(r.from), clock_of(r.to)]), [["02:00:00", "02:00:00"], ["02:00:00", "03:00:00"]]);
});

test("times as text, and back", () => {
  assert.equal(utc_of(at("2026-11-24T11:30:00Z")), "2026-11-24T11:30:00Z");
  assert.equal(utc_of(at("2026-11-24T11:30:00.25Z")), "2026-11-24T11:30:00.250Z");
  for (const [seconds, text] of [[4, "4 s"], [60, "1 min"], [179, "3 min"], [3600, "1 h"], [7500, "2 h 5 min"]])
    assert.equal(length_text(seconds), text);
  const day = day_of(at("2026-11-24T11:30:00Z"));
  assert.equal(instant_of(day, "12:30"), at("2026-11-24T11:30:00Z"));
  assert.equal(instant_of(day, "12:30:09"), at("2026-11-24T11:30:09Z"));
  assert.ok(Number.isNaN(instant_of(day, "x")));
});
