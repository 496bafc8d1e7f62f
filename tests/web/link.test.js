import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useNewest, withVersion } from '../../web/state/scenario.js';
import { MAX_SCENARIOS, read, write, writeShort } from '../../web/state/link.js';

useNewest({ 1: {}, 2: {}, 3: {} });
const SCENES = ['overview', 'train', 'serve', 'memory', 'chip', 'compare', 'lessons'];
const PATHS = [
  'model',
  'cluster',
  'cluster.devices',
  'serving.batch',
  'cluster.device.memory.bandwidth',
  'cluster.networks.1.bandwidth',
  'training.tokens',
  'cost.electricity',
];
const VALUES = [
  '64',
  'llama-3.1-8b',
  '4 TB/s',
  '8k',
  '0.08 $/kWh',
  '{"layers":2,"name":"a & b = c?#"}',
  'true',
  'µ²/ü',
  '50%',
  '+1',
];

// A small seeded generator, so that a failure can be repeated.
function random(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

function inputsFrom(pick) {
  return Object.fromEntries(
    Array.from({ length: pick(6) }, () => [PATHS[pick(PATHS.length)], VALUES[pick(VALUES.length)]]),
  );
}

test('a thousand random states survive writing and reading, and write again to the same link', async () => {
  const pick = random(7);
  for (let i = 0; i < 1000; i++) {
    const state = {
      scene: SCENES[pick(SCENES.length)],
      sub: pick(3) ? '' : 'bubble/2',
      inputs: withVersion(inputsFrom(pick), String(1 + pick(3))),
      others: Array.from({ length: pick(MAX_SCENARIOS) }, () => withVersion(inputsFrom(pick), String(1 + pick(3)))),
      view: {},
    };
    const link = await writeShort(state);
    const { faults, ...back } = await read(link, SCENES);
    assert.deepEqual(faults, []);
    assert.deepEqual(back, state);
    assert.equal(await writeShort(back), link);
  }
});

test('the first scene is also found by the name of its tab', async () => {
  const { scene, faults } = await read('#/start?v=3', SCENES);
  assert.deepEqual([scene, faults], [SCENES[0], []]);
  assert.deepEqual((await read('#/starts', SCENES)).faults, [{ path: 'starts', kind: 'scene' }]);
});

test('a link without words is the newest default scenario, one that names no version the first', async () => {
  assert.deepEqual((await read('#/train', SCENES)).inputs, {});
  assert.deepEqual((await read('#/train?r=1.2.0', SCENES)).inputs, {}); // the address of the default state
  assert.deepEqual((await read('#/train?serving.batch=64', SCENES)).inputs, { 'serving.batch': '64', 'version': '1' });
  assert.deepEqual((await read('#/train?serving.batch=64&v=1', SCENES)).inputs, {
    'serving.batch': '64',
    'version': '1',
  });
  assert.deepEqual((await read('#/train?serving.batch=64&v=2', SCENES)).inputs, {
    'serving.batch': '64',
    'version': '2',
  });
  assert.deepEqual((await read('#/train?serving.batch=64&v=3', SCENES)).inputs, { 'serving.batch': '64' });
  assert.equal(write({ scene: 'train', sub: '', inputs: { version: '1' } }), '#/train?v=1');
});

test('the newest version is the one that the core describes', async () => {
  useNewest({ 1: {}, 2: {} });
  try {
    assert.deepEqual((await read('#/train?serving.batch=64&v=2', SCENES)).inputs, { 'serving.batch': '64' });
    assert.deepEqual((await read('#/train?v=3', SCENES)).faults, [{ path: 'v', kind: 'version' }]);
  } finally {
    useNewest({ 1: {}, 2: {}, 3: {} });
  }
});

test('scenarios of a comparison may be over different defaults', async () => {
  const state = {
    scene: 'compare',
    sub: '',
    inputs: { version: '1' },
    others: [{}, { 'serving.batch': '64', 'version': '1' }],
    view: {},
  };
  const link = write(state);
  assert.equal(link, '#/compare?b:v=3&c:serving.batch=64&v=1');
  assert.deepEqual(await read(link, SCENES), { ...state, faults: [] });
});

test('the default state has no query', () => {
  assert.equal(write({ scene: 'train', sub: '', inputs: {}, others: [] }), '#/train');
});

test('one changed field takes at most sixty characters', () => {
  for (const [path, value] of [
    ['serving.batch', '64'],
    ['cluster.device.memory.bandwidth', '4 TB/s'],
    ['model', 'llama-3.1-8b'],
  ]) {
    const link = write({ scene: 'memory', sub: '', inputs: { [path]: value } });
    assert.ok(link.length <= 60, `${link} has ${link.length}`);
  }
});

test('a long state is compressed: four custom scenarios stay below 1,600 characters', async () => {
  const model = JSON.stringify({
    name: 'Custom',
    layers: 61,
    hidden: 7168,
    heads: 128,
    ffn: 18432,
    vocab: 129280,
    moe: { experts: 256, top_k: 8, shared_experts: 1, expert_ffn: 2048, dense_layers: 3 },
    mla: { q_lora_rank: 1536, kv_lora_rank: 512, nope_head_dim: 128, rope_head_dim: 64, value_head_dim: 128 },
  });
  const inputs = (i) => ({
    model,
    'cluster.devices': String(256 << i),
    'training.mapping.tp': String(1 << i),
    'cluster.device.memory.bandwidth': `${i + 3}.35 TB/s`,
    'training.global_batch': '4096',
  });
  const two = await writeShort({ scene: 'compare', sub: '', inputs: inputs(0), others: [inputs(1)] });
  const four = await writeShort({
    scene: 'compare',
    sub: '',
    inputs: inputs(0),
    others: [inputs(1), inputs(2), inputs(3)],
  });
  assert.match(two, /\?z=[\w-]+&v=3$|v=3$/);
  assert.ok(two.length <= 1000, `two: ${two.length}`);
  assert.ok(four.length <= 1600, `four: ${four.length}`);
});

test('white space that a line wrap left in a link is ignored', async () => {
  const link = write({
    scene: 'serve',
    sub: '',
    inputs: { 'serving.batch': '64', 'cluster.device.memory.bandwidth': '4 TB/s' },
  });
  const wrapped = link.replace(/(.{20})/g, '$1\n  ');
  assert.deepEqual((await read(wrapped, SCENES)).inputs, {
    'serving.batch': '64',
    'cluster.device.memory.bandwidth': '4 TB/s',
  });
});

test('a link survives being percent-encoded anew, and stands in Markdown', async () => {
  const pick = random(11);
  for (let i = 0; i < 300; i++) {
    const state = { scene: SCENES[pick(SCENES.length)], sub: '', inputs: inputsFrom(pick), others: [], view: {} };
    const link = await writeShort(state);
    const { faults, ...back } = await read(encodeURI(link).replaceAll('%25', '%'), SCENES);
    assert.deepEqual([faults, back], [[], state], link);
    assert.doesNotMatch(link, /[\s()<>]/, 'Markdown would end it');
  }
});

test('no link ends in punctuation', () => {
  for (const value of ['a-', 'b_', 'c.', 'd!'])
    assert.match(write({ scene: 'train', sub: '', inputs: { model: value } }), /\w$/);
});

const bomb = async () => {
  const stream = new Blob(['x'.repeat(5_000_000)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return Buffer.from(await new Response(stream).arrayBuffer()).toString('base64url');
};

test('hostile links never throw, change nothing they may not, and name what was refused', async () => {
  const hostile = [
    '#',
    '#/',
    '#/nowhere',
    '#/train?',
    '#/train?&&&=&',
    '#/train?serving.batch=%',
    '#/train?serving.batch=%E0%A4%A',
    '#/train?__proto__.x=1',
    '#/train?constructor.prototype.x=1',
    '#/train?serving.__proto__.polluted=1',
    '#/train?z=%%%',
    '#/train?z=AAAA',
    `#/train?z=${await bomb()}`,
    '#/train?v=99',
    '#/%E0%A4%A',
    `#/train?${'a'.repeat(100000)}`,
    `#/train?serving.batch=${'9'.repeat(5000)}`,
    '#/train?<script>alert(1)</script>=1',
    '#/train?e:serving.batch=2',
    '#/train?d:serving.batch=2',
    '#/lessons/<img src=x onerror=alert(1)>',
    '#/train?toString=1',
    '#/train?serving.batch',
    '#/train?=5',
  ];
  for (const link of hostile) {
    const state = await read(link, SCENES);
    assert.ok(SCENES.includes(state.scene), link);
    assert.equal({}.x, undefined);
    assert.equal({}.polluted, undefined);
    for (const one of [state.inputs, ...state.others])
      for (const value of Object.values(one)) assert.equal(typeof value, 'string');
  }
  assert.deepEqual((await read('#/train?v=99', SCENES)).faults, [{ path: 'v', kind: 'version' }]);
  assert.equal((await read('#/train?toString=1', SCENES)).faults[0].kind, 'unknown');
  assert.equal((await read(`#/train?z=${await bomb()}`, SCENES)).faults[0].kind, 'packed');
});

test('half of a UTF-16 pair is written and read as the replacement character', async () => {
  const inputs = { 'model.name': 'a\ud800b' };
  assert.equal(write({ scene: 'train', sub: '', inputs }), '#/train?model.name=a%EF%BF%BDb&v=3');
  assert.deepEqual((await read('#/train?model.name=a\ud800b&v=3', SCENES)).inputs, { 'model.name': 'a\ufffdb' });
});
