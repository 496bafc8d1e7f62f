// The scoreboard is reached from an answer's accuracy and from Method, and is readable without JavaScript, in both
// themes and at all widths.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { site } from './browser.js';

const chromium = site();

const newest = JSON.parse(readFileSync(new URL('../../web/scoreboard/records.json', import.meta.url), 'utf8')).at(-1);

test('the accuracy of an answer and Method open it next to the page', async () => {
  for (const scene of ['evidence/serving.tpot_s', 'method']) {
    const { page, faults, done } = await chromium.open(`#/${scene}`);
    const link = page.getByRole('link', { name: /^Scoreboard/ });
    await link.waitFor();
    const [opened] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    assert.equal(await opened.locator('h1').textContent(), 'Slipstick: the scoreboard');
    await opened.close();
    assert.deepEqual(faults, []);
    await done();
  }
});

test('without JavaScript it shows the scores of the newest record, loads nothing from other hosts, and does not scroll sideways', async () => {
  const { page } = await chromium.open('');
  const context = await page.context().browser().newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  const fetched = [];
  plain.on('request', (request) => fetched.push(request.url()));
  await plain.goto(`${chromium.base}scoreboard.html`);
  assert.ok(fetched.length >= 5 && fetched.every((url) => url.startsWith(chromium.base)), fetched.join(' '));
  const rows = await plain.locator('#releases ~ table').first().locator('tbody tr').allTextContents();
  for (const { runs, error, held } of newest.all) {
    const scores = `${runs}${error.toFixed(1)}\u00a0%${held.toFixed(1)}\u00a0%`;
    assert.ok(
      rows.some((row) => row.includes(scores)),
      scores,
    );
  }
  const runs = plain.locator('details');
  for (const colorScheme of ['light', 'dark']) {
    await plain.emulateMedia({ colorScheme });
    for (const width of [320, 620, 768, 1440, 1920]) {
      await plain.setViewportSize({ width, height: 900 });
      for (const one of [runs.first(), runs.last()]) {
        if ((await one.getAttribute('open')) === null) await one.locator('summary').click();
        const reach = await plain.locator('html').boundingBox();
        const right = await one.locator('table').boundingBox();
        assert.ok(reach.width <= width && right.x + right.width <= reach.width, `${width} px`);
      }
      for (const table of await plain.locator('main > table').all()) {
        const { x, width: wide } = await table.boundingBox();
        assert.ok(x >= 0 && x + wide <= width, `${width} px: a table of ${wide} px`);
      }
    }
  }
  await context.close();
});

test('a name leads to the runs of its publisher', async () => {
  const { page } = await chromium.open('');
  await page.goto(`${chromium.base}scoreboard.html`);
  await page.getByRole('link', { name: 'MosaicML', exact: true }).first().click();
  const runs = page.locator('#runs-mosaicml');
  await runs.waitFor();
  assert.ok(await runs.evaluate((one) => one.getBoundingClientRect().top < innerHeight));
  await runs.locator('summary').click();
  assert.equal(await runs.locator('tbody tr:not(.group)').count(), 24);
  assert.match(await runs.locator('tbody tr:not(.group)').first().textContent(), /[+−]\d+\.\d\u00a0%/);
});
