// The search as scripts and schedulers run it: any number of threads, workers or shards gives one answer.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { ROOT, loadSlipstick, slipstickCommand } from "../support/module.js";

const SCENARIO = [
  "model=llama-2-13b",
  "cluster=dgx-a100",
  "cluster.devices=32",
  "training.global_batch=128",
  "training.sequence=4096",
  "serving=null",
  "cost=null",
];

/** The result of a search, without members that depend on timing or on the shards. */
function found(text) {
  const { best, pareto, space, done, feasible, rejected } = JSON.parse(text);
  return { best, pareto, space, done, feasible, rejected };
}
const search = (...options) =>
  slipstickCommand(["search", ...SCENARIO, "--for", "training", "--pareto", "memory_bytes.total", ...options]);

test("one, two and four threads give the same answer", () => {
  const one = found(search("--threads", "1"));
  assert.ok(one.best.length === 10 && one.pareto.length > 1);
  assert.equal(one.done, one.space);
  assert.deepEqual(found(search("--threads", "2")), one);
  assert.deepEqual(found(search("--threads", "4")), one);
});

test("pruning hides nothing", () => {
  assert.deepEqual(found(search("--threads", "2", "--no-prune")), found(search("--threads", "2")));
});

test("shards run by GNU parallel merge to the answer of the whole", () => {
  const folder = mkdtempSync(join(tmpdir(), "slipstick-"));
  const command = [
    ROOT + "build/native/slipstick",
    "search",
    ...SCENARIO,
    "--pareto",
    "memory_bytes.total",
    "--threads",
    "1",
    "--shard",
    "{}/5",
    ">",
    folder + "/{}.json",
  ];
  execFileSync("parallel", ["--jobs", "2", command.join(" "), ":::", "0", "1", "2", "3", "4"]);
  const shards = readdirSync(folder).map((name) => join(folder, name));
  const merged = JSON.parse(slipstickCommand(["merge", ...shards]));
  assert.deepEqual(merged.missing_shards, []);
  assert.deepEqual(found(JSON.stringify(merged)), found(search("--threads", "1")));
  assert.deepEqual(JSON.parse(slipstickCommand(["merge", ...shards.slice(1)])).missing_shards, [0]);
  writeFileSync(folder + "/bad.json", "{}");
  assert.equal(JSON.parse(slipstickCommand(["merge", folder + "/bad.json"])).issues[0].path, "0");
});

test("the module steps shards to the command line's answer", async () => {
  const { slipstick } = await loadSlipstick();
  const request = JSON.parse(slipstickCommand(["evaluate", ...SCENARIO])).scenario;
  request.training.memory_margin = null; // chosen by `evaluate`; the search had none
  const shards = [0, 1, 2].map((shard) => {
    const one = new slipstick.Search(
      JSON.stringify({ request, for: "training", pareto: ["memory_bytes.total"], shard, shards: 3 }),
    );
    assert.equal(one.issues(), "");
    while (one.step(500));
    const text = one.shard();
    one.delete();
    return text;
  });
  const { best } = JSON.parse(slipstick.mergeSearch(JSON.stringify(shards)));
  assert.deepEqual(
    best.map((one) => one.index),
    found(search("--threads", "1")).best.map((one) => one.index),
  );
});

test("the best mapping evaluates to what the search says", () => {
  const [best] = found(search("--threads", "1")).best;
  const overrides = Object.entries(best.overrides).map(([path, value]) => `${path}=${value}`);
  const report = JSON.parse(slipstickCommand(["evaluate", ...SCENARIO, ...overrides]));
  assert.ok(Math.abs(report.training.step_time_s / best.step_time_s - 1) < 1e-12);
  assert.equal(report.training.feasible, true);
});

test("a member is chosen from a list, a format widened to one", () => {
  const schedules = JSON.parse(
    search("--limit", "training.mapping.schedule=zb-h1,1f1b", "--limit", "virtual_stages=1"),
  );
  assert.ok(schedules.best.every((one) => ["zb-h1", "1f1b"].includes(one.overrides["training.mapping.schedule"])));
  const serve = (...options) =>
    JSON.parse(
      slipstickCommand([
        "search",
        "model=llama-3.1-8b",
        "cluster=dgx-h100",
        "cluster.devices=8",
        "serving.devices=8",
        "training=null",
        "--for",
        "serving",
        ...options,
      ]),
    );
  const own = serve();
  const both = serve("--limit", "serving.precision.weights=bf16,fp8");
  assert.equal(both.space, 2 * own.space);
  assert.equal(both.best[0].overrides["serving.precision.weights"], "fp8");
});

test("limits cut the space and reject by figure", () => {
  const narrow = JSON.parse(search("--limit", "training.mapping.tp<=2", "--limit", "training.mapping.pp<=1"));
  assert.ok(
    narrow.best.every((one) => one.overrides["training.mapping.tp"] <= 2 && one.overrides["training.mapping.pp"] === 1),
  );
  const roomy = JSON.parse(search("--limit", "training.memory_headroom_bytes>=40 GB"));
  assert.ok(roomy.rejected.memory_headroom_bytes > 0);
});

test("a serving search meets its objective and its limit", () => {
  const answer = JSON.parse(
    slipstickCommand([
      "search",
      "model=llama-3.1-70b",
      "cluster=dgx-h100",
      "serving.devices=8",
      "training=null",
      "--for",
      "serving",
      "--objective",
      "tokens_per_s_per_device",
      "--pareto",
      "tokens_per_s_per_user",
      "--limit",
      "serving.tpot_s<=0.05",
    ]),
  );
  assert.ok(answer.best.length > 0 && answer.pareto.length > 1);
  assert.ok(answer.best[0].tokens_per_s_per_device >= answer.best.at(-1).tokens_per_s_per_device);
});

test("images or clips alone are refused where language models are searched, sized or advised on", () => {
  const images = ["cluster=dgx-h100", "diffusion.model=flux.1-dev"];
  for (const question of [
    ["search", ...images],
    ["search", ...images, "--for", "serving"],
    ["advise", ...images],
    ["advise", ...images, "--for", "serving"],
    ["size", ...images, "--rate", "3"],
  ]) {
    const { issues } = JSON.parse(slipstickCommand(question));
    assert.deepEqual(
      issues.map(({ path }) => path),
      ["diffusion"],
      question.join(" "),
    );
    assert.match(issues[0].message, /images or clips alone.*sweep and solve/);
    assert.deepEqual(
      issues[0].fixes.map(({ path, value }) => [path, value]),
      [["diffusion", undefined]],
    );
  }
  // Images do not prevent advice about a written serving part; a search of a part that is off is an issue.
  const both = JSON.parse(slipstickCommand(["advise", ...images, "serving.batch=8", "training=null", "--top", "1"]));
  assert.equal(both.issues, undefined);
  const off = JSON.parse(slipstickCommand(["search", "training=null"]));
  assert.deepEqual(
    off.issues.map(({ path }) => path),
    ["training"],
  );
});

test("a wrong search lists all issues", () => {
  const paths = (...options) => JSON.parse(slipstickCommand(["search", ...options])).issues.map((issue) => issue.path);
  assert.deepEqual(paths("--for", "sleeping"), ["--for"]);
  assert.deepEqual(paths("--objective", "happiness"), ["objective"]);
  assert.deepEqual(paths("--limit", "training.mapping.tp<=0"), ["limit"]);
  assert.deepEqual(paths("--shard", "3/3"), ["--shard"]);
  assert.deepEqual(paths("--top", "0", "--threads", "x"), ["--top", "--threads"]);
});
