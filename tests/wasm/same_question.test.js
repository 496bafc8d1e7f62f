// A question has the same answer as JSON, on the command line, through the npm module and on the page.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import test from "node:test";
import { differences } from "../support/differences.js";
import { loadSlipstick, ROOT, slipstickCommand } from "../support/module.js";
import { requestOf } from "../../web/state/scenario.js";

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);

const MODELS = ["llama-3.1-8b", "qwen3-30b-a3b", "gpt-oss-120b", "deepseek-v3", "gemma-3-4b"];
const PLACES = [
  { preset: "dgx-h100", devices: 8 },
  { preset: "dgx-b200", devices: 64 },
  "hgx-mi300x",
  "single-rtx-4090",
  { devices: 16 },
];
const WANTS = [
  { training: { mapping: "auto" }, cost: { electricity: "0.12" } },
  { serving: { prompt: 4000, mapping: { tp: 4 } }, training: null },
];
const QUESTIONS = MODELS.flatMap((model) =>
  PLACES.flatMap((cluster) => WANTS.map((want) => ({ model, cluster, ...want }))),
);

/** {"a": {"preset": "x", "b": 1}} as the inputs of a link: {"a": "x", "a.b": "1"}. */
function inputsOf(json, path = "", inputs = {}) {
  for (const [key, value] of Object.entries(json)) {
    const at = path ? `${path}.${key}` : key;
    if (key === "preset") inputs[path] = value;
    else if (value !== null && typeof value === "object") inputsOf(value, at, inputs);
    else inputs[at] = typeof value === "string" ? value : JSON.stringify(value);
  }
  return inputs;
}

/** The package as an installing program sees it. */
async function installed(use) {
  const folder = mkdtempSync(join(tmpdir(), "slipstick-"));
  try {
    cpSync(ROOT + "build/package", folder, { recursive: true });
    const { load } = await import(pathToFileURL(join(folder, "index.js")).href);
    return await use(await load());
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("fifty questions have one answer in four places", async () => {
  assert.equal(QUESTIONS.length, 50);
  const lines = slipstickCommand(["evaluate", "--lines"], QUESTIONS.map((one) => JSON.stringify(one)).join("\n") + "\n")
    .trimEnd()
    .split("\n");
  await installed((npm) => {
    QUESTIONS.forEach((question, i) => {
      const asked = JSON.stringify(question);
      const inputs = inputsOf(question);
      const answer = JSON.parse(lines[i]);
      const others = {
        assignments: JSON.parse(
          slipstickCommand(["evaluate", ...Object.entries(inputs).map((pair) => pair.join("="))]),
        ),
        page: JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputs, presetPaths)), "")),
        npm: npm.evaluate(question),
      };
      for (const [place, other] of Object.entries(others)) {
        // Only the command line includes the pipeline's passes.
        for (const training of [answer.training, other.training])
          if (training) training.timeline = training.timeline_cut = null;
        assert.deepEqual(differences(other, answer), [], `${place}: ${asked}`);
      }
    });
  });
});
