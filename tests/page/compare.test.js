import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { answered, chooseInMenu, eventually, openScene, settled, site, type } from './browser.js';

const chromium = site();

test('up to four scenarios, differences only, deltas with a sign and words, and the baseline swapped', async () => {
  const { page } = await chromium.open('#/compare?serving.batch=64&b:=&c:serving.batch=128&d:model=llama-3.1-8b&v=1');
  await settled(page);
  assert.equal(await page.locator('.compare thead th').count(), 5);
  assert.equal(await page.locator('#cmp-add').count(), 0, 'four are the most');
  const names = (await page.locator('.compare thead b').allTextContents()).map((one) => one.replaceAll(/\s+/g, ' '));
  assert.deepEqual(names, [
    'Llama-3.1-70B, Concurrent requests per replica 64',
    'Llama-3.1-70B, Concurrent requests per replica 32',
    'Llama-3.1-70B, Concurrent requests per replica 128',
    'Llama-3.1-8B, Concurrent requests per replica 32',
  ]);
  const inputs = await page.locator('.compare .input th').allTextContents();
  assert.ok(inputs.includes('Serving: Concurrent requests per replica') && inputs.includes('Model'));
  assert.ok(!inputs.includes('Devices'), 'what is the same by default is no difference');
  for (const words of await page.locator('.delta').allTextContents())
    assert.match(words, /^[▲▼] ([+−][\d.,e-]+\s%|×\s[\d.,e-]+)$/u);
  const shown = await page.locator('.compare tbody tr').count();
  await page.locator('[data-key="cmp-all"]').click();
  await eventually(async () => assert.ok((await page.locator('.compare tbody tr').count()) > shown));
  const tpot = (at) =>
    page.locator('.compare [data-path="serving.tpot_s"] td').nth(at).locator('.cmp-value').textContent();
  const b = await tpot(1);
  await page.locator('[data-key="cmp-swap-1"]').click();
  await settled(page);
  assert.equal(await page.locator('[data-path="serving.batch"] input[type=text]').inputValue(), '32');
  assert.match(page.url(), /#\/compare\?b:serving\.batch=64/);
  assert.equal((await tpot(0)).slice(0, 4), b.slice(0, 4));
  await page.locator('[data-key="cmp-del-1"]').click();
  await settled(page);
  assert.equal(await page.locator('.compare thead th').count(), 4);
});

test('B200, H100 and MI300X for DeepSeek-V3 in four actions; names by what differs; a part that fails leaves the others', async () => {
  const { page, faults } = await chromium.open('');
  await page.locator('[data-key="noun-model"]').click(); // 1: the model
  await page.waitForSelector('.picker [role=option]');
  await page.keyboard.type('deepseek-v3');
  await page.keyboard.press('Enter');
  await page.waitForURL(/model=deepseek-v3/);
  await openScene(page, 'compare'); // 2: the tab
  await page.locator('#cmp-add option[value="dgx-b200"]').waitFor({ state: 'attached' });
  await page.locator('#cmp-add').selectOption('dgx-b200'); // 3
  await settled(page);
  await page.locator('#cmp-add').selectOption('hgx-mi300x'); // 4
  await settled(page);
  const names = await page.locator('.compare thead b').allTextContents();
  assert.equal(names.length, 3);
  for (const [at, device] of ['H100', 'B200', 'MI300X'].entries())
    assert.match(names[at], new RegExp(`^[\\d,]+ × .*${device}`));
  const cost = await page.locator('.compare [data-path="cost.device_hour_usd"] .cmp-value').allTextContents();
  assert.equal(cost.length, 3, 'a figure in every column');
  assert.equal(
    await page.locator('.compare .cmp-bar').count(),
    await page.locator('.compare .cmp-value').count(),
    'a bar for every figure',
  );
  assert.deepEqual(faults, []);
});

test('an issue in one part blanks only that part, and its fix is there', async () => {
  const { page } = await chromium.open('#/compare?b:training.mapping.tp=7&v=1');
  await settled(page);
  const gap = page.locator('.compare .gap');
  assert.equal(await gap.count(), 1);
  assert.match(await gap.textContent(), /^Invalid inputs: /);
  assert.equal(
    await page.locator('.compare [data-path="cost.device_hour_usd"]').count(),
    0,
    'equal figures are not differences',
  );
  await page.locator('[data-key="cmp-all"]').click();
  const figures = await page.locator('.compare [data-path="serving.tpot_s"] .cmp-value').allTextContents();
  assert.equal(figures.length, 2);
  assert.equal(figures[0].slice(0, 4), figures[1].slice(0, 4));
  await gap.locator('button').click();
  await settled(page);
  assert.equal(await page.locator('.compare .gap').count(), 0);
});

async function saved(page, click) {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

test('charts as SVG, PNG of twice the size and CSV; figures as CSV; a scenario as JSON that opens as the same link', async () => {
  const { page, faults } = await chromium.open('#/train');
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
  assert.match(csv.bytes.toString(), /^\ufeffComponent,Value \(s\),Share \(%\)\r\nforward,\d+\.\d+,\d+\.\d+\r\n/);

  await type(page, 'training.mapping.tp', '8');
  await type(page, 'cluster.device.memory.bandwidth', '4 TB/s');
  const link = page.url();
  await chooseInMenu(page, 'export');
  const figures = (
    await saved(page, () => page.getByRole('button', { name: 'Figures (CSV)' }).click())
  ).bytes.toString();
  assert.match(figures, /path,value,unit\r\ntraining\.step_time_s,\d+\.\d+,s\r\n/);
  assert.match(figures, /training\.mapping\.tp,8,input\r\n/);
  assert.match(figures, /\r\nversion,\d,\r\n/);
  assert.ok(figures.includes(link.split('#')[1]));
  const file = await saved(page, () => page.getByRole('button', { name: 'Scenario (JSON)' }).click());
  const json = JSON.parse(file.bytes);
  assert.equal(json.slipstick, 3);
  await page.goto('about:blank');
  await page.goto(`${chromium.base}#/train`);
  await answered(page);
  await chooseInMenu(page, 'export');
  await page
    .locator('dialog.modal input[type=file]')
    .setInputFiles({ name: 'scenario.json', mimeType: 'application/json', buffer: file.bytes });
  await settled(page);
  assert.equal(page.url(), link);
  assert.deepEqual(faults, []);
});

test('cells that a spreadsheet would run are made text', async () => {
  const { csv } = await import('../../web/charts/lib/export.js');
  assert.equal(csv(['a', { name: 'b', unit: '%' }], [['x', { value: -0.143, unit: '%' }]]), 'a,b (%)\r\nx,-14.3\r\n');
  assert.equal(csv(['a', 'b'], [['x', { value: -0.143, unit: '%' }]]), 'a,b (%)\r\nx,-14.3\r\n');
  assert.equal(
    csv(['a'], [['=1+1'], ['+x'], ['-x'], ['@x'], ['-5'], ['a "b", c']]),
    'a\r\n\'=1+1\r\n\'+x\r\n\'-x\r\n\'@x\r\n-5\r\n"a ""b"", c"\r\n',
  );
});

test('a scene prints on few pages, black on white, with its link and date', async () => {
  for (const scene of ['train', 'serve', 'memory', 'overview']) {
    const { page, done } = await chromium.open(`#/${scene}?serving.batch=64&v=1`, { colorScheme: 'dark' });
    await settled(page);
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
    const pages = (pdf.match(/\/Type\s*\/Page[^s]/g) ?? []).length;
    assert.ok(pages >= 1 && pages <= 3, `${scene}: ${pages} pages`);
    await page.emulateMedia({ media: 'print' });
    const seen = await page.evaluate(() => ({
      background: getComputedStyle(document.body).backgroundColor,
      ink: Math.max(...getComputedStyle(document.querySelector('#content h1')).color.match(/\d+/g).map(Number)),
      pressed: [...document.querySelectorAll('#content button:not(table button, [data-key*=topology])')].filter((one) =>
        one.checkVisibility(),
      ).length,
      headings: [...document.querySelectorAll('#content h2')].filter(
        (one) =>
          one.checkVisibility() && one.parentElement.matches('.part') && one.parentElement.innerText === one.innerText,
      ).length,
      footer: document.querySelector('.print-foot').innerText,
      buttons: [...document.querySelectorAll('.why, .actions, .saves, .inputs-bar, .segments')].filter((one) =>
        one.checkVisibility(),
      ).length,
      inputs: document.querySelector('.print-inputs').innerText,
    }));
    assert.equal(seen.background, 'rgb(255, 255, 255)');
    assert.ok(seen.ink < 80, `dark letters: ${seen.ink}`);
    assert.deepEqual([seen.pressed, seen.headings], [0, 0], scene);
    assert.match(seen.footer, /#\/\w+\?serving\.batch=64&v=1/);
    assert.match(seen.footer, /\d{4}/);
    assert.match(seen.inputs, /Concurrent requests per replica\s+64/);
    assert.equal(seen.buttons, 0);
    await done();
  }
});

test('at 320 px four names break only at hyphens and capitals, and equal names state their other differences', async () => {
  const { page } = await chromium.open('#/compare?b:cluster=dgx-b200&c:model=deepseek-v3&d:serving.batch=128&v=2', {
    width: 320,
    height: 700,
  });
  await settled(page);
  const names = page.locator('.compare thead th b');
  assert.deepEqual(
    (await names.allTextContents()).map((one) => one.split(', ').slice(2).join()),
    ['batch 32', '', '', 'batch 128'],
  );
  const broken = await page.locator('.compare :is(thead th b, .input td, .unbroken)').evaluateAll((list) =>
    list
      .flatMap((name) =>
        [...name.childNodes]
          .filter((node) => node.nodeType === Node.TEXT_NODE)
          .flatMap((node) =>
            [...node.data.matchAll(/\S+/g)].map((word) => {
              const range = document.createRange();
              range.setStart(node, word.index);
              range.setEnd(node, word.index + word[0].length);
              return range.getClientRects().length > 1 ? word[0] : '';
            }),
          ),
      )
      .filter(Boolean),
  );
  assert.deepEqual(broken, []);
});

test('what is equal is no difference, and a part that is off is said to be off', async () => {
  // The first view has figures of ten digits.
  const { page, faults } = await chromium.open('#/compare?b:training=null&c:serving=null&v=3', { fresh: true });
  await page.waitForSelector('.compare tbody tr[data-path]');
  await settled(page);
  const said = (await page.locator('.compare').innerText()).replace(/\s+/g, ' ');
  assert.doesNotMatch(said, /\de-\d|null|question/);
  assert.match(said, /Serving on, Training on .*Serving on, Training off .*Serving off/);
  assert.equal(await page.locator('.compare tr[data-path="training.step_time_s"]').count(), 0, 'equal where it is on');
  assert.deepEqual(faults, []);
});
