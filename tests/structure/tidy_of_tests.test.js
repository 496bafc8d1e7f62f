// clang-tidy (.clang-tidy) finds nothing in the C++ of the tests, except in the sources that must not compile. Only in
// a full run: after a change to a common header it takes three minutes on two cores.
import assert from "node:assert/strict";
import test from "node:test";
import { faultsIn, unitsBelow } from "../support/tidy.js";

const FOLDERS = ["tests/benchmark", "tests/core", "tests/fuzz", "tests/support", "tests/validation"];

test("C++ of the tests", async () => {
  const units = unitsBelow(FOLDERS, (path) => /_(benchmark|fuzz)\.cc$/.test(path));
  assert.ok(units.size > 30, `${units.size} units`);
  assert.equal(await faultsIn(units), "");
});
