import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { degreesOf, levelsOf, placeOf, shownNodes } from '../../web/charts/groups.js';
import { inputsOfOwn } from '../../web/report/own_device.js';
import { withFix } from '../../web/state/scenario.js';
import { Store } from '../../web/state/store.js';
import { viewOf } from '../../web/state/view.js';

test('a link may show some inputs, lock all but some, or lock some and what lies below', () => {
  assert.equal(viewOf().limits, false);
  const all = viewOf({ lock: 'all', show: 'serving.batch' });
  assert.equal(all.isLocked('serving.output'), true);
  assert.equal(all.isLocked('serving.batch'), false);
  assert.equal(all.isShown('serving.output'), true);
  const some = viewOf({ lock: 'model,cluster.device' });
  assert.equal(some.isLocked('cluster.device.memory.bandwidth'), true);
  assert.equal(some.isLocked('cluster.devices'), false);
  const few = viewOf({ show: 'training.mapping.tp' });
  assert.equal(few.isShown('training'), true);
  assert.equal(few.isShown('serving.batch'), false);
});

test('a store leaves locked inputs as they are, however they are set', () => {
  const store = new Store({ scene: 'serve', inputs: { 'serving.batch': '64' } });
  store.isLocked = (path) => path === 'serving.batch';
  store.set('serving.batch', '1');
  store.reset('');
  store.setInputs({ 'serving.batch': '2', 'serving.output': '9' });
  assert.deepEqual(store.inputs, { 'serving.output': '9', 'serving.batch': '64' });
});

const MAPPING = { tp: 8, cp: 1, ep: 1, dp: 16, pp: 4, order: 'tp-cp-ep-dp-pp' };
const NETWORKS = [{ size: 8 }, { size: 1024 }];

test('ranks are numbered along the order, innermost first', () => {
  const degrees = degreesOf(MAPPING, 512);
  assert.deepEqual(placeOf(0, degrees), { tp: 0, cp: 0, ep: 0, dp: 0, pp: 0 });
  assert.deepEqual(placeOf(9, degrees), { tp: 1, cp: 0, ep: 0, dp: 1, pp: 0 });
  assert.deepEqual(placeOf(128, degrees), { tp: 0, cp: 0, ep: 0, dp: 0, pp: 1 });
});

test('a group uses the levels that lie between its neighbours', () => {
  assert.deepEqual(levelsOf(degreesOf(MAPPING, 512), NETWORKS, 512), { tp: [0], dp: [1], pp: [1] });
  assert.deepEqual(levelsOf(degreesOf({ ...MAPPING, tp: 16, dp: 8 }, 512), NETWORKS, 512).tp, [0, 1]);
  assert.deepEqual(levelsOf(degreesOf({ ...MAPPING, tp: 2, pp: 1, dp: 4 }, 8), NETWORKS, 8), { tp: [0], dp: [0] });
});

test('of many nodes those are shown that hold the first copy', () => {
  const shown = shownNodes(64, 8, 512, degreesOf(MAPPING, 512), 16);
  assert.deepEqual(shown.map(({ node }) => node), [0, 16, 32, 48, 63]);
  assert.equal(shown[1].skipped, 15);
});

test('a fix of an issue becomes changes of inputs', () => {
  const inputs = { 'training.mapping.tp': '7', 'training.mapping.pp': '4', 'serving.batc': '4', model: 'llama-9', 'model.layers': '8' };
  assert.deepEqual(withFix(inputs, { path: 'training.mapping.tp', value: 8, label: 'tp 8' }), { ...inputs, 'training.mapping.tp': '8' });
  const together = withFix(inputs, { path: 'training.mapping.tp', value: 1, also: [{ path: 'training.mapping.pp', value: 1 }] });
  assert.deepEqual([together['training.mapping.tp'], together['training.mapping.pp']], ['1', '1']);
  const { 'serving.batc': _, ...rest } = inputs;
  assert.deepEqual(withFix(inputs, { path: 'serving.batch', value: 4, also: [{ path: 'serving.batc' }] }), { ...rest, 'serving.batch': '4' });
  assert.deepEqual(withFix(inputs, { path: 'serving.batc' }), rest);
  const { 'model.layers': __, ...plain } = inputs;
  assert.deepEqual(withFix(inputs, { path: 'model.preset', value: 'llama-3.1-8b' }), { ...plain, model: 'llama-3.1-8b' });
  assert.equal(withFix({}, { path: 'cluster.device.memory.bandwidth', value: '3 TB/s' })['cluster.device.memory.bandwidth'], '3 TB/s');
});

test('an own device becomes inputs by path', () => {
  assert.deepEqual(inputsOfOwn({ device: { name: 'mine', memory: { bandwidth: '8 TB/s' }, units: 3 } }), {
    'cluster.device.name': 'mine',
    'cluster.device.memory.bandwidth': '8 TB/s',
    'cluster.device.units': '3',
  });
  assert.deepEqual(inputsOfOwn({ cluster: { preset: 'dgx-h100', devices: 16 } }), { cluster: 'dgx-h100', 'cluster.devices': '16' });
});
