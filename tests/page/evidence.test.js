// How certain an answer is: from its interval to the runs behind it, in plain words, by keyboard and on a phone.
import assert from 'node:assert/strict';
import test from 'node:test';
import { settled, site } from './browser.js';

const chromium = site();

const plain = (text) => text.replaceAll(/\s+/g, ' ').trim();
const words = async (page, selector) => plain(await page.locator(selector).first().textContent());

test('the interval of an answer opens the runs behind it, which show the same interval', async () => {
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
  assert.match(
    lead,
    new RegExp(
      `^If ten people measured a system like yours, about nine would measure between ${range[1]} ms and ${range[2]} ms\\.`,
    ),
  );
  // One circle per row, with both values and the error.
  assert.equal(await page.locator('#evidence-line .mark').count(), 8);
  assert.equal(await page.locator('.ev-two .ev-table tbody tr').count(), 8);
  assert.match(
    await page.locator('#evidence-diagonal .mark').first().getAttribute('aria-label'),
    /measured .* computed .* [+−]\d/,
  );
  // The purpose of the panel: what the runs lack, and what would narrow the interval.
  assert.ok((await page.locator('.ev-differences tbody tr').count()) > 2);
  assert.match(await words(page, '.ev-narrow'), /A run of your own.*± [\d.]+ %/);
  assert.ok(
    !fetched.some((url) => url.endsWith('evidence/index.json')),
    'only the sources of the runs shown are fetched',
  );
  assert.deepEqual(faults, []);
});

test('far from all runs by several small differences, the last note agrees with the first', async () => {
  const { page } = await chromium.open(
    '#/evidence/serving.tpot_s?training=null&model=qwen3-235b-a22b&cluster=dgx-h200&cluster.devices=8&serving.concurrency=200&v=3',
  );
  await page.waitForSelector('.ev-narrow');
  assert.match(await words(page, '.ev-lead'), /No very similar system has been measured, which widens the interval/);
  assert.match(await words(page, '.ev-narrow'), /No single difference .* all of them together do\./);
});

test('it fetches at most 40 kB gzip', async () => {
  const { page } = await chromium.open('#/overview');
  await page.waitForSelector('#advice .apply');
  await page.waitForLoadState('networkidle'); // waits for fetches of the page itself, such as a second core for advice
  const { gzipSync } = await import('node:zlib');
  let bytes = 0;
  page.on('response', async (response) => {
    if (response.status() === 200) bytes += gzipSync(await response.body()).length; // 304: from the cache
  });
  for (const answer of ['training.step_time_s', 'serving.tpot_s', 'training.memory_bytes.total']) {
    bytes = 0;
    await page.locator(`[data-key="interval-${answer}"]`).click();
    await page.waitForFunction(() => document.querySelectorAll('#evidence-line .mark').length === 8);
    await page.waitForTimeout(500);
    assert.ok(bytes <= 40_000, `${answer}: ${bytes}`);
  }
});

test('a tuned step, and the rate of whole runs, with their own rows', async () => {
  const { page } = await chromium.open('#/train');
  assert.match(
    await words(page, '#typical-note'),
    /^[\d.]+ s is what a tuned run reaches.* Whole production runs,.* typically take [\d.]+ s per step, [\d.]+ % MFU \(median of 17 published runs\)/,
  );
  await page.locator('#typical-note a').click();
  await page.waitForSelector('#typical');
  assert.match(
    await words(page, '#typical .ev-lead'),
    /^The answer is a tuned step: [\d.]+ s, [\d.]+ % MFU\. Whole production runs reach less\. By the median of 17 published ones,/,
  );
  await page.locator('#typical summary').click();
  assert.equal(await page.locator('#typical tbody tr').count(), 17);
});

test('a run becomes the scenario, with the computed value that its row shows', async () => {
  const { page, faults } = await chromium.open('#/evidence/serving.tpot_s');
  await page.waitForSelector('.ev-two .ev-table tbody tr');
  const row = page.locator('.ev-two .ev-table tbody tr').first();
  const computed = plain(await row.locator('td').nth(1).textContent());
  await row.locator('button').click();
  await settled(page);
  assert.equal(await words(page, '[data-key="answer-serving"]'), `${computed} per output token (TPOT)`);
  assert.deepEqual(faults, []);
});

test('every figure with an interval has its runs, at every width', async () => {
  const { page, faults } = await chromium.open('#/evidence/serving.tpot_s');
  for (const width of [320, 768]) {
    await page.setViewportSize({ width, height: 900 });
    for (const figure of [
      'training.step_time_s',
      'training.memory_bytes.total',
      'serving.ttft_s',
      'serving.tokens_per_s',
      'serving.memory_bytes.total',
    ]) {
      await page.locator(`[data-key="evidence-${figure}"]`).click();
      await page.waitForFunction(
        (key) =>
          document.querySelector(`[data-key="evidence-${key}"]`)?.ariaPressed === 'true' &&
          document.querySelector('#evidence-diagonal .mark'),
        figure,
      );
      assert.ok(
        (await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0,
        `${figure} at ${width}`,
      );
    }
  }
  assert.deepEqual(faults, []);
});

// The values of one column of a table.
const column = (page, selector, at) =>
  page
    .locator(`${selector} tbody tr`)
    .evaluateAll(
      (rows, place) =>
        rows.map((row) =>
          parseFloat(row.children[place].textContent.replace(/[−,]/g, (one) => (one === ',' ? '' : '-'))),
        ),
      at,
    );

test('Method: all published runs are computed here, the worst first, filtered and summarized', async () => {
  const { page, faults } = await chromium.open('#/method');
  await page.waitForFunction(() =>
    /^[\d,]+ published runs of \d+ sources, computed just now/.test(
      document.querySelector('#method-computed')?.textContent ?? '',
    ),
  );
  const all = Number((await words(page, '#method-computed')).split(' ')[0].replace(',', ''));
  assert.ok(all >= 600, `${all}`);
  const byKind = await column(page, '#method-groups', 1);
  assert.equal(
    byKind.reduce((sum, one) => sum + one, 0),
    all,
  );
  assert.equal(byKind.length, 9);
  const errors = (await column(page, '#method-runs', 4)).map(Math.abs);
  assert.equal(errors.length, 20);
  assert.deepEqual(
    errors,
    [...errors].sort((a, b) => b - a),
  );
  assert.match(await words(page, '#method-groups'), /Held.*\d+ %.*± \d+ %/);
  assert.ok((await page.locator('#method-runs tbody a[href^="https://"]').count()) >= 10, 'citations');

  const families = await page.locator('#method-architecture option').allTextContents();
  for (const name of ['Blackwell RTX', 'CDNA', 'TPU', 'Hopper']) assert.ok(families.includes(name), `${families}`);

  await page.locator('#method-kind').selectOption('training_step');
  await page.locator('#method-architecture').selectOption('hopper');
  await page.waitForSelector('#validation .mark');
  const some = Number((await words(page, '#method-runs caption')).split(' ')[0]);
  assert.ok(some > 30 && some < all);
  assert.equal(await page.locator('#validation .mark').count(), some);
  await page.locator('[data-key=method-by-software]').click();
  assert.equal(
    (await column(page, '#method-groups', 1)).reduce((sum, one) => sum + one, 0),
    some,
  );
  await page.locator('[data-key=method-all]').click();
  assert.equal(await page.locator('#method-runs tbody tr').count(), some);
  assert.deepEqual(faults, []);
});

const LOG = ` [2026-02-03 02:59:41] iteration       44/     100 | consumed samples:        22528 | elapsed time per iteration (ms): 12000.0 | throughput per GPU (TFLOP/s/GPU): 311.0 | learning rate: 8.8E-06 | global batch size:   512 | lm loss: 1.8E+00 | loss scale: 1.0 | grad norm: 1.3 | number of skipped iterations:   0 | number of nan iterations:   0 |
WARNING: something else`;

test('a pasted log is compared with the scenario, explained, and calibrates it in the link', async () => {
  const { page, faults } = await chromium.open('#/evidence/training.step_time_s');
  await page.locator('[data-key=evidence-paste]').click();
  await page.locator('#measurement-text').fill('no measurement');
  await page.locator('#measurement-use').click();
  assert.match(await words(page, '#measurement-faults'), /No measurement found/);
  await page.locator('#measurement-text').fill(LOG);
  await page.locator('#measurement-use').click();
  await page.waitForSelector('#own-calibrate');
  // 12 s measured, above the interval; then computed over measured minus one, and the line that was not understood.
  const [, computed, error] = (await words(page, '.ev-part .ev-table tbody tr')).match(
    /12 s ?([\d.]+) s ?−(\d+) % ?outside/,
  );
  assert.ok(Math.abs(computed / 12 - 1 + error / 100) < 0.006);
  assert.match(await words(page, 'details[data-key=own-unread]'), /1 line not understood.*something else/);
  assert.ok((await page.locator('.own-why tbody tr').count()) >= 5);
  await page.locator('[data-key=own-calibrate]').click();
  await page.waitForFunction(() =>
    /^Calibrated/.test(document.querySelector('#own-calibrate .ev-lead')?.textContent ?? ''),
  );
  assert.match(await words(page, '.ev-part .ev-table tbody tr'), /12 s ?12 s/);
  await page.waitForFunction(() => location.hash.includes('cluster.device.efficiency.matrix=0.'));
  assert.deepEqual(faults, []);
});

test('a pasted table of nccl-tests is compared with the scenario’s networks', async () => {
  const { page, faults } = await chromium.open('#/evidence/own');
  await page.locator('[data-key=evidence-paste]').click();
  await page.locator('#measurement-text').fill(`# Collective test starting: all_reduce_perf
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
     1048576        262144     float     sum      -1    40.20   26.08   45.65      0    39.50   26.55   46.46      0
  1073741824     268435456     float     sum      -1  3950.00  271.83  475.71      0   3949.0  271.90  475.83      0`);
  await page.locator('#measurement-use').click();
  await page.waitForSelector('.own-why');
  assert.equal(await page.locator('.ev-part').first().locator('tbody tr').count(), 2);
  assert.match(await words(page, '.ev-part .ev-table tbody tr'), /all-reduce of 1 MiB, 8 ranks/);
  assert.deepEqual(faults, []);
});
