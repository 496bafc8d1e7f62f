// Seven visitors with one question each: from an empty profile to the right answer in at most five actions, six on a
// phone. An action is a press, or text typed and sent. The right answer is the command line's for the intended
// question.
import assert from 'node:assert/strict';
import test from 'node:test';
import { slipstickCommand } from '../support/module.js';
import { eventually, openScene, settled, site } from './browser.js';

const chromium = site();

const MOST = 5;
const MOST_ON_A_PHONE = 6;

const computed = (...inputs) => JSON.parse(slipstickCommand(['evaluate', 'version=3', ...inputs]));
const shown = (value) => value.toLocaleString('en', { maximumSignificantDigits: 3 });
const DAY = 86400; // s

// A visitor with an empty profile; every method is one action.
class Visitor {
  actions = 0;

  constructor({ page, faults }, most) {
    this.page = page;
    this.faults = faults;
    this.most = most;
  }

  static async comes({ most = MOST, ...options } = {}) {
    return new Visitor(await chromium.open('', { fresh: true, ...options }), most);
  }

  async press(selector) {
    this.actions += 1;
    await this.page.locator(selector).first().click();
    await settled(this.page);
  }

  async opens(scene) {
    this.actions += 1;
    await openScene(this.page, scene);
    await settled(this.page);
  }

  // Types into the open picker or a field, and sends it.
  async types(words, selector) {
    this.actions += 1;
    if (selector) await this.page.locator(selector).fill(words);
    else {
      await this.page.waitForSelector('.picker :is([role=option], #picker-count)');
      await this.page.keyboard.press('Control+a');
      await this.page.keyboard.type(words);
    }
    if (!selector?.startsWith('textarea')) await this.page.keyboard.press('Enter');
    await settled(this.page);
  }

  // Waits until an answer in the header shows this, within the allowed number of actions.
  async reads(answer, words) {
    const card = this.page.locator(answer === 'sentence' ? '.say' : `[data-answer=${answer}]`);
    await eventually(async () => {
      const said = (await card.innerText()).replace(/\s+/gu, ' ');
      assert.ok(said.includes(words), `${words}: ${said}`);
    });
    assert.ok(this.actions <= this.most, `${this.actions} actions`);
    assert.deepEqual(this.faults, []);
  }
}

test('an engineer: 100 users at once of Qwen3-235B on 8 H100, how fast for each', async () => {
  const visitor = await Visitor.comes();
  await visitor.press('[data-key=noun-model]');
  await visitor.types('qwen3-235');
  await visitor.press('[data-key=noun-requests]');
  await visitor.types('100');
  const { serving } = computed(
    'model=qwen3-235b-a22b',
    'training=null',
    'cluster.devices=8',
    'serving.concurrency=100',
  );
  assert.equal(serving.requests_in_flight, 100);
  await visitor.reads('sentence', 'serve 100 requests at once on 8 of them');
  await visitor.reads('serving', `${shown(serving.tpot_s * 1000)} ms per output token`);
  await visitor.reads('serving', `${shown(1 / serving.tpot_s)} tokens/s per user`);
});

test('a team lead: 2 T tokens within 30 days, how many H100, and what it costs', async () => {
  const visitor = await Visitor.comes();
  await visitor.press('[data-key=noun-tokens]');
  await visitor.types('2T');
  await visitor.press('[data-key=noun-devices]');
  await visitor.types('30 days', '#picker-goal');
  await visitor.page.waitForFunction(() => /The fewest/.test(document.querySelector('.picker .goal').textContent));
  const solved = JSON.parse(
    slipstickCommand([
      ...['solve', 'version=3', 'serving=null', 'training.tokens=2 Ttoken'],
      ...['cluster.devices=8:65536:8', '--until', 'training.time_to_train_s<=30 day'],
    ]),
  );
  const { training } = computed('serving=null', 'training.tokens=2 Ttoken', `cluster.devices=${solved.value}`);
  assert.ok(training.time_to_train_s <= 30 * DAY);
  await visitor.reads('sentence', `on 2 T tokens with ${solved.value} H100`);
  await visitor.reads('training', `${shown(training.time_to_train_s / DAY)} days`);
  await visitor.reads('cost', `run $${shown(training.cost_usd / 1e6)} M`);
  await visitor.reads('cost', 'rent: $');
});

test('a chip architect: the same chip at 3 nm with HBM4, in time and cost', async () => {
  const visitor = await Visitor.comes();
  await visitor.opens('chip');
  await visitor.press('[data-key=chip-view-technology]');
  await visitor.page.waitForSelector('#technology td');
  await visitor.press('[data-key=chip-tech-go]');
  const { training, serving, cost } = computed(
    ...['cluster.device.design=h100-like', 'cluster.device.design.node=3nm', 'cluster.device.design.dram=hbm4'],
  );
  await visitor.reads('training', `${shown(training.time_to_train_s / DAY)} days`);
  await visitor.reads('serving', `${shown(serving.tpot_s * 1000)} ms`);
  await visitor.reads('cost', `$${shown(cost.device_usd)}`);
});

test('a teacher: twice the memory bandwidth, how much shorter is a decode step', async () => {
  const visitor = await Visitor.comes();
  await visitor.opens('lessons');
  await visitor.press('[data-key=lesson-decode-memory-bound]');
  await visitor.press('[data-key=choice-2]');
  await visitor.press('[data-key=step-0]');
  await visitor.press('[data-key=step-1]');
  const inputs = [
    ...['model=llama-2-7b', 'cluster=single-a100-sxm4-80gb', 'training=null', 'serving.engine=roofline'],
    ...['serving.mapping.tp=1', 'serving.batch=1', 'serving.precision.weights=bf16'],
    ...['serving.precision.activations=bf16', 'serving.precision.kv_cache=bf16'],
  ];
  const [once, twice] = [computed(...inputs), computed(...inputs, 'cluster.device.memory.bandwidth=4.078 TB/s')];
  assert.ok(Math.abs(once.serving.decode_step_s / twice.serving.decode_step_s - 2) < 1e-6);
  const row = visitor.page.locator('.watched tbody tr').first();
  await eventually(async () =>
    assert.match(
      (await row.innerText()).replace(/\s+/gu, ' '),
      new RegExp(`${shown(once.serving.decode_step_s * 1000)} ms ${shown(twice.serving.decode_step_s * 1000)} ms ÷ 2$`),
    ),
  );
  await visitor.reads('sentence', 'Serve Llama-2-7B on 1 A100');
});

test('on a phone: Llama 3.1 8B on H200, by touch', async () => {
  const visitor = await Visitor.comes({
    most: MOST_ON_A_PHONE,
    width: 390,
    height: 844,
    hasTouch: true,
    isMobile: true,
  });
  await visitor.press('[data-key=noun-model]');
  await visitor.types('llama-3.1-8b');
  await visitor.press('[data-key=noun-device]');
  await visitor.types('h200');
  const { serving } = computed('model=llama-3.1-8b', 'training=null', 'cluster=dgx-h200');
  await visitor.reads('serving', `${shown(serving.tpot_s * 1000)} ms per output token`);
  assert.ok((await visitor.page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
});

test('somebody with an RTX 4090: does Qwen3-32B run on it, and how fast', async () => {
  const visitor = await Visitor.comes();
  await visitor.press('[data-key=card-single-rtx-4090]');
  await visitor.page.waitForFunction(() => /^RTX 4090:/.test(document.querySelector('#fits-status')?.textContent));
  await visitor.types('qwen3-32b', '.ex-fits input[type=text], [aria-label="Filter models"]');
  await visitor.press('[data-key=fit-qwen3-32b-llamacpp-2025-q4_k_m]');
  const { serving } = computed(
    ...['model=qwen3-32b', 'cluster=single-rtx-4090', 'training=null', 'serving.concurrency=1'],
    ...['serving.engine=llamacpp-2025', 'serving.precision.weights=q4_k_m'],
  );
  await visitor.reads('sentence', 'Serve Qwen3-32B on 1 RTX 4090, 1 request at once');
  await visitor.reads('serving', `${shown(1 / serving.tpot_s)} tokens/s per user`);
});

test('somebody with a vLLM command: what it serves, and which flags were not used', async () => {
  const visitor = await Visitor.comes();
  await visitor.press('#more');
  await visitor.press('#paste');
  await visitor.types(
    'vllm serve Qwen/Qwen3-235B-A22B -tp 8 --enable-expert-parallel --gpu-memory-utilization 0.92 --max-model-len 32768',
    'textarea#config-text',
  );
  await visitor.press('dialog .primary');
  const { serving } = computed(
    ...['model=qwen3-235b-a22b', 'training=null', 'serving.devices=8', 'serving.mapping.tp=8', 'serving.mapping.ep=8'],
    ...['serving.precision.weights=bf16', 'serving.precision.activations=bf16', 'serving.engine.memory.share=0.92'],
    ...['serving.mapping.auto=false'],
  );
  await visitor.reads('sentence', 'Serve Qwen3-235B-A22B on 8 H100');
  await visitor.reads('serving', `${shown(serving.tpot_s * 1000)} ms per output token`);
  assert.match(await visitor.page.locator('#notice').innerText(), /Not used: --max-model-len 32768/);
});
