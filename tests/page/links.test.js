import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { answered, chooseInMenu, eventually, openScene, settled, site, type } from './browser.js';

const chromium = site();

const BOMB = async () => {
  const stream = new Blob(['x'.repeat(5_000_000)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return Buffer.from(await new Response(stream).arrayBuffer()).toString('base64url');
};

// [link, the part that the page must name when it refuses it]
const hostile = async () => [
  ['#', null],
  ['#/', null],
  ['#//', null],
  ['#/nowhere', /nowhere/],
  ['#/train?', null],
  ['#/train?&&&=&', null],
  ['#/train?serving.batch=%', /serving\.batch/],
  ['#/train?serving.batch=%E0%A4%A', /serving\.batch/],
  ['#/%E0%A4%A', /%E0/],
  ['#/train?__proto__.x=1', /__proto__/],
  ['#/train?constructor.prototype.x=1', /constructor/],
  ['#/train?serving.__proto__.polluted=1', /__proto__/],
  ['#/train?z=AAAA', /z/],
  ['#/train?z=%%%', /z|%%%/],
  [`#/train?z=${await BOMB()}`, /z/],
  ['#/train?v=99', /version/],
  ['#/train?v=99&v=1', /version/],
  [`#/train?${'a'.repeat(20000)}`, /aaa/],
  [`#/serve?serving.batch=${'9'.repeat(5000)}`, /serving\.batch/],
  ['#/serve?serving.batch=1e999&v=1', /serving\.batch/],
  ['#/serve?serving.batch=NaN&v=1', /serving\.batch/],
  ['#/serve?serving.batch=-1&v=1', /serving\.batch/],
  ['#/serve?serving.batch={"x":1}&v=1', /serving\.batch|whole number/],
  ['#/serve?serving=[]&v=1', /serving/],
  ['#/serve?model=no-such-model&v=1', /no-such-model/],
  ['#/serve?model={"layers":1}&v=1', /model/],
  ['#/train?serving.nonsense=1&v=1', /nonsense/],
  ['#/train?<script>alert(1)</script>=1', /script/],
  ['#/train?<img src=x onerror=alert(1)>=1', /img/],
  ['#/serve?cluster.device.name=<img src=x onerror=alert(1)>&v=1', null],
  ['#/lessons/<img src=x onerror=alert(1)>', null],
  ['#/compare?e:serving.batch=2&d:serving.batch=2', /e:/],
  ['#/train?toString=1&hasOwnProperty=2', /toString/],
  ['#/train?show=<b>&lock=__proto__&hide=x&embed=9', null],
];

test('hostile links leave a page that works and names what it refused', async () => {
  const links = await hostile();
  assert.ok(links.length >= 30);
  const { page, faults } = await chromium.open('');
  page.on('dialog', () => assert.fail('a script ran'));
  for (const [link, names] of links) {
    await page.goto('about:blank');
    await page.goto(`${chromium.base}${link}`);
    await answered(page).catch(() => assert.fail(`${link.slice(0, 80)}: no page`));
    await page.waitForTimeout(150);
    assert.ok((await page.locator('#form .field').count()) > 10, link.slice(0, 80));
    assert.equal(await page.locator('main img').count(), 0, link.slice(0, 80));
    const paths = await page.locator('#issues [title]').evaluateAll((all) => all.map((one) => one.title));
    const told = [
      await page.locator('#notice').textContent(),
      await page.locator('#issues').textContent(),
      ...paths,
    ].join(' ');
    if (names) assert.match(told, names, link.slice(0, 80));
  }
  // Leaving a page aborts its open fetches.
  assert.deepEqual(
    faults.filter((fault) => !fault.startsWith('failed: ')),
    [],
  );
});

test('every frozen link opens in the page with its scenario', async () => {
  const { page, faults } = await chromium.open('');
  const frozen = JSON.parse(readFileSync(new URL('../web/frozen_links.json', import.meta.url)));
  for (const { link, answer } of frozen.filter(({ open }) => open)) {
    await page.goto('about:blank');
    await page.goto(`${chromium.base}${link}`);
    await answered(page);
    assert.equal(await page.locator('#notice').isVisible(), false, link);
    assert.match(await page.locator('.answers [role=status]').textContent(), new RegExp(answer), link);
  }
  assert.deepEqual(
    faults.filter((fault) => !fault.startsWith('failed: ')),
    [],
  );
});

test('reload restores scene, lesson and step, and the scenarios of a comparison', async () => {
  const { page } = await chromium.open('#/lessons/zero');
  await page.locator('.predict input').first().check();
  await page.locator('[data-key="lesson-start"]').click();
  await settled(page);
  await page.locator('[data-key="step-0"]').click();
  await settled(page);
  assert.match(page.url(), /#\/lessons\/zero\/2\?/);
  await page.reload();
  await answered(page);
  await settled(page);
  await page.waitForSelector('.watched td');
  assert.equal(await page.locator('.steps li.done').count(), 1);
  await chooseInMenu(page, 'keep');
  await openScene(page, 'compare');
  await settled(page);
  await page.reload();
  await answered(page);
  await settled(page);
  assert.equal(await page.locator('.compare thead th').count(), 3);
  await page.goBack();
  await settled(page);
  assert.match(page.url(), /#\/lessons\/zero\/2\?/);
});

test('the copy button shows the link, and says Copied or, without a clipboard, what to press', async () => {
  const { page, context } = await chromium.open('#/serve?serving.batch=64&v=1');
  const button = page.locator('#copy-link');
  assert.equal((await button.textContent()).trim(), 'Copy link');
  assert.equal(await page.locator('#actions > *').first().getAttribute('id'), 'copy-link', 'first in the header');
  await button.click();
  await eventually(async () => assert.equal((await button.textContent()).trim(), 'Press Ctrl C'));
  const named = `${page.url()}&r=${await page.locator('meta[name=release]').getAttribute('content')}`;
  assert.equal(await page.locator('.linkfield').inputValue(), named);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await button.click();
  await eventually(async () => assert.equal((await button.textContent()).trim(), 'Copied'));
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), named);
});

test('fifty edits can be taken back, a changed field says what it was, and all can be reset', async () => {
  const { page } = await chromium.open('#/serve');
  for (const batch of ['40', '48', '56']) {
    await type(page, 'serving.batch', batch);
    await page.keyboard.press('Enter'); // everything typed until then is one edit
  }
  assert.match(await page.locator('[data-path="serving.batch"] .back').textContent(), /was 32/);
  await page.locator('.question').click();
  await page.keyboard.press('Control+z');
  await settled(page);
  assert.equal(await page.locator('[data-path="serving.batch"] input[type=text]').inputValue(), '48');
  await page.locator('#form .reset').click();
  await settled(page);
  assert.match(page.url(), /#\/serve$/);
});

test('a missing view or lesson is reported', async () => {
  for (const [hash, name] of [
    ['#/lessons/nonexistent', 'nonexistent'],
    ['#/chip/toString', 'toString'],
    ['#/explore/none', 'none'],
    ['#/explore/fits/none', 'none'],
    ['#/explore/studies/none', 'none'],
    ['#/explore/sweep/none', 'none'],
    ['#/chip/design/none', 'none'],
    ['#/evidence/none', 'none'],
  ]) {
    const { page } = await chromium.open(hash);
    await eventually(async () =>
      assert.match(await page.locator('#content').textContent(), new RegExp(`There is no “${name}” here`)),
    );
    await page.close();
  }
});

test('a place in a scene that has none is reported, and leaves the address with the next change', async () => {
  const { page } = await chromium.open('#/train/none');
  const notice = page.locator('#notice');
  await eventually(async () => assert.match(await notice.textContent(), /there is no tab train\/none/));
  await page.evaluate(() => (location.hash = '#/serve/none'));
  await eventually(async () => assert.match(await notice.textContent(), /there is no tab serve\/none/));
  await type(page, 'serving.prompt', '1000');
  await settled(page);
  assert.match(page.url(), /#\/serve\?serving\.prompt=1000/);
});
