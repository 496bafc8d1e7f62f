// slipstick-mcp as an assistant runs it: the package's server, called by the protocol's own client over standard input
// and output. Expected figures come from the command line.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { setTimeout as rest } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import Ajv from "ajv/dist/2020.js";
import { differences } from "../support/differences.js";
import { loadSlipstick, ROOT, slipstickCommand } from "../support/module.js";
import { read } from "../../web/state/link.js";
import { get } from "../../web/state/paths.js";
import { requestOf } from "../../web/state/scenario.js";

// The installed package with the SDK.
const project = mkdtempSync(join(tmpdir(), "slipstick-mcp-"));
mkdirSync(join(project, "node_modules"));
cpSync(ROOT + "build/package", join(project, "node_modules/slipstick"), { recursive: true });
symlinkSync(ROOT + "tests/node_modules/@modelcontextprotocol", join(project, "node_modules/@modelcontextprotocol"));
const SERVER = join(project, "node_modules/slipstick/mcp/server.js");

async function connected(args = [], env = {}) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [SERVER, ...args],
    env,
    stderr: "pipe",
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  return { client, transport };
}
const { client, transport } = await connected();
after(async () => {
  await client.close();
  rmSync(project, { recursive: true });
});

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const SCENES = ["overview", "train", "serve", "size", "memory", "chip", "explore", "compare"];

const command = (...args) => JSON.parse(slipstickCommand(args));
const call = (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, undefined, options);
async function answerOf(name, args, options) {
  const { content, isError } = await call(name, args, options);
  assert.ok(!isError, content[0].text);
  return JSON.parse(content[0].text);
}
async function issuesOf(name, args) {
  const { content, isError } = await call(name, args);
  assert.equal(isError, true, content[0].text.slice(0, 300));
  return JSON.parse(content[0].text).issues;
}

// Short answers are rounded to five digits.
const near = (value, expected, what) =>
  assert.ok(Math.abs(value - expected) <= 6e-5 * Math.abs(expected), `${what}: ${value}, not ${expected}`);

/** The report that the page would show for a link. */
async function opened(link) {
  assert.ok(link.startsWith("http://127.0.0.1:8080/#/"), link);
  const state = await read(link.slice(link.indexOf("#")), SCENES);
  assert.deepEqual(state.faults, []);
  assert.equal(`slipstick ${state.release}\n`, slipstickCommand(["--version"]));
  const report = (inputs) =>
    JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputs, presetPaths)), ""));
  return { state, report: report(state.inputs), others: state.others.map(report) };
}

/** Compares a figure of an answer with a report. */
function assertFigure(figures, path, report, interval) {
  const { value, unit, interval: ends, text } = figures[path];
  near(value, get(report, path), path);
  assert.equal(typeof unit, "string", path);
  assert.ok(text.length > 0);
  if (!interval) return;
  const { low, high, level } = get(report, interval);
  assert.equal(level, 0.9);
  near(ends[0], low, `${path}, low`);
  near(ends[1], high, `${path}, high`);
  assert.match(text, /, 90 % interval .* to /);
}

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

const TOOLS = [
  "evaluate",
  "compare",
  "advise",
  "size",
  "search",
  "sweep",
  "solve",
  "sensitivity",
  "calibrate",
  "explain",
  "evidence",
  "describe",
  "presets",
  "import_model",
];

test("the tools, with schemas of their arguments that are valid, short and of the core's own inputs", async () => {
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    TOOLS,
  );
  const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: true });
  for (const { name, inputSchema, description } of tools) {
    assert.ok(ajv.compile(inputSchema), name);
    assert.ok(description.length > 20, name);
  }
  assert.ok(JSON.stringify(tools).length < 20_000);
  const known = new Map(command("describe").inputs.map((one) => [one.path, one]));
  const { properties } = tools[0].inputSchema.properties.inputs;
  for (const [path, schema] of Object.entries(properties))
    assert.ok(schema.description.startsWith(known.get(path).help), path);
  assert.deepEqual(properties["serving.precision.weights"].enum, known.get("serving.precision.weights").choices);
  const { size_question: question } = JSON.parse(slipstickCommand(["schema"])).$defs;
  const size = tools.find(({ name }) => name === "size").inputSchema.properties;
  for (const [name, { description }] of Object.entries(question.properties))
    assert.ok(size[name].description.startsWith(description.split(";")[0]), name);
});

test("the server names itself, its release and the page on how to ask, which names every tool", async () => {
  assert.deepEqual(client.getServerVersion(), {
    name: "slipstick",
    title: "Slipstick",
    version: slipstickCommand(["--version"]).trim().split(" ")[1],
  });
  assert.match(client.getInstructions(), /slipstick:\/\/guide/);
  const { resources } = await client.listResources();
  assert.deepEqual(
    resources.map(({ uri }) => uri),
    ["slipstick://guide", "slipstick://schema"],
  );
  const texts = await Promise.all(
    resources.map(async ({ uri }) => (await client.readResource({ uri })).contents[0].text),
  );
  assert.equal(texts[0], readFileSync(ROOT + "wasm/package/mcp/guide.md", "utf8"));
  assert.equal(texts[1], slipstickCommand(["schema"]));
  for (const name of TOOLS) assert.ok(texts[0].includes(`\`${name}\``), name);
  await assert.rejects(client.readResource({ uri: "slipstick://nothing" }), /Unknown resource/);
});

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

const SMALL = [{ model: "llama-3.1-8b", cluster: "dgx-h100" }, ["model=llama-3.1-8b", "cluster=dgx-h100"]];

test("advise: the command line's changes, each with intervals and a link to it", async () => {
  const expected = command("advise", ...SMALL[1], "--for", "serving", "--top", "4");
  const answer = await answerOf("advise", { inputs: SMALL[0], for: "serving", top: 4 });
  assert.deepEqual(
    answer.changes.map(({ title }) => title),
    expected.changes.map(({ title }) => title),
  );
  assert.deepEqual(
    answer.pairs.map(({ title }) => title),
    expected.pairs.slice(0, 2).map(({ title }) => title),
  );
  near(answer.figures[expected.figure].value, expected.value, "now");
  for (const [at, { figures, link }] of [...answer.changes, ...answer.pairs].entries()) {
    const said = [...expected.changes, ...expected.pairs][at].figures[expected.figure];
    near(figures[expected.figure].value, said, `change ${at}`);
    assert.equal(figures["serving.tpot_s"].interval.length, 2);
    near(get((await opened(link)).report, expected.figure), said, `link of change ${at}`);
  }
});

test("size: the command line's deployments, figures at the peak with intervals, and their links", async () => {
  const expected = command(
    "size",
    "serving.prompt=2000",
    "serving.output=300",
    "--rate",
    "40",
    "--peak",
    "1.5",
    "--ttft",
    "800 ms",
    "--tpot",
    "26 ms",
    "--clusters",
    "dgx-h100,single-l4,dgx-h200",
  );
  const question = {
    requests_per_s: 40,
    peak_over_mean: 1.5,
    ttft: "800 ms",
    tpot: "26 ms",
    clusters: ["dgx-h100", "single-l4", "dgx-h200"],
  };
  const answer = await answerOf(
    "size",
    { inputs: { "serving.prompt": 2000, "serving.output": 300 }, ...question },
    { onprogress: () => {} },
  );
  assert.equal(answer.best, expected.clusters[expected.best].cluster);
  assert.deepEqual(
    answer.clusters.map(({ holds }) => holds),
    expected.clusters.map(({ holds }) => holds),
  );
  for (const [at, { holds, message, deployment, figures_at_peak: peak, cost, link }] of answer.clusters.entries()) {
    const said = expected.clusters[at];
    if (!holds) {
      assert.equal(message, said.message);
      continue;
    }
    assert.equal(deployment.devices, said.deployment.devices);
    assert.equal(peak.requests_per_s, 60);
    near(peak["serving.tpot_s"].value, said.at_peak.tpot_s, "TPOT at the peak");
    assert.equal(peak["serving.ttft_s"].interval.length, 2);
    near(cost.usd_per_hour.value, said.cost.usd_per_hour, "cost per hour");
    near((await opened(link)).report.serving.tpot_s, said.at_peak.tpot_s, "link");
  }
  assert.deepEqual([...new Set(expected.clusters.map(({ holds }) => holds))].sort(), [false, true]); // some hold and some do not
  const { state } = await opened(answer.link);
  assert.equal(state.scene, "size");
  assert.equal(state.view.size, "rate:40/ttft:800 ms/tpot:26 ms/peak:1.5/on:dgx-h100,single-l4,dgx-h200");
});

test("size: a mixture through a day, each class with its latencies and costs, and the link that asks for it", async () => {
  const expected = command(
    "size",
    "--rate",
    "20",
    "--day",
    "1,2,1",
    "--mixture",
    "3:1000/300,1:8000/200",
    "--tpot",
    "40 ms",
    "--clusters",
    "dgx-h100",
  ).clusters[0];
  const answer = await answerOf("size", {
    inputs: {},
    requests_per_s: 20,
    day: [1, 2, 1],
    mixture: [
      { weight: 3, prompt_tokens: 1000, output_tokens: 300 },
      { weight: 1, prompt_tokens: 8000, output_tokens: 200 },
    ],
    tpot: "40 ms",
    clusters: ["dgx-h100"],
  });
  const [sized] = answer.clusters;
  assert.equal(sized.deployment.devices, expected.deployment.devices);
  near(sized.figures_at_peak["serving.ttft_s"].value, expected.at_peak.ttft_s, "TTFT of the mixture");
  assert.equal(sized.figures_at_peak["serving.ttft_s"].interval, null);
  near(sized.figures_at_peak["serving.memory_bytes.total"].value, expected.at_peak.memory_bytes.total, "its memory");
  assert.equal(sized.classes.length, 2);
  near(sized.classes[1].ttft_s, expected.classes[1].ttft_s, "TTFT of a class");
  near(sized.classes[1].cost_share, expected.classes[1].cost_share, "cost of a class");
  assert.equal(sized.day.parts.length, 3);
  near(sized.day.idle_share, expected.day.idle_share, "idle through the day");
  const { state } = await opened(answer.link);
  assert.equal(state.view.size, "ttft:/peak:1, 2, 1/mix:3:1000/300, 1:8000/200/on:dgx-h100");
  const wrong = await issuesOf("size", {
    inputs: {},
    requests_per_s: 1,
    mixture: [{ weight: -1, prompt_tokens: 10, output_tokens: 10 }],
  });
  assert.deepEqual(
    wrong.map(({ path }) => path),
    ["mixture.0.weight"],
  );
});

test("search: the command line's best mappings and frontier, each with its interval and link", async () => {
  const expected = command("search", ...SMALL[1], "--for", "training", "--top", "3");
  const { best, space } = await answerOf("search", { inputs: SMALL[0], for: "training" });
  assert.equal(space, expected.space);
  for (const [at, { overrides, figures, link }] of best.rows.entries()) {
    assert.deepEqual({ ...best.common, ...overrides }, expected.best[at].overrides);
    near(figures["training.step_time_s"].value, expected.best[at].step_time_s, `mapping ${at}`);
    assert.equal(figures["training.step_time_s"].interval.length, 2);
    near((await opened(link)).report.training.step_time_s, expected.best[at].step_time_s, `link ${at}`);
  }
  const { pareto } = command(
    "search",
    ...SMALL[1],
    "training=null",
    "--for",
    "serving",
    "--objective",
    "tokens_per_s_per_user",
    "--pareto",
    "tokens_per_s_per_device",
  );
  const found = await answerOf("search", {
    inputs: { ...SMALL[0], training: null },
    for: "serving",
    objective: "tokens_per_s_per_user",
    pareto: ["tokens_per_s_per_device"],
  });
  assert.equal(found.frontier_points, pareto.length);
  assert.equal(found.frontier.rows.length, 8);
  for (const [at, point] of [
    [0, pareto[0]],
    [7, pareto.at(-1)],
  ]) {
    near(
      found.frontier.rows[at].figures["serving.tokens_per_s_per_user"].value,
      point.tokens_per_s_per_user,
      `speed of point ${at}`,
    );
    near(
      (await opened(found.frontier.rows[at].link)).report.serving.tokens_per_s_per_device,
      point.tokens_per_s_per_device,
      `link of point ${at}`,
    );
  }
});

test("sweep: a row per value with the interval that an evaluation has", async () => {
  const { rows } = await answerOf("sweep", {
    inputs: SMALL[0],
    axes: ["serving.batch=1,8,64"],
    report: ["serving.tpot_s", "serving.tokens_per_s_per_user", "serving.max_batch"],
  });
  assert.deepEqual(
    rows.map(({ inputs }) => inputs),
    [[1], [8], [64]],
  );
  for (const {
    inputs: [batch],
    figures,
  } of rows) {
    const expected = command("evaluate", ...SMALL[1], `serving.batch=${batch}`);
    assertFigure(figures, "serving.tpot_s", expected, "serving.tpot_interval");
    near(
      figures["serving.tokens_per_s_per_user"].interval[0],
      (expected.serving.tokens_per_s_per_user * expected.serving.tpot_s) / expected.serving.tpot_interval.high,
      "user, low",
    );
    assert.equal(figures["serving.max_batch"].value, expected.serving.max_batch);
  }
});

// Every tool that answers for images; the other tools refuse them.
test("each answer about an image has its interval, its assumptions and its link", async () => {
  const inputs = { "cluster": "dgx-h100", "diffusion.model": "flux.1-dev" };
  const args = ["cluster=dgx-h100", "diffusion.model=flux.1-dev"];
  const figure = "diffusion.latency_s";
  const holds = ({ figures }, ...change) =>
    assertFigure(figures, figure, command("evaluate", ...args, ...change), "diffusion.latency_interval");

  const { rows } = await answerOf("sweep", { inputs, axes: ["diffusion.steps=10,20"], report: [figure] });
  rows.forEach((row, at) => holds(row, `diffusion.steps=${[10, 20][at]}`));

  const compared = await answerOf("compare", { inputs, scenarios: [{}, { "diffusion.ulysses": 2 }] });
  holds(compared.scenarios[0]);
  holds(compared.scenarios[1], "diffusion.ulysses=2");
  near((await opened(compared.link)).report.diffusion.latency_s, command("evaluate", ...args).diffusion.latency_s);

  const solved = await answerOf("solve", { inputs, range: "diffusion.steps=1:50", until: [`${figure}<=3 s`] });
  holds(solved, `diffusion.steps=${solved.value}`);
  assert.equal((await opened(solved.link)).report.scenario.diffusion.steps, solved.value);

  for (const tool of ["sensitivity", "explain", "evidence"]) {
    const answer = await answerOf(tool, { inputs, figure });
    holds(answer);
    near((await opened(answer.link)).report.diffusion.latency_s, answer.figures[figure].value, tool);
  }

  const answer = await answerOf("evaluate", { inputs, paths: ["diffusion.video_s_per_hour"] });
  assert.match(answer.intervals[figure], /49 published runs of 5 publishers/);
  assert.equal(answer.defaults["diffusion.steps"], "50");
  for (const tool of ["search", "advise"])
    assert.equal((await issuesOf(tool, { inputs, for: "serving" }))[0].path, "diffusion");
});

test("solve: the command line's value, and a link at it", async () => {
  const expected = command("solve", ...SMALL[1], "serving.prompt=1k:64k", "--until", "serving.ttft_s<=400 ms");
  const answer = await answerOf("solve", {
    inputs: SMALL[0],
    range: "serving.prompt=1k:64k",
    until: ["serving.ttft_s<=400 ms"],
  });
  assert.equal(answer.value, expected.value);
  assert.equal(answer.which, "largest");
  near(answer.figures["serving.ttft_s"].value, expected.figure.value, "TTFT there");
  assert.equal(answer.figures["serving.ttft_s"].interval.length, 2);
  const { report } = await opened(answer.link);
  assert.equal(report.scenario.serving.prompt, expected.value);
  near(report.serving.ttft_s, expected.figure.value, "link");
  // Solving for a device count has the effects of an edit of it.
  const [inputs, args] = [{ model: "llama-3.1-8b", serving: null }, ["model=llama-3.1-8b", "serving=null"]];
  const fewest = command("solve", ...args, "cluster.devices=64:4096:8", "--until", "training.time_to_train_s<=60 day");
  const found = await answerOf("solve", {
    inputs,
    range: "cluster.devices=64:4096:8",
    until: ["training.time_to_train_s<=60 day"],
  });
  assert.equal(found.value, fewest.value);
  near((await opened(found.link)).report.training.time_to_train_s, fewest.figure.value, "link to the fewest");
  // The link states the inputs that kept their values although an edit of the unknown alone would move them.
  const range = "training.global_batch=64:8192";
  const kept = command("solve", "serving=null", range, "--until", "training.step_time_s<=5");
  assert.notDeepEqual(kept.held, {});
  const about = await answerOf("solve", { inputs: { serving: null }, range, until: ["training.step_time_s<=5"] });
  assert.deepEqual([about.value, about.held], [kept.value, kept.held]);
  near((await opened(about.link)).report.training.step_time_s, kept.figure.value, "link to what was held");
  const none = await answerOf("solve", {
    inputs: SMALL[0],
    range: "serving.prompt=1k:64k",
    until: ["serving.ttft_s<=1 us"],
  });
  assert.equal(none.value, null);
  assert.match(none.reason, /holds at neither end/);
});

test("sensitivity, calibrate, explain and evidence: the command line's answers and the figure's interval", async () => {
  const report = command("evaluate", ...SMALL[1]);
  const about = { inputs: SMALL[0], figure: "serving.tpot_s" };

  const moved = await answerOf("sensitivity", { ...about, top: 4 });
  const { inputs } = command("sensitivity", ...SMALL[1], "--figure", "serving.tpot_s");
  assert.deepEqual(
    moved.inputs.map(({ path }) => path),
    inputs.slice(0, 4).map(({ path }) => path),
  );
  assert.equal(moved.left_out, inputs.length - 4);

  const because = await answerOf("explain", { ...about, depth: 2 });
  const { explanations } = command("evaluate", ...SMALL[1], "--explain", "serving.tpot_s");
  const at = (path) => explanations.find((one) => one.path === path);
  assert.equal(because.derivation.formula, at("serving.tpot_s").formula);
  const [term] = because.derivation.terms;
  assert.equal(term.because.formula, at(term.origin).formula);
  assert.equal(term.because.terms[0].because, undefined);

  const measured = await answerOf("evidence", { ...about, top: 2 });
  const { runs } = command("evidence", ...SMALL[1], "--figure", "serving.tpot_s");
  assert.deepEqual(
    measured.runs.map(({ id }) => id),
    runs.slice(0, 2).map(({ id }) => id),
  );

  for (const { figures, link } of [moved, because, measured]) {
    assertFigure(figures, "serving.tpot_s", report, "serving.tpot_interval");
    near((await opened(link)).report.serving.tpot_s, report.serving.tpot_s, "link");
  }

  const calibrated = await answerOf("calibrate", { measured: [{ figure: "serving.tpot_s", value: "22 ms" }] });
  const said = JSON.parse(
    slipstickCommand(["calibrate", "-"], JSON.stringify({ measured: [{ figure: "serving.tpot_s", value: 0.022 }] })),
  );
  assert.equal(calibrated.measured[0].measured.text, "22 ms");
  near(calibrated.measured[0].computed, said.measured[0].computed, "computed");
  assert.equal(calibrated.calibrated.inputs[0].path, said.calibrated.inputs[0].path);
  near((await opened(calibrated.calibrated.link)).report.serving.tpot_s, 0.022, "link, calibrated");
});

test("describe and presets find what the catalogue has; a config.json becomes a model", async () => {
  const found = await answerOf("describe", { words: "kv cache" });
  assert.ok(found.inputs.list.some(({ path }) => path === "serving.precision.kv_cache"));
  assert.ok(found.figures.list.some(({ path }) => path === "serving.kv_cache_bytes_per_token"));
  assert.ok(
    (await answerOf("presets", { kind: "cluster", words: "h100" })).presets.some(({ id }) => id === "dgx-h100"),
  );
  assert.deepEqual(
    await answerOf("presets", { kind: "cluster", id: "dgx-h100" }),
    command("presets", "cluster").find(({ id }) => id === "dgx-h100"),
  );
  const config = {
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    hidden_size: 4096,
    intermediate_size: 14336,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    vocab_size: 128256,
    tie_word_embeddings: false,
  };
  const { model, parameters, link } = await answerOf("import_model", { config });
  // Embedding and head; per layer queries and outputs, keys and values, MLP and two norms; and the last norm.
  assert.equal(
    parameters,
    2 * 128256 * 4096 + 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096) + 4096,
  );
  const direct = await answerOf("evaluate", { inputs: { model } });
  near(
    (await opened(link)).report.serving.kv_cache_bytes_per_token,
    direct.figures["serving.kv_cache_bytes_per_token"].value,
    "link",
  );
  assert.equal(direct.figures["serving.kv_cache_bytes_per_token"].value, 2 * 32 * 8 * 128 * 2);
});

const deep = Array.from({ length: 2000 }).reduce((inner) => ({ a: inner }), 1);
const WRONG = [
  [
    "evaluate",
    {
      inputs: { "modle": "x", "serving": { batch: -5 }, "Serving.x": 1, "version": 9 },
      fulll: true,
      paths: ["serving.tpotty"],
    },
    ["Serving.x", "fulll", "modle", "serving.batch", "serving.tpotty", "version"],
  ],
  ["evaluate", { inputs: { model: "llama-9" } }, ["model.preset"]],
  ["evaluate", { inputs: { training: { mapping: { tp: 3 } } } }, ["training.mapping", "training.mapping.tp"]],
  ["evaluate", { inputs: "model=llama" }, ["inputs"]],
  ["evaluate", { inputs: null, full: "yes" }, ["full", "inputs"]],
  ["evaluate", { inputs: { "__proto__.x": 1, "constructor": 2 } }, ["__proto__.x", "constructor"]],
  ["evaluate", { inputs: deep }, ["a.".repeat(40)]],
  ["evaluate", { link: "http://127.0.0.1:8080/" }, ["link"]],
  ["evaluate", { link: "#/overview?serving.batch=%E0&v=3" }, ["link"]],
  ["compare", { scenarios: [{}] }, ["scenarios"]],
  [
    "compare",
    { scenarios: [{ "serving.batch": 0 }, { modle: 1 }] },
    ["scenarios.0.serving.batch", "scenarios.1.modle"],
  ],
  [
    "size",
    { inputs: { modle: 1 }, ttft: 0.8, tpot: "30", percentile: "95", requests_per_s: -1 },
    ["modle", "percentile", "requests_per_s", "tpot", "ttft"],
  ],
  ["size", { requests_per_s: 1, clusters: ["dgx-h100", "dgx-h1"] }, ["clusters.1"]],
  ["search", {}, ["for"]],
  ["search", { for: "training", objective: "beauty" }, ["objective"]],
  ["search", { for: "training", limits: ["training.x<=1"] }, ["limit"]],
  ["sweep", { axes: ["serving.bach=1"], report: ["serving.tpot_s"] }, ["serving.bach"]],
  ["sweep", { axes: ["serving.batch=1"], report: ["tpot"] }, ["tpot"]],
  ["solve", { range: "serving.prompt=1k:4k", until: ["soon"] }, ["until"]],
  ["sensitivity", { figure: "serving.speed" }, ["serving.speed"]],
  [
    "calibrate",
    {
      measured: [
        { figure: "serving.tpot_s", value: "24" },
        { figure: "x", value: "1 s" },
      ],
    },
    ["measured.0.value", "x"],
  ],
  ["calibrate", { measured: [{ figure: "serving.tpot_s", value: "24 parsecs" }] }, ["measured.0.value"]],
  ["explain", { figure: "serving.tpot_s", depth: 99 }, ["depth"]],
  ["evidence", { figure: "cost.system_usd" }, ["cost.system_usd"]],
  ["advise", { for: "cost" }, ["for"]],
  ["advise", { inputs: { "diffusion.model": "flux.1-dev" } }, ["diffusion"]],
  ["describe", {}, ["words"]],
  ["presets", { kind: "cluster", id: "dgx-h1000" }, ["id"]],
  ["presets", { kind: "cars" }, ["kind"]],
  ["import_model", { config: { architectures: ["Nothing"] } }, ["model_type"]],
];

test("a wrong request is a tool error that lists all faults with paths and fixes, and the server continues", async () => {
  for (const [name, args, paths] of WRONG) {
    const issues = await issuesOf(name, args);
    const where = `${name} ${JSON.stringify(args).slice(0, 200)}: ${JSON.stringify(issues).slice(0, 400)}`;
    assert.ok(issues.length > 0, where);
    assert.deepEqual(issues.map(({ path }) => path).sort(), paths, where);
    for (const { path, message, fixes } of issues)
      assert.ok(
        typeof path === "string" && message.length > 5 && Array.isArray(fixes) && !/The server failed/.test(message),
        where,
      );
  }
  const [{ fixes }] = await issuesOf("evaluate", { inputs: { "serving.mapping.tp": 3 } });
  assert.ok(fixes.length > 0 && fixes.every(({ path, label }) => path && label));
  await assert.rejects(call("hack"), /Unknown tool hack: choose evaluate, /);
  assert.ok((await answerOf("evaluate", {})).figures["serving.tpot_s"].value > 0);
});

test("lines that are not messages do not end the server", async () => {
  const server = spawn(process.execPath, [SERVER], { stdio: ["pipe", "pipe", "ignore"] });
  const lines = [];
  server.stdout.on("data", (text) => lines.push(...String(text).split("\n").filter(Boolean)));
  const initialize = {
    jsonrpc: "2.0",
    id: 7,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  };
  server.stdin.write(`nonsense\n{"jsonrpc": "2.0"}\n\u0000\n[]\n${JSON.stringify(initialize)}\n`);
  while (!lines.some((line) => JSON.parse(line).id === 7)) await rest(20);
  const ended = new Promise((resolve) => server.on("exit", resolve));
  server.stdin.end();
  assert.equal(await ended, 0);
});

// Eight million mappings take more than a minute.
const LONG = {
  inputs: { "model": "deepseek-v3", "cluster": "dgx-h100", "cluster.devices": 512, "serving": null },
  for: "training",
};
const ticks = () =>
  readFileSync(`/proc/${transport.pid}/stat`, "utf8")
    .split(") ")[1]
    .split(" ")
    .slice(11, 13)
    .reduce((sum, one) => sum + Number(one), 0);

test("a long search reports progress, lets others be answered, and ends when canceled", async () => {
  const abort = new AbortController();
  const heard = [];
  const search = call("search", LONG, {
    signal: abort.signal,
    onprogress: (progress) => heard.push(progress),
    timeout: 600_000,
  });
  const failed = search.then(
    () => assert.fail("not canceled"),
    (error) => error,
  );
  while (heard.length < 3) await rest(20);
  assert.ok((await answerOf("evaluate", {})).figures["serving.tpot_s"].value > 0); // answered while the search runs
  abort.abort("no longer wanted");
  assert.match(String(await failed), /no longer wanted/);
  for (const [at, { progress, total }] of heard.entries()) {
    assert.equal(total, 8_376_576);
    assert.ok(progress <= total && (at === 0 || progress > heard[at - 1].progress));
  }
  // No more CPU time is used (in hundredths of a second; it used 50 before).
  let spent = 50;
  for (let tries = 0; spent > 5 && tries < 20; tries++) {
    const before = ticks();
    await rest(500);
    spent = ticks() - before;
  }
  assert.ok(spent <= 5, `${spent} of 50 hundredths of a second`);
  for (let i = 0; i < 5; i++) {
    const again = new AbortController();
    const one = call("search", LONG, { signal: again.signal }).catch((error) => error);
    await rest(50);
    again.abort();
    await one;
  }
  assert.equal((await answerOf("search", { inputs: SMALL[0], for: "training", top: 1 })).best.rows.length, 1);
});

test("size and sweep report progress", async () => {
  for (const [name, args, total] of [
    ["size", { requests_per_s: 20, tpot: "40 ms", clusters: ["dgx-h100", "dgx-h200", "dgx-b200"] }, 3],
    ["sweep", { axes: ["serving.batch=1,2,4,8,16,32", "serving.prompt=1000,2000"], report: ["serving.tpot_s"] }, 12],
  ]) {
    const heard = [];
    await answerOf(name, args, { onprogress: (progress) => heard.push(progress) });
    assert.ok(
      heard.length > 0 && heard.every((one) => one.total === total && one.progress <= total),
      `${name}: ${JSON.stringify(heard)}`,
    );
  }
});

test("links open the page that the option or the environment names", async () => {
  for (const [args, env, site] of [
    [
      ["--site", "https://example.org/s/"],
      { SLIPSTICK_SITE: "https://example.net/" },
      "https://example.org/s/#/overview",
    ],
    [
      [],
      { SLIPSTICK_SITE: "https://example.net/slipstick.html#/size" },
      "https://example.net/slipstick.html#/overview",
    ],
  ]) {
    const other = await connected(args, env);
    const { content } = await other.client.callTool({ name: "evaluate", arguments: {} });
    assert.ok(JSON.parse(content[0].text).link.startsWith(site));
    await other.client.close();
  }
});
