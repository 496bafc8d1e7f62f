// What llama-bench of llama.cpp prints (tools/llama-bench): a table in Markdown, a row a test. pp512 processes a prompt, tg128 generates; behind
// @ d4096 both begin at that depth of context.
/** @import {MeasurementFormat} from '../types.js' */
import { ggufNamed, modelsSized } from '../commands/checkpoints.js';
import { CACHE, amongFirst } from '../commands/llamacpp.js';

const HEADER = /^\s*\|\s*model\s*\|.*\|\s*test\s*\|\s*t\/s\s*\|/m;

function rowsOf(text) {
  const lines = text.slice(text.search(HEADER)).split('\n');
  const cells = (line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const names = cells(lines[0]);
  return lines
    .slice(1)
    .filter((line) => /^\s*\|/.test(line) && !/^\s*\|\s*-/.test(line))
    .map((line) => Object.fromEntries(cells(line).map((cell, i) => [names[i], cell])));
}

// "qwen3moe 30B.A3B Q4_K - Medium" of "30.53 B" parameters, where it counts them: the family begins the names of its models.
function modelOf({ model, params }, models) {
  const [family, size] = model.split(' ');
  const [billions, near] = params ? [Number.parseFloat(params), 0.015] : [Number.parseFloat(size), 0.08];
  return modelsSized(models, family.replace(/moe$/, ''), billions, near)[0];
}

const testOf = (test) => /^(pp|tg) ?(\d+)(?: @ d(\d+))?$/.exec(test) ?? [];

/** @type {MeasurementFormat} */
export const llamaBench = {
  id: 'llama-bench',
  title: 'llama-bench',
  part: 'serving',
  started: (text) => HEADER.test(text),

  // The first model's first prompt and first generation at one depth.
  read(text, { models }) {
    const rows = rowsOf(text);
    const first = rows.find(({ test }) => testOf(test ?? '')[1]) ?? {};
    const depth = testOf(first.test ?? '')[3];
    const found = (kind) =>
      rows.find((row) => {
        const [, one, , at] = testOf(row.test ?? '');
        return one === kind && at === depth && row.model === first.model;
      });
    const rate = (row) => Number.parseFloat(row?.['t/s']);
    const [prompt, tokens] = [found('pp'), found('tg')];
    const size = (row) => Number(testOf(row.test)[2]);
    const model = first.model && modelOf(first, models);
    const type = ggufNamed((first.model ?? '').replaceAll(' ', '-'));
    const kept = amongFirst(model, Number(first.n_cpu_moe ?? 0));
    // Settings that change the figures but are not inputs: layers and experts on the processor, tensors split by rows,
    // another KV-cache type.
    const isPartly = model && Number(first.ngl) < model.layers;
    const others = [
      type.unknown,
      first.model && !model && first.model,
      isPartly && `ngl ${first.ngl}`,
      /^(CPU|BLAS)$/.test(first.backend) && `backend ${first.backend}`,
      first.sm && first.sm !== 'layer' && `sm ${first.sm}`,
      first.type_k && !CACHE[first.type_k] && `type_k ${first.type_k}`,
    ];
    const length = depth ? Number(depth) : prompt ? size(prompt) : undefined;
    return {
      inputs: {
        'serving.engine': 'llamacpp-2025',
        'serving.batch': '1',
        ...(length && { 'serving.prompt': `${length}` }),
        ...(tokens && { 'serving.output': `${size(tokens)}` }),
        ...(first.n_ubatch && { 'serving.prefill_chunk': first.n_ubatch }),
        ...(CACHE[first.type_k] && { 'serving.precision.kv_cache': CACHE[first.type_k] }),
        ...(kept > 0 && { 'serving.host_experts.layers': `${kept}` }),
        ...(type.precision && { 'serving.precision.weights': type.precision, 'serving.precision.activations': 'fp16' }),
      },
      model,
      name: first.model,
      measured: [
        rate(tokens) > 0 && { figure: 'serving.tpot_s', value: 1 / rate(tokens) },
        // Behind a context a prompt takes longer than our figure, which is for a prompt alone.
        prompt && !depth && rate(prompt) > 0 && { figure: 'serving.prefill_s', value: size(prompt) / rate(prompt) },
      ].filter(Boolean),
      unread: others.filter(Boolean),
      missing: ['devices'],
    };
  },
};
