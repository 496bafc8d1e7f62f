// From a device to a model that it can serve, and from a scenario that does not fit to one that does.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, settled, site } from './browser.js';
import { plain } from './exploring.js';
import { slipstickCommand } from '../support/module.js';

const chromium = site();

const asked = (page, device) =>
  page.waitForFunction((name) => document.querySelector('#fits-status')?.textContent.startsWith(name), `${device}:`);
const filter = (page, words) => page.getByLabel('Filter models', { exact: true }).fill(words);
const cells = async (page, model) => {
  const row = page.locator('#fits tbody tr', { has: page.getByRole('rowheader', { name: model, exact: true }) });
  return Object.fromEntries(
    await row.locator('td').evaluateAll((list) => list.map((one) => [one.dataset.l, one.textContent])),
  );
};
const rate = (cell) => Number(/^([\d.,]+) tokens\/s/.exec(cell)[1].replaceAll(',', ''));

test('an RTX 4090, then a model that fits: two presses from an empty profile to its answer', async () => {
  const { page, faults } = await chromium.open('', { fresh: true });
  await page.locator('[data-key="card-single-rtx-4090"]').click(); // 1
  await asked(page, 'RTX 4090');
  await filter(page, 'qwen3-32b');
  // 32.8e9 parameters are 32.8 GB in 8 bits and 19.9 GB at 4.85 bits. The card has 24 GB and reads 1,008 GB/s, so at
  // most 50.7 tokens/s.
  const of = await cells(page, 'Qwen3-32B');
  assert.equal(of['vLLM · fp8'], '–');
  assert.ok(rate(of['llama.cpp · q4_k_m']) > 25 && rate(of['llama.cpp · q4_k_m']) < 50.7, of['llama.cpp · q4_k_m']);
  await page.locator('[data-key="fit-qwen3-32b-llamacpp-2025-q4_k_m"]').click(); // 2
  await settled(page);
  await eventually(async () =>
    assert.match(plain(await page.locator('.say').textContent()), /^Serve Qwen3-32B on 1 RTX 4090, 1 request at once/),
  );
  const said = plain(await page.locator('[data-answer=serving]').textContent());
  assert.match(said, new RegExp(`${of['llama.cpp · q4_k_m'].split(' ')[0]} tokens/s per user`));
  assert.deepEqual(faults, []);
});

test('a Mac, a DGX Spark, 8 H100 and any other device by its link', async () => {
  const { page, faults } = await chromium.open('', { fresh: true });
  await page.locator('[data-key="card-single-m4-max"]').click();
  await asked(page, 'M4 Max');
  await filter(page, 'llama-3.3-70b');
  const mac = await cells(page, 'Llama-3.3-70B'); // 141 GB in 16 bits, 40 GB at 4.5 bits; 96 GB or more available
  assert.equal(mac['MLX · bf16'], '–');
  assert.ok(rate(mac['MLX · q4_0']) > 3);
  await page.locator('[data-key="fits-single-dgx-spark"]').click();
  await asked(page, 'DGX Spark (GB10)');
  await filter(page, 'llama-3.1-405b'); // 243 GB at 4.85 bits; 128 GB available
  assert.deepEqual(await cells(page, 'Llama-3.1-405B'), {});
  assert.equal(await page.locator('#fits').innerText(), 'No model that fits has this name.');
  await page.locator('[data-key="fits-dgx-h100"]').click();
  await asked(page, '8 × H100');
  await filter(page, 'deepseek-v3'); // 671 GB in 8 bits, 378 GB in 4; 640 GB available
  const server = await cells(page, 'DeepSeek-V3');
  assert.equal(server['vLLM · fp8'], '–');
  assert.ok(rate(server['vLLM · int4']) > 10);
  // One replica of eight GPUs, each with its own group of users. The users of all GPUs are counted once.
  const { serving, scenario } = JSON.parse(
    slipstickCommand([
      ...['evaluate', 'model=deepseek-v3', 'cluster=dgx-h100', 'training=null', 'serving.batch=1'],
      ...['serving.precision.weights=int4', 'serving.precision.activations=bf16'],
    ]),
  );
  const users = serving.max_batch * scenario.serving.mapping.replicas;
  assert.match(server['vLLM · int4'], new RegExp(`· ${users.toLocaleString('en')} users`));
  for (const width of [768, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await settled(page);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${width} px`);
  }
  const { page: fresh } = await chromium.open('#/explore/fits/single-rtx-5090', { fresh: true, width: 320 });
  await asked(fresh, 'RTX 5090');
  assert.equal(
    await fresh.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth),
    false,
  );
  assert.deepEqual(faults, []);
});

test('a model that is out of memory links to models that fit the same device', async () => {
  const { page, faults } = await chromium.open('#/overview?cluster=single-rtx-4090&model=qwen3-32b&training=null&v=3', {
    fresh: true,
  });
  assert.match(
    plain(await page.locator('[data-answer=serving]').textContent()),
    /Out of memory.*weights alone need 31\.96 GiB of 23\.52 GiB per device; use 4-bit weights, a smaller model or more devices/,
  );
  // Changes that keep the card come first, with their users and memory; then purchases, with their cost.
  const rows = page.locator('#advice tbody tr');
  await page.waitForSelector('#advice .apply');
  const said = (await rows.allTextContents()).map(plain);
  assert.match(said[0], /^int4 weights.*Serves \d+ requests? at once.*[\d.]+ GiBof 23\.5/);
  assert.match(said[1], /^Qwen3-14B in place of Qwen3-32B.*Another model/);
  assert.match(said[2], /TCO \$5\.\d+ k → \$\d/);
  await page.locator('[data-answer=serving] .fixes button', { hasText: 'What fits on RTX 4090?' }).click();
  await asked(page, 'RTX 4090');
  assert.deepEqual(faults, []);
});

test('one press turns a pre-training that a card cannot hold into a fine-tune', async () => {
  const { page, faults } = await chromium.open(
    '#/overview?cluster=single-rtx-4090&model=llama-3.1-8b&serving=null&v=3',
    { fresh: true },
  );
  await page.waitForSelector('#advice .apply');
  const first = page.locator('#advice tbody tr').first();
  assert.match(await first.textContent(), /^QLoRA/);
  await first.locator('.apply').click();
  await page.waitForSelector('#advice .undo');
  await settled(page);
  assert.match(
    plain(await page.locator('.say').textContent()),
    /^Fine-tune Llama-3\.1-8B on 100 M tokens with 1 RTX 4090/,
  );
  assert.doesNotMatch(await page.locator('[data-answer=training]').textContent(), /Out of memory/);
  assert.deepEqual(faults, []);
});
