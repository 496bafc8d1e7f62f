// Sweeps, a number as the unknown, sensitivities and the papers' studies, as scripts run them.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import test from "node:test";
import { ROOT, slipstickCommand } from "../support/module.js";

const answer = (...args) => JSON.parse(slipstickCommand(args));

test("a sweep is a CSV row a point, the last axis fastest, and says what is no scenario", () => {
  const rows = slipstickCommand(["sweep", "training.mapping.tp=4,8", "cluster.devices=256:1024:3:log", "--report", "training.step_time_s,training.feasible"]).trim().split("\n");
  assert.equal(rows[0], "training.mapping.tp,cluster.devices,training.step_time_s,training.feasible,issue");
  assert.deepEqual(rows.slice(1).map((row) => row.split(",").slice(0, 2).join(" ")), ["4 256", "4 512", "4 1024", "8 256", "8 512", "8 1024"]);
  assert.ok(rows.slice(1).every((row) => Number(row.split(",")[2]) > 0));
  const wrong = slipstickCommand(["sweep", "training.mapping.tp=3,8", "--report", "training.step_time_s"]).trim().split("\n");
  assert.match(wrong[1], /^3,,.*tp/);
});

test("solve finds the edge of a condition", () => {
  const found = answer("solve", "serving.prompt=1k:4M", "serving.batch=1", "--until", "serving.feasible>=1");
  assert.equal(found.which, "largest");
  const at = (prompt) => answer("evaluate", "serving.batch=1", `serving.prompt=${prompt}`).serving.feasible;
  assert.equal(at(found.value), true);
  assert.equal(at(found.value + 1), false);
});

test("solve says why nothing holds", () => {
  const none = answer("solve", "cluster.devices=64:1024", "--until", "training.step_time_s<=1e-9");
  assert.equal(none.value, null);
  assert.match(none.reason, /neither end/);
});

test("sensitivity ranks inputs, with elasticities of the right sign", () => {
  const { inputs } = answer("sensitivity", "training=null", "--figure", "serving.decode_step_s");
  const of = (path) => inputs.find((input) => input.path === path);
  assert.ok(of("cluster.device.memory.bandwidth").elasticity < 0);
  const swing = inputs.map((input) => Math.abs(input.high_figure - input.low_figure));
  assert.deepEqual(swing, [...swing].sort((a, b) => b - a));
});

for (const file of readdirSync(ROOT + "core/presets/studies")) {
  const id = file.replace(".json", "");
  test(`study ${id}: every expectation holds`, () => {
    const study = answer("study", id);
    for (const point of study.points) assert.deepEqual(point.issues, [], point.label);
    assert.ok(study.expectations.length > 0);
    for (const { text, holds, found } of study.expectations) assert.ok(holds, `${text}; found ${JSON.stringify(found)}`);
  });
}
