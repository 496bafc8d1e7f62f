// Models by the names of their checkpoints on Hugging Face.
/** @import {Inputs} from '../types.js' */

// What publishers add to a name for quantised versions of the same model, and for tuned ones of the same shape.
const FORMAT =
  /[-_.](fp8|(?:nv|mx)?fp4(?:a16)?(?:-v\d)?|bf16|fp16|int4|int8|awq|gptq|gguf|autoround|dynamic|w[48]a(?:8|16)|quantized|block|dwq|bnb|mlx|\dbit|ud|qat|i?q\d\w*)(?=[-_.]|$)/g;
const TUNE =
  /[-_.](instruct|chat|base|it|pt|hf|thinking|think|reasoning|coder|math|preview|terminus|speciale|turbo|exp|\d{4})(?=[-_.]|$)/g;
// Models trained further from another one, whose shape they have.
const RETRAINED = {
  '__proto__': null,
  'glm-5.1': 'glm-5',
  'qwen3-next': 'qwen3-next-80b-a3b', // Qwen3-Coder-Next
  'nemotron-cascade-2-30b-a3b': 'nemotron-3-nano-30b-a3b',
};
const without = (name, pattern) => name.replace(pattern, '').replace(pattern, '');
const bare = (name) =>
  without(
    name
      .toLowerCase()
      .split('/')
      .at(-1)
      .replace(/(-\d{5}-of-\d{5})?\.gguf$/, '')
      .replace(/^meta-/, ''),
    FORMAT,
  );
const stem = (name) => without(without(bare(name), TUNE), FORMAT);

export const checkpointOf = (entry) => entry.published?.hugging_face;

// The catalogue's model for a repository, a local path or an id: the one of the same repository, else the one with the same name without format,
// else without version too.
export function modelNamed(name, models) {
  const exact = models.find((entry) => entry.id === name || checkpointOf(entry)?.toLowerCase() === name.toLowerCase());
  if (exact) return exact;
  const called = (part, wanted) =>
    models.find((entry) =>
      [entry.id, entry.name, checkpointOf(entry)].some((other) => other && part(other.replaceAll(' ', '-')) === wanted),
    );
  return called(bare, bare(name)) ?? called(stem, RETRAINED[stem(name)] ?? stem(name));
}

export const plainName = (text) => text.toLowerCase().replace(/[^a-z0-9]/g, '');

// Models of a family: ids that begin with it, whatever separates its words, and have about so many billions of
// parameters.
export function modelsSized(models, family, billions, near) {
  const isNear = ({ published }) => Math.abs((published?.parameters ?? 0) / (billions * 1e9) - 1) < near;
  return models.filter((one) => plainName(one.id).startsWith(plainName(family)) && isNear(one));
}

// The precision that a checkpoint's name tells.
export function precisionNamed(name) {
  /** @type {[RegExp, string, string][]} */
  const rows = [
    [/mxfp4/i, 'mxfp4', 'mxfp4'],
    [/nvfp4a16/i, 'nvfp4', 'bf16'],
    [/nvfp4|fp4/i, 'nvfp4', 'nvfp4'],
    [/fp8/i, 'fp8', 'fp8'],
    [/w8a16|(gptq|awq).*(int8|8bit)/i, 'int8', 'bf16'],
    [/awq|gptq|int4|w4a16|4bit/i, 'int4', 'bf16'],
    [/w8a8|int8/i, 'int8', 'int8'],
  ];
  const [, weights, activations] = rows.find(([pattern]) => pattern.test(name)) ?? [];
  return weights && { weights, activations };
}

// The type of a GGUF file by its name, "Qwen3-8B-Q4_K_M.gguf" or "model:Q4_0": a precision, or the name of one that no input has. Types of
// 4 bits differ by a tenth of their size at most.
const GGUF = {
  __proto__: null,
  q4_0: 'q4_0',
  q8_0: 'q8_0',
  bf16: 'bf16',
  f16: 'fp16',
  fp16: 'fp16',
  f32: 'fp32',
  mxfp4: 'mxfp4',
};
/** @type {(name: string) => {precision?: string, unknown?: string}} */
export function ggufNamed(name) {
  const [, type] = /[-_.:](i?q\d\w*|mxfp4|bf16|fp?16|f32)(?=[-_.]|$)/i.exec(name) ?? [];
  if (!type) return {};
  const precision = GGUF[type.toLowerCase()] ?? (/^i?q4/i.test(type) ? 'q4_k_m' : undefined);
  return precision ? { precision } : { unknown: `weights in ${type}` };
}

// The repository that a command names as the model, as long as the scenario's shape is still the checkpoint's.
export function nameOfModel(model, models) {
  const entry = models.find(({ id }) => id === model.preset);
  return (entry && checkpointOf(entry)) ?? model.name ?? 'MODEL';
}

const precisions = (weights, activations) => ({
  'serving.precision.weights': weights,
  'serving.precision.activations': activations,
});

// Defaults of engines whose flags are not given.
const SILENT = {
  'serving.mapping.tp': '1',
  'serving.mapping.pp': '1',
  'serving.mapping.ep': '1',
  'serving.mapping.attention_dp': '1',
  'serving.mapping.replicas': '1',
};

// Values of --quantization in vLLM and SGLang; others are not read.
const QUANTISED = {
  __proto__: null,
  fp8: ['fp8', 'fp8'],
  fbgemm_fp8: ['fp8', 'fp8'],
  w8a8_fp8: ['fp8', 'fp8'],
  modelopt: ['fp8', 'fp8'],
  modelopt_fp8: ['fp8', 'fp8'],
  modelopt_fp4: ['nvfp4', 'nvfp4'],
  awq: ['int4', 'bf16'],
  awq_marlin: ['int4', 'bf16'],
  gptq: ['int4', 'bf16'],
  gptq_marlin: ['int4', 'bf16'],
  w8a8_int8: ['int8', 'int8'],
  mxfp4: ['mxfp4', 'bf16'],
};
const TYPES = {
  __proto__: null,
  auto: 'bf16',
  bfloat16: 'bf16',
  half: 'fp16',
  float16: 'fp16',
  float: 'fp32',
  float32: 'fp32',
};
const CACHED = { __proto__: null, bfloat16: 'bf16', bf16: 'bf16', float16: 'fp16', nvfp4: 'nvfp4' };

// The format of the KV cache if a command sets none: engines use the one in the checkpoint. NVIDIA's Model Optimizer writes fp8 for weights in
// nvfp4, Red Hat's llm-compressor writes none; DeepSeek-V4 has only an fp8 cache.
const cacheNamed = (name, weights) =>
  (weights === 'nvfp4' && !/^redhatai\//i.test(name)) || /deepseek-v4/i.test(name) ? 'fp8' : 'bf16';

// Whether a flag has to set the cache, because it is wider than in such checkpoints.
export const isCacheWider = ({ weights, kv_cache: cache }) => weights === 'nvfp4' && cache === 'bf16';

// --kv-cache-dtype of both; throws at one that no input says.
export function cacheOf(text) {
  if (text === 'auto') return {};
  const type = text.startsWith('fp8') ? 'fp8' : CACHED[text];
  if (!type) throw new Error(text);
  return { 'serving.precision.kv_cache': type };
}

// A served checkpoint: the catalogue's model and its precision, by its name, else by --quantization, else as published,
// else the type of the activations (--dtype). If only the weights are narrow, products are in that type.
/** @param {{given?: Inputs, unused?: string[]}} said */
export function served(name, models, inputs, said = {}) {
  const { quantization, dtype } = said.given ?? {};
  const model = name && modelNamed(name, models);
  const told = name && precisionNamed(name);
  const published = model?.weights && !/bf16/i.test(name) && model.weights;
  const type = TYPES[dtype] ?? 'bf16';
  if (quantization && !QUANTISED[quantization] && !told) said.unused.push(`--quantization ${quantization}`);
  if (dtype && !TYPES[dtype]) said.unused.push(`--dtype ${dtype}`);
  const [weights, activations] = told
    ? [told.weights, told.activations]
    : (QUANTISED[quantization] ??
      (published ? [published, ['mxfp4', 'int4'].includes(published) ? type : published] : [type, type]));
  const precision = {
    ...precisions(weights, activations === 'bf16' ? type : activations),
    'serving.precision.kv_cache': cacheNamed(name ?? '', weights),
  };
  return { name, model, inputs: { ...SILENT, ...precision, ...inputs } };
}
