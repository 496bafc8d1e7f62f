// Trainers of Hugging Face models: LLaMA-Factory (src/llamafactory/hparams), TRL's SFT (trl/trainer/{sft,model}_config.py), Axolotl, and scripts with
// transformers' TrainingArguments. They share most names. A run is a command, a YAML file, or both.
/** @import {Inputs, Tool} from '../types.js' */
import { modelNamed } from './checkpoints.js';
import { idle, readFlags } from './flags.js';

const isYes = (text) => /^(true|yes|1|auto)$/i.test(text ?? '');
const isNo = (text) => /^(false|no|0)$/i.test(text ?? '');
const yes = (inputs) => (text) => (isYes(text) ? inputs : {});

// The input of the first pattern that a text matches.
const named = (path, patterns) => (text) => {
  const known = patterns.find(([pattern]) => pattern.test(text));
  if (!known) throw new Error(text);
  return { [path]: known[1] };
};

const precisions = named('training.precision', [
  [/^bf16$/, 'bf16'],
  [/^fp16$/, 'fp16'],
  [/^fp8$/, 'fp8'],
]);

const ROWS = [
  {
    flag: 'cutoff_len',
    aliases: ['sequence_len', 'max_length', 'max_seq_length', 'max_seq_len', 'model_max_length', 'block_size'],
    path: 'training.sequence',
  },
  { flag: 'per_device_train_batch_size', aliases: ['micro_batch_size'], path: 'training.mapping.micro_batch' },
  { flag: 'tensor_parallel_size', path: 'training.mapping.tp' },
  { flag: 'context_parallel_size', aliases: ['sequence_parallel_degree'], path: 'training.mapping.cp' },
  {
    flag: 'optim',
    aliases: ['optimizer'],
    read: named('training.optimizer', [
      [/^(paged_)?adamw(_torch(_fused)?|_hf|_apex_fused|_32bit)?$/, 'adamw'],
      [/^(paged_)?adamw(_bnb)?_8bit$/, 'adam8bit'],
      [/^adafactor$/, 'adafactor'],
      [/^muon$/, 'muon'],
      [/^sgd$/, 'sgd'],
    ]),
  },
  {
    flag: 'quantization_bit',
    read: named('training.frozen_precision', [
      [/^4$/, 'nf4'],
      [/^8$/, 'int8'],
    ]),
  },
  { flag: 'load_in_4bit', read: yes({ 'training.frozen_precision': 'nf4' }) },
  { flag: 'load_in_8bit', read: yes({ 'training.frozen_precision': 'int8' }) },
  { flag: 'tf32', read: yes({ 'training.precision': 'tf32' }) },
  { flag: 'fp16', read: yes({ 'training.precision': 'fp16' }) },
  { flag: 'bf16', read: yes({ 'training.precision': 'bf16' }) },
  { flag: 'fp8', read: yes({ 'training.precision': 'fp8' }) },
  {
    flag: 'mixed_precision', // of accelerate, where the script says none
    read: (text) => (text === 'no' ? {} : precisions(text)),
  },
  {
    flag: 'pure_bf16', // no copies in 32 bits
    read: yes({
      'training.precision': 'bf16',
      'training.state.gradients': 'bf16',
      'training.state.master_weights': 'none',
      'training.state.moments': 'bf16',
    }),
  },
  {
    flag: 'flash_attn',
    aliases: ['attn_implementation'],
    read: (text) => (/^(disabled|eager)$/.test(text) ? { 'training.flash_attention': 'false' } : {}),
  },
  {
    flag: 'use_liger_kernel',
    aliases: ['enable_liger_kernel', 'liger_fused_linear_cross_entropy'],
    read: yes({ 'training.loss_chunks': '8' }),
  },
  { flag: 'liger_cross_entropy', read: yes({ 'training.loss_in_place': 'true' }) },
  ...['use_unsloth', 'use_dora', 'use_galore', 'use_apollo', 'use_badam'].map((flag) => ({
    flag,
    single: true,
    isUnused: true,
  })),
  // Below are the meanings of several of them together.
  { flag: 'base_model' },
  { flag: 'use_peft', aliases: ['lora_enable', 'use_lora'] },
  { flag: 'lora_rank', aliases: ['lora_r'] },
  { flag: 'lora_target', aliases: ['lora_target_modules'] },
  { flag: 'nproc_per_node', aliases: ['num_gpus'] },
  { flag: 'nnodes', aliases: ['num_nodes'] },
  ...idle([
    'model_name_or_path',
    'gradient_accumulation_steps',
    'gradient_checkpointing',
    'disable_gradient_checkpointing',
    'torch_compile',
    'deepspeed',
    'zero_stage',
    'config_file',
    'fsdp',
    'fsdp_version',
    'fsdp_sharding_strategy',
    'fsdp_reshard_after_forward',
    'fsdp_offload_params',
    'finetuning_type',
    'adapter',
    'lora_target_linear',
    'loss_type',
    'stage',
    'num_processes',
    'include',
    'm',
  ]),
];

// Beginnings of those that bear on no answer: data, learning, logging, checkpoints, and how processes find each other.
const IDLE = `
  adam_ cosine_ eta_ group_by label learning_rate lr_ max_grad max_samples max_steps neftune num_epochs
  num_train optim_ seed warmup weight_decay lora_ loraplus early_ chat_ data eos_ field image_ media neat
  packing pad preprocess sample_ shuffle special streaming template test_ tokenizer train_on val_ completion
  assistant ignore debug do_ eval hub_ load_best logging output overwrite plot push report resume run_name
  save trackio swanlab use_wandb wandb include_ remove_ strict trust_ version ddp_ fsdp_
  gradient_checkpointing_ hostfile local_rank machine_rank main_process master_ node_rank num_machines
  num_workers rdzv_ standalone dtype torch_dtype attention flash_attention xformers liger_
  model_type model_revision plugins use_cache
`
  .trim()
  .split(/\s+/);
const isIdle = (flag) => IDLE.some((start) => flag.replace(/^-+/, '').replaceAll('-', '_').startsWith(start));

const FILE = /^(model_name_or_path|base_model)\s*:/m;

// Entries of a YAML file, and those of its fsdp_config, as flags "--key=value", lists with commas.
function flagsOfYaml(text) {
  if (!FILE.test(text)) return [];
  const found = new Map();
  let owner = '';
  for (const line of text.split(/\r?\n/)) {
    const [, indent, item, name, value] = /^(\s*)(-\s+)?(?:(\w+):(?=\s|$))?\s*(.*?)(?:\s+#.*)?$/.exec(line) ?? [];
    const said = (value ?? '').replace(/^(["'])(.*)\1$/, '$2');
    if (name && !indent && !item) {
      owner = name;
      found.set(name, said);
    } else if (name && !item && owner === 'fsdp_config') {
      found.set(`fsdp_${name.replace(/^fsdp_/, '')}`, said);
    } else if (item && !name) {
      found.set(owner, [found.get(owner), said].filter(Boolean).join(','));
    }
  }
  const isSaid = ([, value]) => !/^(|null|none|~)$/i.test(value);
  return [...found].filter(isSaid).map(([name, value]) => `--${name}=${value}`);
}

const PROGRAMS = [
  { name: 'factory', pattern: /(^|\/)(llamafactory-cli|lmf|train_bash\.py)$/ },
  { name: 'axolotl', pattern: /(^|\/)axolotl(\.cli\.train)?$/ },
  { name: 'trl', pattern: /(^|\/)(trl|sft\w*\.py)$/ },
];
const BATCH = /^--?per[-_]device[-_]train[-_]batch[-_]size(=|$)/;

// The defaults of each trainer.
const DEFAULTS = {
  factory: { precision: 'bf16', sequence: '2048', micro: '8', rank: '8', targets: 'all', recompute: true },
  trl: { precision: 'bf16', sequence: '1024', micro: '8', rank: '16', recompute: true },
  axolotl: { precision: 'bf16', micro: '1', rank: '16' },
  transformers: { precision: 'fp32', micro: '8', rank: '16' },
};

function programOf(words, given) {
  const program = PROGRAMS.find(({ pattern }) => words.some((word) => pattern.test(word)));
  if (program) return program.name;
  if (given.finetuning_type || given.stage) return 'factory';
  return given.base_model ? 'axolotl' : 'transformers';
}

// Sharding of the training state, and offload to host memory. DeepSpeed's file is recognized by its name,
// "ds_z3_config.json", or by its text if that was pasted too.
/** @returns {{stage?: string, offloads: boolean, reducesOnce?: boolean}} */
function shardingOf(given, text) {
  const { deepspeed, config_file: file = deepspeed ?? '', fsdp = '', fsdp_sharding_strategy: strategy = fsdp } = given;
  const [, written] = /"zero_optimization"[^}]*?"stage"\s*:\s*([0-3])/.exec(text) ?? [];
  const stage = given.zero_stage ?? written ?? /z(?:ero)?[-_]?(?:stage)?[-_]?([0-3])/i.exec(deepspeed ?? file)?.[1];
  if (deepspeed || stage)
    return { stage, offloads: /offload/i.test(deepspeed ?? file) || /"offload_optimizer"[^}]*"cpu"/.test(text) };
  if (!strategy && !given.fsdp_version && !/fsdp/i.test(file)) return { stage: '0', offloads: false };
  const keeps = /shard_grad_op/i.test(strategy) || isNo(given.fsdp_reshard_after_forward);
  // Accelerate runs all micro-batches but the last under no_sync unless sync_each_batch is set.
  const reducesOnce = Number(given.gradient_accumulation_steps ?? 1) > 1;
  return { stage: keeps ? '2' : '3', offloads: isYes(given.fsdp_offload_params) || /offload/.test(fsdp), reducesOnce };
}

// Adapters beside frozen weights.
/** @returns {Inputs} */
function adaptersOf(program, given) {
  const method =
    given.finetuning_type ?? given.adapter ?? (program === 'factory' || isYes(given.use_peft) ? 'lora' : '');
  if (!/^q?lora$/.test(method)) return {};
  const { rank, targets = isYes(given.lora_target_linear) ? 'all' : '' } = DEFAULTS[program];
  return {
    'training.trainable': 'lora',
    'training.framework.lora_rank': given.lora_rank ?? rank,
    'training.framework.lora_targets': /^all\b|gate_proj|up_proj|down_proj/.test(given.lora_target ?? targets)
      ? 'all'
      : 'attention',
  };
}

// Devices where the text says them: those of each node, of all, and those that are visible.
function devicesOf(given, text) {
  const [, visible] =
    /\b(?:CUDA|HIP)_VISIBLE_DEVICES=["']?([\d,]+)/.exec(text) ?? /:([\d,]+)$/.exec(given.include ?? '') ?? [];
  const local = given.nproc_per_node ?? visible?.split(',').length;
  const nodes = given.nnodes ?? /\bNNODES=["']?(\d+)/.exec(text)?.[1] ?? 1;
  const devices = Number(given.num_processes ?? Number(local) * Number(nodes));
  return Number.isInteger(devices) && devices > 0 ? devices : undefined;
}

// Combined meaning of flags and defaults.
/** @returns {{inputs: Inputs, unused: string[]}} */
function followingRun(program, { given, inputs }, text) {
  const { precision, sequence, micro, recompute = false } = DEFAULTS[program];
  const devices = devicesOf(given, text);
  const { stage, offloads, reducesOnce } = shardingOf(given, text);
  const said = {
    'training.mapping.tp': '1',
    'training.mapping.pp': '1',
    'training.mapping.cp': '1',
    'training.mapping.ep': '1',
    'training.mapping.zero': stage ?? '0',
    'training.mapping.micro_batch': micro,
    'training.precision': precision,
    ...(sequence && { 'training.sequence': sequence }),
    ...(program === 'trl' && (given.loss_type ?? 'chunked_nll') === 'chunked_nll' && { 'training.loss_chunks': '8' }),
    ...adaptersOf(program, given),
    ...inputs,
  };
  const checkpoints = given.gradient_checkpointing ?? `${recompute && !isYes(given.disable_gradient_checkpointing)}`;
  const batch = said['training.mapping.micro_batch'];
  const ranks = devices && devices / Number(said['training.mapping.tp']) / Number(said['training.mapping.cp']);
  const sequences = ranks && Number(batch) * Number(given.gradient_accumulation_steps ?? 1) * ranks;
  return {
    inputs: {
      ...said,
      'training.recompute': isNo(checkpoints) ? 'none' : 'full',
      'training.framework': isYes(given.torch_compile) ? 'pytorch' : 'fsdp-eager',
      ...(reducesOnce && { 'training.framework.exchange.reduces_once': 'true' }),
      ...(offloads && { 'training.offload.optimizer': '1' }),
      ...(offloads && stage === '3' && { 'training.offload.parameters': '1' }),
      ...(sequences && { 'training.global_batch': `${sequences}` }),
      ...(devices && { 'cluster.devices': `${devices}` }),
    },
    unused: [
      !sequences && `per_device_train_batch_size ${batch}`,
      !stage && `--deepspeed ${given.deepspeed}`,
      given.stage && !/^(sft|pt)$/.test(given.stage) && `stage ${given.stage}`,
      /^(freeze|oft)$/.test(given.finetuning_type) && `finetuning_type ${given.finetuning_type}`,
    ].filter(Boolean),
  };
}

/** @type {Tool} */
export const trainer = {
  id: 'trainer',
  title: 'Hugging Face Trainer',
  version: 'transformers 5, LLaMA-Factory, TRL and Axolotl of 2026',
  part: 'training',
  started: (words) =>
    words.some((word, i) => {
      const trains = /train(_bash\.py)?$/.test(word) || /^(train|sft)$/.test(words[i + 1] ?? '');
      return BATCH.test(word) || (trains && PROGRAMS.some(({ pattern }) => pattern.test(word)));
    }),

  isFile: (text) => FILE.test(text),

  read(words, models, text) {
    const answer = readFlags(ROWS, [...flagsOfYaml(text), ...words]);
    const name = answer.given.model_name_or_path ?? answer.given.base_model ?? '';
    const { inputs, unused } = followingRun(programOf(words, answer.given), answer, text);
    const files = FILE.test(text) ? [] : answer.others.filter((word) => /\.(ya?ml|json)$/.test(word));
    return {
      name,
      model: name ? modelNamed(name, models) : undefined,
      inputs,
      unused: [...answer.unused, ...unused, ...files],
      unknown: answer.unknown.filter((flag) => !isIdle(flag)),
    };
  },
};
