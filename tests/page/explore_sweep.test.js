// Sweeps of the Explore scene: their charts, links and ends.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, site, timed, type } from './browser.js';
import { explore, plain, pointsOf, reopened } from './exploring.js';

const chromium = site();

test('a map hatches impossible points and gives the reason', async () => {
  const { page } = await explore(
    chromium,
    '#/explore/sweep?model=llama-3.1-8b&cluster.devices=64&serving=null&training.global_batch=64&training.mapping.pp=1&training.mapping.virtual_stages=1&v=1',
  );
  const choose = async (label, value, values, which) => {
    await page.getByLabel(label, { exact: true }).selectOption(value);
    await page.getByLabel(which, { exact: true }).fill(values);
  };
  await page.getByLabel('Figure', { exact: true }).selectOption('training.step_time_s');
  await choose('Input', 'training.mapping.tp', '1, 2, 3, 4, 8', 'Values');
  await choose('Second input', 'training.mapping.micro_batch', '1, 2, 4', 'Its values');
  await page.locator('#sweep-start').click();
  await page.waitForSelector('#sweep-chart .cell');
  const cells = await page
    .locator('#sweep-chart .cell')
    .evaluateAll((list) =>
      list.map((one) => [one.getAttribute('aria-label'), Boolean(one.querySelector('[fill="url(#hatch)"]'))]),
    );
  assert.equal(cells.length, 15);
  const hatched = cells.filter(([, hatch]) => hatch);
  assert.ok(hatched.length >= 3 && hatched.length < 15);
  for (const [label] of hatched) assert.match(label, /invalid: .+|infeasible: .+/);
  assert.ok(hatched.some(([label]) => /^3/.test(label)));
});

test('a sweep finds the best mapping at every point when asked', async () => {
  const { page } = await explore(
    chromium,
    '#/explore/sweep?model=llama-3.1-8b&cluster.devices=64&serving=null&training.global_batch=256&training.mapping.pp=1&training.mapping.tp=1&training.mapping.virtual_stages=1&v=1',
  );
  await page.getByLabel('Figure', { exact: true }).selectOption('training.step_time_s');
  await page.getByLabel('Input', { exact: true }).selectOption('cluster.devices');
  await page.getByLabel('Values', { exact: true }).fill('16, 32, 64');
  const times = async (best) => {
    await page.getByLabel('Best mapping at each point').selectOption(best);
    await page.locator('#sweep-start').click();
    await page.waitForFunction(
      () => !document.getElementById('sweep-start').hidden && document.querySelector('#sweep-chart'),
    );
    await page.locator('#sweep-chart details.data > summary').click();
    await page.waitForSelector('#sweep-chart table tbody tr', { state: 'attached' });
    const rows = await page.locator('#sweep-chart table tbody tr').allTextContents();
    await page.locator('#sweep-chart').evaluate((chart) => chart.remove());
    return rows;
  };
  const own = await times('none');
  const best = await times('training');
  assert.equal(best.length, 3);
  assert.ok(
    best.every((row) => /Micro-batch|Data parallel|dp/i.test(row)),
    best.join(' | '),
  );
  assert.notDeepEqual(own, best);
});

// A step of 8 GPUs in one node has no inter-node network and no pipeline: its parts are compute, memory, NVLink and
// latency.
const ONE_NODE =
  'model=llama-3.1-8b&cluster.devices=8&training.global_batch=64&training.mapping.tp=8&training.mapping.pp=1&training.mapping.virtual_stages=1&v=1';
const drawn = (page) =>
  page.waitForFunction(() => !document.getElementById('sweep-start').hidden && document.querySelector('#sweep-chart'));
const parts = (page) =>
  page.locator('#sweep-chart .mark[data-part]').evaluateAll((list) =>
    list.map((one) => ({
      row: Number(one.dataset.series),
      part: one.dataset.part,
      size: Number(one.querySelector('rect').getAttribute('width')) + 1.5,
    })),
  );
const pressed = (page) => page.locator('#sweep-chart .views [aria-pressed=true]').textContent();

test('a sweep of a time is stacked by what bounds it, as the studies are', async () => {
  const { page, faults } = await explore(chromium, `#/explore/sweep?${ONE_NODE}`);
  const sweep = async (figure, input, values) => {
    await page.getByLabel('Figure', { exact: true }).selectOption(figure);
    await page.getByLabel('Input', { exact: true }).selectOption(input);
    await page.getByLabel('Values', { exact: true }).fill(values);
    await page.locator('#sweep-chart').evaluate((chart) => chart.remove());
    await page.locator('#sweep-start').click();
    await drawn(page);
  };
  await drawn(page);
  assert.equal(await pressed(page), 'The figure', 'the time per output token is no sum of parts by bound');

  await sweep('training.step_time_s', 'cluster.device.memory.bandwidth', '0.5 TB/s, 1 TB/s, 2 TB/s');
  assert.equal(await pressed(page), 'Step time by bound');
  const size = (list, row, wanted) =>
    list.filter((one) => one.row === row && (!wanted || one.part === wanted)).reduce((sum, one) => sum + one.size, 0);
  const training = await parts(page);
  const memory = [0, 1, 2].map((row) => size(training, row, 'memory'));
  assert.ok(
    memory[0] > 1.5 * memory[1] && memory[1] > 1.5 * memory[2],
    `what memory bounds falls with its bandwidth: ${memory}`,
  );
  assert.deepEqual([...new Set(training.map(({ part }) => part))].sort(), [
    'compute',
    'latency',
    'memory',
    'network-0',
  ]);
  assert.match(await page.locator('#sweep-chart .key').textContent(), /communication over NVLink 4/);
  assert.match(
    plain(await page.locator('#sweep-chart .summary').textContent()),
    /Largest part at 0.5 TB\/s: memory-bandwidth-bound, .*; at 2 TB\/s: /u,
  );
  // The parts of a row add up to the figure: the longest bar is 0.5 TB/s, and the other lengths are in proportion to
  // their times.
  await page.locator('#sweep-chart details.data > summary').click();
  const seconds = (words) => Number.parseFloat(words) * (/ms$/.test(words) ? 1e-3 : 1);
  await eventually(async () => {
    const rows = await page
      .locator('#sweep-chart tbody tr')
      .evaluateAll((list) => list.map((row) => [...row.cells].map((cell) => cell.textContent)));
    const times = rows.map((row) => seconds(row.at(-2)));
    for (const row of [1, 2]) {
      const share = size(training, row) / size(training, 0);
      assert.ok(
        Math.abs(share - times[row] / times[0]) < 0.01,
        `row ${row}: ${share} of the longest, ${times[row] / times[0]} by the figure, in ${JSON.stringify(rows)}`,
      );
    }
  });

  await page.getByRole('button', { name: 'The figure', exact: true }).click();
  assert.equal(await page.locator('#sweep-chart .cell').count(), 3);
  await page.getByRole('button', { name: 'Step time by bound', exact: true }).click();
  assert.equal(await page.locator('#sweep-chart .cell').count(), 0);

  await sweep('serving.decode_step_s', 'serving.mapping.tp', '1, 3, 8');
  assert.equal(await pressed(page), 'Decode step by bound');
  const decode = await parts(page);
  assert.ok(size(decode, 2, 'network-0') > 0 && size(decode, 0, 'network-0') === 0, 'one GPU alone sends nothing');
  assert.equal(size(decode, 1), 0);
  assert.match(await page.locator('#sweep-chart .drawing').textContent(), /invalid: /, 'three GPUs cannot be');
  await page.getByRole('button', { name: 'Prefill by bound', exact: true }).click();
  await eventually(async () => assert.equal(await pressed(page), 'Prefill by bound'));
  await drawn(page);
  assert.ok(
    size(await parts(page), 0, 'compute') > size(await parts(page), 0) / 2,
    'a prefill of one GPU is bound by arithmetic',
  );

  await page.getByLabel('Second input', { exact: true }).selectOption('cluster.device.memory.bandwidth');
  await page.getByLabel('Its values', { exact: true }).fill('2 TB/s, 8 TB/s');
  await page.locator('#sweep-chart').evaluate((chart) => chart.remove());
  await page.locator('#sweep-start').click();
  await drawn(page);
  assert.equal(await pressed(page), 'Map');
  assert.equal(await page.locator('#sweep-chart .cell').count(), 6);
  await page.getByRole('button', { name: 'Decode step by bound', exact: true }).click();
  await eventually(async () => assert.equal(await pressed(page), 'Decode step by bound'));
  const labels = await page.locator('#sweep-chart .drawing .lab').allTextContents();
  assert.deepEqual(labels.map(plain).slice(0, 2), ['1, 2 TB/s', '1, 8 TB/s']);
  assert.deepEqual(faults, []);
});

test('a sweep of 20,000 points leaves the main thread free and ends at the next edit', async () => {
  const { page, faults } = await explore(chromium, '#/explore/sweep?serving=null&cost=null&v=1');
  await page.getByLabel('Figure', { exact: true }).selectOption('training.step_time_s');
  const choose = async (label, value, which, values) => {
    await page.getByLabel(label, { exact: true }).selectOption(value);
    await page.getByLabel(which, { exact: true }).fill(values);
  };
  await choose('Input', 'cluster.device.memory.bandwidth', 'Values', '1000:9000:100');
  await choose('Second input', 'cluster.device.tdp', 'Its values', '300:1200:200');
  const begun = Date.now();
  await page.locator('#sweep-start').click();
  await page.waitForFunction(
    () =>
      document.querySelector('#sweep-chart') &&
      /^20,000 of 20,000/.test(document.querySelector('.ex-sweep .ex-status').textContent),
  );
  timed('20,000 points and their map', Date.now() - begun, 500);
  assert.match(plain(await page.locator('.ex-sweep .ex-status').textContent()), /^20,000 of 20,000 points/);
  timed('longest task of the main thread', Math.max(0, ...(await page.evaluate(() => window.longTasks))), 50);
  await page.locator('#sweep-start').click();
  await page.waitForFunction(() => document.querySelector('.ex-sweep progress').value > 0);
  await type(page, 'training.mapping.tp', '4');
  await eventually(async () => assert.ok(await page.locator('#sweep-start').isVisible()));
  assert.deepEqual(faults, []);
});

test('the link contains a sweep and does not end its run, even after an input was reset to its default', async () => {
  const { page, faults } = await explore(chromium, '#/explore/sweep');
  await page.waitForSelector('#sweep-chart');
  await type(page, 'serving.prompt', '4096');
  await type(page, 'serving.prompt', '2048');
  await page.getByLabel('Values', { exact: true }).fill('1, 7');
  await page.locator('#sweep-start').click();
  await pointsOf(page, '2 of 2');
  const fresh = await reopened(chromium, page);
  await pointsOf(fresh, '2 of 2');
  assert.equal(await fresh.getByLabel('Values', { exact: true }).inputValue(), '1, 7');
  assert.deepEqual(faults, []);
});
