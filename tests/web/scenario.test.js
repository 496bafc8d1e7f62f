import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { get, isPath, set } from '../../web/state/paths.js';
import {
  requestOf,
  useNewest,
  withChoiceKept,
  withFix,
  withoutFaulty,
  withoutIdle,
  withPick,
} from '../../web/state/scenario.js';
import { setInputs } from '../../web/text/inputs.js';

const FIRST = {
  version: 1,
  model: { preset: 'm' },
  cluster: { preset: 'c', devices: 512 },
  training: { mapping: { tp: 8 } },
  serving: { batch: 32 },
  cost: {},
};
const SECOND = { ...FIRST, version: 2, training: { mapping: { auto: true } } };
const STANDARD = { 1: FIRST, 2: SECOND, 3: { ...SECOND, version: 3 } };
useNewest(STANDARD);
const PICKS = ['model', 'cluster', 'cluster.device'];

test('inputs override the default, booleans as such, numbers as text', () => {
  const request = requestOf(
    STANDARD,
    {
      'serving.batch': '64',
      'training.mapping.sequence_parallel': 'true',
      'cost.electricity': '0.1 $/kWh',
      'serving.prompt': '8k',
    },
    PICKS,
  );
  assert.equal(request.serving.batch, '64');
  assert.equal(request.training.mapping.sequence_parallel, true);
  assert.deepEqual(request.training.mapping, { auto: true, sequence_parallel: true });
  assert.equal(request.cost.electricity, '0.1 $/kWh');
  assert.equal(request.serving.prompt, '8k');
  assert.equal(STANDARD[3].serving.batch, 32, 'the default is left alone');
});

test('a number without a unit stays text, which the core reads in the input’s own unit; in the first versions it is a number in base units', () => {
  const inputs = { 'cost.electricity': '0.12', 'serving.batch': '64' };
  assert.deepEqual(requestOf(STANDARD, inputs, PICKS).cost, { electricity: '0.12' });
  for (const version of ['1', '2']) {
    const { cost, serving } = requestOf(STANDARD, { ...inputs, version }, PICKS);
    assert.deepEqual([cost.electricity, serving.batch], [0.12, 64], version);
  }
  assert.equal(requestOf(STANDARD, { version: '2' }, PICKS).version, 2);
});

test('a value of a fix in base units becomes a text with the input’s unit', () => {
  setInputs([
    { path: 'cluster.networks.*.bandwidth', kind: 'quantity', unit: 'GB/s', unit_factor: 1e9 },
    { path: 'serving.batch', kind: 'count' },
  ]);
  assert.deepEqual(withFix({}, { path: 'cluster.networks.1.bandwidth', value: 6.25e9 }), {
    'cluster.networks.1.bandwidth': '6.25 GB/s',
  });
  assert.deepEqual(withFix({}, { path: 'serving.batch', value: 8 }), { 'serving.batch': '8' });
  assert.deepEqual(withFix({}, { path: 'serving.prompt', value: '8k' }), { 'serving.prompt': '8k' });
});

test('the core’s choices are kept as inputs', () => {
  const report = {
    training: {
      chosen: [
        { path: 'training.mapping.tp', value: 4 },
        { path: 'training.recompute', value: 'none' },
      ],
    },
  };
  assert.deepEqual(withChoiceKept({ model: 'llama-3.1-8b' }, 'training', report), {
    'model': 'llama-3.1-8b',
    'training.mapping.tp': '4',
    'training.recompute': 'none',
  });
  assert.deepEqual(withChoiceKept({}, 'serving', report), {});
});

test('inputs that name a version override its default', () => {
  const request = requestOf(STANDARD, { 'version': '1', 'training.mapping.pp': '2' }, PICKS);
  assert.equal(request.version, 1);
  assert.deepEqual(request.training.mapping, { tp: 8, pp: 2 }, 'numbers, as that version reads them');
});

test('a preset replaces the inputs below it, and later inputs below it override the preset', () => {
  const request = requestOf(
    STANDARD,
    { 'cluster.devices': '16', 'cluster': 'd', 'cluster.device': 'e', 'cluster.device.memory.bandwidth': '4 TB/s' },
    PICKS,
  );
  assert.deepEqual(request.cluster, {
    preset: 'd',
    devices: '16',
    device: { preset: 'e', memory: { bandwidth: '4 TB/s' } },
  });
});

test('a whole model may be given as an object', () => {
  assert.deepEqual(requestOf(STANDARD, { model: '{"layers":2,"vocab":8}' }, PICKS).model, { layers: 2, vocab: 8 });
});

test('an object merges by its members, as on the command line', () => {
  assert.deepEqual(
    requestOf(STANDARD, { model: '{"layers":2}' }, PICKS),
    requestOf(STANDARD, { 'model.layers': 2 }, PICKS),
  );
});

test('places of a list that are not named become empty objects', () => {
  assert.deepEqual(requestOf(STANDARD, { 'cluster.networks.1.bandwidth': '1 GB/s' }, PICKS).cluster.networks, [
    {},
    { bandwidth: '1 GB/s' },
  ]);
});

test('a number too large for JSON stays text, so that the core can refuse it', () => {
  assert.equal(requestOf(STANDARD, { 'serving.batch': '1e999' }, PICKS).serving.batch, '1e999');
});

test('inputs that change nothing are dropped', () => {
  assert.deepEqual(withoutIdle(STANDARD, { 'serving.batch': '32', 'cluster.devices': '8' }, PICKS), {
    'cluster.devices': '8',
  });
  assert.deepEqual(withoutIdle(STANDARD, { 'cluster': 'd', 'cluster.devices': '512' }, PICKS), {
    'cluster': 'd',
    'cluster.devices': '512',
  });
});

test('picking a preset removes the inputs below it', () => {
  assert.deepEqual(withPick({ 'cluster.devices': '8', 'serving.batch': '4' }, 'cluster', 'd'), {
    'cluster': 'd',
    'serving.batch': '4',
  });
});

test('parts that have issues are left out so that the others still answer', () => {
  const rest = withoutFaulty(FIRST, [{ path: 'training.mapping.tp', message: '' }]);
  assert.equal(rest.training, null);
  assert.deepEqual(rest.serving, FIRST.serving);
  assert.equal(withoutFaulty(FIRST, [{ path: 'model.layers', message: '' }]), null);
  assert.equal(withoutFaulty({ ...FIRST, serving: null, cost: null }, [{ path: 'training', message: '' }]), null);
});

test('no path reaches a prototype', () => {
  for (const path of ['__proto__.x', 'model.__proto__.x', 'a..b', '.a', 'a.', '', 'A.b'])
    assert.equal(isPath(path), false, path);
  const json = { model: {} };
  assert.equal(get(json, 'constructor.name'), undefined);
  set(json, 'constructor.prototype.x', 1);
  assert.equal({}.x, undefined);
});
