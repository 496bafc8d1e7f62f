// What the page reads of pasted texts, checked with the built module.
import assert from 'node:assert/strict';
import { inputsAfter, readCommand } from '../../web/commands/commands.js';
import { readMeasurement } from '../../web/measurements/read.js';
import { requestOf } from '../../web/state/scenario.js';

/** Reads commands: `read(text)`; `reportOf(inputs)`; `assertReads(text, expected)`, which returns the text's report. */
export function commandReader(slipstick) {
  const described = JSON.parse(slipstick.describe());
  const models = JSON.parse(slipstick.presets('model'));
  const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
  const read = (text) => readCommand(text, models);

  const reportOf = (inputs) =>
    JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputs, presetPaths)), ''));

  // Checks the inputs that a text sets, at the stated paths.
  function assertReads(text, { model, unused = [], unknown = [], ...inputs }) {
    const found = read(text);
    assert.ok(found, text);
    assert.equal(found.model?.id, model, text);
    for (const [path, value] of Object.entries(inputs)) assert.equal(found.inputs[path], value, `${path}: ${text}`);
    assert.deepEqual([found.unused, found.unknown], [unused, unknown], text);
    return reportOf({ version: '3', ...inputsAfter({}, found) });
  }
  return { models, read, reportOf, assertReads };
}

/** Reads measurements with the models and clusters of the catalogue. */
export function measurementReader(slipstick) {
  const catalogue = {
    models: JSON.parse(slipstick.presets('model')),
    clusters: JSON.parse(slipstick.presets('cluster')),
  };
  return (text) => readMeasurement(text, catalogue);
}
