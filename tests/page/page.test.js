import assert from 'node:assert/strict';
import test from 'node:test';
import { slipstickCommand } from '../support/module.js';
import { answered, NEWEST, openScene, settled, site, type } from './browser.js';

const chromium = site();

const values = (page) => page.locator('.four .value').allTextContents();
const answers = (page) => page.locator('.four .answer').allTextContents();

test('the page opens with four answers, no error, and nothing refused by its content policy', async () => {
  const { page, faults } = await chromium.open();
  assert.equal((await values(page)).length, 4);
  for (const value of await values(page)) assert.match(value, /\d/);
  assert.match(await page.locator('[role=status]').first().textContent(), /Llama/);
  assert.deepEqual(faults, []);
});

test('an input moves the answers it concerns and no other', async () => {
  const { page } = await chromium.open('#/serve');
  const before = await answers(page);
  await type(page, 'serving.batch', '64');
  const after = await answers(page);
  assert.equal(after[0], before[0], 'training');
  assert.notEqual(after[1], before[1], 'a token of a larger batch takes longer');
  assert.notEqual(after[2], before[2], 'and its cache is larger');
  const hour = (text) => /\$[\d.]+ per GPU-hour/.exec(text.replaceAll('\u00a0', ' '))[0];
  assert.equal(hour(after[3]), hour(before[3]), 'a GPU-hour costs the same');
});

test('memory bandwidth moves training and serving together', async () => {
  const { page } = await chromium.open('#/overview');
  const before = await values(page);
  await type(page, 'cluster.device.memory.bandwidth', '6.7 TB/s');
  const after = await values(page);
  assert.notEqual(after[0], before[0]);
  assert.notEqual(after[1], before[1]);
});

test('the address bar follows the inputs, and the link reopens the same state', async () => {
  const { page, context } = await chromium.open('#/memory');
  await type(page, 'serving.batch', '48');
  await type(page, 'cluster.device.memory.bandwidth', '4 TB/s');
  const link = page.url();
  assert.match(link, /#\/memory\?cluster\.device\.memory\.bandwidth=4\+TB\/s&serving\.batch=48&v=\d&r=[\d.]+$/);
  const said = await page.locator('[role=status]').first().textContent();
  const shown = await values(page);
  const other = await context.newPage();
  await other.goto(link);
  await answered(other);
  assert.equal(await other.locator('[role=status]').first().textContent(), said);
  assert.deepEqual(await values(other), shown);
  assert.equal(await other.locator('[data-path="serving.batch"] input[type=text]').inputValue(), '48');
});

test('an input set back to its default leaves the link', async () => {
  const { page } = await chromium.open(`#/serve?serving.batch=64&v=${NEWEST}`);
  await page.locator('[data-path="serving.batch"] .back').click();
  await settled(page);
  assert.match(page.url(), /#\/serve$/);
  assert.equal(await page.locator('[data-path="serving.batch"] input[type=text]').inputValue(), '32');
});

test('Back steps through scenes and presets, not through keystrokes', async () => {
  const { page } = await chromium.open('#/overview');
  await openScene(page, 'serve');
  await type(page, 'serving.batch', '6');
  await type(page, 'serving.batch', '64');
  await openScene(page, 'chip');
  await settled(page);
  await page.goBack();
  await settled(page);
  assert.match(page.url(), /#\/serve\?serving\.batch=64&v=\d&r=[\d.]+$/);
  assert.equal(await page.locator('#tabs [aria-current]').textContent(), 'Serve');
  await page.goBack();
  await settled(page);
  assert.match(page.url(), /#\/overview$/);
});

test('Back after an undo returns to the state that was undone', async () => {
  const { page } = await chromium.open('#/serve');
  await type(page, 'serving.batch', '64');
  await page.locator('#undo').click();
  await settled(page);
  assert.match(page.url(), /#\/serve$/);
  await page.goBack();
  await settled(page);
  assert.match(page.url(), /serving\.batch=64/);
});

test('a link at the foot of a page opens its target at the top', async () => {
  const { page } = await chromium.open('');
  await page.waitForSelector('#advice .apply');
  const fromFoot = async (selector, opened) => {
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
    assert.ok((await page.evaluate(() => window.scrollY)) > 100);
    await page.locator(selector).click();
    await page.waitForSelector(opened);
    await settled(page);
    assert.equal(await page.evaluate(() => window.scrollY), 0, selector);
  };
  await fromFoot('.examples a >> nth=0', '.say:has-text("16,384")');
  await fromFoot('[data-key=card-single-rtx-4090]', '#fits tbody tr');
  await page.goBack();
  await page.waitForSelector('.examples');
  await fromFoot('.examples a >> nth=-1', '.lessons');
});

test('a typed text is never rewritten while it has the focus, and Escape restores the value', async () => {
  const { page } = await chromium.open('#/serve');
  const field = page.locator('[data-path="serving.prompt"] input[type=text]');
  await field.fill('8k');
  await settled(page);
  assert.equal(await field.inputValue(), '8k');
  assert.match(await page.locator('[data-path="serving.prompt"] .echo').textContent(), /8,192/);
  await field.press('Escape');
  await settled(page);
  assert.equal(await field.inputValue(), '2048');
});

test('an issue is shown at its field, the other parts still answer, and it disappears when the input is valid', async () => {
  const { page } = await chromium.open('#/train');
  const before = await values(page);
  await type(page, 'training.mapping.tp', '7');
  const field = page.locator('[data-path="training.mapping.tp"]');
  assert.equal(await field.locator('input[type=text]').getAttribute('aria-invalid'), 'true');
  assert.match(await field.locator('.faults').textContent(), /\S/);
  assert.equal(await page.locator('#issues').isVisible(), true);
  const after = await values(page);
  assert.equal(after[1], before[1], 'serving still answers');
  await field.locator('.back').click(); // back to the value that the core chooses
  await settled(page);
  assert.equal(await page.locator('#issues').isVisible(), false);
  assert.deepEqual(await values(page), before);
});

test('a text that is not a number is an issue at its field', async () => {
  const { page } = await chromium.open('#/serve');
  for (const text of ['4 GX', 'NaN', '1e999', '-3', '<b>']) {
    await type(page, 'serving.batch', text);
    assert.match(await page.locator('[data-path="serving.batch"] .faults').textContent(), /\S/, text);
  }
});

test('every figure has a why that opens with formula, values and result, or with the choice', async () => {
  for (const scene of ['train', 'serve', 'memory', 'chip', 'chip/dies', 'chip/hour', 'overview']) {
    const { page, faults, done } = await chromium.open(`#/${scene}`);
    await page.waitForSelector('[data-figure]');
    const figures = await page.locator('[data-figure]').count();
    assert.ok(figures >= 3, scene);
    assert.equal(await page.locator('[data-figure] .why').count(), figures, scene);
    for (let i = 0; i < figures; i++) {
      const path = await page.locator('[data-figure] .why').nth(i).getAttribute('data-path');
      await page.locator('[data-figure] .why').nth(i).click();
      await page.waitForFunction(() => document.querySelector('#sheet').open);
      const isChoice = (await page.locator('#sheet caption', { hasText: 'Chosen from' }).count()) === 1;
      assert.ok(isChoice || (await page.locator('#sheet math').count()) >= 2, `${path} has neither formula nor choice`);
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('#sheet').evaluate((one) => one.open), false);
    }
    assert.deepEqual(faults, []);
    await done();
  }
});

test('a why stays open while an input changes, and its values follow', async () => {
  const { page } = await chromium.open('#/serve');
  await page.locator('.why[data-path="serving.tpot_s"]').click();
  await page.waitForSelector('#sheet math');
  const before = await page.locator('#sheet').textContent();
  await type(page, 'serving.batch', '128');
  await page.waitForFunction((text) => document.querySelector('#sheet').textContent !== text, before);
});

test('the page works if the network fails after loading', async () => {
  const { page, context, faults } = await chromium.open('#/overview');
  // The page fetches the rest after its answer: waits until nothing more loads.
  await page.waitForFunction(() =>
    ['/explore/view.js', '/chip/view.js'].every((file) =>
      performance.getEntriesByType('resource').some(({ name }) => name.endsWith(file)),
    ),
  );
  for (let before = -1, now = 0; now !== before; ) {
    before = now;
    await page.waitForTimeout(2000);
    now = await page.evaluate(() => performance.getEntriesByType('resource').length);
  }
  await context.setOffline(true);
  for (const scene of ['train', 'serve', 'memory', 'chip']) {
    await openScene(page, scene);
    await settled(page);
    assert.ok((await page.locator('.chart').count()) > 0, scene);
  }
  const before = await values(page);
  await type(page, 'cluster.device.memory.bandwidth', '5 TB/s');
  assert.notDeepEqual(await values(page), before);
  // The browser requests the tab's icon at every address and complains that it cannot. Published runs in Serve's chart
  // need the network.
  const own = faults.filter((fault) => !/icon\.svg|data\/evidence\/|ERR_INTERNET_DISCONNECTED/.test(fault));
  assert.deepEqual(own, []);
});

test('Ctrl+Z outside a field takes the last edit back', async () => {
  const { page } = await chromium.open('#/serve');
  await type(page, 'serving.batch', '64');
  await page.locator('.question').click();
  await page.keyboard.press('Control+z');
  await settled(page);
  assert.equal(await page.locator('[data-path="serving.batch"] input[type=text]').inputValue(), '32');
});

test('cached for offline use, the page opens without any network', async () => {
  const { page, context } = await chromium.open('', { query: '?offline' });
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    while (!navigator.serviceWorker.controller) await new Promise((resolve) => setTimeout(resolve, 50));
  });
  await context.setOffline(true);
  await page.reload();
  await answered(page);
  assert.equal((await values(page)).length, 4);
});

test('a pseudo-locale with longer, accented texts breaks no layout', async () => {
  const { page, faults } = await chromium.open('#/train', { query: '?lang=pseudo', width: 320 });
  assert.match(await page.locator('h1.question').textContent(), /Whéré/);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 320);
  assert.deepEqual(faults, []);
});

test('Method names the release, as the command line does', async () => {
  const { page } = await chromium.open('#/method');
  await settled(page);
  assert.equal(`${(await page.locator('#release').textContent()).toLowerCase()}\n`, slipstickCommand(['--version']));
});
