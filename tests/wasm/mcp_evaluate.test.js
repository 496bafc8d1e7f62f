// The tools evaluate and compare: the command line's figures with their intervals, and links that open them.
import assert from "node:assert/strict";
import test from "node:test";
import { differences } from "../support/differences.js";
import { loadSlipstick } from "../support/module.js";
import { get } from "../../web/state/paths.js";
import { assertFigure, command, linkOpener, near, startServer } from "./mcp_client.js";

const { slipstick } = await loadSlipstick();
const opened = linkOpener(slipstick);
const { answerOf } = await startServer();

const INTERVALS = {
  "training.step_time_s": "training.step_time_interval",
  "training.memory_bytes.total": "training.memory_interval",
  "serving.tpot_s": "serving.tpot_interval",
  "serving.ttft_s": "serving.ttft_interval",
  "serving.tokens_per_s": "serving.throughput_interval",
  "serving.memory_bytes.total": "serving.memory_interval",
  "cost.device_usd": "cost.device_interval",
  "diffusion.latency_s": "diffusion.latency_interval",
  "diffusion.items_per_hour": "diffusion.items_per_hour_interval",
  "diffusion.cost_usd": "diffusion.cost_interval",
};

const SCENARIOS = {
  "paths, of numbers and texts": [
    {
      "model": "llama-3.1-8b",
      "cluster": "dgx-h100",
      "cluster.devices": 16,
      "serving.prompt": "4k",
      "training.tokens": "2T",
    },
    ["model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=16", "serving.prompt=4k", "training.tokens=2T"],
  ],
  "nested objects": [
    {
      model: { preset: "qwen3-30b-a3b" },
      cluster: { preset: "dgx-b200", devices: 8 },
      training: null,
      serving: { prompt: 1000, mapping: { tp: 4 } },
    },
    [
      "model=qwen3-30b-a3b",
      "cluster=dgx-b200",
      "cluster.devices=8",
      "training=null",
      "serving.prompt=1000",
      "serving.mapping.tp=4",
    ],
  ],
  "a list of levels": [
    { "cluster.networks": [{}, { bandwidth: "25 GB/s" }] },
    ["cluster.networks.1.bandwidth=25 GB/s"],
  ],
  "an image": [
    { "cluster": "dgx-h100", "diffusion.model": "flux.1-dev", "diffusion.steps": 28 },
    ["cluster=dgx-h100", "diffusion.model=flux.1-dev", "diffusion.steps=28"],
  ],
  "an image on a device known by its data sheet": [
    {
      "cluster": "single-a10g",
      "diffusion.model": "flux.1-dev",
      "diffusion.precision": "fp8",
      "diffusion.offload": true,
    },
    ["cluster=single-a10g", "diffusion.model=flux.1-dev", "diffusion.precision=fp8", "diffusion.offload=true"],
  ],
  "nothing": [{}, []],
  "an older version": [{ "version": 2, "serving.batch": 16 }, ["version=2", "serving.batch=16"]],
  "a figure of one's own": [
    { measured: [{ path: "serving.tpot_s", value: "24 ms" }] },
    ["--measured", "serving.tpot_s=24 ms"],
  ],
};

for (const [name, [inputs, args]] of Object.entries(SCENARIOS)) {
  test(`evaluate ${name}: the command line's figures, intervals and assumptions, and a link that opens them`, async () => {
    const expected = command("evaluate", ...args);
    const answer = await answerOf("evaluate", { inputs });
    for (const [path, interval] of Object.entries(INTERVALS)) {
      if (get(expected, path) !== undefined) assertFigure(answer.figures, path, expected, interval);
      else assert.equal(answer.figures[path], undefined);
    }
    const parts = ["training", "serving", "diffusion", "cost"].map((part) => expected[part]).filter(Boolean);
    assert.deepEqual([...answer.assumed].sort(), [...new Set(parts.flatMap(({ assumed }) => assumed))].sort());
    assert.deepEqual(answer.warnings, expected.warnings);
    assert.deepEqual(answer.units_assumed, expected.units_assumed ?? []);
    assert.deepEqual(
      answer.chosen,
      Object.fromEntries(parts.flatMap(({ chosen = [] }) => chosen).map(({ path, value }) => [path, value])),
    );
    const { report } = await opened(answer.link);
    for (const one of [report, expected]) if (one.training) one.training.timeline = one.training.timeline_cut = null;
    assert.deepEqual(differences(report, expected), []);
    assert.ok(JSON.stringify(answer).length < 6000);
  });
}

test("figures that follow others have their intervals, scaled: by hand", async () => {
  const inputs = { model: "llama-3.1-8b", cluster: "dgx-h100" };
  const { figures } = await answerOf("evaluate", { inputs });
  const { training, serving } = command("evaluate", "model=llama-3.1-8b", "cluster=dgx-h100");
  // The number of steps does not depend on the step time.
  const steps = training.time_to_train_s / training.step_time_s;
  near(figures["training.time_to_train_s"].interval[0], training.step_time_interval.low * steps, "run, low");
  near(figures["training.time_to_train_s"].interval[1], training.step_time_interval.high * steps, "run, high");
  // A longer step means less throughput.
  near(
    figures["training.tokens_per_s_per_device"].interval[0],
    (training.tokens_per_s_per_device * training.step_time_s) / training.step_time_interval.high,
    "throughput, low",
  );
  near(
    figures["serving.tokens_per_s_per_user"].interval[1],
    (1 / serving.tpot_interval.low) * (serving.tokens_per_s_per_user * serving.tpot_s),
    "user, high",
  );
  // Dollars per hour over tokens per hour.
  near(
    figures["serving.cost_usd_per_million_tokens"].interval[1],
    (serving.cost_usd_per_million_tokens * serving.tokens_per_s) / serving.throughput_interval.low,
    "cost, high",
  );
  assert.equal(figures["serving.max_batch"].interval, null);
});

test("a number without a unit is in the input's own and said again with it; a format that the device lacks is a warning", async () => {
  const answer = await answerOf("evaluate", {
    inputs: { "model": "llama-3.1-8b", "cluster": "dgx-v100", "cost.electricity": 0.12 },
  });
  assert.deepEqual(answer.units_assumed, [{ path: "cost.electricity", text: "0.12", value: "0.12 $/kWh" }]);
  assert.ok(answer.warnings.some((text) => /no bf16 arithmetic: .* in fp16/.test(text)));
  assert.equal(answer.defaults["training.precision"], "bf16");
  assert.equal(answer.defaults.model, undefined);
});

test("a part that does not run has its reason and no speed", async () => {
  const { infeasible, figures } = await answerOf("evaluate", {
    inputs: { model: "llama-3.1-405b", cluster: "single-rtx-4090", training: null },
  });
  assert.deepEqual(
    infeasible.serving,
    command("evaluate", "model=llama-3.1-405b", "cluster=single-rtx-4090", "training=null").serving.infeasible.map(
      ({ message }) => message,
    ),
  );
  assert.equal(figures["serving.tpot_s"], undefined);
  assert.ok(figures["serving.memory_bytes.total"].value > figures["serving.memory_bytes.capacity"].value);
});

test("further figures by paths, the whole report on request, and a scenario by its link", async () => {
  const expected = command("evaluate", "serving.batch=64");
  const { figures, link } = await answerOf("evaluate", {
    inputs: { "serving.batch": 64 },
    paths: ["serving.request_latency_s", "serving.memory_bytes"],
  });
  assertFigure(figures, "serving.request_latency_s", expected);
  near(figures["serving.memory_bytes"].kv_cache, expected.serving.memory_bytes.kv_cache, "KV cache");
  const { report } = await answerOf("evaluate", { link, full: true });
  for (const one of [report, expected]) one.training.timeline = one.training.timeline_cut = null;
  assert.deepEqual(differences(report, expected), []);
  const changed = await answerOf("evaluate", { link, inputs: { "serving.prompt": 1000 } });
  assertFigure(
    changed.figures,
    "serving.tpot_s",
    command("evaluate", "serving.batch=64", "serving.prompt=1000"),
    "serving.tpot_interval",
  );
});

test("compare: each scenario's figures, and one link to all", async () => {
  const { scenarios, link } = await answerOf("compare", {
    inputs: { model: "llama-3.1-8b", training: null },
    scenarios: [{}, { cluster: "dgx-b200" }, { serving: { batch: 8 } }],
  });
  const args = [[], ["cluster=dgx-b200"], ["serving.batch=8"]].map((change) => [
    "model=llama-3.1-8b",
    "training=null",
    ...change,
  ]);
  const expected = args.map((one) => command("evaluate", ...one));
  scenarios.forEach(({ figures }, at) =>
    assertFigure(figures, "serving.tpot_s", expected[at], "serving.tpot_interval"),
  );
  const { state, report, others } = await opened(link);
  assert.equal(state.scene, "compare");
  [report, ...others].forEach((one, at) => near(one.serving.tpot_s, expected[at].serving.tpot_s, `scenario ${at}`));
});
