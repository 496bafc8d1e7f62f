// torchtitan of 2026: torchtitan/config/{parallelism,training}.py, as flags of its launcher.
/** @import {Scenario, Tool} from '../types.js' */
import { nameOfModel } from './checkpoints.js';
import { above, idle, readFlags, said } from './flags.js';
import { comments, holding, linesOf } from './lines.js';

const SCHEDULES = { '1f1b': '1F1B', 'gpipe': 'GPipe', 'zb-v': 'ZBVZeroBubble', 'dualpipe': 'DualPipeV' };
/** @param {Scenario} scenario */
const scheduleOf = ({ training: { mapping } }) =>
  mapping.schedule === '1f1b' && mapping.virtual_stages > 1 ? 'Interleaved1F1B' : SCHEDULES[mapping.schedule];
const shardWithin = ({ training: { mapping } }) => mapping.shard_within ?? mapping.dp;

const ROWS = [
  { flag: 'training.seq_len', path: 'training.sequence' },
  { flag: 'training.local_batch_size', write: ({ training: { global_batch, mapping } }) => global_batch / mapping.dp },
  { flag: 'training.global_batch_size', path: 'training.global_batch' },
  { flag: 'parallelism.tensor_parallel_degree', path: 'training.mapping.tp', when: above(1) },
  { flag: 'parallelism.context_parallel_degree', path: 'training.mapping.cp', when: above(1) },
  { flag: 'parallelism.expert_parallel_degree', path: 'training.mapping.ep', when: above(1) },
  { flag: 'parallelism.pipeline_parallel_degree', path: 'training.mapping.pp', when: above(1) },
  {
    flag: 'parallelism.pipeline_parallel_schedule',
    write: (scenario) => scenario.training.mapping.pp > 1 && scheduleOf(scenario),
    read: (text) => ({
      'training.mapping.schedule': Object.keys(SCHEDULES).find((name) => SCHEDULES[name] === text) ?? '1f1b',
    }),
  },
  {
    flag: 'parallelism.pipeline_parallel_microbatch_size',
    path: 'training.mapping.micro_batch',
    write: ({ training: { mapping } }) => mapping.pp > 1 && mapping.micro_batch,
  },
  {
    flag: 'parallelism.data_parallel_shard_degree',
    write: (scenario) => (scenario.training.mapping.zero > 0 ? shardWithin(scenario) : 1),
    read: (text) => (Number(text) > 1 ? { 'training.mapping.shard_within': text } : {}),
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
    read: (text) => ({ 'training.mapping.zero': text === 'never' ? '2' : '3' }),
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
  },
  ...idle([
    'module',
    'config',
    'job.config_file',
    'model.flavor',
    'model.name',
    'training.steps',
    'training.dataset',
    'compile.enable',
    'metrics.log_freq',
    'optimizer.lr',
    'activation_checkpoint.selective_ac_option',
  ]),
];

const plain = (name) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

// What torchtitan does where its flags are silent.
const SILENT = {
  'training.mapping.tp': '1',
  'training.mapping.pp': '1',
  'training.mapping.cp': '1',
  'training.mapping.ep': '1',
  'training.mapping.virtual_stages': '1',
  'training.mapping.zero': '3',
  'training.recompute': 'selective',
};

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

  read(words, models, text) {
    const start = words.findLastIndex((word) => word.includes('torchtitan') || word.endsWith('run_train.sh'));
    const answer = readFlags(ROWS, words.slice(start + 1));
    const said = plain(
      `${text.match(/(?:llama|qwen|deepseek|mixtral)[\w.-]*/gi)?.at(-1) ?? ''}${answer.given['model.flavor'] ?? ''}`,
    );
    const name = said.replace(/llama3(?=\d+b)/, 'llama31'); // its llama3 is Llama 3.1
    const model = models.find(({ id }) => name.includes(plain(id)));
    return { ...answer, model, inputs: { ...SILENT, ...answer.inputs, 'training.framework': 'fsdp' } };
  },
};
