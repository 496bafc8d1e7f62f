// Draws each chart in a real browser from a small input that a reader can check by hand, and compares it with the
// recorded drawing. A missing record is written; a changed drawing is saved as .changed for the reviewer to check and
// move into place.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { site } from './browser.js';

const FOLDER = new URL('./charts/', import.meta.url);
const WIDTHS = [320, 760];

const PASSES = [
  ['forward', 0, 0, 0, 1],
  ['forward', 0, 1, 1, 2],
  ['forward', 1, 0, 1, 2],
  ['backward', 1, 0, 2, 4],
  ['forward', 1, 1, 4, 5],
  ['backward', 0, 0, 4, 6],
  ['backward', 1, 1, 5, 7],
  ['backward', 0, 1, 7, 9],
  ['update', 0, 0, 9, 9.5],
].map(([kind, stage, micro_batch, start_s, end_s]) => ({ kind, stage, micro_batch, chunk: 0, start_s, end_s }));

const OPERATORS = [
  { name: 'qkv', flops: 4e12, bytes: 8e9, time_s: 6e-3, bound: 'compute' },
  { name: 'attention', flops: 1e12, bytes: 2e10, time_s: 8e-3, bound: 'memory' },
  { name: 'norm', flops: 1e9, bytes: 1e9, time_s: 4e-4, bound: 'memory' },
];
const part = (id, value, hatch = false) => ({ id, name: id, value, color: `var(--c-${id})`, hatch });

// [name, module, function, input]
const CHARTS = [
  [
    'bar',
    'bars',
    'stackedBars',
    {
      unit: 'B',
      title: 'Memory',
      subtitle: 'one GPU',
      axis: true,
      limit: { value: 80e9, text: '80 GB' },
      rows: [
        {
          parts: [part('weights', 35e9), part('optimizer', 20e9), part('activations', 10e9), part('free', 15e9, true)],
        },
      ],
    },
  ],
  [
    'bars',
    'bars',
    'stackedBars',
    {
      unit: 's',
      title: 'Time',
      subtitle: 'two stages',
      axis: true,
      rows: [
        { label: 'Stage 1', parts: [part('forward', 1), part('backward', 2)] },
        { label: 'Stage 2', parts: [part('forward', 2), part('backward', 4)] },
      ],
    },
  ],
  [
    'bars-of-points',
    'bars',
    'stackedBars',
    {
      unit: 's',
      title: 'Time by bound',
      axis: true,
      names: ['TP', 'Note'],
      rows: [
        { label: '1', parts: [part('forward', 3), part('bubble', 1, true)], about: 'infeasible: out of memory' },
        { label: '3', parts: [], words: 'invalid: must divide 8' },
        { label: '8', parts: [part('forward', 1)] },
      ],
    },
  ],
  [
    'categories',
    'categories',
    'categories',
    {
      unit: 's',
      title: 'Step time',
      subtitle: 'by GPU',
      log: false,
      names: ['A100', 'H100', 'B200'],
      series: [{ name: '', values: [4, 2, 1], reasons: [] }],
      measured: [{ at: 1, name: 'H100', value: 2.2 }],
      level: { y: 3, text: '3 s' },
      summary: 'Halves each time.',
    },
  ],
  ['gantt', 'gantt', 'gantt', { timeline: PASSES, stepTime: 9.5 }],
  [
    'heat',
    'heat',
    'heat',
    {
      title: 'Throughput',
      subtitle: 'by TP and batch',
      unit: '',
      summary: 'Grows with the batch.',
      x: { label: 'Batch', names: ['1', '8', '64'] },
      y: { label: 'TP', names: ['1', '2'] },
      cells: [
        [0, 0, 1],
        [1, 0, 8],
        [2, 0, null, 'out of memory'],
        [0, 1, 2],
        [1, 1, 15],
        [2, 1, 90],
      ].map(([x, y, value, reason]) => ({ x, y, value, reason })),
    },
  ],
  [
    'lines',
    'lines',
    'lines',
    {
      title: 'TPOT',
      subtitle: 'by batch',
      summary: 'Rises with the batch.',
      x: { label: 'Batch', unit: '', log: true },
      y: { label: 'TPOT', unit: 's', log: false },
      series: [
        {
          name: 'H100',
          color: 'var(--c-forward)',
          points: [
            [1, 0.01],
            [10, 0.02],
            [100, 0.05],
          ].map(([x, y]) => ({ x, y, label: `${x}: ${y} s` })),
        },
      ],
      levels: [{ y: 0.04, text: '40 ms' }],
      here: { x: 10, y: 0.02 },
      columns: ['Batch', 'TPOT'],
      rows: [
        ['1', '10 ms'],
        ['10', '20 ms'],
        ['100', '50 ms'],
      ],
    },
  ],
  [
    'roofline',
    'roofline',
    'roofline',
    {
      title: 'Roofline',
      subtitle: 'H100',
      peak: 989e12,
      bandwidth: 3.35e12,
      groups: [
        { phase: 'prefill', operators: OPERATORS },
        { phase: 'decode', operators: OPERATORS.slice(1) },
      ],
    },
  ],
  [
    'scatter',
    'scatter',
    'scatter',
    {
      title: 'Pareto frontier',
      subtitle: 'throughput against interactivity',
      summary: 'Three configurations.',
      x: { label: 'tokens/s/user', unit: '' },
      y: { label: 'tokens/s/GPU', unit: '' },
      points: [
        [120, 15, 'TP 8'],
        [40, 180, 'TP 4'],
        [3, 358, 'TP 2'],
      ].map(([x, y, label]) => ({ x, y, label })),
      here: { x: 40, y: 150, label: 'here' },
      columns: ['', 'user', 'GPU'],
      rows: [
        ['TP 8', '120', '15'],
        ['TP 4', '40', '180'],
        ['TP 2', '3', '358'],
      ],
    },
  ],
  [
    'spread',
    'spread',
    'spread',
    {
      title: 'Cost per GPU-hour',
      subtitle: '100 samples',
      unit: '$',
      counts: { from: 1, to: 3, counts: [10, 30, 40, 20] },
      quantiles: { p5: 1.2, p50: 2.1, p95: 2.8 },
      here: 2,
      draws: 100,
    },
  ],
  [
    'part-bar',
    'part_bar',
    'partBar',
    {
      unit: 's',
      title: 'TPOT',
      subtitle: 'by part',
      parts: [part('weights', 0.004), part('kv', 0.002), part('workspace', 0.0001), part('queue', 0.004, true)],
    },
  ],
  [
    'operating-curve',
    'operating_curve',
    'operatingCurve',
    {
      title: 'Throughput against interactivity',
      subtitle: 'H100',
      summary: 'Falls.',
      points: [
        [120, 15, 1],
        [80, 80, 8],
        [40, 180, 32],
        [5, 358, 512],
      ].map(([x, y, batch]) => ({ x, y, batch, hollow: batch === 512 })),
      here: { x: 40, y: 180, batch: 32, text: 'you: 32' },
      level: { x: 25, text: 'TPOT ≤ 40 ms' },
      last: { x: 25.1, y: 240, text: '86 is the most' },
      columns: ['Batch', 'TPOT'],
      rows: [[1, '8 ms']],
    },
  ],
  [
    'steps',
    'steps',
    'steps',
    {
      title: 'Cost',
      subtitle: 'by rate',
      summary: 'Rises.',
      x: { label: 'requests/s' },
      y: { label: '$ per hour' },
      here: 20,
      columns: ['GPUs', 'from'],
      rows: [['H100', 2]],
      series: [
        ['H100', 16, 'best'],
        ['B200', 20, 'chosen'],
        ['A100', 40, ''],
      ].map(([name, usd, kind]) => ({
        name,
        kind,
        steps: [
          { from: 2, to: 15, usd },
          { from: 15, to: 40, usd: 2 * usd },
          { from: 40, to: 100, usd: 4 * usd },
        ],
      })),
    },
  ],
  [
    'topology',
    'topology',
    'topology',
    {
      cluster: {
        networks: [
          { name: 'NVLink 4', size: 8, bandwidth: 450e9 },
          { name: 'InfiniBand', size: 2, bandwidth: 50e9 },
        ],
      },
      mapping: { tp: 4, cp: 1, ep: 1, pp: 2, dp: 2, order: 'tp-cp-ep-dp-pp' },
      devices: 16,
    },
  ],
  [
    'topology-pairs',
    'topology',
    'topology',
    {
      cluster: { networks: [{ name: 'Infinity Fabric', topology: 'fully_connected', size: 4, bandwidth: 448e9 }] },
      mapping: { tp: 4, pp: 1, attention_dp: 1 },
      devices: 4,
      serving: true,
    },
  ],
  [
    'topology-torus',
    'topology',
    'topology',
    {
      cluster: {
        networks: [
          { name: 'NeuronLink', topology: 'torus', dims: [4, 4], size: 16, bandwidth: 96e9 },
          { name: 'EFA', topology: 'rail', size: 64, bandwidth: 50e9 },
        ],
      },
      mapping: { tp: 4, cp: 1, ep: 1, pp: 2, dp: 4, order: 'tp-cp-ep-dp-pp' },
      devices: 32,
    },
  ],
  [
    'tornado',
    'tornado',
    'tornado',
    {
      title: 'Sensitivity',
      subtitle: '±20 %',
      rows: [
        ['memory.bandwidth', 'Memory bandwidth', 0.18, -0.12],
        ['peak', 'Peak', 0.02, -0.01],
      ].map(([path, label, down, up]) => ({ path, label, down, up, names: ['', ''] })),
    },
  ],
  [
    'wafer',
    'wafer',
    'wafer',
    {
      title: 'A wafer',
      subtitle: '300 mm',
      answer: {
        diameter_mm: 300,
        edge_mm: 3,
        width_mm: 100,
        height_mm: 80,
        gross: 4,
        good: 3,
        expected_good: 2.9,
        yield: 0.72,
        dies: [
          [-100, -80, 1],
          [0, -80, 0],
          [-100, 0, 2],
          [0, 0, 1],
        ],
      },
    },
  ],
];

const chromium = site();
let page;
before(async () => {
  page = await chromium.lasting();
});

/** A drawing with one element per line and numbers rounded to a hundredth. */
const readable = (text) =>
  text.replace(/\d+\.\d{3,}/g, (one) => String(Number(Number(one).toFixed(2)))).replaceAll('><', '>\n<') + '\n';

for (const [name, module, draw, input] of CHARTS) {
  for (const width of WIDTHS) {
    test(`${name} at ${width} px is drawn as on file`, async () => {
      const drawn = await page.evaluate(
        async ([file, call, given]) => (await import(file))[call](given).querySelector('.drawing svg').outerHTML,
        [`/charts/${module}.js`, draw, { id: `snapshot-${name}`, width, ...input }],
      );
      const text = readable(drawn);
      const path = new URL(`${name}-${width}.svg`, FOLDER);
      assert.doesNotMatch(text, /NaN|undefined|Infinity/);
      if (!existsSync(path)) writeFileSync(path, text);
      if (readFileSync(path, 'utf8') !== text) writeFileSync(new URL(`${name}-${width}.svg.changed`, FOLDER), text);
      assert.equal(text, readFileSync(path, 'utf8'));
    });
  }
}
