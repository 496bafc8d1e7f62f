// llama.cpp, builds of autumn 2026: llama-server --help. By default devices hold layers (--split-mode layer).
/** @import {Json, Tool} from '../types.js' */
import { ggufNamed, served } from './checkpoints.js';
import { counts, idle, idleSingle, readFlags, said } from './flags.js';
import { comments, holding, linesOf } from './lines.js';

export const CACHE = { __proto__: null, f16: 'fp16', bf16: 'bf16', q8_0: 'q8_0', f32: 'fp32' };
const FILE = { q4_k_m: 'Q4_K_M', q4_0: 'Q4_0', q8_0: 'Q8_0', bf16: 'BF16', fp16: 'F16', fp32: 'F32', mxfp4: 'MXFP4' };

const ALL_LAYERS = '1024'; // more than any model has

// --n-cpu-moe counts all layers from the first; the scenario counts those with experts.
const firstLayers = ({ layers, moe }, withExperts) =>
  Math.min(layers, (moe?.dense_layers ?? 0) + withExperts * (moe?.moe_every ?? 1));
/** @type {(model: Json | undefined, layers: number) => number} */
export const amongFirst = ({ moe } = {}, layers) =>
  Math.max(0, Math.floor((layers - (moe?.dense_layers ?? 0)) / (moe?.moe_every ?? 1)));

// Whether a pattern of --override-tensor holds the routed experts of all layers whole: gate, up and down.
function holdsExperts(pattern) {
  const [whole, named] = /^(?:\\?\.)?(?:exps|ffn_(?:\.\*|\(([a-z|]+)\))_exps)(?:\\?\.)?=CPU$/.exec(pattern) ?? [];
  return (
    whole !== undefined &&
    (named === undefined || ['gate', 'up', 'down'].every((one) => named.split('|').includes(one)))
  );
}

const cache = (flag, short) => ({
  flag,
  aliases: [short],
  write: ({ serving }) => (serving.precision.kv_cache === 'q8_0' ? 'q8_0' : undefined),
  read: (text) => {
    if (!CACHE[text]) throw new Error(text);
    return { 'serving.precision.kv_cache': CACHE[text] };
  },
});

const ROWS = [
  { flag: 'n-gpu-layers', aliases: ['ngl', 'gpu-layers'], write: () => 99 },
  {
    flag: 'n-cpu-moe',
    aliases: ['ncmoe'],
    write: ({ model, serving }) => serving.host_experts && firstLayers(model, serving.host_experts.layers),
    read(text) {
      if (!/^\d+$/.test(text)) throw new Error(text);
      return {}; // `read` below knows the model
    },
  },
  { flag: 'cpu-moe', aliases: ['cmoe'], single: true, read: () => ({ 'serving.host_experts.layers': ALL_LAYERS }) },
  {
    flag: 'override-tensor',
    aliases: ['ot'],
    read: (text) => {
      if (!holdsExperts(text)) throw new Error(text);
      return { 'serving.host_experts.layers': ALL_LAYERS };
    },
  },
  {
    flag: 'split-mode',
    aliases: ['sm'],
    write: ({ serving }) => (serving.mapping.tp > 1 ? 'row' : serving.mapping.pp > 1 ? 'layer' : undefined),
  },
  { flag: 'tensor-split', aliases: ['ts'] }, // `read` below counts the devices
  {
    flag: 'ctx-size',
    aliases: ['c'],
    write: ({ serving }) => (serving.prompt + serving.output) * (typeof serving.batch === 'number' ? serving.batch : 1),
    isUnused: true,
  },
  {
    flag: 'parallel',
    aliases: ['np'],
    write: ({ serving }) => (typeof serving.batch === 'number' ? serving.batch : undefined),
    read: (text) => ({ 'serving.batch': text }),
  },
  { flag: 'ubatch-size', aliases: ['ub'], path: 'serving.prefill_chunk' },
  // A flag of llama-bench; in llama-cli -p is the prompt itself.
  { flag: 'n-prompt', aliases: ['p', 'prompt'], read: counts('serving.prompt') },
  { flag: 'n-gen', aliases: ['n', 'predict', 'n-predict'], read: counts('serving.output') },
  cache('cache-type-k', 'ctk'),
  cache('cache-type-v', 'ctv'),
  ...idle([
    'model',
    'm',
    'hf-repo',
    'hf',
    'host',
    'port',
    'threads',
    't',
    'flash-attn',
    'fa',
    'batch-size',
    'b',
    'alias',
    'main-gpu',
    'mg',
  ]),
  ...idleSingle(['jinja', 'mlock', 'no-mmap', 'cont-batching', 'metrics']),
];

const STARTED = /(^|\/)llama-(server|cli|bench)(\.exe)?$/;

/** @type {Tool} */
export const llamacpp = {
  id: 'llamacpp',
  title: 'llama.cpp',
  version: 'llama.cpp, autumn 2026',
  part: 'serving',
  started: (words) => words.some((word) => STARTED.test(word)),

  command(scenario) {
    const { model, serving } = scenario;
    const { precision, mapping } = serving;
    const unsaid = holding([
      [!FILE[precision.weights], `llama.cpp has no file type for weights in ${precision.weights}`],
      [
        mapping.ep > 1 || mapping.attention_dp > 1 || mapping.cp > 1,
        'not written: expert parallelism, DP attention, context parallelism',
      ],
      [mapping.replicas > 1, `${mapping.replicas} of these behind a router`],
      [!['bf16', 'fp16', 'q8_0'].includes(precision.kv_cache), `not written: a KV cache in ${precision.kv_cache}`],
    ]);
    const file = `${(model.name ?? 'MODEL').replaceAll(' ', '-')}-${FILE[precision.weights] ?? precision.weights}.gguf`;
    return (
      comments([llamacpp.version, ...unsaid]) + linesOf('llama-server', [['model', file], ...said(ROWS, scenario)])
    );
  },

  read(words, models) {
    const start = words.findIndex((word) => STARTED.test(word));
    const answer = readFlags(ROWS, words.slice(start + 1));
    const given = ['model', 'm', 'hf-repo', 'hf'].map((flag) => answer.given[flag]).find(Boolean);
    const [name] = (given ?? '').split(':');
    const type = ggufNamed(given ?? '');
    if (type.unknown) answer.unknown.push(type.unknown);
    const checkpoint = served(name.split('/').at(-1), models, answer.inputs);
    // Experts that were published in mxfp4 stay so in files of all types. A repository without a type is read in Q4_K_M.
    const isOfRepository = answer.given.hf ?? answer.given['hf-repo'];
    const weights =
      checkpoint.model?.weights === 'mxfp4'
        ? 'mxfp4'
        : (type.precision ?? (isOfRepository && !type.unknown && 'q4_k_m'));
    if (weights) checkpoint.inputs['serving.precision.weights'] = weights;
    checkpoint.inputs['serving.precision.activations'] = 'fp16';
    const layers = Number(answer.given['n-gpu-layers']); // negative: all
    if (layers >= 0 && layers < checkpoint.model?.layers) answer.unknown.push(`--n-gpu-layers ${layers}`);
    const shares = (answer.given['tensor-split'] ?? '').split(/[,/]/).filter((share) => Number(share) > 0);
    const mode = answer.given['split-mode'] ?? 'layer';
    const isSplit = shares.length > 1 && ['layer', 'row'].includes(mode);
    if (!isSplit && !['layer', 'none'].includes(mode)) answer.unknown.push(`--split-mode ${mode}`);
    const devices = isSplit && {
      'serving.devices': `${shares.length}`,
      [`serving.mapping.${mode === 'row' ? 'tp' : 'pp'}`]: `${shares.length}`,
    };
    const kept = amongFirst(checkpoint.model, Number(answer.given['n-cpu-moe'] ?? 0));
    const host = kept > 0 ? { 'serving.host_experts.layers': String(kept) } : {};
    return {
      ...answer,
      ...checkpoint,
      inputs: { ...host, ...checkpoint.inputs, ...devices, 'serving.engine': 'llamacpp-2025' },
    };
  },
};
