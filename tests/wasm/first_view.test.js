// The answers built into the site for its first view equal the module's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { requestOf } from "../../web/state/scenario.js";
import { loadSlipstick, ROOT } from "../support/module.js";

const { slipstick } = await loadSlipstick();
const { described, report, catalogue } = JSON.parse(readFileSync(ROOT + "build/site/data/first_view.json", "utf8"));

// Same members and words, numbers up to the last digits: the math libraries of the two builds round differently.
function assertSame(a, b, path = "") {
  if (typeof a === "number" && typeof b === "number")
    return assert.ok(Math.abs(a - b) <= 1e-9 * Math.abs(b), `${path}: ${a}, ${b}`);
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return assert.equal(a, b, path);
  assert.deepEqual(Object.keys(a), Object.keys(b), path);
  for (const key of Object.keys(a)) assertSame(a[key], b[key], `${path}.${key}`);
}

// A report without the runs behind its intervals, which the page does not show.
function withoutRuns(report) {
  for (const part of ["training", "serving", "cost"]) {
    for (const figure of Object.values(report[part])) if (figure?.level) delete figure.rows;
  }
  return report;
}

test("the report is the module's answer to the page's request without inputs", () => {
  const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
  const request = JSON.stringify(requestOf(described.defaults, {}, presetPaths));
  assertSame(report, withoutRuns(JSON.parse(slipstick.evaluate(request, ""))));
});

// Whether part of a report has the figure at a path, in which "*" stands for any entry.
const has = (part, [member, ...rest]) =>
  member === undefined ||
  (member === "*"
    ? Object.values(part ?? {}).some((entry) => has(entry, rest))
    : member in Object(part) && has(part[member], rest));

test("inputs and outputs are described as by the module, except help, folded inputs and figures that the report lacks", () => {
  const whole = JSON.parse(slipstick.describe());
  const inputs = whole.inputs.map((input, i) =>
    Object.fromEntries(Object.keys(described.inputs[i]).map((key) => [key, input[key]])),
  );
  const outputs = whole.outputs.filter(({ path }) => has(report, path.split(".")));
  assert.deepEqual(described, { ...whole, inputs, outputs });
  assert.ok(outputs.length > 300 && outputs.length < whole.outputs.length);
  for (const shape of ["path", "kind", "presets", "nullable"]) {
    assert.deepEqual(
      described.inputs.map((input) => input[shape]),
      whole.inputs.map((input) => input[shape]),
    );
  }
});

// Members that the first view shows; for rentals also the cost answer's text about the cheapest.
const shown = ({ kind }) => [
  "kind",
  "id",
  "name",
  ...(kind === "rental" ? ["device", "provider", "date", "term", "price"] : []),
];

test("the catalogue has the module's entries that an input picks, in its order, with their shown members", () => {
  const picked = new Set(JSON.parse(slipstick.describe()).inputs.map(({ presets }) => presets));
  const entries = JSON.parse(slipstick.presets("")).filter(({ kind }) => picked.has(kind));
  const kept = (entry) =>
    Object.fromEntries(
      shown(entry)
        .filter((member) => member in entry)
        .map((member) => [member, entry[member]]),
    );
  assert.deepEqual(catalogue, entries.map(kept));
});

test("a report leaves the timeline to a separate question", () => {
  assert.deepEqual(report.training.timeline, []);
  assert.ok(JSON.parse(slipstick.timeline("")).timeline.length > 0);
});
