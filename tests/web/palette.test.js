// Colors that everyone can tell apart: contrast against the surface, and the distance of neighbors in a stack, for
// normal sight, protanopia, deuteranopia and tritanopia (Machado, Oliveira and Fernandes 2009, severity 1), in both
// themes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import '../support/browser_globals.js';
import { boundParts, latencyParts, MEANINGS, memoryParts, timeParts } from '../../web/charts/parts.js';
import { ROOT } from '../support/module.js';

const SIGHT = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};
const STACKS = {
  time: ['forward', 'backward', 'recompute', 'tp', 'ep', 'pp', 'dp', 'optimizer', 'launch'],
  time_without_recomputation: ['forward', 'backward', 'tp', 'pp', 'dp', 'optimizer', 'launch'],
  bounds: ['forward', 'l1', 'l2', 'memory', 'tp', 'launch'],
  bounds_without_caches: ['forward', 'memory', 'tp', 'launch', 'others'],
  bounds_by_level: ['memory', 'tp', 'pp', 'dp', 'ep', 'launch'],
  memory: ['weights', 'gradients', 'optimizer-state', 'activations', 'workspace'],
  memory_while_serving: ['weights', 'kv', 'activations', 'workspace'],
  token: ['gemm', 'attention', 'reduce', 'launch', 'scheduler', 'others'],
  first_token: ['scheduler', 'others', 'forward', 'recompute', 'reduce', 'launch', 'scheduler'],
  post_training: ['memory', 'launch', 'backward', 'recompute', 'optimizer', 'forward', 'tp', 'workspace'],
  post_training_of_two_passes: ['memory', 'backward', 'recompute', 'forward', 'tp', 'workspace'],
  post_training_without_passes: ['memory', 'forward'],
  images: ['gemm', 'attention', 'reduce', 'launch', 'scheduler', 'others', 'memory'],
  cost: ['logic', 'memory-stacks', 'package', 'test', 'nre'],
};
// Meanings that readers must tell apart on every chart: each has its own color, whatever is next to it.
const MAIN = ['forward', 'memory', 'tp', 'launch', 'weights', 'kv', 'activations'];
const LEAST_DISTANCE = 14;

const css = readFileSync(`${ROOT}web/style/tokens.css`, 'utf8');
const tokens = Object.fromEntries(
  [...css.matchAll(/--([\w-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\)/g)].map(([, name, light, dark]) => [
    name,
    { light, dark },
  ]),
);

const linear = (hex) =>
  [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const luminance = (hex) => linear(hex).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
function lab(hex, m) {
  const c = linear(hex);
  const [r, g, b] = [0, 3, 6].map((row) =>
    Math.min(1, Math.max(0, m[row] * c[0] + m[row + 1] * c[1] + m[row + 2] * c[2])),
  );
  const f = [
    (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
    0.2126 * r + 0.7152 * g + 0.0722 * b,
    (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
  ].map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116));
  return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])];
}
const distance = (a, b, m) => Math.hypot(...lab(a, m).map((value, i) => value - lab(b, m)[i]));

for (const theme of ['light', 'dark']) {
  test(`text stands out 4.5 to 1, marks, rings and the hairline 3 to 1, ${theme}`, () => {
    for (const ground of ['surface', 'paper']) {
      for (const name of ['ink', 'ink-2', 'accent', 'good', 'bad'])
        assert.ok(contrast(tokens[name][theme], tokens[ground][theme]) >= 4.5, `${name} on ${ground}`);
      for (const name of ['hair', ...Object.keys(tokens).filter((one) => one.startsWith('c-'))])
        assert.ok(
          contrast(tokens[name][theme], tokens[ground][theme]) >= 3,
          `${name} on ${ground}: ${contrast(tokens[name][theme], tokens[ground][theme])}`,
        );
    }
  });
  test(`neighbours in a stack can be told apart by every kind of sight, ${theme}`, () => {
    for (const parts of Object.values(STACKS))
      parts.slice(1).forEach((part, i) => {
        for (const [sight, matrix] of Object.entries(SIGHT)) {
          const apart = distance(tokens[`c-${parts[i]}`][theme], tokens[`c-${part}`][theme], matrix);
          assert.ok(apart >= LEAST_DISTANCE, `${parts[i]} and ${part}, ${sight}: ${apart.toFixed(1)}`);
        }
      });
  });
}

const meaningOf = (token) => Object.keys(MEANINGS).find((meaning) => MEANINGS[meaning].includes(token));

for (const theme of ['light', 'dark']) {
  test(`one color has one meaning, and the main ones are told apart by every kind of sight, ${theme}`, () => {
    const meant = new Map(); // by color
    for (const name of Object.keys(tokens).filter((one) => one.startsWith('c-'))) {
      const meaning = meaningOf(name.slice(2));
      assert.ok(meaning, `${name} has a meaning`);
      assert.equal(
        meant.get(tokens[name][theme]) ?? meaning,
        meaning,
        `${name} has the color of ${meant.get(tokens[name][theme])}`,
      );
      meant.set(tokens[name][theme], meaning);
    }
    MAIN.forEach((one, i) =>
      MAIN.slice(i + 1).forEach((other) => {
        for (const [sight, matrix] of Object.entries(SIGHT)) {
          const apart = distance(tokens[`c-${one}`][theme], tokens[`c-${other}`][theme], matrix);
          assert.ok(apart >= LEAST_DISTANCE, `${one} and ${other}, ${sight}: ${apart.toFixed(1)}`);
        }
      }),
    );
  });
}

test('every chart gives its parts the color of what they mean', () => {
  const meant = (parts) =>
    Object.fromEntries(
      parts.filter(({ hatch }) => !hatch).map(({ id, color }) => [id, meaningOf(/--c-([\w-]+)/.exec(color)[1])]),
    );
  const ones = (...ids) => Object.fromEntries(ids.map((id) => [id, 1]));
  const compute = { forward: 'compute', backward: 'compute', recompute: 'compute' };
  const communication = Object.fromEntries(['tp', 'cp', 'ep', 'pp', 'dp'].map((id) => [id, 'communication']));
  assert.deepEqual(meant(timeParts({})), {
    ...compute,
    ...communication,
    optimizer: 'optimizer',
    other: 'latency',
    offload: 'memory',
  });
  assert.deepEqual(meant(boundParts(ones('compute'))), {
    compute: 'compute',
    l1: 'memory',
    l2: 'memory',
    memory: 'memory',
    network: 'communication',
    latency: 'latency',
  });
  const levels = ['NVLink', 'InfiniBand', 'Ethernet'].map((level) => ({ level, time_s: 1 }));
  for (const i of [0, 1, 2]) assert.equal(meant(boundParts({}, levels))[`network-${i}`], 'communication');
  const memory = { weights: 'weights', activations: 'activations', workspace: 'rest' };
  assert.deepEqual(
    meant(memoryParts({ ...ones('weights', 'kv_cache', 'activations', 'workspace'), capacity: 9, total: 4 })),
    { ...memory, kv_cache: 'kv' },
  );
  assert.deepEqual(
    meant(
      memoryParts({ ...ones('weights', 'gradients', 'optimizer', 'activations', 'workspace'), capacity: 9, total: 5 }),
    ),
    { ...memory, gradients: 'gradients', optimizer: 'optimizer' },
  );
  assert.deepEqual(
    meant(latencyParts(ones('gemm', 'attention', 'communication', 'small_kernels', 'scheduler', 'prefill'), 'tpot')),
    {
      gemm: 'weights',
      attention: 'kv',
      communication: 'communication',
      small_kernels: 'latency',
      scheduler: 'rest',
      prefill: 'compute',
    },
  );
});

test('a queue that is as good as empty is no part of a latency', () => {
  const values = latencyParts({ queue: 3.6e-12, gemm: 0.06, attention: 1e-4 }, 'ttft').map(({ value }) => value);
  assert.deepEqual(values, [0, 0.06, 1e-4]);
});
