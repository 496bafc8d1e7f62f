// What the site brings along for its first view is what the module answers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { requestOf } from "../../web/state/scenario.js";
import { loadSlipstick, ROOT } from "../support/module.js";

const { slipstick } = await loadSlipstick();
const { described, report, catalogue } = JSON.parse(readFileSync(ROOT + "build/site/data/first_view.json", "utf8"));

test("the report is the module's answer to what the page asks without inputs", () => {
  const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
  const request = JSON.stringify(requestOf(described.default, {}, presetPaths));
  assert.deepEqual(report, JSON.parse(slipstick.evaluate(request, "")));
});

test("the inputs are described as the module describes them", () => {
  assert.deepEqual(described, JSON.parse(slipstick.describe()));
});

test("the catalogue has the module's entries in its order, by name", () => {
  const named = JSON.parse(slipstick.presets("")).map(({ kind, id, name }) => (name === undefined ? { kind, id } : { kind, id, name }));
  assert.deepEqual(catalogue, named);
});

test("a report leaves the timeline to a question of its own", () => {
  assert.deepEqual(report.training.timeline, []);
  assert.ok(JSON.parse(slipstick.timeline("")).timeline.length > 0);
});
