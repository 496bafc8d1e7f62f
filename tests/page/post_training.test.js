// Post-training is turned on in the form; Train shows its step: parts, figures, and how the devices can be divided.
import assert from 'node:assert/strict';
import test from 'node:test';
import { settled, site } from './browser.js';

const chromium = site();

const ASKED =
  'model=llama-3.1-8b&cluster=dgx-h100&cluster.devices=16&training.sequence=4096&training.global_batch=512&serving.prompt=128&serving.output=1024&v=2';
const REQUEST = `${ASKED}&post_training.max_response=2048`;
const group = (page) => page.locator('[data-key="group-post_training"]');

test('it is off until turned on, and can be undone', async () => {
  const { page, faults } = await chromium.open(`#/train?${ASKED}`);
  assert.equal(await page.locator('#post-training').count(), 0);
  await group(page).evaluate((details) => (details.open = true));
  await group(page).locator('.ask button').click();
  await page.waitForSelector('#post-training-bar .mark');
  await settled(page);
  assert.match(page.url(), /post_training\.algorithm=grpo/);
  assert.equal(await group(page).locator('.ask').isVisible(), false);
  assert.equal(await page.locator('[data-path="post_training.prompts"] input[type=text]').inputValue(), '32');
  await group(page).evaluate((details) => (details.open = false));
  assert.match(await group(page).locator('.chosen').innerText(), /GRPO · colocated\s+32 prompts × 16 responses/);
  assert.equal(await page.locator('[data-key="rl-splits"]').count(), 0); // the devices are shared
  await page.goBack();
  await page.waitForFunction(() => !document.getElementById('post-training'));
  assert.deepEqual(faults, []);
});

test('the parts of a step open into their formulas', async () => {
  const { page, faults } = await chromium.open(`#/train?${REQUEST}&post_training.algorithm=ppo`);
  await page.waitForSelector('#post-training-bar .mark');
  const parts = await page
    .locator('#post-training-bar .mark')
    .evaluateAll((marks) => marks.map((one) => one.getAttribute('data-part')));
  assert.deepEqual(parts, [
    'generation',
    'old_log_probs',
    'reference',
    'values',
    'training',
    'weight_sync',
    'engine_switch',
  ]);
  await page.locator('#post-training-bar [data-part="generation"]').click();
  await page.waitForSelector('#sheet math');
  assert.match(await page.locator('#sheet h2').textContent(), /^Rollouts/);
  assert.deepEqual(faults, []);
});

test('pools show every split that was compared, the chosen one marked', async () => {
  const { page, faults } = await chromium.open(
    `#/train?${REQUEST}&post_training.placement=pools&post_training.steps_off=1`,
  );
  await page.waitForSelector('[data-key="rl-splits"]');
  await page.locator('[data-key="rl-splits"] summary').click();
  const rows = page.locator('[data-key="rl-splits"] tbody tr');
  assert.ok((await rows.count()) > 3);
  const chosen = await page.locator('[data-key="rl-splits"] [aria-current="true"] td').allTextContents();
  assert.equal(Number(chosen[0]) + Number(chosen[1]), 16);
  assert.deepEqual(faults, []);
});

test('it fits pages 1280 and 320 px wide', async () => {
  const { page, faults } = await chromium.open(`#/train?${REQUEST}&post_training.placement=pools`);
  await page.waitForSelector('#post-training-bar .mark');
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${width} px`);
  }
  assert.deepEqual(faults, []);
});
