// The first screen: its answers, bars and changes; and the paths through the page that visitors take most.
import assert from 'node:assert/strict';
import test from 'node:test';
import { boxOf, openScene, settled, site } from './browser.js';

const chromium = site();

const plain = (text) => text.replace(/\s/gu, ' ');
const sentence = async (page) => plain(await page.locator('.say').textContent());
const noun = (page, key) => page.locator(`[data-key=noun-${key}]`);
const figures = (page) => page.locator('.four .value').allTextContents();

const CONTROLS = 30; // on the first screen at 1440 by 900: 9 in the header, 7 in the sentence, 10 in the answers

test('the first screen: four named answers, one finding, one thing to move, and no part that is off', async () => {
  const { page } = await chromium.open('', { width: 1440 });
  const subjects = await page.locator('.four .what').allTextContents();
  assert.deepEqual(subjects.map(plain), [
    'Training time · uninterrupted',
    'Inference latency · 2 replicas of 4 GPUs',
    'KV-cache size · 320 KiB per token',
    'Chip cost · one H100',
  ]);
  assert.match(
    plain(await page.locator('#content h1').innerText()),
    /^A training step is compute-bound: \d\d % is forward, backward and optimizer\.$/,
  );
  const bounds = await page.locator('.stack .bound b').allTextContents();
  assert.equal(bounds.length, 2, 'what the finding says is not said again');
  for (const bound of bounds) assert.match(bound, /bound/);
  await page.waitForSelector('#step-columns .you');
  await settled(page);
  const { bottom } = await boxOf(page, '#step-columns .drawing');
  assert.ok(bottom > 0 && bottom <= 900, `${bottom}`);
  const isSeen = (one) =>
    one.checkVisibility({ visibilityProperty: true }) &&
    one.getBoundingClientRect().top < 900 &&
    one.getBoundingClientRect().left > -100;
  const controls = await page
    .locator('a, button, input, select, summary')
    .evaluateAll((all, seen) => all.filter(new Function(`return ${seen}`)()).length, String(isSeen));
  assert.ok(controls <= CONTROLS, `${controls} controls`);
  assert.doesNotMatch(await page.locator('body').innerText(), /\boff\b/);
  await page.getByRole('button', { name: 'Show serving' }).click();
  assert.match(plain(await page.locator('#content h1').innerText()), /^An output token is .*bound.*\d\d %/);
  await page.waitForSelector('#users-curve .you');
  assert.equal(await page.locator('#step-columns').count(), 0, 'one thing to move');
  await page.waitForSelector('#advice tbody tr');
  assert.equal(await page.locator('#advice tbody tr').count(), 3);
  const overlaps = await page.locator('.labs').evaluateAll(
    (rows) =>
      rows.flatMap((row) => {
        const boxes = [...row.children].map((one) => one.getBoundingClientRect()).sort((a, b) => a.left - b.left);
        return boxes.slice(1).filter((box, i) => box.left < boxes[i].right - 1);
      }).length,
  );
  assert.equal(overlaps, 0, 'labels do not touch');
});

test('no value of a column lies on another column, also at 320 px', async () => {
  for (const width of [320, 390, 1440]) {
    const { page, done } = await chromium.open('', { width });
    await page.waitForSelector('#step-columns .you');
    await settled(page);
    const { values, covered, outside } = await page.locator('#step-columns').evaluate((chart) => {
      const boxOf = (one) => one.getBoundingClientRect();
      const values = [...chart.querySelectorAll('.num')];
      const columns = [...chart.querySelectorAll('.mark rect:not(.hit)')].map(boxOf);
      const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
      return {
        values: values.length,
        covered: values
          .filter((one) => columns.some((column) => meet(boxOf(one), column)))
          .map((one) => one.textContent),
        outside: values.filter((one) => boxOf(one).right > innerWidth).length,
      };
    });
    assert.ok(values >= 3, `${values} values at ${width} px`);
    assert.deepEqual([covered, outside], [[], 0], `at ${width} px`);
    await done();
  }
});

test('one GPU is in the singular, and an invisible part of a bar has no label', async () => {
  const { page } = await chromium.open(
    '#/overview?cluster=single-rtx-4090&model=llama-3.1-8b&serving=null&training.framework=fsdp&training.frozen_precision=nf4' +
      '&training.global_batch=16&training.recompute=full&training.sequence=2048&training.tokens=10+Mtoken&training.trainable=lora&v=3',
  );
  await page.waitForSelector('#step-columns');
  assert.match(plain(await page.locator('#content').innerText()), /[\d.]+ s on 1 GPU, /);
  // Three passes take all of eleven seconds except a few nanoseconds, which are not shown.
  assert.doesNotMatch(plain(await page.locator('#limit-training .labs').innerText()), /overheads|ns/);
});

test('where nothing fits there is no empty heading, and the message of the card is complete at 320 px', async () => {
  const { page } = await chromium.open('#/overview?cluster=single-rtx-4090&model=qwen3-32b&training=null&v=3', {
    width: 320,
  });
  assert.equal(await page.locator('#content h1').textContent(), 'What would fit?');
  const line = page.locator('[data-answer=serving] .next').first();
  assert.match(await line.textContent(), /4-bit weights, a smaller model or more devices$/);
  assert.ok(await line.evaluate((one) => one.scrollHeight <= one.clientHeight + 1));
});

test('after an edit, no advice on the former inputs is shown with figures or offered', async () => {
  const { page } = await chromium.open('');
  await page.waitForSelector('#advice .apply');
  assert.match(await page.locator('#advice tbody').innerText(), /[▼▲]/u);
  const shown = page.waitForFunction(() => {
    const advice = document.querySelector('#advice');
    if (!/Qwen3-235B/.test(document.querySelector('.say').textContent) || advice.getAttribute('aria-busy') !== 'true')
      return false;
    return {
      rows: advice.querySelectorAll('tbody tr').length,
      marks: /[▼▲]/u.test(advice.textContent),
      offered: advice.querySelectorAll('.apply').length,
    };
  });
  await page.evaluate(() => (location.hash = '#/overview?model=qwen3-235b-a22b&v=2'));
  assert.deepEqual(await (await shown).jsonValue(), { rows: 3, marks: false, offered: 0 });
  await page.waitForSelector('#advice .apply');
});

test('a change is applied and undone in place, and the answers follow', async () => {
  const { page } = await chromium.open('');
  await page.waitForSelector('#advice .apply');
  const before = await figures(page);
  const title = await page.locator('#advice tbody th').first().textContent();
  await page.locator('#advice .apply').first().click();
  const [was] = /[\d,.]+/.exec(before[0]);
  await page.waitForSelector(`.four .answer s:has-text("${was}")`); // the previous answer, struck out for a moment
  await page.waitForSelector('#advice .undo');
  const shown = await page.locator('#advice tbody th').allTextContents();
  assert.equal(new Set(shown).size, shown.length, 'what was applied is not offered again');
  await settled(page);
  assert.notDeepEqual(await figures(page), before);
  assert.equal(await page.locator('#advice tbody th').first().textContent(), title, 'it stays in its place');
  await page.locator('#advice .undo').click();
  await settled(page);
  assert.deepEqual(await figures(page), before);
  assert.match(page.url(), /#\/overview$/);
});

test('another cluster keeps the number of GPUs, reports its changes, and one click undoes it', async () => {
  for (const [cluster, count] of [
    ['dgx-b200', 512],
    ['hgx-mi300x', 512],
    ['gb200-nvl72', 504],
  ]) {
    const { page, done } = await chromium.open('#/overview?training.mapping.tp=8&training.mapping.pp=4&v=1');
    await noun(page, 'device').click();
    await page.waitForSelector('.picker [role=option]');
    await page.keyboard.type(cluster.replaceAll('-', ' '));
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`cluster.devices=${count}`));
    await settled(page);
    assert.equal(await page.locator('#issues').isVisible(), false, cluster);
    assert.equal((await figures(page)).filter((one) => /\d/.test(one)).length, 4, cluster);
    assert.match(await page.locator('#notice').textContent(), new RegExp(`${count} GPUs`));
    await page.locator('#notice .link').click();
    await settled(page);
    assert.match(await sentence(page), /512 H100/);
    await done();
  }
});

test('405B on 16,384 H100: a feasible answer in three actions', async () => {
  const { page } = await chromium.open('');
  await noun(page, 'model').click(); // 1
  await page.waitForSelector('.picker [role=option]');
  await page.keyboard.type('llama-3.1-405b');
  await page.keyboard.press('Enter');
  await settled(page);
  await noun(page, 'devices').click(); // 2
  await page.waitForSelector('#picker-count');
  await page.locator('#picker-count').fill('16384');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.match(await sentence(page), /Pre-train Llama-3\.1-405B on 15 T tokens with 16,384 H100/);
  assert.equal(await page.locator('#issues').isVisible(), false);
  const training = page.locator('.four .answer').first();
  if (await training.evaluate((one) => one.classList.contains('bad'))) {
    await page.waitForSelector('#advice .apply');
    await page.locator('#advice .apply').first().click(); // 3
    await settled(page);
  }
  assert.match(await training.locator('.value').textContent(), /^[\d.]+ days$/);
});

test('a custom device in four actions, from six fields', async () => {
  const { page } = await chromium.open('');
  await noun(page, 'device').click(); // 1
  await page.waitForSelector('.picker [role=option]');
  await page.keyboard.type('custom');
  await page.keyboard.press('Enter'); // 2
  await page.waitForSelector('.own-fields');
  assert.equal(await page.locator('.own-fields input').count(), 6);
  const before = await figures(page);
  await page.locator('[id="own-cluster.device.peak.bf16"]').fill('2 PFLOP/s'); // 3
  await page.locator('[id="own-cluster.device.memory.bandwidth"]').fill('8 TB/s');
  await page.locator('[id="own-cost.device.price"]').fill('$30000');
  await page.locator('#own-use').click(); // 4
  await settled(page);
  assert.match(await sentence(page), /with 512 my H100/);
  const after = await figures(page);
  for (const i of [0, 1]) assert.notEqual(after[i], before[i]);
  assert.match(await page.locator('[data-answer=cost]').textContent(), /GPU-hour, price\s\$30,000/u);
  const fp8 = page.locator('[data-path="cluster.device.peak.fp8"] input[type=text]');
  await page.locator('#open-inputs').click();
  for (const key of ['group-cluster', 'more-cluster'])
    await page.locator(`[data-key=${key}]`).evaluate((one) => (one.open = true));
  await fp8.waitFor();
  assert.match(await fp8.inputValue(), /^4\.0\d* PFLOP\/s|^400\d/, 'other formats keep their ratio');
});

test('no field shows an object as text, and no label is the last word of a path', async () => {
  const { page } = await chromium.open('#/serve');
  await settled(page); // labels of folded inputs come with the core
  for (const id of ['model', 'cluster', 'training', 'serving', 'cost'])
    await page.locator(`[data-key=more-${id}]`).evaluate((one) => (one.open = true));
  await page.waitForFunction(() => document.querySelectorAll('#form .field').length > 400);
  const fields = await page.locator('#form .field').evaluateAll((all) =>
    all.map((one) => ({
      path: one.dataset.path,
      label: one.querySelector('label').textContent,
      value: one.querySelector('input[type=text]')?.value ?? '',
    })),
  );
  assert.deepEqual(
    fields.filter(({ value }) => value.includes('[object')),
    [],
  );
  assert.deepEqual(
    fields.filter(({ label }) => /^(\d+|On)$/.test(label)),
    [],
  );
  const label = (path) => fields.find((one) => one.path === path)?.label;
  assert.equal(label('serving.engine.expert_exchange.0.units'), 'SMs that a normal kernel occupies');
  assert.equal(label('training.framework.compute.quantise.fp8'), 'Bytes per element, fp8');
  assert.equal(label('training.mapping.overlap.tp'), 'TP communication overlaps with GEMMs');
  assert.match(label('cluster.device.host.memory'), /host memory/);
});

test('800 mm² into four chiplets in four actions, against one die on the same footing', async () => {
  const { page, faults } = await chromium.open('');
  await openScene(page, 'chip'); // 1
  await page.getByRole('button', { name: 'Chiplets' }).click(); // 2
  await page.locator('[data-key=chip-partition-area]').fill('800'); // 3
  await page.locator('[data-key=chip-partition-area]').press('Enter');
  await settled(page);
  assert.match(page.url(), /cost\.device\.dies\.0\.area=800/);
  await page.waitForSelector('#partition');
  const rows = await page.locator('#partition svg .lab').allTextContents();
  assert.deepEqual(rows.slice(0, 4), ['one die', '2 dies', '4 dies', '8 dies']);
  // One die is the device itself, so no other price is shown for comparison.
  assert.doesNotMatch(await page.locator('#content').textContent(), /As published/);
  assert.deepEqual(faults, []);
});

test('one press makes a written mapping that does not fit automatic; the message names fitting values as the field does', async () => {
  const { page, faults } = await chromium.open(
    '#/overview?model=llama-3.1-405b&cluster.devices=16384&training.mapping.tp=1&training.mapping.pp=1&v=2',
  );
  await settled(page);
  const training = page.locator('.four .answer').first();
  assert.match(
    (await training.innerText()).replaceAll(/\s/gu, ' '),
    /Out of memory.*needs 2\.\d+ TiB of 79\.\d+ GiB; ZeRO-3 would fit/,
  );
  const changes = page.locator('.advice td small');
  await changes.first().waitFor();
  assert.doesNotMatch(await page.locator('.advice thead').innerText(), /years/, 'what does not run has no time');
  assert.doesNotMatch(
    await page.locator('.advice td[data-l^=Training]').first().innerText(),
    /[▼▲]/u,
    'nor anything to be held against it',
  );
  await training.getByRole('button', { name: 'Choose the mapping' }).click();
  await settled(page);
  assert.doesNotMatch(await training.innerText(), /Out of memory/);
  assert.doesNotMatch(page.url(), /mapping/);
  assert.deepEqual(faults, []);
});

test('a folded part with contradicting inputs shows no undefined degree', async () => {
  const { page } = await chromium.open('#/overview?training.mapping.tp=3&model=llama-3.1-405b&v=2');
  await settled(page);
  assert.doesNotMatch(await page.locator('#form').innerText(), /undefined/);
});
