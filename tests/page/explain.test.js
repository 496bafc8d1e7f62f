import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, openScene, settled, site } from './browser.js';

const chromium = site();

test('a symbol of the formula links to its input; an input marks the figures that depend on it, a figure its inputs', async () => {
  const { page } = await chromium.open('#/serve');
  await page.locator('[data-path="serving.prompt"] input[type=text]').focus();
  await page.waitForSelector('.figure.lit');
  const lit = await page.locator('.figure.lit').evaluateAll((all) => all.map((one) => one.dataset.figure));
  assert.ok(lit.includes('serving.ttft_s'), lit.join());
  await page.locator('.figure[data-figure="serving.ttft_s"]').hover();
  await page.waitForSelector('.field.lit[data-path="serving.prompt"]');
  await page.locator('.why[data-path="serving.max_batch"]').click();
  await page.waitForSelector('#sheet math');
  // Follows the marked path down to an input.
  const marked = page.locator('#sheet .terms tr.leads');
  const heading = page.locator('#sheet h2');
  // Its share need not be the largest: it has the input of most influence behind it.
  assert.match(await marked.innerText(), /on the way to the input that matters most/);
  while (!(await marked.locator('button', { hasText: 'edit' }).count())) {
    const before = await heading.textContent();
    await marked.locator('button', { hasText: 'why' }).click();
    await eventually(async () => assert.notEqual(await heading.textContent(), before));
  }
  const origin = await marked.locator('code').textContent();
  await page.locator(`#sheet .formula [data-origin="${origin}"]`).first().click();
  await eventually(async () =>
    assert.equal(
      await page.evaluate(() => document.activeElement.closest('[data-path]')?.dataset.path),
      origin.replace(/\.preset$/, ''),
    ),
  );
});

test('every scene states its assumptions and links to the most similar measured runs; no estimate has more than three digits', async () => {
  const { page } = await chromium.open('#/overview');
  await page.waitForTimeout(800);
  for (const scene of ['overview', 'train', 'serve', 'memory', 'chip']) {
    await openScene(page, scene);
    await settled(page);
    const note = await page.locator('.footnote').textContent();
    if (scene !== 'overview') assert.match(note, /Assumes/, scene);
    assert.match(note, scene === 'chip' ? /no public measurements/ : /Accuracy:/, scene);
    const shown = await page.locator('.figure .shown, .four .value').allTextContents();
    for (const figure of shown) {
      const digits = /\d[\d,]*(\.\d+)?/.exec(figure)?.[0] ?? '';
      if (digits.includes('.'))
        assert.ok(
          digits.replace(/[.,]/g, '').replace(/^0+/, '').length <= 3 || /^\$/.test(figure),
          `${scene}: ${figure}`,
        );
    }
  }
});

test('published device-hours stand beside ours with the ratio', async () => {
  const { page } = await chromium.open('#/train');
  await page.waitForSelector('.published');
  assert.match(await page.locator('.published').textContent(), /Meta reports 7\sM GPU-hours on H100.*% (fewer|more)/u);
});

test('an amount of bytes spells both GB and GiB', async () => {
  const { page } = await chromium.open('#/memory');
  for (const path of ['serving.memory_bytes.total', 'serving.kv_cache_bytes_per_token']) {
    const title = await page.locator(`.figure[data-figure="${path}"] .shown`).getAttribute('title');
    assert.match(title, /(Gi|Ki)B = .*(G|k)B = [\d,]+ bytes/, path);
  }
});

test('parts that do not fit are drawn hollow and labeled', async () => {
  const { page } = await chromium.open('#/memory?v=1');
  await page.waitForSelector('#kv-context .hollow');
  assert.match(await page.locator('#kv-context .hollow').first().getAttribute('aria-label'), /does not fit/);
});
