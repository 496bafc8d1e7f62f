// The largest searches of the Explore scene with their times. They take minutes on a busy machine, so only a full run
// includes them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FLAGS, site, timed } from './browser.js';
import { GPT3, done, explore, number, plain, progress } from './exploring.js';

const chromium = site({ flags: FLAGS });

test('GPT-3 175B on 64 A100: the whole space in seconds on two workers, the main thread free', async () => {
  const { page, faults } = await explore(chromium, GPT3);
  await done(page);
  const times = [];
  for (let i = 0; i < 2; i++) {
    await page.locator('#explore-start').click();
    await page.waitForFunction(() => !/^All /.test(document.getElementById('explore-progress').textContent));
    await done(page);
    const [, value, unit] = /in ([\d.,]+) (ms|s|min)/.exec(await progress(page));
    times.push(number(value) * { ms: 1, s: 1000, min: 60000 }[unit]);
  }
  const tasks = await page.evaluate(() => window.longTasks);
  timed(`the whole space, ${await progress(page)}`, Math.min(...times), 3000);
  timed('longest task of the main thread', Math.max(0, ...tasks), 50);
  assert.deepEqual(faults, []);
});

test('which device serves best: one frontier per cluster, in seconds', async () => {
  const { page, faults } = await explore(chromium, '#/explore/frontier');
  await page.waitForSelector('.ex-checks input');
  for (const model of ['llama-3.1-70b', 'deepseek-v3']) {
    await page.locator('.ex-frontier select').first().selectOption(model);
    await page.locator('#frontier-start').click();
    await page.waitForFunction(() =>
      / configurations in /.test(document.getElementById('frontier-progress').textContent),
    );
    const said = plain(await page.locator('#frontier-progress').textContent());
    const [, value, unit] = / searches in ([\d.,]+) (ms|s|min)/.exec(said);
    timed(`${model}: ${said}`, number(value) * { ms: 1, s: 1000, min: 60000 }[unit], 3000);
    assert.ok((await page.locator('#explore-front .point').count()) > 6);
    assert.deepEqual(await page.locator('#explore-front .key li').allTextContents(), [
      'DGX H100',
      'DGX H200',
      'DGX B200',
    ]);
    await page.locator('#frontier-progress').evaluate((line) => (line.textContent = ''));
  }
  assert.deepEqual(faults, []);
});
