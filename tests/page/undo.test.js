// What one undo takes back.
import assert from 'node:assert/strict';
import test from 'node:test';
import { settled, site, type, unfold } from './browser.js';

const chromium = site();

const noun = (page, key) => page.locator(`[data-key=noun-${key}]`);
const figures = (page) => page.locator('.four .value').allTextContents();

test('the undo of a hardware change disappears at the next edit, which it would undo instead', async () => {
  const { page } = await chromium.open('');
  await noun(page, 'device').click();
  await page.waitForSelector('.picker [role=option]');
  await page.keyboard.type('h200');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#notice .link');
  await page.locator('#tabs [data-scene=serve]').click();
  assert.equal(await page.locator('#notice').isVisible(), true, 'another scene is no edit');
  await noun(page, 'devices').click();
  await page.waitForSelector('#picker-count');
  await page.locator('#picker-count').fill('64');
  await settled(page);
  assert.equal(await page.locator('#notice').isVisible(), false);
});

test('undo in the header names the edit that it undoes', async () => {
  const { page } = await chromium.open('#/serve');
  assert.equal(await page.locator('#undo').isDisabled(), true);
  await type(page, 'serving.prompt', '4096');
  assert.equal(await page.locator('#undo').getAttribute('aria-label'), 'Undo: Prompt tokens');
  await page.locator('#undo').click();
  await settled(page);
  assert.equal(await page.locator('[data-path="serving.prompt"] input[type=text]').inputValue(), '2048');
});

test('typing or sliding in one go is one undo step', async () => {
  const { page } = await chromium.open('');
  const before = await figures(page);
  const field = page.locator('[data-path="cluster.devices"] input[type=text]');
  const undo = async () => (await page.locator('#undo').click(), await settled(page));
  await unfold(page, 'cluster.device.memory.bandwidth');
  await field.click();
  await field.press('Control+a');
  await page.keyboard.type('1024');
  await settled(page);
  assert.match(page.url(), /cluster\.devices=1024/);
  const slider = page.locator('[data-path="cluster.device.memory.bandwidth"] input[type=range]');
  const { x, y, width } = await slider.boundingBox();
  await page.mouse.move(x + width / 2, y + 5);
  await page.mouse.down();
  for (const share of [0.6, 0.7, 0.8]) await page.mouse.move(x + width * share, y + 5);
  await page.mouse.up();
  await settled(page);
  assert.match(page.url(), /memory\.bandwidth=/);
  await undo();
  assert.doesNotMatch(page.url(), /memory\.bandwidth=/);
  assert.match(page.url(), /cluster\.devices=1024/);
  await undo();
  assert.deepEqual(await figures(page), before);
  assert.equal(await page.locator('#undo').isDisabled(), true);
});

test('keys in a field and a slide after them are two edits', async () => {
  const { page } = await chromium.open('');
  const box = page.locator('[data-path="cluster.device.memory.bandwidth"]');
  await unfold(page, 'cluster.device.memory.bandwidth');
  const field = box.locator('input[type=text]');
  const before = await field.inputValue();
  await field.press('ArrowUp');
  await settled(page);
  const stepped = await field.inputValue();
  await box.locator('input[type=range]').press('End');
  await settled(page);
  for (const wanted of [stepped, before]) {
    await page.locator('#undo').click();
    await settled(page);
    assert.equal(await field.inputValue(), wanted);
  }
  assert.equal(await page.locator('#undo').isDisabled(), true);
});

test('more serving devices than the cluster has enlarge the cluster, and a slide is one edit', async () => {
  const { page } = await chromium.open('#/overview?cluster.devices=8&training=null&v=2');
  await noun(page, 'devices').click();
  const slide = page.locator('.picker input[type=range]');
  for (const count of [16, 32]) {
    await slide.press('ArrowRight');
    await settled(page);
    assert.match(page.url(), new RegExp(`cluster\\.devices=${count}\\b`));
    assert.match(page.url(), new RegExp(`serving\\.devices=${count}\\b`));
  }
  await page.locator('#undo').click();
  await settled(page);
  assert.match(page.url(), /cluster\.devices=8\b/);
  assert.doesNotMatch(page.url(), /serving\.devices/);
  assert.equal(await page.locator('#undo').isDisabled(), true);
});
