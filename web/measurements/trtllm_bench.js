// What `trtllm-bench throughput` and `latency` report (tensorrt_llm/bench/dataclasses/reporting.py): rows "Name: value" under headings.
/** @import {MeasurementFormat} from '../types.js' */
import { modelNamed } from '../commands/checkpoints.js';

const OUTPUT = 'Total Output Throughput (tokens/sec)';
const QUANTISED = {
  __proto__: null,
  FP8: ['fp8', 'fp8'],
  FP8_BLOCK_SCALES: ['fp8', 'fp8'],
  NVFP4: ['nvfp4', 'nvfp4'],
  W4A16_AWQ: ['int4', 'bf16'],
};

// The rows by their names; of two of a name the first.
function rowsOf(text) {
  const found = { __proto__: null };
  for (const line of text.split('\n')) {
    const [, name, value] = /^\s*([^:]+?):\s+(\S.*?)\s*$/.exec(line) ?? [];
    if (name) found[name] ??= value;
  }
  return found;
}

/** @type {MeasurementFormat} */
export const trtllmBench = {
  id: 'trtllm-bench',
  title: 'TensorRT-LLM',
  part: 'serving',
  started: (text) => Number(rowsOf(text)[OUTPUT]) > 0,

  read(text, { models }) {
    const rows = rowsOf(text);
    const number = (name) => (Number(rows[name]) > 0 ? Number(rows[name]) : undefined);
    const whole = (name) => number(name) && `${Math.max(1, Math.round(number(name)))}`;
    const name = rows.Model;
    const model = name && modelNamed(name, models);
    const precision = QUANTISED[rows.Quantization];
    const [tp, pp, ep] = ['TP Size', 'PP Size', 'EP Size'].map(whole);
    const running = whole('Number of concurrent requests');
    const limit = whole('Max Runtime Batch Size');
    const chunk = whole('Max Runtime Tokens');
    return {
      inputs: {
        'serving.engine': 'trtllm',
        ...(whole('Average Input Length (tokens)') && { 'serving.prompt': whole('Average Input Length (tokens)') }),
        ...(whole('Average Output Length (tokens)') && { 'serving.output': whole('Average Output Length (tokens)') }),
        ...(running && { 'serving.concurrency': running }),
        ...(limit && { 'serving.max_requests': limit }),
        ...(chunk && { 'serving.prefill_chunk': chunk }),
        ...(tp && { 'serving.mapping.tp': tp, 'serving.devices': `${Number(tp) * Number(pp ?? 1)}` }),
        ...(pp && { 'serving.mapping.pp': pp }),
        ...(tp && { 'serving.mapping.ep': ep ?? '1' }),
        ...(rows['KV Cache Dtype'] === 'FP8' && { 'serving.precision.kv_cache': 'fp8' }),
        ...(precision && {
          'serving.precision.weights': precision[0],
          'serving.precision.activations': precision[1],
        }),
      },
      model,
      name,
      measured: [{ figure: 'serving.tokens_per_s', value: Number(rows[OUTPUT]) }],
      unread: [
        name && !model && name,
        rows.Quantization && rows.Quantization !== 'None' && !precision && `Quantization: ${rows.Quantization}`,
      ].filter(Boolean),
      missing: [!name && 'model', !precision && 'precision', !tp && 'devices'].filter(Boolean),
    };
  },
};
