// Dragging on charts, the ridge of the roofline and the area of a die, by mouse, finger and keyboard; all answers
// follow.
import assert from 'node:assert/strict';
import test from 'node:test';
import { boxOf, eventually, settled, site } from './browser.js';

const chromium = site();

const plain = (text) => text.replaceAll(/\s+/g, ' ');
const made = async (page, id) =>
  /manufacturing cost, \$[\d,.]+, follows/.exec(plain(await page.locator(`#${id} .hint`).textContent()))[0];
const answers = (page) => page.locator('.four .answer').allTextContents();
// The value of an input in the link, in base units: "6.7 TB/s" is 6.7e12.
const PREFIX = { T: 1e12, P: 1e15, G: 1e9 };
const inLink = (page, path) => {
  const [number, unit = ''] = (new URLSearchParams(page.url().split('?')[1]).get(path) ?? '').split(' ');
  return Number(number) * (PREFIX[unit[0]] ?? 1);
};
const near = (value, wanted, what) =>
  assert.ok(Math.abs(value / wanted - 1) < 0.02, `${what}: ${value}, not ${wanted}`);

async function open(hash, options) {
  const { page, faults } = await chromium.open(hash, options);
  const id = hash.includes('chiplets')
    ? 'die-split'
    : hash.includes('dies')
      ? 'yield-fan'
      : hash.includes('train')
        ? 'train-roofline'
        : 'roofline';
  const handle = page.locator(`#${id} .drag`);
  await handle.waitFor();
  await settled(page);
  // The center of the knob, where a press hits it. It is one evaluation, since the chart may be redrawn between two.
  const knob = () =>
    eventually(async () => {
      await page.evaluate((one) => document.getElementById(one).scrollIntoView({ block: 'center' }), id);
      await settled(page);
      const place = await page.evaluate((one) => {
        const knob = document.querySelector(`#${one} .knob`);
        const { x, y, width, height } = knob.getBoundingClientRect();
        const center = [x + width / 2, y + height / 2];
        return document.elementFromPoint(...center)?.closest('.drag') === knob.closest('.drag') && center;
      }, id);
      return place || assert.fail('something else is at the knob');
    });
  await knob();
  // Pixels between two ticks, by their labels: a decade of a logarithmic axis, or a distance on a linear one.
  const between = (from, to, axis) =>
    page.evaluate(
      ({ id, ticks, axis }) => {
        const words = [...document.querySelectorAll(`#${id} .drawing svg > text`)];
        const [first, last] = ticks.map((tick) => {
          const box = words.find((one) => new RegExp(`^${tick}$`).test(one.textContent)).getBoundingClientRect();
          return axis === 'x' ? box.x + box.width / 2 : box.y + box.height / 2;
        });
        return last - first;
      },
      { id, ticks: [from, to], axis },
    );
  return { page, faults, id, handle, knob, between };
}

async function dragBy(page, [x, y], [across, down], whileDown = async () => {}) {
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + across / 2, y + down / 2, { steps: 3 });
  await page.mouse.move(x + across, y + down, { steps: 3 });
  await settled(page);
  await whileDown();
  await page.mouse.up();
  await settled(page);
}

test('dragging the ridge sideways changes the memory bandwidth, vertically the peak; all answers follow, and each drag is one undo step', async () => {
  const { page, faults, id, handle, knob, between } = await open('#/serve');
  assert.match(
    await handle.getAttribute('aria-valuetext'),
    /^591 FLOP per byte: 1\.98.PFLOP\/s peak, 3\.35.TB\/s memory bandwidth$/u,
  );
  const first = await answers(page);
  const decade = await between('100', '1,000', 'x');
  // Half the FLOP per byte at the same peak doubles the 3.35 TB/s.
  await dragBy(page, await knob(), [decade * Math.log10(0.5), 0], async () => {
    assert.notDeepEqual(await answers(page), first, 'while the button is down');
    assert.equal(await page.locator(`#${id} .ghost`).count(), 1, 'the roof as it was');
  });
  near(inLink(page, 'cluster.device.memory.bandwidth'), 6.7e12, 'bandwidth');
  assert.equal(await page.locator(`#${id} .ghost`).count(), 0);
  assert.match(
    plain(await page.locator('#notice').textContent()),
    /^Memory bandwidth: 3\.35 TB\/s → 6\.\d+ TB\/s\. Undo/,
  );
  await page.locator('#notice .link').click();
  await settled(page);
  assert.deepEqual(await answers(page), first);
  assert.doesNotMatch(page.url(), /bandwidth/);
  // A factor of two down; the bandwidth stays.
  const up = (await between('10.TFLOP/s', '100.TFLOP/s', 'y')) * Math.log10(2);
  await dragBy(page, await knob(), [0, -up]);
  near(inLink(page, 'cluster.device.peak.fp8'), 989e12, 'half the peak, down');
  await page.keyboard.press('Control+z');
  await settled(page);
  assert.deepEqual(await answers(page), first);
  assert.deepEqual(faults, []);
});

test('arrow keys on the ridge: sideways the bandwidth, up and down the peak, with Shift ten times as far; the focus stays', async () => {
  const { page, handle, faults } = await open('#/serve');
  await page.locator('#roofline .mark[tabindex="0"]').focus();
  await page.keyboard.press('End');
  const press = async (key) => {
    await page.keyboard.press(key);
    await settled(page);
    assert.equal(
      await page.evaluate(() => document.activeElement.getAttribute('aria-label')),
      'Ridge of the roofline',
      key,
    );
  };
  await press('ArrowLeft'); // less FLOP per byte: the next bandwidth with two digits
  assert.equal(inLink(page, 'cluster.device.memory.bandwidth'), 3.4e12);
  await press('Shift+ArrowRight');
  assert.equal(inLink(page, 'cluster.device.memory.bandwidth'), 3e12);
  await press('ArrowUp');
  near(inLink(page, 'cluster.device.peak.fp8'), 2e15, 'peak');
  await press('Shift+ArrowUp');
  near(inLink(page, 'cluster.device.peak.fp8'), 3e15, 'peak');
  assert.match(await handle.getAttribute('aria-valuetext'), /^1,000 FLOP per byte: 3.PFLOP\/s peak, 3.TB\/s/u);
  assert.deepEqual(faults, []);
});

for (const [hash, path, from, to] of [
  ['#/train', 'cluster.device.memory.bandwidth', '100', '1,000'],
  ['#/chip/chiplets', 'cost.device.dies.0.area', '0.mm²', '1,000.mm²'],
]) {
  test(`a finger drags on a phone, and the page does not scroll under it: ${hash}`, async () => {
    const { page, id, knob, between, faults } = await open(hash, {
      width: 360,
      height: 780,
      hasTouch: true,
      isMobile: true,
    });
    const first = hash === '#/train' ? await answers(page) : await made(page, id);
    const stretch = await between(from, to, 'x');
    const client = await page.context().newCDPSession(page);
    const touch = (type, ...points) =>
      client.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
    const place = async () => (await boxOf(page, `#${id}`)).top;
    const [x, y] = await knob();
    const top = await place();
    // From here on the chart must be there in every frame.
    await page.evaluate((one) => {
      window.absent = 0;
      const look = () => {
        if (!document.getElementById(one)) window.absent++;
        requestAnimationFrame(look);
      };
      look();
    }, id);
    const by = hash === '#/train' ? -stretch * Math.log10(2) : -stretch / 10;
    await touch('touchStart', [x, y]);
    for (const part of [0.2, 0.5, 0.8, 1]) await touch('touchMove', [x + by * part, y + 2]);
    await settled(page);
    await touch('touchEnd');
    await settled(page);
    near(inLink(page, path), hash === '#/train' ? 6.7e12 : 714, 'what the finger set');
    assert.equal(await page.evaluate(() => window.absent), 0, 'frames without the chart');
    const end = await place();
    assert.ok(Math.abs(end - top) < 5, `the chart stands where it was: ${end}, ${top}`);
    await eventually(async () => assert.ok(await page.locator('#notice').isVisible()));
    assert.notDeepEqual(hash === '#/train' ? await answers(page) : await made(page, id), first);
    assert.deepEqual(faults, []);
  });
}

test('the line of the die’s area is dragged on both charts that have it, and the bill of materials follows', async () => {
  for (const [hash, from, to, stretch] of [
    ['#/chip/chiplets', '0.mm²', '500.mm²', 500],
    ['#/chip/dies', '0.mm²', '200.mm²', 200],
  ]) {
    const { page, id, handle, knob, between, faults } = await open(hash);
    const first = await made(page, id);
    assert.match(await handle.getAttribute('aria-valuetext'), /^814.mm²$/u);
    const pixels = (await between(from, to, 'x')) / stretch;
    await dragBy(page, await knob(), [-214 * pixels, 0]);
    near(inLink(page, 'cost.device.dies.0.area'), 600, 'area');
    assert.notEqual(await made(page, id), first, 'manufacturing cost');
    assert.match(plain(await page.locator('#notice').textContent()), /^Die area: 814 mm² → \d+ mm²\. Undo/);
    await handle.focus();
    await page.keyboard.press('Shift+ArrowRight');
    await settled(page);
    near(inLink(page, 'cost.device.dies.0.area'), 700, 'by keyboard');
    assert.deepEqual(faults, []);
    await page.close();
  }
});

test('an exercise that locks the inputs has no handles', async () => {
  const { page } = await chromium.open('#/serve?lock=all&v=2');
  await page.waitForSelector('#roofline');
  await settled(page);
  assert.equal(await page.locator('#roofline .drag').count(), 0);
});
