// Which inputs stand open in the form, in which order, and which are folded: the mapping, which the core chooses where nobody did, and what a
// data sheet says (`sheet`).
// Every other input of `describe` follows under "More" of its group by itself, so that a new input of the core needs nothing here.

/**
 * @typedef {object} Group
 * @property {string} id
 * @property {string[][]} first rows of paths, each alone or a pair
 * @property {string[][]} [sheet] inputs of a data sheet, folded
 * @property {string[]} [mapping] inputs that the core chooses unless written, folded
 * @property {{batch: string[][], concurrency: string[][], rate: string[][]}} [load] the rows of each kind of load
 * @property {string} [askedBy] the input that turns it on, if it is off in the default scenario
 * @property {string[] | null} scenes whose answers depend on it; null: all
 */

/** @type {Group[]} */
export const GROUPS = [
  { id: 'model', first: [['model']], scenes: null },
  {
    id: 'cluster',
    first: [['cluster'], ['cluster.device'], ['cluster.devices']],
    sheet: [['cluster.device.memory.bandwidth'], ['cluster.device.peak.bf16', 'cluster.device.memory.capacity']],
    scenes: null,
  },
  {
    id: 'training',
    first: [
      ['training.sequence', 'training.global_batch'],
      ['training.tokens', 'training.precision'],
    ],
    mapping: [
      'training.mapping.tp',
      'training.mapping.cp',
      'training.mapping.ep',
      'training.mapping.pp',
      'training.mapping.virtual_stages',
      'training.mapping.schedule',
      'training.mapping.micro_batch',
      'training.mapping.zero',
      'training.mapping.sequence_parallel',
      'training.recompute',
    ],
    scenes: ['train', 'memory', 'explore', 'compare', 'lessons', 'method', 'evidence'],
  },
  {
    id: 'serving',
    load: {
      concurrency: [['serving.concurrency']],
      batch: [['serving.batch']],
      rate: [
        ['serving.requests_per_s'],
        ['serving.simulate'],
        ['serving.arrivals'],
        ['serving.arrivals.kind', 'serving.arrivals.burstiness'],
      ],
    },
    first: [
      ['serving.prompt', 'serving.output'],
      ['serving.devices', 'serving.engine'],
      ['serving.precision.weights', 'serving.precision.kv_cache'],
    ],
    mapping: ['serving.mapping.tp', 'serving.mapping.pp', 'serving.mapping.ep', 'serving.mapping.attention_dp'],
    scenes: ['serve', 'memory', 'explore', 'compare', 'lessons', 'method', 'evidence'],
  },
  {
    id: 'post_training',
    askedBy: 'post_training.algorithm',
    first: [
      ['post_training.algorithm', 'post_training.placement'],
      ['post_training.prompts', 'post_training.responses_per_prompt'],
      ['post_training.max_response', 'post_training.steps_off'],
      ['post_training.reference', 'post_training.reward_model'],
    ],
    scenes: ['lessons', 'method'],
  },
  {
    id: 'diffusion',
    askedBy: 'diffusion.model.preset',
    first: [
      ['diffusion.model'],
      ['diffusion.width', 'diffusion.height'],
      ['diffusion.steps', 'diffusion.frames'],
      ['diffusion.precision', 'diffusion.attention'],
      ['diffusion.ulysses', 'diffusion.ring'],
      ['diffusion.compiled', 'diffusion.offload'],
    ],
    scenes: ['serve', 'lessons', 'method'],
  },
  {
    id: 'cost',
    first: [
      ['cost.electricity', 'cost.lifetime'],
      ['cost.device.design.volume', 'cost.device.price'],
      ['cost.system.utilisation', 'cost.system.pue'],
    ],
    scenes: ['chip', 'explore', 'compare', 'lessons', 'method'],
  },
];

// The range of a slide rule under an input: two decades around the preset's value, inside the input's own range.
export function span(input, value) {
  const { low = 0, high = Infinity, kind } = input;
  const counted = kind === 'count' || kind === 'length';
  const middle = value > 0 ? value : Math.max(low, 1);
  const least = Math.max(low, counted ? 1 : 0);
  let from = 10 ** Math.floor(Math.log10(middle / 8));
  let to = 10 ** Math.ceil(Math.log10(middle * 12));
  if (counted)
    [from, to] = [Math.max(1, 2 ** Math.floor(Math.log2(middle / 32))), 2 ** Math.ceil(Math.log2(middle * 32))];
  if (from < least) from = least;
  if (to > high) to = high;
  return from > 0 && to > from * 5 ? { from, to } : null;
}
