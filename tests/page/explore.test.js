// The Explore scene in a real browser: searches with two workers, their results, and a page that stays responsive
// meanwhile.
import assert from 'node:assert/strict';
import test from 'node:test';
import { answered, eventually, openScene, settled, site, timed, type } from './browser.js';
import { GPT3, LLAMA, SMALL, done, explore, number, plain, progress, sized } from './exploring.js';

const chromium = site();

test('the size of the space is shown before the search, and a limit reduces it', async () => {
  const { page } = await explore(chromium, GPT3);
  await sized(page);
  const size = async () => number(/([\d,]+) mappings/.exec(await page.locator('#explore-size').textContent())[1]);
  const whole = await size();
  assert.ok(whole >= 88484, `as large as calculon's space: ${whole}`);
  await page.locator('.ex-box > summary').first().click();
  await page.getByLabel('Constraint on').selectOption('training.mapping.tp');
  await page.getByLabel('Value', { exact: true }).fill('8');
  await page.getByRole('button', { name: 'Add constraint' }).click();
  await page.waitForFunction(
    (was) => !document.getElementById('explore-size').textContent.includes(was),
    whole.toLocaleString('en'),
  );
  assert.ok((await size()) < whole);
  assert.match(await page.locator('.ex-limits').textContent(), /8/);
});

test('a constraint is read as its example is written, and what is no value says so', async () => {
  const { page, faults } = await explore(chromium, SMALL);
  await done(page);
  await page.locator('.ex-box > summary').first().click();
  await page.getByLabel('Constraint on').selectOption('training.cost_usd');
  const value = page.getByLabel('Value', { exact: true });
  const example = await value.getAttribute('placeholder');
  assert.match(example, /^\$[\d.,]+( M)?$/);
  await value.fill('cheap');
  await value.press('Enter');
  assert.equal(await page.locator('.ex-box .bad').innerText(), `enter a value such as ${example}`);
  await value.fill(example);
  await value.press('Enter');
  await sized(page);
  assert.match(await page.locator('.ex-limits').textContent(), /≤ [\d.]+/);
  assert.equal(await page.locator('.ex-box .bad').innerText(), '');
  await page.locator('#explore-start:enabled').click();
  await page.waitForFunction(() => /cost/.test(document.querySelector('.ex-search').textContent));
  await done(page);
  assert.deepEqual(faults, []);
});

test('a running search shows the best so far and stops within 100 ms; it goes on where it stopped', async () => {
  const { page } = await explore(chromium, LLAMA);
  await page.waitForSelector('.ex-table:not([hidden]) tbody tr'); // the scene opens with a result
  assert.match(await progress(page), /of [\d,]+ evaluated/);
  const waited = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const text = document.getElementById('explore-progress');
        const start = performance.now();
        new MutationObserver(
          () => text.textContent.startsWith('Stopped') && resolve(performance.now() - start),
        ).observe(text, { childList: true, characterData: true, subtree: true });
        document.getElementById('explore-stop').click();
      }),
  );
  timed('stopped after', waited, 100);
  const at = number(/Stopped at ([\d,]+)/.exec(await progress(page))[1]);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.waitForFunction(
    (was) =>
      Number(/^([\d,]+) of/.exec(document.getElementById('explore-progress').textContent)?.[1].replaceAll(',', '')) >
        was || /^All /.test(document.getElementById('explore-progress').textContent),
    at,
  );
});

test('the search that starts with the tab ends at another question and when the tab is left', async () => {
  const { page, faults } = await explore(chromium, LLAMA);
  await page.waitForSelector('#explore-stop:not([hidden])');
  await page.getByLabel('Objective', { exact: true }).selectOption({ index: 1 });
  await page.waitForSelector('#explore-start:not([hidden])');
  assert.match(await progress(page), /^Stopped at/);
  await openScene(page, 'train');
  await page.waitForSelector('#step-bar');
  await openScene(page, 'explore');
  await page.waitForSelector('#explore-stop:not([hidden])'); // the other panel has no answer yet
  await openScene(page, 'train');
  await page.waitForSelector('#step-bar');
  await eventually(async () => assert.equal(await page.locator('#content').getAttribute('aria-busy'), 'false'));
  await page.waitForTimeout(500);
  await openScene(page, 'explore');
  await page.waitForSelector('#explore-start:not([hidden])');
  assert.match(await progress(page), /^Stopped at/);
  assert.deepEqual(faults, []);
});

test('points, rows and links of the results open the scenario', async () => {
  const { page, context } = await explore(chromium, SMALL);
  await done(page);
  const points = page.locator('#explore-front .point');
  assert.ok((await points.count()) > 3);
  await points.first().click();
  const link = page.locator('.ex-chosen a.link');
  await page.waitForFunction(() =>
    document.querySelector('.ex-chosen a.link').getAttribute('href').includes('training.mapping'),
  );
  const href = await link.getAttribute('href');
  const words = plain(await page.locator('.ex-chosen p').first().textContent());
  const other = await context.newPage();
  await other.goto(chromium.base + href.replace('#/explore', '#/train'));
  await answered(other);
  const time = /(?:Step|step)[^\d]*([\d.]+ s)/.exec(words)[1];
  assert.ok(
    plain(await other.locator('body').textContent()).includes(time),
    `${time} of ${words} on the page of its link`,
  );

  const first = page.locator('.ex-table tbody tr').first();
  assert.match(await first.textContent(), /^1/);
  await page.getByRole('button', { name: 'Sort by Rank', exact: true }).click();
  await eventually(async () => assert.doesNotMatch(await first.locator('th').textContent(), /^1$/));
  await page.getByLabel('Filter rows').fill('zero=1');
  const rows = await page.locator('.ex-table tbody tr').count();
  assert.ok(rows > 0 && rows < 50, String(rows));
  await page.getByLabel('Filter rows').fill('');

  await page.getByRole('cell').getByRole('button', { name: 'Use mapping 1', exact: true }).click();
  await settled(page);
  assert.match(page.url(), /training\.mapping\.micro_batch=/);
  assert.match(await page.locator('.ex-table .ex-status').first().textContent(), /Mapping 1 is now in the scenario/);
});

test('what is found is not compared with a scenario that cannot run', async () => {
  const { page } = await explore(
    chromium,
    SMALL.replace('&v=1', '&training.mapping.dp=16&training.mapping.zero=0&v=1'),
  );
  await done(page);
  assert.match(plain(await page.locator('[data-answer=training]').innerText()), /Out of memory/);
  assert.match(plain(await page.locator('.ex-answer').innerText()), /^Best: step time [\d.]+ s, with/);
  assert.doesNotMatch(await page.locator('.ex-answer').innerText(), /your scenario/);
  assert.equal(await page.locator('#explore-front .you').count(), 0);
});

test('pools of two kinds of device keep their devices and get mappings', async () => {
  const { page, context } = await explore(
    chromium,
    '#/explore?cluster=dgx-h100&cluster.devices=16&model=llama-3.1-8b&serving.disaggregated.prefill_device=l40s' +
      '&serving.disaggregated.prefill_devices=4&serving.disaggregated.decode_devices=2&training=null&v=1',
  );
  await done(page);
  const better = /(more|less) than your scenario/;
  const answer = async () => plain(await page.locator('.ex-search .ex-answer').textContent());
  assert.match(await answer(), better);
  const found = /([\d,.]+), [\d.]+ % more/.exec(await answer())[1];
  assert.match(plain(await page.locator('.ex-table thead').textContent()), /Prefill pool TP/i);
  await page.locator('.ex-box > summary').first().click();
  const choices = await page.getByLabel('Constraint on').locator('option').allTextContents();
  assert.ok(choices.includes('Tensor parallelism (TP), prefill pool'), choices.join('; '));

  await page.getByRole('cell').getByRole('button', { name: 'Use mapping 1', exact: true }).click();
  await settled(page);
  assert.match(page.url(), /prefill_device=l40s/);
  assert.match(page.url(), /prefill_mapping\.tp=/);
  await eventually(async () => assert.doesNotMatch(await answer(), better));
  const other = await context.newPage();
  await other.goto(page.url().replace('#/explore', '#/serve'));
  await answered(other);
  assert.ok(plain(await other.locator('body').textContent()).includes(found), `${found} at ${other.url()}`);
});

test('at every width the results can be sorted by a visible column and do not scroll sideways', async () => {
  const { page } = await explore(chromium, SMALL);
  await done(page);
  for (const width of [1280, 900, 640, 600, 320]) {
    await page.setViewportSize({ width, height: 800 });
    await settled(page);
    const sort = page.locator('.ex-table thead button');
    const first = page.locator('.ex-table tbody th').first();
    const before = await first.textContent();
    for (const button of await sort.all())
      assert.ok(
        await button.evaluate((one) => {
          one.scrollIntoView({ block: 'center' });
          const { left, top, width: wide, height } = one.getBoundingClientRect();
          return one.contains(document.elementFromPoint(left + wide / 2, top + height / 2));
        }),
        `${width}: ${await button.textContent()}`,
      );
    assert.ok(
      await page.locator('.ex-table .scroll').evaluate((one) => one.scrollWidth <= one.clientWidth + 5),
      `${width}`,
    );
    await sort.first().click();
    await eventually(async () => assert.notEqual(await first.textContent(), before));
  }
});

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

test('a bound is written with its unit, a number alone is in that unit, and what is no number is refused', async () => {
  const { page, faults } = await explore(chromium, '#/explore/solve?cluster.devices=8&training=null&v=3');
  await page.waitForSelector('#solve-answer .ex-answer');
  await page.getByLabel('Constraint', { exact: true }).selectOption('serving.tpot_s');
  const bound = page.getByLabel('Value', { exact: true });
  assert.match(await bound.inputValue(), /^[\d.]+ ms$/);
  await page.getByLabel('Condition', { exact: true }).selectOption('<=');
  await bound.fill('40');
  await bound.press('Enter');
  // Beyond the longest prompt that runs at once, requests wait and each is served fast.
  await page.waitForFunction(() =>
    /holds up to [\d,]+ and again from [\d,]+ on.* At [\d,]+, .*TPOT.* is (39\.\d|40)\sms/.test(
      document.querySelector('#solve-answer .ex-answer')?.textContent,
    ),
  );
  assert.equal(await bound.inputValue(), '40 ms');
  await bound.fill('soon');
  await bound.press('Enter');
  await page.waitForFunction(() =>
    /^Value: enter a value such as [\d.]+ ms/.test(document.querySelector('#solve-answer').innerText),
  );
  assert.equal(await bound.getAttribute('aria-invalid'), 'true');
  await page.getByLabel('Constraint', { exact: true }).selectOption('serving.tokens_per_s');
  await bound.fill('1,500 tokens/s');
  await bound.press('Enter');
  await page.waitForSelector('#solve-answer .ex-answer');
  assert.deepEqual(faults, []);
});

test('examples are solved on the page, with their reasons', async () => {
  const { page } = await explore(chromium, '#/explore/solve');
  const said = async (name) => {
    await page.getByRole('button', { name }).click();
    await page.waitForFunction(() => document.querySelector('#solve-answer .ex-answer'));
    const words = await page.locator('#solve-answer').textContent();
    await page.locator('#solve-answer').evaluate((box) => box.replaceChildren());
    return plain(words);
  };
  assert.match(await said('Longest context that fits'), /Prompt tokens: fits up to [\d,]+/);
  assert.match(await said('Defect density at which four chiplets win'), /smallest .*Density of killer defects.* \/cm/i);
  await page.getByLabel('To', { exact: true }).fill('0.02 /cm^2');
  await page.locator('#solve-start').click();
  await page.waitForSelector('#solve-answer .ex-answer');
  assert.match(plain(await page.locator('#solve-answer').textContent()), /No value of .*neither end/);
});

// A new page opened at the link of another, with the question in its fields.
async function reopened(page) {
  await settled(page);
  const { page: fresh } = await explore(chromium, new URL(page.url()).hash, { fresh: true });
  return fresh;
}
const pointsOf = (page, words) =>
  page.waitForFunction((some) => document.querySelector('.ex-sweep .ex-status').textContent.startsWith(some), words);

test('the link contains the solved question, and a new page answers it', async () => {
  const { page, faults } = await explore(chromium, '#/explore/solve');
  await page.getByRole('button', { name: 'Defect density at which four chiplets win' }).click();
  await page.waitForFunction(() =>
    /Density of killer defects/.test(document.querySelector('#solve-answer .ex-answer')?.textContent),
  );
  const said = plain(await page.locator('#solve-answer .ex-answer').textContent());
  const fresh = await reopened(page);
  await fresh.waitForSelector('#solve-answer .ex-answer');
  assert.equal(plain(await fresh.locator('#solve-answer .ex-answer').textContent()), said);
  assert.equal(await fresh.getByLabel('From', { exact: true }).inputValue(), '0.01 /cm^2');
  await page.goBack(); // back from the example's scenario
  await page.goBack(); // back from the example's question
  await page.getByRole('button', { name: 'Longest context that fits' }).click();
  await page.goBack();
  await page.goForward();
  await eventually(async () => assert.equal(await page.getByLabel('To', { exact: true }).inputValue(), '4M'));
  assert.deepEqual(faults, []);
});

test('an example about a part that is off is not offered', async () => {
  const { page } = await explore(chromium, '#/explore/solve?serving=null&v=3');
  await page.waitForSelector('[data-key="ex-solve-gpus"]');
  assert.equal(await page.locator('[data-key="ex-solve-context"]').count(), 0);
});

test('the link contains a sweep and does not end its run, even after an input was reset to its default', async () => {
  const { page, faults } = await explore(chromium, '#/explore/sweep');
  await page.waitForSelector('#sweep-chart');
  await type(page, 'serving.prompt', '4096');
  await type(page, 'serving.prompt', '2048');
  await page.getByLabel('Values', { exact: true }).fill('1, 7');
  await page.locator('#sweep-start').click();
  await pointsOf(page, '2 of 2');
  const fresh = await reopened(page);
  await pointsOf(fresh, '2 of 2');
  assert.equal(await fresh.getByLabel('Values', { exact: true }).inputValue(), '1, 7');
  assert.deepEqual(faults, []);
});

test('the link holds the questions of the other panels: objective and constraints, clusters, a share, an axis', async () => {
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
  const search = await reopened(page);
  await done(search);
  assert.equal(await search.getByLabel('Objective', { exact: true }).inputValue(), 'memory_headroom_bytes');
  assert.match(await search.locator('.ex-limits').textContent(), /≤ 4/);
  assert.equal((await progress(search)).split(' evaluated')[0], found.split(' evaluated')[0]);

  const { page: front } = await explore(chromium, '#/explore/frontier');
  await front.waitForSelector('.ex-frontier input[type=checkbox]:checked');
  await front.locator('[data-key="ex-frontier-stop"]').click();
  for (const id of ['dgx-h100', 'dgx-b200']) await front.locator(`.ex-frontier input[value="${id}"]`).uncheck();
  await front.getByLabel('Devices', { exact: true }).last().fill('8');
  await front.locator('#frontier-start').click();
  const fronts = await reopened(front);
  await fronts.waitForSelector('.ex-frontier input[value="dgx-h200"]:checked');
  assert.equal(await fronts.locator('.ex-frontier input[type=checkbox]:checked').count(), 1);

  const { page: matters } = await explore(chromium, '#/explore/sensitivity');
  await matters.waitForSelector('#matters tbody tr, #matters svg');
  await matters.getByLabel('Change', { exact: true }).selectOption({ index: 0 });
  const share = await matters.getByLabel('Change', { exact: true }).inputValue();
  await settled(matters);
  // GEMM efficiency is 0.865, and its limit is 1: it cannot be raised by 20 %.
  await matters.getByLabel('Change', { exact: true }).selectOption('0.2');
  await matters.waitForFunction(() => /20/.test(document.querySelector('#matters figcaption small').textContent));
  const [efficiency] = await matters.locator('#matters tr', { hasText: 'GEMM efficiency, 16-bit' }).allTextContents();
  assert.match(efficiency, /days\s*at its limit/);
  await matters.getByLabel('Change', { exact: true }).selectOption(share);
  await settled(matters);
  const again = await reopened(matters);
  await eventually(async () => assert.equal(await again.getByLabel('Change', { exact: true }).inputValue(), share));

  const { page: chips } = await explore(chromium, '#/explore/design');
  await chips.locator('#design-stop').click();
  await chips.getByLabel('Dies per device', { exact: true }).fill('1, 2');
  await chips.locator('#design-start').click();
  await chips.locator('#design-stop').click();
  const design = await reopened(chips);
  await eventually(async () =>
    assert.equal(await design.getByLabel('Dies per device', { exact: true }).inputValue(), '1, 2'),
  );
  assert.deepEqual(faults, []);
});

test('with the fewest GPUs for 30 days, the page shows a finish in 30 days', async () => {
  const { page, faults } = await explore(chromium, '#/explore/solve?serving=null&training.tokens=2+Ttoken&v=3');
  await page.getByRole('button', { name: 'Fewest GPUs for 30 days' }).click();
  await page.waitForFunction(() => /696/.test(document.querySelector('#solve-answer .ex-answer')?.textContent)); // derived in start.test.js
  const [, days] = /([\d.]+)\sdays/u.exec(await page.locator('#solve-answer .ex-answer').textContent());
  await page.locator('#solve-use').click();
  await settled(page);
  assert.ok((await page.locator('[data-answer=training] .value').textContent()).startsWith(days));
  assert.deepEqual(faults, []);
});

test('after using a solution, the page shows the panel’s figure, even if the unknown would have moved other inputs', async () => {
  for (const [hash, asked, figure] of [
    [
      'serving=null&v=3',
      'unknown:training.global_batch/from:64/to:8192/figure:training.step_time_s/how:<=/bound:5',
      'training.step_time_s',
    ],
    ['v=3', 'unknown:serving.output/from:128/to:1M/figure:serving.tpot_s/how:<=/bound:0.03', 'serving.tpot_s'],
    ['v=2', 'unknown:serving.prompt/from:1k/to:256k/figure:serving.ttft_s/how:<=/bound:0.5', 'serving.ttft_s'],
    [
      'model=llama-3.1-8b&cluster=dgx-h100&training=null&v=3',
      'unknown:serving.concurrency/from:1/to:4096/figure:serving.tpot_s/how:<=/bound:0.02',
      'serving.tpot_s',
    ],
    [
      'training=null&v=3',
      'unknown:serving.prompt/from:1k/to:64k/figure:serving.ttft_s/how:<=/bound:1/best:serving',
      'serving.ttft_s',
    ],
  ]) {
    const question = encodeURIComponent(`solve/${asked}`);
    const { page, faults, done: leave } = await explore(chromium, `#/explore/solve?${hash}&explore=${question}`);
    const answer = page.locator('#solve-answer .ex-answer');
    await answer.waitFor();
    const said = plain(await answer.locator('b').last().textContent());
    await page.locator('#solve-use').click();
    await settled(page);
    const head = plain(await page.locator('.four').innerText());
    assert.ok(
      head.includes(said.replace(/ ms$/, '')),
      `${figure}: ${said} of ${plain(await answer.innerText())}, then ${head}`,
    );
    assert.deepEqual(faults, []);
    await leave();
  }
});

test('solving with a search shows progress and can be stopped at once; the pool keeps working', async () => {
  const { page, faults } = await explore(chromium, '#/explore/solve');
  await page.getByRole('button', { name: 'Fewest GPUs for 30 days' }).click();
  await page.getByLabel('Best mapping at each point').selectOption('training');
  await page.locator('#solve-start').click();
  await page.waitForFunction(() =>
    /of about \d+ values tried; between \d+ and \d+/.test(
      document.querySelector('.ex-solve .ex-run .ex-status').textContent,
    ),
  );
  assert.ok((await page.locator('.ex-solve progress').evaluate((one) => one.value)) > 0);
  const waited = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const box = document.getElementById('solve-answer');
        const start = performance.now();
        new MutationObserver(() => /Stopped/.test(box.textContent) && resolve(performance.now() - start)).observe(box, {
          childList: true,
          subtree: true,
        });
        document.getElementById('solve-stop').click();
      }),
  );
  timed('a solution stopped after', waited, 100);
  assert.ok(await page.locator('#solve-start').isVisible());
  await page.getByRole('button', { name: 'Longest context that fits' }).click();
  await page.waitForFunction(() => document.querySelector('#solve-answer .ex-answer'));
  timed('longest task of the main thread', Math.max(0, ...(await page.evaluate(() => window.longTasks))), 50);
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
  const { page, faults } = await explore(
    chromium,
    '#/explore/design?model=llama-3.1-8b&cluster.devices=16&training.global_batch=32&serving=null',
  );
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
