// The page and its links name the release. The page recognizes links of other releases, and Method lists the answers
// that moved since.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { eventually, NEWEST, settled, site, SITE } from './browser.js';

const chromium = site();

const { report } = JSON.parse(readFileSync(`${SITE}data/first_view.json`, 'utf8'));
const known = JSON.parse(readFileSync(`${SITE}data/releases.json`, 'utf8'));
const notice = (page) => page.locator('#notice');

// Answers of a fictitious older release: for the default scenario a token took twice as long and all else as now;
// nothing is recorded for other scenarios.
function older() {
  const [first] = known.links;
  const now = (path) => path.split('.').reduce((part, name) => part[name], report);
  const slower = known.figures.map((path) => (path === 'serving.tpot_s' ? 2 : 1) * now(path));
  return { ...known, links: [{ ...first, answers: { '0.1.0': slower } }] };
}

const withOlder = (page) => page.route('**/data/releases.json', (route) => route.fulfill({ json: older() }));

test('a copied link names the release, even for the default state', async () => {
  for (const hash of ['', '#/serve?serving.batch=64&v=1']) {
    const { page, done } = await chromium.open(hash);
    await page.locator('#copy-link').click();
    const link = await page.locator('.linkfield').inputValue();
    const release = await page.locator('meta[name=release]').getAttribute('content');
    assert.ok(link.endsWith(`r=${release}`), link);
    await page.goto('about:blank');
    await page.goto(link);
    await settled(page);
    assert.equal(await notice(page).isVisible(), false, 'its own release is nothing to tell');
    await done();
  }
});

test('a link of another release is announced, with the moved answers if known', async () => {
  const { page, faults } = await chromium.open('#/serve?serving.batch=63&v=1&r=0.1.0', { prepare: withOlder });
  await eventually(async () =>
    assert.match(await notice(page).textContent(), /made by Slipstick 0\.1\.0; you see the answers of \d/),
  );
  assert.doesNotMatch(await notice(page).textContent(), /moved: /);
  await page.evaluate((version) => (location.hash = `#/overview?r=0.1.0&v=${version}`), NEWEST);
  await eventually(async () =>
    assert.match(
      await notice(page).textContent(),
      /Moved in this scenario: Time per output token \(TPOT\), [\d.]+\sms → [\d.]+\sms\./,
    ),
  );
  await page.locator('#notice button').first().click();
  await page.waitForSelector('#releases');
  assert.deepEqual(faults, []);
});

test('Method lists the answers that moved, with a link to each scenario', async () => {
  const { page, done } = await chromium.open('', { prepare: withOlder });
  await page.evaluate(() => (location.hash = '#/method'));
  await page.waitForSelector('#releases tbody tr');
  assert.deepEqual(await page.locator('#releases tbody tr').count(), 1);
  assert.match(
    await page.locator('#releases tbody tr').innerText(),
    /Llama-3\.1-70B on 512 H100[\s\S]*Time per output token[\s\S]*0\.1\.0[\s\S]*▼ 50\s%/,
  );
  await done();
  const { page: own } = await chromium.open('#/method');
  await own.waitForFunction(() => !/Computing/.test(document.querySelector('#releases')?.textContent ?? 'Computing'));
  assert.match(await own.locator('#releases').innerText(), /No answer moved|Now, \d/);
});
