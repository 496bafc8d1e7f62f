// Ways to serve a model on a device: engines that run on it, each with the weights of 16, 8 and 4 bits that it has.

const EIGHT_BIT_FLOAT = 'fp8';
// Weights of a size: the first format that the engine has. An engine that lists no formats takes checkpoints in any.
const SIZES = [
  ['bf16', 'fp16'],
  [EIGHT_BIT_FLOAT, 'q8_0'],
  ['int4', 'q4_k_m', 'q4_0'],
];

// In addition to the device's default engine: the one that runs files of every size on nearly every device.
export const ANYWHERE = 'llamacpp-2025';

export function waysOn({ architecture, peak }, own, engines) {
  const runs = ({ id, devices }) => id === own || (id === ANYWHERE && devices.includes(architecture));
  const found = engines.filter(runs).sort((a, b) => Number(b.id === own) - Number(a.id === own));
  return found.flatMap(({ id, name, weight_formats: formats }) =>
    SIZES.map((size) => size.find((one) => formats?.includes(one) ?? true))
      .filter(Boolean)
      .map((weights) => ({
        engine: id,
        name,
        weights,
        activations: weights === EIGHT_BIT_FLOAT && peak?.fp8 ? EIGHT_BIT_FLOAT : 'bf16',
      })),
  );
}

// The request of a single user of a model served so.
export const inputsOf = (kept, cluster, { engine, weights, activations }, model) => ({
  ...kept,
  ...(model && { model }),
  cluster,
  'training': 'null',
  'serving.engine': engine,
  'serving.precision.weights': weights,
  'serving.precision.activations': activations,
  'serving.batch': '1',
});
