// TensorRT-LLM 1.3: tensorrt_llm/commands/serve.py; what its flags do not hold stands in a YAML file beside it.
/** @import {Tool} from '../types.js' */
import { nameOfModel, served } from './checkpoints.js';
import { above, idle, readFlags, said, shareBy } from './flags.js';
import { comments, holding, linesOf } from './lines.js';

const ROWS = [
  {
    flag: 'tp_size',
    write: ({ serving: { mapping } }) => mapping.tp * mapping.attention_dp,
    read: (text) => ({ 'serving.mapping.tp': text }),
  },
  { flag: 'pp_size', path: 'serving.mapping.pp', when: above(1) },
  { flag: 'ep_size', path: 'serving.mapping.ep', when: above(1) },
  { flag: 'max_batch_size', path: 'serving.max_requests' },
  { flag: 'max_seq_len', write: ({ serving }) => serving.prompt + serving.output, isUnused: true },
  { flag: 'max_num_tokens', path: 'serving.prefill_chunk' },
  { flag: 'enable_chunked_prefill', single: true, write: ({ serving }) => serving.prefill_chunk !== null },
  {
    flag: 'kv_cache_free_gpu_memory_fraction',
    aliases: ['free_gpu_memory_fraction'],
    path: 'serving.engine.memory.share',
    write: shareBy('share_of_free'),
  },
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

/** @type {Tool} */
export const trtllm = {
  id: 'trtllm',
  title: 'TensorRT-LLM',
  version: 'TensorRT-LLM 1.3',
  part: 'serving',
  started: (words) => words.some((word) => word.endsWith('trtllm-serve')),

  command(scenario, models) {
    const { precision, mapping, ...serving } = scenario.serving;
    const unsaid = holding([
      [mapping.replicas > 1, `${mapping.replicas} of these behind a router`],
      [
        !['bf16', 'fp16'].includes(precision.weights),
        `not a flag: weights in ${precision.weights} need a checkpoint that holds them`,
      ],
      [mapping.cp > 1, 'not here: decode context parallelism'],
      [serving.disaggregated, 'not here: separate pools for prefill and decode (trtllm-serve disaggregated)'],
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
    const start = words.findIndex((word) => word.endsWith('trtllm-serve'));
    const rest = words.slice(start + 1).filter((word) => word !== 'serve');
    const answer = readFlags([...ROWS, ...idle(['extra_llm_api_options', 'config'])], rest);
    const all = Number(answer.given.tp_size ?? 1);
    const attentionDp = /enable_attention_dp:\s*true/.test(text);
    const [, share] = /free_gpu_memory_fraction:\s*([\d.]+)/.exec(text) ?? [];
    const checkpoint = served(answer.others[0], models, answer.inputs);
    return {
      ...answer,
      ...checkpoint,
      inputs: {
        ...checkpoint.inputs,
        'serving.engine': 'trtllm',
        'serving.devices': `${all * Number(answer.given.pp_size ?? 1)}`,
        ...(attentionDp ? { 'serving.mapping.tp': '1', 'serving.mapping.attention_dp': `${all}` } : {}),
        ...(share ? { 'serving.engine.memory.share': share } : {}),
        ...(/dtype:\s*["']?fp8/.test(text) ? { 'serving.precision.kv_cache': 'fp8' } : {}),
      },
    };
  },
};
