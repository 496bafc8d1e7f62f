// Images and video are in the task menu and in the form; Serve shows the time breakdown of one, and the answers show
// its latency, memory and cost.
import assert from 'node:assert/strict';
import test from 'node:test';
import { slipstickCommand } from '../support/module.js';
import { settled, site } from './browser.js';

const chromium = site();

const plain = (text) => text.replace(/\s/gu, ' ');
const noun = (page, key) => page.locator(`[data-key=noun-${key}]`);

test('images are a task, and the answers equal the command line’s', async () => {
  const { page, faults } = await chromium.open('#/overview?cluster=dgx-h100&v=3');
  await noun(page, 'task').click();
  await page.locator('.picker [role=option]', { hasText: 'images or video' }).click();
  await page.waitForSelector('#made-bar .mark');
  assert.equal(plain(await page.locator('.say').textContent()), 'Generate images or video with FLUX.1 [dev] on 1 H100');
  const { diffusion } = JSON.parse(
    slipstickCommand(['evaluate', 'version=3', 'cluster=dgx-h100', 'diffusion.model=flux.1-dev']),
  );
  const card = plain(await page.locator('[data-answer=serving]').innerText());
  assert.match(card, /Time per image/);
  const seconds = (time) => Number(time.toPrecision(3));
  assert.ok(card.includes(`${seconds(diffusion.latency_s)} s`), card);
  const { low, high } = diffusion.latency_interval;
  assert.ok(card.includes(`90 %: ${seconds(low)}–${seconds(high)} s`), card);
  const parts = await page
    .locator('#made-bar .mark')
    .evaluateAll((marks) => marks.map((one) => one.getAttribute('data-part')));
  assert.deepEqual(parts, ['products', 'attention', 'row_kernels', 'decoder', 'text_encoder']);
  await page.locator('#made-bar [data-part="attention"]').click();
  await page.waitForSelector('#sheet math');
  assert.match(await page.locator('#sheet h2').textContent(), /^Attention/);
  await page.keyboard.press('Escape');
  await noun(page, 'task').click();
  await page.locator('.picker [role=option]', { hasText: 'Serve only' }).click();
  await settled(page);
  assert.doesNotMatch(page.url(), /diffusion/);
  assert.deepEqual(faults, []);
});

test('the interval of an image opens the runs behind it, and one of them becomes the scenario', async () => {
  const { page, faults } = await chromium.open('#/serve?cluster=dgx-h100&diffusion.model=flux.1-dev&v=3');
  await page.locator('[data-key="interval-diffusion.latency_s"]').click();
  await page.waitForSelector('#evidence-diagonal .mark');
  assert.match(await page.locator('h1.question').textContent(), /^How accurate is .* per image or clip\?$/);
  const [nearest] = await page.locator('.ev-two tbody tr').allTextContents();
  assert.match(plain(nearest), /FLUX\.1 \[dev\] on H100, (eager|compiled).*28 steps.*xDiT/);
  assert.doesNotMatch(plain(await page.locator('.ev-differences').innerText()), /Mixture of experts/);
  await page.locator('.ev-two tbody tr').first().getByRole('button').click();
  await settled(page);
  assert.match(page.url(), /diffusion.*flux\.1-dev.*steps.*28/);
  assert.deepEqual(faults, []);
});

test('images are turned on alone in the form, and turned off by turning on another part', async () => {
  const { page, faults } = await chromium.open('#/train?cluster=dgx-h100&v=3');
  const group = (id) => page.locator(`[data-key="group-${id}"]`);
  const turnOn = async (id) => {
    await group(id).evaluate((details) => (details.open = true));
    await group(id).locator('.ask button').click();
    await settled(page);
  };
  await turnOn('diffusion');
  await page.waitForSelector('.absent');
  assert.match(plain(await page.locator('.say').textContent()), /^Generate images or video with FLUX/);
  await page.locator('.absent button').click();
  await settled(page);
  assert.match(plain(await page.locator('.say').textContent()), /^Pre-train Llama.*then serve/);
  await turnOn('diffusion');
  await turnOn('serving');
  assert.match(plain(await page.locator('.say').textContent()), /^Pre-train Llama.*then serve/);
  assert.doesNotMatch(page.url(), /diffusion/);
  assert.deepEqual(faults, []);
});

test('the form asks for a clip, and one that does not fit says so', async () => {
  const { page, faults } = await chromium.open('#/serve?cluster=single-rtx-4090&diffusion.model=wan2.1-t2v-14b&v=3');
  await page.waitForSelector('#made-bar .mark');
  const card = plain(await page.locator('[data-answer=serving]').innerText());
  assert.match(card, /Time per clip · 1 GPU/);
  assert.match(card, /[Mm]emory/);
  const group = page.locator('[data-key="group-diffusion"]');
  assert.match(
    plain(await group.locator('.chosen').textContent()),
    /Wan2\.1 T2V 14B.*1,280 × 720.*81 frames · 50 steps/,
  );
  await group.evaluate((details) => (details.open = true));
  await page.locator('[data-path="diffusion.steps"] input[type=text]').fill('20');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.match(page.url(), /diffusion\.steps=20/);
  assert.match(await page.locator('h1.question').textContent(), /of a clip go\?/);
  assert.deepEqual(faults, []);
});
