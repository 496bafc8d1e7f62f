import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  degreesOf,
  expertRanks,
  levelsAmong,
  levelsOf,
  membersOf,
  placeOf,
  servingDegrees,
  shownNodes,
} from '../../web/charts/groups.js';
import { linksOf, sidesOf } from '../../web/charts/wiring.js';
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

test('a continued edit of one or several inputs is one undo step', () => {
  const store = new Store({ scene: 'serve', inputs: {} });
  const pushes = [];
  store.addEventListener('change', ({ detail }) => pushes.push(detail.push));
  store.set('serving.devices', '4');
  for (const count of ['16', '32'])
    store.setInputs({ 'serving.devices': count, 'cluster.devices': count }, store.sub, true);
  assert.deepEqual(pushes, [false, false, false]);
  assert.equal(store.undo(), true);
  assert.deepEqual([store.inputs, store.undo()], [{}, false]);
});

const MAPPING = { tp: 8, cp: 1, ep: 1, dp: 16, pp: 4, order: 'tp-cp-ep-dp-pp' };
const NETWORKS = [{ size: 8 }, { size: 1024 }];

test('ranks are numbered along the order, innermost first', () => {
  const degrees = degreesOf(MAPPING, 512);
  assert.deepEqual(placeOf(0, degrees), { tp: 0, cp: 0, dp: 0, pp: 0 });
  assert.deepEqual(placeOf(9, degrees), { tp: 1, cp: 0, dp: 1, pp: 0 });
  assert.deepEqual(placeOf(128, degrees), { tp: 0, cp: 0, dp: 0, pp: 1 });
});

test('a group uses the levels that lie between its neighbours', () => {
  assert.deepEqual(levelsOf(degreesOf(MAPPING, 512), NETWORKS, 512), { tp: [0], dp: [1], pp: [1] });
  assert.deepEqual(levelsOf(degreesOf({ ...MAPPING, tp: 16, dp: 8 }, 512), NETWORKS, 512).tp, [0, 1]);
  assert.deepEqual(levelsOf(degreesOf({ ...MAPPING, tp: 2, pp: 1, dp: 4 }, 8), NETWORKS, 8), { tp: [0], dp: [0] });
});

test('a group of a collective is the ranks that its degree joins, over the wires between them', () => {
  const degrees = degreesOf(MAPPING, 512);
  assert.deepEqual(membersOf({ group: 'tp', ranks: 8 }, degrees), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(membersOf({ group: 'dp', ranks: 16 }, degrees).slice(0, 3), [0, 8, 16]);
  assert.deepEqual(levelsAmong(membersOf({ group: 'tp', ranks: 8 }, degrees), NETWORKS), [0]);
  assert.deepEqual(levelsAmong(membersOf({ group: 'dp', ranks: 16 }, degrees), NETWORKS), [1]);
  // ZeRO over 4 of 16 data-parallel ranks: neighbors share a shard, so replicas are four apart.
  assert.deepEqual(membersOf({ group: 'shard', ranks: 4 }, degrees), [0, 8, 16, 24]);
  assert.deepEqual(membersOf({ group: 'replica', ranks: 4 }, degrees), [0, 32, 64, 96]);
  assert.deepEqual(membersOf({ group: 'dp', ranks: 17 }, degrees), []);
});

// Megatron-Core's parallel folding: the ranks of a stage are regrouped for the experts, with expert tensor parallelism
// innermost.
test('groups of experts are neighbors across tensor parallelism and need not lie within its ranks', () => {
  const degrees = degreesOf({ ...MAPPING, ep: 4 }, 512);
  assert.equal(membersOf({ group: 'dp', ranks: 16 }, degrees).length, 16);
  const whole = expertRanks({ ep: 4, expert_tp: 1 });
  assert.deepEqual(membersOf({ group: 'ep', ranks: 4 }, degrees, whole), [0, 1, 2, 3]);
  assert.deepEqual(membersOf({ group: 'expert_dp', ranks: 3 }, degrees, whole), [0, 4, 8]);
  assert.deepEqual(membersOf({ group: 'expert_shard', ranks: 2 }, degrees, whole), [0, 4]);
  assert.deepEqual(membersOf({ group: 'expert_replica', ranks: 2 }, degrees, whole), [0, 64]);
  const split = expertRanks({ ep: 4, expert_tp: 8 });
  assert.deepEqual(levelsAmong(membersOf({ group: 'ep', ranks: 32 }, degrees, split), NETWORKS), [0, 1]);
  assert.deepEqual(membersOf({ group: 'expert_tp', ranks: 8 }, degrees, split), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(membersOf({ group: 'expert_dp', ranks: 4 }, degrees, split), [0, 32, 64, 96]);
  // TP 8 and EP 8 on eight devices are one node and one replica.
  const folded = degreesOf({ tp: 8, cp: 1, ep: 8, dp: 1, pp: 1, order: 'tp-cp-ep-dp-pp' }, 8);
  assert.deepEqual(levelsAmong(membersOf({ group: 'ep', ranks: 8 }, folded, 8), NETWORKS), [0]);
});

test('serving fills a node with the ranks of a replica', () => {
  const degrees = servingDegrees({ tp: 4, pp: 1, attention_dp: 2 }, 16);
  assert.deepEqual(membersOf({ group: 'tp', ranks: 4 }, degrees), [0, 1, 2, 3]);
  assert.deepEqual(membersOf({ group: 'ep', ranks: 8 }, degrees), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.equal(placeOf(8, degrees).dp, 1);
});

test('the wiring of a node is drawn link by link', () => {
  assert.equal(linksOf({ topology: 'fully_connected' }, 8).length, 28);
  assert.deepEqual(linksOf({ topology: 'ring' }, 3), [
    { from: 0, to: 1 },
    { from: 1, to: 2 },
    { from: 2, to: 0 },
  ]);
  // 4 x 4 has 2 x 12 links inside; a torus also shows both ends of the 8 around its edge.
  assert.equal(linksOf({ topology: 'mesh', dims: [4, 4] }, 16).length, 24);
  assert.equal(linksOf({ topology: 'torus', dims: [4, 4] }, 16).length, 24 + 16);
  assert.deepEqual(linksOf({ topology: 'switch' }, 8), []);
  // A square for 4, three links at each of 8; 6 devices are not drawn.
  assert.deepEqual(linksOf({ topology: 'hypercube' }, 4), [
    { from: 0, to: 1 },
    { from: 0, to: 2 },
    { from: 1, to: 3 },
    { from: 2, to: 3 },
  ]);
  assert.equal(linksOf({ topology: 'hypercube' }, 8).length, 12);
  assert.deepEqual(linksOf({ topology: 'hypercube' }, 6), []);
  // The sides of a slice of a larger torus are unknown.
  assert.equal(sidesOf({ topology: 'torus', dims: [16, 16, 16] }, 64), undefined);
});

test('of many nodes those are shown that hold the first replica', () => {
  const shown = shownNodes(64, 8, 512, degreesOf(MAPPING, 512), 16);
  assert.deepEqual(
    shown.map(({ node }) => node),
    [0, 16, 32, 48, 63],
  );
  assert.equal(shown[1].skipped, 15);
});

test('a fix of an issue becomes changes of inputs', () => {
  const inputs = {
    'training.mapping.tp': '7',
    'training.mapping.pp': '4',
    'serving.batc': '4',
    'model': 'llama-9',
    'model.layers': '8',
  };
  assert.deepEqual(withFix(inputs, { path: 'training.mapping.tp', value: 8, label: 'tp 8' }), {
    ...inputs,
    'training.mapping.tp': '8',
  });
  const together = withFix(inputs, {
    path: 'training.mapping.tp',
    value: 1,
    also: [{ path: 'training.mapping.pp', value: 1 }],
  });
  assert.deepEqual([together['training.mapping.tp'], together['training.mapping.pp']], ['1', '1']);
  const { 'serving.batc': _, ...rest } = inputs;
  assert.deepEqual(withFix(inputs, { path: 'serving.batch', value: 4, also: [{ path: 'serving.batc' }] }), {
    ...rest,
    'serving.batch': '4',
  });
  assert.deepEqual(withFix(inputs, { path: 'serving.batc' }), rest);
  const { 'model.layers': __, ...plain } = inputs;
  assert.deepEqual(withFix(inputs, { path: 'model.preset', value: 'llama-3.1-8b' }), {
    ...plain,
    model: 'llama-3.1-8b',
  });
  assert.equal(
    withFix({}, { path: 'cluster.device.memory.bandwidth', value: '3 TB/s' })['cluster.device.memory.bandwidth'],
    '3 TB/s',
  );
});

test('an own device becomes inputs by path', () => {
  assert.deepEqual(inputsOfOwn({ device: { name: 'mine', memory: { bandwidth: '8 TB/s' }, units: 3 } }), {
    'cluster.device.name': 'mine',
    'cluster.device.memory.bandwidth': '8 TB/s',
    'cluster.device.units': '3',
  });
  assert.deepEqual(inputsOfOwn({ cluster: { preset: 'dgx-h100', devices: 16 } }), {
    'cluster': 'dgx-h100',
    'cluster.devices': '16',
  });
});

test('undo passes over what a link or Back has led to already, and names what it changes', () => {
  const store = new Store({ scene: 'serve', inputs: {} });
  store.set('serving.batch', '64');
  store.set('serving.prompt', '4096');
  store.load({ scene: 'serve', inputs: { 'serving.batch': '64' } });
  assert.deepEqual(store.undoes, ['serving.batch'], 'the comparison is as it was');
  assert.equal(store.undo(), true);
  assert.deepEqual(store.inputs, {});
  assert.deepEqual(store.undoes, []);
  assert.equal(store.undo(), false);
  store.setOthers([{ 'serving.batch': '8' }]);
  assert.deepEqual(store.undoes, ['compare']);
});
