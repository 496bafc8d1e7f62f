// Combined meaning of Megatron-LM's flags (megatron/training/arguments.py): defaults, shape, batches, precision,
// sharding.
import { get } from '../state/paths.js';

const PRECISIONS = { __proto__: null, delayed: 'fp8', tensorwise: 'fp8', blockwise: 'fp8', mxfp8: 'mxfp8' };

// Members that an entry of the catalogue leaves out where they are these.
const PLAIN = { norm: 'rms', position: 'rope', biases: 'none', tied_embeddings: 'false' };

// The catalogue's model whose shape holds all that the flags say: of several the one with the most of the members above, the nearest
// vocabulary, then the oldest.
export function modelShaped(inputs, models) {
  const said = Object.entries(inputs).filter(([path]) =>
    /^model\.(layers|hidden|heads|kv_heads|ffn|gated|moe\.(experts|top_k|expert_ffn))$/.test(path),
  );
  if (!inputs['model.layers'] || !inputs['model.hidden']) return undefined;
  const fitting = models.filter((entry) => said.every(([path, text]) => `${get({ model: entry }, path)}` === text));
  const others = (entry) =>
    Object.entries(PLAIN).filter(([member, plain]) => `${entry[member] ?? plain}` !== inputs[`model.${member}`]).length;
  const vocab = Number(inputs['model.vocab'] ?? 0);
  const far = (entry) => (vocab > 0 ? Math.abs(Math.log(entry.vocab / vocab)) : 0);
  const year = (entry) => entry.published?.year ?? 0;
  return fitting.sort((a, b) => others(a) - others(b) || far(a) - far(b) || year(a) - year(b))[0];
}

// Megatron-LM's defaults.
export const SILENT = {
  'training.mapping.tp': '1',
  'training.mapping.pp': '1',
  'training.mapping.cp': '1',
  'training.mapping.ep': '1',
  'training.mapping.virtual_stages': '1',
  'training.mapping.sequence_parallel': 'false',
  'training.mapping.overlap.dp': 'false',
  'training.recompute': 'none',
  'model.gated': 'false',
  'model.norm': 'layer',
  'model.position': 'learned',
  'model.qk_norm': 'none',
  'model.tied_embeddings': 'true',
};

// Flags that do nothing without another, and the inputs that they set. A log prints them with their defaults, whatever the run does.
/** @type {[string, RegExp][]} */
const ONLY_WITH = [
  ['num-experts', /^model\.moe\.|^training\.mapping\.(expert_tp|dispatch)$/],
  ['multi-latent-attention', /^model\.mla\./],
  ['group-query-attention', /^model\.kv_heads$/],
  ['recompute-granularity', /^training\.recompute_/],
];

// Whether an input was set by such a flag alone.
export const doesNothing = (path, given) => ONLY_WITH.some(([flag, paths]) => !given[flag] && paths.test(path));

const STAGES = { __proto__: null, no_shard: '0', optim: '1', optim_grads: '2', optim_grads_params: '3' };
const MULTIPLE = 128; // of a vocabulary for each tensor-parallel rank, where nothing else is said

function precisionOf(given) {
  if (given['fp4-format']) return 'nvfp4';
  if (given['fp8-format']) return PRECISIONS[given['fp8-recipe']] ?? 'fp8';
  return given.bf16 ? 'bf16' : given.fp16 ? 'fp16' : 'fp32';
}

// Members of a shape that follow from others.
export function followingShape(given, inputs) {
  const [hidden, heads, vocab] = [given['hidden-size'], given['num-attention-heads'], given['vocab-size']].map(Number);
  const multiple =
    Number(given['make-vocab-size-divisible-by'] ?? MULTIPLE) * Number(given['tensor-model-parallel-size'] ?? 1);
  const tokens = vocab + (given['tokenizer-type'] === 'NullTokenizer' ? 1 : 0);
  const padded = given['padded-vocab-size'] ?? Math.ceil(tokens / multiple) * multiple;
  const ffn = given.swiglu ? Math.floor((hidden * 8) / 3 / 64) * 64 : 4 * hidden;
  const numbers = {
    'model.ffn': inputs['model.ffn'] ?? ffn,
    'model.kv_heads': inputs['model.kv_heads'] ?? heads,
    'model.vocab': padded,
  };
  return {
    ...Object.fromEntries(
      Object.entries(numbers).flatMap(([path, value]) => (Number(value) > 0 ? [[path, `${value}`]] : [])),
    ),
    'model.biases': !given['disable-bias-linear'] ? 'all' : given['add-qkv-bias'] ? 'qkv' : 'none',
  };
}

// Values that the run needs and two flags determine together: devices, batch, tokens, stages, precision, sharding.
export function followingRun({ given }, launch, inputs) {
  const number = (path) => Number(inputs[`training.mapping.${path}`]);
  const perNode = launch.given['nproc-per-node'];
  const devices = Number(perNode) * Number(launch.given.nnodes ?? 1);
  const ranks = devices / (number('tp') * number('pp') * number('cp'));
  const isWhole = (value) => Number.isInteger(value) && value > 0;
  const batch = ranks * number('micro_batch');
  const samples = Number(given['train-samples'] ?? given['train-iters'] * Number(given['global-batch-size'] ?? batch));
  const tokens = samples * Number(given['seq-length']);
  const perChunk = Number(given['num-layers-per-virtual-pipeline-stage']);
  const stages = Number(inputs['model.layers']) / (perChunk * number('pp'));
  const fsdp = given['use-megatron-fsdp'] && (STAGES[given['data-parallel-sharding-strategy']] ?? '0');
  return {
    'training.precision': precisionOf(given),
    'training.mapping.zero': fsdp || (given['use-distributed-optimizer'] ? '1' : '0'),
    ...(isWhole(devices) && { 'cluster.devices': `${devices}` }),
    ...(isWhole(batch) && !given['global-batch-size'] && { 'training.global_batch': `${batch}` }),
    ...(isWhole(tokens) && { 'training.tokens': `${tokens}` }),
    ...(isWhole(stages) && { 'training.mapping.virtual_stages': `${stages}` }),
    ...(given['optimizer-cpu-offload'] && {
      'training.offload.optimizer': given['optimizer-offload-fraction'] ?? '1',
    }),
    'training.framework': 'megatron',
  };
}
