// clang-tidy finds nothing in the core (.clang-tidy). Not in wasm/bindings.cc, which only Emscripten compiles.
import assert from "node:assert/strict";
import test from "node:test";
import { faultsIn, unitsBelow } from "../support/tidy.js";

test("C++ of the core", async () => {
  const units = unitsBelow(["core"], (path) => path.endsWith("_main.cc"));
  assert.ok(units.size > 30, `${units.size} units`);
  assert.equal(await faultsIn(units), "");
});
