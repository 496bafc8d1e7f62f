import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { degreesOf, levelsOf, placeOf, shownNodes } from '../../web/charts/groups.js';
import { fixesOf } from '../../web/form/nearest.js';
import { inputsOfOwn } from '../../web/report/own_device.js';
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

test('I5: the nearest values of a message become changes of inputs', () => {
  const one = (message, path = 'training.mapping') => fixesOf({ path, message });
  assert.deepEqual(one('does not divide; tp nearest 4 or 8; pp nearest 2'), [
    { text: 'tp 4', set: { 'training.mapping.tp': '4' } },
    { text: 'tp 8', set: { 'training.mapping.tp': '8' } },
    { text: 'pp 2', set: { 'training.mapping.pp': '2' } },
  ]);
  assert.deepEqual(one('does not divide; nearest tp 1, pp 1, cp 1')[0].set, {
    'training.mapping.tp': '1',
    'training.mapping.pp': '1',
    'training.mapping.cp': '1',
    'training.mapping.virtual_stages': '1',
  });
  assert.deepEqual(one('expected 1 where pp is 1; got 5', 'training.mapping.virtual_stages').map(({ text }) => text), ['1']);
  assert.deepEqual(one('got 100; nearest 96 or 112', 'training.global_batch').map(({ text }) => text), ['96', '112']);
  assert.deepEqual(one("expected at most the cluster's 1; got 8", 'serving.devices')[0].set, { 'serving.devices': '1' });
  assert.deepEqual(one('expected a number above 0; got x'), []);
});

test('an own device becomes inputs by path', () => {
  assert.deepEqual(inputsOfOwn({ device: { name: 'mine', memory: { bandwidth: '8 TB/s' }, units: 3 } }), {
    'cluster.device.name': 'mine',
    'cluster.device.memory.bandwidth': '8 TB/s',
    'cluster.device.units': '3',
  });
  assert.deepEqual(inputsOfOwn({ cluster: { preset: 'dgx-h100', devices: 16 } }), { cluster: 'dgx-h100', 'cluster.devices': '16' });
});
