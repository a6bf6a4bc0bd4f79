// SPDX-License-Identifier: GPL-2.0-or-later
import test from "node:test";
import assert from "node:assert/strict";
import { login_error } from "../../../../../server/web/page/login.js";

test("a refused login has a sentence that says what to do", () => {
  assert.equal(login_error(401, "wrong user or password: check both"), "Wrong user or password: check both.");
  assert.match(login_error(0, ""), /Try again/);
  assert.match(login_error(500, ""), /500.*Try again/);
});
