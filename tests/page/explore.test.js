// The panels of the Explore scene: how they open, their links, frontiers, designs and studies.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, settled, site, type } from './browser.js';
import { SMALL, done, explore, plain, progress, reopened } from './exploring.js';

const chromium = site();

// A space of designs that is searched in a moment.
const EIGHT = 'model=llama-3.1-8b&cluster.devices=8&training.global_batch=16&serving=null&v=3';

test('the address bar alone changes the panel', async () => {
  const { page } = await explore(chromium, '#/explore');
  for (const [sub, title] of [
    ['sweep', /change with an input/],
    ['solve', /Solve for/],
    ['sensitivity', /inputs matter/],
    ['frontier', /serves best/],
    ['', /Which mapping/],
  ]) {
    await page.evaluate((hash) => (location.hash = hash), sub ? `#/explore/${sub}` : '#/explore');
    await page.waitForFunction(
      (words) => new RegExp(words).test(document.querySelector('#content h1').textContent),
      title.source,
      { timeout: 5000 },
    );
  }
});

test('sweep and solve open with an answer', async () => {
  const { page, faults } = await explore(chromium, '#/explore/sweep');
  await page.waitForSelector('#sweep-chart');
  await page.locator('[data-key="ex-view-solve"]').click();
  await page.waitForFunction(() =>
    /fits (up to|on the whole range)/.test(document.querySelector('#solve-answer .ex-answer')?.textContent),
  );
  assert.deepEqual(faults, []);
});

test('a chart or an answer of another scenario says so, until it is computed again', async () => {
  const { page, faults } = await explore(chromium, '#/explore/sweep?cluster.devices=8&training=null&v=3');
  const isStale = (panel, is) =>
    page.waitForFunction(
      ([one, wanted]) => /scenario has changed/.test(document.querySelector(one).textContent) === wanted,
      [panel, is],
    );
  await page.waitForSelector('#sweep-chart');
  await type(page, 'serving.concurrency', '7'); // the swept input itself
  await isStale('.ex-sweep', false);
  await type(page, 'serving.output', '512');
  await isStale('.ex-sweep', true);
  await page.locator('#sweep-start').click();
  await isStale('.ex-sweep', false);
  await page.locator('[data-key="ex-view-solve"]').click();
  await page.waitForSelector('#solve-answer .ex-answer');
  await page.locator('#solve-use').click();
  await settled(page);
  await isStale('.ex-solve', false);
  await type(page, 'serving.output', '256');
  await isStale('.ex-solve', true);
  await page.locator('#solve-start').click();
  await page.waitForSelector('#solve-answer .ex-answer');
  await isStale('.ex-solve', false);
  assert.deepEqual(faults, []);
});

test('the link of a search holds its objective and constraints', async () => {
  const { page, faults } = await explore(chromium, SMALL);
  await done(page);
  await page.getByLabel('Objective', { exact: true }).selectOption('memory_headroom_bytes');
  await page.locator('.ex-box > summary').first().click();
  await page.getByLabel('Constraint on').selectOption('training.mapping.tp');
  await page.getByLabel('Value', { exact: true }).fill('4');
  await page.getByRole('button', { name: 'Add constraint' }).click();
  const all = (await progress(page)).split(' evaluated')[0];
  await page.locator('#explore-start:enabled').click();
  await page.waitForFunction(
    (was) =>
      /^All /.test(document.getElementById('explore-progress').textContent) &&
      !document.getElementById('explore-progress').textContent.startsWith(was),
    all,
  );
  const found = await progress(page);
  const search = await reopened(chromium, page);
  await done(search);
  assert.equal(await search.getByLabel('Objective', { exact: true }).inputValue(), 'memory_headroom_bytes');
  assert.match(await search.locator('.ex-limits').textContent(), /≤ 4/);
  assert.equal((await progress(search)).split(' evaluated')[0], found.split(' evaluated')[0]);
  assert.deepEqual(faults, []);
});

test('the link of a frontier holds its clusters', async () => {
  const { page, faults } = await explore(chromium, '#/explore/frontier?model=llama-3.1-8b&v=3');
  await page.waitForSelector('.ex-frontier input[type=checkbox]:checked');
  for (const id of ['dgx-h100', 'dgx-b200']) await page.locator(`.ex-frontier input[value="${id}"]`).uncheck();
  await page.getByLabel('Devices', { exact: true }).last().fill('8');
  await page.locator('#frontier-start').click();
  const again = await reopened(chromium, page);
  await again.waitForSelector('.ex-frontier input[value="dgx-h200"]:checked');
  assert.equal(await again.locator('.ex-frontier input[type=checkbox]:checked').count(), 1);
  assert.deepEqual(faults, []);
});

test('the link of a sensitivity holds its change; an input is not raised beyond its limit', async () => {
  const { page, faults } = await explore(chromium, '#/explore/sensitivity?serving=null&v=3');
  await page.waitForSelector('#matters tbody tr, #matters svg');
  await page.getByLabel('Change', { exact: true }).selectOption({ index: 0 });
  const share = await page.getByLabel('Change', { exact: true }).inputValue();
  await settled(page);
  // GEMM efficiency is 0.865, and its limit is 1: it cannot be raised by 20 %.
  await page.getByLabel('Change', { exact: true }).selectOption('0.2');
  await page.waitForFunction(() => /20/.test(document.querySelector('#matters figcaption small').textContent));
  const [efficiency] = await page.locator('#matters tr', { hasText: 'GEMM efficiency, 16-bit' }).allTextContents();
  assert.match(efficiency, /days\s*at its limit/);
  await page.getByLabel('Change', { exact: true }).selectOption(share);
  const again = await reopened(chromium, page);
  await eventually(async () => assert.equal(await again.getByLabel('Change', { exact: true }).inputValue(), share));
  assert.deepEqual(faults, []);
});

test('the link of a design space holds its choices', async () => {
  const { page, faults } = await explore(chromium, `#/explore/design?${EIGHT}`);
  await page.locator('#design-stop').click();
  await page.getByLabel('Dies per device', { exact: true }).fill('1, 2');
  await page.locator('#design-start').click();
  await page.locator('#design-stop').click();
  const again = await reopened(chromium, page);
  await eventually(async () =>
    assert.equal(await again.getByLabel('Dies per device', { exact: true }).inputValue(), '1, 2'),
  );
  assert.deepEqual(faults, []);
});

test('which device serves best: one frontier per cluster', async () => {
  const { page, faults } = await explore(chromium, '#/explore/frontier');
  await page.waitForSelector('.ex-checks input');
  await page.locator('.ex-frontier select').first().selectOption('llama-3.1-8b');
  await page.locator('#frontier-start').click();
  await page.waitForFunction(() =>
    / configurations in /.test(document.getElementById('frontier-progress').textContent),
  );
  assert.ok((await page.locator('#explore-front .point').count()) > 6);
  assert.deepEqual(await page.locator('#explore-front .key li').allTextContents(), [
    'DGX H100',
    'DGX H200',
    'DGX B200',
  ]);
  await page.locator('[data-key=ex-rows]').click(); // past the first fifty rows
  assert.equal(await page.locator('[data-key=ex-rows]').count(), 0);
  assert.match(await page.locator('.ex-frontier .ex-table').innerText(), /model Llama-3\.1-8B[^]*DGX H200/);
  for (const [label, typed, said] of [
    ['Devices', 'many', /Devices: enter counts such as 8, 16/],
    ['TPOT at most', '30 GB', /TPOT at most: enter a time such as 50 ms/],
  ]) {
    const field = page.getByLabel(label, { exact: true }).last();
    const before = await field.inputValue();
    await field.fill(typed);
    await page.locator('#frontier-start').click();
    assert.match(plain(await page.locator('.ex-frontier .infeasible').innerText()), said);
    await field.fill(before);
  }
  assert.deepEqual(faults, []);
});

test('which device serves best starts with the scenario’s model and cluster', async () => {
  const { page } = await explore(
    chromium,
    '#/explore/frontier?cluster=hgx-mi355x&model=qwen3-235b-a22b&training=null&v=3',
  );
  await page.waitForSelector('.ex-frontier input[type=checkbox]');
  await page.locator('[data-key="ex-frontier-stop"]').click();
  assert.equal(await page.locator('.ex-frontier select').first().inputValue(), 'qwen3-235b-a22b');
  assert.deepEqual(
    await page.locator('.ex-frontier input:checked').evaluateAll((all) => all.map(({ value }) => value)),
    ['dgx-h100', 'dgx-h200', 'dgx-b200', 'hgx-mi355x'],
  );
});

test('a design space evaluates every design with every mapping, and a point of its frontier opens the scenario found', async () => {
  const { page, faults } = await explore(chromium, `#/explore/design?${EIGHT}`);
  const fill = (at, text) => page.locator('.ex-design input[type=text]').nth(at).fill(text);
  await fill(0, '1, 2');
  await fill(1, '5nm, 3nm');
  await fill(2, 'hbm3e');
  await fill(3, 'switch, ring');
  await page.locator('#design-start').click();
  await page.waitForFunction(() =>
    / designs and mappings decided in /.test(document.getElementById('design-progress').textContent),
  );
  const cost = await page.locator('.ex-design tbody tr').first().locator('td.first').textContent();
  await page.locator('.ex-design tbody tr').first().locator('button').click();
  await page.waitForFunction(() => location.hash.includes('partition.chiplets'));
  assert.match(await page.evaluate(() => location.hash), /h100-like/);
  assert.match(cost, /\$/);
  for (const [at, typed, said] of [
    [1, '5 nm, soon', 'Process nodes: there is no “soon”'],
    [0, 'many', 'Dies per device: Enter a whole number from 1 to 64'],
  ]) {
    await settled(page);
    await fill(1, '5 nm');
    await fill(at, typed);
    await page.locator('#design-start').click();
    await page.waitForFunction(
      (words) => document.querySelector('.ex-design .infeasible')?.textContent === words,
      said,
    );
    assert.equal(await page.locator('#design-progress').textContent(), '', 'nothing of the search before');
  }
  assert.deepEqual(faults, []);
});

// Nine systems, first as the paper's grouped bars.
test('a study of step times is drawn by bound too, where its own chart is another', async () => {
  const { page, faults } = await explore(chromium, '#/explore/studies/gpu-generations');
  await page.waitForSelector('.ex-verdicts');
  const inChart = () =>
    page
      .locator('#study-chart .mark[data-part]')
      .evaluateAll((list) => [
        new Set(list.map((one) => one.dataset.series)).size,
        [...new Set(list.map((one) => one.dataset.part))].sort(),
      ]);
  assert.deepEqual(await inChart(), [9, ['compute', 'network', 'other']]);
  await page.getByRole('button', { name: 'What the time is bound by', exact: true }).click();
  const [rows, names] = await inChart();
  assert.equal(rows, 9);
  for (const name of ['compute', 'memory', 'network-0', 'network-1', 'latency', 'bubble'])
    assert.ok(names.includes(name), name);
  assert.match(
    await page.locator('#study-chart .key').textContent(),
    /communication over the network between nodes/,
    'HDR, NDR and NVS are not one name',
  );
  assert.deepEqual(faults, []);
});

test('Explore opened by its link names its choices, each once', async () => {
  const { page } = await chromium.open('#/explore');
  for (const view of ['search', 'fits', 'frontier', 'sweep', 'solve', 'sensitivity', 'studies']) {
    await page.evaluate((hash) => (location.hash = hash), `#/explore/${view}`);
    await settled(page);
    const lists = await page
      .locator('#content select')
      .evaluateAll((all) =>
        all.map((one) =>
          [...one.options].map((option) => `${option.parentElement.label ?? ''}: ${option.textContent.trim()}`),
        ),
      );
    for (const names of lists) {
      assert.deepEqual(
        names.filter((name) => /\bper$|_|undefined|\[object/.test(name)),
        [],
        view,
      );
      assert.deepEqual(
        names.filter((name, i) => names.indexOf(name) !== i),
        [],
        `${view}: twice in one list`,
      );
    }
  }
});
