// SGLang 0.5.21 (October 2026): docs/advanced_features/server_arguments.md. Its tp counts the ranks of DP attention too.
/** @import {Tool} from '../types.js' */
import { cacheOf, isCacheWider, nameOfModel, served } from './checkpoints.js';
import { LOAD, above, idle, idleSingle, readFlags, said, shareBy } from './flags.js';
import { comments, holding, linesOf } from './lines.js';

const ofAllRanks =
  (member) =>
  ({ serving }) =>
    serving[member] ? serving[member] * serving.mapping.attention_dp : undefined;
const OF_ALL_RANKS = ['serving.max_requests', 'serving.prefill_chunk'];

const ROWS = [
  {
    flag: 'tp-size',
    aliases: ['tp', 'tensor-parallel-size'],
    write: ({ serving: { mapping } }) => mapping.tp * mapping.attention_dp,
    read: () => ({}),
  },
  { flag: 'dp-size', aliases: ['dp', 'data-parallel-size'], path: 'serving.mapping.attention_dp', when: above(1) },
  { flag: 'enable-dp-attention', single: true, write: ({ serving }) => serving.mapping.attention_dp > 1 },
  { flag: 'pp-size', aliases: ['pp', 'pipeline-parallel-size'], path: 'serving.mapping.pp', when: above(1) },
  { flag: 'moe-a2a-backend' }, // other than "none" it takes all ranks for the experts
  { flag: 'enable-deepep-moe', aliases: ['enable-ep-moe'], single: true }, // as SGLang 0.4 said it
  { flag: 'ep-size', aliases: ['ep', 'expert-parallel-size'], path: 'serving.mapping.ep', when: above(1) },
  { flag: 'ep-num-redundant-experts', path: 'serving.redundant_experts', when: above(0) },
  {
    flag: 'enable-two-batch-overlap',
    single: true,
    write: ({ serving }) => serving.mapping.overlap.ep === true,
    read: () => ({ 'serving.mapping.overlap.ep': 'true' }),
  },
  {
    flag: 'quantization',
    write: ({ serving: { precision } }) =>
      precision.weights === 'fp8' && precision.activations === 'fp8' ? 'fp8' : undefined,
  },
  { flag: 'dtype' },
  {
    flag: 'kv-cache-dtype',
    write: ({ serving: { precision } }) =>
      precision.kv_cache === 'fp8' ? 'fp8_e4m3' : isCacheWider(precision) ? 'bfloat16' : undefined,
    read: cacheOf,
  },
  { flag: 'context-length', write: ({ serving }) => serving.prompt + serving.output, isUnused: true },
  { flag: 'mem-fraction-static', path: 'serving.engine.memory.share', write: shareBy('share_of_start') },
  ...LOAD,
  // Both count for all ranks of DP attention together; `read` below divides them.
  { flag: 'max-running-requests', path: 'serving.max_requests', write: ofAllRanks('max_requests') },
  {
    flag: 'chunked-prefill-size',
    path: 'serving.prefill_chunk',
    write: ofAllRanks('prefill_chunk'),
    read: (text) => (Number(text) > 0 ? { 'serving.prefill_chunk': text } : {}),
  },
  {
    flag: 'disable-cuda-graph',
    single: true,
    write: ({ serving }) => serving.cuda_graphs === false,
    read: () => ({ 'serving.cuda_graphs': 'false' }),
  },
  { flag: 'disable-radix-cache', single: true, read: () => ({ 'serving.prefix_hit': '0' }) },
  {
    flag: 'speculative-algorithm',
    aliases: ['speculative-algo'],
    write: ({ serving }) => serving.speculative && 'EAGLE',
  },
  // SGLang's draft tokens are those that a step verifies: the last kept token and one per draft step. A tree of drafts
  // has more, but a step keeps no more than its depth.
  {
    flag: 'speculative-num-draft-tokens',
    write: ({ serving }) => serving.speculative && serving.speculative.draft_tokens + 1,
    read: (text) => ({ 'serving.speculative.draft_tokens': String(Number(text) - 1) }),
  },
  {
    flag: 'speculative-num-steps',
    write: ({ serving }) => serving.speculative?.draft_tokens,
    read: () => ({}), // `read` below puts it first
  },
  { flag: 'speculative-eagle-topk', write: ({ serving }) => serving.speculative && 1 },
  ...idle([
    'model-path',
    'model',
    'tokenizer-path',
    'host',
    'port',
    'cuda-graph-max-bs',
    'cuda-graph-bs',
    'page-size',
    'attention-backend',
    'speculative-draft-model-path',
  ]),
  ...idle([
    'deepep-mode',
    'nnodes',
    'node-rank',
    'dist-init-addr',
    'served-model-name',
    'max-prefill-tokens',
    'schedule-policy',
  ]),
  ...idle([
    'tool-call-parser',
    'reasoning-parser',
    'random-seed',
    'log-level',
    'moe-dense-tp-size',
    'api-key',
    'chat-template',
  ]),
  ...idleSingle([
    'trust-remote-code',
    'enable-dp-lm-head',
    'enable-eplb',
    'enable-metrics',
    'enable-cache-report',
    'skip-server-warmup',
  ]),
];

/** @type {Tool} */
export const sglang = {
  id: 'sglang',
  title: 'SGLang',
  version: 'SGLang 0.5.21',
  part: 'serving',
  started: (words) => words.some((word) => word.startsWith('sglang')),
  isLoad: (words) => words.some((word) => word.startsWith('sglang.bench_serving')),

  command(scenario, models) {
    const { precision, mapping, ...serving } = scenario.serving;
    const unsaid = holding([
      [mapping.replicas > 1, `${mapping.replicas} of these behind a router (sglang_router)`],
      [
        !['bf16', 'fp16', 'fp8'].includes(precision.weights),
        `not a flag: weights in ${precision.weights} need a checkpoint that holds them`,
      ],
      [mapping.cp > 1, 'not written: decode context parallelism'],
      [mapping.prefill_cp > 1, 'not written: prefill context parallelism; --attn-cp-size splits ranks of --tp-size'],
      [
        serving.disaggregated,
        'not written: separate pools for prefill and decode (one command each, with --disaggregation-mode)',
      ],
    ]);
    return (
      comments([sglang.version, ...unsaid]) +
      linesOf(`python -m sglang.launch_server`, [
        ['model-path', nameOfModel(scenario.model, models)],
        ...said(ROWS, scenario),
      ])
    );
  },

  read(words, models) {
    const start = words.findIndex((word) => word.startsWith('sglang'));
    const answer = readFlags(ROWS, words.slice(start + 1));
    const count = (flag) => Number(answer.given[flag] ?? 1);
    const [all, pp, dp] = [count('tp-size'), count('pp-size'), count('dp-size')];
    const { 'serving.mapping.attention_dp': _, ...inputs } = answer.inputs;
    const checkpoint = served(answer.given['model-path'] ?? answer.given.model, models, inputs, answer);
    const inside = answer.given['enable-dp-attention'] !== undefined;
    const perRank = OF_ALL_RANKS.filter((path) => inside && inputs[path]).map((path) => [
      path,
      `${Math.max(1, Math.floor(Number(inputs[path]) / dp))}`,
    ]);
    const [steps, branches] = [answer.given['speculative-num-steps'], count('speculative-eagle-topk')];
    if (branches > 1) answer.unused.push(`--speculative-eagle-topk ${branches}`);
    const { 'speculative-algorithm': algorithm, 'moe-a2a-backend': exchange = 'none' } = answer.given;
    const isDrafting = steps || answer.given['speculative-num-draft-tokens'];
    if (algorithm && !isDrafting) answer.unused.push(`--speculative-algorithm ${algorithm}`); // SGLang chooses how many
    const isWide = exchange !== 'none' || answer.given['enable-deepep-moe'];
    return {
      ...answer,
      ...checkpoint,
      inputs: {
        ...checkpoint.inputs,
        ...Object.fromEntries(perRank),
        ...(isWide ? { 'serving.mapping.ep': `${all}` } : {}),
        ...(steps ? { 'serving.speculative.draft_tokens': steps } : {}),
        'serving.engine': 'sglang',
        'serving.devices': `${all * pp * (inside ? 1 : dp)}`,
        'serving.mapping.tp': `${inside ? all / dp : all}`,
        ...(dp > 1 ? { [inside ? 'serving.mapping.attention_dp' : 'serving.mapping.replicas']: `${dp}` } : {}),
      },
    };
  },
};
