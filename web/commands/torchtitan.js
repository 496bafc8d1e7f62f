// torchtitan of 2026: torchtitan/config/{parallelism,training}.py, as flags of its launcher.
/** @import {Scenario, Tool} from '../types.js' */
import { nameOfModel, plainName } from './checkpoints.js';
import { above, idle, idleSingle, readFlags, said } from './flags.js';
import { comments, holding, linesOf } from './lines.js';

const LOOPED = ['Interleaved1F1B', 'ZBVZeroBubble', 'DualPipeV']; // of two stages a rank, where nothing else is said
const SCHEDULES = { '1f1b': '1F1B', 'gpipe': 'GPipe', 'zb-v': 'ZBVZeroBubble', 'dualpipe': 'DualPipeV' };
/** @param {Scenario} scenario */
const scheduleOf = ({ training: { mapping } }) =>
  mapping.schedule === '1f1b' && mapping.virtual_stages > 1 ? 'Interleaved1F1B' : SCHEDULES[mapping.schedule];
const shardWithin = ({ training: { mapping } }) => mapping.shard_within ?? mapping.dp;

const EAGER = 'fsdp-eager';

const ROWS = [
  { flag: 'training.seq_len', path: 'training.sequence' },
  {
    flag: 'training.local_batch_size',
    aliases: ['training.batch_size'], // until 2025
    write: ({ training: { global_batch, mapping } }) => global_batch / mapping.dp,
  },
  {
    flag: 'training.global_batch_size',
    path: 'training.global_batch',
    read: (text) => (Number(text) > 0 ? { 'training.global_batch': text } : {}),
  },
  { flag: 'parallelism.tensor_parallel_degree', path: 'training.mapping.tp', when: above(1) },
  { flag: 'parallelism.context_parallel_degree', path: 'training.mapping.cp', when: above(1) },
  { flag: 'parallelism.expert_parallel_degree', path: 'training.mapping.ep', when: above(1) },
  { flag: 'parallelism.pipeline_parallel_degree', path: 'training.mapping.pp', when: above(1) },
  {
    flag: 'parallelism.pipeline_parallel_schedule',
    write: (scenario) => scenario.training.mapping.pp > 1 && scheduleOf(scenario),
    read(text) {
      const schedule =
        text === 'Interleaved1F1B' ? '1f1b' : Object.keys(SCHEDULES).find((name) => SCHEDULES[name] === text);
      if (!schedule) throw new Error(text);
      return {
        'training.mapping.schedule': schedule,
        ...(LOOPED.includes(text) && { 'training.mapping.virtual_stages': '2' }),
      };
    },
  },
  {
    flag: 'parallelism.pipeline_parallel_microbatch_size',
    path: 'training.mapping.micro_batch',
    write: ({ training: { mapping } }) => mapping.pp > 1 && mapping.micro_batch,
  },
  {
    flag: 'parallelism.data_parallel_shard_degree',
    write: (scenario) => (scenario.training.mapping.zero > 0 ? shardWithin(scenario) : 1),
  },
  {
    flag: 'parallelism.data_parallel_replicate_degree',
    write: (scenario) =>
      scenario.training.mapping.zero > 0
        ? scenario.training.mapping.dp / shardWithin(scenario)
        : scenario.training.mapping.dp,
  },
  {
    flag: 'parallelism.fsdp_reshard_after_forward',
    write: ({ training: { mapping } }) => (mapping.zero === 3 ? 'always' : mapping.zero > 0 ? 'never' : undefined),
  },
  {
    flag: 'activation_checkpoint.mode',
    write: ({ training: { recompute } }) => (recompute === 'auto' ? 'selective' : recompute),
    read: (text) => ({ 'training.recompute': text }),
  },
  {
    flag: 'training.enable_cpu_offload',
    write: ({ training: { offload } }) => offload.optimizer > 0 || offload.parameters > 0,
    single: true,
    isUnused: true,
  },
  {
    flag: 'compile.enable',
    single: true,
    write: ({ training: { framework } }) => framework.preset !== EAGER,
  },
  {
    flag: 'parallelism.enable_async_tensor_parallel',
    single: true,
    read: () => ({ 'training.mapping.overlap.tp': 'true' }),
  },
  {
    flag: 'model.converters',
    read(text) {
      const found = /float8|\bmx/.exec(text);
      if (!found && /\w/.test(text)) throw new Error(text);
      return found ? { 'training.precision': found[0] === 'mx' ? 'mxfp8' : 'fp8' } : {};
    },
  },
  {
    flag: 'optimizer.name',
    read: (text) => ({ 'training.optimizer': text === 'Adam' ? 'adamw' : text.toLowerCase() }),
  },
  ...idleSingle(['compile.fullgraph', 'compile.loss']),
  ...idle([
    'module',
    'config',
    'job.config_file',
    'model.flavor',
    'model.name',
    'training.steps',
    'training.dataset',
    'training.dataset_path',
    'training.max_norm',
    'compile.components',
    'activation_checkpoint.selective_ac_option',
  ]),
];
// Sections of the file that bear on no answer.
const IDLE =
  /^--(job|profiling|metrics|checkpoint|lr_scheduler|optimizer|comm|debug|validation)\.|^--model\.\w*(path|embed_type)\b/;

// torchtitan's defaults.
const SILENT = {
  'training.mapping.tp': '1',
  'training.mapping.pp': '1',
  'training.mapping.cp': '1',
  'training.mapping.ep': '1',
  'training.mapping.virtual_stages': '1',
  'training.recompute': 'selective',
};

// A configuration as flags, "--section.key=value"; none where a text is no TOML file of its sections.
function flagsOfToml(text) {
  if (!/^\s*\[(training|parallelism)\]/m.test(text)) return [];
  let section = '';
  return text.split(/\r?\n/).flatMap((line) => {
    section = /^\s*\[([\w.]+)\]/.exec(line)?.[1] ?? section;
    const [, name, value] = /^\s*([\w.]+)\s*=\s*("[^"]*"|'[^']*'|\[[^\]]*\]|[^#\s]+)/.exec(line) ?? [];
    return name && section ? [`--${section}.${name}=${value.replace(/["']/g, '')}`] : [];
  });
}

// The catalogue's models for its names: its llama3 is Llama 3.1, its smaller deepseek_v3 have the shapes of
// DeepSeek-V2.
/** @type {[RegExp, string][]} */
const SHAPES = [
  [/llama3(?=\d+b)/, 'llama31'],
  [/deepseekv3671b/, 'deepseekv3'],
  [/deepseekv3236b/, 'deepseekv2'],
  [/deepseekv316b/, 'deepseekv2lite'],
  [/.*debug.*/, ''],
];

// The catalogue's model of a name and a flavor, as logs and flags say them.
export function modelOfTitan(name, models) {
  const said = SHAPES.reduce((known, [pattern, shape]) => known.replace(pattern, shape), plainName(name));
  return models.filter(({ id }) => said.includes(plainName(id))).sort((a, b) => b.id.length - a.id.length)[0];
}

const LAUNCH = idle(['nproc-per-node', 'nnodes']);

// Devices where the text says them: of run_train.sh on one node, and of torchrun.
function devicesOf(words, text) {
  const { given } = readFlags(LAUNCH, words);
  const perNode = given['nproc-per-node'] ?? /\bNGPU=["']?(\d+)/.exec(text)?.[1];
  const devices = Number(perNode) * Number(given.nnodes ?? 1);
  return Number.isInteger(devices) && devices > 0 ? devices : undefined;
}

// Combined meaning of degrees, batches and sharding. `unused`: values that need the number of devices.
function followingRun({ given, inputs, unused }, devices) {
  const degree = (name) => Number(inputs[`training.mapping.${name}`] ?? 1);
  const [shard = '-1', replicate = '1', local] = [
    'parallelism.data_parallel_shard_degree',
    'parallelism.data_parallel_replicate_degree',
    'training.local_batch_size',
  ].map((flag) => given[flag]);
  const ranks = devices && devices / (degree('tp') * degree('pp') * degree('cp'));
  const isSplit = degree('pp') > 1;
  const reshards = given['parallelism.fsdp_reshard_after_forward'] ?? 'default';
  const within = Number(shard) > 1 ? Number(shard) : ranks && Number(replicate) > 1 ? ranks / Number(replicate) : 0;
  if (Number(replicate) > 1 && shard !== '1' && !within) unused.push(`data_parallel_replicate_degree ${replicate}`);
  const batch = local && ranks ? Number(local) * ranks : 0;
  const tokens =
    Number(given['training.steps']) *
    Number(inputs['training.global_batch'] ?? batch) *
    Number(inputs['training.sequence']);
  if (local && !batch && !inputs['training.global_batch']) unused.push(`local_batch_size ${local}`);
  return {
    'training.mapping.zero':
      shard === '1' ? '0' : reshards === 'never' || (reshards === 'default' && isSplit) ? '2' : '3',
    'training.framework': given['compile.enable'] ? 'fsdp' : EAGER,
    ...(within > 1 && { 'training.mapping.shard_within': `${within}` }),
    ...(local && !isSplit && { 'training.mapping.micro_batch': local }),
    ...(batch > 0 && !inputs['training.global_batch'] && { 'training.global_batch': `${batch}` }),
    ...(tokens > 0 && { 'training.tokens': `${tokens}` }),
    ...(devices && { 'cluster.devices': `${devices}` }),
  };
}

/** @type {Tool} */
export const torchtitan = {
  id: 'torchtitan',
  title: 'torchtitan',
  version: 'torchtitan, 2026',
  part: 'training',
  started: (words) => words.some((word) => word.includes('torchtitan') || word.endsWith('run_train.sh')),

  command(scenario, models) {
    const { training } = scenario;
    const { mapping } = training;
    const unsaid = holding([
      [
        true,
        `choose the job's configuration for ${nameOfModel(scenario.model, models)} (CONFIG_FILE or --module and --config)`,
      ],
      [mapping.pp > 1 && !scheduleOf(scenario), `not in torchtitan: schedule ${mapping.schedule}`],
      [mapping.zero === 1, 'not in torchtitan: ZeRO stage 1; gradients are sharded too'],
      [training.recompute === 'auto', 'recomputation here is the least that fits, stage by stage; nearest: selective'],
      [
        training.precision !== 'bf16',
        `${training.precision}: a converter of the model (quantize.linear), not a flag of the run`,
      ],
    ]);
    return (
      comments([torchtitan.version, ...unsaid]) +
      linesOf(
        `NGPU=${Math.min(training.devices, scenario.cluster.networks[0]?.size ?? 1)} ./run_train.sh`,
        said(ROWS, scenario),
      )
    );
  },

  isFile: (text) => flagsOfToml(text).length > 0,

  read(words, models, text) {
    const start = words.findLastIndex((word) => word.includes('torchtitan') || word.endsWith('run_train.sh'));
    const answer = readFlags(ROWS, [...flagsOfToml(text), ...words.slice(start + 1)]);
    const called = text.match(/(?:llama|qwen|deepseek|mixtral)[\w.-]*/gi)?.at(-1) ?? '';
    const name = [answer.given['model.name'] ?? called, answer.given['model.flavor']].filter(Boolean).join(' ');
    const model = modelOfTitan(name, models);
    return {
      ...answer,
      name,
      model,
      unknown: answer.unknown.filter((flag) => !IDLE.test(flag)),
      inputs: { ...SILENT, ...answer.inputs, ...followingRun(answer, devicesOf(words.slice(0, start + 1), text)) },
    };
  },
};
