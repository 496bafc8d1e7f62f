// Memory says whose KV cache it shows, how attention divides it over the GPUs, and which context the publisher
// supports.
import assert from 'node:assert/strict';
import test from 'node:test';
import { settled, site, type } from './browser.js';

const chromium = site();

const plain = (text) => text.replaceAll(/\s+/g, ' ');

test('grouped heads, copied heads and a copied latent have the right names', async () => {
  const { page, faults } = await chromium.open('#/memory?v=1');
  await page.waitForSelector('#kv-context .mark');
  const sharing = async () => plain(await page.locator('#memory-sharing').textContent());
  assert.match(
    await sharing(),
    /^8 KV heads on TP 8: each GPU holds 1, none twice\. [\d,]+ tokens would fit; the publisher supports 131,072\.$/,
  );
  assert.match(
    plain(await page.locator('#kv-context .key').textContent()),
    /this model: GQA, 8 KV heads \(per GPU at TP 8 equal to MQA\)/,
  );
  assert.doesNotMatch(await page.locator('#content').textContent(), /this model = /);
  await page.goto(`${chromium.base}#/memory?model=deepseek-v3&v=1`);
  await settled(page);
  await page.waitForFunction(() =>
    /MLA: all heads share one latent, so each of the \d+ GPUs/.test(
      document.getElementById('memory-sharing')?.textContent,
    ),
  );
  assert.deepEqual(faults, []);
});

test('the KV cache of one request next to that of the full batch', async () => {
  const { page } = await chromium.open('#/memory');
  await page.waitForSelector('#kv-context .mark');
  const first = () => page.locator('#kv-context .mark').last().getAttribute('aria-label');
  const full = await first();
  await page.locator('[data-key="kv-request"]').click();
  await page.waitForFunction(
    (was) => [...document.querySelectorAll('#kv-context .mark')].at(-1)?.getAttribute('aria-label') !== was,
    full,
  );
  assert.match(await page.locator('#kv-context figcaption').textContent(), /one request/);
});

test('the KV cache of a prompt of 128k: one action', async () => {
  const { page, faults } = await chromium.open('#/memory');
  await page.waitForSelector('#kv-context .mark');
  await type(page, 'serving.prompt', '128k');
  // Keys and values of 128 in 8 heads and 80 layers, 2 bytes each, are 320 KiB per token: 40.04 GiB for a request of
  // 131,072 tokens plus half of 256 on average. The default load is as many requests as run at once, at most 32, spread
  // over the GPUs of a replica.
  const cache = async () =>
    Number(
      /KV cache per GPU, full batch ([\d.]+) GiB/.exec(plain(await page.locator('#content .figures').innerText()))[1],
    );
  const gpus = Number(/replicas? of (\d+) GPU/.exec(plain(await page.locator('.four').innerText()))[1]);
  const requests = ((await cache()) * gpus) / 40.04;
  assert.ok(
    requests > 0.995 && requests < 32.1 && Math.abs(requests / Math.round(requests) - 1) < 0.005,
    `${await cache()} on ${gpus}`,
  );
  // A written mapping stays: for 32 requests each of its 8 GPUs would need 160.2 GiB, and the 58 GiB free hold eleven
  // requests.
  await page.goto(`${chromium.base}#/memory?serving.prompt=128k&v=1`);
  await settled(page);
  assert.match(
    plain(await page.locator('.four').innerText()),
    /160\.2 GiB of KV cache per device.*the largest batch that fits is 11/,
  );
  assert.equal(await cache(), 160);
  assert.deepEqual(faults, []);
});

test('the chart’s sentence describes this model’s own line', async () => {
  const { page } = await chromium.open('#/memory?v=1');
  await page.waitForSelector('#kv-context .mark');
  // 320 KiB per token and 32 requests on 8 GPUs with half of 256 output tokens on average: 480 MiB for 256 + 128
  // tokens, 320.2 GiB for 262,144 + 128 tokens.
  assert.match(
    plain(await page.locator('#kv-context .summary').textContent()),
    /This model: GQA.*: from 480 MiB at 256 prompt tokens to 320 GiB at 262,144\./,
  );
});
