// SPDX-License-Identifier: GPL-2.0-or-later
import assert from "node:assert/strict";
import test from "node:test";

import { picture_second } from "../../../../../server/web/page/preview.js";

test("a film has a hundred pictures at most, at whole seconds", () => {
  const table = [ // at, duration, second
    [0, 20, 0], [7.9, 20, 7], [20, 20, 20], [-1, 20, 0], [99, 20, 20], [0.4, 0.5, 0],
    [99.9, 1000, 90], [100, 1000, 100], [3601, 7200, 3600],
  ];
  for (const [at, duration, second] of table) assert.equal(picture_second(at, duration), second, `${at} of ${duration}`);
  for (const duration of [1, 60, 101, 5400, 86400]) {
    const seconds = new Set(Array.from({ length: 5000 }, (_, i) => picture_second(i * duration / 5000, duration)));
    assert.ok(seconds.size <= 101, `${duration} s: ${seconds.size}`);
  }
});
