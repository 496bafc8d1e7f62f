import '../support/browser_globals.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bibtex, csvRows, markdown, megatron, trtllm, vllm } from '../../web/report/copy_as.js';
import { requestOf } from '../../web/state/scenario.js';
import { setOutputs } from '../../web/text/outputs.js';
import { loadSlipstick } from '../support/module.js';

const { slipstick } = await loadSlipstick();
const described = JSON.parse(slipstick.describe());
setOutputs(described.outputs);
const presetPaths = described.inputs.filter(({ presets }) => presets).map(({ path }) => path);
const report = (inputs, explain = '') => JSON.parse(slipstick.evaluate(JSON.stringify(requestOf(described.default, inputs, presetPaths)), explain));

test('Megatron-LM flags say the degrees, the shape and the batch', () => {
  const text = megatron(report({}).scenario);
  for (const flag of ['--num-layers 80', '--hidden-size 8192', '--num-query-groups 8', '--tensor-model-parallel-size 8', '--pipeline-model-parallel-size 4', '--num-layers-per-virtual-pipeline-stage 4', '--micro-batch-size 1', '--global-batch-size 512', '--seq-length 8192', '--sequence-parallel', '--use-distributed-optimizer', '--bf16', '--swiglu'])
    assert.ok(text.includes(flag), flag);
  assert.doesNotMatch(text, /undefined|null|NaN/);
  assert.match(megatron(report({ model: 'mixtral-8x7b', 'training.mapping.ep': '4', 'training.mapping.virtual_stages': '1' }).scenario), /--num-experts 8[^]*--expert-model-parallel-size 4/);
  assert.equal(megatron(report({ training: 'null' }).scenario), null);
});

test('vLLM and TensorRT-LLM flags say the degrees, the lengths and the precisions', () => {
  const { scenario } = report({ 'serving.batch': '64' });
  for (const flag of ['--tensor-parallel-size 8', '--max-model-len 2304', '--max-num-seqs 64', '--quantization fp8']) assert.ok(vllm(scenario).includes(flag), flag);
  for (const flag of ['--max_batch_size 64', '--max_input_len 2048', '--max_seq_len 2304']) assert.ok(trtllm(scenario).includes(flag), flag);
  assert.doesNotMatch(vllm(scenario) + trtllm(scenario), /undefined|null|NaN/);
});

test('the Markdown table has a row a figure and the link', () => {
  const text = markdown(report({}), 'https://example.org/#/train');
  assert.match(text, /^\| figure \| value \|\n\|---\|---\|\n\| Step time \| [\d.]+ s \|/);
  assert.match(text, /\[Slipstick\]\(https:\/\/example\.org\/#\/train\)\n$/);
});

test('BibTeX names every source once, with nothing that breaks it', () => {
  const { explanations } = report({}, '*');
  const text = bibtex(new Map(explanations.map((one) => [one.path, one])));
  const entries = text.match(/@misc\{/g);
  assert.ok(entries.length > 5);
  assert.equal(new Set(text.match(/note = \{[^}]*\}/g)).size, entries.length);
});

test('figures as rows carry inputs, version and link', () => {
  const rows = csvRows(report({ 'serving.batch': '64' }), { 'serving.batch': '64' }, 'link');
  assert.deepEqual(rows.slice(-3), [['serving.batch', '64', 'input'], ['version', 1, ''], ['link', 'link', '']]);
});
