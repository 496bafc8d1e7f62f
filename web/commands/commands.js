// The scenario in other tools' words, and their commands as a scenario. One table a tool serves both ways.
/** @import {Inputs, ReadCommand, Tool} from '../types.js' */
import { llamacpp } from './llamacpp.js';
import { megatron } from './megatron.js';
import { mlx } from './mlx.js';
import { ollama } from './ollama.js';
import { sglang } from './sglang.js';
import { torchtitan } from './torchtitan.js';
import { trtllm } from './trtllm.js';
import { vllm } from './vllm.js';
import { wordsOf } from './words.js';

/** @type {Tool[]} */
export const TOOLS = [megatron, torchtitan, vllm, sglang, trtllm, llamacpp, ollama, mlx];

// Those that write a command too.
export const WRITERS = TOOLS.filter(({ command }) => command);

// `models`: the catalogue's entries of models. Null where the scenario does not ask for what the tool does.
export const commandFor = (tool, scenario, models) => (scenario[tool.part] ? tool.command(scenario, models) : null);

// A pasted command; null where no tool is known.
/** @returns {ReadCommand | null} */
export function readCommand(text, models) {
  const words = wordsOf(text);
  const tool = TOOLS.find((one) => one.started(words));
  return tool ? { tool, ...tool.read(words, models, text) } : null;
}

// The inputs as they are after a command has been read: what it says replaces its part but for lengths and load, which no command holds.
const KEPT = {
  training: ['training.tokens', 'training.interruptions'],
  serving: [
    'serving.prompt',
    'serving.output',
    'serving.batch',
    'serving.concurrency',
    'serving.requests_per_s',
    'serving.lengths',
    'serving.arrivals',
  ],
};
const below = (path, owner) => path === owner || path.startsWith(`${owner}.`);

/**
 * @param {Inputs} inputs
 * @param {Pick<ReadCommand, 'model' | 'shape' | 'inputs'> & {tool: {part: string}}} read
 * @returns {Inputs}
 */
export function inputsAfter(inputs, { tool, model, shape, inputs: read }) {
  const isKept = (path) => !below(path, tool.part) || KEPT[tool.part].some((owner) => below(path, owner));
  const isReplaced = (path) => (model || shape) && below(path, 'model');
  const kept = Object.entries(inputs).filter(([path]) => isKept(path) && !isReplaced(path));
  // What a command leaves out has its tool's default: nothing of its mapping is for the core to choose.
  return {
    ...Object.fromEntries(kept),
    [`${tool.part}.mapping.auto`]: 'false',
    ...(model ? { model: model.id } : (shape ?? {})),
    ...read,
  };
}
