// Solving for an input in the Explore scene.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, settled, site, timed } from './browser.js';
import { explore, plain, reopened } from './exploring.js';

const chromium = site();

test('a bound is written with its unit, a number alone is in that unit, and what is no number is refused', async () => {
  const { page, faults } = await explore(chromium, '#/explore/solve?cluster.devices=8&training=null&v=3');
  await page.waitForSelector('#solve-answer .ex-answer');
  await page.getByLabel('Constraint', { exact: true }).selectOption('serving.tpot_s');
  const bound = page.getByLabel('Value', { exact: true });
  assert.match(await bound.inputValue(), /^[\d.]+ ms$/);
  await page.getByLabel('Condition', { exact: true }).selectOption('<=');
  await bound.fill('40');
  await bound.press('Enter');
  await page.waitForFunction(() =>
    /Largest Prompt tokens: [\d,]+.*TPOT.* is then (39\.\d|40)\sms/.test(
      document.querySelector('#solve-answer .ex-answer')?.textContent,
    ),
  );
  assert.equal(await bound.inputValue(), '40 ms');
  await bound.fill('soon');
  await bound.press('Enter');
  await page.waitForFunction(() =>
    /^Value: enter a value such as [\d.]+ ms/.test(document.querySelector('#solve-answer').innerText),
  );
  assert.equal(await bound.getAttribute('aria-invalid'), 'true');
  await page.getByLabel('Constraint', { exact: true }).selectOption('serving.tokens_per_s');
  await bound.fill('1,500 tokens/s');
  await bound.press('Enter');
  await page.waitForSelector('#solve-answer .ex-answer');
  assert.deepEqual(faults, []);
});

test('examples are solved on the page, with their reasons', async () => {
  const { page } = await explore(chromium, '#/explore/solve');
  const said = async (name) => {
    await page.getByRole('button', { name }).click();
    await page.waitForFunction(() => document.querySelector('#solve-answer .ex-answer'));
    const words = await page.locator('#solve-answer').textContent();
    await page.locator('#solve-answer').evaluate((box) => box.replaceChildren());
    return plain(words);
  };
  assert.match(await said('Longest context that fits'), /Prompt tokens: fits up to [\d,]+/);
  assert.match(await said('Defect density at which four chiplets win'), /smallest .*Density of killer defects.* \/cm/i);
  await page.getByLabel('To', { exact: true }).fill('0.02 /cm^2');
  await page.locator('#solve-start').click();
  await page.waitForSelector('#solve-answer .ex-answer');
  assert.match(plain(await page.locator('#solve-answer').textContent()), /No value of .*neither end/);
});

test('the link contains the solved question, and a new page answers it', async () => {
  const { page, faults } = await explore(chromium, '#/explore/solve');
  await page.getByRole('button', { name: 'Defect density at which four chiplets win' }).click();
  await page.waitForFunction(() =>
    /Density of killer defects/.test(document.querySelector('#solve-answer .ex-answer')?.textContent),
  );
  const said = plain(await page.locator('#solve-answer .ex-answer').textContent());
  const fresh = await reopened(chromium, page);
  await fresh.waitForSelector('#solve-answer .ex-answer');
  assert.equal(plain(await fresh.locator('#solve-answer .ex-answer').textContent()), said);
  assert.equal(await fresh.getByLabel('From', { exact: true }).inputValue(), '0.01 /cm^2');
  await page.goBack(); // back from the example's scenario
  await page.goBack(); // back from the example's question
  await page.getByRole('button', { name: 'Longest context that fits' }).click();
  await page.goBack();
  await page.goForward();
  await eventually(async () => assert.equal(await page.getByLabel('To', { exact: true }).inputValue(), '4M'));
  assert.deepEqual(faults, []);
});

test('an example about a part that is off is not offered', async () => {
  const { page } = await explore(chromium, '#/explore/solve?serving=null&v=3');
  await page.waitForSelector('[data-key="ex-solve-gpus"]');
  assert.equal(await page.locator('[data-key="ex-solve-context"]').count(), 0);
});

test('with the fewest GPUs for 30 days, the page shows a finish in 30 days', async () => {
  const { page, faults } = await explore(chromium, '#/explore/solve?serving=null&training.tokens=2+Ttoken&v=3');
  await page.getByRole('button', { name: 'Fewest GPUs for 30 days' }).click();
  await page.waitForFunction(() => /696/.test(document.querySelector('#solve-answer .ex-answer')?.textContent)); // derived in sentence.test.js
  const [, days] = /([\d.]+)\sdays/u.exec(await page.locator('#solve-answer .ex-answer').textContent());
  await page.locator('#solve-use').click();
  await settled(page);
  assert.ok((await page.locator('[data-answer=training] .value').textContent()).startsWith(days));
  assert.deepEqual(faults, []);
});

test('after using a solution, the page shows the panel’s figure, even if the unknown would have moved other inputs', async () => {
  for (const [hash, asked, figure] of [
    [
      'serving=null&v=3',
      'unknown:training.global_batch/from:64/to:8192/figure:training.step_time_s/how:<=/bound:5',
      'training.step_time_s',
    ],
    ['v=3', 'unknown:serving.output/from:128/to:1M/figure:serving.tpot_s/how:<=/bound:0.03', 'serving.tpot_s'],
    ['v=2', 'unknown:serving.prompt/from:1k/to:256k/figure:serving.ttft_s/how:<=/bound:0.5', 'serving.ttft_s'],
    [
      'model=llama-3.1-8b&cluster=dgx-h100&training=null&v=3',
      'unknown:serving.concurrency/from:1/to:4096/figure:serving.tpot_s/how:<=/bound:0.02',
      'serving.tpot_s',
    ],
    [
      'training=null&v=3',
      'unknown:serving.prompt/from:1k/to:64k/figure:serving.ttft_s/how:<=/bound:1/best:serving',
      'serving.ttft_s',
    ],
  ]) {
    const question = encodeURIComponent(`solve/${asked}`);
    const { page, faults, done: leave } = await explore(chromium, `#/explore/solve?${hash}&explore=${question}`);
    const answer = page.locator('#solve-answer .ex-answer');
    await answer.waitFor();
    const said = plain(await answer.locator('b').last().textContent());
    await page.locator('#solve-use').click();
    await settled(page);
    const head = plain(await page.locator('.four').innerText());
    assert.ok(
      head.includes(said.replace(/ ms$/, '')),
      `${figure}: ${said} of ${plain(await answer.innerText())}, then ${head}`,
    );
    assert.deepEqual(faults, []);
    await leave();
  }
});

test('solving with a search shows progress and can be stopped at once; the pool keeps working', async () => {
  const { page, faults } = await explore(chromium, '#/explore/solve');
  await page.getByRole('button', { name: 'Fewest GPUs for 30 days' }).click();
  await page.getByLabel('Best mapping at each point').selectOption('training');
  await page.locator('#solve-start').click();
  await page.waitForFunction(() =>
    /of about \d+ values tried; between \d+ and \d+/.test(
      document.querySelector('.ex-solve .ex-run .ex-status').textContent,
    ),
  );
  assert.ok((await page.locator('.ex-solve progress').evaluate((one) => one.value)) > 0);
  const waited = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const box = document.getElementById('solve-answer');
        const start = performance.now();
        new MutationObserver(() => /Stopped/.test(box.textContent) && resolve(performance.now() - start)).observe(box, {
          childList: true,
          subtree: true,
        });
        document.getElementById('solve-stop').click();
      }),
  );
  timed('a solution stopped after', waited, 100);
  assert.ok(await page.locator('#solve-start').isVisible());
  await page.getByRole('button', { name: 'Longest context that fits' }).click();
  await page.waitForFunction(() => document.querySelector('#solve-answer .ex-answer'));
  timed('longest task of the main thread', Math.max(0, ...(await page.evaluate(() => window.longTasks))), 50);
  assert.deepEqual(faults, []);
});
