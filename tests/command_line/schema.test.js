// The formats as JSON Schema: a validator accepts every request and report of the goldens, and refuses broken ones.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import Ajv from "ajv/dist/2020.js";
import { ROOT, slipstickCommand } from "../support/module.js";

const GOLDEN = ROOT + "tests/golden/";
const requests = readdirSync(GOLDEN).filter((name) => name.endsWith(".request.json"));
const read = (name) => JSON.parse(readFileSync(GOLDEN + name, "utf8"));
const validators = Object.fromEntries(["scenario", "report", ""].map((of) => {
  const schema = JSON.parse(slipstickCommand(["schema", of].filter(Boolean)));
  assert.equal(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
  return [of, new Ajv({ strict: true, allowUnionTypes: true, allErrors: true }).compile(schema)];
}));

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
  accepts("report", JSON.parse(slipstickCommand(["evaluate", "training=null", "serving=null", "cost=null"])), "nothing");
  accepts("scenario", { model: "llama-3.1-8b", cluster: { preset: "dgx-h100", networks: [{}, { bandwidth: "25 GB/s" }] }, training: null }, "short");
  accepts("scenario", { version: 2, training: { mapping: "auto" }, serving: { mapping: { auto: true, tp: 4 } } }, "mappings left to the program");
  accepts("scenario", { serving: { batch: "max", prompt: "8k", requests_per_s: null } }, "texts");
});

test("each preset of the catalogue that a scenario may hold is valid as it stands", () => {
  for (const kind of ["model", "cluster"]) {
    for (const { id } of JSON.parse(slipstickCommand(["presets", kind]))) accepts("scenario", { [kind]: { preset: id } }, id);
  }
});

test("what the program refuses for its form, the schema refuses too", () => {
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
    assert.ok(JSON.parse(slipstickCommand(["evaluate", "-"], JSON.stringify(wrong))).issues.length > 0, JSON.stringify(wrong));
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
