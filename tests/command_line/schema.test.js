// The formats as JSON Schema: a validator accepts every request and report of the goldens, and refuses broken ones.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import Ajv from "ajv/dist/2020.js";
import { ROOT, slipstickCommand } from "../support/module.js";

const GOLDEN = ROOT + "tests/golden/";
const requests = readdirSync(GOLDEN).filter((name) => name.endsWith(".request.json"));
const read = (name) => JSON.parse(readFileSync(GOLDEN + name, "utf8"));
const validators = Object.fromEntries(
  ["scenario", "report", "size_question", ""].map((of) => {
    const schema = JSON.parse(slipstickCommand(["schema", of].filter(Boolean)));
    assert.equal(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
    return [of, new Ajv({ strict: true, allowUnionTypes: true, allErrors: true }).compile(schema)];
  }),
);

function accepts(of, json, name) {
  const validate = validators[of];
  assert.ok(validate(json), `${name}: ${JSON.stringify((validate.errors ?? []).slice(0, 5))}`);
}
const refuses = (of, json) => assert.equal(validators[of](json), false);

for (const name of requests) {
  test(`${name} and its report are valid`, () => {
    accepts("scenario", read(name), name);
    const report = JSON.parse(slipstickCommand(["evaluate", GOLDEN + name]));
    accepts("report", report, name);
    accepts("scenario", report.scenario, name);
    accepts("", report, name);
  });
}

test("explanations, presets named shortly and questions that are off are valid", () => {
  accepts("report", JSON.parse(slipstickCommand(["evaluate", "--explain", "serving.tpot_s"])), "explained");
  accepts(
    "report",
    JSON.parse(slipstickCommand(["evaluate", "training=null", "serving=null", "cost=null"])),
    "nothing",
  );
  accepts(
    "scenario",
    {
      model: "llama-3.1-8b",
      cluster: { preset: "dgx-h100", networks: [{}, { bandwidth: "25 GB/s" }] },
      training: null,
    },
    "short",
  );
  accepts(
    "scenario",
    { version: 2, training: { mapping: "auto" }, serving: { mapping: { auto: true, tp: 4 } } },
    "mappings left to the program",
  );
  accepts("scenario", { serving: { batch: "max", prompt: "8k", requests_per_s: null } }, "texts");
});

// A fixed sequence of random numbers.
function* draws(seed) {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

test("reports of drawn scenarios are valid: mappings left to the program, loads of every kind, memory that is short", () => {
  const random = draws(41);
  const one = (list) => list[Math.floor(random.next().value * list.length)];
  const MODELS = [
    "llama-3.1-8b",
    "llama-3.1-405b",
    "gpt-oss-20b",
    "deepseek-v3",
    "mixtral-8x7b",
    "qwen3-next-80b-a3b",
    "gemma-3-4b",
  ];
  const CLUSTERS = [
    { preset: "single-h100-sxm5-80gb" },
    { preset: "dgx-a100", devices: 16 },
    { preset: "dgx-b200", devices: 64 },
    { preset: "single-l40s" },
  ];
  const draw = () => ({
    version: one([1, 2, 2]),
    model: { preset: one(MODELS) },
    cluster: one(CLUSTERS),
    training: one([
      null,
      { sequence: 4096, global_batch: 64, mapping: { auto: true } },
      { sequence: 8192, global_batch: 128, recompute: "auto", mapping: { auto: true, tp: 1 } },
      { global_batch: 8, mapping: {} },
    ]),
    serving: one([
      null,
      { mapping: { auto: true } },
      { mapping: "auto", requests_per_s: 3 },
      { mapping: {}, batch: "max", engine: { preset: "sglang" } },
      { mapping: { auto: true }, concurrency: 64, simulate: { requests: 50, seed: 7 } },
      { devices: 16, mapping: { tp: 8 }, disaggregated: { prefill_devices: 8, decode_devices: 8 } },
      {
        mapping: { auto: true },
        kv_offload: { capacity: "100 GB" },
        speculative: { draft_tokens: 3, acceptance: 0.7, draft_cost: 0.1 },
      },
    ]),
    cost: one([null, {}, { rental: { price: "3 $/h" } }]),
  });
  const requests = Array.from({ length: 60 }, draw);
  const updates = {
    training: { sequence: 2048, global_batch: 512, mapping: { auto: true } },
    serving: { mapping: { auto: true } },
  };
  for (const diffusion of ["flux.1-dev", "hunyuanvideo"])
    requests.push({ version: 3, cluster: { preset: "dgx-h100" }, diffusion: { model: diffusion, ulysses: 2 } });
  for (const post_training of [{}, { max_response: 4096, generation_devices: 8 }])
    requests.push({
      version: 2,
      model: { preset: "llama-3.1-8b" },
      cluster: { preset: "dgx-h100", devices: 16 },
      ...updates,
      post_training,
    });
  const lines = slipstickCommand(["evaluate", "--lines"], requests.map((request) => JSON.stringify(request)).join("\n"))
    .trim()
    .split("\n");
  assert.equal(lines.length, requests.length);
  const reports = lines.map((line) => JSON.parse(line));
  const kinds = { chosen: 0, infeasible: 0, simulated: 0, disaggregated: 0, learned: 0, images: 0 };
  for (const [i, report] of reports.entries()) {
    if (report.issues) continue;
    const name = JSON.stringify(requests[i]);
    accepts("report", report, name);
    accepts("scenario", report.scenario, name);
    const parts = [report.training, report.serving].filter(Boolean);
    kinds.chosen += parts.some(({ chosen }) => chosen.length > 0);
    kinds.infeasible += parts.some(({ feasible }) => !feasible);
    kinds.simulated += Boolean(report.serving?.ttft_percentiles_s);
    kinds.disaggregated += Boolean(report.scenario.serving?.disaggregated);
    kinds.learned += Boolean(report.post_training);
    kinds.images += Boolean(report.diffusion);
  }
  const valid = reports.filter(({ issues }) => !issues).length;
  assert.ok(valid > 40, `${valid} of ${reports.length} are answered`);
  for (const [kind, count] of Object.entries(kinds)) assert.ok(count > 0, `none is ${kind}`);
});

test("a thousand reports of requests drawn from the whole catalogue are valid", () => {
  const drawn = execFileSync(
    ROOT + "tests/compare_builds",
    [ROOT + "build/native/slipstick", "--draw", "--count", "1800", "--seed", "5"],
    { encoding: "utf8" },
  );
  const requests = drawn.trim().split("\n");
  let valid = 0;
  for (let from = 0; from < requests.length; from += 300) {
    const some = requests.slice(from, from + 300);
    const lines = slipstickCommand(["evaluate", "--lines"], some.join("\n")).trim().split("\n");
    assert.equal(lines.length, some.length);
    for (const [i, line] of lines.entries()) {
      const report = JSON.parse(line);
      if (report.issues) continue;
      valid++;
      accepts("report", report, some[i]);
      accepts("scenario", report.scenario, some[i]);
    }
  }
  assert.ok(valid >= 1000, `${valid} are answered`);
});

test("each preset of the catalogue that a scenario may hold is valid as it stands", () => {
  for (const kind of ["model", "cluster"]) {
    for (const { id } of JSON.parse(slipstickCommand(["presets", kind])))
      accepts("scenario", { [kind]: { preset: id } }, id);
  }
});

test("requests with a form that the program refuses are refused by the schema too", () => {
  for (const wrong of [
    { modle: { preset: "llama-3.1-8b" } },
    { training: { mapping: { tp: 0 } } },
    { training: { mapping: { tp: 1.5 } } },
    { training: { recompute: "some" } },
    { serving: { mapping: "best" } },
    { serving: { prompt: true } },
    { cluster: { networks: {} } },
    [],
  ]) {
    refuses("scenario", wrong);
    assert.ok(
      JSON.parse(slipstickCommand(["evaluate", "-"], JSON.stringify(wrong))).issues.length > 0,
      JSON.stringify(wrong),
    );
  }
});

test("a report that lacks a figure, or has a text for one, is refused", () => {
  const report = JSON.parse(slipstickCommand(["evaluate"]));
  accepts("report", report, "default");
  refuses("report", { ...report, training: { ...report.training, step_time_s: "fast" } });
  const { tpot_s: _, ...lacking } = report.serving;
  refuses("report", { ...report, serving: lacking });
  refuses("report", { ...report, cost: 1 });
});

test("a sizing question is valid in words and in base units, and what the program does not know is refused", () => {
  accepts(
    "size_question",
    {
      requests_per_s: 40,
      ttft: "800 ms",
      tpot: 0.03,
      percentile: "99",
      clusters: ["dgx-h100"],
      mixture: [{ weight: 0.7, prompt_tokens: 1000, output_tokens: "2k" }],
      prices: { input: "0.5 $/Mtoken", cached_input: 0, output: 1e-6 },
    },
    "question",
  );
  for (const wrong of [
    { rate: 40 },
    { ttft: true },
    { percentile: 95 },
    { spare_replicas: -1 },
    { mixture: [{ weight: -1, prompt_tokens: 1000, output_tokens: 300 }] },
    { mixture: [{ share: 1 }] },
    { clusters: "dgx-h100" },
  ])
    refuses("size_question", wrong);
});
