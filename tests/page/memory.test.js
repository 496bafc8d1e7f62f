// Memory says whose cache it shows, how attention shares it over the GPUs, and what the publisher supports.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { settled, site, type } from './browser.js';

let chromium;
before(async () => (chromium = await site()));
after(() => chromium.close());

const plain = (text) => text.replaceAll(/\s+/g, ' ');

test('grouped heads, copied heads and a copied latent are called what they are', async () => {
  const { page, faults } = await chromium.open('#/memory?v=1');
  await page.waitForSelector('#kv-context .mark');
  const sharing = async () => plain(await page.locator('#memory-sharing').textContent());
  assert.match(await sharing(), /^8 KV heads on TP 8: each GPU holds 1, none twice\. [\d,]+ tokens would fit; the publisher supports 131,072\.$/);
  assert.match(plain(await page.locator('#kv-context .key').textContent()), /this model: GQA, 8 KV heads \(per GPU at TP 8 equal to MQA\)/);
  assert.doesNotMatch(await page.locator('#content').textContent(), /this model = /);
  await page.goto(`${chromium.base}#/memory?model=deepseek-v3&v=1`);
  await settled(page);
  await page.waitForFunction(() => /MLA: all heads share one latent, so each of the \d+ GPUs/.test(document.getElementById('memory-sharing')?.textContent));
  assert.deepEqual(faults, []);
});

test('the cache of one request beside that of the full batch', async () => {
  const { page } = await chromium.open('#/memory');
  await page.waitForSelector('#kv-context .mark');
  const first = () => page.locator('#kv-context .mark').last().getAttribute('aria-label');
  const full = await first();
  await page.locator('[data-key="kv-request"]').click();
  await page.waitForFunction((was) => [...document.querySelectorAll('#kv-context .mark')].at(-1)?.getAttribute('aria-label') !== was, full);
  assert.match(await page.locator('#kv-context figcaption').textContent(), /one request/);
});

test('the KV cache of a prompt of 128k: one action', async () => {
  const { page, faults } = await chromium.open('#/memory');
  await page.waitForSelector('#kv-context .mark');
  await type(page, 'serving.prompt', '128k');
  // Keys and values of 128 in each of 8 heads and 80 layers, 2 bytes each, are 320 KiB a token. 32 requests of 131,072 + 256 tokens need
  // 1,282.5 GiB, 160.3 GiB on each of 8 GPUs; the 58 GiB that are left there hold eleven of them.
  assert.match(plain(await page.locator('.four').innerText()), /KV cache per device.*the largest batch that fits is 11/);
  assert.match(plain(await page.locator('[data-figure="serving.memory_bytes.kv_cache"], #content .figures').first().innerText()), /160 GiB/);
  assert.deepEqual(faults, []);
});
