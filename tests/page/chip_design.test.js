// The chip as a drawing: handles move silicon and the answers follow, the link keeps it, and the best split equals the
// command line's.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { eventually, NEWEST, settled, site } from './browser.js';

const chromium = site();
const SLIPSTICK = new URL('../../build/native/slipstick', import.meta.url).pathname;

const PLAIN = `#/chip/design?model=llama-3.1-8b&cluster=dgx-h100&cluster.devices=8&training=null&serving.mapping.tp=2&v=${NEWEST}`;
const START = `${PLAIN}&cluster.device.design=h100-like`;
const cells = (page, row) => page.locator(`#design tr:has(th:text-is("${row}")) td`).allTextContents();
const own = async (page, row) => (await cells(page, row)).at(0);

async function open(hash = START, options = {}) {
  const { page, faults } = await chromium.open(hash, options);
  await page.waitForSelector('#package .drag');
  await settled(page);
  return { page, faults };
}

test('the chip is drawn to scale, with the same figures beside B200, MI355X and TPU7x', async () => {
  const { page, faults } = await open();
  // Areas in the drawing are proportional: an H100-like die of 814 mm² on 1,600 mm².
  const ratio = await page.evaluate(() => {
    const area = (element) => element.width.baseVal.value * element.height.baseVal.value;
    return area(document.querySelector('#package .outline')) / area(document.querySelector('#package .carrier'));
  });
  assert.ok(Math.abs(ratio / (814 / 1600) - 1) < 0.01, `${ratio}`);
  const parts = await page.evaluate(() => {
    const sum = [...document.querySelectorAll('#package .part')]
      .slice(0, 7)
      .reduce((all, one) => all + one.width.baseVal.value * one.height.baseVal.value, 0);
    const { width, height } = document.querySelector('#package .outline');
    return sum / (width.baseVal.value * height.baseVal.value);
  });
  assert.ok(Math.abs(parts - 1) < 0.01, `the parts fill the die: ${parts}`);
  const head = await page.locator('#design table').last().locator('thead th').allTextContents();
  assert.equal(head.length, 5);
  for (const name of [/B200/, /MI355X/, /TPU7x/])
    await eventually(async () =>
      assert.match(await page.locator('#design table').last().locator('thead').textContent(), name),
    );
  await eventually(async () => assert.ok(!(await cells(page, 'Serving: Time per output token (TPOT)')).includes('…')));
  assert.deepEqual(faults, []);
});

test('a handle moves silicon and tokens follow, by key and by drag; the link reproduces it', async () => {
  const { page, faults } = await open();
  const before = await own(page, 'Serving: Time per output token (TPOT)');
  const handle = page.locator('[data-key=package-power-memory-handle]');
  await handle.focus();
  const share = async () => Number(await handle.getAttribute('aria-valuenow'));
  const had = await share();
  await page.keyboard.press('Shift+ArrowLeft'); // ten steps less power for memory: decode slows down
  await settled(page);
  await eventually(async () => assert.notEqual(await own(page, 'Serving: Time per output token (TPOT)'), before));
  assert.ok((await share()) < had);
  const link = page.url();
  assert.match(link, /power_split\.memory=0\.045/);
  const slow = await own(page, 'Serving: Time per output token (TPOT)');
  // A drag to the right gives more than that back.
  await page.locator('#package').scrollIntoViewIfNeeded();
  const knob = await page.locator('[data-key=package-power-memory-handle] .knob').boundingBox();
  await page.mouse.move(knob.x + knob.width / 2, knob.y + knob.height / 2);
  await page.mouse.down();
  await page.mouse.move(knob.x + knob.width / 2 + 60, knob.y + knob.height / 2, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  await eventually(async () => assert.notEqual(await own(page, 'Serving: Time per output token (TPOT)'), slow));
  assert.deepEqual(faults, []);
  const again = await open(link.slice(link.indexOf('#')));
  assert.equal(await own(again.page, 'Serving: Time per output token (TPOT)'), slow);
  assert.deepEqual(again.faults, []);
});

test('area, dies, node and stacks have handles or choices too, and a first change makes the device a design', async () => {
  const { page } = await open(PLAIN);
  assert.doesNotMatch(page.url(), /design=/);
  await page.locator('[data-key=package-stacks-handle]').focus();
  await page.keyboard.press('ArrowLeft');
  await settled(page);
  assert.match(page.url(), /cluster\.device\.design=h100-like/);
  assert.match(page.url(), /design\.stacks=4/);
  await page.locator('[data-key=chip-design-node]').selectOption('3nm');
  await settled(page);
  assert.match(page.url(), /design\.node=3nm/);
  await page.locator('[data-key=chip-design-dies]').selectOption('2');
  await settled(page);
  assert.match(page.url(), /partition\.chiplets=2/);
  await page.waitForSelector('#package .cut', { state: 'attached' }); // a line has no width, so it is never visible
  await page.locator('[data-key=chip-design-off]').click();
  await settled(page);
  assert.doesNotMatch(page.url(), /design=|partition/);
});

test('one press finds the best split: the figure equals the command line’s, and the limiting budget is marked', async () => {
  const { page, faults } = await open();
  await page.locator('[data-key=chip-design-for]').selectOption('serving.tpot_s');
  await page.locator('[data-key=chip-design-best]').click();
  await page.waitForSelector('#design-best table');
  await settled(page);
  assert.doesNotMatch(await page.locator('#design-best').innerText(), /[+−]0\s%/, 'what changes nothing has no sign');
  await settled(page);
  assert.match(page.url(), /area_split\.l2=0\.\d+/);
  assert.doesNotMatch(page.url(), /\.\d{7}/, 'digits as a person writes them');
  const assignments = [
    'cluster.device.design=h100-like',
    'model=llama-3.1-8b',
    'cluster=dgx-h100',
    'cluster.devices=8',
    'training=null',
    'serving.mapping.tp=2',
  ];
  const answer = JSON.parse(
    execFileSync(SLIPSTICK, ['design', ...assignments, '--objective', 'serving.tpot_s'], { encoding: 'utf8' }),
  );
  const shown = await own(page, 'Serving: Time per output token (TPOT)');
  assert.equal(Number.parseFloat(shown), Number((answer.objective * 1e3).toPrecision(3)), shown);
  assert.ok(answer.objective < answer.start);
  assert.match(page.url(), /power_split\.memory=/);
  assert.equal(
    (await page.locator('#package .limits').count()) > 0,
    answer.limits.some(({ change }) => change < 0),
  );
  assert.equal(await page.locator('#design-best tbody tr').count(), 4);
  // Another change removes the marks, which were those of the previous chip.
  await page.locator('[data-key=package-l2-handle]').focus();
  await page.keyboard.press('ArrowRight');
  await settled(page);
  assert.equal(await page.locator('#design-best').count(), 0);
  assert.deepEqual(faults, []);
});

test('any number of dies is shown as it is, and the way back to the original device undoes it too', async () => {
  const { page, faults } = await open(`${START}&partition.chiplets=3`);
  assert.equal(await page.locator('[data-key=chip-design-dies]').inputValue(), '3');
  await page.locator('[data-key=chip-view-technology]').click();
  await page.waitForSelector('#technology td');
  const original = () =>
    page.locator('#technology tr', { hasText: 'Manufacturing cost' }).locator('td').nth(0).innerText();
  const before = await original();
  await page.locator('[data-key=chip-tech-off]').click();
  await settled(page);
  assert.doesNotMatch(page.url(), /partition|design=/);
  assert.equal(await original(), before, 'the original device has its own dies');
  assert.deepEqual(faults, []);
});

test('a chip that cannot be is not drawn as the scenario’s, and what was typed stays to be corrected', async () => {
  const { page, faults } = await open();
  const area = page.locator('[data-key=chip-design-area]');
  await area.fill('3000');
  await area.press('Enter');
  await page.waitForFunction(() => /No memory site fits/.test(document.getElementById('issues').textContent));
  await settled(page);
  assert.match(await page.locator('#design > .note').first().innerText(), /^No device comes of these budgets/);
  assert.match(await area.inputValue(), /^3000/);
  await area.fill('800');
  await area.press('Enter');
  await page.waitForFunction(() => document.getElementById('issues').hidden);
  await settled(page);
  assert.match(await page.locator('#design > .note').first().innerText(), /^All results use this chip/);
  assert.deepEqual(faults, []);
});

test('the scene fits 320 px and 1920 px in the dark theme', async () => {
  const { page, faults } = await open(START, { colorScheme: 'dark' });
  for (const width of [320, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(over <= 0, `${width}: ${over} px too wide`);
  }
  assert.deepEqual(faults, []);
});
