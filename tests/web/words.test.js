import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dollarsOf, secondsUntil } from '../../web/report/goal.js';
import { taskOptions, withTaskPicked } from '../../web/report/tasks.js';
import { questionText } from '../../web/report/sentence.js';
import { boundText, tokenBound, trainingBound } from '../../web/report/words.js';
import { requestOf } from '../../web/state/scenario.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const report = (inputs) =>
  JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputs, presetPaths)), ''));

test('the bottleneck of a scenario is named in words', () => {
  const one = {
    'cluster': 'single-a100-sxm4-80gb',
    'model': 'llama-2-7b',
    'training': 'null',
    'serving.devices': '1',
    'serving.mapping.tp': '1',
    'serving.batch': '1',
    'serving.precision.weights': 'bf16',
    'serving.precision.activations': 'bf16',
    'serving.engine': 'ideal',
  };
  const { serving } = report(one);
  assert.equal(boundText(serving.bound.decode), 'memory-bandwidth-bound');
  assert.equal(boundText(serving.bound.prefill), 'compute-bound');
  assert.equal(boundText(trainingBound(report({}).training)), 'compute-bound');
  assert.equal(boundText(tokenBound(serving)), 'memory-bandwidth-bound');
  // A decode step takes 20 ms, 12 of them memory-bound; a token takes 45 ms, so 25 ms go to prompts of others.
  const token = {
    decode_step_s: 0.02,
    time_by_bound: { decode: { memory: 0.012, compute: 0.008 } },
    bound: { decode: 'memory' },
  };
  assert.equal(boundText(tokenBound({ ...token, tpot_s: 0.045 })), 'bound by other users’ prefills');
  assert.equal(boundText(tokenBound({ ...token, tpot_s: 0.031 })), 'memory-bandwidth-bound');
  const waits = { time_s: { forward: 1, backward: 1, tp: 5, bubble: 1 }, operators: [] };
  assert.equal(boundText(trainingBound(waits)), 'communication-bound');
  assert.equal(
    boundText(trainingBound({ time_s: { forward: 1, bubble: 3 }, operators: [] })),
    'limited by the pipeline bubble',
  );
});

test('the sentence and its picker call training what it is', () => {
  const names = (scenario) => taskOptions(scenario).map(({ name }) => name);
  for (const [inputs, verb] of [
    [{}, 'Pre-train'],
    [{ 'training.trainable': 'lora' }, 'Fine-tune'],
  ]) {
    const { scenario } = report(inputs);
    assert.match(questionText(scenario, inputs), new RegExp(`^${verb} Llama`));
    assert.deepEqual(names(scenario), [
      `${verb}, then serve`,
      'Pre-train only',
      'Serve only',
      'Fine-tune only (LoRA)',
      'Post-train by RL (GRPO)',
      'Generate images or video (diffusion)',
    ]);
  }
  const serving = report({ training: 'null' }).scenario;
  assert.match(questionText(serving, {}), /^Serve Llama/);
  assert.equal(names(serving)[1], 'Pre-train only');
  const images = withTaskPicked({ 'cluster': 'dgx-h100', 'training.tokens': '1 Ttoken' }, 'images');
  assert.match(
    questionText(report(images).scenario, images),
    /^Generate images or video with FLUX\.1 \[dev\] on 1 H100$/,
  );
  assert.deepEqual(withTaskPicked(images, 'both'), { cluster: 'dgx-h100' });
  const tuned = withTaskPicked({ model: 'llama-3.1-8b', cluster: 'single-rtx-4090' }, 'lora');
  const { scenario, training } = report(tuned);
  assert.match(questionText(scenario, tuned), /^Fine-tune Llama-3\.1-8B on 10\sM\stokens with 1 RTX 4090/);
  assert.equal(training.feasible, true, '16 GB of frozen weights and small adapters, on 24 GB');
  assert.deepEqual(withTaskPicked(tuned, 'training'), {
    model: 'llama-3.1-8b',
    cluster: 'single-rtx-4090',
    serving: 'null',
  });
});

test('a time limit and a budget are read in usual notations, and other text is refused', () => {
  const days = (words) => secondsUntil(words) / 86400;
  for (const [words, expected] of [
    ['30 days', 30],
    ['30', 30],
    ['4 weeks', 28],
    ['1.5 d', 1.5],
    ['36 hours', 1.5],
    ['2 years', 730.5],
  ])
    assert.ok(Math.abs(days(words) - expected) < 1e-9, `${words}: ${days(words)}`);
  for (const words of ['30 GB', 'soon', '', '30 tokens', '5 $']) assert.ok(!(days(words) > 0), words);
  assert.ok(days('2020-01-31') < 0);
  // The day begins at midnight, of Greenwich or of the place.
  for (const date of ['30 June 2100', 'June 30, 2100', 'Jun 30 2100'])
    assert.ok(Math.abs(days(date) - days('2100-06-30')) < 1, `${date}: ${days(date)}`);
  for (const unclear of ['6/7/2100', '30.6.2100', '30 smarch 2100']) assert.ok(!(days(unclear) > 0), unclear);
  for (const [words, expected] of [
    ['$2 M', 2e6],
    ['2 million dollars', 2e6],
    ['500k', 5e5],
    ['1,500 USD', 1500],
    ['2.5M$', 2.5e6],
  ])
    assert.equal(dollarsOf(words), expected, words);
  for (const words of ['2 GB', 'much', '', '30 days']) assert.ok(!(dollarsOf(words) > 0), words);
});
