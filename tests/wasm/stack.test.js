// The module's stack: Emscripten's default is 64 kB or 5 MB, by version, and a search of mappings needs more than the
// smaller.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { loadSlipstick, ROOT } from "../support/module.js";

const { slipstick, memory, exported } = await loadSlipstick();
const SIZE = Number(/set\(WASM_STACK (\d+)\)/.exec(readFileSync(ROOT + "CMakeLists.txt", "utf8"))[1]);
const top = (exported.stackSave ?? exported.emscripten_stack_get_current)(); // named by Emscripten's version

test("the stack has the size that the build states, and lies at the bottom, where an overflow stops the module", () => {
  assert.equal(top, SIZE);
});

// With a large enough stack the search ends in seconds; after an overflow it never ended.
test("mappings chosen by the program are answered in seconds", { timeout: 60_000 }, () => {
  for (const request of ['{"version": 2}', '{"version": 2, "training": null}', '{"version": 2, "serving": null}']) {
    assert.equal(JSON.parse(slipstick.evaluate(request, "")).issues, undefined, request);
  }
});

test("the deepest calls leave three quarters of the stack untouched", () => {
  const read = (text) => assert.equal(JSON.parse(text).issues, undefined, text.slice(0, 300));
  const golden = ROOT + "tests/golden/";
  for (const file of readdirSync(golden).filter((one) => one.endsWith(".request.json")))
    read(slipstick.evaluate(readFileSync(golden + file, "utf8"), "*"));
  read(slipstick.evaluate('{"version": 2}', "*"));
  slipstick.evaluate('{"a":'.repeat(60) + "1" + "}".repeat(60), ""); // as deep as a request may be, and invalid
  read(slipstick.sensitivity("{}", "training.step_time_s", 0.1));
  read(slipstick.size('{"requests_per_s": 40, "ttft": 2, "tpot": 0.05, "clusters": ["dgx-h100"]}'));
  for (const [Job, spec] of [
    ["Advice", { request: { version: 2 } }],
    ["Advice", { for: "serving" }],
    ["Search", { for: "training" }],
    ["Search", { for: "serving" }],
  ]) {
    const job = new slipstick[Job](JSON.stringify(spec));
    assert.equal(job.issues(), "");
    for (let more = true, steps = 0; more && steps < 500; steps++) more = job.step(1);
    job.delete();
  }
  const stack = new Uint8Array(memory.buffer, 0, top);
  const deepest = top - stack.findIndex((byte) => byte !== 0); // the stack began as zeros
  assert.ok(deepest > 50_000 && deepest < SIZE / 4, `${deepest} of ${SIZE} bytes`);
});
