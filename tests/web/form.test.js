import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadOf, withLoad } from '../../web/form/load.js';
import { found } from '../../web/form/search.js';

const INPUTS = [
  { path: 'serving.engine.memory.rule', label: 'Memory of the KV cache', group: 'Serving', help: 'How much is kept', advanced: true },
  { path: 'serving.precision.kv_cache', label: 'KV cache', group: 'Serving', help: 'Format of the cache' },
  { path: 'model.kv_heads', label: 'Heads of keys', group: 'Model', help: '' },
  { path: 'cost.electricity', label: 'Electricity', group: 'Cost', help: 'Price; the kv of no cable' },
];

test('an input is found by its label before its path before its help, the common ones first', () => {
  assert.deepEqual(found(INPUTS, 'kv').map(({ path }) => path), ['serving.precision.kv_cache', 'serving.engine.memory.rule', 'model.kv_heads', 'cost.electricity']);
  assert.deepEqual(found(INPUTS, ' cache FORMAT ').map(({ path }) => path), ['serving.precision.kv_cache']);
  assert.deepEqual(found(INPUTS, 'serving electricity'), []);
  assert.deepEqual(found(INPUTS, ''), []);
  const batches = ['training.global_batch', 'serving.batch'].map((path) => ({ path, label: path === 'serving.batch' ? 'Concurrent requests per replica' : 'Global batch size', group: '' }));
  assert.deepEqual(found(batches, 'batch').map(({ path }) => path), ['serving.batch', 'training.global_batch'], 'a member by its very name comes first');
});

test('one load takes the place of another and begins near it', () => {
  const report = { requests_in_flight: 63.8, requests_per_s: 9.1 };
  const open = withLoad({ model: 'm', 'serving.concurrency': '8', 'serving.waves': '2' }, 'rate', report);
  assert.deepEqual(open, { model: 'm', 'serving.requests_per_s': '6.4' }, 'seven tenths of 9.1');
  assert.deepEqual(withLoad(open, 'concurrency', report), { model: 'm', 'serving.concurrency': '64' });
  assert.deepEqual(withLoad(open, 'batch', report), { model: 'm' });
  assert.deepEqual([{ requests_per_s: 2 }, { concurrency: 4 }, { batch: 32 }, null].map(loadOf), ['rate', 'concurrency', 'batch', 'batch']);
});
