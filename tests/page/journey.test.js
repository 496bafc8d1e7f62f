// A new user's path, each step in at most two actions: by keyboard alone, and by touch at a phone's width.
import assert from 'node:assert/strict';
import test from 'node:test';
import { answered, chooseInMenu, openScene, settled, site } from './browser.js';

const chromium = site();

const said = (page) => page.locator('.answers [role=status]').textContent();

// Presses Tab until the element has focus: every element is reachable, and none is hidden behind sticky parts.
async function tabTo(page, selector) {
  for (let i = 0; i < 260; i++) {
    const state = await page.evaluate((wanted) => {
      const { activeElement: one } = document;
      if (!one.matches(wanted)) return null;
      const box = one.getBoundingClientRect();
      const on = document.elementFromPoint(box.left + box.width / 2, box.top + Math.min(box.height / 2, 12));
      return {
        seen:
          !on || one.contains(on) || on.contains(one) || on.closest('.rule') !== null || Boolean(one.closest('.rule')),
      };
    }, selector);
    if (state) {
      assert.ok(state.seen, `${selector} has the focus but is hidden`);
      return;
    }
    await page.keyboard.press('Tab');
  }
  assert.fail(`the keyboard does not reach ${selector}`);
}

test('a new user’s way by keyboard alone', async () => {
  const { page, faults } = await chromium.open(''); // 1: open
  await page.keyboard.press('3'); // to Serve
  await settled(page);
  assert.match(await page.locator('h1.question').textContent(), /Where do the .* of an output token go/);

  // 2: Llama-3.1-70B is chosen; set 8 H100, and the unwritten degrees follow
  await page.keyboard.press('i');
  await tabTo(page, '#in-cluster-devices');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('8');
  await settled(page);
  assert.equal(await page.locator('#issues').isVisible(), false);

  // 3: weights in 16 bit, then read the answer
  await tabTo(page, '#in-serving-precision-weights');
  await page.keyboard.press('b');
  await page.keyboard.press('f');
  await settled(page);
  assert.match(await said(page), /Llama-3\.1-70B on 8 H100.*bound by other users’ prefills/);

  // 4: ask why
  await tabTo(page, '.why[data-path="serving.tpot_s"]');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#sheet math');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'sheet-title');
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => document.activeElement.dataset.path), 'serving.tpot_s');

  // 5: add it to the comparison, then halve the precision
  await page.keyboard.press('k');
  await page.keyboard.press('i');
  await tabTo(page, '#in-serving-precision-weights');
  await page.locator('#in-serving-precision-weights').selectOption('fp8');
  await settled(page);

  // 6: compare
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('8');
  await settled(page);
  assert.ok((await page.locator('.compare .delta').count()) > 2);

  // 7: copy the link and open it again
  await page.keyboard.press('c');
  await page.waitForSelector('.linkfield:not([hidden])');
  const link = await page.locator('.linkfield').inputValue();
  await page.goto('about:blank');
  await page.goto(link);
  await answered(page);
  await settled(page);
  assert.equal(await page.locator('.compare thead th').count(), 3);

  // 8: export the chart
  await tabTo(page, '#cmp-memory .saves button');
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  assert.match(download.suggestedFilename(), /\.svg$/);

  // 9: a lesson
  await page.keyboard.press('9');
  await page.waitForSelector('.lessons a');
  await tabTo(page, '.lessons a');
  await page.keyboard.press('Enter');
  await tabTo(page, '.predict input');
  await page.keyboard.press('ArrowUp'); // from the first choice to the last
  await page.waitForSelector('.predict [role=status]');
  await tabTo(page, '[data-key=lesson-start]');
  await page.keyboard.press('Enter');
  await settled(page);
  for (const step of ['step-0', 'step-1', 'step-2']) {
    await tabTo(page, `[data-key=${step}]`);
    await page.keyboard.press('Enter');
    await settled(page);
  }
  await page.waitForSelector('.expect li');
  assert.equal(await page.locator('.expect .fails').count(), 0);
  assert.deepEqual(faults, []);
});

test('the same at a phone’s width, by touch', async () => {
  const { page, faults } = await chromium.open('#/serve', { width: 360, height: 740, hasTouch: true });
  const inputs = () => page.locator('#open-inputs').tap();
  await inputs();
  const group = async (id) => {
    const details = page.locator(`[data-key="group-${id}"]`);
    if (!(await details.evaluate((one) => one.open))) await details.locator('summary').first().tap();
  };
  await group('cluster');
  await page.locator('#in-cluster-devices').fill('8');
  await page.locator('#in-cluster-devices').blur(); // the phone keyboard's Done key
  await settled(page);
  assert.equal(await page.locator('#issues').isVisible(), false);
  await group('serving');
  await page.locator('#in-serving-precision-weights').selectOption('bf16');
  await settled(page);
  assert.match(await said(page), /bound by other users’ prefills/);
  await inputs();
  await page.locator('.why[data-path="serving.tpot_s"]').tap();
  await page.waitForSelector('#sheet math');
  await page.locator('#sheet .close').tap();
  await chooseInMenu(page, 'keep');
  await inputs();
  await group('serving');
  await page.locator('#in-serving-precision-weights').selectOption('fp8');
  await settled(page);
  await inputs();
  await openScene(page, 'compare');
  await settled(page);
  assert.ok((await page.locator('.compare .delta').count()) > 2);
  await page.locator('#copy-link').tap();
  const link = await page.locator('.linkfield').inputValue();
  await page.goto('about:blank');
  await page.goto(link);
  await answered(page);
  await settled(page);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('#cmp-memory .saves button').first().tap(),
  ]);
  assert.match(download.suggestedFilename(), /\.svg$/);
  await openScene(page, 'lessons');
  await page.locator('.lessons a').first().tap();
  await page.locator('.predict input').nth(2).tap();
  await page.waitForSelector('.predict [role=status]');
  await page.locator('[data-key=lesson-start]').tap();
  await page.waitForSelector('.watched td');
  await settled(page);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
  assert.deepEqual(faults, []);
});

test('a lesson is done step by step: guess, set the scene, act, and it is marked as done', async () => {
  for (const id of ['decode-memory-bound', 'chiplets']) {
    const { page, faults, done } = await chromium.open(`#/lessons/${id}`);
    await page.locator('.predict input').first().check();
    await page.waitForSelector('.predict [role=status]');
    await page.locator('[data-key=lesson-start]').click();
    await settled(page);
    assert.doesNotMatch(await page.locator('.predict').textContent(), /correct/, 'the answer comes after the act');
    assert.equal(await page.locator('[data-key=lesson-start]').count(), 0, 'the scene is set');
    await page.waitForSelector('.stage .chart');
    const steps = await page.locator('.steps li').count();
    for (let i = 0; i < steps; i++) {
      assert.equal(await page.locator('.expect').count(), 0, 'results come after the last step');
      await page.locator(`[data-key=step-${i}]`).click();
      await settled(page);
      assert.equal(await page.locator('.steps li.done').count(), i + 1, `${id}, step ${i + 1}`);
    }
    await page.waitForSelector('.expect li');
    assert.equal(await page.locator('.expect .fails').count(), 0);
    assert.match(await page.locator('.predict label:has(b)').textContent(), /correct/);
    assert.match(await page.locator('.watched tbody tr').first().textContent(), /[×÷]/);
    await page.evaluate(() => (location.hash = '#/lessons'));
    await page.waitForSelector('ol.lessons');
    assert.match(await page.locator(`.lessons li:has(a[href*="${id}"])`).textContent(), /done/);
    assert.deepEqual(faults, []);
    await done();
  }
});

test('lessons are found by subject: a drawing and a tag each', async () => {
  const { page, faults } = await chromium.open('#/lessons', { width: 320, height: 700 });
  await page.waitForSelector('ol.lessons');
  const all = await page.locator('.lessons li').count();
  assert.equal(await page.locator('.lessons .thumb path[d^="M"]').count(), all);
  const shown = {};
  for (const tag of ['serving', 'training', 'memory', 'cost']) {
    await page.locator(`[data-key="tag-${tag}"]`).click();
    shown[tag] = await page.locator('.lessons li').count();
    assert.ok(
      (await page.locator('.lessons li small').allTextContents()).every((words) =>
        words.trim().toLowerCase().startsWith(tag),
      ),
    );
  }
  assert.equal(
    Object.values(shown).reduce((sum, one) => sum + one, 0),
    all,
  );
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 320);
  assert.deepEqual(faults, []);
});
