// Answers of former releases to a few scenarios, and how the page shows them. RECORD=1 adds those of the current
// release; run it before raising its number (core/base/release.h).
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { movesOf } from '../../web/releases/moved.js';
import { read } from '../../web/state/link.js';
import { get } from '../../web/state/paths.js';
import { requestOf } from '../../web/state/scenario.js';
import { loadSlipstick, ROOT, slipstickCommand } from '../support/module.js';

const FILE = `${ROOT}web/data/releases.json`;
const SCENES = ['overview', 'train', 'serve', 'memory', 'chip'];

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const known = JSON.parse(readFileSync(FILE, 'utf8'));
const release = slipstickCommand(['--version']).trim().replace('slipstick ', '');

async function reportOf(link) {
  const { inputs, faults } = await read(link, SCENES);
  assert.deepEqual(faults, [], link);
  return JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputs, presetPaths)), ''));
}

if (process.env.RECORD) {
  for (const one of known.links) {
    const report = await reportOf(one.link);
    one.answers[release] = known.figures.map((path) => get(report, path) ?? null);
  }
  const rows = known.links.map((one) => `  ${JSON.stringify(one)}`).join(',\n');
  writeFileSync(FILE, `{\n "figures": ${JSON.stringify(known.figures)},\n "links": [\n${rows}\n ]\n}\n`);
}

test('every scenario opens, is answered and has an answer of a former release for each figure', async () => {
  assert.ok(known.links.length >= 12);
  const titles = new Map(described.outputs.map(({ path, title }) => [path, title]));
  for (const path of known.figures) assert.ok(titles.get(path), path);
  for (const { link, title, answers } of known.links) {
    const report = await reportOf(link);
    assert.equal(report.issues, undefined, title);
    assert.ok(Object.keys(answers).length > 0, title);
    for (const were of Object.values(answers)) {
      assert.equal(were.length, known.figures.length, title);
      assert.ok(
        were.some((value) => value > 0),
        title,
      );
    }
  }
});

test('an answer moved if a reader sees another figure, or if it came or went', () => {
  const figures = ['training.step_time_s', 'serving.tpot_s', 'serving.ttft_s'];
  const report = { training: { step_time_s: 1.1 }, serving: { tpot_s: 0.02001, ttft_s: null } };
  const answers = { 0.1: [1, 0.02, 0.5], 0.2: [1.1, 0.02, null] };
  assert.deepEqual(movesOf({ answers }, figures, report), [
    { release: '0.1', path: 'training.step_time_s', before: 1, after: 1.1 },
    { release: '0.1', path: 'serving.ttft_s', before: 0.5, after: null },
  ]);
});

test('a link names the release that made it, and is read with and without', async () => {
  const named = await read('#/serve?serving.batch=64&v=1&r=1.0.0', SCENES);
  assert.equal(named.release, '1.0.0');
  assert.deepEqual([named.inputs, named.faults], [{ 'version': '1', 'serving.batch': '64' }, []]);
  const odd = await read('#/serve?serving.batch=64&v=1&r=<b>', SCENES);
  assert.deepEqual([odd.release, odd.faults], [undefined, []]);
});
