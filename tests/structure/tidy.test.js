// clang-tidy (.clang-tidy) finds nothing in the core and in the module's bindings.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import test from "node:test";
import { ROOT } from "../support/module.js";
import { faultsIn, unitsBelow } from "../support/tidy.js";

test("C++ of the core", async () => {
  const units = unitsBelow(["core"], (path) => path.endsWith("_main.cc"));
  assert.ok(units.size > 30, `${units.size} units`);
  assert.equal(await faultsIn(units), "");
});

test("the boundary of the module, as Emscripten compiles it", async (context) => {
  const headers = ROOT + "build/wasm/third_party";
  if (!existsSync(headers)) return context.skip("the module is not built");
  const emscripten = execFileSync("em++", ["--cflags"], { encoding: "utf8" }).trim().split(/\s+/);
  // The module has one thread, so its statics need no guard.
  const options = { checks: "-bugprone-dynamic-static-initializers", flags: ["-isystem", headers, ...emscripten] };
  assert.equal(await faultsIn(new Map([["wasm/bindings", ["wasm/bindings.cc"]]]), options), "");
});
