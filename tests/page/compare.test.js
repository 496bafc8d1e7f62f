import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { answered, eventually, settled, site, type } from './browser.js';

let chromium;
before(async () => (chromium = await site()));
after(() => chromium.close());

test('up to four scenarios, differences only, deltas with a sign and words, and the baseline swapped', async () => {
  const { page } = await chromium.open('#/compare?serving.batch=64&b:=&c:serving.batch=128&d:model=llama-3.1-8b&v=1');
  await settled(page);
  assert.equal(await page.locator('.compare thead th').count(), 5);
  assert.equal(await page.locator('[data-key="cmp-dup"]').count(), 0, 'four are the most');
  const inputs = await page.locator('.compare .input th').allTextContents();
  assert.deepEqual(inputs, ['Model: Preset', 'Serving: Concurrent requests per replica']);
  for (const words of await page.locator('.delta').allTextContents()) assert.match(words, /^[▲▼] ([+−][\d.,e-]+\s%|×\s[\d.,e-]+)$/u);
  const shown = await page.locator('.compare tbody tr').count();
  await page.locator('[data-key="cmp-all"]').click();
  await eventually(async () => assert.ok((await page.locator('.compare tbody tr').count()) >= shown));
  const b = await page.locator('.compare tbody tr').last().locator('td').nth(1).textContent();
  await page.locator('[data-key="cmp-swap-1"]').click();
  await settled(page);
  assert.equal(await page.locator('[data-path="serving.batch"] input[type=text]').inputValue(), '32');
  assert.match(page.url(), /#\/compare\?b:serving\.batch=64/);
  assert.equal((await page.locator('.compare tbody tr').last().locator('td').first().textContent()).slice(0, 3), b.slice(0, 3));
  await page.locator('[data-key="cmp-del-1"]').click();
  await settled(page);
  assert.equal(await page.locator('.compare thead th').count(), 4);
});

async function saved(page, click) {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

test('charts as SVG, PNG of twice the size and CSV; figures as CSV; a scenario as JSON that opens as the same link', async () => {
  const { page, faults } = await chromium.open('#/train', { acceptDownloads: true });
  await settled(page);
  const svg = await saved(page, () => page.locator('#step-bar-SVG, #step-bar .saves button').nth(0).click());
  const drawing = svg.bytes.toString();
  assert.match(svg.name, /\.svg$/);
  assert.match(drawing, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  assert.doesNotMatch(drawing, /var\(--|class=|href="(?!#)/, 'self-contained, colours resolved');
  const png = await saved(page, () => page.locator('#step-bar .saves button').nth(1).click());
  assert.match(png.name, /\.png$/);
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  const wide = await page.locator('#step-bar .drawing svg').evaluate((one) => one.viewBox.baseVal.width);
  assert.equal(png.bytes.readUInt32BE(16), Math.floor(wide * 2));
  const csv = await saved(page, () => page.locator('#step-bar .saves button').nth(2).click());
  assert.match(csv.bytes.toString(), /^\ufeffComponent,Value,Share\r\nforward,/);

  await type(page, 'training.mapping.tp', '4');
  await type(page, 'cluster.device.memory.bandwidth', '4 TB/s');
  const link = page.url();
  await page.locator('#export').click();
  const figures = (await saved(page, () => page.getByRole('button', { name: 'Figures (CSV)' }).click())).bytes.toString();
  assert.match(figures, /path,value,unit\r\ntraining\.step_time_s,\d+\.\d+,s\r\n/);
  assert.match(figures, /training\.mapping\.tp,4,input\r\n/);
  assert.match(figures, /\r\nversion,1,\r\n/);
  assert.ok(figures.includes(link.split('#')[1]));
  const file = await saved(page, () => page.getByRole('button', { name: 'Scenario (JSON)' }).click());
  const json = JSON.parse(file.bytes);
  assert.equal(json.slipstick, 1);
  await page.goto('about:blank');
  await page.goto(`${chromium.base}#/train`);
  await answered(page);
  await page.locator('#export').click();
  await page.locator('dialog.modal input[type=file]').setInputFiles({ name: 'scenario.json', mimeType: 'application/json', buffer: file.bytes });
  await settled(page);
  assert.equal(page.url(), link);
  assert.deepEqual(faults, []);
});

test('cells that a spreadsheet would run are made text', async () => {
  const { csv } = await import('../../web/charts/lib/export.js');
  assert.equal(csv(['a'], [['=1+1'], ['+x'], ['-x'], ['@x'], ['-5'], ['a "b", c']]), 'a\r\n\'=1+1\r\n\'+x\r\n\'-x\r\n\'@x\r\n-5\r\n"a ""b"", c"\r\n');
});

test('a scene prints on few pages, black on white, with its link and date', async () => {
  for (const scene of ['train', 'serve', 'memory']) {
    const { page } = await chromium.open(`#/${scene}?serving.batch=64&v=1`, { colorScheme: 'dark' });
    await settled(page);
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
    const pages = (pdf.match(/\/Type\s*\/Page[^s]/g) ?? []).length;
    assert.ok(pages >= 1 && pages <= 3, `${scene}: ${pages} pages`);
    await page.emulateMedia({ media: 'print' });
    const seen = await page.evaluate(() => ({
      background: getComputedStyle(document.body).backgroundColor,
      footer: document.querySelector('.print-foot').innerText,
      buttons: [...document.querySelectorAll('.why, .actions, .saves')].filter((one) => one.offsetParent).length,
      inputs: document.querySelector('.print-inputs').innerText,
    }));
    assert.equal(seen.background, 'rgb(255, 255, 255)');
    assert.match(seen.footer, /#\/\w+\?serving\.batch=64&v=1/);
    assert.match(seen.footer, /\d{4}/);
    assert.match(seen.inputs, /Concurrent requests per replica\s+64/);
    assert.equal(seen.buttons, 0);
    await page.context().close();
  }
});
