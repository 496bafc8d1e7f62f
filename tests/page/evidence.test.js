// How sure an answer is: from its interval to the runs behind it, in plain words, by keyboard and on a phone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { settled, site } from './browser.js';

let chromium;
before(async () => (chromium = await site()));
after(() => chromium.close());

const plain = (text) => text.replaceAll(/\s+/g, ' ').trim();
const words = async (page, selector) => plain(await page.locator(selector).first().textContent());

test('the interval of an answer opens the runs behind it, and says the same', async () => {
  const { page, faults } = await chromium.open('#/overview');
  const fetched = [];
  page.on('response', (response) => fetched.push(response.url()));
  const range = (await words(page, '[data-key="interval-serving.tpot_s"]')).match(/([\d.]+)–([\d.]+) ms/);
  await page.locator('[data-key="interval-serving.tpot_s"]').focus();
  await page.keyboard.press('Enter');
  await page.waitForSelector('#evidence-diagonal .mark');
  assert.match(await words(page, '#content h1'), /^How accurate is [\d.]+ ms per output token\?$/);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1');
  const lead = await words(page, '.ev-lead');
  assert.match(lead, new RegExp(`^If ten people measured a system like yours, about nine would find between ${range[1]} ms and ${range[2]} ms\\.`));
  // As many circles as rows, each with both values and its error.
  assert.equal(await page.locator('#evidence-line .mark').count(), 8);
  assert.equal(await page.locator('.ev-two .ev-table tbody tr').count(), 8);
  assert.match(await page.locator('#evidence-diagonal .mark').first().getAttribute('aria-label'), /measured .* computed .* [+−]\d/);
  // What the panel is for: what they had not, what would narrow it.
  assert.ok((await page.locator('.ev-differences tbody tr').count()) > 2);
  assert.match(await words(page, '.ev-narrow'), /A run of your own.*± [\d.]+ %/);
  assert.ok(!fetched.some((url) => url.endsWith('evidence/index.json')), 'only the sources of the runs shown are fetched');
  assert.deepEqual(faults, []);
});

test('what is fetched for it is at most 40 kB in gzip', async () => {
  const { page } = await chromium.open('#/overview');
  await page.waitForTimeout(1500); // what the page fetches by itself
  const { gzipSync } = await import('node:zlib');
  let bytes = 0;
  page.on('response', async (response) => (bytes += gzipSync(await response.body()).length));
  for (const answer of ['training.step_time_s', 'serving.tpot_s', 'training.memory_bytes.total']) {
    bytes = 0;
    await page.locator(`[data-key="interval-${answer}"]`).click();
    await page.waitForFunction(() => document.querySelectorAll('#evidence-line .mark').length === 8);
    await page.waitForTimeout(500);
    assert.ok(bytes <= 40_000, `${answer}: ${bytes}`);
  }
});

test('a tuned step, and what whole runs reach, with their own rows', async () => {
  const { page } = await chromium.open('#/evidence/training.step_time_s');
  await page.waitForSelector('#typical');
  assert.match(await words(page, '#typical .ev-lead'), /^The answer is a tuned step: [\d.]+ s, [\d.]+ % MFU\. Whole production runs reach less\. By the median of 17 published ones/);
  await page.locator('#typical summary').click();
  assert.equal(await page.locator('#typical tbody tr').count(), 17);
});

test('a run becomes the scenario, and is computed as it says', async () => {
  const { page, faults } = await chromium.open('#/evidence/serving.tpot_s');
  await page.waitForSelector('.ev-two .ev-table tbody tr');
  const row = page.locator('.ev-two .ev-table tbody tr').first();
  const computed = plain(await row.locator('td').nth(1).textContent());
  await row.locator('button').click();
  await settled(page);
  assert.equal(await words(page, '[data-key="answer-serve"]'), `${computed.replace(' ms', '')}ms per output token`);
  assert.deepEqual(faults, []);
});

test('every figure with an interval has its runs, on every width', async () => {
  for (const width of [320, 768]) {
    const { page, faults } = await chromium.open('#/evidence/serving.tpot_s', { width });
    for (const figure of ['training.step_time_s', 'training.memory_bytes.total', 'serving.ttft_s', 'serving.tokens_per_s', 'serving.memory_bytes.total']) {
      await page.locator(`[data-key="evidence-${figure}"]`).click();
      await page.waitForFunction((key) => document.querySelector(`[data-key="evidence-${key}"]`)?.ariaPressed === 'true' && document.querySelector('#evidence-diagonal .mark'), figure);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, `${figure} at ${width}`);
    }
    assert.deepEqual(faults, []);
  }
});

// The rows of a table as numbers of one column.
const column = (page, selector, at) =>
  page.locator(`${selector} tbody tr`).evaluateAll((rows, place) => rows.map((row) => parseFloat(row.children[place].textContent.replace(/[−,]/g, (one) => (one === ',' ? '' : '-')))), at);

test('Method: all published runs are computed here, the worst first, filtered and summarized', async () => {
  const { page, faults } = await chromium.open('#/method');
  await page.waitForFunction(() => /^[\d,]+ published runs of \d+ sources, computed just now/.test(document.querySelector('#method-computed')?.textContent ?? ''));
  const all = Number((await words(page, '#method-computed')).split(' ')[0].replace(',', ''));
  assert.ok(all >= 600, `${all}`);
  const byKind = await column(page, '#method-groups', 1);
  assert.equal(byKind.reduce((sum, one) => sum + one, 0), all);
  assert.equal(byKind.length, 8);
  const errors = (await column(page, '#method-runs', 4)).map(Math.abs);
  assert.equal(errors.length, 20);
  assert.deepEqual(errors, [...errors].sort((a, b) => b - a));
  assert.match(await words(page, '#method-groups'), /Held.*\d+ %.*± \d+ %/);
  assert.ok((await page.locator('#method-runs tbody a[href^="https://"]').count()) >= 10, 'citations');

  await page.locator('#method-kind').selectOption('training_step');
  await page.locator('#method-architecture').selectOption('hopper');
  await page.waitForSelector('#validation .mark');
  const some = Number((await words(page, '#method-runs caption')).split(' ')[0]);
  assert.ok(some > 30 && some < all);
  assert.equal(await page.locator('#validation .mark').count(), some);
  await page.locator('[data-key=method-by-software]').click();
  assert.equal((await column(page, '#method-groups', 1)).reduce((sum, one) => sum + one, 0), some);
  await page.locator('[data-key=method-all]').click();
  assert.equal(await page.locator('#method-runs tbody tr').count(), some);
  assert.deepEqual(faults, []);
});
