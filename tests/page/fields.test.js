import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, settled, site, type, unfold } from './browser.js';

const chromium = site();

const field = (page, path) => page.locator(`[data-path="${path}"]`).first();
const box = (page, path) => field(page, path).locator('input[type=text]');

test('an error is shown under its field at once, with the accepted form and an example', async () => {
  const { page } = await chromium.open('#/serve');
  await box(page, 'serving.concurrency').fill('1,5');
  await page.waitForFunction(
    () => document.querySelector('[data-path="serving.concurrency"] .faults').textContent !== '',
  );
  const words = await field(page, 'serving.concurrency').locator('.faults').textContent();
  assert.match(words, /whole number/);
  assert.match(words, /comma only groups thousands/);
  assert.match(words, /for example 32/);
  assert.equal(await box(page, 'serving.concurrency').getAttribute('aria-invalid'), 'true');
  const described = await box(page, 'serving.concurrency').getAttribute('aria-describedby');
  assert.ok(described.includes(await field(page, 'serving.concurrency').locator('.faults').getAttribute('id')));
});

test('a link with an invalid input leaves the other fields of its part as they are', async () => {
  for (const [hash, other] of [
    ['#/chip?cost.system.utilisation=abc&v=3', 'cost.system.pue'],
    ['#/train?training.global_batch=abc&v=3', 'training.tokens'],
  ]) {
    const { page, faults } = await chromium.open(hash, { fresh: true });
    await settled(page);
    await unfold(page, other);
    assert.notEqual(await page.locator(`#form [data-path="${other}"] input[type=text]`).inputValue(), '', hash);
    const marked = await page
      .locator('#form .field.changed')
      .evaluateAll((all) => all.map(({ dataset }) => dataset.path));
    assert.deepEqual(marked, [], hash);
    assert.deepEqual(faults, []);
  }
});

test('all issues are listed and each leads to its field', async () => {
  const { page } = await chromium.open('#/train?training.sequence=x&serving.batch=-1&v=1');
  await settled(page);
  assert.ok((await page.locator('#issues li').count()) >= 2);
  await page.locator('#issues button.link', { hasText: 'Concurrent requests per replica' }).click();
  await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.id), 'in-serving-batch'));
});

test('contradicting degrees offer the nearest valid ones', async () => {
  // The degrees are written; unwritten ones would follow the batch.
  const written = '?cluster.devices=512&training.mapping.tp=8&training.mapping.pp=4&training.mapping.cp=1&v=1';
  const cases = [
    ['', 'training.mapping.tp', '7', /Use (TP )?[48]/],
    [written, 'training.global_batch', '100', /Use (96|112)/],
    ['', 'training.mapping.pp', '7', /Use PP [48]/],
  ];
  for (const [inputs, path, text, offer] of cases) {
    const { page } = await chromium.open(`#/train${inputs}`);
    await type(page, path, text);
    const fix = page.locator('#issues .nearest, .faults .nearest').filter({ hasText: offer }).first();
    await fix.click();
    await settled(page);
    assert.equal(await page.locator('#issues').isVisible(), false, path);
  }
});

test('a rent is picked by provider, terms and day', async () => {
  const { page } = await chromium.open('#/chip?cost.rental=coreweave-h100-on-demand');
  await page.locator('[data-key="more-cost"] > summary').click();
  const rent = field(page, 'cost.rental').locator('select');
  await rent.waitFor();
  const names = await rent.locator('option').allTextContents();
  assert.ok(names.length > 20 && names.includes('Lambda B200, on demand, 2026-09-20'), names.join('\n'));
  assert.match(await rent.locator('option:checked').textContent(), /^CoreWeave H100.*on demand, 2026-\d\d-\d\d$/);
});

test('the mapping is chosen and says why; one value is held and the rest stays chosen; one click chooses all again', async () => {
  const { page } = await chromium.open('#/train');
  const mapping = page.locator('[data-key="mapping-training"]');
  const value = async (path) => await box(page, `training.mapping.${path}`).inputValue();
  assert.equal(await mapping.locator('.state').textContent(), 'automatic');
  assert.equal(await box(page, 'training.mapping.tp').isVisible(), false, 'folded');
  await mapping.locator('summary').click();
  const reasons = await mapping.locator('.chosen-why:visible').allTextContents();
  assert.ok(reasons.length >= 8, `${reasons.length}`);
  for (const reason of reasons) assert.match(reason, /^[A-Z].*\.$/);
  const before = await value('tp');
  await type(page, 'training.mapping.tp', '2');
  assert.equal(await mapping.locator('.state').textContent(), 'automatic, 1 fixed');
  assert.equal(await field(page, 'training.mapping.tp').locator('.chosen-why').isVisible(), false);
  assert.equal(await field(page, 'training.mapping.pp').locator('.chosen-why').isVisible(), true);
  await page.locator('[data-key="choose-training"]').click();
  await settled(page);
  assert.equal(await value('tp'), before);
  assert.match(page.url(), /#\/train$/);
});

test('a link of the first version keeps its mapping, which can be left to the core', async () => {
  const { page } = await chromium.open('#/train?serving=null&v=1');
  await settled(page);
  const mapping = page.locator('[data-key="mapping-training"]');
  assert.equal(await mapping.locator('.state').textContent(), 'manual');
  assert.equal(await box(page, 'training.mapping.tp').inputValue(), '8');
  await page.locator('[data-key="choose-training"]').click();
  await settled(page);
  assert.equal(await mapping.locator('.state').textContent(), 'automatic');
  assert.match(page.url(), /v=1&r=[\d.]+$/);
});

test('the load is chosen in one place: inputs of other loads are hidden, and the sentence follows', async () => {
  const { page } = await chromium.open('#/serve');
  const shown = (path) => box(page, path).isVisible();
  assert.deepEqual(
    [await shown('serving.concurrency'), await shown('serving.batch'), await shown('serving.requests_per_s')],
    [true, false, false],
  );
  await page.locator('.load [data-load=rate]').click();
  await settled(page);
  assert.deepEqual(
    [await shown('serving.concurrency'), await shown('serving.batch'), await shown('serving.requests_per_s')],
    [false, false, true],
  );
  assert.ok(Number(await box(page, 'serving.requests_per_s').inputValue()) > 0);
  assert.doesNotMatch(await page.locator('.say').textContent(), /concurrent requests/);
  await page.locator('.load [data-load=batch]').click();
  await settled(page);
  assert.equal(await shown('serving.batch'), true);
  assert.match(page.url(), /serving\.concurrency=null/);
});

test('any input is found by its words and reached by the keyboard', async () => {
  const { page } = await chromium.open('#/train');
  await settled(page);
  await page.locator('#form-search').focus();
  await page.keyboard.type('electricity');
  assert.match(await page.locator('#form-found [aria-selected=true]').textContent(), /cost\.electricity/);
  await page.keyboard.press('Enter');
  await eventually(async () =>
    assert.equal(await page.evaluate(() => document.activeElement.id), 'in-cost-electricity'),
  );
  assert.equal(await page.locator('#form-found').isHidden(), true);
});

test('a device is picked in the form like the model in the sentence: by vendor, by its words, by keyboard', async () => {
  const { page, faults } = await chromium.open('#/train');
  await page.locator('#in-cluster-device').focus();
  await page.keyboard.press('ArrowDown');
  await page.waitForSelector('.picker [role=option]');
  assert.ok((await page.locator('.picker .head').allTextContents()).includes('NVIDIA'));
  await page.keyboard.type('h200');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.match(page.url(), /cluster\.device=h200/);
  assert.match(await page.locator('#in-cluster-device').textContent(), /H200/);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'in-cluster-device', 'the focus is back');
  await page.locator('[data-path="cluster.devices"] input[type=text]').focus();
  assert.deepEqual(faults, []);
});

test('any numeric input can be the unknown, and an answer can be taken', async () => {
  const { page } = await chromium.open('#/memory');
  await box(page, 'serving.prompt').focus();
  await field(page, 'serving.prompt').locator('.unknown').click();
  await page.locator('#solve-to').fill('16M'); // one request fits even at the end of the field's range
  await page.locator('#solve-run').click();
  await page.waitForSelector('#solve-take');
  assert.match(await page.locator('.solved').textContent(), /Prompt tokens: fits up to [\d,]+/);
  await page.locator('#solve-take').click();
  await settled(page);
  const prompt = Number(await box(page, 'serving.prompt').inputValue());
  assert.ok(prompt > 2048);
  await box(page, 'serving.prompt').focus();
  await field(page, 'serving.prompt').locator('.unknown').click();
  await page.locator('#solve-from').fill(String(prompt * 2));
  await page.locator('#solve-to').fill(String(prompt * 4));
  await page.locator('#solve-run').click();
  await page.waitForFunction(() => /No value/.test(document.querySelector('.solved').textContent));
});

test('a preset shows its source and year, and says when it was changed', async () => {
  const { page } = await chromium.open('#/serve');
  await field(page, 'cluster.device').locator('.menu').focus();
  await page.waitForFunction(() =>
    [...document.querySelectorAll('[data-path="cluster.device"] .help')].some((one) =>
      /Source: .*\d{4}/.test(one.textContent),
    ),
  );
  await type(page, 'cluster.device.memory.bandwidth', '4 TB/s');
  assert.match(await field(page, 'cluster.device').locator('.echo').textContent(), /changed from the preset/);
});

test('a tap right after typing hits its target', async () => {
  const { page } = await chromium.open('#/serve', { width: 360, height: 740, hasTouch: true });
  await page.locator('#open-inputs').tap();
  await page.locator('[data-key="group-serving"] > summary').tap();
  const prompt = box(page, 'serving.prompt');
  await prompt.tap();
  await page.keyboard.type('0');
  const more = page.locator('[data-key="more-serving"] > summary');
  await more.scrollIntoViewIfNeeded();
  const at = await more.boundingBox();
  await page.touchscreen.tap(at.x + 20, at.y + at.height / 2);
  assert.equal(await page.locator('[data-key="more-serving"]').evaluate((one) => one.open), true, 'by touch');
  await prompt.focus();
  await page.waitForSelector('[data-path="serving.prompt"] .help:visible');
  await more.scrollIntoViewIfNeeded();
  const again = await more.boundingBox();
  await page.mouse.move(again.x + 20, again.y + again.height / 2);
  await page.mouse.down();
  await page.waitForTimeout(120);
  await page.mouse.up();
  assert.equal(await page.locator('[data-key="more-serving"]').evaluate((one) => one.open), false, 'by mouse');
});

test('fields made while the description of the inputs loads have its labels', async () => {
  const openMore = () => {
    const early = new MutationObserver(() => {
      const more = document.querySelector('[data-key="more-cluster"]');
      if (!more) return;
      early.disconnect();
      more.open = true;
    });
    early.observe(document, { subtree: true, childList: true });
  };
  const { page } = await chromium.open('', { prepare: (one) => one.addInitScript(openMore) });
  await page.waitForSelector('[data-key="more-cluster"] .section', { state: 'attached' });
  const names = await page.locator('[data-key="more-cluster"]').locator('h4, label').allTextContents();
  assert.deepEqual(
    names.filter((name) => /^\d+\b/.test(name.trim())),
    [],
  );
  assert.ok(
    (await page.locator('[data-key="more-cluster"] option').allTextContents()).includes('Textbook (α-β)'),
    'choices by their names',
  );
});

test('a number and its unit in a name stay on one line, and a part that is off says so', async () => {
  const { page } = await chromium.open('#/train');
  await page.waitForSelector('.published');
  assert.match(await page.locator('.published').textContent(), /SXM5 80\u00a0GB/);
  assert.equal(await page.locator('[data-key="group-post_training"] .chosen').textContent(), 'off');
});
