// "I measured …" under the answers: one number moves all answers, the link keeps it, and one press undoes it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'node:test';
import { answered, chooseInMenu, eventually, settled, site, type } from './browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HEADS = ['training', 'serving', 'kv_cache', 'cost'];
const chromium = site();

const head = (page, id) => page.locator(`[data-answer=${id}]`);
const textOf = async (page, id) => (await head(page, id).innerText()).replace(/\s+/g, ' ');
const valueOf = (page, id) =>
  head(page, id)
    .locator('.value')
    .innerText()
    .then((text) => Number(/[\d.,]+/.exec(text)[0].replace(/,/g, '')));
// The ratio of the two ends of an answer's interval.
async function widthOf(page, id) {
  const [, low, high] = /([\d.,]+)–([\d.,]+)/.exec(await head(page, id).locator('.iv').innerText());
  return Number(high.replace(/,/g, '')) / Number(low.replace(/,/g, ''));
}
// The heights of the answers, by row.
async function heights(page) {
  const boxes = await page
    .locator('.answer')
    .evaluateAll((all) =>
      all.map((one) => one.getBoundingClientRect()).map(({ top, height }) => [Math.round(top), Math.round(height)]),
    );
  return [...new Set(boxes.map(([top]) => top))].map((row) => [
    ...new Set(boxes.filter(([top]) => top === row).map(([, height]) => height)),
  ]);
}

async function measure(page, figure, value) {
  await chooseInMenu(page, 'measure');
  await page.locator('#measured-figure').selectOption(figure);
  await page.locator('#measured-value').fill(value);
  await page.locator('#measured-use').click();
  await settled(page);
}

test('a run that took longer than computed changes every answer that depends on it, the link reproduces it, and one press undoes it', async () => {
  const { page, faults } = await chromium.open('', { fresh: true });
  await settled(page);
  const before = Object.fromEntries(await Promise.all(HEADS.map(async (id) => [id, await textOf(page, id)])));
  const [days, width] = [await valueOf(page, 'training'), await widthOf(page, 'training')];
  const slower = Math.round(1.15 * days);
  await measure(page, 'training.time_to_train_s', String(slower));
  await eventually(async () => assert.equal(await valueOf(page, 'training'), slower));
  assert.ok((await widthOf(page, 'training')) < width, 'the interval is narrower');
  for (const id of ['training', 'serving', 'cost']) assert.notEqual(await textOf(page, id), before[id], id);
  assert.match(await page.locator('.mine').innerText(), new RegExp(`Time to train ${slower}\\sdays`));
  assert.match(
    await page.locator('#remarks').innerText(),
    /Moved to your measurement: .* In place of 0\.8\d+: GEMM efficiency, 16-bit 0\.7/,
  );

  await eventually(async () => assert.match(page.url(), /measured\.0\.value=/));
  const link = page.url();
  const other = await chromium.open(new URL(link).hash, { fresh: true });
  await answered(other.page);
  await settled(other.page);
  for (const id of HEADS) assert.equal(await textOf(other.page, id), await textOf(page, id), id);
  await other.done();

  await page.locator('[data-key="unmeasure-training.time_to_train_s"]').click();
  await settled(page);
  await eventually(async () => assert.equal(await valueOf(page, 'training'), days));
  await eventually(async () => assert.doesNotMatch(page.url(), /measured/));
  assert.deepEqual(faults, []);
});

test('another input moves the answers away from the measurement', async () => {
  const { page } = await chromium.open(
    '#/serve?model=llama-3.1-8b&cluster.devices=8&serving.batch=32&training=null&v=3',
  );
  await settled(page);
  const before = await valueOf(page, 'serving');
  await measure(page, 'serving.tpot_s', String(1.15 * before));
  await eventually(async () => assert.ok(Math.abs((await valueOf(page, 'serving')) / (1.15 * before) - 1) < 0.01));
  await type(page, 'serving.batch', '64');
  await eventually(async () =>
    assert.ok((await valueOf(page, 'serving')) > 1.2 * before, `${await valueOf(page, 'serving')}`),
  );
});

test('works by keyboard, at 320 px and at 1280 px in the dark theme, is accessible, and an impossible measurement is reported with a way out', async () => {
  for (const [colorScheme, width] of [
    ['light', 320],
    ['dark', 1280],
  ]) {
    const { page, done, faults } = await chromium.open('#/overview', { colorScheme, width, bypassCSP: true });
    await settled(page);
    const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    await page.locator('#more').focus();
    await page.keyboard.press('Enter');
    for (let i = 0; i < 5; i++) await page.keyboard.press('Tab'); // past three scenes and the comparison
    assert.equal(await page.evaluate(() => document.activeElement.id), 'measure');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#measured-value:focus');
    await page.keyboard.press('Enter');
    assert.match(await page.locator('#measured-faults').innerText(), /above 0/, 'nothing is no number');
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
    assert.deepEqual(
      violations.map(({ id }) => id),
      [],
      `${colorScheme} ${width}`,
    );
    assert.ok(
      (await page.locator('dialog[open]').evaluate((one) => one.scrollWidth <= one.clientWidth)) && (await fits()),
      'no sideways scrolling',
    );
    await page.locator('#measured-figure').selectOption('serving.tpot_s');
    for (const [typed, place, said] of [
      ['soon', '#measured-faults', /above 0/], // what is no measurement does not leave the dialog
      ['-3', '#measured-faults', /above 0/],
      ['0.001 ms', '#issues', /No constant explains 1 us.* the most that “[A-Z]/], // not the path of an input
    ]) {
      await page.locator('#measured-value').fill(typed);
      await page.keyboard.press('Enter');
      await eventually(async () => assert.match(await page.locator(place).innerText(), said));
      assert.ok(await fits(), typed);
    }
    await page.locator('[data-key="noun-model"]').waitFor();
    await page.goBack();
    await settled(page);
    await measure(page, 'serving.tpot_s', '25');
    await eventually(async () => assert.match(await page.locator('.mine').innerText(), /25\sms/));
    assert.ok(await fits(), 'with a measurement');
    for (const row of await heights(page)) assert.equal(row.length, 1, `${colorScheme} ${width}: ${row}`);
    assert.deepEqual(faults, []);
    await done();
  }
});
