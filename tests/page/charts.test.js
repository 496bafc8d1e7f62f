// Draws each chart in a real browser from a small input that a reader can check by hand, and compares it with the
// recorded drawing. A missing record is written; a changed drawing is saved as .changed for the reviewer to check and
// move into place.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { eventually, settled, site } from './browser.js';

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

// Rotated names, such as those of a roofline's slopes, are left out: their bounding boxes are larger than they are.
test('on a phone no name in a chart overlaps another or leaves the drawing', async () => {
  const { page: phone } = await chromium.open('', { width: 320, height: 700 });
  for (const hash of [
    'train',
    'train?model=llama-3.1-8b&cluster=single-rtx-4090&training.trainable=lora&v=2',
    'serve',
    'memory',
    'chip/chiplets',
    'size',
    'explore/sensitivity',
    'explore/studies',
  ]) {
    await phone.goto('about:blank');
    await phone.goto(`${chromium.base}#/${hash}`);
    await phone.waitForSelector('.chart .drawing svg text');
    await settled(phone);
    const faults = () =>
      phone.locator('.chart .drawing svg').evaluateAll((all) =>
        all.flatMap((one) => {
          const frame = one.getBoundingClientRect();
          const names = [...one.querySelectorAll('text:not([transform])')]
            .map((text) => ({ words: text.textContent, box: text.getBoundingClientRect() }))
            .filter(({ box }) => box.width);
          const out = names
            .filter(({ box }) => box.left < frame.left - 1 || box.right > frame.right + 1)
            .map(({ words }) => `${words} is cut`);
          const over = (a, b) =>
            Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
          return [
            ...out,
            ...names.flatMap((a, i) =>
              names
                .slice(i + 1)
                .filter((b) => over(a.box, b.box))
                .map((b) => `${a.words} on ${b.words}`),
            ),
          ];
        }),
      );
    await eventually(async () => assert.deepEqual(await faults(), [], hash));
  }
});

// 512 devices in nodes of 8: tensor parallel 8, and 16 data-parallel ranks, one per node.
test('pointing at what a group sends lights its devices and the wires that it loads; a press keeps them lit', async () => {
  const { page: train, faults } = await chromium.open('#/train?v=1');
  // Waits until the page has drawn and has heard of the pointer: a redrawn chart forgets it.
  const lit = async () => {
    await settled(train);
    return train.evaluate(() =>
      ['[data-rank].lit', '.wire.bar.lit', '.wire.outer.lit'].map(
        (one) => document.querySelectorAll(`#topology ${one}`).length,
      ),
    );
  };
  const row = (name) => train.locator('#topology .uses button', { hasText: name }).first();
  assert.deepEqual(await lit(), [0, 0, 0]);
  await row('Tensor parallel').hover();
  assert.deepEqual(await lit(), [8, 1, 0], 'eight devices of one node and its switch');
  assert.match(await row('Tensor parallel').textContent(), /ring, 8 ranks over NVLink 4.*MiB.*µs/u);
  await row('Data parallel').click();
  await train.mouse.move(0, 0);
  const [devices, inside, between] = await lit();
  assert.deepEqual([devices, inside], [1, 0], 'of its sixteen nodes one is drawn');
  assert.ok(between > 0);
  assert.equal(await row('Data parallel').getAttribute('aria-pressed'), 'true');
  await row('Data parallel').click();
  await train.locator('h1').click();
  assert.deepEqual(await lit(), [0, 0, 0]);
  assert.deepEqual(faults, []);
});

test('a lesson outlines the state before its change: the longer bar, the moved point', async () => {
  const { page, faults } = await chromium.open('#/lessons/decode-memory-bound');
  await page.locator('[data-key=lesson-start]').click();
  await page.locator('[data-key=choice-0]').click();
  await page.waitForSelector('#ttft-bar');
  await settled(page);
  assert.equal(await page.locator('.ghost').count(), 0, 'nothing has changed yet');
  await page.locator('[data-key=step-0]').click();
  await page.waitForSelector('#users-curve .ghost', { state: 'attached' });
  await settled(page);
  await eventually(async () => {
    const [bar, outline] = await page
      .locator('#ttft-bar')
      .evaluate((chart) =>
        [...chart.querySelectorAll('rect:not(.ghost)')].reduce(
          ([sum], one) => [
            sum + one.getBoundingClientRect().width,
            chart.querySelector('.ghost').getBoundingClientRect().width,
          ],
          [0, 0],
        ),
      );
    const [was, is] = await page
      .locator('.watched tbody tr')
      .last()
      .locator('td')
      .evaluateAll((cells) => cells.slice(0, 2).map((one) => parseFloat(one.textContent)));
    assert.ok(Math.abs(outline / bar / (was / is) - 1) < 0.03, `${outline / bar} against ${was / is}`);
  });
  assert.match(await page.locator('.watched thead').textContent(), /Change$/);
  assert.deepEqual(faults, []);
});

test('on a roofline the names of kernels are off the ridge and off each other', async () => {
  for (const width of [390, 768, 1000, 1280, 1920]) {
    for (const hash of ['#/train', '#/serve']) {
      const { page, done } = await chromium.open(hash, { width });
      const chart = page.locator(hash === '#/train' ? '#train-roofline' : '#roofline');
      await chart.waitFor();
      const { ridge, names } = await chart.evaluate((one) => ({
        ridge: one.querySelector('.hair').getBoundingClientRect().x,
        names: [...one.querySelectorAll('.lab.halo')].map((name) => ({
          words: name.textContent,
          ...name.getBoundingClientRect().toJSON(),
        })),
      }));
      const where = `${hash} at ${width}: ${JSON.stringify(names.map(({ words }) => words))}`;
      assert.equal(names.length, 4, where);
      assert.deepEqual(
        names.filter(({ left, right }) => left < ridge && ridge < right).map(({ words }) => words),
        [],
        where,
      );
      const over = (a, b) => a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom;
      assert.equal(
        names.some((a, i) => names.slice(i + 1).some((b) => over(a, b))),
        false,
        where,
      );
      await done();
    }
  }
});

test('the text under a topology counts replicas as the drawing does: experts are within a serving replica', async () => {
  const { page } = await chromium.open('#/method');
  const said = await page.evaluate(async () => {
    const { topology } = await import('./charts/topology.js');
    const cluster = { networks: [{ name: 'NVLink', topology: 'switch', size: 8, bandwidth: 450e9 }] };
    const serving = topology({
      id: 's',
      width: 700,
      cluster,
      mapping: { tp: 4, pp: 1, ep: 4, attention_dp: 1 },
      devices: 8,
      serving: true,
    });
    const training = topology({
      id: 't',
      width: 700,
      cluster,
      mapping: { tp: 2, pp: 1, cp: 1, ep: 2, dp: 4, order: 'tp-cp-ep-dp-pp' },
      devices: 8,
    });
    const folded = topology({
      id: 'f',
      width: 700,
      cluster: { networks: [...cluster.networks, { name: 'InfiniBand', size: 64, bandwidth: 50e9 }] },
      mapping: { tp: 8, pp: 1, cp: 1, ep: 8, expert_tp: 1, dp: 1, order: 'tp-cp-ep-dp-pp' },
      devices: 8,
      uses: [{ group: 'ep', pattern: 'all_to_all', ranks: 8, bytes: 1e6, algorithm: 'direct', time_s: 1e-3 }],
    });
    const attention = topology({
      id: 'a',
      width: 700,
      cluster,
      mapping: { tp: 1, pp: 1, ep: 8, attention_dp: 8 },
      devices: 8,
      serving: true,
    });
    return [serving, training, folded, attention].map((one) => ({
      words: one.textContent,
      own: one.querySelectorAll('.own').length,
    }));
  });
  assert.match(said[0].words, /1 pipeline stage per replica, 2 data-parallel replicas/);
  assert.equal(said[0].own, 4, 'half of the GPUs are the first replica');
  assert.match(said[1].words, /4 data-parallel replicas/, 'expert groups of training are parts of data parallelism');
  assert.equal(said[1].own, 2);
  assert.match(said[2].words, /1 data-parallel replica\..*NVLink.*tensor parallel, expert parallel/);
  assert.doesNotMatch(said[2].words, /InfiniBand/, 'experts across the tensor-parallel ranks of one node stay in it');
  assert.equal(said[2].own, 8);
  assert.match(said[0].words, /other data-parallel replicas/);
  assert.doesNotMatch(said[3].words, /other data-parallel replicas/, 'a key names what is drawn');
});
