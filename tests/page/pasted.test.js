// Texts that a visitor pastes or opens: a config.json, a command, a device.
import assert from 'node:assert/strict';
import test from 'node:test';
import { settled, site } from './browser.js';

const chromium = site();

const field = (page, path) => page.locator(`[data-path="${path}"]`).first();

test('a config.json is read in the page, by paste and by file, and missing members are named', async () => {
  const { page, faults } = await chromium.open('#/serve');
  const asked = [];
  page.on(
    'request',
    (request) => (request.method() !== 'GET' || !request.url().startsWith(chromium.base)) && asked.push(request.url()),
  );
  const config = {
    model_type: 'llama',
    hidden_size: 2048,
    num_hidden_layers: 16,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    intermediate_size: 8192,
    vocab_size: 128256,
    tie_word_embeddings: true,
    unheard_of: 1,
  };
  const open = () => page.getByRole('button', { name: 'Paste config.json or command' }).click();
  await open();
  assert.match(await page.locator('dialog.modal').textContent(), /sent nowhere/);
  await page.locator('#config-text').fill(JSON.stringify({ ...config, hidden_size: undefined }));
  await page.getByRole('button', { name: 'Use this' }).click();
  await page.waitForFunction(() => /hidden_size/.test(document.querySelector('#config-faults').textContent));
  await page
    .locator('dialog.modal input[type=file]')
    .setInputFiles({ name: 'config.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(config)) });
  await page.getByRole('button', { name: 'Use this' }).click();
  await settled(page);
  assert.match(
    await page.locator('#notice').textContent(),
    /Imported: Llama-3\.2-1B, 1\.24\sB parameters/u,
    'known by its shape',
  );
  assert.deepEqual(asked, []);
  assert.deepEqual(faults, []);
});

test('a pasted command becomes the scenario, and what was not understood is listed', async () => {
  const { page, faults } = await chromium.open('#/serve');
  await page.getByRole('button', { name: 'Paste config.json or command' }).click();
  await page.locator('#config-text').fill('make everything faster');
  await page.getByRole('button', { name: 'Use this' }).click();
  await page.waitForFunction(() => /vLLM, SGLang/.test(document.querySelector('#config-faults').textContent));
  await page
    .locator('#config-text')
    .fill(
      'vllm serve Qwen/Qwen2.5-72B-Instruct \\\n  --tensor-parallel-size 4 --max-num-seqs 64 --max-model-len 8192 --frobnicate 3',
    );
  await page.getByRole('button', { name: 'Use this' }).click();
  await settled(page);
  assert.match(
    await page.locator('#notice').textContent(),
    /vLLM command is now the scenario\. Not used: --max-model-len 8192\. Not understood: --frobnicate 3\./,
  );
  assert.match(page.url(), /training=null/, 'a command that serves asks nothing of training');
  assert.match(page.url(), /model=qwen2\.5-72b/);
  assert.equal(await field(page, 'serving.mapping.tp').locator('input[type=text]').inputValue(), '4');
  assert.equal(await page.locator('#issues').isVisible(), false);
  assert.deepEqual(faults, []);
});

test('custom devices are read as JSON and checked', async () => {
  const { page } = await chromium.open('#/serve');
  const before = await page.locator('.four .value').nth(1).textContent();
  await page.getByRole('button', { name: 'Custom device' }).click();
  await page.locator('#own-json summary').click();
  await page.locator('#own-text').fill('{"device": {"name": "mine", "memory": {"bandwidth": "8 bananas"}}}');
  await page.locator('#own-use').click();
  await page.waitForFunction(() => /bandwidth/.test(document.querySelector('#own-faults').textContent));
  await page.locator('#own-text').fill('{"device": {"name": "mine", "memory": {"bandwidth": "8 TB/s"}}}');
  await page.locator('#own-use').click();
  await settled(page);
  assert.match(await page.locator('.answers [role=status]').textContent(), /mine/);
  assert.notEqual(await page.locator('.four .value').nth(1).textContent(), before);
});
