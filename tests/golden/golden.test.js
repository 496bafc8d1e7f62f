// Reports of whole scenarios, native and from the module, against each other and against the files here.
// A missing report is written; a changed one is saved as .changed for the reviewer to compare and move into place.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import test from "node:test";
import { differences } from "../support/differences.js";
import { loadSlipstick, slipstickCommand } from "../support/module.js";

const FOLDER = new URL("./", import.meta.url);

/** What a reviewer reads: long lists as their length. */
function outline(report) {
  const copy = structuredClone(report);
  delete copy.scenario;
  for (const list of [copy.training?.timeline, copy.serving?.timeline]) list?.splice(8);
  return copy;
}

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

  test(`${name}: the report is the one on file`, () => {
    assert.equal(native.issues, undefined, JSON.stringify(native.issues));
    delete native.explanations;
    delete native.sources;
    const path = new URL(`${name}.report.json`, FOLDER);
    const report = outline(native);
    const text = JSON.stringify(report, null, 1) + "\n";
    if (!existsSync(path)) writeFileSync(path, text);
    const changes = differences(JSON.parse(readFileSync(path, "utf8")), report);
    if (changes.length > 0) writeFileSync(new URL(`${name}.report.json.changed`, FOLDER), text);
    assert.deepEqual(changes.slice(0, 20), []);
  });
}
