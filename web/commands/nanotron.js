// nanotron of 2025: a configuration (src/nanotron/config/{config,models_config,parallelism_config}.py) that `run_train.py --config-file` reads.
/** @import {Tool} from '../types.js' */
import { idle, idleSingle, readFlags } from './flags.js';
import { modelShaped } from './megatron_run.js';

const FILE = /^parallelism:\s*$/m;
const SECTIONS = ['model_config', 'parallelism', 'optimizer', 'tokens'];

// Entries of the sections that bear on a run, as flags "--section.key=value".
function flagsOfYaml(text) {
  if (!FILE.test(text)) return [];
  let section = '';
  return text.split(/\r?\n/).flatMap((line) => {
    const [, indent, name, value] = /^(\s*)(\w+):\s*(.*?)(?:\s+#.*)?$/.exec(line) ?? [];
    if (!name) return [];
    if (!indent || name === 'model_config') section = name;
    const isSaid = SECTIONS.includes(section) && !/^(|null|~)$/.test(value);
    return isSaid ? [`--${section}.${name}=${value}`] : [];
  });
}

const isTrue = (text) => /^true$/i.test(text);
const shape = (name, member) => ({ flag: `model_config.${name}`, path: `model.${member}` });
const degree = (name, member) => ({ flag: `parallelism.${name}`, path: `training.mapping.${member}` });

const ROWS = [
  shape('hidden_size', 'hidden'),
  shape('intermediate_size', 'ffn'),
  shape('num_attention_heads', 'heads'),
  shape('num_key_value_heads', 'kv_heads'),
  shape('num_hidden_layers', 'layers'),
  shape('vocab_size', 'vocab'),
  { flag: 'model_config.tie_word_embeddings', read: (text) => ({ 'model.tied_embeddings': `${isTrue(text)}` }) },
  degree('tp', 'tp'),
  degree('pp', 'pp'),
  degree('context_parallel_size', 'cp'),
  degree('expert_parallel_size', 'ep'),
  { flag: 'parallelism.dp' },
  {
    flag: 'parallelism.tp_mode',
    read: (text) => ({ 'training.mapping.sequence_parallel': `${/reduce_scatter/i.test(text)}` }),
  },
  {
    flag: 'parallelism.pp_engine',
    read(text) {
      const schedule = { '__proto__': null, '1f1b': '1f1b', 'afab': 'gpipe' }[text.toLowerCase()];
      if (!schedule) throw new Error(text);
      return { 'training.mapping.schedule': schedule };
    },
  },
  {
    flag: 'parallelism.recompute_layer',
    read: (text) => ({ 'training.recompute': isTrue(text) ? 'full' : 'none' }),
  },
  { flag: 'optimizer.zero_stage', path: 'training.mapping.zero' },
  { flag: 'tokens.micro_batch_size', path: 'training.mapping.micro_batch' },
  { flag: 'tokens.sequence_length', path: 'training.sequence' },
  { flag: 'tokens.batch_accumulation_per_replica' },
  {
    flag: 'parallelism.tp_recompute_allgather', // else both gathered inputs of a layer are kept, in 16 bits
    read: (text) => (isTrue(text) ? {} : { 'training.framework.memory.gathered': '4' }),
  },
  ...idleSingle(['optimizer.accumulate_grad_in_fp32', 'parallelism.tp_linear_async_communication']),
  ...idle(['config-file', 'parallelism.moe_layer_recompute']),
];
// Entries that bear on no answer: learning rates, norms' epsilons, tokens of the vocabulary, the length of the run.
const IDLE = /^--(model_config|optimizer|tokens)\./;

// What nanotron does where its file is silent.
const SILENT = {
  'training.mapping.tp': '1',
  'training.mapping.pp': '1',
  'training.mapping.cp': '1',
  'training.mapping.ep': '1',
  'training.mapping.zero': '0',
  'training.mapping.schedule': 'gpipe',
  'training.mapping.virtual_stages': '1',
  'training.mapping.sequence_parallel': 'false',
  'training.precision': 'bf16',
  'training.recompute': 'none',
  'training.framework': 'nanotron',
};

// Its Llamas: gated, with RMSNorm and rotary positions, without biases.
const LLAMA = { 'model.gated': 'true', 'model.norm': 'rms', 'model.position': 'rope', 'model.biases': 'none' };

// Devices and batch, which several entries say together.
function followingRun(given, inputs) {
  const number = (text) => Number(text ?? 1);
  const replicas = number(given['parallelism.dp']);
  const ranks = ['tp', 'pp', 'cp', 'ep'].map((name) => Number(inputs[`training.mapping.${name}`]));
  const batch =
    replicas * number(inputs['training.mapping.micro_batch']) * number(given['tokens.batch_accumulation_per_replica']);
  return {
    'cluster.devices': `${ranks.reduce((devices, rank) => devices * rank, replicas)}`,
    'training.global_batch': `${batch}`,
  };
}

/** @type {Tool} */
export const nanotron = {
  id: 'nanotron',
  title: 'nanotron',
  version: 'nanotron, 2025',
  part: 'training',
  started: (words) => words.some((word) => /(^|\/)run_train\.py$/.test(word)),

  isFile: (text) => flagsOfYaml(text).length > 0,

  read(words, models, text) {
    const start = words.findIndex((word) => /(^|\/)run_train\.py$/.test(word));
    const answer = readFlags(ROWS, [...flagsOfYaml(text), ...words.slice(start + 1)]);
    const isHere = FILE.test(text);
    const inputs = { ...(answer.inputs['model.layers'] && LLAMA), ...SILENT, ...answer.inputs };
    const of = (isOfModel) => Object.entries(inputs).filter(([path]) => path.startsWith('model.') === isOfModel);
    const model = modelShaped(inputs, models);
    return {
      ...answer,
      model,
      shape: model || !inputs['model.layers'] ? undefined : Object.fromEntries(of(true)),
      inputs: { ...Object.fromEntries(of(false)), ...(isHere && followingRun(answer.given, inputs)) },
      unused: [...answer.unused, ...(isHere ? [] : words.filter((word) => /\.ya?ml$/.test(word)))],
      unknown: answer.unknown.filter((flag) => !IDLE.test(flag)),
    };
  },
};
