// How Explore uses the core's results: rows, filters, frontiers, inputs of a mapping.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeLeft, workersFor } from '../../web/engine/pool.js';
import { readAsked, writeAsked } from '../../web/explore/asked.js';
import '../support/browser_globals.js';
import { figureGroups, inPart } from '../../web/explore/controls.js';
import { asInputs, columnsOf, filtered, frontOf, sorted, thinned } from '../../web/explore/ranking.js';
import { chunkAfter, mappingWords, nameOfValue, objectiveFor, valuesAbout } from '../../web/explore/sweep_values.js';
import { checkWords, foundWords } from '../../web/explore/study_checks.js';
import { setOutputs } from '../../web/text/outputs.js';

const rows = [
  { rank: 1, overrides: { 'training.mapping.tp': 8, 'training.recompute': 'full' }, step_time_s: 3 },
  { rank: 2, overrides: { 'training.mapping.tp': 4, 'training.recompute': 'full' }, step_time_s: 5 },
  {
    rank: 3,
    overrides: { 'training.mapping.tp': 16, 'training.recompute': 'full', 'training.mapping.pp': 2 },
    step_time_s: 4,
  },
];

test('members that differ between rows become columns, the others are stated once', () => {
  assert.deepEqual(columnsOf(rows), {
    differ: ['training.mapping.tp', 'training.mapping.pp'],
    common: ['training.recompute'],
  });
});

test('rows sort by a member or a figure and keep the search’s order among equals', () => {
  const ranks = (list) => list.map(({ rank }) => rank);
  assert.deepEqual(ranks(sorted(rows, 'training.mapping.tp', false)), [2, 1, 3]);
  assert.deepEqual(ranks(sorted(rows, 'step_time_s', true)), [2, 3, 1]);
  assert.deepEqual(ranks(sorted(rows, 'training.recompute', true)), [1, 2, 3]);
});

test('every word of a filter must fit; tp=8 is not tp=18', () => {
  assert.deepEqual(
    filtered(rows, 'tp=4').map(({ rank }) => rank),
    [2],
  );
  assert.deepEqual(
    filtered(rows, 'full pp').map(({ rank }) => rank),
    [3],
  );
  assert.equal(filtered(rows, 'tp=1').length, 0);
});

test('a mapping merged into inputs: null removes, a catalogue entry replaces everything below it', () => {
  const inputs = {
    'cluster': 'dgx-a100',
    'cluster.device.tdp': '300 W',
    'serving.prefill_chunk': '512',
    'serving.disaggregated.prefill_devices': '8',
    'serving.batch': '4',
  };
  assert.deepEqual(
    asInputs(inputs, {
      'cluster': 'dgx-h100',
      'cluster.devices': 16,
      'serving.prefill_chunk': null,
      'serving.disaggregated': null,
      'serving.batch': 32,
      'cluster.device.design.area_split.l2': 0.12250000000000001,
    }),
    {
      'cluster': 'dgx-h100',
      'cluster.devices': '16',
      'serving.batch': '32',
      'cluster.device.design.area_split.l2': '0.1225',
    },
  );
});

test('a panel’s question is text, and its values may hold slashes', () => {
  const controls = {
    unknown: { value: 'cost.device.dies.0.area' },
    from: { value: ' 0.01 /cm^2 ' },
    against: { value: '' },
  };
  const text = writeAsked('solve', controls);
  assert.equal(text, 'solve/unknown:cost.device.dies.0.area/from:0.01 /cm^2/against:');
  assert.deepEqual(readAsked(text, 'solve', controls), {
    unknown: 'cost.device.dies.0.area',
    from: '0.01 /cm^2',
    against: '',
  });
  assert.deepEqual(readAsked('solve/other:1/from:2', 'solve', controls), { from: '2' });
  assert.equal(readAsked(text, 'sweep', controls), undefined);
  assert.equal(readAsked(undefined, 'solve', controls), undefined);
});

test('the list of figures begins with direct figures and ends with interval ends; names repeat no words', () => {
  setOutputs([
    { path: 'training.step_time_s', title: 'Step time', kind: 'figure' },
    { path: 'training.step_time_interval', title: 'Step time, 90 % interval', kind: 'figure' },
    { path: 'training.step_time_interval.low', title: 'Low end', kind: 'figure' },
    { path: 'training.typical', title: 'Typical of production runs', kind: 'figure' },
    { path: 'training.typical.step_time_s', title: 'Step time, typical of production runs', kind: 'figure' },
  ]);
  const [training] = figureGroups({
    training: {
      step_time_interval: { low: 1, level: 0.9 },
      typical: { step_time_s: 3 },
      step_time_s: 2,
    },
  });
  assert.deepEqual(
    training.options.map(({ name }) => name),
    ['Step time', 'Step time, typical of production runs', 'Step time, 90 % interval: Low end'],
  );
  assert.equal(inPart('training.step_time_s', 'Step time'), 'Training: Step time');
  assert.equal(inPart('serving.tokens_per_j', 'Tokens per joule (serving)'), 'Tokens per joule (serving)');
  assert.equal(inPart('cost.device_usd', 'Manufacturing cost per device'), 'Manufacturing cost per device');
  setOutputs([]);
});

test('a frontier keeps the points that no other beats in both figures', () => {
  const points = [
    [9, 1],
    [8, 3],
    [8, 2],
    [7, 3],
    [5, 5],
    [4, 4],
  ].map(([a, b]) => ({ a, b }));
  assert.deepEqual(
    frontOf(points, ['a', 'b']).map(({ a, b }) => [a, b]),
    [
      [9, 1],
      [8, 3],
      [5, 5],
    ],
  );
});

test('a long frontier is thinned and keeps its ends', () => {
  const { nth, points } = thinned(
    Array.from({ length: 1001 }, (_, i) => i),
    200,
  );
  assert.ok(points.length <= 202 && points[0] === 0 && points.at(-1) === 1000 && nth === 6);
});

test('values of a sweep: presets by their names, flags as yes or no', () => {
  const catalogue = [
    { kind: 'node', id: 'dgx-h100', name: 'another kind' },
    { kind: 'cluster', id: 'dgx-h100', name: 'DGX H100' },
  ];
  const cluster = { path: 'cluster', kind: 'object', presets: 'cluster' };
  assert.equal(nameOfValue('dgx-h100', cluster, catalogue), 'DGX H100');
  assert.equal(nameOfValue('mine', cluster, catalogue), 'mine');
  assert.equal(nameOfValue(true, { path: 'training.flash_attention', kind: 'flag' }), 'yes');
  assert.equal(nameOfValue(4096, { path: 'training.sequence', kind: 'length' }), '4,096');
});

test('workers, time left and pieces of a sweep', () => {
  assert.deepEqual([1, 2, 4, 64, undefined].map(workersFor), [2, 2, 3, 8, 2]);
  assert.equal(timeLeft({ done: 250, space: 1000 }, 1), 3);
  assert.equal(timeLeft({ done: 0, space: 1000 }, 1), undefined);
  assert.equal(chunkAfter(8, 10), 16);
  assert.ok(chunkAfter(100, 400) < 25);
});

test('a mapping in words leaves out default members; a search optimizes the swept figure', () => {
  assert.equal(mappingWords(undefined), '');
  assert.match(
    mappingWords({
      'training.mapping.tp': 8,
      'training.mapping.cp': 1,
      'training.recompute': 'none',
      'serving.disaggregated': null,
    }),
    /^[^,]+ 8$/,
  );
  assert.match(
    mappingWords({ 'serving.mapping.pp': 4, 'serving.disaggregated.prefill_mapping.pp': 2 }),
    /^pp 4, prefill pool pp 2$/i,
  );
  setOutputs([{ path: 'training.cost_usd', sought: true }, { path: 'cost.device_usd' }]);
  assert.equal(objectiveFor('training.cost_usd', 'training'), 'cost_usd');
  assert.equal(objectiveFor('cost.device_usd', 'training'), '');
  assert.match(valuesAbout({ kind: 'count', low: 1 }, 8), /^1, 2, 4, 8/);
});

test('a check of a study is put into words, with its figures', () => {
  setOutputs([{ path: 'cost.device_usd', title: 'Manufacturing cost per device', unit: '$' }]);
  const falls = { falls: 'split.device_usd', along: ['1 die', '2 dies', '4 dies'] };
  assert.equal(checkWords(falls), 'Manufacturing cost per device falls from “1 die” to “4 dies”');
  assert.equal(foundWords(falls, [2760, 2600, 2550]), '$2,760 → $2,600 → $2,550');
  const ratio = { ratio: 'training.step_time_s', of: ['a', 'b'], low: 1.25, high: 1.4 };
  assert.match(checkWords(ratio), /“a” over “b” is 1\.25 to 1\.4$/);
  assert.equal(foundWords(ratio, 1.362), '1.36');
  assert.match(
    checkWords({ equals: 'serving.bound.decode', at: ['H100'], value: 'memory' }),
    /is memory-bandwidth-bound at “H100”$/,
  );
  assert.equal(foundWords({ between: 'link_power_w', at: ['a'], low: 9, high: 10 }, [9.6]), '9.6\u00a0W');
});
