// The sentence's question and its results: the answers, the curve and the columns that change it, a date, a budget, a
// rent.
import assert from 'node:assert/strict';
import test from 'node:test';
import { slipstickCommand } from '../support/module.js';
import { eventually, settled, site } from './browser.js';

const chromium = site();

const plain = (text) => text.replace(/\s/gu, ' ');
const sentence = async (page) => plain(await page.locator('.say').textContent());
// The command line's answer for comparison.
const command = (...words) => JSON.parse(slipstickCommand(['evaluate', ...words]));
const noun = (page, key) => page.locator(`[data-key=noun-${key}]`);
const focused = (page) => page.evaluate(() => document.activeElement.dataset.key);

test('the sentence is the control: model, count, device and task are chosen in it, by keyboard too', async () => {
  const { page, faults } = await chromium.open('');
  assert.equal(
    await sentence(page),
    'Pre-train Llama-3.1-70B on 15 T tokens with 512 H100, then serve 32 requests at once on 8 of them',
  );
  await noun(page, 'model').focus();
  await page.keyboard.press('ArrowDown');
  await page.waitForSelector('.picker [role=option]');
  await page.keyboard.type('deepseek v3');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.match(page.url(), /model=deepseek-v3/);
  assert.equal(await focused(page), 'noun-model', 'the focus is back');
  await noun(page, 'device').click();
  await page.waitForSelector('.picker [role=option]');
  await page.keyboard.type('b200');
  await page.keyboard.press('Enter');
  await settled(page);
  await noun(page, 'devices').click();
  await page.waitForSelector('#picker-count');
  await page.locator('#picker-count').fill('1024');
  await settled(page);
  assert.match(await sentence(page), /Pre-train DeepSeek-V3 on 15 T tokens with 1,024 .*B200/);
  await page.keyboard.press('Escape');
  await settled(page);
  assert.match(await sentence(page), /with 512 /, 'Escape restores');
  assert.equal(await focused(page), 'noun-devices');
  await noun(page, 'task').click();
  await page.waitForSelector('.picker [role=option]');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.match(await sentence(page), /^Serve DeepSeek-V3/);
  assert.match(page.url(), /training=null/);
  assert.deepEqual(faults, []);
});

test('letters typed in the list of tasks choose among them and do nothing else', async () => {
  const { page, faults } = await chromium.open('');
  const marked = () => page.locator('.picker [aria-selected=true]').textContent();
  const type = async (letters) => {
    await noun(page, 'task').click();
    await page.waitForSelector('.picker [role=option]');
    await page.keyboard.type(letters);
  };
  for (const [letters, wanted] of [
    ['ser', /^Serve only/],
    ['post', /^Post-train/],
    ['fine', /^Fine-tune/],
    ['pp', /^Post-train/],
  ]) {
    await type(letters);
    assert.match(await marked(), wanted, letters);
    await page.keyboard.press('Escape');
  }
  await type('serve');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.match(await sentence(page), /^Serve Llama/);
  assert.equal(await page.locator('dialog[open]').count(), 0, 'e is no shortcut here');
  assert.deepEqual(faults, []);
});

test('keys pressed while a picker loads open nothing else', async () => {
  const slow = (page) => page.route('**/report/picker.js', (route) => setTimeout(() => route.continue(), 500));
  const { page } = await chromium.open('', { prepare: slow });
  await settled(page);
  await noun(page, 'model').click();
  await page.keyboard.type('e2'); // Export, and the second tab
  await page.waitForSelector('.picker [role=option]');
  assert.equal(await page.locator('dialog[open]').count(), 0);
  assert.equal(await page.locator('#tabs [aria-current]').textContent(), 'Start');
  await page.keyboard.press('Escape');
  await page.keyboard.press('2');
  await page.waitForFunction(() => location.hash.startsWith('#/train'));
});

test('models are listed by family, newest first, and are found by any of their words', async () => {
  const { page } = await chromium.open('');
  await noun(page, 'model').click();
  await page.waitForSelector('.picker [role=option]');
  const rows = await page
    .locator('.picker li')
    .evaluateAll((all) => all.map((one) => [one.classList.contains('head'), one.textContent]));
  const heads = rows.filter(([isHead]) => isHead).map(([, text]) => text);
  assert.equal(new Set(heads.map((one) => one.toLowerCase())).size, heads.length, 'a family stands once');
  const llama = rows.slice(rows.findIndex(([isHead, text]) => isHead && text === 'Llama') + 1);
  const years = llama
    .slice(
      0,
      llama.findIndex(([isHead]) => isHead),
    )
    .map(([, text]) => Number(/(20\d\d) · /.exec(text)?.[1]));
  assert.ok(years.length > 5);
  assert.deepEqual(
    years,
    [...years].sort((a, b) => b - a),
  );
  await page.keyboard.type('qwen moe 235');
  assert.match(await page.locator('.picker [role=option]').first().textContent(), /Qwen3-235B-A22B/);
  await page.keyboard.press('Escape');
  await noun(page, 'device').click();
  await page.waitForSelector('.picker [role=option]');
  await page.keyboard.type('dgx h100');
  assert.match(
    await page.locator('.picker [role=option]').first().textContent(),
    /DGX H100.*80 GB · 3\.35\s?TB\/s · 2022/u,
  );
});

// "you: 32 at TPOT 21.7 ms", "64 requests at once: 33.1 tokens/s/user, 260 tokens/s per GPU"
const curve = (page) =>
  page.locator('#users-curve .mark').evaluateAll((all) =>
    all.flatMap((one) => {
      const [, requests, user, device] =
        /^([\d,]+) requests? at once: ([\d,.]+) tokens\/s\/user, ([\d,.]+) tokens/.exec(
          one.getAttribute('aria-label'),
        ) ?? [];
      return requests ? [[requests, user, device].map((text) => Number(text.replace(/,/g, '')))] : [];
    }),
  );

test('100 requests at once are 100 in total: the answer equals the command line’s, and tokens/s per user are shown with ms', async () => {
  const { page, faults } = await chromium.open('#/overview?model=qwen3-235b-a22b&training=null&v=3');
  await noun(page, 'requests').click();
  await page.waitForSelector('#picker-count');
  assert.equal(await page.locator('#picker-count').inputValue(), '32');
  await page.locator('#picker-count').fill('100');
  await settled(page);
  await page.keyboard.press('Enter');
  assert.match(await sentence(page), /^Serve Qwen3-235B-A22B on 8 H100, 100 requests at once$/);
  assert.match(page.url(), /serving\.concurrency=100/);
  const { serving } = command('version=3', 'model=qwen3-235b-a22b', 'training=null', 'serving.concurrency=100');
  assert.equal(serving.requests_in_flight, 100);
  const card = plain(await page.locator('[data-answer=serving]').innerText());
  assert.match(card, new RegExp(`\\b${Number((serving.tpot_s * 1000).toPrecision(3))} ?ms`));
  assert.match(card, new RegExp(`\\b${Number((1 / serving.tpot_s).toPrecision(3))} tokens/s per user`));
  assert.deepEqual(faults, []);
});

test('the curve of users against speed is monotone and passes through the answer, for any kind of load', async () => {
  for (const link of [
    'model=qwen3-235b-a22b&training=null&v=3',
    'training=null&v=3',
    'serving.batch=48&serving.concurrency=null&training=null&v=3',
    'model=llama-3.1-8b&serving.devices=1&training=null&v=2',
  ]) {
    const { page, done } = await chromium.open(`#/serve?${link}`);
    await page.waitForSelector('#users-curve .you');
    await settled(page);
    await page.waitForFunction(() => !document.querySelector('.chart.waiting'));
    const points = await curve(page);
    assert.ok(points.length >= 6, `${link}: ${points.length}`);
    if (link.startsWith('training')) assert.equal(points.at(-1)[0], 512, 'to where memory is full');
    points.slice(1).forEach(([requests, user, device], i) => {
      const [fewer, faster, less] = points[i];
      // A few requests on as many replicas never meet, so they are as fast as one.
      assert.ok(requests > fewer && user <= faster && device > less, `${link}: ${points[i]} then ${points[i + 1]}`);
    });
    // The own point lies within a pixel of the line between its neighbors.
    const off = await page.locator('#users-curve svg').evaluate((drawing) => {
      const { cx, cy } = drawing.querySelector('.you circle');
      const [x, y] = [cx.baseVal.value, cy.baseVal.value];
      const line = [...drawing.querySelector('polyline.line').points].sort((a, b) => a.x - b.x);
      const i = line.findIndex((one) => one.x >= x);
      const [a, b] = [line[Math.max(0, i - 1)], line[Math.max(1, i)]];
      return Math.abs(y - (a.y + ((b.y - a.y) * (x - a.x)) / (b.x - a.x)));
    });
    assert.ok(off < 3, `${link}: ${off} px`);
    await done();
  }
});

test('pressing the column of another number of GPUs selects it, and the answers follow', async () => {
  const { page, faults } = await chromium.open('#/overview?serving=null&v=3');
  await page.waitForSelector('#step-columns .you');
  await page.locator('#step-columns .mark[aria-label^="1,024"]').click();
  await settled(page);
  assert.match(page.url(), /cluster\.devices=1024/);
  assert.match(await sentence(page), /with 1,024 H100$/);
  const own = plain(await page.locator('#step-columns .you').getAttribute('aria-label'));
  const { training } = command('version=3', 'serving=null', 'cluster.devices=1024');
  assert.ok(own.startsWith(`1,024 GPUs: ${Number(training.step_time_s.toPrecision(3))} s`), own);
  assert.ok(
    plain(await page.locator('[data-answer=training]').innerText()).includes(own.match(/: ([\d.]+ s)/)[1]),
    'the column is the answer',
  );
  await page.locator('#step-columns .you').focus();
  for (const count of [512, 256]) {
    await page.keyboard.press('ArrowLeft');
    await eventually(async () => assert.match(await sentence(page), new RegExp(`with ${count} H100$`)));
    await settled(page);
  }
  assert.deepEqual(faults, []);
});

test('how many GPUs for 30 days: one step, with the answer that the page then shows', async () => {
  const { page, faults } = await chromium.open('#/overview?serving=null&training.tokens=2+Ttoken&v=3');
  await noun(page, 'devices').click();
  await page.waitForSelector('#picker-goal');
  for (const typed of ['30 GB', 'soon', '-3 days', '2020-01-31']) {
    await page.locator('#picker-goal').fill(typed);
    await page.locator('[data-key=goal-find]').click();
    assert.match(await page.locator('.picker .goal [role=status]').textContent(), /time such as 30 days/, typed);
    assert.equal(await page.locator('#picker-goal').getAttribute('aria-invalid'), 'true', typed);
  }
  await page.locator('#picker-goal').fill('30 days');
  const from = Date.now();
  await page.locator('[data-key=goal-find]').click();
  await page.waitForFunction(() => /The fewest/.test(document.querySelector('.picker .goal').textContent));
  const took = Date.now() - from;
  await settled(page);
  const count = Number(await page.locator('#picker-count').inputValue());
  // 696 is the first multiple of 8 from 640 to 800 that takes at most 30 days (evaluate, one at a time).
  assert.equal(count, 696);
  const days = (devices) =>
    command('version=3', 'serving=null', 'training.tokens=2 Ttoken', `cluster.devices=${devices}`).training
      .time_to_train_s / 86400;
  assert.ok(days(count) <= 30 && days(count - 8) > 30);
  assert.ok(
    plain(await page.locator('[data-answer=training] .value').innerText()).startsWith(
      String(Number(days(count).toPrecision(3))),
    ),
  );
  assert.ok(took < 30_000, `${took} ms`); // ms; 2,000 on an idle machine
  assert.deepEqual(faults, []);
});

test('an invalid count is reported at its field, and a bare number of tokens has the shown unit', async () => {
  const { page } = await chromium.open('#/overview?serving=null&v=3');
  const said = async () => plain(await page.locator('.picker > [role=status]').textContent());
  await noun(page, 'devices').click();
  await page.waitForSelector('#picker-count');
  const field = page.locator('#picker-count');
  for (const typed of ['0', '-3', 'abc', '7.5', '8 GB']) {
    await field.fill(typed);
    assert.equal(await field.getAttribute('aria-invalid'), 'true', typed);
    assert.match(await said(), /such as 512/, typed);
  }
  await field.fill('64');
  assert.deepEqual([await field.getAttribute('aria-invalid'), await said()], ['false', '']);
  await page.keyboard.press('Enter');
  await settled(page);
  await noun(page, 'tokens').click();
  await page.waitForSelector('#picker-count');
  for (const [typed, shown] of [
    ['2', /on 2 T tokens with 64/],
    ['300 billion', /on 300 G tokens with 64/],
  ]) {
    await field.fill(typed);
    await settled(page);
    assert.match(await sentence(page), shown);
  }
  await field.fill('5 GB');
  assert.match(await said(), /such as 15 T tokens/);
});

test('a budget gives the number of tokens, and an invalid target is reported', async () => {
  const { page } = await chromium.open('#/overview?serving=null&v=3');
  await noun(page, 'tokens').click();
  await page.waitForSelector('#picker-goal');
  await page.locator('#picker-goal').fill('much');
  await page.locator('[data-key=goal-find]').click();
  assert.match(await page.locator('.picker .goal [role=status]').textContent(), /such as \$2 M/);
  await page.locator('#picker-goal').fill('$2 M');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /The most/.test(document.querySelector('.picker .goal').textContent));
  await settled(page);
  assert.match(await sentence(page), /on [\d.]+ T tokens with 512/);
  const [, run] = /run \$([\d.]+) M/.exec(plain(await page.locator('[data-answer=cost]').innerText()));
  assert.ok(run <= 2 && run > 1.98, run);
});

test('rent is shown with provider and date next to ownership, and one press switches between them', async () => {
  const { page } = await chromium.open('#/overview?training=null&v=3');
  // A date is not broken at its hyphens.
  const card = async () => plain(await page.locator('[data-answer=cost]').innerText()).replaceAll('\u2011', '-');
  assert.match(await card(), /own: \$2\.\d\d per GPU-hour/);
  const [, price, provider, date] = /rent: \$([\d.]+), (\w+), (20\d\d-\d\d-\d\d)/.exec(await card());
  await page.locator('[data-key=offer-cost]').click();
  await settled(page);
  assert.ok((await card()).includes(`rent: $${price} per GPU-hour, ${provider}, ${date}`), await card());
  const [, id] = /cost\.rental=([\w-]+)/.exec(page.url());
  const { cost } = command('version=3', 'training=null', `cost.rental=${id}`);
  assert.equal(cost.device_hour_usd.toFixed(2), Number(price).toFixed(2));
  await page.locator('[data-key=offer-cost]').click();
  await settled(page);
  assert.match(await card(), /own: \$2\.\d\d per GPU-hour/);
});

test('post-training by RL is in the task menu, and Train shows its step', async () => {
  const { page } = await chromium.open('#/overview?model=llama-3.1-8b&cluster.devices=16&v=3');
  await noun(page, 'task').click();
  await page.locator('.picker [role=option]', { hasText: 'RL' }).click();
  await page.waitForSelector('#post-training-bar .mark');
  assert.match(await sentence(page), /^Post-train by RL Llama-3\.1-8B with 16 H100$/);
  await noun(page, 'task').click();
  await page.locator('.picker [role=option]', { hasText: 'Serve only' }).click();
  await settled(page);
  assert.doesNotMatch(page.url(), /post_training/);
});

test('pools of two kinds are both named, and the count is that of the pool that decodes', async () => {
  const { page } = await chromium.open(
    '#/serve?cluster=dgx-h200&cluster.devices=16&model=llama-3.3-70b&serving.disaggregated.prefill_device=rtx-pro-6000' +
      '&serving.disaggregated.prefill_devices=4&serving.disaggregated.decode_devices=8&training=null&v=3',
  );
  assert.match(
    await sentence(page),
    /^Serve Llama-3\.3-70B on 8 H200 and 4 RTX PRO 6000.* for prefill, 32 requests at once$/,
  );
  assert.equal(await noun(page, 'devices').getAttribute('data-noun'), 'serving.disaggregated.decode_devices');
});

test('another device serves as many as before, where some of the cluster serves', async () => {
  const { page } = await chromium.open('#/serve?training=null&v=3');
  assert.match(await sentence(page), /^Serve Llama-3\.1-70B on 8 H100, /);
  await noun(page, 'device').click();
  await page.locator('.picker [role=option]', { hasText: 'DGX B200' }).first().click();
  await settled(page);
  assert.match(await sentence(page), /^Serve Llama-3\.1-70B on 8 B200, /);
});
