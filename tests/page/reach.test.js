import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import test from 'node:test';
import { answered, chooseInMenu, eventually, NEWEST, openScene, settled, site, SITE, type } from './browser.js';

const chromium = site();

const values = (page) => page.locator('.four .value').allTextContents();
const wide = (page) => page.evaluate(() => document.documentElement.scrollWidth);

test('on a phone the inputs are a sheet behind a bar that shows the figures when the answers have scrolled away; charts are tall enough', async () => {
  const { page } = await chromium.open('#/serve', { width: 320, height: 640, hasTouch: true });
  await settled(page);
  const bar = page.locator('#inputs-bar');
  assert.equal(await page.locator('#form').isVisible(), false);
  assert.match(await bar.locator('.said').textContent(), /^Training: TP \d+ .*Serving: TP \d+/);
  for (const height of await page
    .locator('#roofline .drawing, #users-curve .drawing')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height)))
    assert.ok(height >= 280, `${height}`);
  await page.evaluate(() => window.scrollTo(0, 1500));
  await page.waitForSelector('#inputs-bar b');
  assert.equal(await bar.locator('b').count(), 4);
  const { y, height } = await bar.boundingBox();
  assert.ok(Math.abs(y + height - 640) < 1 && (await bar.evaluate((one) => one.scrollWidth <= one.clientWidth)));
  await page.locator('#open-inputs').tap();
  assert.equal(await page.locator('#form').isVisible(), true);
  assert.equal(await page.locator('#open-inputs').getAttribute('aria-expanded'), 'true');
  const before = await bar.locator('.said').textContent();
  await type(page, 'serving.batch', '64');
  assert.notEqual(await bar.locator('.said').textContent(), before, 'the figures follow beside the sheet');
  await page.locator('#open-inputs').tap();
  assert.equal(await page.locator('#form').isVisible(), false);
});

test('on a phone a tap on an answer or a tab brings the heading of its scene into view, and Start opens at the top', async () => {
  const { page } = await chromium.open('', { width: 360, height: 740, hasTouch: true });
  await settled(page);
  assert.equal(await page.locator('#tabs').evaluate((one) => one.classList.contains('more-right')), true, 'more tabs');
  const top = () => page.locator('h1.question').evaluate((one) => one.getBoundingClientRect().top);
  for (const [scene, place] of [
    ['memory', '.four'],
    ['lessons', '#tabs'],
    ['train', '#tabs'],
  ]) {
    await page.locator(`${place} [data-scene=${scene}]`).tap();
    await settled(page);
    await eventually(async () =>
      assert.ok((await top()) >= 0 && (await top()) < 740 / 2, `${scene}: ${await top()} px`),
    );
    await page.evaluate(() => window.scrollBy(0, 600));
  }
  await page.locator('#tabs [data-scene=overview]').tap();
  await settled(page);
  assert.equal(await page.evaluate(() => window.scrollY), 0);
});

test('at 320 px no range of an answer breaks at its dash', async () => {
  const { page } = await chromium.open('', { width: 320, height: 640 });
  const lines = await page.locator('.four .iv').evaluateAll((all) =>
    all.map((one) => {
      const text = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
      const range = document.createRange();
      while (text.nextNode()) {
        if (!text.currentNode.data.includes('–')) continue;
        const at = text.currentNode.data.indexOf('–');
        range.setStart(text.currentNode, at);
        range.setEnd(text.currentNode, at + 2);
      }
      return [...new Set([...range.getClientRects()].map(({ top }) => top))].length;
    }),
  );
  assert.deepEqual(lines, [1, 1, 1]);
});

test('at 320 px a noun of the sentence that is wider than the page takes two lines', async () => {
  const { page } = await chromium.open('#/serve?diffusion.model=flux.1-dev&v=3', { width: 320, height: 640 });
  await settled(page);
  assert.match(await page.locator('.noun').first().textContent(), /^Generate images or video with/);
  assert.ok((await wide(page)) <= 320, `${await wide(page)} px`);
});

test('at 768 and 1024 px nothing collides or is cut, and at 1920 px the first scene has two columns', async () => {
  const { page } = await chromium.open('');
  for (const width of [768, 1024]) {
    await page.setViewportSize({ width, height: 1024 });
    await settled(page);
    assert.ok((await wide(page)) <= width);
    const boxes = await page
      .locator('.four .answer, .four .value, #actions button')
      .evaluateAll((all) => all.map((one) => [one.scrollWidth - one.clientWidth, one.getBoundingClientRect().right]));
    assert.ok(boxes.length > 8);
    for (const [over, right] of boxes) assert.ok(over <= 1 && right <= width, `${width} px: ${boxes.join(' ')}`);
  }
  await page.setViewportSize({ width: 1920, height: 1080 });
  await settled(page);
  const parts = await page
    .locator('#content > .part:not(.span)')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
  assert.ok(new Set(parts).size === 2, parts.join());
});

test('on a phone the header is one row, the chosen tab is in view, and there is no gap above the scene', async () => {
  const { page } = await chromium.open('#/method', { width: 320, height: 640 });
  await settled(page);
  const row = await page
    .locator('#actions > button:visible')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ top, right }) => ({ top, right })));
  assert.ok(row.length >= 2 && row.every(({ top, right }) => top === row[0].top && right <= 320), JSON.stringify(row));
  assert.ok(Math.abs(row[0].top - (await page.locator('.brand').boundingBox()).y) < 20, 'beside the mark');
  for (const scene of ['compare', 'overview', 'lessons']) {
    await page.evaluate((hash) => (location.hash = hash), `#/${scene}`);
    await settled(page);
    const { tab, tabs } = await page.evaluate(() => {
      const box = (one) => (({ left, right }) => ({ left, right }))(one.getBoundingClientRect());
      return { tab: box(document.querySelector('#tabs [aria-current]')), tabs: box(document.getElementById('tabs')) };
    });
    assert.ok(tab.left >= tabs.left - 1 && tab.right <= tabs.right + 1, scene);
    const gap = await page.evaluate(
      () =>
        document.querySelector('h1.question').getBoundingClientRect().top -
        document.getElementById('answers').getBoundingClientRect().bottom,
    );
    assert.ok(gap < 60, `${scene}: ${gap} px`);
  }
});

test('the dark theme follows the system or the button, and the choice is kept', async () => {
  const { page } = await chromium.open('#/serve', { colorScheme: 'dark' });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await paper();
  await chooseInMenu(page, 'theme');
  await eventually(async () => assert.notEqual(await paper(), dark, 'light was chosen'));
  await page.reload();
  await answered(page);
  assert.notEqual(await paper(), dark);
});

test('longer, accented texts and right-to-left order break no layout in any scene', async () => {
  const { page, faults } = await chromium.open('#/overview', { query: '?lang=pseudo', width: 320 });
  for (const scene of ['overview', 'train', 'serve', 'size', 'memory', 'chip', 'compare', 'lessons', 'method']) {
    await page.evaluate((hash) => (location.hash = hash), `#/${scene}`);
    await settled(page);
    assert.ok((await wide(page)) <= 320, scene);
  }
  await page.evaluate(() => (document.documentElement.dir = 'rtl'));
  await page.evaluate(() => (location.hash = '#/train'));
  await settled(page);
  assert.ok((await wide(page)) <= 320, 'right to left');
  assert.deepEqual(faults, []);
});

test('the single-file edition opens from a file, computes, searches and has its lessons', async () => {
  const { page, context } = await chromium.open('');
  const file = await context.newPage();
  const faults = [];
  file.on('pageerror', (error) => faults.push(String(error)));
  file.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await file.goto(`${pathToFileURL(`${SITE}slipstick.html`)}#/serve?serving.batch=64&v=${NEWEST}`);
  await answered(file);
  await page.goto(`${chromium.base}#/serve?serving.batch=64&v=${NEWEST}`);
  await Promise.all([settled(file), settled(page)]);
  assert.deepEqual(await values(file), await values(page));
  await type(file, 'serving.batch', '32');
  assert.match(file.url(), /#\/serve$/);
  await file.evaluate(() => (location.hash = '#/lessons'));
  await file.waitForSelector('.lessons a');
  await file.evaluate(() => (location.hash = '#/explore'));
  await file.waitForSelector('.ex-views');
  assert.deepEqual(faults, []);
});

test('embedded, the page shows title, chart and a link to the whole page, reports its height, and works in a sandbox', async () => {
  const { page } = await chromium.open('');
  const host = await page.context().newPage();
  await host.route('**/host.html', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<!doctype html><title>host</title><script>window.heights=[];addEventListener('message',({data})=>data.slipstick&&heights.push(data.slipstick.height))</script>
        <iframe id="frame" sandbox="allow-scripts" width="700" height="900" src="slipstick.html#/train?training.mapping.tp=4&embed=1&v=1"></iframe>`,
    }),
  );
  await host.goto(`${chromium.base}host.html`);
  const frame = host.frameLocator('#frame');
  await frame.locator('#gantt').waitFor();
  assert.equal(await frame.locator('h1.question').isVisible(), true);
  assert.equal(await frame.locator('header.top').isVisible(), false);
  assert.equal(await frame.locator('#tabs').isVisible(), false);
  assert.equal(await frame.locator('#form').isVisible(), false);
  const full = await frame.locator('#open-full').getAttribute('href');
  assert.match(full, /#\/train\?training\.mapping\.tp=4&v=1&r=[\d.]+$/);
  await host.waitForFunction(() => window.heights.length > 0);
  assert.ok((await host.evaluate(() => window.heights.at(-1))) > 600);
});

test('a link that hides the answers hides them in every title', async () => {
  const { page } = await chromium.open('#/overview?hide=answers&v=2');
  for (const scene of [
    'train',
    'serve',
    'memory',
    'chip',
    'evidence/serving.tpot_s',
    'evidence/training.step_time_s',
  ]) {
    await page.evaluate((hash) => (location.hash = hash), `#/${scene}?hide=answers&v=2`);
    await settled(page);
    const shown = await page.locator('#content > :visible').allTextContents();
    assert.ok(shown.length > 0, scene);
    for (const words of shown) assert.doesNotMatch(words, /\d\s(ms|s|GiB|days)\b|\$\d/u, scene);
  }
});

test('on a phone the bar of a link that hides the answers shows the question, not the answers', async () => {
  const { page } = await chromium.open('#/serve?hide=answers&v=2', { width: 320, height: 640, hasTouch: true });
  await settled(page);
  assert.match(await page.locator('#inputs-bar .said').textContent(), /^Llama-3\.1-70B · 512 H100$/);
  await page.locator('#reveal').tap();
  await page.evaluate(() => window.scrollTo(0, 1500));
  await page.waitForSelector('#inputs-bar b');
});

test('exercises hide the answers until requested and lock the fixed inputs', async () => {
  const { page } = await chromium.open('#/serve');
  await chooseInMenu(page, 'export');
  await page.getByRole('button', { name: 'Make an exercise…' }).click();
  await page.locator('[data-key=exercise-may] > summary').click();
  await page.locator('[id="may-serving.batch"]').check();
  await page.waitForFunction(() => /show=/.test(document.querySelector('#exercise-link').value));
  const link = await page.locator('#exercise-link').inputValue();
  assert.match(link, /hide=answers&lock=all|show=serving\.batch/);
  await page.goto('about:blank');
  await page.goto(link);
  await page.waitForSelector('#reveal');
  await settled(page);
  assert.equal(await page.locator('.answers').isVisible(), false);
  assert.equal(await page.locator('.chart:visible, .figures:visible').count(), 0);
  assert.equal(await page.locator('[data-path="serving.output"] input[type=text]').isDisabled(), true);
  await type(page, 'serving.batch', '64');
  assert.match(page.url(), /serving\.batch=64/);
  await page.locator('#reveal').click();
  await eventually(async () => assert.equal(await page.locator('.answers').isVisible(), true));
  await eventually(async () => assert.ok((await page.locator('.chart:visible').count()) > 0));
  await page.locator('#leave-exercise').click();
  await settled(page);
  assert.match(page.url(), /#\/serve\?serving\.batch=64&v=\d&r=[\d.]+$/);
});

test('the page uses no other host and no cookie, and does not violate its content policy', async () => {
  const { page, context, faults } = await chromium.open('#/overview?model=llama-3.1-8b&cluster.devices=16&v=3');
  const hosts = new Set();
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  await page.reload();
  await answered(page);
  for (const scene of ['explore', 'lessons', 'method']) {
    await openScene(page, scene);
    await settled(page);
  }
  assert.deepEqual([...hosts].filter(Boolean), [new URL(chromium.base).host]);
  assert.deepEqual(await context.cookies(), []);
  // Leaving the page aborts its open fetches.
  assert.deepEqual(
    faults.filter((fault) => !fault.startsWith('failed: ')),
    [],
  );
});

test('without JavaScript the page says what is missing and leads to the lessons as text with pictures', async () => {
  const { page } = await chromium.open('');
  const context = await page.context().browser().newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(chromium.base);
  assert.match(await plain.locator('noscript, #content').first().textContent(), /JavaScript/);
  await plain.goto(`${chromium.base}lessons.html`);
  assert.ok((await plain.locator('section').count()) >= 25);
  assert.ok((await plain.locator('img').count()) >= 3);
  for (const image of await plain.locator('img').all())
    assert.ok(await image.evaluate((one) => one.complete && one.naturalWidth > 0).catch(() => true));
  assert.match(await plain.locator('#zero').textContent(), /31\.4 GB/);
});

test('a change of input causes no layout shift', async () => {
  const { page } = await chromium.open('#/serve');
  await settled(page);
  await page.evaluate(() => {
    window.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
    }).observe({ type: 'layout-shift' });
  });
  for (const scene of ['serve', 'memory', 'overview']) {
    await openScene(page, scene);
    await page.locator('[data-key=group-serving]').evaluate((one) => (one.open = true));
    await page.waitForTimeout(900);
    const before = await page.evaluate(() => window.shift);
    await page.locator('[data-path="serving.batch"] .rule input').focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft']) {
      await page.waitForTimeout(600); // longer than the browser attributes a layout shift to the user's input
      await page.keyboard.press(key);
      await settled(page);
    }
    assert.ok((await page.evaluate(() => window.shift)) - before <= 0.01, scene);
  }
});
