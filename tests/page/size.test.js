// What to buy for a traffic: the journey in at most five actions, the link that keeps the question, the deployment as a
// scenario.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, settled, site } from './browser.js';

const chromium = site();

const enter = async (page, id, text) => {
  await page.locator(`#${id}`).fill(text);
  await page.keyboard.press('Enter');
};
const sized = (page) =>
  page.waitForFunction(() => / sized in /.test(document.getElementById('size-progress')?.textContent));
const plain = (text) => text.replaceAll(/\s+/g, ' ');

test('100 requests/s within 1 s and 40 ms: five actions from the first screen to a deployment that serves them', async () => {
  const { page, faults } = await chromium.open('');
  await page.locator('[data-scene="size"]').first().click(); // 1
  await page.locator('#size-rate').waitFor();
  const cut = await page
    .locator('.size-fields label')
    .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
  assert.deepEqual(cut, [], 'names of fields are whole');
  await enter(page, 'size-rate', '100'); // 2
  await enter(page, 'size-ttft', '1 s'); // 3
  await enter(page, 'size-tpot', '40 ms'); // 4
  await sized(page);
  const words = plain(await page.locator('.size-answer').textContent());
  assert.match(
    words,
    /^For Llama-3\.1-70B at 100 requests\/s the cheapest cluster is \d+ × \S+, \$[\d.,]+ per hour\. \w+ breaks first, at [\d.,]+ requests\/s \(\+[\d.]+ %\)\.$/,
  );
  assert.match(page.url(), /#\/size\?size=rate:100&v=\d&r=[\d.]+$/, 'what is as at the start is not in the link');
  const costs = (await page.locator('.size-table .first').allTextContents()).map((one) =>
    Number(one.replace(/[$,]/g, '')),
  );
  assert.ok(costs.length >= 5, `${costs.length} clusters hold`);
  assert.deepEqual(
    costs,
    [...costs].sort((a, b) => a - b),
    'cheapest first',
  );
  assert.match(
    plain(await page.locator('#size-pools').textContent()),
    /[Ss]eparate pools for prefill and decode.*\d+ \+ \d+ GPUs.*\$[\d.,]+ per hour/,
  );
  await page.locator('#size-use').click(); // 5
  await settled(page);
  const report = await page.evaluate(() => location.hash);
  assert.match(report, /serving\.requests_per_s=100/);
  assert.equal(await page.locator('.answer.bad').count(), 0, 'it serves them');
  assert.deepEqual(faults, []);
});

test('a link restores the question: fields, clusters and answer', async () => {
  const hash = '#/size?serving.output=300&size=rate:40/ttft:800+ms/spare:1/on:dgx-h100,dgx-b200&v=1';
  const { page, faults } = await chromium.open(hash);
  await sized(page);
  assert.equal(await page.locator('#size-rate').inputValue(), '40');
  assert.equal(await page.locator('#size-ttft').inputValue(), '800 ms');
  assert.equal(await page.locator('#size-spare').inputValue(), '1');
  assert.equal(await page.locator('#size-serving-output').inputValue(), '300');
  assert.equal(await page.locator('.size-table tbody tr').count(), 2);
  await enter(page, 'size-rate', 'many');
  assert.equal(await page.locator('#size-rate').getAttribute('aria-invalid'), 'true');
  assert.match(page.url(), /rate:40/, 'what cannot be read changes nothing');
  assert.deepEqual(faults, []);
});

test('without a cluster or without cost there is no answer, and both come back', async () => {
  const { page, faults } = await chromium.open('#/size?size=on:dgx-h100&v=3');
  await sized(page);
  const said = (words) =>
    page.waitForFunction((some) => document.querySelector('.size-answer').textContent.startsWith(some), words);
  await said('For Llama');
  await page.locator('.size [data-key=size-clusters] > summary').click();
  await page.locator('[data-key=size-on-dgx-h100]').uncheck();
  await said('Choose at least one cluster');
  assert.equal(await page.locator('.size-table').count(), 0);
  await page.locator('[data-key=size-on-dgx-h100]').check();
  await said('For Llama');
  assert.equal(await page.locator('.size-table tbody tr').count(), 1);
  await page.evaluate(() => (location.hash += '&cost=null'));
  await said('Sizing needs');
  await page.goBack();
  await said('For Llama');
  assert.equal(await page.locator('.size-table tbody tr').count(), 1);
  assert.deepEqual(faults, []);
});

test('texts that Size does not understand, typed or in the link, are reported at their field; a token speed is a target for TPOT', async () => {
  const { page, faults } = await chromium.open('#/size?size=tpot:30+tokenss/on:dgx-h100&v=2');
  const fault = page.locator('#size-tpot-fault');
  await page.waitForFunction(() => document.querySelector('#size-tpot-fault')?.textContent);
  assert.match(
    await fault.textContent(),
    /^Not understood: “30 tokenss”\. Enter a time such as 40 ms, or a speed such as 25 tokens\/s\.$/,
  );
  assert.equal(await page.locator('#size-tpot').getAttribute('aria-invalid'), 'true');
  assert.match(await page.locator('.size-answer').textContent(), /Correct the marked field/);
  await enter(page, 'size-tpot', '30 tokens/s');
  await sized(page);
  assert.equal(await page.locator('#size-tpot').getAttribute('aria-invalid'), 'false');
  assert.equal(await fault.textContent(), '');
  assert.match(page.url(), /tpot:30\+tokens\/s/);
  const tpot = Number(await page.locator('.size-table [data-name^="TPOT"]').first().textContent());
  assert.ok(tpot <= 1000 / 30, `${tpot} ms`);
  await enter(page, 'size-rate', '100 users');
  assert.equal(await page.locator('#size-rate').getAttribute('aria-invalid'), 'true');
  await page.locator('#size-ttft').focus();
  assert.equal(await page.locator('#size-rate').inputValue(), '100 users', 'it stays to be corrected');
  assert.doesNotMatch(page.url(), /rate:/, 'the link keeps what was understood');
  assert.deepEqual(faults, []);
});

test('the cost in steps against the rate; ← and → on the red line change the rate; the job can be stopped', async () => {
  const { page, faults } = await chromium.open('#/size?size=on:dgx-h100,dgx-b200&v=1');
  await sized(page);
  const chart = page.locator('#size-steps');
  assert.ok((await chart.locator('polyline').count()) === 2);
  // Costs never fall with the rate.
  for (const points of await chart
    .locator('polyline')
    .evaluateAll((all) => all.map((one) => one.getAttribute('points')))) {
    const heights = points.split(' ').map((one) => Number(one.split(',')[1]));
    assert.ok(
      heights.every((y, i) => i === 0 || y <= heights[i - 1] + 0.2),
      points,
    );
  }
  await chart.locator('.drag').focus();
  await page.keyboard.press('ArrowRight');
  await eventually(async () => assert.equal(await page.locator('#size-rate').inputValue(), '25'));
  await sized(page); // else the button may still be that of the previous question
  // A question for all clusters, stopped at once, ends within a second.
  await page.evaluate(() => {
    location.hash = '#/size?model=deepseek-v3&serving.prompt=8k&v=1';
    return new Promise((done) => {
      const watch = setInterval(() => {
        const stop = document.querySelector('[data-key="size-stop"]');
        if (!stop?.checkVisibility()) return;
        clearInterval(watch);
        done(stop.click());
      }, 5);
    });
  });
  await eventually(async () => assert.match(await page.locator('#size-progress').textContent(), /^Stopped/));
  assert.deepEqual(faults, []);
});

test('a day in the field of the peak gives the mean idle share', async () => {
  const { page, faults } = await chromium.open('#/size?size=rate:40/on:dgx-h100&v=1');
  await sized(page);
  const idle = () => page.locator('.size-table tbody tr').textContent();
  assert.doesNotMatch(plain(await idle()), /on average over the day/);
  await enter(page, 'size-peak', '1, 1, 2, 4');
  await eventually(async () =>
    assert.match(plain(await idle()), /\d+(\.\d+)? % of the GPUs idle on average over the day/),
  );
  assert.deepEqual(faults, []);
});

test('a mixture of classes: each with its latencies and its share of the cost, and the link that holds it', async () => {
  const { page, faults } = await chromium.open('#/size?model=llama-3.1-8b&size=on:dgx-h100&v=1');
  await sized(page);
  assert.equal(await page.locator('.size-classes').count(), 0, 'every request alike');
  await enter(page, 'size-mix', 'chat');
  assert.match(plain(await page.locator('#size-mix-fault').textContent()), /such as 0\.7:1000\/300, 0\.3:8000\/200/);
  await enter(page, 'size-mix', '0.75:1000/300, 0.25:8000/200');
  await page.locator('.size-classes').waitFor();
  await sized(page);
  assert.match(decodeURIComponent(page.url()), /mix:0\.75:1000\/300,[+ ]0\.25:8000\/200/);
  const rows = page.locator('.size-classes tbody tr');
  assert.deepEqual((await rows.locator('th').allTextContents()).map(plain), [
    '1,000 → 300 tokens',
    '8,000 → 200 tokens',
  ]);
  const shares = (await rows.locator('[data-name="Cost"]').allTextContents()).map((one) => parseFloat(one));
  assert.equal(shares[0] + shares[1], 100, 'all of the cost');
  const first = (await rows.locator('[data-name^="TTFT"]').allTextContents()).map(Number);
  assert.ok(first[1] > first[0], 'long prompts answer later');
  assert.ok(await page.locator('#size-serving-prompt').isDisabled(), 'no length of the scenario counts');
  await enter(page, 'size-mix', '');
  await sized(page);
  assert.ok(await page.locator('#size-serving-prompt').isEnabled());
  assert.equal(await page.locator('.size-classes').count(), 0);
  assert.deepEqual(faults, []);
});

test('classes on two pools, if these cost less, and their mean idle share over a day', async () => {
  const { page, faults } = await chromium.open(
    '#/size?model=llama-3.1-8b&size=rate:150/mix:0.75:1000/300,0.25:8000/200/tpot:12+ms/on:dgx-h100&v=1',
  );
  await sized(page);
  assert.match(plain(await page.locator('#size-pools').textContent()), /% less than on one pool/);
  const tables = page.locator('.size-classes');
  assert.equal(await tables.count(), 2);
  assert.match(plain(await tables.nth(1).locator('caption').textContent()), /on two pools of/);
  const shares = (await tables.nth(1).locator('tbody [data-name="Cost"]').allTextContents()).map((one) =>
    parseFloat(one),
  );
  assert.equal(shares[0] + shares[1], 100, 'all of the cost');
  await enter(page, 'size-peak', '1, 1, 2, 4');
  await sized(page);
  assert.match(
    plain(await page.locator('#size-pools').textContent()),
    /[Oo]n average over the day, \d+ % of them are idle/,
  );
  assert.deepEqual(faults, []);
});

// By Little's law, 500 users whose requests take 12.6 s send 500 / 12.6 = 39.7 a second.
test('the rate of a scenario that counts its users is a press away', async () => {
  const { page, faults } = await chromium.open(
    '#/size?cluster=dgx-h200&cluster.devices=16&model=qwen3-235b-a22b&serving.concurrency=500&serving.devices=16&training=null&v=3',
  );
  await page.waitForSelector('[data-key=size-served]');
  const said = await page.locator('.size-group .note').first().innerText();
  const [, users, rate] = /, ([\d,]+) requests at once, serves ([\d.]+) requests\/s/.exec(said.replaceAll(/\s/g, ' '));
  assert.equal(users, '500');
  await page.locator('[data-key=size-served]').click();
  await eventually(async () => assert.equal(await page.locator('#size-rate').inputValue(), rate));
  assert.equal(await page.locator('[data-key=size-served]').count(), 0, 'nothing is left to take');
  assert.match(page.url(), new RegExp(`size=rate:${rate}&`));
  await page.evaluate(() => (location.hash = location.hash.replace('#/size', '#/serve')));
  const latency = page.locator('.figures > *', { hasText: 'End-to-end latency' });
  await latency.waitFor();
  const [, seconds] = /([\d.]+)/.exec((await latency.innerText()).replace('End-to-end latency', ''));
  assert.ok(Math.abs(500 / Number(seconds) / Number(rate) - 1) < 0.01, `${seconds} s`);
  assert.deepEqual(faults, []);
});
