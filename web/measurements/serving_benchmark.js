// What `vllm bench serve` (vllm/benchmarks/serve.py) and `python -m sglang.bench_serving` report: their JSON, or the table that they print.
/** @import {MeasurementFormat} from '../types.js' */
import { modelNamed, precisionNamed } from '../commands/checkpoints.js';

const TABLE = /Serving Benchmark Result/;
// The printed rows under their JSON names.
const PRINTED = {
  '__proto__': null, // "constructor" is no row of it
  'Backend': 'backend',
  'Traffic request rate': 'request_rate',
  'Request rate configured (RPS)': 'request_rate',
  'Max request concurrency': 'max_concurrency',
  'Max reqeuest concurrency': 'max_concurrency', // as SGLang 0.4 spelled it
  'Maximum request concurrency': 'max_concurrency',
  'Successful requests': 'completed',
  'Total input tokens': 'total_input_tokens',
  'Total generated tokens': 'total_output_tokens',
  'Output token throughput (tok/s)': 'output_throughput',
  'Mean TTFT (ms)': 'mean_ttft_ms',
  'Mean TPOT (ms)': 'mean_tpot_ms',
  'Mean ITL (ms)': 'mean_itl_ms',
};
// Rows that repeat others or have no figure here.
const OTHERS =
  /^(Benchmark duration|Request throughput|Input token throughput|Total [Tt]oken throughput|Peak|Failed requests|Concurrency|Median|P\d+|Std|Mean E2E|Max ITL|Total (input|generated) .*\(|Total input (text|vision))/;

function objectOf(text) {
  const start = text.indexOf('{');
  if (start < 0) return null;
  for (const piece of [text.slice(start), ...text.split('\n').reverse()]) {
    try {
      const json = JSON.parse(piece);
      if (json && typeof json === 'object' && 'completed' in json) return json;
    } catch {
      continue;
    }
  }
  return null;
}

function tableOf(text) {
  const found = {};
  const unread = [];
  for (const line of text.slice(text.search(TABLE)).split('\n').slice(1)) {
    const [, name, value] = /^\s*([^:]+):\s+(.+?)\s*$/.exec(line) ?? [];
    if (PRINTED[name]) found[PRINTED[name]] ??= value === 'not set' ? null : value;
    else if (name && !OTHERS.test(name)) unread.push(line.trim());
  }
  // What stands before the table: vLLM names its load there.
  for (const line of text.slice(0, text.search(TABLE)).split('\n')) {
    const [, name, value] = /^\s*([^:]+):\s+(.+?)\s*$/.exec(line) ?? [];
    if (PRINTED[name]) found[PRINTED[name]] ??= ['None', 'not set'].includes(value) ? null : value;
  }
  const started = /--model(?:-path)?[= ](\S+)/.exec(text) ?? /\bmodel='([^']+)'/.exec(text);
  const [, backend] = /--backend[= ](\S+)|\bbackend='([^']+)'/.exec(text)?.filter(Boolean) ?? [];
  return {
    ...(backend && { backend }),
    ...found,
    ...(started && { model_id: started[1] }),
    ...(/max_concurrency=(\d+)/.exec(text) && { max_concurrency: /max_concurrency=(\d+)/.exec(text)[1] }),
    unread,
  };
}

// A number, also as text; undefined for "inf", null and other values.
function numberOf(value) {
  const number = typeof value === 'string' ? value.replace(/ RPS\.?$/, '') : value; // "15.0 RPS."
  return number !== null && number !== undefined && number !== '' && Number.isFinite(Number(number))
    ? Number(number)
    : undefined;
}

/** @type {[RegExp, string][]} */
const ENGINES = [
  [/^sglang|^sgl/, 'sglang'],
  [/^vllm/, 'vllm'],
  [/^(trt|tensorrt)/, 'trtllm'],
  [/^lmdeploy/, 'lmdeploy'],
];

/** @type {MeasurementFormat} */
export const servingBenchmark = {
  id: 'serving-benchmark',
  title: 'vLLM, SGLang',
  part: 'serving',
  started: (text) => TABLE.test(text) || objectOf(text) !== null,

  read(text, { models }) {
    const json = objectOf(text);
    const result = json ?? tableOf(text);
    const number = (name) => numberOf(result[name]);
    const completed = number('completed') ?? number('num_prompts');
    const mean = (name) =>
      number(name) !== undefined && completed > 0 && Math.max(1, Math.round(number(name) / completed));
    const positive = (name) => (number(name) > 0 ? number(name) : undefined);
    const asked = positive('num_prompts') ?? completed;
    const configured = positive('request_rate');
    const most = positive('max_concurrency');
    // A limit that all requests keep does not bound a rate.
    const concurrency = configured && asked <= most ? undefined : most;
    const rate = concurrency ? undefined : configured;
    const name = [result.model_id, result.model, result.server_info?.model_path].find(
      (one) => one && typeof one === 'string',
    );
    const model = name && modelNamed(name, models);
    const precision = name && precisionNamed(name);
    const engine = ENGINES.find(([pattern]) => pattern.test(result.backend ?? ''))?.[1];
    const tp = number('tensor_parallel_size') ?? numberOf(result.server_info?.tp_size) ?? number('tp');
    const inputs = {
      ...(mean('total_input_tokens') && { 'serving.prompt': `${mean('total_input_tokens')}` }),
      ...(mean('total_output_tokens') && { 'serving.output': `${mean('total_output_tokens')}` }),
      ...(rate !== undefined && { 'serving.requests_per_s': `${rate}` }),
      ...(concurrency !== undefined && { 'serving.concurrency': `${concurrency}` }),
      ...(concurrency !== undefined &&
        asked > 0 && { 'serving.waves': `${Math.max(1, Math.round(asked / concurrency))}` }),
      ...(rate === undefined &&
        concurrency === undefined &&
        asked > 0 && { 'serving.concurrency': `${asked}`, 'serving.waves': '1' }), // all sent at once
      ...(engine && { 'serving.engine': engine }),
      ...(tp > 0 && { 'serving.mapping.tp': `${tp}`, 'serving.devices': `${tp}` }),
      ...(precision && {
        'serving.precision.weights': precision.weights,
        'serving.precision.activations': precision.activations,
      }),
    };
    const token = number('mean_tpot_ms') ?? number('mean_itl_ms');
    const measured = [
      token > 0 && { figure: 'serving.tpot_s', value: token / 1000 },
      number('mean_ttft_ms') > 0 && { figure: 'serving.ttft_s', value: number('mean_ttft_ms') / 1000 },
      number('output_throughput') > 0 && { figure: 'serving.tokens_per_s', value: number('output_throughput') },
    ].filter(Boolean);
    const unread = [
      ...(json ? [] : result.unread),
      ...(name && !model ? [name] : []),
      ...(configured && !rate ? [`request rate ${configured}`] : []),
    ];
    return {
      inputs,
      model,
      name,
      measured,
      unread,
      missing: [!engine && 'engine', !name && 'model', !precision && 'precision', !(tp > 0) && 'devices'].filter(
        Boolean,
      ),
    };
  },
};
