// The scenario in other tools' words, and the answers as a table. Pure texts from the resolved scenario and its report.
import { get } from '../state/paths.js';
import { text, unitOf } from '../text/format.js';
import { nameOf } from './names.js';

const flags = (pairs) =>
  pairs
    .filter(([, value]) => value !== undefined && value !== null && value !== false)
    .map(([flag, value]) => (value === true ? `  --${flag}` : `  --${flag} ${value}`))
    .join(' \\\n');

export function megatron({ model, training }) {
  if (!training) return null;
  const { mapping } = training;
  const perStage = model.layers / (mapping.pp * mapping.virtual_stages);
  return `torchrun pretrain_gpt.py \\\n${flags([
    ['num-layers', model.layers],
    ['hidden-size', model.hidden],
    ['ffn-hidden-size', model.ffn],
    ['num-attention-heads', model.heads],
    ['group-query-attention', model.kv_heads < model.heads],
    ['num-query-groups', model.kv_heads < model.heads ? model.kv_heads : undefined],
    ['kv-channels', model.head_dim],
    ['swiglu', model.gated],
    ['untie-embeddings-and-output-weights', !model.tied_embeddings],
    ['normalization', model.norm === 'rms' ? 'RMSNorm' : 'LayerNorm'],
    ['position-embedding-type', model.position === 'learned' ? 'learned_absolute' : model.position === 'rope' ? 'rope' : undefined],
    ['num-experts', model.moe?.experts],
    ['moe-router-topk', model.moe?.top_k],
    ['moe-ffn-hidden-size', model.moe?.expert_ffn],
    ['seq-length', training.sequence],
    ['max-position-embeddings', training.sequence],
    ['micro-batch-size', mapping.micro_batch],
    ['global-batch-size', training.global_batch],
    ['tensor-model-parallel-size', mapping.tp],
    ['sequence-parallel', mapping.sequence_parallel && mapping.tp > 1],
    ['pipeline-model-parallel-size', mapping.pp],
    ['num-layers-per-virtual-pipeline-stage', mapping.virtual_stages > 1 && Number.isInteger(perStage) ? perStage : undefined],
    ['context-parallel-size', mapping.cp > 1 ? mapping.cp : undefined],
    ['expert-model-parallel-size', mapping.ep > 1 ? mapping.ep : undefined],
    ['expert-tensor-parallel-size', mapping.ep > 1 ? mapping.expert_tp : undefined],
    ['use-distributed-optimizer', mapping.zero >= 1],
    ['recompute-activations', training.recompute === 'selective'],
    ['recompute-granularity', training.recompute === 'full' ? 'full' : undefined],
    ['recompute-method', training.recompute === 'full' ? training.recompute_method : undefined],
    ['recompute-num-layers', training.recompute === 'full' ? training.recompute_layers : undefined],
    ['use-flash-attn', training.flash_attention],
    ['bf16', training.precision !== 'fp16' && training.precision !== 'fp32'],
    ['fp16', training.precision === 'fp16'],
    ['fp8-format', training.precision.includes('fp8') ? 'hybrid' : undefined],
    ['optimizer', training.optimizer === 'sgd' ? 'sgd' : 'adam'],
  ])}`;
}

export function vllm({ model, serving }) {
  if (!serving) return null;
  const { mapping, precision } = serving;
  return `vllm serve ${model.name} \\\n${flags([
    ['tensor-parallel-size', mapping.tp],
    ['pipeline-parallel-size', mapping.pp > 1 ? mapping.pp : undefined],
    ['data-parallel-size', mapping.attention_dp > 1 ? mapping.attention_dp : undefined],
    ['enable-expert-parallel', mapping.ep > 1],
    ['quantization', ['fp8', 'int8'].includes(precision.weights) ? precision.weights : undefined],
    ['kv-cache-dtype', precision.kv_cache.includes('fp8') ? 'fp8' : 'auto'],
    ['max-model-len', serving.prompt + serving.output],
    ['max-num-seqs', typeof serving.batch === 'number' ? serving.batch : serving.max_requests],
    ['enforce-eager', serving.cuda_graphs === false],
    ['max-num-batched-tokens', serving.prefill_chunk],
  ])}`;
}

export function trtllm({ model, serving }) {
  if (!serving) return null;
  const { mapping, precision } = serving;
  return `trtllm-build --checkpoint_dir ${model.name} \\\n${flags([
    ['max_batch_size', typeof serving.batch === 'number' ? serving.batch : undefined],
    ['max_input_len', serving.prompt],
    ['max_seq_len', serving.prompt + serving.output],
    ['gemm_plugin', precision.weights === 'fp8' ? 'fp8' : 'auto'],
    ['use_fp8_context_fmha', precision.activations === 'fp8' ? 'enable' : undefined],
  ])}\n# checkpoint converted with tp_size ${mapping.tp}, pp_size ${mapping.pp}, weights ${precision.weights}, KV cache ${precision.kv_cache}`;
}

export const FIGURES = [
  'training.step_time_s',
  'training.time_to_train_s',
  'training.model_flops_utilization',
  'training.tokens_per_s_per_device',
  'training.memory_bytes.total',
  'training.energy_j',
  'training.cost_usd',
  'serving.ttft_s',
  'serving.tpot_s',
  'serving.request_latency_s',
  'serving.tokens_per_s_per_device',
  'serving.memory_bytes.total',
  'serving.kv_cache_bytes_per_token',
  'serving.max_batch',
  'serving.cost_usd_per_million_tokens',
  'cost.device_usd',
  'cost.device_hour_usd',
];

export function markdown(report, link) {
  const rows = FIGURES.map((path) => [path, get(report, path)]).filter(([, value]) => typeof value === 'number');
  return `| figure | value |\n|---|---|\n${rows.map(([path, value]) => `| ${nameOf(path)} | ${text(value, unitOf(path)).replaceAll('\u00a0', ' ')} |`).join('\n')}\n\n[Slipstick](${link})\n`;
}

// What the figures' formulas cite, as BibTeX: one entry a source.
export function bibtex(explanations) {
  const sources = [...new Set([...explanations.values()].map(({ source }) => source).filter(Boolean))].sort();
  const clean = (words) => words.replace(/[{}\\]/g, '');
  return sources.map((source, i) => `@misc{slipstick-source-${i + 1},\n  note = {${clean(source)}}\n}`).join('\n\n');
}

// A figure a row, for spreadsheets: path, value in base units, unit; then the inputs that differ and the link.
export function csvRows(report, inputs, link) {
  const figures = FIGURES.map((path) => [path, get(report, path), unitOf(path)]).filter(([, value]) => typeof value === 'number');
  return [...figures, ...Object.entries(inputs).map(([path, value]) => [path, value, 'input']), ['version', report.scenario.version, ''], ['link', link, '']];
}
