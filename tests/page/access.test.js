import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { settled, site } from './browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

let chromium;
before(async () => (chromium = await site()));
after(() => chromium.close());

const scenesOf = (page) => page.locator('#tabs a').evaluateAll((all) => all.map((one) => one.dataset.scene));

async function violations(page) {
  await page.evaluate(AXE);
  const { violations: found } = await page.evaluate((tags) => globalThis.axe.run(document, { runOnly: tags }), TAGS);
  return found.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ target }) => target.join(' '))
        .slice(0, 3)
        .join(' | ')}`,
  );
}

for (const colorScheme of ['light', 'dark']) {
  for (const width of [320, 1280]) {
    test(`A1: axe finds nothing in any scene, ${colorScheme}, ${width} px`, async () => {
      const { page } = await chromium.open('#/overview', { colorScheme, width, bypassCSP: true });
      for (const scene of await scenesOf(page)) {
        await page.evaluate((hash) => (location.hash = hash), `#/${scene}`);
        await settled(page);
        assert.deepEqual(await violations(page), [], scene);
      }
    });
  }
}

test('A1: axe finds nothing in the why sheet', async () => {
  const { page } = await chromium.open('#/train', { bypassCSP: true });
  await page.locator('.figure .why').first().click();
  await page.waitForSelector('#sheet math');
  assert.deepEqual(await violations(page), []);
});

test('A2: every chart has a name, a summary, a table with numbers, and one tab stop', async () => {
  const { page } = await chromium.open('#/overview');
  for (const scene of await scenesOf(page)) {
    await page.locator(`#tabs [data-scene=${scene}]`).click();
    await settled(page);
    const charts = await page.locator('figure.chart').evaluateAll((all) =>
      all.map((figure) => {
        const svg = figure.querySelector('.drawing svg');
        const details = figure.querySelector('details.data');
        if (details) details.open = true;
        return {
          id: figure.id,
          role: svg.getAttribute('role'),
          name: document.getElementById(svg.getAttribute('aria-labelledby'))?.textContent.trim(),
          summary: document.getElementById(svg.getAttribute('aria-describedby'))?.textContent.trim(),
          stops: svg.querySelectorAll('[tabindex="0"]').length,
          marks: svg.querySelectorAll('.mark').length,
          unnamed: [...svg.querySelectorAll('[aria-label]')].filter((one) => !one.getAttribute('role')).length,
          hasTable: Boolean(details),
        };
      }),
    );
    for (const chart of charts) {
      assert.match(chart.role, /graphics-document/, chart.id);
      assert.ok(chart.name, chart.id);
      assert.ok(chart.summary, `${chart.id} has no summary`);
      assert.ok(chart.marks > 0, chart.id);
      assert.equal(chart.stops, 1, chart.id);
      assert.equal(chart.unnamed, 0, chart.id);
      assert.ok(chart.hasTable, chart.id);
      await page.waitForFunction((id) => document.querySelector(`#${id} details.data tbody tr`), chart.id);
    }
  }
});

test('A3: arrows walk over the marks of a chart and say them', async () => {
  const { page } = await chromium.open('#/train');
  await page.locator('#step-bar .mark').first().focus();
  const first = await page.locator('#step-bar .tip').textContent();
  await page.keyboard.press('ArrowRight');
  const second = await page.locator('#step-bar .tip').textContent();
  assert.match(first, /\d/);
  assert.notEqual(second, first);
  await page.keyboard.press('End');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#step-bar .tip').isHidden(), true);
});

test('A7: nothing scrolls sideways at 320 px, and nothing but the tabs at 400 % zoom', async () => {
  const { page } = await chromium.open('#/overview', { width: 320 });
  for (const scene of await scenesOf(page)) {
    await page.evaluate((hash) => (location.hash = hash), `#/${scene}`);
    await settled(page);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 320, scene);
  }
});

test('A5: targets are at least 24 by 24 pixels', async () => {
  const { page } = await chromium.open('#/train');
  const small = await page.locator('button:visible, a[href]:visible, input:visible, select:visible, summary:visible').evaluateAll((all) =>
    all
      .filter((one) => !one.closest('p') && !one.classList.contains('skip'))
      .map((one) => ({ name: one.outerHTML.slice(0, 90), box: one.getBoundingClientRect() }))
      .filter(({ box }) => box.width < 24 || box.height < 24)
      .map(({ name, box }) => `${Math.round(box.width)}x${Math.round(box.height)} ${name}`),
  );
  assert.deepEqual(small, []);
});
