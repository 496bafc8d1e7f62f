// The lesson on designing a chip shows splits that the design command finds; none is far from the best one.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { ROOT, slipstickCommand } from "../support/module.js";

const lesson = JSON.parse(readFileSync(`${ROOT}web/lessons/study-design.json`, "utf8"));
const ask = (verb, inputs, ...options) => {
  const all = { ...lesson.start, version: "1", ...inputs };
  const words = Object.entries(all).map(([path, value]) => `${path}=${value}`);
  return JSON.parse(slipstickCommand([verb, ...words, ...options, "--json"]));
};

for (const [letter, part, figure] of [
  ["B", "serving", "cost_usd_per_million_tokens"],
  ["C", "training", "cost_usd"],
])
  test(`the split of scenario ${letter} is within 1 % of the best for ${part}.${figure}`, () => {
    const best = ask("design", {}, "--objective", `${part}.${figure}`);
    const shown = ask("evaluate", lesson.scenarios[letter]);
    assert.ok(best.converged && best.feasible);
    assert.ok(shown[part][figure] >= best.objective * 0.999, `${shown[part][figure]} against ${best.objective}`);
    assert.ok(shown[part][figure] <= best.objective * 1.01, `${shown[part][figure]} against ${best.objective}`);
  });
