// Advice in the page's module gives the command line's answer, in steps that a worker can stop; also the worker.
import assert from "node:assert/strict";
import test from "node:test";
import { differences } from "../support/differences.js";
import { loadSlipstick, slipstickCommand } from "../support/module.js";
import { searchWorker } from "../support/search_worker.js";
import { timed } from "../support/timed.js";

const { slipstick, compiled } = await loadSlipstick();

const SPECS = {
  "the default scenario": { spec: {}, args: [] },
  "its serving": { spec: { for: "serving" }, args: ["--for", "serving"] },
  "DeepSeek-V3 on 8 H100": {
    spec: { request: { model: { preset: "deepseek-v3" }, cluster: { preset: "dgx-h100", devices: 8 } } },
    args: ["model=deepseek-v3", "cluster=dgx-h100", "cluster.devices=8"],
  },
  "7B LoRA on one RTX 4090": {
    spec: { request: { model: { preset: "llama-2-7b" }, cluster: { preset: "single-rtx-4090" } }, for: "serving" },
    args: ["model=llama-2-7b", "cluster=single-rtx-4090", "--for", "serving"],
  },
};

function steps(spec) {
  const advice = new slipstick.Advice(JSON.stringify(spec));
  assert.equal(advice.issues(), "");
  const times = [];
  for (let more = true; more; ) {
    const start = performance.now();
    more = advice.step(1);
    times.push(performance.now() - start);
  }
  const report = JSON.parse(advice.report());
  advice.delete();
  return { report, times };
}

for (const [name, { spec, args }] of Object.entries(SPECS)) {
  test(`advice on ${name}: the command line's, within a second`, () => {
    const { report, times } = steps(spec);
    timed(
      "all steps",
      times.reduce((sum, one) => sum + one, 0),
      1000,
    );
    const { seconds, ...said } = JSON.parse(slipstickCommand(["advise", ...args]));
    assert.ok(seconds > 0);
    if (spec.request) return; // a part written in the request is complete, one written by assignments is not
    assert.deepEqual(differences(report, said), []);
  });
}

test("a wrong question names its issues", () => {
  const advice = new slipstick.Advice('{"for": "cost"}');
  assert.equal(JSON.parse(advice.issues()).issues[0].path, "for");
  assert.equal(advice.step(10), false);
  advice.delete();
});

test("the worker reports partial results, ends an earlier question, and stops on request", async (context) => {
  const worker = searchWorker(context);
  const heard = [];
  let wake;
  worker.on("message", (message) => (heard.push(message), wake?.()));
  const ended = async (id) => {
    const end = () => heard.find((one) => one.id === id && one.state !== "running");
    while (!end()) await new Promise((resolve) => (wake = resolve));
    assert.equal(end().error, undefined);
    return { ...end(), report: JSON.parse(end().text) };
  };
  worker.postMessage({ module: compiled });
  const ask = (id, spec) => worker.postMessage({ id, verb: "advise", args: [JSON.stringify(spec)] });
  ask(1, {});
  const whole = await ended(1);
  assert.equal(whole.state, "done");
  assert.equal(whole.report.done, true);
  assert.ok(whole.seconds > 0);
  assert.deepEqual(differences(whole.report, steps({}).report), []);
  // Node may deliver the worker's own messages before those from outside. A later question then comes after the end,
  // which a browser does not do.
  const untilStopped = async (from, interrupt) => {
    let stopped;
    for (let id = from; id < from + 12 && stopped?.state !== "stopped"; id += 2) {
      ask(id, {});
      interrupt(id);
      stopped = await ended(id);
    }
    return stopped;
  };
  const earlier = await untilStopped(2, (id) => ask(id + 1, { for: "nonsense" }));
  assert.equal((await ended(3)).state, "refused");
  assert.equal(earlier.state, "stopped");
  const stopped = await untilStopped(20, (id) => worker.postMessage({ verb: "stopSteps", id }));
  assert.equal(stopped.state, "stopped");
  assert.equal(stopped.report.done, false);
});
