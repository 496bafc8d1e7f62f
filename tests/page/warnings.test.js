// Substitutions and assumptions are listed under the answers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'node:test';
import { settled, site, type } from './browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const chromium = site();

// Separate pools, which cannot be simulated.
const TWO_POOLS =
  '#/serve?cluster.devices=16&serving.devices=16&serving.disaggregated.prefill_devices=8&serving.disaggregated.decode_devices=8&serving.simulate.requests=50&training=null&v=1';
const ASSUMED = ['cluster.device.memory.bandwidth', 'cluster.device.efficiency.matrix'];

const sideways = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

// A site whose first answer reports these assumptions for training.
const assuming = (paths) => (page) =>
  page.route('**/data/first_view.json', async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    json.report.training.assumed = paths;
    await route.fulfill({ response, json });
  });

test('a warning of the report is shown under the answers, with its part, at every width and in both themes', async () => {
  for (const [width, colorScheme] of [
    [320, 'light'],
    [320, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ]) {
    const { page, faults, done } = await chromium.open(TWO_POOLS, { width, colorScheme });
    const notes = page.locator('#remarks');
    await notes.waitFor();
    assert.match(await notes.textContent(), /Serving:?\s+.*separate pools are not simulated/);
    assert.equal(await notes.getAttribute('aria-label'), 'Notes on the results');
    assert.ok((await sideways(page)) <= 0, `${width}`);
    assert.deepEqual(faults, []);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/warning-${width}-${colorScheme}.png` });
    await done();
  }
});

test('without a warning no room is kept for one; a warning disappears with its cause', async () => {
  const { page } = await chromium.open('#/overview');
  assert.equal(await page.locator('#remarks').isHidden(), true);
  await page.evaluate((hash) => (location.hash = hash), TWO_POOLS);
  await page.locator('#remarks').waitFor();
  await page.evaluate(() => (location.hash = '#/serve?training=null&v=1'));
  await settled(page);
  assert.equal(await page.locator('#remarks').isHidden(), true);
  await type(page, 'serving.batch', '16');
  assert.equal(await page.locator('#remarks').isHidden(), true);
});

test('assumed efficiencies are folded under the answers: their number, names and links to their fields', async () => {
  for (const [width, colorScheme] of [
    [320, 'light'],
    [1280, 'dark'],
  ]) {
    const { page, done } = await chromium.open('#/train', {
      width,
      colorScheme,
      bypassCSP: true,
      prepare: assuming(ASSUMED),
    });
    await settled(page); // the form is redrawn when every input is described
    const details = page.locator('#remarks [data-assumed=training] details');
    assert.match(await details.locator('summary').textContent(), /Training uses 2 estimated inputs/);
    await details.locator('summary').press('Enter');
    assert.deepEqual((await details.locator('li').allTextContents()).length, 2);
    assert.ok((await sideways(page)) <= 0);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/assumed-${width}-${colorScheme}.png` });
    await page.evaluate(AXE);
    assert.deepEqual(
      await page.evaluate(async () => (await globalThis.axe.run('#remarks')).violations.map(({ id }) => id)),
      [],
    );
    await details.locator('li button').first().click();
    await page.waitForFunction(() => document.activeElement.id === 'in-cluster-device-memory-bandwidth');
    await done();
  }
});

test('an answer that depends on assumptions says so', async () => {
  const { page } = await chromium.open('#/overview');
  const badge = await page.evaluate(async (assumed) => {
    const { showAnswers } = await import('./report/answers.js');
    const box = document.createElement('section');
    box.append(
      Object.assign(document.createElement('p'), { role: 'status' }),
      Object.assign(document.createElement('nav'), { className: 'four' }),
    );
    const scenario = {
      model: { name: 'm' },
      cluster: { device: { name: 'd' }, devices: 8 },
      training: { tokens: 1e12 },
    };
    const training = {
      feasible: true,
      time_to_train_s: 1e6,
      step_time_s: 1,
      model_flops_utilization: 0.4,
      time_s: {},
      memory_bytes: { total: 1e9, capacity: 8e10 },
      assumed,
    };
    box.firstChild.setAttribute('role', 'status');
    showAnswers(box, { scenario, training, serving: null, cost: null, faulty: new Set() });
    const badges = [...box.querySelectorAll('.badge')];
    return badges.map((one) => [
      one.closest('.answer').querySelector('[data-scene]').dataset.scene,
      one.textContent,
      one.title,
    ]);
  }, ASSUMED);
  assert.deepEqual(badge, [['train', 'estimated inputs', ASSUMED.join(', ')]]);
});
