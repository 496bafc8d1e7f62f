// TensorRT-LLM 1.3: tensorrt_llm/commands/serve.py; other settings are in a YAML file next to it.
/** @import {Tool} from '../types.js' */
import { cacheOf, nameOfModel, served } from './checkpoints.js';
import { above, idle, idleSingle, readFlags, said, shareBy } from './flags.js';
import { comments, holding, linesOf } from './lines.js';

const drafts = (text) => ({ 'serving.speculative.draft_tokens': text });

// Flags, and members of the YAML file behind the dots.
const ROWS = [
  {
    flag: 'tp_size',
    aliases: ['tensor_parallel_size', 'tp'],
    write: ({ serving: { mapping } }) => mapping.tp * mapping.attention_dp,
    read: (text) => ({ 'serving.mapping.tp': text }),
  },
  { flag: 'pp_size', aliases: ['pipeline_parallel_size', 'pp'], path: 'serving.mapping.pp', when: above(1) },
  { flag: 'ep_size', aliases: ['moe_expert_parallel_size', 'ep'], path: 'serving.mapping.ep', when: above(1) },
  { flag: 'max_batch_size', path: 'serving.max_requests' },
  { flag: 'max_seq_len', write: ({ serving }) => serving.prompt + serving.output, isUnused: true },
  { flag: 'max_num_tokens', path: 'serving.prefill_chunk' },
  { flag: 'enable_chunked_prefill', single: true, write: ({ serving }) => serving.prefill_chunk !== null },
  {
    flag: 'kv_cache_free_gpu_memory_fraction',
    aliases: ['free_gpu_memory_fraction', 'kv_cache_free_gpu_mem_fraction', 'kv_cache_config.free_gpu_memory_fraction'],
    path: 'serving.engine.memory.share',
    write: shareBy('share_of_free'),
  },
  { flag: 'kv_cache_config.dtype', aliases: ['kv_cache_dtype'], read: cacheOf },
  {
    flag: 'kv_cache_config.enable_block_reuse',
    read: (text) => (text === 'false' ? { 'serving.prefix_hit': '0' } : {}),
  },
  { flag: 'enable_attention_dp' },
  { flag: 'concurrency', read: (text) => (Number(text) > 0 ? { 'serving.concurrency': text } : {}) }, // of trtllm-bench
  { flag: 'speculative_config.num_nextn_predict_layers', aliases: ['speculative_config.max_draft_len'], read: drafts },
  { flag: 'cuda_graph_config', read: (text) => (text === 'null' ? { 'serving.cuda_graphs': 'false' } : {}) },
  ...idle([
    'extra_llm_api_options',
    'config',
    'cuda_graph_config.enable_padding',
    'cuda_graph_config.max_batch_size',
    'cuda_graph_config.batch_sizes',
    'speculative_config.decoding_type',
    'moe_config.backend',
    'print_iter_log',
    'stream_interval',
  ]),
  ...idle(['model', 'model_path', 'dataset', 'num_requests', 'warmup', 'report_json']),
  ...idleSingle(['streaming']),
  ...idle([
    'backend',
    'host',
    'port',
    'tokenizer',
    'max_beam_width',
    'trust_remote_code',
    'log_level',
    'gpus_per_node',
    'num_postprocess_workers',
    'reasoning_parser',
  ]),
];

// The lines of a YAML file among others as flags: those of a section are "--section.member".
function flagsOfYaml(text) {
  let section = '';
  return text.split(/\r?\n/).flatMap((line) => {
    const [, space, name, value] = /^( *)(\w+):(?:\s+([^#]*?))?\s*(?:#.*)?$/.exec(line) ?? [];
    if (!name) return [];
    if (!space) section = name;
    return value ? [`--${space ? `${section}.` : ''}${name}=${value.replace(/["']/g, '')}`] : [];
  });
}

// The YAML of --extra_llm_api_options.
function options({ serving }) {
  const { mapping, precision, speculative } = serving;
  return [
    mapping.attention_dp > 1 && 'enable_attention_dp: true',
    precision.kv_cache === 'fp8' && 'kv_cache_config:\n  dtype: fp8',
    serving.cuda_graphs === false ? 'cuda_graph_config: null' : 'cuda_graph_config:\n  enable_padding: true',
    speculative && `speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: ${speculative.draft_tokens}`,
  ]
    .filter(Boolean)
    .join('\n');
}

const STARTED = /(^|\/)trtllm-(serve|bench)$/;

/** @type {Tool} */
export const trtllm = {
  id: 'trtllm',
  title: 'TensorRT-LLM',
  version: 'TensorRT-LLM 1.3',
  part: 'serving',
  started: (words) => words.some((word) => STARTED.test(word)),

  command(scenario, models) {
    const { precision, mapping, ...serving } = scenario.serving;
    const unsaid = holding([
      [mapping.replicas > 1, `${mapping.replicas} of these behind a router`],
      [
        !['bf16', 'fp16'].includes(precision.weights),
        `not a flag: weights in ${precision.weights} need a checkpoint that holds them`,
      ],
      [mapping.cp > 1, 'not written: decode context parallelism'],
      [serving.disaggregated, 'not written: separate pools for prefill and decode (trtllm-serve disaggregated)'],
    ]);
    const file = `cat > options.yaml <<'END'\n${options(scenario)}\nEND\n`;
    const flags = [...said(ROWS, scenario), ['extra_llm_api_options', 'options.yaml']];
    return (
      comments([trtllm.version, ...unsaid]) +
      file +
      linesOf(`trtllm-serve ${nameOfModel(scenario.model, models)}`, flags)
    );
  },

  read(words, models, text) {
    const start = words.findIndex((word) => STARTED.test(word));
    const rest = words.slice(start + 1).filter((word) => !['serve', 'throughput', 'latency'].includes(word));
    const answer = readFlags(ROWS, [...rest, ...flagsOfYaml(text)]);
    const name = answer.given.model ?? answer.others[0];
    answer.unknown.push(...answer.others.filter((word) => word !== name));
    const all = Number(answer.given.tp_size ?? 1);
    const attentionDp = answer.given.enable_attention_dp === 'true';
    const checkpoint = served(name, models, answer.inputs);
    return {
      ...answer,
      ...checkpoint,
      inputs: {
        ...checkpoint.inputs,
        'serving.engine': 'trtllm',
        'serving.devices': `${all * Number(answer.given.pp_size ?? 1)}`,
        ...(attentionDp ? { 'serving.mapping.tp': '1', 'serving.mapping.attention_dp': `${all}` } : {}),
      },
    };
  },
};
