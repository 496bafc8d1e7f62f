// Compares headline figures of whole scenarios with recorded ones, and the module's whole reports with the command
// line's. A scenario without a record gets one. If figures moved, the failure lists them, old → new, and the new ones
// are saved as .changed for the reviewer to move into place. `tests/compare_builds` compares all figures of two builds.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import test from "node:test";
import { differences } from "../support/differences.js";
import { loadSlipstick, slipstickCommand } from "../support/module.js";

const FOLDER = new URL("./", import.meta.url);

const HEADLINES = [
  "training.step_time_s",
  "training.model_flops_utilization",
  ...["forward", "backward", "recompute", "tp", "ep", "pp", "dp", "bubble"].map((part) => `training.time_s.${part}`),
  ...["weights", "optimizer", "activations", "total"].map((part) => `training.memory_bytes.${part}`),
  "training.cost_usd",
  ...["step_time_s", "generation_s", "learning_s", "idle"].map((part) => `post_training.${part}`),
  ...["latency_s", "time_s.products", "time_s.attention", "time_s.row_kernels", "time_s.communication"].map(
    (part) => `diffusion.${part}`,
  ),
  "diffusion.memory_bytes.total",
  "diffusion.cost_usd",
  "serving.ttft_s",
  "serving.tpot_s",
  "serving.tokens_per_s",
  "serving.requests_in_flight",
  "serving.kv_cache_bytes",
  "serving.memory_bytes.total",
  "serving.max_batch",
  "serving.cost_usd_per_million_tokens",
  "cost.device_usd",
  "cost.device_hour_usd",
];

const at = (report, path) => path.split(".").reduce((value, key) => value?.[key], report);
/** {path: figure} of the report's headline figures that are not 0. */
const headlines = (report) =>
  Object.fromEntries(HEADLINES.map((path) => [path, at(report, path)]).filter(([, figure]) => figure));

const { slipstick } = await loadSlipstick();

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".request.json"))) {
  const name = file.replace(".request.json", "");
  const request = readFileSync(new URL(file, FOLDER), "utf8");
  const native = JSON.parse(slipstickCommand(["evaluate", "-", "--explain", "*"], request));

  test(`${name}: the module answers as the command line does`, () => {
    const report = JSON.parse(slipstick.evaluate(request, "*"));
    if (report.training) report.training.timeline = JSON.parse(slipstick.timeline(request)).timeline;
    assert.deepEqual(differences(native, report), []);
  });

  test(`${name}: the figures are those on file`, () => {
    assert.equal(native.issues, undefined, JSON.stringify(native.issues));
    const path = new URL(`${name}.figures.json`, FOLDER);
    const figures = headlines(native);
    const text = JSON.stringify(figures, null, 1) + "\n";
    if (!existsSync(path)) writeFileSync(path, text);
    const moved = differences(JSON.parse(readFileSync(path, "utf8")), figures);
    if (moved.length > 0) writeFileSync(new URL(`${name}.figures.json.changed`, FOLDER), text);
    assert.deepEqual(moved, []);
  });
}
