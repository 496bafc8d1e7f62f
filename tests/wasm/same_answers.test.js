// The module and the command line are two builds of one core: they give the same answers.
import assert from "node:assert/strict";
import test from "node:test";
import { differences } from "../support/differences.js";
import { loadSlipstick, slipstickCommand } from "../support/module.js";

const { slipstick } = await loadSlipstick();

/** The command line's answers to many requests, one per line. */
const native = (requests) =>
  slipstickCommand(["evaluate", "--lines"], requests.map((one) => JSON.stringify(one)).join("\n") + "\n")
    .trimEnd()
    .split("\n");

// Uniform random choices, the same in every run.
function drawing(seed) {
  let state = seed;
  const below = (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  return (list) => list[below(list.length)];
}

const ids = (kind) => JSON.parse(slipstick.presets(kind)).map((entry) => entry.id);

function drawnRequests(count) {
  const draw = drawing(20240607);
  const [models, clusters, engines, frameworks] = ["model", "cluster", "engine", "framework"].map(ids);
  return Array.from({ length: count }, () => ({
    model: { preset: draw(models) },
    cluster: { preset: draw(clusters) },
    training: {
      framework: { preset: draw(frameworks) },
      sequence: draw([512, 1024, 2048]),
      recompute: draw(["none", "selective", "full", "auto"]),
      trainable: draw(["all", "all", "lora"]),
    },
    serving: {
      engine: { preset: draw(engines) },
      prompt: draw([100, 1000, 1900]),
      output: draw([2, 100]),
      ...draw([
        { batch: 8 },
        { batch: "max" },
        { concurrency: 17 },
        { requests_per_s: 0.3 },
        { concurrency: 40, waves: 8 },
      ]),
    },
  }));
}

test("500 drawn requests", () => {
  const requests = drawnRequests(500);
  const answers = native(requests);
  let answered = 0;
  requests.forEach((request, i) => {
    const text = JSON.stringify(request);
    const [module, commandLine] = [slipstick.evaluate(text, ""), answers[i]].map((answer) => JSON.parse(answer));
    for (const { training } of [module, commandLine]) if (training) training.timeline = training.timeline_cut = null; // the module answers it separately
    assert.deepEqual(differences(module, commandLine), [], text);
    if (!commandLine.issues) answered += 1;
  });
  assert.ok(answered > 300, `${answered} of 500 answered`);
});
