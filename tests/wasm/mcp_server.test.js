// The server itself: its tools and their arguments, wrong requests, progress, canceled calls and links.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { setTimeout as rest } from "node:timers/promises";
import Ajv from "ajv/dist/2020.js";
import { ROOT, slipstickCommand } from "../support/module.js";
import { command, SMALL, startServer } from "./mcp_client.js";

const { path: SERVER, connect, client, transport, call, answerOf, issuesOf } = await startServer();

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
    const other = await connect(args, env);
    const { content } = await other.client.callTool({ name: "evaluate", arguments: {} });
    assert.ok(JSON.parse(content[0].text).link.startsWith(site));
    await other.client.close();
  }
});
