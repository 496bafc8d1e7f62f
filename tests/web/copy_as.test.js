import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bibtex, csvRows, markdown } from '../../web/report/copy_as.js';
import { referencesOf } from '../../web/report/references.js';
import { requestOf } from '../../web/state/scenario.js';
import { setOutputs } from '../../web/text/outputs.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
setOutputs(described.outputs);
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const report = (inputs, explain = '') =>
  JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputs, presetPaths)), explain));

test('the Markdown table has a row a figure and the link', () => {
  const text = markdown(report({}), 'https://example.org/#/train');
  assert.match(text, /^\| figure \| value \|\n\|---\|---\|\n\| Training: Step time \| [\d.]+ s \|/);
  assert.match(text, /\[Slipstick\]\(https:\/\/example\.org\/#\/train\)\n$/);
});

test('BibTeX cites each work once, and sources without a work are left out', () => {
  const { explanations } = report({}, '*');
  const text = bibtex(new Map(explanations.map((one) => [one.path, one])), {
    link: 'https://example.org/#/train',
    release: '9.9',
    year: 2026,
  });
  const entries = text.split('\n\n');
  assert.ok(entries.length > 10);
  assert.match(
    entries[0],
    /^@misc\{slipstick,\n  title = \{\{Slipstick\} 9\.9\},\n  year = \{2026\},\n  url = \{https:/,
  );
  assert.match(text, /@article\{korthikanti2022recomputation,\n  author = \{Korthikanti, Vijay and others\}/);
  assert.doesNotMatch(text, /16 bit|3,600|estimate\}/);
  const keys = entries.map(
    (one) => /^@(?:article|inproceedings|misc)\{([\w-]+),\n  (?:author|title) = /.exec(one)?.[1],
  );
  assert.equal(new Set(keys).size, entries.length);
  for (const one of entries) {
    assert.match(one, /year = \{\d{4}\}|url = \{https:/, one);
    assert.equal(one.split('{').length, one.split('}').length, one);
  }
});

// BibTeX counts braces, escaped or not.
test('a source is the works that it cites, in words that LaTeX can set', () => {
  const keys = (source) => referencesOf(source).map(([, key]) => key);
  for (const source of ['Dao and Gu 2024', 'Dao and Gu 2024, arXiv 2405.21060'])
    assert.deepEqual(keys(source), ['dao2024mamba2']);
  assert.deepEqual(keys('Seeds 1967; Price 1970'), [...keys('Seeds 1967'), ...keys('Price 1970')]);
  assert.deepEqual(keys('fitted to the FlashAttention-2 benchmarks'), ['dao2023flashattention2']);
  assert.deepEqual(keys('fitted to the FlashAttention-3 benchmarks'), ['shah2024flashattention3']);
  for (const both of ['the FlashAttention-2 and -3 benchmarks', 'the FlashAttention papers'])
    assert.deepEqual(keys(both), ['dao2023flashattention2', 'shah2024flashattention3']);
  assert.deepEqual(referencesOf('Mooncake, arXiv 2407.00079'), [
    [
      'misc',
      'arxiv-2407-00079',
      { title: '{Mooncake, arXiv 2407.00079}', year: '2024', url: 'https://arxiv.org/abs/2407.00079' },
    ],
  ]);
  const long = 'A report whose title is longer than forty letters, part';
  assert.notDeepEqual(keys(`${long} one, 2025`), keys(`${long} two, 2025`));
  for (const none of ['estimate', 'assumed from the data sheet: 4 us on devices up to 2021'])
    assert.deepEqual(keys(none), []);
  const [[, , { title }]] = referencesOf('R&D_1 at 5 % of $2 #3, {a}~b^c\\d}, 2025');
  assert.equal(
    title,
    '{R\\&D\\_1 at 5 \\% of \\$2 \\#3, \\textbraceleft{}a\\textbraceright{}\\textasciitilde{}b\\textasciicircum{}c\\textbackslash{}d\\textbraceright{}, 2025}',
  );
});

test('figures as rows carry inputs, version and link', () => {
  const rows = csvRows(report({ 'serving.batch': '64' }), { 'serving.batch': '64' }, 'link');
  assert.deepEqual(rows.slice(-3), [
    ['serving.batch', '64', 'input'],
    ['version', 3, ''],
    ['link', 'link', ''],
  ]);
});
