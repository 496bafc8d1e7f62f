// MLX LM 0.29 (November 2026): mlx_lm.generate, .server, .chat, .benchmark. Quantised checkpoints say their bits by name, in groups of 64.
/** @import {Tool} from '../types.js' */
import { served } from './checkpoints.js';
import { counts, idle, idleSingle, readFlags } from './flags.js';

const WEIGHTS = [
  [/mxfp4/i, 'mxfp4'],
  [/4bit/i, 'q4_0'],
  [/8bit/i, 'q8_0'],
];

const ROWS = [
  { flag: 'prompt-tokens', aliases: ['p'], read: counts('serving.prompt') },
  { flag: 'max-tokens', aliases: ['m', 'generation-tokens', 'g'], read: counts('serving.output') },
  { flag: 'batch-size', aliases: ['b'], path: 'serving.batch' },
  ...idle(['model', 'prompt', 'host', 'port', 'temp', 'top-p', 'seed', 'num-trials', 'n', 'adapter-path']),
  ...idleSingle(['trust-remote-code', 'verbose']),
];
const STARTED = /(^|\/)mlx_lm(\.(generate|server|chat|benchmark))?$/;

/** @type {Tool} */
export const mlx = {
  id: 'mlx',
  title: 'MLX LM',
  version: 'MLX LM 0.29',
  part: 'serving',
  started: (words) => words.some((word) => STARTED.test(word)),

  read(words, models) {
    const start = words.findIndex((word) => STARTED.test(word));
    const answer = readFlags(ROWS, words.slice(start + 1));
    const name = answer.given.model ?? '';
    const [other] = /\b[^48]bit\b/i.exec(name) ?? [];
    if (other) answer.unknown.push(`weights in ${other}`);
    const weights = WEIGHTS.find(([pattern]) => /** @type {RegExp} */ (pattern).test(name))?.[1] ?? 'bf16';
    return {
      ...answer,
      ...served(name, models, {
        'serving.precision.weights': weights,
        'serving.precision.activations': 'fp16',
        'serving.batch': '1',
        'serving.engine': 'mlx',
        ...answer.inputs,
      }),
    };
  },
};
