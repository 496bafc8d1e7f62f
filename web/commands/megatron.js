// Megatron-LM with Megatron-Core 0.18: megatron/training/arguments.py. A shape in flags is one of the catalogue's where it equals it.
/** @import {Scenario, Tool} from '../types.js' */
import { above, idle, idleSingle, isOpen, readFlags, said } from './flags.js';
import { comments, holding, linesOf } from './lines.js';
import { SILENT, doesNothing, followingRun, followingShape, modelShaped } from './megatron_run.js';

// A shape's flag. All are written: Megatron-LM has no catalogue of models.
const shape = (flag, member, more = {}) => ({ flag, path: `model.${member}`, ...more });
const single = (flag, write, inputs = {}) => ({ flag, single: true, write, read: () => inputs });

const SHAPE = [
  shape('num-layers', 'layers'),
  shape('hidden-size', 'hidden'),
  shape('ffn-hidden-size', 'ffn'),
  shape('num-attention-heads', 'heads'),
  single('group-query-attention', ({ model }) => !model.mla && model.kv_heads < model.heads),
  shape('num-query-groups', 'kv_heads', {
    write: ({ model }) => !model.mla && model.kv_heads < model.heads && model.kv_heads,
  }),
  shape('kv-channels', 'head_dim', { write: ({ model }) => !model.mla && model.head_dim }),
  single('swiglu', ({ model }) => model.gated, { 'model.gated': 'true' }),
  single('disable-bias-linear', ({ model }) => model.biases === 'none' || model.biases === 'qkv'),
  single('add-qkv-bias', ({ model }) => model.biases === 'qkv'),
  single('qk-layernorm', ({ model }) => model.qk_norm !== 'none', { 'model.qk_norm': 'head' }),
  single('untie-embeddings-and-output-weights', ({ model }) => !model.tied_embeddings, {
    'model.tied_embeddings': 'false',
  }),
  {
    flag: 'normalization',
    write: ({ model }) => (model.norm === 'rms' ? 'RMSNorm' : 'LayerNorm'),
    read: (text) => ({ 'model.norm': text === 'RMSNorm' ? 'rms' : 'layer' }),
  },
  {
    flag: 'position-embedding-type',
    write: ({ model }) => ({ rope: 'rope', learned: 'learned_absolute' })[model.position],
    read: (text) => ({
      'model.position': { __proto__: null, learned_absolute: 'learned', none: 'alibi' }[text] ?? 'rope',
    }),
  },
  single('use-rotary-position-embeddings', () => false, { 'model.position': 'rope' }),
  single('multi-latent-attention', ({ model }) => model.mla !== null),
  shape('q-lora-rank', 'mla.q_lora_rank', { when: above(0) }),
  shape('kv-lora-rank', 'mla.kv_lora_rank'),
  shape('qk-head-dim', 'mla.nope_head_dim'),
  shape('qk-pos-emb-head-dim', 'mla.rope_head_dim'),
  shape('v-head-dim', 'mla.value_head_dim'),
  shape('num-experts', 'moe.experts'),
  shape('moe-router-topk', 'moe.top_k'),
  shape('moe-ffn-hidden-size', 'moe.expert_ffn'),
  shape('moe-shared-expert-intermediate-size', 'moe.shared_ffn', { when: above(0) }),
  {
    flag: 'moe-layer-freq',
    write: ({ model: { moe, layers } }) =>
      moe && moe.dense_layers > 0
        ? `([0]*${moe.dense_layers}+[1]*${layers - moe.dense_layers})`
        : moe && moe.moe_every > 1
          ? moe.moe_every
          : undefined,
    read: (text) =>
      /^\d+$/.test(text)
        ? { 'model.moe.moe_every': text }
        : { 'model.moe.dense_layers': text.match(/\[0\]\s*\*\s*(\d+)/)?.[1] ?? '0' },
  },
  { flag: 'moe-router-enable-expert-bias', single: true, write: ({ model }) => model.moe?.router_bias === true },
  shape('mtp-num-layers', 'mtp_layers', {
    when: above(0),
    write: ({ model, training }) => training.mtp_modules ?? model.mtp_layers,
  }),
];

const training = (flag, member, more = {}) => ({ flag, path: `training.${member}`, ...more });
const mapping = (flag, member, more = {}) => training(flag, `mapping.${member}`, { when: above(1), ...more });
/** @param {Scenario} scenario */
const chunkLayers = ({
  model,
  training: {
    mapping: { pp, virtual_stages },
  },
}) => model.layers / (pp * virtual_stages);

const RUN = [
  { flag: 'tokenizer-type', write: () => 'NullTokenizer' },
  { flag: 'vocab-size', write: ({ model }) => model.vocab - 1 },
  { flag: 'mock-data', single: true, write: () => true },
  training('seq-length', 'sequence'),
  { flag: 'max-position-embeddings', write: ({ training: { sequence } }) => sequence },
  training('micro-batch-size', 'mapping.micro_batch'),
  training('global-batch-size', 'global_batch'),
  mapping('tensor-model-parallel-size', 'tp', { when: undefined }),
  single('sequence-parallel', ({ training: { mapping } }) => mapping.sequence_parallel && mapping.tp > 1, {
    'training.mapping.sequence_parallel': 'true',
  }),
  mapping('pipeline-model-parallel-size', 'pp', { when: undefined }),
  {
    flag: 'num-layers-per-virtual-pipeline-stage',
    write: (scenario) =>
      scenario.training.mapping.virtual_stages > 1 && Number.isInteger(chunkLayers(scenario)) && chunkLayers(scenario),
  },
  mapping('num-virtual-stages-per-pipeline-rank', 'virtual_stages', {
    aliases: ['virtual-pipeline-model-parallel-size'],
    write: (scenario) => !Number.isInteger(chunkLayers(scenario)) && scenario.training.mapping.virtual_stages,
  }),
  mapping('context-parallel-size', 'cp'),
  {
    flag: 'cp-comm-type',
    write: ({ training: { mapping } }) =>
      mapping.cp > 1 && { ring: 'p2p', all_gather: 'all_gather', ulysses: 'a2a' }[mapping.cp_kind],
    read: (text) => ({
      'training.mapping.cp_kind':
        { __proto__: null, p2p: 'ring', all_gather: 'all_gather', a2a: 'ulysses' }[text.replace(/[^\w]/g, '')] ??
        'ring',
    }),
  },
  mapping('expert-model-parallel-size', 'ep'),
  {
    flag: 'expert-tensor-parallel-size',
    write: ({ model, training: { mapping } }) => model.moe && mapping.expert_tp,
    read: (text) => ({ 'training.mapping.expert_tp': text }),
  },
  single('use-distributed-optimizer', ({ training: { mapping } }) => mapping.zero >= 1),
  { flag: 'use-megatron-fsdp', aliases: ['use-custom-fsdp'], single: true },
  { flag: 'data-parallel-sharding-strategy' },
  single('overlap-grad-reduce', ({ training: { mapping } }) => mapping.overlap.dp !== false && mapping.dp > 1, {
    'training.mapping.overlap.dp': 'true',
  }),
  single(
    'overlap-param-gather',
    ({ training: { mapping } }) => mapping.overlap.dp !== false && mapping.dp > 1 && mapping.zero >= 1,
  ),
  {
    flag: 'recompute-granularity',
    write: ({ training: { recompute } }) => ({ auto: 'selective', selective: 'selective', full: 'full' })[recompute],
    read: (text) => ({ 'training.recompute': text }),
  },
  single('recompute-activations', () => false, { 'training.recompute': 'selective' }),
  training('recompute-method', 'recompute_method', {
    write: ({ training }) => training.recompute === 'full' && training.recompute_method,
  }),
  training('recompute-num-layers', 'recompute_layers', {
    write: ({ training }) => training.recompute === 'full' && training.recompute_layers,
  }),
  single('use-flash-attn', ({ training }) => training.flash_attention, { 'training.flash_attention': 'true' }),
  single('bf16', ({ training: { precision } }) => !['fp16', 'fp32', 'tf32'].includes(precision)),
  single('fp16', ({ training: { precision } }) => precision === 'fp16'),
  {
    flag: 'fp8-format',
    aliases: ['fp8'],
    write: ({ training: { precision } }) => (precision.includes('fp8') ? 'hybrid' : undefined),
  },
  {
    flag: 'fp8-recipe',
    write: ({ training: { precision } }) => ({ fp8: 'tensorwise', mxfp8: 'mxfp8' })[precision],
  },
  {
    flag: 'fp4-format',
    aliases: ['fp4'],
    write: ({ training: { precision } }) => (precision === 'nvfp4' ? 'e2m1' : undefined),
  },
  {
    flag: 'optimizer',
    write: ({ training: { optimizer } }) => (optimizer === 'sgd' || optimizer === 'muon' ? optimizer : 'adam'),
    read: (text) => ({ 'training.optimizer': text === 'adam' ? 'adamw' : /muon/.test(text) ? 'muon' : text }),
  },
  { flag: 'optimizer-cpu-offload', single: true, write: ({ training: { offload } }) => offload.optimizer > 0 },
  {
    flag: 'optimizer-offload-fraction',
    write: ({ training: { offload } }) => offload.optimizer > 0 && offload.optimizer,
  },
  {
    flag: 'moe-token-dispatcher-type',
    write: ({ model, training: { mapping } }) => model.moe && (mapping.dispatch === 'dedicated' ? 'flex' : 'alltoall'),
    read(text) {
      if (!['alltoall', 'flex'].includes(text)) throw new Error(text);
      return text === 'flex' ? { 'training.mapping.dispatch': 'dedicated' } : {}; // the other is the framework's own
    },
  },
  single('moe-enable-deepep', ({ model, training: { mapping } }) => model.moe && mapping.dispatch === 'dedicated', {
    'training.mapping.dispatch': 'dedicated',
  }),
  single('overlap-moe-expert-parallel-comm', () => false, { 'training.mapping.overlap.ep': 'true' }),
  single('tp-comm-overlap', () => false, { 'training.mapping.overlap.tp': 'true' }),
  single('cross-entropy-loss-fusion', ({ training }) => training.loss_in_place),
  {
    flag: 'cross-entropy-fusion-impl',
    write: ({ training }) => training.loss_in_place && 'te',
    read: (text) => (text === 'te' ? { 'training.loss_in_place': 'true' } : {}),
  },
  single('moe-grouped-gemm', ({ model }) => model.moe !== null),
  ...idle([
    'padded-vocab-size',
    'make-vocab-size-divisible-by',
    'train-iters',
    'train-samples',
    'lr',
    'min-lr',
    'lr-decay-style',
    'lr-warmup-iters',
    'weight-decay',
    'clip-grad',
    'adam-beta1',
    'adam-beta2',
    'adam-eps',
    'init-method-std',
  ]),
  ...idle([
    'data-path',
    'split',
    'tokenizer-model',
    'save',
    'load',
    'save-interval',
    'log-interval',
    'eval-interval',
    'eval-iters',
    'tensorboard-dir',
    'distributed-timeout-minutes',
    'attention-dropout',
    'hidden-dropout',
    'rotary-base',
    'rotary-percent',
  ]),
  ...idle([
    'moe-aux-loss-coeff',
    'moe-router-load-balancing-type',
    'transformer-impl',
    'seed',
    'hybrid-override-pattern',
    'distributed-backend',
    'attention-backend',
    'ckpt-format',
  ]),
  ...idleSingle([
    'use-mcore-models',
    'no-masked-softmax-fusion',
    'apply-layernorm-1p',
    'moe-permute-fusion',
    'no-load-optim',
    'no-load-rng',
    'manual-gc',
  ]),
];

const LAUNCH = [
  {
    flag: 'nproc-per-node',
    write: ({ cluster, training }) => Math.min(training.devices, cluster.networks[0]?.size ?? 1),
  },
  {
    flag: 'nnodes',
    write: ({ cluster, training }) =>
      Math.ceil(training.devices / Math.min(training.devices, cluster.networks[0]?.size ?? 1)),
  },
  ...idle(['node-rank', 'master-addr', 'master-port', 'rdzv-backend', 'rdzv-endpoint', 'rdzv-id']),
];

/** @type {Tool} */
export const megatron = {
  id: 'megatron',
  title: 'Megatron-LM',
  version: 'Megatron-LM, Megatron-Core 0.18',
  part: 'training',
  started: (words) => words.some((word) => /pretrain_\w+\.py$/.test(word)),

  command(scenario) {
    const { model, training } = scenario;
    const { mapping } = training;
    const unsaid = holding([
      [mapping.schedule !== '1f1b', `not in Megatron-LM: schedule ${mapping.schedule}; 1F1B is written`],
      [
        mapping.zero > 1,
        `not written: ZeRO stage ${mapping.zero} (Megatron-FSDP: --use-megatron-fsdp --data-parallel-sharding-strategy)`,
      ],
      [
        mapping.virtual_stages > 1 && !Number.isInteger(chunkLayers(scenario)),
        'uneven stages: also --decoder-first-pipeline-num-layers and --decoder-last-pipeline-num-layers',
      ],
      [
        mapping.order !== 'tp-cp-ep-dp-pp',
        `rank order ${mapping.order}: --tp-comm-overlap and --use-tp-pp-dp-mapping cover only some orders`,
      ],
      [
        training.recompute === 'auto',
        'recomputation here is the least that fits, stage by stage; nearest: selective, with --recompute-modules of layernorm, moe_act, mla_up_proj',
      ],
      [
        training.offload.activations > 0 || training.offload.parameters > 0,
        'not a flag: activations or weights in host memory',
      ],
      [training.trainable !== 'all', 'not in pretrain_gpt.py: LoRA (Megatron-Bridge)'],
      [model.linear !== null, 'hybrid layers: pretrain_mamba.py with --hybrid-override-pattern'],
      [model.sliding_window > 0, 'not written: sliding-window layers'],
      [true, 'data and tokenizer are stand-ins (--mock-data, NullTokenizer)'],
    ]);
    const launch = linesOf('torchrun', said(LAUNCH, scenario)).replaceAll(' \\\n ', '');
    return (
      comments([megatron.version, ...unsaid]) +
      linesOf(`${launch} pretrain_gpt.py`, [...said(SHAPE, scenario), ...said(RUN, scenario)])
    );
  },

  read(words, models) {
    const start = words.findIndex((word) => /pretrain_\w+\.py$/.test(word));
    const launch = readFlags(LAUNCH, words.slice(0, start));
    const answer = readFlags([...SHAPE, ...RUN], words.slice(start + 1));
    const { given } = answer;
    const applying = Object.entries({ ...SILENT, ...answer.inputs }).filter(([path]) => !doesNothing(path, given));
    const silent = Object.fromEntries(applying);
    const inputs = { ...silent, ...followingShape(given, silent) };
    // Models other than decoders of attention layers cannot be expressed by these flags.
    const others = [/pretrain_(bert|t5|ict|retro|vision)/.exec(words[start])?.input, given['hybrid-override-pattern']];
    answer.unknown.push(...others.filter(Boolean));
    const isDecoder = given['num-layers'] && !others.some(Boolean);
    const model = isDecoder ? modelShaped(inputs, models) : undefined;
    const of = (isOfModel) => Object.entries(inputs).filter(([path]) => path.startsWith('model.') === isOfModel);
    const run = followingRun(answer, launch, inputs);
    answer.unknown.push(...words.slice(0, start).filter((word) => isOpen(word) && word.startsWith('$')));
    const [perNode, nodes] = [launch.given['nproc-per-node'], launch.given.nnodes];
    if (perNode && !run['cluster.devices'])
      answer.unknown.push(`--nproc-per-node ${perNode}${nodes ? ` --nnodes ${nodes}` : ''}`);
    const perChunk = given['num-layers-per-virtual-pipeline-stage'];
    if (perChunk && !run['training.mapping.virtual_stages'])
      answer.unknown.push(`--num-layers-per-virtual-pipeline-stage ${perChunk}`);
    return {
      ...answer,
      model,
      shape: model || !isDecoder ? undefined : Object.fromEntries(of(true)),
      inputs: { ...Object.fromEntries(of(false)), ...run },
    };
  },
};
