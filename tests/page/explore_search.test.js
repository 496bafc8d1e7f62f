// Searches of the Explore scene with two workers: their results, and a page that stays responsive meanwhile.
import assert from 'node:assert/strict';
import test from 'node:test';
import { answered, eventually, openScene, settled, site, timed } from './browser.js';
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
  assert.match(plain(await page.locator('.ex-table thead').textContent()), /Prefill pool [TP]P/i);
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
