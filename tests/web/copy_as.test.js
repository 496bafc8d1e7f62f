import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bibtex, csvRows, markdown } from '../../web/report/copy_as.js';
import { requestOf } from '../../web/state/scenario.js';
import { setOutputs } from '../../web/text/outputs.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
setOutputs(described.outputs);
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const report = (inputs, explain = '') => JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputs, presetPaths)), explain));

test('the Markdown table has a row a figure and the link', () => {
  const text = markdown(report({}), 'https://example.org/#/train');
  assert.match(text, /^\| figure \| value \|\n\|---\|---\|\n\| Step time \| [\d.]+ s \|/);
  assert.match(text, /\[Slipstick\]\(https:\/\/example\.org\/#\/train\)\n$/);
});

test('BibTeX names every source once, with nothing that breaks it', () => {
  const { explanations } = report({}, '*');
  const text = bibtex(new Map(explanations.map((one) => [one.path, one])));
  const entries = text.match(/@misc\{/g);
  assert.ok(entries.length > 5);
  assert.equal(new Set(text.match(/note = \{[^}]*\}/g)).size, entries.length);
});

test('figures as rows carry inputs, version and link', () => {
  const rows = csvRows(report({ 'serving.batch': '64' }), { 'serving.batch': '64' }, 'link');
  assert.deepEqual(rows.slice(-3), [['serving.batch', '64', 'input'], ['version', 2, ''], ['link', 'link', '']]);
});
