// The sizing memo from real answers: it states what report, advice and catalogue state.
import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoMarkdown, memoOf } from '../../web/memo/memo.js';
import { differenceText } from '../../web/report/advice.js';
import { requestOf } from '../../web/state/scenario.js';
import { setInputs } from '../../web/text/inputs.js';
import { setOutputs } from '../../web/text/outputs.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
const catalogue = JSON.parse(slipstick.presets(''));
setOutputs(described.outputs);
setInputs(described.inputs);
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);

function memo(inputs, advice = null) {
  const report = JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.defaults, inputs, presetPaths)), ''));
  assert.equal(report.issues, undefined);
  const about = { link: 'https://example.org/#/overview', release: '9.9.9', date: 'May 1, 2026' };
  return memoOf({ report, faulty: new Set(), inputs, described, catalogue, advice, ...about });
}

function advise(spec) {
  const steps = new slipstick.Advice(JSON.stringify(spec));
  while (steps.step(1000));
  const report = JSON.parse(steps.report());
  steps.delete();
  return report;
}

test('a memo has question, answers with intervals, limits, sources, release and link', () => {
  const text = memoMarkdown(memo({}));
  assert.match(text, /^# Sizing memo\n\nPre-train Llama-3\.1-70B on 15\sT\stokens with 512 H100/);
  assert.match(text, /\| Training time · uninterrupted \| \d+ days \| 90 %: \d+–\d+ days \|/);
  assert.match(text, /## What limits each phase\n\n- .*compute-bound/);
  // One source each for model, cluster, device, framework, engine, server and bill of materials.
  for (const source of [
    /meta-llama\/Llama-3\.1-70B config\.json/,
    /NVIDIA DGX H100 data sheet/,
    /H100 whitepaper/,
    /Megatron-Core 0\.16/,
    /V1's scheduler/,
    /SemiAnalysis/,
    /814 mm/,
  ])
    assert.match(text.split('## Sources')[1], source);
  assert.match(text, /Slipstick 9\.9\.9 on May 1, 2026.*\n\n<https:\/\/example\.org\/#\/overview>\n$/);
  assert.doesNotMatch(text, /undefined|\[object|NaN/);
});

test('it lists changed inputs and automatic choices, with reasons', () => {
  const { changed, chosen } = memo({
    'cluster': 'dgx-b200',
    'cluster.devices': '512',
    'training.mapping': 'auto',
    'serving.prompt': '4k',
  });
  assert.deepEqual(changed.map(({ label, value }) => [label, value]).slice(0, 2), [
    ['Cluster', 'dgx-b200'],
    ['Cluster, Devices', '512'],
  ]);
  assert.ok(chosen.length >= 5);
  for (const { label, value, why } of chosen)
    assert.ok(label && value && why.endsWith('.'), `${label} ${value} ${why}`);
});

test('changes are the advice’s, with other hardware listed separately', () => {
  const inputs = { training: 'null' };
  const advice = advise({
    request: requestOf(described.defaults, inputs, presetPaths),
    for: 'serving',
    objective: 'tpot_s',
    top: 12,
  });
  const { changes, alternatives } = memo(inputs, advice);
  assert.equal(alternatives[0].title, advice.changes.find(({ id }) => id.startsWith('device.')).title);
  assert.equal(changes[0].title, advice.changes.find(({ id }) => !id.startsWith('device.')).title);
  assert.match(
    alternatives[0].effects[0],
    /^[\d.]+\u00a0ms ▼ \d+\u00a0%$/,
    'nothing is trained, so the first column is TPOT',
  );
});

test('a change of twenty times or more is a factor', () => {
  assert.equal(differenceText(2000, 20), '▼ ÷\u00a0100');
  assert.equal(differenceText(20, 30), '▲ 50\u00a0%');
});

test('a scenario that does not fit says so in place of a figure', () => {
  const { answers } = memo({
    'model': 'llama-3.1-405b',
    'cluster.devices': '8',
    'training': 'null',
    'serving.precision.weights': 'bf16',
  });
  assert.equal(answers[0].name.split(' · ')[0], 'Inference latency', 'what is off has no answer');
  assert.match(answers[0].value, /memory/i);
  assert.equal(answers[0].interval, '');
});
