// A file of recorded requests, chosen in Explore and played in the browser.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, site, type } from './browser.js';

const chromium = site();

const plain = (text) => text.replaceAll(/\s+/g, ' ');
const line = (at, blocks) =>
  JSON.stringify({ timestamp: at, input_length: 1500, output_length: 50, hash_ids: blocks }) + '\n';
// Three prompts of 1,500 tokens: the second finds two blocks of 512, the third one: 34.1 %.
const TRACE = line(0, [0, 1, 2]) + line(9000, [0, 1, 3]) + line(20000, [0, 4, 5]);
const fileOf = (text) => ({ name: 'trace.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(text) });

test('a trace chosen as a file is replayed, answered in a table and a chart, and sent nowhere', async () => {
  const { page, faults } = await chromium.open('#/explore/replay?model=llama-3.1-8b&v=1');
  await page.waitForSelector('#replay');
  const sent = [];
  page.on('request', (request) => sent.push(request.postData() ?? ''));
  await page.getByLabel('TTFT at most').fill('1 s');
  await page.getByLabel('File of requests').setInputFiles(fileOf(TRACE));
  await page.waitForSelector('#replay-facts');
  const facts = plain(await page.locator('#replay-facts').innerText());
  assert.match(facts, /Requests 3 /);
  assert.match(facts, /Mean arrival rate 0\.1 requests\/s/); // two gaps in 20 s
  assert.match(facts, /Prefix-cache hit rate 34\.1 % Hit rate with unlimited memory 34\.1 %/);
  assert.match(plain(await page.locator('#replay-spread').innerText()), /Prompt tokens 1,500 1,500 1,500 1,500/);
  assert.match(plain(await page.locator('#replay-needed').innerText()), /^It needs \d+ GPUs?, 1 replicas?/);
  assert.ok((await page.locator('#replay-chart .mark, #replay-chart path').count()) > 0);
  assert.match(page.url(), /explore=replay/);
  assert.ok(!page.url().includes('input_length'), 'the file is not in the link');
  assert.ok(sent.every((body) => !body.includes('input_length')));
  assert.deepEqual(faults, []);
});

test('a wrong line is reported with its number, and a dropped file replaces the file', async () => {
  const { page, faults } = await chromium.open('#/explore/replay?v=1');
  await page.waitForSelector('#replay');
  await page.getByLabel('File of requests').setInputFiles(fileOf(TRACE + '{\n'));
  await page.waitForSelector('#replay-faults p');
  assert.match(await page.locator('#replay-faults').innerText(), /^line 4: Not valid JSON/);
  await page.locator('#replay').evaluate((section, text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], 'dropped.jsonl'));
    section.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, TRACE);
  await page.waitForSelector('#replay-facts');
  await eventually(async () => assert.equal(await page.locator('#replay-faults p').count(), 0));
  assert.deepEqual(faults, []);
});

test('a replay of another scenario or of another file is not shown as that of this one', async () => {
  const { page, faults } = await chromium.open('#/explore/replay?model=llama-3.1-8b&v=1');
  await page.waitForSelector('#replay');
  await page.getByLabel('TPOT at most').fill('30');
  await page.getByLabel('File of requests').setInputFiles(fileOf(TRACE));
  await page.waitForSelector('#replay-facts');
  assert.equal(await page.getByLabel('TPOT at most').inputValue(), '30 ms');
  const isStale = (is) =>
    page.waitForFunction(
      (wanted) => /scenario has changed/.test(document.getElementById('replay').textContent) === wanted,
      is,
    );
  await isStale(false);
  await type(page, 'cluster.devices', '16');
  await isStale(true);
  await page.locator('#replay-start').click();
  await isStale(false);
  await page.getByLabel('File of requests').setInputFiles(fileOf(TRACE + '{\n'));
  await page.waitForSelector('#replay-faults p');
  assert.equal(await page.locator('#replay-facts').count(), 0);
  assert.deepEqual(faults, []);
});

test('the answer fits a phone, and fractions of a request are not rounded on the axis', async () => {
  const { page, faults } = await chromium.open('#/explore/replay?model=llama-3.1-8b&v=1', { width: 320 });
  await page.waitForSelector('#replay');
  await page.getByLabel('File of requests').setInputFiles(fileOf(TRACE));
  await page.waitForSelector('#replay-facts');
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 320);
  const facts = page.locator('#replay-facts');
  assert.ok(
    await facts.evaluate((one) => one.getBoundingClientRect().right <= one.parentElement.getBoundingClientRect().right),
  );
  const ticks = await page.locator('#replay-chart text[text-anchor=end]').allTextContents();
  assert.ok(ticks.length > 2);
  assert.equal(new Set(ticks).size, ticks.length, ticks.join());
  assert.deepEqual(faults, []);
});
