// vLLM 0.28 (August 2026): vllm/config/{parallel,cache,scheduler}.py.
/** @import {Tool} from '../types.js' */
import { cacheOf, isCacheWider, nameOfModel, served } from './checkpoints.js';
import { LOAD, above, idle, idleSingle, readFlags, said, shareBy } from './flags.js';
import { comments, holding, linesOf } from './lines.js';

function draftsOf(text) {
  if (!/^\d+$/.test(text)) throw new Error(text);
  return { 'serving.speculative.draft_tokens': text };
}

// The number that run at once on each data-parallel rank, if it is larger. With open-loop arrivals as many run as fit,
// at times more than on average.
function sequencesOf({ serving }, answer) {
  const ranks = serving.mapping.attention_dp;
  const standard = answer.default_sequences;
  if (!(standard > 0) || !(answer.batch / ranks > standard)) return undefined;
  const most = serving.requests_per_s ? answer.max_batch : answer.batch;
  return Math.min(serving.engine.max_sequences, Math.ceil(most / ranks));
}

const ROWS = [
  { flag: 'tensor-parallel-size', aliases: ['tp'], path: 'serving.mapping.tp' },
  { flag: 'pipeline-parallel-size', aliases: ['pp'], path: 'serving.mapping.pp', when: above(1) },
  { flag: 'data-parallel-size', aliases: ['dp'], path: 'serving.mapping.attention_dp', when: above(1) },
  { flag: 'prefill-context-parallel-size', aliases: ['pcp'], path: 'serving.mapping.prefill_cp', when: above(1) },
  { flag: 'decode-context-parallel-size', aliases: ['dcp'], path: 'serving.mapping.cp', when: above(1) },
  {
    flag: 'enable-expert-parallel',
    aliases: ['ep'],
    single: true,
    write: ({ serving }) => serving.mapping.ep > 1,
    read: () => ({}),
  },
  { flag: 'enable-eplb', single: true, write: ({ serving }) => serving.redundant_experts > 0 },
  {
    flag: 'eplb-config',
    write: ({ serving }) =>
      serving.redundant_experts > 0 && JSON.stringify({ num_redundant_experts: serving.redundant_experts }),
    read: (text) => ({ 'serving.redundant_experts': `${JSON.parse(text).num_redundant_experts ?? 0}` }),
  },
  {
    flag: 'enable-dbo',
    single: true,
    write: ({ serving }) => serving.mapping.overlap.ep === true,
    read: () => ({ 'serving.mapping.overlap.ep': 'true' }),
  },
  {
    flag: 'quantization',
    aliases: ['q'],
    write: ({ serving: { precision } }) =>
      precision.weights === 'fp8' && precision.activations === 'fp8' ? 'fp8' : undefined,
  },
  { flag: 'dtype' },
  {
    flag: 'kv-cache-dtype',
    write: ({ serving: { precision } }) =>
      ['fp8', 'nvfp4'].includes(precision.kv_cache)
        ? precision.kv_cache
        : isCacheWider(precision)
          ? 'bfloat16'
          : undefined,
    read: cacheOf,
  },
  { flag: 'max-model-len', write: ({ serving }) => serving.prompt + serving.output, isUnused: true },
  { flag: 'gpu-memory-utilization', path: 'serving.engine.memory.share', write: shareBy('share_of_device') },
  { flag: 'enable-prefix-caching', single: true, isUnused: true },
  {
    flag: 'max-num-seqs',
    write: ({ serving, sequences }) => serving.max_requests ?? sequences,
    read: (text) => ({ 'serving.max_requests': text }),
  },
  { flag: 'max-num-batched-tokens', path: 'serving.prefill_chunk' },
  {
    flag: 'enforce-eager',
    single: true,
    write: ({ serving }) => serving.cuda_graphs === false,
    read: () => ({ 'serving.cuda_graphs': 'false' }),
  },
  { flag: 'no-enable-prefix-caching', single: true, read: () => ({ 'serving.prefix_hit': '0' }) },
  {
    flag: 'speculative-config',
    write: ({ serving }) =>
      serving.speculative && JSON.stringify({ num_speculative_tokens: serving.speculative.draft_tokens }),
    read: (text) => draftsOf(`${JSON.parse(text).num_speculative_tokens}`),
  },
  {
    flag: 'speculative-config.num_speculative_tokens',
    aliases: ['num-speculative-tokens'], // until vLLM 0.8
    read: draftsOf,
  },
  {
    flag: 'kv-offloading-size',
    write: ({ serving }) => serving.kv_offload && Math.round((serving.kv_offload.capacity * serving.devices) / 2 ** 30),
    isUnused: true,
  },
  ...LOAD,
  ...idle([
    'model',
    'served-model-name',
    'tokenizer',
    'tokenizer-mode',
    'config-format',
    'host',
    'port',
    'api-key',
    'seed',
    'download-dir',
    'load-format',
    'speculative-config.method',
    'speculative-config.model',
  ]),
  ...idle([
    'distributed-executor-backend',
    'swap-space',
    'block-size',
    'max-logprobs',
    'tool-call-parser',
    'reasoning-parser',
    'chat-template',
  ]),
  ...idle([
    'all2all-backend',
    'data-parallel-size-local',
    'data-parallel-address',
    'data-parallel-rpc-port',
    'data-parallel-start-rank',
  ]),
  ...idleSingle([
    'trust-remote-code',
    'disable-log-requests',
    'enable-chunked-prefill',
    'enable-auto-tool-choice',
    'headless',
    'async-scheduling',
  ]),
];

// The module, or the image that Docker runs it from.
const isServer = (word) => word.startsWith('vllm.entrypoints') || /(^|\/)vllm-openai(:|@|$)/.test(word);

/** @type {Tool} */
export const vllm = {
  id: 'vllm',
  title: 'vLLM',
  version: 'vLLM 0.28',
  part: 'serving',
  started: (words) => (words.includes('vllm') && words.includes('serve')) || words.some(isServer),
  isLoad: (words) => words.includes('bench'),

  command(scenario, models, report) {
    const { serving } = scenario;
    const { precision, mapping } = serving;
    const unsaid = holding([
      [mapping.replicas > 1, `${mapping.replicas} of these behind a router`],
      [
        !['bf16', 'fp16', 'fp8'].includes(precision.weights),
        `not a flag: weights in ${precision.weights} need a checkpoint that holds them`,
      ],
      [
        serving.disaggregated,
        'not written: separate pools for prefill and decode (one command each, with --kv-transfer-config)',
      ],
      [
        serving.prefix_hit > 0,
        `not a flag: ${Math.round(serving.prefix_hit * 100)} % of the prompt found in the prefix cache; that depends on the requests`,
      ],
    ]);
    const load = serving.requests_per_s
      ? `--request-rate ${serving.requests_per_s}`
      : `--max-concurrency ${serving.concurrency ?? serving.batch * mapping.replicas}`;
    unsaid.push(
      `load: vllm bench serve --random-input-len ${serving.prompt} --random-output-len ${serving.output} ${load}`,
    );
    return (
      comments([vllm.version, ...unsaid]) +
      linesOf(
        `vllm serve ${nameOfModel(scenario.model, models)}`,
        said(ROWS, { ...scenario, sequences: sequencesOf(scenario, report.serving) }),
      )
    );
  },

  read(words, models) {
    const serve = words.findIndex((word, i) => word === 'serve' && words[i - 1] === 'vllm');
    const start = serve >= 0 ? serve : words.findIndex((word) => word === 'serve' || isServer(word));
    const answer = readFlags(ROWS, words.slice(start + 1));
    const behind = answer.others[0] === words[start + 1] ? answer.others[0] : undefined; // vllm serve MODEL
    const name = behind ?? answer.given.model ?? answer.others[0];
    answer.unknown.push(...answer.others.filter((word) => word !== name));
    const count = (flag) => Number(answer.given[flag] ?? 1);
    const [tp, pp, dp] = [count('tensor-parallel-size'), count('pipeline-parallel-size'), count('data-parallel-size')];
    const { 'serving.mapping.attention_dp': _, ...inputs } = answer.inputs;
    const checkpoint = served(name, models, inputs, answer);
    // Ranks of data parallelism share the experts of a layer where there are any; a dense model they hold whole.
    const isDense = checkpoint.model && !checkpoint.model.moe;
    const ranks = isDense ? 'serving.mapping.replicas' : 'serving.mapping.attention_dp';
    const isWide = answer.given['enable-expert-parallel'];
    if (isDense && isWide) answer.unused.push('--enable-expert-parallel');
    return {
      ...answer,
      ...checkpoint,
      inputs: {
        ...checkpoint.inputs,
        'serving.engine': 'vllm',
        'serving.devices': `${tp * pp * dp}`,
        ...(dp > 1 ? { [ranks]: `${dp}` } : {}),
        ...(isWide && !isDense ? { 'serving.mapping.ep': `${tp * dp}` } : {}),
      },
    };
  },
};
