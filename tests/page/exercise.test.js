// Exercises and embedded pages: a link that hides the answers or shows some inputs only.
import assert from 'node:assert/strict';
import test from 'node:test';
import { chooseInMenu, eventually, settled, site } from './browser.js';

const chromium = site();

test('an exercise has its question, choices and hint in the link, and offers no way around it', async () => {
  const { page } = await chromium.open('#/serve');
  await chooseInMenu(page, 'export');
  await page.getByRole('button', { name: 'Make an exercise…' }).click();
  await page.locator('#exercise-question').fill('Twice the users: how much longer is a token?');
  await page.locator('#exercise-choices').fill('as long\nhalf again\ntwice');
  await page.locator('#exercise-hint').fill('Who reads the weights?');
  await page.locator('[data-key=exercise-may] > summary').click();
  await page.locator('[id="may-serving.concurrency"]').check();
  await eventually(async () =>
    assert.match(await page.locator('#exercise-link').inputValue(), /ask=.*choices=.*hint=/s),
  );
  const link = await page.locator('#exercise-link').inputValue();
  const labels = await page
    .locator('.may')
    .evaluateAll((all) => all.map((one) => [...one.querySelectorAll('label')].map((label) => label.textContent)));
  for (const group of labels) assert.equal(new Set(group).size, group.length, 'a name stands once in its group');
  await page.goto('about:blank');
  await page.goto(link);
  await page.waitForSelector('#reveal');
  await settled(page);
  assert.equal(await page.locator('.asked legend').textContent(), 'Twice the users: how much longer is a token?');
  assert.equal(await page.locator('.asked input[type=radio]').count(), 3);
  await page.locator('#prediction-1').check();
  await page.locator('.asked summary').click();
  assert.match(await page.locator('.asked details').textContent(), /Who reads/);
  for (const hatch of ['.reset', '.group > .link', '.mapping > .link', '.menu:enabled', '[data-key=more-serving]'])
    assert.equal(await page.locator(`#form ${hatch} >> visible=true`).count(), 0, hatch);
  assert.equal(await page.locator('.noun[data-noun=model]').count(), 0, 'the sentence is locked too');
  await page.locator('#more').click();
  await page.waitForSelector('#help');
  for (const id of ['keep', 'export', 'measure', 'paste'])
    assert.equal(await page.locator(`#${id}`).isVisible(), false, id);
  await page.keyboard.press('Escape');
  assert.doesNotMatch(await page.locator('#content').innerText(), /bound|\d/, 'nothing of the answers');
  await page.locator('#reveal').click();
  await eventually(async () => assert.equal(await page.locator('.answers').isVisible(), true));
});

test('embedded with some inputs, the groups shown are open and there is no banner', async () => {
  const { page } = await chromium.open('#/serve?embed=1&show=serving.batch,serving.prompt&v=1');
  await settled(page);
  assert.equal(await page.locator('#exercise').isVisible(), false);
  assert.equal(await page.locator('[data-path="serving.batch"] input[type=text]').isVisible(), true);
});
