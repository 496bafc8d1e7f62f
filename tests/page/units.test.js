// Numbers in fields and on slide rules: their units, scales and pointers.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, settled, site, type, unfold } from './browser.js';

const chromium = site();

const field = (page, path) => page.locator(`[data-path="${path}"]`).first();
const box = (page, path) => field(page, path).locator('input[type=text]');

test('the wheel changes no value, and no control zooms by a double tap', async () => {
  const { page } = await chromium.open('#/serve');
  const zooming = await page
    .locator('button, a, summary, select, input')
    .evaluateAll((all) => all.filter((one) => getComputedStyle(one).touchAction === 'auto').length);
  assert.equal(zooming, 0);
  for (const selector of ['input[type=text]', '.rule input']) {
    const at = await field(page, 'serving.concurrency').locator(selector).boundingBox();
    await page.mouse.move(at.x + at.width / 2, at.y + at.height / 2);
    await page.mouse.click(at.x + at.width / 2, at.y + at.height / 2);
    const before = await box(page, 'serving.concurrency').inputValue();
    await page.mouse.wheel(0, 300);
    await settled(page);
    assert.equal(await box(page, 'serving.concurrency').inputValue(), before);
  }
});

test('slide rule and field agree, the rule is logarithmic and says its value with the unit', async () => {
  const { page } = await chromium.open('#/serve');
  await unfold(page, 'cluster.device.memory.bandwidth');
  const rule = field(page, 'cluster.device.memory.bandwidth').locator('.rule input');
  assert.equal(await rule.getAttribute('aria-valuetext'), '3.35 TB/s');
  await rule.focus();
  await page.keyboard.press('ArrowRight');
  await settled(page);
  assert.equal(
    await rule.getAttribute('aria-valuetext'),
    await box(page, 'cluster.device.memory.bandwidth').inputValue(),
  );
  assert.notEqual(await rule.getAttribute('aria-valuetext'), '3.35 TB/s');
  await type(page, 'serving.concurrency', '1024');
  const at = (value) =>
    page.evaluate(
      (text) => Number(document.querySelector(`[data-path="serving.concurrency"] .rule input`).value) - text,
      value,
    );
  const high = await at(0);
  await type(page, 'serving.concurrency', '32');
  const middle = await at(0);
  await type(page, 'serving.concurrency', '1');
  assert.ok(Math.abs((high + (await at(0))) / 2 - middle) < 5, 'a factor of 32 is the same way up as down');
});

test('a number without a unit means the unit that the field shows, which the link then holds', async () => {
  const { page, faults } = await chromium.open('#/chip?v=2');
  await settled(page);
  const hour = async () =>
    Number(
      /\$([\d.,]+) per GPU-hour/
        .exec((await page.locator('[data-answer=cost]').innerText()).replace(/\s/gu, ' '))[1]
        .replace(',', ''),
    );
  const before = await hour();
  await type(page, 'cost.electricity', '0.12');
  assert.match(decodeURIComponent(page.url()), /cost\.electricity=0\.12\+\$\/kWh/);
  const dearer = await hour();
  assert.ok(dearer > before && dearer < before * 1.1, `${before} -> ${dearer}`);
  // After a unit that nobody knows, rule and bare numbers are in the preset's.
  await type(page, 'cost.electricity', '12 ct/kWh');
  assert.deepEqual(await page.locator('#form [data-path="cost.electricity"] .scale text').allTextContents(), [
    '0.01',
    '1',
  ]);
  await type(page, 'cost.electricity', '0.12');
  assert.match(decodeURIComponent(page.url()), /cost\.electricity=0\.12\+\$\/kWh/);
  await type(page, 'cost.lifetime', '5');
  assert.match(page.url(), /cost\.lifetime=5\+years/);
  assert.ok((await hour()) < dearer, 'five years are longer than four');
  await type(page, 'cluster.device.memory.bandwidth', '4');
  assert.match(page.url(), /cluster\.device\.memory\.bandwidth=4\+TB\/s/, 'as the ruler counts');
  await page.locator('.question').click();
  assert.equal(await box(page, 'cluster.device.memory.bandwidth').inputValue(), '4 TB/s', 'echoed with its unit');
  await type(page, 'cluster.device.memory.bandwidth', '900 GB/s');
  await type(page, 'cluster.device.memory.bandwidth', '1000');
  assert.match(page.url(), /bandwidth=1000\+GB\/s/, 'the unit of the moment');
  await type(page, 'training.tokens', '2');
  assert.match(page.url(), /training\.tokens=2\+T\+tokens/);
  await type(page, 'cluster.devices', '256');
  assert.match(page.url(), /cluster\.devices=256\b/, 'a count has none');
  assert.deepEqual(faults, []);
});

test('a ruler counts in the unit that the field shows and keeps it', async () => {
  const { page } = await chromium.open('#/serve?cluster.device.memory.bandwidth=1+TB/s&v=2');
  await settled(page);
  const rule = field(page, 'cluster.device.memory.bandwidth').locator('.rule input');
  await rule.focus();
  await page.keyboard.press('ArrowLeft');
  await settled(page);
  assert.match(await box(page, 'cluster.device.memory.bandwidth').inputValue(), /^0\.\d+ TB\/s$/);
  const ticks = () => field(page, 'cluster.device.memory.bandwidth').locator('.rule text').allTextContents();
  assert.ok((await ticks()).includes('1'));
  await type(page, 'cluster.device.memory.bandwidth', '900 GB/s');
  await eventually(async () => assert.ok((await ticks()).includes('100'), 'hundreds of GB/s'));
});
