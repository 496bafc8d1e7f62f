// One JSON, one answer: the page's requests for inputs, and for the points of a study, get the core's answer to the
// same JSON. Unwritten inputs follow the written ones, on the page as on the command line.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { flat, inputsOf } from '../../web/explore/study_inputs.js';
import { EXAMPLES } from '../../web/scenes/overview.js';
import { read } from '../../web/state/link.js';
import { get } from '../../web/state/paths.js';
import { NEWEST, requestOf, sayTheSame, withChanges, withoutIdle } from '../../web/state/scenario.js';
import { loadSlipstick, ROOT, slipstickCommand } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
const { defaults } = described;
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const asked = (inputs) => requestOf(defaults, inputs, presetPaths);
const evaluate = (request) => JSON.parse(slipstick.evaluate(JSON.stringify(request), ''));
// The module answers the timeline separately.
function command(args, input) {
  const report = JSON.parse(slipstickCommand(['evaluate', ...args], input));
  if (report.training) report.training.timeline = [];
  return report;
}

// Same members and words, numbers up to the last digits: the math libraries of the two builds round differently.
function assertSame(a, b, path = '') {
  if (typeof a === 'number' && typeof b === 'number')
    return assert.ok(Math.abs(a - b) <= 1e-9 * Math.abs(b), `${path}: ${a}, ${b}`);
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return assert.equal(a, b, path);
  assert.deepEqual(Object.keys(a), Object.keys(b), path);
  for (const key of Object.keys(a)) assertSame(a[key], b[key], `${path}.${key}`);
}

const studies = readdirSync(`${ROOT}core/presets/studies`).map((name) => [
  name,
  JSON.parse(readFileSync(`${ROOT}core/presets/studies/${name}`, 'utf8')),
]);

for (const [name, study] of studies) {
  if (study.verb || !study.points) continue;
  test(`every point of ${name} opens on the page with the study's figures`, () => {
    study.points.forEach((point, at) => {
      const { figures } = JSON.parse(slipstick.studyPoint(name.replace('.json', ''), at)).point;
      const report = evaluate(
        asked({ ...inputsOf(defaults, study.request, described.inputs), ...flat(point.overrides) }),
      );
      assert.equal(report.issues, undefined, `${point.label}: ${JSON.stringify(report.issues)}`);
      for (const [path, figure] of Object.entries(figures))
        assert.deepEqual(get(report, path) ?? null, figure, `${point.label} ${path}`);
    });
  });
}

test('a request keeps its meaning if it leaves out inputs that the default scenario sets', () => {
  const request = { version: 1, training: { mapping: { tp: 2 } }, serving: null };
  const report = evaluate(asked(inputsOf(defaults, request, described.inputs)));
  assert.deepEqual(report.scenario, evaluate(request).scenario);
  assert.equal(report.scenario.training.mapping.sequence_parallel, false);
});

const LINKS = [
  { model: 'gpt3-175b' },
  { cluster: 'single-rtx-4090' },
  { cluster: 'gb200-nvl72', model: 'llama-3.1-405b' },
  { 'serving.mapping.tp': '16' },
  { 'cluster.devices': '500' },
  {
    'cluster': 'dgx-a100',
    'cluster.devices': '64',
    'cluster.device.design': 'h100-like',
    'cluster.device.design.area': '600',
  },
];

for (const inputs of LINKS) {
  const pairs = Object.entries(inputs).map(([path, value]) => `${path}=${value}`);
  test(`the page and the command line agree on ${pairs.join(' ')}`, () => {
    const report = evaluate(asked(inputs));
    assert.equal(report.issues, undefined, JSON.stringify(report.issues));
    assertSame(report, command([`version=${NEWEST}`, ...pairs]));
  });
}

test('a value written on the page stays, though it is the default scenario’s', () => {
  const inputs = { 'cluster': 'single-rtx-4090', 'serving.devices': '8', 'version': '1' };
  assert.equal(evaluate(asked(inputs)).issues[0].path, 'serving.devices');
  assert.deepEqual(withoutIdle(defaults, inputs, presetPaths, described.follows), inputs);
  // A batch per replica takes the place of the default's 32 requests in total.
  const batch = { 'serving.batch': '32', 'cluster.devices': '8', 'training': 'null' };
  assert.notEqual(
    evaluate(asked(batch)).serving.tpot_s,
    evaluate(asked({ 'cluster.devices': '8', 'training': 'null' })).serving.tpot_s,
  );
  assert.deepEqual(withoutIdle(defaults, batch, presetPaths, described.follows), batch);
  assert.deepEqual(withoutIdle(defaults, { 'serving.devices': '8', 'version': '1' }, presetPaths, described.follows), {
    version: '1',
  });
});

test('a change merged into a request counts as written', () => {
  const request = withChanges(asked({ cluster: 'single-rtx-4090' }), { 'serving.devices': 8 });
  assert.equal(evaluate(request).issues[0].path, 'serving.devices');
});

test('inputs that repeat the default’s values have the same meaning', () => {
  assert.ok(sayTheSame(defaults, { 'serving.batch': '32' }, {}, presetPaths));
  assert.ok(!sayTheSame(defaults, { 'serving.batch': '64' }, {}, presetPaths));
});

test('a request from a file has the same answer as on the command line', () => {
  const request = { model: { preset: 'gpt3-175b' }, cluster: { preset: 'dgx-a100' } };
  assertSame(evaluate(request), command(['-'], JSON.stringify(request)));
});

test('the examples on Start are answered, each by a system that can hold it', async () => {
  for (const [id, query] of EXAMPLES) {
    const { inputs, faults } = await read(`#/overview?${query}&v=1`, ['overview']);
    const report = evaluate(asked(inputs));
    assert.deepEqual([faults, report.issues], [[], undefined], id);
    const isPossible = (report.training ?? report.serving).feasible;
    assert.equal(isPossible, id !== 'big', id); // 405B does not fit the default: the page shows a way on
  }
});
