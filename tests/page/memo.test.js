// The sizing memo: on the screen as a dialog, on paper as one page of A4 or Letter, and as Markdown.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { chooseInMenu, settled, site } from './browser.js';

const chromium = site();

const LONG =
  '#/serve?cluster=dgx-b200&cluster.devices=256&cost.electricity=0.12+$/kWh&cost.lifetime=5+year&model=deepseek-v3&serving.batch=256&serving.devices=16' +
  '&serving.mapping=auto&serving.output=1k&serving.precision.kv_cache=fp8&serving.prompt=8k&serving.prefix_hit=0.3&training.global_batch=2048' +
  '&training.mapping=auto&training.precision=fp8&training.sequence=4096&training.tokens=14800000000000&v=1';

async function open(hash, options) {
  const opened = await chromium.open(hash, options);
  await settled(opened.page);
  await chooseInMenu(opened.page, 'export');
  await opened.page.locator('.modal button', { hasText: 'Sizing memo' }).click();
  await opened.page.waitForSelector('.memo[aria-busy=false]');
  return opened;
}

const pagesOf = (pdf) => pdf.toString('latin1').match(/\/Type\s*\/Page\b/g).length;

for (const [name, hash] of [
  ['the default scenario', ''],
  ['many inputs, both mappings chosen by auto', LONG],
]) {
  test(`one page of A4 and of Letter: ${name}`, async () => {
    const { page, faults } = await open(hash);
    const text = await page.locator('.memo').innerText();
    for (const said of [
      'What limits each phase',
      'Assumptions',
      'Next best changes',
      'Alternatives',
      'Sources of the presets',
      'Slipstick 1.',
    ])
      assert.ok(text.includes(said), said);
    if (hash) assert.ok(text.includes('Chosen by auto'));
    await page.waitForFunction(() =>
      /Nearest: [A-Z][\w.-]+ on (\d+ × )?\w+, /.test(document.querySelector('.memo').textContent),
    ); // a whole run in the memo's text
    for (const format of ['A4', 'Letter']) {
      const pdf = await page.pdf({ format });
      assert.equal(pagesOf(pdf), 1, `${format}: ${pagesOf(pdf)} pages`);
    }
    assert.deepEqual(faults, []);
  });
}

test('its Markdown contains the link that opens the same scenario', async () => {
  const { page } = await open('#/serve?serving.batch=64&v=1');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('.memo-tools button').nth(1).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'sizing-memo.md');
  const text = readFileSync(await download.path(), 'utf8');
  assert.match(text, /^# Sizing memo/);
  const [, link] = /<(http[^>]*)>/.exec(text);
  assert.match(link, /serving\.batch=64/);
  await page.locator('.memo-dialog .close').click();
  assert.equal(await page.locator('.memo').count(), 0);
});

test('nothing overflows on a phone', async () => {
  const { page } = await open('', { width: 320, height: 700 });
  const [inner, outer] = await page.locator('.memo-dialog').evaluate((one) => [one.scrollWidth, one.clientWidth]);
  assert.ok(inner <= outer, `${inner} px in ${outer}`);
});
