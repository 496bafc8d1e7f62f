import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, settled, site, timed } from './browser.js';

const chromium = site();

const values = (page) => page.locator('.four .value').allTextContents();

// Figures that each view of the scene shows.
const VIEWS = {
  '': ['device-bill'],
  'dies': ['wafer', 'yield-fan'],
  'chiplets': ['die-split', 'partition'],
  'design': ['package'],
  'technology': ['technology'],
  'hour': ['hour-bill', 'system-bill'],
  'certainty': ['spread', 'cost-tornado'],
};

test('the interval of the chip cost opens the samples of that cost', async () => {
  const { page, faults } = await chromium.open('');
  const link = page.locator('[data-key="interval-cost.device_usd"]');
  assert.match(await link.getAttribute('aria-label'), /; show what is uncertain$/);
  await link.click();
  await page.waitForSelector('#spread .mark');
  assert.match(await page.locator('#spread').innerText(), /Uncertainty of the manufacturing cost/);
  assert.deepEqual(faults, []);
});

test('each view of the Chip scene has one question, its charts with their summaries, and at most six figures', async () => {
  const { page, faults } = await chromium.open('#/chip');
  for (const [view, ids] of Object.entries(VIEWS)) {
    await page.locator(`[data-key=chip-view-${view || 'bill'}]`).click();
    for (const id of ids) await page.waitForSelector(`#${id}`);
    assert.match(await page.locator('#content h1').textContent(), /\?$/, view);
    for (const id of ids.filter((one) => one !== 'technology'))
      assert.match(await page.locator(`#${id} .summary`).textContent(), /\w{4}/, id);
    assert.ok((await page.locator('#content .figure').count()) <= 6, view);
    assert.match(await page.locator('.footnote').textContent(), /Assumes/, view);
    await settled(page);
    assert.match(page.url(), view ? new RegExp(`#/chip/${view}`) : /#\/chip$/);
  }
  await page.waitForFunction(() => document.querySelector('#spread progress').value === 10000);
  assert.match(
    await page.locator('#spread .summary').textContent(),
    /Median \$[\d.,]+, 90 % interval \$[\d.,]+ to \$[\d.,]+ \(10,000 samples\)/,
  );
  await page.goBack();
  await page.waitForSelector('#hour-bill');
  await page.evaluate(() => (location.hash = '#/chip/dies'));
  await page.waitForSelector('#wafer');
  assert.match(await page.locator('#wafer .summary').textContent(), /^\d+ of 66 dies on this wafer are good/);
  await page.evaluate(() => (location.hash = '#/chip/chiplets'));
  await page.waitForSelector('#die-split');
  const summary = page.locator('#die-split .summary');
  const breakEven = async () =>
    [...(await summary.textContent()).matchAll(/(\d) dies cost less than one from ([\d,]+)\smm² on\./g)].map(
      ([, dies, area]) => [dies, Number(area.replace(',', ''))],
    );
  const withDesign = await breakEven();
  assert.deepEqual(
    withDesign.map(([dies]) => dies),
    ['2', '4', '8'],
  );
  const said = await summary.textContent();
  await page.locator('[data-key=chip-design]').selectOption('without');
  await eventually(async () => assert.notEqual(await summary.textContent(), said));
  // A smaller die is cheaper to design: without that, chiplets break even at a larger area.
  const without = await breakEven();
  without.forEach(([, area], i) => assert.ok(area > withDesign[i][1], `${area} mm²`));
  const drawn = await page.locator('#die-split').evaluate((chart) => ({
    line: [...chart.querySelectorAll('line.level')].map((one) => one.style.stroke),
    series: [...chart.querySelectorAll('.line')].map((one) => one.getAttribute('stroke')),
  }));
  assert.deepEqual(
    drawn.line,
    ['', ...drawn.series.slice(1)],
    'the reticle, and each break-even in the color of its line',
  );
  assert.deepEqual(faults, []);
});

test('on a phone, the axis of the uncertain inputs has a scale, and the loss of a yield is varied', async () => {
  const { page } = await chromium.open('#/chip/certainty', { width: 360 });
  await page.waitForSelector('#cost-tornado');
  const texts = await page.locator('#cost-tornado svg text').allTextContents();
  assert.deepEqual(
    texts.filter((one) => one.endsWith('%')).map((one) => one.replaceAll(/\s/g, ' ')),
    ['−5 %', '0 %', '+5 %'],
  );
  assert.ok(texts.join(' ').includes('Loss of bond yield per part, chip on wafer'));
});

test('another wafer is another random sample at the same yield', async () => {
  const { page } = await chromium.open('#/chip/dies');
  await page.waitForSelector('#wafer');
  const states = () =>
    page.locator('#wafer .die').evaluateAll((all) => all.map((one) => one.getAttribute('class')).join());
  const [first, summary] = [await states(), await page.locator('#wafer .summary').textContent()];
  await page.locator('[data-key=chip-wafer-seed]').click();
  await settled(page);
  assert.notEqual(await states(), first);
  assert.equal(
    (await page.locator('#wafer .summary').textContent()).split('yield of ')[1],
    summary.split('yield of ')[1],
  );
});

test('one click shows the chip at 3 nm with HBM4, in time and cost, and one click undoes it', async () => {
  const { page } = await chromium.open('#/chip/technology');
  await page.waitForSelector('#technology td'); // the view opens with results
  assert.match(await page.locator('#technology tbody').textContent(), /Memory bandwidth/);
  const before = await values(page);
  await page.locator('[data-key=chip-tech-go]').click();
  await settled(page);
  await page.waitForSelector('#technology td');
  const after = await values(page);
  // The KV cache depends on model and mapping, which stay the same.
  for (const [i, value] of after.entries()) if (i !== 2) assert.notEqual(value, before[i], `answer ${i}`);
  assert.match(page.url(), /cluster\.device\.design=h100-like/);
  assert.match(await page.locator('#technology tbody').textContent(), /Memory bandwidth/);
  await page.locator('[data-key=chip-tech-off]').click();
  await settled(page);
  assert.deepEqual(await values(page), before);
});

test('a network technology is picked by its name', async () => {
  const { page } = await chromium.open('#/chip/technology');
  await page.waitForSelector('[data-key=chip-tech-network]');
  const before = await values(page);
  await page.locator('[data-key=chip-tech-network]').selectOption('ethernet-100');
  await settled(page);
  assert.notEqual((await values(page))[0], before[0], 'training waits for a slower network');
  assert.match(page.url(), /cluster\.networks\.1=ethernet-100/);
});

test('nine nodes, eight memories and six networks are searched within ten seconds, with progress, and can be stopped', async () => {
  const { page, faults } = await chromium.open('#/explore/studies/technology-sweep');
  await page.waitForSelector('.ex-study h2');
  const start = page.locator('.ex-run .primary');
  const stop = page.locator('.ex-run .ex-plain');
  await start.click();
  await page.waitForFunction(() => document.querySelector('.ex-run progress').value > 3);
  const stopped = Date.now();
  await stop.click();
  await page.waitForFunction(() => document.querySelector('.ex-run progress').hidden);
  timed('stopped after', Date.now() - stopped, 500);
  assert.match(await page.locator('.ex-run .ex-status').textContent(), /^\d+ of 432 points$/);
  const begun = Date.now();
  await start.click();
  await page.waitForFunction(() => /^All 432 points/.test(document.querySelector('.ex-run .ex-status').textContent));
  timed('432 technologies, the die split anew at each, on two workers', Date.now() - begun, 10000);
  await page.waitForSelector('#study-chart');
  assert.deepEqual(faults, []);
});

test('each study shows a chart, the paper’s statements, our reading separately, and the results', async () => {
  const { page, faults } = await chromium.open('#/explore/studies/gpu-generations');
  await page.waitForSelector('.ex-field select option', { state: 'attached' });
  const ids = await page.locator('.ex-field select option').evaluateAll((all) => all.map(({ value }) => value));
  assert.ok(ids.length >= 12);
  for (const id of ids.filter((one) => one !== 'technology-sweep')) {
    await page.evaluate((hash) => (location.hash = hash), `#/explore/studies/${id}`);
    // Until the new study opens, the page still shows the previous one.
    const title = await page.locator(`.ex-field select option[value="${id}"]`).textContent();
    await page.waitForSelector(`.ex-study h2:text-is("${title}")`);
    await page.waitForFunction(() =>
      /^All \d+ points/.test(document.querySelector('.ex-run .ex-status')?.textContent ?? ''),
    );
    await page.waitForSelector('#study-chart');
    assert.equal(await page.locator('.ex-verdicts .bad').count(), 0, id);
    assert.match(
      await page.locator('.ex-study dt:text-is("The paper says") + dd').textContent(),
      /^(Abstract|Caption of Figure \d): “/,
      id,
    );
    assert.equal(await page.locator('.ex-study dt:text-is("Our reading")').count(), 1, id);
    const known = page.locator('.ex-verdicts .known');
    for (let i = 0; i < (await known.count()); i++) assert.match(await known.nth(i).textContent(), /Why: \S/, id);
    assert.equal(
      await page.locator('table.ratios tbody tr').count(),
      { 'gpu-generations': 3, 'gemm-bounds': 6 }[id] ?? 0,
      id,
    );
  }
  assert.deepEqual(faults, []);
});

test('the own die is marked at the header’s cost, and a cost component has the same color in all bars', async () => {
  const { page } = await chromium.open('#/chip/chiplets');
  await page.waitForSelector('#die-split .you');
  const drawn = await page.locator('#die-split .drawing').textContent();
  assert.match(drawn, /this device, 814\smm²/);
  assert.match(drawn, /as published, \$3,180/);
  await page.waitForSelector('#partition .mark');
  const colors = await page
    .locator('#partition .mark')
    .evaluateAll((all) => all.map((one) => [one.dataset.part, one.querySelector('rect').getAttribute('fill')]));
  const names = new Map(colors);
  for (const [part, color] of colors) assert.equal(color, names.get(part), part);
  assert.equal(new Set(names.values()).size, names.size, 'and no other part has it');
});

// The dies of either row, and the stacks beside them, have the same area except for the links between the dies.
test('chiplets and one die are in the same kind of package, which costs about the same, and HBM is never put on a substrate alone', async () => {
  const packageOf = (page, label) =>
    page.locator('#partition .mark[data-part=package]').evaluateAll(
      (all, start) =>
        Number(
          all
            .map((one) => one.getAttribute('aria-label'))
            .find((one) => one.startsWith(start))
            .match(/\$([\d.]+)/)[1],
        ),
      label,
    );
  const { page } = await chromium.open('#/chip/chiplets');
  const choice = page.locator('[data-key=chip-package]');
  for (const [kind, most] of [
    ['', 800],
    ['fan-out', 200],
  ]) {
    await choice.selectOption(kind);
    await eventually(async () => {
      const [one, two] = [await packageOf(page, 'one die'), await packageOf(page, '2 dies')];
      assert.ok(one < most && two > one && two < 1.03 * one, `${kind}: ${one} and ${two}`);
    });
  }
  assert.deepEqual(await choice.locator('option').allTextContents(), [
    'own: Silicon interposer (2.5D)',
    'fan-out',
    'silicon bridges',
  ]);
  const { page: card } = await chromium.open(
    '#/chip/chiplets?cluster=single-rtx-4090&model=llama-3.1-8b&training=null&v=3',
  );
  await card.waitForSelector('[data-key=chip-package]');
  assert.ok((await card.locator('[data-key=chip-package] option').allTextContents()).includes('organic substrate'));
});

test('the curve and the bills have the same links: one, two, four and eight dies of 800 mm² cost the same in both', async () => {
  const { page } = await chromium.open('#/chip/chiplets?cost.device.dies.0.area=800+mm^2&v=3');
  await page.waitForSelector('#partition .mark');
  for (const bandwidth of ['4 TB/s', '16 TB/s']) {
    await page.locator('[data-key=chip-partition-links]').selectOption(bandwidth);
    await eventually(async () => {
      const curve = await page
        .locator('#die-split .mark')
        .evaluateAll((all) =>
          all.map((one) => /: 800\smm², (.*)/.exec(one.getAttribute('aria-label'))?.[1]).filter(Boolean),
        );
      assert.equal(curve.length, 4);
      assert.deepEqual(await page.locator('#partition svg .num').allTextContents(), curve, bandwidth);
    });
  }
});

test('a study names inputs as the form does, its checks agree in number, and infeasible points say why', async () => {
  const { page, faults } = await chromium.open('#/explore/studies/topologies');
  const words = () => page.locator('.ex-study').textContent();
  await page.waitForSelector('.ex-verdicts li');
  assert.match(await words(), /with “Times of collectives” analytic or Textbook \(α-β\)/);
  await page.evaluate(() => (location.hash = '#/explore/studies/mixture-of-experts'));
  await page.waitForFunction(() => /Weights fall from/.test(document.querySelector('.ex-verdicts')?.textContent));
  assert.match(await page.locator('#study-chart').textContent(), /Out of memory: Mixtral 8x7B, ep 1; dense 70B\./);
  assert.match(
    await page
      .locator('details[data-key="study-points"] td[data-name=Note]', { hasText: 'Out of memory' })
      .first()
      .textContent(),
    /Out of memory: .*[\d.]+ GiB of [\d.]+ GiB/,
  );
  assert.deepEqual(faults, []);
});

test('a die larger than the reticle has no cost in the head, and its red line stays on the charts', async () => {
  for (const [view, chart] of [
    ['dies', 'yield-fan'],
    ['chiplets', 'die-split'],
  ]) {
    const { page, faults } = await chromium.open(`#/chip/${view}?cost.device.dies.0.area=2000+mm^2&v=3`);
    await page.waitForSelector(`#${chart} .drag`);
    assert.match(
      await page.locator('[data-answer=cost]').innerText(),
      /Larger than the reticle[^]*split into 3 chiplets/,
    );
    assert.match(await page.locator(`#${chart} .drawing`).textContent(), /this device, 2,000\smm²/);
    if (view === 'dies') assert.match(await page.locator('.figures').first().innerText(), /larger than the reticle/);
    assert.deepEqual(faults, []);
  }
});

test('a device that the scenario cuts into dies is not said to be as published, and studies begin with its die whole', async () => {
  const cut = 'cluster.device.design=h100-like&partition.chiplets=2&v=3';
  const { page, faults } = await chromium.open(`#/chip/chiplets?${cut}`);
  const oneDie = async () =>
    await page
      .locator('#partition')
      .locator('..')
      .locator('tr', { hasText: 'per GPU-hour' })
      .locator('td')
      .nth(0)
      .innerText();
  await page.waitForSelector('#die-split .drag');
  await page.waitForSelector('#partition');
  assert.match(await page.locator('#die-split .drawing').textContent(), /in 2 dies, \$/);
  assert.doesNotMatch(await page.locator('#content').innerText(), /[Aa]s published/);
  const ofCut = await oneDie();
  await page.locator('[data-key=chip-view-dies]').click();
  await page.waitForFunction(() =>
    /before the scenario cuts it into 2/.test(document.getElementById('content').textContent),
  );
  const { page: whole } = await chromium.open('#/chip/hour?cluster.device.design=h100-like&v=3');
  const hour = await whole.locator('[data-answer=cost]').innerText();
  assert.ok(hour.includes(`own: ${ofCut}`), `${ofCut}: ${hour}`);
  assert.deepEqual(faults, []);
});
