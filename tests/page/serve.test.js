// Serve shows what its sentence announces: the parts of TPOT and TTFT, the operating point, operators by share, and a
// trace to download.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { slipstickCommand } from '../support/module.js';
import { eventually, settled, site, type } from './browser.js';

const chromium = site();

const plain = (text) => text.replaceAll(/\s+/g, ' ');
const labels = (page, id) =>
  page.locator(`#${id} .mark`).evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
// Operators of version 1's decode step, from the command line.
const decodeStep = () => JSON.parse(slipstickCommand(['evaluate', 'version=1'])).serving.operators.decode;
// "weights: 4.33 ms, 21.8 %" -> ['weights', 0.218]
const shares = (list) =>
  Object.fromEntries(list.map((one) => [one.split(':')[0], Number(/([\d.]+)\s%$/.exec(one)[1]) / 100]));

test('times and costs of runs that cannot run are struck out with the reason, but the memory that they need is not', async () => {
  const { page } = await chromium.open('#/train?cluster.devices=8&model=llama-3.1-405b&serving.requests_per_s=500&v=3');
  await settled(page);
  const figures = () =>
    page
      .locator('.figure')
      .evaluateAll((all) =>
        all.map((one) => [
          one.dataset.figure,
          one.querySelector('s.shown') !== null,
          one.querySelector('.trouble')?.textContent.trim(),
        ]),
      );
  for (const [, isStruck, words] of await figures()) assert.deepEqual([isStruck, words], [true, 'out of memory']);
  assert.doesNotMatch(await page.locator('h1').textContent(), /\d/);
  assert.match(await page.locator('.infeasible').textContent(), /if it could run\.$/);
  await page.locator('#tabs [data-scene=serve]').click();
  await settled(page);
  const served = Object.fromEntries((await figures()).map(([path, ...rest]) => [path, rest]));
  assert.deepEqual(served['serving.tpot_s'], [true, 'overloaded']);
  assert.deepEqual(served['serving.max_batch'], [false, undefined]);
  await page.locator('#tabs [data-scene=chip]').click();
  await settled(page);
  const priced = Object.fromEntries((await figures()).map(([path, ...rest]) => [path, rest]));
  assert.deepEqual(priced['training.cost_usd'], [true, 'out of memory']);
  assert.deepEqual(priced['cost.device_usd'], [false, undefined]);
});

test('the sentence names the largest part of the bar, with its share', async () => {
  const { page, faults } = await chromium.open('#/serve?serving.concurrency=null&v=3'); // the default: 32 on each of two replicas
  await settled(page);
  const tpot = shares(await labels(page, 'tpot-bar'));
  assert.ok(tpot['other users’ prefills'] > 0.4 && tpot.weights > 0.1 && tpot.scheduler > 0);
  assert.ok(Math.abs(Object.values(tpot).reduce((a, b) => a + b) - 1) < 0.01, 'the parts are the whole');
  const said = plain(await page.locator('.serve-answer').textContent());
  assert.match(
    said,
    new RegExp(
      `^${Number((100 * tpot['other users’ prefills']).toPrecision(3))} % is other users’ prompts: each of the 31 others`,
    ),
  );
  const ttft = shares(await labels(page, 'ttft-bar'));
  assert.ok(ttft['request handling'] > 0 && ttft['matrix products'] > 0.1 && ttft['all-reduce'] > 0.1);
  await type(page, 'serving.concurrency', '1');
  const alone = shares(await labels(page, 'tpot-bar'));
  assert.equal(alone['other users’ prefills'], undefined);
  assert.match(plain(await page.locator('.serve-answer').textContent()), /matrix products/);
  assert.deepEqual(faults, []);
});

test('no text of a chart touches another, at three widths', async () => {
  const { page } = await chromium.open('#/serve');
  for (const width of [320, 768, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    for (const id of ['tpot-bar', 'ttft-bar', 'users-curve', 'roofline']) {
      const touching = await page.locator(`#${id} .drawing svg text:not([transform])`).evaluateAll((all) => {
        const boxes = all
          .filter((one) => one.textContent.trim())
          .map((one) => ({ text: one.textContent, box: one.getBoundingClientRect() }));
        const hit = (a, b) =>
          a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
        return boxes.flatMap((a, i) =>
          boxes
            .slice(i + 1)
            .filter((b) => hit(a.box, b.box))
            .map((b) => `${a.text} | ${b.text}`),
        );
      });
      assert.deepEqual(touching, [], `${id} at ${width}`);
    }
  }
});

test('the curve shows the scenario, the service level and the largest load that meets it; an arrival rate keeps the curve', async () => {
  const { page, faults } = await chromium.open('#/serve?v=1');
  await page.waitForSelector('#users-curve .you');
  await page.waitForFunction(() => /is the most within/.test(document.querySelector('#users-curve').textContent));
  const words = await page.locator('#users-curve').textContent();
  const answer = plain(await page.locator('.four .answer', { hasText: 'Inference latency' }).first().textContent());
  const [, tpot] = /you: 32 at TPOT (\d+\.\d) ms/.exec(plain(words));
  assert.ok(answer.includes(tpot), `${tpot} in ${answer}`);
  assert.match(plain(words), /\d+ is the most within 40 ms/);
  await page.goto(`${chromium.base}#/serve?serving.requests_per_s=2&v=1`);
  await settled(page);
  await page.waitForSelector('#users-curve .you');
  assert.ok((await page.locator('#users-curve .mark').count()) > 8, 'more than the one point of the load');
  assert.deepEqual(faults, []);
});

test('dragging the own point along the curve updates all answers before release', async () => {
  const { page, faults } = await chromium.open('#/serve?v=1');
  await page.waitForSelector('#users-curve .measured'); // measured points come last and move the chart
  await settled(page);
  const middle = async (selector) => {
    const { x, y, width, height } = await eventually(
      async () => (await page.locator(selector).boundingBox()) ?? assert.fail(selector),
    );
    return [x + width / 2, y + height / 2];
  };
  await eventually(() => page.locator('#users-curve .you').scrollIntoViewIfNeeded()); // the chart may be redrawn
  const answer = () => page.locator('.four .answer .value').nth(1).textContent();
  const before = await answer();
  const to = await middle('#users-curve .mark[aria-label^="128 "]');
  await page.mouse.move(...(await middle('#users-curve .you')));
  await page.mouse.down();
  await page.mouse.move(to[0] + 20, to[1], { steps: 4 });
  await page.mouse.move(...to, { steps: 4 });
  await page.waitForURL(/serving\.concurrency=128/);
  await settled(page);
  assert.notEqual(await answer(), before, 'while the button is down');
  await page.mouse.up();
  await page.mouse.move(to[0] - 80, to[1]);
  await settled(page);
  assert.match(page.url(), /serving\.concurrency=128/, 'it stays where it was let go');
  assert.deepEqual(faults, []);
});

test('published runs of the model on its family of devices are drawn next to the curve, if there are any', async () => {
  const { page, faults } = await chromium.open('#/serve?v=1');
  await page.waitForSelector('#users-curve .measured');
  const { rows } = JSON.parse(readFileSync(new URL('../../core/presets/evidence/inferencemax.json', import.meta.url)));
  const { value, serving } = rows.find(({ id }) => id === 'llama-3.1-70b-h100-sxm-vllm-fp8-1024x8192-c64-tp4-tpot');
  const user = 1 / value;
  const device = serving.concurrency / value / serving.devices;
  const said = (await labels(page, 'users-curve')).map(plain);
  const one = said.find((label) => /^measured: Llama-3\.1-70B on 4 × H100.*922 → 7,373, 64 concurrent/.test(label));
  const [, toUser, perDevice] = /: ([\d.]+) tokens\/s\/user, ([\d.]+) tokens\/s per GPU$/.exec(one);
  assert.ok(Math.abs(toUser / user - 1) < 0.005 && Math.abs(perDevice / device - 1) < 0.005, one);
  assert.match(
    plain(await page.locator('#users-curve').textContent()),
    /published runs of this model on this family of GPUs/,
  );
  assert.deepEqual(
    said.filter((label) => /^measured:.*(MI300X|A100|B200)/.test(label)),
    [],
    'of its family only',
  );
  await page.goto(`${chromium.base}#/serve?model=falcon-40b&v=1`);
  await settled(page);
  await page.waitForFunction(() =>
    /is the most within|out of memory/.test(document.querySelector('#users-curve')?.textContent),
  );
  assert.equal(await page.locator('#users-curve .measured').count(), 0);
  assert.deepEqual(faults, []);
});

test('the area of a roofline mark is its share of the step over all layers; the four largest are named', async () => {
  const { page } = await chromium.open('#/serve?v=1');
  await settled(page);
  const marks = await page
    .locator('#roofline .dot:not(.other)')
    .evaluateAll((all) => all.map((one) => ({ label: one.getAttribute('aria-label'), size: one.getBBox().width })));
  const of = (name) => marks.find(({ label }) => label.includes(name));
  assert.ok(of('LM head').size < of('gate+up').size, 'once per step is small beside 80 layers');
  for (const name of ['attention', 'gate+up projection', 'down projection', 'QKV projection'])
    assert.match(await page.locator('#roofline .drawing').textContent(), new RegExp(name.replace('+', '\\+')));
  const rows = await page.locator('.operators tbody tr').evaluateAll((all) => all.map((row) => row.textContent));
  assert.equal(rows.length, 11, 'operators without arithmetic too');
  const [most] = decodeStep().sort((a, b) => b.time_s * b.count - a.time_s * a.count);
  assert.equal(most.name, 'all-reduce');
  assert.ok(plain(rows[0]).startsWith(`all-reduce160 × ${Number((most.time_s * 1e6).toPrecision(3))} µs`), rows[0]);
});

test('a decode step as a trace: events in Chrome’s format that add up to the step', async () => {
  const { page } = await chromium.open('#/serve?v=1');
  await settled(page);
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#serve-trace').click()]);
  const trace = JSON.parse(readFileSync(await download.path()));
  const events = trace.traceEvents.filter(({ ph }) => ph === 'X');
  assert.equal(events.filter(({ name }) => name === 'all-reduce').length, 160);
  assert.equal(events.filter(({ name }) => name === 'LM head').length, 1);
  const total = events.reduce((sum, { dur }) => sum + dur, 0);
  const step = decodeStep().reduce((sum, { time_s: seconds, count }) => sum + seconds * count, 0);
  assert.ok(Math.abs(total / (step * 1e6) - 1) < 0.01, `${total} µs`);
  assert.ok(events.every(({ ts }, i) => i === 0 || ts >= events[i - 1].ts));
});

test('a training step as a trace: a row per stage, passes that do not overlap', async () => {
  const { page } = await chromium.open('#/train?v=1');
  await page.waitForSelector('#train-trace');
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#train-trace').click()]);
  const events = JSON.parse(readFileSync(await download.path())).traceEvents.filter(({ ph }) => ph === 'X');
  assert.equal(new Set(events.map(({ tid }) => tid)).size, 4);
  for (const stage of [1, 2, 3, 4]) {
    const own = events.filter(({ tid }) => tid === stage).sort((a, b) => a.ts - b.ts);
    assert.ok(
      own.every(({ ts }, i) => i === 0 || ts >= own[i - 1].ts + own[i - 1].dur - 1),
      `stage ${stage}`,
    );
  }
});

test('rate, latency and requests in flight of one screen obey Little’s law', async () => {
  const { page } = await chromium.open('#/serve?v=1');
  await settled(page);
  const figure = async (path) =>
    Number((await page.locator(`.figure[data-figure="${path}"] .shown`).textContent()).replace(/[^\d.].*$/, ''));
  const latency = await figure('serving.request_latency_s');
  const rate = 8 * (await figure('serving.tokens_per_s_per_device'));
  assert.ok(Math.abs((rate * latency) / (32 * 256) - 1) < 0.01, `${rate} tokens/s, ${latency} s`);
});

test('two pools of different devices have separate costs, which add up to the cost of a token', async () => {
  const asked = [
    'cluster=dgx-h200',
    'cluster.devices=16',
    'training=null',
    'serving.disaggregated.prefill_devices=8',
    'serving.disaggregated.decode_devices=8',
    'serving.disaggregated.prefill_device=l40s',
  ];
  const { page, faults } = await chromium.open(`#/serve?${asked.join('&')}&v=3`);
  await settled(page);
  const { serving } = JSON.parse(slipstickCommand(['evaluate', 'version=3', ...asked]));
  const shown = async (path) =>
    Number(/[\d.]+/.exec(await page.locator(`[data-figure="${path}"] dd`).textContent())[0]);
  const costs = [];
  for (const pool of ['prefill', 'decode']) {
    costs.push(await shown(`serving.pools.${pool}.cost_usd_per_million_tokens`));
    const own = serving.pools[pool].cost_usd_per_million_tokens;
    assert.ok(Math.abs(costs.at(-1) / own - 1) < 0.01, `${costs.at(-1)} is not ${own}`);
  }
  const whole = await shown('serving.cost_usd_per_million_tokens');
  assert.ok(Math.abs((costs[0] + costs[1]) / whole - 1) < 0.01);
  await page.evaluate(() => (location.hash = '#/serve?training=null&v=3'));
  await settled(page);
  assert.equal(await page.locator('[data-figure^="serving.pools"]').count(), 0);
  assert.deepEqual(faults, []);
});
