// Sweeps, solves, sensitivities and paper studies, as scripts run them.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import test from "node:test";
import { ROOT, slipstickCommand } from "../support/module.js";
import { timed } from "../support/timed.js";

const answer = (...args) => JSON.parse(slipstickCommand(args));

test("a sweep has a CSV row per point, the last axis fastest, and names invalid points", () => {
  const rows = slipstickCommand([
    "sweep",
    "training.mapping.tp=4,8",
    "cluster.devices=256:1024:3:log",
    "--report",
    "training.step_time_s,training.feasible",
  ])
    .trim()
    .split("\n");
  assert.equal(rows[0], "training.mapping.tp,cluster.devices,training.step_time_s,training.feasible,issue");
  assert.deepEqual(
    rows.slice(1).map((row) => row.split(",").slice(0, 2).join(" ")),
    ["4 256", "4 512", "4 1024", "8 256", "8 512", "8 1024"],
  );
  assert.ok(rows.slice(1).every((row) => Number(row.split(",")[2]) > 0));
  const wrong = slipstickCommand(["sweep", "training.mapping.tp=3,8", "--report", "training.step_time_s"])
    .trim()
    .split("\n");
  assert.match(wrong[1], /^3,,.*TP 3 .*does not divide/);
});

test("a figure that has parts gives a sweep a column per part, and they add up to the step", () => {
  const [head, ...rows] = slipstickCommand([
    "sweep",
    "cluster.device.memory.bandwidth=1 TB/s,3 TB/s",
    "--report",
    "training.step_time_s,training.time_by_bound",
  ])
    .trim()
    .split("\n")
    .map((row) => row.split(","));
  assert.deepEqual(
    head.slice(1, -1),
    [
      "step_time_s",
      ...["compute", "l1", "l2", "memory", "network", "latency", "bubble"].map((part) => `time_by_bound.${part}`),
    ].map((path) => `training.${path}`),
  );
  for (const [, step, ...parts] of rows) {
    const sum = parts.slice(0, 7).reduce((total, part) => total + Number(part), 0);
    assert.ok(Math.abs(sum / Number(step) - 1) < 1e-12, `${sum} of ${step}`);
  }
  const memory = head.indexOf("training.time_by_bound.memory");
  assert.ok(
    Number(rows[0][memory]) > 2 * Number(rows[1][memory]),
    "a third of the bandwidth, more than twice the time that it bounds",
  );
});

test("solve finds the edge of a condition", () => {
  // The deployment is written, as defaults would adjust to a longer prompt.
  const deployment = [
    "serving.output=256",
    "serving.batch=1",
    "serving.devices=8",
    "serving.mapping.tp=8",
    "serving.mapping.pp=1",
  ];
  const found = answer("solve", "serving.prompt=1k:4M", ...deployment, "--until", "serving.feasible>=1");
  assert.equal(found.which, "largest");
  const at = (prompt) => answer("evaluate", ...deployment, `serving.prompt=${prompt}`).serving.feasible;
  assert.equal(at(found.value), true);
  assert.equal(at(found.value + 1), false);
});

test("solve keeps several conditions at once and names the one that binds", () => {
  const deployment = ["training=null", "serving.output=64"];
  const ask = (...until) =>
    answer("solve", "serving.prompt=1k:64k", ...deployment, ...until.flatMap((one) => ["--until", one]));
  const [first, token] = ["serving.ttft_s<=4", "serving.tpot_s<=0.1"];
  const [alone, other, both] = [ask(first), ask(token), ask(first, token)];
  assert.notEqual(alone.value, other.value);
  assert.equal(both.value, Math.min(alone.value, other.value));
  assert.equal(both.binding, alone.value < other.value ? "serving.ttft_s" : "serving.tpot_s");
  assert.deepEqual(
    both.figures.map(({ path }) => path),
    ["serving.ttft_s", "serving.tpot_s"],
  );
  assert.deepEqual(both.figure, both.figures[0]);
  assert.equal(alone.binding, undefined);
});

test("solve explains why the condition holds nowhere", () => {
  const none = answer("solve", "cluster.devices=64:1024", "--until", "training.step_time_s<=1e-9");
  assert.equal(none.value, null);
  assert.match(none.reason, /neither end/);
});

const FREE = ["model=llama-3.1-8b", "cluster=dgx-h100", "training.global_batch=512", "serving=null"];

test("a sweep searches the best mapping at every point", () => {
  const rows = slipstickCommand([
    "sweep",
    ...FREE,
    "cluster.devices=16,24,64",
    "--report",
    "training.step_time_s,training.feasible",
    "--best",
    "training",
    "--limit",
    "schedule=1f1b",
  ])
    .trim()
    .split("\n");
  assert.equal(rows[0], "cluster.devices,training.step_time_s,training.feasible,mapping,issue");
  const best = answer(
    "search",
    ...FREE,
    "cluster.devices=64",
    "--for",
    "training",
    "--top",
    "1",
    "--limit",
    "schedule=1f1b",
  ).best[0].step_time_s;
  assert.ok(Math.abs(Number(rows[3].split(",")[1]) / best - 1) < 1e-12);
  assert.match(rows[3], /"(tp|cp|pp|dp|zero).* \d+/);
  const none = slipstickCommand([
    "sweep",
    "model=llama-3.1-405b",
    "serving=null",
    "cluster.devices=2,4",
    "--report",
    "training.step_time_s,training.feasible,training.infeasible",
    "--best",
    "training",
  ])
    .trim()
    .split("\n");
  assert.match(none[1], /^2,,false,.*None of \d+ mappings is feasible: \d+ by memory/);
});

test("fewest devices for thirty days, each with its best mapping", () => {
  const ask = (days) =>
    answer(
      "solve",
      ...FREE,
      "cluster.devices=8:1024:8",
      "--until",
      `training.time_to_train_s<=${days} day`,
      "--best",
      "training",
      "--limit",
      "schedule=1f1b",
    );
  const found = ask(300);
  assert.equal(found.which, "smallest");
  assert.equal(found.value % 8, 0);
  assert.ok(found.mapping["training.mapping.dp"] >= 1);
  const days = (devices) =>
    answer(
      "search",
      ...FREE,
      `cluster.devices=${devices}`,
      "--for",
      "training",
      "--objective",
      "time_to_train_s",
      "--top",
      "1",
      "--limit",
      "schedule=1f1b",
    ).best[0].time_to_train_s / 86400;
  assert.ok(days(found.value) <= 300);
  const none = ask(1);
  assert.equal(none.value, null);
  assert.match(none.reason, /neither end: Time to train is .* at 8; .* at 1,024/);
});

test("the defect density from which four chiplets cost less, and none if they never do", () => {
  const chiplets = [
    "--against",
    "cost.device.dies.0.count=4",
    "--against",
    "cost.device.dies.0.area=230 mm^2",
    "--against",
    "cost.device.package.price=1000 $",
  ];
  const plain = ["cost.device.dies.0.units=1", "cost.device.dies.0.spare_units=0"]; // the die has no spare units
  const ask = (range) =>
    answer(
      "solve",
      "cluster=dgx-h100",
      "training=null",
      "serving=null",
      ...plain,
      `cost.device.dies.0.node.defect_density=${range}`,
      "--until",
      "cost.device_usd>=cost.device_usd",
      ...chiplets,
    );
  const found = ask("0.01 /cm^2:2 /cm^2");
  assert.equal(found.which, "smallest");
  assert.ok(Math.abs(found.figure.value / found.other.value - 1) < 1e-6, "both cost the same there");
  const none = ask("0.01 /cm^2:0.011 /cm^2");
  assert.match(none.reason, /neither end: Manufacturing cost per device is .* against /);
});

test("the longest context that fits, and why where none does", () => {
  const none = answer(
    "solve",
    "model=llama-3.1-405b",
    "cluster=dgx-h100",
    "serving.devices=1",
    "serving.mapping.tp=1",
    "training=null",
    "serving.prompt=1k:1M",
    "--until",
    "serving.feasible>=1",
  );
  assert.equal(none.value, null);
  assert.match(none.reason, /neither end/);
  const misfit = answer(
    "solve",
    "model=llama-3.1-405b",
    "cluster=dgx-h100",
    "serving.devices=1",
    "serving.mapping.tp=1",
    "training=null",
    "serving.prompt=1k:1M",
    "--until",
    "serving.tpot_s<=100",
  );
  assert.match(misfit.reason, /at 1,024: Out of memory: the weights alone need 381\.9 GiB of 79\.2 GiB per device/);
});

test("sensitivity ranks inputs, with elasticities of the right sign", () => {
  const { inputs } = answer("sensitivity", "training=null", "--figure", "serving.decode_step_s");
  const of = (path) => inputs.find((input) => input.path === path);
  assert.ok(of("cluster.device.memory.bandwidth").elasticity < 0);
  const swing = inputs.map((input) => Math.abs(input.high_figure - input.low_figure));
  assert.deepEqual(
    swing,
    [...swing].sort((a, b) => b - a),
  );
});

test("sensitivity without steps gives the exact elasticities, strongest first", () => {
  const { value, inputs } = answer("sensitivity", "--figure", "cost.device_usd", "--share", "0");
  const known = inputs.map((input) => input.exact_elasticity).filter((exact) => exact !== null);
  assert.deepEqual(
    known.map(Math.abs),
    known.map(Math.abs).sort((a, b) => b - a),
  );
  // The module's price is one summand.
  const { exact_elasticity: exact } = inputs.find((input) => input.path === "cost.device.module");
  assert.ok(Math.abs(exact * value - 435) < 1e-6);
});

test("a share that is not a number below 1 is a wrong request, not 0", () => {
  for (const share of ["abc", "20%", "1", "-0.1"]) {
    const { status, stderr } = spawnSync(
      `${ROOT}build/native/slipstick`,
      ["sensitivity", "--figure", "cost.device_usd", "--share", share],
      { encoding: "utf8" },
    );
    assert.equal(status, 2, share);
    assert.match(stderr, /^share: Enter a share of at least 0 and below 1/, share);
  }
});

test("dependence names the figures that move with an input", () => {
  const { of, inputs } = answer("dependence", "training=null", "--input", "cost.device.memory.price");
  assert.equal(of, 1);
  assert.ok(inputs[0].figures.includes("cost.device_usd"));
  assert.ok(!inputs[0].figures.includes("serving.tpot_s"));
});

test("a derivation is a tree in Markdown, the largest share first, and the path of the largest marked down to an input", () => {
  const lines = slipstickCommand(["evaluate", "--explain", "training.time_s.forward", "--format", "text"]).split("\n");
  assert.match(lines[0], /^# Forward: .* = `micro_batches_per_step \* forward_compute_of_a_micro_batch`$/);
  const shares = lines.filter((line) => line.startsWith("- ")).map((line) => Math.abs(parseInt(line.slice(2), 10)));
  assert.ok(shares.length > 1 && shares.length <= 8);
  assert.deepEqual(
    shares,
    [...shares].sort((a, b) => b - a),
  );
  assert.ok(
    lines.some((line) => /\(`(model|cluster|training)\..*←/.test(line)),
    "the marked path ends at an input",
  );
});

for (const file of readdirSync(ROOT + "core/presets/studies")) {
  const id = file.replace(".json", "");
  test(`study ${id}: every expectation holds but those that it says do not`, () => {
    const study = answer("study", id);
    for (const point of study.points) assert.deepEqual(point.issues, [], point.label);
    assert.ok(study.expectations.length > 0);
    for (const { text, holds, found, missed } of study.expectations)
      assert.equal(holds, missed === undefined, `${text}; found ${JSON.stringify(found)}`);
  });
}

test("432 technologies, the die split optimized at each, within ten seconds on two threads, with progress", () => {
  const begun = performance.now();
  const { stdout, stderr } = spawnSync(
    ROOT + "build/native/slipstick",
    ["study", "technology-sweep", "--threads", "2", "--progress"],
    { encoding: "utf8", maxBuffer: 1 << 28 },
  );
  timed("432 technologies on two threads", performance.now() - begun, 10000);
  assert.equal(JSON.parse(stdout).points.length, 9 * 8 * 6);
  assert.match(stderr, /432 of 432/);
});

test("an interrupt ends a long run at once, without partial output", async () => {
  const child = spawn(ROOT + "build/native/slipstick", ["study", "technology-sweep", "--threads", "1", "--progress"]);
  let written = "";
  child.stdout.on("data", (piece) => (written += piece));
  await new Promise((resolve) => child.stderr.once("data", resolve));
  const ended = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
  const begun = performance.now();
  child.kill("SIGINT");
  assert.equal(await ended, "SIGINT");
  timed("ended after an interrupt", performance.now() - begun, 100);
  assert.equal(written, "");
});
