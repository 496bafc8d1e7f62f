// Charts in the scenes: names that stay apart, what pointing shows, and the state before a change.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, settled, site } from './browser.js';

const chromium = site();

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
    await phone.evaluate((to) => (location.hash = to), `#/${hash}`);
    await settled(phone);
    await phone.waitForSelector('.chart .drawing svg text');
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
  for (const hash of ['#/train', '#/serve']) {
    const { page, done } = await chromium.open(hash);
    const chart = page.locator(hash === '#/train' ? '#train-roofline' : '#roofline');
    await chart.waitFor();
    for (const width of [390, 768, 1000, 1280, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      await settled(page);
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
    }
    await done();
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
