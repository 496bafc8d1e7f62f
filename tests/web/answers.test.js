// The text above every scene: the question with its total load, and the answers by name.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseShown, columnsOf, usersText } from '../../web/report/advice.js';
import { answersOf, memoryOf } from '../../web/report/answers.js';
import { isOld } from '../../web/report/hour.js';
import { phasesOf } from '../../web/report/limits.js';
import { questionText } from '../../web/report/sentence.js';
import { requestOf } from '../../web/state/scenario.js';
import { t } from '../../web/text/strings.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const { defaults, inputs: described } = JSON.parse(slipstick.describe());
const presetPaths = described.filter(({ presets }) => presets).map(({ path }) => path);

function reportOf(inputs) {
  const report = JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(defaults, inputs, presetPaths)), ''));
  assert.equal(report.issues, undefined, JSON.stringify(report.issues));
  return report;
}
const answers = (report) => answersOf({ ...report, faulty: new Set() });
const question = (inputs) => questionText(reportOf(inputs).scenario, inputs);
const plain = (text) => text.replaceAll('\u00a0', ' ');

const SERVED = {
  'model': 'qwen3-235b-a22b',
  'training': 'null',
  'serving.devices': '8',
  'serving.mapping.tp': '4',
  'serving.mapping.pp': '1',
  'serving.mapping.attention_dp': '1',
  'version': '2',
};

test('a price says its year, and that it is more than a year old; one of your own has no year', () => {
  const today = new Date(2026, 10, 28);
  assert.equal(isOld(2024, today), true);
  assert.equal(isOld(2025, today), false, 'it may be of December');
  assert.equal(isOld('2025-11-27', today), true);
  assert.equal(isOld('2025-11-29', today), false);
  assert.equal(isOld('', today), false, 'not known');
  const cost = (inputs) => answers(reportOf({ ...SERVED, ...inputs })).find(({ id }) => id === 'cost');
  assert.match(plain(cost({ 'cost.device.price': '30000' }).line), /per GPU-hour, price \$30,000$/);
  assert.match(
    cost({ 'cost.rental': 'aws-h100-on-demand', 'cost.rental.date': '2024-05-01' }).line,
    /, over a year old$/,
  );
});

test('a changed chip has neither the original device’s name nor its rent', () => {
  const store = { inputs: {} };
  const rentals = [
    { id: 'one', device: 'h100-sxm5-80gb', term: 'on_demand', price: '3 $/h', provider: 'A', date: '2026-01-01' },
  ];
  const cost = (inputs) =>
    answersOf({ ...reportOf({ ...SERVED, ...inputs }), faulty: new Set(), store, rentals }).find(
      ({ id }) => id === 'cost',
    );
  const design = { 'cluster.device.design': 'h100-like', 'cluster.device.design.node': '3nm' };
  assert.match(question({ ...SERVED, ...design }), /on 8 H100-like, /);
  assert.match(
    plain(JSON.stringify(cost({}))),
    /one H100".*rent: \$3\.00, A, 2026\u201101\u201101"/,
    'the date is unbroken',
  );
  assert.match(plain(JSON.stringify(cost(design))), /one H100-like"/);
  assert.doesNotMatch(plain(JSON.stringify(cost(design))), /rent: /);
});

test('the question says the load in total: 100 per replica on 8 GPUs with TP 4 are 200', () => {
  assert.equal(
    question({ ...SERVED, 'serving.batch': '100' }),
    'Serve Qwen3-235B-A22B on 8 H100, 200 requests at once',
  );
  assert.equal(
    question({ ...SERVED, 'serving.concurrency': '100' }),
    'Serve Qwen3-235B-A22B on 8 H100, 100 requests at once',
  );
  assert.equal(
    question({ ...SERVED, 'serving.mapping.tp': '8' }),
    'Serve Qwen3-235B-A22B on 8 H100, 32 requests at once',
  );
  assert.equal(question({ ...SERVED, 'serving.requests_per_s': '2' }), 'Serve Qwen3-235B-A22B on 8 H100, 2 requests/s');
  const one = {
    'model': 'llama-3.1-8b',
    'cluster': 'single-h100-sxm5-80gb',
    'training': 'null',
    'serving.batch': '1',
    'version': '2',
  };
  assert.equal(question(one), 'Serve Llama-3.1-8B on 1 H100, 1 request at once');
  assert.equal(
    question({ ...SERVED, 'serving.batch': 'max' }),
    'Serve Qwen3-235B-A22B on 8 H100, as many requests at once as fit',
  );
});

test('training time, inference latency, KV cache and chip cost are the answers, each with what belongs to it', () => {
  const report = reportOf({ 'serving.mapping.tp': '4', 'serving.mapping.pp': '1', 'version': '2' });
  const [training, latency, cache, cost] = answers(report);
  assert.deepEqual(
    [training, latency, cache, cost].map(({ title }) => title),
    ['Training time', 'Inference latency', 'KV-cache size', 'Chip cost'],
  );
  assert.equal(plain(latency.subject), '2 replicas of 4 GPUs');
  assert.match(
    plain(latency.line),
    new RegExp(`^${Number((1 / report.serving.tpot_s).toPrecision(3))} tokens/s per user · TTFT [\\d.]+ ms$`),
  );
  assert.match(latency.more, /^[\d,]+ tokens\/s per GPU$/);
  // 80 layers of 8 KV heads of 128, key and value, two bytes each; 32 sequences of up to 2,304 tokens on 4 GPUs.
  assert.equal(plain(cache.subject), '320 KiB per token');
  assert.ok(cache.value <= (327680 * 32 * 2304) / 4 && cache.value >= (327680 * 32 * 2048) / 4, `${cache.value}`);
  assert.equal(
    plain(cache.line),
    `fits ${report.serving.max_batch * 2} requests, or one of ${(report.serving.max_context / 1000).toPrecision(3)} k tokens`,
  );
  assert.match(plain(cache.memory.words), /^memory [\d.]+ of 79\.2 GiB/);
  assert.equal(cost.value, report.cost.device_usd);
  assert.equal(plain(cost.subject), 'one H100');
  assert.match(plain(cost.line), /^own: \$[\d.]+ per GPU-hour, price \$33,500 \(2024, over a year old\)$/);
  assert.match(plain(cost.more), /^run \$[\d.]+ M · \$[\d.]+ per 1 M output tokens$/);
  assert.equal(cost.known.level, 0.9);
});

test('of post-training the answer is a step, not a run of the default tokens', () => {
  const asked = { 'model': 'qwen3-8b', 'cluster': 'dgx-h100', 'cluster.devices': '16' };
  const report = reportOf({ ...asked, 'post_training.algorithm': 'grpo', 'post_training.prompts': '64' });
  const [training, , , cost] = answers(report);
  // 64 prompts, 16 responses to each by default
  assert.deepEqual([training.title, training.subject], ['Time of an RL step', '1,024 samples']);
  assert.equal(training.value, report.post_training.step_time_s);
  assert.match(training.line, /^[\d,]+ tokens\/s per GPU$/);
  assert.doesNotMatch(cost.more, /run/);
  assert.match(answers(reportOf(asked))[3].more, /^run \$/);
});

test('requests that find no slot are counted as waiting', () => {
  // 24 GB hold only some of 4,096 requests of an 8B model at a time.
  const report = reportOf({
    'model': 'llama-3.1-8b',
    'cluster': 'single-rtx-4090',
    'training': 'null',
    'serving.concurrency': '4096',
  });
  const { requests_in_flight: running } = report.serving;
  assert.ok(running > 1 && running < 200, `${running}`);
  const [latency] = answers(report);
  assert.ok(
    latency.more.endsWith(` · ${(4096 - Math.round(running)).toLocaleString('en')} wait for a slot`),
    latency.more,
  );
});

test('parts that are off take no room: no answer, no column of advice', () => {
  const titles = (inputs) => answers(reportOf(inputs)).map(({ title }) => title);
  assert.deepEqual(titles({ training: 'null' }), ['Inference latency', 'KV-cache size', 'Chip cost']);
  assert.deepEqual(titles({ serving: 'null' }), ['Training time', 'Chip cost']);
  assert.deepEqual(titles({ cost: 'null' }), ['Training time', 'Inference latency', 'KV-cache size']);
  assert.deepEqual(
    columnsOf(reportOf({ training: 'null' })).map(({ id }) => id),
    ['token', 'memory', 'cost'],
  );
});

test('memory has its verdict in a word, and nothing fits where nothing fits', () => {
  const part = (verdict, total = 70e9) => ({ memory_bytes: { total, capacity: 80e9 }, memory_verdict: verdict });
  const said = (one) => plain(memoryOf(one, 'training').words);
  assert.equal(said(part(undefined)), 'memory 65.2 of 74.5 GiB');
  assert.equal(said(part('fits')), 'memory 65.2 of 74.5 GiB, fits');
  assert.equal(said(part('tight')), 'memory 65.2 of 74.5 GiB, tight');
  assert.equal(said(part('may_not_fit', 85e9)), 'memory 79.2 of 74.5 GiB, may not fit');
  assert.equal(said(part(undefined, 85e9)), 'memory 79.2 of 74.5 GiB, does not fit');
  const [latency, cache] = answers(
    reportOf({
      'model': 'qwen3-32b',
      'cluster': 'single-rtx-4090',
      'training': 'null',
      'serving.batch': '1',
      'version': '2',
    }),
  );
  assert.equal(latency.trouble, 'Out of memory');
  assert.equal(cache.line, '', 'no word on how many of none');
});

test('a change that serves fewer says so, one that serves as many says nothing', () => {
  const before = { serving: { requests_in_flight: 64 } };
  assert.equal(usersText({ 'serving.requests_in_flight': 32 }, before), 'Serves 32 requests at once instead of 64.');
  assert.equal(usersText({ 'serving.requests_in_flight': 1 }, before), 'Serves 1 request at once instead of 64.');
  assert.equal(usersText({ 'serving.requests_in_flight': 64 }, before), '');
  assert.equal(usersText({ 'serving.requests_in_flight': null }, before), '');
  assert.equal(usersText({}, { training: {} }), '');
});

test('a report whose times are beyond any number still has its answers, and no phase', () => {
  const emptied = (value) =>
    typeof value === 'number'
      ? null
      : Array.isArray(value)
        ? value.map(emptied)
        : value && typeof value === 'object'
          ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, emptied(one)]))
          : value;
  const { scenario, training, serving, cost, warnings } = reportOf({});
  const report = {
    scenario,
    warnings,
    cost,
    training: { ...emptied(training), feasible: true },
    serving: { ...emptied(serving), feasible: true },
  };
  assert.deepEqual(phasesOf({ report, scenario }), []);
  assert.deepEqual(
    answers(report).map(({ title }) => title),
    ['Training time', 'Inference latency', 'KV-cache size', 'Chip cost'],
  );
});

test('a count of one is in the singular', () => {
  assert.equal(t('noun.devices', { count: '1' }), '1 GPU');
  assert.equal(t('noun.served', { count: '1' }), '1 GPU that serves');
  assert.equal(t('noun.devices', { count: '512' }), '512 GPUs');
});

test('changes without a purchase come first, and one purchase is always shown', () => {
  const change = (id, needs) => ({ id, needs });
  const [device, devices] = [change('device.a', 'purchase'), change('devices.x2', 'purchase')];
  const free = [
    change('precision.fp8', 'accuracy'),
    change('precision.nvfp4', 'accuracy'),
    change('mapping', 'settings'),
    change('zero.1', 'settings'),
  ];
  const shown = (...list) => chooseShown(list, 3).map(({ id }) => id);
  assert.deepEqual(shown(device, devices, ...free), ['precision.fp8', 'mapping', 'device.a']);
  assert.deepEqual(shown(device, devices, free[0]), ['precision.fp8', 'device.a', 'devices.x2']);
  assert.deepEqual(shown(...free), ['precision.fp8', 'mapping', 'zero.1']);
  assert.deepEqual(shown(device, devices), ['device.a', 'devices.x2']);
});
