// The page's first module answers as the whole one does, without what it leaves out.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { firstCore } from "../../web/engine/cores.js";
import { ROOT, loadSlipstick } from "../support/module.js";

const { slipstick } = await loadSlipstick();
const first = await firstCore(readFileSync(ROOT + "build/site/wasm/first.wasm"));

const GOLDEN = ROOT + "tests/golden/";
const requests = readdirSync(GOLDEN).filter((name) => name.endsWith(".request.json")).map((name) => readFileSync(GOLDEN + name, "utf8"));

test("reports are equal but for the timeline, which is a question of its own", () => {
  for (const request of ["", '{"training": null}', '{"cost": null, "serving": null}', ...requests]) {
    const whole = JSON.parse(slipstick.evaluate(request, ""));
    const timeline = whole.training?.timeline;
    if (whole.training) whole.training.timeline = [];
    assert.deepEqual(JSON.parse(first.evaluate(request)), whole);
    assert.deepEqual(JSON.parse(first.timeline(request))?.timeline, timeline);
  }
});

test("wrong requests are left to the whole module, which has the words", () => {
  for (const request of ["{", '{"model": {"preset": "no-such"}}', '{"training": {"sequence": -1, "mapping": {"tp": 3}}}']) {
    assert.equal(first.evaluate(request), "");
    assert.ok(JSON.parse(slipstick.evaluate(request, "")).issues.length > 0);
  }
});

test("inputs are described alike but for their help, presets listed alike but for studies and remarks", () => {
  const plain = ({ help, ...input }) => input;
  const whole = JSON.parse(slipstick.describe());
  assert.deepEqual(JSON.parse(first.describe()).inputs.map(plain), whole.inputs.map(plain));
  const bare = ({ sources, note, published, ...preset }) => preset;
  const listed = JSON.parse(slipstick.presets("")).filter(({ kind }) => kind !== "study");
  assert.deepEqual(JSON.parse(first.presets("")).map(bare), listed.map(bare));
});

test("text crosses the boundary unharmed, and a hostile request leaves the module able to answer", () => {
  const name = 'Modell 模型 \u{1F9EE} \\ " \n';
  assert.equal(JSON.parse(first.evaluate(JSON.stringify({ model: { preset: "llama-3.1-70b", name } }))).scenario.model.name, name);
  const before = first.evaluate("");
  for (const request of ["[".repeat(5e6), '{"a":'.repeat(1e5), "\ud800", "\0", '{"training": {"sequence": 1e999}}']) {
    assert.equal(first.evaluate(request), "");
  }
  assert.equal(first.evaluate(""), before);
});
