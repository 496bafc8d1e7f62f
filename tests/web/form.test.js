import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadOf, withLoad } from '../../web/form/load.js';
import { found } from '../../web/form/search.js';
import { loadSlipstick } from '../support/module.js';

const INPUTS = [
  {
    path: 'serving.engine.memory.rule',
    label: 'Memory of the KV cache',
    group: 'Serving',
    help: 'How much is kept',
    advanced: true,
  },
  { path: 'serving.precision.kv_cache', label: 'KV cache', group: 'Serving', help: 'Format of the cache' },
  { path: 'model.kv_heads', label: 'Heads of keys', group: 'Model', help: '' },
  { path: 'cost.electricity', label: 'Electricity', group: 'Cost', help: 'Price; the kv of no cable' },
];

test('an input is found by its label before its path before its help, the common ones first', () => {
  assert.deepEqual(
    found(INPUTS, 'kv').map(({ path }) => path),
    ['serving.precision.kv_cache', 'serving.engine.memory.rule', 'model.kv_heads', 'cost.electricity'],
  );
  assert.deepEqual(
    found(INPUTS, ' cache FORMAT ').map(({ path }) => path),
    ['serving.precision.kv_cache'],
  );
  assert.deepEqual(found(INPUTS, 'serving electricity'), []);
  assert.deepEqual(found(INPUTS, ''), []);
  const batches = ['training.global_batch', 'serving.batch'].map((path) => ({
    path,
    label: path === 'serving.batch' ? 'Concurrent requests per replica' : 'Global batch size',
    group: '',
  }));
  assert.deepEqual(
    found(batches, 'batch').map(({ path }) => path),
    ['serving.batch', 'training.global_batch'],
    'a member by its very name comes first',
  );
});

// Searches all inputs that the core describes by their labels; inputs of presets come last.
const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe()).inputs.map((input) => ({
  ...input,
  group: input.path.split('.')[0],
}));

for (const [typed, ...first] of [
  ['quantization', 'serving.precision.weights'],
  ['int4', 'serving.precision.weights'],
  ['users', 'serving.batch', 'serving.concurrency'],
  ['context', 'serving.prompt', 'training.sequence'],
  ['rent', 'cost.rental'],
  ['cloud', 'cost.rental'],
  ['vllm', 'serving.engine'],
  ['parallelism', 'training.mapping.tp'],
  ['gpu memory utilization', 'serving.engine.memory.share'],
  ['prefix caching', 'serving.prefix_hit'],
  ['fp8', 'serving.precision.weights'],
  ['power', 'cluster.device.tdp'],
]) {
  test(`the word of the field finds the input: ${typed}`, () => {
    const paths = found(described, typed)
      .slice(0, 4)
      .map(({ path }) => path);
    for (const path of first) assert.ok(paths.includes(path), `${path} among ${paths.join(', ')}`);
  });
}

test('open inputs come before the rest, total users before users per replica; a word is found from its beginning', () => {
  const first = (typed) => found(described, typed)[0].path;
  assert.equal(first('users'), 'serving.concurrency');
  assert.equal(first('price'), 'cost.device.price');
  assert.equal(first('rent'), 'cost.rental');
  assert.ok(!found(described, 'rent').some(({ label }) => /^Concurrent requests/.test(label)));
});

test('one load replaces another and starts near it', () => {
  const report = { requests_in_flight: 60.8, requests_waiting: 3, requests_per_s: 9.1, batch: 30.4 };
  const open = withLoad({ 'model': 'm', 'serving.concurrency': '8', 'serving.waves': '2' }, 'rate', report);
  assert.deepEqual(open, { 'model': 'm', 'serving.requests_per_s': '6.4' }, 'seven tenths of 9.1');
  assert.deepEqual(withLoad(open, 'concurrency', report), { 'model': 'm', 'serving.concurrency': '64' });
  assert.deepEqual(withLoad(open, 'batch', report), {
    'model': 'm',
    'serving.concurrency': 'null',
    'serving.batch': '30',
  });
  assert.deepEqual(withLoad({ 'serving.batch': '8', 'serving.concurrency': 'null' }, 'concurrency', report, '100'), {
    'serving.concurrency': '100',
  });
  assert.deepEqual([{ requests_per_s: 2 }, { concurrency: 4 }, { batch: 32 }, null].map(loadOf), [
    'rate',
    'concurrency',
    'batch',
    'batch',
  ]);
});
