// Models by the names of their checkpoints on Hugging Face.

// What publishers add to a name for tuned and quantised versions of the same shape.
const VERSION =
  /[-_.](instruct|chat|base|it|pt|hf|fp8|fp4|nvfp4|mxfp4|bf16|int4|int8|awq|gptq|gguf|dynamic|w4a16|w8a8|quantized|thinking|turbo|block|bnb|mlx|[48]bit|ud|qat|i?q\d\w*|\d{4})(?=[-_.]|$)/g;
const stem = (name) => {
  const bare = name
    .toLowerCase()
    .split('/')
    .at(-1)
    .replace(/\.gguf$/, '')
    .replace(/^meta-/, '');
  return bare.replace(VERSION, '').replace(VERSION, '');
};

export const checkpointOf = (entry) => entry.published?.hugging_face;

// The catalogue's model for a repository, a local path or an id: the same repository, else the same name but for its version.
export function modelNamed(name, models) {
  const exact = models.find((entry) => entry.id === name || checkpointOf(entry)?.toLowerCase() === name.toLowerCase());
  if (exact) return exact;
  const wanted = stem(name);
  return models.find((entry) =>
    [entry.id, entry.name, checkpointOf(entry)].some((other) => other && stem(other.replaceAll(' ', '-')) === wanted),
  );
}

export const plainName = (text) => text.toLowerCase().replace(/[^a-z0-9]/g, '');

// Models of a family, which begins their ids whatever stands between its words, with so many billions of parameters but for a share.
export function modelsSized(models, family, billions, near) {
  const isNear = ({ published }) => Math.abs((published?.parameters ?? 0) / (billions * 1e9) - 1) < near;
  return models.filter((one) => plainName(one.id).startsWith(plainName(family)) && isNear(one));
}

// The precision that a checkpoint's name tells.
export function precisionNamed(name) {
  /** @type {[RegExp, {weights: string, activations: string}][]} */
  const rows = [
    [/nvfp4|fp4/i, { weights: 'nvfp4', activations: 'nvfp4' }],
    [/fp8/i, { weights: 'fp8', activations: 'fp8' }],
    [/awq|gptq|int4|w4a16|4bit/i, { weights: 'int4', activations: 'bf16' }],
    [/w8a8|int8/i, { weights: 'int8', activations: 'int8' }],
  ];
  return rows.find(([pattern]) => pattern.test(name))?.[1];
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

// What a command calls the scenario's model: its repository, as long as the shape is still the checkpoint's.
export function nameOfModel(model, models) {
  const entry = models.find(({ id }) => id === model.preset);
  return (entry && checkpointOf(entry)) ?? model.name ?? 'MODEL';
}

export const precisions = (weights, activations) => ({
  'serving.precision.weights': weights,
  'serving.precision.activations': activations,
});

// What engines do where their flags are silent.
const SILENT = {
  'serving.mapping.tp': '1',
  'serving.mapping.pp': '1',
  'serving.mapping.ep': '1',
  'serving.mapping.attention_dp': '1',
  'serving.mapping.replicas': '1',
  'serving.precision.kv_cache': 'bf16',
};

// What a served checkpoint says by its name: the catalogue's model, and the precision of its weights where no flag tells.
export function served(name, models, inputs) {
  const model = name && modelNamed(name, models);
  const told = name && precisionNamed(name);
  const held = model?.weights;
  const precision = told
    ? precisions(told.weights, told.activations)
    : held
      ? precisions(held, held === 'mxfp4' ? 'bf16' : held)
      : precisions('bf16', 'bf16');
  return { name, model, inputs: { ...SILENT, ...precision, ...inputs } };
}
